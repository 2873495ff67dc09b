// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "app/options/filter_options.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// A filter with its own noise settings.
struct FilterEntry {
  std::string text;  ///< "vbm4d:strength=strong:reach=4"
  FilterText filter;
  NoiseSettings noise;
};

/// Parses filters separated by commas, each with any of its parameters and of the noise settings strength,
/// sigma, noise, planes and mix. `base`: the settings that an entry does not have. A part that begins with a
/// digit belongs to the entry before it, as in "bm3d:sigma=12,6,6,nlm". Throws UsageError that names the
/// entry.
std::vector<FilterEntry> parse_filter_list(const std::string& texts, const NoiseSettings& base);

}  // namespace limpid::app
