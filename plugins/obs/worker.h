// SPDX-License-Identifier: MIT
#pragma once

#include <obs.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "plugins/shared/denoiser.h"

namespace limpid::obs {

struct FreeFrame {
  void operator()(obs_source_frame* frame) const { obs_source_frame_destroy(frame); }
};
using OwnFrame = std::unique_ptr<obs_source_frame, FreeFrame>;

/// True if frames of the format can be denoised.
bool is_known(video_format format);

/// Denoises frames on its own thread, one at a time.
class Worker : plugins::NotCopyable {
 public:
  Worker();
  /// Waits until the current frame is denoised.
  ~Worker();

  /// Sets the settings for all later frames.
  void set(const plugins::Settings& settings);
  /// Denoises `frame` in place if that takes at most `nanoseconds`. Leaves the frame unchanged if it takes
  /// longer, or while an earlier frame is still in progress. One call at a time, on any thread.
  void filter(obs_source_frame& frame, std::uint64_t nanoseconds);

 private:
  enum class State : std::uint8_t { kIdle, kGiven, kDone, kFailed, kEnded };

  // Runs on the worker's thread.
  void run();
  void denoise(const plugins::Settings& settings);
  void tell_late();

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  plugins::Settings settings_;
  bool told_late_ = false;
  OwnFrame frame_;  ///< owned by the thread in state kGiven, by filter() otherwise

  plugins::Denoiser denoiser_;  ///< used by the thread only

  std::thread thread_;
};

}  // namespace limpid::obs
