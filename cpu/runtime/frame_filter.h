// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/noise_model.h"

namespace limpid::cpu {

/// A frame as passed to filters.
struct FilteredFrame {
  const Frame* frame = nullptr;
  NoiseModel noise;             ///< noise of the frame, in 8-bit code values
  FrameState* state = nullptr;  ///< the result of make_state()

  bool is_interlaced() const { return frame->interlaced; }
};

using FilterWindow = FrameWindow<FilteredFrame>;

/// A filter of frames of one format, on the threads of the caller's arena. Keeps all working memory, so that
/// later frames allocate nothing. One frame at a time.
class FrameFilter : NotCopyable {
 public:
  virtual ~FrameFilter() = default;

  virtual Reach reach() const { return {}; }

  /// Filters the window's current frame into `out`, which has planes of the same format; alpha is copied.
  virtual void filter_window(const FilterWindow& window, Frame& out) = 0;

  /// The state of one frame; null if the filter keeps none. States are reused for other frames after renew().
  virtual std::unique_ptr<FrameState> make_state() { return nullptr; }
  /// Assigns the state to another frame.
  virtual void renew(FrameState& /*state*/) {}
  /// True if the samples of the state's frame are no longer needed, although later windows contain the frame.
  virtual bool is_done(const FrameState& /*state*/) const { return false; }

  /// For filters of unbounded reach: drops the data of earlier frames, because the next frame does not
  /// continue them.
  virtual void forget() {}

  /// True if results are estimates of the noisy samples' mean, which must be corrected for clipping
  /// (core/noise/clipping.h).
  virtual bool estimates_means() const { return false; }

  /// Messages about parts that are not filtered as requested.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// A filter that uses only the current frame.
class SpatialFilter : public FrameFilter {
 public:
  void filter_window(const FilterWindow& window, Frame& out) final {
    const FilteredFrame& current = window.frames[window.current];
    filter(*current.frame, current.noise, out);
  }
  virtual void filter(const Frame& in, const NoiseModel& noise, Frame& out) = 0;
};

/// The filters of the CPU engine. All throw UsageError for illegal parameters, and Error for invalid formats
/// and for transforms that this engine does not support.
std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& parameters, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const EdgePreservingFilter& filter, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& parameters,
                                               const FrameFormat& format);

}  // namespace limpid::cpu
