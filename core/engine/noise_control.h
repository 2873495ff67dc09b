// SPDX-License-Identifier: MIT
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

/// Maximum noise level, in 8-bit code values.
inline constexpr float kMaxSigma = 255;

/// Factors of the noise level, 0 to 10. At 0, planes pass through unchanged.
struct Strength {
  float luma = 1;    ///< also of gray and RGB
  float chroma = 1;  ///< of U and V; other color models require the value of `luma`
  bool operator==(const Strength&) const = default;
};

/// A noise model given by the user.
struct NoiseProfile {
  NoiseModel noise;
  std::optional<ColorModel> color_model;  ///< color model of the video it was made from; nothing: any
  ChromaStrength chroma_strength{};
  bool operator==(const NoiseProfile&) const = default;
};

/// The estimate for a video of this color model as a profile.
inline NoiseProfile profile_of(const NoiseEstimate& estimate, ColorModel color_model) {
  return {static_cast<const NoiseModel&>(estimate), color_model, estimate.chroma_strength};
}

/// Noise settings of the user.
struct NoiseSettings {
  std::optional<NoiseProfile> noise;  ///< nothing: estimated from the frames
  /// Above 1, estimated levels also grow by (strength - 1) code values, so that noise that was barely or not
  /// detected can be removed.
  Strength strength = {};
  float mix = 0;  ///< share of the noisy frame in results, 0 to 1

  bool operator==(const NoiseSettings&) const = default;
};

enum class Latency : std::uint8_t {
  kLookAhead,  ///< a level waits for the frames that it is estimated from
  kNone,       ///< each frame has its level immediately, from itself and the frames before: live video
};

/// The frames that levels depend on: a stream that begins at a frame whose number in the video is a multiple
/// of `section` has the levels of the whole video from `before` frames later on. 0 and 0: on all earlier
/// frames.
struct LevelGrid {
  std::int64_t section = 1;
  std::int64_t before = 0;

  /// True for the number of a frame at which a stream may begin.
  bool may_begin(std::int64_t number) const { return number % section == 0; }
  /// The number of frames before a frame among which such a stream begins, even if times are not exact.
  std::int64_t lead() const { return before + 2 * section; }
};

/// The noise level according to NoiseSettings, estimated or given.
class NoiseControl final : public Leveler {
 public:
  /// Receives the noise of each frame, estimated or given, and its level for the filter, except for frames
  /// that are context only.
  using Listener =
      std::function<void(const NoiseEstimate& noise, const NoiseModel& level, const Frame& frame)>;

  /// `engine` measures the frames if the level is estimated, and must outlive this object.
  NoiseControl(const NoiseSettings& settings, Engine& engine, Listener listener = {},
               Latency latency = Latency::kLookAhead)
      : settings_(settings), tracker_(engine), listener_(std::move(listener)), latency_(latency) {}

  /// Throws UsageError if the settings do not match frames of this format.
  void check(const FrameFormat& format) const;
  /// Sets the noise of later frames. Must not switch between given and estimated levels.
  void set(const NoiseSettings& settings) { settings_ = settings; }

  /// The number of later frames that must be sent before a frame's level is known, unless the stream is
  /// flushed.
  int look_ahead() const { return look_ahead(settings_, latency_); }
  static int look_ahead(const NoiseSettings& settings, Latency latency = Latency::kLookAhead) {
    return !settings.noise && latency == Latency::kLookAhead ? kLookAhead : 0;
  }
  LevelGrid grid() const {
    if (!is_estimated()) {
      return {};
    }
    return latency_ == Latency::kNone ? LevelGrid{0, 0}
                                      : LevelGrid{NoiseTracker::kSection, NoiseTracker::kBefore};
  }
  /// Takes the next frame, which the engine must be able to read. Throws UsageError as check() does.
  void send(Frame frame) override;
  /// Frames that are `level_only` are not returned.
  std::optional<LeveledFrame> receive() override;
  void flush() override;
  /// NoiseTracker::begins_scene() of the last frame that was sent. Requires estimated levels.
  bool begins_scene() const { return tracker_.begins_scene(); }
  /// The level of a frame, from itself and the frames before. No other frame may be waiting for its level.
  NoiseModel level_for(const Frame& frame);

  /// Levels of all frames so far, except frames that are context only; for reports.
  struct Levels {
    NoiseModel first;
    NoiseModel mean;
    NoiseModel last;
  };
  Levels levels() const;
  /// The noise of the last frame that has a level, as estimated or given, without strength and choice of
  /// planes.
  const NoiseEstimate& found() const { return found_; }
  bool is_estimated() const override { return !settings_.noise; }

 private:
  // Gives all frames of a scene one estimate.
  static constexpr int kLookAhead = NoiseTracker::kFramesToAverage - 1;

  void observe(const Frame& frame);
  NoiseModel level_of(const Frame& frame);
  void level_first();

  NoiseSettings settings_;
  NoiseTracker tracker_;
  Listener listener_;
  Latency latency_;
  std::deque<Frame> waiting_;  // frames without a level
  std::deque<LeveledFrame> leveled_;
  NoiseEstimate found_;
  NoiseModel first_, last_;
  std::array<double, 3> sums_{};
  std::int64_t frames_ = 0;
};

}  // namespace limpid
