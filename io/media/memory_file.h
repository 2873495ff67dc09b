// SPDX-License-Identifier: MIT
#pragma once

// Files in memory, for testing the capabilities of muxers and demuxers. Private to io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Memory that receives the output of a muxer.
class MemoryOutput : NotCopyable {
 public:
  explicit MemoryOutput(AVFormatContext& muxer);
  ~MemoryOutput();

  /// Ends the output and returns its bytes, which are valid during this object's lifetime.
  std::span<const std::uint8_t> bytes();

 private:
  void close();

  AVFormatContext& muxer_;
  std::uint8_t* bytes_ = nullptr;
  int size_ = 0;
};

/// A demuxer that reads from memory. The bytes must outlive it.
class MemoryInput : NotCopyable {
 public:
  /// `muxer`: the name of the muxer that wrote the bytes.
  MemoryInput(std::span<const std::uint8_t> bytes, const char* muxer);
  ~MemoryInput() = default;

  /// Null if the bytes cannot be read.
  const AVFormatContext* get() const { return input_.get(); }

 private:
  int read(std::uint8_t* buffer, int size);
  std::int64_t seek(std::int64_t offset, int whence);

  struct ReaderDeleter {
    void operator()(AVIOContext* context) const;
  };

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  std::unique_ptr<AVIOContext, ReaderDeleter> reader_;
  InputHandle input_;
};

}  // namespace limpid::io
