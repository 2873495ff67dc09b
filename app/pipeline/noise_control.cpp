#include "app/pipeline/noise_control.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/console/plane_names.h"
#include "app/pipeline/noise_text.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

// An estimate is told again when it leaves the last one told by this factor and by this much.
constexpr float kMarkedRatio = 1.25F;
constexpr float kMarkedDifference = 0.5F;

// What removes the noise of subsampled chroma best is more than its own deviation, even if it is white.
constexpr float kSubsampledChroma = 1.2F;

bool differs_markedly(float a, float b) {
  return std::max(a, b) > std::min(a, b) * kMarkedRatio && std::abs(a - b) > kMarkedDifference;
}

}  // namespace

NoiseModel scaled(const NoiseModel& noise, float factor, float more) {
  NoiseModel result = noise;
  for (std::size_t p = 0; p < result.sigma.size(); ++p) {
    result.sigma[p] = std::min(noise.sigma[p] * factor + more, kMaxSigma);
    // Opponent channels whose noise follows from the planes' go on doing so.
    if (noise.opponent[p].sigma > 0) {
      result.opponent[p].sigma = std::min(noise.opponent[p].sigma * factor + more, kMaxSigma);
    }
  }
  return result;
}

void NoiseControl::observe(const Frame& frame) {
  if (is_estimated()) {
    tracker_.observe(frame);
  }
}

NoiseModel NoiseControl::level_of(const Frame& frame) {
  NoiseModel level;
  if (settings_.noise) {
    const auto& [noise, color_model] = *settings_.noise;
    if (color_model && *color_model != frame.format.color_model) {
      throw UsageError(fmt::format("the noise profile is of a source in {}, and this one is {}",
                                   fmt::join(color_plane_names(*color_model), ", "),
                                   to_string(frame.format)));
    }
    found_ = noise;
    level = scaled(noise, settings_.strength);
  } else {
    found_ = tracker_.take();
    report(found_, frame);
    level = scaled(found_, settings_.strength, std::max(settings_.strength - 1, 0.0F));
  }
  // Levels are used as they are given; models are of what is there, not of what is best.
  const bool is_level = settings_.noise && !settings_.noise->color_model;
  if (!is_level && (frame.format.chroma_shift_x > 0 || frame.format.chroma_shift_y > 0)) {
    for (const int plane : {1, 2}) {
      level.sigma[plane] = std::min(level.sigma[plane] * kSubsampledChroma, kMaxSigma);
    }
  }
  if (settings_.planes != PlaneChoice::kAll && frame.format.color_model != ColorModel::kYuv) {
    throw UsageError(std::string(settings_.planes == PlaneChoice::kLuma ? "--luma-only" : "--chroma-only") +
                     " needs a source in YUV, and this one is " + to_string(frame.format));
  }
  for (std::size_t plane = 0; plane < level.sigma.size(); ++plane) {
    const bool luma = plane == 0;
    const bool chosen =
        settings_.planes == PlaneChoice::kAll || luma == (settings_.planes == PlaneChoice::kLuma);
    level.sigma[plane] = chosen ? level.sigma[plane] : 0;
    sums_[plane] += static_cast<double>(level.sigma[plane]);
  }
  if (frames_++ == 0) {
    first_ = level;
  }
  last_ = level;
  return level;
}

NoiseControl::Levels NoiseControl::levels() const {
  Levels levels{first_, {}, last_};
  for (std::size_t plane = 0; plane < sums_.size() && frames_ > 0; ++plane) {
    levels.mean.sigma[plane] = static_cast<float>(sums_[plane] / static_cast<double>(frames_));
  }
  return levels;
}

void NoiseControl::report(const NoiseModel& estimate, const Frame& frame) {
  const std::vector<std::string_view> names = color_plane_names(frame.format);
  if (reported_) {
    bool changed = false;
    for (std::size_t plane = 0; plane < names.size(); ++plane) {
      changed = changed || differs_markedly(estimate.sigma[plane], reported_->sigma[plane]);
    }
    if (!changed) {
      return;
    }
  }
  reported_ = estimate;
  std::string text;
  for (std::size_t plane = 0; plane < names.size(); ++plane) {
    text += fmt::format("{}{} {:.1f}", plane == 0 ? "" : ", ", names[plane], estimate.sigma[plane]);
  }
  const std::string shape = shape_text(estimate, frame.format.color_model);
  spdlog::info(fmt::format("noise: estimated sigma {}{} (from frame {} on)", text,
                           shape.empty() ? "" : ", " + shape, frame.index));
  if (estimate == NoiseModel{} && settings_.strength <= 1) {
    spdlog::warn(
        "no noise was found, so frames pass unchanged; what strong compression has left of it can't be "
        "measured, but is removed if its level is given, as by --sigma 5, or by --strength 6, which adds 5");
  }
}

}  // namespace limpid::app
