#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "cpu/bm3d/tile.h"

namespace limpid::cpu {

/// Numerators and weights of one plane of a picture, as AggregationSums, but in less memory, as many pictures
/// have them at a time: of a numerator 32 bits are kept and of a weight 24. What a sum has above them is kept
/// apart, in memory that is there only if a sum needs it, which is rare. So there is no limit to how many
/// groups meet in a sample. Sums are integers and do not depend on the order of additions.
class PictureSums {
 public:
  /// Fractional bits of weights. Groups' weights are multiples of that unit (weight_units()), also where
  /// numerators are made of them: rounding them changes only, and by little, how much groups count.
  static constexpr int kWeightBits = 16;
  /// What numerators of pictures in which all is at rest leave of 31 bits, less two for what is not.
  static int numerator_bits(int spacing, int frames);
  /// A numerator's unit, in units of the weights.
  static float numerator_unit(int spacing, int frames);

  /// At least 1 for a weight over 0; at most 1 is allowed.
  static unsigned weight_units(float weight) {
    const auto units = static_cast<unsigned>(std::lround(weight * (1 << kWeightBits)));
    return units > 0 ? units : 1;
  }

  /// Rows begin at multiples of so many samples, and end at such: what lies behind a plane's width may be
  /// added to, and is of no use.
  static constexpr int kAlignment = 16;
  static constexpr int aligned(int columns) { return (columns + kAlignment - 1) / kAlignment * kAlignment; }

  /// Memory for width * height samples, whose values are whatever they were until clear_row().
  void resize(int width, int height);
  /// Thread-safe for different rows.
  void clear_row(int y);

  /// Adds values * scale, rounded to integers, to the numerators from sample (x, y) on, and sets the values
  /// to 0. `x` and `count` are multiples of kAlignment, `values` begins on a 64-byte boundary. |values *
  /// scale| < 2^62. Thread-safe for different samples.
  void take_numerators(int x, int y, float* values, float scale, int count);
  /// Adds to the weight at (x, y). Thread-safe. At most 2^kWeightBits units.
  void add_weight(int x, int y, unsigned units);

  /// As cpu::estimate_row(), for row y.
  void estimate_row(const StepTables& tables, int y, float* out) const;

 private:
  // What is above the bits that are always kept, of so many samples.
  struct UpperBits {
    static constexpr std::size_t kSamples = 4096;
    std::array<std::int32_t, kSamples> numerators{};
    std::array<std::uint32_t, kSamples> weights{};
  };

  UpperBits& upper_of(std::size_t i);                         // where sample i has place i % kSamples
  bool has_upper(std::size_t first, std::size_t last) const;  // of samples first to last
  void add_numerator(std::size_t i, std::int64_t units);
  std::int64_t numerator(std::size_t i) const;
  std::int64_t weight(std::size_t i) const;

  int width_ = 0;
  int pitch_ = 0;
  PlaneBuffer<std::int32_t> numerators_;
  PlaneBuffer<std::uint16_t> weights_;  // their lower 16 bits
  PlaneBuffer<std::uint8_t> weights_above_;
  std::mutex mutex_;  // of upper_
  std::deque<UpperBits> upper_;
  std::vector<std::atomic<UpperBits*>> upper_at_;  // of each kSamples samples; null if there are none
};

}  // namespace limpid::cpu
