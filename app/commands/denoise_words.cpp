// SPDX-License-Identifier: MIT
#include "app/commands/denoise_words.h"

#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "app/options/media_options.h"
#include "core/base/error.h"
#include "core/settings/field_settings.h"
#include "core/settings/noise_profile.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
namespace {

using Words = std::vector<std::string>;

// Options for reading, but for the passage.
void add_reading(const io::ReaderOptions& reader, Words& words) {
  const io::ReaderOptions defaults;
  for (const MediaField<io::ReaderOptions>& field : reader_fields()) {
    std::visit(
        [&](auto member) {
          const auto& value = reader.*member;
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            if (!value.empty()) {
              words.insert(words.end(), {field.option(), value});
            }
          } else if constexpr (std::is_same_v<Value, bool>) {
            if (value != defaults.*member) {
              words.push_back(field.option());
            }
          } else if constexpr (std::is_same_v<Value, MediaField<io::ReaderOptions>::Pairs>) {
            for (const auto& [key, text] : value) {
              words.insert(words.end(), {field.option(), fmt::format("{}={}", key, text)});
            }
          }
        },
        field.member);
  }
}

std::string filter_words(const FilterSettings& filter) {
  std::string text = filter.name;
  if (filter.profile) {
    text += ":profile=" + *filter.profile;
  }
  for (const auto& [name, value] : filter.parameters) {
    text += fmt::format(":{}=", name);
    text += std::visit([](const auto& plain) { return fmt::format("{}", plain); }, value);
  }
  return text;
}

bool is_plain_level(const NoiseProfile& profile) {
  return !profile.color_model && profile.noise.shape == NoiseModel{}.shape;
}

// The name of a file with the profile, by its content: equal profiles have one file.
std::string stored_profile(const NoiseProfile& profile) {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  const bool has_state = state != nullptr && *state != '\0';
  if (!has_state && home == nullptr) {
    throw Error("the noise profile cannot be stored: set HOME or XDG_STATE_HOME to a folder");
  }
  const std::filesystem::path base =
      has_state ? std::filesystem::path(state) : std::filesystem::path(home) / ".local/state";
  const std::string text = to_json(profile).dump(2) + "\n";
  const std::filesystem::path path =
      base / "limpid" / "noise" / fmt::format("{:016x}.json", std::hash<std::string>()(text));
  std::error_code failure;
  std::filesystem::create_directories(path.parent_path(), failure);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw Error(path.string() + ": the noise profile cannot be written");
  }
  return path.string();
}

void add_noise(const NoiseSettings& noise, Words& words) {
  if (noise.noise && is_plain_level(*noise.noise)) {
    const auto& sigma = noise.noise->noise.sigma;
    words.insert(words.end(), {"--sigma", fmt::format("{},{},{}", sigma[0], sigma[1], sigma[2])});
  } else if (noise.noise) {
    words.insert(words.end(), {"--noise", stored_profile(*noise.noise)});
  }
  if (noise.strength != 1) {
    words.insert(words.end(), {"--strength", fmt::format("{:.6g}", noise.strength)});
  }
  if (noise.planes != PlaneChoice::kAll) {
    words.insert(words.end(), {"--planes", to_string(noise.planes)});
  }
}

}  // namespace

std::vector<std::string> denoise_words(const DenoiseRequest& request) {
  const bool looks_like_an_option = request.input.starts_with("-");
  Words words{"limpid", "denoise", (looks_like_an_option ? "./" : "") + request.input};
  if (request.engine.name != "auto") {
    words.insert(words.end(), {"--engine", request.engine.name});
  }
  if (request.engine.threads > 0) {
    words.insert(words.end(), {"--threads", std::to_string(request.engine.threads)});
  }
  add_reading(request.reader, words);
  if (request.fields != FieldChoice::kAuto) {
    words.insert(words.end(), {"--fields", to_string(request.fields)});
  }
  words.insert(words.end(), {"--filter", filter_words(request.filter)});
  add_noise(request.noise, words);
  for (const auto& [option, time] :
       {std::pair{"--start", request.passage.begin}, std::pair{"--end", request.passage.end}}) {
    if (time) {
      words.insert(words.end(), {option, fmt::format("{:.3f}", *time)});
    }
  }
  return words;
}

}  // namespace limpid::app
