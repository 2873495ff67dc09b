// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "core/frame/frame.h"

namespace limpid {

/// The similarity of two planes.
struct PlaneQuality {
  double mse = 0;     ///< mean squared error in squared 8-bit code values
  double psnr = 0;    ///< dB; infinite for equal planes
  double ssim = 0;    ///< -1 to 1; see ssim()
  double peak = 255;  ///< peak value for `psnr`, in 8-bit code values: the reference's peak_of()
};

/// The greatest sample value, 2^n - 1 for n bits, in 8-bit code values: 255 for 8 bits and floats, 255.75 for
/// 10 bits.
double peak_of(const FrameFormat& format);

/// 10 log10(peak^2 / mse); infinite for 0.
double psnr_from_mse(double mse, double peak = 255);

/// Mean squared error of two planes of the same size, in squared 8-bit code values. Samples are first divided
/// by their format's code_value(), so that PSNR does not depend on the bit depth. Throws Error if the sizes
/// differ.
double mean_squared_error(const Plane& reference, const FrameFormat& reference_format, const Plane& test,
                          const FrameFormat& test_format);

/// Structural similarity: Wang et al., "Image quality assessment: from error visibility to structural
/// similarity", TIP 2004. Gaussian window of 11x11 samples and standard deviation 1.5, K1 = 0.01, K2 = 0.03,
/// L = 255 code values, mean over all window positions inside the plane. In planes smaller than the window,
/// the Gaussian is truncated and normalized. Throws Error if the sizes differ.
double ssim(const Plane& reference, const FrameFormat& reference_format, const Plane& test,
            const FrameFormat& test_format);

/// Quality of each color plane of `test` against `reference`. Throws Error if the formats differ in size,
/// color model or subsampling; bit depths may differ. Ignores alpha.
std::vector<PlaneQuality> measure(const Frame& reference, const Frame& test);

/// Temporal change of errors in static content: in samples of which the reference differs by at most one code
/// value from the previous frame. Sums over any number of frames.
struct Flicker {
  double changes = 0;        ///< sum of squared differences between the errors of successive frames, squared
                             ///< code values
  double errors = 0;         ///< sum of the squared errors of both frames, squared code values
  std::int64_t samples = 0;  ///< static samples

  Flicker& operator+=(const Flicker& other);
  /// Standard deviation of the change of errors, in code values; 0 without static samples.
  double deviation() const;
  /// deviation() relative to the standard deviation of the errors: 0 for constant errors, sqrt(2) for errors
  /// that are independent from frame to frame, 0 without errors.
  double share() const;
};

/// Flicker of each color plane from one frame to the next. Throws Error as measure() does.
std::vector<Flicker> measure_flicker(const Frame& reference_before, const Frame& test_before,
                                     const Frame& reference, const Frame& test);

}  // namespace limpid
