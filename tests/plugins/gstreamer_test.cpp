// SPDX-License-Identifier: MIT
// The GStreamer element in GStreamer's own harness.
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/lib/handles.h"
#include "tests/oracle/pictures.h"
#include "tests/plugins/host_script.h"

#pragma GCC diagnostic ignored "-Wold-style-cast"  // in GObject's macros

namespace limpid::lib {
namespace {

using Settings = std::vector<std::pair<const char*, const char*>>;

constexpr GstClockTime kFrame = GST_SECOND / 25;

GstVideoInfo info_of(GstVideoFormat format, int width, int height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, static_cast<guint>(width), static_cast<guint>(height));
  info.fps_n = 25;
  info.fps_d = 1;
  return info;
}

FrameFormat format_of(const GstVideoInfo& info) {
  const int depth = static_cast<int>(info.finfo->depth[0]);
  FrameFormat format = oracle::gray(info.width, info.height, depth);
  if (GST_VIDEO_INFO_IS_RGB(&info)) {
    format = oracle::rgb(info.width, info.height, depth);
  } else if (GST_VIDEO_INFO_IS_YUV(&info)) {
    format = oracle::yuv(info.width, info.height, static_cast<int>(info.finfo->w_sub[1]),
                         static_cast<int>(info.finfo->h_sub[1]), depth);
  }
  format.has_alpha = GST_VIDEO_INFO_HAS_ALPHA(&info);
  return format;
}

// Calls each(the frame's sample, where the buffer has it, how far that is shifted) for all.
template <typename Each>
void for_each_sample(const GstVideoInfo& info, GstBuffer* buffer, const Frame& frame, const Each& each) {
  GstVideoFrame mapped;
  ASSERT_TRUE(gst_video_frame_map(&mapped, &info, buffer, static_cast<GstMapFlags>(GST_MAP_READWRITE)));
  for (int c = 0; c < frame.format.plane_count(); ++c) {
    const auto component = static_cast<guint>(c);
    const bool in_samples = info.finfo->depth[c] > 8 && info.finfo->poffset[c] % 2 != 0;  // of P010's V
    for (int y = 0; y < frame.planes[c].height; ++y) {
      std::uint8_t* place = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&mapped, component)) +
                            y * GST_VIDEO_FRAME_COMP_STRIDE(&mapped, component) + (in_samples ? 1 : 0);
      for (int x = 0; x < frame.planes[c].width; ++x) {
        if (frame.format.bytes_per_sample() == 1) {
          each(frame.planes[c].row<std::uint8_t>(y)[x], place, 0U);
        } else {
          each(frame.planes[c].row<std::uint16_t>(y)[x], place, info.finfo->shift[c]);
        }
        place += GST_VIDEO_FRAME_COMP_PSTRIDE(&mapped, component);
      }
    }
  }
  gst_video_frame_unmap(&mapped);
}

GstBuffer* buffer_of(const GstVideoInfo& info, const Frame& frame) {
  GstBuffer* const buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  for_each_sample(info, buffer, frame, [](auto sample, std::uint8_t* place, unsigned shift) {
    sample = static_cast<decltype(sample)>(sample << shift);
    std::memcpy(place, &sample, sizeof sample);
  });
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(frame.index) * kFrame;
  GST_BUFFER_DURATION(buffer) = kFrame;
  return buffer;
}

Frame frame_of(const GstVideoInfo& info, GstBuffer* buffer) {
  Frame frame = allocate_frame(format_of(info));
  frame.index = static_cast<std::int64_t>(GST_BUFFER_PTS(buffer) / kFrame);
  for_each_sample(info, buffer, frame, [](auto& sample, std::uint8_t* place, unsigned shift) {
    std::memcpy(&sample, place, sizeof sample);
    sample = static_cast<std::remove_reference_t<decltype(sample)>>(sample >> shift);
  });
  return frame;
}

std::vector<Frame> noisy_clip(const GstVideoInfo& info, int count, int first = 0) {
  std::vector<Frame> frames;
  for (int i = first; i < first + count; ++i) {
    frames.push_back(
        oracle::add_noise(oracle::draw_picture(format_of(info)), 10, static_cast<std::uint64_t>(i + 1)));
    frames.back().index = i;
  }
  return frames;
}

// By the library.
std::vector<Frame> expected(const std::vector<Frame>& frames, const Settings& settings) {
  const Handle denoiser;
  for (const auto& [name, value] : settings) {
    EXPECT_EQ(limpid_set(denoiser, name, value), LIMPID_OK) << limpid_error(denoiser);
  }
  EXPECT_EQ(start(denoiser, frames.front().format), LIMPID_OK) << limpid_error(denoiser);
  return denoise(denoiser, frames);
}

class Harness {
 public:
  explicit Harness(const Settings& properties) : harness_(gst_harness_new("limpiddenoise")) {
    for (const auto& [name, value] : properties) {
      set(name, value);
    }
  }
  Harness(const Harness&) = delete;
  Harness(Harness&&) = delete;
  Harness& operator=(const Harness&) = delete;
  Harness& operator=(Harness&&) = delete;
  ~Harness() { gst_harness_teardown(harness_); }
  operator GstHarness*() const { return harness_; }  // NOLINT(google-explicit-constructor)

  void set(const char* name, const char* value) const {
    gst_util_set_object_arg(G_OBJECT(harness_->element), name, value);
  }
  void set_caps(const GstVideoInfo& info) const {
    gst_harness_set_src_caps(harness_, gst_video_info_to_caps(&info));
  }
  void push(const GstVideoInfo& info, const std::vector<Frame>& frames) const {
    for (const Frame& frame : frames) {
      EXPECT_EQ(gst_harness_push(harness_, buffer_of(info, frame)), GST_FLOW_OK);
    }
  }
  void end() const { EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_eos())); }
  // All that came out.
  std::vector<Frame> results(const GstVideoInfo& info) const {
    std::vector<Frame> frames;
    for (GstBuffer* buffer = gst_harness_try_pull(harness_); buffer != nullptr;
         buffer = gst_harness_try_pull(harness_)) {
      frames.push_back(frame_of(info, buffer));
      gst_buffer_unref(buffer);
    }
    return frames;
  }

 private:
  GstHarness* harness_;
};

void expect_same(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].index, b[i].index);
    EXPECT_TRUE(oracle::same_bits(a[i], b[i])) << "frame " << i;
  }
}

class GStreamer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("GST_PLUGIN_SYSTEM_PATH", "", 1);  // they would be looked through
    setenv("GST_REGISTRY_DISABLE", "yes", 1);
    gst_init(nullptr, nullptr);
    GstPlugin* const plugin = gst_plugin_load_file(LIMPID_GSTREAMER_PLUGIN, nullptr);
    ASSERT_NE(plugin, nullptr);
    gst_object_unref(plugin);
  }
};

TEST_F(GStreamer, GivesTheLibrarysBitsInAllFormats) {
  GstElement* const element = gst_element_factory_make("limpiddenoise", nullptr);
  GstPad* const pad = gst_element_get_static_pad(element, "sink");
  GstCaps* const caps = gst_pad_get_pad_template_caps(pad);
  const GValue* const formats = gst_structure_get_value(gst_caps_get_structure(caps, 0), "format");
  ASSERT_GT(gst_value_list_get_size(formats), 30U);
  const Settings settings{{"noise", "10"}, {"filter", "bilateral"}};
  for (guint i = 0; i < gst_value_list_get_size(formats); ++i) {
    const char* const name = g_value_get_string(gst_value_list_get_value(formats, i));
    SCOPED_TRACE(name);
    const GstVideoInfo info = info_of(gst_video_format_from_string(name), 35, 21);
    const std::vector<Frame> frames = noisy_clip(info, 1);
    const Harness harness(settings);
    harness.set_caps(info);
    harness.push(info, frames);
    harness.end();
    expect_same(harness.results(info), expected(frames, settings));
  }
  gst_caps_unref(caps);
  gst_object_unref(pad);
  gst_object_unref(element);
}

TEST_F(GStreamer, GivesAllFramesWithWhatTheyCarry) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_I420, 48, 40);
  const std::vector<Frame> frames = noisy_clip(info, 9);
  const Harness harness({{"settings", "reach=1"}, {"profile", "fast"}});
  harness.set_caps(info);
  for (const Frame& frame : frames) {
    GstBuffer* const buffer = buffer_of(info, frame);
    GST_BUFFER_OFFSET(buffer) = static_cast<guint64>(frame.index) + 100;
    GST_BUFFER_FLAG_SET(buffer, frame.index == 4 ? GST_BUFFER_FLAG_CORRUPTED : GST_BUFFER_FLAG_DELTA_UNIT);
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", 1, 2, 3, static_cast<guint>(frame.index));
    gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 48, 40);
    EXPECT_EQ(gst_harness_push(harness, buffer), GST_FLOW_OK);
  }
  harness.end();
  const std::vector<Frame> whole = expected(frames, {{"reach", "1"}, {"profile", "fast"}});
  for (const Frame& frame : whole) {
    GstBuffer* const buffer = gst_harness_try_pull(harness);
    ASSERT_NE(buffer, nullptr) << frame.index;
    EXPECT_TRUE(oracle::same_bits(frame_of(info, buffer), frame)) << frame.index;
    EXPECT_EQ(GST_BUFFER_PTS(buffer), static_cast<GstClockTime>(frame.index) * kFrame);
    EXPECT_EQ(GST_BUFFER_DURATION(buffer), kFrame);
    EXPECT_EQ(GST_BUFFER_OFFSET(buffer), static_cast<guint64>(frame.index) + 100);
    EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED), frame.index == 4);
    const auto* const meta = gst_buffer_get_video_region_of_interest_meta_id(buffer, 0);
    ASSERT_NE(meta, nullptr);
    EXPECT_EQ(meta->h, static_cast<guint>(frame.index));
    EXPECT_EQ(gst_buffer_get_video_meta(buffer), nullptr) << "its memory isn't the source's";
    gst_buffer_unref(buffer);
  }
  EXPECT_EQ(gst_harness_try_pull(harness), nullptr);
}

TEST_F(GStreamer, DropsWhatIsUnderWayAtAFlush) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 48, 40);
  const std::vector<Frame> frames = noisy_clip(info, 6, 20);
  const Harness harness({{"noise", "10"}, {"profile", "fast"}});
  harness.set_caps(info);
  harness.push(info, noisy_clip(info, 4));
  EXPECT_TRUE(harness.results(info).empty()) << "held back";
  gst_harness_push_event(harness, gst_event_new_flush_start());
  gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness, gst_event_new_segment(&segment));
  harness.push(info, frames);
  harness.end();
  expect_same(harness.results(info), expected(frames, {{"noise", "10"}, {"profile", "fast"}}));
}

TEST_F(GStreamer, GivesAllFramesBeforeNewCaps) {
  const GstVideoInfo first = info_of(GST_VIDEO_FORMAT_I420, 48, 40);
  const GstVideoInfo second = info_of(GST_VIDEO_FORMAT_NV12, 34, 52);
  const Settings settings{{"noise", "10"}, {"profile", "fast"}};
  const Harness harness(settings);
  harness.set_caps(first);
  harness.push(first, noisy_clip(first, 3));
  harness.set_caps(second);
  expect_same(harness.results(first), expected(noisy_clip(first, 3), settings));
  harness.push(second, noisy_clip(second, 4));
  harness.end();
  expect_same(harness.results(second), expected(noisy_clip(second, 4), settings));
}

TEST_F(GStreamer, TellsItsLatency) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 48, 40);
  const Harness harness({{"engine", "cpu"}, {"settings", "delay=4"}, {"noise", "10"}});
  harness.set_caps(info);
  const GstClockTime given = gst_harness_query_latency(harness);
  EXPECT_GE(given, 4 * kFrame);
  harness.set("noise", "auto");
  harness.push(info, noisy_clip(info, 1));
  EXPECT_EQ(gst_harness_query_latency(harness), given + 5 * kFrame) << "the estimate looks ahead";
  harness.set("settings", "");
  harness.set("live", "true");
  harness.push(info, noisy_clip(info, 1, 1));
  EXPECT_EQ(gst_harness_query_latency(harness), 0U);
  EXPECT_EQ(harness.results(info).size(), 2U);
}

TEST_F(GStreamer, TakesNewSettingsBetweenFrames) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 48, 40);
  const std::vector<Frame> frames = noisy_clip(info, 3);
  const Harness harness({{"noise", "10"}, {"filter", "bilateral"}});
  harness.set_caps(info);
  harness.push(info, {frames[0]});
  harness.set("noise", "20");
  harness.push(info, {frames[1]});
  harness.set("filter", "nlm");
  harness.push(info, {frames[2]});
  harness.end();
  expect_same(harness.results(info),
              {expected({frames[0]}, {{"noise", "10"}, {"filter", "bilateral"}}).front(),
               expected({frames[1]}, {{"noise", "20"}, {"filter", "bilateral"}}).front(),
               expected({frames[2]}, {{"noise", "20"}, {"filter", "nlm"}}).front()});
}

TEST_F(GStreamer, TellsItsProperties) {
  const Harness harness({});
  const auto told = [&] {
    gchar* noise = nullptr;
    gdouble strength = 0;
    gboolean live = FALSE;
    g_object_get(static_cast<GstHarness*>(harness)->element, "noise", &noise, "strength", &strength, "live",
                 &live, nullptr);
    const std::string text = noise;
    g_free(noise);
    return std::tuple(text, strength, live != FALSE);
  };
  EXPECT_EQ(told(), std::tuple("", 1, false));
  harness.set("noise", "10,5,5");
  harness.set("strength", "0.7");
  harness.set("live", "true");
  EXPECT_EQ(told(), std::tuple("10,5,5", 0.7, true));
  harness.set("noise", "");
  harness.set("live", "false");
  EXPECT_EQ(told(), std::tuple("", 0.7, false));
}

// Tools make menus of enumerations.
TEST_F(GStreamer, FiltersAndProfilesAreEnumerations) {
  const Harness harness({});
  GObject* const element = G_OBJECT(static_cast<GstHarness*>(harness)->element);
  const auto value = [&](const char* name) {
    gint number = -1;
    g_object_get(element, name, &number, nullptr);
    const GParamSpec* const property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
    return std::string(G_PARAM_SPEC_ENUM(property)->enum_class->values[number].value_nick);
  };
  for (const char* const word : {"default", "fast", "good", "high", "best", "default"}) {
    harness.set("quality", word);
    EXPECT_EQ(value("quality"), word);
  }
  EXPECT_EQ(value("filter"), "default");
  EXPECT_EQ(value("profile"), "default");
  for (std::int32_t f = 0; f < limpid_filter_count(); ++f) {
    auto filter = sized<limpid_filter_info>();
    ASSERT_EQ(limpid_get_filter(f, &filter), LIMPID_OK);
    harness.set("filter", filter.name);
    EXPECT_EQ(value("filter"), filter.name);
    for (std::int32_t p = 0; p < filter.profile_count; ++p) {
      harness.set("profile", filter.profiles[p]);
      EXPECT_EQ(value("profile"), filter.profiles[p]);
    }
  }
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 32, 24);
  const std::vector<Frame> frames = noisy_clip(info, 1);
  harness.set("filter", "default");
  harness.set("profile", "fast");
  harness.set("noise", "10");
  harness.set_caps(info);
  harness.push(info, frames);
  harness.end();
  expect_same(harness.results(info), expected(frames, {{"noise", "10"}, {"profile", "fast"}}));
}

TEST_F(GStreamer, RepairsWithLaterFrames) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 96, 80);
  const std::vector<Frame> frames = oracle::with_defects(noisy_clip(info, 20));
  const Harness harness({{"noise", "3"}, {"filter", "bilateral"}, {"repair", "all"}});
  harness.set_caps(info);
  harness.push(info, frames);
  harness.end();
  const std::vector<Frame> repaired =
      expected(frames, {{"noise", "3"}, {"filter", "bilateral"}, {"repair", "all"}});
  EXPECT_FALSE(
      oracle::same_bits(repaired[9], expected(frames, {{"noise", "3"}, {"filter", "bilateral"}})[9]));
  expect_same(harness.results(info), repaired);
}

TEST_F(GStreamer, TellsWhatIsWrong) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 16, 16);
  const Harness harness({{"noise", "10"}, {"filter", "bilateral"}});
  GstBus* const bus = gst_bus_new();
  GstElement* const element = static_cast<GstHarness*>(harness)->element;
  gst_element_set_bus(element, bus);
  harness.set_caps(info);
  harness.set("noise", "loud");
  EXPECT_EQ(gst_harness_push(harness, buffer_of(info, noisy_clip(info, 1).front())), GST_FLOW_ERROR);
  GstMessage* const message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  ASSERT_NE(message, nullptr);
  GError* error = nullptr;
  gchar* place = nullptr;
  gst_message_parse_error(message, &error, &place);
  EXPECT_EQ(std::string(error->message).find("noise: 'loud' is neither auto"), 0U) << error->message;
  EXPECT_EQ(std::string(place).find("plugins/gstreamer/plugin.cpp"), 0U) << "of no machine: " << place;
  g_error_free(error);
  g_free(place);
  gst_message_unref(message);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(bus);
}

// Where the caps already fail, and where a frame does.
TEST_F(GStreamer, PostsOneErrorAndNothingAfterIt) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_GRAY8, 16, 16);
  for (const bool at_once : {true, false}) {
    const Harness harness({{"noise", at_once ? "typo" : "10"}, {"filter", "bilateral"}});
    GstBus* const bus = gst_bus_new();
    GstElement* const element = static_cast<GstHarness*>(harness)->element;
    gst_element_set_bus(element, bus);
    harness.set_caps(info);
    if (!at_once) {
      EXPECT_EQ(gst_harness_push(harness, buffer_of(info, noisy_clip(info, 1).front())), GST_FLOW_OK);
      harness.set("noise", "typo");
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT_LT(gst_harness_push(harness, buffer_of(info, noisy_clip(info, 1).front())), GST_FLOW_OK);
    }
    gst_harness_push_event(harness, gst_event_new_flush_start());
    gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE));
    gst_harness_push_event(harness, gst_event_new_eos());
    int errors = 0;
    while (GstMessage* const message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR)) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      EXPECT_NE(std::string(error->message).find("'typo'"), std::string::npos) << error->message;
      g_error_free(error);
      gst_message_unref(message);
      ++errors;
    }
    EXPECT_EQ(errors, 1);
    gst_element_set_bus(element, nullptr);
    gst_object_unref(bus);
  }
}

TEST(GStreamerHosts, GstLaunchGivesTheProgramsBits) {
  test::expect_host_to_work(LIMPID_GSTREAMER_HOSTS, LIMPID_BIN_DIR);
}

}  // namespace
}  // namespace limpid::lib
