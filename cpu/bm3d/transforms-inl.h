// SPDX-License-Identifier: MIT
// Eight-point transforms on vectors and the transposition between their two passes. Compiled once per SIMD
// target.
#if defined(LIMPID_CPU_TRANSFORMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_TRANSFORMS_INL_H_
#undef LIMPID_CPU_TRANSFORMS_INL_H_
#else
#define LIMPID_CPU_TRANSFORMS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));

// An 8x8 patch is stored as rows. A vector of 16 lanes holds the same row of two patches side by side, a
// vector of 8 lanes holds a row, and a vector of 4 lanes half a row. A block is kPatchesPerBlock patches in 8
// * kParts vectors.
constexpr int kPatchesPerBlock = kLanes >= 8 ? kLanes / 8 : 1;
constexpr int kParts = kLanes >= 8 ? 1 : 8 / kLanes;

// In-place transforms of eight values, each a vector: x[i] are samples before and coefficients after
// forward(). All have the scaling of transform_matrices(Transform2d, 8), apart from the accumulated rounding
// of their constants: forward() turns eight ones into kForwardDc, and inverse() turns a first coefficient of
// one into eight times kInverseDc.

constexpr float kHalfSqrt = 0.707106781186548F;

struct Dct8 {
  // cos(i pi / 16) / 2
  static constexpr float kC1 = 0.490392640201615F;
  static constexpr float kC2 = 0.461939766255643F;
  static constexpr float kC3 = 0.415734806151273F;
  static constexpr float kC4 = 0.353553390593274F;
  static constexpr float kC5 = 0.277785116509801F;
  static constexpr float kC6 = 0.191341716182545F;
  static constexpr float kC7 = 0.097545161008064F;
  static constexpr double kForwardDc = 8 * double{kC4};
  static constexpr double kInverseDc = kC4;

  static HWY_INLINE void forward(FloatVector* x) {
    const FloatTag d;
    const auto c = [&](float value) HWY_ATTR { return hn::Set(d, value); };
    const auto s0 = hn::Add(x[0], x[7]);
    const auto s1 = hn::Add(x[1], x[6]);
    const auto s2 = hn::Add(x[2], x[5]);
    const auto s3 = hn::Add(x[3], x[4]);
    const auto d0 = hn::Sub(x[0], x[7]);
    const auto d1 = hn::Sub(x[1], x[6]);
    const auto d2 = hn::Sub(x[2], x[5]);
    const auto d3 = hn::Sub(x[3], x[4]);
    const auto e0 = hn::Add(s0, s3);
    const auto e1 = hn::Add(s1, s2);
    const auto o0 = hn::Sub(s0, s3);
    const auto o1 = hn::Sub(s1, s2);
    x[0] = hn::Mul(c(kC4), hn::Add(e0, e1));
    x[4] = hn::Mul(c(kC4), hn::Sub(e0, e1));
    x[2] = hn::MulAdd(c(kC2), o0, hn::Mul(c(kC6), o1));
    x[6] = hn::MulSub(c(kC6), o0, hn::Mul(c(kC2), o1));
    x[1] = hn::MulAdd(c(kC1), d0, hn::MulAdd(c(kC3), d1, hn::MulAdd(c(kC5), d2, hn::Mul(c(kC7), d3))));
    x[3] = hn::MulAdd(c(kC3), d0, hn::NegMulAdd(c(kC7), d1, hn::NegMulAdd(c(kC1), d2, hn::Mul(c(-kC5), d3))));
    x[5] = hn::MulAdd(c(kC5), d0, hn::NegMulAdd(c(kC1), d1, hn::MulAdd(c(kC7), d2, hn::Mul(c(kC3), d3))));
    x[7] = hn::MulAdd(c(kC7), d0, hn::NegMulAdd(c(kC5), d1, hn::MulAdd(c(kC3), d2, hn::Mul(c(-kC1), d3))));
  }

  static HWY_INLINE void inverse(FloatVector* x) {
    const FloatTag d;
    const auto c = [&](float value) HWY_ATTR { return hn::Set(d, value); };
    const auto m0 = hn::Mul(c(kC4), hn::Add(x[0], x[4]));
    const auto m1 = hn::Mul(c(kC4), hn::Sub(x[0], x[4]));
    const auto m2 = hn::MulAdd(c(kC2), x[2], hn::Mul(c(kC6), x[6]));
    const auto m3 = hn::MulSub(c(kC6), x[2], hn::Mul(c(kC2), x[6]));
    const auto e0 = hn::Add(m0, m2);
    const auto e3 = hn::Sub(m0, m2);
    const auto e1 = hn::Add(m1, m3);
    const auto e2 = hn::Sub(m1, m3);
    const auto o0 =
        hn::MulAdd(c(kC1), x[1], hn::MulAdd(c(kC3), x[3], hn::MulAdd(c(kC5), x[5], hn::Mul(c(kC7), x[7]))));
    const auto o1 = hn::MulAdd(
        c(kC3), x[1], hn::NegMulAdd(c(kC7), x[3], hn::NegMulAdd(c(kC1), x[5], hn::Mul(c(-kC5), x[7]))));
    const auto o2 = hn::MulAdd(c(kC5), x[1],
                               hn::NegMulAdd(c(kC1), x[3], hn::MulAdd(c(kC7), x[5], hn::Mul(c(kC3), x[7]))));
    const auto o3 = hn::MulAdd(c(kC7), x[1],
                               hn::NegMulAdd(c(kC5), x[3], hn::MulAdd(c(kC3), x[5], hn::Mul(c(-kC1), x[7]))));
    x[0] = hn::Add(e0, o0);
    x[7] = hn::Sub(e0, o0);
    x[1] = hn::Add(e1, o1);
    x[6] = hn::Sub(e1, o1);
    x[2] = hn::Add(e2, o2);
    x[5] = hn::Sub(e2, o2);
    x[3] = hn::Add(e3, o3);
    x[4] = hn::Sub(e3, o3);
  }
};

HWY_INLINE void butterfly(FloatVector& a, FloatVector& b) {
  const FloatVector sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

// a, b = (a + b, a - b) / sqrt 2
HWY_INLINE void scaled_butterfly(FloatVector& a, FloatVector& b) {
  const auto scale = hn::Set(FloatTag(), kHalfSqrt);
  butterfly(a, b);
  a = hn::Mul(a, scale);
  b = hn::Mul(b, scale);
}

struct WalshHadamard8 {
  static constexpr float kScale = 0.353553390593274F;
  static constexpr double kForwardDc = 8 * double{kScale};
  static constexpr double kInverseDc = kScale;

  static HWY_INLINE void forward(FloatVector* x) {
    for (int half = 1; half < 8; half *= 2) {
      for (int i = 0; i < 8; ++i) {
        if ((i & half) == 0) {
          butterfly(x[i], x[i + half]);
        }
      }
    }
    const auto scale = hn::Set(FloatTag(), kScale);
    for (int i = 0; i < 8; ++i) {
      x[i] = hn::Mul(x[i], scale);
    }
  }
  static HWY_INLINE void inverse(FloatVector* x) { forward(x); }
};

struct Haar8 {
  static constexpr double kInverseDc = double{kHalfSqrt} * double{kHalfSqrt} * double{kHalfSqrt};
  static constexpr double kForwardDc = 8 * kInverseDc;

  static HWY_INLINE void forward(FloatVector* x) {
    for (int i = 0; i < 8; i += 2) {
      scaled_butterfly(x[i], x[i + 1]);
    }
    scaled_butterfly(x[0], x[2]);
    scaled_butterfly(x[4], x[6]);
    scaled_butterfly(x[0], x[4]);
    // x holds mean, d0, d01, d1, d0123, d2, d23, d3. Reordered from coarse to fine:
    const FloatVector y[8] = {x[0], x[4], x[2], x[6], x[1], x[3], x[5], x[7]};
    for (int i = 0; i < 8; ++i) {
      x[i] = y[i];
    }
  }
  static HWY_INLINE void inverse(FloatVector* x) {
    const FloatVector y[8] = {x[0], x[4], x[2], x[5], x[1], x[6], x[3], x[7]};
    for (int i = 0; i < 8; ++i) {
      x[i] = y[i];
    }
    scaled_butterfly(x[0], x[4]);
    scaled_butterfly(x[0], x[2]);
    scaled_butterfly(x[4], x[6]);
    for (int i = 0; i < 8; i += 2) {
      scaled_butterfly(x[i], x[i + 1]);
    }
  }
};

// bior1.5 is Haar with a lifting step. Its low-pass filter is Haar's plus details of the neighbors, which for
// eight periodic samples reduces to u (d[i - 1] - d[i + 1]) with u = 22/128 at the finest level; the outer
// taps coincide and cancel there, and all of them cancel at the coarser levels. The forward matrix has rows
// of unit norm, so the lengthening by lifting is scaled back: four samples' differences by 1/sqrt(1 + 2u^2),
// eight samples' by 1/sqrt(1 + 4u^2).
struct Bior15 {
  static constexpr float kLift = 22.0F / 128.0F;
  static constexpr float kNorm4 = 1.02911711F;
  static constexpr float kNorm8 = 1.05743277F;
  static constexpr double kForwardDc = Haar8::kForwardDc;
  static constexpr double kInverseDc = Haar8::kInverseDc;

  static HWY_INLINE void lift(FloatVector* averages, const FloatVector* details, float amount) {
    const auto u = hn::Set(FloatTag(), amount);
    for (int i = 0; i < 4; ++i) {
      averages[i] = hn::MulAdd(u, hn::Sub(details[(i + 3) % 4], details[(i + 1) % 4]), averages[i]);
    }
  }

  static HWY_INLINE void forward(FloatVector* x) {
    const FloatTag tag;
    FloatVector s[4];
    FloatVector d[4];
    for (int i = 0; i < 4; ++i) {
      s[i] = x[2 * i + 1];
      d[i] = x[2 * i];
      scaled_butterfly(s[i], d[i]);
    }
    lift(s, d, kLift);
    scaled_butterfly(s[1], s[0]);
    scaled_butterfly(s[3], s[2]);
    scaled_butterfly(s[3], s[1]);
    x[0] = s[3];
    x[1] = hn::Mul(s[1], hn::Set(tag, 1 / kNorm8));
    x[2] = hn::Mul(s[0], hn::Set(tag, 1 / kNorm4));
    x[3] = hn::Mul(s[2], hn::Set(tag, 1 / kNorm4));
    for (int i = 0; i < 4; ++i) {
      x[4 + i] = d[i];
    }
  }

  static HWY_INLINE void inverse(FloatVector* x) {
    const FloatTag tag;
    FloatVector s[4] = {hn::Mul(x[2], hn::Set(tag, kNorm4)), hn::Mul(x[1], hn::Set(tag, kNorm8)),
                        hn::Mul(x[3], hn::Set(tag, kNorm4)), x[0]};
    FloatVector d[4] = {x[4], x[5], x[6], x[7]};
    scaled_butterfly(s[3], s[1]);
    scaled_butterfly(s[3], s[2]);
    scaled_butterfly(s[1], s[0]);
    lift(s, d, -kLift);
    for (int i = 0; i < 4; ++i) {
      scaled_butterfly(s[i], d[i]);
      x[2 * i + 1] = s[i];
      x[2 * i] = d[i];
    }
  }
};

// Transposes each 4x4 matrix that the 128-bit blocks of four vectors form.
HWY_INLINE void transpose_4x4(FloatVector& a, FloatVector& b, FloatVector& c, FloatVector& e) {
  const FloatTag d;
  const hn::RepartitionToWide<FloatTag> d64;
  const auto ab_low = hn::BitCast(d64, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(d64, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(d64, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(d64, hn::InterleaveUpper(d, c, e));
  a = hn::BitCast(d, hn::InterleaveLower(d64, ab_low, ce_low));
  b = hn::BitCast(d, hn::InterleaveUpper(d64, ab_low, ce_low));
  c = hn::BitCast(d, hn::InterleaveLower(d64, ab_high, ce_high));
  e = hn::BitCast(d, hn::InterleaveUpper(d64, ab_high, ce_high));
}

// Transposes the patches of a block; x[row * kParts + part].
HWY_INLINE void transpose_block(FloatVector* x) {
  if constexpr (kParts == 1) {
    for (int half = 0; half < 8; half += 4) {
      transpose_4x4(x[half], x[half + 1], x[half + 2], x[half + 3]);
    }
    for (int i = 0; i < 4; ++i) {
      const FloatVector top = x[i];
      const FloatVector bottom = x[i + 4];
      x[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(bottom), top);
      x[i + 4] = hn::OddEvenBlocks(bottom, hn::SwapAdjacentBlocks(top));
    }
  } else {
    for (int half = 0; half < 8; half += 4) {
      for (int part = 0; part < 2; ++part) {
        transpose_4x4(x[half * 2 + part], x[half * 2 + 2 + part], x[half * 2 + 4 + part],
                      x[half * 2 + 6 + part]);
      }
    }
    for (int i = 0; i < 4; ++i) {
      std::swap(x[i * 2 + 1], x[(i + 4) * 2]);
    }
  }
}

// Transforms the columns of a block's patches.
template <class Transform, bool kForward>
HWY_INLINE void transform_columns(FloatVector* x) {
  for (int part = 0; part < kParts; ++part) {
    FloatVector column[8];
    for (int row = 0; row < 8; ++row) {
      column[row] = x[row * kParts + part];
    }
    if constexpr (kForward) {
      Transform::forward(column);
    } else {
      Transform::inverse(column);
    }
    for (int row = 0; row < 8; ++row) {
      x[row * kParts + part] = column[row];
    }
  }
}

// The 2D transform. Coefficients are transposed between forward and inverse, which saves two transpositions.
// This has no effect, as coefficients are processed independently of their position, except the first, which
// stays first.
template <class Transform>
HWY_INLINE void forward_2d(FloatVector* x) {
  transform_columns<Transform, true>(x);
  transpose_block(x);
  transform_columns<Transform, true>(x);
}

template <class Transform>
HWY_INLINE void inverse_2d(FloatVector* x) {
  transform_columns<Transform, false>(x);
  transpose_block(x);
  transform_columns<Transform, false>(x);
}

// Transforms across the patches of a group, for one vector position of each of kBlocks blocks, for kSize
// patches. The forward transform followed by the inverse multiplies by gain().

template <int kSize>
struct GroupWalshHadamard {
  static constexpr int kBlocks = kSize > kPatchesPerBlock ? kSize / kPatchesPerBlock : 1;
  static constexpr float gain() { return kSize; }

  // Without 1/sqrt(kSize): coefficients are sqrt(kSize) times the orthonormal ones.
  static HWY_INLINE void forward(FloatVector* x) {
    if constexpr (kPatchesPerBlock == 2 && kSize >= 2) {
      const FloatTag d;
      const auto sign = hn::IfThenElse(hn::FirstN(d, kLanes / 2), hn::Set(d, 1.0F), hn::Set(d, -1.0F));
      for (int b = 0; b < kBlocks; ++b) {
        x[b] = hn::MulAdd(x[b], sign, hn::ConcatLowerUpper(d, x[b], x[b]));
      }
    }
    for (int half = 1; half < kBlocks; half *= 2) {
      for (int b = 0; b < kBlocks; ++b) {
        if ((b & half) == 0) {
          butterfly(x[b], x[b + half]);
        }
      }
    }
  }
  static HWY_INLINE void inverse(FloatVector* x) { forward(x); }
};

template <int kSize>
struct GroupHaar {
  static constexpr int kBlocks = GroupWalshHadamard<kSize>::kBlocks;
  static constexpr float gain() { return 1; }

  // One level within the blocks, followed by levels of averages across them. If a block holds two patches,
  // its averages are in the lower half, and the details in the upper half are not changed.
  static HWY_INLINE void inside(FloatVector* x) {
    if constexpr (kPatchesPerBlock == 2 && kSize >= 2) {
      const FloatTag d;
      const auto scale = hn::Set(d, 0.707106781186548F);
      const auto sign = hn::IfThenElse(hn::FirstN(d, kLanes / 2), scale, hn::Neg(scale));
      for (int b = 0; b < kBlocks; ++b) {
        x[b] = hn::MulAdd(x[b], sign, hn::Mul(scale, hn::ConcatLowerUpper(d, x[b], x[b])));
      }
    }
  }
  static HWY_INLINE void across(FloatVector& a, FloatVector& b) {
    FloatVector sum = a;
    FloatVector difference = b;
    scaled_butterfly(sum, difference);
    if constexpr (kPatchesPerBlock == 2) {
      const auto averages = hn::FirstN(FloatTag(), kLanes / 2);
      a = hn::IfThenElse(averages, sum, a);
      b = hn::IfThenElse(averages, difference, b);
    } else {
      a = sum;
      b = difference;
    }
  }
  static HWY_INLINE void forward(FloatVector* x) {
    inside(x);
    for (int half = 1; half < kBlocks; half *= 2) {
      for (int b = 0; b < kBlocks; b += 2 * half) {
        across(x[b], x[b + half]);
      }
    }
  }
  static HWY_INLINE void inverse(FloatVector* x) {
    for (int half = kBlocks / 2; half >= 1; half /= 2) {
      for (int b = 0; b < kBlocks; b += 2 * half) {
        across(x[b], x[b + half]);
      }
    }
    inside(x);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
