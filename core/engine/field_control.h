// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"

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

}  // namespace limpid
