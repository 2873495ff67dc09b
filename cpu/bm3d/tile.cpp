// SPDX-License-Identifier: MIT
#include "cpu/bm3d/tile.h"

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/bm3d/tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/bm3d/estimate-inl.h"
#include "cpu/bm3d/group_filter-inl.h"
#include "cpu/bm3d/matching-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

// Calls use(positions, size) for the group of each reference patch of the tile.
template <class Use>
HWY_ATTR void for_each_group(const StepJob& job, const Tile& tile, const MatchingRegion& region,
                             TileScratch& scratch, const Use& use) {
  const int* xs = job.grid_x.data() + tile.first_x;
  const int count = tile.last_x - tile.first_x;
  const auto most_of = [&](int) { return job.tables->step.max_group_size; };
  for (int gy = tile.first_y; gy < tile.last_y; ++gy) {
    const int y = job.grid_y[gy];
    if (region.patch == 8) {
      if (region.bytes) {
        match_row<8, kByteProducts>(job, region, xs, count, y, scratch, most_of, use);
      } else {
        match_row<8, false>(job, region, xs, count, y, scratch, most_of, use);
      }
    } else if (region.bytes) {
      match_row<0, kByteProducts>(job, region, xs, count, y, scratch, most_of, use);
    } else {
      match_row<0, false>(job, region, xs, count, y, scratch, most_of, use);
    }
  }
}

HWY_ATTR void process(const StepJob& job, const Tile& tile, TileScratch& scratch) {
  const Area reach = tile_reach(job, tile);
  const MatchingRegion region = prepare_region(job, reach.x0, reach.y0, reach.x1, reach.y1, scratch);
  const int k = region.patch;
  const int width = reach.x1 - reach.x0;
  const int height = reach.y1 - reach.y0;
  const std::size_t group_floats =
      static_cast<std::size_t>(64 * std::max(k * k, kBlockFloats / kPatchesPerBlock));
  scratch.noisy_group.resize(group_floats);
  scratch.basic_group.resize(group_floats);
  scratch.sums.resize(std::max(scratch.sums.size(), job.planes.size()));
  std::vector<LocalSums> sums;
  for (std::size_t p = 0; p < job.planes.size(); ++p) {
    TileScratch::Sums& local = scratch.sums[p];
    local.numerator.assign(static_cast<std::size_t>(width) * height, 0.0F);
    local.weight.assign(static_cast<std::size_t>(width) * height, 0.0F);
    sums.push_back({local.numerator.data(), local.weight.data(), reach.x0, reach.y0, width});
  }

  for_each_group(job, tile, region, scratch, [&](const Position* positions, int size) HWY_ATTR {
    int rounded = 1;
    while (rounded * 2 <= size) {
      rounded *= 2;
    }
    for (std::size_t p = 0; p < job.planes.size(); ++p) {
      if (k == 8) {
        filter_group_8x8(job, job.planes[p], positions, rounded, scratch, sums[p]);
      } else {
        filter_group_any(job, job.planes[p], positions, rounded, scratch, sums[p]);
      }
    }
  });

  const float scale = std::ldexp(1.0F, job.tables->sum_fraction_bits);
  for_each_locked_row(job.width, reach, *job.locks, [&](int x, int y, int count) HWY_ATTR {
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(y - reach.y0) * width + x - reach.x0;
    const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(y) * job.width + x;
    for (std::size_t p = 0; p < job.planes.size(); ++p) {
      AggregationSums& out = *job.planes[p].sums;
      flush(sums[p].numerator + from, scale, out.numerator.data() + to, count);
      flush(sums[p].weight + from, scale, out.weight.data() + to, count);
    }
  });
}

HWY_ATTR void match(const StepJob& job, const Tile& tile, TileScratch& scratch,
                    std::vector<std::vector<Position>>& groups) {
  const Area reach = tile_reach(job, tile);
  const MatchingRegion region = prepare_region(job, reach.x0, reach.y0, reach.x1, reach.y1, scratch);
  for_each_group(job, tile, region, scratch, [&](const Position* positions, int size) {
    groups.emplace_back(positions, positions + size);
  });
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

HWY_ATTR void estimate(const StepTables& tables, const std::int64_t* numerator,
                       const std::int64_t* const* weights, int width, float* out) {
  estimate_row_of(tables, numerator, weights, width, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(estimate);
HWY_EXPORT(process);
HWY_EXPORT(match);
HWY_EXPORT(target_name);

StepTables::StepTables(const Bm3dStep& step_parameters, float threshold_factor)
    : step(step_parameters), lambda(threshold_factor) {
  const auto to_floats = [](const std::vector<double>& values) {
    return std::vector<float>(values.begin(), values.end());
  };
  const TransformMatrices matrices = transform_matrices(step.transform_2d, step.patch_size);
  forward = to_floats(matrices.forward);
  inverse = to_floats(matrices.inverse);
  window = to_floats(kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta)));

  constexpr int kEstimateBits = 17;
  const int k = step.patch_size;
  const int groups_across = (step.search_window + k - 2) / step.spacing + 2;
  const int patches = groups_across * groups_across * std::min(step.max_group_size, k * k);
  sum_fraction_bits = 62 - kEstimateBits - std::bit_width(static_cast<unsigned>(patches));
}

CoefficientNoise make_coefficient_noise(const StepTables& tables, bool wiener,
                                        const Bm3dComponent& component) {
  const float sigma = component.sigma;
  const std::vector<float>& variances = component.coefficient_variances[wiener ? 1 : 0];
  const auto k = static_cast<std::size_t>(tables.step.patch_size);
  const float bound = wiener ? sigma * sigma : coefficient_threshold(tables.lambda, sigma);
  CoefficientNoise noise{std::vector<float>(k * k), std::vector<float>(k * k), component.curve,
                         component.curve_by_guide};
  if (noise.curve) {
    noise.least_deviation = *std::min_element(noise.curve->begin(), noise.curve->end());
  }
  noise.sigma = sigma;
  for (std::size_t v = 0; v < k; ++v) {
    for (std::size_t u = 0; u < k; ++u) {
      const float variance = variances[v * k + u];
      const std::size_t i = k == 8 ? u * k + v : v * k + u;
      noise.variances[i] = variance;
      noise.bounds[i] = bound * (wiener ? variance : std::sqrt(variance));
    }
  }
  return noise;
}

std::vector<int> reference_grid(int size, int patch, int spacing) {
  std::vector<int> grid;
  for (int i = 0; i < size - patch; i += spacing) {
    grid.push_back(i);
  }
  grid.push_back(size - patch);
  return grid;
}

Area tile_reach(const StepJob& job, const Tile& tile) {
  const int radius = job.tables->step.search_window / 2;
  const int k = job.tables->step.patch_size;
  return {std::max(job.grid_x[tile.first_x] - radius, 0), std::max(job.grid_y[tile.first_y] - radius, 0),
          std::min(job.grid_x[tile.last_x - 1] + radius + k, job.width),
          std::min(job.grid_y[tile.last_y - 1] + radius + k, job.height)};
}

void process_tile(const StepJob& job, const Tile& tile, TileScratch& scratch) {
  HWY_DYNAMIC_DISPATCH(process)(job, tile, scratch);
}

std::vector<std::vector<Position>> match_tile(const StepJob& job, const Tile& tile, TileScratch& scratch) {
  std::vector<std::vector<Position>> groups;
  HWY_DYNAMIC_DISPATCH(match)(job, tile, scratch, groups);
  return groups;
}

void estimate_row(const StepTables& tables, const std::int64_t* numerator, const std::int64_t* const* weights,
                  int width, float* out) {
  HWY_DYNAMIC_DISPATCH(estimate)(tables, numerator, weights, width, out);
}
const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace limpid::cpu
#endif
