// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "core/engine/noise_control.h"
#include "io/media/reader.h"

namespace limpid::app {

/// The frames before a range of a file on which the noise levels in it depend, so that they are the levels of
/// the whole file.
class LevelLead {
 public:
  /// Opens the file once more. `options`: of the reader of the range. `first`: the first frame that this
  /// reader has delivered.
  LevelLead(const std::string& path, io::ReaderOptions options, const Frame& first, const LevelGrid& grid);

  /// The next frame, marked as `level_only`; nothing after the last one before `first`.
  std::optional<Frame> next();

 private:
  io::Reader reader_;
  LevelGrid grid_;
  double end_ = 0;  ///< seconds, as in presentation_time()
  bool has_begun_ = false;
};

}  // namespace limpid::app
