#pragma once

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
inline constexpr int kMostReach = vbm4d::kMostReach / 2 - 1;
inline constexpr int kMostSearchWindow = 33;

/// The side of the square with candidates in the reference patch's own picture. A patch that is not followed
/// to any other is sought farther away.
constexpr int own_search_window(int search_window, int frames) {
  return frames > 1 ? search_window : 2 * search_window + 1;
}

// A group's patches, less their mean, are the rows of a matrix A with n rows and d = 64 * slices columns, in
// which the noise is white and of variance 1. The eigenvalues x of its products G = A A^T / (n - 1) are those
// of the patches' covariance. Eigenvectors are kept or left by their x: so the covariance is of low rank and
// its eigenvalues are those of the signal, where the noise's are known. A factor goes from nothing to that of
// Wiener's filter around a bound e, gently, which loses nothing. It is a rational function of x, so that no
// eigenvectors need be found: the matrix that has all factors follows from G by one inverse and products,
//
//   R = (G + e I)^-1,  Y = I - 2 e R,  then in each round  Y <- Y (3 I - Y^2) / 2,  P = (I + Y) / 2.
//
// Y has the eigenvalues (x - e) / (x + e), which rounds drive to -1 and 1 (Newton's and Schulz' iteration for
// the matrix sign: Higham, "Functions of Matrices", 2008, chapter 5). P (I - 2 R) A are the first step's
// estimates, where bounds are so great that this is Wiener's (x - 1) / x or nearly so. The second step's are
// N B^T F B with F = P R / (n - 1), of the noisy patches N and the basic estimates B, whose products G are.
// As it is to be computed, that is (H + (N - B) B^T F) B with H = P (I - e R), in which F is not multiplied
// by the square of the signal.

/// What noise alone makes the greatest x of a group, by Marchenko's and Pastur's law: the first step's bound.
inline float noise_edge(int patches, int samples) {
  const float root = 1 + std::sqrt(static_cast<float>(samples) / static_cast<float>(patches - 1));
  return root * root;
}

/// Of the second step, whose x has little of the noise: less is rather errors of the first step.
inline constexpr float kBasicEdge = 0.8F;

// Found by trial on seven clips: 3 to 6 and 1 to 3 rounds differ by 0.1 dB.
inline constexpr int kFirstRounds = 4;
inline constexpr int kSecondRounds = 2;

/// Where the signal is so strong that rounding its products makes more than the noise, the bound is at least
/// this share of the sum of all x.
inline constexpr float kLeastShare = 0x1p-20F;

/// How a step filters a group: by P (constant I + inverse R).
struct EigenvalueFilter {
  float bound;  ///< e
  int rounds;
  float constant;
  float inverse;
};

/// `edge`: noise_edge() of the group. `sum`: of all x.
constexpr EigenvalueFilter eigenvalue_filter(bool second_step, int patches, float edge, float sum) {
  const float least = kLeastShare * sum;
  const float bound = second_step ? kBasicEdge : edge;
  return second_step ? EigenvalueFilter{bound < least ? least : bound, kSecondRounds, 0,
                                        1 / static_cast<float>(patches - 1)}
                     : EigenvalueFilter{bound < least ? least : bound, kFirstRounds, 1, -2};
}

}  // namespace limpid::vnlb
