// SPDX-License-Identifier: MIT
// The OBS plug-in: the filter "Limpid denoise" for cameras and other sources of video.

#include <obs-module.h>
#include <obs.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plugins/shared/denoiser.h"

OBS_DECLARE_MODULE()

namespace limpid::obs {
namespace {

// The position of one plane's samples in OBS's planes.
struct Place {
  int plane;
  int offset;         // of the first sample, in samples
  int sample_stride;  // in samples
};

struct Layout {
  video_format format;
  limpid_color_model color_model;
  int chroma_shift_x;
  int chroma_shift_y;
  int bit_depth;
  int padding_bits;
  bool has_alpha;
  Place places[4];
};

constexpr Layout kLayouts[] = {
    {VIDEO_FORMAT_I420, LIMPID_YUV, 1, 1, 8, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_NV12, LIMPID_YUV, 1, 1, 8, 0, false, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}, {}}},
    {VIDEO_FORMAT_I422, LIMPID_YUV, 1, 0, 8, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_I444, LIMPID_YUV, 0, 0, 8, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_YUY2, LIMPID_YUV, 1, 0, 8, 0, false, {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}, {}}},
    {VIDEO_FORMAT_UYVY, LIMPID_YUV, 1, 0, 8, 0, false, {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}, {}}},
    {VIDEO_FORMAT_I010, LIMPID_YUV, 1, 1, 10, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_P010, LIMPID_YUV, 1, 1, 10, 6, false, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}, {}}},
    {VIDEO_FORMAT_Y800, LIMPID_GRAY, 0, 0, 8, 0, false, {{0, 0, 1}, {}, {}, {}}},
    {VIDEO_FORMAT_RGBA, LIMPID_RGB, 0, 0, 8, 0, true, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {0, 3, 4}}},
    {VIDEO_FORMAT_BGRA, LIMPID_RGB, 0, 0, 8, 0, true, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {0, 3, 4}}},
    {VIDEO_FORMAT_BGRX, LIMPID_RGB, 0, 0, 8, 0, false, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {}}},
};

const Layout* layout_of(video_format format) {
  for (const Layout& layout : kLayouts) {
    if (layout.format == format) {
      return &layout;
    }
  }
  return nullptr;
}

limpid_frame frame_of(const obs_source_frame& source, const Layout& layout) {
  auto frame = plugins::sized<limpid_frame>();
  const int bytes = layout.bit_depth > 8 ? 2 : 1;
  for (int c = 0; c < 4; ++c) {
    const Place& place = layout.places[c];
    if (place.sample_stride != 0) {
      frame.planes[c] = {source.data[place.plane] + place.offset * bytes,
                         static_cast<std::ptrdiff_t>(source.linesize[place.plane]), place.sample_stride};
    }
  }
  frame.padding_bits = layout.padding_bits;
  return frame;
}

limpid_format format_of(const obs_source_frame& source, const Layout& layout) {
  return {.struct_size = sizeof(limpid_format),
          .width = static_cast<std::int32_t>(source.width),
          .height = static_cast<std::int32_t>(source.height),
          .color_model = layout.color_model,
          .chroma_shift_x = layout.chroma_shift_x,
          .chroma_shift_y = layout.chroma_shift_y,
          .sample_type = layout.bit_depth > 8 ? LIMPID_UINT16 : LIMPID_UINT8,
          .bit_depth = layout.bit_depth,
          .has_alpha = layout.has_alpha ? 1 : 0};
}

bool same_format(const obs_source_frame& left, const obs_source_frame& right) {
  return left.format == right.format && left.width == right.width && left.height == right.height;
}

struct FreeFrame {
  void operator()(obs_source_frame* frame) const { obs_source_frame_destroy(frame); }
};
using OwnFrame = std::unique_ptr<obs_source_frame, FreeFrame>;

// Denoises frames on its own thread, one at a time.
class Worker : plugins::NotCopyable {
 public:
  Worker()
      : denoiser_([](const char* sentence) { blog(LOG_WARNING, "[limpid] %s", sentence); }),
        thread_([this] { run(); }) {}
  // Waits until the current frame is denoised.
  ~Worker() {
    {
      const std::scoped_lock lock(mutex_);
      state_ = State::kEnded;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Sets the settings for all later frames.
  void set(const plugins::Settings& settings) {
    const std::scoped_lock lock(mutex_);
    settings_ = settings;
    state_ = state_ == State::kFailed ? State::kIdle : state_;  // new settings may be valid
  }

  // Denoises `frame` in place if that takes at most `nanoseconds`. Leaves the frame unchanged if it takes
  // longer, or while an earlier frame is still in progress. One call at a time, on any thread.
  void filter(obs_source_frame& frame, std::uint64_t nanoseconds) {
    std::unique_lock lock(mutex_);
    if (state_ == State::kFailed) {
      return;
    }
    if (state_ == State::kGiven) {
      return tell_late();
    }
    if (frame_ == nullptr || !same_format(*frame_, frame)) {
      frame_.reset(obs_source_frame_create(frame.format, frame.width, frame.height));
    }
    obs_source_frame_copy(frame_.get(), &frame);
    state_ = State::kGiven;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                      [this] { return state_ != State::kGiven; });
    if (state_ == State::kDone) {
      obs_source_frame_copy(&frame, frame_.get());  // with the time and colors of the frame
    } else if (state_ == State::kGiven) {
      tell_late();
    }
  }

 private:
  enum class State : std::uint8_t { kIdle, kGiven, kDone, kFailed, kEnded };

  void tell_late() {
    if (!std::exchange(told_late_, true)) {
      blog(LOG_WARNING,
           "[limpid] frames take longer to denoise than OBS can wait: late ones pass as they are");
    }
  }

  // Runs on the worker's thread.
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return state_ == State::kGiven || state_ == State::kEnded; });
      if (state_ == State::kEnded) {
        return;
      }
      const plugins::Settings settings = settings_;
      lock.unlock();
      State state = State::kDone;
      try {
        denoise(settings);
      } catch (const std::exception& error) {
        blog(LOG_ERROR, "[limpid] %s", error.what());
        state = State::kFailed;
      }
      lock.lock();
      if (state_ != State::kEnded) {
        state_ = state == State::kFailed && settings != settings_ ? State::kIdle : state;
      }
      changed_.notify_all();
    }
  }

  void denoise(const plugins::Settings& settings) {
    const Layout& layout = *layout_of(frame_->format);
    denoiser_.take(format_of(*frame_, layout), settings);
    limpid_frame frame = frame_of(*frame_, layout);
    denoiser_.send(frame);
    denoiser_.receive_into(frame);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  plugins::Settings settings_;
  bool told_late_ = false;
  OwnFrame frame_;  // owned by the thread in state kGiven, by filter() otherwise

  plugins::Denoiser denoiser_;  // used by the thread only

  std::thread thread_;
};

// OBS does not draw while the filter waits, so it waits at most this share of the time for a picture.
constexpr double kShareOfInterval = 0.6;
constexpr std::uint64_t kUsualInterval = 33'333'333;  // nanoseconds

struct Source {
  Worker worker;
  std::atomic<bool> idle = false;  // strength 0
  bool told_format = false;
};

void update(void* data, obs_data_t* chosen) {
  auto& source = *static_cast<Source*>(data);
  const double strength = obs_data_get_double(chosen, "strength");
  plugins::Settings settings{{"live", "1"}, {"strength", plugins::text_of(strength)}};
  for (const char* name : {"noise", "filter", "profile", "engine"}) {
    settings[name] = obs_data_get_string(chosen, name);
  }
  const std::vector<limpid_filter_info> filters = plugins::filters();
  if (std::none_of(filters.begin(), filters.end(), [&](const limpid_filter_info& info) {
        const std::string& filter = settings["filter"];
        return (filter.empty() || filter == info.name) && plugins::has_profile(info, settings["profile"]);
      })) {
    settings.erase("profile");  // which belongs to another filter
  }
  source.idle = strength <= 0;
  source.worker.set(plugins::expanded(settings));
}

void* create(obs_data_t* settings, obs_source_t* /*context*/) {
  try {
    auto source = std::make_unique<Source>();
    update(source.get(), settings);
    return source.release();
  } catch (const std::exception& error) {  // such as a thread that cannot be started
    blog(LOG_ERROR, "[limpid] %s", error.what());
    return nullptr;
  }
}

void destroy(void* data) { const std::unique_ptr<Source> ended(static_cast<Source*>(data)); }

void set_defaults(obs_data_t* settings) {
  obs_data_set_default_string(settings, "noise", "auto");
  obs_data_set_default_double(settings, "strength", 1);
  obs_data_set_default_string(settings, "filter", "");
  obs_data_set_default_string(settings, "profile", "fast");
  obs_data_set_default_string(settings, "engine", "auto");
}

void add_words(obs_property_t* list, const char* const* words, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    obs_property_list_add_string(list, words[i], words[i]);
  }
}

obs_properties_t* make_properties(void* /*data*/) {
  obs_properties_t* const all = obs_properties_create();
  obs_property_t* const noise = obs_properties_add_text(all, "noise", "Noise", OBS_TEXT_DEFAULT);
  obs_property_set_long_description(
      noise, "auto; its deviation in 8-bit code values, 10 or 10,5,5; a profile that limpid noise has saved");
  obs_properties_add_float_slider(all, "strength", "Strength", 0, 2, 0.05);
  const auto add_list = [all](const char* name, const char* label) {
    return obs_properties_add_list(all, name, label, OBS_COMBO_TYPE_LIST, OBS_COMBO_FORMAT_STRING);
  };
  obs_property_t* const filters = add_list("filter", "Filter");
  obs_property_list_add_string(filters, "along motion (vbm4d)", "");
  obs_property_t* const profiles = add_list("profile", "Profile");
  for (const limpid_filter_info& info : plugins::filters()) {
    add_words(filters, &info.name, 1);
    if (obs_property_list_item_count(profiles) == 0) {
      add_words(profiles, info.profiles, info.profile_count);
    }
  }
  obs_property_t* const engines = add_list("engine", "Engine");
  obs_property_list_add_string(engines, "auto", "auto");
  limpid_list_engines(
      [](void* list, const limpid_engine_info* engine) {
        if (engine->available != 0) {
          const std::string label = std::string(engine->name) + ": " + engine->description;
          obs_property_list_add_string(static_cast<obs_property_t*>(list), label.c_str(), engine->name);
        }
      },
      engines);
  return all;
}

std::uint64_t longest_wait() {
  obs_video_info video{};
  const bool known = obs_get_video_info(&video) && video.fps_num > 0;
  const double interval = known ? 1e9 * video.fps_den / video.fps_num : static_cast<double>(kUsualInterval);
  return static_cast<std::uint64_t>(interval * kShareOfInterval);
}

obs_source_frame* filter_video(void* data, obs_source_frame* frame) {
  auto& source = *static_cast<Source*>(data);
  if (source.idle) {
    return frame;
  }
  if (layout_of(frame->format) != nullptr) {
    source.worker.filter(*frame, longest_wait());
  } else if (!source.told_format) {
    source.told_format = true;
    blog(LOG_WARNING, "[limpid] frames of %s pass as they are", get_video_format_name(frame->format));
  }
  return frame;
}

}  // namespace
}  // namespace limpid::obs

const char* obs_module_description(void) { return "Removes noise from cameras and other sources of video"; }

bool obs_module_load(void) {
  using namespace limpid::obs;  // NOLINT(google-build-using-namespace)
  obs_source_info info{};
  info.id = "limpid_denoise";
  info.type = OBS_SOURCE_TYPE_FILTER;
  info.output_flags = OBS_SOURCE_ASYNC_VIDEO;
  info.get_name = [](void* /*data*/) { return "Limpid denoise"; };
  info.create = create;
  info.destroy = destroy;
  info.update = update;
  info.get_defaults = set_defaults;
  info.get_properties = make_properties;
  info.filter_video = filter_video;
  obs_register_source(&info);
  return true;
}
