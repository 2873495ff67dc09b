// SPDX-License-Identifier: MIT
#include "core/settings/denoising_settings.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/lower_case.h"
#include "core/settings/field_settings.h"
#include "core/settings/json_reader.h"
#include "core/settings/noise_profile.h"
#include "core/settings/noise_settings.h"
#include "core/settings/user_document.h"

namespace limpid {
namespace {

constexpr const char* kSettingsMark = "limpid_settings";
constexpr int kSettingsVersion = 1;

// Parses a text, or a number as its text.
std::string text_of(const JsonValue& value) {
  return value.is_number() ? value.json().dump() : lower_case(value.text());
}

// The value of `read` for the member `key`, if the object has it.
template <typename Value, typename Read>
void read_member(const JsonValue& root, const char* key, Value& value, const Read& read) {
  const std::optional<JsonValue> member = root.find(key);
  if (!member) {
    return;
  }
  try {
    value = read(*member);
  } catch (const UsageError& error) {
    member->fail(std::string("is not valid: ") + error.what());
  }
}

void require_known_members(const JsonValue& root) {
  for (const auto& [key, value] : root.members()) {
    if (key != kSettingsMark && key != "filter" && key != "noise" && key != "strength" && key != "mix" &&
        key != "fields") {
      value.fail("is not a setting");
    }
  }
}

DenoisingSettings settings_from(const JsonValue& root) {
  root.at(kSettingsMark).integer(kSettingsVersion, kSettingsVersion);
  require_known_members(root);
  DenoisingSettings settings;
  read_member(root, "filter", settings.filter,
              [](const JsonValue& value) { return parse_filter_settings(value.text()); });
  read_member(root, "noise", settings.noise.noise, [](const JsonValue& value) {
    return value.json().is_object() ? std::optional(parse_noise_profile(value.json().dump()))
                                    : parse_sigma("noise", text_of(value));
  });
  read_member(root, "strength", settings.noise.strength,
              [](const JsonValue& value) { return parse_strength("strength", text_of(value)); });
  read_member(root, "mix", settings.noise.mix,
              [](const JsonValue& value) { return parse_mix("mix", text_of(value)); });
  read_member(root, "fields", settings.fields,
              [](const JsonValue& value) { return parse_fields("fields", text_of(value)); });
  return settings;
}

nlohmann::ordered_json noise_to_json(const std::optional<NoiseProfile>& noise) {
  if (!noise) {
    return "auto";
  }
  return is_plain_level(*noise) ? nlohmann::ordered_json(levels_text(*noise)) : to_json(*noise);
}

}  // namespace

nlohmann::ordered_json to_json(const DenoisingSettings& settings) {
  nlohmann::ordered_json json{{kSettingsMark, kSettingsVersion}};
  if (!settings.filter.name.empty()) {
    json["filter"] = to_string(settings.filter);
  }
  json["noise"] = noise_to_json(settings.noise.noise);
  json["strength"] = to_string(settings.noise.strength);
  json["mix"] = settings.noise.mix;
  json["fields"] = to_string(settings.fields);
  return json;
}

DenoisingSettings parse_settings(const std::string& text) { return parse_user_document(text, settings_from); }

DenoisingSettings read_settings(const std::filesystem::path& path) {
  return read_user_document(path, "settings file", parse_settings);
}

}  // namespace limpid
