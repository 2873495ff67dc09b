// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/picture_motion.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "core/base/parallel.h"
#include "core/motion/followed.h"
#include "core/vbm4d/trajectories.h"

namespace limpid::cpu {

void PictureMotion::load(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& in,
                         PictureState& picture) {
  pyramids_.take(picture.pyramid);
  picture.pyramid->build(format, in);
}

void PictureMotion::find(PictureState& before, PictureState& after) {
  if (before.ahead != nullptr || before.pyramid == nullptr) {
    return;
  }
  fields_.take(before.ahead);
  fields_.take(after.back);
  for_each_index(2, 1, [&](int direction) {
    const bool ahead = direction == 0;
    Search& search = searches_[direction];
    search.estimator.estimate(ahead ? *after.pyramid : *before.pyramid,
                              ahead ? *before.pyramid : *after.pyramid, search.field);
    MotionField& field = ahead ? *before.ahead : *after.back;
    const std::int32_t noise = (ahead ? before : after).plan->motion_noise;
    if (before.plan->guide_scales != after.plan->guide_scales ||
        vbm4d::is_cut(motion::lost_blocks(search.field, noise), std::ssize(search.field.vectors))) {
      std::ranges::fill(search.field.vectors, vbm4d::kNowhere);
    }
    field.columns = search.field.columns;
    field.rows = search.field.rows;
    field.vectors.swap(search.field.vectors);
  });
  pyramids_.give_back(before.pyramid);
}

void PictureMotion::release(PictureState& picture) {
  pyramids_.give_back(picture.pyramid);
  fields_.give_back(picture.back);
  fields_.give_back(picture.ahead);
}

}  // namespace limpid::cpu
