// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Hash of the samples of a frame in host memory; independent of strides and tags.
std::uint64_t sample_hash(const Frame& frame);

/// Hash of the samples, the presentation time and the interlacing: all input of a filter and an encoder.
std::uint64_t frame_hash(const Frame& frame);

/// Hash of a list of hashes, or of a text.
std::uint64_t hash_of(const std::vector<std::uint64_t>& hashes);
std::uint64_t hash_of(std::string_view text);

/// Hash of a file's size and, for long files, of parts from its beginning to its end: fast, and different for
/// nearly all different files. Throws Error if the file cannot be read.
std::uint64_t file_fingerprint(const char* path);

}  // namespace limpid::io
