// SPDX-License-Identifier: MIT
#include "core/engine/noise_tracker.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace limpid {
namespace {

constexpr std::size_t kDisagreementsToRestart = 3;
constexpr float kSameSigma = 0.5F;   // two levels agree within this difference
constexpr float kSameShare = 0.15F;  // or within this relative difference

// True if the differences contain only copied blocks.
bool repeats(const noise::NoiseStatistics& statistics) {
  const noise::ChannelStatistics& luma = statistics.channels[0];
  const bool differs = std::any_of(luma.differences.begin(), luma.differences.end(),
                                   [](const noise::Energies& bin) { return bin.blocks > 0; });
  return luma.copied > 0 && !differs;
}

}  // namespace

void NoiseTracker::Measurement::add(const Measurement& other) {
  frames += other.frames;
  for (std::size_t p = 0; p < white_variances.size(); ++p) {
    white_variances[p] += other.white_variances[p];
  }
  statistics.add(other.statistics);
}

NoiseModel NoiseTracker::Measurement::model() const {
  NoiseModel white;
  for (std::size_t p = 0; p < white_variances.size(); ++p) {
    white.sigma[p] = static_cast<float>(std::sqrt(white_variances[p] / frames));
  }
  return noise::model_of(statistics, white);
}

NoiseTracker::Measurement NoiseTracker::measure(const Frame& frame) {
  Measurement own{.frames = 1, .white_variances = {}, .statistics = {}};
  const NoiseModel white = engine_.estimate_noise(frame);
  for (std::size_t p = 0; p < own.white_variances.size(); ++p) {
    own.white_variances[p] = std::pow(double{white.sigma[p]}, 2);
  }
  own.statistics = engine_.measure_noise(frame, before_ ? &*before_ : nullptr, range_);
  return own;
}

bool NoiseTracker::agrees(const NoiseModel& own) const {
  for (std::size_t p = 0; p < own.sigma.size(); ++p) {
    if (std::abs(own.sigma[p] - model_.sigma[p]) > std::max(kSameSigma, kSameShare * model_.sigma[p])) {
      return false;
    }
  }
  return true;
}

void NoiseTracker::observe(const Frame& frame) {
  const BrightnessHistogram brightness = engine_.brightness_histogram(frame);
  const bool cut = scene_.frames == 0 || frame.begins_anew || is_cut(brightness_, brightness);
  brightness_ = brightness;
  begins_scene_ = cut;
  if (cut) {
    frames_of_scene_ = 0;
    before_.reset();
    const Frame first = engine_.in_host_memory(frame);
    range_ = noise::scene_range(first);
    picture_ = noise::region_inside_bars(first);
    if (!scene_numbers_.empty()) {
      ended_.emplace_back(scene_number_, model_);
    }
    ++scene_number_;
  }
  scene_numbers_.push_back(scene_number_);
  const Frame picture = part_of(frame, picture_);
  const bool is_check = ++frames_of_scene_ % kCheckInterval == 0;
  if (cut || scene_.frames < frames_to_average_ || !disagreeing_.empty() || is_check) {
    Measurement own = measure(picture);
    if (cut) {
      scene_ = {};
    }
    const bool whole = scene_.frames >= frames_to_average_;
    if (whole && repeats(own.statistics)) {
      before_ = picture;  // contributes no measurement
      return;
    }
    if (whole && !agrees(own.model())) {
      disagreeing_.push_back(std::move(own));
      if (disagreeing_.size() == kDisagreementsToRestart) {
        scene_ = {};
        for (const Measurement& each : disagreeing_) {
          scene_.add(each);
        }
        disagreeing_.clear();
        model_ = scene_.model();
      }
    } else {
      disagreeing_.clear();
      if (!whole) {
        scene_.add(own);
        model_ = scene_.model();
      }
    }
  }
  before_ = picture;
}

NoiseModel NoiseTracker::take() {
  const std::int64_t number = scene_numbers_.front();
  scene_numbers_.pop_front();
  while (!ended_.empty() && ended_.front().first < number) {
    ended_.pop_front();
  }
  return number == scene_number_ ? model_ : ended_.front().second;
}

SceneNoise noise_of_longest_scene(NoiseTracker& tracker, std::int64_t frames) {
  SceneNoise longest;
  // All frames of a scene have one model at this point.
  std::optional<NoiseModel> before;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < frames; ++i) {
    const NoiseModel noise = tracker.take();
    begin = noise == before ? begin : i;
    before = noise;
    if (i + 1 - begin > longest.frames) {
      longest = {noise, begin, i + 1 - begin};
    }
  }
  return longest;
}

}  // namespace limpid
