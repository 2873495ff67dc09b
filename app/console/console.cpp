#include "app/console/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

namespace limpid::app {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) {
    return size.ws_col;
  }
  return 80;
}

// One call for the whole text, so that other processes on the same terminal don't get in between.
void write_text(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // In UTF-8, C2 80 to C2 9F are control characters too.
    const bool second = i > 0 && text[i - 1] == '\xC2' && byte >= 0x80 && byte < 0xA0;
    if (second) {
      result.pop_back();
      result += "\\xc2";
    }
    if (byte < ' ' || byte == 0x7F || second) {
      result += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 0xF];
    } else {
      result += text[i];
    }
  }
  return result;
}

Console::Console() : terminal_(isatty(STDERR_FILENO) == 1) {}

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
