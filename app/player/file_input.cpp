// SPDX-License-Identifier: MIT
#include "app/player/file_input.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/engine/noise_control.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/json_reader.h"
#include "core/settings/noise_profile.h"
#include "io/media/writer.h"

namespace limpid::app {

void FileInput::show_list(bool profiles) {
  const std::filesystem::path folder =
      list_.folder().empty() ? std::filesystem::path(options_.input).parent_path() : list_.folder();
  const bool media = !profiles && options_.refuse_file;
  list_.open(
      folder, media ? "Open a video, picture or settings file" : "Open settings or a noise profile",
      [media](const std::string& name) { return has_settings(name) || (media && io::is_media_name(name)); });
  notice_("files");
}

std::optional<SettingsEditor::Edit> FileInput::read_settings_of(const std::string& path,
                                                                PlayerSettings used) const {
  std::string text = "settings of " + std::filesystem::path(path).filename().string();
  try {
    const std::string document = read_regular_file(path, kMostDocumentBytes);
    if (document.find("\"limpid_noise_profile\"") != std::string::npos &&
        document.find("\"limpid_settings\"") == std::string::npos) {
      used.noise.noise = read_noise_profile(path);
    } else {
      const DenoisingSettings settings = read_settings(path);
      if (!settings.filter.name.empty()) {
        used.filter = settings.filter;
        used.filter.profile = settings.filter.profile.value_or(filter_type(used.filter.name).default_profile);
      }
      used.noise = settings.noise;
      text += settings.fields == options_.fields ? "" : "; --fields stays as it was at the start";
    }
    NoiseControl(used.noise, *engine_).check(options_.format);
  } catch (const Error& error) {
    notice_(error.what());
    return std::nullopt;
  }
  return SettingsEditor::Edit{std::move(used), std::move(text)};
}

bool FileInput::choose(const std::string& path, bool is_writing) {
  const std::string why = !options_.refuse_file ? "this window shows a camera; limpid preview shows files"
                                                : options_.refuse_file(path);
  if (!why.empty() || is_writing) {
    notice_(!why.empty() ? why : "a file is being written; W cancels it");
    return false;
  }
  next_ = path;
  return true;
}

}  // namespace limpid::app
