// SPDX-License-Identifier: MIT
#include "cpu/recursive/recursive_kernels.h"

#include "cpu/runtime/denormals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recursive/recursive_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/recursive/fraction-inl.h"
#include "cpu/recursive/patch_merge-inl.h"
#include "cpu/recursive/warp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

HWY_ATTR void divide_sums(const float* HWY_RESTRICT sums, const float* HWY_RESTRICT weights, int count,
                          float* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = sums[i] / weights[i];
  }
}

HWY_ATTR void multiply_sums(const float* HWY_RESTRICT sums, const float* HWY_RESTRICT columns, float row,
                            int count, float* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = sums[i] * columns[i] * row;
  }
}

HWY_ATTR float sum_of_squared_differences(const float* a, std::ptrdiff_t a_pitch, const float* b,
                                          std::ptrdiff_t b_pitch, int width, int height) {
  float sum = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float difference = a[y * a_pitch + x] - b[y * b_pitch + x];
      sum += difference * difference;
    }
  }
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(fraction_in_windows);
HWY_EXPORT(warp_one_block);
HWY_EXPORT(merge_patch_row);
HWY_EXPORT(divide_sums);
HWY_EXPORT(multiply_sums);
HWY_EXPORT(sum_of_squared_differences);

recursive::EighthVector find_fraction(const GuideWindows& windows, int least_gain) {
  return HWY_DYNAMIC_DISPATCH(fraction_in_windows)(windows, least_gain);
}

void warp_block(const PaddedPlane& from, const recursive::EighthVector& vector, int x, int y, int rows,
                PaddedPlane& out) {
  HWY_DYNAMIC_DISPATCH(warp_one_block)(from, vector, x, y, rows, out);
}

void filter_patch_row(const PatchStep& step, const PatchRow& row, const PatchSums& sums) {
  const DenormalsAreZero zero;
  HWY_DYNAMIC_DISPATCH(merge_patch_row)(step, row, sums);
}

void divide_row(const float* sums, const float* weights, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(divide_sums)(sums, weights, count, out);
}

void multiply_row(const float* sums, const float* columns, float row, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_sums)(sums, columns, row, count, out);
}

float squared_difference(const float* a, std::ptrdiff_t a_pitch, const float* b, std::ptrdiff_t b_pitch,
                         int width, int height) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squared_differences)(a, a_pitch, b, b_pitch, width, height);
}

}  // namespace limpid::cpu
#endif
