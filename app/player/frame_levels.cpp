// SPDX-License-Identifier: MIT
#include "app/player/frame_levels.h"

#include <algorithm>
#include <utility>

namespace limpid::app {
namespace {

// Reading so far takes no longer than a seek.
constexpr int kMostRead = 100;
constexpr std::size_t kMostKnown = 1000;

}  // namespace

bool FrameLevels::can_continue(double time, const NoiseSettings& settings) const {
  return settings == settings_ && !known_.empty() &&
         time > std::max(first_time_, known_.front().time) - 0.5 / frames_per_second_ &&
         time < known_.back().time + kMostRead / frames_per_second_;
}

// Begins with a frame whose number in the file is a multiple of the grid's section.
void FrameLevels::begin(double time, const NoiseSettings& settings, const FrameStore::GivenUp& given_up) {
  if (!source_) {
    source_ = open_();
  }
  settings_ = settings;
  times_.clear();
  known_.clear();
  control_.emplace(settings, engine_,
                   [this](const NoiseEstimate& noise, const NoiseModel& level, const Frame& /*frame*/) {
                     known_.push_back({times_.front(), {noise, level}});
                     times_.pop_front();
                   });
  const LevelGrid grid = control_->grid();
  const double lead = static_cast<double>(grid.lead()) / frames_per_second_;
  source_->seek(std::max(time - lead, 0.0), 0, given_up, {});
  has_ended_ = true;
  while (std::optional<StoredFrame> frame =
             given_up() ? std::nullopt : next_frame(*source_, frames_per_second_)) {
    if (grid.may_begin(frame->frame.index)) {
      const bool begins_file = frame->frame.index == 0;
      first_time_ =
          begins_file ? frame->time : frame->time + static_cast<double>(grid.before) / frames_per_second_;
      has_ended_ = false;
      return send(std::move(*frame));
    }
  }
}

void FrameLevels::send(StoredFrame frame) {
  times_.push_back(frame.time);
  control_->send(std::move(frame.frame));
  while (control_->receive()) {  // the listener has its level
  }
}

std::vector<FrameLevels::Level> FrameLevels::find(double time, std::size_t count,
                                                  const NoiseSettings& settings,
                                                  const FrameStore::GivenUp& given_up) {
  if (!can_continue(time, settings)) {
    begin(time, settings, given_up);
  }
  const auto first = [this, earliest = time - 0.5 / frames_per_second_] {
    return std::ranges::find_if(known_, [&](const Known& each) { return each.time > earliest; });
  };
  while (!has_ended_ && !given_up() && known_.end() - first() < static_cast<std::ptrdiff_t>(count)) {
    if (std::optional<StoredFrame> frame = next_frame(*source_, frames_per_second_)) {
      send(std::move(*frame));
    } else {
      control_->flush();
      has_ended_ = true;
    }
  }
  std::vector<Level> levels;
  for (auto each = first(); each != known_.end() && levels.size() < count; ++each) {
    levels.push_back(each->level);
  }
  while (known_.size() > kMostKnown) {
    known_.pop_front();
  }
  return levels;
}

}  // namespace limpid::app
