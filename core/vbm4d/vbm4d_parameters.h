// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/frame/reach.h"

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/parameter.h

/// The parameters of each step of V-BM4D. Patches are 8x8 samples.
struct Vbm4dStep {
  int spacing = 3;  ///< distance between reference patches, 1 to 8
  /// Maximum number of patches in a group with several trajectories, 1 to 16. Short trajectories are joined
  /// by those of similar patches (vbm4d::members_of()).
  int max_group_size = 16;
  int search_window = 19;      ///< side of the square search window for similar patches, odd, 1 to 65
  float max_distance = 10000;  ///< tau of similar patches, as Bm3dStep::max_distance
  /// A trajectory ends where its patch differs from the reference patch by more than this many times sigma^2
  /// (mean squared difference), above 0, at most 1000; in strong noise, also where it differs by more than
  /// the contrasts of scenes.
  float trajectory_threshold = 5;
  /// Threshold factors (times sigma) in groups of several frames, above 0, at most 10: for coefficients that
  /// are constant over time, and for those that change.
  float constant_threshold = 1;
  float changing_threshold = 1;
  float kaiser_beta = 2;  ///< shape of the aggregation window, 0 (flat) to 8
  bool operator==(const Vbm4dStep&) const = default;
};

/// Filtering along motion, similar to V-BM4D (Maggioni, Boracchi, Foi, Egiazarian, "Video denoising,
/// deblocking, and enhancement through separable 4-D nonlocal spatiotemporal transforms", TIP 2012): hard
/// thresholding that makes the basic estimate, and an optional Wiener step.
struct Vbm4dParameters {
  /// Numbers of frames before and after a frame to which a reference patch is followed, 0 to 16 together.
  int before = 4;
  int after = 4;
  /// Maximum number of later frames that a result waits for, 0 to 32. Without a value, results wait for all
  /// later frames that improve them.
  std::optional<int> delay;
  Vbm4dStep hard_threshold;
  float lambda = 2.7F;  ///< coefficients of magnitude <= lambda * sigma are zeroed; > 0, <= 100
  std::optional<Vbm4dStep> wiener = Vbm4dStep{};
  /// Accuracy of the second step's trajectories: 1 for whole samples, 4 for quarters of a sample.
  /// Interpolated patches help to estimate the others, but receive no estimate.
  int motion_precision = 1;
  /// The greatest share of VNLB's result (mixed_vnlb()) in luma or RGB, 0 to 1, where the picture changes
  /// from frame to frame (share_in_block()). The filters' errors differ, most of all in texture that moves
  /// fast; where nothing changes, V-BM4D's are smaller.
  float vnlb_share = 0;
  bool operator==(const Vbm4dParameters&) const = default;

  static const FilterDescription<Vbm4dParameters>& description();
  /// Throws a UsageError that names the parameter and its legal range.
  void validate() const;
};

/// The frames from which a group takes patches and to which it gives estimates, relative to its reference
/// patch's frame. Equal for both steps.
struct TemporalSpan {
  int before = 0;  ///< number of frames back that trajectories reach
  int after = 0;   ///< number of frames ahead
  /// Estimates go to this many frames before the reference's frame, and to all later frames of the
  /// trajectory. A frame's estimate is complete this many frames later.
  int spread = 0;

  int frames() const { return before + 1 + after; }
};

/// The span of the parameters, reduced so that results wait for at most `delay` frames.
TemporalSpan temporal_span(const Vbm4dParameters& parameters);

/// The frames that a result depends on. Groups of the second step with references in [t - after, t + spread]
/// reach [t - after - before, t + spread + after]; the basic estimates in that range depend on frames at
/// equal distances again.
Reach reach_of(const Vbm4dParameters& parameters);

/// Named sets of parameters, from fastest to best.
enum class Vbm4dProfile : std::uint8_t { kFast, kLc, kNp, kHigh, kBest };

Vbm4dParameters vbm4d_profile(Vbm4dProfile profile);
/// The parameters of a profile whose results wait for no later frame.
Vbm4dParameters vbm4d_live_profile(Vbm4dProfile profile);

}  // namespace limpid
