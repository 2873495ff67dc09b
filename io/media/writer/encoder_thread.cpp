// SPDX-License-Identifier: MIT
#include "io/media/writer/encoder_thread.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "core/base/thread.h"
#include "io/media/output_file.h"

namespace limpid::io {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

std::atomic<bool> has_abandoned = false;

}  // namespace

bool has_abandoned_encoders() { return has_abandoned; }

/// Shared with the thread, which may outlive the EncoderThread.
struct EncoderThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_ptr<Encoder> encoder;
  std::function<void(Encoder&)> task;  ///< empty if the thread is idle
  std::exception_ptr failure;          ///< of the last task
  bool ends = false;
  bool is_abandoned = false;
};

EncoderThread::EncoderThread(std::unique_ptr<Encoder> encoder, std::chrono::milliseconds patience)
    : patience_(patience), state_(std::make_shared<State>()) {
  state_->encoder = std::move(encoder);
  thread_ = start_thread([state = state_] { serve(*state); });
}

EncoderThread::~EncoderThread() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
    if (!state_->is_abandoned) {
      state_->task = [](Encoder&) {};
    }
  }
  state_->changed.notify_all();
  if (!wait_until_idle()) {
    thread_.detach();
  }
}

void EncoderThread::serve(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.task != nullptr; });
    const bool ends = state.ends;
    lock.unlock();
    std::exception_ptr failure;
    if (ends) {
      state.encoder = nullptr;
    } else {
      try {
        state.task(*state.encoder);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    lock.lock();
    state.task = nullptr;
    state.failure = failure;
    state.changed.notify_all();
    if (ends) {
      return;
    }
  }
}

const Encoder& EncoderThread::encoder() const { return *state_->encoder; }

bool EncoderThread::wait_until_idle() {
  std::unique_lock lock(state_->mutex);
  const auto is_idle = [&] { return state_->task == nullptr; };
  while (!state_->is_abandoned && !state_->changed.wait_for(lock, kBetweenLooks, is_idle)) {
    state_->is_abandoned = outputs_interrupted_for(patience_);
    has_abandoned = has_abandoned || state_->is_abandoned;
  }
  return !state_->is_abandoned;
}

bool EncoderThread::run(std::function<void(Encoder&)> task) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_abandoned || outputs_interrupted_for(patience_)) {
      return false;
    }
    state_->task = std::move(task);
  }
  state_->changed.notify_all();
  if (!wait_until_idle()) {
    return false;
  }
  if (std::exception_ptr failure = std::exchange(state_->failure, nullptr)) {
    std::rethrow_exception(failure);
  }
  return true;
}

}  // namespace limpid::io
