// SPDX-License-Identifier: MIT
#include "app/player/noise_area.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "app/pipeline/noise_text.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_tracker.h"

namespace limpid::app {
namespace {

constexpr int kBlock = 16;

// Which of two edges is within `reach` of `at`, the nearer one first: -1, 1, or 0.
int near_edge(double at, double first, double last, double reach) {
  const double to_first = std::abs(at - first);
  const double to_last = std::abs(at - last);
  if (std::min(to_first, to_last) > reach) {
    return 0;
  }
  return to_first < to_last ? -1 : 1;
}

struct BoxSide {
  int begin = 0;
  int length = 0;
};

// A side of the box after the pointer has moved by `by`. `edge`: as Held has it.
BoxSide moved(const BoxSide& from, double by, int edge, int least, int whole) {
  const int steps = static_cast<int>(std::lround(by));
  if (edge == 0) {
    return {std::clamp(from.begin + steps, 0, std::max(whole - from.length, 0)), from.length};
  }
  const int end = from.begin + from.length;
  if (edge < 0) {
    const int begin = std::clamp(from.begin + steps, 0, std::max(end - least, 0));
    return {begin, end - begin};
  }
  return {from.begin, std::clamp(end + steps, std::min(from.begin + least, whole), whole) - from.begin};
}

// Variances of the blocks of the first plane, in code values; infinite where samples may be clipped.
class BlockVariances {
 public:
  explicit BlockVariances(const Frame& frame)
      : columns_(frame.format.width / kBlock), rows_(frame.format.height / kBlock) {
    visit_samples(frame.format, [&]<typename Sample>(Sample) {
      for (int row = 0; row < rows_; ++row) {
        for (int column = 0; column < columns_; ++column) {
          variances_.push_back(variance<Sample>(frame, column * kBlock, row * kBlock));
        }
      }
    });
  }

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  double sum(int column, int row, int width, int height) const {
    double sum = 0;
    for (int y = row; y < row + height; ++y) {
      for (int x = column; x < column + width; ++x) {
        sum += variances_[static_cast<std::size_t>(y) * columns_ + x];
      }
    }
    return sum;
  }

 private:
  template <typename Sample>
  static double variance(const Frame& frame, int x0, int y0) {
    const double unit = 1 / frame.format.code_value();
    double sum = 0;
    double squares = 0;
    for (int y = y0; y < y0 + kBlock; ++y) {
      const auto* const row = frame.planes[0].row<const Sample>(y) + x0;
      for (int x = 0; x < kBlock; ++x) {
        const double value = static_cast<double>(row[x]) * unit;
        sum += value;
        squares += value * value;
      }
    }
    constexpr double kCount = kBlock * kBlock;
    constexpr double kDarkest = 8;
    constexpr double kBrightest = 247;
    const double mean = sum / kCount;
    const double result = squares / kCount - mean * mean;
    // Blocks without any noise are graphics or bars, or are clipped.
    return result > 0 && mean > kDarkest && mean < kBrightest ? result
                                                              : std::numeric_limits<double>::infinity();
  }

  int columns_;
  int rows_;
  std::vector<double> variances_;
};

}  // namespace

bool NoiseBox::grab(double x, double y, double reach) {
  const bool inside = x >= box_.x - reach && y >= box_.y - reach && x <= box_.x + box_.width + reach &&
                      y <= box_.y + box_.height + reach;
  if (!inside) {
    return false;
  }
  held_ = {near_edge(x, box_.x, box_.x + box_.width, reach),
           near_edge(y, box_.y, box_.y + box_.height, reach), x, y, box_};
  return true;
}

void NoiseBox::drag(double x, double y) {
  if (!held_) {
    return;
  }
  const io::Rectangle& from = held_->from;
  const bool both = held_->horizontal == 0 && held_->vertical == 0;
  BoxSide columns{from.x, from.width};
  BoxSide rows{from.y, from.height};
  if (both || held_->horizontal != 0) {
    columns = moved(columns, x - held_->x, held_->horizontal, least_, picture_.width);
  }
  if (both || held_->vertical != 0) {
    rows = moved(rows, y - held_->y, held_->vertical, least_, picture_.height);
  }
  box_ = {columns.begin, rows.begin, columns.length, rows.length};
}

std::optional<Region> flattest_region(const Frame& frame, const Region& within, int least) {
  constexpr int kPart = 4;
  const BlockVariances blocks(frame);
  const auto side = [least](int length) { return (std::max(length / kPart, least) + kBlock - 1) / kBlock; };
  int width = side(frame.format.width);
  int height = side(frame.format.height);
  if (width > blocks.columns() || height > blocks.rows()) {
    return std::nullopt;
  }
  // In blocks. A block at the border may be a part of one.
  Region searched{(within.x + kBlock - 1) / kBlock, (within.y + kBlock - 1) / kBlock, 0, 0};
  searched.width = std::min((within.x + within.width) / kBlock, blocks.columns()) - searched.x;
  searched.height = std::min((within.y + within.height) / kBlock, blocks.rows()) - searched.y;
  if (const int smallest = side(0); searched.width >= smallest && searched.height >= smallest) {
    width = std::min(width, searched.width);
    height = std::min(height, searched.height);
  } else {
    searched = {0, 0, blocks.columns(), blocks.rows()};
  }
  // The middle, unless a flatter part is found.
  Region best{searched.x + (searched.width - width) / 2, searched.y + (searched.height - height) / 2, width,
              height};
  double least_sum = blocks.sum(best.x, best.y, width, height);
  for (int row = searched.y; row + height <= searched.y + searched.height; ++row) {
    for (int column = searched.x; column + width <= searched.x + searched.width; ++column) {
      if (const double sum = blocks.sum(column, row, width, height); sum < least_sum) {
        least_sum = sum;
        best = {column, row, width, height};
      }
    }
  }
  return Region{best.x * kBlock, best.y * kBlock, width * kBlock, height * kBlock};
}

namespace {

// A part of the displayed picture with its mirroring applied, or taken back.
io::Rectangle mirrored(const io::Rectangle& part, const FrameFormat& format, const io::Orientation& turned) {
  const int width = turned.transposed ? format.height : format.width;
  const int height = turned.transposed ? format.width : format.height;
  return {turned.mirrored_x ? width - part.x - part.width : part.x,
          turned.mirrored_y ? height - part.y - part.height : part.y, part.width, part.height};
}

// The part of the displayed picture that shows a region of the stored frame.
io::Rectangle displayed_part(const Region& region, const ViewerOptions& options) {
  const io::Orientation& turned = options.display.orientation;
  return mirrored(turned.transposed ? io::Rectangle{region.y, region.x, region.height, region.width}
                                    : io::Rectangle{region.x, region.y, region.width, region.height},
                  options.format, turned);
}

}  // namespace

Region stored_region(const io::Rectangle& part, const FrameFormat& format,
                     const io::DisplayProperties& display) {
  const auto [x, y, width, height] = mirrored(part, format, display.orientation);
  return display.orientation.transposed ? Region{y, x, height, width} : Region{x, y, width, height};
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
  noise_ = parse_noise_profile(json_text(profile_of(noise, options_.format.color_model)));
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

std::string PixelValues::text(const PlayedFrame& shown, View::Point at) {
  const io::Rectangle pixel{static_cast<int>(std::floor(at.x)), static_cast<int>(std::floor(at.y)), 1, 1};
  const FrameFormat& format = options_.shown_format();
  const bool is_transposed = options_.shown_display().orientation.transposed;
  const int width = is_transposed ? format.height : format.width;
  const int height = is_transposed ? format.width : format.height;
  if (pixel.x < 0 || pixel.y < 0 || pixel.x >= width || pixel.y >= height) {
    return "";
  }
  if (last_ != &shown) {
    noisy_ = options_.shown(engine_->in_host_memory(shown.noisy));
    denoised_ = shown.is_waiting ? Frame{} : options_.shown(engine_->in_host_memory(shown.denoised));
    last_ = &shown;
  }
  const Region stored = stored_region(pixel, format, options_.shown_display());
  std::string text =
      fmt::format("x {}, y {}:  noisy{}", pixel.x, pixel.y, samples(noisy_, stored.x, stored.y));
  if (!shown.is_waiting) {
    text += fmt::format("   denoised{}", samples(denoised_, stored.x, stored.y));
  }
  return text;
}

std::string PixelValues::samples(const Frame& frame, int x, int y) {
  std::string text;
  const std::vector<std::string_view> names = color_plane_names(frame.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Plane& plane = frame.planes[i];
    const int column = x * plane.width / frame.format.width;
    const int row = y * plane.height / frame.format.height;
    visit_samples(frame.format, [&](auto type) {
      const auto value = plane.row<decltype(type)>(row)[column];
      text += frame.format.is_float() ? fmt::format(" {} {:.4f}", names[i], static_cast<float>(value))
                                      : fmt::format(" {} {:.0f}", names[i], static_cast<float>(value));
    });
  }
  return text;
}

}  // namespace limpid::app
