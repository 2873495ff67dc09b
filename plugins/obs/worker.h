#pragma once

#include <limpid.h>
#include <obs.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace limpid::obs {

struct FreeFrame {
  void operator()(obs_source_frame* frame) const { obs_source_frame_destroy(frame); }
};
using OwnFrame = std::unique_ptr<obs_source_frame, FreeFrame>;

/// Whether frames of the format can be denoised.
bool is_known(video_format format);

/// Denoises frames on a thread of its own, one at a time.
class Worker {
 public:
  /// By the settings' names; those with an empty value are left out.
  using Settings = std::map<std::string, std::string>;

  Worker() : thread_([this] { run(); }) {}
  Worker(const Worker&) = delete;
  Worker(Worker&&) = delete;
  Worker& operator=(const Worker&) = delete;
  Worker& operator=(Worker&&) = delete;
  /// Waits for the frame that is being denoised.
  ~Worker();

  /// From the next frame on.
  void set(const Settings& settings);
  /// Denoises `frame` where it is, if that takes no longer than `nanoseconds`. Otherwise, or while an earlier
  /// frame still takes its time, it stays as it is. Any thread; one call at a time.
  void filter(obs_source_frame& frame, std::uint64_t nanoseconds);

 private:
  struct FreeDenoiser {
    void operator()(limpid_denoiser* denoiser) const { limpid_free(&denoiser); }
  };
  enum class State : std::uint8_t { kIdle, kGiven, kDone, kFailed, kEnded };

  // Of its thread. They throw std::runtime_error with a sentence for the user.
  void run();
  void denoise(const Settings& settings);
  void start(const Settings& settings);
  void check(limpid_status status) const;
  void tell_late();

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  Settings settings_;
  bool told_late_ = false;
  OwnFrame frame_;  ///< of the thread in kGiven, of filter() otherwise

  // Of its thread.
  std::unique_ptr<limpid_denoiser, FreeDenoiser> denoiser_;
  Settings taken_;
  video_format format_ = VIDEO_FORMAT_NONE;
  std::uint32_t width_ = 0;
  std::uint32_t height_ = 0;

  std::thread thread_;
};

}  // namespace limpid::obs
