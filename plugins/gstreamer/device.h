#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>
#include <limpid.h>

#include <memory>
#include <string>

#include "plugins/gstreamer/frames.h"
#include "plugins/shared/denoiser.h"

namespace limpid::gstreamer {

/// Frames in the memory of a GPU. The library reads them there, and writes results there.
class DeviceFrames {
 public:
  DeviceFrames() = default;
  DeviceFrames(const DeviceFrames&) = delete;
  DeviceFrames(DeviceFrames&&) = delete;
  DeviceFrames& operator=(const DeviceFrames&) = delete;
  DeviceFrames& operator=(DeviceFrames&&) = delete;
  virtual ~DeviceFrames() = default;

  /// Caps of all frames that it takes, for their owner.
  virtual GstCaps* caps() const = 0;
  /// Answers queries of other elements about the GPU to use. Any thread.
  virtual bool answer(GstElement* element, GstQuery* query, const std::string& engine) const = 0;

  // These throw std::runtime_error with a sentence for the user.
  virtual void start(const GstVideoInfo& info, const limpid_stream_info& stream) = 0;
  /// Sends a buffer. Returns the one that will hold its result, once that has been received.
  virtual Buffer send(plugins::Denoiser& denoiser, GstBuffer* buffer) = 0;
};

/// Null if no GPU works here, or if GStreamer's headers for them weren't there.
std::unique_ptr<DeviceFrames> make_device_frames();

}  // namespace limpid::gstreamer
