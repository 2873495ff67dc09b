#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engine/residual_check.h"
#include "core/frame/frame.h"
#include "core/noise/brightness_histogram.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"

namespace limpid {

/// Follows the noise of a stream. What the first frames of a scene tell, each by itself and by its
/// differences from the frames before it, is summed up; then the model is held and only checked from time to
/// time, which keeps it steady and nearly free. Summing up starts again at a scene cut and when several
/// checks in a row say that the noise has changed. Deterministic. Holds the last frame.
class NoiseTracker {
 public:
  /// How many frames of a scene are summed up, unless asked otherwise.
  static constexpr int kFramesToAverage = 6;
  /// Pictures less wide or high than this tell too little.
  static constexpr int kLeastSide = 64;
  /// One of so many frames is a check, once the model is held: by its number in the scene.
  static constexpr std::int64_t kCheckInterval = 8;

  /// `engine` looks at the frames, and must outlive this.
  explicit NoiseTracker(Engine& engine, int frames_to_average = kFramesToAverage)
      : engine_(engine), check_(engine), frames_to_average_(frames_to_average) {}

  /// Takes the next frame of the stream, which the engine can read. All frames must have one format.
  void observe(const Frame& frame);
  /// Whether the last frame that was observed began a scene, as the very first one does.
  bool begins_scene() const { return begins_scene_; }
  /// The noise of the first frame that has been observed and hasn't been asked for yet, as far as is known:
  /// the more frames of its scene have been observed by now, the better. Needs such a frame.
  NoiseModel take();
  /// Both at once.
  NoiseModel next(const Frame& frame) {
    observe(frame);
    return take();
  }

 private:
  // What one frame tells, or several.
  struct Measurement {
    int frames = 0;
    std::array<double, 3> white_variances{};  ///< sums
    noise::NoiseStatistics statistics;

    void add(const Measurement& other);
    NoiseModel model() const;
  };
  Measurement measure(const Frame& frame);
  // Whether an estimate, before it is lowered, is that of the scene.
  bool agrees(NoiseModel own) const;
  // Makes the model from what has been summed up of the scene until `frame`, which checks it if asked.
  void make_model(const Frame& frame, bool check);

  Engine& engine_;
  ResidualCheck check_;
  float strength_ = 1;  ///< ResidualCheck's of the scene
  int frames_to_average_;
  BrightnessHistogram brightness_{};
  BrightnessScale scale_;  ///< of the scene
  bool begins_scene_ = false;
  std::int64_t frames_of_scene_ = 0;
  std::optional<Frame> before_;           ///< the frame before, if it is of this scene
  Measurement scene_;                     ///< what the model follows from
  std::vector<Measurement> disagreeing_;  ///< the latest ones, while they contradict the model
  NoiseModel model_{};
  std::deque<std::int64_t> scene_numbers_;  ///< of the frames that haven't been asked for
  std::int64_t scene_number_ = 0;
  std::deque<std::pair<std::int64_t, NoiseModel>> ended_;  ///< scenes of such frames, and their last models
};

/// The noise of a scene.
struct SceneNoise {
  NoiseModel noise;
  std::int64_t first = 0;   ///< of its frames, counted from 0
  std::int64_t frames = 0;  ///< how many it has
};

/// The noise of the longest scene of `frames` frames, at least one, that the tracker has observed and that it
/// hasn't been asked for yet.
SceneNoise noise_of_longest_scene(NoiseTracker& tracker, std::int64_t frames);

}  // namespace limpid
