#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "app/bounded_queue.h"
#include "core/frame.h"
#include "io/writer.h"

namespace limpid::app {

/// Writes frames on a thread of its own and never holds up who offers them: what the writer is too slow for
/// is dropped and counted.
class FrameSink {
 public:
  explicit FrameSink(io::Writer writer);
  FrameSink(const FrameSink&) = delete;
  FrameSink& operator=(const FrameSink&) = delete;
  FrameSink(FrameSink&&) = delete;
  FrameSink& operator=(FrameSink&&) = delete;
  /// Without finish() nothing is left of what was written.
  ~FrameSink();

  /// Throws what writing an earlier frame has thrown.
  void offer(const Frame& frame);
  /// Writes what has been offered and completes the file.
  void finish();

  std::int64_t written() const { return written_; }
  std::int64_t dropped() const { return dropped_; }

 private:
  void run();

  io::Writer writer_;
  BoundedQueue<Frame> queue_;
  std::atomic<std::int64_t> written_ = 0;
  std::atomic<std::int64_t> dropped_ = 0;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  ///< set before failed_
  std::thread thread_;
};

}  // namespace limpid::app
