// SPDX-License-Identifier: MIT
// Times the noise estimate on one thread, per frame; it should be negligible beside the denoiser.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/stream/noise_tracker.h"
#include "cpu/engine/cpu_engine.h"
#include "cpu/noise/noise.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr double kSigma = 20;

Frame noisy_frame(const FrameFormat& format, std::uint64_t seed = 1) {
  return oracle::add_noise(oracle::draw_picture(format), kSigma, seed);
}

void BM_EstimateNoise(benchmark::State& state, const FrameFormat& format) {
  const Frame frame = noisy_frame(format);
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(cpu::estimate_noise(frame));
  }
}

// For a frame and its difference from the frame before, including motion estimation.
void BM_MeasureNoise(benchmark::State& state, const FrameFormat& format) {
  const Frame before = noisy_frame(format);
  const Frame frame = noisy_frame(format, 2);
  const std::shared_ptr<Engine> engine = cpu::open_cpu({.threads = 1});
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(engine->measure_noise(frame, &before, {}));
  }
}

// The cost per frame of a stream after the first frames have been averaged.
void BM_NoiseTracker(benchmark::State& state, const FrameFormat& format) {
  const std::array<Frame, 2> frames = {noisy_frame(format), noisy_frame(format, 2)};
  const std::shared_ptr<Engine> engine = cpu::open_cpu({.threads = 1});
  NoiseTracker tracker(*engine);
  std::size_t count = 0;
  const auto next = [&] { return tracker.next(frames[count++ % 2]); };
  while (count < 8) {
    next();
  }
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(next());
  }
}

// The cost per result of correcting clipped noise.
void BM_UndoClipping(benchmark::State& state, const FrameFormat& format) {
  const Frame noisy = noisy_frame(format);
  Frame out = oracle::draw_picture(format);
  while (state.KeepRunning()) {
    cpu::undo_clipping(noisy, {{kSigma, kSigma, kSigma}}, out);
  }
}

BENCHMARK_CAPTURE(BM_UndoClipping, gray_1920x1080_8_bit, oracle::gray(1920, 1080))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_UndoClipping, gray_1920x1080_10_bit, oracle::gray(1920, 1080, 10))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_EstimateNoise, gray_512x512_8_bit, oracle::gray(512, 512))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_EstimateNoise, yuv420_352x288_8_bit, oracle::yuv(352, 288, 1, 1))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_EstimateNoise, gray_1920x1080_8_bit, oracle::gray(1920, 1080))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_EstimateNoise, gray_1920x1080_10_bit, oracle::gray(1920, 1080, 10))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_EstimateNoise, yuv420_1920x1080_8_bit, oracle::yuv(1920, 1080, 1, 1))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_MeasureNoise, yuv420_352x288_8_bit, oracle::yuv(352, 288, 1, 1))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_MeasureNoise, yuv420_1920x1080_8_bit, oracle::yuv(1920, 1080, 1, 1))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_MeasureNoise, yuv420_1920x1080_10_bit, oracle::yuv(1920, 1080, 1, 1, 10))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_NoiseTracker, yuv420_1920x1080_8_bit, oracle::yuv(1920, 1080, 1, 1))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace limpid::benchmarks

BENCHMARK_MAIN();
