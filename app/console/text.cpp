// SPDX-License-Identifier: MIT
#include "app/console/text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "app/console/console.h"
#include "io/media/libav_setup.h"

namespace limpid::app {

std::string frames_text(std::int64_t count) {
  return count == 1 ? "1 frame" : fmt::format("{} frames", count);
}

std::string size_text(std::int64_t bytes) {
  constexpr double kKilo = 1e3;
  constexpr double kMega = 1e6;
  constexpr double kGiga = 1e9;
  const auto size = static_cast<double>(bytes);
  if (size < kKilo) {
    return bytes == 1 ? "1 byte" : fmt::format("{} bytes", bytes);
  }
  return size < kMega   ? fmt::format("{:.1f} KB", size / kKilo)
         : size < kGiga ? fmt::format("{:.1f} MB", size / kMega)
                        : fmt::format("{:.1f} GB", size / kGiga);
}

std::string rate_text(double fps) {
  constexpr double kTenthsMatter = 100;
  if (fps > 0 && fps < 1) {
    return fmt::format("{:.2g}", fps);
  }
  return fps < kTenthsMatter ? fmt::format("{:.1f}", fps) : fmt::format("{:.0f}", fps);
}

std::string duration_text(double seconds) {
  constexpr double kMostSeconds = 90;
  constexpr double kMostMinutes = 90;
  constexpr int kSixty = 60;
  if (seconds < kMostSeconds) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < kMostMinutes * kSixty) {
    return fmt::format("{:.0f} min", seconds / kSixty);
  }
  constexpr int kTen = 10;
  const auto minutes = static_cast<int>(std::round(seconds / kSixty / kTen)) * kTen;
  return fmt::format("{} h {} min", minutes / kSixty, minutes % kSixty);
}

std::string time_text(double seconds, bool fraction) {
  const auto milliseconds = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0) * 1000));
  const std::int64_t whole = milliseconds / 1000;
  std::string text = whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                                  : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fraction ? text + fmt::format(".{:03}", milliseconds % 1000) : text;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  }
  return quoted + "'";
}

namespace {

/// A word with control characters as $'...', which bash, zsh and POSIX of 2024 read.
std::string escaped(const std::string& word) {
  std::string text;
  for (const char c : word) {
    text += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  }
  return "$'" + printable(text) + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  std::string line;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    const bool is_hidden = printable(word) != word;
    line += (line.empty() ? "" : " ") + (is_plain ? word : is_hidden ? escaped(word) : shell_quoted(word));
  }
  return line;
}

namespace {

// CMake sets all of them.
constexpr std::string_view kVersion = LIMPID_VERSION;
constexpr std::string_view kCompiler = LIMPID_COMPILER;
constexpr std::string_view kCuda = LIMPID_CUDA_VERSION;

}  // namespace

std::string version() { return std::string(kVersion); }

std::string version_text() {
  return fmt::format("limpid {}\nFFmpeg {}\ncompiler {}\nCUDA {}", kVersion, io::ffmpeg_version(), kCompiler,
                     kCuda);
}

}  // namespace limpid::app
