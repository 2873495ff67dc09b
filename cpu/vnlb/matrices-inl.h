// SPDX-License-Identifier: MIT
// Products and inverses of small matrices. Compiled once per SIMD target.
#if defined(LIMPID_CPU_MATRICES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_MATRICES_INL_H_
#undef LIMPID_CPU_MATRICES_INL_H_
#else
#define LIMPID_CPU_MATRICES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Matrices are row-major. Rows have `pitch` values, a multiple of kMatrixAlignment, on 64-byte boundaries.
// Values after a matrix's last column, and rows up to a multiple of 4, are 0.
using MatrixTag = hn::CappedTag<float, 16>;
using MatrixVector = hn::Vec<MatrixTag>;
constexpr int kMatrixLanes = static_cast<int>(hn::MaxLanes(MatrixTag()));
constexpr int kMatrixAlignment = 16;
constexpr int kRowsAtATime = 4;
constexpr int kVectorsAtATime = 3;

constexpr int rows_of(int size) { return (size + kRowsAtATime - 1) / kRowsAtATime * kRowsAtATime; }

// The value of a product's left factor for a row of the product and a row of the right factor.
struct LeftFactor {
  const float* values = nullptr;
  std::ptrdiff_t along_rows = 0;
  std::ptrdiff_t along_sum = 0;
};

// Computes kRowsAtATime rows of a product, kVectors vectors of each, from `column` on.
template <int kVectors>
HWY_INLINE void multiply_block(const LeftFactor& left, const float* HWY_RESTRICT right, int count, int pitch,
                               int row, int column, float* HWY_RESTRICT out) {
  const MatrixTag d;
  MatrixVector sums[kRowsAtATime][kVectors];
  for (auto& of_row : sums) {
    for (MatrixVector& sum : of_row) {
      sum = hn::Zero(d);
    }
  }
  const float* HWY_RESTRICT a = left.values + row * left.along_rows;
  const float* HWY_RESTRICT b = right + column;
  for (int k = 0; k < count; ++k) {
    MatrixVector values[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      values[v] = hn::Load(d, b + v * kMatrixLanes);
    }
    HWY_UNROLL(4)
    for (int r = 0; r < kRowsAtATime; ++r) {
      const auto factor = hn::Set(d, a[r * left.along_rows]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, values[v], sums[r][v]);
      }
    }
    a += left.along_sum;
    b += pitch;
  }
  for (int r = 0; r < kRowsAtATime; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sums[r][v], d,
                out + static_cast<std::ptrdiff_t>(row + r) * pitch + column + v * kMatrixLanes);
    }
  }
}

// out = left * right with `rows` rows, summed over `count` rows of `right`. All have one pitch. If the
// product is symmetric, most values left of its diagonal are not computed.
inline HWY_ATTR void multiply(const LeftFactor& left, const float* right, int rows, int count, int pitch,
                              bool symmetric, float* out) {
  for (int row = 0; row < rows; row += kRowsAtATime) {
    int column = symmetric ? row / kMatrixLanes * kMatrixLanes : 0;
    for (; column + kVectorsAtATime * kMatrixLanes <= pitch; column += kVectorsAtATime * kMatrixLanes) {
      multiply_block<kVectorsAtATime>(left, right, count, pitch, row, column, out);
    }
    if (pitch - column == 2 * kMatrixLanes) {
      multiply_block<2>(left, right, count, pitch, row, column, out);
    } else if (pitch - column == kMatrixLanes) {
      multiply_block<1>(left, right, count, pitch, row, column, out);
    }
  }
}

// The product of the transpose of a matrix with `count` rows and the matrix itself, times `scale`.
inline HWY_ATTR void multiply_by_itself(const float* matrix, int count, int size, int pitch, float scale,
                                        float* HWY_RESTRICT out) {
  multiply({matrix, 1, pitch}, matrix, size, count, pitch, true, out);
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < row; ++column) {
      out[row * pitch + column] = out[column * pitch + row];
    }
  }
  const MatrixTag d;
  for (int i = 0; i < size * pitch; i += kMatrixLanes) {
    hn::Store(hn::Mul(hn::Load(d, out + i), hn::Set(d, scale)), d, out + i);
  }
}

// Inverts a symmetric positive definite matrix in place (Gauss-Jordan elimination; such a matrix needs no
// pivots other than its diagonal).
inline HWY_ATTR void invert(float* matrix, int size, int pitch) {
  const MatrixTag d;
  for (int k = 0; k < size; ++k) {
    float* HWY_RESTRICT pivot_row = matrix + static_cast<std::ptrdiff_t>(k) * pitch;
    const auto reciprocal = hn::Set(d, 1 / pivot_row[k]);
    pivot_row[k] = 1;
    for (int column = 0; column < pitch; column += kMatrixLanes) {
      hn::Store(hn::Mul(hn::Load(d, pivot_row + column), reciprocal), d, pivot_row + column);
    }
    for (int i = 0; i < size; ++i) {
      if (i == k) {
        continue;
      }
      float* HWY_RESTRICT row = matrix + static_cast<std::ptrdiff_t>(i) * pitch;
      const auto factor = hn::Set(d, row[k]);
      row[k] = 0;
      for (int column = 0; column < pitch; column += kMatrixLanes) {
        hn::Store(hn::NegMulAdd(factor, hn::Load(d, pivot_row + column), hn::Load(d, row + column)), d,
                  row + column);
      }
    }
  }
}

// a I + b M with `size` columns; may replace M.
inline HWY_ATTR void combine(float a, float b, const float* matrix, int size, int pitch, float* out) {
  const MatrixTag d;
  const auto factor = hn::Set(d, b);
  for (int i = 0; i < rows_of(size) * pitch; i += kMatrixLanes) {
    hn::Store(hn::Mul(factor, hn::Load(d, matrix + i)), d, out + i);
  }
  for (int i = 0; i < size; ++i) {
    out[i * pitch + i] += a;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
