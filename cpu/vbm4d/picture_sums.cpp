// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/picture_sums.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/vbm4d/trajectories.h"
#include "cpu/runtime/aligned_vector.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vbm4d/picture_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/bm3d/estimate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Moves values to the sums as long as no sum overflows. Returns the index of the first kAlignment values with
// an overflow, or `count`.
HWY_ATTR int take_while_it_fits(float* HWY_RESTRICT values, float scale, std::int32_t* HWY_RESTRICT sums,
                                int first, int count) {
  const hn::CappedTag<float, PictureSums::kAlignment> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const auto unit = hn::Set(d, scale);
  const auto most = hn::Set(d, 0x1p30F);
  for (int i = first; i < count; i += static_cast<int>(hn::Lanes(d))) {
    const auto value = hn::Load(d, values + i);
    // Few samples in a tile's reach have values.
    if (hn::AllTrue(d, hn::Eq(value, hn::Zero(d)))) {
      continue;
    }
    const auto scaled = hn::Mul(value, unit);
    const auto units = hn::NearestInt(scaled);
    const auto before = hn::LoadU(d32, sums + i);
    const auto sum = hn::Add(before, units);
    // An overflow gives a sum whose sign differs from both addends' signs.
    const auto overflow = hn::And(hn::Xor(sum, before), hn::Xor(sum, units));
    if (!hn::AllFalse(d32, hn::Or(hn::Lt(overflow, hn::Zero(d32)),
                                  hn::RebindMask(d32, hn::Gt(hn::Abs(scaled), most))))) {
      return i / PictureSums::kAlignment * PictureSums::kAlignment;
    }
    hn::StoreU(sum, d32, sums + i);
    hn::Store(hn::Zero(d), d, values + i);
  }
  return count;
}

HWY_ATTR void estimate_of_lower_bits(const StepTables& tables, const std::int32_t* numerator,
                                     const std::int32_t* const* weights, int width, float* out) {
  estimate_row_of(tables, numerator, weights, width, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(take_while_it_fits);
HWY_EXPORT(estimate_of_lower_bits);

int PictureSums::numerator_bits(int spacing, int frames) {
  const int across = (vbm4d::kPatch + spacing - 1) / spacing;
  const auto greatest = static_cast<unsigned>(across * across * frames) * static_cast<unsigned>(kSumsOffset);
  return 29 - static_cast<int>(std::bit_width(greatest));
}

float PictureSums::numerator_unit(int spacing, int frames) {
  return std::ldexp(1.0F, kWeightBits - numerator_bits(spacing, frames));
}

void PictureSums::resize(int width, int height) {
  width_ = width;
  pitch_ = aligned(width);
  const std::size_t size = static_cast<std::size_t>(pitch_) * height;
  numerators_.resize(size);
  weights_.resize(size);
  upper_.clear();
  upper_at_ = std::vector<std::atomic<UpperBits*>>((size + UpperBits::kSamples - 1) / UpperBits::kSamples);
}

void PictureSums::clear_row(int y) {
  const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(y) * pitch_;
  const auto end = static_cast<std::size_t>(begin + pitch_);
  if (has_upper(begin, end - 1)) {
    for (std::size_t i = begin; i < end; ++i) {
      if (UpperBits* const upper = upper_at_[i / UpperBits::kSamples].load(std::memory_order_relaxed)) {
        upper->numerators[i % UpperBits::kSamples] = 0;
        upper->weights[i % UpperBits::kSamples] = 0;
      }
    }
  }
  std::fill_n(numerators_.begin() + begin, pitch_, 0);
  std::fill_n(weights_.begin() + begin, pitch_, 0);
}

void PictureSums::take_numerators(int x, int y, float* values, float scale, int count) {
  const std::size_t begin = static_cast<std::size_t>(y) * pitch_ + x;
  for (int i = 0; i < count;) {
    i = HWY_DYNAMIC_DISPATCH(take_while_it_fits)(values, scale, numerators_.data() + begin, i, count);
    for (const int end = std::min(i + kAlignment, count); i < end; ++i) {
      add_numerator(begin + i, std::llrint(std::exchange(values[i], 0.0F) * scale));
    }
  }
}

void PictureSums::add_numerator(std::size_t i, std::int64_t units) {
  constexpr std::int64_t kUnit = std::int64_t{1} << 32;
  const std::int64_t sum = numerators_[i] + units;
  numerators_[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
  const std::int64_t above = (sum - numerators_[i]) / kUnit;
  if (above != 0) {
    upper_of(i).numerators[i % UpperBits::kSamples] += static_cast<std::int32_t>(above);
  }
}

void PictureSums::add_weights(std::span<const PatchWeight> patches) {
  const std::scoped_lock lock(weights_mutex_);
  for (const auto& [x, y, units] : patches) {
    const std::size_t i = static_cast<std::size_t>(y) * pitch_ + x;
    const std::uint32_t sum = static_cast<std::uint32_t>(weights_[i]) + units;
    weights_[i] = static_cast<std::int32_t>(sum & INT32_MAX);
    if (sum > INT32_MAX) {
      ++upper_of(i).weights[i % UpperBits::kSamples];
    }
  }
}

PictureSums::UpperBits& PictureSums::upper_of(std::size_t i) {
  std::atomic<UpperBits*>& made = upper_at_[i / UpperBits::kSamples];
  if (UpperBits* const upper = made.load(std::memory_order_acquire)) {
    return *upper;
  }
  const std::scoped_lock lock(mutex_);
  if (made.load(std::memory_order_relaxed) == nullptr) {
    made.store(&upper_.emplace_back(), std::memory_order_release);
  }
  return *made.load(std::memory_order_relaxed);
}

bool PictureSums::has_upper(std::size_t first, std::size_t last) const {
  return std::any_of(upper_at_.begin() + static_cast<std::ptrdiff_t>(first / UpperBits::kSamples),
                     upper_at_.begin() + static_cast<std::ptrdiff_t>(last / UpperBits::kSamples) + 1,
                     [](const auto& upper) { return upper.load(std::memory_order_relaxed) != nullptr; });
}

std::int64_t PictureSums::numerator(std::size_t i) const {
  const UpperBits* const upper = upper_at_[i / UpperBits::kSamples].load(std::memory_order_relaxed);
  const std::int64_t above = upper == nullptr ? 0 : upper->numerators[i % UpperBits::kSamples];
  return numerators_[i] + above * (std::int64_t{1} << 32);
}

std::int64_t PictureSums::weight(std::size_t i) const {
  const UpperBits* const upper = upper_at_[i / UpperBits::kSamples].load(std::memory_order_relaxed);
  const std::int64_t above = upper == nullptr ? 0 : upper->weights[i % UpperBits::kSamples];
  return weights_[i] + above * (std::int64_t{1} << 31);
}

void PictureSums::estimate_row(const StepTables& tables, int y, float* out) const {
  const auto begin_of = [&](int row) { return static_cast<std::size_t>(row) * pitch_; };
  const int first = y - vbm4d::kPatch + 1;
  if (!has_upper(begin_of(std::max(first, 0)), begin_of(y) + width_ - 1)) {
    std::array<const std::int32_t*, vbm4d::kPatch> weights{};
    for (int i = std::max(-first, 0); i < vbm4d::kPatch; ++i) {
      weights[i] = weights_.data() + begin_of(first + i);
    }
    return HWY_DYNAMIC_DISPATCH(estimate_of_lower_bits)(tables, numerators_.data() + begin_of(y),
                                                        weights.data(), width_, out);
  }
  std::vector<std::int64_t> whole(static_cast<std::size_t>(vbm4d::kPatch + 1) * pitch_);
  std::array<const std::int64_t*, vbm4d::kPatch> weights{};
  for (int i = std::max(-first, 0); i < vbm4d::kPatch; ++i) {
    std::int64_t* const row = whole.data() + begin_of(i);
    for (int x = 0; x < width_; ++x) {
      row[x] = weight(begin_of(first + i) + x);
    }
    weights[i] = row;
  }
  std::int64_t* const numerators = whole.data() + begin_of(vbm4d::kPatch);
  for (int x = 0; x < width_; ++x) {
    numerators[x] = numerator(begin_of(y) + x);
  }
  cpu::estimate_row(tables, numerators, weights.data(), width_, out);
}

}  // namespace limpid::cpu
#endif
