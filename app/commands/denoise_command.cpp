#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/diagnostics.h"
#include "app/commands/jobs.h"
#include "app/commands/progress.h"
#include "app/commands/run_report.h"
#include "app/console/interrupt.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/options/engine_options.h"
#include "app/options/filter_options.h"
#include "app/options/noise_options.h"
#include "app/options/time_options.h"
#include "app/pipeline/noise_control.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

struct DenoiseOptions {
  std::vector<std::string> arguments;  // inputs, and perhaps the output
  std::string output_option;
  std::string input;   // of the job at hand
  std::string output;  // likewise

  NoiseOptions noise;
  FilterOptions filter;

  EngineChoice engine;

  io::ReaderOptions reader;
  std::vector<std::string> input_options;
  io::WriterOptions writer;
  std::vector<std::string> encoder_options;

  LoggingOptions logging;
  std::string progress = "auto";

  TimeOptions time;
  std::int64_t frames = 0;
  bool overwrite = false;
  bool never_overwrite = false;
  bool strict = false;
  bool no_audio = false;
  bool no_transcode = false;
  bool no_subtitles = false;
  bool no_data = false;
  bool quiet = false;
  bool no_progress = false;
  bool stats = false;
  bool json = false;
};

/// What a person types in answer; nothing if an interrupt comes first.
std::string ask(const std::string& question, const InterruptWatch& interrupts) {
  constexpr int kPatienceMilliseconds = 50;
  std::cerr << printable(question);
  std::string answer;
  pollfd keyboard{STDIN_FILENO, POLLIN, 0};
  while (!interrupts.interrupted()) {
    if (::poll(&keyboard, 1, kPatienceMilliseconds) > 0) {
      std::getline(std::cin, answer);
      break;
    }
  }
  return answer;
}

enum class Target { kFree, kMayBeReplaced, kSkipped };

/// Decides whether the output may be replaced, asking if a person is there to answer; and skips the input if
/// it may not and that is what -n asks for.
Target settle_output(const DenoiseOptions& options, const InterruptWatch& interrupts) {
  if (options.output == "-") {
    if (options.json) {
      throw UsageError("--json: standard output is taken by the video; name a file with -o");
    }
    if (isatty(STDOUT_FILENO) == 1) {
      throw UsageError(
          "the output is a terminal, which can't show video; redirect it or name a file with -o");
    }
    return Target::kFree;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(options.output, ignored)) {
    return Target::kFree;
  }
  if (std::filesystem::equivalent(options.input, options.output, ignored)) {
    throw UsageError(options.output + ": is the input itself; name another output");
  }
  if (!std::filesystem::is_regular_file(options.output, ignored)) {
    return Target::kFree;  // a device
  }
  if (options.never_overwrite) {
    return Target::kSkipped;
  }
  if (!options.overwrite && options.input != "-" && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1) {
    const std::string answer = ask(options.output + ": exists; overwrite it? [y/N] ", interrupts);
    if (answer == "y" || answer == "Y" || answer == "yes" || interrupts.interrupted()) {
      return Target::kMayBeReplaced;
    }
  } else if (options.overwrite) {
    return Target::kMayBeReplaced;
  }
  throw Error(options.output + ": exists; -y overwrites it, -n skips it");
}

void create_folder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error(folder + ": can't create the folder: " + failure.message());
  }
}

// Where the program has chosen, why others could not be is told too.
void log_engine(const Engine& engine, bool chosen) {
  std::string others;
  for (const EngineInfo& info : chosen ? engine_registry().list() : std::vector<EngineInfo>()) {
    if (!info.available) {
      others += fmt::format("; no {} engine: {}", info.name, info.description);
    }
  }
  spdlog::info(fmt::format("engine: {}, {}{}", engine.name(), engine.description(), others));
}

std::int64_t expected_frames(const io::VideoProperties& video, std::int64_t limit) {
  if (video.frame_count <= 0 || limit <= 0) {
    return video.frame_count;
  }
  return std::min(video.frame_count, limit);
}

void check(const DenoiseOptions& options) {
  if (options.overwrite && options.never_overwrite) {
    throw UsageError("-y and -n exclude each other");
  }
  const std::string& sound = options.writer.audio_codec;
  if (options.no_transcode && !sound.empty() && sound != "copy") {
    throw UsageError("--no-transcode and --audio-codec " + sound + " exclude each other");
  }
}

struct JobCounts {
  int done = 0;
  int skipped = 0;  ///< no media
  int existing = 0;
  int failed = 0;
  int partial = 0;

  int all() const { return done + skipped + existing + failed + partial; }
};

/// "3 files denoised, 1 skipped, 0 failed", and what an interrupt has left.
std::string summary(const JobCounts& counts, std::size_t jobs) {
  std::string text = fmt::format("{} files denoised, {} skipped, {} failed", counts.done,
                                 counts.skipped + counts.existing, counts.failed);
  if (counts.partial > 0) {
    text += fmt::format(", {} in part", counts.partial);
  }
  if (const int left = static_cast<int>(jobs) - counts.all(); left > 0) {
    text += fmt::format(", {} not begun", left);
  }
  return text;
}

/// What the jobs of a run share.
struct Session {
  NoiseSettings noise;
  std::shared_ptr<Engine> engine;
  InterruptWatch& interrupts;
  Console& console;
  ProgressStyle progress_style;
  OutputNames* names;  // null if `output` is given
};

/// Nothing if an interrupt comes first.
std::optional<io::Reader> open_reader(const DenoiseOptions& options, const InterruptWatch& interrupts) {
  try {
    return std::make_optional<io::Reader>(options.input, options.reader);
  } catch (const Error&) {
    if (interrupts.interrupted()) {
      return std::nullopt;
    }
    throw;
  }
}

/// As it was asked for, and what was made of it; null is the encoder's default.
nlohmann::ordered_json encoder_report(const io::WriterOptions& options, const io::Writer& writer) {
  const auto given = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  nlohmann::ordered_json others = nlohmann::ordered_json::object();
  for (const auto& [key, value] : options.encoder_options) {
    others[key] = value;
  }
  return {{"codec", writer.codec()},
          {"pixel_format", writer.pixel_format()},
          {"container", writer.container()},
          {"crf", given(options.crf)},
          {"preset", given(options.preset)},
          {"bitrate", given(options.bitrate)},
          {"options", std::move(others)},
          {"audio_codec", given(options.audio_codec)},
          {"audio_bitrate", given(options.audio_bitrate)}};
}

enum class Outcome { kDone, kPartial, kSkipped, kNothing };

// That json's move constructor may throw is only what clang-tidy makes of an assertion in it.
struct JobResult {  // NOLINT(bugprone-exception-escape)
  Outcome outcome = Outcome::kNothing;
  nlohmann::ordered_json report;  ///< for --json
};

/// Denoises `options.input`. kNothing: an interrupt came before there was anything to finish.
JobResult denoise_file(DenoiseOptions options, const Session& session) {
  using Kind = io::Diagnostic::Kind;
  Engine* const engine = session.engine.get();
  InterruptWatch& interrupts = session.interrupts;
  Console& console = session.console;
  const WarningRecorder warnings;
  std::atomic<bool> failed = false;
  options.reader.interrupted = [stop = interrupts.stop(), &failed] {
    return stop.stop_requested() || failed;
  };
  std::optional<io::Reader> opened = open_reader(options, interrupts);
  if (!opened) {
    return {};
  }
  io::Reader& reader = *opened;
  report_decoding(options.engine, reader);
  if (session.names != nullptr) {
    options.output = session.names->name_for(options.input, reader.video().still_picture, options.writer);
  }
  const Target target = settle_output(options, interrupts);
  if (interrupts.interrupted()) {
    return {};
  }
  if (target == Target::kSkipped) {
    const std::string sentence = options.output + ": exists";
    spdlog::info(fmt::format("skipped: {}", sentence));
    return {Outcome::kSkipped, {{"input", options.input}, {"output", options.output}, {"skipped", sentence}}};
  }
  options.writer.overwrite =
      target == Target::kMayBeReplaced ? io::Overwrite::kAlways : io::Overwrite::kNever;

  io::Writer writer(options.output, reader, options.writer);
  log_warnings(io::texts_of(writer.diagnostics()));

  NoiseControl noise(session.noise, *engine);
  PipelineCounters counters;
  PipelineStages stages;
  const auto check_strictly = [&](const auto& reader_or_writer) {
    // An interrupt may leave a packet that is cut.
    if (!options.strict || interrupts.interrupted()) {
      return;
    }
    if (const std::string objection = strict_objection(reader_or_writer.diagnostics()); !objection.empty()) {
      throw Error(fmt::format("{}: {}, after {} frames; without --strict the run would go on", options.input,
                              objection, counters.read.frames.load()));
    }
  };
  bool source_ended = false;
  stages.read = [&] {
    io::Reader::Item item = reader.read();
    source_ended = std::holds_alternative<io::Reader::End>(item) && !interrupts.interrupted();
    check_strictly(reader);
    return item;
  };
  stages.stop_reading = [&] { failed = true; };
  stages.noise = [&](const Frame& frame) { return noise.level_for(frame); };
  nlohmann::ordered_json filter_report;
  stages.make_denoiser = [&](const Frame& frame, const NoiseLevel& level) {
    const Filter filter = options.filter.filter();
    filter_report = to_json(filter, level, frame.format);
    if (!type_of(filter).profiles.empty()) {
      filter_report["profile"] = options.filter.profile();
    }
    std::unique_ptr<Denoiser> denoiser = engine->make_denoiser(filter, level, frame.format);
    if (const auto cuda_frames = writer.cuda_frames()) {
      denoiser->set_result_frames(cuda_frames);
    }
    log_warnings(denoiser->warnings());
    return denoiser;
  };
  stages.write_frame = [&](const Frame& frame) { writer.write(frame); };
  stages.write_packet = [&](const io::Packet& packet) {
    writer.write(packet);
    check_strictly(writer);
  };

  // What was done may have taken hours, but isn't to pass for the whole.
  const auto broken_off = [&](const std::string& failure) {
    const std::string name = writer.finish_partial();
    const std::int64_t frames = writer.frames_written();
    return Error(fmt::format("{}; {} has the {} {} before that", failure, name, frames,
                             frames == 1 ? "frame" : "frames"));
  };
  PipelineOptions pipeline_options;
  pipeline_options.frame_limit = options.frames;
  pipeline_options.queued_frames = queued_frames(*session.engine);
  const std::string whole = options.output;
  const std::int64_t expected = expected_frames(reader.video(), options.frames);
  bool complete = false;
  ProgressState end;
  {
    Progress progress(console, session.progress_style, counters, expected, reader.video().frames_per_second,
                      options.input);
    try {
      run_pipeline(stages, pipeline_options, counters, interrupts.stop());
      complete = source_ended || (options.frames > 0 && counters.read.frames == options.frames);
      if (counters.write.frames > 0) {
        const io::Diagnostics of_reader = reader.diagnostics();
        if (const auto failure = std::ranges::find(of_reader, Kind::kFailure, &io::Diagnostic::kind);
            failure != of_reader.end()) {
          throw broken_off(sentence(*failure, {.name = options.input}));
        }
        if (complete) {
          writer.finish();
        } else {
          options.output = writer.finish_partial();
        }
      }
    } catch (const DenoisingFailure& failure) {
      if (counters.write.frames == 0) {
        throw;
      }
      throw broken_off(failure.what());
    } catch (const io::DiskFull& failure) {
      throw broken_off(failure.what());
    }
    end = progress.state();
  }
  if (counters.write.frames == 0 && !interrupts.interrupted()) {
    throw Error(options.input + ": has no frames that could be decoded");
  }
  if (counters.write.frames == 0) {
    return {};
  }
  const io::Diagnostics diagnostics = io::merged(reader.diagnostics(), writer.diagnostics());
  warn_of_the_whole(diagnostics,
                    {.name = options.input, .frames = counters.read.frames, .expected = expected});
  spdlog::info(fmt::format("{} frames in {:.1f} s ({:.1f} fps) to {}, {:.1f} MB", end.frames, end.elapsed,
                           end.average_fps, options.output,
                           static_cast<double>(writer.bytes_written()) / 1e6));
  if (options.output != whole) {
    spdlog::warn(fmt::format("interrupted: {} has what was done of {}", options.output, whole));
  }
  if (options.stats) {
    for (const std::string& line : to_table(counters)) {
      console.print_line(line);
    }
  }
  nlohmann::ordered_json report;
  report["input"] = options.input;
  report["output"] = options.output;
  report["engine"] = engine->name();
  report["filter"] = std::move(filter_report);
  const NoiseControl::Levels levels = noise.levels();
  const FrameFormat& format = reader.video().format;
  report["sigma"] = {{"estimated", noise.is_estimated()},
                     {"strength", options.noise.strength()},
                     {"first", to_json(levels.first, format)},
                     {"mean", to_json(levels.mean, format)},
                     {"last", to_json(levels.last, format)}};
  report["encoder"] = encoder_report(options.writer, writer);
  report["frames"] = end.frames;
  report["frames_expected"] = expected > 0 ? nlohmann::ordered_json(expected) : nlohmann::ordered_json();
  report["frames_read"] = counters.read.frames.load();
  report["seconds"] = end.elapsed;
  report["fps"] = end.average_fps;
  report["bytes"] = writer.bytes_written();
  report["damage"] = text_of(diagnostics, Kind::kDamage);
  report["shortfall"] = text_of(diagnostics, Kind::kShortfall);
  report["damaged_packets"] = count_of(diagnostics, Kind::kDamagedPackets);
  report["damaged_frames"] = count_of(diagnostics, Kind::kDamagedFrames);
  report["converted_frames"] = count_of(diagnostics, Kind::kConvertedFrames);
  report["host_copies"] = {{"decode", reader.copies()}, {"encode", writer.copies()}};
  report["interrupted"] = interrupts.interrupted();
  report["complete"] = complete;
  report["warnings"] = warnings.warnings();
  report["streams_left_out"] = io::streams_left_out(diagnostics);
  report["stages"] = to_json(counters);
  return {complete ? Outcome::kDone : Outcome::kPartial, std::move(report)};
}

/// One job after the other; one that fails doesn't keep the others from being done.
nlohmann::ordered_json denoise_all(DenoiseOptions options, const Jobs& jobs, const Session& session,
                                   JobCounts& counts) {
  nlohmann::ordered_json reports = nlohmann::ordered_json::array();
  for (const Jobs::Input& input : jobs.inputs) {
    if (session.interrupts.interrupted()) {
      break;
    }
    options.input = input.file;
    spdlog::info(fmt::format("{} ({} of {})", input.file, reports.size() + 1, jobs.inputs.size()));
    const auto fail = [&](const std::string& sentence) {
      spdlog::error(sentence);
      ++counts.failed;
      reports.push_back({{"input", input.file}, {"error", sentence}});
    };
    try {
      JobResult result = denoise_file(options, session);
      if (result.outcome == Outcome::kNothing) {
        break;
      }
      reports.push_back(std::move(result.report));
      ++(result.outcome == Outcome::kDone      ? counts.done
         : result.outcome == Outcome::kPartial ? counts.partial
                                               : counts.existing);
    } catch (const io::NoVideo& error) {
      if (input.from_folder && (error.is_media() || !io::is_media_name(input.file))) {
        spdlog::info(fmt::format("skipped: {}", error.what()));
        reports.push_back({{"input", input.file}, {"skipped", error.what()}});
        ++counts.skipped;
      } else {
        fail(error.what());
      }
    } catch (const Error& error) {
      fail(error.what());
    } catch (const std::bad_alloc&) {
      fail(input.file + ": " + kOutOfMemory);
    } catch (const std::exception& error) {
      fail(input.file + ": " + error.what());
    }
  }
  return reports;
}

int denoise(DenoiseOptions options, Console& console) {
  check(options);
  std::ranges::transform(options.arguments, options.arguments.begin(), io::local_name);
  options.output_option = io::local_name(options.output_option);
  if (options.quiet && options.logging.level == LoggingOptions().level) {
    options.logging.level = "error";
  }
  for (const std::string& argument : options.arguments) {
    io::require_other_file(options.logging.file, argument);
  }
  set_up_logging(console, options.logging);
  const ProgressStyle progress_style = options.quiet || options.no_progress
                                           ? ProgressStyle::kNone
                                           : parse_progress_style(options.progress, console.is_terminal());
  // Whatever is wrong with the parameters is told before any file is touched.
  const NoiseSettings noise = options.noise.settings();
  static_cast<void>(options.filter.filter());
  options.time.apply_to(options.reader);
  options.reader.options = parse_pairs("--input-option", options.input_options);
  options.writer.encoder_options = parse_pairs("-e", options.encoder_options);
  const Jobs jobs = plan_jobs(options.arguments, options.output_option);

  InterruptWatch interrupts;

  // The decoder's threads are libav's choice, as with ffmpeg: of a damaged stream their number decides how
  // many frames come out.
  options.reader.audio = !options.no_audio;
  options.writer.frames = options.frames;
  if (options.no_transcode) {
    options.writer.audio_codec = "copy";
  }
  options.reader.subtitles = !options.no_subtitles;
  options.reader.data = !options.no_data;

  const std::shared_ptr<Engine> engine = options.engine.open();
  options.reader.allocate = frame_allocator(engine);
  options.reader.cuda_device = options.engine.decoding_device(*engine);
  options.writer.cuda_device = engine->result_device();
  options.writer.encoder_threads = encoder_threads(*engine);
  log_engine(*engine, options.engine.name == "auto");

  std::optional<OutputNames> names;
  if (jobs.into_folder) {
    create_folder(jobs.output);
    names.emplace(jobs);
  }
  const Session session{noise, engine, interrupts, console, progress_style, names ? &*names : nullptr};
  nlohmann::ordered_json report;
  JobCounts counts;
  if (jobs.many) {
    report = denoise_all(options, jobs, session, counts);
  } else {
    options.input = jobs.inputs.front().file;
    options.output = jobs.output;
    JobResult result;
    try {
      result = denoise_file(options, session);
    } catch (const std::exception& error) {
      if (options.json && options.output != "-") {
        const auto* const known = dynamic_cast<const Error*>(&error);
        print_report({{"input", options.input},
                      {"output", options.output},
                      {"error", known != nullptr ? known->what() : options.input + ": " + error.what()}});
      }
      throw;
    }
    if (result.outcome == Outcome::kNothing) {
      return kExitInterrupted;
    }
    report = std::move(result.report);
  }
  if (options.json) {
    print_report(report);
  }
  if (jobs.many) {
    const std::string text = summary(counts, jobs.inputs.size());
    const bool nothing = counts.done + counts.existing == 0 && !interrupts.interrupted();
    if (counts.failed > 0 || nothing) {
      throw Error(text);
    }
    spdlog::info(text);
  }
  return interrupts.interrupted() ? kExitInterrupted : kExitDone;
}

void add_file_options(CommandLine& command, DenoiseOptions& options) {
  constexpr const char* kGroup = "Input and output";
  command
      .add_option(
          "INPUT", options.arguments,
          "File, image sequence (%03d) or - for a pipe; with -o FOLDER any number of files, and folders "
          "whose files are meant. Without -o, the second of two is the output")
      ->required()
      ->take_all();
  command
      .add_option(
          "-o,--output", options.output_option,
          "File, image sequence or - for a pipe (y4m); or a folder, in which each output is named after "
          "its input")
      ->type_name("OUTPUT")
      ->group(kGroup);
  command.add_flag("-y,--overwrite", options.overwrite, "Overwrite the output without asking")->group(kGroup);
  command.add_flag("-n,--no-overwrite", options.never_overwrite, "Skip inputs whose outputs exist")
      ->group(kGroup);
  options.time.add_to(command, kGroup);
  command.add_option("--frames", options.frames, "Stop after N frames")
      ->type_name("N")
      ->positive()
      ->group(kGroup);
  command
      .add_flag("--strict", options.strict,
                "Stop at a damaged packet or frame, or a file that ends early, instead of going on")
      ->group(kGroup);
  command.add_option("--input-format", options.reader.input_format, "Demuxer to use [from the content]")
      ->type_name("NAME")
      ->group(kGroup);
  command.add_option("--input-option", options.input_options, "Demuxer or decoder option, any number")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_flag("--allow-references", options.reader.allow_references,
                "Read playlists, manifests and lists, and the other files that they lead to")
      ->group(kGroup);
  command.add_flag("--no-audio", options.no_audio, "Don't copy audio streams")->group(kGroup);
  command.add_flag("--no-subtitles", options.no_subtitles, "Don't copy subtitle streams")->group(kGroup);
  command.add_flag("--no-data", options.no_data, "Don't copy data streams and attachments")->group(kGroup);
}

void add_encoding_options(CommandLine& command, DenoiseOptions& options) {
  constexpr const char* kGroup = "Encoding";
  io::WriterOptions& writer = options.writer;
  command
      .add_option("-c,--codec", writer.codec,
                  "Encoder [what suits the container: libx264, or libx265 for HDR]")
      ->type_name("NAME")
      ->check([](const std::string& name) {
        return name.starts_with(':') ? "'-c" + name +
                                           "' is ffmpeg's; the encoder is given as -c NAME, "
                                           "and streams other than the video are copied"
                                     : std::string();
      })
      ->group(kGroup);
  command.add_option("--crf", writer.crf, "Constant quality of the encoder [its own: x264 23, x265 28]")
      ->type_name("N")
      ->group(kGroup);
  command.add_option("--preset", writer.preset, "Speed preset of the encoder [its own: x264, x265 medium]")
      ->type_name("NAME")
      ->group(kGroup);
  command.add_option("--bitrate", writer.bitrate, "Such as 4M")->type_name("RATE")->group(kGroup);
  command.add_option("-e,--encoder-option", options.encoder_options, "Encoder option, any number")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_option("--audio-codec", writer.audio_codec,
                  "Encoder of all sound, such as aac, libopus or flac; or copy, as --no-transcode [sound is "
                  "copied; what the container can't hold is encoded as suits it]")
      ->type_name("NAME")
      ->group(kGroup);
  command
      .add_option("--audio-bitrate", writer.audio_bitrate,
                  "Of sound that is encoded, such as 160k [about 96k for each channel]")
      ->type_name("RATE")
      ->group(kGroup);
  command
      .add_flag("--no-transcode", options.no_transcode,
                "Leave out sound that the container can't hold instead of encoding it anew")
      ->group(kGroup);
  command.add_option("--pix-fmt", writer.pixel_format, "Pixel format [the source's]")
      ->type_name("NAME")
      ->group(kGroup);
  command
      .add_option("-f,--container", writer.container, "Container [from the output's name; y4m for a pipe]")
      ->type_name("NAME")
      ->group(kGroup);
}

void add_message_options(CommandLine& command, DenoiseOptions& options) {
  constexpr const char* kGroup = "Messages, on standard error";
  command.add_flag("-q,--quiet", options.quiet, "Print errors only")->group(kGroup);
  command
      .add_option(
          "--progress", options.progress,
          "auto: on a terminal only; plain; json: a JSON object a second; none [auto]. Shows frames, rates, "
          "and how many per cent of the last seconds decoding, denoising, encoding and a GPU's uploads, "
          "filtering and downloads were busy")
      ->type_name("STYLE")
      ->group(kGroup);
  command.add_flag("--no-progress", options.no_progress, "As --progress none")->group(kGroup);
  command.add_flag("--json", options.json, "At the end, a report of the run on standard output, as JSON")
      ->group(kGroup);
  command
      .add_flag("--stats", options.stats, "At the end, each stage's rate, latencies and what it waited for")
      ->group(kGroup);
  command
      .add_option("--log-level", options.logging.level, "trace, debug, info, warning, error or off [info]")
      ->type_name("LEVEL")
      ->group(kGroup);
  command
      .add_option("--log-file", options.logging.file, "Log to this file too, with times and debug messages")
      ->type_name("FILE")
      ->group(kGroup);
}

}  // namespace

void add_denoise_command(CommandLine& program, Command& selected) {
  CommandLine* command = program.add_subcommand("denoise", "Denoise a video or picture");
  // The last value counts where a script appends to given options, as with ffmpeg.
  command->take_last();
  auto options = std::make_shared<DenoiseOptions>();
  add_file_options(*command, *options);
  options->noise.add_to(*command);
  options->filter.add_to(*command);
  options->engine.add_to(*command);
  options->engine.add_decoding_to(*command);
  add_encoding_options(*command, *options);
  add_message_options(*command, *options);
  command->callback([&selected, options] {
    selected = [options](Console& console) { return denoise(*options, console); };
  });
}

}  // namespace limpid::app
