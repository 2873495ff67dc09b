// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "app/commands/command.h"
#include "app/commands/viewing_options.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/options/media_options.h"
#include "core/base/error.h"
#include "core/stream/noise_control.h"
#include "io/screen/audio_output.h"

namespace limpid::app {
namespace {

struct PreviewOptions {
  std::string input;
  bool loop = false;
  std::string start;
  std::string end;
  double loop_megabytes = 0;
  bool close_at_end = false;
  bool no_audio = false;
  ViewerCommandOptions viewing;
};

/// A file with the fields of its frames.
struct OpenedFile {
  OpenedFile(const std::string& path, const io::ReaderOptions& options, FieldChoice choice, Engine& engine)
      : reader(path, options),
        // The filter can change during playback.
        fields(choice, {.before = 1, .after = 1}, engine) {}

  io::Reader reader;
  FieldControl fields;
};

FrameSource source_of(const std::shared_ptr<OpenedFile>& file) {
  FrameSource source;
  source.read = [file] {
    io::Reader::Item item = file->reader.read();
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      file->fields.decide(*frame);
    }
    return item;
  };
  if (file->reader.can_seek()) {
    source.seek = [file](double seconds, double before, const std::function<bool()>& given_up,
                         const std::function<void(Frame)>& glimpse) {
      file->reader.seek(seconds, before, given_up, glimpse);
      file->fields.reset();
    };
  }
  return source;
}

// The pictures of a folder as a sequence: the pattern of the first name that ends in a number. Other paths
// are returned unchanged.
std::string sequence_in(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return path;
  }
  static const std::regex numbered(R"((.*?)(\d+)(\.(png|jpe?g|tiff?|exr|dpx|bmp|dng)))", std::regex::icase);
  std::string pattern;
  std::string first;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    const std::string name = entry.path().filename().string();
    std::smatch parts;
    if (std::regex_match(name, parts, numbered) && (first.empty() || name < first)) {
      first = name;
      pattern = fmt::format("{}%0{}d{}", parts.str(1), parts.str(2).size(), parts.str(3));
    }
  }
  if (pattern.empty()) {
    throw UsageError(path +
                     ": is a folder without numbered pictures; name a file, or a pattern such as %04d.png");
  }
  return (fs::path(path) / pattern).string();
}

Passage passage_of(const PreviewOptions& options) {
  const auto time = [](const char* option, const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(parse_time(option, text));
  };
  Passage passage{time("--start", options.start), time("--end", options.end)};
  if (passage.end && *passage.end <= passage.begin.value_or(0)) {
    throw UsageError("--end: the passage ends before it begins");
  }
  return passage;
}

void check_passage(const PreviewOptions& options, const io::Reader& reader) {
  const Passage passage = passage_of(options);
  const double duration = reader.video().duration;
  if (passage != Passage{} && !reader.can_seek()) {
    throw UsageError(options.input + ": cannot seek, so --start and --end are not possible");
  }
  if (duration > 0 && passage.begin.value_or(0) >= duration) {
    throw UsageError(fmt::format("--start: {} s is not before the end of {}, {:.3f} s", *passage.begin,
                                 options.input, duration));
  }
}

std::size_t loop_bytes(const PreviewOptions& options) {
  constexpr double kMegabyte = 1e6;
  return options.loop_megabytes > 0 ? static_cast<std::size_t>(options.loop_megabytes * kMegabyte)
                                    : static_cast<std::size_t>(available_memory() / 4);
}

ViewerOptions file_viewer_options(PreviewOptions& options, const io::Reader& reader, Engine& engine) {
  ViewerCommandOptions& viewing = options.viewing;
  const std::string name =
      options.input == "-" ? "standard input" : std::filesystem::path(options.input).filename().string();
  ViewerOptions result = viewing.viewer_options(reader, engine, name);
  result.loop = options.loop;
  result.passage = passage_of(options);
  result.keep_open = !options.close_at_end && result.frames == 0;
  result.input = options.input;
  result.frame_count = reader.video().frame_count;
  result.lossless = reader.video().lossless && !reader.video().still_picture;
  for (std::size_t i = 0; i < result.encoders.size(); ++i) {
    io::WriterOptions writer;
    writer.encoding = io::kEncodingNames[i];
    try {
      result.encoders[i] = io::Writer::encoder_name(free_output(options.input), reader, writer);
    } catch (const UsageError&) {  // lossless in .mp4
      result.encoders[i].clear();
    }
  }
  if (options.input != "-") {
    result.command = [&viewing, &options](const PlayerSettings& settings, const Passage& passage) {
      return viewing.denoise_command(options.input, settings, passage);
    };
  }
  result.refuse_file = [&viewing](const std::string& path) -> std::string {
    try {
      const io::Reader tried(path, viewing.reader);
      return viewing.objection(tried);
    } catch (const Error& error) {
      return error.what();
    }
  };
  return result;
}

PlayerStages file_stages(ViewerCommandOptions& viewing, const std::string& path,
                         const std::shared_ptr<OpenedFile>& file, const std::shared_ptr<Engine>& engine) {
  PlayerStages stages = viewing.stages(engine, file->reader, false);
  static_cast<FrameSource&>(stages) = source_of(file);
  if (file->reader.can_seek()) {
    stages.open_again = [&viewing, path, engine] {
      io::ReaderOptions again = viewing.reader;
      again.allocate = {};  // frames that are kept in ordinary memory
      return source_of(std::make_shared<OpenedFile>(path, again, viewing.denoising.fields.choice(), *engine));
    };
  }
  return stages;
}

// Null if there is no audio, or no device to play it.
std::unique_ptr<io::AudioOutput> file_audio(const ViewerCommandOptions& viewing, const io::Reader& reader) {
  std::string why;
  std::unique_ptr<io::AudioOutput> audio = io::AudioOutput::open(reader, viewing.reader, why);
  if (!why.empty()) {
    spdlog::info(fmt::format("no audio: {}", why));
  }
  return audio;
}

// The window on one file. Returns the file to show next; empty if there is none.
std::string show_file(PreviewOptions& options, const std::shared_ptr<Engine>& engine,
                      InterruptWatch& interrupts, int& exit_code) {
  ViewerCommandOptions& viewing = options.viewing;
  const auto file =
      std::make_shared<OpenedFile>(options.input, viewing.reader, viewing.denoising.fields.choice(), *engine);
  const io::Reader& reader = file->reader;
  viewing.restore_settings(options.input, reader.video().format);
  if (const std::string why = viewing.objection(reader); !why.empty()) {
    throw UsageError(why);
  }
  PlayerStages stages = file_stages(viewing, options.input, file, engine);
  check_passage(options, reader);
  ViewerOptions viewer_options = file_viewer_options(options, reader, *engine);
  std::unique_ptr<io::AudioOutput> audio;
  if (!options.no_audio && viewer_options.screenshot.empty()) {
    audio = file_audio(viewing, reader);
  }
  std::string next;
  {
    PlayerOptions player_options = viewing.player_options(reader);
    player_options.loop_bytes = loop_bytes(options);
    Viewer viewer(std::move(viewer_options), std::move(stages), std::move(player_options));
    const ClosingNotice notice(viewing.closing);
    viewer.set_audio(std::move(audio));
    viewer.run(interrupts.stop());
    next = viewer.next_input();
    viewing.window = viewer.window();
    viewing.remember(options.input, viewer.settings());
    const ViewerReport report = viewer.report();
    const std::string command_line = viewer.command_line();
    viewing.closing = true;
    exit_code = viewing.report(report, command_line, interrupts, next.empty());
    // Nothing is saved: quitting does not wait until a slow engine has finished its frame.
    constexpr std::chrono::milliseconds kStopPatience{300};
    constexpr std::chrono::milliseconds kPatienceForNext{60000};
    if (!viewer.stop(next.empty() ? kStopPatience : kPatienceForNext)) {
      if (!next.empty()) {
        spdlog::error(
            fmt::format("{}: cannot be opened, because the filter of {} did not stop within a minute; start "
                        "limpid preview again",
                        next, options.input));
        exit_code = kExitFailed;
      }
      spdlog::default_logger()->flush();
      std::_Exit(exit_code);
    }
  }
  for (const io::Diagnostic& diagnostic : reader.diagnostics()) {
    if (diagnostic.kind == io::Diagnostic::Kind::kDamagedPackets) {
      spdlog::warn(sentence(diagnostic, {.name = options.input}));
    }
  }
  return next;
}

int preview(PreviewOptions& options, Console& console) {
  ViewerCommandOptions& viewing = options.viewing;
  set_up_logging(console, viewing.logging);
  viewing.check();
  static_cast<void>(passage_of(options));
  InterruptWatch interrupts;
  const std::shared_ptr<Engine> engine = viewing.open_engine(interrupts);
  int exit_code = kExitDone;
  bool is_first = true;
  for (std::string next = options.input; !next.empty();) {
    options.input = sequence_in(next);
    viewing.closing = false;
    if (!is_first) {  // they describe the first file
      viewing.reader.input_format.clear();
      viewing.reader.options.clear();
      options.start.clear();
      options.end.clear();
    }
    is_first = false;
    next = show_file(options, engine, interrupts, exit_code);
  }
  viewing.window.reset();
  return exit_code;
}

}  // namespace

void add_preview_command(CommandLine& program) {
  CommandLine* command =
      program.add_subcommand("preview", "Play a video in a window, noisy and denoised side by side");
  auto options = std::make_shared<PreviewOptions>();
  constexpr const char* kPlaying = "Playing";
  command->add_option("INPUT", options->input, "File, folder or sequence of pictures (%03d), or - for a pipe")
      ->required()
      ->file();
  command->begin_group(kPlaying);
  command->add_flag("--loop", options->loop, "Repeat the passage of --start and --end, or the whole video");
  command->add_option("--start", options->start, "Start of the passage to play [start of the input]")
      ->type_name("[[H:]M:]S");
  command->add_option("--end", options->end, "End of the passage to play [end of the input]")
      ->type_name("[[H:]M:]S");
  command
      ->add_option("--loop-memory", options->loop_megabytes,
                   "Memory for a passage that is repeated: if it fits, it is denoised once at full quality, "
                   "in MB [a quarter of the free memory]")
      ->type_name("MB")
      ->in_range(1.0, 1e7)
      ->advanced();
  command->add_flag("--close-at-end", options->close_at_end, "Close the window after the last frame")
      ->advanced();
  command->add_flag("--no-audio", options->no_audio, "Do not play audio");
  command->add_flag("--no-memory", options->viewing.no_memory,
                    "Neither use nor keep the settings that were last chosen for this file");
  command->begin_group("For scripts");
  command->add_flag("-y,--overwrite", options->viewing.overwrite, "Overwrite an existing screenshot");
  command->begin_group("Input");
  options->viewing.input.add_to(*command,
                                {"before", "input_format", "input_option", "allow_references", "local_only"});
  command->begin_group("Filter and quality");
  options->viewing.output.add_to(*command, {"after"});
  command->begin_group("Input");
  options->viewing.denoising.fields.add_to(*command);
  options->viewing.add_to(*command);
  command->callback([options](Console& console) { return preview(*options, console); });
}

}  // namespace limpid::app
