#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engine/noise_control.h"
#include "core/settings/filter_settings.h"

namespace limpid::lib {

/// Of the CPU engine.
inline constexpr int kMostThreads = 1024;

/// A call out of turn.
class OutOfTurn : public Error {
 public:
  using Error::Error;
};

/// An engine that is opened when it is first asked for. Thread-safe.
class SharedEngine {
 public:
  SharedEngine(std::string name, int threads) : name_(std::move(name)), threads_(threads) {}
  /// Throws as EngineRegistry::open().
  std::shared_ptr<Engine> get();

 private:
  std::mutex mutex_;
  std::string name_;
  int threads_;
  std::shared_ptr<Engine> engine_;
};

/// What is behind a limpid_denoiser: its settings, and a stream of frames through the filter that they name,
/// each with its own level of noise. All throw UsageError for what could never work and Error for what has
/// failed. One call at a time.
class Session {
 public:
  /// Null: an engine of its own, by the settings.
  explicit Session(std::shared_ptr<SharedEngine> engine) : shared_engine_(std::move(engine)) {}
  Session(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(const Session&) = delete;
  Session& operator=(Session&&) = delete;
  ~Session() = default;

  /// Nothing unsets it.
  void set(const std::string& name, const std::optional<std::string>& value);
  /// The engine that the settings choose.
  std::shared_ptr<Engine> open_engine();

  void start(const FrameFormat& format);
  bool is_started() const { return denoiser_ != nullptr; }
  void require_start() const;

  /// These need a start; all but the last two throw OutOfTurn without.
  void send(Frame frame, std::optional<Frame> result);
  /// Nothing if more frames are needed or, if ended(), there are no more.
  std::optional<Frame> receive();
  bool ended() const { return flushed_; }
  void flush();
  void reset();
  Engine& engine() const { return *engine_; }
  const Denoiser& denoiser() const { return *denoiser_; }

  const FrameFormat& format() const { return format_; }
  const Filter& filter() const { return filter_; }
  /// Later frames that must be sent before a result can come.
  int latency() const { return look_ahead() + denoiser_->latency(); }
  /// Of the frame that was last given to the filter.
  std::optional<NoiseProfile> noise() const;

 private:
  struct Ahead {
    Frame frame;
    std::optional<Frame> result;
  };
  // Frames that are observed before the first of them is given to the denoiser.
  int look_ahead() const { return live_stream_ ? 0 : noise_->look_ahead(); }

  enum class Results : std::uint8_t { kNotKnown, kOwn, kGiven };

  bool set_noise(const std::string& name, const std::optional<std::string>& value);
  void change_noise(const NoiseSettings& settings);
  void pass_on_first();
  void pass_on_all();

  FilterSettings filter_settings_;
  NoiseSettings noise_settings_;
  std::string engine_name_ = "auto";
  int threads_ = 0;
  bool live_ = false;

  std::shared_ptr<SharedEngine> shared_engine_;
  std::shared_ptr<SharedEngine> own_engine_;  // of the settings; null: to be opened
  // The stream.
  std::shared_ptr<Engine> engine_;
  FrameFormat format_;
  Filter filter_;
  std::unique_ptr<Denoiser> denoiser_;
  std::optional<NoiseControl> noise_;
  NoiseModel level_;
  bool live_stream_ = false;
  std::deque<Ahead> ahead_;  // observed, but not given to the denoiser
  std::optional<Frame> next_result_;
  Results results_ = Results::kNotKnown;
  std::optional<NoiseModel> found_;  // of the last frame that was
  bool flushed_ = false;
};

}  // namespace limpid::lib
