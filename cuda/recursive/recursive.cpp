// SPDX-License-Identifier: MIT

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "core/recursive/recursive_parameters.h"
#include "cuda/motion/motion.h"
#include "cuda/recursive/recursive_kernels.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// The recursive filter. It stores the data of earlier frames itself. Decisions that depend on the content of
/// frames are made on the device (RecursionFlags).
class Recursive final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats or insufficient memory.
  Recursive(const RecursiveParameters& parameters, const FrameFormat& format);
  ~Recursive() override;

  Reach reach() const override { return reach_of(parameters_); }
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override;
  void forget() override;
  bool estimates_means() const override { return true; }
  std::size_t memory() const override;

 private:
  class Picture;

  RecursiveParameters parameters_;
  bool by_field_ = false;  ///< true if the last frame was filtered by field
  std::vector<std::unique_ptr<Picture>> pictures_;
};

namespace {

constexpr int kSide = recursive::kPatch;
constexpr std::size_t kAreaBytes = sizeof(float) * kSide * kSide;
// Maximum memory of a band of grid rows in which patches are merged.
constexpr std::size_t kBandBytes = std::size_t{96} << 20;
// Grid rows of a band, at least: more than cover a row of samples.
constexpr std::size_t kLeastRows = 2 * kSide;

const RecursiveParameters& validated_recursive(const RecursiveParameters& parameters) {
  parameters.validate();
  return parameters;
}

// The filter's components, planes and noise follow from BM3D's plan for patches of the same size.
Bm3dParameters planned_like() {
  Bm3dParameters parameters;
  parameters.hard_threshold.patch_size = kSide;
  parameters.hard_threshold.transform_2d = Transform2d::kDct;
  parameters.wiener.reset();
  return parameters;
}

// A plane of floats in device memory.
struct OwnPlane {
  DeviceMemory memory;
  FloatPlane plane;

  void allocate(int width, int height) {
    const int pitch = (width + 31) / 32 * 32;
    memory = DeviceMemory(static_cast<std::size_t>(pitch) * height * sizeof(float));
    plane = {memory.as<float>(), width, height, pitch};
  }
  void clear(cudaStream_t stream) const { check(cudaMemsetAsync(memory.as(), 0, memory.bytes(), stream)); }
};

}  // namespace

// One picture of each frame: the frame itself, or one of its fields.
class Recursive::Picture {
 public:
  Picture(const RecursiveParameters& parameters, const FrameFormat& format)
      : parameters_(parameters), format_(format) {}

  void enqueue(const SamplePlanes& in, const NoiseModel& noise, const PlaneHeights& heights,
               const SamplePlanes& out, cudaStream_t stream);
  void forget() { valid_ = false; }
  std::size_t memory() const { return bytes_; }

 private:
  struct Component {
    float sigma = 0;  // of the noise that the state's variances are relative to; 0: it is not filtered
    OwnPlane last;    // the last frame that was merged
    OwnPlane merged;
    OwnPlane result;
    DeviceMemory variances;
    DeviceMemory block_variances;
    DeviceMemory gains;  // of all patches of a step
    OwnPlane noisy;
    OwnPlane first_estimate;
    OwnPlane prior;
    OwnPlane pilot;
    std::array<ReferenceGrid, 2> grids;  // of both steps

    VarianceCells cells() const {
      return {noisy.plane.width / kSide, noisy.plane.height / kSide, variances.as<float>()};
    }
  };

  bool is_filtered(int c) const { return plan_->components[c].sigma > 0; }
  int component_count() const { return format_.color_plane_count(); }
  int shift_x(int c) const {
    return c > 0 && format_.color_model == ColorModel::kYuv ? format_.chroma_shift_x : 0;
  }
  int shift_y(int c) const {
    return c > 0 && format_.color_model == ColorModel::kYuv ? format_.chroma_shift_y : 0;
  }
  RecursionFlags* flags() const { return flags_.as<RecursionFlags>(); }
  template <typename Function>
  void for_each_filtered(const Function& function) {
    for (int c = 0; c < component_count(); ++c) {
      if (is_filtered(c)) {
        function(c, components_[c]);
      }
    }
  }

  void allocate(const PlaneHeights& heights);
  void allocate_patches();
  void adapt_state(cudaStream_t stream);
  void load(const SamplePlanes& in, cudaStream_t stream);
  void find_repeat(cudaStream_t stream);
  void merge(cudaStream_t stream);
  void search(const FloatPlane& luma, bool with_pilot, cudaStream_t stream);
  void build_pyramid(const FloatPlane& luma, MotionPyramid& pyramid, cudaStream_t stream);
  PatchJob job_of(int c, bool second) const;
  std::vector<PatchJob> jobs_of(std::span<const int> components, bool second) const;
  void run_step(std::span<const int> components, std::span<const PatchJob> jobs, cudaStream_t stream);
  void store(const SamplePlanes& out, cudaStream_t stream);

  RecursiveParameters parameters_;
  FrameFormat format_;
  std::optional<Bm3dPlan> plan_;
  std::optional<PlaneHeights> heights_;  // that memory has been allocated for
  bool valid_ = false;                   // there is a state
  std::array<Component, 3> components_;
  std::optional<MotionPyramid> reference_;
  std::optional<MotionPyramid> current_;
  std::optional<MotionEstimator> estimator_;
  std::optional<DeviceMotionField> field_;
  DeviceMemory vectors_;
  DeviceMemory bytes_of_luma_;
  DeviceMemory flags_;
  std::array<DeviceMemory, 3> patches_;  // estimates, merged, weights
  int patches_per_band_ = 0;
  std::size_t bytes_ = 0;
};

void Recursive::Picture::enqueue(const SamplePlanes& in, const NoiseModel& noise, const PlaneHeights& heights,
                                 const SamplePlanes& out, cudaStream_t stream) {
  if (!plan_ || plan_->noise != noise || plan_->heights != heights) {
    plan_ = make_plan(planned_like(), format_, noise, heights);
  }
  for (int p = 0; p < format_.plane_count(); ++p) {
    if (plan_->copied[p] && heights[p] > 0) {
      check(cudaMemcpy2DAsync(out[p].data, out[p].stride, in[p].data, in[p].stride,
                              static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample(),
                              heights[p], cudaMemcpyDeviceToDevice, stream));
    }
  }
  if (plan_->sets.empty()) {
    valid_ = false;
    return;
  }
  if (heights_ != heights) {
    allocate(heights);
  }
  adapt_state(stream);
  load(in, stream);
  check(cudaMemsetAsync(flags_.as(), 0, flags_.bytes(), stream));
  if (valid_) {
    find_repeat(stream);
  }
  merge(stream);
  store(out, stream);
  valid_ = true;
}

void Recursive::Picture::allocate(const PlaneHeights& heights) {
  valid_ = false;
  heights_ = heights;
  const int width = format_.width;
  reference_.emplace(width, heights[0]);
  current_.emplace(width, heights[0]);
  estimator_.emplace(width, heights[0]);
  field_.emplace(width, heights[0]);
  const std::size_t blocks = static_cast<std::size_t>(field_->columns()) * field_->rows();
  vectors_ = DeviceMemory(blocks * sizeof(recursive::EighthVector));
  bytes_of_luma_ = DeviceMemory(static_cast<std::size_t>(width) * heights[0]);
  flags_ = DeviceMemory(sizeof(RecursionFlags));
  for (int c = 0; c < component_count(); ++c) {
    Component& component = components_[c];
    const int own_width = format_.plane_width(c);
    for (OwnPlane* plane : {&component.last, &component.merged, &component.result, &component.noisy,
                            &component.first_estimate, &component.prior, &component.pilot}) {
      plane->allocate(own_width, heights[c]);
    }
    component.variances = DeviceMemory(
        std::max<std::size_t>(static_cast<std::size_t>(own_width / kSide) * (heights[c] / kSide), 1) *
        sizeof(float));
    component.block_variances = DeviceMemory(blocks * sizeof(float));
    const std::array<int, 2> spacings = {parameters_.spacing, parameters_.second_spacing};
    for (std::size_t s = 0; s < spacings.size(); ++s) {
      component.grids[s] =
          make_grid(std::max(own_width, kSide), std::max(heights[c], kSide), kSide, spacings[s]);
    }
  }
  allocate_patches();
  bytes_ = reference_->memory() + current_->memory() + estimator_->memory() + field_->memory() +
           vectors_.bytes() + bytes_of_luma_.bytes();
  for (const DeviceMemory& patches : patches_) {
    bytes_ += patches.bytes();
  }
  for (const Component& component : components_) {
    bytes_ += 7 * component.noisy.memory.bytes() + component.variances.bytes() +
              component.block_variances.bytes() + component.gains.bytes();
  }
}

// Memory for a band of the largest grid, at least kLeastRows, or for bands of two equal grids.
void Recursive::Picture::allocate_patches() {
  std::size_t columns = 0;
  std::size_t all = 0;
  for (int c = 0; c < component_count(); ++c) {
    const std::size_t passes = c == 0 ? 1 : kMostPasses;
    std::size_t patches = 0;
    for (const ReferenceGrid& grid : components_[c].grids) {
      columns = std::max(columns, passes * grid.columns);
      patches = std::max(patches, static_cast<std::size_t>(grid.columns) * grid.rows);
    }
    components_[c].gains = DeviceMemory(patches * sizeof(float));
    all = std::max(all, passes * patches);
  }
  const std::size_t band = std::min(std::max(kBandBytes / (2 * kAreaBytes), kLeastRows * columns), all);
  patches_per_band_ = static_cast<int>(band);
  patches_[0] = DeviceMemory(band * kAreaBytes);
  patches_[1] = DeviceMemory(band * kAreaBytes);
  patches_[2] = DeviceMemory(band * sizeof(float));
}

// Variances are relative to the noise, so a new noise level rescales them. If other components are filtered
// than before, the state is dropped.
void Recursive::Picture::adapt_state(cudaStream_t stream) {
  for (int c = 0; c < component_count(); ++c) {
    Component& component = components_[c];
    const float sigma = plan_->components[c].sigma;
    if ((component.sigma > 0) != (sigma > 0)) {
      valid_ = false;
    } else if (valid_ && sigma > 0 && component.sigma != sigma) {
      const float factor = component.sigma / sigma;
      scale_variances(component.cells(), factor * factor, stream);
    }
    component.sigma = sigma;
  }
}

void Recursive::Picture::load(const SamplePlanes& in, cudaStream_t stream) {
  for (int c = 0; c < component_count(); ++c) {
    if (components_[c].noisy.plane.height > 0) {
      load_plane(format_, in[c], components_[c].noisy.plane, stream);
    }
  }
  if (plan_->opponent) {
    rgb_to_opponent({components_[0].noisy.plane, components_[1].noisy.plane, components_[2].noisy.plane},
                    stream);
  }
}

void Recursive::Picture::find_repeat(cudaStream_t stream) {
  std::array<int, RecursionFlags::kComponents> blocks{};
  for_each_filtered([&](int c, const Component& component) {
    const Bm3dComponent& planned = plan_->components[c];
    const FloatPlane& noisy = component.noisy.plane;
    blocks[c] = (noisy.width + kSide - 1) / kSide * ((noisy.height + kSide - 1) / kSide);
    const float deviation = planned.sigma * (planned.curve ? std::ranges::min(*planned.curve) : 1);
    compare_frames(noisy, component.last.plane, deviation * deviation * (1 - planned.repetition), c, flags(),
                   stream);
  });
  decide_repeat(blocks, flags(), stream);
}

// The first component decides whether the frame is treated as a first one, before the others are merged.
void Recursive::Picture::merge(cudaStream_t stream) {
  if (valid_) {
    search(components_[0].noisy.plane, true, stream);
  }
  std::vector<int> filtered;
  for_each_filtered([&](int c, const Component& /*component*/) { filtered.push_back(c); });
  const std::span<const int> first = std::span(filtered).first(1);
  const std::span<const int> others = std::span(filtered).subspan(1);
  PatchJob decision = job_of(first[0], false);
  decision.counts = valid_;
  run_step(first, std::span(&decision, 1), stream);
  if (valid_) {
    decide_first(decision, stream);
    decision.counts = false;
    decision.only_first = true;
    run_step(first, std::span(&decision, 1), stream);
  }
  run_step(others, jobs_of(others, false), stream);
  if (valid_ && parameters_.motion_searches == 2 && is_filtered(0)) {
    search(components_[0].first_estimate.plane, false, stream);
  }
  for (const std::span<const int> set : {first, others}) {
    run_step(set, jobs_of(set, true), stream);
  }
  std::vector<PatchGains> gains;
  for_each_filtered([&](int /*c*/, const Component& component) {
    gains.push_back({component.grids[1], component.gains.as<float>(), component.cells()});
  });
  average_gains(gains, flags(), stream);
  build_pyramid(is_filtered(0) ? components_[0].result.plane : components_[0].noisy.plane, *reference_,
                stream);
}

// Finds the motion of a picture of luma, and follows it.
void Recursive::Picture::search(const FloatPlane& luma, bool with_pilot, cudaStream_t stream) {
  build_pyramid(luma, *current_, stream);
  estimator_->enqueue(*reference_, *current_, *field_, stream);
  const FollowedBlocks blocks = {field_->columns(), field_->rows(), vectors_.as<recursive::EighthVector>()};
  find_fractions({current_->samples(0), reference_->samples(0), current_->layout().levels[0].stride,
                  field_->vectors(), blocks, recursive::least_gain(plan_->components[0].sigma)},
                 stream);
  std::vector<WarpJob> jobs;
  for_each_filtered([&](int c, const Component& component) {
    jobs.push_back({blocks, shift_x(c), shift_y(c), component.merged.plane, component.result.plane,
                    component.cells(), component.prior.plane,
                    with_pilot ? component.pilot.plane : FloatPlane{},
                    component.block_variances.as<float>()});
  });
  warp_state(jobs, stream);
}

void Recursive::Picture::build_pyramid(const FloatPlane& luma, MotionPyramid& pyramid, cudaStream_t stream) {
  const FrameFormat format = {.width = luma.width, .height = luma.height};
  const SamplePlane bytes = {bytes_of_luma_.as(), luma.width};
  store_plane(format, luma, bytes, stream);
  pyramid.enqueue(format, {bytes}, stream);
}

PatchJob Recursive::Picture::job_of(int c, bool second) const {
  const Component& component = components_[c];
  const Bm3dComponent& planned = plan_->components[c];
  PatchJob job;
  job.second = second;
  job.has_prior = valid_;
  job.shift_x = shift_x(c);
  job.shift_y = shift_y(c);
  job.grid = component.grids[second ? 1 : 0];
  job.noisy = component.noisy.plane;
  job.prior = component.prior.plane;
  job.pilot = second ? component.first_estimate.plane : component.pilot.plane;
  job.luma = second && is_filtered(0) ? components_[0].first_estimate.plane : components_[0].noisy.plane;
  job.blocks = {field_->columns(), field_->rows(), vectors_.as<recursive::EighthVector>()};
  job.block_variances = component.block_variances.as<float>();
  const float threshold = coefficient_threshold(parameters_.lambda, 1);
  job.threshold = threshold * threshold;
  for (std::size_t i = 0; i < job.variances.size(); ++i) {
    job.variances[i] = planned.sigma * planned.sigma * planned.coefficient_variances[0][i];
  }
  if (planned.curve) {
    job.has_curve = true;
    std::ranges::copy(*planned.curve, job.curve.begin());
    job.scale = planned.curve->scale;
  }
  const std::vector<double> window = kaiser_window(kSide, double{recursive::kKaiserBeta});
  for (int i = 0; i < kSide; ++i) {
    job.window[i] = static_cast<float>(std::sqrt(window[i * kSide + i]));  // of an outer product
  }
  job.flags = flags();
  return job;
}

std::vector<PatchJob> Recursive::Picture::jobs_of(std::span<const int> components, bool second) const {
  std::vector<PatchJob> jobs;
  for (const int c : components) {
    jobs.push_back(job_of(c, second));
  }
  return jobs;
}

// The components are of one size, and share the memory of a band.
void Recursive::Picture::run_step(std::span<const int> components, std::span<const PatchJob> jobs,
                                  cudaStream_t stream) {
  if (components.empty()) {
    return;
  }
  const ReferenceGrid& grid = jobs[0].grid;
  const int rows = patches_per_band_ / static_cast<int>(components.size()) / grid.columns;
  std::vector<PatchPass> passes;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Component& component = components_[components[i]];
    const std::ptrdiff_t before = static_cast<std::ptrdiff_t>(i) * rows * grid.columns;
    PatchPass& pass = passes.emplace_back();
    pass.job = jobs[i];
    pass.results.estimates = patches_[0].as<float>() + before * kSide * kSide;
    pass.results.merged = patches_[1].as<float>() + before * kSide * kSide;
    pass.results.weights = patches_[2].as<float>() + before;
    pass.results.gains = component.gains.as<float>();
    pass.estimate = jobs[i].second ? component.result.plane : component.first_estimate.plane;
    pass.merged = component.merged.plane;
    pass.last = component.last.plane;
  }
  PatchResults band;
  while (band.last_row < grid.rows) {
    band.first_new_row = band.last_row;
    band.last_row = std::min(band.first_row + rows, grid.rows);
    band.first_sample = band.last_sample;
    band.last_sample = band.last_row < grid.rows ? grid.y(band.last_row) : passes[0].estimate.height;
    for (PatchPass& pass : passes) {
      pass.results.first_row = band.first_row;
      pass.results.last_row = band.last_row;
      pass.results.first_new_row = band.first_new_row;
      pass.results.first_sample = band.first_sample;
      pass.results.last_sample = band.last_sample;
    }
    merge_patches(passes, stream);
    gather_patches(passes, stream);
    while (grid.y(band.first_row) + kSide <= band.last_sample && band.first_row + 1 < grid.rows) {
      ++band.first_row;
    }
  }
}

void Recursive::Picture::store(const SamplePlanes& out, cudaStream_t stream) {
  std::array<FloatPlane, 3> results;
  for (int c = 0; c < component_count(); ++c) {
    results[c] = is_filtered(c) ? components_[c].result.plane : components_[c].noisy.plane;
  }
  if (plan_->opponent) {
    // The state keeps the components. The conversion overwrites memory that is no longer used.
    for (int c = 0; c < component_count(); ++c) {
      const FloatPlane& converted = components_[c].first_estimate.plane;
      check(cudaMemcpyAsync(converted.data, results[c].data, components_[c].noisy.memory.bytes(),
                            cudaMemcpyDeviceToDevice, stream));
      results[c] = converted;
    }
    opponent_to_rgb(results, stream);
  }
  for (int p = 0; p < component_count(); ++p) {
    if (!plan_->copied[p]) {
      store_plane(format_, results[p], out[p], stream);
    }
  }
}

Recursive::Recursive(const RecursiveParameters& parameters, const FrameFormat& format)
    : FrameFilter(format), parameters_(validated_recursive(parameters)) {
  warnings_ = warnings_of_small_planes(planned_like(), format);
  for (int i = 0; i < 2; ++i) {
    pictures_.push_back(std::make_unique<Picture>(parameters, format));
  }
}

Recursive::~Recursive() = default;

void Recursive::enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) {
  const FilteredFrame& current = window.frames[window.current];
  if (current.begins_anew || current.interlaced != by_field_) {
    forget();
  }
  by_field_ = current.interlaced;
  const auto pictures = pictures_of(current.interlaced);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    SamplePlanes picture_in;
    SamplePlanes picture_out;
    for (int p = 0; p < format_.plane_count(); ++p) {
      const PictureRows& rows = pictures[i];
      picture_in[p] = {current.planes[p].data + rows.first * current.planes[p].stride,
                       rows.spacing * current.planes[p].stride};
      picture_out[p] = {out[p].data + rows.first * out[p].stride, rows.spacing * out[p].stride};
    }
    pictures_[i]->enqueue(picture_in, current.noise, plane_heights(format_, pictures[i]), picture_out,
                          stream);
  }
}

void Recursive::forget() {
  for (const std::unique_ptr<Picture>& picture : pictures_) {
    picture->forget();
  }
}

std::size_t Recursive::memory() const {
  std::size_t bytes = 0;
  for (const std::unique_ptr<Picture>& picture : pictures_) {
    bytes += picture->memory();
  }
  return bytes;
}

std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& parameters,
                                               const FrameFormat& format) {
  return std::make_unique<Recursive>(parameters, format);
}

}  // namespace limpid::cuda
