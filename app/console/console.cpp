// SPDX-License-Identifier: MIT
#include "app/console/console.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "app/console/process.h"
#include "core/base/system/posix.h"

namespace limpid::app {
namespace {

constexpr int kStandardError = 2;
constexpr std::string_view kEraseLine = "\r\033[K";

// One call for the whole text, so that other processes on the same terminal don't get in between.
void write_text(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// Bytes of the control character that a text begins with, in UTF-8: what terminals take for commands, what
/// breaks lines, and what changes the direction of the text. 0 if it begins with another character.
std::size_t control_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned two = byte(0) << 8 | byte(1);
  const unsigned three = two << 8 | byte(2);
  const auto is_from = [&](unsigned first, unsigned last) { return three >= first && three <= last; };
  if (byte(0) < ' ' || byte(0) == 0x7F) {
    return 1;
  }
  if ((two >= 0xC280 && two < 0xC2A0) || two == 0xD89C) {  // U+0080 to U+009F, U+061C
    return 2;
  }
  // U+200E, U+200F; U+2028 to U+202E; U+2066 to U+2069
  return is_from(0xE2808E, 0xE2808F) || is_from(0xE280A8, 0xE280AE) || is_from(0xE281A6, 0xE281A9) ? 3 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const std::size_t hidden = control_length(text);
    for (std::size_t i = 0; i < hidden; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      result += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 0xF];
    }
    result += text.substr(hidden, hidden == 0 ? 1 : 0);
    text.remove_prefix(std::max<std::size_t>(hidden, 1));
  }
  return result;
}

Console::Console() : terminal_(posix::isatty(kStandardError) == 1) {}

void Console::print_line(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  std::string text;
  if (!status_.empty()) {
    text += kEraseLine;
  }
  text += line;
  text += '\n';
  text += status_;
  write_text(text);
}

void Console::set_status(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  std::string text;
  if (!status_.empty()) {
    text += kEraseLine;
  }
  status_ = line.substr(0, terminal_width() - 1);  // a full line would scroll
  text += status_;
  write_text(text);
}

void Console::keep_status() {
  const std::scoped_lock lock(mutex_);
  if (!status_.empty()) {
    write_text("\n");
    status_.clear();
  }
}

}  // namespace limpid::app
