// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/engine/denoiser.h"
#include "core/engine/field_control.h"
#include "io/media/reader.h"

namespace limpid::app {

/// A camera, or another source of live frames. Waits for a camera that was unplugged, and opens it again. All
/// functions but trouble() belong to the thread that reads, once it runs.
class LiveSource {
 public:
  struct Options {
    std::string name;          ///< of the device, or a filter graph
    io::ReaderOptions reader;  ///< with `interrupted`
    FieldChoice fields = FieldChoice::kAuto;
    /// The window lets the user choose another camera. Without one, a camera may be absent at the start.
    bool has_window = true;
  };

  /// Throws Error if the source cannot be opened, or if an interrupt ends the wait for it.
  LiveSource(Options options, Engine& engine);

  const io::Reader& reader() const { return *reader_; }

  /// The next item, when it is time for it. Calls `while_gone` regularly while the camera is gone. Throws
  /// Error if there is no window and the camera is back with other pictures.
  io::Reader::Item read(const std::function<void()>& while_gone);
  /// Says that the camera is gone, for the window; empty otherwise. On any thread.
  std::string trouble() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::unique_ptr<io::Reader> open_first() const;
  void wait_for(const Frame& frame);
  bool reopen(const std::function<void()>& while_gone);
  void set_trouble(std::string text);

  const Options options_;
  std::unique_ptr<io::Reader> reader_;
  const Clock::time_point opened_at_ = Clock::now();
  const bool needs_pace_;
  std::optional<Clock::time_point> zero_;  ///< when the time of frames was 0, of a source that needs pace
  FieldControl fields_;
  mutable std::mutex mutex_;
  std::string trouble_;
};

}  // namespace limpid::app
