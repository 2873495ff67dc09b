// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid {

/// A frame and its noise model.
struct LeveledFrame {
  Frame frame;
  NoiseModel level;
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

/// Levels that are known in advance, from a function that is called once per frame in order.
class GivenLevels final : public Leveler {
 public:
  explicit GivenLevels(std::function<NoiseModel(const Frame&)> level_of) : level_of_(std::move(level_of)) {}

  void send(Frame frame) override { frames_.push_back(std::move(frame)); }
  std::optional<LeveledFrame> receive() override {
    if (frames_.empty()) {
      return std::nullopt;
    }
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    const NoiseModel level = level_of_(frame);
    return LeveledFrame{std::move(frame), level};
  }
  void flush() override {}
  bool is_estimated() const override { return false; }

 private:
  std::function<NoiseModel(const Frame&)> level_of_;
  std::deque<Frame> frames_;
};

}  // namespace limpid
