// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"

namespace limpid::io {

/// Stores the samples of frames in a file losslessly: FFV1 if it supports the format, otherwise another
/// codec. Times and tags are not stored. All members throw an Error that names the file.
class LosslessWriter : NotCopyable {
 public:
  /// Writes to a new file at `temporary`, which finish() renames to `path`; without finish(), nothing
  /// remains. `threads`: 0 is libavcodec's default.
  LosslessWriter(const std::string& path, const std::string& temporary, const FrameFormat& format,
                 int threads);
  ~LosslessWriter();

  void write(const Frame& frame);
  /// Waits until the file is on the disk.
  void finish();
  std::int64_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class LosslessReader : NotCopyable {
 public:
  LosslessReader(const std::string& path, const FrameFormat& format);
  ~LosslessReader();

  /// The next frame, which has only samples; nothing at the end.
  std::optional<Frame> read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
