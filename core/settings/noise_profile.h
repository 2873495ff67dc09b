// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/engine/noise_control.h"
#include "core/frame/region.h"
#include "core/settings/json_reader.h"

namespace limpid {

// The file format of a noise model:
//
//   {"limpid_noise_profile": 1,
//    "planes": {"Y": {"sigma": 10.5, "spectrum": [[...8], ...8], "curve": [...17], "repetition": 0.4},
//               "U": {..., "strength": 1.1}, "V": {...}}}
//
// Planes are Y, U, V or R, G, B, or Y alone. R, G, B may be followed by "opponent", with Y, U and V for the
// opponent channels. All members but sigma are optional. `spectrum` has the standard deviations of the
// coefficients of the 8x8 DCT, in rows of vertical frequencies from low to high. `curve` has the standard
// deviations at the brightnesses 0, 16, ... 256; those of U and V are at luma's brightnesses. Both are
// relative to sigma; a spectrum is scaled to a mean square of 1. `repetition` is the share of the noise that
// is common to successive frames (NoiseShape). `strength`, of U and V, is the ChromaStrength.
// "area": [x, y, width, height], beside "planes", is the only part of the picture that has noise.

nlohmann::ordered_json to_json(const NoiseProfile& profile);

/// [x, y, width, height], as "area" of noise profiles.
nlohmann::ordered_json to_json(const Region& region);
/// Throws UsageError unless `json` is such an array with sides of at least 1.
Region region_from(const JsonValue& json);

/// Throws UsageError for a text that is not a profile.
NoiseProfile parse_noise_profile(const std::string& text);

/// Throws a UsageError that names the file if it cannot be read or is not a noise profile.
NoiseProfile read_noise_profile(const std::string& path);

}  // namespace limpid
