#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <string>

#include "core/error.h"
#include "io/log.h"
#include "tests/io/media.h"

namespace limpid::io {
namespace {

class BadInputTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    if (!IsSkipped()) {
      source_ = make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -c:v ffv1");
      files_before_ = files();
    }
  }

  std::string write_text(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  /// The message of the Error that opening `file` throws.
  static std::string message_of_reading(const std::string& file, const ReaderOptions& options = {}) {
    try {
      read_clip(file, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  /// The message with which a transcode to `target` ends; checks that nothing is left behind.
  std::string message_of_writing(const std::string& target, const WriterOptions& options = {}) const {
    std::string message = "no error";
    try {
      transcode(source_, target, options);
    } catch (const UsageError& error) {
      message = std::string("usage: ") + error.what();
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_EQ(files(), files_before_);
    return message;
  }

  const std::string& source() const { return source_; }

 private:
  std::string source_;
  std::vector<std::string> files_before_;
};

TEST_F(BadInputTest, UnreadableFilesAreNamedWithTheReason) {
  EXPECT_EQ(message_of_reading(path("none.mp4")),
            path("none.mp4") + ": can't open it: No such file or directory");
  EXPECT_EQ(message_of_reading(path("")), path("") + ": is a directory, not a file");
  EXPECT_EQ(message_of_reading(write_text("empty.mp4", "")), path("empty.mp4") + ": the file is empty");
  const std::string text = "These are words, not pictures.\n";
  for (const std::string name : {"text.txt", "text.mp4", "text"}) {
    EXPECT_EQ(message_of_reading(write_text(name, text)), path(name) + ": no video or picture found in it");
  }
  EXPECT_EQ(message_of_reading(make("sound.m4a", "-f lavfi -i sine=d=0.2 -c:a aac")),
            path("sound.m4a") + ": has no video stream");
  EXPECT_EQ(message_of_reading(path("none_%03d.png")),
            path("none_%03d.png") +
                ": no picture of this sequence has one of its first 5 numbers, 0 to 4 without --input-option "
                "start_number=N");
}

TEST_F(BadInputTest, CoverArtIsNoVideo) {
  const std::string sound = make("sound.mp3",
                                 "-f lavfi -i sine=d=0.2 -f lavfi -i testsrc2=s=32x32:r=1:d=1 -map 0 "
                                 "-map 1 -c:v png -frames:v 1 -disposition:v attached_pic");
  EXPECT_EQ(message_of_reading(sound), sound + ": has no video stream");
}

TEST_F(BadInputTest, TruncatedFileGivesTheFramesBeforeTheCut) {
  const std::string whole = make("whole.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=2 -c:v libx264 -g 10");
  const std::string cut = path("cut.mkv");
  output_of("head -c $(($(stat -c %s '" + whole + "') * 2 / 3)) '" + whole + "' > '" + cut + "'");
  const std::size_t frames = read_clip(cut).frames.size();
  EXPECT_GT(frames, 20U);
  EXPECT_LT(frames, 50U);

  const std::string header = make("whole.mp4", "-f lavfi -i testsrc2=s=64x48:r=25:d=2 -c:v libx264");
  output_of("head -c 2000 '" + header + "' > '" + path("cut.mp4") + "'");
  EXPECT_EQ(message_of_reading(path("cut.mp4")), path("cut.mp4") + ": no video or picture found in it");
}

TEST_F(BadInputTest, DamagedPacketsAreSkippedAndTheRunGoesOn) {
  const std::string whole =
      make("whole.ts", "-f lavfi -i testsrc2=s=128x96:r=25:d=4 -c:v mpeg2video -g 5 -q:v 4");
  std::string bytes;
  {
    std::ifstream in(whole, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t at = 20000; at + 3000 < bytes.size(); at += 9000) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1500, '\x5a');
  }
  std::ofstream(path("damaged.ts"), std::ios::binary) << bytes;
  const std::string counted = output_of(
      "ffprobe -v quiet -count_frames -select_streams v -show_entries stream=nb_read_frames -of "
      "default=nw=1:nk=1 '" +
      path("damaged.ts") + "' | head -1");
  const Clip clip = read_clip(path("damaged.ts"));
  EXPECT_EQ(static_cast<int>(clip.frames.size()), std::stoi(counted));
  EXPECT_GT(clip.frames.size(), 50U);
  EXPECT_EQ(transcode(path("damaged.ts"), path("copy.mkv")).frames, std::stoi(counted));
}

TEST_F(BadInputTest, FramesOfAnotherSizeAreScaledToTheFirst) {
  const std::string small = make("small.h264", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -c:v libx264");
  const std::string large = make("large.h264", "-f lavfi -i testsrc2=s=96x64:r=25:d=0.4 -c:v libx264");
  output_of("cat '" + small + "' '" + large + "' '" + small + "' > '" + path("all.h264") + "'");
  Reader reader(path("all.h264"));
  int frames = 0;
  for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item); item = reader.read()) {
    const Frame& frame = std::get<Frame>(item);
    EXPECT_EQ(frame.format, reader.video().format);
    EXPECT_EQ(frame.format.width, 64);
    ++frames;
  }
  EXPECT_EQ(frames, 30);
  EXPECT_EQ(reader.converted_frames(), 10);
}

TEST_F(BadInputTest, UnknownInputFormatsAndOptionsAreUsageErrors) {
  EXPECT_THROW(read_clip(source(), {.input_format = "nonesuch"}), UsageError);
  EXPECT_EQ(message_of_reading(source(), {.input_format = "nonesuch"}),
            "no input format is called 'nonesuch'");
  EXPECT_THROW(read_clip(source(), {.options = {{"nonesuch", "1"}}}), UsageError);
  EXPECT_NE(message_of_reading(source(), {.options = {{"nonesuch", "1"}}}).find("'nonesuch'"),
            std::string::npos);
}

TEST_F(BadInputTest, ImpossibleEncodersAndOptionsAreUsageErrors) {
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "nonesuch"}),
            "usage: no encoder is called 'nonesuch'");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "aac"}), "usage: 'aac' is not a video encoder");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.pixel_format = "nonesuch"}),
            "usage: no pixel format is called 'nonesuch'");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "mpeg4", .pixel_format = "yuv444p"}),
            "usage: the encoder mpeg4 doesn't take the pixel format 'yuv444p', but yuv420p");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.encoder_options = {{"nonesuch", "1"}}}),
            "usage: the encoder libx264 has no option 'nonesuch'");
  for (const auto& [option, value] :
       {std::pair{"video_size", "4000x3000"}, {"pixel_format", "yuv422p"}, {"time_base", "1/7"}}) {
    EXPECT_EQ(
        message_of_writing(path("out.mkv"), {.codec = "ffv1", .encoder_options = {{option, value}}}),
        "usage: the encoder option '" + std::string(option) + "' can't be set: it follows from the frames");
  }
  for (const auto& [codec, key, value, complaint] :
       {std::tuple{"libx264", "x264-params", "qpmin=5:nonesuch=1", "Error parsing option 'nonesuch = 1'."},
        {"libx264rgb", "x264-params", "nonesuch=1", "Error parsing option 'nonesuch = 1'."},
        {"libx265", "x265-params", "nonesuch=1", "Unknown option: nonesuch."},
        {"libx265", "x265-params", "bframes=x", "Invalid value for bframes: x."}}) {
    EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = codec, .encoder_options = {{key, value}}}),
              "usage: " + path("out.mkv") + ": " + key + ": [" + codec + "] " + complaint);
  }
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "ffv1", .crf = "20"}),
            "usage: the encoder ffv1 has no option 'crf'");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.crf = "twenty"}),
            "usage: the encoder libx264 doesn't take 'twenty' for its option 'crf'");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.container = "nonesuch"}),
            "usage: no container is called 'nonesuch'");
  EXPECT_EQ(message_of_writing(path("out.nonesuch")),
            "usage: " + path("out.nonesuch") + ": no container is known for this file name");
  EXPECT_EQ(message_of_writing(path("out.mp3")),
            "usage: " + path("out.mp3") + ": the container mp3 can't hold video");
  EXPECT_EQ(message_of_writing(path("out.webm"), {.codec = "libx264"}),
            "usage: " + path("out.webm") + ": the container webm can't hold what the encoder libx264 makes");
}

TEST_F(BadInputTest, WhatTheEncoderTurnsDownIsToldInItsWords) {
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.preset = "nonesuch"})
                .rfind("usage: the encoder libx264 has no "
                       "preset 'nonesuch', but ultrafast",
                       0),
            0U);
  const std::string message =
      message_of_writing(path("out.mkv"), {.encoder_options = {{"profile", "nonesuch"}}});
  EXPECT_NE(message.find("libx264"), std::string::npos) << message;
  EXPECT_NE(message.find("profile nonesuch"), std::string::npos) << message;
}

TEST_F(BadInputTest, OutputIsNeverTheInput) {
  EXPECT_EQ(message_of_writing(source(), {.overwrite = Overwrite::kAlways}),
            source() + ": is the input itself");
  EXPECT_EQ(message_of_writing(path("./source.mkv"), {.overwrite = Overwrite::kAlways}),
            path("./source.mkv") + ": is the input itself");
}

TEST_F(BadInputTest, UnwritablePlacesAreNamed) {
  EXPECT_EQ(message_of_writing(path("none/out.mkv")),
            path("none/out.mkv") + ": can't create a file there: No such file or directory");
  EXPECT_EQ(message_of_writing(path("."), {.container = "matroska"}),
            path(".") + ": is a directory, not a file");
}

TEST_F(BadInputTest, FullDeviceIsAnError) {
  if (::access("/dev/full", W_OK) != 0) {
    GTEST_SKIP() << "/dev/full is missing";
  }
  const std::string message = message_of_writing("/dev/full", {.container = "matroska"});
  EXPECT_EQ(message.rfind("/dev/full: can't", 0), 0U) << message;
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
}

TEST_F(BadInputTest, FullDiskLeavesNothing) {
  const std::string disk = path("disk");
  ASSERT_EQ(::mkdir(disk.c_str(), 0700), 0);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting a small disk is not permitted";
  }
  const std::string large =
      make("large.mkv", "-f lavfi -i testsrc2=s=320x240:r=25:d=2,noise=alls=30 -c:v ffv1");
  std::string message;
  for (const std::string name : {"/out.mkv", "/out.mp4", "/out.y4m", "/out_%d.png"}) {
    try {
      transcode(large, disk + name, {.codec = name == "/out.mkv" ? "ffv1" : ""});
      message = "no error";
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_NE(message.find("No space left on device"), std::string::npos) << name << ": " << message;
    for (const auto& entry : std::filesystem::directory_iterator(disk)) {
      const std::string left = entry.path().filename().string();
      EXPECT_TRUE(left.starts_with("out_")) << left;  // pictures that were complete
    }
  }
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST_F(BadInputTest, ClosedPipeIsAnError) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  const std::string message =
      message_of_writing("pipe:" + std::to_string(ends[1]), {.container = "yuv4mpegpipe"});
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
  EXPECT_NE(message.find("Broken pipe"), std::string::npos) << message;
}

TEST_F(BadInputTest, ExistingTargetIsKeptUnlessToldOtherwise) {
  const std::string target = write_text("out.mkv", "precious");
  EXPECT_THROW(transcode(source(), target), Error);
  std::string content;
  std::ifstream(target) >> content;
  EXPECT_EQ(content, "precious");
  transcode(source(), target, {.overwrite = Overwrite::kAlways});
  EXPECT_EQ(read_clip(target).frames.size(), 10U);
  EXPECT_EQ(files(), (std::vector<std::string>{"out.mkv", "source.mkv"}));
}

TEST_F(BadInputTest, AbandonedRunLeavesTheOldFileAndNoOther) {
  const std::string target = write_text("out.mkv", "precious");
  {
    const Reader reader(source());
    Writer writer(target, reader, {.overwrite = Overwrite::kAlways});
    EXPECT_EQ(files().size(), 3U);
  }
  std::string content;
  std::ifstream(target) >> content;
  EXPECT_EQ(content, "precious");
  EXPECT_EQ(files(), (std::vector<std::string>{"out.mkv", "source.mkv"}));
}

TEST_F(BadInputTest, LinkedTargetStaysALink) {
  std::filesystem::create_symlink("real.mkv", path("link.mkv"));
  transcode(source(), path("link.mkv"), {.overwrite = Overwrite::kAlways});
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.mkv")));
  EXPECT_EQ(read_clip(path("real.mkv")).frames.size(), 10U);
}

TEST_F(BadInputTest, NamesWithColonsAndPercentSignsAreFiles) {
  for (const std::string name : {"a:b.mkv", "100%.mkv", "blank name.mkv"}) {
    transcode(source(), path(name));
    EXPECT_EQ(read_clip(path(name)).frames.size(), 10U) << name;
  }
}

TEST_F(BadInputTest, LibavsMessagesGoToTheSinkOnly) {
  std::atomic<int> lines = 0;
  set_log_sink([&](LogSeverity, const std::string& line) {
    lines += line.empty() ? 0 : 1;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  });
  ::testing::internal::CaptureStderr();
  transcode(source(), path("out.mkv"));
  const std::string printed = ::testing::internal::GetCapturedStderr();
  set_log_sink({});
  EXPECT_EQ(printed, "");
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace limpid::io
