// SPDX-License-Identifier: MIT
#include "core/grain/grain_synthesizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/grain/grain_template.h"

namespace limpid {
namespace {

constexpr int kBlockSide = 32;   // of luma samples
constexpr int kOverlap = 2;      // of luma samples, beyond a block
constexpr int kWeightShift = 5;  // of blending

/// The `i`-th sample of the overlap: of `before`, which ends there, and of `behind`.
int blended(int before, int behind, int i, bool half, const GrainRange& range) {
  constexpr std::array<std::pair<int, int>, 2> kFull{{{27, 17}, {17, 27}}};
  constexpr std::pair<int, int> kHalf{23, 22};
  const auto [of_before, of_behind] = half ? kHalf : kFull[i];
  return range.clip(round_shift(before * of_before + behind * of_behind, kWeightShift));
}

/// The grain of a plane: rows of blocks of the template, which overlap.
class GrainPlane {
 public:
  GrainPlane(const FilmGrain& parameters, GrainTemplate source, int bit_depth, int width)
      : parameters_(parameters),
        template_(std::move(source)),
        range_(bit_depth),
        width_(width),
        rows_((kBlockSide + kOverlap) >> (template_.half_height ? 1 : 0)) {
    for (std::vector<int>& stripe : stripes_) {
      stripe.resize(static_cast<std::size_t>(rows_) * width_);
    }
  }

  /// The grain of a row. Rows must be requested from 0 on, in their order.
  void row(int y, std::vector<int>& grain) {
    const int side = kBlockSide >> (template_.half_height ? 1 : 0);
    const int overlap = rows_ - side;
    const int i = y % side;
    if (i == 0) {
      std::swap(stripes_[0], stripes_[1]);
      fill(y / side, stripes_[1]);
    }
    const int* const own = &stripes_[1][static_cast<std::size_t>(i) * width_];
    std::copy_n(own, width_, grain.begin());
    if (parameters_.overlap && y >= side && i < overlap) {
      const int* const before = &stripes_[0][static_cast<std::size_t>(side + i) * width_];
      for (int x = 0; x < width_; ++x) {
        grain[x] = blended(before[x], own[x], i, template_.half_height, range_);
      }
    }
  }

 private:
  void fill(int number, std::vector<int>& stripe) const {
    const int seed = parameters_.seed ^ (((number * 37 + 178) & 255) << 8) ^ ((number * 173 + 105) & 255);
    GrainRandom random(seed);
    const int side = kBlockSide >> (template_.half_width ? 1 : 0);
    for (int left = 0; left < width_; left += side) {
      constexpr int kOffsetBits = 8;
      const int offsets = random.next(kOffsetBits);
      place_block(offsets >> 4, offsets & 15, left, stripe);
    }
  }

  void place_block(int offset_x, int offset_y, int left, std::vector<int>& stripe) const {
    const int from_x = template_.first_column() + (template_.half_width ? offset_x : 2 * offset_x);
    const int from_y = template_.first_row() + (template_.half_height ? offset_y : 2 * offset_y);
    const int overlap = kOverlap >> (template_.half_width ? 1 : 0);
    const int columns = std::min((kBlockSide + kOverlap) >> (template_.half_width ? 1 : 0), width_ - left);
    for (int y = 0; y < rows_; ++y) {
      int* const to = &stripe[static_cast<std::size_t>(y) * width_ + left];
      for (int x = 0; x < columns; ++x) {
        const int grain = template_.at(from_y + y, from_x + x);
        const bool is_blended = parameters_.overlap && left > 0 && x < overlap;
        to[x] = is_blended ? blended(to[x], grain, x, template_.half_width, range_) : grain;
      }
    }
  }

  const FilmGrain& parameters_;
  GrainTemplate template_;
  GrainRange range_;
  int width_;
  int rows_;
  std::array<std::vector<int>, 2> stripes_;  ///< the one before, and the last one
};

/// A scaling function for samples of any depth.
class Scaling {
 public:
  Scaling(const std::vector<FilmGrain::Point>& points, int bit_depth)
      : function_(scaling_function(points)), shift_(bit_depth - 8) {}

  int at(int sample) const {
    const int x = sample >> shift_;
    if (shift_ == 0 || x == 255) {
      return function_[x];
    }
    const int rest = sample - (x << shift_);
    return function_[x] + round_shift((function_[x + 1] - function_[x]) * rest, shift_);
  }

 private:
  std::array<std::uint8_t, 256> function_;
  int shift_;
};

struct SampleLimits {
  int least;
  int most;
  SampleLimits(const FilmGrain& grain, int bit_depth, bool luma) {
    const int unit = 1 << (bit_depth - 8);
    least = grain.clips_to_limited ? 16 * unit : 0;
    most = grain.clips_to_limited ? (luma ? 235 : 240) * unit : 256 * unit - 1;
  }
};

template <typename Sample>
class Synthesis {
 public:
  Synthesis(const FilmGrain& grain, const Frame& from, const Frame& to)
      : grain_(grain), from_(from), to_(to) {}

  void run() {
    const GrainTemplate luma = luma_template(grain_, from_.format);
    for (int plane = 0; plane < from_.format.color_plane_count(); ++plane) {
      if (grain_.has_grain(plane)) {
        add(plane, plane == 0 ? luma : chroma_template(grain_, from_.format, plane, luma));
      }
    }
  }

 private:
  void add(int plane, const GrainTemplate& source) {
    const int depth = from_.format.bit_depth;
    const Plane& samples = from_.planes[plane];
    const bool is_scaled_as_luma = plane == 0 || grain_.chroma_from_luma;
    const Scaling scaling(grain_.points[is_scaled_as_luma ? 0 : plane], depth);
    const SampleLimits limits(grain_, depth, plane == 0);
    GrainPlane grain(grain_, source, depth, samples.width);
    std::vector<int> row(samples.width);
    std::vector<int> index(samples.width);
    for (int y = 0; y < samples.height; ++y) {
      grain.row(y, row);
      find_index(plane, y, index);
      const Sample* const in = samples.row<Sample>(y);
      Sample* const out = to_.planes[plane].template row<Sample>(y);
      for (int x = 0; x < samples.width; ++x) {
        const int noise = round_shift(scaling.at(index[x]) * row[x], grain_.scaling_shift);
        out[x] = static_cast<Sample>(std::clamp(in[x] + noise, limits.least, limits.most));
      }
    }
  }

  /// The samples that the scaling function is applied to.
  void find_index(int plane, int y, std::vector<int>& index) const {
    const Sample* const own = from_.planes[plane].row<Sample>(y);
    if (plane == 0) {
      std::copy_n(own, index.size(), index.begin());
      return;
    }
    const FrameFormat& format = from_.format;
    const Plane& luma = from_.planes[0];
    const Sample* const above = luma.row<Sample>(y << format.chroma_shift_y);
    const FilmGrain::ChromaIndex& factors = grain_.chroma_index[plane - 1];
    const int most = (256 << (format.bit_depth - 8)) - 1;
    const int offset = (factors.offset - 256) * (1 << (format.bit_depth - 8));
    for (std::size_t x = 0; x < index.size(); ++x) {
      const int left = static_cast<int>(x) << format.chroma_shift_x;
      const int right = std::min(left + 1, luma.width - 1);
      const int mean =
          format.chroma_shift_x > 0 ? round_shift(above[left] + above[right], 1) : int{above[left]};
      const int sum = mean * (factors.luma - 128) + own[x] * (factors.chroma - 128);
      index[x] = grain_.chroma_from_luma ? mean : std::clamp((sum >> 6) + offset, 0, most);
    }
  }

  const FilmGrain& grain_;
  const Frame& from_;
  const Frame& to_;
};

}  // namespace

Frame with_film_grain(const FilmGrain& grain, const Frame& frame) {
  Frame result = allocate_frame(frame.format);
  describe_alike(frame, result);
  copy_samples(frame, result);
  if (frame.format.sample_type == SampleType::kUint8) {
    Synthesis<std::uint8_t>(grain, frame, result).run();
  } else {
    Synthesis<std::uint16_t>(grain, frame, result).run();
  }
  return result;
}

}  // namespace limpid
