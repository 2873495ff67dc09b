// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "app/player/frame_sink.h"
#include "app/player/osd.h"
#include "core/frame/frame.h"
#include "io/media/writer.h"

namespace limpid::app {

/// The camera for other programs, which the user may switch on and off. Thread-safe except for begin() and
/// serve(), which belong to the thread that reads the source, because io::Writer takes the properties of the
/// source from the reader.
class Loopback {
 public:
  /// `device`: of io::open_virtual_camera(); empty: the default one. `open` opens it, and throws Error.
  Loopback(std::string device, std::function<io::Writer(const std::string& device)> open)
      : device_(std::move(device)), open_(std::move(open)) {}

  /// Switches it on. Throws Error.
  void begin();
  /// Asks to switch it on or off. Returns a few words on that.
  std::string toggle();
  /// Does what has been asked for.
  void serve();
  void offer(const Frame& frame);

  bool is_on() const;
  /// True if finish() ended it.
  bool was_on() const { return was_on_; }
  /// The device, such as "/dev/video10"; empty if none is known yet.
  const std::string& node() const { return device_; }
  bool has_failed() const { return failed_; }
  /// The next event since the last call; without text if there is none.
  News take_news();
  /// Ends it. Throws what writing has thrown, unless it was switched on again.
  void finish();

 private:
  void end(const std::shared_ptr<FrameSink>& sink, const std::string& device);
  void tell(const std::string& text, bool is_failure);

  std::string device_;
  const std::function<io::Writer(const std::string& device)> open_;
  mutable std::mutex mutex_;
  bool asked_ = false;  ///< to change
  std::shared_ptr<FrameSink> sink_;
  std::atomic<bool> failed_ = false;
  News news_;
  std::exception_ptr failure_;
  bool was_on_ = false;
};

}  // namespace limpid::app
