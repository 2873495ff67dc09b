// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

// Plain structures shared by host code and kernels. Pointers refer to device memory and do not own it.

#ifdef __CUDACC__
#define LIMPID_HOST_DEVICE __host__ __device__
#else
#define LIMPID_HOST_DEVICE
#endif

namespace limpid::cuda {

/// One channel in 8-bit code values; row y begins at data + y * pitch.
struct FloatPlane {
  float* data = nullptr;
  int width = 0;
  int height = 0;
  int pitch = 0;  ///< floats
};

/// The grid of a plane's reference patches: columns and rows 0, spacing, 2 spacing, ... and the last
/// position.
struct ReferenceGrid {
  int width = 0;   ///< of the plane
  int height = 0;  ///< of the plane
  int patch = 0;
  int spacing = 0;
  int columns = 0;
  int rows = 0;

  LIMPID_HOST_DEVICE int x(int column) const {
    const int regular = column * spacing;
    return regular < width - patch ? regular : width - patch;
  }
  LIMPID_HOST_DEVICE int y(int row) const {
    const int regular = row * spacing;
    return regular < height - patch ? regular : height - patch;
  }
};

inline ReferenceGrid make_grid(int width, int height, int patch, int spacing) {
  return {width,
          height,
          patch,
          spacing,
          (width - patch + spacing - 1) / spacing + 1,
          (height - patch + spacing - 1) / spacing + 1};
}

/// Groups of the reference patches of grid rows [first_row, last_row). The group of (column, row) is number i
/// = (row - first_row) * columns + column. `members[i * capacity]` is its size, a power of two. The members
/// other than the reference patch follow, the closest first, as offsets from it: 256 dy + (dx as a byte).
struct Groups {
  std::int16_t* members = nullptr;
  int capacity = 0;
  int first_row = 0;
  int last_row = 0;
  bool selective = false;  ///< groups whose size is 0 on input may be skipped

  LIMPID_HOST_DEVICE bool wants(std::ptrdiff_t number) const {
    return !selective || members[number * capacity] != 0;
  }
};

LIMPID_HOST_DEVICE inline std::int16_t pack_offset(int dx, int dy) {
  return static_cast<std::int16_t>(dy * 256 + (dx & 255));
}
/// The offset of patch i of a group; patch 0 is the reference patch.
LIMPID_HOST_DEVICE inline std::int16_t member_of(const std::int16_t* group, int i) {
  return i == 0 ? std::int16_t{0} : group[i];
}
LIMPID_HOST_DEVICE inline int offset_x(std::int16_t member) { return static_cast<std::int8_t>(member & 255); }
LIMPID_HOST_DEVICE inline int offset_y(std::int16_t member) { return member >> 8; }

/// Numerators and weights of a plane under reconstruction, both width * height. They are fixed-point
/// integers, so that sums do not depend on the order of additions. `numerator` holds sums of weight * window
/// * (sample - offset) in units of 1 / numerator_scale (and of range_unit()). `weight` holds each patch's
/// weight once, at the patch's first sample, in units of 2^-weight_bits.
struct AggregationSums {
  long long* numerator = nullptr;
  int* weight = nullptr;
  float numerator_scale = 0;
  int weight_bits = 0;
  float offset = 0;  ///< mid-gray, to keep sums small
  /// Result of measure_range() for planes whose samples may be outside 0 to 255, otherwise null.
  const float* range = nullptr;
};

}  // namespace limpid::cuda
