// SPDX-License-Identifier: MIT
#include "io/media/memory_file.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cstdio>

#include "core/base/error.h"

namespace limpid::io {
namespace {

constexpr int kBufferSize = 1 << 14;

}  // namespace

MemoryOutput::MemoryOutput(AVFormatContext& muxer) : muxer_(muxer) {
  check(avio_open_dyn_buf(&muxer_.pb), "memory", "can't write to it");
}

MemoryOutput::~MemoryOutput() {
  close();
  av_free(bytes_);
}

void MemoryOutput::close() {
  if (muxer_.pb != nullptr) {
    size_ = avio_close_dyn_buf(muxer_.pb, &bytes_);
    muxer_.pb = nullptr;
  }
}

std::span<const std::uint8_t> MemoryOutput::bytes() {
  close();
  return {bytes_, static_cast<std::size_t>(std::max(size_, 0))};
}

void MemoryInput::ReaderDeleter::operator()(AVIOContext* context) const {
  av_freep(&context->buffer);
  avio_context_free(&context);
}

MemoryInput::MemoryInput(std::span<const std::uint8_t> bytes, const char* muxer)
    : bytes_(bytes),
      reader_(avio_alloc_context(
          make_io_buffer(kBufferSize), kBufferSize, 0, this,
          [](void* self, std::uint8_t* buffer, int size) {
            return static_cast<MemoryInput*>(self)->read(buffer, size);
          },
          nullptr,
          [](void* self, std::int64_t offset, int whence) {
            return static_cast<MemoryInput*>(self)->seek(offset, whence);
          })) {
  AVFormatContext* context = avformat_alloc_context();
  if (reader_ == nullptr || context == nullptr) {
    avformat_free_context(context);
    throw Error("out of memory");
  }
  context->pb = reader_.get();
  // On failure libav frees the context.
  if (avformat_open_input(&context, "memory", av_find_input_format(muxer), nullptr) >= 0) {
    input_.reset(context);
  }
}

int MemoryInput::read(std::uint8_t* buffer, int size) {
  const std::size_t count = std::min(static_cast<std::size_t>(size), bytes_.size() - position_);
  if (count == 0) {
    return AVERROR_EOF;
  }
  std::copy_n(bytes_.data() + position_, count, buffer);
  position_ += count;
  return static_cast<int>(count);
}

std::int64_t MemoryInput::seek(std::int64_t offset, int whence) {
  const auto size = static_cast<std::int64_t>(bytes_.size());
  if ((whence & AVSEEK_SIZE) != 0) {
    return size;
  }
  const std::int64_t base = whence == SEEK_CUR   ? static_cast<std::int64_t>(position_)
                            : whence == SEEK_END ? size
                                                 : 0;
  if (offset < -base || offset > size - base) {
    return AVERROR(EINVAL);
  }
  position_ = static_cast<std::size_t>(base + offset);
  return base + offset;
}

}  // namespace limpid::io
