#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/frame/fields.h"
#include "core/frame/frame.h"
#include "core/noise/noise_level.h"
#include "cuda/runtime/convert.h"

namespace limpid::cuda {

using SamplePlanes = std::array<SamplePlane, kMaxPlanes>;

/// A filter of whole frames in the memory of the current device. Holds all working memory, so that frame
/// after frame allocates nothing; frames must be enqueued to one stream, where they follow each other.
class FrameFilter {
 public:
  FrameFilter(const FrameFilter&) = delete;
  FrameFilter& operator=(const FrameFilter&) = delete;
  virtual ~FrameFilter() = default;

  /// Enqueues all that makes `out` of `in`, planes of the format in device memory. The fields of interlaced
  /// frames are filtered one after the other.
  void enqueue(const SamplePlanes& in, const SamplePlanes& out, bool interlaced, const NoiseLevel& noise,
               cudaStream_t stream);

  /// Planes that are too small to be filtered, a sentence each.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Device memory in use, in bytes.
  virtual std::size_t memory() const = 0;

 protected:
  /// Throws Error for formats that don't make sense.
  explicit FrameFilter(const FrameFormat& format);

  /// Enqueues a frame or a field, whose planes have `heights` rows.
  virtual void filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                              const NoiseLevel& noise, cudaStream_t stream) = 0;
  /// Enqueues a copy of plane `p`.
  void copy_plane(int p, const SamplePlane& in, const SamplePlane& out, int height,
                  cudaStream_t stream) const;

  /// Floats from one row of a float plane to the next.
  static int plane_pitch(int width) { return (width + 31) / 32 * 32; }

  FrameFormat format_;
  std::vector<std::string> warnings_;
};

}  // namespace limpid::cuda
