// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace limpid::app {

/// Prints a command's report on standard output, indented. Bytes in file names that are not UTF-8 become
/// U+FFFD.
void print_report(const nlohmann::ordered_json& report);

/// Prints a list of reports on standard output, in the format of print_report() for an array. Each report is
/// printed when it is added, and is not stored.
class ReportList {
 public:
  /// With `shown` false, nothing is printed.
  explicit ReportList(bool shown) : shown_(shown) {}
  void add(const nlohmann::ordered_json& report);
  void end() const;

 private:
  bool shown_;
  bool empty_ = true;
};

}  // namespace limpid::app
