// SPDX-License-Identifier: MIT
#include "core/base/brief_text.h"

#include <algorithm>
#include <cstddef>

namespace limpid {
namespace {

constexpr std::size_t kMost = 200;

/// Does not end within a character of UTF-8.
std::string shortened(std::string_view text) {
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return std::string(text.substr(0, end)) + "...";
}

void shorten_all(std::string& sentence, std::string_view argument) {
  if (argument.size() <= kMost) {
    return;
  }
  const std::string brief = shortened(argument);
  for (std::size_t at = sentence.find(argument); at != std::string::npos;
       at = sentence.find(argument, at + brief.size())) {
    sentence.replace(at, argument.size(), brief);
  }
}

}  // namespace

std::string with_brief_quotes(std::string sentence, const std::vector<std::string_view>& arguments) {
  if (sentence.size() <= kMost) {
    return sentence;
  }
  for (const std::string_view argument : arguments) {
    shorten_all(sentence, argument);
    if (const std::size_t equals = argument.find('='); equals != std::string_view::npos) {
      shorten_all(sentence, argument.substr(equals + 1));
    }
  }
  std::string result;
  const std::string_view rest = sentence;
  for (std::size_t begin = 0; begin < rest.size();) {
    const std::size_t end = std::min(rest.find(' ', begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    const bool ends_subject = word.size() > kMost && word.back() == ':';
    result += (word.size() > kMost ? shortened(word) : std::string(word)) + (ends_subject ? ":" : "");
    result += end < rest.size() ? " " : "";
    begin = end + 1;
  }
  return result;
}

}  // namespace limpid
