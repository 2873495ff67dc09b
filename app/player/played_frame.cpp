// SPDX-License-Identifier: MIT

#include "app/player/played_frame.h"

#include <algorithm>
#include <iterator>

namespace limpid::app {

FilterSettings filter_settings(const PlayerSettings& settings) {
  FilterSettings filter = settings.filter;
  const FilterType& type = filter_type(filter.name);
  if (type.profiles.empty()) {
    filter.profile.reset();
  }
  std::erase_if(filter.parameters,
                [&](const auto& parameter) { return find_parameter(type, parameter.first) == nullptr; });
  return filter;
}

Filter offline_filter(const PlayerSettings& settings) {
  return make_filter(filter_settings(settings), false, "--");
}

Filter live_filter(const PlayerSettings& settings) {
  return make_filter(live(filter_settings(settings), false, 0), false, "--");
}

void LoopPosition::set_frames(std::shared_ptr<const LoopFrames> frames) {
  frames_ = std::move(frames);
  if (frames_ == nullptr || (next_ && *next_ > frames_->frames.size())) {
    next_.reset();
  }
}

bool LoopPosition::find(const SeekTarget& target) {
  next_.reset();
  if (frames_ == nullptr) {
    return false;
  }
  const double end = target.before ? target.time - kSameInstant : target.time + kSameInstant;
  const auto& frames = frames_->frames;
  const auto behind =
      std::ranges::find_if(frames, [&](const PlayedFramePointer& frame) { return frame->time > end; });
  if (behind == frames.begin() && end < frames_->begin) {
    return false;
  }
  next_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(std::distance(frames.begin(), behind), 1)) - 1;
  return true;
}

PlayedFramePointer LoopPosition::next() {
  return *next_ < frames_->frames.size() ? frames_->frames[(*next_)++] : nullptr;
}

}  // namespace limpid::app
