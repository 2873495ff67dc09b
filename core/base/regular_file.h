// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "core/base/not_copyable.h"

namespace limpid {

/// `number` as a narrower integer, or nothing if it does not fit. For numbers read from a file.
template <std::integral Narrow, std::integral Wide>
constexpr std::optional<Narrow> narrowed(Wide number) {
  return std::in_range<Narrow>(number) ? std::optional(static_cast<Narrow>(number)) : std::nullopt;
}

/// Owns a file descriptor or none (-1).
class FileDescriptor : NotCopyable {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// Opens a regular file for reading. `path` is in UTF-8. Does not wait for the writer of a FIFO. Throws an
/// Error that names the file if it is missing or not a regular file.
FileDescriptor open_regular_file(const std::string& path);

/// Reads at most `most` bytes. Returns their number, 0 at the end, or -1 with errno.
std::ptrdiff_t read_some(const FileDescriptor& file, char* data, std::size_t most);

/// The content of a regular file. Throws an Error that names the file if it cannot be read or has more than
/// `most` bytes.
std::string read_regular_file(const std::string& path, std::size_t most);

}  // namespace limpid
