// SPDX-License-Identifier: MIT
#include "app/player/frame_sink.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mount.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <variant>

#include "app/console/logging.h"
#include "core/base/error.h"
#include "tests/app/console/silent_logging.h"
#include "tests/captions.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

class FrameSinkTest : public io::MediaTest {
 protected:
  std::string make_clip() const {
    return make("in.mkv", "-f lavfi -i testsrc2=s=320x240:r=25:d=0.8,noise=alls=30 -c:v ffv1");
  }

  static io::Writer open(const std::string& file, const io::Reader& reader) {
    io::WriterOptions options;
    options.codec = "mpeg4";
    options.encoder_options = {{"qmin", "1"}, {"qmax", "1"}};
    return {file, reader, options};
  }
};

TEST_F(FrameSinkTest, ConcurrentFinishesAllSucceed) {
  const std::string clip = make_clip();
  io::Reader reader(clip);
  FrameSink sink(open(path("out.mkv"), reader));
  const Frame frame = std::get<Frame>(reader.read());
  sink.offer(frame);
  {
    const std::jthread other([&] { sink.finish(); });
    sink.finish();
    EXPECT_TRUE(std::filesystem::exists(path("out.mkv")));
    sink.offer(frame);
  }
  EXPECT_EQ(sink.written(), 1);
  EXPECT_EQ(sink.dropped(), 1) << "of whoever doesn't know yet";
  EXPECT_EQ(io::read_clip(path("out.mkv")).frames.size(), 1U);
}

TEST_F(FrameSinkTest, CountsFramesByFilterIfThereWereSeveral) {
  const std::string clip = make_clip();
  io::Reader reader(clip);
  FrameSink sink(open(path("out.mkv"), reader));
  sink.offer(std::get<Frame>(reader.read()), "recursive:profile=np");
  sink.offer(std::get<Frame>(reader.read()), "recursive:profile=np");
  EXPECT_EQ(sink.frames_text("x").find('('), std::string::npos);
  sink.offer(std::get<Frame>(reader.read()), "vbm4d:profile=np");
  sink.finish();
  EXPECT_EQ(sink.frames_text("out.mkv"),
            "3 frames to out.mkv (2 by recursive:profile=np, 1 by vbm4d:profile=np)");
}

TEST_F(FrameSinkTest, TheSignTellsTimeAndSizeOfTheRecording) {
  io::Reader reader(make("slow.mkv", "-f lavfi -i testsrc2=s=640x480:r=0.1:d=70,noise=alls=99 -c:v ffv1"));
  FrameSink sink(open(path("out.mkv"), reader));
  EXPECT_TRUE(recording_sign(sink).starts_with("REC 0:00 0.0 MB")) << recording_sign(sink);
  for (int i = 0; i < 7; ++i) {
    sink.offer(std::get<Frame>(reader.read()));
  }
  sink.finish();
  const auto megabytes = static_cast<double>(std::filesystem::file_size(path("out.mkv"))) / 1e6;
  EXPECT_GT(megabytes, 1);
  EXPECT_EQ(recording_sign(sink), fmt::format("REC 1:00 {:.1f} MB", megabytes));
}

TEST_F(FrameSinkTest, CompletesTheFileWithoutBeingWaitedFor) {
  const std::string clip = make_clip();
  io::Reader reader(clip);
  FrameSink sink(open(path("out.mkv"), reader));
  sink.offer(std::get<Frame>(reader.read()));
  EXPECT_FALSE(sink.has_ended());
  sink.close();
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (!sink.has_ended() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(sink.has_ended());
  EXPECT_EQ(io::read_clip(path("out.mkv")).frames.size(), 1U);
}

TEST_F(FrameSinkTest, LossesOfLaterFramesAreReported) {
  std::ostringstream plain;
  plain << std::ifstream(make("plain.264", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.08 -c:v libx264"),
                         std::ios::binary)
               .rdbuf();
  std::ofstream(path("late.264"), std::ios::binary) << plain.str() << test::with_captions(plain.str());
  io::Reader reader(path("late.264"));
  const SilentLogging logging;
  const WarningRecorder recorder;
  io::WriterOptions options;
  options.codec = "ffv1";
  FrameSink sink({path("out.mkv"), reader, options});
  for (int i = 0; i < 4; ++i) {
    sink.offer(std::get<Frame>(reader.read()));
  }
  sink.finish();
  EXPECT_EQ(io::joined(recorder.warnings()),
            "from frame 2 on the source has closed captions, which are not kept: ffv1 can't embed them, "
            "libx264 can\n");
}

TEST_F(FrameSinkTest, AFullDiskLeavesWhatFits) {
  const std::string clip = make_clip();
  const std::string disk = path("disk");
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0) {
    GTEST_SKIP() << "mounting a small disk is not permitted";
  }
  {
    io::Reader reader(clip);
    FrameSink sink(open(disk + "/out.mp4", reader));
    for (int i = 0; i < 20; ++i) {
      sink.offer(std::get<Frame>(reader.read()));
    }
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (!sink.has_failed() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(1ms);
    }
    const std::string kept = disk + "/out.partial.mp4";
    EXPECT_GT(sink.seconds(), 0.08);
    EXPECT_LT(sink.seconds(), 0.8);
    EXPECT_EQ(recording_sign(sink), "RECORDING FAILED");
    ASSERT_TRUE(std::filesystem::exists(kept)) << "at once, not only when it is finished";
    const auto frames = std::to_string(io::read_clip(kept).frames.size());
    EXPECT_GT(std::stoi(frames), 3);
    try {
      sink.finish();
      ADD_FAILURE() << "20 frames can't fit";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), disk + "/out.mp4: can't write: No space left on device; " + kept + " has the " +
                                  frames + " frames before that");
    }
  }
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST_F(FrameSinkTest, ADiskThatIsFullInTheEndLeavesWhatFits) {
  const std::string clip = make_clip();
  const std::string disk = path("disk");
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=128k") != 0) {
    GTEST_SKIP() << "mounting a small disk is not permitted";
  }
  {
    io::Reader reader(clip);
    io::WriterOptions options;
    options.codec = "libx264";  // which holds more frames than there are
    options.crf = "1";
    FrameSink sink({disk + "/out.mkv", reader, options});
    for (int i = 0; i < 20; ++i) {
      sink.offer(std::get<Frame>(reader.read()));
    }
    EXPECT_THROW(sink.finish(), Error);
    ASSERT_TRUE(std::filesystem::exists(disk + "/out.partial.mkv"));
    EXPECT_GE(io::read_clip(disk + "/out.partial.mkv").frames.size(), 1U);
  }
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

}  // namespace
}  // namespace limpid::app
