// SPDX-License-Identifier: MIT
#include "cpu/runtime/mixing.h"

#include <cstddef>
#include <cstring>

#include "core/base/parallel.h"

namespace limpid::cpu {

void mix_in(const Frame& noisy, const PlaneMixes& mixes, Frame& out) {
  constexpr int kRowsOfTask = 32;
  for (int p = 0; p < out.format.color_plane_count(); ++p) {
    const float mix = mixes[p];
    if (mix == 0) {
      continue;
    }
    const Plane& from = noisy.planes[p];
    const Plane& to = out.planes[p];
    for_each_index(to.height, kRowsOfTask, [&](int y) {
      visit_samples(out.format, [&]<typename Sample>(Sample) {
        const auto* const in = from.row<const Sample>(y);
        auto* const estimate = to.row<Sample>(y);
        for (int x = 0; x < to.width; ++x) {
          estimate[x] = mixed(in[x], estimate[x], mix);
        }
      });
    });
  }
}

void pass_outside(const Frame& noisy, const Region& area, Frame& out) {
  const auto bytes = std::ptrdiff_t{out.format.bytes_per_sample()};
  for (int p = 0; p < out.format.color_plane_count(); ++p) {
    const Plane& from = noisy.planes[p];
    const Plane& to = out.planes[p];
    for (const Region& part : parts_outside(area, out.format, p)) {
      for (int y = part.y; y < part.y + part.height; ++y) {
        std::memcpy(to.data + y * to.stride + part.x * bytes, from.data + y * from.stride + part.x * bytes,
                    static_cast<std::size_t>(part.width * bytes));
      }
    }
  }
}

}  // namespace limpid::cpu
