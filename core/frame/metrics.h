#pragma once

#include <cstdint>
#include <vector>

#include "core/frame/frame.h"

namespace limpid {

/// How alike two planes are.
struct PlaneQuality {
  double mse = 0;     ///< mean squared error in squared 8-bit code values
  double psnr = 0;    ///< dB; infinite for equal planes
  double ssim = 0;    ///< -1 to 1; see ssim()
  double peak = 255;  ///< that of `psnr`, in 8-bit code values: the reference's peak_of()
};

/// The greatest sample, 2^n - 1 of n bits, in 8-bit code values: 255 of 8 bits and of floats, 255.75 of 10.
double peak_of(const FrameFormat& format);

/// 10 log10(peak^2 / mse); infinite for 0.
double psnr_from_mse(double mse, double peak = 255);

/// Mean squared error of two planes of the same size, in squared 8-bit code values (samples are divided by
/// their format's code_value() first, so that PSNR doesn't depend on the bit depth). Throws Error if the
/// sizes differ.
double mean_squared_error(const Plane& reference, const FrameFormat& reference_format, const Plane& test,
                          const FrameFormat& test_format);

/// Structural similarity: Wang et al., "Image quality assessment: from error visibility to structural
/// similarity", TIP 2004: 11x11 Gaussian window of deviation 1.5, K1 = 0.01, K2 = 0.03, L = 255 code values,
/// mean over all window positions inside the plane. Where a plane is narrower or lower than the window, the
/// window's Gaussian is cut to the plane and normalized again. Throws Error if the sizes differ.
double ssim(const Plane& reference, const FrameFormat& reference_format, const Plane& test,
            const FrameFormat& test_format);

/// Quality of each color plane of `test` against `reference`. Throws Error if the formats differ in size,
/// color model or subsampling; bit depths may differ. An alpha plane is not looked at.
std::vector<PlaneQuality> measure(const Frame& reference, const Frame& test);

/// How much of the errors comes and goes from frame to frame where nothing moves: in samples of which the
/// reference differs by at most a code value from the frame before. Sums over any number of frames.
struct Flicker {
  double changes = 0;        ///< sum of squared differences of successive errors, squared code values
  double errors = 0;         ///< sum of the squared errors of both, likewise
  std::int64_t samples = 0;  ///< that stand still

  Flicker& operator+=(const Flicker& other);
  /// The deviation of the errors' changes, in code values; 0 if nothing stands still.
  double deviation() const;
  /// The same over the errors' own deviation: 0 for errors that stay, sqrt(2) for those of each frame by
  /// itself. 0 without errors.
  double share() const;
};

/// Flicker of each color plane from one frame to the next. Throws Error if the formats differ, as measure().
std::vector<Flicker> measure_flicker(const Frame& reference_before, const Frame& test_before,
                                     const Frame& reference, const Frame& test);

}  // namespace limpid
