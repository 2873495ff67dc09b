// SPDX-License-Identifier: MIT
// The GStreamer plug-in: the element limpiddenoise. It holds back the frames that filters along motion
// need, and reports them as latency.

#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plugins/gstreamer/frames.h"
#include "plugins/shared/denoiser.h"

namespace limpid::gstreamer {

limpid_format format_of(const GstVideoInfo& info) {
  const GstVideoFormatInfo& from = *info.finfo;
  return {.struct_size = sizeof(limpid_format),
          .width = info.width,
          .height = info.height,
          .color_model = GST_VIDEO_FORMAT_INFO_IS_YUV(info.finfo)   ? LIMPID_YUV
                         : GST_VIDEO_FORMAT_INFO_IS_RGB(info.finfo) ? LIMPID_RGB
                                                                    : LIMPID_GRAY,
          .chroma_shift_x = static_cast<std::int32_t>(from.w_sub[1]),
          .chroma_shift_y = static_cast<std::int32_t>(from.h_sub[1]),
          .sample_type = from.depth[0] > 8 ? LIMPID_UINT16 : LIMPID_UINT8,
          .bit_depth = static_cast<std::int32_t>(from.depth[0]),
          .has_alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info.finfo) ? 1 : 0};
}

Mapped::Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags) {
  if (gst_video_frame_map(&video_, &info, buffer, flags) == FALSE) {
    throw std::runtime_error("a buffer's samples can't be reached");
  }
}

limpid_frame Mapped::frame() const {
  const GstVideoFormatInfo& format = *video_.info.finfo;
  auto frame = plugins::sized<limpid_frame>();
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

void copy_all_but_samples(GstBuffer* from, GstBuffer* to) {
  // GST_BUFFER_COPY_DEEP omits metadata that describes the memory of the source.
  constexpr auto kWhat = static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_METADATA | GST_BUFFER_COPY_DEEP);
  gst_buffer_copy_into(to, from, kWhat, 0, static_cast<gsize>(-1));
}

void add_samples(GstBuffer* buffer, const GstVideoInfo& info) {
  gst_buffer_append_memory(buffer, gst_allocator_alloc(nullptr, info.size, nullptr));
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(info.finfo) && GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, 0) == 4) {
    gst_buffer_memset(buffer, 0, 0xFF, info.size);  // bytes that aren't of any sample
  }
}

}  // namespace limpid::gstreamer

#pragma GCC diagnostic ignored "-Wold-style-cast"  // in GObject's macros

namespace limpid::gstreamer {
namespace {

// The frame rate if caps have none, as for variable rates.
constexpr GstClockTime kUsualDuration = GST_SECOND / 25;

// The formats that can be denoised.
constexpr const char* kCaps = GST_VIDEO_CAPS_MAKE(
    "{ I420, YV12, Y42B, Y41B, Y444, NV12, NV21, NV16, NV24, YUY2, UYVY, VYUY, AYUV, A420, GRAY8, I420_10LE, "
    "I422_10LE, Y444_10LE, I420_12LE, I422_12LE, Y444_12LE, P010_10LE, P012_LE, P016_LE, GRAY16_LE, RGB, "
    "BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, GBR, GBRA, GBR_10LE, GBR_12LE }");

// The element behind the struct of GObject. All but settings and latency belong to the streaming thread.
class Element {
 public:
  explicit Element(GstElement* element)
      : element_(element), denoiser_([element](const char* sentence) {
          GST_ELEMENT_WARNING(element, STREAM, FORMAT, ("%s", sentence), (nullptr));
        }) {}

  GstPad* sink = nullptr;
  GstPad* source = nullptr;

  // Texts, as the library takes them; empty ones are its defaults.
  void set(const char* name, const std::string& value) {
    const std::scoped_lock lock(mutex_);
    settings_[name] = value;
  }
  std::string get(const char* name) {
    const std::scoped_lock lock(mutex_);
    return settings_[name];
  }

  GstClockTime latency() const { return latency_; }

  bool answer(GstQuery* query) {
    return device_ != nullptr && device_->answer(element_, query, get("engine"));
  }

  // Takes the caps of what follows.
  bool begin(GstCaps* caps) {
    GstVideoInfo info;
    failed_ = false;
    return gst_video_info_from_caps(&info, caps) != FALSE && succeeds([&] {
             info_ = info;
             on_device_ = gst_caps_features_is_equal(gst_caps_get_features(caps, 0),
                                                     GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY) == FALSE;
             start(settings());
           });
  }

  GstFlowReturn chain(GstBuffer* buffer) {
    const Buffer owned(buffer);
    if (failed_) {
      return GST_FLOW_ERROR;
    }
    if (!info_) {
      return GST_FLOW_NOT_NEGOTIATED;
    }
    GstFlowReturn flow = GST_FLOW_ERROR;
    succeeds([&] {
      take_settings();
      if (on_device_) {
        under_way_.push_back(device_->send(denoiser_, buffer));
      } else {
        const Mapped samples(*info_, buffer, GST_MAP_READ);
        denoiser_.send(samples.frame());
        // Without its samples, which sources reuse: cameras have few buffers.
        under_way_.emplace_back(gst_buffer_new());
        copy_all_but_samples(buffer, under_way_.back().get());
      }
      flow = push_results(held_);
    });
    return flow;
  }

  // Ends what is under way: pushes what is held back, or drops it.
  void end(bool push) {
    if (info_ && !failed_) {
      succeeds([&] { drain(push); });
    }
  }

  void stop() {
    under_way_.clear();
    info_.reset();
    failed_ = false;
    posted_.clear();
  }

 private:
  template <typename Step>
  bool succeeds(const Step& step) {
    try {
      step();
      return true;
    } catch (const std::exception& error) {
      failed_ = true;
      under_way_.clear();
      if (posted_ != error.what()) {
        posted_ = error.what();
        GST_ELEMENT_ERROR(element_, STREAM, FAILED, ("%s", error.what()), (nullptr));
      }
      return false;
    }
  }

  void drain(bool push) {
    if (push) {
      denoiser_.flush();
      push_results(0);
    }
    under_way_.clear();
    denoiser_.reset();
  }

  plugins::Settings settings() {
    const std::scoped_lock lock(mutex_);
    return plugins::expanded(settings_);
  }

  void take_settings() {
    const plugins::Settings wanted = settings();
    if (denoiser_.goes_on_with(format_of(*info_), wanted)) {
      denoiser_.take(format_of(*info_), wanted);
      return tell_latency();
    }
    drain(true);
    start(wanted);
  }

  void start(const plugins::Settings& wanted) {
    denoiser_.start(format_of(*info_), wanted);
    if (on_device_) {
      device_->start(*info_, denoiser_.stream());
    }
    tell_latency();
  }

  // Engines that work on several frames at once are kept busy, unless results are needed without delay.
  void tell_latency() {
    const int frames = get("live") == "1" ? denoiser_.stream().latency : denoiser_.frames_ahead();
    held_ = static_cast<std::size_t>(frames);
    const GstClockTime duration =
        info_->fps_n > 0 ? gst_util_uint64_scale_int(GST_SECOND, info_->fps_d, info_->fps_n) : kUsualDuration;
    if (latency_.exchange(held_ * duration) != held_ * duration) {
      gst_element_post_message(element_, gst_message_new_latency(GST_OBJECT_CAST(element_)));
    }
  }

  // All but the last `held`.
  GstFlowReturn push_results(std::size_t held) {
    GstFlowReturn flow = GST_FLOW_OK;
    while (under_way_.size() > held) {
      Buffer buffer = std::move(under_way_.front());
      under_way_.pop_front();
      if (on_device_) {
        auto result = plugins::sized<limpid_frame>();
        denoiser_.receive(result);  // which is in the buffer
        limpid_release(&result);
      } else {
        add_samples(buffer.get(), *info_);
        const Mapped samples(*info_, buffer.get(), GST_MAP_WRITE);
        limpid_frame place = samples.frame();
        denoiser_.receive_into(place);
      }
      const GstFlowReturn pushed = gst_pad_push(source, buffer.release());
      flow = flow == GST_FLOW_OK ? pushed : flow;
    }
    return flow;
  }

  GstElement* element_;
  const std::unique_ptr<DeviceFrames> device_ = make_device_frames();
  std::mutex mutex_;
  plugins::Settings settings_;
  std::atomic<GstClockTime> latency_ = 0;
  // Used on the streaming thread.
  plugins::Denoiser denoiser_;
  std::optional<GstVideoInfo> info_;
  bool on_device_ = false;
  bool failed_ = false;           // until new caps come; later errors would hide the first
  std::string posted_;            // the last error: GStreamer sends refused caps again with each buffer
  std::deque<Buffer> under_way_;  // buffers for the results
  std::size_t held_ = 0;
};

// NOLINTBEGIN: GObject's manner
struct LimpidDenoise {
  GstElement parent;
  Element* own;
};
struct LimpidDenoiseClass {
  GstElementClass parent;
};
G_DEFINE_TYPE(LimpidDenoise, limpid_denoise, GST_TYPE_ELEMENT)
// NOLINTEND

Element& element_of(gpointer object) { return *static_cast<LimpidDenoise*>(object)->own; }

gboolean sink_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  Element& element = element_of(parent);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      element.end(true);
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      if (!element.begin(caps)) {
        gst_event_unref(event);
        return FALSE;
      }
      break;
    }
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
      element.end(true);
      break;
    case GST_EVENT_FLUSH_STOP:
      element.end(false);
      break;
    default:
      break;
  }
  return gst_pad_event_default(pad, parent, event);
}

gboolean answer_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  Element& element = element_of(parent);
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);  // any strides
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && element.answer(query)) {
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) {
    return gst_pad_query_default(pad, parent, query);
  }
  if (gst_pad_peer_query(element.sink, query) == FALSE) {
    return FALSE;
  }
  gboolean live = FALSE;
  GstClockTime least = 0;
  GstClockTime most = 0;
  gst_query_parse_latency(query, &live, &least, &most);
  const GstClockTime own = element.latency();
  gst_query_set_latency(query, live, least + own, most == GST_CLOCK_TIME_NONE ? most : most + own);
  return TRUE;
}

GstStateChangeReturn change_state(GstElement* object, GstStateChange change) {
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(limpid_denoise_parent_class)->change_state(object, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) {
    element_of(object).stop();
  }
  return result;
}

// An enumeration of names, as a property has it. The first name stands for the library's default.
GType enum_of(const char* type, const std::vector<std::string>& names) {
  static std::deque<std::vector<GEnumValue>> kept;
  std::vector<GEnumValue>& values = kept.emplace_back();
  for (const std::string& name : names) {
    const gchar* const own = g_intern_string(name.c_str());
    values.push_back({static_cast<gint>(values.size()), own, own});
  }
  values.push_back({});
  return g_enum_register_static(type, values.data());
}

void set_property(GObject* object, guint /*id*/, const GValue* value, GParamSpec* property) {
  std::string text;
  if (G_VALUE_HOLDS_DOUBLE(value)) {
    text = plugins::text_of(g_value_get_double(value));
  } else if (G_VALUE_HOLDS_BOOLEAN(value)) {
    text = g_value_get_boolean(value) != FALSE ? "1" : "";
  } else if (G_VALUE_HOLDS_ENUM(value)) {
    const gint number = g_value_get_enum(value);
    text = number == 0 ? "" : G_PARAM_SPEC_ENUM(property)->enum_class->values[number].value_nick;
  } else if (const gchar* const given = g_value_get_string(value)) {
    text = given;
  }
  element_of(object).set(property->name, text);
}

void get_property(GObject* object, guint /*id*/, GValue* value, GParamSpec* property) {
  const std::string text = element_of(object).get(property->name);
  if (text.empty()) {
    g_param_value_set_default(property, value);
  } else if (G_VALUE_HOLDS_STRING(value)) {
    g_value_set_string(value, text.c_str());
  } else {
    gst_value_deserialize(value, text.c_str());
  }
}

void finalize(GObject* object) {
  const std::unique_ptr<Element> ended(&element_of(object));
  G_OBJECT_CLASS(limpid_denoise_parent_class)->finalize(object);
}

void limpid_denoise_class_init(LimpidDenoiseClass* own) {
  GObjectClass* const object = G_OBJECT_CLASS(own);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  const auto text = [](const char* name, const char* help) {
    return g_param_spec_string(name, name, help, "", kFlags);
  };
  std::vector<std::string> filters{"default"};
  for (const limpid_filter_info& filter : limpid::plugins::filters()) {
    filters.emplace_back(filter.name);
  }
  const auto choice = [](const char* name, const char* help, const char* type,
                         const std::vector<std::string>& names) {
    return g_param_spec_enum(name, name, help, enum_of(type, names), 0, kFlags);
  };
  GParamSpec* properties[] = {
      nullptr,  // of the number 0, which none may have
      text("noise",
           "Noise: auto, standard deviation in 8-bit code values (10 or 10,5,5), or profile of limpid noise"),
      choice("filter", "Filter", "LimpidFilter", filters),
      choice("quality", "Quality, from fastest to best", "LimpidQuality",
             {"default", "fast", "good", "high", "best"}),
      choice("profile", "Quality by the filter's own names", "LimpidProfile",
             limpid::plugins::profile_names()),
      choice("repair", "Defects to repair first", "LimpidRepair", {"off", "pixels", "rows", "dust", "all"}),
      text("engine", "Engine: auto, cpu, cuda:0"),
      text("settings",
           "Settings file and other options of limpid denoise, separated by spaces: look.json reach=2"),
      g_param_spec_double("strength", "strength", "Factor of the noise level", 0, 10, 1, kFlags),
      g_param_spec_boolean("live", "live", "Do not wait for later frames", FALSE, kFlags)};
  g_object_class_install_properties(object, std::size(properties), properties);
  GstElementClass* const element = GST_ELEMENT_CLASS(own);
  element->change_state = change_state;
  gst_element_class_set_static_metadata(element, "Limpid denoiser", "Filter/Effect/Video",
                                        "Removes noise from video", "The Limpid project");
  GstCaps* const caps = gst_caps_from_string(kCaps);
  if (const auto device = make_device_frames()) {
    gst_caps_append(caps, device->caps());
  }
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

void limpid_denoise_init(LimpidDenoise* own) {
  GstElement* const element = GST_ELEMENT(own);
  own->own = std::make_unique<Element>(element).release();
  const auto add_pad = [element](const char* name) {
    GstPad* const pad = gst_pad_new_from_template(
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(element), name), name);
    gst_pad_set_query_function(pad, answer_query);
    GST_PAD_SET_PROXY_CAPS(pad);
    gst_element_add_pad(element, pad);
    return pad;
  };
  own->own->source = add_pad("src");
  own->own->sink = add_pad("sink");
  gst_pad_set_chain_function(own->own->sink, [](GstPad* /*pad*/, GstObject* parent, GstBuffer* buffer) {
    return element_of(parent).chain(buffer);
  });
  gst_pad_set_event_function(own->own->sink, sink_event);
}

gboolean register_element(GstPlugin* plugin) {
  return gst_element_register(plugin, "limpiddenoise", GST_RANK_NONE, limpid_denoise_get_type());
}

}  // namespace
}  // namespace limpid::gstreamer

#define PACKAGE "limpid"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, limpid, "Removes noise from video",
                  limpid::gstreamer::register_element, LIMPID_VERSION, "MIT/X11", "Limpid",
                  "Unknown package origin")
