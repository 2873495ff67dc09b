// SPDX-License-Identifier: MIT
// Temporal filters on a GPU, and distributed to several streams as to several GPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/engine_group.h"
#include "core/frame/frame.h"
#include "cuda/engine/window_denoiser.h"
#include "tests/core/engine/temporal_suite.h"
#include "tests/cuda/cuda_test.h"
#include "tests/cuda/engine/temporal_filter.h"

namespace limpid::cuda {
namespace {

class TemporalCudaTest : public CudaTest {
 protected:
  std::unique_ptr<Denoiser> make(int device) {
    return std::make_unique<WindowDenoiser>(
        device, FramePool(allocate_pinned_frame),
        [&] { return std::make_unique<TwoStepMean>(counts_, launch_mean); }, NoiseModel{},
        temporal::format());
  }
  const temporal::Maker maker_ = [this] { return make(0); };
  TwoStepMean::Counts counts_;
};

TEST_F(TemporalCudaTest, EveryStreamIsAsDefined) { temporal::expect_every_stream_as_defined(maker_); }
TEST_F(TemporalCudaTest, SegmentsGiveTheWhole) { temporal::expect_segments_to_give_the_whole(maker_); }
TEST_F(TemporalCudaTest, ResetBeginsAnew) { temporal::expect_reset_to_begin_anew(maker_); }

// As many GPUs as there are, at least two: the first one replaces missing ones.
TEST_F(TemporalCudaTest, SeveralGpusGiveTheBitsOfOne) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  std::vector<std::shared_ptr<Engine>> engines;
  for (int i = 0; i < std::max(devices, 2); ++i) {
    engines.push_back(
        std::make_shared<temporal::OneFilterEngine>([this, device = i % devices] { return make(device); }));
  }
  const auto group = make_engine_group("cuda:all", std::move(engines));
  const temporal::Maker maker = [&] {
    return group->make_denoiser(Bm3dParameters{}, {}, temporal::format());
  };
  temporal::expect_every_stream_as_defined(maker);
  temporal::expect_segments_to_give_the_whole(maker);
  temporal::expect_reset_to_begin_anew(maker);
}

}  // namespace
}  // namespace limpid::cuda
