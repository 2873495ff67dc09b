// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/engine/noise_control.h"
#include "core/settings/json_reader.h"

// The noise settings, declared once: the command line, the library, settings files and plans walk this table.

namespace limpid {

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

}  // namespace limpid
