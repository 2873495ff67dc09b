// SPDX-License-Identifier: MIT
#include "app/player/denoise_settings.h"

namespace limpid::app {

FilterSettings filter_settings(const DenoiseSettings& settings) {
  const FilterType& type = filter_type(settings.filter);
  FilterSettings filter{.name = settings.filter, .profile = {}, .parameters = settings.parameters};
  if (!type.profiles.empty()) {
    filter.profile = settings.profile;
  }
  std::erase_if(filter.parameters,
                [&](const auto& parameter) { return find_parameter(type, parameter.first) == nullptr; });
  return filter;
}

Filter offline_filter(const DenoiseSettings& settings) {
  return make_filter(filter_settings(settings), false, "--");
}

Filter live_filter(const DenoiseSettings& settings, int delay) {
  return make_filter(live(filter_settings(settings), false, delay), false, "--");
}

}  // namespace limpid::app
