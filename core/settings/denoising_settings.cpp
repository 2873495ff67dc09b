// SPDX-License-Identifier: MIT
#include "core/settings/denoising_settings.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/settings/json_reader.h"
#include "core/settings/noise_settings.h"

namespace limpid {
namespace {

constexpr const char* kSettingsMark = "limpid_settings";
constexpr int kSettingsVersion = 1;

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
    const NoiseField* const noise = find_noise_field(key);
    if (key != kSettingsMark && key != "filter" && key != "fields" &&
        (noise == nullptr || noise->json == nullptr)) {
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
  read_json(root, settings.noise);
  read_member(root, "fields", settings.fields,
              [](const JsonValue& value) { return parse_fields("fields", lower_case(value.text())); });
  return settings;
}

}  // namespace

std::string json_text(const DenoisingSettings& settings) {
  nlohmann::ordered_json json{{kSettingsMark, kSettingsVersion}};
  if (!settings.filter.name.empty()) {
    json["filter"] = to_string(settings.filter);
  }
  json.update(to_json(settings.noise));
  json["fields"] = to_string(settings.fields);
  return json.dump(2);
}

DenoisingSettings parse_settings(const std::string& text) { return parse_user_document(text, settings_from); }

DenoisingSettings read_settings(const std::string& path) {
  return read_user_document(path, "settings file", parse_settings);
}

FieldChoice parse_fields(const std::string& setting, const std::string& text) {
  for (const FieldChoice choice : {FieldChoice::kAuto, FieldChoice::kProgressive, FieldChoice::kInterlaced}) {
    if (text == to_string(choice)) {
      return choice;
    }
  }
  throw UsageError(setting + ": '" + text + "' is neither auto, progressive nor interlaced");
}

std::string to_string(FieldChoice choice) {
  switch (choice) {
    case FieldChoice::kProgressive:
      return "progressive";
    case FieldChoice::kInterlaced:
      return "interlaced";
    case FieldChoice::kAuto:
      break;
  }
  return "auto";
}

}  // namespace limpid
