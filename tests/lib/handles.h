// SPDX-License-Identifier: MIT
#pragma once

#include <limpid.h>

#include <cstdint>
#include <vector>

#include "core/frame/frame.h"

// Shared code of the library's suites.

namespace limpid::lib {

/// A limpid_denoiser, freed by the destructor.
class Handle {
 public:
  explicit Handle(limpid_engine* engine = nullptr) { limpid_new(&denoiser_, engine); }
  Handle(const Handle&) = delete;
  Handle(Handle&&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  ~Handle() { limpid_free(&denoiser_); }

  operator limpid_denoiser*() const { return denoiser_; }  // NOLINT(google-explicit-constructor)

 private:
  limpid_denoiser* denoiser_ = nullptr;
};

template <typename Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

inline limpid_format c_format(const FrameFormat& format) {
  return {.struct_size = sizeof(limpid_format),
          .width = format.width,
          .height = format.height,
          .color_model = static_cast<std::int32_t>(format.color_model),
          .chroma_shift_x = format.chroma_shift_x,
          .chroma_shift_y = format.chroma_shift_y,
          .sample_type = static_cast<std::int32_t>(format.sample_type),
          .bit_depth = format.bit_depth,
          .has_alpha = format.has_alpha ? 1 : 0};
}

/// A view of the frame's own planes.
inline limpid_frame c_frame(const Frame& frame) {
  auto result = sized<limpid_frame>();
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    result.planes[p] = {frame.planes[p].data, frame.planes[p].stride, 0};
  }
  return result;
}

inline limpid_status start(limpid_denoiser* denoiser, const FrameFormat& format) {
  const limpid_format own = c_format(format);
  return limpid_start(denoiser, &own);
}

inline limpid_status send(limpid_denoiser* denoiser, const Frame& frame, std::uint32_t flags = 0) {
  limpid_frame own = c_frame(frame);
  own.flags = flags;
  own.pts = frame.index;
  return limpid_send(denoiser, &own);
}

/// A copy of the next result, which must exist.
inline Frame receive(limpid_denoiser* denoiser, const FrameFormat& format) {
  Frame result = allocate_frame(format);
  limpid_frame place = c_frame(result);
  if (limpid_receive_into(denoiser, &place) != LIMPID_OK) {
    return {};
  }
  result.index = place.pts;
  return result;
}

/// The results of a sequence of frames.
inline std::vector<Frame> denoise(limpid_denoiser* denoiser, const std::vector<Frame>& frames) {
  std::vector<Frame> results;
  const auto take = [&] {
    for (Frame result = receive(denoiser, frames.front().format); result.samples != nullptr;
         result = receive(denoiser, frames.front().format)) {
      results.push_back(result);
    }
  };
  for (const Frame& frame : frames) {
    if (send(denoiser, frame) != LIMPID_OK) {
      return {};
    }
    take();
  }
  limpid_flush(denoiser);
  take();
  return results;
}

}  // namespace limpid::lib
