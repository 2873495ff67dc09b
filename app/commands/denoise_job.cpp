// SPDX-License-Identifier: MIT
#include "app/commands/denoise_job.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "app/commands/progress.h"
#include "app/console/logging.h"
#include "app/console/text.h"
#include "app/options/media_options.h"
#include "app/pipeline/noise_text.h"
#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system/posix.h"
#include "core/parameters/parameter.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_control.h"
#include "io/media/output_file.h"
#include "io/media/picture_sequence.h"

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

namespace {

/// "; limited by encoding (a faster --preset or --codec would help)". Empty for short runs, of which the
/// start takes much.
std::string limit_text(const FinishedJob& finished) {
  constexpr double kShortRun = 5;
  if (finished.end.elapsed < kShortRun) {
    return "";
  }
  const std::string_view limit = limit_of(finished.counters, !finished.reader.can_seek());
  const FilterType& type = type_of(finished.filter);
  const FilterFigures* const quickest = quickest_profile(type.name);
  const char* help = "";
  if (limit == "encoding") {
    help = " (a faster --preset or --codec would help)";
  } else if (limit == "filtering" && quickest != nullptr &&
             quickest->profile != profile_for(type.profiles, finished.job.profile)) {
    help = " (--quality fast would help)";
  }
  return fmt::format("; limited by {}{}", limit, help);
}

}  // namespace

void log_job(const FinishedJob& finished, const Session& session) {
  const Job& job = finished.job;
  warn_of_the_whole(
      finished.diagnostics,
      {.name = job.input, .frames = finished.counters.read.frames, .expected = finished.expected});
  spdlog::info(fmt::format("{} in {:.1f} s ({} fps) to {}, {}{}", frames_text(finished.end.frames),
                           finished.end.elapsed, rate_text(finished.end.average_fps), finished.output,
                           size_text(finished.writer.bytes_written()), limit_text(finished)));
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
  if (finished.noise.repair() != Repair::kOff) {
    const RepairCounts& repaired = finished.noise.repaired();
    report["repaired"] = {{"pixels", repaired.pixels}, {"rows", repaired.rows}, {"dust", repaired.dust}};
  }
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
  report["limited_by"] = limit_of(finished.counters, !finished.reader.can_seek());
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

namespace {

constexpr int kStandardInput = 0;
constexpr int kStandardOutput = 1;
constexpr int kErrorDescriptor = 2;

FilmGrainTable table_of_file(const std::string& file, double start) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const FilmGrainTable table = parse_film_grain_table(read_regular_file(file, kMostBytes), file);
  FilmGrainTable later = rebased(table, std::llround(start * static_cast<double>(kGrainTicksPerSecond)));
  if (!has_grain(later)) {
    spdlog::warn(fmt::format("{}: has no film grain for this passage", file));
    return {};
  }
  return later;
}

FilmGrainTable estimated_table(const FilmGrainRequest& request, Engine& engine) {
  spdlog::info(fmt::format("estimating film grain from {}", request.input));
  FilmGrainTable table = film_grain_of_video(request, engine);
  if (!has_grain(table)) {
    spdlog::warn(fmt::format("{}: no noise was found, so there is no film grain like it", request.input));
    return {};
  }
  spdlog::info(fmt::format("film grain: {} part{}", table.size(), table.size() == 1 ? "" : "s"));
  return table;
}

}  // namespace

FilmGrainTable table_for_output(const GrainOptions& options, const FilmGrainRequest& request,
                                Engine& engine) {
  if (options.grain.empty()) {
    return {};
  }
  FilmGrainTable table = options.is_kept() ? estimated_table(request, engine)
                                           : table_of_file(options.grain, request.reader.start.value_or(0));
  return scaled(std::move(table), options.strength);
}

FilmGrainTable table_to_add(const GrainOptions& options, FilmGrainRequest request, Engine& engine) {
  request.by_number = true;
  return options.added > 0 ? scaled(estimated_table(request, engine), options.added) : FilmGrainTable();
}

namespace {

/// The answer that the user types; empty if an interrupt comes first.
std::string ask(const std::string& question, const InterruptWatch& interrupts) {
  constexpr int kPatienceMilliseconds = 50;
  std::cerr << printable(question);
  std::string answer;
  while (!interrupts.interrupted()) {
    if (posix::wait_to_read(kStandardInput, kPatienceMilliseconds)) {
      std::getline(std::cin, answer);
      break;
    }
  }
  return answer;
}

enum class Target { kFree, kMayBeReplaced, kSkipped };

/// Decides whether the output, of which `file` is the first, may be replaced, and asks on a terminal. With
/// -n, skips the input instead.
Target settle_output(const Job& job, const std::string& file, const Session& session) {
  if (job.output == "-") {
    if (session.json) {
      throw UsageError("--json: standard output is taken by the video; name a file with -o");
    }
    if (posix::isatty(kStandardOutput) == 1) {
      throw UsageError(
          "the output is a terminal, which can't show video; redirect it or name a file with -o");
    }
    return Target::kFree;
  }
  std::error_code ignored;
  if (file != job.output && job.existing == Existing::kOverwrite) {
    return Target::kMayBeReplaced;  // any picture of a sequence
  }
  if (!std::filesystem::exists(file, ignored)) {
    return Target::kFree;
  }
  if (std::filesystem::equivalent(job.input, file, ignored)) {
    throw UsageError(job.output + ": is the input itself; name another output");
  }
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return Target::kFree;  // a device
  }
  if (job.existing == Existing::kSkip) {
    return Target::kSkipped;
  }
  if (job.existing == Existing::kAsk && job.input != "-" && posix::isatty(kStandardInput) == 1 &&
      posix::isatty(kErrorDescriptor) == 1) {
    const std::string answer = ask(file + ": exists; overwrite it? [y/N] ", session.interrupts);
    if (answer == "y" || answer == "Y" || answer == "yes" || session.interrupts.interrupted()) {
      return Target::kMayBeReplaced;
    }
  } else if (job.existing == Existing::kOverwrite) {
    return Target::kMayBeReplaced;
  }
  throw Error(file + ": exists; -y overwrites it, -n skips it");
}

std::int64_t expected_frames(const io::VideoProperties& video, std::int64_t limit) {
  if (video.frame_count <= 0 || limit <= 0) {
    return video.frame_count;
  }
  return std::min(video.frame_count, limit);
}

/// Warns if the output that is kept has fewer pictures than the input has frames.
JobResult skipped(const Job& job, const std::string& file, const io::Reader& reader) {
  const std::string why = file + ": exists";
  const std::int64_t expected = expected_frames(reader.video(), job.frames);
  const bool is_sequence = file != job.output;
  if (const std::int64_t there = is_sequence ? io::PictureSequence(job.output).count() : expected;
      there < expected) {
    spdlog::warn(fmt::format("{}: has {} pictures, but {} about {} frames; -y writes all of them", job.output,
                             there, job.input, expected));
  }
  spdlog::info(fmt::format("skipped: {}", why));
  return {Outcome::kSkipped,
          {{"input", job.input}, {"output", job.output}, {"status", "skipped"}, {"skipped", why}}};
}

/// Nothing if an interrupt comes first.
std::optional<io::Reader> open_reader(const Job& job, const InterruptWatch& interrupts) {
  try {
    return std::make_optional<io::Reader>(job.input, job.reader);
  } catch (const Error&) {
    if (interrupts.interrupted()) {
      return std::nullopt;
    }
    throw;
  }
}

/// Nothing if an interrupt comes first, as while a pipe waits for a program that reads it.
std::optional<io::Writer> open_writer(const Job& job, const io::Reader& reader,
                                      const InterruptWatch& interrupts) {
  try {
    return std::make_optional<io::Writer>(job.output, reader, job.writer);
  } catch (const Error&) {
    if (interrupts.interrupted()) {
      return std::nullopt;
    }
    throw;
  }
}

/// A job whose source and output are open. Its stages, on four threads, share it.
class OpenJob {
 public:
  /// Sets `failed`, which the reader asks while it waits, if a stage fails.
  OpenJob(const Job& job, const Session& session, io::Reader& reader, io::Writer& writer,
          FilmGrainTable added_grain, std::atomic<bool>& failed)
      : job_(job),
        session_(session),
        reader_(reader),
        writer_(writer),
        added_grain_(std::move(added_grain)),
        failed_(failed),
        filter_(job.filter(reader.video().still_picture)),
        control_(job.settings.noise, job.settings.fields, reach_of(filter_), *session.engine,
                 noise_log(job.settings.noise)),
        expected_(expected_frames(reader.video(), job.frames)),
        needs_lead_(job.reader.start && control_.grid().before > 0 && reader.can_seek()) {}

  /// True once the output is complete under its name.
  bool is_complete() const { return complete_; }

  /// Called for the reader or writer, on its thread.
  void check_strictly(const auto& end) const {
    // An interrupt may leave a packet that is cut.
    if (!job_.strict || session_.interrupts.interrupted()) {
      return;
    }
    if (const std::string objection = strict_objection(end.diagnostics()); !objection.empty()) {
      throw Error(fmt::format("{}: {}, after {} frames; without --strict the run would continue", job_.input,
                              objection, counters_.read.frames.load()));
    }
  }

  /// Nothing if an interrupt came before the first frame was written.
  std::optional<FinishedJob> run() {
    FinishedJob finished{.job = job_,
                         .reader = reader_,
                         .writer = writer_,
                         .filter = filter_,
                         .noise = control_,
                         .counters = counters_,
                         .diagnostics = {},
                         .output = job_.output,
                         .expected = expected_,
                         .end = {},
                         .complete = false};
    {
      Progress progress(session_.console, session_.progress_style, counters_, expected_,
                        reader_.video().frames_per_second, job_.input, outlook());
      run_to_the_end(finished);
      if (finished.complete) {
        progress.complete();
      }
      finished.end = progress.state();
    }
    if (counters_.write.frames == 0) {
      if (!session_.interrupts.interrupted()) {
        throw Error(job_.input + ": has no frames that could be decoded");
      }
      return std::nullopt;
    }
    finished.diagnostics = io::merged(reader_.diagnostics(), writer_.diagnostics());
    return finished;
  }

 private:
  void run_to_the_end(FinishedJob& finished) {
    StreamOptions options;
    options.frame_limit = job_.frames;
    options.queued_frames = queued_frames(*session_.engine);
    options.abandon = session_.interrupts.abandon();
    try {
      run_stream(parts(), options, counters_, session_.interrupts.stop());
      finished.complete = (source_ended_ || (job_.frames > 0 && counters_.read.frames == job_.frames)) &&
                          counters_.write.frames == counters_.read.frames;
      if (counters_.write.frames > 0) {
        finish_file(finished);
      }
    } catch (const DenoisingFailure& failure) {
      const std::string why =
          failure.what() + (failure.out_of_memory() ? less_memory_text(profile_in_use()) : "");
      if (counters_.write.frames == 0) {
        throw Error(why);
      }
      throw broken_off(writer_, why);
    } catch (const io::DiskFull& failure) {
      throw broken_off(writer_, failure.what());
    }
  }

  std::function<std::string(const ProgressState&)> outlook() const {
    return [used = profile_in_use()](const ProgressState& state) { return outlook_text(state, used); };
  }

  ProfileInUse profile_in_use() const {
    return {type_of(filter_).name, profile_for(type_of(filter_).profiles, job_.profile)};
  }

  void finish_file(FinishedJob& finished) {
    const io::Diagnostics diagnostics = reader_.diagnostics();
    if (const auto failure =
            std::ranges::find(diagnostics, io::Diagnostic::Kind::kFailure, &io::Diagnostic::kind);
        failure != diagnostics.end()) {
      throw broken_off(writer_, sentence(*failure, {.name = job_.input}));
    }
    const bool drained = writer_.drain();
    finished.complete = finished.complete && drained;
    if (finished.complete) {
      writer_.finish();
      complete_ = true;
      return;
    }
    const std::int64_t written = counters_.write.frames;
    if (!drained) {  // an encoder that is drained may return several frames in one packet
      counters_.write.frames = writer_.frames_written();
    }
    if (counters_.write.frames == 0) {
      spdlog::warn(fmt::format(
          "interrupted: the encoder had not finished any of {} frames in time, and {} is not written",
          written, job_.output));
      return;
    }
    finished.output = writer_.finish_partial();
    if (const std::int64_t left = written - counters_.write.frames; left > 0) {
      spdlog::warn(fmt::format("interrupted: {} lacks {} frames that the encoder had not finished in time",
                               finished.output, left));
    }
  }

  StreamParts parts() {
    StreamParts parts;
    parts.read = [this] { return read(); };
    parts.stop_reading = [this] { failed_ = true; };
    parts.noise = &control_;
    parts.make_denoiser = [this](const Frame& frame, const NoiseModel& level) {
      return make_denoiser(frame.format, level);
    };
    parts.mix = job_.settings.noise.mix;
    parts.write_frame = [this](const Frame& frame) { writer_.write(with_added_grain(added_grain_, frame)); };
    parts.write_packet = [this](const io::Packet& packet) {
      writer_.write(packet);
      check_strictly(writer_);
    };
    return parts;
  }

  /// In a range, the frames that its noise levels depend on come first.
  io::Reader::Item read() {
    if (lead_) {
      if (std::optional<Frame> frame = lead_->next()) {
        return *std::move(frame);
      }
      lead_.reset();
      return *std::exchange(first_, std::nullopt);
    }
    io::Reader::Item item = read_range();
    if (Frame* const frame = std::get_if<Frame>(&item);
        frame != nullptr && std::exchange(needs_lead_, false)) {
      lead_.emplace(job_.input, job_.reader, *frame, control_.grid());
      first_ = std::move(*frame);
      return read();
    }
    return item;
  }

  io::Reader::Item read_range() {
    io::Reader::Item item = reader_.read();
    source_ended_ = std::holds_alternative<io::Reader::End>(item) && !session_.interrupts.interrupted();
    check_strictly(reader_);
    return item;
  }

  std::unique_ptr<Denoiser> make_denoiser(const FrameFormat& format, const NoiseModel& level) {
    std::unique_ptr<Denoiser> denoiser = session_.engine->make_denoiser(filter_, level, format);
    if (const auto cuda_frames = writer_.cuda_frames(); cuda_frames && added_grain_.empty()) {
      denoiser->set_result_frames(cuda_frames);
    }
    log_warnings(denoiser->warnings());
    return denoiser;
  }

  const Job& job_;
  const Session& session_;
  io::Reader& reader_;
  io::Writer& writer_;
  FilmGrainTable added_grain_;
  std::atomic<bool>& failed_;
  Filter filter_;
  NoiseControl control_;
  StreamCounters counters_;
  std::int64_t expected_;
  bool needs_lead_;
  std::optional<LevelLead> lead_;
  std::optional<Frame> first_;  ///< of the range, while `lead_` is read
  bool source_ended_ = false;
  bool complete_ = false;
};

FilmGrainRequest grain_request(const Job& job) {
  return {.input = job.input,
          .reader = job.reader,
          .noise = job.settings.noise,
          .fields = job.settings.fields,
          .frames = job.frames};
}

JobResult run_to_report(OpenJob& open, const Session& session, const WarningRecorder& warnings) {
  const std::optional<FinishedJob> finished = open.run();
  if (!finished) {
    return {};
  }
  log_job(*finished, session);
  std::vector<std::string> all = session.warnings;
  std::ranges::copy(warnings.warnings(), std::back_inserter(all));
  return {finished->complete ? Outcome::kDone : Outcome::kPartial, report_of(*finished, session, all)};
}

}  // namespace

void settle_name(Job& job, const io::Reader& reader, const Session& session) {
  const bool is_picture = reader.video().still_picture;
  if (session.names != nullptr) {
    job.output = session.names->name_for(job.input, is_picture, job.writer);
  } else if (job.output.empty()) {
    job.output = output_beside(job.input, is_picture, job.writer, job.existing == Existing::kAsk);
    spdlog::info(fmt::format("output: {}", job.output));
  }
}

JobResult run_job(Job job, const Session& session) {
  const WarningRecorder warnings;
  std::atomic<bool> failed = false;
  job.reader.interrupted = [stop = session.interrupts.stop(), &failed] {
    return stop.stop_requested() || failed;
  };
  // Pictures have nothing around them, whatever filters them.
  const Reach reach = Repairer::reach_with(
      job.settings.noise.repair, FieldControl::reach_with(job.settings.fields, reach_of(job.filter(false))));
  job.reader.context_before = reach.before;
  job.reader.context_after = reach.after + NoiseControl::look_ahead(job.settings.noise);
  std::optional<io::Reader> reader = open_reader(job, session.interrupts);
  if (!reader) {
    return {};
  }
  report_decoding(session.choice, *reader);
  settle_name(job, *reader, session);
  settle_encoding(job.writer, job.output, reader->video().lossless);
  const std::string file = io::Writer::first_file(job.output, *reader, job.writer);
  const Target target = settle_output(job, file, session);
  if (session.interrupts.interrupted()) {
    return {};
  }
  if (target == Target::kSkipped) {
    return skipped(job, file, *reader);
  }
  job.writer.film_grain = table_for_output(job.grain, grain_request(job), *session.engine);
  FilmGrainTable added_grain = table_to_add(job.grain, grain_request(job), *session.engine);
  if (session.interrupts.interrupted()) {
    return {};
  }
  job.writer.overwrite = target == Target::kMayBeReplaced ? io::Overwrite::kAlways : io::Overwrite::kNever;
  std::optional<io::Writer> writer = open_writer(job, *reader, session.interrupts);
  if (!writer) {
    return {};
  }
  log_warnings(io::texts_of(writer->diagnostics()));
  if (const std::string advice = writer->advice(); !advice.empty()) {
    const Strength& strength = job.settings.noise.strength;
    const bool is_partial = strength.luma == 0 || strength.chroma == 0;
    spdlog::info(advice + (is_partial ? "; planes that are not filtered are encoded again, too" : ""));
  }

  OpenJob open(job, session, *reader, *writer, std::move(added_grain), failed);
  open.check_strictly(*writer);
  try {
    return run_to_report(open, session, warnings);
  } catch (const std::bad_alloc&) {
    if (!open.is_complete()) {
      throw;
    }
    warn_of_missing_report(job.output);
    return {Outcome::kDone,
            {{"input", job.input}, {"output", job.output}, {"status", "done"}, {"complete", true}}};
  }
}

}  // namespace limpid::app
