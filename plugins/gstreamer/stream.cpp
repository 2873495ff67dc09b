#include "plugins/gstreamer/stream.h"

#include <cstdint>
#include <new>
#include <sstream>
#include <utility>

namespace limpid::gstreamer {
namespace {

bool is_level(const std::string& setting) { return setting == "noise" || setting == "strength"; }

limpid_format format_of(const GstVideoInfo& info) {
  const GstVideoFormatInfo& from = *info.finfo;
  const bool yuv = GST_VIDEO_FORMAT_INFO_IS_YUV(info.finfo);
  return {.struct_size = sizeof(limpid_format),
          .width = info.width,
          .height = info.height,
          .color_model = yuv                                        ? LIMPID_YUV
                         : GST_VIDEO_FORMAT_INFO_IS_RGB(info.finfo) ? LIMPID_RGB
                                                                    : LIMPID_GRAY,
          .chroma_shift_x = yuv ? static_cast<std::int32_t>(from.w_sub[1]) : 0,
          .chroma_shift_y = yuv ? static_cast<std::int32_t>(from.h_sub[1]) : 0,
          .sample_type = from.depth[0] > 8 ? LIMPID_UINT16 : LIMPID_UINT8,
          .bit_depth = static_cast<std::int32_t>(from.depth[0]),
          .has_alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info.finfo) ? 1 : 0};
}

// A buffer's samples, while it lives.
class Mapped {
 public:
  Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags) {
    if (gst_video_frame_map(&video_, &info, buffer, flags) == FALSE) {
      throw std::runtime_error("a buffer's samples can't be reached");
    }
  }
  Mapped(const Mapped&) = delete;
  Mapped(Mapped&&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped() { gst_video_frame_unmap(&video_); }

  limpid_frame frame() const {
    const GstVideoFormatInfo& format = *video_.info.finfo;
    limpid_frame frame{};
    frame.struct_size = sizeof frame;
    for (guint c = 0; c < format.n_components; ++c) {
      const int bytes = format.depth[c] > 8 ? 2 : 1;
      // GStreamer 1.22 has the offset of P010's V in samples.
      const guint offset = format.poffset[c] * (format.poffset[c] % 2 != 0 ? static_cast<guint>(bytes) : 1U);
      frame.planes[c] = {static_cast<std::uint8_t*>(video_.data[format.plane[c]]) + offset,
                         video_.info.stride[format.plane[c]], format.pixel_stride[c] / bytes};
    }
    frame.padding_bits = static_cast<std::int32_t>(format.shift[0]);
    frame.flags = (video_.flags & GST_VIDEO_FRAME_FLAG_INTERLACED) != 0 ? LIMPID_INTERLACED : 0;
    return frame;
  }

 private:
  GstVideoFrame video_{};
};

// Metas say something of the picture, but for those that say how it lies in memory.
gboolean copy_meta(GstBuffer* from, GstMeta** meta, gpointer to) {
  const GstMetaInfo& info = *(*meta)->info;
  static const GQuark memory = g_quark_from_static_string("memory");
  GstMetaTransformCopy copy{FALSE, 0, static_cast<gsize>(-1)};
  if (gst_meta_api_type_has_tag(info.api, memory) == FALSE && info.transform_func != nullptr) {
    info.transform_func(static_cast<GstBuffer*>(to), *meta, from, g_quark_from_static_string("gst-copy"),
                        &copy);
  }
  return TRUE;
}

// All but the samples, so that a source's buffers go back to it at once: cameras have few.
Buffer without_samples(GstBuffer* buffer) {
  Buffer result(gst_buffer_new());
  gst_buffer_copy_into(result.get(), buffer,
                       static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0,
                       static_cast<gsize>(-1));
  gst_buffer_foreach_meta(buffer, copy_meta, result.get());
  return result;
}

}  // namespace

void Stream::check(limpid_status status) const {
  if (status < 0) {
    throw std::runtime_error(limpid_error(denoiser_.get()));
  }
}

void Stream::set(const std::string& name, const std::string& value) {
  if (name != "settings") {
    return check(limpid_set(denoiser_.get(), name.c_str(), value.empty() ? nullptr : value.c_str()));
  }
  std::istringstream words(value);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      throw std::runtime_error("settings: '" + word + "' is not NAME=VALUE");
    }
    set(word.substr(0, equals), word.substr(equals + 1));
  }
}

void Stream::start(const GstVideoInfo& info, const Settings& settings) {
  under_way_.clear();
  ended_ = false;
  limpid_denoiser* denoiser = nullptr;
  if (limpid_new(&denoiser, nullptr) != LIMPID_OK) {
    throw std::bad_alloc();
  }
  denoiser_.reset(denoiser);
  limpid_set_log(
      denoiser,
      [](void* own, limpid_log_level level, const char* sentence) {
        if (level == LIMPID_LOG_WARNING) {
          static_cast<Stream*>(own)->warn_(sentence);
        }
      },
      this);
  for (const auto& [name, value] : settings) {
    set(name, value);
  }
  const limpid_format format = format_of(info);
  check(limpid_start(denoiser, &format));
  info_ = info;
  settings_ = settings;
  look_up_latency();
}

bool Stream::can_change_to(const Settings& settings) const {
  for (const auto& [name, value] : settings) {
    const auto own = settings_.find(name);
    if (!is_level(name) && (own == settings_.end() || own->second != value)) {
      return false;
    }
  }
  return true;
}

void Stream::change(const Settings& settings) {
  for (const auto& [name, value] : settings) {
    if (is_level(name) && settings_[name] != value) {
      set(name, value);
    }
  }
  settings_ = settings;
  look_up_latency();
}

// Engines that work on several frames at once are kept busy, unless results are wanted as soon as may be.
void Stream::look_up_latency() {
  limpid_stream_info stream{};
  stream.struct_size = sizeof stream;
  check(limpid_get_stream(denoiser_.get(), &stream));
  const bool live = settings_["live"] == "1";
  const int busy = live ? 0 : stream.concurrency - 1;
  held_ = static_cast<std::size_t>(stream.latency) + static_cast<std::size_t>(busy);
}

void Stream::send(GstBuffer* buffer) {
  const Mapped source(info_, buffer, GST_MAP_READ);
  const limpid_frame frame = source.frame();
  check(limpid_send(denoiser_.get(), &frame));
  under_way_.push_back(without_samples(buffer));
}

Buffer Stream::receive() {
  if (under_way_.empty() || (!ended_ && under_way_.size() <= held_)) {
    return nullptr;
  }
  Buffer buffer = std::move(under_way_.front());
  under_way_.pop_front();
  GstMemory* const memory = gst_allocator_alloc(nullptr, info_.size, nullptr);
  gst_buffer_append_memory(buffer.get(), memory);
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(info_.finfo) && GST_VIDEO_FORMAT_INFO_PSTRIDE(info_.finfo, 0) == 4) {
    gst_buffer_memset(buffer.get(), 0, 0xFF, info_.size);  // bytes that aren't of any sample
  }
  const Mapped place(info_, buffer.get(), GST_MAP_WRITE);
  limpid_frame result = place.frame();
  const limpid_status status = limpid_receive_into(denoiser_.get(), &result);
  check(status);
  if (status != LIMPID_OK) {
    throw std::runtime_error("no result came for a frame");
  }
  return buffer;
}

void Stream::end() {
  check(limpid_flush(denoiser_.get()));
  ended_ = true;
}

void Stream::reset() {
  under_way_.clear();
  ended_ = false;
  check(limpid_reset(denoiser_.get()));
}

}  // namespace limpid::gstreamer
