// SPDX-License-Identifier: MIT
#include "app/console/json_report.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace limpid::app {
namespace {

constexpr int kIndent = 2;

/// Rounds to single precision, whose shortest form has few digits: 0.87 instead of 0.8700000047683716.
void round_numbers(nlohmann::ordered_json& json) {
  if (json.is_structured()) {
    for (nlohmann::ordered_json& each : json) {
      round_numbers(each);
    }
  } else if (json.is_number_float() && std::isfinite(json.get<float>())) {
    json = std::strtod(fmt::format("{}", json.get<float>()).c_str(), nullptr);
  }
}

std::string text_of(nlohmann::ordered_json report) {
  round_numbers(report);
  return report.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// `text` with each line behind the first indented.
std::string indented(const std::string& text, int columns) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') {
      result.append(columns, ' ');
    }
  }
  return result;
}

}  // namespace

void print_report(const nlohmann::ordered_json& report) { std::cout << text_of(report) << std::endl; }

ReportList::~ReportList() {
  if (is_open_) {
    std::cout << "\n  ]\n}" << std::endl;
  }
}

void ReportList::add(const nlohmann::ordered_json& report) {
  if (!shown_) {
    return;
  }
  const std::string text = indented("\n" + text_of(report), 2 * kIndent);
  is_open_ = true;
  std::cout << (empty_ ? "{\n  \"files\": [" : ",") << text << std::flush;
  empty_ = false;
}

void ReportList::end(const nlohmann::ordered_json& summary) {
  if (!shown_) {
    return;
  }
  const std::string text = text_of(summary);
  is_open_ = false;
  std::cout << (empty_ ? "{\n  \"files\": []" : "\n  ]");
  std::cout << (summary.empty() ? "\n}" : "," + text.substr(1)) << std::endl;
}

}  // namespace limpid::app
