// Times block motion on one thread: a frame's pyramid, and the search between two frames.
#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include "core/base/parallel.h"
#include "core/cpu/motion/motion_estimation.h"
#include "core/cpu/motion/motion_pyramid.h"
#include "core/cpu/runtime/planes.h"
#include "core/frame/fields.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

// A picture and the same moved by 13 samples to the right and 4 down, with noise of their own.
Frame moved_frame(const FrameFormat& format, double sigma, int moved) {
  FrameFormat larger = format;
  larger.width += 16;
  larger.height += 16;
  const Frame picture = oracle::draw_picture(larger);
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < frame.planes[p].height; ++y) {
      const std::byte* from = picture.planes[p].row<std::byte>(y + (moved != 0 ? 0 : 4)) +
                              (moved != 0 ? 0 : 13 * format.bytes_per_sample());
      std::copy_n(from, static_cast<std::size_t>(frame.planes[p].width) * format.bytes_per_sample(),
                  frame.planes[p].row<std::byte>(y));
    }
  }
  return oracle::add_noise(frame, sigma, moved + 1);
}

void build(cpu::MotionPyramid& pyramid, const Frame& frame) {
  pyramid.build(frame.format, cpu::picture_of(frame.format, frame.planes, pictures_of(false).front()));
}

void BM_MotionPyramid(benchmark::State& state, const FrameFormat& format) {
  tbb::task_arena arena(1);
  const Frame frame = moved_frame(format, 20, 0);
  cpu::MotionPyramid pyramid;
  while (state.KeepRunning()) {
    run_in(arena, [&] { build(pyramid, frame); });
  }
}

void BM_Motion(benchmark::State& state, const FrameFormat& format, double sigma) {
  tbb::task_arena arena(1);
  cpu::MotionPyramid reference;
  cpu::MotionPyramid current;
  build(reference, moved_frame(format, sigma, 0));
  build(current, moved_frame(format, sigma, 1));
  cpu::MotionEstimator estimator;
  MotionField field;
  while (state.KeepRunning()) {
    run_in(arena, [&] { estimator.estimate(reference, current, field); });
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
BENCHMARK_CAPTURE(BM_Motion, 1920x1080_clean, oracle::gray(1920, 1080), 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 1920x1080_sigma_20, oracle::gray(1920, 1080), 20)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 1920x1080_sigma_50, oracle::gray(1920, 1080), 50)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Motion, 3840x2160_sigma_20, oracle::gray(3840, 2160), 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace limpid::benchmarks

BENCHMARK_MAIN();
