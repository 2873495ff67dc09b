#pragma once

#include <cstdint>
#include <optional>

#include "core/frame/reach.h"
#include "core/vbm4d/vbm4d_parameters.h"

namespace limpid {

/// The parameters that both steps of VNLB have. Patches are of 8x8 samples of two successive frames.
struct VnlbStep {
  int spacing = 6;                 ///< distance between reference patches, 1 to 8
  int group_size = 48;             ///< most patches in a group, 2 to 64
  int search_window = 7;           ///< side of the square in which similar patches are sought, odd, 1 to 33
  int temporal_search_window = 5;  ///< the same in other frames than the reference patch's, 1 to 33
  /// A reference patch is followed no further where it differs by more than this many times sigma^2 (mean
  /// squared difference), over 0, at most 1000; or, in strong noise, by more than scenes' contrasts are.
  float trajectory_threshold = 10;
  bool operator==(const VnlbStep&) const = default;
};

/// Empirical Bayesian estimation of space-time patches (VNLB: Arias and Morel, "Video denoising via empirical
/// Bayesian estimation of space-time patches", JMIV 2018; for pictures NL-Bayes, Lebrun, Buades and Morel, "A
/// nonlocal Bayesian image denoising algorithm", SIIMS 2013): a first step that makes the basic estimate, and
/// a second one unless left out.
struct VnlbParameters {
  /// How many frames before and after its own a reference patch is followed to, 0 to 7 each. Second slices
  /// may be one frame farther away.
  int before = 4;
  int after = 4;
  /// Most later frames that a result may wait for, 0 to 32; if it is left open, as many as are of use.
  std::optional<int> delay;
  VnlbStep first;
  std::optional<VnlbStep> second = VnlbStep{};
  bool operator==(const VnlbParameters&) const = default;

  static const FilterDescription<VnlbParameters>& description();
  /// Throws UsageError naming the parameter and its legal range.
  void validate() const;
};

/// How VNLB follows reference patches: as V-BM4D does with these parameters.
Vbm4dParameters followed_like(const VnlbParameters& parameters);

/// The frames that a result depends on.
Reach reach_of(const VnlbParameters& parameters);

/// Named sets of parameters, from fastest to best.
enum class VnlbProfile : std::uint8_t { kFast, kNp, kHigh, kBest };

VnlbParameters vnlb_profile(VnlbProfile profile);

}  // namespace limpid
