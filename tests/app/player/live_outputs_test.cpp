// SPDX-License-Identifier: MIT
#include "app/player/live_outputs.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "app/console/logging.h"
#include "core/base/error.h"
#include "io/media/reader.h"
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
  FrameSink sink(path("out.mkv"), open(path("out.mkv"), reader));
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
  FrameSink sink(path("out.mkv"), open(path("out.mkv"), reader));
  sink.offer(std::get<Frame>(reader.read()), "recursive:profile=np");
  sink.offer(std::get<Frame>(reader.read()), "recursive:profile=np");
  EXPECT_EQ(sink.frames_text().find('('), std::string::npos);
  sink.offer(std::get<Frame>(reader.read()), "vbm4d:profile=np");
  sink.finish();
  EXPECT_EQ(sink.frames_text(),
            "3 frames to " + path("out.mkv") + " (2 by recursive:profile=np, 1 by vbm4d:profile=np)");
}

TEST_F(FrameSinkTest, TheSignTellsTimeAndSizeOfTheRecording) {
  io::Reader reader(make("slow.mkv", "-f lavfi -i testsrc2=s=640x480:r=0.1:d=70,noise=alls=99 -c:v ffv1"));
  FrameSink sink(path("out.mkv"), open(path("out.mkv"), reader));
  EXPECT_TRUE(sink.sign().starts_with("REC 0:00 0.0 MB")) << sink.sign();
  for (int i = 0; i < 7; ++i) {
    sink.offer(std::get<Frame>(reader.read()));
  }
  sink.finish();
  const auto megabytes = static_cast<double>(std::filesystem::file_size(path("out.mkv"))) / 1e6;
  EXPECT_GT(megabytes, 1);
  EXPECT_EQ(sink.sign(), fmt::format("REC 1:00 {:.1f} MB", megabytes));
}

TEST_F(FrameSinkTest, CompletesTheFileWithoutBeingWaitedFor) {
  const std::string clip = make_clip();
  io::Reader reader(clip);
  FrameSink sink(path("out.mkv"), open(path("out.mkv"), reader));
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
  FrameSink sink(path("out.mkv"), {path("out.mkv"), reader, options});
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
    FrameSink sink("out.mp4", open(disk + "/out.mp4", reader));
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
    EXPECT_EQ(sink.sign(), "RECORDING FAILED");
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
    FrameSink sink("out.mkv", {disk + "/out.mkv", reader, options});
    for (int i = 0; i < 20; ++i) {
      sink.offer(std::get<Frame>(reader.read()));
    }
    EXPECT_THROW(sink.finish(), Error);
    ASSERT_TRUE(std::filesystem::exists(disk + "/out.partial.mkv"));
    EXPECT_GE(io::read_clip(disk + "/out.partial.mkv").frames.size(), 1U);
  }
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

class LiveOutputTest : public io::MediaTest {
 protected:
  void SetUp() override {
    io::MediaTest::SetUp();
    if (!IsSkipped()) {
      before_ = std::filesystem::current_path();
      std::filesystem::current_path(std::filesystem::path(path("x")).parent_path());
      reader_.emplace(make("in.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=40 -c:v ffv1"));
    }
  }
  void TearDown() override {
    if (!before_.empty()) {
      std::filesystem::current_path(before_);
    }
  }

  /// Into `file`, as a camera's frames would be.
  LiveOutputOptions options(const std::string& file) {
    return {.name = file, .begins = true, .open = [this](const std::string& name, io::Overwrite overwrite) {
              io::WriterOptions writer;
              writer.codec = "ffv1";
              writer.overwrite = overwrite;
              writer.live = true;
              return io::Writer(name, *reader_, writer);
            }};
  }

  Frame read() { return std::get<Frame>(reader_->read()); }
  void offer(LiveOutput& recorder, int frames) {
    for (int i = 0; i < frames; ++i) {
      recorder.offer(read());
    }
  }

  /// The next news, waited for.
  static News next_news(LiveOutput& recorder) {
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    News news = recorder.take_news();
    while (news.text.empty() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(1ms);
      news = recorder.take_news();
    }
    return news;
  }

  /// The frames of a recording, which has to begin at zero.
  static std::size_t frames_of(const std::string& file) {
    const io::Clip clip = io::read_clip(file);
    EXPECT_NEAR(clip.times.front(), 0, 1e-3) << file;
    return clip.frames.size();
  }

  /// All files but the source.
  std::vector<std::string> recordings() const {
    std::vector<std::string> names = files();
    std::erase(names, "in.mkv");
    return names;
  }

 private:
  std::filesystem::path before_;
  std::optional<io::Reader> reader_;
};

TEST_F(LiveOutputTest, OneFileFollowsTheOther) {
  LiveOutput recorder(options(path("out.mkv")));
  recorder.begin();
  EXPECT_EQ(next_news(recorder).text, "recording to " + path("out.mkv") + ": ffv1");
  offer(recorder, 5);
  EXPECT_TRUE(recorder.status().starts_with("REC 0:00 ")) << recorder.status();
  EXPECT_EQ(recorder.toggle(), "recording ends");
  offer(recorder, 7);  // which nobody wants
  EXPECT_EQ(next_news(recorder).text, "recorded: " + path("out.mkv") + ", 0:00.160");
  EXPECT_EQ(recorder.status(), "");
  for (const std::string name : {"out-2.mkv", "out-3.mkv"}) {
    EXPECT_EQ(recorder.toggle(), "recording begins");
    recorder.serve();
    EXPECT_EQ(next_news(recorder).text, "recording to " + path(name) + ": ffv1");
    offer(recorder, 4);
    if (name == "out-2.mkv") {
      recorder.toggle();
    }
  }
  recorder.finish();
  recorder.finish();
  EXPECT_EQ(recordings(), (std::vector<std::string>{"out-2.mkv", "out-3.mkv", "out.mkv"}));
  EXPECT_EQ(frames_of("out.mkv"), 5U);
  EXPECT_EQ(frames_of("out-2.mkv"), 4U);
  EXPECT_EQ(frames_of("out-3.mkv"), 4U);
}

TEST_F(LiveOutputTest, NamesRecordingsByTheTimeAndReplacesNone) {
  constexpr std::size_t kRecordings = 4;
  LiveOutput recorder(options(""));
  const std::regex name("recording to (webcam-\\d{4}-\\d\\d-\\d\\d-\\d{6}(-\\d)?\\.mkv): ffv1");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kRecordings; ++i) {
    recorder.toggle();
    recorder.serve();
    offer(recorder, 1);
    recorder.toggle();
    std::smatch match;
    std::string news = next_news(recorder).text;
    while (news.starts_with("recorded")) {
      news = next_news(recorder).text;
    }
    ASSERT_TRUE(std::regex_match(news, match, name)) << news;
    names.push_back(match[1]);
  }
  recorder.finish();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(recordings(), names);
}

TEST_F(LiveOutputTest, DiscardedRecordingsLeaveNoFile) {
  LiveOutputOptions eager = options("");
  std::function<void()> meanwhile;
  eager.open = [&meanwhile, open = eager.open](const std::string& name, io::Overwrite overwrite) {
    io::Writer writer = open(name, overwrite);
    if (meanwhile) {
      meanwhile();
    }
    return writer;
  };
  LiveOutput recorder(std::move(eager));
  recorder.toggle();
  EXPECT_EQ(recorder.toggle(), "recording ends");
  recorder.serve();
  offer(recorder, 1);
  EXPECT_EQ(recordings(), std::vector<std::string>{}) << "before it was open";
  meanwhile = [&recorder] { recorder.toggle(); };
  recorder.toggle();
  recorder.serve();
  offer(recorder, 1);
  EXPECT_EQ(recordings(), std::vector<std::string>{}) << "while it was being opened";
  meanwhile = {};
  recorder.toggle();
  recorder.serve();
  recorder.toggle();
  EXPECT_TRUE(next_news(recorder).text.starts_with("recording to webcam-"));
  EXPECT_EQ(next_news(recorder).text, "nothing has been recorded");
  EXPECT_EQ(recordings(), std::vector<std::string>{}) << "without a frame";
  meanwhile = [&recorder] { recorder.finish(); };
  recorder.toggle();
  recorder.serve();
  EXPECT_EQ(recorder.toggle(), "") << "that was the end";
  recorder.serve();
  EXPECT_EQ(recordings(), std::vector<std::string>{});
}

TEST_F(LiveOutputTest, FailedStartsAreReportedAndMayBeRepeated) {
  std::filesystem::create_directory("folder");
  LiveOutput recorder(options(path("folder/out.mkv")));
  recorder.begin();
  std::filesystem::rename("folder", "elsewhere");
  EXPECT_EQ(next_news(recorder).text, "recording to " + path("folder/out.mkv") + ": ffv1");
  recorder.toggle();
  EXPECT_EQ(next_news(recorder).text, "nothing has been recorded");
  recorder.toggle();
  recorder.serve();
  const News news = next_news(recorder);
  const std::string failure = path("folder/out.mkv") + ": the folder " + path("folder") + " does not exist";
  EXPECT_EQ(news.text, "the recording cannot begin: " + failure);
  EXPECT_TRUE(news.is_failure);
  EXPECT_EQ(recorder.status(), "RECORDING FAILED");
  std::filesystem::create_directory("folder");
  recorder.toggle();
  recorder.serve();
  offer(recorder, 2);
  EXPECT_FALSE(recorder.has_failed());
  try {
    recorder.finish();
    ADD_FAILURE() << "the failure is forgotten";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), failure);
  }
  EXPECT_EQ(frames_of("folder/out.mkv"), 2U);
}

TEST_F(LiveOutputTest, DevicesTakeOneRecording) {
  LiveOutput recorder(options("/dev/null"));
  EXPECT_EQ(recorder.toggle(), "/dev/null: takes one recording only");
}

TEST_F(LiveOutputTest, AVirtualCameraIsSwitchedOnAgainAfterItsLastFrame) {
  LiveOutputOptions camera = options(path("camera.mkv"));
  camera.begins = false;
  camera.is_camera = true;
  camera.open = [open = camera.open](const std::string& device, io::Overwrite) {
    return open(device, io::Overwrite::kAlways);
  };
  LiveOutput loopback(std::move(camera));
  loopback.begin();
  EXPECT_FALSE(loopback.is_on());
  for (std::size_t frames = 3; frames < 6; ++frames) {
    EXPECT_EQ(loopback.toggle(), "loopback begins");
    loopback.serve();
    EXPECT_TRUE(loopback.is_on());
    offer(loopback, static_cast<int>(frames));
    EXPECT_EQ(loopback.toggle(), "loopback ends");
    EXPECT_FALSE(loopback.is_on());
    loopback.toggle();
    loopback.serve();
    EXPECT_EQ(frames_of("camera.mkv"), frames) << "completed before it is opened again";
    loopback.toggle();
  }
}

TEST_F(LiveOutputTest, KeysComeAtAnyTime) {
  LiveOutput recorder(options("out.mkv"));
  recorder.begin();
  std::atomic<bool> ended = false;
  {
    // One thread is enough for the source and the denoiser: the user and the screen are on others.
    const std::jthread source([&] {
      constexpr int kFrames = 500;
      for (int i = 0; i < kFrames; ++i) {
        const Frame frame = read();
        recorder.serve();
        recorder.offer(frame);
      }
      ended = true;
    });
    const std::jthread screen([&] {
      while (!ended) {
        static_cast<void>(recorder.status());
        std::this_thread::sleep_for(1ms);
      }
    });
    while (!ended) {
      recorder.toggle();
      static_cast<void>(recorder.take_news());
      std::this_thread::sleep_for(2ms);
    }
  }
  if (!recorder.is_on()) {
    recorder.toggle();
  }
  recorder.serve();
  offer(recorder,
        1);  // on a loaded machine, the threads may have taken turns so that no frame met a recording
  recorder.finish();
  EXPECT_GE(recordings().size(), 1U);
  for (const std::string& name : recordings()) {
    EXPECT_GE(frames_of(name), 1U);
  }
}

}  // namespace
}  // namespace limpid::app
