// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/frame/region.h"
#include "core/settings/json_reader.h"
#include "core/stream/noise_control.h"

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
/// to_json() as text, in one line if `indent` is negative.
std::string json_text(const NoiseProfile& profile, int indent = -1);

/// [x, y, width, height], as "area" of noise profiles.
nlohmann::ordered_json to_json(const Region& region);
/// Throws UsageError unless `json` is such an array with sides of at least 1.
Region region_from(const JsonValue& json);

/// Throws UsageError for a text that is not a profile.
NoiseProfile parse_noise_profile(const std::string& text);

/// Throws a UsageError that names the file if it cannot be read or is not a noise profile.
NoiseProfile read_noise_profile(const std::string& path);

// The noise settings, declared once: the command line, the library, settings files and plans walk this table.

/// The planes that are filtered.
enum class PlaneChoice : std::uint8_t { kAll, kLuma, kChroma };

/// Noise settings as users give them, in any order.
struct NoiseChoice {
  NoiseSettings settings = {};  ///< without the choice of planes
  PlaneChoice planes = PlaneChoice::kAll;

  /// The settings with a strength of 0 for the planes that are not chosen.
  NoiseSettings chosen() const;
};

/// A noise setting.
struct NoiseField {
  std::string name;      ///< of the library and in JSON; on the command line --NAME
  std::string value;     ///< placeholder of the value in help
  std::string help;      ///< with the range and the default
  std::string standard;  ///< text of the default
  /// Throws UsageError, which begins with `setting`, for an illegal text.
  void (*parse)(NoiseChoice& choice, const std::string& setting, const std::string& text);
  /// The value: a text or number that `parse` reads, or a profile. Null: another field has it.
  nlohmann::ordered_json (*json)(const NoiseSettings& settings) = nullptr;
  std::vector<std::string> words = {};  ///< legal words
  bool any_case = false;                ///< words are also legal in capital letters
  std::string details = {};             ///< sentences that follow `help` in manuals
  std::string ending = {};              ///< extension of the files that the value may name
  bool advanced = false;                ///< listed by --help-all only
};

const std::vector<NoiseField>& noise_fields();
/// Null if no noise setting has this name.
const NoiseField* find_noise_field(const std::string& name);

/// An object with all fields that have a value in JSON.
nlohmann::ordered_json to_json(const NoiseSettings& settings);
/// Sets the fields that are members of `object`. Throws Error that names the member for an illegal value.
void read_json(const JsonValue& object, NoiseSettings& settings);

/// True for white noise of given levels, which --sigma can describe.
bool is_plain_level(const NoiseProfile& profile);
/// The levels as --sigma takes them. Requires is_plain_level().
std::string levels_text(const NoiseProfile& profile);
/// The text that --strength takes, such as "1.2" or "1,0.5".
std::string to_string(const Strength& strength);
/// The word that --repair takes.
std::string to_string(Repair repair);
/// Throws a UsageError that begins with `setting` for other texts.
Repair parse_repair(const std::string& setting, const std::string& text);

}  // namespace limpid
