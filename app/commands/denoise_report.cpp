// SPDX-License-Identifier: MIT
#include "app/commands/denoise_report.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <variant>

#include "app/console/diagnostics.h"
#include "app/console/quantity_text.h"
#include "app/options/media_options.h"
#include "app/pipeline/noise_text.h"
#include "core/frame/frame.h"
#include "core/parameters/parameter.h"
#include "core/settings/noise_profile.h"

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

}  // namespace limpid::app
