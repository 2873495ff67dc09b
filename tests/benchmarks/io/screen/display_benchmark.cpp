// SPDX-License-Identifier: MIT
// Times what the preview pays for each picture that it shows: the conversion for the screen, and the
// difference view.
#include <benchmark/benchmark.h>

#include "io/screen/display.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

void BM_ConvertForDisplay(benchmark::State& state, const FrameFormat& format, io::Transfer transfer,
                          bool transposed) {
  const Frame frame = oracle::draw_picture(format);
  io::DisplayProperties properties;
  properties.transfer = transfer;
  properties.wide_gamut = transfer != io::Transfer::kSdr;
  properties.orientation.transposed = transposed;
  const io::DisplayConverter converter(format, properties);
  io::RgbImage image;
  while (state.KeepRunning()) {
    converter.convert(frame, image);
    benchmark::DoNotOptimize(image.pixels.data());
  }
}

constexpr auto kSdr = io::Transfer::kSdr;
const FrameFormat kHd = oracle::yuv(1920, 1080, 1, 1);
const FrameFormat kUhd = oracle::yuv(3840, 2160, 1, 1);
const FrameFormat kDeepUhd = oracle::yuv(3840, 2160, 1, 1, 10);

BENCHMARK_CAPTURE(BM_ConvertForDisplay, yuv420_1080p_8_bit, kHd, kSdr, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_ConvertForDisplay, yuv420_2160p_8_bit, kUhd, kSdr, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_ConvertForDisplay, yuv420_2160p_10_bit, kDeepUhd, kSdr, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_ConvertForDisplay, yuv420_2160p_8_bit_rotated, kUhd, kSdr, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_ConvertForDisplay, yuv420_2160p_10_bit_pq, kDeepUhd, io::Transfer::kPq, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace limpid::benchmarks

BENCHMARK_MAIN();
