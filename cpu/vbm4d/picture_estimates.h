// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <array>
#include <cstdint>
#include <memory>

#include "core/bm3d/matching.h"
#include "core/frame/frame.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/aligned_vector.h"
#include "cpu/vbm4d/picture_state.h"

namespace limpid::cpu {

/// Basic estimates of integer samples are stored as 16-bit values of 1/64 code value, relative to mid-gray
/// like matching values. This is far finer than their noise and covers four times a sample's range.
inline constexpr MatchingScale kBasicScale = {.scale = 64, .limit = 32767};

/// The samples and guides of pictures, the sums of their groups, and the estimates from these sums. A picture
/// is passed with its samples, `in`.
class PictureEstimates {
 public:
  /// Keeps references to `layout` and to the tables of both steps.
  PictureEstimates(const PictureLayout& layout, const std::array<StepTables, 2>& tables, int steps)
      : layout_(layout), tables_(tables), steps_(steps) {}

  /// Prepares the samples and guides for groups, and empty sums for the first step.
  void load(const std::array<Plane, kMaxPlanes>& in, PictureState& picture);
  /// Makes the basic estimate and its guides, and empty sums for the second step.
  void make_basic(const std::array<Plane, kMaxPlanes>& in, PictureState& picture);
  /// Makes the result from the sums of the last step, and releases these.
  void make_result(const std::array<Plane, kMaxPlanes>& in, PictureState& picture,
                   const std::array<Plane, kMaxPlanes>& out);
  void release(PictureState& picture);

 private:
  struct Scratch {
    std::array<AlignedVector<float>, 4> rows;
    AlignedVector<float> mean;
    AlignedVector<std::int16_t> matching;
    AlignedVector<float> luma;  // rows of a band
  };

  float* row_of(FloatPlanes& planes, int component, int y) const;
  const float* noisy_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int component,
                         int y, AlignedVector<float>& memory) const;
  void convert(const std::array<Plane, kMaxPlanes>& in, int band, bool opponent, FloatPlanes& out) const;
  PictureLayout::Rows noisy_sets() const;
  void resize_guides(GuidePlanes& guides, PictureLayout::Rows sets) const;
  template <typename LumaRow>
  void make_guides(int band, PictureLayout::Rows sets, const std::array<int, 2>& scales, GuidePlanes& guides,
                   const LumaRow& luma_row);
  void take_sums(PictureState& picture, int step);
  void clear_sums(PictureState& picture, int step, int band) const;
  void estimate_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int step,
                    int component, int y, float* out) const;
  void store_estimate(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int band,
                      const std::array<Plane, kMaxPlanes>& out);

  const PictureLayout& layout_;
  const std::array<StepTables, 2>& tables_;
  int steps_;
  BufferPool<FloatPlanes> floats_;
  BufferPool<ValuePlanes> values_;
  BufferPool<GuidePlanes> noisy_guides_;
  BufferPool<GuidePlanes> basic_guides_;
  BufferPool<StepSums> sums_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

}  // namespace limpid::cpu
