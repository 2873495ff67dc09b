// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/settings/filter_settings.h"
#include "core/settings/noise_settings.h"
#include "core/stream/stream.h"
#include "lib/include/limpid.h"

/// Memory of the library that a caller uses.
struct limpid_buffer {
  limpid::Frame frame;
};

// Conversions between callers' frames and engines' frames.

namespace limpid::lib {

/// Throws UsageError for an invalid format.
FrameFormat to_format(const limpid_format& format);

/// Throws a UsageError that names the plane unless `frame` has valid rows of `format`.
void check_planes(const limpid_frame& frame, const FrameFormat& format);

/// Both copy samples between a caller's frame in host memory, checked by check_planes(), and a frame of the
/// library.
void copy_in(const limpid_frame& from, Frame& to);
void copy_out(const Frame& from, const limpid_frame& to);

/// A frame of the caller that the library uses. Calls `release` of the frame once, when destroyed.
class BorrowedFrame {
 public:
  /// Does nothing for NULL, or for a frame whose struct_size is wrong.
  explicit BorrowedFrame(const limpid_frame* frame);
  BorrowedFrame(const BorrowedFrame&) = delete;
  BorrowedFrame(BorrowedFrame&& other) noexcept;
  BorrowedFrame& operator=(const BorrowedFrame&) = delete;
  BorrowedFrame& operator=(BorrowedFrame&&) = delete;
  ~BorrowedFrame();

 private:
  void (*release_)(void*) = nullptr;
  void* data_ = nullptr;
};

/// Limit of struct_size; no version has larger structs.
inline constexpr std::size_t kMostStructSize = 4096;

/// A view of a caller's frame, or of the memory for a result, in device memory. It owns `borrowed`.
Frame callers_frame(const limpid_frame& frame, const FrameFormat& format, BorrowedFrame&& borrowed);

/// Copies `flags`, `pts` and `user` from the caller's frame to an engine's frame, and from its result to the
/// caller's.
void copy_properties(const limpid_frame& from, Frame& to);
void copy_properties(const Frame& from, limpid_frame& to);

/// Passes `frame` to the caller, in memory of the library.
limpid_frame lend(Frame frame);

/// Maximum number of threads of the CPU engine.
inline constexpr int kMostThreads = 1024;

/// Thrown for a call that the state of the denoiser does not permit.
class OutOfTurn : public Error {
 public:
  using Error::Error;
};

/// An engine that is opened on first use. Thread-safe.
class SharedEngine {
 public:
  SharedEngine(std::string name, int threads) : name_(std::move(name)), threads_(threads) {}
  /// Throws as EngineRegistry::open() does.
  std::shared_ptr<Engine> get();

 private:
  std::mutex mutex_;
  std::string name_;
  int threads_;
  std::shared_ptr<Engine> engine_;
};

/// The contents of a limpid_denoiser: its settings by name, and its stream. Functions throw UsageError for
/// illegal settings or frames, and Error for failures. One call at a time.
class Session : NotCopyable {
 public:
  /// `engine`: null if the session opens its own engine, selected by the settings.
  explicit Session(std::shared_ptr<SharedEngine> engine) : shared_engine_(std::move(engine)) {}
  ~Session() = default;

  /// Sets a setting. Without a value, resets the setting to its default.
  void set(const std::string& name, const std::optional<std::string>& value);
  /// The engine that the settings select.
  std::shared_ptr<Engine> open_engine();

  /// Begins a stream with the current settings.
  void start(const FrameFormat& format);
  /// The stream. Throws OutOfTurn before start().
  DenoisingStream& stream();
  /// Takes the next frame of the stream. Throws OutOfTurn after its end.
  void send(Frame frame, std::optional<Frame> result);
  /// The noise of the last frame that was passed to the filter, or whose result was received.
  std::optional<NoiseProfile> noise(bool of_result) const;
  /// Ends a DenoisingStream::receive() in progress on another thread.
  void cancel();

 private:
  bool set_noise(const std::string& name, const std::optional<std::string>& value);
  void set_all(const std::optional<std::string>& value);
  void apply(const NoiseChoice& noise);

  FilterSettings filter_settings_;
  NoiseChoice noise_;
  std::string engine_name_ = "auto";
  int threads_ = 0;
  FieldChoice fields_ = FieldChoice::kAuto;
  bool live_ = false;
  std::shared_ptr<SharedEngine> shared_engine_;
  std::shared_ptr<SharedEngine> own_engine_;  // of the settings; null: not open yet
  std::unique_ptr<DenoisingStream> stream_;
};

}  // namespace limpid::lib
