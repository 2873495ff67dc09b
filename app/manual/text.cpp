// SPDX-License-Identifier: MIT
#include <algorithm>

#include "app/manual/manual.h"

namespace limpid::app {

std::string join(const std::vector<std::string>& texts, const std::string& between) {
  std::string all;
  for (const std::string& text : texts) {
    all += (&text == texts.data() ? "" : between) + text;
  }
  return all;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string brief(const std::string& help) {
  constexpr std::size_t kMost = 72;
  std::size_t end = help.size();
  for (const char* stop : {". ", "; ", ": ", " ["}) {
    end = std::min(end, help.find(stop));
  }
  std::string text = help.substr(0, end);
  if (text.size() > kMost) {
    text.resize(text.rfind(' ', kMost));
    text += " ...";
  }
  return text;
}

}  // namespace limpid::app
