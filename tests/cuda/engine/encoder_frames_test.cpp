// SPDX-License-Identifier: MIT
// Results in frames for a GPU's encoder (AVHWFramesContext) are bit-exact with results in host memory.
#include <deque>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "cuda/engine/cuda_engine.h"
#include "io/media/cuda_frames.h"
#include "io/media/samples.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

using oracle::yuv;

struct Surface {
  FrameFormat format;
  AVPixelFormat layout;
};

class EncoderFrames : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped()) {
      // The engine is the first user of the device: libav must use its context as it is.
      engine_ = open_cuda("cuda:0", {});
      engine_->allocate_frame(yuv(64, 48, 1, 1));
    }
  }

  static Frame to_host(const io::CudaFramePool& frames, const Frame& result) {
    const io::FrameHandle copied = io::copy_to_host(*frames.reference_to(result), "the GPU");
    Frame frame = allocate_frame(result.format);
    io::unpack(*copied, frame);
    return frame;
  }

  std::shared_ptr<Engine> engine_;
};

TEST_F(EncoderFrames, HoldWhatTheHostWouldGet) {
  const Bm3dParameters parameters = bm3d_profile(Profile::kFast);
  const NoiseModel noise{{15, 0, 15}};  // includes a plane that passes through
  for (const Surface& surface :
       {Surface{yuv(202, 150, 1, 1), AV_PIX_FMT_YUV420P}, Surface{yuv(202, 150, 1, 1), AV_PIX_FMT_NV12},
        Surface{yuv(202, 150, 1, 1, 10), AV_PIX_FMT_P010}, Surface{yuv(161, 121, 0, 0), AV_PIX_FMT_YUV444P},
        Surface{yuv(160, 120, 0, 0, 16), AV_PIX_FMT_YUV444P16}}) {
    SCOPED_TRACE(io::name_of(surface.layout));
    const io::CudaFramePool frames(engine_->result_memory().ordinal, surface.layout, surface.format);
    const auto denoiser = engine_->make_denoiser(parameters, noise, surface.format);
    denoiser->set_result_frames([&] { return frames.take(); });
    std::deque<Frame> sent;
    std::set<std::byte*> memory;
    const auto receive = [&] {
      const Frame result = denoiser->receive().value();
      EXPECT_EQ(result.memory, cuda_memory(0));
      EXPECT_EQ(result.index, sent.front().index);
      EXPECT_EQ(result.attachment, sent.front().attachment);
      memory.insert(result.planes[0].data);
      const auto alone = engine_->make_denoiser(parameters, noise, surface.format);
      alone->send(sent.front());
      EXPECT_TRUE(oracle::same_bits(to_host(frames, result), alone->receive().value())) << result.index;
      sent.pop_front();
    };
    constexpr int kFrames = 20;
    for (int i = 0; i < kFrames; ++i) {
      sent.push_back(oracle::add_noise(oracle::draw_picture(surface.format), 15, i));
      sent.back().index = i;
      sent.back().interlaced = i % 3 == 2;
      sent.back().attachment = std::make_shared<int>(i);
      denoiser->send(sent.back());
      if (static_cast<int>(sent.size()) == denoiser->concurrency()) {
        receive();
      }
    }
    while (!sent.empty()) {
      receive();
    }
    EXPECT_FALSE(denoiser->receive().has_value());
    EXPECT_LE(static_cast<int>(memory.size()), denoiser->concurrency());
  }
}

TEST_F(EncoderFrames, OthersAreRefused) {
  const FrameFormat format = yuv(64, 48, 1, 1);
  const io::CudaFramePool frames(0, AV_PIX_FMT_NV12, format);
  const io::CudaFramePool others(0, AV_PIX_FMT_NV12, format);
  EXPECT_THROW(frames.reference_to(others.take()), Error);
  EXPECT_THROW(frames.reference_to(engine_->allocate_frame(format)), Error);
  EXPECT_THROW(io::CudaFramePool(0, AV_PIX_FMT_YUV422P, yuv(64, 48, 1, 0)), Error);

  const auto denoiser = engine_->make_denoiser(bm3d_profile(Profile::kFast), {{10}}, format);
  denoiser->set_result_frames([&] { return engine_->allocate_frame(format); });
  EXPECT_THROW(denoiser->send(oracle::draw_picture(format)), Error);
}

}  // namespace
}  // namespace limpid::cuda
