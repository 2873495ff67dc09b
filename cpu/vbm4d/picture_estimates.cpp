// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/picture_estimates.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "core/vbm4d/trajectories.h"
#include "cpu/runtime/convert.h"

namespace limpid::cpu {
namespace {

std::uint8_t guide_byte(std::int16_t value) { return static_cast<std::uint8_t>(value + 128); }

}  // namespace

float* PictureEstimates::row_of(FloatPlanes& planes, int component, int y) const {
  return planes[component].data() + static_cast<std::ptrdiff_t>(y) * layout_.width_of(component);
}

// A row of noisy samples in the layout for groups; `memory` may be used.
const float* PictureEstimates::noisy_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in,
                                         int component, int y, AlignedVector<float>& memory) const {
  if (layout_.converted) {
    return row_of(*picture.noisy, component, y);
  }
  memory.resize(layout_.width_of(component));
  load_row(layout_.format, in[component].row<std::byte>(y), layout_.width_of(component), memory.data());
  return memory.data();
}

void PictureEstimates::load(const std::array<Plane, kMaxPlanes>& in, PictureState& picture) {
  noisy_guides_.take(picture.noisy_guide);
  resize_guides(*picture.noisy_guide, noisy_sets());
  take_sums(picture, 0);
  if (layout_.converted) {
    floats_.take(picture.noisy);
    for (int c = 0; c < layout_.colors(); ++c) {
      layout_.resize(*picture.noisy, c);
    }
  }
  layout_.for_each_band([&](int band) {
    if (layout_.converted) {
      convert(in, band, picture.plan->planes.opponent, *picture.noisy);
    }
    clear_sums(picture, 0, band);
    Scratch& scratch = scratch_.local();
    make_guides(band, noisy_sets(), picture.plan->guide_scales, *picture.noisy_guide,
                [&](int y, int of) { return noisy_row(picture, in, 0, y, scratch.rows[of]); });
  });
}

void PictureEstimates::convert(const std::array<Plane, kMaxPlanes>& in, int band, bool opponent,
                               FloatPlanes& out) const {
  for (int c = 0; c < layout_.colors(); ++c) {
    const PictureLayout::Rows rows = layout_.rows_of(band, c);
    for (int y = rows.first; y < rows.last; ++y) {
      load_row(layout_.format, in[c].row<std::byte>(y), layout_.width_of(c), row_of(out, c, y));
    }
  }
  if (opponent) {
    const PictureLayout::Rows rows = layout_.rows_of(band, 0);
    for (int y = rows.first; y < rows.last; ++y) {
      rgb_to_opponent_row(row_of(out, 0, y), row_of(out, 1, y), row_of(out, 2, y), layout_.width_of(0));
    }
  }
}

// The sets that have a noisy guide to be computed.
PictureLayout::Rows PictureEstimates::noisy_sets() const { return {layout_.samples_guide ? 1 : 0, 2}; }

void PictureEstimates::resize_guides(GuidePlanes& guides, PictureLayout::Rows sets) const {
  for (int set = sets.first; set < sets.last; ++set) {
    if (layout_.has_set(set)) {
      layout_.resize(guides, layout_.component_of(set));
    }
  }
}

// Computes the rows of a band of the sets' guides. luma_row(y, i) returns a row of luma; up to 4 rows, with
// different i, are in use at a time.
template <typename LumaRow>
void PictureEstimates::make_guides(int band, PictureLayout::Rows sets, const std::array<int, 2>& scales,
                                   GuidePlanes& guides, const LumaRow& luma_row) {
  for (int set = sets.first; set < sets.last; ++set) {
    if (!layout_.has_set(set)) {
      continue;
    }
    const int width = layout_.width_of(layout_.component_of(set));
    const PictureLayout::Rows band_rows = layout_.rows_of(band, layout_.component_of(set));
    for (int y = band_rows.first; y < band_rows.last; ++y) {
      const float* row = nullptr;
      if (set == 0) {
        row = luma_row(y, 0);
      } else {
        const int shift_y = layout_.format.chroma_shift_y;
        std::array<const float*, 4> rows{};
        int used = 0;
        for (int i = y << shift_y; i < std::min((y + 1) << shift_y, layout_.heights[0]); ++i, ++used) {
          rows[used] = luma_row(i, used);
        }
        AlignedVector<float>& mean = scratch_.local().mean;
        mean.resize(width);
        subsample_row(rows.data(), used, layout_.format.chroma_shift_x, layout_.format.width, width,
                      mean.data());
        row = mean.data();
      }
      AlignedVector<std::int16_t>& matching = scratch_.local().matching;
      matching.resize(width);
      matching_row(vbm4d::guide_matching(scales[set]), row, width, matching.data());
      std::transform(matching.begin(), matching.end(),
                     guides[set].begin() + static_cast<std::ptrdiff_t>(y) * width, guide_byte);
    }
  }
}

void PictureEstimates::take_sums(PictureState& picture, int step) {
  sums_.take(picture.sums[step]);
  StepSums& sums = *picture.sums[step];
  for (int c = 0; c < layout_.colors(); ++c) {
    sums.components[c].resize(layout_.width_of(c), layout_.heights[c]);
  }
  for (int set = 0; set < 2; ++set) {
    if (layout_.has_set(set)) {
      const auto blocks =
          static_cast<std::size_t>(block_count(layout_.width_of(layout_.component_of(set)), kLockedColumns)) *
          block_count(layout_.heights[layout_.component_of(set)], kLockedRows);
      if (sums.locks[set].size() != blocks) {
        sums.locks[set] = std::vector<std::mutex>(blocks);
      }
    }
  }
}

void PictureEstimates::clear_sums(PictureState& picture, int step, int band) const {
  for (int c = 0; c < layout_.colors(); ++c) {
    const PictureLayout::Rows rows = layout_.rows_of(band, c);
    for (int y = rows.first; y < rows.last; ++y) {
      picture.sums[step]->components[c].clear_row(y);
    }
  }
}

// The estimate of a row in the last step or the one before; for components that are not filtered, the
// samples.
void PictureEstimates::estimate_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in,
                                    int step, int component, int y, float* out) const {
  if (picture.is_filtered(component)) {
    picture.sums[step]->components[component].estimate_row(tables_[step], y, out);
  } else if (layout_.converted) {
    std::copy_n(row_of(*picture.noisy, component, y), layout_.width_of(component), out);
  } else {
    load_row(layout_.format, in[component].row<std::byte>(y), layout_.width_of(component), out);
  }
}

void PictureEstimates::make_basic(const std::array<Plane, kMaxPlanes>& in, PictureState& picture) {
  basic_guides_.take(picture.basic_guide);
  resize_guides(*picture.basic_guide, {0, 2});
  if (layout_.converted) {
    floats_.take(picture.basic);
  } else {
    values_.take(picture.basic_values);
  }
  for (int c = 0; c < layout_.colors(); ++c) {
    if (layout_.converted) {
      layout_.resize(*picture.basic, c);
    } else {
      layout_.resize(*picture.basic_values, c);
    }
  }
  layout_.for_each_band([&](int band) {
    Scratch& scratch = scratch_.local();
    const PictureLayout::Rows luma = layout_.rows_of(band, 0);
    scratch.luma.resize(static_cast<std::size_t>(PictureLayout::kBandRows) * layout_.format.width);
    const auto luma_row = [&](int y) {
      return scratch.luma.data() + static_cast<std::ptrdiff_t>(y - luma.first) * layout_.format.width;
    };
    for (int c = 0; c < layout_.colors(); ++c) {
      const PictureLayout::Rows rows = layout_.rows_of(band, c);
      for (int y = rows.first; y < rows.last; ++y) {
        scratch.rows[0].resize(layout_.width_of(c));
        float* const row = c == 0 ? luma_row(y) : scratch.rows[0].data();
        estimate_row(picture, in, 0, c, y, row);
        const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * layout_.width_of(c);
        if (layout_.converted) {
          std::copy_n(row, layout_.width_of(c), (*picture.basic)[c].data() + offset);
        } else {
          matching_row(kBasicScale, row, layout_.width_of(c), (*picture.basic_values)[c].data() + offset);
        }
      }
    }
    make_guides(band, {0, 2}, picture.plan->guide_scales, *picture.basic_guide,
                [&](int y, int /*of*/) { return luma_row(y); });
  });
  // The second step's sums replace the first's.
  picture.sums[1] = std::move(picture.sums[0]);
  layout_.for_each_band([&](int band) { clear_sums(picture, 1, band); });
}

void PictureEstimates::make_result(const std::array<Plane, kMaxPlanes>& in, PictureState& picture,
                                   const std::array<Plane, kMaxPlanes>& out) {
  const Bm3dPlan& plan = picture.plan->planes;
  for (int p = 0; p < layout_.format.plane_count(); ++p) {
    if (plan.copied[p]) {
      copy_plane(layout_.format, in[p], out[p]);
    }
  }
  if (!plan.sets.empty()) {
    layout_.for_each_band([&](int band) { store_estimate(picture, in, band, out); });
  }
  sums_.give_back(picture.sums[steps_ - 1]);
}

void PictureEstimates::store_estimate(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in,
                                      int band, const std::array<Plane, kMaxPlanes>& out) {
  const Bm3dPlan& plan = picture.plan->planes;
  std::array<AlignedVector<float>, 4>& memory = scratch_.local().rows;
  for (int p = 0; p < layout_.colors(); ++p) {
    const PictureLayout::Rows rows = layout_.rows_of(band, p);
    if (plan.opponent ? p > 0 : plan.copied[p]) {
      continue;
    }
    for (int y = rows.first; y < rows.last; ++y) {
      for (int each = p; each < (plan.opponent ? 3 : p + 1); ++each) {
        memory[each].resize(layout_.width_of(each));
        estimate_row(picture, in, steps_ - 1, each, y, memory[each].data());
      }
      if (plan.opponent) {
        opponent_to_rgb_row(memory[0].data(), memory[1].data(), memory[2].data(), layout_.width_of(0));
      }
      for (int each = p; each < (plan.opponent ? 3 : p + 1); ++each) {
        if (!plan.copied[each]) {
          store_row(layout_.format, memory[each].data(), layout_.width_of(each), out[each].row<std::byte>(y));
        }
      }
    }
  }
}

void PictureEstimates::release(PictureState& picture) {
  floats_.give_back(picture.noisy);
  floats_.give_back(picture.basic);
  values_.give_back(picture.basic_values);
  noisy_guides_.give_back(picture.noisy_guide);
  basic_guides_.give_back(picture.basic_guide);
  for (std::unique_ptr<StepSums>& sums : picture.sums) {
    sums_.give_back(sums);
  }
}

}  // namespace limpid::cpu
