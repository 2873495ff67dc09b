// SPDX-License-Identifier: MIT
#include "cpu/runtime/mixing.h"

#include "core/base/parallel.h"
#include "core/frame/mixing.h"

namespace limpid::cpu {

void mix_in(const Frame& noisy, float mix, Frame& out) {
  constexpr int kRowsOfTask = 32;
  for (int p = 0; mix > 0 && p < out.format.color_plane_count(); ++p) {
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

}  // namespace limpid::cpu
