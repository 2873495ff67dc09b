// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "core/engine/denoiser.h"
#include "core/engine/frame_control.h"

namespace limpid {

/// A stream of frames through noise estimation and a filter. Each frame is filtered with its own noise level,
/// and by field if FieldControl selects it. One call at a time. Functions throw UsageError for frames or
/// settings that do not match the stream, and Error for failures of the engine.
class DenoisingStream {
 public:
  DenoisingStream(std::shared_ptr<Engine> engine, const Filter& filter, const NoiseSettings& noise,
                  FieldChoice fields, const FrameFormat& format, Latency latency = Latency::kLookAhead);

  /// Takes the next frame, in the stream's format and in memory that the engine reads. `result` is the frame
  /// for its result. Either all frames of the stream have a `result`, except those that are context only, or
  /// none has.
  void send(Frame frame, std::optional<Frame> result = {});
  /// The next result. Returns nothing if more frames are required or, after flush(), at the end.
  std::optional<Frame> receive();
  /// Denoiser::cancel(). May be called on any thread during receive(); reset() must follow.
  void cancel() { denoiser_->cancel(); }
  /// Ends the stream: all results can then be received. No frame may be sent until reset().
  void flush();
  bool is_flushed() const { return is_flushed_; }
  /// Drops the frames in progress and begins a new stream.
  void reset();

  /// Sets the noise of later frames. Frames that already have a level keep it.
  void set_noise(const NoiseSettings& noise);

  /// The number of later frames that must be sent before a frame's result is available.
  int latency() const { return control_->noise().look_ahead() + denoiser_->latency(); }
  /// NoiseControl::grid().
  LevelGrid level_grid() const { return control_->noise().grid(); }
  /// The neighboring frames on which the result of a frame depends, apart from noise estimates.
  Reach reach() const { return FieldControl::reach_with(fields_, denoiser_->reach()); }
  /// The noise of the last frame that was passed to the filter, as NoiseControl::found() returns it.
  const std::optional<NoiseEstimate>& found() const { return found_; }
  /// The noise of the frame whose result was received last.
  const std::optional<NoiseEstimate>& found_of_result() const { return found_of_result_; }
  Engine& engine() const { return *engine_; }
  const Denoiser& denoiser() const { return *denoiser_; }
  const FrameFormat& format() const { return format_; }
  const Filter& filter() const { return filter_; }

 private:
  enum class Results : std::uint8_t { kNotKnown, kOwn, kGiven };
  struct Sent {
    std::optional<Frame> result;  // the frame for its result
    bool behind_gap = false;      // the denoiser lacks the frame before
  };

  void check(const Frame& frame) const;
  void choose_results(bool given);
  /// Passes all frames that have a level to the filter.
  void pass_on();

  std::shared_ptr<Engine> engine_;
  FrameFormat format_;
  Filter filter_;
  FieldChoice fields_;
  std::unique_ptr<Denoiser> denoiser_;
  std::optional<FrameControl> control_;
  NoiseModel level_;                  // current level of the denoiser
  std::deque<Sent> sent_;             // the frames without a level
  std::optional<Frame> next_result_;  // result frame of the frame that is being sent to the denoiser
  Results kind_of_results_ = Results::kNotKnown;
  std::optional<NoiseEstimate> found_, found_of_result_;
  std::deque<NoiseEstimate> founds_;  // of the results to come
  bool has_gap_ = false;              // the denoiser lacks the last frame
  bool is_flushed_ = false;
};

}  // namespace limpid
