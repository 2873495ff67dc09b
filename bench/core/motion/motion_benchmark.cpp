// SPDX-License-Identifier: MIT
// Times block motion on one thread: a frame's pyramid, and the search between two frames.
#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include "core/base/parallel.h"
#include "cpu/motion/motion_estimation.h"
#include "tests/core/motion/moving_pictures.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

void BM_MotionPyramid(benchmark::State& state, const FrameFormat& format) {
  tbb::task_arena arena(1);
  const Frame frame = oracle::draw_picture(format);
  cpu::MotionPyramid pyramid;
  while (state.KeepRunning()) {
    run_in(arena, [&] { pyramid.build(format, test::picture_planes(frame)); });
  }
}

void BM_Motion(benchmark::State& state, int width, int height, double sigma,
               const MotionParameters& parameters = {}) {
  tbb::task_arena arena(1);
  const Frame frames[] = {test::panned_frame(0, width, height, sigma),
                          test::panned_frame(1, width, height, sigma)};
  cpu::MotionPyramid pyramids[2];
  for (int i = 0; i < 2; ++i) {
    pyramids[i].build(frames[i].format, test::picture_planes(frames[i]));
  }
  cpu::MotionEstimator estimator;
  MotionField field;
  while (state.KeepRunning()) {
    run_in(arena, [&] { estimator.estimate(pyramids[0], pyramids[1], field, parameters); });
  }
}

BENCHMARK_CAPTURE(BM_MotionPyramid, gray_1920x1080_8_bit, oracle::gray(1920, 1080))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_MotionPyramid, gray_1920x1080_10_bit, oracle::gray(1920, 1080, 10))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_MotionPyramid, gray_1920x1080_float, oracle::as_float(oracle::gray(1920, 1080)))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_MotionPyramid, rgb_1920x1080_8_bit, oracle::rgb(1920, 1080))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 1920x1080_clean, 1920, 1080, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 1920x1080_sigma_20, 1920, 1080, 20)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 1920x1080_sigma_50, 1920, 1080, 50)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 1920x1080_sigma_20_quarters, 1920, 1080, 20, MotionParameters{.quarters = true})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 3840x2160_sigma_20, 3840, 2160, 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace limpid::benchmarks

BENCHMARK_MAIN();
