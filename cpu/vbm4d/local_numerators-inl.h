// SPDX-License-Identifier: MIT
// A tile's own sums. Compiled once per SIMD target.
#if defined(LIMPID_CPU_LOCAL_NUMERATORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_LOCAL_NUMERATORS_INL_H_
#undef LIMPID_CPU_LOCAL_NUMERATORS_INL_H_
#else
#define LIMPID_CPU_LOCAL_NUMERATORS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "cpu/bm3d/group_filter-inl.h"
#include "cpu/vbm4d/trajectory_tile.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A tile's numerators of one plane of a picture: floats for the samples that its groups reach.
struct LocalNumerators {
  float* samples = nullptr;
  int x0 = 0;
  int y0 = 0;
  int pitch = 0;

  std::ptrdiff_t offset(Position position) const {
    return static_cast<std::ptrdiff_t>(position.y - y0) * pitch + position.x - x0;
  }
};

inline HWY_ATTR void add_to_picture(const TrajectoryJob& job, const FollowedPicture& picture, int plane,
                                    const LocalNumerators& sums, const Area& area) {
  PictureSums& out = *picture.planes[plane].sums;
  for_each_locked_row(job.width, area, *picture.locks, [&](int x, int y, int count) HWY_ATTR {
    out.take_numerators(x, y, sums.samples + sums.offset({x, y}), job.numerator_scale, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
