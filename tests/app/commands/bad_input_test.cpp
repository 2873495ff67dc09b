// SPDX-License-Identifier: MIT
// Bad input ends with one clear sentence and exit code 1 or 2, and leaves nothing behind.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/app/program/program_test.h"
#include "tests/local_listener.h"

namespace limpid::test {
namespace {

class WrongWordsTest : public ProgramTest {
 protected:
  /// Runs `limpid denoise in.mkv -o out.mkv` with more words, which is wrong usage.
  void expect_refused(const std::vector<std::string>& words, const std::vector<std::string>& sentence) const {
    std::vector<std::string> all{"denoise", path("in.mkv"), "-o", path("out.mkv")};
    all.insert(all.end(), words.begin(), words.end());
    expect_failure(limpid(all), 2, sentence);
    EXPECT_FALSE(std::filesystem::exists(path("out.mkv")));
  }
};

TEST_F(WrongWordsTest, ANumberWithADecimalCommaHasItsReading) {
  make_clip("in.mkv", 2);
  expect_refused({"--strength", "0,5"},
                 {"--strength: '0,5'", "write 0.5, or 0.0,5.0 for luma and chroma", "--planes chroma"});
  for (const auto& [option, value, reading] :
       std::vector<std::array<std::string, 3>>{{"--sigma", "1,5", "1.5"},
                                               {"--noise", "1,5", "1.5"},
                                               {"--mix", "0,2", "0.2"},
                                               {"--start", "0,1", "0.1"},
                                               {"--start", "0:00,1", "00.1"},
                                               {"--duration", "1,5", "1.5"},
                                               {"--crf", "18,5", "18.5"},
                                               {"--bitrate", "2,5M", "2.5"},
                                               {"--add-grain", "1,5", "1.5"},
                                               {"--filter", "vbm4d:tau=1,5", "1.5"}}) {
    expect_refused({option, value, "-c", "libx264"}, {"; decimals have a point: " + reading});
  }
}

TEST_F(WrongWordsTest, AWordAfterAFlagIsNamed) {
  make_clip("in.mkv", 2);
  expect_refused({"--json", "report.json"}, {"report.json: no such file; --json takes no value and prints to "
                                             "standard output (--json > report.json)"});
  expect_refused({"-q", "20"}, {"20: no such file; -q takes no value"});
  expect_refused({"--resume", "job"}, {"job: no such file; --resume takes no value"});
  expect_refused({"--no-audio", "true"}, {"true: no such file; --no-audio takes no value"});
  expect_refused({"\u2013strength", "strong"}, {"\u2013strength: begins with a dash that is not '-'"});
  expect_refused({"--json", "x_%03d.png"}, {"out.mkv: is not a folder"});
  expect_refused({"--sigma", std::string(100'000, '1') + ",5"}, {"is not a noise level"});
  expect_failure(limpid({"noise", path("in.mkv"), "--json", "report.json"}), 2, {"--json takes no value"});
}

TEST_F(WrongWordsTest, ANameInSeveralWordsNeedsQuotes) {
  const std::string name = make_clip("a b c.mkv", 2);
  expect_failure(limpid({"denoise", path("a"), "b", "c.mkv"}), 2, {"needs quotes: '" + name + "'"});
  expect_failure(limpid({"denoise", path("a"), "b", "c.mkv", "-o", path("out.mkv")}), 2,
                 {"needs quotes: '" + name + "'"});
}

TEST_F(WrongWordsTest, AnUnfinishedRecordingLacksItsIndex) {
  const std::string whole =
      make("in.mp4", {"-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "5", "-c:v", "libx264"});
  const std::string bytes = read_file(whole);
  write_file(path("cut.mp4"), bytes.substr(0, bytes.find("moov") - 4));
  expect_failure(limpid({"denoise", path("cut.mp4"), "-o", path("out.mkv")}), 1,
                 {"cut.mp4: its index (moov) is missing", "untrunc"});
}

class BadInputTest : public ProgramTest {
 protected:
  /// Denoises `input` to out.mkv and expects a failure without a new file.
  void expect_refused(const std::string& input, int exit_code, const std::vector<std::string>& parts,
                      std::vector<std::string> options = {}, const std::string& output = "out.mkv") const {
    const std::vector<std::string> before = files();
    std::vector<std::string> arguments = {"denoise", input, "-o", path(output), "--profile", "fast"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_failure(limpid(arguments), exit_code, parts);
    EXPECT_EQ(files(), before);
  }

  /// Denoises `input` to out.mkv and expects `warning`; with --strict, expects a failure without a file.
  /// Returns the messages.
  std::string expect_warned_unless_strict(const std::string& input, const std::string& warning,
                                          std::vector<std::string> parts_of_strict) const {
    const Outcome outcome = limpid(
        {"denoise", input, "-o", path("out.mkv"), "--profile", "fast", "--sigma", "5", "--hwaccel", "none"});
    expect_success(outcome);
    EXPECT_NE(outcome.err.find(warning), std::string::npos) << outcome.err;
    parts_of_strict.emplace_back("--strict");
    // A GPU's decoder conceals errors without a message.
    expect_refused(input, 1, parts_of_strict, {"--sigma", "5", "--strict", "--hwaccel", "none"},
                   "strict.mkv");
    return outcome.err;
  }
};

TEST_F(BadInputTest, DataThatIsNotKeptIsToldUnlessStrict) {
  const std::string input =
      make("in.mp4", {"-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.2", "-c:v", "mpeg4"});
  std::ofstream(input, std::ios::binary | std::ios::app) << std::string(100, 'G');
  const std::string lost = "100 bytes behind its MP4 boxes";
  expect_warned_unless_strict(input, lost, {lost});
}

TEST_F(BadInputTest, MissingFile) { expect_refused(path("absent.mkv"), 1, {"absent.mkv", "No such file"}); }

TEST_F(BadInputTest, DirectoryToAFile) {
  write_file(path("notes.txt"), "no picture");
  expect_refused(folder().string(), 2, {"out.mkv: is not a folder"});
}

TEST_F(BadInputTest, NumberedPicturesAreNamedAsAVideo) {
  for (const char* const name : {"img_008.png", "img_009.png", "img_010.png"}) {
    write_file(path(name), "only the name counts");
  }
  const std::string series = "to denoise numbered pictures as a video, name " + path("img_%03d.png");
  expect_refused(folder().string(), 2, {"out.mkv: is not a folder", series});
  expect_failure(limpid({"denoise", folder().string()}), 2, {"-o FOLDER", series});
}

TEST_F(BadInputTest, PicturesAreDenoisedAloneWithAWarningAtTheEndAndASeriesGetsItsFolder) {
  make("img_%03d.png", {"-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "3"});
  const Outcome alone =
      limpid({"denoise", path("img_001.png"), path("img_002.png"), "-o", path("out") + "/", "--sigma", "5"});
  expect_success(alone);
  EXPECT_GT(alone.err.find("each picture was denoised alone; to denoise"),
            alone.err.find("img_002.png (2 of 2"));
  EXPECT_NE(alone.err.find("each picture was denoised alone; to denoise"), std::string::npos) << alone.err;
  expect_success(limpid({"denoise", path("img_%03d.png"), "-o", path("new/of/c_%03d.png"), "--sigma", "5"}));
  EXPECT_EQ(frame_count(path("new/of/c_%03d.png")), 3U);
}

TEST_F(BadInputTest, CamerasAreForWebcam) {
  expect_refused("/dev/video63", 2, {"/dev/video63: is a camera", "limpid webcam /dev/video63"});
}

TEST_F(BadInputTest, EmptyFile) {
  write_file(path("empty.mkv"), "");
  expect_refused(path("empty.mkv"), 1, {"empty.mkv"});
}

TEST_F(BadInputTest, TextFile) {
  write_file(path("text.txt"), std::string(100, 'x') + "\nnot a video\n");
  expect_refused(path("text.txt"), 1, {"text.txt"});
}

TEST_F(BadInputTest, RandomBytes) {
  std::string bytes;
  unsigned state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>(state >> 24);
  }
  write_file(path("random.mp4"), bytes);
  expect_refused(path("random.mp4"), 1, {"random.mp4"});
}

TEST_F(BadInputTest, FfmpegsWayToNameAnEncoder) {
  expect_refused(make_clip("in.mkv", 1), 2, {"-c:v", "use --codec NAME"}, {"-c:v", "libx264"});
}

TEST_F(BadInputTest, AnEncoderOfAGpuThatIsNotThere) {
  const std::vector<std::string> nvenc = {"-c:v", "h264_nvenc"};
  if (run({"ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=s=256x256:d=0.1", nvenc[0], nvenc[1], "-f",
           "null", "-"})
          .exit_code == 0) {
    GTEST_SKIP() << "it is there";
  }
  expect_refused(make_clip("in.mkv", 2, "256x256"), 1, {"out.mkv: the encoder h264_nvenc"}, {"-c", nvenc[1]});
}

TEST_F(BadInputTest, AudioOnly) {
  expect_refused(make("sound.wav", {"-f", "lavfi", "-i", "sine=duration=0.2"}), 1, {"sound.wav", "video"});
}

TEST_F(BadInputTest, TruncatedMp4WithoutItsIndex) {
  const std::string whole =
      read_file(make("whole.mp4", {"-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "20"}));
  write_file(path("half.mp4"), whole.substr(0, whole.size() / 2));
  expect_refused(path("half.mp4"), 1, {"half.mp4"});
}

TEST_F(BadInputTest, TruncatedMatroskaGivesTheFramesThatAreThere) {
  const std::string whole = read_file(make_clip("whole.mkv", 20));
  write_file(path("half.mkv"), whole.substr(0, whole.size() / 2));
  const Outcome outcome =
      limpid({"denoise", path("half.mkv"), path("out.mkv"), "--profile", "fast", "--sigma", "5"});
  expect_success(outcome);
  EXPECT_GE(frame_count(path("out.mkv")), 8U);
  EXPECT_LE(frame_count(path("out.mkv")), 10U);
}

TEST_F(BadInputTest, UnwritableOutput) {
  const std::string input = make_clip("in.mkv");
  expect_refused(input, 1, {"absent/out.mkv", "the folder " + path("absent") + " does not exist"}, {},
                 "absent/out.mkv");
  expect_failure(limpid({"denoise", input, "-o", "/proc/out.mkv"}), 1, {"/proc/out.mkv"});
  expect_refused(input, 1, {"--log-file", "there is no folder " + path("absent/folder")},
                 {"--log-file", path("absent/folder/log.txt")});
}

TEST_F(BadInputTest, AnOutputsNameThatIsTooLongIsToldAtOnce) {
  const std::string name = std::string(252, 'n') + ".mkv";
  expect_refused(make_clip("in.mkv"), 1, {name.substr(0, 100), "File name too long"}, {}, name);
}

TEST_F(BadInputTest, OutputIsTheInput) {
  const std::string input = make_clip("in.mkv");
  const std::string before = read_file(input);
  expect_refused(input, 2, {"in.mkv", "input"}, {"-y"}, "in.mkv");
  std::filesystem::create_hard_link(input, path("link.mkv"));
  expect_refused(input, 2, {"link.mkv", "input"}, {"-y"}, "link.mkv");
  expect_refused("file:" + input, 2, {"in.mkv", "input"}, {"-y"}, "in.mkv");
  expect_refused(input, 1, {"link.mkv", "input"}, {"--log-file", path("link.mkv")});
  EXPECT_EQ(read_file(input), before);
}

TEST_F(BadInputTest, EncodersAndContainersThatDontFit) {
  const std::string input = make_clip("in.mkv");
  expect_refused(input, 2, {"nosuchencoder"}, {"-c", "nosuchencoder"});
  expect_refused(input, 2, {"nosuchcontainer"}, {"-f", "nosuchcontainer"});
  expect_refused(input, 2, {"gbrapf32le", "libx264"}, {"-c", "libx264", "--pix-fmt", "gbrapf32le"});
  expect_refused(input, 2, {"nosuchformat"}, {"--pix-fmt", "nosuchformat"});
  expect_refused(input, 2, {"--dither", "maybe", "auto"}, {"--dither", "maybe"});
  expect_refused(input, 2, {"nosuchoption"}, {"-c", "libx264", "-e", "nosuchoption=1"});
  expect_refused(input, 2, {"nosuchpreset", "ultrafast"}, {"-c", "libx264", "--preset", "nosuchpreset"});
  expect_refused(input, 2, {"out.nosuchsuffix"}, {}, "out.nosuchsuffix");
}

TEST_F(BadInputTest, ResolutionThatChanges) {
  const std::vector<std::string> encode = {"-frames:v", "5", "-c:v", "mpeg2video", "-f", "mpegts"};
  std::vector<std::string> small = {"-f", "lavfi", "-i", "testsrc2=size=64x48"};
  std::vector<std::string> large = {"-f", "lavfi", "-i", "testsrc2=size=128x96"};
  small.insert(small.end(), encode.begin(), encode.end());
  large.insert(large.end(), encode.begin(), encode.end());
  write_file(path("change.ts"), read_file(make("a.ts", small)) + read_file(make("b.ts", large)));
  const Outcome outcome =
      limpid({"denoise", path("change.ts"), "-o", path("out.mkv"), "--profile", "fast", "--sigma", "5"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("frames differ from the first in size"), std::string::npos) << outcome.err;
}

TEST_F(BadInputTest, DamagedPacketsAreSkippedAndCountedUnlessStrict) {
  std::string bytes =
      read_file(make("whole.mkv", {"-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.4", "-c:v", "png"}));
  // The compressed samples of the fifth picture.
  std::size_t at = 0;
  for (int i = 0; i < 5; ++i) {
    at = bytes.find("IDAT", at + 1);
    ASSERT_NE(at, std::string::npos);
  }
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 10, 200, 'Z');
  write_file(path("damaged.mkv"), bytes);
  expect_warned_unless_strict(path("damaged.mkv"), "1 damaged packets were skipped",
                              {"damaged.mkv", "after 4 frames"});
  EXPECT_EQ(frame_count(path("out.mkv")), 9U);
}

TEST_F(BadInputTest, AFileThatCantBeFollowedIsToldUnlessStrict) {
  std::string bytes = read_file(make_clip("whole.y4m", 10));
  std::size_t at = 0;
  for (int i = 0; i < 5; ++i) {
    at = bytes.find("FRAME\n", at + 1);
    ASSERT_NE(at, std::string::npos);
  }
  bytes.replace(at, 5, "GARBA");
  write_file(path("damaged.y4m"), bytes);
  expect_warned_unless_strict(path("damaged.y4m"), "can't be read beyond its first 4 frames",
                              {"damaged.y4m", "after 4 frames"});
  EXPECT_EQ(frame_count(path("out.mkv")), 4U);
}

TEST_F(BadInputTest, AFileThatEndsEarlyIsToldUnlessStrict) {
  const auto cut = [&](const std::string& name, const std::string& whole) {
    const std::string bytes = read_file(whole);
    write_file(path(name), bytes.substr(0, bytes.size() * 6 / 10));
    return path(name);
  };
  const std::string video = make("whole.mkv", {"-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-c:v",
                                               "mpeg4", "-q:v", "2", "-g", "5"});
  const std::string early = "of the 2.00 s that its header declares";
  const std::string said =
      expect_warned_unless_strict(cut("cut.mkv", video), "cut.mkv: isn't whole: it ends after ",
                                  {"cut.mkv: it ends after ", early, "without --strict"});
  EXPECT_NE(
      said.find(early + ", with " + std::to_string(frame_count(path("out.mkv"))) + " of about 50 frames"),
      std::string::npos)
      << said;
  std::filesystem::remove(path("out.mkv"));
  expect_warned_unless_strict(cut("cut.y4m", make_clip("whole.y4m")),
                              "cut.y4m: isn't whole: it ends in the middle of a frame, with 2",
                              {"cut.y4m: it ends in the middle of a frame, after 2 frames"});
}

TEST_F(BadInputTest, FramesThatTheDecoderHasMendedAreCountedUnlessStrict) {
  std::string bytes = read_file(make("whole.h264", {"-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=0.4",
                                                    "-c:v", "libx264", "-bf", "0", "-crf", "10"}));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), 200, 'Z');  // within a slice
  write_file(path("damaged.h264"), bytes);
  expect_warned_unless_strict(path("damaged.h264"), "1 frames are damaged", {"damaged.h264", "is damaged"});
  EXPECT_EQ(frame_count(path("out.mkv")), 10U);
}

TEST_F(BadInputTest, DamagedSoundIsSkippedAndCountedUnlessStrict) {
  // Matroska stores AAC in another form, to which a libav bitstream filter converts it.
  const std::string whole =
      make("whole.ts", {"-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-f", "lavfi", "-i",
                        "sine=duration=2", "-c:v", "mpeg2video", "-c:a", "aac"});
  const std::string bytes = read_file(whole);
  constexpr std::size_t kPacket = 188;
  constexpr int kSound = 0x101;
  std::string damaged;
  int of_sound = 0;
  for (std::size_t at = 0; at + kPacket <= bytes.size(); at += kPacket) {
    const int stream = (bytes[at + 1] & 0x1F) << 8 | static_cast<unsigned char>(bytes[at + 2]);
    const bool begins = (bytes[at + 1] & 0x40) != 0;  // many audio frames, which would all be lost
    if (stream != kSound || begins || ++of_sound % 20 != 0) {
      damaged += bytes.substr(at, kPacket);
    }
  }
  ASSERT_GT(of_sound, 40);
  write_file(path("damaged.ts"), damaged);
  const std::string said = expect_warned_unless_strict(path("damaged.ts"), "damaged packets were skipped",
                                                       {"damaged.ts", "is damaged"});
  EXPECT_EQ(frame_count(path("out.mkv")), 50U);
  const std::size_t kept = packet_count(path("out.mkv"), "a");
  EXPECT_GT(kept, 70U);
  const std::size_t skipped = packet_count(path("damaged.ts"), "a") - kept;
  EXPECT_NE(said.find(" " + std::to_string(skipped) + " damaged packets"), std::string::npos) << said;
}

TEST_F(BadInputTest, FullDisk) {
  const std::string input = make_clip("in.mkv", 20, "320x240");
  expect_failure(limpid({"denoise", input, "-o", "/dev/full", "-f", "yuv4mpegpipe", "--profile", "fast",
                         "--sigma", "5"}),
                 1, {"/dev/full", "No space left"});

  const std::string disk = path("disk");
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0) {
    GTEST_SKIP() << "a small file system can't be mounted here: " << std::strerror(errno);
  }
  const std::string kept = disk + "/out.partial.mkv";
  const Outcome outcome =
      limpid({"denoise", input, disk + "/out.mkv", "-c", "ffv1", "--profile", "fast", "--sigma", "5"});
  const std::size_t frames = std::filesystem::exists(kept) ? frame_count(kept) : 0;
  expect_failure(outcome, 1,
                 {"out.mkv: can't write: No space left on device; " + kept + " has the " +
                  std::to_string(frames) + " frames before that"});
  EXPECT_GT(frames, 1U);
  std::filesystem::remove(kept);
  EXPECT_TRUE(std::filesystem::is_empty(disk));
  EXPECT_EQ(umount(disk.c_str()), 0);
}

TEST_F(BadInputTest, AFileThatMayNotGrowAnyMore) {
  const std::string input = make_clip("in.mkv", 20, "320x240");
  for (const std::string type : {".mkv", ".mp4", ".y4m"}) {
    const std::string script =
        R"(ulimit -f 600; exec "$0" denoise "$1" -o "$2" -c "$3" --profile fast --sigma 0)";
    const std::string codec = type == ".y4m" ? "wrapped_avframe" : type == ".mkv" ? "ffv1" : "png";
    const Outcome outcome = run({"bash", "-c", script, LIMPID_PROGRAM, input, path("out" + type), codec});
    const std::string kept = path("out.partial" + type);
    ASSERT_TRUE(std::filesystem::exists(kept)) << outcome.err;
    const std::size_t frames = frame_count(kept);
    EXPECT_GT(frames, 1U);
    expect_failure(outcome, 1,
                   {"out" + type + ": can't write: File too large; " + kept + " has the " +
                    std::to_string(frames) + " frames before that"});
    EXPECT_FALSE(std::filesystem::exists(path("out" + type)));
  }
}

TEST_F(BadInputTest, AClosedPipeIsAnError) {
  const std::string input = make_clip("in.mkv", 20, "320x240");
  const std::string script = R"(set -o pipefail; "$0" denoise "$1" -o - --sigma 0 | head -c 100 >/dev/null)";
  const Outcome outcome = run({"bash", "-c", script, LIMPID_PROGRAM, input});
  expect_failure(outcome, 1, {"Broken pipe"});
}

TEST_F(BadInputTest, AFailureIsToldWhileTheSourceHasNothingToGive) {
  const std::string clip = read_file(make_clip("in.y4m", 3, "320x240"));
  ProcessOptions options;
  options.input_pipe = true;
  Process process(limpid_command({"denoise", "-", "-o", "/dev/full", "-f", "yuv4mpegpipe", "--filter", "bm3d",
                                  "--sigma", "0"}),
                  options);
  process.write_input(clip);  // and keeps the pipe open
  expect_failure(process.wait(), 1, {"/dev/full", "No space left"});
}

/// A web server that cuts off the first requested file in its middle.
class BreakingServer {
 public:
  explicit BreakingServer(const std::string& file) : thread_([this, file] { serve(file); }) {}
  BreakingServer(const BreakingServer&) = delete;
  BreakingServer& operator=(const BreakingServer&) = delete;
  ~BreakingServer() { listener_.shut_down(); }  // in case no client has connected
  std::string url() const { return "http://" + listener_.address(); }

 private:
  void serve(const std::string& file) const {
    const FileDescriptor client(::accept(listener_.descriptor(), nullptr, nullptr));
    std::string request;
    char byte = 0;
    while (!request.ends_with("\r\n\r\n") && ::recv(client.get(), &byte, 1, 0) == 1) {
      request += byte;
    }
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(file.size()) +
                               "\r\n\r\n" + file.substr(0, file.size() / 2);
    std::size_t sent = 0;
    for (ssize_t count = 1; count > 0 && sent < answer.size(); sent += count) {
      count = ::send(client.get(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    }
  }

  LocalListener listener_;
  std::jthread thread_;
};

TEST_F(BadInputTest, ASourceThatBreaksOffIsToldAndWhatItGaveKept) {
  ::setenv("no_proxy", "127.0.0.1", 1);  // ignores any proxy of this machine
  const BreakingServer server(read_file(make_clip("in.y4m", 50, "320x240")));
  const Outcome outcome = limpid({"denoise", server.url(), "-o", path("out.mkv"), "--sigma", "0"});
  const std::size_t frames = frame_count(path("out.partial.mkv"));
  EXPECT_GT(frames, 20U);
  EXPECT_LT(frames, 50U);
  EXPECT_FALSE(std::filesystem::exists(path("out.mkv")));
  expect_failure(
      outcome, 1,
      {server.url(), "Input/output error", "out.partial.mkv has the " + std::to_string(frames) + " frames"});
}

TEST_F(BadInputTest, LocalOnlyIsForAllCommandsThatReadFiles) {
  const std::string url = "http://127.0.0.1:9/in.mkv";
  const std::string input = make_clip("in.mkv", 1);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"denoise", url, "-o", path("out.mkv")},
                                             {"denoise", input, "-o", "http://127.0.0.1:9/out.mkv"},
                                             {"plan", url, "-o", path("job")},
                                             {"benchmark", url},
                                             {"compare", url},
                                             {"compare", input, "--truth", url},
                                             {"measure", input, url},
                                             {"measure", url, input},
                                             {"noise", url},
                                             {"preview", url}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--local-only");
    expect_failure(limpid(arguments), 1, {"is neither a file nor a pipe, as --local-only requires"});
  }
}

TEST_F(BadInputTest, FramesThatAreMissingInTheMiddleAreTold) {
  const std::string input = make("hole.mkv", {"-f", "lavfi", "-i", "testsrc2=size=64x48", "-vf",
                                              "noise=alls=20", "-frames:v", "75", "-c:v", "ffv1", "-g", "1"});
  std::string bytes = read_file(input);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.size() / 4, '\0');
  write_file(input, bytes);
  const std::string told =
      expect_warned_unless_strict(input, " frames are missing between ", {"missing between"});
  EXPECT_NE(told.find("its container is damaged in 1 place,"), std::string::npos) << told;
}

TEST_F(BadInputTest, WrongUsage) {
  const std::string input = make_clip("in.mkv", 1);
  for (const char* sigma : {"-1", "nan", "abc", "1,2", "300"}) {
    expect_refused(input, 2, {"--sigma", sigma}, {"--sigma", sigma});
  }
  expect_refused(input, 2, {"--nosuchoption"}, {"--nosuchoption"});
  expect_refused(input, 2, {"--filter", "median", "bm3d"}, {"--filter", "median"});
  expect_refused(input, 2, {"finest", "fast, lc, np, high, best"}, {"--profile", "finest"});
  expect_refused(input, 2, {"warp", "cpu"}, {"--engine", "warp"});
  expect_refused(input, 2, {"--strength"}, {"--strength", "heavy"});
  for (const char* time : {"1:", "1:60", "1.5:20", "1:2:3:4", "x"}) {
    expect_refused(input, 2, {"--start", time}, {"--start", time});
  }
  expect_refused(input, 2, {"--end", "3", "--start, 60 s"}, {"--start", "1:00", "--end", "3"});
  expect_refused(input, 2, {"--frames"}, {"--frames", "0"});
  expect_refused(input, 2, {"--frames"}, {"--frames", "many"});
  expect_refused(input, 2, {"--threads"}, {"--threads", "-2"});
  expect_refused(input, 2, {"tau-2", "second step"}, {"--filter", "bm3d:steps=1:tau-2=5"});
  expect_refused(input, 2, {"patch size"}, {"--filter", "bm3d:patch-size=99"});
  expect_refused(input, 2, {"--patch-size", "--filter bm3d:patch-size=VALUE"}, {"--patch-size", "4"});
  expect_refused(input, 2, {"-e", "crf"}, {"-e", "crf"});
  expect_refused(input, 2, {"--log-level", "loud"}, {"--log-level", "loud"});
  expect_refused(input, 2, {"--progress", "fancy"}, {"--progress", "fancy"});
  expect_refused(input, 2, {"-y", "-n"}, {"-y", "-n"});
  expect_refused(input, 2, {"nosuchdemuxer"}, {"--input-format", "nosuchdemuxer"});
  expect_refused(input, 2, {"nosuchkey"}, {"--input-option", "nosuchkey=1"});
}

TEST_F(BadInputTest, MissingArguments) {
  const std::string input = make_clip("in.mkv", 1);
  const Outcome first_steps = limpid({});
  expect_success(first_steps);
  EXPECT_EQ(lines(first_steps.out).size(), 7U) << first_steps.out;
  expect_failure(limpid({"polish"}), 2, {"polish"});
  expect_failure(limpid({"denoise"}), 2, {"INPUT"});
  expect_failure(limpid({"denoise", "-"}), 2, {"output is missing"});
  expect_failure(limpid({"denoise", input, path("a.mkv"), "-o", path("b.mkv")}), 2,
                 {"b.mkv: is not a folder"});
  expect_failure(limpid({"denoise", input, input, input}), 2, {"-o FOLDER"});
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv"}));
}

}  // namespace
}  // namespace limpid::test
