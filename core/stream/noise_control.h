// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/not_copyable.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/noise_model.h"
#include "core/repair/repair.h"
#include "core/stream/noise_tracker.h"

namespace limpid {

/// The frames that are filtered by field.
enum class FieldChoice : std::uint8_t {
  kAuto,         ///< frames that are combed in many places; fewer places if they are flagged as interlaced
  kProgressive,  ///< none
  kInterlaced,   ///< all
};

/// Selects the frames of a stream that are filtered by field (Frame::interlaced), and those whose noise is
/// estimated by field (Frame::combed).
///
/// In areas without motion, and for chroma, filtering whole pictures has better results than filtering
/// fields, also for combed frames. Noise estimation would measure combing as noise, so it uses fields
/// wherever there may be combing.
///
/// Telecined film alternates between combed and complete frames. Temporal filters do not combine fields with
/// whole pictures. Therefore, after a frame filtered by field, the next kHold frames are also filtered by
/// field. After a combed frame, noise is estimated by field in the next kHold frames, because not all combing
/// is detected.
class FieldControl {
 public:
  /// Two cycles of 3:2 pulldown.
  static constexpr int kHold = 10;
  /// Minimum share of combed blocks in a frame that is filtered by field. Combed blocks of progressive video
  /// are often mistaken texture.
  static constexpr float kManyBlocks = 0.25F;
  static constexpr float kManyBlocksOfInterlaced = 0.07F;

  /// `reach`: the reach of the filter. `engine` reads the frames and must outlive this object.
  FieldControl(FieldChoice choice, const Reach& reach, Engine& engine)
      : choice_(choice), hold_(is_over_time(reach) ? kHold : 0), engine_(engine) {}

  /// The filter's reach, extended by the frames that the decisions depend on.
  static Reach reach_with(FieldChoice choice, Reach reach) {
    if (choice == FieldChoice::kAuto) {
      reach.before += 1 + (is_over_time(reach) ? kHold : 0);
    }
    return reach;
  }

  /// Sets the flags of the next frame of the stream. The first frame has none to be compared with: if it is
  /// flagged as interlaced, its rows alone decide, otherwise it is not filtered by field.
  void decide(Frame& frame);
  /// Begins a new stream.
  void reset();

 private:
  static bool is_over_time(const Reach& reach) { return reach.before > 0 || reach.after > 0; }
  float combed_share(const Frame& frame) const;

  FieldChoice choice_;
  int hold_;
  Engine& engine_;
  std::optional<Frame> before_;
  int by_field_ = 0;  ///< remaining frames to filter by field
  int combed_ = 0;    ///< remaining frames to mark as combed
};

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

enum class Latency : std::uint8_t {
  kLookAhead,  ///< a level waits for the frames that it is estimated from
  kNone,       ///< each frame has its level immediately, from itself and the frames before: live video
};

/// Noise settings of the user.
struct NoiseSettings {
  std::optional<NoiseProfile> noise;  ///< nothing: estimated from the frames
  /// Above 1, estimated levels also grow by (strength - 1) code values, so that noise that was barely or not
  /// detected can be removed.
  Strength strength = {};
  float mix = 0;  ///< share of the noisy frame in results, 0 to 1
  Repair repair = Repair::kOff;

  bool operator==(const NoiseSettings&) const = default;

  /// Throws UsageError if the settings do not match frames of this format, or need later frames that streams
  /// of this latency do not have.
  void check(const FrameFormat& format, Latency latency = Latency::kLookAhead) const;
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

/// The noise model of a frame, and its defects.
struct FrameLevel : NoiseModel {
  Defects defects = {};
  using NoiseModel::operator==;
  bool operator==(const FrameLevel&) const = default;
};

/// A frame, repaired if that was requested, and its level.
struct LeveledFrame {
  Frame frame;
  FrameLevel level;
  NoiseEstimate noise = {};  ///< as NoiseControl has estimated it or the user has given it
};

/// Gives each frame of a stream its noise model. One thread at a time.
class Leveler : NotCopyable {
 public:
  virtual ~Leveler() = default;

  /// Takes the next frame of the stream.
  virtual void send(Frame frame) = 0;
  /// The next frame with its level. Returns nothing until more frames are sent or the stream is flushed.
  virtual std::optional<LeveledFrame> receive() = 0;
  /// Ends the stream: all remaining frames can then be received.
  virtual void flush() = 0;
  /// True if levels are estimated, which takes time.
  virtual bool is_estimated() const = 0;
};

/// Levels that are known in advance, from a function that is called once per frame in order. Frames that are
/// repaired must be in host memory.
class GivenLevels final : public Leveler {
 public:
  /// `level_of`: returns a NoiseModel, or the FrameLevel of a frame to be repaired.
  template <typename LevelOf>
  explicit GivenLevels(LevelOf level_of, Repair repair = Repair::kOff)
      : level_of_([level_of = std::move(level_of)](const Frame& frame) mutable {
          return FrameLevel{level_of(frame)};
        }),
        repairer_(repair) {}

  void send(Frame frame) override {
    levels_.push_back(level_of_(frame));
    repairer_.send(std::move(frame), levels_.back().defects);
  }
  std::optional<LeveledFrame> receive() override {
    std::optional<Repairer::Item> item = repairer_.receive();
    if (!item) {
      return std::nullopt;
    }
    LeveledFrame result{std::move(item->frame), std::move(levels_.front())};
    levels_.pop_front();
    return result;
  }
  void flush() override { repairer_.flush(); }
  bool is_estimated() const override { return false; }

 private:
  std::function<FrameLevel(const Frame&)> level_of_;
  std::deque<FrameLevel> levels_;
  Repairer repairer_;
};

/// The noise level according to NoiseSettings, estimated or given, and the frames that are filtered by field.
class NoiseControl final : public Leveler {
 public:
  /// Receives the noise of each frame, estimated or given, and its level for the filter, except for frames
  /// that are context only.
  using Listener =
      std::function<void(const NoiseEstimate& noise, const NoiseModel& level, const Frame& frame)>;

  /// `engine` measures the frames if the level is estimated, and must outlive this object.
  NoiseControl(const NoiseSettings& settings, Engine& engine, Listener listener = {},
               Latency latency = Latency::kLookAhead)
      : engine_(engine), settings_(settings), listener_(std::move(listener)), latency_(latency) {
    begin();
  }
  /// Also marks frames by a FieldControl. `reach`: the reach of the filter.
  NoiseControl(const NoiseSettings& settings, FieldChoice fields, const Reach& reach, Engine& engine,
               Listener listener = {}, Latency latency = Latency::kLookAhead)
      : NoiseControl(settings, engine, std::move(listener), latency) {
    fields_.emplace(fields, reach, engine);
  }

  /// Sets the noise of later frames. If begins_with() the settings, no frame may be waiting for its level.
  void set(const NoiseSettings& settings);
  /// True if a new stream begins with these settings: with estimates instead of a given noise or the reverse,
  /// and with other repairs.
  bool begins_with(const NoiseSettings& settings) const {
    return settings.noise.has_value() == is_estimated() || settings.repair != settings_.repair;
  }
  /// Drops the frames without a level and begins a new stream.
  void reset();

  /// The number of later frames that must be sent before a frame's level is known, unless the stream is
  /// flushed.
  int look_ahead() const { return look_ahead(settings_, latency_); }
  static int look_ahead(const NoiseSettings& settings, Latency latency = Latency::kLookAhead) {
    return (!settings.noise && latency == Latency::kLookAhead ? kLookAhead : 0) +
           Repairer::look_ahead(settings.repair);
  }
  LevelGrid grid() const {
    if (!is_estimated() && !Repairer::is_measured(settings_.repair)) {
      return {};
    }
    return latency_ == Latency::kNone ? LevelGrid{0, 0}
                                      : LevelGrid{NoiseTracker::kSection, NoiseTracker::kBefore};
  }
  /// Takes the next frame, which the engine must be able to read. Throws UsageError as
  /// NoiseSettings::check() does.
  void send(Frame frame) override;
  /// Frames that are `level_only` are not returned.
  std::optional<LeveledFrame> receive() override;
  void flush() override;
  /// The level of a frame, from itself and the frames before. No other frame may be waiting for its level,
  /// and nothing may be repaired.
  NoiseModel level_for(const Frame& frame);

  /// Levels of all frames so far, except frames that are context only; for reports.
  struct Levels {
    NoiseModel first;
    NoiseModel mean;  ///< standard deviations only
    NoiseModel last;
  };
  const Levels& levels() const { return levels_; }
  /// The noise of the last frame that has a level, as estimated or given, without strength and choice of
  /// planes.
  const NoiseEstimate& found() const { return found_; }
  bool is_estimated() const override { return !settings_.noise; }
  Repair repair() const { return settings_.repair; }
  /// The repairs in all frames so far.
  const RepairCounts& repaired() const { return repairer_.counts(); }
  Latency latency() const { return latency_; }

 private:
  // Gives all frames of a scene one estimate.
  static constexpr int kLookAhead = NoiseTracker::kFramesToAverage - 1;

  void begin();
  void observe_repaired();
  NoiseModel level_of(const Frame& frame);
  void level_first();

  Engine& engine_;
  NoiseSettings settings_;
  std::optional<FieldControl> fields_;
  std::optional<NoiseTracker> tracker_;
  Repairer repairer_{Repair::kOff};
  Listener listener_;
  Latency latency_;
  std::deque<Repairer::Item> waiting_;  // frames without a level
  std::deque<LeveledFrame> leveled_;
  NoiseEstimate found_;
  Levels levels_;
  std::array<double, 3> sums_{};  // of the levels of the planes
  std::int64_t frames_ = 0;       // of levels_
};

}  // namespace limpid
