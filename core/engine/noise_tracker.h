// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/region.h"
#include "core/noise/brightness_histogram.h"
#include "core/noise/changing_area.h"
#include "core/noise/level_steps.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene_range.h"

namespace limpid {

/// Tracks the noise of a stream. Adds up measurements of the first frames of a scene, and of the differences
/// between successive frames. The resulting noise model is then kept and only checked at intervals, so it
/// stays constant at almost no cost. The measurement restarts at a scene cut, and at a step of the level
/// within a scene: two successive frames differ in their quiet blocks and in their noise from the frames
/// before, or several successive checks disagree. Frames before a step keep their model. Only the area that
/// changes is measured if the rest of the picture stands still (noise::ChangingArea). Deterministic. Keeps a
/// reference to the last frame.
class NoiseTracker {
 public:
  /// Default number of frames of a scene whose measurements are added up.
  static constexpr int kFramesToAverage = 6;
  /// Minimum width and height for a useful measurement.
  static constexpr int kLeastSide = 64;
  /// Every 8th frame of a scene is a check while the model is held.
  static constexpr std::int64_t kCheckInterval = 8;

  /// `engine` measures the frames and must outlive this object.
  explicit NoiseTracker(Engine& engine, int frames_to_average = kFramesToAverage)
      : engine_(engine), frames_to_average_(frames_to_average) {}

  /// Takes the next frame of the stream, in memory that the engine can read. All frames must have one format.
  void observe(const Frame& frame);
  /// True if the last observed frame began a scene. The first frame of a stream does.
  bool begins_scene() const { return begins_scene_; }
  /// The noise of the oldest observed frame that has not been taken, estimated from all frames of its scene
  /// observed so far. Requires such a frame.
  NoiseEstimate take();
  /// Calls observe() and take().
  NoiseEstimate next(const Frame& frame) {
    observe(frame);
    return take();
  }

 private:
  // The measurement of one frame or several.
  struct Measurement {
    int frames = 0;
    std::array<double, 3> white_variances{};  ///< sums over frames
    noise::NoiseStatistics statistics;

    void add(const Measurement& other);
    NoiseEstimate model() const;
  };
  // Measurements that contradict the model, of successive frames.
  struct Contradiction {
    std::vector<Measurement> measurements;
    std::size_t frames = 0;  ///< frames since its beginning
    bool stepped = false;    ///< its first frame may be a step (noise::LevelSteps)
  };

  Measurement measure(const Frame& frame, bool with_before = true);
  void begin_scene(const Frame& frame);
  // Searches for the area of the scene's noise. Measurements start again if it is found.
  void find_area(const Frame& frame);
  // Begins a scene number at one of the last frames; `frames`: from it to the last one.
  void begin_number(std::size_t frames);
  NoiseEstimate scene_model() const;
  // True once the scene's frames have been averaged.
  bool is_whole() const { return scene_.frames >= frames_to_average_; }
  // Adds the measurement of a frame to the scene, or to the contradiction.
  void add(Measurement own);
  // Ends the scene at the first frame of the contradiction.
  void begin_at_contradiction();

  Engine& engine_;
  int frames_to_average_;
  BrightnessHistogram brightness_{};
  noise::SceneRange range_;  ///< of the scene
  Region picture_;           ///< of the scene, inside bars
  noise::ChangingArea changing_;
  std::optional<Region> area_;  ///< of the scene's noise; nothing: `picture_`
  bool begins_scene_ = false;
  std::int64_t frames_of_scene_ = 0;
  std::optional<Frame> before_;  ///< the previous frame, if it belongs to the scene
  Measurement scene_;            ///< measurements that the model is made from
  noise::LevelSteps steps_;      ///< of the scene
  Contradiction contradiction_;
  NoiseEstimate model_{};
  std::deque<std::int64_t> scene_numbers_;  ///< scene numbers of the frames that have not been taken
  std::int64_t scene_number_ = 0;
  std::deque<std::pair<std::int64_t, NoiseEstimate>> ended_;  ///< ended scenes with frames that have not been
                                                              ///< taken, and their final models
};

/// The noise of a scene.
struct SceneNoise {
  NoiseEstimate noise;
  std::int64_t first = 0;   ///< number of its first frame, from 0
  std::int64_t frames = 0;  ///< number of its frames
};

/// The noise of the longest scene among the next `frames` frames (at least one) that the tracker has observed
/// and that have not been taken.
SceneNoise noise_of_longest_scene(NoiseTracker& tracker, std::int64_t frames);

}  // namespace limpid
