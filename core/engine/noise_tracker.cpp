// SPDX-License-Identifier: MIT
#include "core/engine/noise_tracker.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace limpid {
namespace {

constexpr float kSameLevel = 1.15F;
constexpr std::size_t kContradictions = 3;  // that begin a scene
constexpr std::size_t kContradictionsAfterStep = 2;

// True if the differences contain only copied blocks.
bool repeats(const noise::NoiseStatistics& statistics) {
  const noise::ChannelStatistics& luma = statistics.channels[0];
  const bool differs = std::any_of(luma.differences.begin(), luma.differences.end(),
                                   [](const noise::Energies& bin) { return bin.blocks > 0; });
  return luma.copied > 0 && !differs;
}

// Luma as a gray frame; other color models unchanged.
Frame luma_of(Frame frame) {
  if (frame.format.color_model == ColorModel::kYuv) {
    frame.format.color_model = ColorModel::kGray;
    frame.format.chroma_shift_x = 0;
    frame.format.chroma_shift_y = 0;
    frame.format.has_alpha = false;
  }
  return frame;
}

}  // namespace

void NoiseTracker::Measurement::add(const Measurement& other) {
  frames += other.frames;
  for (std::size_t p = 0; p < white_variances.size(); ++p) {
    white_variances[p] += other.white_variances[p];
  }
  statistics.add(other.statistics);
}

NoiseEstimate NoiseTracker::Measurement::model() const {
  NoiseModel white;
  for (std::size_t p = 0; p < white_variances.size(); ++p) {
    white.sigma[p] = static_cast<float>(std::sqrt(white_variances[p] / frames));
  }
  return noise::model_of(statistics, white);
}

NoiseTracker::Measurement NoiseTracker::measure(const Frame& frame, bool with_before) {
  Measurement own{.frames = 1, .white_variances = {}, .statistics = {}};
  const Frame part = part_of(frame, area_.value_or(picture_));
  const NoiseModel white = engine_.estimate_noise(part);
  for (std::size_t p = 0; p < own.white_variances.size(); ++p) {
    own.white_variances[p] = std::pow(double{white.sigma[p]}, 2);
  }
  std::optional<Frame> before;
  if (with_before && before_) {
    before = part_of(*before_, area_.value_or(picture_));
  }
  own.statistics = engine_.measure_noise(part, before ? &*before : nullptr, range_);
  return own;
}

void NoiseTracker::begin_scene(const Frame& frame) {
  frames_of_scene_ = 0;
  before_.reset();
  scene_ = {};
  steps_.clear();
  contradiction_ = {};
  const Frame first = engine_.in_host_memory(frame);
  range_ = noise::scene_range(first);
  picture_ = noise::region_inside_bars(first);
  changing_ = {};
  area_.reset();
  if (!scene_numbers_.empty()) {
    ended_.emplace_back(scene_number_, model_);
  }
  ++scene_number_;
}

void NoiseTracker::begin_number(std::size_t frames) {
  ended_.emplace_back(scene_number_, model_);
  ++scene_number_;
  std::fill_n(scene_numbers_.rbegin(), std::min(frames, scene_numbers_.size()), scene_number_);
}

void NoiseTracker::find_area(const Frame& frame) {
  changing_.add(part_of(engine_.in_host_memory(frame), picture_));
  std::optional<Region> area = changing_.find();
  if (area) {
    area->x += picture_.x;
    area->y += picture_.y;
  }
  if (area == area_ || (!area && is_whole())) {
    return;
  }
  area_ = area;
  if (is_whole()) {
    begin_number(contradiction_.frames + 1);
  }
  scene_ = {};
  contradiction_ = {};
  steps_.clear();
}

NoiseEstimate NoiseTracker::scene_model() const {
  NoiseEstimate model = scene_.model();
  if (model.has_noise()) {
    model.area = area_;
  }
  return model;
}

void NoiseTracker::begin_at_contradiction() {
  begin_number(contradiction_.frames);
  scene_ = {};
  for (const Measurement& each : contradiction_.measurements) {
    scene_.add(each);
  }
  contradiction_ = {};
  steps_.clear();
  model_ = scene_model();
}

void NoiseTracker::add(Measurement own) {
  const bool whole = is_whole();
  if ((whole || contradiction_.frames > 0) && !have_like_levels(own.model(), model_, kSameLevel)) {
    contradiction_.frames = std::max<std::size_t>(contradiction_.frames, 1);
    contradiction_.measurements.push_back(std::move(own));
    // Coded noise alternates between types of frames: as many frames contradict a level as supported it.
    const std::size_t most = model_.evidence.coded    ? static_cast<std::size_t>(frames_to_average_)
                             : contradiction_.stepped ? kContradictionsAfterStep
                                                      : kContradictions;
    if (contradiction_.measurements.size() == most) {
      begin_at_contradiction();
    }
    return;
  }
  if (contradiction_.stepped) {
    steps_.clear();  // of the quiet blocks, but not of the noise
  }
  contradiction_ = {};
  if (!whole) {
    scene_.add(own);
    model_ = scene_model();
  }
}

void NoiseTracker::observe(const Frame& frame) {
  const BrightnessHistogram brightness = engine_.brightness_histogram(frame);
  begins_scene_ = frames_of_scene_ == 0 || frame.begins_anew || is_cut(brightness_, brightness);
  brightness_ = brightness;
  if (begins_scene_) {
    begin_scene(frame);
  }
  scene_numbers_.push_back(scene_number_);
  const bool is_check = ++frames_of_scene_ % kCheckInterval == 0;
  const auto is_settled = [&] { return is_whole() && contradiction_.frames == 0; };
  if (is_settled()) {
    changing_ = {};
  } else {
    find_area(frame);
  }
  const bool whole = is_whole();
  Measurement own;
  if (is_check || !is_settled()) {
    own = measure(frame);
  } else {
    own.statistics =
        engine_.measure_noise(luma_of(part_of(frame, area_.value_or(picture_))), nullptr, range_);
  }
  before_ = frame;
  const noise::ChannelStatistics& luma = own.statistics.channels[0];
  const bool steps = !model_.evidence.coded && steps_.is_step(luma);
  if (steps && contradiction_.frames == 0) {
    // The difference from the frame before has the noise of both levels.
    contradiction_ = {.measurements = {measure(frame, false)}, .frames = 1, .stepped = true};
    return;
  }
  if (!steps) {
    steps_.add(luma);
    if (contradiction_.stepped) {
      contradiction_ = {};
      return;
    }
  }
  contradiction_.frames += contradiction_.frames > 0 ? 1 : 0;
  if (own.frames > 0 && !(whole && repeats(own.statistics))) {
    add(std::move(own));
  }
}

NoiseEstimate NoiseTracker::take() {
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
  std::optional<NoiseEstimate> before;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < frames; ++i) {
    const NoiseEstimate noise = tracker.take();
    begin = noise == before ? begin : i;
    before = noise;
    if (i + 1 - begin > longest.frames) {
      longest = {noise, begin, i + 1 - begin};
    }
  }
  return longest;
}

}  // namespace limpid
