// SPDX-License-Identifier: MIT
// The results of the window: pictures, the command line, and files written in the background.
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/console/durable_file.h"
#include "app/console/shell_text.h"
#include "app/player/viewer.h"
#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/settings/noise_profile.h"
#include "core/settings/user_document.h"
#include "io/media/writer.h"
#include "io/screen/fonts.h"
#include "io/screen/png.h"

namespace limpid::app {
namespace {

constexpr io::Pixel kSavedLineColor = io::make_pixel(255, 255, 255);

// The name of a source, such as a filter graph, as the name of a file.
std::string file_name_of(const std::string& source) {
  constexpr std::size_t kLongest = 60;
  std::string name = std::filesystem::path(source).stem().string().substr(0, kLongest);
  std::ranges::replace_if(
      name,
      [](unsigned char c) { return c < 0x80 && std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; },
      '_');
  return name.empty() ? "source" : io::valid_utf8(name);
}

// The beginning of the names of pictures in `folder`, such that no file there begins so.
std::string free_stem(const std::filesystem::path& folder, const std::string& source, std::int64_t frame) {
  const std::string first = (folder / fmt::format("{}-{:06}", file_name_of(source), frame)).string();
  std::string stem = first;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(stem + "-split.png", ignored) ||
                       std::filesystem::exists(stem + "-window.png", ignored);
       ++number) {
    stem = fmt::format("{}-{}", first, number);
  }
  return stem;
}

}  // namespace

// Pictures are saved after refinement.
void Viewer::save(void (Viewer::*pictures)()) {
  if (!player_->will_refine()) {
    (this->*pictures)();
    return;
  }
  saves_.push_back(pictures);
  notice("to be saved when it is refined");
}

void Viewer::save_awaited() {
  for (const auto pictures : std::exchange(saves_, {})) {
    (this->*pictures)();
  }
}

void Viewer::save_pictures() {
  if (shown_->is_waiting) {
    return notice("the frame is not denoised yet");
  }
  io::RgbImage noisy;
  io::RgbImage denoised;
  converter_.convert(shown_->noisy, noisy);
  converter_.convert(engine_ != nullptr ? engine_->in_host_memory(shown_->denoised) : shown_->denoised,
                     denoised);
  const int column = view_.picture_column(split_.column(stage().width), stage());
  io::RgbImage split = denoised;
  for (int y = 0; y < split.height; ++y) {
    std::copy_n(noisy.row(y), column, split.row(y));
    if (column > 0 && column < split.width) {
      split.row(y)[column] = kSavedLineColor;
    }
  }
  try {
    const std::string stem = free_stem(options_.picture_folder, options_.source, shown_->noisy.index);
    for (const auto& [name, picture] : {std::pair<const char*, const io::RgbImage&>{"noisy", noisy},
                                        {"denoised", denoised},
                                        {"split", split}}) {
      io::write_png(fmt::format("{}-{}.png", stem, name), picture);
    }
    spdlog::info(fmt::format("pictures: {}-noisy.png, -denoised.png, -split.png", stem));
    notice("pictures saved");
  } catch (const Error& error) {
    spdlog::error(error.what());
    notice(error.what());
  }
}

void Viewer::save_window() {
  try {
    const std::string path =
        free_stem(options_.picture_folder, options_.source, shown_->noisy.index) + "-window.png";
    draw();
    io::write_png(path, window_->snapshot());
    spdlog::info(fmt::format("picture: {}", path));
    notice("picture saved");
  } catch (const Error& error) {
    spdlog::error(error.what());
    notice(error.what());
  }
}

std::string Viewer::command_line() const {
  if (!options_.command) {
    return "";
  }
  try {
    std::vector<std::string> words = options_.command(player_->settings(), state_.passage);
    words.insert(words.end(), {"-o", free_output(options_.input)});
    return shell_line(words);
  } catch (const Error& error) {
    spdlog::warn(error.what());  // there is no place for a noise profile
    return "";
  }
}

void Viewer::copy_command() {
  const std::string line = command_line();
  if (line.empty()) {
    return notice("no command line repeats this source");
  }
  window_->copy(line);
  spdlog::info(fmt::format("command: {}", line));
  notice("copied: " + line);
}

DenoisingSettings Viewer::settings() const {
  const PlayerSettings settings = player_->settings();
  return {filter_settings(settings), settings.noise, options_.fields};
}

// The beginning of the names of files that belong to the source.
std::string Viewer::stem_of_files() const {
  const std::filesystem::path input(options_.input);
  return options_.input.empty() || options_.input == "-"
             ? (std::filesystem::path(options_.picture_folder) / file_name_of(options_.source)).string()
             : (input.parent_path() / input.stem()).string();
}

void Viewer::save_settings() {
  const std::string path = free_path(stem_of_files() + "-settings", ".json");
  save_json(path, to_json(settings()).dump(2));
}

void Viewer::save_noise() {
  const std::optional<NoiseProfile> noise = player_->settings().noise.noise;
  if (!noise || !noise->color_model) {
    return notice("measure the noise in a box first: n, or drag with the right mouse button");
  }
  save_json(free_path(stem_of_files() + "-noise", ".json"), to_json(*noise).dump(2));
}

void Viewer::save_json(const std::string& path, const std::string& text) {
  try {
    write_durably(path, text + "\n");
    spdlog::info(fmt::format("written: {}", path));
    notice("written: " + path);
  } catch (const Error& error) {
    spdlog::error(error.what());
    notice(error.what());
  }
}

// Settings, or a noise profile.
void Viewer::load_json(const std::string& path) {
  PlayerSettings next = player_->settings();
  std::string remark;
  try {
    const std::string text = read_regular_file(path, kMostDocumentBytes);
    if (text.find("\"limpid_noise_profile\"") != std::string::npos &&
        text.find("\"limpid_settings\"") == std::string::npos) {
      next.noise.noise = read_noise_profile(path);
    } else {
      const DenoisingSettings settings = read_settings(path);
      if (!settings.filter.name.empty()) {
        next.filter = settings.filter;
        next.filter.profile = settings.filter.profile.value_or(filter_type(next.filter.name).default_profile);
      }
      next.noise = settings.noise;
      remark = settings.fields == options_.fields ? "" : "; --fields stays as it was at the start";
    }
    NoiseControl(next.noise, *engine_).check(options_.format);
  } catch (const Error& error) {
    return notice(error.what());
  }
  box_.reset();
  change_settings(next, "settings of " + std::filesystem::path(path).filename().string() + remark);
}

void Viewer::list_files(bool profiles) {
  const std::filesystem::path folder =
      files_.folder().empty() ? std::filesystem::path(options_.input).parent_path() : files_.folder();
  const bool media = !profiles && options_.refuse_file;
  state_.help = false;
  files_.open(folder, media ? "Open a video, picture or settings file" : "Open settings or a noise profile",
              [media](const std::string& name) {
                return name.ends_with(".json") || (media && io::is_media_name(name));
              });
  notice("files");
}

void Viewer::open_file(const std::string& path) {
  restore_pair();
  if (path.ends_with(".json")) {
    return load_json(path);
  }
  if (!options_.refuse_file) {
    return notice("this window shows a camera; limpid preview shows files");
  }
  if (const std::string why = options_.refuse_file(path); !why.empty()) {
    return notice(why);
  }
  if (writing_ != nullptr) {
    return notice("a file is being written; W cancels it");
  }
  next_input_ = path;
  quit_ = true;
}

void Viewer::start_writing() {
  if (writing_ != nullptr) {
    return notice("writing " + written_ + "; W cancels it");
  }
  if (!options_.command) {
    return notice("this source cannot be written to a file");
  }
  try {
    std::vector<std::string> words = options_.command(player_->settings(), state_.passage);
    words.front() = std::filesystem::canonical(options_.program).string();
    written_ = free_output(options_.input);
    words.insert(words.end(), {"-o", written_, "--progress", "json"});
    writing_ = std::make_unique<BackgroundWrite>(std::move(words));
    notice("writing " + written_);
  } catch (const std::exception& error) {
    notice(error.what());
  }
}

void Viewer::cancel_writing() {
  if (writing_ == nullptr) {
    return notice("no file is being written");
  }
  writing_->cancel();
  notice("canceling " + written_);
}

void Viewer::ask_to_quit() {
  if (writing_ == nullptr) {
    quit_ = true;
    return;
  }
  state_.asks_to_quit = true;
  redraw_ = true;
  spdlog::debug("question: quit while a file is written");
}

void Viewer::answer(QuitAnswer answer) {
  state_.asks_to_quit = false;
  redraw_ = true;
  quit_ = answer != QuitAnswer::kBack;
  cancels_writing_ = answer == QuitAnswer::kCancel;
}

// Ends or leaves the process that writes, once the window is hidden.
void Viewer::settle_writing(bool is_interrupted) {
  if (writing_ == nullptr) {
    return;
  }
  if (is_interrupted || cancels_writing_) {
    spdlog::warn(fmt::format("{} is not complete: it was canceled", written_));
  } else {
    writing_->leave_alone();
    spdlog::info(fmt::format("{} is finished in the background", written_));
  }
  writing_.reset();
}

void Viewer::follow_writing() {
  if (writing_ == nullptr) {
    return;
  }
  redraw_ = redraw_ || state_.asks_to_quit || panel_.is_visible(Clock::now());
  const std::optional<int> exit_code = writing_->poll();
  if (!exit_code) {
    return;
  }
  const std::string message = writing_->message();
  writing_.reset();
  state_.asks_to_quit = false;
  if (*exit_code == 0) {
    spdlog::info(message);
    return notice("written: " + written_);
  }
  spdlog::warn(fmt::format("{} is not complete: {}", written_, message));
  notice(fmt::format("{} is not complete: {}", written_, message));
}

}  // namespace limpid::app
