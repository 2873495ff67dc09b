// SPDX-License-Identifier: MIT
// BM3D on a GPU compared with the CPU engine, on pictures large enough for shares of samples, with noise of
// all kinds.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/bm3d/bm3d_parameters.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "cuda/engine/cuda_engine.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

class Bm3dAgreement : public CudaTest {};

// As from cameras: standard deviations of high frequencies are a fraction of those of low ones.
NoiseShape smooth_shape(double fraction) {
  NoiseShape shape;
  double sum = 0;
  for (int i = 0; i < 64; ++i) {
    const double frequency = (i / 8 + i % 8) / 14.0;
    shape.spectrum[i] = static_cast<float>(std::pow(fraction, 2 * frequency));
    sum += static_cast<double>(shape.spectrum[i]);
  }
  for (float& value : shape.spectrum) {
    value *= static_cast<float>(64 / sum);
  }
  return shape;
}

TEST_F(Bm3dAgreement, IsTheContractWhateverTheNoise) {
  const auto gpu = open_cuda("cuda:0", {});
  const auto cpu = engine_registry().open("cpu");
  for (const FrameFormat& format : {oracle::yuv(640, 481, 1, 1), oracle::gray(641, 361, 10),
                                    oracle::as_float(oracle::gray(301, 203)), oracle::rgb(320, 200)}) {
    const Frame frame = oracle::add_noise(oracle::draw_picture(format), 20, 5);
    for (const double fraction : {1.0, 0.4, 0.1}) {
      for (const bool by_brightness : {false, true}) {
        NoiseModel noise{{20, 20, 20}};
        for (NoiseShape& shape : noise.shape) {
          shape = fraction < 1 ? smooth_shape(fraction) : NoiseShape{};
          for (std::size_t i = 0; by_brightness && i < shape.curve.size(); ++i) {
            shape.curve[i] = 1.2F - 0.03F * static_cast<float>(i);
          }
        }
        for (const Profile profile : {Profile::kFast, Profile::kNp}) {
          SCOPED_TRACE(std::string(to_string(profile)) + ", " + to_string(format) + ", " +
                       std::to_string(fraction) + (by_brightness ? ", by brightness" : ""));
          const Frame result = run_filter(*gpu, frame, bm3d_profile(profile), noise);
          const oracle::Agreement agreement =
              oracle::compare(result, run_filter(*cpu, frame, bm3d_profile(profile), noise));
          // With profile fast, each sample is in few groups, so a coefficient on the other side of its
          // threshold in one of them is visible.
          EXPECT_TRUE(profile == Profile::kFast ? agreement.psnr >= 60 : oracle::within_contract(agreement))
              << oracle::to_string(agreement);
          EXPECT_TRUE(oracle::same_bits(result, run_filter(*gpu, frame, bm3d_profile(profile), noise)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace limpid::cuda
