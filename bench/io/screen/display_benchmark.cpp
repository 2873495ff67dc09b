// SPDX-License-Identifier: MIT
// Times what the preview pays for each picture that it shows: the upload and the drawing, with the OpenGL of
// this machine; and the conversion for pictures in files.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "io/screen/display.h"
#include "io/screen/picture_painter.h"
#include "io/screen/window.h"
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
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(io::screen_picture(frame, properties).pixels.data());
  }
}

void BM_DrawPicture(benchmark::State& state, const FrameFormat& format, io::Transfer transfer) {
  setenv("SDL_VIDEODRIVER", "offscreen", 1);
  const io::Size size{format.width, format.height};
  io::Window window({.title = "benchmark", .size = size, .fixed = true, .vsync = false});
  const Frame frame = oracle::draw_picture(format);
  io::DisplayProperties properties;
  properties.transfer = transfer;
  properties.wide_gamut = transfer != io::Transfer::kSdr;
  io::PicturePainter painter(format, properties);
  const io::Rectangle all{0, 0, size.width, size.height};
  while (state.KeepRunning()) {
    painter.set_first(frame);
    painter.draw({.source = all, .target = all, .clip = all}, size);
    window.present();
  }
  benchmark::DoNotOptimize(window.snapshot().pixels.data());
}

constexpr auto kSdr = io::Transfer::kSdr;
const FrameFormat kHd = oracle::yuv(1920, 1080, 1, 1);
const FrameFormat kDeepHd = oracle::yuv(1920, 1080, 1, 1, 10);
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

BENCHMARK_CAPTURE(BM_DrawPicture, yuv420_1080p_8_bit, kHd, kSdr)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_DrawPicture, yuv420_1080p_10_bit_pq, kDeepHd, io::Transfer::kPq)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace limpid::benchmarks

BENCHMARK_MAIN();
