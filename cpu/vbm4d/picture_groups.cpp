// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/picture_groups.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/base/parallel.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cpu/vbm4d/picture_estimates.h"

namespace limpid::cpu {
namespace {

// Maximum number of reference patches on each side of a tile: small enough that the samples and sums of all
// pictures in a tile's reach fit a core's second-level cache and that there are many tiles. Independent of
// the number of threads (cpu/bm3d/bm3d.cpp).
int trajectory_tile_references(int spacing) { return spacing >= 6 ? 6 : spacing >= 3 ? 16 : 24; }

std::int16_t matching_value(std::uint8_t byte) {
  return static_cast<std::int16_t>(std::max<int>(byte, kLeastGuideByte) - 128);
}

}  // namespace

PictureGroups::PictureGroups(const Vbm4dParameters& parameters, GroupStage stage, const PictureLayout& layout,
                             const std::array<StepTables, 2>& tables)
    : parameters_(parameters),
      span_(temporal_span(parameters)),
      stage_(std::move(stage)),
      layout_(layout),
      tables_(tables) {
  if (!layout_.converted) {
    using Type = PatchSamples::Type;
    noisy_samples_ = {.type = layout_.samples_guide ? Type::kUint8 : Type::kUint16,
                      .unit = static_cast<float>(1 / layout_.format.code_value())};
    basic_samples_ = {.type = Type::kInt16, .unit = 1.0F / kBasicScale.scale, .zero = 128};
  }
}

void PictureGroups::filter(const PictureWindow& window, int t, int step) {
  const Vbm4dPlan& plan = *window.picture(t).plan;
  if (plan.planes.sets.empty()) {
    return;
  }
  load_reference_guides(window, t, step);
  std::vector<TrajectoryJob> jobs;
  for (std::size_t s = 0; s < plan.planes.sets.size(); ++s) {
    jobs.push_back(make_job(window, t, step, plan.planes.sets[s], plan.bounds[s][step]));
  }
  const std::vector<JobTile> tiles = tiles_of(jobs, step);
  for_each_index(static_cast<int>(tiles.size()), 1,
                 [&](int i) { stage_.process(jobs[tiles[i].job], tiles[i].tile); });
}

void PictureGroups::load_reference_guides(const PictureWindow& window, int t, int step) {
  const PictureState& reference = window.picture(t);
  const std::array<Plane, kMaxPlanes> in = window.samples(layout_, t);
  for (int set = 0; set < 2; ++set) {
    if (layout_.has_set(set)) {
      layout_.resize(reference_guides_, layout_.component_of(set));
    }
  }
  layout_.for_each_band([&](int band) {
    for (int set = 0; set < 2; ++set) {
      if (!layout_.has_set(set)) {
        continue;
      }
      const int width = layout_.width_of(layout_.component_of(set));
      const PictureLayout::Rows rows = layout_.rows_of(band, layout_.component_of(set));
      for (int y = rows.first; y < rows.last; ++y) {
        const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * width;
        const std::uint8_t* const bytes = step == 1 ? (*reference.basic_guide)[set].data() + offset
                                          : layout_.samples_guide && set == 0
                                              ? in[0].row<const std::uint8_t>(y)
                                              : (*reference.noisy_guide)[set].data() + offset;
        std::transform(bytes, bytes + width, reference_guides_[set].begin() + offset, matching_value);
      }
    }
  });
}

std::vector<PictureGroups::JobTile> PictureGroups::tiles_of(const std::vector<TrajectoryJob>& jobs,
                                                            int step) const {
  std::vector<JobTile> tiles;
  const int references = trajectory_tile_references(tables_[step].step.spacing);
  for (std::size_t s = 0; s < jobs.size(); ++s) {
    const int columns = static_cast<int>(jobs[s].similar.grid_x.size());
    const int rows = static_cast<int>(jobs[s].similar.grid_y.size());
    // Columns of nearly equal size.
    const int across = block_count(columns, references);
    const int down = block_count(rows, references);
    for (int y = 0; y < down; ++y) {
      for (int x = 0; x < across; ++x) {
        tiles.push_back(
            {s, {x * columns / across, (x + 1) * columns / across, y * rows / down, (y + 1) * rows / down}});
      }
    }
  }
  return tiles;
}

TrajectoryJob PictureGroups::make_job(const PictureWindow& window, int t, int step,
                                      const Bm3dComponentSet& set,
                                      const vbm4d::TrajectoryBounds& bounds) const {
  const StepTables& tables = tables_[step];
  const int shape = set.subsampled() ? 1 : 0;
  TrajectoryJob job;
  job.tables = &tables;
  job.wiener = step == 1;
  job.numerator_scale = std::ldexp(1.0F, PictureSums::numerator_bits(tables.step.spacing, stage_.patches));
  job.width = set.width;
  job.height = set.height;
  job.shift_x = set.shift_x;
  job.shift_y = set.shift_y;
  job.bounds = bounds;
  job.similar.tables = &tables;
  job.similar.width = set.width;
  job.similar.height = set.height;
  const bool samples_guide = layout_.samples_guide && shape == 0;
  job.noisy_guide_is_samples = samples_guide;
  job.guide_is_samples = samples_guide && step == 0;
  job.noisy = noisy_samples_;
  job.basic = basic_samples_;
  job.similar.matching = reference_guides_[shape].data();
  job.similar.scale = vbm4d::kGuideScale;
  job.similar.distances = bounds.similar;
  job.similar.grid_x = reference_grid(set.width, vbm4d::kPatch, tables.step.spacing);
  job.similar.grid_y = reference_grid(set.height, vbm4d::kPatch, tables.step.spacing);
  for (const int c : set.components) {
    const Bm3dComponent& component = window.picture(t).plan->planes.components[c];
    job.noise.push_back(make_coefficient_noise(tables, step == 1, component));
    job.noise_over_time.push_back(noise_over_time(parameters_, step == 1, component.repetition));
  }
  const int first = std::max(t - span_.before, 0);
  const int last = std::min(t + span_.after, window.count - 1);
  job.current = t - first;
  for (int u = first; u <= last; ++u) {
    job.pictures.push_back(followed_picture(window, u, step, set, u >= t - span_.spread));
  }
  return job;
}

// `wanted`: the picture gets estimates.
FollowedPicture PictureGroups::followed_picture(const PictureWindow& window, int u, int step,
                                                const Bm3dComponentSet& set, bool wanted) const {
  const PictureState& picture = window.picture(u);
  const int shape = set.subsampled() ? 1 : 0;
  const std::array<Plane, kMaxPlanes> in = window.samples(layout_, u);
  const auto values = [&](const auto& plane) {
    return PictureSamples{reinterpret_cast<const std::byte*>(plane.data()),
                          static_cast<std::ptrdiff_t>(set.width * sizeof(plane[0]))};
  };
  const auto samples = [&](int c) {
    return layout_.converted ? values((*picture.noisy)[c]) : PictureSamples{in[c].data, in[c].stride};
  };
  FollowedPicture seen;
  seen.noisy_guide = layout_.samples_guide && shape == 0 ? samples(0) : values((*picture.noisy_guide)[shape]);
  seen.guide = step == 0 ? seen.noisy_guide : values((*picture.basic_guide)[shape]);
  seen.back = picture.back.get();
  seen.ahead = picture.ahead.get();
  if (wanted) {
    seen.locks = &picture.sums[step]->locks[shape];
  }
  for (std::size_t i = 0; i < set.components.size(); ++i) {
    const int c = set.components[i];
    FollowedPicture::Plane& plane = seen.planes[i];
    plane.noisy = samples(c);
    if (step == 1) {
      // A picture without noise has no other estimate.
      plane.basic = layout_.converted ? values((*picture.basic)[c]) : values((*picture.basic_values)[c]);
    }
    plane.sums = wanted ? &picture.sums[step]->components[c] : nullptr;
  }
  return seen;
}

}  // namespace limpid::cpu
