// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/vbm4d/vbm4d_parameters.h"

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
