// SPDX-License-Identifier: MIT
// Frames in a device's memory, with a stand-in for the device, whose engine is a module in the library's
// folder.
#include <gtest/gtest.h>
#include <limpid.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/lib/handles.h"
#include "tests/oracle/pictures.h"

namespace limpid::lib {
namespace {

// A frame in the device's memory, and the number of its releases.
struct DeviceFrame {
  explicit DeviceFrame(Frame own) : frame(std::move(own)) {}
  limpid_frame c(int ordinal = 3) {
    limpid_frame result = c_frame(frame);
    result.memory = LIMPID_CUDA;
    result.ordinal = ordinal;
    result.pts = frame.index;
    result.release = [](void* own) { ++static_cast<DeviceFrame*>(own)->released; };
    result.release_data = this;
    return result;
  }

  Frame frame;
  int released = 0;
};

class LibraryOnADevice : public testing::Test {
 protected:
  LibraryOnADevice() {
    const Frame clean = oracle::draw_picture(format_);
    for (int i = 0; i < 5; ++i) {
      frames_.emplace_back(oracle::add_noise(clean, 10, static_cast<std::uint64_t>(i + 1)));
      frames_.back().frame.index = i;
      places_.emplace_back(allocate_frame(format_));
    }
  }

  void start_on(limpid_denoiser* denoiser, const char* engine, const char* sigma = "10") {
    for (const auto& [name, value] :
         {std::pair{"profile", "fast"}, {"reach", "1"}, {"sigma", sigma}, {"engine", engine}}) {
      ASSERT_EQ(limpid_set(denoiser, name, value), LIMPID_OK);
    }
    ASSERT_EQ(start(denoiser, format_), LIMPID_OK) << limpid_error(denoiser);
  }

  // The results from and to host memory, on the CPU.
  std::vector<Frame> expected(const char* sigma = "10") {
    const Handle denoiser;
    start_on(denoiser, "cpu", sigma);
    std::vector<Frame> frames;
    for (const DeviceFrame& frame : frames_) {
      frames.push_back(frame.frame);
    }
    return denoise(denoiser, frames);
  }

  static int released(const std::vector<DeviceFrame>& frames) {
    int sum = 0;
    for (const DeviceFrame& frame : frames) {
      EXPECT_LE(frame.released, 1);
      sum += frame.released;
    }
    return sum;
  }

  const FrameFormat format_ = oracle::yuv(72, 64, 1, 1);
  std::vector<DeviceFrame> frames_;
  std::vector<DeviceFrame> places_;
};

TEST_F(LibraryOnADevice, FindsTheModuleBesideIt) {
  std::string found;
  limpid_list_engines(
      [](void* names, const limpid_engine_info* engine) {
        *static_cast<std::string*>(names) += std::string(engine->name) + " ";
      },
      &found);
  EXPECT_EQ(found, "cuda:3 cpu ");
  for (const char* name : {"auto", "cuda"}) {
    const Handle named;
    start_on(named, name);
    auto stream = sized<limpid_stream_info>();
    ASSERT_EQ(limpid_get_stream(named, &stream), LIMPID_OK);
    EXPECT_STREQ(stream.engine, "cuda:3") << name;
  }
  const Handle denoiser;
  start_on(denoiser, "auto");
  auto stream = sized<limpid_stream_info>();
  ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
  EXPECT_STREQ(stream.engine, "cuda:3");
  EXPECT_EQ(stream.memory, LIMPID_CUDA);
  EXPECT_EQ(stream.ordinal, 3);
  EXPECT_EQ(stream.result_memory, LIMPID_CUDA);
  EXPECT_EQ(stream.result_ordinal, 3);
}

TEST_F(LibraryOnADevice, FramesAreReadWhereTheyAreAndReleasedOnce) {
  for (const char* sigma : {"10", "auto"}) {
    SCOPED_TRACE(sigma);
    const std::vector<Frame> whole = expected(sigma);
    std::vector<Frame> results;
    for (DeviceFrame& frame : frames_) {
      frame.released = 0;
    }
    {
      const Handle denoiser;
      start_on(denoiser, "cuda:3", sigma);
      for (DeviceFrame& frame : frames_) {
        const limpid_frame sent = frame.c();
        ASSERT_EQ(limpid_send(denoiser, &sent), LIMPID_OK) << limpid_error(denoiser);
      }
      EXPECT_EQ(frames_.back().released, 0) << "it is needed yet";
      ASSERT_EQ(limpid_flush(denoiser), LIMPID_OK);
      for (Frame result = receive(denoiser, format_); result.samples != nullptr;
           result = receive(denoiser, format_)) {
        results.push_back(result);
      }
    }
    EXPECT_EQ(released(frames_), 5);
    ASSERT_EQ(results.size(), whole.size());
    EXPECT_TRUE(std::equal(results.begin(), results.end(), whole.begin(), oracle::same_bits));
  }
}

TEST_F(LibraryOnADevice, NoiseIsFoundInFramesWhereTheyAre) {
  const Handle denoiser;
  const limpid_format format = c_format(format_);
  std::string profiles[2];
  for (const char* engine : {"cpu", "cuda:3"}) {
    ASSERT_EQ(limpid_set(denoiser, "engine", engine), LIMPID_OK);
    std::vector<limpid_frame> frames;
    std::vector<const limpid_frame*> pointers;
    for (DeviceFrame& frame : frames_) {
      frames.push_back(frame.c());
      frames.back().memory = std::string(engine) == "cpu" ? LIMPID_HOST : LIMPID_CUDA;
    }
    for (const limpid_frame& frame : frames) {
      pointers.push_back(&frame);
    }
    auto noise = sized<limpid_noise>();
    ASSERT_EQ(limpid_estimate_noise(denoiser, &format, pointers.data(), 5, &noise), LIMPID_OK)
        << limpid_error(denoiser);
    profiles[std::string(engine) == "cpu" ? 0 : 1] = noise.profile;
  }
  EXPECT_EQ(profiles[0], profiles[1]);
  EXPECT_EQ(released(frames_), 0);
}

TEST_F(LibraryOnADevice, ResultsAreWrittenWhereTheCallerSays) {
  const std::vector<Frame> whole = expected();
  const Handle denoiser;
  start_on(denoiser, "cuda:3");
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const limpid_frame sent = frames_[i].c();
    const limpid_frame place = places_[i].c();
    ASSERT_EQ(limpid_send_to(denoiser, &sent, &place), LIMPID_OK) << limpid_error(denoiser);
  }
  const limpid_frame without_place = frames_[0].c();
  EXPECT_EQ(limpid_send(denoiser, &without_place), LIMPID_BAD_ARGUMENT) << "as those before it";
  frames_[0].released = 0;
  ASSERT_EQ(limpid_flush(denoiser), LIMPID_OK);
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    auto result = sized<limpid_frame>();
    ASSERT_EQ(limpid_receive(denoiser, &result), LIMPID_OK) << limpid_error(denoiser);
    EXPECT_EQ(result.memory, LIMPID_CUDA);
    EXPECT_EQ(result.ordinal, 3);
    EXPECT_EQ(result.pts, static_cast<std::int64_t>(i));
    EXPECT_EQ(result.planes[1].data, static_cast<void*>(places_[i].frame.planes[1].data));
    EXPECT_TRUE(oracle::same_bits(places_[i].frame, whole[i]));
    EXPECT_EQ(places_[i].released, 0);
    limpid_release(&result);
    EXPECT_EQ(places_[i].released, 1);
  }
}

TEST_F(LibraryOnADevice, DroppedFramesAreReleased) {
  const Handle denoiser;
  start_on(denoiser, "cuda:3");
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const limpid_frame sent = frames_[i].c();
    const limpid_frame place = places_[i].c();
    ASSERT_EQ(limpid_send_to(denoiser, &sent, &place), LIMPID_OK);
  }
  ASSERT_EQ(limpid_reset(denoiser), LIMPID_OK);
  EXPECT_EQ(released(frames_), 5);
  EXPECT_EQ(released(places_), 5);
}

TEST_F(LibraryOnADevice, AnotherDevicesMemoryIsRefused) {
  const Handle denoiser;
  start_on(denoiser, "cuda:3");
  const limpid_frame sent = frames_[0].c(1);
  EXPECT_EQ(limpid_send(denoiser, &sent), LIMPID_BAD_ARGUMENT);
  EXPECT_STREQ(limpid_error(denoiser),
               "the frame is in the memory of GPU 1, which the engine cuda:3 cannot read");
  EXPECT_EQ(frames_[0].released, 1);
  const limpid_frame good = frames_[1].c();
  const limpid_frame place = places_[1].c(1);
  EXPECT_EQ(limpid_send_to(denoiser, &good, &place), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(frames_[1].released, 1);
  EXPECT_EQ(places_[1].released, 1);
}

TEST_F(LibraryOnADevice, AResultThereMayBeSentAgain) {
  const Handle first;
  const Handle second;
  for (const Handle* denoiser : {&first, &second}) {
    ASSERT_EQ(limpid_set(*denoiser, "filter", "bilateral"), LIMPID_OK);
    ASSERT_EQ(limpid_set(*denoiser, "sigma", "10"), LIMPID_OK);
    ASSERT_EQ(start(*denoiser, format_), LIMPID_OK);
  }
  const limpid_frame sent = frames_[0].c();
  const limpid_frame place = places_[0].c();
  ASSERT_EQ(limpid_send_to(first, &sent, &place), LIMPID_OK);
  auto result = sized<limpid_frame>();
  ASSERT_EQ(limpid_receive(first, &result), LIMPID_OK);
  ASSERT_EQ(limpid_send(second, &result), LIMPID_OK);
  limpid_release(&result);
  EXPECT_EQ(places_[0].released, 0) << "the second has it";
  EXPECT_EQ(receive(second, format_).index, 0);
  ASSERT_EQ(limpid_reset(second), LIMPID_OK);
  EXPECT_EQ(places_[0].released, 1);
}

}  // namespace
}  // namespace limpid::lib
