#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/frame/reach.h"
#include "core/vbm4d/predictive_search.h"

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/filter_description.h

/// The parameters that both steps of V-BM4D have. Patches are of 8x8 samples.
struct Vbm4dStep {
  int spacing = 3;  ///< distance between reference patches, 1 to 8
  /// Most patches in a group that has more than a single trajectory, 1 to 16: short trajectories are joined
  /// by those of similar patches (vbm4d::members_of()).
  int max_group_size = 16;
  int search_window = 19;      ///< side of the square in which similar patches are sought, odd, 1 to 65
  float max_distance = 10000;  ///< tau: of similar patches, as of Bm3dStep
  /// A trajectory ends where its patch differs by more than this many times sigma^2 from the reference patch
  /// (mean squared difference), over 0, at most 1000; or, in strong noise, by more than scenes' contrasts
  /// are.
  float trajectory_threshold = 5;
  /// What noise is taken to be where a group has several frames, times sigma, over 0, at most 10: in
  /// coefficients that are constant over time, and in those that change.
  float constant_threshold = 1;
  float changing_threshold = 1;
  float kaiser_beta = 2;  ///< shape of the aggregation window, 0 (flat) to 8
  /// Groups are V-BM3D's, of similar patches of all frames in reach, not of trajectories. `search_window` and
  /// `trajectory_threshold` have no effect then.
  std::optional<vbm4d::PredictiveSearch> predictive = std::nullopt;
  bool operator==(const Vbm4dStep&) const = default;
};

/// Filtering along motion, nearest to V-BM4D (Maggioni, Boracchi, Foi, Egiazarian, "Video denoising,
/// deblocking, and enhancement through separable 4-D nonlocal spatiotemporal transforms", TIP 2012):
/// hard thresholding that makes the basic estimate, and a Wiener step unless left out.
struct Vbm4dParameters {
  /// How many frames before and after its own a reference patch is followed to, 0 to 16 together.
  int before = 4;
  int after = 4;
  /// Most later frames that a result may wait for, 0 to 32; if it is left open, as many as are of use.
  std::optional<int> delay;
  Vbm4dStep hard_threshold;
  float lambda = 2.7F;  ///< coefficients of magnitude <= lambda * sigma are zeroed; > 0, <= 100
  std::optional<Vbm4dStep> wiener = Vbm4dStep{};
  /// The second step's trajectories are followed to so fine parts of a sample, 1 or 4. What lies between
  /// samples is interpolated, and its frame gets no estimate of it.
  int motion_precision = 1;
  bool operator==(const Vbm4dParameters&) const = default;

  static const FilterDescription<Vbm4dParameters>& description();
  /// Throws UsageError naming the parameter and its legal range.
  void validate() const;
};

/// Which frames a group takes patches from and gives estimates to, relative to its reference patch's. Both
/// steps' groups do so alike.
struct TemporalSpan {
  int before = 0;  ///< trajectories reach so many frames back
  int after = 0;   ///< and so many ahead
  /// Estimates go to so many frames before the reference's, and to all later ones of the trajectory. A
  /// frame's estimate is complete so many frames later.
  int spread = 0;

  int frames() const { return before + 1 + after; }
};

/// What remains of the parameters' span if results may not wait for longer than `delay`.
TemporalSpan temporal_span(const Vbm4dParameters& parameters);

/// The frames that a result depends on: groups of the second step with references in [t - after, t + spread]
/// reach [t - after - before, t + spread + after], whose basic estimates are made likewise.
Reach reach_of(const Vbm4dParameters& parameters);

/// Named sets of parameters, from fastest to best.
enum class Vbm4dProfile : std::uint8_t { kFast, kLc, kNp, kHigh };

Vbm4dParameters vbm4d_profile(Vbm4dProfile profile);
/// Those of a profile where results wait for no later frame.
Vbm4dParameters vbm4d_live_profile(Vbm4dProfile profile);

}  // namespace limpid
