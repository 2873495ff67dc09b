// Products and eigenvectors of small matrices. Compiled once per SIMD target.
#if defined(LIMPID_CORE_CPU_EIGENVECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CORE_CPU_EIGENVECTORS_INL_H_
#undef LIMPID_CORE_CPU_EIGENVECTORS_INL_H_
#else
#define LIMPID_CORE_CPU_EIGENVECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Matrices are row-major. Rows have `pitch` values, a multiple of kMatrixAlignment, on 64-byte boundaries.
// Those behind a matrix's columns, and rows up to a multiple of 4, are 0.
using MatrixTag = hn::CappedTag<float, 16>;
using MatrixVector = hn::Vec<MatrixTag>;
constexpr int kMatrixLanes = static_cast<int>(hn::MaxLanes(MatrixTag()));
constexpr int kMatrixAlignment = 16;
constexpr int kMostMatrixRows = 64;
constexpr int kRowsAtATime = 4;
constexpr int kVectorsAtATime = 3;

// Where the left factor of a product has its value for a row of the product and a row of the right factor.
struct LeftFactor {
  const float* values = nullptr;
  std::ptrdiff_t along_rows = 0;
  std::ptrdiff_t along_sum = 0;
};

// kRowsAtATime rows of a product, kVectors vectors of each, from `column` on.
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

// out = left * right, of `rows` rows, the sum being over `count` rows of `right`. All have one pitch. If the
// product is symmetric, what is left of its diagonal, but for some, is not computed.
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

// The product of the transposed matrix of `count` rows and itself, times `scale`.
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

// A symmetric matrix, made tridiagonal by reflections (Householder). Each is I - factor v v^T.
struct Tridiagonal {
  std::array<float, kMostMatrixRows> diagonal{};
  std::array<float, kMostMatrixRows> beside{};  // [i]: between i and i + 1
  std::array<float, kMostMatrixRows> factors{};
};

HWY_INLINE float product_of(const float* a, const float* b, int first, int pitch) {
  const MatrixTag d;
  auto sum = hn::Zero(d);
  for (int i = first; i < pitch; i += kMatrixLanes) {
    sum = hn::MulAdd(hn::Load(d, a + i), hn::Load(d, b + i), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// Leaves the reflections' v in the matrix's rows.
inline HWY_ATTR void make_tridiagonal(float* HWY_RESTRICT matrix, int size, int pitch, Tridiagonal& out) {
  const MatrixTag d;
  alignas(64) std::array<float, kMostMatrixRows> w{};
  for (int k = 0; k < size; ++k) {
    float* HWY_RESTRICT v = matrix + static_cast<std::ptrdiff_t>(k) * pitch;
    out.diagonal[k] = v[k];
    out.factors[k] = 0;
    if (k + 1 == size) {
      break;
    }
    std::fill_n(v, k + 1, 0.0F);
    const int first = (k + 1) / kMatrixLanes * kMatrixLanes;
    const float square = product_of(v, v, first, pitch);
    const float head = v[k + 1];
    const float norm = std::sqrt(square);
    const float reflected = head > 0 ? -norm : norm;
    out.beside[k] = reflected;
    // Of (v - reflected e)^2 / 2.
    const float half = square - head * reflected;
    if (k + 2 == size || !(half > std::numeric_limits<float>::min())) {
      out.beside[k] = k + 2 == size ? head : 0;
      continue;
    }
    const float factor = 1 / half;
    out.factors[k] = factor;
    v[k + 1] = head - reflected;
    // w = factor A v, less what makes the update symmetric.
    for (int column = first; column < pitch; column += kMatrixLanes) {
      auto sum = hn::Zero(d);
      for (int row = k + 1; row < size; ++row) {
        sum = hn::MulAdd(hn::Set(d, v[row]),
                         hn::Load(d, matrix + static_cast<std::ptrdiff_t>(row) * pitch + column), sum);
      }
      hn::Store(hn::Mul(sum, hn::Set(d, factor)), d, w.data() + column);
    }
    const auto share = hn::Set(d, -factor / 2 * product_of(v, w.data(), first, pitch));
    for (int column = first; column < pitch; column += kMatrixLanes) {
      hn::Store(hn::MulAdd(share, hn::Load(d, v + column), hn::Load(d, w.data() + column)), d,
                w.data() + column);
    }
    for (int row = k + 1; row < size; ++row) {
      float* HWY_RESTRICT of_row = matrix + static_cast<std::ptrdiff_t>(row) * pitch;
      const auto by_w = hn::Set(d, v[row]);
      const auto by_v = hn::Set(d, w[row]);
      for (int column = first; column < pitch; column += kMatrixLanes) {
        auto value = hn::Load(d, of_row + column);
        value = hn::NegMulAdd(by_w, hn::Load(d, w.data() + column), value);
        value = hn::NegMulAdd(by_v, hn::Load(d, v + column), value);
        hn::Store(value, d, of_row + column);
      }
    }
  }
}

// Eigenvalues, in place of the diagonal, and eigenvectors of a tridiagonal matrix, as rows, by the QL method
// with implicit shifts.
inline HWY_ATTR void decompose_tridiagonal(Tridiagonal& matrix, int size, int pitch,
                                           float* HWY_RESTRICT vectors) {
  const MatrixTag d;
  std::fill_n(vectors, static_cast<std::size_t>(size) * pitch, 0.0F);
  float greatest = 0;
  for (int i = 0; i < size; ++i) {
    vectors[static_cast<std::ptrdiff_t>(i) * pitch + i] = 1;
    greatest = std::max(greatest, std::abs(matrix.diagonal[i]) + std::abs(matrix.beside[i]));
  }
  // What lies beside the diagonal and is less is 0.
  const float negligible = std::numeric_limits<float>::epsilon() / 2 * greatest;
  constexpr int kMostIterations = 40;  // two or three suffice
  auto& diagonal = matrix.diagonal;
  auto& beside = matrix.beside;
  for (int first = 0; first < size; ++first) {
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      int last = first;
      while (last + 1 < size && std::abs(beside[last]) > negligible) {
        ++last;
      }
      if (last == first) {
        break;
      }
      const float slope = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
      const float root = std::sqrt(slope * slope + 1);
      float g = diagonal[last] - diagonal[first] + beside[first] / (slope + std::copysign(root, slope));
      float sine = 1;
      float cosine = 1;
      float shift = 0;
      int i = last - 1;
      for (; i >= first; --i) {
        const float f = sine * beside[i];
        const float b = cosine * beside[i];
        const float r = std::sqrt(f * f + g * g);
        beside[i + 1] = r;
        if (r == 0) {
          diagonal[i + 1] -= shift;
          beside[last] = 0;
          break;
        }
        const float inverse = 1 / r;
        sine = f * inverse;
        cosine = g * inverse;
        g = diagonal[i + 1] - shift;
        const float turned = (diagonal[i] - g) * sine + 2 * cosine * b;
        shift = sine * turned;
        diagonal[i + 1] = g + shift;
        g = cosine * turned - b;
        float* HWY_RESTRICT lower = vectors + static_cast<std::ptrdiff_t>(i) * pitch;
        float* HWY_RESTRICT upper = lower + pitch;
        const auto s = hn::Set(d, sine);
        const auto c = hn::Set(d, cosine);
        for (int column = 0; column < pitch; column += kMatrixLanes) {
          const auto x = hn::Load(d, lower + column);
          const auto y = hn::Load(d, upper + column);
          hn::Store(hn::MulAdd(s, x, hn::Mul(c, y)), d, upper + column);
          hn::Store(hn::NegMulAdd(s, y, hn::Mul(c, x)), d, lower + column);
        }
      }
      if (i >= first) {
        continue;  // it fell apart
      }
      diagonal[first] -= shift;
      beside[first] = g;
      beside[last] = 0;
    }
  }
}

// An eigenvector of a tridiagonal matrix becomes one of the matrix that make_tridiagonal() was given.
inline HWY_ATTR void reflect_back(const float* matrix, const Tridiagonal& tridiagonal, int size, int pitch,
                                  float* HWY_RESTRICT vector) {
  const MatrixTag d;
  for (int k = size - 3; k >= 0; --k) {
    const int first = (k + 1) / kMatrixLanes * kMatrixLanes;
    const float* HWY_RESTRICT v = matrix + static_cast<std::ptrdiff_t>(k) * pitch;
    const auto share = hn::Set(d, tridiagonal.factors[k] * product_of(v, vector, first, pitch));
    for (int i = first; i < pitch; i += kMatrixLanes) {
      hn::Store(hn::NegMulAdd(share, hn::Load(d, v + i), hn::Load(d, vector + i)), d, vector + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
