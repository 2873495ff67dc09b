// SPDX-License-Identifier: MIT
#include "app/player/noise_area.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "app/pipeline/noise_text.h"
#include "core/engine/noise_tracker.h"
#include "core/frame/region.h"
#include "core/settings/noise_profile.h"

namespace limpid::app {

Region stored_region(io::Rectangle part, const FrameFormat& format, const io::DisplayProperties& display) {
  const io::Orientation& turned = display.orientation;
  const int width = turned.transposed ? format.height : format.width;
  const int height = turned.transposed ? format.width : format.height;
  part.x = turned.mirrored_x ? width - part.x - part.width : part.x;
  part.y = turned.mirrored_y ? height - part.y - part.height : part.y;
  return turned.transposed ? Region{part.y, part.x, part.height, part.width}
                           : Region{part.x, part.y, part.width, part.height};
}

namespace {

// The part of the displayed picture that shows a region of the stored frame.
io::Rectangle displayed_part(const Region& region, const ViewerOptions& options) {
  const io::Orientation& turned = options.display.orientation;
  const FrameFormat& format = options.format;
  const int width = turned.transposed ? format.height : format.width;
  const int height = turned.transposed ? format.width : format.height;
  io::Rectangle part = turned.transposed ? io::Rectangle{region.y, region.x, region.height, region.width}
                                         : io::Rectangle{region.x, region.y, region.width, region.height};
  part.x = turned.mirrored_x ? width - part.x - part.width : part.x;
  part.y = turned.mirrored_y ? height - part.y - part.height : part.y;
  return part;
}

}  // namespace

void NoiseArea::mark(const io::Rectangle& box) {
  is_marked_now_ = true;
  box_.emplace(box, picture_, NoiseTracker::kLeastSide);
}

void NoiseArea::suit(const NoiseSettings& settings) {
  if (settings.noise != noise_) {
    box_.reset();
  }
}

void NoiseArea::leave(const PlayedFrame& frame) {
  before_ = frame.noisy;
  before_sequence_ = frame.sequence;
}

NoiseArea::Measured NoiseArea::measure(const PlayedFrame& shown) {
  constexpr int kLeast = NoiseTracker::kLeastSide;
  if (options_.after != nullptr) {
    box_.reset();
    return {{}, "--after changes the picture; noise is measured in a window without it"};
  }
  const io::Rectangle& box = box_->box();
  if (box.width < kLeast || box.height < kLeast) {
    return {{},
            fmt::format("{}x{} marked; {}x{} are needed to measure noise", box.width, box.height, kLeast,
                        kLeast)};
  }
  spdlog::debug(fmt::format("box: {}x{} at {},{}", box.width, box.height, box.x, box.y));
  const Region region = whole_samples(stored_region(box, options_.format, options_.display), options_.format,
                                      shown.noisy.interlaced || shown.noisy.combed);
  NoiseTracker tracker(*engine_);
  if (before_sequence_ + 1 == shown.sequence && before_.samples != nullptr) {
    tracker.next(part_of(engine_->in_host_memory(before_), region));
  }
  NoiseEstimate noise = tracker.next(part_of(engine_->in_host_memory(shown.noisy), region));
  noise.area.reset();  // of the box, but the level is for the whole picture
  if (!noise.has_noise()) {
    return {{}, "no noise was found in the box: " + evidence_text(noise)};
  }
  // Rounded as in a file, so that the written result equals the picture.
  noise_ = parse_noise_profile(to_json(profile_of(noise, options_.format.color_model)).dump());
  const std::string shape = shape_text(noise, options_.format.color_model);
  return {noise_, "noise measured in the box" + (shape.empty() ? "" : ": " + shape)};
}

bool NoiseArea::propose(const PlayedFrame& shown, const io::Rectangle& seen) {
  const std::optional<Region> region =
      flattest_region(engine_->in_host_memory(shown.noisy),
                      stored_region(seen, options_.format, options_.display), NoiseTracker::kLeastSide);
  if (region) {
    box_.emplace(displayed_part(*region, options_), picture_, NoiseTracker::kLeastSide);
  }
  return region.has_value();
}

}  // namespace limpid::app
