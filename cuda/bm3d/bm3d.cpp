#include "cuda/bm3d/bm3d.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/bm3d/bm3d.h"
#include "core/bm3d/transforms.h"
#include "cuda/bm3d/finish.h"

namespace limpid::cuda {
namespace {

// Groups are found and filtered in bands of grid rows whose members take no more than this.
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;

// Greatest |sample - mid-grey| in code values; float samples are clamped to +-4096.
float amplitude(const FrameFormat& format) {
  return format.sample_type == SampleType::kFloat32 ? 4096.0F + 128.0F : 128.0F;
}

std::size_t group_rows_per_band(const ReferenceGrid& grid, int capacity) {
  const std::size_t row_bytes = static_cast<std::size_t>(grid.columns) * capacity * sizeof(std::int16_t);
  // Whole tiles of filter_fast().
  return std::max<std::size_t>(kGroupBytes / row_bytes / kFilterTileRows, 1) * kFilterTileRows;
}

}  // namespace

Bm3d::Step::Step(const Bm3dStep& step, GroupTransform transform, bool wiener, const FrameFormat& format)
    : parameters(step),
      capacity(static_cast<int>(std::bit_floor(static_cast<unsigned>(step.max_group_size)))),
      match_fast(can_match_fast(step)),
      filter_fast(transform == GroupTransform::kSeparable && can_filter_fast(step)),
      fixed_point(
          choose_fixed_point(step, transform, wiener, filter_fast ? 128 : amplitude(format), filter_fast)),
      tables(make_filter_tables(step)) {
  if (!filter_fast) {
    const TransformMatrices matrices = transform_matrices(step.transform_2d, step.patch_size);
    std::vector<float> host(matrices.forward.begin(), matrices.forward.end());
    host.insert(host.end(), matrices.inverse.begin(), matrices.inverse.end());
    const std::vector<double> window = kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta));
    host.insert(host.end(), window.begin(), window.end());
    general_tables = DeviceMemory(host.size() * sizeof(float));
    check(cudaMemcpy(general_tables.as(), host.data(), general_tables.bytes(), cudaMemcpyHostToDevice));
  }
}

namespace {

const Bm3dParameters& validated(const Bm3dParameters& parameters) {
  parameters.validate();
  return parameters;
}

}  // namespace

Bm3d::Bm3d(const Bm3dParameters& parameters, const FrameFormat& format)
    : FrameFilter(format),
      matching_kind_(parameters.matching),
      lambda_(validated(parameters).lambda),
      hard_(parameters.hard_threshold, parameters.transform, false, format) {
  if (parameters.wiener) {
    wiener_.emplace(*parameters.wiener, parameters.transform, true, format);
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
  std::size_t scratch = 0;
  for (Step* step : {&hard_, wiener_ ? &*wiener_ : nullptr}) {
    if (step == nullptr) {
      continue;
    }
    const int k = step->parameters.patch_size;
    std::size_t step_groups = 0;
    for (int p = 0; p < format.color_plane_count(); ++p) {
      const ReferenceGrid grid = make_grid(std::max(format.plane_width(p), k),
                                           std::max(format.plane_height(p), k), k, step->parameters.step);
      const std::size_t count = grid.columns * std::min(group_rows_per_band(grid, step->capacity),
                                                        static_cast<std::size_t>(grid.rows));
      step_groups = std::max(step_groups, count);
    }
    members = std::max(members, step_groups * step->capacity);
    if (parameters.transform != GroupTransform::kSeparable) {
      step->fourier = std::make_unique<FourierFilter>(parameters.transform, step->parameters, step->capacity,
                                                      step != &hard_, step_groups);
      scratch = std::max(scratch, step->fourier->scratch_bytes());
    } else if (!step->filter_fast) {
      scratch =
          std::max(scratch, GeneralFilter::scratch_floats(step->parameters, step->capacity) * sizeof(float));
    }
  }
  ranges_ = DeviceMemory(3 * sizeof(float));
  members_ = DeviceMemory(members * sizeof(std::int16_t));
  if (scratch > 0) {
    scratch_ = DeviceMemory(scratch);
  }
}

std::size_t Bm3d::memory() const {
  std::size_t bytes = guide_.bytes() + matching_.bytes() + numerator_.bytes() + weight_.bytes() +
                      members_.bytes() + ranges_.bytes() + scratch_.bytes();
  for (int p = 0; p < 3; ++p) {
    bytes += noisy_[p].bytes() + basic_[p].bytes();
  }
  return bytes;
}

void Bm3d::filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                          const NoiseLevel& noise, cudaStream_t stream) {
  const int colors = format_.color_plane_count();
  const bool rgb = format_.color_model == ColorModel::kRgb;
  const int patch = std::max(hard_.parameters.patch_size, wiener_ ? wiener_->parameters.patch_size : 0);
  const std::array<float, 3> sigma = rgb ? opponent_sigma(noise.sigma) : noise.sigma;

  // Chroma is never larger than luma, so that a luma plane that is too small leaves nothing to filter.
  std::array<Component, 3> components;
  bool filtered = false;
  for (int p = 0; p < colors; ++p) {
    Component& component = components[p];
    component.width = format_.plane_width(p);
    component.height = heights[p];
    component.sigma = component.width >= patch && component.height >= patch ? sigma[p] : 0;
    component.offset = rgb && p > 0 ? 0 : 128;
    const int pitch = plane_pitch(component.width);
    component.noisy = {noisy_[p].as<float>(), component.width, component.height, pitch};
    component.basic = {basic_[p].as<float>(), component.width, component.height, pitch};
    filtered = filtered || component.sigma > 0;
  }
  const auto passes_through = [&](int p) {
    return !filtered || p >= colors || noise.sigma[p] == 0 || (!rgb && components[p].sigma == 0);
  };
  for (int p = 0; p < format_.plane_count(); ++p) {
    if (passes_through(p)) {
      copy_plane(p, in[p], out[p], heights[p], stream);
    }
  }
  if (!filtered) {
    return;
  }

  for (int p = 0; p < colors; ++p) {
    load_plane(format_, in[p], components[p].noisy, stream);
  }
  Component& luma = components[0];
  if (rgb) {
    rgb_to_opponent({components[0].noisy, components[1].noisy, components[2].noisy}, stream);
  }
  if (format_.sample_type == SampleType::kFloat32) {
    check(cudaMemsetAsync(ranges_.as(), 0, ranges_.bytes(), stream));
    for (int p = 0; p < colors; ++p) {
      components[p].range = ranges_.as<float>() + p;
      measure_range(components[p].noisy, components[p].offset, ranges_.as<float>() + p, stream);
    }
  }
  std::vector<Component*> full;
  std::vector<Component*> chroma;
  for (int p = 0; p < colors; ++p) {
    if (components[p].sigma > 0) {
      const bool subsampled = p > 0 && (format_.chroma_shift_x > 0 || format_.chroma_shift_y > 0);
      (subsampled ? chroma : full).push_back(&components[p]);
    }
  }
  const auto run = [&](const Step& step, bool second) {
    const Guide luma_guide{second ? luma.basic : luma.noisy,
                           !second && !rgb && format_.sample_type == SampleType::kUint8,
                           static_cast<double>(luma.sigma)};
    Guide chroma_guide;
    if (!chroma.empty()) {
      // Taken before the full planes are filtered, which in the second step overwrites the noisy samples.
      const int shifts = format_.chroma_shift_x + format_.chroma_shift_y;
      chroma_guide = {components[1].noisy, false, luma_guide.sigma / std::sqrt(1 << shifts)};
      chroma_guide.plane.data = guide_.as<float>();
      subsample(luma_guide.plane, format_.chroma_shift_x, format_.chroma_shift_y, chroma_guide.plane, stream);
    }
    run_step(step, second, luma_guide, full, stream);
    run_step(step, second, chroma_guide, chroma, stream);
  };
  run(hard_, false);
  if (luma.sigma == 0) {
    luma.basic = luma.noisy;
  }
  if (wiener_) {
    run(*wiener_, true);
  }

  // The first step's estimates are in `basic`; the second step's have replaced the noisy samples.
  const auto result = [&](int p) {
    return wiener_ || components[p].sigma == 0 ? components[p].noisy : components[p].basic;
  };
  if (rgb) {
    opponent_to_rgb({result(0), result(1), result(2)}, stream);
  }
  for (int p = 0; p < colors; ++p) {
    if (!passes_through(p)) {
      store_plane(format_, result(p), out[p], stream);
    }
  }
}

void Bm3d::run_step(const Step& step, bool wiener, const Guide& guide,
                    const std::vector<Component*>& components, cudaStream_t stream) {
  if (components.empty()) {
    return;
  }
  const int k = step.parameters.patch_size;
  const int width = components[0]->width;
  const int height = components[0]->height;
  const auto sums_of = [&](const Component& component) {
    return AggregationSums{
        numerator_.as<long long>(),   weight_.as<int>(), step.fixed_point.numerator_scale,
        step.fixed_point.weight_bits, component.offset,  step.filter_fast ? component.range : nullptr};
  };
  check(cudaEventRecord(sums_free_.get(), stream));
  clearing_.wait(sums_free_.get());
  clear_sums(sums_of(*components[0]), width, height, clearing_.get());
  sums_clear_.record(clearing_);

  MatchingPlane plane;
  plane.width = width;
  plane.height = height;
  plane.pitch = MatchingPlane::pitch_of(width);
  plane.scale = matching_scale(guide.whole_code_values);
  plane.samples = matching_.as<std::int16_t>();
  const bool smooth = matching_kind_ == Matching::kStatistical && !wiener && guide.sigma > 0;
  prepare_matching(guide.plane, smooth, plane, stream);
  const MatchingDistances distances =
      matching_distances(matching_kind_, wiener, step.parameters, plane.scale, guide.sigma);

  const ReferenceGrid grid = make_grid(width, height, k, step.parameters.step);
  const auto band = static_cast<int>(
      std::min(group_rows_per_band(grid, step.capacity), static_cast<std::size_t>(grid.rows)));
  // With a single band, which is the rule, groups are found once for all planes; the sums serve one plane at
  // a time, so that with several bands they are found again for each.
  Groups groups{members_.as<std::int16_t>(), step.capacity, -1, -1};
  const auto find_groups = [&](int first_row) {
    if (groups.first_row == first_row) {
      return;
    }
    groups.first_row = first_row;
    groups.last_row = std::min(first_row + band, grid.rows);
    (step.match_fast ? match_fast : match_any)(plane, grid, step.parameters, distances, groups, stream);
  };
  for (Component* component : components) {
    FilterJob job;
    job.step = step.parameters;
    job.lambda = lambda_;
    job.sigma = component->sigma;
    job.grid = grid;
    job.noisy = component->noisy;
    job.basic = wiener ? component->basic : FloatPlane{};
    job.fixed_point = step.fixed_point;
    job.tables = &step.tables;
    job.samples_are_halves = format_.color_model != ColorModel::kRgb &&
                             format_.sample_type != SampleType::kFloat32 && format_.bit_depth <= 11;
    job.sums = sums_of(*component);
    if (component != components[0]) {
      clear_sums(job.sums, width, height, stream);
    }
    for (int first_row = 0; first_row < grid.rows; first_row += band) {
      find_groups(first_row);
      check(cudaStreamWaitEvent(stream, sums_clear_.get()));
      job.groups = groups;
      const auto* tables = step.general_tables.as<float>();
      if (step.fourier) {
        step.fourier->filter(job, tables + 2 * k * k, scratch_.as(), stream);
      } else if (step.filter_fast) {
        filter_fast(job, stream);
      } else {
        filter_any(job, {tables, tables + k * k, tables + 2 * k * k, scratch_.as<float>()}, stream);
      }
    }
    finish(job.sums, k, step.tables, wiener ? component->noisy : component->basic, stream);
  }
}

}  // namespace limpid::cuda
