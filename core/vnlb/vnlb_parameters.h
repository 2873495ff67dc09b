// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/vbm4d/trajectories.h"
#include "core/vbm4d/vbm4d_parameters.h"

// VNLB's groups and their filtering as implemented by all engines (docs/algorithms.md).
//
// A patch is 8x8 samples at one position in two successive pictures, its slices: its own picture and the next
// one or, if the next one is not usable, the one before. Slices are not displaced by motion; similar patches
// therefore have similar motion, fractions of a sample included. If neither picture is usable, because it
// does not exist, is beyond a scene cut, or repeats the slice including its noise, the patches of the group
// have one slice.
//
// A reference patch is followed from picture to picture as in V-BM4D (core/vbm4d/trajectories.h). Candidates
// are searched around each position of its trajectory. The second slices of all candidates of a picture have
// the same direction. A picture is skipped if its slices at the trajectory's position repeat each other or
// lie on two sides of a scene cut. The group consists of the candidates with the smallest sum of squared
// differences of V-BM4D's matching values from the reference patch over all slices; among equal ones, the
// first. The reference patch comes first, followed by the candidates in the order of pictures, rows and
// columns.

namespace limpid::vnlb {

inline constexpr int kPatch = vbm4d::kPatch;
inline constexpr int kSlices = 2;
inline constexpr int kMostPatches = 64;  ///< in a group
inline constexpr int kMostReach = vbm4d::kMostReach / 2 - 1;
inline constexpr int kMostSearchWindow = 33;

/// Side of the search window in the reference patch's picture. It is larger for patches that are not followed
/// to any other picture.
constexpr int own_search_window(int search_window, int frames) {
  return frames > 1 ? search_window : 2 * search_window + 1;
}

// The patches of a group, minus their mean, are the rows of a matrix A with n rows and d = 64 * slices
// columns, in which the noise is white and has variance 1. The eigenvalues x of its products G = A A^T / (n -
// 1) are those of the patches' covariance. Each eigenvector is kept or removed according to its x, which
// makes the covariance low-rank and removes the known part of the noise. The factor rises smoothly around a
// bound e, from zero to that of the Wiener filter, without loss. It is a rational function of x, so no
// eigenvectors need to be computed: the matrix of all factors follows from G by one inverse and products,
//
//   R = (G + e I)^-1,  Y = I - 2 e R,  then in each round  Y <- Y (3 I - Y^2) / 2,  P = (I + Y) / 2.
//
// Y has the eigenvalues (x - e) / (x + e), which the rounds move to -1 and 1 (Newton-Schulz iteration for the
// matrix sign: Higham, "Functions of Matrices", 2008, chapter 5). P (I - 2 R) A are the first step's
// estimates; at its large bounds this is nearly Wiener's (x - 1) / x. The second step's are N B^T F B with F
// = P R / (n - 1), the noisy patches N and the basic estimates B, whose products are G. They are computed as
// (H + (N - B) B^T F) B with H = P (I - e R), in which F is not multiplied by the square of the signal.

/// The greatest x in a group that contains only noise, by the Marchenko-Pastur law. It is the bound of the
/// first step.
inline float noise_edge(int patches, int samples) {
  const float root = 1 + std::sqrt(static_cast<float>(samples) / static_cast<float>(patches - 1));
  return root * root;
}

/// Bound of the second step, whose x contain little noise: smaller x are errors of the first step.
inline constexpr float kBasicEdge = 0.8F;

// Found by trial on seven clips: 3 to 6 rounds in the first step and 1 to 3 in the second differ by 0.1 dB.
inline constexpr int kFirstRounds = 4;
inline constexpr int kSecondRounds = 2;

/// Minimum of the bound relative to the sum of all x. G is a sum of 128 products in single precision, whose
/// rounding moves its eigenvalues by up to 128 * 2^-24 of their sum. A smaller bound can leave G + e I
/// without an inverse in strong signals.
inline constexpr float kLeastShare = 0x1p-17F;

/// The filter of a group in one step: P (constant I + inverse R).
struct EigenvalueFilter {
  float bound;  ///< e
  int rounds;
  float constant;
  float inverse;
};

/// `edge`: noise_edge() of the group. `sum`: sum of all x.
constexpr EigenvalueFilter eigenvalue_filter(bool second_step, int patches, float edge, float sum) {
  const float least = kLeastShare * sum;
  const float bound = second_step ? kBasicEdge : edge;
  return second_step ? EigenvalueFilter{bound < least ? least : bound, kSecondRounds, 0,
                                        1 / static_cast<float>(patches - 1)}
                     : EigenvalueFilter{bound < least ? least : bound, kFirstRounds, 1, -2};
}

}  // namespace limpid::vnlb

namespace limpid {

/// The parameters of each step of VNLB. Patches are 8x8 samples of two successive frames.
struct VnlbStep {
  int spacing = 6;                 ///< distance between reference patches, 1 to 8
  int group_size = 48;             ///< number of patches in a group, 2 to 64
  int search_window = 7;           ///< side of the square search window for similar patches, odd, 1 to 33
  int temporal_search_window = 5;  ///< side of the search window in other frames than the reference patch's,
                                   ///< odd, 1 to 33
  /// A trajectory ends where its patch differs from the reference patch by more than this many times sigma^2
  /// (mean squared difference), above 0, at most 1000; in strong noise, also where it differs by more than
  /// the contrasts of scenes.
  float trajectory_threshold = 10;
  bool operator==(const VnlbStep&) const = default;
};

/// Empirical Bayesian estimation of space-time patches (VNLB: Arias and Morel, "Video denoising via empirical
/// Bayesian estimation of space-time patches", JMIV 2018; for pictures NL-Bayes, Lebrun, Buades and Morel, "A
/// nonlocal Bayesian image denoising algorithm", SIIMS 2013): a first step that makes the basic estimate, and
/// an optional second one.
struct VnlbParameters {
  /// Numbers of frames before and after a frame to which a reference patch is followed, 0 to 7 each. Second
  /// slices may be one frame farther away.
  int before = 4;
  int after = 4;
  /// Maximum number of later frames that a result waits for, 0 to 32. Without a value, results wait for all
  /// later frames that improve them.
  std::optional<int> delay;
  VnlbStep first;
  std::optional<VnlbStep> second = VnlbStep{};
  bool operator==(const VnlbParameters&) const = default;

  static const FilterDescription<VnlbParameters>& description();
  /// Throws a UsageError that names the parameter and its legal range.
  void validate() const;
};

/// The parameters with which V-BM4D follows reference patches for VNLB.
Vbm4dParameters followed_like(const VnlbParameters& parameters);

/// The VNLB filter whose result Vbm4dParameters::vnlb_share mixes in: the profile np with fewer and smaller
/// groups, which gains nearly as much in less than half the time, and with at most the reach, the steps and
/// the delay of `parameters`.
VnlbParameters mixed_vnlb(const Vbm4dParameters& parameters);
/// The V-BM4D filter into whose result it is mixed.
Vbm4dParameters mixed_vbm4d(Vbm4dParameters parameters);
/// The planes that are mixed: luma of YUV, or all colors. V-BM4D is better in chroma.
FrameFormat mixed_format(const FrameFormat& format);

/// The frames that a result depends on.
Reach reach_of(const VnlbParameters& parameters);

/// Named sets of parameters, from fastest to best.
enum class VnlbProfile : std::uint8_t { kFast, kNp, kHigh, kBest };

VnlbParameters vnlb_profile(VnlbProfile profile);

}  // namespace limpid
