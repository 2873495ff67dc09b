// SPDX-License-Identifier: MIT
#include "app/commands/denoise_words.h"

#include <spdlog/fmt/fmt.h>

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "app/console/durable_file.h"
#include "app/options/media_options.h"
#include "core/settings/denoising_settings.h"
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

// The name of a file with the profile, by its content: equal profiles have one file.
std::string stored_profile(const NoiseProfile& profile) {
  // Command lines that were copied name them.
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  const std::string text = to_json(profile).dump(2) + "\n";
  return StateFolder("noise", kAll).write(digest_of(text) + ".json", text).string();
}

void add_noise(const NoiseSettings& noise, Words& words) {
  for (const NoiseField& field : noise_fields()) {
    if (field.json == nullptr || field.json(noise) == field.json(NoiseSettings())) {
      continue;
    }
    const nlohmann::ordered_json value = field.json(noise);
    if (value.is_object()) {
      words.insert(words.end(), {"--" + field.name, stored_profile(*noise.noise)});
    } else {
      const bool is_level = field.name == "noise";
      words.insert(words.end(),
                   {is_level ? "--sigma" : "--" + field.name,
                    value.is_string() ? value.get<std::string>() : fmt::format("{}", value.get<float>())});
    }
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
  if (!request.after.empty()) {
    words.insert(words.end(), {"--after", request.after});
  }
  if (request.settings.fields != FieldChoice::kAuto) {
    words.insert(words.end(), {"--fields", to_string(request.settings.fields)});
  }
  words.insert(words.end(), {"--filter", to_string(request.settings.filter)});
  add_noise(request.settings.noise, words);
  for (const auto& [option, time] :
       {std::pair{"--start", request.passage.begin}, std::pair{"--end", request.passage.end}}) {
    if (time) {
      words.insert(words.end(), {option, fmt::format("{:.3f}", *time)});
    }
  }
  return words;
}

}  // namespace limpid::app
