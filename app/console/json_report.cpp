// SPDX-License-Identifier: MIT
#include "app/console/json_report.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace limpid::app {
namespace {

constexpr int kIndent = 2;

std::string text_of(const nlohmann::ordered_json& report) {
  return report.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void print_report(const nlohmann::ordered_json& report) { std::cout << text_of(report) << std::endl; }

void ReportList::add(const nlohmann::ordered_json& report) {
  if (!shown_) {
    return;
  }
  const std::string text = text_of(report);
  std::string indented = empty_ ? "[" : ",";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    indented += '\n' + std::string(kIndent, ' ') + text.substr(begin, end - begin);
    begin = end + 1;
  }
  std::cout << indented << std::flush;
  empty_ = false;
}

void ReportList::end() const {
  if (shown_) {
    std::cout << (empty_ ? "[]" : "\n]") << std::endl;
  }
}

}  // namespace limpid::app
