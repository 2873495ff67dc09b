// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

/// A libav format name, and core's properties that the Reader should report for it.
struct LosslessCase {
  std::string pixel_format;
  std::string delivered;
};

class LosslessTest : public MediaTest, public ::testing::WithParamInterface<LosslessCase> {};

TEST_P(LosslessTest, FramesComeBackBitExact) {
  const std::string source =
      make("source.nut", "-f lavfi -i testsrc2=s=50x38:r=25:d=0.12,noise=alls=20 -pix_fmt " +
                             GetParam().pixel_format + " -c:v rawvideo");
  transcode(source, path("copy.mkv"), {.codec = "ffv1"});
  const Clip original = read_clip(source);
  const Clip copy = read_clip(path("copy.mkv"));
  ASSERT_EQ(original.frames.size(), 3U);
  EXPECT_EQ(to_string(original.video.format), GetParam().delivered);
  expect_same_frames(original.frames, copy.frames);
}

TEST_P(LosslessTest, DitheringChangesNothingThatHasNoFractions) {
  const std::string source =
      make("source.nut", "-f lavfi -i testsrc2=s=50x38:r=25:d=0.12,noise=alls=20 -pix_fmt " +
                             GetParam().pixel_format + " -c:v rawvideo");
  const WriterOptions writer{.codec = "ffv1", .dither = "auto"};
  ReaderOptions reader;
  match_depths(writer, reader);
  transcode(source, path("copy.mkv"), writer, reader);
  const Clip copy = read_clip(path("copy.mkv"));
  EXPECT_EQ(to_string(copy.video.format), GetParam().delivered);
  expect_same_frames(read_clip(source).frames, copy.frames);
}

TEST_P(LosslessTest, FramesLieInTheCallersMemoryIfItWantsThat) {
  const std::string source =
      make("source.nut", "-f lavfi -i testsrc2=s=50x38:r=25:d=0.12,noise=alls=20 -pix_fmt " +
                             GetParam().pixel_format + " -c:v rawvideo");
  std::vector<Frame> made;
  ReaderOptions options;
  options.allocate = [&](const FrameFormat& format) {
    made.push_back(allocate_frame(format));
    return made.back();
  };
  const Clip own = read_clip(source, options);
  ASSERT_EQ(made.size(), own.frames.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(own.frames[i].planes[0].data, made[i].planes[0].data);
  }
  expect_same_frames(read_clip(source).frames, own.frames);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, LosslessTest,
    ::testing::Values(
        LosslessCase{"gray", "50x38 gray 8 bit"}, LosslessCase{"gray10le", "50x38 gray 10 bit"},
        LosslessCase{"gray16be", "50x38 gray 16 bit"}, LosslessCase{"ya8", "50x38 gray with alpha 8 bit"},
        LosslessCase{"yuv420p", "50x38 YUV 4:2:0 8 bit"}, LosslessCase{"nv12", "50x38 YUV 4:2:0 8 bit"},
        LosslessCase{"yuyv422", "50x38 YUV 4:2:2 8 bit"}, LosslessCase{"yuv444p", "50x38 YUV 4:4:4 8 bit"},
        LosslessCase{"yuv410p", "50x38 YUV 4:1:0 8 bit"}, LosslessCase{"yuv411p", "50x38 YUV 4:1:1 8 bit"},
        LosslessCase{"yuv440p", "50x38 YUV 4:4:0 8 bit"},
        LosslessCase{"yuva420p", "50x38 YUV 4:2:0 with alpha 8 bit"},
        LosslessCase{"yuv420p10le", "50x38 YUV 4:2:0 10 bit"},
        LosslessCase{"yuv422p12le", "50x38 YUV 4:2:2 12 bit"},
        LosslessCase{"yuv444p16le", "50x38 YUV 4:4:4 16 bit"}, LosslessCase{"rgb24", "50x38 RGB 8 bit"},
        LosslessCase{"bgra", "50x38 RGB with alpha 8 bit"}, LosslessCase{"rgb48be", "50x38 RGB 16 bit"},
        LosslessCase{"gbrp12le", "50x38 RGB 12 bit"}),
    [](const auto& test) { return test.param.pixel_format; });

bool redirect(int descriptor, const std::string& file, int flags) {
  const int opened = ::open(file.c_str(), flags | O_CLOEXEC, 0600);
  return opened >= 0 && ::dup2(opened, descriptor) == descriptor;
}

class RoundTripTest : public MediaTest {
 protected:
  /// Five frames of 4:2:0 of any size; ffmpeg's own test pictures have even sizes only.
  std::string make_cropped(const std::string& width, const std::string& height) const {
    return make("source.nut", "-f lavfi -i testsrc2=s=64x64:r=25:d=0.2,format=yuv444p,crop=" + width + ":" +
                                  height + ":exact=1,format=yuv420p -c:v rawvideo");
  }
};

TEST_F(RoundTripTest, VariableRateTimesAreExactAndTheSoundIsUntouched) {
  const std::string source = make("source.mp4",
                                  "-f lavfi -i testsrc2=s=64x48:r=30:d=2 -f lavfi -i sine=d=2 -vf "
                                  "\"select='not(eq(mod(n,7),3))+lt(n,9)'\" "
                                  "-vsync vfr -c:v libx264 -bf 3 -c:a aac");
  transcode(source, path("copy.mp4"));
  const Clip original = read_clip(source);
  const Clip copy = read_clip(path("copy.mp4"));
  ASSERT_GT(original.times.size(), 40U);
  ASSERT_EQ(original.times.size(), copy.times.size());
  for (std::size_t i = 0; i < original.times.size(); ++i) {
    EXPECT_DOUBLE_EQ(copy.times[i], original.times[i]) << "frame " << i;
  }
  EXPECT_EQ(packet_hashes(path("copy.mp4"), "a"), packet_hashes(source, "a"));
}

TEST_F(RoundTripTest, LastFrameKeepsItsDuration) {
  const std::string source = make(
      "source.mp4", "-f lavfi -i testsrc2=s=64x48:r=5:d=1 -c:v libx264 -bf 2 -video_track_timescale 12800");
  transcode(source, path("copy.mp4"));
  EXPECT_DOUBLE_EQ(read_clip(path("copy.mp4")).video.duration, read_clip(source).video.duration);
}

/// Twenty frames at 10/s, the last of which lasts 3 s.
constexpr const char* kLongLastFrame =
    "-f lavfi -i testsrc2=s=64x48:r=10:d=2.1 -vf \"setpts='if(eq(N,20),4.9/TB,PTS)'\" -vsync vfr -c:v "
    "libx264 -bf 0";

TEST_F(RoundTripTest, ALongLastFrameKeepsItsDuration) {
  const std::string source =
      make("source.mp4", "-i '" + make("longer.mp4", kLongLastFrame) + "' -c copy -frames:v 20");
  const auto last_packet = [](const std::string& file) {
    return output_of(
        "ffprobe -v error -select_streams v -show_entries packet=pts_time,duration_time -of csv=p=0 '" +
        file + "' | sort -n | tail -n 1");
  };
  ASSERT_EQ(last_packet(source).substr(0, 12), "1.900000,3.0");
  for (const std::string codec : {"libx264", "libx265"}) {
    transcode(source, path(codec + ".mp4"), {.codec = codec});
    EXPECT_EQ(last_packet(path(codec + ".mp4")).substr(0, 12), "1.900000,3.0") << codec;
  }
}

TEST_F(RoundTripTest, WholeFilesAreNotCalledCut) {
  const auto shortfall = [](const std::string& file) {
    Reader reader(file);
    while (!std::holds_alternative<Reader::End>(reader.read())) {
    }
    return text_of(reader.diagnostics(), Diagnostic::Kind::kShortfall);
  };
  // The last frame lasts 3 s, and the first fragment begins hours after zero.
  const std::string still =
      make("still.mkv", "-i '" + make("longer.mp4", kLongLastFrame) + "' -c copy -frames:v 20");
  EXPECT_EQ(shortfall(still), "");
  const std::string live = make("live.mp4",
                                "-f lavfi -i testsrc2=s=64x48:r=25:d=2 -output_ts_offset 36000 -c:v libx264 "
                                "-movflags frag_keyframe+empty_moov+default_base_moof");
  EXPECT_EQ(shortfall(live), "");
  EXPECT_LT(Reader(live).video().duration, 3);
}

TEST_F(RoundTripTest, TimesCanCountFromTheFirstFrameThatIsWritten) {
  const std::string in = make("in.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.8 -c:v ffv1");
  for (const std::string name : {"out.mkv", "out.mp4"}) {
    Reader reader(in);
    Writer writer(path(name), reader, {.live = true});
    constexpr std::size_t kFirstKept = 5;
    constexpr std::size_t kFrames = 20;
    for (std::size_t i = 0; i < kFrames; ++i) {
      const Frame frame = std::get<Frame>(reader.read());
      if (i >= kFirstKept) {
        writer.write(frame);
      }
    }
    writer.finish();
    const std::vector<double> times = read_clip(path(name)).times;
    ASSERT_EQ(times.size(), kFrames - kFirstKept) << name;
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(times[i], static_cast<double>(i) / 25, 1e-3) << name;
    }
  }
}

TEST_F(RoundTripTest, DecoderAndEncoderAreDrained) {
  const std::string source =
      make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -frames:v 23 -c:v libx264 -bf 6 -refs 5");
  EXPECT_EQ(read_clip(source).frames.size(), 23U);
  EXPECT_EQ(transcode(source, path("copy.mkv")).frames, 23);
  EXPECT_EQ(read_clip(path("copy.mkv")).frames.size(), 23U);
}

TEST_F(RoundTripTest, FramesAreNumberedInPresentationOrder) {
  const Clip clip = read_clip(make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -c:v libx264 -bf 4"));
  for (std::size_t i = 0; i < clip.frames.size(); ++i) {
    EXPECT_EQ(clip.frames[i].index, static_cast<std::int64_t>(i));
    EXPECT_NEAR(clip.times[i], static_cast<double>(i) / 25, 0.001);
  }
}

void expect_even(const std::vector<double>& times, double tolerance) {
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_NEAR(times[i] - times[i - 1], 0.04, tolerance) << i;
  }
}

TEST_F(RoundTripTest, RawStreamsAreTimedByTheRateThatTheyTell) {
  constexpr std::size_t kFrames = 72;  // libav examines fewer before it delivers the first one
  for (const auto& [name, codec, rate] :
       {std::tuple{"told.h264", "libx264 -bf 0", 24},
        {"told.m2v", "mpeg2video", 24},
        {"untold.hevc", "libx265 -x265-params log-level=none:vui-timing-info=0", 25}}) {
    SCOPED_TRACE(name);
    const Clip clip =
        read_clip(make(name, std::string("-f lavfi -i testsrc2=s=64x48:r=24:d=3 -c:v ") + codec));
    EXPECT_DOUBLE_EQ(clip.video.frames_per_second, rate);
    ASSERT_EQ(clip.times.size(), kFrames);
    for (std::size_t i = 0; i < kFrames; ++i) {
      ASSERT_NEAR(clip.times[i] - clip.times[0], static_cast<double>(i) / rate, 1e-6) << i;
    }
  }
}

TEST_F(RoundTripTest, FramesBeforeTheFirstTimeAreEvenAndInStepWithTheSound) {
  // Matroska's muxer omits the times of packets that begin before zero, except audio.
  const std::string source =
      make("early.mkv",
           "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f lavfi -i sine=d=1 -c:v libx264 -c:a pcm_s16le"
           " -avoid_negative_ts disabled -output_ts_offset -0.5");
  const Clip clip = read_clip(source);
  ASSERT_EQ(clip.times.size(), 25U);
  for (std::size_t i = 0; i < clip.times.size(); ++i) {
    EXPECT_NEAR(clip.times[i], -0.5 + 0.04 * static_cast<double>(i), 0.0011) << i;
  }
  transcode(source, path("copy.mkv"), {.codec = "ffv1"});
  const Clip copy = read_clip(path("copy.mkv"));
  expect_even(copy.times, 0.0011);
  const std::string first_sound = output_of(
      "ffprobe -v error -select_streams a -read_intervals %+#1 -show_entries "
      "packet=pts_time -of csv=p=0 '" +
      path("copy.mkv") + "'");
  EXPECT_NEAR(copy.times[0], std::stod(first_sound), 0.0021) << "they began together";
  expect_same_frames(clip.frames, copy.frames);
  // Without any times.
  const std::string timeless =
      make("timeless.mkv",
           "-f lavfi -i testsrc2=s=64x48:r=25:d=0.3 -c:v libx264 -avoid_negative_ts disabled"
           " -output_ts_offset -9");
  const Clip even = read_clip(timeless);
  EXPECT_GE(even.times.size(), 7U);
  expect_even(even.times, 0.0011);
}

TEST_F(RoundTripTest, MpegStreamsBeginAtZeroAndKeepSoundInStep) {
  const std::string source =
      make("source.ts",
           "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f lavfi -i sine=d=1 -c:v libx264 -c:a mp2 "
           "-output_ts_offset 36000");
  transcode(source, path("copy.mkv"));
  const auto starts = [](const std::string& file, double& video, double& sound) {
    video =
        std::stod(output_of("ffprobe -v error -select_streams v -show_entries stream=start_time -of "
                            "default=nw=1:nk=1 '" +
                            file + "'"));
    sound =
        std::stod(output_of("ffprobe -v error -select_streams a -show_entries stream=start_time -of "
                            "default=nw=1:nk=1 '" +
                            file + "'"));
  };
  double video = 0;
  double sound = 0;
  double copied_video = 0;
  double copied_sound = 0;
  starts(source, video, sound);
  starts(path("copy.mkv"), copied_video, copied_sound);
  EXPECT_GT(video, 36000);
  EXPECT_LT(copied_video, 1);
  EXPECT_NEAR(copied_video - copied_sound, video - sound, 0.002);
  EXPECT_EQ(packet_hashes(path("copy.mkv"), "a"), packet_hashes(source, "a"));
}

TEST_F(RoundTripTest, JumpsOfTheClockAreTakenOut) {
  const std::string parts = "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -c:v libx264 -bf 0 ";
  const std::string first = make("first.ts", parts);
  const std::string second = make("second.ts", parts + "-output_ts_offset 500");
  output_of("cat '" + first + "' '" + second + "' > '" + path("both.ts") + "'");
  const Clip clip = read_clip(path("both.ts"));
  ASSERT_EQ(clip.times.size(), 50U);
  for (std::size_t i = 1; i < clip.times.size(); ++i) {
    EXPECT_NEAR(clip.times[i] - clip.times[i - 1], 0.04, 0.001) << "frame " << i;
  }
}

TEST_F(RoundTripTest, DeepSourcesAreEncodedAsDeepByDefault) {
  const std::vector<std::pair<std::string, std::string>> cases{{"yuv420p", "libx264 yuv420p"},
                                                               {"yuv422p10le", "libx264 yuv422p10le"},
                                                               {"yuv420p12le", "libx265 yuv420p12le"},
                                                               {"yuv444p16le", "ffv1 yuv444p16le"},
                                                               {"gray", "libx264 gray"},
                                                               {"gbrp", "libx264 yuv444p"}};
  for (const auto& [format, expected] : cases) {
    const std::string source =
        make("source.nut", "-f lavfi -i testsrc2=s=64x64:r=25:d=0.08 -pix_fmt " + format + " -c:v rawvideo");
    const Transcoded result = transcode(source, path("copy.mkv"), {.overwrite = Overwrite::kAlways});
    EXPECT_EQ(result.codec + " " + result.pixel_format, expected);
    EXPECT_EQ(read_clip(path("copy.mkv")).frames.size(), 2U) << format;
  }
}

TEST_F(RoundTripTest, OddAndTinySizesGivePlayableFiles) {
  for (const auto& [width, height] :
       std::vector<std::pair<std::string, std::string>>{{"2", "2"}, {"7", "9"}, {"1", "1"}, {"33", "20"}}) {
    std::string size = width;
    size += "x" + height;
    SCOPED_TRACE(size);
    const std::string source = make_cropped(width, height);
    for (const std::string target : {"copy.mkv", "copy.webm"}) {
      SCOPED_TRACE(target);
      const Transcoded result = transcode(source, path(target), {.overwrite = Overwrite::kAlways});
      const Clip copy = read_clip(path(target));
      EXPECT_EQ(copy.frames.size(), 5U);
      EXPECT_EQ(std::to_string(copy.video.format.width) + "x" + std::to_string(copy.video.format.height),
                size);
      if (target == "copy.mkv" && size != "2x2") {
        EXPECT_EQ(result.pixel_format, "yuv444p");
        EXPECT_NE(joined(result.warnings).find("odd size"), std::string::npos);
      }
    }
  }
}

// x265 3.5 corrupts the heap with widths from 33 to 48.
TEST_F(RoundTripTest, WidthsThatTheEncoderFailsWithAreKeptFromIt) {
  const std::string source =
      make("source.mkv", "-f lavfi -i testsrc2=s=48x32:r=25:d=0.2 -pix_fmt yuv420p12le -c:v ffv1");
  EXPECT_EQ(transcode(source, path("copy.mkv")).codec, "ffv1");
  EXPECT_THROW(transcode(source, path("copy.mp4"), {.codec = "libx265"}), UsageError);
}

TEST_F(RoundTripTest, Y4mKeepsDepthAndTurnsRgbIntoYuv) {
  for (const auto& [format, expected] :
       std::vector<std::pair<std::string, std::string>>{{"yuv420p", "yuv420p"},
                                                        {"yuv422p10le", "yuv422p10le"},
                                                        {"gray16le", "gray16le"},
                                                        {"gbrp", "yuv444p"}}) {
    const std::string source =
        make("source.nut", "-f lavfi -i testsrc2=s=34x20:r=25:d=0.08 -pix_fmt " + format + " -c:v rawvideo");
    const Transcoded result = transcode(source, path("copy.y4m"), {.overwrite = Overwrite::kAlways});
    EXPECT_EQ(result.pixel_format, expected);
    const Clip copy = read_clip(path("copy.y4m"));
    ASSERT_EQ(copy.frames.size(), 2U);
    if (format == expected) {
      expect_same_frames(read_clip(source).frames, copy.frames);
    }
  }
}

TEST_F(RoundTripTest, StandardInputAndOutputArePipes) {
  const std::string source = make("source.y4m", "-f lavfi -i testsrc2=s=34x20:r=25:d=0.2");
  // The Reader and Writer of "-" use descriptors 0 and 1, so this runs in a process of its own. It lacks the
  // threads that earlier tests have started, so it ends without waiting for them.
  EXPECT_EXIT(
      {
        const bool redirected = redirect(STDIN_FILENO, source, O_RDONLY) &&
                                redirect(STDOUT_FILENO, path("copy.y4m"), O_WRONLY | O_CREAT);
        const Transcoded result = redirected ? transcode("-", "-") : Transcoded{};
        std::_Exit(result.frames == 5 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  expect_same_frames(read_clip(source).frames, read_clip(path("copy.y4m")).frames);
}

TEST_F(RoundTripTest, HeaderlessVideoIsReadWithOptions) {
  const std::string source = make("source.yuv",
                                  "-f lavfi -i testsrc2=s=34x20:r=25:d=0.2 -pix_fmt yuv420p10le "
                                  "-f rawvideo");
  const Clip clip = read_clip(
      source,
      {.input_format = "rawvideo", .options = {{"pixel_format", "yuv420p10le"}, {"video_size", "34x20"}}});
  EXPECT_EQ(clip.frames.size(), 5U);
  EXPECT_EQ(to_string(clip.video.format), "34x20 YUV 4:2:0 10 bit");
}

TEST_F(RoundTripTest, NoFrameOfLibavfiltersSourcesIsLost) {
  for (const std::string clock : {"settb=1/10", "settb=1/1000", "setpts=PTS+5/TB"}) {
    SCOPED_TRACE(clock);
    const std::string graph = "testsrc=s=64x48:r=10:d=1," + clock;
    const Clip whole = read_clip(graph, {.input_format = "lavfi"});
    ASSERT_EQ(whole.frames.size(), 10U);
    for (std::size_t i = 0; i < whole.times.size(); ++i) {
      EXPECT_NEAR(whole.times[i], 0.1 * static_cast<double>(i), 1e-3);
    }
    const Clip part = read_clip(graph, {.input_format = "lavfi", .start = 0.3, .end = 0.8});
    EXPECT_EQ(part.times.size(), 5U);
    EXPECT_NEAR(part.times.at(0), 0, 1e-3);
    expect_same_frames({whole.frames.begin() + 3, whole.frames.begin() + 8}, part.frames);
    EXPECT_EQ(read_clip(graph, {.input_format = "lavfi", .end = 0.8}).frames.size(), 8U);
  }
}

TEST_F(RoundTripTest, StreamsCanBeLeftOut) {
  const std::string source = make(
      "source.mkv", "-f lavfi -i testsrc2=s=34x20:r=25:d=0.2 -f lavfi -i sine=d=0.2 -c:v ffv1 -c:a flac");
  EXPECT_GT(read_clip(source).packets, 0);
  EXPECT_EQ(read_clip(source, {.audio = false}).packets, 0);
}

TEST_F(RoundTripTest, InterruptionEndsTheSource) {
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=4 -c:v ffv1");
  bool interrupted = false;
  Reader reader(source, {.interrupted = [&] { return interrupted; }});
  interrupted = true;
  int frames = 0;
  while (!std::holds_alternative<Reader::End>(reader.read())) {
    ++frames;
  }
  EXPECT_LT(frames, 100);
}

}  // namespace
}  // namespace limpid::io
