// SPDX-License-Identifier: MIT
// Results that stay in the memory of the GPU that draws the window look as results in host memory do.
#include <cstdlib>
#include <memory>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "cuda/engine/cuda_engine.h"
#include "io/screen/picture_painter.h"
#include "io/screen/window.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

using oracle::yuv;

constexpr io::Size kWindow{202, 150};

class WindowFrames : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    engine_ = open_cuda("cuda:0", {});
    setenv("SDL_VIDEODRIVER", "offscreen", 1);
    try {
      window_ = std::make_unique<io::Window>(
          io::WindowOptions{.title = "results", .size = kWindow, .fixed = true, .vsync = false});
      io::PicturePainter(yuv(16, 16, 1, 1), {}).share(engine_->result_memory());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  io::RgbImage drawn(io::PicturePainter& painter) const {
    window_->clear();
    const io::Rectangle all{0, 0, kWindow.width, kWindow.height};
    painter.draw({all, all, all, false, io::PictureChoice::kSecond}, kWindow);
    return window_->snapshot();
  }

  std::shared_ptr<Engine> engine_;
  std::unique_ptr<io::Window> window_;
};

TEST_F(WindowFrames, LookAsThoseOfTheHost) {
  FrameFormat gray = yuv(kWindow.width, kWindow.height, 0, 0);
  gray.color_model = ColorModel::kGray;
  FrameFormat rgb = gray;
  rgb.color_model = ColorModel::kRgb;
  FrameFormat real = rgb;
  real.sample_type = SampleType::kFloat32;
  real.bit_depth = 32;
  FrameFormat half = real;
  half.sample_type = SampleType::kFloat16;
  half.bit_depth = 16;
  FrameFormat alpha = yuv(kWindow.width, kWindow.height, 1, 1);
  alpha.has_alpha = true;
  for (const FrameFormat& format :
       {yuv(kWindow.width, kWindow.height, 1, 1), yuv(kWindow.width, kWindow.height, 1, 1, 10),
        yuv(kWindow.width, kWindow.height, 1, 0), yuv(kWindow.width, kWindow.height, 0, 0, 16), gray, rgb,
        real, half, alpha}) {
    SCOPED_TRACE(to_string(format));
    const NoiseModel noise{{15, 0, 15}};  // includes a plane that passes through
    const auto on_host = engine_->make_denoiser(BilateralParameters{}, noise, format);
    const auto on_gpu = engine_->make_denoiser(BilateralParameters{}, noise, format);
    io::PicturePainter painter(format, {});
    on_gpu->set_result_frames(
        [frames = painter.share(engine_->result_memory()), format] { return frames(format); });
    for (int i = 0; i < 6; ++i) {
      const Frame noisy = oracle::add_noise(oracle::draw_picture(format), 15, i);
      on_host->send(noisy);
      on_gpu->send(noisy);
      const Frame expected = on_host->receive().value();
      const Frame result = on_gpu->receive().value();
      EXPECT_EQ(result.memory, engine_->memory());
      EXPECT_TRUE(oracle::same_bits(engine_->in_host_memory(result), expected)) << i;
      painter.set_second(expected);
      const io::RgbImage wanted = drawn(painter);
      painter.set_second(result);
      EXPECT_EQ(drawn(painter).pixels, wanted.pixels) << i;
    }
  }
}

TEST_F(WindowFrames, OutliveTheWindow) {
  const FrameFormat format = yuv(64, 48, 1, 1);
  auto painter = std::make_unique<io::PicturePainter>(format, io::DisplayProperties{});
  FramePool::Allocator frames = painter->share(engine_->result_memory());
  const Frame kept = frames(format);
  painter.reset();
  window_.reset();
  Frame again = frames(format);
  EXPECT_NE(again.planes[0].data, kept.planes[0].data);
  frames = nullptr;
  again = {};
}

TEST_F(WindowFrames, FramesOfOtherGpusAreRefused) {
  io::PicturePainter painter(yuv(64, 48, 1, 1), {});
  EXPECT_THROW(painter.share(cuda_memory(99)), Error);
  const Frame frame = painter.share(engine_->result_memory())(yuv(64, 48, 1, 1));
  io::PicturePainter other(yuv(64, 48, 1, 1), {});
  EXPECT_THROW(other.set_first(frame), Error) << "before share()";
}

}  // namespace
}  // namespace limpid::cuda
