// SPDX-License-Identifier: MIT
#include "plugins/shared/denoiser.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>

namespace limpid::plugins {
namespace {

// Settings that a running stream accepts. The first two are one setting; the last one that is set applies.
constexpr const char* kNoise[] = {"noise", "sigma"};
constexpr const char* kStrength = "strength";
constexpr const char* kSettingsFile = "settings";

const char* value_of(const Settings& settings, const std::string& name) {
  const auto setting = settings.find(name);
  return setting == settings.end() ? nullptr : setting->second.c_str();
}

bool differ(const Settings& left, const Settings& right, const char* name) {
  const char* const one = value_of(left, name);
  const char* const other = value_of(right, name);
  return one == nullptr || other == nullptr ? one != other : std::strcmp(one, other) != 0;
}

Settings without_levels(Settings settings) {
  for (const char* name : {kNoise[0], kNoise[1], kStrength}) {
    settings.erase(name);
  }
  return settings;
}

}  // namespace

std::vector<limpid_filter_info> filters() {
  std::vector<limpid_filter_info> filters(static_cast<std::size_t>(limpid_filter_count()),
                                          sized<limpid_filter_info>());
  for (std::int32_t number = 0; limpid_filter_info & filter : filters) {
    limpid_get_filter(number++, &filter);
  }
  return filters;
}

bool has_profile(const limpid_filter_info& filter, const std::string& profile) {
  return std::find(filter.profiles, filter.profiles + filter.profile_count, profile) !=
         filter.profiles + filter.profile_count;
}

const std::vector<std::string>& profile_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list{"default"};
    for (const limpid_filter_info& filter : filters()) {
      for (std::int32_t p = 0; p < filter.profile_count; ++p) {
        if (std::find(list.begin(), list.end(), filter.profiles[p]) == list.end()) {
          list.emplace_back(filter.profiles[p]);
        }
      }
    }
    return list;
  }();
  return names;
}

std::string with_underscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Settings expanded(Settings settings) {
  std::erase_if(settings, [](const auto& setting) { return setting.second.empty(); });
  const Settings::node_type more = settings.extract(kSettingsFile);
  std::istringstream words(more ? more.mapped() : "");
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      settings[word.substr(0, equals)] = word.substr(equals + 1);
    } else if (word.ends_with(".json")) {
      settings[kSettingsFile] = word;
    } else {
      throw std::runtime_error("settings: '" + word + "' is neither NAME=VALUE nor a settings file (.json)");
    }
  }
  return settings;
}

std::string text_of(double number) {
  char text[64];
  return {text, std::to_chars(std::begin(text), std::end(text), number).ptr};
}

void Denoiser::start(const limpid_format& format, const Settings& settings) {
  settings_.reset();
  limpid_denoiser* denoiser = nullptr;
  if (limpid_new(&denoiser, engine_) != LIMPID_OK) {
    throw std::bad_alloc();
  }
  handle_.reset(denoiser);
  limpid_set_log(
      denoiser,
      [](void* own, limpid_log_level level, const char* sentence) {
        if (level == LIMPID_LOG_WARNING) {
          static_cast<Denoiser*>(own)->warn_(sentence);
        }
      },
      this);
  // The others override the settings of the file.
  if (const char* const file = value_of(settings, kSettingsFile)) {
    set(kSettingsFile, file);
  }
  for (const auto& [name, value] : settings) {
    if (name != kSettingsFile) {
      set(name, value.c_str());
    }
  }
  check(limpid_start(denoiser, &format));
  format_ = format;
  settings_ = settings;
}

bool Denoiser::goes_on_with(const limpid_format& format, const Settings& settings) const {
  if (settings.contains(kSettingsFile) && settings_ != settings) {
    return false;  // the file may have the levels that settings lack
  }
  return settings_ && std::memcmp(&format_, &format, sizeof format) == 0 &&
         without_levels(*settings_) == without_levels(settings);
}

void Denoiser::take(const limpid_format& format, const Settings& settings) {
  if (!goes_on_with(format, settings)) {
    return start(format, settings);
  }
  const Settings before = *settings_;
  if (differ(before, settings, kNoise[0]) || differ(before, settings, kNoise[1])) {
    for (const char* name : kNoise) {
      if (name == kNoise[0] || settings.contains(name)) {
        set(name, value_of(settings, name));
      }
    }
  }
  if (differ(before, settings, kStrength)) {
    set(kStrength, value_of(settings, kStrength));
  }
  settings_ = settings;
}

limpid_stream_info Denoiser::stream() {
  auto stream = sized<limpid_stream_info>();
  check(limpid_get_stream(handle_.get(), &stream));
  return stream;
}

int Denoiser::frames_ahead() {
  const limpid_stream_info info = stream();
  return info.latency + info.concurrency - 1;
}

void Denoiser::send(const limpid_frame& frame) { check(limpid_send(handle_.get(), &frame)); }

void Denoiser::send_to(const limpid_frame& frame, const limpid_frame& result) {
  check(limpid_send_to(handle_.get(), &frame, &result));
}

void Denoiser::receive(limpid_frame& result) { check_result(limpid_receive(handle_.get(), &result)); }

void Denoiser::receive_into(limpid_frame& place) { check_result(limpid_receive_into(handle_.get(), &place)); }

limpid_noise Denoiser::noise_of_result() {
  auto noise = sized<limpid_noise>();
  check(limpid_get_result_noise(handle_.get(), &noise));
  return noise;
}

void Denoiser::flush() { check(limpid_flush(handle_.get())); }

void Denoiser::reset() { check(limpid_reset(handle_.get())); }

void Denoiser::check(limpid_status status) {
  if (status < 0) {
    settings_.reset();
    throw std::runtime_error(limpid_error(handle_.get()));
  }
}

void Denoiser::check_result(limpid_status status) {
  check(status);
  if (status != LIMPID_OK) {
    throw std::runtime_error("no result came for a frame");
  }
}

void Denoiser::set(const std::string& name, const char* value) {
  check(limpid_set(handle_.get(), name.c_str(), value));
}

}  // namespace limpid::plugins
