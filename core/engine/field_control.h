#pragma once

#include <cstdint>
#include <optional>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"

namespace limpid {

/// Which frames are filtered by field.
enum class FieldChoice : std::uint8_t {
  kAuto,         ///< those that are flagged as interlaced, and those that are combed in many places
  kProgressive,  ///< none
  kInterlaced,   ///< all
};

/// Decides which frames of a stream are filtered by field, and of which the noise is estimated by field: sets
/// Frame::interlaced and Frame::combed.
///
/// Where little moves, filters do better on the whole picture than on fields, combing or not. What is combed
/// is no noise, though, so noise is estimated by field wherever there is combing.
///
/// Telecined film has combed and whole frames in turn. Filters over time do not use one kind for the other,
/// so for them the kHold frames behind one that is filtered by field are too. Noise is estimated by field in
/// as many frames behind a combed one, as not all combing is recognized.
class FieldControl {
 public:
  /// Two cycles of 3:2 pulldown.
  static constexpr int kHold = 10;
  /// The least share of combed blocks in a frame that is filtered by field.
  static constexpr float kManyBlocks = 0.25F;

  /// `reach` is the filter's. `engine` reads the frames and must outlive this.
  FieldControl(FieldChoice choice, const Reach& reach, Engine& engine)
      : choice_(choice), hold_(is_over_time(reach) ? kHold : 0), engine_(engine) {}

  /// The filter's reach, extended by the frames that the decisions depend on.
  static Reach reach_with(FieldChoice choice, Reach reach) {
    if (choice == FieldChoice::kAuto) {
      reach.before += 1 + (is_over_time(reach) ? kHold : 0);
    }
    return reach;
  }

  /// Decides on the next frame of the stream. The first frame is not compared with any, so only its flag
  /// counts.
  void decide(Frame& frame);
  /// Forgets the stream: the next frame does not continue it.
  void reset();

 private:
  static bool is_over_time(const Reach& reach) { return reach.before > 0 || reach.after > 0; }
  float combed_share(const Frame& frame) const;

  FieldChoice choice_;
  int hold_;
  Engine& engine_;
  std::optional<Frame> before_;
  int by_field_ = 0;  ///< frames from the last one on that are filtered by field
  int combed_ = 0;    ///< that are taken for combed
};

}  // namespace limpid
