// SPDX-License-Identifier: MIT
#include "app/options/filter_list.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "core/base/error.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> entries_in(const std::string& texts) {
  std::vector<std::string> entries;
  for (const std::string& part : split(texts, ',')) {
    const bool is_number = !part.empty() && std::isdigit(static_cast<unsigned char>(part.front())) != 0;
    if (is_number && !entries.empty()) {
      entries.back() += "," + part;
    } else {
      entries.push_back(part);
    }
  }
  return entries;
}

FilterEntry parse_entry(const std::string& text, const NoiseSettings& base) {
  NoiseChoice choice{base};
  std::string filter;
  for (const std::string& part : split(text, ':')) {
    const std::size_t equals = part.find('=');
    const NoiseField* const field =
        equals == std::string::npos ? nullptr : find_noise_field(part.substr(0, equals));
    if (field == nullptr) {
      filter += (filter.empty() ? "" : ":") + part;
      continue;
    }
    field->parse(choice, "--filters: " + text + ": " + field->name, part.substr(equals + 1));
  }
  return {text, FilterText(filter), choice.chosen()};
}

}  // namespace

std::vector<FilterEntry> parse_filter_list(const std::string& texts, const NoiseSettings& base) {
  std::vector<FilterEntry> filters;
  for (const std::string& text : entries_in(texts)) {
    filters.push_back(parse_entry(text, base));
  }
  return filters;
}

}  // namespace limpid::app
