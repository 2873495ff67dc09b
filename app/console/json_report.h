// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace limpid::app {

/// Prints a command's report on standard output, indented. Numbers have the digits of single precision. Bytes
/// in file names that are not UTF-8 become U+FFFD.
void print_report(const nlohmann::ordered_json& report);

/// Prints the reports of several files on standard output, in the format of print_report(): an object with
/// the list "files", and then the members of a summary. Each report is printed when it is added, and is not
/// stored.
class ReportList {
 public:
  /// With `shown` false, nothing is printed.
  explicit ReportList(bool shown) : shown_(shown) {}
  void add(const nlohmann::ordered_json& report);
  /// `summary`: an object.
  void end(const nlohmann::ordered_json& summary) const;

 private:
  bool shown_;
  bool empty_ = true;
};

}  // namespace limpid::app
