#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/engine/noise_control.h"

namespace limpid {

// A noise model as a file:
//
//   {"limpid_noise_profile": 1,
//    "planes": {"Y": {"sigma": 10.5, "spectrum": [[...8], ...8], "curve": [...17], "repetition": 0.4},
//               "U": {..., "strength": 1.1}, "V": {...}}}
//
// Planes are Y, U, V or R, G, B, or Y alone. With R, G, B there may be "opponent", with Y, U and V for the
// opponent channels. All but sigma may be left out: `spectrum` has the deviations of the coefficients of the
// 8x8 DCT, rows of vertical frequencies from low to high; `curve` those at the brightnesses 0, 16, ... 256,
// of U and V at luma's. Both are relative to sigma; a spectrum is scaled so that the mean of its squares is
// 1. `repetition` is how much of the noise is common to successive frames (NoiseShape). `strength`, of U and
// V, is NoiseModel::chroma_strength.

nlohmann::ordered_json to_json(const NoiseProfile& profile);

/// The largest profile that is read; those that Limpid writes have some 2 KiB.
inline constexpr std::size_t kMostProfileBytes = std::size_t{1} << 20;

/// Throws UsageError for a text that is not a profile.
NoiseProfile parse_noise_profile(const std::string& text);

/// Throws UsageError, which names the file, if it cannot be read or is not a noise profile.
NoiseProfile read_noise_profile(const std::filesystem::path& path);

}  // namespace limpid
