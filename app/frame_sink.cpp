#include "app/frame_sink.h"

#include <optional>
#include <utility>

namespace limpid::app {
namespace {

// A second's hiccup of the encoder or the disk is bridged at most rates.
constexpr std::size_t kQueuedFrames = 30;

}  // namespace

FrameSink::FrameSink(io::Writer writer)
    : writer_(std::move(writer)), queue_(kQueuedFrames), thread_([this] { run(); }) {}

FrameSink::~FrameSink() {
  queue_.cancel();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void FrameSink::run() {
  try {
    while (const std::optional<Frame> frame = queue_.pop()) {
      writer_.write(*frame);
      ++written_;
    }
  } catch (...) {
    error_ = std::current_exception();
    failed_ = true;
    queue_.cancel();
  }
}

void FrameSink::offer(const Frame& frame) {
  if (failed_) {
    std::rethrow_exception(error_);
  }
  if (!queue_.try_push(frame)) {
    ++dropped_;
  }
}

void FrameSink::finish() {
  queue_.close();
  thread_.join();
  if (failed_) {
    std::rethrow_exception(error_);
  }
  if (written_ > 0) {
    writer_.finish();
  }
}

}  // namespace limpid::app
