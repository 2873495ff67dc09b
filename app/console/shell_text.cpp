// SPDX-License-Identifier: MIT
#include "app/console/shell_text.h"

#include <string_view>

#include "app/console/console.h"

namespace limpid::app {

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

}  // namespace limpid::app
