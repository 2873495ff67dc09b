// SPDX-License-Identifier: MIT
#include "app/commands/files_report.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "io/media/text_file.h"

namespace limpid::app {
namespace {

using Json = nlohmann::ordered_json;

/// A field by RFC 4180.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    return text;
  }
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' ? "\"\"" : std::string(1, c);
  }
  return result + '"';
}

std::string text_of_cell(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_array()) {
    std::string text;
    for (const Json& each : value) {
      text += (text.empty() ? "" : "; ") + text_of_cell(each);
    }
    return text;
  }
  return value.is_null()           ? ""
         : value.is_number_float() ? fmt::format("{:.6g}", value.get<double>())
                                   : value.dump();
}

template <typename Number>
Number number_in(const Json& report, const char* name) {
  const auto found = report.find(name);
  return found != report.end() && found->is_number() ? found->get<Number>() : Number{};
}

}  // namespace

const char* const kCsvHeader = "input,output,status,frames,seconds,fps,bytes,sigma,warnings,error\n";

std::string csv_line(const Json& report) {
  static constexpr std::array<const char*, 10> kColumns = {"input", "output", "status", "frames",   "seconds",
                                                           "fps",   "bytes",  "sigma",  "warnings", "error"};
  std::string line;
  for (const char* column : kColumns) {
    auto value = report.find(column);
    Json sigma;
    if (value != report.end() && std::string_view(column) == "sigma") {  // of luma, or the first channel
      const Json& mean = value->at("mean");
      sigma = mean.empty() ? Json() : mean.front();
    }
    line += (column == kColumns.front() ? "" : ",") +
            (value == report.end() ? "" : quoted(text_of_cell(sigma.is_null() ? *value : sigma)));
  }
  return line + "\n";
}

FilesReport::FilesReport(Options options)
    : options_(std::move(options)), list_(options_.json && options_.many), csv_(kCsvHeader) {
  std::error_code ignored;
  if (!options_.csv.empty() && !options_.overwrite && std::filesystem::exists(options_.csv, ignored)) {
    throw Error(options_.csv + ": exists; -y overwrites it");
  }
}

void FilesReport::add(const Json& report) {
  if (options_.many) {
    list_.add(report);
  } else if (options_.json) {
    print_report(report);
  }
  csv_ += csv_line(report);
  const auto status = report.value("status", std::string());
  ++(status == "done" ? done_ : status == "partial" ? partial_ : status == "skipped" ? skipped_ : failed_);
  frames_ += number_in<std::int64_t>(report, "frames");
  bytes_ += number_in<std::int64_t>(report, "bytes");
  seconds_ += number_in<double>(report, "seconds");
}

Json FilesReport::summary(std::size_t inputs, bool interrupted) const {
  const bool nothing = done_ + partial_ + skipped_ == 0;
  return {{"status", interrupted              ? "interrupted"
                     : failed_ > 0 || nothing ? "failed"
                                              : "done"},
          {"totals",
           {{"inputs", inputs},
            {"done", done_},
            {"partial", partial_},
            {"skipped", skipped_},
            {"failed", failed_},
            {"not_started", static_cast<int>(inputs) - done_ - partial_ - skipped_ - failed_},
            {"frames", frames_},
            {"seconds", seconds_},
            {"bytes", bytes_}}}};
}

void FilesReport::end(std::size_t inputs, bool interrupted) {
  if (options_.many) {
    list_.end(summary(inputs, interrupted));
  }
  if (!options_.csv.empty()) {
    io::write_text(options_.csv, csv_, options_.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever);
  }
}

}  // namespace limpid::app
