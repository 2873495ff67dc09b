// SPDX-License-Identifier: MIT
// The OBS plug-in: the filter "Limpid denoise" for cameras and other sources of video.
#include <obs-module.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "plugins/obs/worker.h"

OBS_DECLARE_MODULE()

namespace limpid::obs {
namespace {

// OBS does not draw while the filter waits, so it waits at most this share of the time for a picture.
constexpr double kShareOfInterval = 0.6;
constexpr std::uint64_t kUsualInterval = 33'333'333;  // nanoseconds

struct Source {
  Worker worker;
  std::atomic<bool> idle = false;  // strength 0
  bool told_format = false;
};

bool has_profile(const std::string& filter, const std::string& profile) {
  const std::vector<limpid_filter_info> filters = plugins::filters();
  return std::any_of(filters.begin(), filters.end(), [&](const limpid_filter_info& info) {
    const char* const* const end = info.profiles + info.profile_count;
    return (filter.empty() || filter == info.name) && std::find(info.profiles, end, profile) != end;
  });
}

void update(void* data, obs_data_t* chosen) {
  auto& source = *static_cast<Source*>(data);
  const double strength = obs_data_get_double(chosen, "strength");
  plugins::Settings settings{{"live", "1"}, {"strength", plugins::text_of(strength)}};
  for (const char* name : {"noise", "filter", "profile", "engine"}) {
    settings[name] = obs_data_get_string(chosen, name);
  }
  // The profile belongs to another filter.
  if (!has_profile(settings["filter"], settings["profile"])) {
    settings.erase("profile");
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
  if (is_known(frame->format)) {
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
