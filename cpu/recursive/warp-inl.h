// SPDX-License-Identifier: MIT
// Interpolation of the state along motion. Compiled once for each SIMD target.
#if defined(LIMPID_CPU_WARP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_WARP_INL_H_
#undef LIMPID_CPU_WARP_INL_H_
#else
#define LIMPID_CPU_WARP_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>

#include "cpu/recursive/recursive_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using WarpTag = hn::CappedTag<float, 8>;
using WarpValues = hn::Vec<WarpTag>;
constexpr int kWarpLanes = static_cast<int>(hn::MaxLanes(WarpTag()));
constexpr int kWarpSide = 8;

// The weighted sum of eight vectors, `spacing` floats apart.
HWY_INLINE WarpValues weighted_sum(const float* from, std::ptrdiff_t spacing, const float* weights) {
  const WarpTag d;
  WarpValues sum = hn::Mul(hn::LoadU(d, from), hn::Set(d, weights[0]));
  for (int tap = 1; tap < recursive::kTaps; ++tap) {
    sum = hn::MulAdd(hn::LoadU(d, from + tap * spacing), hn::Set(d, weights[tap]), sum);
  }
  return sum;
}

HWY_ATTR inline void warp_one_block(const PaddedPlane& from, const recursive::EighthVector& vector, int x,
                                    int y, int rows, PaddedPlane& out) {
  static const auto weights = recursive::interpolation_weights();
  const WarpTag d;
  const int rest_x = vector.x & (recursive::kEighths - 1);
  const int rest_y = vector.y & (recursive::kEighths - 1);
  const int top = y + (vector.y >> 3) - (rest_y == 0 ? 0 : recursive::kTapsBefore);
  const int count = rows + (rest_y == 0 ? 0 : recursive::kTaps - 1);
  const float* source = from.row(top) + x + (vector.x >> 3);
  std::ptrdiff_t source_pitch = from.pitch();
  alignas(64) std::array<float, (kWarpSide + recursive::kTaps) * kWarpSide> lines;
  if (rest_x != 0) {
    for (int line = 0; line < count; ++line) {
      const float* first = source + line * source_pitch - recursive::kTapsBefore;
      for (int i = 0; i < kWarpSide; i += kWarpLanes) {
        hn::Store(weighted_sum(first + i, 1, weights[rest_x].data()), d, lines.data() + line * kWarpSide + i);
      }
    }
    source = lines.data();
    source_pitch = kWarpSide;
  }
  for (int line = 0; line < rows; ++line) {
    for (int i = 0; i < kWarpSide; i += kWarpLanes) {
      const float* first = source + line * source_pitch + i;
      hn::StoreU(
          rest_y == 0 ? hn::LoadU(d, first) : weighted_sum(first, source_pitch, weights[rest_y].data()), d,
          out.row(y + line) + x + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
