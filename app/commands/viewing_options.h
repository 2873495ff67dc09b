// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/quality_ladder.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/options/command_line.h"
#include "app/options/engine_options.h"
#include "app/options/media_options.h"
#include "app/options/settings_options.h"
#include "app/player/player.h"
#include "app/player/viewer.h"
#include "core/base/not_copyable.h"
#include "core/engine/denoiser.h"
#include "io/media/reader.h"

namespace limpid::app {

/// The options shared by the commands with a window, and the objects made from them.
class ViewerCommandOptions {
 public:
  EngineChoice engine;
  LoggingOptions logging;
  MediaOptions<io::ReaderOptions> input{reader_fields()};
  MediaOptions<io::WriterOptions> output{writer_fields()};
  SettingsOptions denoising;
  io::ReaderOptions reader;
  std::string after;  ///< filters of pictures before they are shown, in ffmpeg's syntax
  bool json = false;
  bool overwrite = false;  ///< an existing screenshot or recording
  bool no_memory = false;
  std::string view = "split";  ///< name of the view at first; set before add_to()
  /// Set before the viewer is destroyed, to end a wait for the source.
  std::atomic<bool> closing = false;
  std::shared_ptr<io::Window> window;  ///< the previous source's window, which the next source reuses

  /// Number of frames after which the program ends; 0: the source ends it.
  std::int64_t frames() const { return shown_.frames; }

  /// Adds the options to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);

  /// Checks all options that can be checked before a file is opened, and fills in `reader` and `after`.
  /// Throws UsageError.
  void check();
  /// Uses the settings that were kept for a file of this format (remember()), unless options set any.
  void restore_settings(const std::string& file, const FrameFormat& format);
  /// Uses these settings from now on, as far as they suit the format.
  void use_settings(const PlayerSettings& settings, const FrameFormat& format);
  /// Why the options do not suit a file; empty if they do.
  std::string objection(const io::Reader& source) const;
  /// Keeps the settings for the next window on this file, if they differ from those that it began with.
  void remember(const std::string& file, const DenoisingSettings& settings) const;
  /// Opens the engine and completes `reader`: its frames are allocated in the memory of the engine, and it
  /// stops waiting for the source at an interrupt or when `closing` is set. `reader` keeps a reference to
  /// this object.
  std::shared_ptr<Engine> open_engine(const InterruptWatch& interrupts) {
    std::shared_ptr<Engine> opened = engine.open();
    reader.interrupted = [this, stop = interrupts.stop()] { return stop.stop_requested() || closing; };
    reader.allocate = frame_allocator(opened);
    return opened;
  }
  /// Stages with make_denoiser() and the engine.
  PlayerStages stages(const std::shared_ptr<Engine>& engine, const io::Reader& source, bool live);
  PlayerOptions player_options(const io::Reader& source) const;
  /// `name`: the name of the source in the window.
  ViewerOptions viewer_options(const io::Reader& source, const Engine& engine, const std::string& name) const;
  /// The words of the command line that denoises the file `input_path` with these settings,
  /// without its output: "limpid", "denoise", the input, and all options that differ from their defaults.
  /// Noise that no option can describe is stored as a profile in $XDG_STATE_HOME/limpid/noise, which the
  /// command line names. Throws Error if that fails.
  std::vector<std::string> denoise_command(const std::string& input_path, const PlayerSettings& settings,
                                           const Passage& passage) const;
  /// Keeps the measured speeds, and reports the outcome (frames shown and dropped; with --json also intervals
  /// and latencies), and returns the exit code. `command_line`: the line that repeats the last settings, or
  /// empty. `is_last`: no other source follows; only the last one has a report as JSON.
  int report(const ViewerReport& report, const std::string& command_line, const InterruptWatch& interrupts,
             bool is_last = true) const;

 private:
  void add_window_to(CommandLine& command);
  void add_scripts_to(CommandLine& command);
  /// Sets settings_ from the options.
  void resolve_settings() {
    const FilterOptions& filter = denoising.filter;
    filter.check();
    settings_.filter = {.name = "", .profile = filter.profile(), .parameters = filter.settings().parameters};
    settings_.noise = denoising.noise.settings();
  }
  /// Null without filters.
  std::shared_ptr<io::PictureFilter> picture_filter(const io::Reader& source) const {
    return after.empty() ? nullptr
                         : std::make_shared<io::PictureFilter>(
                               io::FilterChain("--after", after, reader.local_only), source);
  }

  PlayerSettings settings_;  ///< initial settings, without the filter; set by check()
  std::optional<PlayerSettings> carried_;
  std::shared_ptr<SpeedMemory> speeds_;  ///< of the source that is shown
  bool sets_any_ = false;                ///< an option sets the filter or the noise
  std::string notice_;                   ///< on the settings, for the window

  ViewerOptions shown_;  ///< as far as options set it
  std::string pace_;
  std::string window_size_;
  bool no_vsync_ = false;
  bool no_osd_ = false;
};

/// Sets ViewerCommandOptions::closing when destroyed. Constructed after the viewer, so that it is destroyed
/// first.
class ClosingNotice : NotCopyable {
 public:
  explicit ClosingNotice(std::atomic<bool>& closing) : closing_(closing) {}
  ~ClosingNotice() { closing_ = true; }

 private:
  std::atomic<bool>& closing_;
};

}  // namespace limpid::app
