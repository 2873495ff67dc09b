// SPDX-License-Identifier: MIT
#include "app/player/file_output.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "app/console/durable_file.h"
#include "app/console/shell_text.h"
#include "core/base/error.h"
#include "core/settings/noise_profile.h"
#include "io/screen/display.h"
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

FileOutput::FileOutput(const ViewerOptions& options, std::shared_ptr<Engine> engine, Notice notice)
    : options_(options), engine_(std::move(engine)), notice_(std::move(notice)) {}

// Calls write(), and reports its error.
template <typename Write>
void FileOutput::report_failure(const Write& write) const {
  try {
    write();
  } catch (const Error& error) {
    spdlog::error(error.what());
    notice_(error.what());
  }
}

void FileOutput::save_pictures(const PlayedFrame& frame, int column, bool noisy_left) const {
  if (frame.is_waiting) {
    return notice_("the frame is not denoised yet");
  }
  io::DisplayConverter converter(options_.shown_format(), options_.shown_display());
  io::RgbImage noisy;
  io::RgbImage denoised;
  converter.convert(options_.shown(frame.noisy), noisy);
  converter.convert(
      options_.shown(engine_ != nullptr ? engine_->in_host_memory(frame.denoised) : frame.denoised),
      denoised);
  io::RgbImage split = noisy_left ? denoised : noisy;
  for (int y = 0; y < split.height; ++y) {
    std::copy_n((noisy_left ? noisy : denoised).row(y), column, split.row(y));
    if (column > 0 && column < split.width) {
      split.row(y)[column] = kSavedLineColor;
    }
  }
  report_failure([&] {
    const std::string stem = free_stem(options_.picture_folder, options_.source, frame.noisy.index);
    for (const auto& [name, picture] : {std::pair<const char*, const io::RgbImage&>{"noisy", noisy},
                                        {"denoised", denoised},
                                        {"split", split}}) {
      io::write_png(fmt::format("{}-{}.png", stem, name), picture);
    }
    spdlog::info(fmt::format("pictures: {}-noisy.png, -denoised.png, -split.png", stem));
    notice_("pictures saved");
  });
}

void FileOutput::save_window(const io::RgbImage& picture, std::int64_t frame) const {
  report_failure([&] {
    const std::string path = free_stem(options_.picture_folder, options_.source, frame) + "-window.png";
    io::write_png(path, picture);
    spdlog::info(fmt::format("picture: {}", path));
    notice_("picture saved");
  });
}

std::string FileOutput::command_line(const PlayerSettings& settings, const Passage& passage) const {
  if (!options_.command) {
    return "";
  }
  try {
    std::vector<std::string> words = options_.command(settings, passage);
    words.insert(words.end(), {"-o", free_output(options_.input)});
    return shell_line(words);
  } catch (const Error& error) {
    spdlog::warn(error.what());  // there is no place for a noise profile
    return "";
  }
}

// The beginning of the names of files that belong to the source.
std::string FileOutput::stem() const {
  const std::filesystem::path input(options_.input);
  return options_.input.empty() || options_.input == "-"
             ? (std::filesystem::path(options_.picture_folder) / file_name_of(options_.source)).string()
             : (input.parent_path() / input.stem()).string();
}

void FileOutput::save_settings(const DenoisingSettings& settings) const {
  save_json(free_path(stem() + "-settings", ".json"), to_json(settings).dump(2));
}

void FileOutput::save_noise(const NoiseSettings& noise) const {
  if (!noise.noise || !noise.noise->color_model) {
    return notice_("measure the noise in a box first: n, or drag with the right mouse button");
  }
  save_json(free_path(stem() + "-noise", ".json"), to_json(*noise.noise).dump(2));
}

void FileOutput::save_json(const std::string& path, const std::string& text) const {
  report_failure([&] {
    write_durably(path, text + "\n");
    spdlog::info(fmt::format("written: {}", path));
    notice_("written: " + path);
  });
}

void FileOutput::start(const PlayerSettings& settings, const Passage& passage) {
  if (is_writing()) {
    return notice_("writing " + path_ + "; W cancels it");
  }
  if (!options_.command) {
    return notice_("this source cannot be written to a file");
  }
  try {
    std::vector<std::string> words = options_.command(settings, passage);
    words.front() = std::filesystem::canonical(options_.program).string();
    path_ = free_output(options_.input);
    words.insert(words.end(), {"-o", path_, "--progress", "json"});
    process_ = std::make_unique<BackgroundWrite>(std::move(words));
    notice_("writing " + path_);
  } catch (const std::exception& error) {
    notice_(error.what());
  }
}

std::optional<double> FileOutput::progress() const {
  return is_writing() ? std::optional(process_->progress()) : std::nullopt;
}

void FileOutput::cancel() const {
  if (!is_writing()) {
    return notice_("no file is being written");
  }
  process_->cancel();
  notice_("canceling " + path_);
}

bool FileOutput::poll() {
  const std::optional<int> exit_code = is_writing() ? process_->poll() : std::nullopt;
  if (!exit_code) {
    return false;
  }
  const std::string message = process_->message();
  process_.reset();
  if (*exit_code == 0) {
    spdlog::info(message);
    notice_("written: " + path_);
  } else {
    spdlog::warn(fmt::format("{} is not complete: {}", path_, message));
    notice_(fmt::format("{} is not complete: {}", path_, message));
  }
  return true;
}

void FileOutput::settle(bool cancels) {
  if (!is_writing()) {
    return;
  }
  if (cancels) {
    spdlog::warn(fmt::format("{} is not complete: it was canceled", path_));
  } else {
    process_->leave_alone();
    spdlog::info(fmt::format("{} is finished in the background", path_));
  }
  process_.reset();
}

}  // namespace limpid::app
