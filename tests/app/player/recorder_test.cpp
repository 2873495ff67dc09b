// SPDX-License-Identifier: MIT
#include "app/player/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "io/media/reader.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

class RecorderTest : public io::MediaTest {
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
  RecorderOptions options(const std::string& file) {
    return {.file = file, .open = [this](const std::string& name, io::Overwrite overwrite) {
              io::WriterOptions writer;
              writer.codec = "ffv1";
              writer.overwrite = overwrite;
              writer.begin_at_zero = true;
              return io::Writer(name, *reader_, writer);
            }};
  }

  Frame read() { return std::get<Frame>(reader_->read()); }
  void offer(Recorder& recorder, int frames) {
    for (int i = 0; i < frames; ++i) {
      recorder.offer(read());
    }
  }

  /// The next news, waited for.
  static News next_news(Recorder& recorder) {
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

TEST_F(RecorderTest, OneFileFollowsTheOther) {
  Recorder recorder(options(path("out.mkv")));
  recorder.begin();
  offer(recorder, 5);
  EXPECT_TRUE(recorder.status().starts_with("REC 0:00 ")) << recorder.status();
  EXPECT_EQ(recorder.toggle(), "recording ends");
  offer(recorder, 7);  // which nobody wants
  EXPECT_EQ(next_news(recorder).text, "recorded: " + path("out.mkv") + ", 0:00.160");
  EXPECT_EQ(recorder.status(), "");
  for (const std::string name : {"out-2.mkv", "out-3.mkv"}) {
    EXPECT_EQ(recorder.toggle(), "recording begins");
    recorder.serve();
    EXPECT_EQ(next_news(recorder).text, "recording to " + path(name));
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

TEST_F(RecorderTest, NamesRecordingsByTheTimeAndReplacesNone) {
  constexpr std::size_t kRecordings = 4;
  Recorder recorder(options(""));
  const std::regex name("recording to (webcam-\\d{4}-\\d\\d-\\d\\d-\\d{6}(-\\d)?\\.mkv)");
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

TEST_F(RecorderTest, DiscardedRecordingsLeaveNoFile) {
  RecorderOptions eager = options("");
  std::function<void()> meanwhile;
  eager.open = [&meanwhile, open = eager.open](const std::string& name, io::Overwrite overwrite) {
    io::Writer writer = open(name, overwrite);
    if (meanwhile) {
      meanwhile();
    }
    return writer;
  };
  Recorder recorder(std::move(eager));
  recorder.toggle();
  EXPECT_EQ(recorder.toggle(), "not recording");
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

TEST_F(RecorderTest, FailedStartsAreReportedAndMayBeRepeated) {
  std::filesystem::create_directory("folder");
  Recorder recorder(options(path("folder/out.mkv")));
  recorder.begin();
  std::filesystem::rename("folder", "elsewhere");
  recorder.toggle();
  EXPECT_EQ(next_news(recorder).text, "nothing has been recorded");
  recorder.toggle();
  recorder.serve();
  const News news = next_news(recorder);
  const std::string failure = path("folder/out.mkv") + ": the folder " + path("folder") + " does not exist";
  EXPECT_EQ(news.text, "can't record: " + failure);
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

TEST_F(RecorderTest, DevicesTakeOneRecording) {
  Recorder recorder(options("/dev/null"));
  EXPECT_EQ(recorder.toggle(), "/dev/null: takes one recording only");
}

TEST_F(RecorderTest, KeysComeAtAnyTime) {
  Recorder recorder(options("out.mkv"));
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
  recorder.finish();
  EXPECT_GE(recordings().size(), 1U);
  for (const std::string& name : recordings()) {
    EXPECT_GE(frames_of(name), 1U);
  }
}

}  // namespace
}  // namespace limpid::app
