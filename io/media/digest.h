// SPDX-License-Identifier: MIT
#pragma once

// A fast 64-bit hash that detects damage and different content, but not forgery. Private to io.

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/murmur3.h>
}

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/error.h"
#include "io/media/libav.h"

namespace limpid::io {

class Digest {
 public:
  Digest() : state_(av_murmur3_alloc()) {
    if (state_ == nullptr) {
      throw Error(kOutOfMemory);
    }
    av_murmur3_init(state_.get());
  }

  void add(const void* data, std::size_t size) {
    av_murmur3_update(state_.get(), static_cast<const std::uint8_t*>(data), size);
  }
  /// Returns the hash. May be called only once.
  std::uint64_t end() {
    std::array<std::uint8_t, 16> hash{};
    av_murmur3_final(state_.get(), hash.data());
    std::array<std::uint8_t, 8> half{};
    std::copy_n(hash.begin(), half.size(), half.begin());
    return std::bit_cast<std::uint64_t>(half);
  }

 private:
  struct Deleter {
    void operator()(AVMurMur3* state) const { av_free(state); }
  };
  std::unique_ptr<AVMurMur3, Deleter> state_;
};

}  // namespace limpid::io
