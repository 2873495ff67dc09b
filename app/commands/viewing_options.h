#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "app/console/interrupt.h"
#include "app/console/logging.h"
#include "app/options/command_line.h"
#include "app/options/engine_options.h"
#include "app/options/field_options.h"
#include "app/options/filter_options.h"
#include "app/options/media_options.h"
#include "app/options/noise_options.h"
#include "app/player/player.h"
#include "app/player/viewer.h"
#include "core/engine/denoiser.h"
#include "io/media/reader.h"

namespace limpid::app {

/// The options that the commands with a window share, and what they make of them.
class ViewingOptions {
 public:
  EngineChoice engine;
  LoggingOptions logging;
  MediaOptions<io::ReaderOptions> input{reader_fields()};
  FieldOptions fields;
  io::ReaderOptions reader;
  bool json = false;
  /// The longest time that filters wait for later frames of a live source, in milliseconds.
  double latency_ms = 0;
  /// Set when the viewer is about to go: waiting for the source is then to end.
  std::atomic<bool> closing = false;

  /// Adds the options to `command`, which refers to this object from then on.
  void add_to(CommandLine& command);

  /// Checks whatever can be checked before anything is opened, and fills in reader.options. Throws
  /// UsageError.
  void check();
  /// Opens the engine and completes `reader`: its frames are in the memory of the engine, and it stops
  /// waiting for the source at an interrupt or when `closing` is set. `reader` keeps a reference to this
  /// object.
  std::shared_ptr<Engine> open_engine(const InterruptWatch& interrupts);
  /// Stages with make_denoiser() and the engine. They refer to this object. Only here do settings become a
  /// denoiser.
  PlayerStages stages(const std::shared_ptr<Engine>& engine, const io::Reader& source, bool live) const;
  PlayerOptions player_options(const io::Reader& source) const;
  /// `name`: what to call the source.
  ViewerOptions viewer_options(const io::Reader& source, const Engine& engine, const std::string& name) const;
  /// Reports how the run went (frames shown and dropped; with --json their intervals and latencies too) and
  /// returns the exit code.
  int tell(const ViewerReport& report, const InterruptWatch& interrupts) const;

 private:
  NoiseOptions noise_;
  FilterOptions filter_;
  DenoiseSettings settings_;  ///< to begin with, but for the filter; check() makes them of the options

  std::string quality_;
  std::string view_ = "split";
  int zoom_ = 0;
  double split_ = 0.5;
  double text_size_ = 1;
  std::string window_size_;
  bool full_screen_ = false;
  bool no_vsync_ = false;
  bool no_statistics_ = false;
  std::int64_t frames_ = 0;
  std::string screenshot_;
  std::string picture_folder_ = ".";
};

/// Sets ViewingOptions::closing when it is destroyed. Made after the viewer, it goes before the viewer does.
class ClosingNotice {
 public:
  explicit ClosingNotice(std::atomic<bool>& closing) : closing_(closing) {}
  ClosingNotice(const ClosingNotice&) = delete;
  ClosingNotice& operator=(const ClosingNotice&) = delete;
  ClosingNotice(ClosingNotice&&) = delete;
  ClosingNotice& operator=(ClosingNotice&&) = delete;
  ~ClosingNotice() { closing_ = true; }

 private:
  std::atomic<bool>& closing_;
};

}  // namespace limpid::app
