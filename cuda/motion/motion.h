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
#include "core/motion/motion_parameters.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/runtime.h"

// Block motion on the current device, to the bit that of cpu/motion. Everything is enqueued; what one
// call makes is there for the next in the same stream.

namespace limpid::cuda {

/// A picture as matching sees it, in several resolutions. Made once of each picture, and used for its motion
/// to any other.
class MotionPyramid {
 public:
  /// Has the memory for pictures of this size.
  MotionPyramid(int width, int height);

  /// `planes` are those of a frame of `format`, or of one of its fields.
  void enqueue(const FrameFormat& format, const std::array<SamplePlane, kMaxPlanes>& planes,
               cudaStream_t stream);

  int width() const { return width_; }
  int height() const { return height_; }
  const motion::Pyramid& layout() const { return layout_; }
  /// Sample (0, 0) of a level.
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
  /// Has the memory for pictures of this size.
  DeviceMotionField(int width, int height);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  /// Row by row, as in MotionField.
  MotionVector* vectors() const { return vectors_.as<MotionVector>(); }
  std::int32_t* differences() const { return differences_.as<std::int32_t>(); }
  std::int32_t* textures() const { return textures_.as<std::int32_t>(); }
  /// How many blocks could not be followed, if that was asked for (motion::is_followed()).
  std::int32_t* lost() const { return lost_.as<std::int32_t>(); }
  /// Null if they were not asked for.
  QuarterSamples* quarters() const { return has_quarters_ ? quarters_.as<QuarterSamples>() : nullptr; }
  std::size_t memory() const {
    return vectors_.bytes() + differences_.bytes() + textures_.bytes() + quarters_.bytes() + lost_.bytes();
  }

  /// What is in it when all is done that has been enqueued to the stream, for which this waits.
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

/// Finds motion between pictures of one size. Holds its working memory: fields must be enqueued to one
/// stream, where they follow each other.
class MotionEstimator {
 public:
  MotionEstimator(int width, int height);

  /// Makes `field` that of the motion from `current` to `reference`. All must have this size.
  void enqueue(const MotionPyramid& reference, const MotionPyramid& current, DeviceMotionField& field,
               cudaStream_t stream, const MotionParameters& parameters = {});
  struct Sought {
    DeviceMotionField& field;
    std::int32_t noise;  ///< of motion::is_followed(), by which the field's lost() blocks are counted
  };
  /// Makes the fields of the motion from one picture to the other, `ahead`, and the way back, at once: in
  /// coarse levels one alone does not fill a GPU.
  void enqueue_both(const MotionPyramid& before, const MotionPyramid& after, const Sought& ahead,
                    const Sought& back, cudaStream_t stream);

  std::size_t memory() const;

 private:
  struct Search {
    const MotionPyramid* reference;
    const MotionPyramid* current;
    DeviceMotionField* field;
    std::optional<std::int32_t> noise;  // to count lost blocks by
  };
  void enqueue(std::span<const Search> searches, cudaStream_t stream, const MotionParameters& parameters);

  // Of one search.
  struct Working {
    DeviceMemory coarser;  // vectors of every second level; those of the others are in the caller's field
    DeviceMemory before;   // vectors before a sweep
  };

  int columns_;
  int rows_;
  std::array<Working, 2> working_;
};

}  // namespace limpid::cuda
