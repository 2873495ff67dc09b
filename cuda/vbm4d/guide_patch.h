// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/vbm4d/trajectories.h"

// Patches of guides (TrajectoryGuide) in kernels, four bytes at a time.

namespace limpid::cuda {

using limpid::vbm4d::kPatch;

inline constexpr int kWords = 2;  // in a row of a patch

struct Place {
  int x;
  int y;
};

struct PatchWords {
  int of_row[kPatch][kWords];
};

// A row of a guide, from any byte of a word on.
struct GuideRow {
  const unsigned* words;
  unsigned shift;  // in bits

  __device__ __forceinline__ explicit GuideRow(const std::int8_t* at)
      : words(reinterpret_cast<const unsigned*>(at - (reinterpret_cast<std::uintptr_t>(at) & 3U))),
        shift((reinterpret_cast<std::uintptr_t>(at) & 3U) * 8) {}

  // Four bytes from sample 4 i on.
  __device__ __forceinline__ unsigned four(int i) const {
    return __funnelshift_r(__ldg(words + i), __ldg(words + i + 1), shift);
  }
};

__device__ __forceinline__ const std::int8_t* sample_of(const std::int8_t* guide, int pitch,
                                                        const Place& place) {
  return guide + static_cast<std::ptrdiff_t>(place.y) * pitch + place.x;
}

__device__ __forceinline__ void load_patch(const std::int8_t* at, int pitch, PatchWords& patch) {
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      patch.of_row[r][i] = static_cast<int>(row.four(i));
    }
  }
}

__device__ __forceinline__ int squares(const PatchWords& patch) {
  int sum = 0;
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    sum = __dp4a(patch.of_row[r][1], patch.of_row[r][1], __dp4a(patch.of_row[r][0], patch.of_row[r][0], sum));
  }
  return sum;
}

// Distance of the patch at `at` from a patch with these squares().
__device__ __forceinline__ int distance_of(const PatchWords& patch, int its_squares, const std::int8_t* at,
                                           int pitch) {
  int products = 0;
  int others = 0;
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int four = static_cast<int>(row.four(i));
      products = __dp4a(patch.of_row[r][i], four, products);
      others = __dp4a(four, four, others);
    }
  }
  return its_squares + others - 2 * products;
}

// Sample x of row r.
__device__ __forceinline__ int sample_of(const PatchWords& patch, int r, int x) {
  return static_cast<std::int8_t>(static_cast<unsigned>(patch.of_row[r][x / 4]) >> (8 * (x % 4)) & 0xFF);
}

// Computes the gradient of a patch along an axis (core/vbm4d/trajectories.h) and calls store(i, word) for
// each of its words, row by row.
template <bool kAlongRows, typename Store>
__device__ __forceinline__ void for_gradient(const PatchWords& patch, const Store& store) {
#pragma unroll
  for (int i = 0; i < kPatch * kWords; ++i) {
    unsigned word = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int r = i / kWords;
      const int x = i % kWords * 4 + j;
      const int along = kAlongRows ? x : r;
      const auto sample = [&](int at) {
        return kAlongRows ? sample_of(patch, r, at) : sample_of(patch, at, x);
      };
      const int gradient = along == 0 ? limpid::vbm4d::gradient_at_border(sample(0), sample(1))
                           : along == kPatch - 1
                               ? limpid::vbm4d::gradient_at_border(sample(along - 1), sample(along))
                               : limpid::vbm4d::gradient(sample(along - 1), sample(along + 1));
      word |= (static_cast<unsigned>(gradient) & 0xFFU) << (8 * j);
    }
    store(i, static_cast<int>(word));
  }
}

// A reference patch's gradient, stored with a stride of kStride words, and its products with the patch.
template <int kStride>
struct PatchGradient {
  static constexpr int kAxisWords = kPatch * kWords;

  const int* x = nullptr;  // along rows
  const int* y = nullptr;
  limpid::vbm4d::GradientProducts products;
  int own_x = 0;
  int own_y = 0;

  PatchGradient() = default;
  __device__ __forceinline__ PatchGradient(const PatchWords& patch, const int* words)
      : x(words), y(words + kAxisWords * kStride) {
#pragma unroll
    for (int i = 0; i < kAxisWords; ++i) {
      const int along_x = x[i * kStride];
      const int along_y = y[i * kStride];
      products.xx = __dp4a(along_x, along_x, products.xx);
      products.xy = __dp4a(along_x, along_y, products.xy);
      products.yy = __dp4a(along_y, along_y, products.yy);
      own_x = __dp4a(along_x, patch.of_row[i / kWords][i % kWords], own_x);
      own_y = __dp4a(along_y, patch.of_row[i / kWords][i % kWords], own_y);
    }
  }

  // The displacement of the reference patch from the patch at `at`.
  __device__ __forceinline__ limpid::vbm4d::QuarterVector beside(const std::int8_t* at, int pitch) const {
    int its_x = 0;
    int its_y = 0;
#pragma unroll
    for (int r = 0; r < kPatch; ++r) {
      const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const int four = static_cast<int>(row.four(i));
        its_x = __dp4a(x[(r * kWords + i) * kStride], four, its_x);
        its_y = __dp4a(y[(r * kWords + i) * kStride], four, its_y);
      }
    }
    return limpid::vbm4d::beside(products, own_x - its_x, own_y - its_y);
  }
};

// Distance of the patch at the given quarters right of and below `at` from a patch with these squares().
// Interpolated values are stored two per word, the first one in the low half. A sum of products of such words
// is correct in both halves, as making the sum positive undoes the carries of the low half.
__device__ __forceinline__ int distance_between_samples(const PatchWords& patch, int its_squares,
                                                        const std::int8_t* at, int pitch, int right,
                                                        int below) {
  using namespace limpid::vbm4d;
  constexpr int kPairs = kPatch / 2;
  constexpr int kHigh = 1 << 16;
  // Above the greatest magnitude of a value: twice the sum of the weights' magnitudes times a sample's.
  constexpr int kBias = 320;
  constexpr int kStart = (kBias << kWeightBits) + (1 << kWeightBits >> 1);
  const std::uint64_t packed = interpolation_weights(right);
  const int near = static_cast<int>(packed & 0xFFFFFFFF);
  const int far = static_cast<int>(packed >> 32);
  int weights[kTaps];
#pragma unroll
  for (int i = 0; i < kTaps; ++i) {
    weights[i] = interpolation_weight(below, i);
  }
  int rows[kTaps][kPairs];  // the last rows, interpolated
  int products = 0;         // sum over biased values
  int sum = 0;
  int own_sum = 0;
  int values_squares = 0;
  const std::int8_t* from = at - kTapsBefore * static_cast<std::ptrdiff_t>(pitch) - kTapsBefore;
#pragma unroll
  for (int r = 0; r < kPatch + kTaps - 1; ++r, from += pitch) {
    const GuideRow row(from);
    unsigned four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      four[i] = row.four(i);
    }
    const auto from_column = [&](int x) {
      return static_cast<int>(__funnelshift_r(four[x / 4], four[min(x / 4 + 1, 3)], 8 * (x % 4)));
    };
    const auto value = [&](int x) {
      return rounded(__dp4a(from_column(x), near, __dp4a(from_column(x + 4), far, 0)));
    };
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      rows[r % kTaps][i] = value(2 * i) + kHigh * value(2 * i + 1);
    }
    const int own = r - kTaps + 1;
    if (own >= 0) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        unsigned both = kStart * (kHigh + 1U);
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
          both += static_cast<unsigned>(weights[tap] * rows[(own + tap) % kTaps][i]);
        }
        both = both >> kWeightBits & 0x03FF03FFU;
        const int word = patch.of_row[own][i / 2];
        const auto two = static_cast<int>(both);
        products = i % 2 == 0 ? __dp2a_lo(two, word, products) : __dp2a_hi(two, word, products);
        sum = __dp2a_lo(two, 0x0101, sum);
        values_squares += static_cast<int>((both & 0xFFFFU) * (both & 0xFFFFU) + (both >> 16) * (both >> 16));
      }
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        own_sum = __dp4a(patch.of_row[own][i], 0x01010101, own_sum);
      }
    }
  }
  // |own - (value - bias)|^2
  return its_squares + values_squares - 2 * products + 2 * kBias * (own_sum - sum) +
         kPatch * kPatch * kBias * kBias;
}

// True if a patch repeats the other one including its noise. A patch of a single value has no noise.
__device__ __forceinline__ bool repeats(const std::int8_t* at, const std::int8_t* other, int pitch) {
  unsigned unlike = 0;  // its first sample
  const unsigned all = (static_cast<unsigned>(*at) & 0xFFU) * 0x01010101U;
#pragma unroll 1
  for (int r = 0; r < kPatch; ++r, at += pitch, other += pitch) {
    const GuideRow row(at);
    const GuideRow its(other);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned four = row.four(i);
      if (four != its.four(i)) {
        return false;
      }
      unlike |= four ^ all;
    }
  }
  return unlike != 0;
}

}  // namespace limpid::cuda
