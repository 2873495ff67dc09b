// SPDX-License-Identifier: MIT
// The results of the window: pictures, the command line, and files written in the background.
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/player/viewer.h"
#include "core/base/error.h"
#include "io/screen/png.h"

namespace limpid::app {
namespace {

constexpr io::Pixel kSavedLineColor = io::make_pixel(255, 255, 255);

// The beginning of the names of pictures in `folder`, such that no file there begins so.
std::string free_stem(const std::filesystem::path& folder, const std::string& source, std::int64_t frame) {
  const std::string first =
      (folder / fmt::format("{}-{:06}", std::filesystem::path(source).stem().string(), frame)).string();
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
  converter_.convert(shown_->denoised, denoised);
  const int column = view_.picture_column(split_.column(window_.size().width), window_.size());
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
    io::write_png(path, window_.snapshot());
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
    std::vector<std::string> words = options_.command(player_->settings(), passage_);
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
  window_.copy(line);
  spdlog::info(fmt::format("command: {}", line));
  notice("copied: " + line);
}

void Viewer::toggle_writing() {
  if (writing_ != nullptr) {
    writing_->cancel();
    return notice("canceling " + written_);
  }
  if (!options_.command) {
    return notice("this source cannot be written to a file");
  }
  try {
    std::vector<std::string> words = options_.command(player_->settings(), passage_);
    words.front() = std::filesystem::canonical(options_.program).string();
    written_ = free_output(options_.input);
    words.insert(words.end(), {"-o", written_, "--progress", "json"});
    writing_ = std::make_unique<BackgroundWrite>(std::move(words));
    notice("writing " + written_);
  } catch (const std::exception& error) {
    notice(error.what());
  }
}

void Viewer::follow_writing() {
  if (writing_ == nullptr) {
    return;
  }
  redraw_ = redraw_ || panel_.is_visible(Clock::now());
  const std::optional<int> exit_code = writing_->poll();
  if (!exit_code) {
    return;
  }
  const std::string message = writing_->message();
  writing_.reset();
  if (*exit_code == 0) {
    spdlog::info(message);
    return notice("written: " + written_);
  }
  spdlog::warn(fmt::format("{} is not complete: {}", written_, message));
  notice(fmt::format("{} is not complete: {}", written_, message));
}

}  // namespace limpid::app
