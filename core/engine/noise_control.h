#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "core/engine/denoiser.h"
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

/// The noise level to filter each frame of a stream with.
class NoiseControl {
 public:
  /// Is told the estimate for each frame but those that are context only.
  using Listener = std::function<void(const NoiseModel& estimate, const Frame& frame)>;

  /// `engine` looks at the frames if the level is to be estimated, and must outlive this.
  NoiseControl(const NoiseSettings& settings, Engine& engine, Listener listener = {})
      : settings_(settings), tracker_(engine), listener_(std::move(listener)) {}

  /// Throws UsageError if what is asked for doesn't go with frames of this format.
  void check(const FrameFormat& format) const;
  /// From now on. Whether levels are estimated must not change.
  void set(const NoiseSettings& settings) { settings_ = settings; }

  /// How many frames it is good to look ahead: so many should be observed behind one before its level
  /// is asked for, unless the stream ends.
  int look_ahead() const { return is_estimated() ? kLookAhead : 0; }
  /// Takes the next frame of the stream, which the engine can read.
  void observe(const Frame& frame);
  /// Of the last frame that was observed: as NoiseTracker::begins_scene(). Only where levels are estimated.
  bool begins_scene() const { return tracker_.begins_scene(); }
  /// The level for `frame`, the first that has been observed and hasn't been asked for yet. Throws as
  /// check().
  NoiseModel level_of(const Frame& frame);
  /// Both at once.
  NoiseModel level_for(const Frame& frame) {
    observe(frame);
    return level_of(frame);
  }

  /// Of the levels that frames were filtered with so far, but for those that are context only; for reports.
  struct Levels {
    NoiseModel first;
    NoiseModel mean;
    NoiseModel last;
  };
  Levels levels() const;
  /// The noise of the last frame whose level was asked for, as it was found or given: before strengths and
  /// planes were chosen.
  const NoiseModel& found() const { return found_; }
  bool is_estimated() const { return !settings_.noise; }

 private:
  // So that a scene has one estimate.
  static constexpr int kLookAhead = NoiseTracker::kFramesToAverage - 1;

  NoiseSettings settings_;
  NoiseTracker tracker_;
  Listener listener_;
  NoiseModel found_;
  NoiseModel first_, last_;
  std::array<double, 3> sums_{};
  std::int64_t frames_ = 0;
};

}  // namespace limpid
