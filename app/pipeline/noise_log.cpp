// SPDX-License-Identifier: MIT
#include "app/pipeline/noise_log.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/pipeline/noise_text.h"
#include "core/frame/plane_names.h"

namespace limpid::app {
namespace {

// An estimate is logged again when it differs from the last logged one by this factor and by this much.
constexpr float kMarkedRatio = 1.25F;
constexpr float kMarkedDifference = 0.5F;

bool differs_markedly(float a, float b) {
  return std::max(a, b) > std::min(a, b) * kMarkedRatio && std::abs(a - b) > kMarkedDifference;
}

class NoiseLog {
 public:
  explicit NoiseLog(float strength) : strength_(strength) {}

  void operator()(const NoiseEstimate& estimate, const Frame& frame) {
    const std::vector<std::string_view> names = color_plane_names(frame.format);
    if (last_) {
      bool changed = false;
      for (std::size_t plane = 0; plane < names.size(); ++plane) {
        changed = changed || differs_markedly(estimate.sigma[plane], last_->sigma[plane]);
      }
      if (!changed) {
        return;
      }
    }
    last_ = estimate;
    std::string text;
    for (std::size_t plane = 0; plane < names.size(); ++plane) {
      text += fmt::format("{}{} {:.1f}", plane == 0 ? "" : ", ", names[plane], estimate.sigma[plane]);
    }
    const std::string shape = shape_text(estimate, frame.format.color_model);
    const std::string evidence = evidence_text(estimate);
    spdlog::info(fmt::format("noise: estimated sigma {}{}{} (from frame {} on)", text,
                             shape.empty() ? "" : ", " + shape, evidence.empty() ? "" : ", " + evidence,
                             frame.index));
    if (!estimate.has_noise() && strength_ <= 1 && !std::exchange(told_none_, true)) {
      spdlog::warn(
          "no noise was found, so frames pass unchanged; if noise remains, set its level, as in --sigma 2");
    }
  }

 private:
  float strength_;
  bool told_none_ = false;  // prints the warning once per run
  std::optional<NoiseModel> last_;
};

}  // namespace

NoiseControl::Listener noise_log(const NoiseSettings& settings) {
  return NoiseLog(std::max(settings.strength.luma, settings.strength.chroma));
}

}  // namespace limpid::app
