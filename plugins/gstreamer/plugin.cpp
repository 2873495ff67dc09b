// The GStreamer plug-in: the element limpiddenoise. Frames that filters along motion wait for are held back,
// and told of as latency.
#include <gst/gst.h>
#include <gst/video/video.h>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "plugins/gstreamer/stream.h"

#pragma GCC diagnostic ignored "-Wold-style-cast"  // in GObject's macros

namespace limpid::gstreamer {
namespace {

// Where caps don't tell the rate, as for variable ones.
constexpr GstClockTime kUsualDuration = GST_SECOND / 25;

struct Property {
  const char* name;
  const char* help;
  const char* default_value;
};
// Texts, as the library takes them.
constexpr Property kProperties[] = {
    {"noise", "auto; its deviation in 8-bit code values, 10 or 10,5,5; a profile that limpid noise has saved",
     ""},
    {"filter", "vbm4d, vnlb, bm3d, bilateral, adaptive-bilateral, nlm", ""},
    {"profile", "From quick to thorough: fast, lc, np, high", ""},
    {"engine", "auto, cpu, cuda:0", ""},
    {"settings", "Other options of limpid denoise, between spaces: reach=2 threads=4", ""},
};
constexpr guint kStrength = 100;
constexpr guint kLive = 101;

GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(LIMPID_GSTREAMER_FORMATS)));
GstStaticPadTemplate source_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(LIMPID_GSTREAMER_FORMATS)));

// What an element is behind GObject's struct. All but settings and latencies belong to the streaming thread.
class Element {
 public:
  explicit Element(GstElement* element)
      : element_(element), stream_([element](const char* sentence) {
          GST_ELEMENT_WARNING(element, STREAM, FORMAT, ("%s", sentence), (nullptr));
        }) {}

  GstPad* sink = nullptr;
  GstPad* source = nullptr;

  void set(const std::string& name, const std::string& value) {
    const std::scoped_lock lock(mutex_);
    settings_[name] = value;
  }
  std::string get(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return settings_[name];
  }

  GstClockTime latency() {
    const std::scoped_lock lock(mutex_);
    return latency_;
  }

  // Takes the caps of what follows.
  bool begin(GstCaps* caps) {
    GstVideoInfo info;
    if (gst_video_info_from_caps(&info, caps) == FALSE) {
      return false;
    }
    return succeeds([&] {
             info_ = info;
             start(settings());
             return GST_FLOW_OK;
           }) == GST_FLOW_OK;
  }

  GstFlowReturn chain(GstBuffer* buffer) {
    const Buffer owned(buffer);
    if (!info_) {
      return GST_FLOW_NOT_NEGOTIATED;
    }
    return succeeds([&] {
      take_new_settings();
      stream_.send(buffer);
      return push_results();
    });
  }

  // Pushes what is held back.
  GstFlowReturn drain() {
    if (!info_) {
      return GST_FLOW_OK;
    }
    return succeeds([&] {
      stream_.end();
      const GstFlowReturn flow = push_results();
      stream_.reset();
      return flow;
    });
  }

  void drop() {
    if (info_) {
      succeeds([&] {
        stream_.reset();
        return GST_FLOW_OK;
      });
    }
  }

  void stop() { info_.reset(); }

 private:
  template <typename Step>
  GstFlowReturn succeeds(const Step& step) {
    try {
      return step();
    } catch (const std::exception& error) {
      GST_ELEMENT_ERROR(element_, STREAM, FAILED, ("%s", error.what()), (nullptr));
      return GST_FLOW_ERROR;
    }
  }

  Stream::Settings settings() {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }

  void take_new_settings() {
    const Stream::Settings wanted = settings();
    if (wanted == taken_) {
      return;
    }
    if (stream_.can_change_to(wanted)) {
      stream_.change(wanted);
      taken_ = wanted;
      tell_latency();
    } else {
      stream_.end();
      push_results();
      start(wanted);
    }
  }

  void start(const Stream::Settings& wanted) {
    taken_ = wanted;
    stream_.start(*info_, wanted);
    tell_latency();
  }

  void tell_latency() {
    const GstClockTime duration =
        info_->fps_n > 0 ? gst_util_uint64_scale_int(GST_SECOND, info_->fps_d, info_->fps_n) : kUsualDuration;
    const GstClockTime latency = stream_.latency() * duration;
    bool differs = false;
    {
      const std::scoped_lock lock(mutex_);
      differs = latency != latency_;
      latency_ = latency;
    }
    if (differs) {
      gst_element_post_message(element_, gst_message_new_latency(GST_OBJECT_CAST(element_)));
    }
  }

  GstFlowReturn push_results() {
    GstFlowReturn flow = GST_FLOW_OK;
    for (Buffer result = stream_.receive(); result != nullptr; result = stream_.receive()) {
      const GstFlowReturn pushed = gst_pad_push(source, result.release());
      flow = flow == GST_FLOW_OK ? pushed : flow;
    }
    return flow;
  }

  GstElement* element_;
  std::mutex mutex_;
  Stream::Settings settings_;
  GstClockTime latency_ = 0;
  // Of the streaming thread.
  Stream stream_;
  Stream::Settings taken_;
  std::optional<GstVideoInfo> info_;
};

}  // namespace
}  // namespace limpid::gstreamer

// NOLINTBEGIN: GObject's manner
struct LimpidDenoise {
  GstElement parent;
  limpid::gstreamer::Element* own;
};
struct LimpidDenoiseClass {
  GstElementClass parent;
};
G_DEFINE_TYPE(LimpidDenoise, limpid_denoise, GST_TYPE_ELEMENT)
// NOLINTEND

namespace limpid::gstreamer {
namespace {

Element& element_of(gpointer object) { return *static_cast<LimpidDenoise*>(object)->own; }

GstFlowReturn chain(GstPad* /*pad*/, GstObject* parent, GstBuffer* buffer) {
  return element_of(parent).chain(buffer);
}

gboolean sink_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  Element& element = element_of(parent);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      element.drain();
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      gst_caps_ref(caps);
      const bool done = gst_pad_event_default(pad, parent, event) != FALSE && element.begin(caps);
      gst_caps_unref(caps);
      return done ? TRUE : FALSE;
    }
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
      element.drain();
      break;
    case GST_EVENT_FLUSH_STOP:
      element.drop();
      break;
    default:
      break;
  }
  return gst_pad_event_default(pad, parent, event);
}

gboolean sink_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);  // any strides
    return TRUE;
  }
  return gst_pad_query_default(pad, parent, query);
}

gboolean source_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  Element& element = element_of(parent);
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

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* specification) {
  Element& element = element_of(object);
  if (id == kStrength) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    element.set("strength", g_ascii_dtostr(text, sizeof text, g_value_get_double(value)));
  } else if (id == kLive) {
    element.set("live", g_value_get_boolean(value) != FALSE ? "1" : "");
  } else {
    const char* const text = g_value_get_string(value);
    element.set(specification->name, text == nullptr ? "" : text);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* specification) {
  Element& element = element_of(object);
  if (id == kStrength) {
    const std::string text = element.get("strength");
    g_value_set_double(value, text.empty() ? 1 : g_ascii_strtod(text.c_str(), nullptr));
  } else if (id == kLive) {
    g_value_set_boolean(value, element.get("live") == "1" ? TRUE : FALSE);
  } else {
    g_value_set_string(value, element.get(specification->name).c_str());
  }
}

void finalize(GObject* object) {
  const std::unique_ptr<Element> ended(&element_of(object));
  G_OBJECT_CLASS(limpid_denoise_parent_class)->finalize(object);
}

gboolean register_element(GstPlugin* plugin) {
  return gst_element_register(plugin, "limpiddenoise", GST_RANK_NONE, limpid_denoise_get_type());
}

}  // namespace
}  // namespace limpid::gstreamer

static void limpid_denoise_class_init(LimpidDenoiseClass* own) {
  using namespace limpid::gstreamer;  // NOLINT(google-build-using-namespace)
  GObjectClass* const object = G_OBJECT_CLASS(own);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  const auto flags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  guint id = 1;
  for (const Property& property : kProperties) {
    g_object_class_install_property(
        object, id++,
        g_param_spec_string(property.name, property.name, property.help, property.default_value, flags));
  }
  g_object_class_install_property(
      object, kStrength,
      g_param_spec_double("strength", "strength", "How much is removed: 1 what was found or given", 0, 10, 1,
                          flags));
  g_object_class_install_property(
      object, kLive,
      g_param_spec_boolean("live", "live", "Holds no frame back: later frames don't help", FALSE, flags));
  GstElementClass* const element = GST_ELEMENT_CLASS(own);
  element->change_state = change_state;
  gst_element_class_set_static_metadata(element, "Limpid denoiser", "Filter/Effect/Video",
                                        "Removes noise from video", "The Limpid project");
  gst_element_class_add_static_pad_template(element, &sink_template);
  gst_element_class_add_static_pad_template(element, &source_template);
}

static void limpid_denoise_init(LimpidDenoise* own) {
  using namespace limpid::gstreamer;  // NOLINT(google-build-using-namespace)
  own->own = std::make_unique<Element>(GST_ELEMENT(own)).release();
  Element& element = *own->own;
  element.sink = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_chain_function(element.sink, chain);
  gst_pad_set_event_function(element.sink, sink_event);
  gst_pad_set_query_function(element.sink, sink_query);
  GST_PAD_SET_PROXY_CAPS(element.sink);
  gst_element_add_pad(GST_ELEMENT(own), element.sink);
  element.source = gst_pad_new_from_static_template(&source_template, "src");
  gst_pad_set_query_function(element.source, source_query);
  GST_PAD_SET_PROXY_CAPS(element.source);
  gst_element_add_pad(GST_ELEMENT(own), element.source);
}

#define PACKAGE "limpid"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, limpid, "Removes noise from video",
                  limpid::gstreamer::register_element, LIMPID_VERSION, "MIT/X11", "Limpid",
                  "Unknown package origin")
