// SPDX-License-Identifier: MIT
#pragma once

// A pipe as an interruptible source. Private to io.

#include <functional>
#include <string>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Reads standard input or a named pipe for libav, whose own open() and read() would wait indefinitely for
/// the writing program. A wait ends, and reads as the end of the source, once `interrupted` returns true.
class PipeInput : NotCopyable {
 public:
  /// True for "-" and the names of pipes.
  static bool is_pipe(const std::string& url);

  /// `interrupted` may be empty. Throws Error if the pipe cannot be opened.
  PipeInput(const std::string& url, std::function<bool()> interrupted);
  ~PipeInput();

  AVIOContext* bytes() const { return bytes_; }

 private:
  int read(std::uint8_t* buffer, int size) const;

  std::function<bool()> interrupted_;
  int descriptor_;
  AVIOContext* bytes_;
};

}  // namespace limpid::io
