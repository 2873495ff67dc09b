// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/frame/reach.h"
#include "core/vbm4d/vbm4d_parameters.h"

namespace limpid {

/// The parameters of each step of V-BM3D. Patches are 8x8 samples.
struct Vbm3dStep {
  int spacing = 6;              ///< distance between reference patches, 1 to 8
  int max_group_size = 8;       ///< maximum number of patches in a group, 1 to 16
  int search_window = 7;        ///< Ns: side of the search window in the reference patch's frame, odd, 1 to
                                ///< 65
  int predictive_window = 5;    ///< Npr: side of the search windows in other frames, odd, 1 to 33
  int best = 2;                 ///< Nb: number of search windows in each other frame, 1 to 4
  float position_bonus = 0.4F;  ///< advantage of a patch at the reference patch's position, in units of
                                ///< sigma^2, 0 to 100
  float max_distance = 3000;    ///< tau: maximum mean squared difference of patches in a group
  float kaiser_beta = 2;        ///< shape of the aggregation window, 0 (flat) to 8
  bool operator==(const Vbm3dStep&) const = default;
};

/// V-BM3D (Dabov, Foi, Egiazarian, "Video denoising by sparse 3D transform-domain collaborative filtering",
/// EUSIPCO 2007; Arias and Morel's V-BM3D of IPOL): groups of similar patches of several frames, found by
/// predictive search. For comparisons with other programs; V-BM4D has better results.
struct Vbm3dParameters {
  /// Numbers of frames before and after a frame that its groups may use, 0 to 16 together.
  int before = 4;
  int after = 4;
  /// Vbm4dParameters::delay
  std::optional<int> delay;
  Vbm3dStep hard_threshold;
  float lambda = 2.7F;  ///< coefficients of magnitude <= lambda * sigma are zeroed; > 0, <= 100
  std::optional<Vbm3dStep> wiener = Vbm3dStep{};
  bool operator==(const Vbm3dParameters&) const = default;

  static const FilterDescription<Vbm3dParameters>& description();
  /// Throws a UsageError that names the parameter and its legal range.
  void validate() const;
};

/// The parameters of V-BM4D that make it use the groups of V-BM3D, for the engines.
Vbm4dParameters vbm4d_of(const Vbm3dParameters& parameters);

Reach reach_of(const Vbm3dParameters& parameters);

/// Named sets of parameters, from fastest to best; `np` has the paper's values.
enum class Vbm3dProfile : std::uint8_t { kFast, kNp, kHigh };

Vbm3dParameters vbm3d_profile(Vbm3dProfile profile);

}  // namespace limpid
