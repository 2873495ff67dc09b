// SPDX-License-Identifier: MIT
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>
#include <limpid.h>

#include <memory>

#include "plugins/shared/denoiser.h"

// Buffers of GStreamer as frames of the library.

namespace limpid::gstreamer {

limpid_format format_of(const GstVideoInfo& info);

struct FreeBuffer {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using Buffer = std::unique_ptr<GstBuffer, FreeBuffer>;

/// The samples of a buffer, mapped during this object's lifetime. Throws std::runtime_error.
class Mapped : plugins::NotCopyable {
 public:
  Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags);
  ~Mapped() { gst_video_frame_unmap(&video_); }

  limpid_frame frame() const;

 private:
  GstVideoFrame video_{};
};

/// Copies times, flags and metadata, except metadata that describes the layout of samples in memory.
void copy_all_but_samples(GstBuffer* from, GstBuffer* to);
/// Adds host memory for the samples of a result.
void add_samples(GstBuffer* buffer, const GstVideoInfo& info);

}  // namespace limpid::gstreamer
