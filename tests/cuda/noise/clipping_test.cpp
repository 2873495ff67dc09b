// SPDX-License-Identifier: MIT
// The correction of clipped noise on a GPU is bit-exact with the CPU engine's.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "cpu/noise/noise.h"
#include "cuda/engine/window_denoiser.h"
#include "cuda/noise/noise.h"
#include "tests/core/noise/clipped_ramp.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

using test::ClippedRamp;
using test::copy_of;

using Clipping = CudaTest;

TEST_F(Clipping, IsUndoneToTheBitAsOnTheCpu) {
  for (const FrameFormat& format :
       {oracle::gray(300, 77), oracle::gray(1, 400), oracle::gray(97, 61, 10), oracle::gray(64, 70, 16),
        oracle::rgb(80, 60), oracle::yuv(90, 62, 1, 1), oracle::as_float(oracle::gray(64, 64))}) {
    ClippingCorrection correction(format);
    const Stream stream;
    for (const float sigma : {1.5F, 5.0F, 20.0F, 60.0F, 255.0F}) {
      SCOPED_TRACE(to_string(format) + ", sigma " + std::to_string(sigma));
      const bool is_float = format.sample_type == SampleType::kFloat32;
      const ClippedRamp ramp(is_float ? oracle::gray(64, 64) : format, static_cast<double>(sigma));
      const Frame noisy = is_float ? oracle::draw_picture(format) : ramp.noisy;
      const Frame estimate = is_float ? oracle::draw_picture(format) : ramp.estimate;
      NoiseModel noise{{sigma, sigma, sigma}};
      for (std::size_t i = 0; i < noise.shape[0].curve.size(); ++i) {
        noise.shape[0].curve[i] = 1.3F - 0.04F * static_cast<float>(i);
      }
      if (format.bit_depth == 10) {
        estimate.planes[0].row<std::uint16_t>(3)[2] = 40000;  // illegal
      }
      Frame expected = copy_of(estimate);
      cpu::undo_clipping(noisy, noise, expected);

      const DeviceFrame device_noisy(format);
      const DeviceFrame device_out(format);
      copy(noisy, device_noisy.planes(), cudaMemcpyHostToDevice, stream.get());
      copy(estimate, device_out.planes(), cudaMemcpyHostToDevice, stream.get());
      correction.enqueue(device_noisy.planes(), noise, device_out.planes(), stream.get());
      const Frame result = allocate_frame(format);
      copy(result, device_out.planes(), cudaMemcpyDeviceToHost, stream.get());
      check(cudaStreamSynchronize(stream.get()));
      EXPECT_TRUE(oracle::same_bits(result, expected));
    }
  }
}

}  // namespace
}  // namespace limpid::cuda
