// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/engine/denoiser.h"
#include "core/engine/field_control.h"
#include "io/media/reader.h"

namespace limpid::app {

/// A camera, or another source of live frames. Waits for a camera that is absent or was unplugged, if
/// requested, and opens it again. All functions belong to the thread that reads, once it runs.
class LiveSource {
 public:
  struct Options {
    std::string name;          ///< of the device, or a filter graph
    io::ReaderOptions reader;  ///< with `interrupted`
    FieldChoice fields = FieldChoice::kAuto;
    bool waits = false;  ///< for a camera that is absent or was unplugged
  };

  /// Throws Error if the source cannot be opened, or if an interrupt ends the wait for it.
  LiveSource(Options options, Engine& engine);

  const io::Reader& reader() const { return *reader_; }

  /// The next item, when it is time for it. Throws Error if the camera is back with other pictures.
  io::Reader::Item read();

 private:
  using Clock = std::chrono::steady_clock;

  std::unique_ptr<io::Reader> open_first() const;
  void wait_for(const Frame& frame);
  bool reopen();

  const Options options_;
  std::unique_ptr<io::Reader> reader_;
  const Clock::time_point opened_at_ = Clock::now();
  const bool needs_pace_;
  std::optional<Clock::time_point> zero_;  ///< when the time of frames was 0, of a source that needs pace
  FieldControl fields_;
};

}  // namespace limpid::app
