// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/frame/frame.h"

namespace limpid {

/// The film grain parameters of an AV1 frame (AV1 specification, sections 5.9.30 and 6.8.20). A decoder makes
/// a template of noise for each plane: Gaussian noise, filtered by an autoregressive filter. It adds random
/// blocks of the template, multiplied by a function of the brightness.
struct FilmGrain {
  static constexpr int kMaxLag = 3;
  static constexpr int kCoefficients = 2 * kMaxLag * (kMaxLag + 1) + 1;
  static constexpr int kMostScaling = 255;
  static constexpr int kLeastScalingShift = 8;
  static constexpr int kMostScalingShift = 11;
  /// Maximum number of scaling points of Y, Cb and Cr.
  static constexpr std::array<std::size_t, 3> kMaxPoints{14, 10, 10};

  /// A point of a piecewise linear scaling function.
  struct Point {
    int value = 0;    ///< brightness, or the index of a ChromaIndex, in 8-bit code values
    int scaling = 0;  ///< factor of the grain, 0 to 255, in units of 2^-scaling_shift
    bool operator==(const Point&) const = default;
  };

  /// The index of a chroma plane's scaling function: (luma - 128) * luma sample + (chroma - 128) * chroma
  /// sample, divided by 64, plus offset - 256. The default is the luma sample.
  struct ChromaIndex {
    int chroma = 128;  ///< cb_mult, 0 to 255
    int luma = 192;    ///< cb_luma_mult, 0 to 255
    int offset = 256;  ///< cb_offset, 0 to 511
    bool operator==(const ChromaIndex&) const = default;
  };

  int seed = 0;  ///< of the random numbers, 0 to 65535
  /// Scaling functions of Y, Cb and Cr, with increasing values. A plane without points has no grain.
  std::array<std::vector<Point>, 3> points;
  bool chroma_from_luma = false;  ///< chroma has the scaling function of luma
  int scaling_shift = 11;         ///< 8 to 11
  int lag = 0;                    ///< reach of the autoregressive filter, 0 to 3
  /// Coefficients of Y, Cb and Cr, -128 to 127, in units of 2^-coefficient_shift: those of the rows above
  /// from left to right, then those to the left. For Cb and Cr, the coefficient of the luma grain follows.
  std::array<std::array<int, kCoefficients>, 3> coefficients{};
  int coefficient_shift = 7;  ///< 6 to 9
  int grain_shift = 0;        ///< 0 to 3: bits by which the Gaussian noise is reduced
  std::array<ChromaIndex, 2> chroma_index;
  bool overlap = true;            ///< blocks are blended where they meet
  bool clips_to_limited = false;  ///< results are clipped to the limited range

  bool operator==(const FilmGrain&) const = default;

  /// The number of coefficients of the neighbors in a plane.
  int neighbors() const { return 2 * lag * (lag + 1); }
  /// True if the plane has a scaling function.
  bool has_grain(int plane) const {
    return !points[plane].empty() || (plane > 0 && chroma_from_luma && !points[0].empty());
  }
  /// Throws Error, with a sentence that begins with `name`, if a parameter is out of its range.
  void validate(const std::string& name) const;
};

/// True for formats that AV1 has and that film grain can be added to: gray and YUV of 8, 10 or 12 bits, with
/// chroma of full or half width and height.
bool can_have_film_grain(const FrameFormat& format);

/// The grain as a stream of this format can store it: gray has no chroma, and 4:2:0 has grain of both chroma
/// planes and of luma, or none of chroma. Planes without grain have a scaling function of 0 if others require
/// one.
FilmGrain for_format(FilmGrain grain, const FrameFormat& format);

/// Grain of `strength` times the deviation, as far as the scaling functions can express it.
FilmGrain scaled(FilmGrain grain, double strength);

/// The scaling function for 8-bit code values; all 0 without points.
std::array<std::uint8_t, 256> scaling_function(const std::vector<FilmGrain::Point>& points);

/// The film grain of a part of a video.
struct FilmGrainEntry {
  std::int64_t start = 0;  ///< in units of 100 ns, from the first frame on
  std::int64_t end = 0;    ///< time of the first frame behind the part
  bool is_applied = true;  ///< false: the part has no grain
  FilmGrain grain;
  bool operator==(const FilmGrainEntry&) const = default;
};

using FilmGrainTable = std::vector<FilmGrainEntry>;

/// Units of a table's times per second.
inline constexpr std::int64_t kGrainTicksPerSecond = 10'000'000;

/// The table in the text form of libaom, "filmgrn1", which encoders of AV1 read.
std::string to_text(const FilmGrainTable& table);

/// Reads the text form. Throws Error, with a sentence that begins with `name` and the line, unless the table
/// has an entry, times that do not overlap and parameters in their ranges.
FilmGrainTable parse_film_grain_table(const std::string& text, const std::string& name);

/// The table for a video that begins at `start`.
FilmGrainTable rebased(const FilmGrainTable& table, std::int64_t start);

/// scaled() for all entries.
FilmGrainTable scaled(FilmGrainTable table, double strength);

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
