#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "core/engine/denoiser.h"
#include "core/engine/leveler.h"
#include "core/engine/noise_tracker.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid {

/// The greatest level, in 8-bit code values.
inline constexpr float kMaxSigma = 255;

enum class PlaneChoice { kAll, kLuma, kChroma };

/// A noise model that the user gives.
struct NoiseProfile {
  NoiseModel noise;
  std::optional<ColorModel> color_model;  ///< of the frames that it is for; nothing: of any
  bool operator==(const NoiseProfile&) const = default;
};

/// What is asked for.
struct NoiseSettings {
  std::optional<NoiseProfile> noise;  ///< nothing: estimated from the frames
  /// Deviations are multiplied by it. Above 1, estimated ones also grow by (strength - 1) code values, so
  /// that noise that was hardly found, or not at all, can be removed, too.
  float strength = 1;
  PlaneChoice planes = PlaneChoice::kAll;

  bool operator==(const NoiseSettings&) const = default;
};

/// The noise with all deviations multiplied by `factor`, and `more` added; kMaxSigma at most.
NoiseModel scaled(const NoiseModel& noise, float factor, float more = 0);

enum class Latency : std::uint8_t {
  kLookAhead,  ///< levels wait for the frames that their estimate is made from
  kNone,       ///< each frame has its level at once, from the frames before and itself: live video
};

/// The level that NoiseSettings ask for, estimated or given.
class NoiseControl final : public Leveler {
 public:
  /// Is told the estimate for each frame but those that are context only.
  using Listener = std::function<void(const NoiseModel& estimate, const Frame& frame)>;

  /// `engine` looks at the frames if the level is to be estimated, and must outlive this.
  NoiseControl(const NoiseSettings& settings, Engine& engine, Listener listener = {},
               Latency latency = Latency::kLookAhead)
      : settings_(settings), tracker_(engine), listener_(std::move(listener)), latency_(latency) {}

  /// Throws UsageError if what is asked for doesn't go with frames of this format.
  void check(const FrameFormat& format) const;
  /// From now on. Whether levels are estimated must not change.
  void set(const NoiseSettings& settings) { settings_ = settings; }

  /// Frames that must be sent after one before its level is known, unless the stream is flushed.
  int look_ahead() const { return is_estimated() && latency_ == Latency::kLookAhead ? kLookAhead : 0; }
  /// The engine must be able to read the frame. Throws as check().
  void send(Frame frame) override;
  std::optional<LeveledFrame> receive() override;
  void flush() override;
  /// Of the last frame that was sent: as NoiseTracker::begins_scene(). Only where levels are estimated.
  bool begins_scene() const { return tracker_.begins_scene(); }
  /// The level of a frame by itself and the frames before. No other frame may wait for its level.
  NoiseModel level_for(const Frame& frame);

  /// Of the levels that frames were filtered with so far, but for those that are context only; for reports.
  struct Levels {
    NoiseModel first;
    NoiseModel mean;
    NoiseModel last;
  };
  Levels levels() const;
  /// The noise of the last frame that has a level, as it was estimated or given: before strengths and planes
  /// were chosen.
  const NoiseModel& found() const { return found_; }
  bool is_estimated() const override { return !settings_.noise; }

 private:
  // So that a scene has one estimate.
  static constexpr int kLookAhead = NoiseTracker::kFramesToAverage - 1;

  void observe(const Frame& frame);
  NoiseModel level_of(const Frame& frame);
  void level_first();

  NoiseSettings settings_;
  NoiseTracker tracker_;
  Listener listener_;
  Latency latency_;
  std::deque<Frame> waiting_;  // for their levels
  std::deque<LeveledFrame> leveled_;
  NoiseModel found_;
  NoiseModel first_, last_;
  std::array<double, 3> sums_{};
  std::int64_t frames_ = 0;
};

}  // namespace limpid
