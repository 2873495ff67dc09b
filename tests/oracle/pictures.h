// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/frame/frame.h"

namespace limpid::oracle {

/// A format by its parts, for short test code.
FrameFormat gray(int width, int height, int bit_depth = 8);
FrameFormat yuv(int width, int height, int chroma_shift_x, int chroma_shift_y, int bit_depth = 8);
FrameFormat rgb(int width, int height, int bit_depth = 8);
/// The format with float samples.
FrameFormat as_float(FrameFormat format);
FrameFormat as_half(FrameFormat format);

/// A picture with straight and curved edges, a smooth gradient and a repeating texture in every plane. Frames
/// of other depths or subsamplings show the same picture.
Frame draw_picture(const FrameFormat& format);

/// The picture with white Gaussian noise of deviation `sigma` in 8-bit code values in its color planes;
/// clamped if the samples are integers. The same seed gives the same noise.
Frame add_noise(const Frame& clean, double sigma, std::uint64_t seed);

/// Draws hot pixels into the first plane of 8-bit frames, and a speck of dust into every fifth.
std::vector<Frame> with_defects(std::vector<Frame> frames);

/// Differences between the color planes of two frames of one format, in 8-bit code values.
struct Agreement {
  std::size_t samples = 0;
  std::size_t over_one = 0;  ///< samples that differ by more than one code value
  double greatest = 0;       ///< the greatest difference
  double psnr = 0;           ///< dB between the two, infinite if they are equal
};
Agreement compare(const Frame& a, const Frame& b);
/// Agreement over all samples of two clips with equal numbers of frames.
Agreement compare(std::span<const Frame> a, std::span<const Frame> b);

/// True if two engines may differ by this: by more than one code value in at most one sample of 10000 (four,
/// in small pictures: a patch that depends on rounding affects several), by at most four anywhere, and at
/// least 60 dB.
bool within_contract(const Agreement& agreement);
std::string to_string(const Agreement& agreement);

/// True if every plane, alpha included, is bit-exact.
bool same_bits(const Frame& a, const Frame& b);

}  // namespace limpid::oracle
