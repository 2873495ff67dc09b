// SPDX-License-Identifier: MIT
#include "core/grain/grain_template.h"

#include <array>
#include <cstddef>

#include "core/grain/gaussian_sequence.h"

namespace limpid {
namespace {

constexpr int kTemplateBorder = 3;
constexpr std::array<int, 3> kSeedMasks{0, 0xb524, 0x49d8};

GrainTemplate gaussian_template(const FilmGrain& parameters, const FrameFormat& format, int plane) {
  GrainTemplate result;
  result.half_width = plane > 0 && format.chroma_shift_x > 0;
  result.half_height = plane > 0 && format.chroma_shift_y > 0;
  result.width = result.half_width ? 44 : 82;
  result.height = result.half_height ? 38 : 73;
  result.grain.resize(static_cast<std::size_t>(result.width) * result.height);
  if (!parameters.has_grain(plane)) {
    return result;
  }
  constexpr int kGaussianDepth = 12;
  constexpr int kIndexBits = 11;
  const int shift = kGaussianDepth - format.bit_depth + parameters.grain_shift;
  GrainRandom random(parameters.seed ^ kSeedMasks[plane]);
  for (int& each : result.grain) {
    each = round_shift(kGaussianSequence[random.next(kIndexBits)], shift);
  }
  return result;
}

/// The sum over the neighbors of a sample.
int sum_of_neighbors(const FilmGrain& parameters, int plane, const int* at, int stride) {
  const int lag = parameters.lag;
  const int* coefficient = parameters.coefficients[plane].data();
  int sum = 0;
  for (int dy = -lag; dy < 0; ++dy) {
    for (int dx = -lag; dx <= lag; ++dx) {
      sum += *coefficient++ * at[dy * stride + dx];
    }
  }
  for (int dx = -lag; dx < 0; ++dx) {
    sum += *coefficient++ * at[dx];
  }
  return sum;
}

/// The mean of the luma grain that a sample of chroma covers.
int mean_of_luma(const GrainTemplate& luma, const GrainTemplate& chroma, int y, int x) {
  const int shift_x = chroma.half_width ? 1 : 0;
  const int shift_y = chroma.half_height ? 1 : 0;
  const int left = ((x - kTemplateBorder) << shift_x) + kTemplateBorder;
  const int top = ((y - kTemplateBorder) << shift_y) + kTemplateBorder;
  int sum = 0;
  for (int dy = 0; dy <= shift_y; ++dy) {
    for (int dx = 0; dx <= shift_x; ++dx) {
      sum += luma.at(top + dy, left + dx);
    }
  }
  return round_shift(sum, shift_x + shift_y);
}

/// Filters the template. `luma`: null for luma and for luma without grain.
void filter_template(const FilmGrain& parameters, int bit_depth, int plane, const GrainTemplate* luma,
                     GrainTemplate& result) {
  const GrainRange range(bit_depth);
  const int of_luma = parameters.coefficients[plane][parameters.neighbors()];
  for (int y = kTemplateBorder; y < result.height; ++y) {
    for (int x = kTemplateBorder; x < result.width - kTemplateBorder; ++x) {
      int& grain = result.grain[static_cast<std::size_t>(y) * result.width + x];
      int sum = sum_of_neighbors(parameters, plane, &grain, result.width);
      if (luma != nullptr) {
        sum += of_luma * mean_of_luma(*luma, result, y, x);
      }
      grain = range.clip(grain + round_shift(sum, parameters.coefficient_shift));
    }
  }
}

}  // namespace

GrainTemplate luma_template(const FilmGrain& parameters, const FrameFormat& format) {
  GrainTemplate result = gaussian_template(parameters, format, 0);
  filter_template(parameters, format.bit_depth, 0, nullptr, result);
  return result;
}

GrainTemplate chroma_template(const FilmGrain& parameters, const FrameFormat& format, int plane,
                              const GrainTemplate& luma) {
  GrainTemplate result = gaussian_template(parameters, format, plane);
  const bool has_luma = parameters.has_grain(0);
  filter_template(parameters, format.bit_depth, plane, has_luma ? &luma : nullptr, result);
  return result;
}

}  // namespace limpid
