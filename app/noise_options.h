#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/denoiser.h"
#include "core/frame.h"
#include "core/noise_estimation.h"
#include "core/parameters.h"

namespace limpid::app {

/// Parses the value of --sigma: one number for all planes, three separated by commas, or "auto" (nothing).
/// Throws UsageError.
std::optional<NoiseLevel> parse_sigma(const std::string& text);

/// The factor that a named strength scales sigma by: light 0.7, medium 1, strong 1.4. Throws UsageError.
float parse_strength(const std::string& name);

enum class PlaneChoice { kAll, kLuma, kChroma };

/// The noise level to filter each frame of a stream with, as the user has asked for it.
class NoiseControl {
 public:
  /// `sigma`: nothing estimates the level from the frames.
  NoiseControl(std::optional<NoiseLevel> sigma, float strength, PlaneChoice planes)
      : sigma_(sigma), strength_(strength), planes_(planes) {}

  /// The level for `frame`, the next of the stream, which the engine can read. Logs the estimate when it is
  /// new or has changed markedly.
  NoiseLevel level_for(const Frame& frame, Engine& engine);

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
