// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "core/frame/frame.h"
#include "core/grain/film_grain_table.h"

namespace limpid::app {

/// Adds the grain of a table to the frames of a video. The grain of a frame depends only on the table, and on
/// the frame's time and number.
class AddedGrain {
 public:
  explicit AddedGrain(FilmGrainTable table) : table_(std::move(table)) {}

  bool empty() const { return table_.empty(); }
  /// The frame with grain. The first call must be for the first frame. Throws Error for formats that cannot
  /// have film grain.
  Frame apply(const Frame& frame);

 private:
  FilmGrainTable table_;
  std::optional<double> first_time_;
};

}  // namespace limpid::app
