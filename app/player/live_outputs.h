// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "app/player/loopback.h"
#include "app/player/osd.h"
#include "app/player/recorder.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "io/media/writer.h"

namespace limpid::app {

/// The recordings and the loopback device of a live source. If one fails, the other one and the window
/// continue.
class LiveOutputs {
 public:
  /// `device`: of the loopback, which begins with the source if `loops_back` is set. `engine`: of the frames.
  LiveOutputs(RecorderOptions recordings, bool loops_back, std::string device,
              std::function<io::Writer(const std::string& device)> open_loopback,
              std::shared_ptr<Engine> engine);

  Recorder& recorder() { return recorder_; }
  Loopback& loopback() { return loopback_; }

  /// Opens the outputs of the command line. Throws Error.
  void begin();
  /// Opens and closes outputs at the user's request. On the thread that reads the source.
  void serve();
  /// For a frame in the memory of the host or of the engine. On one thread.
  void offer(const Frame& frame, const std::string& filter);

  /// True if an output of the command line accepts frames, or the command line has no output. On any thread.
  bool work() const;

  /// Warns in the log and in the window. On any thread.
  void warn(const std::string& text);
  /// The text for the window. On any thread.
  News take_news();

  /// Completes all files, even after failures, because the camera cannot deliver their frames again. Then
  /// throws `failure` or, without one, the first failure of an output. On any thread.
  void finish(std::exception_ptr failure);

 private:
  const bool records_;
  const bool loops_back_;
  Recorder recorder_;
  Loopback loopback_;
  const std::shared_ptr<Engine> engine_;
  std::mutex mutex_;
  News news_;
};

}  // namespace limpid::app
