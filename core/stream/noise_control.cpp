// SPDX-License-Identifier: MIT
#include "core/stream/noise_control.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/frame/combing.h"

namespace limpid {

void FieldControl::decide(Frame& frame) {
  if (choice_ != FieldChoice::kAuto) {
    frame.interlaced = choice_ == FieldChoice::kInterlaced;
    return;
  }
  if (frame.begins_anew) {
    reset();
  }
  const bool is_flagged = frame.interlaced;
  const float share = combed_share(frame);
  before_ = frame;
  const bool is_by_field = share >= (is_flagged ? kManyBlocksOfInterlaced : kManyBlocks);
  by_field_ = is_by_field ? 1 + hold_ : std::max(by_field_ - 1, 0);
  combed_ = share > 0 ? 1 + kHold : std::max(combed_ - 1, 0);
  frame.interlaced = by_field_ > 0;
  frame.combed = is_flagged || combed_ > 0;
}

void FieldControl::reset() {
  before_.reset();
  by_field_ = combed_ = 0;
}

float FieldControl::combed_share(const Frame& frame) const {
  // Frames decoded by a GPU may be converted in host memory when their size changes.
  if (!before_ && frame.interlaced) {
    return limpid::combed_share(engine_.in_host_memory(frame));
  }
  const bool is_comparable = before_ && before_->format == frame.format && before_->memory == frame.memory;
  return is_comparable ? engine_.combed_share(frame, *before_) : 0;
}

namespace {

// The best sigma for filtering subsampled chroma is greater than its noise level, even for white noise.
// Without a ChromaStrength, the factor grows with the noise; it has the greatest PSNR on clips
// with noise of 2 to 20 code values.
float strength_of_subsampled_chroma(float sigma) { return std::clamp(1.08F + 0.008F * sigma, 1.1F, 1.2F); }

// "Y, U, V".
std::string plane_list(ColorModel model) {
  std::string list;
  for (const std::string_view name : color_plane_names(model)) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

// The noise with all standard deviations multiplied by their strength, limited to kMaxSigma.
NoiseModel scaled(const NoiseModel& noise, const Strength& strength, bool estimated) {
  NoiseModel result = noise;
  for (std::size_t p = 0; p < result.sigma.size(); ++p) {
    const float factor = p == 0 ? strength.luma : strength.chroma;
    const float more = estimated ? std::max(factor - 1, 0.0F) : 0;
    result.sigma[p] = std::min(noise.sigma[p] * factor + more, kMaxSigma);
    // Opponent channels whose noise follows from the planes remain so.
    if (noise.opponent[p].sigma > 0) {
      result.opponent[p].sigma = std::min(noise.opponent[p].sigma * factor + more, kMaxSigma);
    }
  }
  return result;
}

}  // namespace

void NoiseSettings::check(const FrameFormat& format, Latency latency) const {
  if (repair != Repair::kOff && latency == Latency::kNone) {
    throw UsageError(
        "repair: live video and the window cannot be repaired, as defects are found with later frames; use "
        "\"limpid denoise\"");
  }
  if (noise) {
    if (const std::optional<ColorModel> color_model = noise->color_model;
        color_model && *color_model != format.color_model) {
      throw UsageError("the noise profile has the planes " + plane_list(*color_model) +
                       ", but the source is " + to_string(format) + "; use --sigma " +
                       shortest_text(std::round(10 * noise->noise.sigma[0]) / 10) + ", or --before format=" +
                       (*color_model == ColorModel::kYuv   ? "yuv420p"
                        : *color_model == ColorModel::kRgb ? "gbrp"
                                                           : "gray") +
                       (format.bit_depth > 8 ? "16le" : ""));
    }
    if (const std::optional<Region>& area = noise->noise.area; area && !is_within(*area, format)) {
      throw UsageError("the noise profile has an area that lies outside the picture of " +
                       std::to_string(format.width) + "x" + std::to_string(format.height) +
                       "; remove \"area\" from the profile, or measure the noise of this video");
    }
  }
  if (strength.luma != strength.chroma && format.color_model != ColorModel::kYuv) {
    throw UsageError("planes, strength: luma and chroma can differ only in YUV, and the source is " +
                     to_string(format));
  }
}

void NoiseControl::begin() {
  tracker_.emplace(engine_);
  repairer_ = Repairer(settings_.repair);
  waiting_.clear();
  leveled_.clear();
  found_ = {};
  levels_ = {};
  sums_ = {};
  frames_ = 0;
}

void NoiseControl::set(const NoiseSettings& settings) {
  const bool begins = begins_with(settings);
  settings_ = settings;
  if (begins) {
    begin();
  }
}

void NoiseControl::reset() {
  if (fields_) {
    fields_->reset();
  }
  begin();
}

void NoiseControl::send(Frame frame) {
  if (fields_) {
    fields_->decide(frame);
  }
  if (settings_.repair != Repair::kOff) {
    frame = engine_.in_host_memory(frame);
  }
  repairer_.send(std::move(frame));
  observe_repaired();
}

void NoiseControl::observe_repaired() {
  while (std::optional<Repairer::Item> item = repairer_.receive()) {
    if (is_estimated()) {
      tracker_->observe(item->frame);
    }
    waiting_.push_back(*std::move(item));
    if (std::ssize(waiting_) > look_ahead() - Repairer::look_ahead(settings_.repair)) {
      level_first();
    }
  }
}

void NoiseControl::flush() {
  repairer_.flush();
  observe_repaired();
  while (!waiting_.empty()) {
    level_first();
  }
}

// Levels are set as soon as the frames they depend on have been sent, so that they do not depend on the time
// of receive().
void NoiseControl::level_first() {
  auto& [frame, defects] = waiting_.front();
  const NoiseModel level = level_of(frame);
  if (!frame.level_only) {
    leveled_.push_back({std::move(frame), {level, std::move(defects)}, found_});
  }
  waiting_.pop_front();
}

std::optional<LeveledFrame> NoiseControl::receive() {
  if (leveled_.empty()) {
    return std::nullopt;
  }
  LeveledFrame result = std::move(leveled_.front());
  leveled_.pop_front();
  return result;
}

NoiseModel NoiseControl::level_for(const Frame& frame) {
  if (settings_.repair != Repair::kOff) {
    throw UsageError("repair: not available here; use \"limpid denoise\"");
  }
  if (is_estimated()) {
    tracker_->observe(frame);
  }
  return level_of(frame);
}

NoiseModel NoiseControl::level_of(const Frame& frame) {
  settings_.check(frame.format, latency_);
  found_ = is_estimated() ? tracker_->take()
                          : NoiseEstimate{settings_.noise->noise, settings_.noise->chroma_strength};
  NoiseModel level = scaled(found_, settings_.strength, is_estimated());
  // Given levels are used unchanged. Models describe the noise of the video, not the best sigma for
  // filtering.
  const bool is_level = settings_.noise && !settings_.noise->color_model;
  if (!is_level && (frame.format.chroma_shift_x > 0 || frame.format.chroma_shift_y > 0)) {
    for (const int plane : {1, 2}) {
      const float sigma = level.sigma[plane];
      const float known = found_.chroma_strength[plane];
      level.sigma[plane] =
          std::min(sigma * (known > 0 ? known : strength_of_subsampled_chroma(sigma)), kMaxSigma);
    }
  }
  if (frame.context_only) {
    return level;
  }
  if (listener_) {
    listener_(found_, level, frame);
  }
  if (frames_++ == 0) {
    levels_.first = level;
  }
  for (std::size_t plane = 0; plane < level.sigma.size(); ++plane) {
    sums_[plane] += static_cast<double>(level.sigma[plane]);
    levels_.mean.sigma[plane] = static_cast<float>(sums_[plane] / static_cast<double>(frames_));
  }
  levels_.last = level;
  return level;
}

}  // namespace limpid
