// SPDX-License-Identifier: MIT
#include "app/commands/denoise_report.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "app/console/logging.h"
#include "app/console/text.h"
#include "app/options/media_options.h"
#include "app/pipeline/noise_text.h"
#include "core/base/error.h"
#include "core/frame/frame.h"
#include "core/parameters/parameter.h"
#include "core/settings/noise_profile.h"
#include "io/media/text_file.h"

namespace limpid::app {
namespace {

using Json = nlohmann::ordered_json;

// The values by section and name; a section that is left out is null.
void add_settings(const Filter& filter, Json& json) {
  for (const Parameter<Filter>& parameter : type_of(filter).parameters) {
    const std::optional<ParameterValue> value = parameter.get(filter);
    const ParameterText& text = parameter.text;
    if (!text.section.empty() && !value) {
      json[text.section];
      continue;
    }
    Json& section = text.section.empty() ? json : json[text.section];
    section[text.name] = value ? std::visit([](const auto& held) { return Json(held); }, *value) : Json();
  }
}

nlohmann::ordered_json filter_report(const FinishedJob& finished) {
  nlohmann::ordered_json report =
      to_json(finished.filter, finished.noise.levels().first, finished.reader.video().format);
  if (!type_of(finished.filter).profiles.empty()) {
    const std::string profile = profile_for(type_of(finished.filter).profiles, finished.job.profile);
    report["quality"] = quality_name(profile);
    report["profile"] = profile;
  }
  return report;
}

nlohmann::ordered_json noise_report(const FinishedJob& finished) {
  const NoiseControl::Levels levels = finished.noise.levels();
  const FrameFormat& format = finished.reader.video().format;
  return {{"estimated", finished.noise.is_estimated()},
          {"strength", finished.job.strength},
          {"first", to_json(levels.first, format)},
          {"mean", to_json(levels.mean, format)},
          {"last", to_json(levels.last, format)}};
}

/// The options that were given, null for the encoder's defaults, and what was chosen.
nlohmann::ordered_json encoder_report(const io::WriterOptions& options, const io::Writer& writer) {
  nlohmann::ordered_json report = to_json(writer_fields(), options);
  report["codec"] = writer.codec();
  report["pix_fmt"] = writer.pixel_format();
  report["container"] = writer.container();
  return report;
}

}  // namespace

Json to_json(const Filter& filter, const NoiseModel& noise, const FrameFormat& format) {
  const FilterType& type = type_of(filter);
  Json json;
  json["name"] = type.name;
  if (!type.resolve) {
    add_settings(filter, json);
    return json;
  }
  const std::vector<std::string_view> names = color_plane_names(format);
  for (std::size_t plane = 0; plane < names.size(); ++plane) {
    Json& settings = json[std::string(names[plane])];
    if (const float sigma = noise.sigma[plane]; sigma > 0) {
      add_settings(type.resolve(filter, sigma), settings);
    }
  }
  return json;
}

Json evidence_report(const NoiseEstimate& noise) {
  Json json{{"source", source_name(noise.evidence.source)}, {"certainty", noise.evidence.certainty}};
  if (noise.area) {
    json["area"] = to_json(*noise.area);
  }
  return json;
}

Json to_json(const NoiseModel& noise, const FrameFormat& format) {
  Json json;
  const std::vector<std::string_view> names = color_plane_names(format);
  for (std::size_t plane = 0; plane < names.size(); ++plane) {
    json[std::string(names[plane])] = noise.sigma[plane];
  }
  return json;
}

namespace {

/// Names the output that an earlier, interrupted run has left beside a complete one.
void log_left_partial(const std::string& output) {
  std::filesystem::path partial(output);
  partial.replace_filename(partial.stem().string() + ".partial" + partial.extension().string());
  if (std::error_code ignored; std::filesystem::exists(partial, ignored)) {
    spdlog::info(fmt::format("{}: is left from an interrupted run, and can be deleted", partial.string()));
  }
}

}  // namespace

void log_job(const FinishedJob& finished, const Session& session) {
  const Job& job = finished.job;
  warn_of_the_whole(
      finished.diagnostics,
      {.name = job.input, .frames = finished.counters.read.frames, .expected = finished.expected});
  spdlog::info(fmt::format("{} in {:.1f} s ({} fps) to {}, {}", frames_text(finished.end.frames),
                           finished.end.elapsed, rate_text(finished.end.average_fps), finished.output,
                           size_text(finished.writer.bytes_written())));
  if (finished.output != job.output) {
    spdlog::warn(
        fmt::format("interrupted: {0} contains the output of {1} so far; only runs that were started with "
                    "--resume can be continued",
                    finished.output, job.output));
  }
  if (finished.complete) {
    log_left_partial(finished.output);
  }
  if (session.stats) {
    for (const std::string& line : to_table(finished.counters)) {
      session.console.print_line(line);
    }
  }
}

nlohmann::ordered_json report_of(const FinishedJob& finished, const Session& session,
                                 const std::vector<std::string>& warnings) {
  using Kind = io::Diagnostic::Kind;
  const io::Diagnostics& diagnostics = finished.diagnostics;
  nlohmann::ordered_json report;
  report["input"] = finished.job.input;
  report["output"] = finished.output;
  report["status"] = finished.complete ? "done" : "partial";
  report["engine"] = session.engine->name();
  report["before"] = to_json(reader_fields(), finished.job.reader)["before"];
  report["filter"] = filter_report(finished);
  report["sigma"] = noise_report(finished);
  report["evidence"] = evidence_report(finished.noise.found());
  report["noise"] = to_json(profile_of(finished.noise.found(), finished.reader.video().format.color_model));
  report["encoder"] = encoder_report(finished.job.writer, finished.writer);
  report["frames"] = finished.end.frames;
  report["frames_expected"] =
      finished.expected > 0 ? nlohmann::ordered_json(finished.expected) : nlohmann::ordered_json();
  report["frames_read"] = finished.counters.read.frames.load();
  report["seconds"] = finished.end.elapsed;
  report["fps"] = finished.end.average_fps;
  report["bytes"] = finished.writer.bytes_written();
  report["damage"] = text_of(diagnostics, Kind::kDamage);
  report["shortfall"] = text_of(diagnostics, Kind::kShortfall);
  report["missing_frames"] = count_of(diagnostics, Kind::kMissingFrames);
  report["container_errors"] = count_of(diagnostics, Kind::kContainerErrors);
  report["decoder_errors"] = count_of(diagnostics, Kind::kDecoderErrors);
  report["damaged_packets"] = count_of(diagnostics, Kind::kDamagedPackets);
  report["damaged_frames"] = count_of(diagnostics, Kind::kDamagedFrames);
  report["wrong_checksums"] = count_of(diagnostics, Kind::kWrongChecksums);
  report["wrong_times"] = count_of(diagnostics, Kind::kWrongTimes);
  report["converted_frames"] = count_of(diagnostics, Kind::kConvertedFrames);
  report["cropping"] = text_of(diagnostics, Kind::kCropping);
  report["host_copies"] = {{"decode", finished.reader.copies()}, {"encode", finished.writer.copies()}};
  report["interrupted"] = session.interrupts.interrupted();
  report["complete"] = finished.complete;
  report["warnings"] = warnings;
  report["dropped_streams"] = io::streams_left_out(diagnostics);
  report["stages"] = to_json(finished.counters);
  return report;
}

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
