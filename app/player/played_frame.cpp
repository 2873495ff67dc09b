// SPDX-License-Identifier: MIT
#include "app/player/played_frame.h"

namespace limpid::app {

FilterSettings filter_settings(const PlayerSettings& settings) {
  FilterSettings filter = settings.filter;
  const FilterType& type = filter_type(filter.name);
  if (type.profiles.empty()) {
    filter.profile.reset();
  }
  std::erase_if(filter.parameters,
                [&](const auto& parameter) { return find_parameter(type, parameter.first) == nullptr; });
  return filter;
}

Filter offline_filter(const PlayerSettings& settings) {
  return make_filter(filter_settings(settings), false, "--");
}

Filter live_filter(const PlayerSettings& settings) {
  return make_filter(live(filter_settings(settings), false, 0), false, "--");
}

}  // namespace limpid::app
