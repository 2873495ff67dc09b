// SPDX-License-Identifier: MIT
#include "core/grain/film_grain.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/error.h"

namespace limpid {
namespace {

constexpr std::array<const char*, 3> kPlaneNames{"Y", "Cb", "Cr"};

void require(bool is_right, const std::string& name, const std::string& sentence) {
  if (!is_right) {
    throw Error(name + ": " + sentence);
  }
}

bool is_between(int value, int least, int most) { return value >= least && value <= most; }

void validate_points(const FilmGrain& grain, const std::string& name) {
  for (std::size_t plane = 0; plane < grain.points.size(); ++plane) {
    const std::vector<FilmGrain::Point>& points = grain.points[plane];
    const std::string of = std::string(" of ") + kPlaneNames[plane];
    require(points.size() <= FilmGrain::kMaxPoints[plane], name, "there are too many scaling points" + of);
    int before = -1;
    for (const FilmGrain::Point& point : points) {
      require(is_between(point.value, before + 1, 255), name,
              "the brightnesses of the scaling points" + of + " must increase, from 0 to 255");
      require(is_between(point.scaling, 0, FilmGrain::kMostScaling), name,
              "a scaling" + of + " is not in 0 to 255");
      before = point.value;
    }
  }
  require(!grain.chroma_from_luma || (grain.points[1].empty() && grain.points[2].empty()), name,
          "chroma that is scaled as luma must have no scaling points");
}

void validate_filter(const FilmGrain& grain, const std::string& name) {
  require(is_between(grain.lag, 0, FilmGrain::kMaxLag), name, "the lag is not in 0 to 3");
  require(is_between(grain.coefficient_shift, 6, 9), name, "the shift of coefficients is not in 6 to 9");
  require(is_between(grain.grain_shift, 0, 3), name, "the shift of the grain is not in 0 to 3");
  for (const auto& plane : grain.coefficients) {
    require(std::ranges::all_of(plane, [](int each) { return is_between(each, -128, 127); }), name,
            "a coefficient is not in -128 to 127");
  }
}

}  // namespace

void FilmGrain::validate(const std::string& name) const {
  require(is_between(seed, 0, 65535), name, "the seed is not in 0 to 65535");
  require(is_between(scaling_shift, FilmGrain::kLeastScalingShift, FilmGrain::kMostScalingShift), name,
          "the shift of scalings is not in 8 to 11");
  for (const ChromaIndex& index : chroma_index) {
    require(is_between(index.chroma, 0, 255) && is_between(index.luma, 0, 255), name,
            "a multiplier of chroma is not in 0 to 255");
    require(is_between(index.offset, 0, 511), name, "an offset of chroma is not in 0 to 511");
  }
  validate_points(*this, name);
  validate_filter(*this, name);
}

bool can_have_film_grain(const FrameFormat& format) {
  const bool has_depth = format.bit_depth == 8 || format.bit_depth == 10 || format.bit_depth == 12;
  return !format.is_float() && has_depth && format.color_model != ColorModel::kRgb &&
         format.chroma_shift_x <= 1 && format.chroma_shift_y <= 1;
}

FilmGrain for_format(FilmGrain grain, const FrameFormat& format) {
  if (format.color_model == ColorModel::kGray) {
    grain.points[1].clear();
    grain.points[2].clear();
    grain.chroma_from_luma = false;
  }
  const bool has_chroma = !grain.points[1].empty() || !grain.points[2].empty();
  if (has_chroma && format.chroma_shift_x > 0 && format.chroma_shift_y > 0) {
    for (std::vector<FilmGrain::Point>& points : grain.points) {
      if (points.empty()) {
        points = {{0, 0}};
      }
    }
  }
  return grain;
}

FilmGrain scaled(FilmGrain grain, double strength) {
  double most = 0;
  for (const std::vector<FilmGrain::Point>& points : grain.points) {
    for (const FilmGrain::Point& point : points) {
      most = std::max(most, point.scaling * strength);
    }
  }
  double factor = strength;
  while (most > FilmGrain::kMostScaling && grain.scaling_shift > FilmGrain::kLeastScalingShift) {
    most /= 2;
    factor /= 2;
    --grain.scaling_shift;
  }
  while (most > 0 && most * 2 <= FilmGrain::kMostScaling &&
         grain.scaling_shift < FilmGrain::kMostScalingShift) {
    most *= 2;
    factor *= 2;
    ++grain.scaling_shift;
  }
  for (std::vector<FilmGrain::Point>& points : grain.points) {
    for (FilmGrain::Point& point : points) {
      point.scaling =
          static_cast<int>(std::lround(std::min<double>(point.scaling * factor, FilmGrain::kMostScaling)));
    }
  }
  return grain;
}

std::array<std::uint8_t, 256> scaling_function(const std::vector<FilmGrain::Point>& points) {
  std::array<std::uint8_t, 256> function{};
  if (points.empty()) {
    return function;
  }
  std::fill_n(function.begin(), points.front().value, static_cast<std::uint8_t>(points.front().scaling));
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const int width = points[i + 1].value - points[i].value;
    const int delta = (points[i + 1].scaling - points[i].scaling) * ((65536 + width / 2) / width);
    for (int x = 0; x < width; ++x) {
      function[points[i].value + x] =
          static_cast<std::uint8_t>(points[i].scaling + ((x * delta + 32768) >> 16));
    }
  }
  std::fill(function.begin() + points.back().value, function.end(),
            static_cast<std::uint8_t>(points.back().scaling));
  return function;
}

}  // namespace limpid
