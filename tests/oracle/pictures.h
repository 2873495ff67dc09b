#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/frame/frame.h"

namespace limpid::oracle {

/// A format by its parts, for short test code.
FrameFormat gray(int width, int height, int bit_depth = 8);
FrameFormat yuv(int width, int height, int chroma_shift_x, int chroma_shift_y, int bit_depth = 8);
FrameFormat rgb(int width, int height, int bit_depth = 8);
/// The same with float samples.
FrameFormat as_float(FrameFormat format);
FrameFormat as_half(FrameFormat format);

/// A picture with straight and curved edges, a smooth gradient and a repeating texture in every plane. A
/// frame of another depth or subsampling shows the same picture.
Frame draw_picture(const FrameFormat& format);

/// The picture with white Gaussian noise of deviation `sigma` in 8-bit code values in its color planes;
/// clamped if the samples are integers. The same seed gives the same noise.
Frame add_noise(const Frame& clean, double sigma, std::uint64_t seed);

/// How frames of the same format differ in their color planes, in 8-bit code values.
struct Agreement {
  std::size_t samples = 0;
  std::size_t over_one = 0;  ///< samples that differ by more than one code value
  double greatest = 0;       ///< the greatest difference
  double psnr = 0;           ///< dB between the two, infinite if they are equal
};
Agreement compare(const Frame& a, const Frame& b);
/// The same of all samples of two clips, which have as many frames.
Agreement compare(std::span<const Frame> a, std::span<const Frame> b);

/// Whether two engines may differ so much: by more than one code value in a sample of 10000 (in four, of a
/// small picture: one patch that is found or not, by a rounding, shows in a few), nowhere by more than four,
/// and 60 dB.
bool within_contract(const Agreement& agreement);
std::string to_string(const Agreement& agreement);

/// Whether every plane, alpha included, has the same bits in both.
bool same_bits(const Frame& a, const Frame& b);

}  // namespace limpid::oracle
