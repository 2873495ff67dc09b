// SPDX-License-Identifier: MIT
// Calls of an encoder that cannot be interrupted are abandoned.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "io/media/encoder.h"
#include "io/media/pixel_format.h"
#include "io/media/writer.h"

namespace limpid::io {
namespace {

using namespace std::chrono_literals;

class EncoderThreadTest : public ::testing::Test {
 protected:
  void TearDown() override { set_outputs_interrupted(false); }

  std::unique_ptr<Encoder> encoder() const {
    EncoderSource source;
    source.format = frame_format(AV_PIX_FMT_YUV420P).value();
    source.format.width = 64;
    source.format.height = 48;
    source.properties = properties_.get();
    std::vector<std::string> warnings;
    return std::make_unique<Encoder>("a.mkv", choose_container("a.mkv", ""), source,
                                     WriterOptions{.codec = "ffv1"}, warnings);
  }

 private:
  FrameHandle properties_ = make_frame();
};

TEST_F(EncoderThreadTest, RunsCallsOnOneOtherThreadAndThrowsTheirErrors) {
  EncoderThread thread(encoder(), 1ms);
  std::thread::id first;
  std::thread::id second;
  EXPECT_TRUE(thread.run([&](Encoder&) { first = std::this_thread::get_id(); }));
  EXPECT_THROW(thread.run([](Encoder&) { throw Error("failed"); }), Error);
  EXPECT_TRUE(thread.run([&](Encoder&) {
    std::this_thread::sleep_for(5ms);  // more than the patience after an interrupt
    second = std::this_thread::get_id();
  }));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
  EXPECT_STREQ(thread.encoder().context().codec->name, "ffv1");
}

TEST_F(EncoderThreadTest, AbandonsACallThatTakesTooLongAfterAnInterrupt) {
  const auto release = std::make_shared<std::promise<void>>();
  std::future<void> ended;
  {
    EncoderThread thread(encoder(), 100ms);
    const auto end = std::make_shared<std::promise<void>>();
    ended = end->get_future();
    std::jthread interrupt([] {
      std::this_thread::sleep_for(20ms);
      set_outputs_interrupted(true);
    });
    EXPECT_FALSE(thread.run([release, end](Encoder&) {
      release->get_future().wait();
      end->set_value();
    }));
    EXPECT_TRUE(has_abandoned_encoders());
    EXPECT_FALSE(thread.run([](Encoder&) { ADD_FAILURE(); }));
  }
  EXPECT_EQ(ended.wait_for(0s), std::future_status::timeout) << "still running after the destructor";
  release->set_value();
  ended.wait();
}

TEST_F(EncoderThreadTest, RefusesCallsLongAfterAnInterrupt) {
  EncoderThread thread(encoder(), 30ms);
  set_outputs_interrupted(true);
  EXPECT_TRUE(thread.run([](Encoder&) {}));
  std::this_thread::sleep_for(40ms);
  EXPECT_FALSE(thread.run([](Encoder&) { ADD_FAILURE(); }));
}

}  // namespace
}  // namespace limpid::io
