// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/frame/frame.h"
#include "core/motion/motion_blocks.h"
#include "core/motion/motion_field.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/runtime.h"

// Block motion on the current device, bit-exact with cpu/motion. All functions enqueue their work; later
// calls on the same stream can use its results.

namespace limpid::cuda {

/// A picture's guide in several resolutions, made once per picture and used for its motion to any other
/// picture.
class MotionPyramid {
 public:
  /// Allocates memory for pictures of this size.
  MotionPyramid(int width, int height);

  /// `planes` belong to a frame of `format`, or to one of its fields.
  void enqueue(const FrameFormat& format, const std::array<SamplePlane, kMaxPlanes>& planes,
               cudaStream_t stream);

  int width() const { return width_; }
  int height() const { return height_; }
  const motion::Pyramid& layout() const { return layout_; }
  /// Pointer to sample (0, 0) of a level.
  std::uint8_t* samples(int level) const { return memory_.as<std::uint8_t>() + layout_.levels[level].origin; }
  std::size_t memory() const { return memory_.bytes(); }

 private:
  int width_;
  int height_;
  motion::Pyramid layout_;
  DeviceMemory memory_;
};

/// A MotionField in device memory.
class DeviceMotionField {
 public:
  /// Allocates memory for pictures of this size.
  DeviceMotionField(int width, int height);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  /// The vectors row by row, as in MotionField.
  MotionVector* vectors() const { return vectors_.as<MotionVector>(); }
  std::int32_t* differences() const { return differences_.as<std::int32_t>(); }
  std::int32_t* textures() const { return textures_.as<std::int32_t>(); }
  /// The number of blocks that could not be followed, if requested (motion::is_followed()).
  std::int32_t* lost() const { return lost_.as<std::int32_t>(); }
  /// The fractional parts of the vectors; null if not requested.
  QuarterSamples* quarters() const { return has_quarters_ ? quarters_.as<QuarterSamples>() : nullptr; }
  std::size_t memory() const {
    return vectors_.bytes() + differences_.bytes() + textures_.bytes() + quarters_.bytes() + lost_.bytes();
  }

  /// Enqueues that no block could be followed, as at a scene cut.
  void cut(cudaStream_t stream) const {
    check(cudaMemsetAsync(lost(), 0x3F, sizeof(std::int32_t), stream));  // more than any picture has
  }
  /// Downloads the field after all work enqueued to the stream, and waits for it.
  MotionField download(cudaStream_t stream) const;

 private:
  friend class MotionEstimator;

  int columns_ = 0;
  int rows_ = 0;
  DeviceMemory vectors_;
  DeviceMemory differences_;
  DeviceMemory textures_;
  DeviceMemory quarters_;
  DeviceMemory lost_;
  bool has_quarters_ = false;
};

/// Estimates motion between pictures of one size. Keeps its working memory, so all fields must be enqueued to
/// one stream.
class MotionEstimator {
 public:
  MotionEstimator(int width, int height);

  /// Enqueues the estimation of the motion from `current` to `reference`. Both pyramids and the field must
  /// have this object's size.
  void enqueue(const MotionPyramid& reference, const MotionPyramid& current, DeviceMotionField& field,
               cudaStream_t stream, const MotionParameters& parameters = {});
  struct Sought {
    DeviceMotionField& field;
    /// Noise for motion::is_followed(), with which the field's lost() blocks are counted.
    std::int32_t noise;
  };
  /// Enqueues the estimation of the motion from one picture to the other, `ahead`, and back. Both run at the
  /// same time, because a single coarse level does not fill a GPU.
  void enqueue_both(const MotionPyramid& before, const MotionPyramid& after, const Sought& ahead,
                    const Sought& back, cudaStream_t stream);

  std::size_t memory() const;

 private:
  struct Search {
    const MotionPyramid* reference;
    const MotionPyramid* current;
    DeviceMotionField* field;
    std::optional<std::int32_t> noise;  // for counting lost blocks
  };
  void enqueue(std::span<const Search> searches, cudaStream_t stream, const MotionParameters& parameters);

  // Working memory of one search.
  struct Working {
    DeviceMemory coarser;  // vectors of every second level; the others are in the caller's field
    DeviceMemory before;   // vectors before a sweep
  };

  int columns_;
  int rows_;
  std::array<Working, 2> working_;
};

}  // namespace limpid::cuda
