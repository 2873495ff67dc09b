#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>
#include <limpid.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace limpid::gstreamer {

/// The formats that a stream takes, as in caps.
#define LIMPID_GSTREAMER_FORMATS                                                                             \
  "{ I420, YV12, Y42B, Y41B, Y444, NV12, NV21, NV16, NV24, YUY2, UYVY, VYUY, AYUV, A420, GRAY8, I420_10LE, " \
  "I422_10LE, Y444_10LE, I420_12LE, I422_12LE, Y444_12LE, P010_10LE, P012_LE, P016_LE, GRAY16_LE, RGB, "     \
  "BGR, "                                                                                                    \
  "RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, GBR, GBRA, GBR_10LE, GBR_12LE }"

struct FreeDenoiser {
  void operator()(limpid_denoiser* denoiser) const { limpid_free(&denoiser); }
};
struct FreeBuffer {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using Buffer = std::unique_ptr<GstBuffer, FreeBuffer>;

/// Buffers through a denoiser. Buffers that come out have the time, flags and metas of those that went in.
/// All throw std::runtime_error with a sentence for the user. One call at a time.
class Stream {
 public:
  /// By the settings' names.
  using Settings = std::map<std::string, std::string>;

  /// `warn` is told what won't be filtered as asked.
  explicit Stream(std::function<void(const char* sentence)> warn) : warn_(std::move(warn)) {}
  Stream(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream() = default;

  /// Begins anew; what was under way is dropped.
  void start(const GstVideoInfo& info, const Settings& settings);
  /// Whether these can be had by change(): only the noise and the strength differ.
  bool can_change_to(const Settings& settings) const;
  /// From the next buffer on.
  void change(const Settings& settings);
  /// How many buffers are held back.
  std::size_t latency() const { return held_; }

  void send(GstBuffer* buffer);
  /// Null if more buffers are needed or, behind end(), there are no more.
  Buffer receive();
  /// All that are held back can be received. Then reset() lets the stream go on.
  void end();
  void reset();

 private:
  void check(limpid_status status) const;
  void set(const std::string& name, const std::string& value);
  void look_up_latency();

  std::function<void(const char*)> warn_;
  GstVideoInfo info_{};
  Settings settings_;
  std::unique_ptr<limpid_denoiser, FreeDenoiser> denoiser_;
  std::deque<Buffer> under_way_;  // without their samples
  std::size_t held_ = 0;
  bool ended_ = false;
};

}  // namespace limpid::gstreamer
