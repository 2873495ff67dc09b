// SPDX-License-Identifier: MIT
// BM3D by Fourier transforms compared with plain double precision by FFTW.
#include "cuda/bm3d/fourier/fourier.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "cuda/bm3d/bm3d.h"
#include "cuda/engine/cuda_engine.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

class Fourier : public CudaTest, public testing::WithParamInterface<GroupTransform> {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    try {
      const int size = 8;
      const CufftPlan plan(CufftPlan::Direction::kForward, 1, &size, 1);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    engine_ = open_cuda("cuda:0", {});
  }

  static Bm3dParameters with_transform(Bm3dParameters parameters) {
    parameters.transform = GetParam();
    return parameters;
  }

  // Flat areas have coefficients at the threshold and equal distances, so all areas have noise.
  void expect_agrees(const FrameFormat& format, const Bm3dParameters& parameters, float sigma) {
    SCOPED_TRACE(to_string(format));
    const NoiseModel noise{{sigma, sigma, sigma}};
    const Frame frame = oracle::add_noise(oracle::draw_picture(format), static_cast<double>(sigma), 5);
    const Frame result = run_filter(*engine_, frame, parameters, noise);
    const oracle::Agreement agreement = oracle::compare(result, oracle::denoise(frame, parameters, noise));
    EXPECT_TRUE(oracle::within_contract(agreement)) << oracle::to_string(agreement);
    EXPECT_TRUE(oracle::same_bits(result, run_filter(*engine_, frame, parameters, noise)));
  }

  std::shared_ptr<Engine> engine_;
};

TEST_P(Fourier, AgreesWithTheOracleInEveryFormat) {
  for (const FrameFormat& format : {oracle::gray(60, 43), oracle::gray(41, 37, 12), oracle::yuv(48, 40, 1, 1),
                                    oracle::rgb(33, 34), oracle::as_float(oracle::gray(40, 40))}) {
    expect_agrees(format, with_transform(bm3d_profile(Profile::kLc)), 20);
  }
}

TEST_P(Fourier, AgreesWithTheOracleForPatchesAndGroupsOfAnySize) {
  for (const auto& [patch, group_size] :
       {std::pair{8, 1}, {8, 8}, {8, 64}, {5, 4}, {2, 16}, {11, 16}, {16, 2}}) {
    SCOPED_TRACE(std::to_string(patch) + ", " + std::to_string(group_size));
    Bm3dParameters parameters = with_transform(bm3d_profile(Profile::kNp));
    for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
      step->patch_size = patch;
      step->spacing = std::min(patch, 4);
      step->max_group_size = group_size;
      step->search_window = 15;
      step->transform_2d = Transform2d::kDct;
    }
    expect_agrees(oracle::gray(47, 39), parameters, 15);
    parameters.wiener.reset();
    expect_agrees(oracle::gray(47, 39), parameters, 15);
  }
}

TEST_P(Fourier, MemoryIsBoundedWhateverTheSize) {
  const Bm3d filter(with_transform(bm3d_profile(Profile::kNp)), oracle::gray(5616, 3744));
  EXPECT_LT(filter.memory(), std::size_t{1000} << 20);
}

INSTANTIATE_TEST_SUITE_P(Transforms, Fourier,
                         testing::Values(GroupTransform::kDft2dAnd1d, GroupTransform::kFft3d),
                         [](const auto& instance) {
                           std::string name(to_string(instance.param));
                           std::replace(name.begin(), name.end(), '+', '_');
                           return name;
                         });

}  // namespace
}  // namespace limpid::cuda
