#include "app/noise_options.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "app/planes.h"
#include "core/error.h"

namespace limpid::app {
namespace {

constexpr float kMaxSigma = 255;
// An estimate is told again when it leaves the last one told by this factor and by this much.
constexpr float kMarkedRatio = 1.25F;
constexpr float kMarkedDifference = 0.5F;

std::optional<float> parse_number(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= kMaxSigma)) {
    return std::nullopt;
  }
  return value;
}

bool differs_markedly(float a, float b) {
  return std::max(a, b) > std::min(a, b) * kMarkedRatio && std::abs(a - b) > kMarkedDifference;
}

}  // namespace

std::optional<NoiseLevel> parse_sigma(const std::string& text) {
  if (text == "auto") {
    return std::nullopt;
  }
  std::vector<float> values;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::optional<float> value = parse_number(rest.substr(0, comma));
    if (!value) {
      break;
    }
    values.push_back(*value);
    if (comma == std::string_view::npos) {
      if (values.size() == 1) {
        return NoiseLevel{{values[0], values[0], values[0]}};
      }
      if (values.size() == 3) {
        return NoiseLevel{{values[0], values[1], values[2]}};
      }
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  throw UsageError(
      "--sigma: '" + text +
      "' is not a noise level: a number from 0 to 255, three of them separated by commas, or auto");
}

float parse_strength(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, float>, 3> kStrengths{
      {{"light", 0.7F}, {"medium", 1.0F}, {"strong", 1.4F}}};
  for (const auto& [strength, factor] : kStrengths) {
    if (name == strength) {
      return factor;
    }
  }
  throw UsageError("--strength: '" + name + "' is not one of light, medium, strong");
}

NoiseLevel NoiseControl::level_for(const Frame& frame, Engine& engine) {
  NoiseLevel level;
  if (sigma_) {
    level = *sigma_;
  } else {
    level = tracker_.update(engine.brightness(frame), [&] { return engine.estimate_noise(frame); });
    report(level, frame);
  }
  if (planes_ != PlaneChoice::kAll && frame.format.color_model != ColorModel::kYuv) {
    throw UsageError(std::string(planes_ == PlaneChoice::kLuma ? "--luma-only" : "--chroma-only") +
                     " needs a source in YUV, and this one is " + to_string(frame.format));
  }
  for (std::size_t plane = 0; plane < level.sigma.size(); ++plane) {
    const bool luma = plane == 0;
    const bool chosen = planes_ == PlaneChoice::kAll || luma == (planes_ == PlaneChoice::kLuma);
    level.sigma[plane] = chosen ? std::min(level.sigma[plane] * strength_, kMaxSigma) : 0;
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

void NoiseControl::report(const NoiseLevel& estimate, const Frame& frame) {
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
  spdlog::info(fmt::format("noise: estimated sigma {} (from frame {} on)", text, frame.index));
  if (estimate == NoiseLevel{}) {
    spdlog::warn(
        "no noise was found, so frames pass unchanged; noise that a camera or a codec has smoothed isn't "
        "recognised, but removed if its level is given: --sigma 5, or more");
  }
}

}  // namespace limpid::app
