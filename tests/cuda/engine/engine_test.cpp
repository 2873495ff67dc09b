// SPDX-License-Identifier: MIT
// The CUDA engine compared with the CPU engine, on frames too large for the oracle, and its own features:
// streams, memory and the list of devices.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/combing.h"
#include "cuda/bm3d/bm3d.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/runtime/runtime.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;

TEST(CudaList, NamesDevicesOrTellsWhyThereAreNone) {
  const std::vector<EngineInfo> engines = list_cuda();
  ASSERT_FALSE(engines.empty());
  for (const EngineInfo& info : engines) {
    EXPECT_TRUE(info.name.starts_with("cuda"));
    EXPECT_FALSE(info.description.empty());
    EXPECT_TRUE(!info.available || info.memory_bytes > 0);  // GPUs that are too old have memory, too
  }
}

class CudaEngine : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped()) {
      engine_ = open_cuda("cuda:0", {});
      cpu_ = engine_registry().open("cpu");
    }
  }

  void expect_agrees(const Frame& frame, const Bm3dParameters& parameters, const NoiseModel& noise) {
    const Frame result = run_filter(*engine_, frame, parameters, noise);
    const oracle::Agreement agreement = oracle::compare(result, run_filter(*cpu_, frame, parameters, noise));
    // The engines' contract allows 1 sample in 10000. In the flat areas of these small drawings, where
    // candidates are similar, single precision alone makes about 2 of the CPU engine's samples differ from
    // doubles.
    EXPECT_LE(static_cast<double>(agreement.over_one), 5e-4 * static_cast<double>(agreement.samples))
        << oracle::to_string(agreement);
    EXPECT_LE(agreement.greatest, 4) << oracle::to_string(agreement);
    EXPECT_GE(agreement.psnr, 60) << oracle::to_string(agreement);
    EXPECT_TRUE(oracle::same_bits(result, run_filter(*engine_, frame, parameters, noise)));
  }

  static Frame noisy_picture(const FrameFormat& format, double sigma) {
    return oracle::add_noise(oracle::draw_picture(format), sigma, 5);
  }

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Engine> cpu_;
};

TEST_F(CudaEngine, AgreesWithTheCpuAtEveryProfile) {
  for (const Profile profile : {Profile::kFast, Profile::kLc, Profile::kNp, Profile::kHigh}) {
    SCOPED_TRACE(std::string(to_string(profile)));
    expect_agrees(noisy_picture(gray(301, 203), 20), bm3d_profile(profile), {{20, 20, 20}});
  }
}

// They launch the same kernels with different amounts of shared memory.
TEST_F(CudaEngine, DenoisersOfSeveralThreadsDoNotDisturbEachOther) {
  const Frame frame = noisy_picture(gray(201, 153), 20);
  constexpr int kRounds = 30;
  std::vector<Filter> filters;
  for (const auto& [spacing, window] : {std::pair{3, 39}, {2, 39}, {6, 39}, {3, 31}, {4, 61}}) {
    Bm3dParameters parameters = bm3d_profile(Profile::kNp);
    for (Bm3dStep* one : {&parameters.hard_threshold, &*parameters.wiener}) {
      one->spacing = spacing;
      one->search_window = window;
    }
    filters.emplace_back(parameters);
  }
  std::vector<std::future<int>> threads;
  for (const Filter& filter : filters) {
    threads.push_back(std::async(std::launch::async, [&, filter] {
      const Frame expected = run_filter(*engine_, frame, filter, {{20}});
      int same = 0;
      for (int i = 0; i < kRounds; ++i) {
        same += oracle::same_bits(run_filter(*engine_, frame, filter, {{20}}), expected) ? 1 : 0;
      }
      return same;
    }));
  }
  for (std::future<int>& thread : threads) {
    EXPECT_EQ(thread.get(), kRounds);
  }
}

// Samples that arrive late, on a stream that no other work waits for.
TEST_F(CudaEngine, WaitsForTheEventThatSaysThatSamplesAreThere) {
  const FrameFormat format = gray(256, 64);
  const Frame picture = noisy_picture(format, 15);
  const Frame host = engine_->allocate_frame(format);  // page-locked: copies from there are asynchronous
  for (int y = 0; y < format.height; ++y) {
    std::copy_n(picture.planes[0].row<std::byte>(y), format.width, host.planes[0].row<std::byte>(y));
  }
  const Stream stream;
  const DeviceMemory memory(static_cast<std::size_t>(256) * 64);
  const DeviceMemory busy(std::size_t{256} << 20);
  const auto late_frame = [&] {
    check(cudaMemset(memory.as(), 0, memory.bytes()));
    check(cudaDeviceSynchronize());
    for (int i = 0; i < 200; ++i) {
      check(cudaMemsetAsync(busy.as(), i, busy.bytes(), stream.get()));
    }
    check(cudaMemcpy2DAsync(memory.as(), 256, host.planes[0].data, host.planes[0].stride, 256, 64,
                            cudaMemcpyHostToDevice, stream.get()));
    Frame frame = host;
    frame.planes[0].data = memory.as();
    frame.planes[0].stride = 256;
    frame.memory = cuda_memory(0);
    auto event = std::make_shared<Event>();
    event->record(stream);
    frame.ready = {event, event->get()};
    return frame;
  };
  EXPECT_TRUE(oracle::same_bits(engine_->in_host_memory(late_frame()), host));
  EXPECT_EQ(engine_->estimate_noise(late_frame()), engine_->estimate_noise(host));
  const Frame before = late_frame();
  EXPECT_EQ(engine_->measure_noise(picture, &before, {}), engine_->measure_noise(picture, &host, {}));
  EXPECT_EQ(engine_->measure_noise(late_frame(), &picture, {}), engine_->measure_noise(host, &picture, {}));
  EXPECT_EQ(engine_->brightness_histogram(late_frame()), brightness_histogram(host));
  const Bm3dParameters fast = bm3d_profile(Profile::kFast);
  EXPECT_TRUE(oracle::same_bits(run_filter(*engine_, late_frame(), fast, {{15}}),
                                run_filter(*engine_, host, fast, {{15}})));
}

// In the layout of video decoders: chroma interleaved, deeper samples in the upper bits of 16.
TEST_F(CudaEngine, TakesFramesInItsDevicesMemory) {
  for (const FrameFormat& format : {yuv(202, 150, 1, 1), yuv(202, 150, 1, 1, 10), yuv(160, 121, 0, 0, 12)}) {
    SCOPED_TRACE(to_string(format));
    const Frame host = noisy_picture(format, 15);
    const bool interleaved = format.chroma_shift_x > 0;
    const int bytes = format.bytes_per_sample();
    const std::ptrdiff_t pitch = 256 * bytes;
    std::vector<std::byte> samples(static_cast<std::size_t>(pitch) * format.height * 3);
    Frame frame = host;
    frame.memory = cuda_memory(0);
    frame.padding_bits = bytes == 1 ? 0 : 16 - format.bit_depth;
    const DeviceMemory memory(samples.size());
    for (int p = 0; p < 3; ++p) {
      Plane& plane = frame.planes[p];
      const std::ptrdiff_t start =
          interleaved && p == 2 ? pitch * format.height + bytes : p * pitch * format.height;
      plane.sample_stride = interleaved && p > 0 ? 2 : 1;
      plane.stride = pitch;
      plane.data = memory.as() + start;
      for (int y = 0; y < plane.height; ++y) {
        for (int x = 0; x < plane.width; ++x) {
          std::byte* to = samples.data() + start + y * pitch + x * plane.sample_stride * bytes;
          if (bytes == 1) {
            *to = host.planes[p].row<std::byte>(y)[x];
          } else {
            const int value = host.planes[p].row<std::uint16_t>(y)[x] << frame.padding_bits;
            *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(value);
          }
        }
      }
    }
    check(cudaMemcpy(memory.as(), samples.data(), samples.size(), cudaMemcpyHostToDevice));
    EXPECT_TRUE(oracle::same_bits(engine_->in_host_memory(frame), host));
    EXPECT_EQ(engine_->estimate_noise(frame), engine_->estimate_noise(host));
    const Frame other = oracle::add_noise(host, 3, 6);
    EXPECT_EQ(engine_->measure_noise(frame, &other, {}), engine_->measure_noise(host, &other, {}));
    EXPECT_EQ(engine_->measure_noise(other, &frame, {}), engine_->measure_noise(other, &host, {}));
    EXPECT_EQ(engine_->brightness_histogram(frame), brightness_histogram(host));
    const Bm3dParameters fast = bm3d_profile(Profile::kFast);
    const NoiseModel noise{{15, 0, 15}};  // includes a plane that passes through
    EXPECT_TRUE(
        oracle::same_bits(run_filter(*engine_, frame, fast, noise), run_filter(*engine_, host, fast, noise)));
  }
}

// A picture that moves by 4 samples from one field to the next, in planes with a video decoder's layout.
TEST_F(CudaEngine, FindsCombingInItsDevicesMemoryAsInTheHosts) {
  for (const FrameFormat& format : {yuv(202, 150, 1, 1), yuv(201, 151, 1, 1, 10), gray(70, 33, 16),
                                    gray(15, 40), rgb(160, 121), as_float(gray(203, 97))}) {
    SCOPED_TRACE(to_string(format));
    const Frame picture = noisy_picture(format, 6);
    const int plane = format.color_model == ColorModel::kRgb ? 1 : 0;
    const auto bytes = static_cast<std::size_t>(format.bytes_per_sample());
    const auto woven = [&](int even, int odd) {
      Frame frame = allocate_frame(format);
      for (int p = 0; p < format.plane_count(); ++p) {
        for (int y = 0; y < frame.planes[p].height; ++y) {
          const auto width = static_cast<std::size_t>(frame.planes[p].width) * bytes;
          const std::size_t shift =
              std::min(4 * bytes * static_cast<std::size_t>(y % 2 == 0 ? even : odd), width);
          const auto* const from = picture.planes[p].row<std::byte>(y);
          auto* const to = frame.planes[p].row<std::byte>(y);
          std::rotate_copy(from, from + (width - shift), from + width, to);
        }
      }
      return frame;
    };
    const int padding_bits = bytes == 2 ? 16 - format.bit_depth : 0;
    const std::ptrdiff_t pitch = 1024;
    std::vector<DeviceMemory> memories(2);
    const auto on_device = [&](const Frame& host, DeviceMemory& memory) {
      Frame frame = host;
      frame.memory = cuda_memory(0);
      frame.padding_bits = padding_bits;
      memory = DeviceMemory(static_cast<std::size_t>(pitch) * format.height);
      std::vector<std::byte> samples(memory.bytes());
      for (int y = 0; y < format.height; ++y) {
        const auto* const from = host.planes[plane].row<std::byte>(y);
        std::copy_n(from, bytes * format.width, samples.begin() + pitch * y);
        if (bytes == 2) {
          auto* const row = reinterpret_cast<std::uint16_t*>(samples.data() + pitch * y);
          std::transform(row, row + format.width, row, [&](std::uint16_t sample) {
            return static_cast<std::uint16_t>(sample << padding_bits);
          });
        }
      }
      check(cudaMemcpy(memory.as(), samples.data(), samples.size(), cudaMemcpyHostToDevice));
      frame.planes[plane].data = memory.as();
      frame.planes[plane].stride = pitch;
      return frame;
    };
    int combed = 0;
    for (const auto& [even, odd] : {std::pair{0, 0}, {1, 1}, {1, 2}, {2, 3}, {3, 3}}) {
      const Frame before = woven(0, 0);
      const Frame frame = woven(even, odd);
      const float expected = combed_share(frame, before);
      combed += expected > 0 ? 1 : 0;
      EXPECT_EQ(engine_->combed_share(on_device(frame, memories[0]), on_device(before, memories[1])),
                expected)
          << even << ", " << odd;
      EXPECT_EQ(engine_->combed_share(frame, before), expected);
    }
    EXPECT_TRUE(combed == 2 || format.height < 90) << combed;
  }
}

TEST_F(CudaEngine, AgreesWithTheCpuInEveryFormat) {
  for (const FrameFormat& format :
       {yuv(200, 151, 1, 1), yuv(201, 150, 1, 0), yuv(160, 120, 0, 0), rgb(161, 121), gray(200, 150, 10),
        yuv(200, 150, 1, 1, 12), rgb(121, 90, 16), as_float(gray(200, 150)), as_float(rgb(120, 91))}) {
    SCOPED_TRACE(to_string(format));
    for (const double sigma : {5.0, 35.0}) {
      const auto level = static_cast<float>(sigma);
      expect_agrees(noisy_picture(format, sigma), bm3d_profile(Profile::kLc), {{level, level, level}});
    }
  }
}

TEST_F(CudaEngine, ManyFramesUnderWayGiveWhatSingleFramesGive) {
  const FrameFormat format = yuv(320, 240, 1, 1);
  const Bm3dParameters parameters = bm3d_profile(Profile::kFast);
  const auto denoiser = engine_->make_denoiser(parameters, {{20, 10, 10}}, format);
  constexpr int kFrames = 24;
  std::vector<Frame> frames;
  for (int i = 0; i < kFrames; ++i) {
    const Frame picture = oracle::add_noise(oracle::draw_picture(format), 20, i);
    // Every other frame in pinned memory.
    Frame frame = i % 2 == 0 ? picture : engine_->allocate_frame(format);
    for (int p = 0; p < 3 && i % 2 == 1; ++p) {
      for (int y = 0; y < picture.planes[p].height; ++y) {
        std::copy_n(picture.planes[p].row<std::uint8_t>(y), picture.planes[p].width,
                    frame.planes[p].row<std::uint8_t>(y));
      }
    }
    frame.index = i;
    frames.push_back(frame);
    denoiser->send(frame);
  }
  for (int i = 0; i < kFrames; ++i) {
    const Frame result = denoiser->receive().value();
    EXPECT_EQ(result.index, i);
    EXPECT_TRUE(oracle::same_bits(result, run_filter(*engine_, frames[i], parameters, {{20, 10, 10}}))) << i;
  }
}

// A pause of the host is a wait for input; otherwise, since filtering takes longest, uploads wait for room.
TEST_F(CudaEngine, TellsWhatItsStagesDid) {
  const FrameFormat format = gray(640, 480);
  const auto denoiser = engine_->make_denoiser(bm3d_profile(Profile::kHigh), {{20}}, format);
  const Frame frame = noisy_picture(format, 20);
  EXPECT_EQ(denoiser->device_stages().upload.frames, 0);
  constexpr std::int64_t kFrames = 40;
  constexpr std::chrono::milliseconds kPause{50};
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t received = 0;
  for (int i = 0; i < kFrames; ++i) {
    if (i == kFrames / 2) {
      for (; received < i; ++received) {
        denoiser->receive();
      }
      std::this_thread::sleep_for(kPause);
    }
    denoiser->send(frame);
    if (i - received + 1 == denoiser->concurrency()) {
      denoiser->receive();
      ++received;
    }
  }
  for (; received < kFrames; ++received) {
    denoiser->receive();
  }
  const std::chrono::nanoseconds whole = std::chrono::steady_clock::now() - begin;
  const DeviceStages stages = denoiser->device_stages();
  for (const DeviceStage& stage : {stages.upload, stages.filter, stages.download}) {
    EXPECT_EQ(stage.frames, kFrames);
    EXPECT_GT(stage.busy_ns, 0);
    EXPECT_GE(stage.waited_for_input_ns, std::chrono::nanoseconds(kPause).count() / 2);
    EXPECT_LE(stage.busy_ns + stage.waited_for_input_ns + stage.waited_for_output_ns, whole.count());
  }
  EXPECT_GT(stages.filter.busy_ns, stages.upload.busy_ns);
  EXPECT_GT(stages.filter.busy_ns, stages.download.busy_ns);
  EXPECT_GT(stages.upload.waited_for_output_ns, 0);
  EXPECT_EQ(stages.download.waited_for_output_ns, 0);
}

TEST_F(CudaEngine, FramesOutliveTheEngine) {
  const FrameFormat format = gray(64, 48);
  Frame result = run_filter(*engine_, noisy_picture(format, 20), bm3d_profile(Profile::kFast), {{20}});
  engine_.reset();
  result.planes[0].row<std::uint8_t>(0)[0] = 7;
  EXPECT_EQ(result.planes[0].row<std::uint8_t>(0)[0], 7);
}

TEST_F(CudaEngine, MemoryIsWithinTheBudget) {
  const Bm3d hd(bm3d_profile(Profile::kNp), yuv(1920, 1080, 1, 1));
  EXPECT_LT(hd.memory(), std::size_t{350} << 20);
  const Bm3d still(bm3d_profile(Profile::kNp), rgb(5616, 3744));
  EXPECT_LT(still.memory(), std::size_t{1250} << 20);
}

TEST_F(CudaEngine, RunningOutOfMemoryIsAnErrorThatSaysHowMuch) {
  try {
    const DeviceMemory memory(std::size_t{1} << 50);
    ADD_FAILURE() << "a pebibyte was allocated";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1073741824 MiB"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(DeviceMemory(1 << 20));
}

// In separate processes, which lose the GPU. A decoder's frame without samples makes a kernel fail, and all
// later work with it.
TEST_F(CudaEngine, AFailedDeviceIsAnErrorAndIsLetGoOf) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fails_quietly = [](const auto& call) {
    try {
      call();
    } catch (const Error&) {
      return;
    }
    std::cerr << "no failure; ";
  };
  const auto fail = [&](bool in_the_denoiser) {
    const FrameFormat format = yuv(320, 240, 1, 1);
    const Frame good = noisy_picture(format, 20);
    Frame bad = good;
    bad.memory = cuda_memory(0);
    for (Plane& plane : bad.planes) {
      plane.data = nullptr;
    }
    try {
      const auto denoiser = engine_->make_denoiser(bm3d_profile(Profile::kFast), {{20, 20, 20}}, format);
      denoiser->send(good);
      std::cerr << "received: " << denoiser->receive().has_value() << "; ";
      if (in_the_denoiser) {
        denoiser->send(bad);
        denoiser->receive();
      } else {
        fails_quietly([&] { engine_->in_host_memory(bad); });
        denoiser->flush();
      }
    } catch (const Error& error) {
      std::cerr << error.what() << '\n';
    }
    engine_.reset();
    std::exit(3);
  };
  for (const bool in_the_denoiser : {true, false}) {
    EXPECT_EXIT(fail(in_the_denoiser), testing::ExitedWithCode(3),
                "received: 1; the GPU reports \"an illegal memory access");
  }
}

}  // namespace
}  // namespace limpid::cuda
