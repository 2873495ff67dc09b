// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/region.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene.h"

namespace limpid {

/// Tracks the noise of a stream, in sections of kSection frames on a fixed grid. Adds up measurements of the
/// first frames of a section, and of the differences between successive frames. The resulting noise model is
/// then kept and only checked at intervals. The measurement restarts at a scene cut, and at a step of the
/// level within a scene: two successive frames differ in their quiet blocks and in their noise from the
/// frames before, or several successive checks disagree. Frames before a step keep their model. The
/// measurements of up to kSections sections are joined while they belong to one scene and no step of the
/// level is proven. Only the area that changes is measured if the rest of the picture stands still
/// (noise::ChangingArea). A fade or dissolve is no evidence of noise: the model before is kept until it ends,
/// where a scene begins, or for kSections sections.
///
/// A section is measured without regard to other sections, so that models depend only on the frames of
/// this one and of kSections before. While a frame is held for longer, the model before is kept.
/// Deterministic. Keeps references to the last two frames.
class NoiseTracker {
 public:
  /// Number of frames at the beginning of a scene whose measurements are added up.
  static constexpr int kFramesToAverage = 6;
  /// The number at the beginning of a section that continues another one; kFramesToAverage in pictures of
  /// fewer than kLargePicture samples, which have few blocks.
  static constexpr int kFramesToContinue = 3;
  static constexpr std::int64_t kLargePicture = 1 << 16;
  static constexpr std::int64_t kSection = 32;
  /// Most sections whose measurements are joined.
  static constexpr std::int64_t kSections = 2;
  /// Minimum width and height for a useful measurement.
  static constexpr int kLeastSide = 64;
  /// Every 12th frame of a section is a check while the model is held, every 8th in small pictures.
  static constexpr std::int64_t kCheckInterval = 12;
  static constexpr std::int64_t kCheckIntervalOfSmall = 8;

  /// A stream that begins at the beginning of a section has the models of the whole stream after so many
  /// frames.
  static constexpr std::int64_t kBefore = kSections * kSection;

  /// `engine` measures the frames and must outlive this object.
  explicit NoiseTracker(Engine& engine) : engine_(engine) {}

  /// Takes the next frame of the stream, in memory that the engine can read. All frames must have one format.
  void observe(const Frame& frame);
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
  // Where and how a section is measured. Measurements with different bases are not added up.
  struct Basis {
    noise::SceneRange range;
    Region picture;              ///< inside bars
    std::optional<Region> area;  ///< of the noise; nothing: `picture`

    Frame part(const Frame& frame) const { return part_of(frame, area.value_or(picture)); }
  };
  // Successive frames that contradict the section's measurement.
  struct Contradiction {
    Measurement measurement;  ///< of those that were measured
    std::int64_t frames = 0;  ///< frames since its beginning
    bool stepped = false;     ///< its first frame may be a step of the level
  };
  struct Section {
    Basis basis;
    std::int64_t frames = 0;                        ///< number of its frames so far
    std::optional<NoiseEstimate> before;            ///< the model of the frame before, if it begins at a cut
    std::optional<noise::PatchDeviations> patches;  ///< of its first frame
    Measurement measurement;
    Measurement first;   ///< of its first frames_to_continue(): what it adds to the next section
    NoiseEstimate own;   ///< the model from `first` alone
    bool begins = true;  ///< a scene, or a step of the level: earlier sections do not count
    bool whole = false;  ///< its first frames have been measured
    noise::ChangingArea changing;
    std::deque<double> levels;  ///< of the quiet blocks of the last frames; those of a step do not count
    Contradiction contradiction;
  };

  static bool is_step(const Measurement& earlier, const Measurement& later);
  Section& section() { return sections_.back(); }
  const Section& section() const { return sections_.back(); }
  int frames_to_continue() const { return small_ ? kFramesToAverage : kFramesToContinue; }
  bool is_settled() const { return section().whole && section().contradiction.frames == 0; }
  // True if the frame this many frames after the last one of the section is a check.
  bool is_check(int later) const {
    return (section().frames + later) % (small_ ? kCheckIntervalOfSmall : kCheckInterval) == 0;
  }
  Measurement measure(const Frame& frame, bool with_before = true);
  // Removes the scene or measurement that the last frame, the first one of a fade, has begun.
  void begin_fade();
  void begin_section(const Frame& frame, bool cut);
  // Searches for the area of the section's noise. Returns true if it is found: measurements start again.
  bool find_area(const Frame& frame);
  // Begins a level at one of the last frames of the section; `frames`: from it to the last one.
  void begin_level(std::int64_t frames, Measurement measurement);
  // Begins a model at one of the last frames, initially equal to the model before.
  void begin_model(std::int64_t frames);
  void set_model();
  // Measures a frame as far as required.
  void track(const Frame& frame);
  // Adds the measurement of a frame to the section, or to the contradiction.
  void add(const Measurement& own);

  Engine& engine_;
  BrightnessHistogram brightness_{};
  bool small_ = false;            ///< pictures of fewer than kLargePicture samples
  std::int64_t frame_ = 0;        ///< number of observed frames
  bool fades_ = false;            ///< the last frame belongs to a fade
  std::deque<Frame> last_;        ///< the last two frames since the stream began anew
  std::deque<Section> sections_;  ///< the last ones
  std::shared_ptr<NoiseEstimate> model_ = std::make_shared<NoiseEstimate>();
  std::deque<std::shared_ptr<const NoiseEstimate>> models_;  ///< of the frames that have not been taken
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
