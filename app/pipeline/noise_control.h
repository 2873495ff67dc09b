#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/engine/denoiser.h"
#include "core/engine/noise_tracker.h"
#include "core/frame/frame.h"
#include "core/noise/noise_level.h"

namespace limpid::app {

/// The greatest level, in 8-bit code values.
inline constexpr float kMaxSigma = 255;

enum class PlaneChoice { kAll, kLuma, kChroma };

/// The noise level to filter each frame of a stream with, as the user has asked for it.
class NoiseControl {
 public:
  /// `sigma`: nothing estimates the level from the frames, with `engine`, which must outlive this.
  NoiseControl(std::optional<NoiseLevel> sigma, float strength, PlaneChoice planes, Engine& engine)
      : sigma_(sigma), strength_(strength), planes_(planes), tracker_(engine) {}

  /// The level for `frame`, the next of the stream, which the engine can read. Logs the estimate when it is
  /// new or has changed markedly.
  NoiseLevel level_for(const Frame& frame);

  /// Of the levels that frames were filtered with so far, for reports.
  struct Levels {
    NoiseLevel first;
    NoiseLevel mean;
    NoiseLevel last;
  };
  Levels levels() const;
  bool is_estimated() const { return !sigma_; }

 private:
  void report(const NoiseLevel& estimate, const Frame& frame);

  std::optional<NoiseLevel> sigma_;
  float strength_;
  PlaneChoice planes_;
  NoiseTracker tracker_;
  std::optional<NoiseLevel> reported_;
  NoiseLevel first_, last_;
  std::array<double, 3> sums_{};
  std::int64_t frames_ = 0;
};

}  // namespace limpid::app
