// SPDX-License-Identifier: MIT
#include "app/options/purpose.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/base/error.h"

namespace limpid::app {
namespace {

struct Purpose {
  std::string_view name;
  const char* container;
  std::string_view extension;  ///< of outputs
  const char* codec;
  const char* profile;  ///< of the encoder
  const char* pixel_format;
  const char* audio_codec;
  const char* color;
  const char* after;  ///< follows the user's filters
};

constexpr std::array kPurposes{
    // 4:2:0 requires even sizes. The filter does not change frames of these.
    Purpose{"web", "mp4", ".mp4", "libx264", "", "yuv420p", "aac", "bt709",
            "scale=trunc(iw/2)*2:trunc(ih/2)*2"},
    Purpose{"archive", "matroska", ".mkv", "ffv1", "", "", "", "", ""},
    Purpose{"edit", "mov", ".mov", "prores_ks", "hq", "yuv422p10le", "pcm_s24le", "", ""},
};

const Purpose& find_purpose(const std::string& name) {
  const auto* const found = std::ranges::find(kPurposes, name, &Purpose::name);
  if (found == kPurposes.end()) {
    throw UsageError(fmt::format("--for: '{}' is not one of web, archive and edit", name));
  }
  return *found;
}

void set_missing(std::string& option, const char* value) { option = option.empty() ? value : option; }

}  // namespace

void apply_purpose(const std::string& purpose, io::WriterOptions& options) {
  if (purpose.empty()) {
    return;
  }
  const Purpose& chosen = find_purpose(purpose);
  if (options.codec.empty()) {
    options.codec = chosen.codec;
    set_missing(options.pixel_format, chosen.pixel_format);
    if (*chosen.profile != '\0') {
      options.encoder_options.emplace(options.encoder_options.begin(), "profile", chosen.profile);
    }
  }
  set_missing(options.container, chosen.container);
  set_missing(options.audio_codec, chosen.audio_codec);
  set_missing(options.color, chosen.color);
  if (*chosen.after != '\0') {
    options.after += (options.after.empty() ? "" : ",") + std::string(chosen.after);
  }
}

void require_container_of_purpose(const std::string& purpose, const std::string& output,
                                  const io::WriterOptions& options) {
  if (purpose.empty() || output.empty() || output == "-") {
    return;
  }
  const Purpose& chosen = find_purpose(purpose);
  const std::string extension = std::filesystem::path(output).extension().string();
  if (options.container == chosen.container && extension != chosen.extension && io::is_media_name(output)) {
    throw UsageError(fmt::format("{}: --for {} writes {}; name the output so, or choose a container with -f",
                                 output, purpose, chosen.extension));
  }
}

}  // namespace limpid::app
