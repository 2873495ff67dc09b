#include "io/standard_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "core/error.h"

namespace limpid::io {
namespace {

constexpr int kBufferSize = 1 << 16;
constexpr int kPatienceMilliseconds = 50;

}  // namespace

StandardInput::StandardInput(std::function<bool()> interrupted)
    : interrupted_(std::move(interrupted)),
      bytes_(avio_alloc_context(
          static_cast<unsigned char*>(av_malloc(kBufferSize)), kBufferSize, 0, this,
          [](void* self, std::uint8_t* buffer, int size) {
            return static_cast<StandardInput*>(self)->read(buffer, size);
          },
          nullptr, nullptr)) {
  if (bytes_ == nullptr) {
    throw Error("out of memory");
  }
}

StandardInput::~StandardInput() {
  av_freep(&bytes_->buffer);
  avio_context_free(&bytes_);
}

int StandardInput::read(std::uint8_t* buffer, int size) const {
  while (!interrupted_ || !interrupted_()) {
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kPatienceMilliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) {
      continue;
    }
    const ssize_t count = ::read(STDIN_FILENO, buffer, static_cast<std::size_t>(size));
    if (count > 0) {
      return static_cast<int>(count);
    }
    if (count == 0) {
      return AVERROR_EOF;
    }
    if (errno != EINTR) {
      return AVERROR(errno);
    }
  }
  return AVERROR_EXIT;
}

}  // namespace limpid::io
