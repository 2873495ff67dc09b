// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/not_copyable.h"

namespace limpid::app {

/// Prints a command's report on standard output, indented. Numbers have the digits of single precision. Bytes
/// in file names that are not UTF-8 become U+FFFD.
void print_report(const nlohmann::ordered_json& report);

/// Prints the reports of several files on standard output, in the format of print_report(): an object with
/// the list "files", and then the members of a summary. Each report is printed when it is added, and is not
/// stored.
class ReportList : NotCopyable {
 public:
  /// With `shown` false, nothing is printed.
  explicit ReportList(bool shown) : shown_(shown) {}
  /// Closes the list if memory for its end is missing.
  ~ReportList();
  void add(const nlohmann::ordered_json& report);
  /// `summary`: an object.
  void end(const nlohmann::ordered_json& summary);

 private:
  bool shown_;
  bool empty_ = true;
  bool is_open_ = false;
};

}  // namespace limpid::app
