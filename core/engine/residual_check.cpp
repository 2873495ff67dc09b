// SPDX-License-Identifier: MIT
#include "core/engine/residual_check.h"

#include <optional>

#include "core/bm3d/bm3d_parameters.h"
#include "core/noise/constants.h"
#include "core/noise/residual.h"

namespace limpid {
float ResidualCheck::supported_strength(const Frame& frame, const NoiseModel& model) {
  if (!model.has_noise()) {
    return 1;
  }
  if (!denoiser_) {
    denoiser_ = engine_.make_denoiser(bm3d_profile(Profile::kFast), model, frame.format);
  } else {
    denoiser_->reset();
    denoiser_->set_noise(model);
  }
  Frame alone = frame;
  alone.context_only = false;
  alone.begins_anew = true;
  denoiser_->send(alone);
  denoiser_->flush();
  const std::optional<Frame> result = denoiser_->receive();
  if (!result) {
    return 1;
  }
  const double ratio =
      noise::residual_ratio(engine_.in_host_memory(frame), engine_.in_host_memory(*result), model);
  if (!(ratio > noise::kConstants.residual.ratio_of_noise)) {
    return 1;
  }
  const double strength = noise::kConstants.residual.ratio_of_noise / ratio;
  return strength < noise::kConstants.residual.least_strength ? 0 : static_cast<float>(strength);
}

}  // namespace limpid
