// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "core/bm3d/transforms.h"
#include "cuda/bm3d/filter.h"

// The bound of sums. A is the greatest |sample - offset|, a_i the rows of the analysis (forward) matrix of an
// axis and s_i(x) the synthesis (inverse) matrix; the 3D transform is their tensor product. A patch of a
// filtered group is sum_i f_i c_i s_i(x), with the shrinkage factors f_i, and is added with a weight w. In
// both steps, w and the offset bound a contribution w |sample - offset| for any content:
//
// Step 1: f_i is 0 or 1 and w = 1 / (number of ones), so the contribution is at most the greatest single
// term, |c_i s_i(x)| <= A |a_i|_1 |s_i(x)|, a product over the axes.
//
// Step 2: F = sum f_i^2 and w = 1 / max(1, F), so by Cauchy-Schwarz the contribution is at most sqrt(F) /
// max(1, F) <= 1 times sqrt(sum c_i^2 s_i(x)^2). Along the patch's axes, sum_i c_i^2 s_i^2 <= max s^2 |c|^2
// <= max s^2 |forward|^2 k A^2; across the group, sum_j s_j(p)^2 |a_j|_1^2 A^2. At most A is added because
// the group's mean is shrunk toward 0 rather than toward the offset. Pictures do not come near this bound of
// about 6 A.
//
// This holds for white noise. If coefficients differ in their relative variances v_i, w is 1 / max(1, sum
// f_i^2 v_i), also at most 1, but many coefficients of little noise may be kept with a great weight. A
// filtered sample remains near the range of the picture's samples whichever coefficients are kept, so in
// practice contributions stay far below the bound, but this is not a proof. The kernels therefore enforce the
// bound: filter_fast() reduces the weight of such a group, and filter_any(), which is for comparisons, clamps
// its samples. A curve by brightness only reduces w (weight_factor()).
//
// filter_fast() adds in 32 bits, in which 128 such groups would leave too few fractional bits. It computes
// the maximum contribution of each group and moves great sums to 64 bits before they could overflow.

namespace limpid::cuda {
namespace {

struct Axis {
  TransformMatrices matrices;

  double analysis_sum(int i) const {
    double sum = 0;
    for (int x = 0; x < matrices.size; ++x) {
      sum += std::abs(matrices.forward[i * matrices.size + x]);
    }
    return sum;
  }
  double synthesis(int x, int i) const { return std::abs(matrices.inverse[x * matrices.size + i]); }

  double greatest_term() const {
    double greatest = 0;
    for (int x = 0; x < matrices.size; ++x) {
      for (int i = 0; i < matrices.size; ++i) {
        greatest = std::max(greatest, analysis_sum(i) * synthesis(x, i));
      }
    }
    return greatest;
  }

  // max s |forward| sqrt(k). The greatest row sum of the Gram matrix bounds the square of the operator's
  // norm.
  double energy_gain() const {
    const int k = matrices.size;
    double greatest_synthesis = 0;
    double gram_norm = 0;
    for (int i = 0; i < k; ++i) {
      double row = 0;
      for (int j = 0; j < k; ++j) {
        greatest_synthesis = std::max(greatest_synthesis, synthesis(i, j));
        double product = 0;
        for (int x = 0; x < k; ++x) {
          product += matrices.forward[i * k + x] * matrices.forward[j * k + x];
        }
        row += std::abs(product);
      }
      gram_norm = std::max(gram_norm, row);
    }
    return greatest_synthesis * std::sqrt(gram_norm * k);
  }

  double weighted_gain() const {
    double greatest = 0;
    for (int x = 0; x < matrices.size; ++x) {
      double sum = 0;
      for (int i = 0; i < matrices.size; ++i) {
        sum += std::pow(analysis_sum(i) * synthesis(x, i), 2);
      }
      greatest = std::max(greatest, sum);
    }
    return std::sqrt(greatest);
  }
};

// The greatest contribution for A = 1.
double contribution_bound(const Bm3dStep& step, GroupTransform transform, bool wiener) {
  if (transform != GroupTransform::kSeparable) {
    // All of |a_i|_1 |s_i(x)| are 1, and sum c_i^2 s_i(x)^2 is the mean square of the group's samples.
    return wiener ? 2 : 1;
  }
  const Axis patch{transform_matrices(step.transform_2d, step.patch_size)};
  double bound = 0;
  for (int size = 1; size <= step.max_group_size; size *= 2) {
    const Axis group{transform_matrices(step.transform_1d, size)};
    bound = std::max(bound, wiener ? std::pow(patch.energy_gain(), 2) * group.weighted_gain() + 1
                                   : std::pow(patch.greatest_term(), 2) * group.greatest_term());
  }
  return bound;
}

}  // namespace

FixedPoint choose_fixed_point(const Bm3dStep& step, GroupTransform transform, bool wiener, float amplitude,
                              bool fast) {
  double bound = contribution_bound(step, transform, wiener);
  bound *= static_cast<double>(amplitude);
  // A group's members are at different positions, of which only k^2 reach a sample, each with a different
  // value of the aggregation window.
  std::vector<double> window = kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta));
  std::sort(window.begin(), window.end(), std::greater<>());
  const auto capacity = static_cast<std::size_t>(std::bit_floor(static_cast<unsigned>(step.max_group_size)));
  window.resize(std::min(capacity, window.size()));
  const double per_group = std::accumulate(window.begin(), window.end(), 0.0);
  // Reference patches along one axis whose groups can have a member at a given position, including the extra
  // one at the border.
  const int reach = (step.search_window - 1) / step.spacing + 2;

  FixedPoint result;
  result.most_hits = static_cast<float>(per_group);
  // Each group adds its weight, at most 1, at most once at a position. A float holds 24 bits exactly.
  result.weight_bits = std::min(std::ilogb(0x1p31 / (static_cast<double>(reach) * reach + 1)), 24);
  if (fast) {
    // The greatest group uses a little more than half of what a warp may add before it searches for great
    // sums. A single contribution stays below 2^22 so that an addition can round it.
    result.numerator_scale = static_cast<float>(std::min(0x1p27 / per_group, 0x1p22) / (1.01 * bound));
  } else {
    constexpr double kGroupsAtSample = (129 + 15) * (129 + 15);
    result.numerator_scale =
        static_cast<float>(std::min(0x1p62 / (kGroupsAtSample * per_group * bound), 0x1p32));
  }
  result.greatest_contribution = static_cast<float>(1.01 * bound) * result.numerator_scale;
  return result;
}

}  // namespace limpid::cuda
