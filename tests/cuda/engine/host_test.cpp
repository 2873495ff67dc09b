// SPDX-License-Identifier: MIT
// The engine's host code when calls to the device fail, and with several streams at once, on a stand-in for
// the device whose failures are controlled.
#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/runtime/runtime.h"
#include "tests/cuda/engine/device_stand_in.h"

namespace limpid::cuda {
namespace {

using stand_in::Failure;

class HostTest : public testing::Test {
 protected:
  HostTest() { stand_in::reset(); }
  ~HostTest() override { stand_in::reset(); }

  static FrameFormat yuv(int width, int height) {
    return {.width = width,
            .height = height,
            .color_model = ColorModel::kYuv,
            .chroma_shift_x = 1,
            .chroma_shift_y = 1};
  }
  static Frame fill(Frame frame, int value) {
    for (int p = 0; p < frame.format.plane_count(); ++p) {
      for (int y = 0; y < frame.planes[p].height; ++y) {
        std::memset(frame.planes[p].row<std::byte>(y), value, frame.planes[p].width);
      }
    }
    return frame;
  }
  static bool is_filled(const Frame& frame, int value) {
    for (int p = 0; p < frame.format.plane_count(); ++p) {
      for (int y = 0; y < frame.planes[p].height; ++y) {
        const auto* row = frame.planes[p].row<unsigned char>(y);
        if (std::any_of(row, row + frame.planes[p].width, [&](unsigned char v) { return v != value; })) {
          return false;
        }
      }
    }
    return true;
  }
  // Frames of the pool with content that must not change; they include returned ones.
  static std::vector<Frame> take_from_pool(Engine& engine, const FrameFormat& format) {
    std::vector<Frame> frames;
    for (int i = 0; i < 8; ++i) {
      frames.push_back(fill(engine.allocate_frame(format), 200 + i));
    }
    return frames;
  }
  static void expect_unchanged(const std::vector<Frame>& frames) {
    stand_in::run_all();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_TRUE(is_filled(frames[i], 200 + static_cast<int>(i))) << "frame " << i << " of the pool";
    }
  }

  const NoiseModel noise_{{10, 10, 10}};
  const FrameFormat format_ = yuv(64, 48);
};

TEST_F(HostTest, FramesComeOutInOrderAsTheyWentIn) {
  const auto engine = open_cuda("cuda:0", {});
  const auto denoiser = engine->make_denoiser(BilateralParameters(), noise_, format_);
  for (int i = 0; i < 9; ++i) {
    denoiser->send(fill(i % 2 == 0 ? engine->allocate_frame(format_) : allocate_frame(format_), i));
  }
  for (int i = 0; i < 9; ++i) {
    EXPECT_TRUE(is_filled(denoiser->receive().value(), i)) << i;
  }
  EXPECT_EQ(denoiser->device_stages().download.frames, 9);
}

// Each of the calls made by send(), in turn.
TEST_F(HostTest, WhereverSendFailsNoMemoryIsWrittenThatWasGivenBack) {
  for (const Failure failure : {Failure::kOfOneCall, Failure::kOfTheDevice}) {
    int calls = 0;
    for (bool failed = true; failed; ++calls) {
      SCOPED_TRACE(std::string(failure == Failure::kOfOneCall ? "one call" : "the device") + ", call " +
                   std::to_string(calls));
      {
        const auto engine = open_cuda("cuda:0", {});
        const auto denoiser = engine->make_denoiser(BilateralParameters(), noise_, format_);
        denoiser->send(fill(engine->allocate_frame(format_), 1));
        denoiser->send(fill(allocate_frame(format_), 2));
        take_from_pool(*engine, format_);  // a failed device makes no more frames
        stand_in::fail_after(calls, failure);
        Frame frame = fill(engine->allocate_frame(format_), 3);
        const std::weak_ptr<void> samples = frame.samples;
        try {
          denoiser->send(std::move(frame));
          failed = false;
          stand_in::fail_after(-1, failure);
        } catch (const Error&) {
        }
        EXPECT_EQ(samples.expired(), failed) << "the frame that was sent is kept while it is under way";
        expect_unchanged(take_from_pool(*engine, format_));
        if (failed && failure == Failure::kOfTheDevice) {
          EXPECT_THROW(denoiser->receive(), Error);
          EXPECT_THROW(denoiser->receive(), Error);
        } else {
          EXPECT_TRUE(is_filled(denoiser->receive().value(), 1));
          EXPECT_TRUE(is_filled(denoiser->receive().value(), 2));
          EXPECT_EQ(denoiser->receive().has_value(), !failed);
          EXPECT_EQ(denoiser->device_stages().download.frames, failed ? 2 : 3);
        }
        if (failed) {
          EXPECT_THROW(denoiser->send(allocate_frame(format_)), Error) << "what follows is not whole either";
        }
      }
      stand_in::Counts left = stand_in::counts();
      EXPECT_EQ(left.memory_blocks + left.pinned_memory + left.streams + left.events, 0);
      stand_in::reset();
    }
    EXPECT_GE(calls, 10);
  }
}

TEST_F(HostTest, WhereverACopyToTheHostFailsNoMemoryIsWrittenThatWasGivenBack) {
  const auto engine = open_cuda("cuda:0", {});
  const FrameFormat odd = yuv(63, 47);
  Frame frame = fill(allocate_frame(odd), 5);
  frame.memory = cuda_memory(0);
  int calls = 0;
  for (bool failed = true; failed; ++calls) {
    stand_in::fail_after(calls, Failure::kOfOneCall);
    try {
      const Frame copied = engine->in_host_memory(frame);
      failed = false;
      EXPECT_TRUE(is_filled(copied, 5));
    } catch (const Error&) {
    }
    stand_in::fail_after(-1, Failure::kOfOneCall);
    expect_unchanged(take_from_pool(*engine, odd));
    EXPECT_EQ(engine->estimate_noise(frame), (NoiseModel{{1, 2, 3}}));
  }
  EXPECT_GE(calls, 5);
}

// Frames after a seek or a cut, and context, keep these properties in any memory.
TEST_F(HostTest, ACopyInTheHostsMemoryIsTheSameFrame) {
  const auto engine = open_cuda("cuda:0", {});
  Frame frame = fill(allocate_frame(format_), 5);
  frame.memory = cuda_memory(0);
  frame.index = 7;
  frame.interlaced = frame.begins_anew = frame.context_only = true;
  frame.attachment = std::make_shared<int>();
  const Frame copied = engine->in_host_memory(frame);
  EXPECT_EQ(copied.memory, kHostMemory);
  EXPECT_EQ(copied.index, frame.index);
  EXPECT_EQ(copied.attachment, frame.attachment);
  EXPECT_TRUE(copied.interlaced && copied.begins_anew && copied.context_only);
}

TEST_F(HostTest, NoiseIsMeasuredOfAFrameAndTheOneBefore) {
  const auto engine = open_cuda("cuda:0", {});
  for (const bool on_device : {false, true}) {
    Frame frame = fill(allocate_frame(format_), 7);
    Frame before = fill(engine->allocate_frame(format_), 9);
    frame.memory = on_device ? cuda_memory(0) : kHostMemory;
    const auto measured = [&](const Frame* one_before) {
      const noise::NoiseStatistics statistics = engine->measure_noise(frame, one_before, {});
      return std::pair{statistics.channels[0].copied, statistics.channels[1].copied};
    };
    EXPECT_EQ(measured(&before), (std::pair{7.0, 9.0}));
    EXPECT_EQ(measured(nullptr), (std::pair{7.0, -1.0}));
    EXPECT_EQ(measured(&frame), (std::pair{7.0, 7.0}));
    int calls = 0;
    for (bool failed = true; failed; ++calls) {
      stand_in::fail_after(calls, Failure::kOfOneCall);
      try {
        EXPECT_EQ(measured(&before), (std::pair{7.0, 9.0}));
        failed = false;
      } catch (const Error&) {
      }
      stand_in::fail_after(-1, Failure::kOfOneCall);
    }
    EXPECT_GE(calls, 2);
  }
}

TEST_F(HostTest, StreamsOfSeveralSizesAllocateNothingOnceUnderWay) {
  const auto engine = open_cuda("cuda:0", {});
  std::vector<std::unique_ptr<Denoiser>> denoisers;
  for (int i = 0; i < 3; ++i) {
    denoisers.push_back(engine->make_denoiser(BilateralParameters(), noise_, yuv(64 + 2 * i, 48)));
  }
  stand_in::Counts before;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 3; ++i) {
      const Frame frame = fill(engine->allocate_frame(yuv(64 + 2 * i, 48)), i);
      engine->estimate_noise(frame);
      engine->measure_noise(frame, &frame, {});
      denoisers[i]->send(frame);
      if (round > 0) {
        EXPECT_TRUE(is_filled(denoisers[i]->receive().value(), i));
      }
    }
    if (round == 2) {
      before = stand_in::counts();
    }
  }
  EXPECT_EQ(stand_in::counts(), before);
  // The memory for examining single frames is bounded.
  for (int i = 0; i < 40; ++i) {
    const Frame frame = allocate_frame(yuv(128 + 2 * i, 48));
    engine->measure_noise(frame, &frame, {});
  }
  constexpr int kMemoryOfAFormat = 3;  // two frames' and the measurement's
  EXPECT_LE(stand_in::counts().memory_blocks, before.memory_blocks + kMemoryOfAFormat);
}

TEST_F(HostTest, ThreadsThatLookAtFramesHaveMemoryOfTheirOwn) {
  const auto engine = open_cuda("cuda:0", {});
  const int memory_blocks = stand_in::counts().memory_blocks;
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&, i] {
      Frame frame = fill(allocate_frame(format_), i);
      const Frame before = fill(allocate_frame(format_), 100 + i);
      frame.memory = i % 2 == 0 ? cuda_memory(0) : kHostMemory;
      if (i % 4 == 0) {
        const DeviceScope scope(0);
        auto event = std::make_shared<Event>();
        event->record(Stream());
        frame.ready = {event, event->get()};
      }
      for (int repeat = 0; repeat < 50; ++repeat) {
        const noise::NoiseStatistics statistics = engine->measure_noise(frame, &before, {});
        EXPECT_EQ(statistics.channels[0].copied, i);
        EXPECT_EQ(statistics.channels[1].copied, 100 + i);
        EXPECT_TRUE(is_filled(engine->in_host_memory(frame), i));
        engine->estimate_noise(frame);
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
  constexpr int kMostAtOnce = 4;
  constexpr int kMemoryOfEach = 3;  // two frames' and the measurement's
  EXPECT_LE(stand_in::counts().memory_blocks, memory_blocks + kMostAtOnce * kMemoryOfEach);
}

TEST_F(HostTest, APrimaryContextOfAHostsStaysAsItIs) {
  open_cuda("cuda:0", {});
  EXPECT_EQ(stand_in::primary_context_flags(), unsigned{CU_CTX_SCHED_BLOCKING_SYNC});
  stand_in::use_primary_context(CU_CTX_SCHED_SPIN);
  open_cuda("cuda:0", {});
  EXPECT_EQ(stand_in::primary_context_flags(), unsigned{CU_CTX_SCHED_SPIN});
}

TEST_F(HostTest, DriverIsAskedOncePerKernelAndDevice) {
  static constexpr char kKernels[2] = {};
  for (int repeat = 0; repeat < 10; ++repeat) {
    for (const int device : {0, 1}) {
      const DeviceScope scope(device);
      EXPECT_EQ(compiled_to_overlap(&kKernels[0]), device == 0);
      EXPECT_EQ(compiled_to_overlap(&kKernels[1]), device == 0);
      allow_all_shared_memory(&kKernels[0]);
    }
  }
  EXPECT_EQ(stand_in::counts().kernel_queries, 6);
}

TEST_F(HostTest, DevicesThatAreTooOldAreListedAndNotAvailable) {
  const std::vector<EngineInfo> engines = list_cuda();
  ASSERT_EQ(engines.size(), 2U);
  EXPECT_TRUE(engines[0].available);
  EXPECT_FALSE(engines[1].available);
  EXPECT_NE(engines[1].description.find("7.5 is the least"), std::string::npos);
}

}  // namespace
}  // namespace limpid::cuda
