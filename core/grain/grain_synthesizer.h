// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/frame/frame.h"
#include "core/grain/film_grain.h"

namespace limpid {

/// Gaussian_Sequence of the AV1 specification, section 7.18.3.2: random numbers of 12 bits with a standard
/// deviation of 512. Every decoder has the same ones.
extern const std::array<std::int16_t, 2048> kGaussianSequence;

/// The random register of the AV1 specification, section 7.18.3.2.
class GrainRandom {
 public:
  explicit GrainRandom(int seed) : state_(static_cast<unsigned>(seed)) {}
  int next(int bits) {
    const unsigned bit = (state_ ^ (state_ >> 1) ^ (state_ >> 3) ^ (state_ >> 12)) & 1;
    state_ = (state_ >> 1) | (bit << 15);
    return static_cast<int>((state_ >> (16 - bits)) & ((1U << bits) - 1));
  }

 private:
  unsigned state_;
};

/// The range of grain of a bit depth.
struct GrainRange {
  int least;
  int most;
  explicit GrainRange(int bit_depth) : least(-(128 << (bit_depth - 8))), most(-least - 1) {}
  int clip(int grain) const { return grain < least ? least : grain > most ? most : grain; }
};

/// `x` / 2^n, rounded as in the AV1 specification.
constexpr int round_shift(int x, int n) { return n == 0 ? x : (x + (1 << (n - 1))) >> n; }

/// The noise that a plane's grain is taken from (AV1 specification, section 7.18.3.3).
struct GrainTemplate {
  int width = 0;
  int height = 0;
  bool half_width = false;  ///< of chroma that has half the width of luma
  bool half_height = false;
  std::vector<int> grain;  ///< row by row

  int at(int y, int x) const { return grain[static_cast<std::size_t>(y) * width + x]; }
  /// The part that blocks are taken from.
  int first_column() const { return half_width ? 6 : 9; }
  int first_row() const { return half_height ? 6 : 9; }
  int columns() const { return half_width ? 32 : 64; }
  int rows() const { return half_height ? 32 : 64; }
};

/// The template of luma in frames of this format.
GrainTemplate luma_template(const FilmGrain& parameters, const FrameFormat& format);
/// The template of U or V (`plane` 1 or 2). `luma`: luma_template().
GrainTemplate chroma_template(const FilmGrain& parameters, const FrameFormat& format, int plane,
                              const GrainTemplate& luma);

/// Adds film grain to the samples of `frame`, as an AV1 decoder does (AV1 specification, section 7.18.3.5),
/// bit-exact with dav1d. Returns a new frame in host memory. `frame` must be in host memory and have a format
/// of can_have_film_grain().
Frame with_film_grain(const FilmGrain& grain, const Frame& frame);

}  // namespace limpid
