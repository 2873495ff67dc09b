// SPDX-License-Identifier: MIT
#include "app/player/frame_sink.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "app/console/logging.h"
#include "app/console/quantity_text.h"
#include "app/pipeline/broken_off.h"
#include "core/base/error.h"
#include "core/base/thread.h"

namespace limpid::app {
namespace {

// A second's hiccup of the encoder or the disk is bridged at most rates.
constexpr std::size_t kQueuedFrames = 30;

}  // namespace

FrameSink::FrameSink(io::Writer writer)
    : writer_(std::move(writer)), queue_(kQueuedFrames), thread_(start_thread([this] { run(); })) {}

FrameSink::~FrameSink() {
  if (!closed_) {
    queue_.cancel();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void FrameSink::run() {
  try {
    write_all();
  } catch (const Error& error) {
    fail(written_ > 0 ? keep_the_beginning(error) : std::current_exception());
  } catch (...) {
    fail(std::current_exception());
  }
  if (closed_ && !failed_ && written_ > 0) {
    try {
      finish_in_time();
    } catch (const io::DiskFull& error) {
      fail(keep_the_beginning(error));
    } catch (...) {
      fail(std::current_exception());
    }
  }
  ended_ = true;
}

void FrameSink::write_all() {
  double begin = 0;
  while (const auto item = queue_.pop()) {
    const Frame* const frame = std::get_if<Frame>(&*item);
    if (frame == nullptr) {
      writer_.write(*std::get<std::shared_ptr<io::Packet>>(*item));
      continue;
    }
    writer_.write(*frame);
    const double time = io::presentation_time(*frame).value_or(0);
    begin = written_ == 0 ? time : begin;
    seconds_ = time - begin;
    ++written_;
  }
}

/// After an interrupt, what is encoded in time is kept.
void FrameSink::finish_in_time() {
  if (writer_.drain()) {
    return writer_.finish();
  }
  const std::int64_t left = written_ - writer_.frames_written();
  throw Error(fmt::format("interrupted: {} lacks {} frames that the encoder had not finished in time",
                          writer_.finish_partial(), left));
}

void FrameSink::fail(std::exception_ptr error) {
  queue_.cancel();
  error_ = std::move(error);
  failed_ = true;
}

std::exception_ptr FrameSink::keep_the_beginning(const Error& failure) {
  try {
    return std::make_exception_ptr(broken_off(writer_, failure.what()));
  } catch (const Error&) {
    return std::make_exception_ptr(failure);
  } catch (...) {  // out of memory: nothing may leave the thread
    return std::current_exception();
  }
}

void FrameSink::offer(const Frame& frame, const std::string& filter) {
  if (!queue_.try_push(frame)) {
    ++dropped_;
  } else if (!filter.empty()) {
    const std::scoped_lock lock(counting_);
    ++filters_[filter];
  }
}

void FrameSink::offer(std::shared_ptr<io::Packet> packet) {
  constexpr std::size_t kNoCost = 0;  // packets are small
  queue_.try_push(std::move(packet), kNoCost);
}

std::string FrameSink::frames_text(const std::string& name) const {
  std::string text = fmt::format("{} frames to {}", written_.load(), name);
  if (dropped_ > 0) {
    text += fmt::format(", {} dropped as it was too slow", dropped_.load());
  }
  const std::scoped_lock lock(counting_);
  if (filters_.size() > 1) {
    text += fmt::format(" ({})", to_text(filters_));
  }
  return text;
}

void FrameSink::log_frames(const std::string& name) const { spdlog::info(frames_text(name)); }

void FrameSink::close() {
  closed_ = true;
  queue_.close();
}

void FrameSink::finish() {
  close();
  const std::scoped_lock lock(finishing_);
  if (thread_.joinable()) {
    thread_.join();
    for (const io::Diagnostic& diagnostic : writer_.diagnostics()) {
      if (diagnostic.kind == io::Diagnostic::Kind::kLateLoss) {
        spdlog::warn(diagnostic.text);
      }
    }
  }
  if (failed_) {
    std::rethrow_exception(error_);
  }
}

std::string recording_sign(const FrameSink& sink) {
  return sink.has_failed() ? "RECORDING FAILED"
                           : fmt::format("REC {} {:.1f} MB", time_text(sink.seconds(), false),
                                         static_cast<double>(sink.bytes()) / 1e6);
}

}  // namespace limpid::app
