// SPDX-License-Identifier: MIT
#include "app/pipeline/noise_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace limpid::app {
namespace {

// Ranges of the frequency u + v.
constexpr int kGreatestLow = 4;
constexpr int kGreatestMiddle = 9;

// An estimate is logged again when it differs from the last logged one by this factor and by this many steps
// of the samples, of 8 bits at most.
constexpr float kMarkedRatio = 1.25F;
constexpr double kMarkedDifference = 0.5;

bool differs_markedly(float a, float b, const FrameFormat& format) {
  const double steps = format.is_float() ? 1 : format.code_value();
  return std::max(a, b) > std::min(a, b) * kMarkedRatio &&
         std::abs(static_cast<double>(a) - static_cast<double>(b)) * steps > kMarkedDifference;
}

class NoiseLog {
 public:
  NoiseLog(const NoiseSettings& settings, bool is_watched)
      : settings_(settings), severity_(is_watched ? spdlog::level::debug : spdlog::level::info) {}

  void operator()(const NoiseEstimate& estimate, const NoiseModel& level, const Frame& frame) {
    const Strength& strength = settings_.strength;
    const std::string levels = plane_levels_text(level, frame.format);
    const bool is_told =
        strength != Strength() || (!settings_.noise && levels != plane_levels_text(estimate, frame.format));
    const std::string filtered = is_told ? "filtered with sigma " + levels : "";
    if (settings_.noise) {
      warn_of_faint(level, frame.format);
      if (frame.begins_anew && frame.index > 0 && !std::exchange(told_common_, true)) {
        spdlog::warn(
            "the given noise is used for all channels and slices of the stack; without --noise and --sigma, "
            "the noise of each is estimated");
      }
      if (!filtered.empty() && !std::exchange(told_given_, true)) {
        spdlog::info("noise: as given, " + filtered);
      }
      return;
    }
    const std::vector<std::string_view> names = color_plane_names(frame.format);
    if (last_) {
      bool changed = false;
      for (std::size_t plane = 0; plane < names.size(); ++plane) {
        changed = changed || differs_markedly(estimate.sigma[plane], last_->sigma[plane], frame.format);
      }
      if (!changed) {
        return;
      }
    }
    last_ = estimate;
    const std::string shape = shape_text(estimate, frame.format.color_model);
    const std::string evidence = evidence_text(estimate);
    spdlog::log(severity_,
                fmt::format("noise: estimated sigma {}{}{}{} (from frame {} on)",
                            plane_levels_text(estimate, frame.format), shape.empty() ? "" : ", " + shape,
                            evidence.empty() ? "" : ", " + evidence, filtered.empty() ? "" : "; " + filtered,
                            frame.index));
    if (!estimate.has_noise() && std::max(strength.luma, strength.chroma) <= 1 &&
        !std::exchange(told_none_, true)) {
      spdlog::warn(
          "no noise was found, so frames pass unchanged; if noise remains, set its level, as in --sigma 2");
    }
  }

 private:
  // Warns once of a given level that changes hardly any sample, as a level on a scale of 0 to 1 does.
  void warn_of_faint(const NoiseModel& level, const FrameFormat& format) {
    constexpr double kFaint = 0.25;  // of a step of the samples
    const float most = *std::ranges::max_element(level.sigma);
    const bool is_faint = most > 0 && !format.is_float() && double{most} * format.code_value() < kFaint;
    if (is_faint && !std::exchange(told_faint_, true)) {
      spdlog::warn(
          fmt::format("the noise level {} changes hardly any sample: levels are in code values of 8 bits, "
                      "and visible noise has 2 to 20",
                      level_text(most)));
    }
  }

  NoiseSettings settings_;
  spdlog::level::level_enum severity_;  // of estimates
  bool told_faint_ = false;
  bool told_common_ = false;
  bool told_none_ = false;   // prints the warning once per run
  bool told_given_ = false;  // as the line about given levels
  std::optional<NoiseModel> last_;
};

}  // namespace

std::string level_text(float sigma) {
  return sigma > 0 && sigma < 1 ? fmt::format("{:.2g}", sigma) : fmt::format("{:.1f}", sigma);
}

std::string steps_text(float sigma, const FrameFormat& format) {
  constexpr int kDepthOfVideo = 12;
  if (format.is_float() || format.bit_depth <= kDepthOfVideo) {
    return "";
  }
  const double steps = static_cast<double>(sigma) * format.code_value();
  return " (" + (steps < 10 ? fmt::format("{:.2g}", steps) : fmt::format("{:.0f}", steps)) +
         fmt::format(" of {})", (1 << format.bit_depth) - 1);
}

std::string plane_levels_text(const NoiseModel& noise, const FrameFormat& format) {
  std::string levels;
  const std::vector<std::string_view> names = color_plane_names(format);
  for (std::size_t plane = 0; plane < names.size(); ++plane) {
    const float sigma = noise.sigma[plane];
    levels += fmt::format("{}{} {}{}", plane == 0 ? "" : ", ", names[plane], level_text(sigma),
                          steps_text(sigma, format));
  }
  return levels;
}

std::vector<ChannelNoise> channels_of(const NoiseModel& noise, ColorModel color_model) {
  const bool has_opponent = color_model == ColorModel::kRgb && noise.opponent != NoiseModel().opponent;
  std::vector<ChannelNoise> channels;
  const std::vector<std::string_view> names = color_plane_names(color_model);
  for (std::size_t p = 0; p < names.size(); ++p) {
    channels.push_back({std::string(names[p]), noise.plane(static_cast<int>(p)), !has_opponent});
  }
  const std::vector<std::string_view> opponents = color_plane_names(ColorModel::kYuv);
  for (std::size_t c = 0; has_opponent && c < opponents.size(); ++c) {
    channels.push_back({"opponent " + std::string(opponents[c]), noise.opponent[c]});
  }
  return channels;
}

Bands bands_of(const PlaneNoise& noise) {
  constexpr int kRow = NoiseShape::kFrequencies;
  std::array<float, 3> sums{};
  std::array<int, 3> counts{};
  for (int v = 0; v < kRow; ++v) {
    for (int u = 0; u < kRow; ++u) {
      const std::size_t band = u + v <= kGreatestLow ? 0 : u + v <= kGreatestMiddle ? 1 : 2;
      sums[band] += noise.shape.spectrum[v * kRow + u];
      ++counts[band];
    }
  }
  const auto deviation = [&](std::size_t band) {
    return noise.sigma * std::sqrt(sums[band] / static_cast<float>(counts[band]));
  };
  return {deviation(0), deviation(1), deviation(2)};
}

std::string_view visibility_of(float sigma) {
  constexpr float kVisible = 3;
  constexpr float kStrong = 10;
  return sigma <= 0 ? "none" : sigma < kVisible ? "faint" : sigma < kStrong ? "visible" : "strong";
}

std::string_view kind_of(const PlaneNoise& noise) {
  if (noise.sigma == 0) {
    return "none found";
  }
  if (noise.shape.is_white()) {
    return "white";
  }
  const Bands bands = bands_of(noise);
  return bands.high < bands.low ? "smooth" : "not white";
}

std::string repetition_text(const PlaneNoise& noise) {
  return noise.sigma > 0 && noise.shape.repetition > 0
             ? fmt::format("{:.0f} % repeats", 100 * noise.shape.repetition)
             : "";
}

namespace {

struct SourceWords {
  NoiseSource source;
  std::string_view name;
  std::string_view text;  // of a level of 0; for kHidden, with the limit
};
constexpr SourceWords kSourceWords[] = {
    {NoiseSource::kGiven, "given", ""},
    {NoiseSource::kMotion, "motion", ""},
    {NoiseSource::kSingleFrames, "single frames", ""},
    {NoiseSource::kClean, "clean", "not more than in clean pictures"},
    {NoiseSource::kBelowPrecision, "below precision", "weaker than one step of the samples"},
    {NoiseSource::kCoded, "codec", "a codec has removed most of it"},
    {NoiseSource::kHidden, "texture", "texture hides noise weaker than {:.1f}"},
    {NoiseSource::kNotMeasurable, "not measurable",
     "not measurable, because samples are constant or at the ends of their range"},
    {NoiseSource::kRepeatedFrames, "repeated frames", "not measurable, because frames repeat"},
    {NoiseSource::kMotionLost, "motion lost", "motion could not be followed"},
};

const SourceWords& words_of(NoiseSource source) {
  return *std::ranges::find(kSourceWords, source, &SourceWords::source);
}

}  // namespace

std::string_view source_name(NoiseSource source) { return words_of(source).name; }

std::string evidence_text(const NoiseEstimate& noise) {
  const NoiseEvidence& evidence = noise.evidence;
  const bool is_found =
      evidence.source == NoiseSource::kMotion || evidence.source == NoiseSource::kSingleFrames;
  if (!is_found) {
    return fmt::format(fmt::runtime(words_of(evidence.source).text), evidence.limit);
  }
  const std::optional<Region>& area = noise.area;
  return fmt::format(
      "certainty {:.0f} %{}", 100 * evidence.certainty,
      area ? fmt::format(", only in {}x{} at {},{}", area->width, area->height, area->x, area->y) : "");
}

std::string shape_text(const NoiseModel& noise, ColorModel color_model) {
  std::string text;
  for (const std::string_view kind : {"smooth", "not white"}) {
    std::string names;
    bool all = true;
    for (const ChannelNoise& channel : channels_of(noise, color_model)) {
      if (channel.has_shape && channel.noise.sigma > 0) {
        if (kind_of(channel.noise) == kind) {
          names += (names.empty() ? "" : ", ") + channel.name;
        } else {
          all = false;
        }
      }
    }
    if (!names.empty()) {
      text += (text.empty() ? "" : "; ") + std::string(kind) + (all ? "" : " in " + names);
    }
  }
  for (const ChannelNoise& channel : channels_of(noise, color_model)) {
    if (channel.has_shape) {
      const std::string repetition = repetition_text(channel.noise);
      text += text.empty() || repetition.empty() ? "" : "; ";
      text += repetition;
      break;
    }
  }
  return text;
}

NoiseControl::Listener noise_log(const NoiseSettings& settings, bool is_watched) {
  return NoiseLog(settings, is_watched);
}

}  // namespace limpid::app
