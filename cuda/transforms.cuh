#pragma once

// Eight-point transforms in a thread's registers, the scaling being that of limpid::transform_matrices(), and
// what else the filter does with eight registers in each of eight lanes.

namespace limpid::cuda {

inline constexpr float kHalfSqrt = 0.707106781186548F;

// a, b = (a + b, a - b) / sqrt 2, in three operations.
__device__ __forceinline__ void butterfly(float& a, float& b) {
  const float scaled = b * kHalfSqrt;
  b = fmaf(a, kHalfSqrt, -scaled);
  a = fmaf(a, kHalfSqrt, scaled);
}

struct Dct8 {
  // cos(i pi / 16) / 2
  static constexpr float kC1 = 0.490392640201615F;
  static constexpr float kC2 = 0.461939766255643F;
  static constexpr float kC3 = 0.415734806151273F;
  static constexpr float kC4 = 0.353553390593274F;
  static constexpr float kC5 = 0.277785116509801F;
  static constexpr float kC6 = 0.191341716182545F;
  static constexpr float kC7 = 0.097545161008064F;

  static __device__ __forceinline__ void forward(float (&x)[8]) {
    const float s0 = x[0] + x[7];
    const float s1 = x[1] + x[6];
    const float s2 = x[2] + x[5];
    const float s3 = x[3] + x[4];
    const float d0 = x[0] - x[7];
    const float d1 = x[1] - x[6];
    const float d2 = x[2] - x[5];
    const float d3 = x[3] - x[4];
    const float e0 = s0 + s3;
    const float e1 = s1 + s2;
    const float o0 = s0 - s3;
    const float o1 = s1 - s2;
    x[0] = kC4 * (e0 + e1);
    x[4] = kC4 * (e0 - e1);
    x[2] = fmaf(kC2, o0, kC6 * o1);
    x[6] = fmaf(kC6, o0, -kC2 * o1);
    x[1] = fmaf(kC1, d0, fmaf(kC3, d1, fmaf(kC5, d2, kC7 * d3)));
    x[3] = fmaf(kC3, d0, fmaf(-kC7, d1, fmaf(-kC1, d2, -kC5 * d3)));
    x[5] = fmaf(kC5, d0, fmaf(-kC1, d1, fmaf(kC7, d2, kC3 * d3)));
    x[7] = fmaf(kC7, d0, fmaf(-kC5, d1, fmaf(kC3, d2, -kC1 * d3)));
  }

  static __device__ __forceinline__ void inverse(float (&x)[8]) {
    const float m0 = kC4 * (x[0] + x[4]);
    const float m1 = kC4 * (x[0] - x[4]);
    const float m2 = fmaf(kC2, x[2], kC6 * x[6]);
    const float m3 = fmaf(kC6, x[2], -kC2 * x[6]);
    const float e0 = m0 + m2;
    const float e3 = m0 - m2;
    const float e1 = m1 + m3;
    const float e2 = m1 - m3;
    const float o0 = fmaf(kC1, x[1], fmaf(kC3, x[3], fmaf(kC5, x[5], kC7 * x[7])));
    const float o1 = fmaf(kC3, x[1], fmaf(-kC7, x[3], fmaf(-kC1, x[5], -kC5 * x[7])));
    const float o2 = fmaf(kC5, x[1], fmaf(-kC1, x[3], fmaf(kC7, x[5], kC3 * x[7])));
    const float o3 = fmaf(kC7, x[1], fmaf(-kC5, x[3], fmaf(kC3, x[5], -kC1 * x[7])));
    x[0] = e0 + o0;
    x[7] = e0 - o0;
    x[1] = e1 + o1;
    x[6] = e1 - o1;
    x[2] = e2 + o2;
    x[5] = e2 - o2;
    x[3] = e3 + o3;
    x[4] = e3 - o3;
  }
};

// Haar with a lifting step, as core/cpu/transforms-inl.h derives it.
struct Bior15 {
  static constexpr float kLift = 22.0F / 128.0F;
  static constexpr float kNorm4 = 1.02911711F;
  static constexpr float kNorm8 = 1.05743277F;

  static __device__ __forceinline__ void forward(float (&x)[8]) {
    float s[4];
    float d[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      s[i] = x[2 * i + 1];
      d[i] = x[2 * i];
      butterfly(s[i], d[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      s[i] = fmaf(kLift, d[(i + 3) % 4] - d[(i + 1) % 4], s[i]);
    }
    butterfly(s[1], s[0]);
    butterfly(s[3], s[2]);
    butterfly(s[3], s[1]);
    x[0] = s[3];
    x[1] = s[1] * (1 / kNorm8);
    x[2] = s[0] * (1 / kNorm4);
    x[3] = s[2] * (1 / kNorm4);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[4 + i] = d[i];
    }
  }

  static __device__ __forceinline__ void inverse(float (&x)[8]) {
    float s[4] = {x[2] * kNorm4, x[1] * kNorm8, x[3] * kNorm4, x[0]};
    float d[4] = {x[4], x[5], x[6], x[7]};
    butterfly(s[3], s[1]);
    butterfly(s[3], s[2]);
    butterfly(s[1], s[0]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      s[i] = fmaf(-kLift, d[(i + 3) % 4] - d[(i + 1) % 4], s[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      butterfly(s[i], d[i]);
      x[2 * i + 1] = s[i];
      x[2 * i] = d[i];
    }
  }
};

// Shared memory for the transpositions of one warp, used in turns, so that one barrier for each suffices.
struct TransposeBuffer {
  static constexpr int kPatch = 72;  // floats, 8 more than a patch has: the four patches use different banks
  float halves[2][4 * kPatch];
};

// Transposes the 8x8 matrix whose column c is in the registers of lane c of each eight. Eight stores and two
// wide loads replace 12 shuffles and 36 selections. Rows 4 to 7 have their halves exchanged, which spreads
// the loads over the banks.
__device__ __forceinline__ void transpose(float (&x)[8], int lane, float* buffer) {
  float* patch = buffer + lane / 8 * TransposeBuffer::kPatch;
  const int column = lane % 8;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    patch[i * 8 + (i < 4 ? column : column ^ 4)] = x[i];
  }
  __syncwarp();
  const int swap = column & 4;
  const float4 low = *reinterpret_cast<const float4*>(patch + column * 8 + swap);
  const float4 high = *reinterpret_cast<const float4*>(patch + column * 8 + (swap ^ 4));
  x[0] = low.x;
  x[1] = low.y;
  x[2] = low.z;
  x[3] = low.w;
  x[4] = high.x;
  x[5] = high.y;
  x[6] = high.z;
  x[7] = high.w;
}

template <class Transform>
__device__ __forceinline__ void forward_2d(float (&x)[8], int lane, float* buffer) {
  Transform::forward(x);
  transpose(x, lane, buffer);
  Transform::forward(x);
}

// From coefficients as forward_2d leaves them back to samples, a lane holding a column.
template <class Transform>
__device__ __forceinline__ void inverse_2d(float (&x)[8], int lane, float* buffer) {
  Transform::inverse(x);
  transpose(x, lane, buffer);
  Transform::inverse(x);
}

}  // namespace limpid::cuda
