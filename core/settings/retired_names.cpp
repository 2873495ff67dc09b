// SPDX-License-Identifier: MIT
#include "core/settings/retired_names.h"

#include <algorithm>
#include <array>

namespace limpid {
namespace {

struct Retired {
  std::string_view old_name;
  std::string_view name;
  std::string_view value;  // text after the name
};

constexpr std::array<Retired, 13> kRetired = {{
    {"luma-only", "planes", "luma"},
    {"chroma-only", "planes", "chroma"},
    {"no-progress", "progress", "none"},
    {"no-transcode", "audio-codec", "copy"},
    {"stretch-frames", "segment-frames", ""},
    {"search-window-away", "temporal-search-window", ""},
    {"search-window-away-2", "temporal-search-window-2", ""},
    {"end-distance", "trajectory-threshold", ""},
    {"end-distance-2", "trajectory-threshold-2", ""},
    {"constant-noise", "constant-threshold", ""},
    {"constant-noise-2", "constant-threshold-2", ""},
    {"changing-noise", "changing-threshold", ""},
    {"changing-noise-2", "changing-threshold-2", ""},
}};

}  // namespace

std::optional<std::string> replacement_of(std::string_view name, const std::string& dashes) {
  const auto retired = std::ranges::find(kRetired, name, &Retired::old_name);
  if (retired == kRetired.end()) {
    return std::nullopt;
  }
  std::string replacement = dashes + std::string(retired->name);
  if (!retired->value.empty()) {
    replacement += (dashes.empty() ? "=" : " ") + std::string(retired->value);
  }
  return replacement;
}

}  // namespace limpid
