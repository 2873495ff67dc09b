// SPDX-License-Identifier: MIT

#include "cuda/bm3d/bm3d.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "core/bm3d/transforms.h"
#include "cuda/bm3d/filter.h"

// The bound of sums. A is the greatest |sample - offset|, a_i the rows of the analysis (forward) matrix of an
// axis and s_i(x) the synthesis (inverse) matrix; the 3D transform is their tensor product. A patch of a
// filtered group is sum_i f_i c_i s_i(x), with the shrinkage factors f_i, and is added with a weight w. In
// both steps, w and the offset bound a contribution w |sample - offset| for any content:
//
// Step 1: f_i is 0 or 1 and w = 1 / (number of ones), so the contribution is at most the greatest single
// term, |c_i s_i(x)| <= A |a_i|_1 |s_i(x)|, a product over the axes.
//
// Step 2: F = sum f_i^2 and w = 1 / max(1, F), so by Cauchy-Schwarz the contribution is at most sqrt(F) /
// max(1, F) <= 1 times sqrt(sum c_i^2 s_i(x)^2). Along the patch's axes, sum_i c_i^2 s_i^2 <= max s^2 |c|^2
// <= max s^2 |forward|^2 k A^2; across the group, sum_j s_j(p)^2 |a_j|_1^2 A^2. At most A is added because
// the group's mean is shrunk toward 0 rather than toward the offset. Pictures do not come near this bound of
// about 6 A.
//
// This holds for white noise. If coefficients differ in their relative variances v_i, w is 1 / max(1, sum
// f_i^2 v_i), also at most 1, but many coefficients of little noise may be kept with a great weight. A
// filtered sample remains near the range of the picture's samples whichever coefficients are kept, so in
// practice contributions stay far below the bound, but this is not a proof. The kernels therefore enforce the
// bound: filter_fast() reduces the weight of such a group, and filter_any(), which is for comparisons, clamps
// its samples. A curve by brightness only reduces w (weight_factor()).
//
// filter_fast() adds in 32 bits, in which 128 such groups would leave too few fractional bits. It computes
// the maximum contribution of each group and moves great sums to 64 bits before they could overflow.

namespace limpid::cuda {
namespace {

struct Axis {
  TransformMatrices matrices;

  double analysis_sum(int i) const {
    double sum = 0;
    for (int x = 0; x < matrices.size; ++x) {
      sum += std::abs(matrices.forward[i * matrices.size + x]);
    }
    return sum;
  }
  double synthesis(int x, int i) const { return std::abs(matrices.inverse[x * matrices.size + i]); }

  double greatest_term() const {
    double greatest = 0;
    for (int x = 0; x < matrices.size; ++x) {
      for (int i = 0; i < matrices.size; ++i) {
        greatest = std::max(greatest, analysis_sum(i) * synthesis(x, i));
      }
    }
    return greatest;
  }

  // max s |forward| sqrt(k). The greatest row sum of the Gram matrix bounds the square of the operator's
  // norm.
  double energy_gain() const {
    const int k = matrices.size;
    double greatest_synthesis = 0;
    double gram_norm = 0;
    for (int i = 0; i < k; ++i) {
      double row = 0;
      for (int j = 0; j < k; ++j) {
        greatest_synthesis = std::max(greatest_synthesis, synthesis(i, j));
        double product = 0;
        for (int x = 0; x < k; ++x) {
          product += matrices.forward[i * k + x] * matrices.forward[j * k + x];
        }
        row += std::abs(product);
      }
      gram_norm = std::max(gram_norm, row);
    }
    return greatest_synthesis * std::sqrt(gram_norm * k);
  }

  double weighted_gain() const {
    double greatest = 0;
    for (int x = 0; x < matrices.size; ++x) {
      double sum = 0;
      for (int i = 0; i < matrices.size; ++i) {
        sum += std::pow(analysis_sum(i) * synthesis(x, i), 2);
      }
      greatest = std::max(greatest, sum);
    }
    return std::sqrt(greatest);
  }
};

// The greatest contribution for A = 1.
double contribution_bound(const Bm3dStep& step, bool wiener) {
  const Axis patch{transform_matrices(step.transform_2d, step.patch_size)};
  double bound = 0;
  for (int size = 1; size <= step.max_group_size; size *= 2) {
    const Axis group{transform_matrices(step.transform_1d, size)};
    bound = std::max(bound, wiener ? std::pow(patch.energy_gain(), 2) * group.weighted_gain() + 1
                                   : std::pow(patch.greatest_term(), 2) * group.greatest_term());
  }
  return bound;
}

}  // namespace

FixedPoint choose_fixed_point(const Bm3dStep& step, bool wiener, float amplitude, bool fast) {
  const double bound = contribution_bound(step, wiener) * static_cast<double>(amplitude);
  // A group's members are at different positions, of which only k^2 reach a sample, each with a different
  // value of the aggregation window.
  std::vector<double> window = kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta));
  std::sort(window.begin(), window.end(), std::greater<>());
  const auto capacity = static_cast<std::size_t>(std::bit_floor(static_cast<unsigned>(step.max_group_size)));
  window.resize(std::min(capacity, window.size()));
  const double per_group = std::accumulate(window.begin(), window.end(), 0.0);
  // Reference patches along one axis whose groups can have a member at a given position, including the extra
  // one at the border.
  const int reach = (step.search_window - 1) / step.spacing + 2;

  FixedPoint result;
  result.most_hits = static_cast<float>(per_group);
  // Each group adds its weight, at most 1, at most once at a position. A float holds 24 bits exactly.
  result.weight_bits = std::min(std::ilogb(0x1p31 / (static_cast<double>(reach) * reach + 1)), 24);
  if (fast) {
    // The greatest group uses a little more than half of what a warp may add before it searches for great
    // sums. A single contribution stays below 2^22 so that an addition can round it.
    result.numerator_scale = static_cast<float>(std::min(0x1p27 / per_group, 0x1p22) / (1.01 * bound));
  } else {
    constexpr double kGroupsAtSample = (129 + 15) * (129 + 15);
    result.numerator_scale =
        static_cast<float>(std::min(0x1p62 / (kGroupsAtSample * per_group * bound), 0x1p32));
  }
  result.greatest_contribution = static_cast<float>(1.01 * bound) * result.numerator_scale;
  return result;
}

std::span<const MatchingVariant> matching_variants() {
  static constexpr MatchingVariant kTable[] = {{"narrow", can_match_narrow, match_narrow},
                                               {"fast", can_match_fast, match_fast},
                                               {"any", can_do_any<Bm3dStep>, match_any}};
  return kTable;
}

std::span<const FilterVariant> filter_variants() {
  static constexpr FilterVariant kTable[] = {{{"fast", can_filter_fast, filter_fast}, true},
                                             {{"any", can_do_any<Bm3dStep>, filter_any}, false}};
  return kTable;
}

namespace {

// Groups are found and filtered in bands of grid rows whose members fit this size.
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;

// Greatest |sample - mid-gray| in code values; float samples are clamped to +-4096.
float amplitude(const FrameFormat& format) { return format.is_float() ? 4096.0F + 128.0F : 128.0F; }

std::size_t group_rows_per_band(const ReferenceGrid& grid, int capacity) {
  const std::size_t row_bytes = static_cast<std::size_t>(grid.columns) * capacity * sizeof(std::int16_t);
  // A multiple of the tile height of filter_fast().
  return std::max<std::size_t>(kGroupBytes / row_bytes / kFilterTileRows, 1) * kFilterTileRows;
}

}  // namespace

Bm3d::Step::Step(const Bm3dStep& step, bool wiener, const FrameFormat& format)
    : parameters(step),
      capacity(static_cast<int>(std::bit_floor(static_cast<unsigned>(step.max_group_size)))),
      matching(&choose(matching_variants(), step, device_limits())),
      filter(&choose(filter_variants(), step, device_limits())),
      fixed_point(
          choose_fixed_point(step, wiener, filter->tile_sums ? 128 : amplitude(format), filter->tile_sums)),
      tables(make_filter_tables(step)) {
  if (!filter->tile_sums) {
    const TransformMatrices matrices = transform_matrices(step.transform_2d, step.patch_size);
    std::vector<float> host(matrices.forward.begin(), matrices.forward.end());
    host.insert(host.end(), matrices.inverse.begin(), matrices.inverse.end());
    const std::vector<double> window = kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta));
    host.insert(host.end(), window.begin(), window.end());
    general_tables = DeviceMemory::copy_of(host);
  }
}

namespace {

const Bm3dParameters& validated(const Bm3dParameters& parameters) {
  parameters.validate();
  return parameters;
}

}  // namespace

Bm3d::Bm3d(const Bm3dParameters& parameters, const FrameFormat& format)
    : SpatialFilter(format),
      parameters_(validated(parameters)),
      hard_(parameters.hard_threshold, false, format) {
  if (parameters.wiener) {
    wiener_.emplace(*parameters.wiener, true, format);
  }
  warnings_ = warnings_of_small_planes(parameters, format);
  if (static_cast<int>(warnings_.size()) == format.color_plane_count()) {
    return;
  }
  const auto floats = [](int width, int height) {
    return static_cast<std::size_t>(plane_pitch(width)) * height * sizeof(float);
  };
  for (int p = 0; p < format.color_plane_count(); ++p) {
    noisy_[p] = DeviceMemory(floats(format.plane_width(p), format.plane_height(p)));
    basic_[p] = DeviceMemory(noisy_[p].bytes());
  }
  if (format.chroma_shift_x > 0 || format.chroma_shift_y > 0) {
    guide_ = DeviceMemory(floats(format.plane_width(1), format.plane_height(1)));
  }
  const int width = format.width;
  const int height = format.height;
  const std::size_t samples = static_cast<std::size_t>(width) * height;
  numerator_ = DeviceMemory(samples * sizeof(long long));
  weight_ = DeviceMemory(samples * sizeof(int));
  matching_ = DeviceMemory(static_cast<std::size_t>(MatchingPlane::pitch_of(width)) *
                           MatchingPlane::rows_of(height) * sizeof(std::int16_t));
  std::size_t members = 0;
  std::size_t brightness = 0;
  std::size_t scratch = 0;
  for (Step* step : {&hard_, wiener_ ? &*wiener_ : nullptr}) {
    if (step == nullptr) {
      continue;
    }
    const int k = step->parameters.patch_size;
    std::size_t step_groups = 0;
    for (int p = 0; p < format.color_plane_count(); ++p) {
      const ReferenceGrid grid = make_grid(std::max(format.plane_width(p), k),
                                           std::max(format.plane_height(p), k), k, step->parameters.spacing);
      if (p > 0 && format.color_model != ColorModel::kRgb) {
        brightness = std::max(brightness, static_cast<std::size_t>(grid.columns) * grid.rows);
      }
      const std::size_t count = grid.columns * std::min(group_rows_per_band(grid, step->capacity),
                                                        static_cast<std::size_t>(grid.rows));
      step_groups = std::max(step_groups, count);
    }
    members = std::max(members, step_groups * step->capacity);
    if (!step->filter->tile_sums) {
      scratch =
          std::max(scratch, GeneralFilter::scratch_floats(step->parameters, step->capacity) * sizeof(float));
    }
  }
  ranges_ = DeviceMemory(3 * sizeof(float));
  members_ = DeviceMemory(members * sizeof(std::int16_t));
  brightness_ = DeviceMemory(brightness * sizeof(float));
  if (scratch > 0) {
    scratch_ = DeviceMemory(scratch);
  }
}

std::size_t Bm3d::memory() const {
  std::size_t bytes = guide_.bytes() + matching_.bytes() + brightness_.bytes() + numerator_.bytes() +
                      weight_.bytes() + members_.bytes() + ranges_.bytes() + scratch_.bytes();
  for (int p = 0; p < 3; ++p) {
    bytes += noisy_[p].bytes() + basic_[p].bytes();
  }
  return bytes;
}

void Bm3d::filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                          const NoiseModel& noise, cudaStream_t stream) {
  if (!plan_ || plan_->noise != noise || plan_->heights != heights) {
    plan_ = make_plan(parameters_, format_, noise, heights);
  }
  const Bm3dPlan& plan = *plan_;
  for (int p = 0; p < format_.plane_count(); ++p) {
    if (plan.copied[p]) {
      copy_plane(p, in[p], out[p], heights[p], stream);
    }
  }
  if (plan.sets.empty()) {
    return;
  }

  const int colors = format_.color_plane_count();
  std::array<Component, 3> components;
  for (int c = 0; c < colors; ++c) {
    Component& component = components[c];
    const int width = plan.components[c].width;
    const int height = plan.components[c].height;
    component.offset = plan.opponent && c > 0 ? 0 : 128;
    component.noisy = {noisy_[c].as<float>(), width, height, plane_pitch(width)};
    component.basic = {basic_[c].as<float>(), width, height, plane_pitch(width)};
    load_plane(format_, in[c], component.noisy, stream);
  }
  if (plan.opponent) {
    rgb_to_opponent({components[0].noisy, components[1].noisy, components[2].noisy}, stream);
  }
  if (format_.is_float()) {
    check(cudaMemsetAsync(ranges_.as(), 0, ranges_.bytes(), stream));
    for (int c = 0; c < colors; ++c) {
      components[c].range = ranges_.as<float>() + c;
      measure_range(components[c].noisy, components[c].offset, ranges_.as<float>() + c, stream);
    }
  }
  const auto run = [&](const Step& step, bool second) {
    std::array<FloatPlane, 2> guides;
    for (std::size_t s = 0; s < plan.sets.size(); ++s) {
      const Bm3dComponentSet& set = plan.sets[s];
      guides[s] = set.guides[second ? 1 : 0].basic_estimate ? components[0].basic : components[0].noisy;
      if (set.subsampled()) {
        // Computed before any set is filtered, as filtering overwrites the noisy samples in the second step.
        const FloatPlane means = {guide_.as<float>(), set.width, set.height, plane_pitch(set.width)};
        subsample(guides[s], set.shift_x, set.shift_y, means, stream);
        guides[s] = means;
      }
    }
    for (std::size_t s = 0; s < plan.sets.size(); ++s) {
      run_step(step, second, plan.sets[s], guides[s], components, stream);
    }
  };
  run(hard_, false);
  if (wiener_) {
    run(*wiener_, true);
  }

  // The first step's estimates are in `basic`; the second step's have replaced the noisy samples.
  const auto result = [&](int c) {
    return wiener_ || plan.components[c].sigma == 0 ? components[c].noisy : components[c].basic;
  };
  if (plan.opponent) {
    opponent_to_rgb({result(0), result(1), result(2)}, stream);
  }
  for (int p = 0; p < colors; ++p) {
    if (!plan.copied[p]) {
      store_plane(format_, result(p), out[p], stream);
    }
  }
}

void Bm3d::run_step(const Step& step, bool wiener, const Bm3dComponentSet& set, const FloatPlane& guide_plane,
                    const std::array<Component, 3>& components, cudaStream_t stream) {
  const int k = step.parameters.patch_size;
  const auto sums_of = [&](const Component& component) {
    return AggregationSums{
        numerator_.as<long long>(),   weight_.as<int>(), step.fixed_point.numerator_scale,
        step.fixed_point.weight_bits, component.offset,  step.filter->tile_sums ? component.range : nullptr};
  };
  const int first = set.components.front();
  check(cudaEventRecord(sums_free_.get(), stream));
  clearing_.wait(sums_free_.get());
  clear_sums(sums_of(components[first]), set.width, set.height, clearing_.get());
  sums_clear_.record(clearing_);

  const Bm3dGuide& guide = set.guides[wiener ? 1 : 0];
  MatchingPlane plane;
  plane.width = set.width;
  plane.height = set.height;
  plane.pitch = MatchingPlane::pitch_of(set.width);
  plane.scale = guide.scale;
  plane.samples = matching_.as<std::int16_t>();
  prepare_matching(guide_plane, guide.smoothed, plane, stream);

  const ReferenceGrid grid = make_grid(set.width, set.height, k, step.parameters.spacing);
  const auto band = static_cast<int>(
      std::min(group_rows_per_band(grid, step.capacity), static_cast<std::size_t>(grid.rows)));
  // With a single band, the usual case, groups are found once for all planes. Sums belong to one plane at a
  // time, so with several bands groups are found again for each plane.
  Groups groups{members_.as<std::int16_t>(), step.capacity, -1, -1};
  const auto find_groups = [&](int first_row) {
    if (groups.first_row == first_row) {
      return;
    }
    groups.first_row = first_row;
    groups.last_row = std::min(first_row + band, grid.rows);
    step.matching->run(plane, grid, step.parameters, guide.distances, groups, stream);
  };
  const auto by_guide = [&](int c) { return plan_->components[c].curve_by_guide; };
  if (std::any_of(set.components.begin(), set.components.end(), by_guide)) {
    find_brightness(plane, grid, brightness_.as<float>(), stream);
  }
  for (const int c : set.components) {
    const Component& component = components[c];
    FilterJob job;
    job.step = step.parameters;
    job.lambda = parameters_.lambda;
    job.sigma = plan_->components[c].sigma;
    job.variances = plan_->components[c].coefficient_variances[wiener ? 1 : 0];
    job.curve = plan_->components[c].curve;
    job.brightness = by_guide(c) ? brightness_.as<float>() : nullptr;
    job.grid = grid;
    job.noisy = component.noisy;
    job.basic = wiener ? component.basic : FloatPlane{};
    job.fixed_point = step.fixed_point;
    job.tables = &step.tables;
    if (const auto* general = step.general_tables.as<float>(); general != nullptr) {
      job.general = {general, general + k * k, general + 2 * k * k, scratch_.as<float>()};
    }
    job.samples_are_halves =
        format_.color_model != ColorModel::kRgb && !format_.is_float() && format_.bit_depth <= 11;
    job.sums = sums_of(component);
    if (c != first) {
      clear_sums(job.sums, set.width, set.height, stream);
    }
    for (int first_row = 0; first_row < grid.rows; first_row += band) {
      find_groups(first_row);
      check(cudaStreamWaitEvent(stream, sums_clear_.get()));
      job.groups = groups;
      step.filter->run(job, stream);
    }
    finish(job.sums, k, step.tables, wiener ? component.noisy : component.basic, stream);
  }
}

std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& parameters, const FrameFormat& format) {
  return std::make_unique<Bm3d>(parameters, format);
}

}  // namespace limpid::cuda
