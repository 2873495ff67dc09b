// SPDX-License-Identifier: MIT
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>
#include <limpid.h>

#include <memory>
#include <string>

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

/// Frames in GPU memory. The library reads frames and writes results there, without copies to host memory.
class DeviceFrames : plugins::NotCopyable {
 public:
  virtual ~DeviceFrames() = default;

  /// Caps of all supported frames. The caller owns them.
  virtual GstCaps* caps() const = 0;
  /// Answers queries of other elements about the GPU to use. May be called on any thread.
  virtual bool answer(GstElement* element, GstQuery* query, const std::string& engine) const = 0;

  // These throw std::runtime_error with a sentence for the user.
  virtual void start(const GstVideoInfo& info, const limpid_stream_info& stream) = 0;
  /// Sends a buffer. Returns the buffer that will contain the result after it has been received.
  virtual Buffer send(plugins::Denoiser& denoiser, GstBuffer* buffer) = 0;
};

/// Null if no GPU can be used, or the build lacks GStreamer's CUDA headers.
#if defined(LIMPID_GSTREAMER_CUDA)
std::unique_ptr<DeviceFrames> make_device_frames();
#else
inline std::unique_ptr<DeviceFrames> make_device_frames() { return nullptr; }
#endif

}  // namespace limpid::gstreamer
