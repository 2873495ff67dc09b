// SPDX-License-Identifier: MIT
// Noise statistics of frames on a GPU are those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "cpu/noise/noise.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/noise/noise.h"
#include "tests/core/noise/scenes.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

using noise::ChannelStatistics;
using noise::Energies;
using noise::NoiseStatistics;
using test::gray_format;
using test::Noise;
using test::noisy;
using test::striped;

class NoiseMeasurement : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped()) {
      engine_ = open_cuda("cuda:0", {});
    }
  }

  // Two frames of a scene that moves by (2, 1).
  static std::pair<Frame, Frame> moving(const FrameFormat& format, const Noise& noise) {
    const auto at = [](int time) {
      return [=](int p, int x, int y) {
        return p == 0 ? striped(p, x + 2 * time, y + time) : 120 + 0.02 * x + 5 * p;
      };
    };
    return {noisy(format, at(0), noise, 1), noisy(format, at(1), noise, 2)};
  }

  static void expect_alike(const std::vector<Energies>& gpu, const std::vector<Energies>& cpu) {
    ASSERT_EQ(gpu.size(), cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      EXPECT_EQ(gpu[i].blocks, cpu[i].blocks) << "bin " << i;
      EXPECT_EQ(gpu[i].octaves, cpu[i].octaves) << "bin " << i;
      const double rounding = 0x1p-17 * cpu[i].blocks;
      for (std::size_t k = 0; k < cpu[i].energy.size(); ++k) {
        EXPECT_NEAR(gpu[i].energy[k], cpu[i].energy[k], rounding + 1e-12 * cpu[i].energy[k])
            << "bin " << i << ", coefficient " << k;
      }
    }
  }

  static void expect_alike(const NoiseStatistics& gpu, const NoiseStatistics& cpu) {
    EXPECT_EQ(gpu.rgb, cpu.rgb);
    for (std::size_t c = 0; c < cpu.channels.size(); ++c) {
      SCOPED_TRACE("channel " + std::to_string(c));
      for (std::size_t half = 0; half < 2; ++half) {
        expect_alike(gpu.channels[c].single[half], cpu.channels[c].single[half]);
      }
      expect_alike(gpu.channels[c].differences, cpu.channels[c].differences);
      EXPECT_EQ(gpu.channels[c].levels, cpu.channels[c].levels);
      EXPECT_EQ(gpu.channels[c].copied, cpu.channels[c].copied);
      EXPECT_EQ(gpu.channels[c].lost, cpu.channels[c].lost);
    }
  }

  void expect_agrees(const Frame& frame, const Frame* before, const noise::SceneRange& range = {}) {
    const NoiseStatistics statistics = engine_->measure_noise(frame, before, range);
    const NoiseStatistics expected = cpu::measure_noise(frame, before, range);
    expect_alike(statistics, expected);
    EXPECT_EQ(engine_->measure_noise(frame, before, range), statistics);
    EXPECT_EQ(engine_->measure_levels(frame, range).levels, expected.channels[0].levels);
    const NoiseModel white = cpu::estimate_noise(frame);
    const NoiseModel model = model_of(statistics, white);
    const NoiseModel expected_model = model_of(expected, white);
    for (std::size_t p = 0; p < model.sigma.size(); ++p) {
      EXPECT_NEAR(model.sigma[p], expected_model.sigma[p], 1e-4 * double{expected_model.sigma[p]});
      for (std::size_t i = 0; i < model.shape[p].spectrum.size(); ++i) {
        const double value = expected_model.shape[p].spectrum[i];
        EXPECT_NEAR(model.shape[p].spectrum[i], value, 1e-3 * value + 1e-4) << p << ", " << i;
      }
    }
  }

  void expect_agrees(const std::pair<Frame, Frame>& frames) {
    expect_agrees(frames.second, nullptr);
    expect_agrees(frames.second, &frames.first);
  }

  std::shared_ptr<Engine> engine_;
};

TEST_F(NoiseMeasurement, IsTheCpus) {
  for (const Noise& noise : {Noise{0}, Noise{3}, Noise{20}, Noise{10, true}}) {
    SCOPED_TRACE(std::to_string(noise.sigma) + (noise.smooth ? ", smooth" : ""));
    expect_agrees(moving(gray_format(320, 240), noise));
  }
}

TEST_F(NoiseMeasurement, IsTheCpusInEveryFormat) {
  for (const FrameFormat& format :
       {gray_format(203, 121, 10), gray_format(203, 121, 16), gray_format(203, 121, 32),
        oracle::yuv(321, 243, 1, 1), oracle::yuv(321, 243, 1, 0, 10), oracle::yuv(203, 121, 0, 0, 12),
        oracle::yuv(203, 121, 2, 0), oracle::as_float(oracle::yuv(203, 121, 1, 1)), oracle::rgb(203, 121),
        oracle::rgb(203, 121, 12), oracle::as_float(oracle::rgb(203, 121))}) {
    SCOPED_TRACE(to_string(format));
    expect_agrees(moving(format, {8, true}));
    expect_agrees(moving(format, {8}));
  }
}

TEST_F(NoiseMeasurement, IsTheCpusAtEverySize) {
  for (const int width : {1, 7, 8, 9, 15, 16, 17, 40}) {
    for (const int height : {1, 7, 8, 15, 33}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
      expect_agrees(moving(oracle::yuv(width, height, 1, 1), {10}));
    }
  }
  // More blocks than are measured.
  expect_agrees(moving(oracle::yuv(1283, 725, 1, 1), {6, true}));
}

TEST_F(NoiseMeasurement, IsTheCpusOfInterlacedFrames) {
  for (const FrameFormat& format : {oracle::yuv(203, 121, 1, 1), oracle::yuv(64, 15, 1, 1)}) {
    auto frames = moving(format, {8, true});
    expect_agrees(frames);
    frames.first.interlaced = frames.second.interlaced = true;
    expect_agrees(frames);
  }
}

TEST_F(NoiseMeasurement, IsTheCpusWhereNoiseIsCutOff) {
  for (const FrameFormat& format :
       {gray_format(203, 121), gray_format(203, 121, 10), oracle::yuv(203, 121, 1, 1), oracle::rgb(203, 121),
        oracle::rgb(203, 121, 12)}) {
    SCOPED_TRACE(to_string(format));
    const auto ramp = [](int, int x, int y) { return 2.0 * x - 75 + 0.1 * y; };
    expect_agrees({test::render(format, ramp, 10, 1), test::render(format, ramp, 10, 2)});
  }
}

TEST_F(NoiseMeasurement, TheZerosOfCountsAreMeasured) {
  const auto ramp = [](int, int x, int) { return 0.02 * x; };
  const Frame before = test::counts_frame(gray_format(203, 121), ramp, 12, 1);
  const Frame frame = test::counts_frame(gray_format(203, 121), ramp, 12, 2);
  expect_agrees(frame, &before, {.scale = {}, .counts = true});
}

TEST_F(NoiseMeasurement, CopiedAndConstantBlocksTellNothing) {
  auto frames = moving(oracle::yuv(160, 120, 1, 1), {10});
  expect_agrees(frames.first, &frames.first);
  EXPECT_EQ(engine_->measure_noise(frames.first, &frames.first, {}).channels[0].copied, 20 * 15);
  // Blocks that are neither, in the upper half of both frames.
  for (Frame* frame : {&frames.first, &frames.second}) {
    for (int y = 60; y < 120; ++y) {
      std::fill_n(frame->planes[0].row<std::uint8_t>(y), 160, std::uint8_t{90});
    }
  }
  expect_agrees(frames);
  const Frame black = test::render(
      gray_format(100, 50), [](int, int, int) { return 0; }, 0);
  expect_agrees({black, black});
}

TEST_F(NoiseMeasurement, SamplesMayBeAnything) {
  auto frames = moving(gray_format(160, 120, 32), {10});
  for (int y = 0; y < 120; y += 3) {
    float* row = frames.second.planes[0].row<float>(y);
    row[y] = std::numeric_limits<float>::quiet_NaN();
    row[y + 1] = std::numeric_limits<float>::infinity();
    row[y + 2] = -1e30F;
  }
  expect_agrees(frames);
}

// No sum overflows if all blocks are in one bin with the maximum energy.
TEST_F(NoiseMeasurement, SamplesMayBeAsGreatAsAny) {
  const auto rows = [](double even, double odd) {
    return test::render(
        gray_format(720, 720, 32), [=](int, int, int y) { return y % 2 == 0 ? even : odd; }, 0);
  };
  const Frame least = rows(-1e30, -1e30);
  const Frame middle = rows(0.5, 0.5);  // 0 would count as clipped
  const Frame greatest = rows(1e30, -1e30);
  expect_agrees(rows(1e30, 1e30), &least);
  expect_agrees(greatest, &least);
  // Rows of 2^12 and -2^12 minus half a code value, divided by sqrt 2.
  expect_agrees(greatest, &middle);
  double energy = 0;
  const NoiseStatistics statistics = engine_->measure_noise(greatest, &middle, {});
  for (const Energies& bin : statistics.channels[0].differences) {
    energy = std::accumulate(bin.energy.begin(), bin.energy.end(), energy);
  }
  EXPECT_NEAR(energy, 8100 * 0x1p29, 1e9);
}

TEST_F(NoiseMeasurement, MayBeOnSeveralThreads) {
  std::vector<std::future<bool>> threads;
  for (int i = 0; i < 6; ++i) {
    threads.push_back(std::async(std::launch::async, [&, i] {
      const auto [before, frame] = moving(oracle::yuv(160 + 16 * i, 121, 1, 1), {8});
      const NoiseStatistics expected = engine_->measure_noise(frame, &before, {});
      bool same = true;
      for (int round = 0; round < 5; ++round) {
        same = same && engine_->measure_noise(frame, &before, {}) == expected;
        engine_->estimate_noise(frame);
      }
      return same;
    }));
  }
  for (std::future<bool>& thread : threads) {
    EXPECT_TRUE(thread.get());
  }
}

}  // namespace
}  // namespace limpid::cuda
