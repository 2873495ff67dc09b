#pragma once

#include <nlohmann/json_fwd.hpp>

namespace limpid::app {

/// A command's report on standard output, indented. Bytes in names of files that are not
/// UTF-8 become U+FFFD.
void print_report(const nlohmann::ordered_json& report);

/// A list of reports on standard output, as print_report() prints an array of them. Each is printed when it
/// is added, and not kept.
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
