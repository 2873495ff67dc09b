#pragma once

// Standard input as a source that can be interrupted. Private to io.

#include <functional>

#include "io/libav.h"

namespace limpid::io {

/// Reads standard input for libav. Its own pipe waits in read() for as long as the other side likes; here a
/// wait ends, as an end of the source, once `interrupted` returns true.
class StandardInput {
 public:
  /// `interrupted` may be empty.
  explicit StandardInput(std::function<bool()> interrupted);
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  StandardInput(StandardInput&&) = delete;
  StandardInput& operator=(StandardInput&&) = delete;
  ~StandardInput();

  AVIOContext* bytes() const { return bytes_; }

 private:
  int read(std::uint8_t* buffer, int size) const;

  std::function<bool()> interrupted_;
  AVIOContext* bytes_;
};

}  // namespace limpid::io
