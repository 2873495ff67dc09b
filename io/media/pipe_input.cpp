// SPDX-License-Identifier: MIT
#include "io/media/pipe_input.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/base/error.h"
#include "core/base/system/posix.h"

namespace limpid::io {
namespace {

constexpr int kStandardInput = 0;
constexpr int kPipeBuffer = 1 << 16;
constexpr int kPatienceMilliseconds = 50;

int open_pipe(const std::string& url) {
  if (url == "-") {
    return kStandardInput;
  }
  const int descriptor = posix::open(url.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // does not wait for a
                                                                                       // writer
  if (descriptor < 0) {
    check(AVERROR(errno), url, "can't open it");
  }
  return descriptor;
}

}  // namespace

bool PipeInput::is_pipe(const std::string& url) {
  std::error_code ignored;
  return url == "-" || std::filesystem::is_fifo(url, ignored);
}

PipeInput::PipeInput(const std::string& url, std::function<bool()> interrupted)
    : interrupted_(std::move(interrupted)),
      descriptor_(open_pipe(url)),
      bytes_(avio_alloc_context(
          make_io_buffer(kPipeBuffer), kPipeBuffer, 0, this,
          [](void* self, std::uint8_t* buffer, int size) {
            return static_cast<PipeInput*>(self)->read(buffer, size);
          },
          nullptr, nullptr)) {
  if (bytes_ == nullptr) {
    throw Error("out of memory");
  }
}

PipeInput::~PipeInput() {
  av_freep(&bytes_->buffer);
  avio_context_free(&bytes_);
  if (descriptor_ != kStandardInput) {
    posix::close(descriptor_);
  }
}

int PipeInput::read(std::uint8_t* buffer, int size) const {
  while (!interrupted_ || !interrupted_()) {
    if (!posix::wait_to_read(descriptor_, kPatienceMilliseconds)) {
      continue;
    }
    const std::ptrdiff_t count = posix::read(descriptor_, buffer, static_cast<std::size_t>(size));
    if (count > 0) {
      return static_cast<int>(count);
    }
    if (count == 0) {
      return AVERROR_EOF;
    }
    if (errno != EINTR && errno != EAGAIN) {
      return AVERROR(errno);
    }
  }
  return AVERROR_EXIT;
}

}  // namespace limpid::io
