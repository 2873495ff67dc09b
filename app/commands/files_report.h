// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/console/json_report.h"

namespace limpid::app {

/// A line of a CSV file with a report's input, output, status, frames, seconds, fps, bytes, sigma, warnings
/// and error, as in kCsvHeader.
std::string csv_line(const nlohmann::ordered_json& report);
extern const char* const kCsvHeader;

/// The reports of limpid denoise, for --json and --csv.
class FilesReport {
 public:
  struct Options {
    bool json = false;  ///< print to standard output
    bool many = false;  ///< print a list and a summary, even for one file
    std::string csv;    ///< file; empty: none
    bool overwrite = false;
  };

  /// Throws Error if the CSV file exists and may not be overwritten.
  explicit FilesReport(Options options);

  /// Adds a file's report, whose "status" is done, partial, skipped or failed.
  void add(const nlohmann::ordered_json& report);
  /// Prints the end of the list and writes the CSV file. `inputs`: the number of files, of which an interrupt
  /// may have left some. Throws Error.
  void end(std::size_t inputs, bool interrupted);

 private:
  nlohmann::ordered_json summary(std::size_t inputs, bool interrupted) const;

  Options options_;
  ReportList list_;
  std::string csv_;
  int done_ = 0;
  int partial_ = 0;
  int skipped_ = 0;
  int failed_ = 0;
  std::int64_t frames_ = 0;
  std::int64_t bytes_ = 0;
  double seconds_ = 0;
};

}  // namespace limpid::app
