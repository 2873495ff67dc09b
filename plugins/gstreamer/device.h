// SPDX-License-Identifier: MIT
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>
#include <limpid.h>

#include <memory>
#include <string>

#include "plugins/gstreamer/frames.h"
#include "plugins/shared/denoiser.h"

namespace limpid::gstreamer {

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
std::unique_ptr<DeviceFrames> make_device_frames();

}  // namespace limpid::gstreamer
