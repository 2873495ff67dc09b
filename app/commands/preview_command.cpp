// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "app/commands/command.h"
#include "app/commands/viewing_options.h"
#include "app/console/diagnostics.h"
#include "app/console/interrupt.h"
#include "core/base/error.h"
#include "core/engine/field_control.h"
#include "io/screen/audio_output.h"

namespace limpid::app {
namespace {

struct PreviewOptions {
  std::string input;
  bool loop = false;
  bool close_at_end = false;
  bool no_audio = false;
  ViewerCommandOptions viewing;
};

ViewerOptions file_viewer_options(PreviewOptions& options, const io::Reader& reader, Engine& engine) {
  ViewerCommandOptions& viewing = options.viewing;
  const std::string name =
      options.input == "-" ? "standard input" : std::filesystem::path(options.input).filename().string();
  ViewerOptions result = viewing.viewer_options(reader, engine, name);
  result.loop = options.loop;
  result.keep_open = !options.close_at_end && result.frames == 0;
  result.input = options.input;
  if (options.input != "-") {
    result.command = [&viewing, &options](const PlayerSettings& settings, const Passage& passage) {
      return viewing.denoise_command(options.input, settings, passage);
    };
  }
  result.refuse_file = [&viewing, &engine](const std::string& path) -> std::string {
    try {
      const io::Reader tried(path, viewing.reader);
      return viewing.objection(tried, engine);
    } catch (const Error& error) {
      return error.what();
    }
  };
  return result;
}

// The window on one file. Returns the file to show next; empty if there is none.
std::string show_file(PreviewOptions& options, const std::shared_ptr<Engine>& engine,
                      InterruptWatch& interrupts, int& exit_code) {
  ViewerCommandOptions& viewing = options.viewing;
  io::Reader reader(options.input, viewing.reader);
  viewing.restore_settings(options.input, reader.video().format, *engine);
  if (const std::string why = viewing.objection(reader, *engine); !why.empty()) {
    throw UsageError(why);
  }
  PlayerStages stages = viewing.stages(engine, reader, false);
  // The filter can change during playback.
  FieldControl fields(viewing.denoising.fields.choice(), {.before = 1, .after = 1}, *engine);
  stages.read = [&reader, &fields] {
    io::Reader::Item item = reader.read();
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      fields.decide(*frame);
    }
    return item;
  };
  if (reader.can_seek()) {
    stages.seek = [&reader, &fields](double seconds, double before, const std::function<bool()>& given_up,
                                     const std::function<void(Frame)>& glimpse) {
      reader.seek(seconds, before, given_up, glimpse);
      fields.reset();
    };
  }
  ViewerOptions viewer_options = file_viewer_options(options, reader, *engine);
  const bool scripted = !viewer_options.screenshot.empty();
  std::unique_ptr<io::AudioOutput> audio;
  if (!options.no_audio && !scripted) {
    std::string why;
    audio = io::AudioOutput::open(reader, viewing.reader, why);
    if (!why.empty()) {
      spdlog::info(fmt::format("no audio: {}", why));
    }
  }
  std::string next;
  {
    Viewer viewer(std::move(viewer_options), std::move(stages), viewing.player_options(reader));
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
  InterruptWatch interrupts;
  const std::shared_ptr<Engine> engine = viewing.open_engine(interrupts);
  int exit_code = kExitDone;
  bool is_first = true;
  for (std::string next = options.input; !next.empty();) {
    options.input = next;
    viewing.closing = false;
    if (!is_first) {  // they describe the first file
      viewing.reader.input_format.clear();
      viewing.reader.options.clear();
    }
    is_first = false;
    next = show_file(options, engine, interrupts, exit_code);
  }
  viewing.window.reset();
  return exit_code;
}

}  // namespace

void add_preview_command(CommandLine& program, Command& selected) {
  CommandLine* command =
      program.add_subcommand("preview", "Play a video in a window, noisy and denoised side by side");
  auto options = std::make_shared<PreviewOptions>();
  constexpr const char* kPlaying = "Playing";
  command->add_option("INPUT", options->input, "File, image sequence (%03d) or - for a pipe")
      ->required()
      ->file();
  command->add_flag("--loop", options->loop, "Repeat the video")->group(kPlaying);
  command->add_flag("--close-at-end", options->close_at_end, "Close the window after the last frame")
      ->group(kPlaying);
  command->add_flag("--no-audio", options->no_audio, "Do not play audio")->group(kPlaying);
  command
      ->add_flag("--no-memory", options->viewing.no_memory,
                 "Neither use nor keep the settings that were last chosen for this file")
      ->group(kPlaying);
  command->add_flag("-y,--overwrite", options->viewing.overwrite, "Overwrite an existing screenshot")
      ->group("For scripts");
  options->viewing.input.add_to(*command, "Input",
                                {"before", "input_format", "input_option", "allow_references", "local_only"});
  options->viewing.output.add_to(*command, "Filter and quality", {"after"});
  options->viewing.denoising.fields.add_to(*command, "Input");
  options->viewing.add_to(*command);
  command->callback([&selected, options] {
    selected = [options](Console& console) { return preview(*options, console); };
  });
}

}  // namespace limpid::app
