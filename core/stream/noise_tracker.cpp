// SPDX-License-Identifier: MIT
#include "core/stream/noise_tracker.h"

#include <cmath>
#include <iterator>

namespace limpid {
namespace {

constexpr float kSameLevel = 1.15F;
constexpr int kContradictions = 3;  // that begin a scene
constexpr int kContradictionsAfterStep = 2;
// The share of quiet blocks, and the least ratio of their levels in two sections between which there is a
// step.
constexpr double kQuietBlocks = 0.1;
constexpr double kLeastStep = 1.1;
// The model of a fade without measurements before.
constexpr NoiseEstimate kNoEvidence{{}, {}, {.source = NoiseSource::kMotionLost}, {}};

// True if the differences contain only copied blocks.
bool repeats(const noise::NoiseStatistics& statistics) {
  const noise::ChannelStatistics& luma = statistics.channels[0];
  const bool differs = std::any_of(luma.differences.begin(), luma.differences.end(),
                                   [](const noise::Energies& bin) { return bin.blocks > 0; });
  return luma.copied > 0 && !differs;
}

// The middle rows of a frame, luma as a gray frame; other color models unchanged.
Frame middle_of(const Frame& whole, const Region& region) {
  constexpr int kShare = 4;
  constexpr int kRows = 16;  // a multiple of the rows that a block of any plane and field has
  const int height =
      std::min(std::max(region.height / kShare, NoiseTracker::kLeastSide) / kRows * kRows, region.height);
  Frame frame = part_of(
      whole, {region.x, region.y + (region.height - height) / 2 / kRows * kRows, region.width, height});
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
  const auto& [range, picture, area] = section().basis;
  const Frame part = part_of(frame, area.value_or(picture));
  const NoiseModel white = engine_.estimate_noise(part);
  for (std::size_t p = 0; p < own.white_variances.size(); ++p) {
    own.white_variances[p] = std::pow(double{white.sigma[p]}, 2);
  }
  std::optional<Frame> before;
  if (with_before && section().frames > 1) {
    before = part_of(last_.back(), area.value_or(picture));
  }
  own.statistics = engine_.measure_noise(part, before ? &*before : nullptr, range);
  own.statistics.patches = section().patches;
  return own;
}

// Texture may hide noise in one of two sections, so the quiet blocks must confirm a step. Coded noise changes
// with the types of frames.
bool NoiseTracker::is_step(const Measurement& earlier, const Measurement& later) {
  if (earlier.frames == 0) {
    return false;
  }
  const NoiseEstimate before = earlier.model();
  const NoiseEstimate after = later.model();
  if (before.evidence.coded || after.evidence.coded || have_like_levels(before, after, kSameLevel)) {
    return false;
  }
  const double quiet_before = noise::level_quantile(earlier.statistics.channels[0], kQuietBlocks);
  const double quiet_after = noise::level_quantile(later.statistics.channels[0], kQuietBlocks);
  return after.sigma[0] > before.sigma[0] ? quiet_after > kLeastStep * quiet_before
                                          : quiet_before > kLeastStep * quiet_after;
}

void NoiseTracker::begin_section(const Frame& frame, bool cut) {
  const Frame first = engine_.in_host_memory(frame);
  small_ = std::int64_t{frame.format.width} * frame.format.height < kLargePicture;
  Section next;
  next.basis = {noise::scene_range(first), noise::region_inside_bars(first), {}};
  next.cut = cut;
  next.before = model_;
  next.patches = noise::patch_deviations(part_of(first, next.basis.picture), next.basis.range);
  if (!cut) {
    const Basis& last = section().basis;
    next.begins = next.basis.range != last.range || next.basis.picture != last.picture;
    next.basis.area = next.begins ? std::nullopt : last.area;
  }
  if (next.begins) {
    begin_number(0);
  }
  sections_.push_back(std::move(next));
  if (std::ssize(sections_) > kSections) {
    sections_.pop_front();
  }
}

void NoiseTracker::begin_number(std::int64_t frames) {
  ended_.emplace_back(number_, model_);
  ++number_;
  std::fill_n(numbers_.rbegin(), std::min(frames, std::ssize(numbers_)), number_);
}

void NoiseTracker::begin_level(std::int64_t frames, Measurement measurement) {
  begin_number(frames);
  section().first = section().measurement = std::move(measurement);
  section().begins = true;
  section().whole = false;
  section().contradiction = {};
  section().steps.clear();
}

bool NoiseTracker::find_area(const Frame& frame) {
  Section& own = section();
  own.changing.add(part_of(engine_.in_host_memory(frame), own.basis.picture));
  if (own.frames == 1) {
    return false;
  }
  std::optional<Region> area = own.changing.find();
  if (area) {
    area->x += own.basis.picture.x;
    area->y += own.basis.picture.y;
  }
  if (area == own.basis.area || (!area && own.whole)) {
    return false;
  }
  own.basis.area = area;
  begin_level(own.whole ? own.contradiction.frames + 1 : own.frames, {});
  return true;
}

// The model from the measurements of the section and of those before it that it continues.
void NoiseTracker::set_model() {
  Measurement joined = section().measurement;
  if (const Measurement& earlier = sections_.front().first;
      !section().begins && std::ssize(sections_) == kSections && !is_step(earlier, section().first)) {
    joined.add(earlier);
  }
  model_ = joined.model();
  if (model_.has_noise()) {
    model_.area = section().basis.area;
  }
}

void NoiseTracker::add(const Measurement& own) {
  Section& to = section();
  Contradiction& contradiction = to.contradiction;
  if (!to.whole && contradiction.frames > 0 && to.measurement.frames > 0) {
    to.own = to.first.model();
  }
  if ((to.whole || contradiction.frames > 0) && !have_like_levels(own.model(), to.own, kSameLevel)) {
    contradiction.frames = std::max<std::int64_t>(contradiction.frames, 1);
    contradiction.measurement.add(own);
    // Coded noise alternates between types of frames: as many frames contradict a level as supported it.
    const int most = to.own.evidence.coded   ? kFramesToAverage
                     : contradiction.stepped ? kContradictionsAfterStep
                                             : kContradictions;
    if (contradiction.measurement.frames < most) {
      return;
    }
    begin_level(contradiction.frames, std::move(contradiction.measurement));
  } else {
    if (contradiction.stepped) {
      to.steps.clear();  // of the quiet blocks, but not of the noise
    }
    contradiction = {};
    if (to.whole) {
      return;
    }
    to.measurement.add(own);
    if (to.measurement.frames <= frames_to_continue()) {
      to.first = to.measurement;
    }
  }
  if (to.begins) {
    to.own = to.first.model();
    to.whole = to.measurement.frames >= kFramesToAverage;
    set_model();
  }
}

void NoiseTracker::track(const Frame& frame) {
  const bool was_settled = is_settled();
  Measurement own;
  if (!was_settled || is_check(0)) {
    own = measure(frame);
  }
  // Repeated frames are no evidence, unless a scene begins with them.
  const bool continues = section().whole || !section().begins;
  const bool is_evidence = own.frames > 0 && !(continues && repeats(own.statistics));
  if (was_settled) {
    section().changing = {};
  } else if (is_evidence && find_area(frame)) {
    own = measure(frame);
  }
  const auto& [range, picture, area] = section().basis;
  const noise::ChannelStatistics luma =
      engine_.measure_levels(middle_of(frame, area.value_or(picture)), range);
  Contradiction& contradiction = section().contradiction;
  const bool steps = !section().own.evidence.coded && section().steps.is_step(luma);
  if (steps && contradiction.frames == 0) {
    // The difference from the frame before has the noise of both levels.
    contradiction.measurement.add(measure(frame, false));
    contradiction.frames = 1;
    contradiction.stepped = true;
    return;
  }
  if (!steps) {
    section().steps.add(luma);
    if (contradiction.stepped) {
      contradiction = {};
      return;
    }
  }
  contradiction.frames += contradiction.frames > 0 ? 1 : 0;
  if (is_evidence) {
    add(own);
  }
}

void NoiseTracker::begin_fade() {
  if (section().frames == 1 && section().cut) {
    model_ = section().before;
    sections_.pop_back();
    ++section().frames;
  } else if (!section().whole && section().begins) {
    begin_level(section().frames, {});
    model_ = kNoEvidence;
  } else if (!section().whole) {
    section().first = section().measurement = {};
  }
  section().contradiction = {};
}

void NoiseTracker::observe(const Frame& frame) {
  const bool anew = frame_ == 0 || frame.begins_anew;
  if (anew) {
    last_.clear();
  }
  const BrightnessHistogram brightness = engine_.brightness_histogram(frame);
  const bool in_fade = fades_ && !anew;
  const bool may_cut = anew || in_fade || is_cut(brightness_, brightness);
  brightness_ = brightness;
  fades_ = last_.size() == 2 && (may_cut || !is_settled() || is_check(1)) &&
           noise::is_fade(engine_.in_host_memory(last_[0]), engine_.in_host_memory(last_[1]),
                          engine_.in_host_memory(frame));
  if (fades_ && !in_fade) {
    begin_fade();
  }
  const bool cut = may_cut && !fades_;
  // A scene that has just begun is measured first.
  if (cut || (frame_ % kSection == 0 && section().frames >= kFramesToAverage)) {
    begin_section(frame, cut);
  }
  numbers_.push_back(number_);
  ++frame_;
  ++section().frames;
  if (!fades_) {
    track(frame);
  }
  last_.push_back(frame);
  if (last_.size() > 2) {
    last_.pop_front();
  }
  // A section that continues another has that one's model until it has been measured, or if its first frame
  // is held.
  Section& own = section();
  if (own.begins || own.frames != frames_to_continue()) {
    return;
  }
  own.whole = true;
  if (own.measurement.frames > 1) {
    own.own = own.measurement.model();
    begin_number(own.frames);
    set_model();
    return;
  }
  own.first = own.measurement = {};
  if (fades_ && std::next(sections_.rbegin())->first.frames == 0) {
    begin_number(own.frames);
    model_ = kNoEvidence;
  }
}

NoiseEstimate NoiseTracker::take() {
  const std::int64_t number = numbers_.front();
  numbers_.pop_front();
  while (!ended_.empty() && ended_.front().first < number) {
    ended_.pop_front();
  }
  return number == number_ ? model_ : ended_.front().second;
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
