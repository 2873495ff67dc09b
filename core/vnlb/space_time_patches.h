#pragma once

#include <algorithm>
#include <cmath>

#include "core/vbm4d/trajectories.h"

// Groups of VNLB and how they are filtered, as all engines do it (core/README.md).
//
// A patch is 8x8 samples at one place in two successive pictures, its slices: that of the picture it is said
// to be in and that of the next one, or, if the next one is none, of the one before. Slices are not
// displaced by motion: so similar patches move alike, by fractions of a sample, too. Where neither picture is
// of use, since there is none, a cut lies between or the slice would repeat the other, noise and all, patches
// of the group have one slice.
//
// A reference patch is followed from picture to picture as V-BM4D's are (core/vbm4d/trajectories.h). Around
// each place of its trajectory are the candidates; those of one picture share the direction of their second
// slices. A picture is left out where its slices, at the trajectory's place, repeat each other or would lie
// on two sides of a cut. The group are the candidates that differ least from the reference patch, in all
// slices, by the sum of squared differences of V-BM4D's matching values; of equal ones those that come first.
// The reference patch comes first, then the candidates in the order of pictures, rows and columns.

namespace limpid::vnlb {

inline constexpr int kPatch = vbm4d::kPatch;
inline constexpr int kSlices = 2;
inline constexpr int kMostPatches = 64;  ///< of a group
inline constexpr int kMostReach = vbm4d::kMostReach - 1;
inline constexpr int kMostSearchWindow = 33;

/// The side of the square with candidates in the reference patch's own picture. A patch that is not followed
/// to any other is sought farther away.
constexpr int own_search_window(int search_window, int frames) {
  return frames > 1 ? search_window : 2 * search_window + 1;
}

// A group's patches, less their mean, are the rows of a matrix with n rows and d = 64 * slices columns, in
// which the noise is white and of variance 1. Each of its singular vectors is kept or left by its share of
// the variance: x, the squared singular value divided by n - 1, which is an eigenvalue of the patches'
// covariance. So the covariance is of low rank and its eigenvalues are those of the signal, where the noise's
// are known.

/// What noise alone makes the greatest x of a group, by Marchenko's and Pastur's law.
inline float noise_edge(int patches, int samples) {
  const float root = 1 + std::sqrt(static_cast<float>(samples) / static_cast<float>(patches - 1));
  return root * root;
}

// Filters' factors rise to those of Wiener's filter over a range of x, so that they don't depend on how
// eigenvalues are rounded. Ranges were found by trial on four clips: of the first step, 0.7 to 1.4 edges lose
// 0.1 dB, and edges that are 0.6 of these 0.5 dB.

/// What is left of an eigenvector of the noisy patches, by its x and the noise_edge().
constexpr float first_step_factor(float x, float edge) {
  const float kept = std::clamp((x / edge - 0.9F) * 5, 0.0F, 1.0F);
  return kept > 0 ? kept * std::max(x - 1, 0.0F) / x : 0.0F;
}

/// The same of the basic estimates of the patches, whose x has little of the noise. Those with x under 0.4
/// are rather errors of the first step.
constexpr float second_step_factor(float x) {
  return x > 0.4F ? std::min((x - 0.4F) * 1.25F, 1.0F) * x / (x + 1) : 0.0F;
}

}  // namespace limpid::vnlb
