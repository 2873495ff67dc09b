// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid {

/// Checks a noise estimate by its result. Filters a single frame with it and compares what was removed from
/// textured and from flat areas (noise::residual_ratio()): noise is removed from both alike.
class ResidualCheck {
 public:
  /// `engine` filters the frames and must outlive this object.
  explicit ResidualCheck(Engine& engine) : engine_(engine) {}

  /// The factor from 0 to 1 by which the standard deviations of `model` should be reduced; 1 if the residual
  /// looks like noise. `frame` may be in any memory that the engine reads. All frames must have one format.
  float supported_strength(const Frame& frame, const NoiseModel& model);

 private:
  Engine& engine_;
  std::unique_ptr<Denoiser> denoiser_;
};

}  // namespace limpid
