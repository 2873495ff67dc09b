// SPDX-License-Identifier: MIT
#include "app/player/window_files.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iterator>
#include <string_view>
#include <thread>

#include "app/console/durable_file.h"
#include "app/console/text.h"
#include "app/player/properties.h"
#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system/posix.h"
#include "core/settings/json_reader.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_control.h"
#include "io/media/writer.h"
#include "io/screen/control_layer.h"

namespace limpid::app {

BackgroundWrite::BackgroundWrite(std::vector<std::string> command) : process_(std::move(command)) {}

BackgroundWrite::~BackgroundWrite() {
  if (exit_code_ || left_alone_) {
    return;
  }
  cancel();
  // An encoder may take longer. The process ends by itself, and nothing waits for it.
  constexpr std::chrono::seconds kPatience{1};
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       !poll() && std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void BackgroundWrite::cancel() { process_.interrupt(); }

std::optional<int> BackgroundWrite::poll() {
  exit_code_ = process_.poll();
  read();
  return exit_code_;
}

void BackgroundWrite::read() {
  std::array<char, 4096> bytes{};
  for (std::ptrdiff_t count = 0;
       (count = posix::pread(process_.log(), bytes.data(), bytes.size(), read_)) > 0; read_ += count) {
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  for (std::size_t end = 0; (end = unread_.find('\n')) != std::string::npos;) {
    take_line(unread_.substr(0, end));
    unread_.erase(0, end + 1);
  }
}

void BackgroundWrite::take_line(const std::string& line) {
  try {
    const JsonDocument document(line, "");
    if (const std::optional<JsonValue> percent = document.root().find("percent")) {
      progress_ = percent->number(0, 100) / 100;
    }
  } catch (const Error&) {  // not a line of --progress json
    message_ = line;
  }
}

std::string free_output(const std::string& input) {
  static constexpr std::array<std::string_view, 9> kKept{".mkv", ".mp4", ".mov",  ".webm", ".avi",
                                                         ".png", ".tif", ".tiff", ".jpg"};
  const std::filesystem::path path(input);
  const bool kept = std::ranges::find(kKept, path.extension().string()) != kKept.end();
  const std::string extension =
      kept && input.find('%') == std::string::npos ? path.extension().string() : ".mkv";
  return free_path((path.parent_path() / path.stem()).string() + "-denoised", extension);
}

void FileInput::show_list(bool profiles) {
  const std::filesystem::path folder =
      list_.folder().empty() ? std::filesystem::path(options_.input).parent_path() : list_.folder();
  const bool media = !profiles && options_.refuse_file;
  list_.open(
      folder, media ? "Open a video, picture or settings file" : "Open settings or a noise profile",
      [media](const std::string& name) { return has_settings(name) || (media && io::is_media_name(name)); });
  notice_("files");
}

std::optional<ReadSettings> FileInput::read_settings_of(const std::string& path, PlayerSettings used) const {
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
    used.noise.check(options_.format);
  } catch (const Error& error) {
    notice_(error.what());
    return std::nullopt;
  }
  return ReadSettings{std::move(used), std::move(text)};
}

bool FileInput::choose(const std::string& path, bool is_writing) {
  const std::string why = !options_.refuse_file ? "this window shows a camera; limpid preview shows files"
                                                : options_.refuse_file(path);
  if (!why.empty() || is_writing) {
    notice_(!why.empty() ? why : "a file is being written; " + key_of("cancel-writing") + " cancels it");
    return false;
  }
  next_ = path;
  return true;
}

namespace {

/// Bits to a pixel of denoised clips, in bench/encodings.json.
struct EncodedSize {
  std::string_view encoder;
  std::string_view codec;                ///< for the user
  std::array<double, 2> bits_per_pixel;  ///< small, and high or lossless
};
constexpr std::array<EncodedSize, 4> kEncodedSizes{{{"libx264", "H.264", {0.29, 1.04}},
                                                    {"libx265", "H.265", {0.22, 0.93}},
                                                    {"libvpx-vp9", "VP9", {0.45, 1.1}},
                                                    {"ffv1", "FFV1", {4.64, 4.64}}}};
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
  const auto picture_of = [&](const Frame& each) {
    return io::screen_picture(options_.shown(engine_ != nullptr ? engine_->in_host_memory(each) : each),
                              options_.shown_display());
  };
  const io::RgbImage noisy = picture_of(frame.noisy);
  const io::RgbImage denoised = picture_of(frame.denoised);
  io::RgbImage split = noisy_left ? denoised : noisy;
  for (int y = 0; y < split.height; ++y) {
    std::copy_n((noisy_left ? noisy : denoised).row(y), column, split.row(y));
    if (column > 0 && column < split.width) {
      split.row(y)[column] = kSavedLineColor;
    }
  }
  report_failure([&] {
    const std::string stem = free_stem(picture_folder(), options_.source, frame.noisy.index);
    for (const auto& [name, picture] : {std::pair<const char*, const io::RgbImage&>{"noisy", noisy},
                                        {"denoised", denoised},
                                        {"split", split}}) {
      io::write_png(fmt::format("{}-{}.png", stem, name), picture);
    }
    const std::string names = stem + "-noisy.png, -denoised.png, -split.png";
    spdlog::info(fmt::format("pictures: {}", names));
    notice_("pictures: " + names);
  });
}

void FileOutput::save_window(const io::RgbImage& picture, std::int64_t frame) const {
  report_failure([&] {
    const std::string path = free_stem(picture_folder(), options_.source, frame) + "-window.png";
    io::write_png(path, picture);
    spdlog::info(fmt::format("picture: {}", path));
    notice_("picture: " + path);
  });
}

std::string FileOutput::command_line(const PlayerSettings& settings, const Passage& passage) const {
  if (!options_.command) {
    return "";
  }
  try {
    std::vector<std::string> words = options_.command(settings, passage);
    std::ranges::move(output_words(next_path()), std::back_inserter(words));
    return shell_line(words);
  } catch (const Error& error) {
    spdlog::warn(error.what());  // there is no place for a noise profile
    return "";
  }
}

// The encoding and the name of the output as options.
std::vector<std::string> FileOutput::output_words(const std::string& path) const {
  return {"--encoding", std::string(io::kEncodingNames[static_cast<std::size_t>(encoding_)]), "-o", path};
}

void FileOutput::set_encoding(Encoding encoding) {
  if (encoding == Encoding::kLossless && options_.encoders.back().empty()) {
    return notice_("lossless is possible in .mkv, .mov and .avi");
  }
  encoding_ = encoding;
}

std::string FileOutput::description(const Passage& passage) const {
  const std::string& encoder = options_.encoders[static_cast<std::size_t>(encoding_)];
  const auto* const known = std::ranges::find(kEncodedSizes, encoder, &EncodedSize::encoder);
  if (known == kEncodedSizes.end() || options_.frame_count <= 0) {
    return encoder;
  }
  const double duration = options_.duration;
  const double share =
      duration > 0
          ? (std::min(passage.end.value_or(duration), duration) - passage.begin.value_or(0)) / duration
          : 1;
  const double pixels = static_cast<double>(options_.format.width) * options_.format.height *
                        static_cast<double>(options_.frame_count) * std::clamp(share, 0.0, 1.0);
  const double bits = known->bits_per_pixel[encoding_ == Encoding::kSmall ? 0 : 1];
  return fmt::format("{}, ~{}", known->codec, size_text(static_cast<std::int64_t>(pixels * bits / 8)));
}

// The beginning of the names of files that belong to the source.
std::string FileOutput::stem() const {
  const std::filesystem::path input(options_.input);
  return has_file() ? (input.parent_path() / input.stem()).string()
                    : (picture_folder() / file_name_of(options_.source)).string();
}

void FileOutput::save_settings(const DenoisingSettings& settings) const {
  save_json(free_path(stem() + "-settings", ".json"), json_text(settings));
}

void FileOutput::save_noise(const NoiseSettings& noise) const {
  if (!noise.noise || !noise.noise->color_model) {
    return notice_(fmt::format("measure the noise in a box first: {}, or drag with the right mouse button",
                               key_of("set noise area")));
  }
  save_json(free_path(stem() + "-noise", ".json"), json_text(*noise.noise, 2));
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
    return notice_(fmt::format("writing {}; {} cancels it", path_, key_of("cancel-writing")));
  }
  if (!options_.command) {
    return notice_("this source cannot be written to a file");
  }
  try {
    std::vector<std::string> words = options_.command(settings, passage);
    words.front() = std::filesystem::canonical(options_.program).string();
    path_ = next_path();
    std::ranges::move(output_words(path_), std::back_inserter(words));
    words.insert(words.end(), {"--progress", "json"});
    process_ = std::make_unique<BackgroundWrite>(std::move(words));
    notice_("writing " + path_);
  } catch (const std::exception& error) {
    notice_(error.what());
  }
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
