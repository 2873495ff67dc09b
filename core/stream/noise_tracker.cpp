// SPDX-License-Identifier: MIT
#include "core/stream/noise_tracker.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace limpid {
namespace {

constexpr float kSameLevel = 1.15F;
constexpr int kContradictions = 3;  // that begin a scene
constexpr int kContradictionsAfterStep = 2;
constexpr std::size_t kLevels = 8;  // of quiet blocks, that are kept
// Share of the single blocks that shows noise rather than texture.
constexpr double kQuietBlocks = 0.1;
// The model of a fade without measurements before.
constexpr NoiseEstimate kNoEvidence{{}, {}, {.source = NoiseSource::kMotionLost}, {}};

// True if the differences contain only copied blocks.
bool repeats(const noise::NoiseStatistics& statistics) {
  const noise::ChannelStatistics& luma = statistics.channels[0];
  const bool differs = std::any_of(luma.differences.begin(), luma.differences.end(),
                                   [](const noise::Energies& bin) { return bin.blocks > 0; });
  return luma.copied > 0 && !differs;
}

// True if the level of a frame's quiet blocks is beyond the range of the last three levels, and differs by
// more than 15 % from the median of all. Without a step, it hardly changes from frame to frame; in coded
// video it alternates between types of frames.
bool may_be_step(const std::deque<double>& levels, double level) {
  constexpr double kLeastStep = 1.15;
  constexpr std::size_t kLeastFrames = 2;
  constexpr std::ptrdiff_t kFramesOfRange = 3;
  if (levels.size() < kLeastFrames || level == 0) {
    return false;
  }
  const auto [least, most] =
      std::minmax_element(levels.end() - std::min(kFramesOfRange, std::ssize(levels)), levels.end());
  std::vector<double> sorted(levels.begin(), levels.end());
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  return level > std::max(*most, *middle * kLeastStep) ||
         level * kLeastStep < std::min(*least * kLeastStep, *middle);
}

// The middle rows of a frame, luma as a gray frame; other color models unchanged.
Frame middle_of(const Frame& whole) {
  constexpr int kShare = 4;
  constexpr int kRows = 16;  // a multiple of the rows that a block of any plane and field has
  const int all = whole.format.height;
  const int rows = std::min(std::max(all / kShare, NoiseTracker::kLeastSide) / kRows * kRows, all);
  Frame frame = part_of(whole, {0, (all - rows) / 2 / kRows * kRows, whole.format.width, rows});
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
  const Basis& basis = section().basis;
  const Frame part = basis.part(frame);
  const NoiseModel white = engine_.estimate_noise(part);
  for (std::size_t p = 0; p < own.white_variances.size(); ++p) {
    own.white_variances[p] = std::pow(double{white.sigma[p]}, 2);
  }
  const bool compares = with_before && section().frames > 1;
  const Frame before = compares ? basis.part(last_.back()) : Frame();
  own.statistics = engine_.measure_noise(part, compares ? &before : nullptr, basis.range);
  own.statistics.patches = section().patches;
  return own;
}

// Texture may hide noise in one of two sections, so the quiet blocks must confirm a step. Coded noise changes
// with the types of frames.
bool NoiseTracker::is_step(const Measurement& earlier, const Measurement& later) {
  constexpr double kLeastStep = 1.1;  // ratio of the levels of quiet blocks
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
  next.before = cut ? std::optional(*model_) : std::nullopt;
  next.patches = noise::patch_deviations(part_of(first, next.basis.picture), next.basis.range);
  if (!cut) {
    const Basis& last = section().basis;
    next.begins = next.basis.range != last.range || next.basis.picture != last.picture;
    next.basis.area = next.begins ? std::nullopt : last.area;
  }
  if (next.begins) {
    begin_model(0);
  }
  sections_.push_back(std::move(next));
  if (std::ssize(sections_) > kSections) {
    sections_.pop_front();
  }
}

void NoiseTracker::begin_model(std::int64_t frames) {
  model_ = std::make_shared<NoiseEstimate>(*model_);
  std::fill_n(models_.rbegin(), std::min(frames, std::ssize(models_)), model_);
}

void NoiseTracker::begin_level(std::int64_t frames, Measurement measurement) {
  begin_model(frames);
  section().first = section().measurement = std::move(measurement);
  section().begins = true;
  section().whole = false;
  section().contradiction = {};
  section().levels.clear();
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
  *model_ = joined.model();
  if (model_->has_noise()) {
    model_->area = section().basis.area;
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
      to.levels.clear();  // the step is one of the quiet blocks, but not of the noise
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
  const Basis& basis = section().basis;
  const double level =
      noise::level_quantile(engine_.measure_levels(middle_of(basis.part(frame)), basis.range), kQuietBlocks);
  std::deque<double>& levels = section().levels;
  Contradiction& contradiction = section().contradiction;
  const bool steps = !section().own.evidence.coded && may_be_step(levels, level);
  if (steps && contradiction.frames == 0) {
    // The difference from the frame before has the noise of both levels.
    contradiction.measurement.add(measure(frame, false));
    contradiction.frames = 1;
    contradiction.stepped = true;
    return;
  }
  if (!steps) {
    if (level > 0) {
      levels.push_back(level);
    }
    if (levels.size() > kLevels) {
      levels.pop_front();
    }
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
  if (section().frames == 1 && section().before) {
    *model_ = *section().before;
    sections_.pop_back();
    ++section().frames;
  } else if (!section().whole && section().begins) {
    begin_level(section().frames, {});
    *model_ = kNoEvidence;
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
  models_.push_back(model_);
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
    begin_model(own.frames);
    set_model();
    return;
  }
  own.first = own.measurement = {};
  if (fades_ && std::next(sections_.rbegin())->first.frames == 0) {
    begin_model(own.frames);
    *model_ = kNoEvidence;
  }
}

NoiseEstimate NoiseTracker::take() {
  NoiseEstimate model = *models_.front();
  models_.pop_front();
  return model;
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
