// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/noise_model.h"
#include "cuda/runtime/convert.h"

namespace limpid::cuda {

/// A frame in device memory, as passed to filters.
struct FilteredFrame {
  SamplePlanes planes;
  bool interlaced = false;
  NoiseModel noise;
  FrameState* state = nullptr;  ///< the result of make_state()
  bool begins_anew = false;     ///< as in Frame

  bool is_interlaced() const { return interlaced; }
};

using FilterWindow = FrameWindow<FilteredFrame>;

/// A filter of frames in the memory of the current device. Keeps all working memory, so that later frames
/// allocate nothing; all frames must be enqueued to one stream.
class FrameFilter : NotCopyable {
 public:
  virtual ~FrameFilter() = default;

  virtual Reach reach() const { return {}; }

  /// Enqueues all work for `out`, the result of the window's current frame.
  virtual void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) = 0;

  /// The state of one frame, with all its memory; null if the filter keeps none. States are reused for other
  /// frames after renew().
  virtual std::unique_ptr<FrameState> make_state() { return nullptr; }
  /// Assigns the state to another frame for all work enqueued later.
  virtual void renew(FrameState& /*state*/) {}

  /// Makes a filter of unbounded reach drop the data of earlier frames, for all work enqueued later.
  virtual void forget() {}

  /// True if results are estimates of the noisy samples' mean, which must be corrected for clipping
  /// (core/noise/clipping.h).
  virtual bool estimates_means() const { return false; }

  /// Messages about planes that are too small to be filtered.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Device memory in use, in bytes.
  virtual std::size_t memory() const = 0;

 protected:
  /// Throws Error for invalid formats.
  explicit FrameFilter(const FrameFormat& format);

  FrameFormat format_;
  std::vector<std::string> warnings_;
};

/// A filter that uses only the current frame.
class SpatialFilter : public FrameFilter {
 public:
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) final {
    const FilteredFrame& current = window.frames[window.current];
    enqueue(current.planes, out, current.interlaced, current.noise, stream);
  }
  /// Enqueues all work for `out`, the result of `in`; both are planes of the format in device memory. The
  /// fields of interlaced frames are filtered one after the other.
  void enqueue(const SamplePlanes& in, const SamplePlanes& out, bool interlaced, const NoiseModel& noise,
               cudaStream_t stream);

 protected:
  using FrameFilter::FrameFilter;

  /// Enqueues a frame or a field, whose planes have `heights` rows.
  virtual void filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                              const NoiseModel& noise, cudaStream_t stream) = 0;
  /// Enqueues a copy of plane `p`.
  void copy_plane(int p, const SamplePlane& in, const SamplePlane& out, int height,
                  cudaStream_t stream) const;

  /// Distance between rows of a float plane, in floats.
  static int plane_pitch(int width) { return (width + 31) / 32 * 32; }
};

/// The filters of the CUDA engine on the current device. All throw UsageError for illegal parameters, and
/// Error for invalid formats or insufficient memory.
std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& parameters, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const EdgePreservingFilter& filter, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& parameters,
                                               const FrameFormat& format);

}  // namespace limpid::cuda
