// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "cpu/bm3d/tile.h"

namespace limpid::cpu {

/// Numerators and weights of one plane of a picture, like AggregationSums, but with less memory, because many
/// pictures have them at the same time: they have 32 and 31 bits. Higher bits of a sum are stored separately,
/// in memory that is allocated only when a sum needs it, which is rare. The number of groups that overlap at
/// a sample is thus unlimited. Sums are integers and do not depend on the order of additions.
class PictureSums {
 public:
  /// Fractional bits of weights. Groups' weights are multiples of this unit (weight_units()), in numerators
  /// too. Rounding them only slightly changes the influence of groups.
  static constexpr int kWeightBits = 16;
  /// Bits of the numerators: of 31 bits, the number that sums of still content do not use, minus two for
  /// moving content.
  static int numerator_bits(int spacing, int frames);
  /// The unit of the numerators, in units of the weights.
  static float numerator_unit(int spacing, int frames);

  /// At least 1 for weights above 0. Weights are at most 1.
  static unsigned weight_units(float weight) {
    const auto units = static_cast<unsigned>(std::lround(weight * (1 << kWeightBits)));
    return units > 0 ? units : 1;
  }

  /// Rows begin and end at multiples of this many samples. Values after a plane's width may be added to and
  /// are ignored.
  static constexpr int kAlignment = 16;
  static constexpr int aligned(int columns) { return (columns + kAlignment - 1) / kAlignment * kAlignment; }

  /// Allocates memory for width * height samples, whose values are undefined until clear_row().
  void resize(int width, int height);
  /// Sets a row to zero. Thread-safe for different rows.
  void clear_row(int y);

  /// Adds values * scale, rounded to integers, to the numerators from sample (x, y) on, and sets the values
  /// to 0. `x` and `count` are multiples of kAlignment; `values` begins on a 64-byte boundary. |values *
  /// scale| < 2^62. Thread-safe for different samples.
  void take_numerators(int x, int y, float* values, float scale, int count);
  /// The weight of a patch at (x, y), at most 2^kWeightBits units.
  struct PatchWeight {
    int x = 0;
    int y = 0;
    unsigned units = 0;
  };
  /// Adds to the weights at the patches' positions. Thread-safe.
  void add_weights(std::span<const PatchWeight> patches);

  /// cpu::estimate_row() for row y.
  void estimate_row(const StepTables& tables, int y, float* out) const;

 private:
  // The bits of kSamples samples above those that are always stored.
  struct UpperBits {
    static constexpr std::size_t kSamples = 4096;
    std::array<std::int32_t, kSamples> numerators{};
    std::array<std::uint32_t, kSamples> weights{};
  };

  UpperBits& upper_of(std::size_t i);                         // sample i has the index i % kSamples
  bool has_upper(std::size_t first, std::size_t last) const;  // for samples first to last
  void add_numerator(std::size_t i, std::int64_t units);
  std::int64_t numerator(std::size_t i) const;
  std::int64_t weight(std::size_t i) const;

  int width_ = 0;
  int pitch_ = 0;
  PlaneBuffer<std::int32_t> numerators_;
  PlaneBuffer<std::int32_t> weights_;  // their lower 31 bits
  std::mutex weights_mutex_;           // guards the weights
  std::mutex mutex_;                   // guards upper_
  std::deque<UpperBits> upper_;
  std::vector<std::atomic<UpperBits*>> upper_at_;  // for each kSamples samples; null if all are 0
};

}  // namespace limpid::cpu
