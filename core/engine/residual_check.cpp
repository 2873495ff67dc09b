#include "core/engine/residual_check.h"

#include <optional>

#include "core/bm3d/bm3d_parameters.h"
#include "core/noise/residual.h"

namespace limpid {
namespace {

/// Ratios up to this are of noise: that of cameras and codecs is 0.5 to 1.3.
constexpr double kRatioOfNoise = 1.5;
/// Lower factors than this leave nothing.
constexpr double kLeastStrength = 0.15;

}  // namespace

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
  if (!(ratio > kRatioOfNoise)) {
    return 1;
  }
  const double strength = kRatioOfNoise / ratio;
  return strength < kLeastStrength ? 0 : static_cast<float>(strength);
}

}  // namespace limpid
