#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "core/engine/denoiser.h"
#include "core/engine/field_control.h"
#include "core/engine/noise_control.h"

namespace limpid {

/// A stream of frames through noise estimation and a filter: each frame is filtered with its own level, by
/// field where FieldControl decides so. One call at a time. Functions throw UsageError for frames or settings
/// that do not suit the stream, and Error for failures of the engine.
class DenoisingStream {
 public:
  DenoisingStream(std::shared_ptr<Engine> engine, const Filter& filter, const NoiseSettings& noise,
                  FieldChoice fields, const FrameFormat& format, Latency latency = Latency::kLookAhead);

  /// Takes the next frame, in the stream's format and in memory that the engine reads. With `result`, its
  /// result is written there: either all frames of the stream but those that are context only have one, or
  /// none has.
  void send(Frame frame, std::optional<Frame> result = {});
  /// The next result; nothing until more frames are sent or, after flush(), if there are no more.
  std::optional<Frame> receive() { return denoiser_->receive(); }
  /// Ends the stream: all results can be received, and no frame can be sent until reset().
  void flush();
  bool is_flushed() const { return is_flushed_; }
  /// Drops the frames under way and begins a new stream.
  void reset();

  /// For the frames to come; those with a level keep it.
  void set_noise(const NoiseSettings& noise);

  /// Frames that must be sent after one before its result can come.
  int latency() const { return noise_->look_ahead() + denoiser_->latency(); }
  /// Frames around its own that a result depends on, noise estimates apart.
  Reach reach() const { return FieldControl::reach_with(field_choice_, denoiser_->reach()); }
  /// The noise of the last frame that was given to the filter, as NoiseControl::found().
  std::optional<NoiseModel> found() const { return found_; }
  Engine& engine() const { return *engine_; }
  const Denoiser& denoiser() const { return *denoiser_; }
  const FrameFormat& format() const { return format_; }
  const Filter& filter() const { return filter_; }

 private:
  enum class Results : std::uint8_t { kNotKnown, kOwn, kGiven };

  void check(const Frame& frame) const;
  void choose_results(bool given);
  /// Gives the filter all frames that have a level.
  void pass_on();

  std::shared_ptr<Engine> engine_;
  FrameFormat format_;
  Filter filter_;
  NoiseSettings settings_;
  Latency latency_;
  FieldChoice field_choice_;
  std::optional<FieldControl> fields_;
  std::optional<NoiseControl> noise_;
  std::unique_ptr<Denoiser> denoiser_;
  NoiseModel level_;                          // of the denoiser
  std::deque<std::optional<Frame>> results_;  // of the frames that have no level yet
  std::optional<Frame> next_result_;          // of the frame that the denoiser is given
  Results kind_of_results_ = Results::kNotKnown;
  std::optional<NoiseModel> found_;
  bool is_flushed_ = false;
};

}  // namespace limpid
