// SPDX-License-Identifier: MIT
#include "cuda/vbm4d/vbm4d.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "core/bm3d/bm3d_parameters.h"
#include "cuda/bm3d/matching.h"

namespace limpid::cuda {
namespace {

// Groups are found and filtered in bands of grid rows within this size.
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;

constexpr std::size_t kHalfBytes = sizeof(std::uint16_t);

const Vbm4dParameters& validated_vbm4d(const Vbm4dParameters& parameters) {
  parameters.validate();
  return parameters;
}

int capacity_of(const Vbm4dStep& step) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(step.max_group_size)));
}

int pitch_of(int width) { return (width + 31) / 32 * 32; }

}  // namespace

SamplePlanes Vbm4d::Sequence::planes(const SamplePlanes& of_frame) const {
  SamplePlanes result;
  for (std::size_t p = 0; p < result.size(); ++p) {
    if (of_frame[p].data != nullptr) {
      result[p] = {of_frame[p].data + rows.first * of_frame[p].stride, rows.spacing * of_frame[p].stride};
    }
  }
  return result;
}

Vbm4d::Step::Step(const Vbm4dStep& step, const Bm3dStep& of_bm3d)
    : parameters(step),
      similar(of_bm3d),
      matching(&choose(matching_variants(), of_bm3d, device_limits())),
      tables(make_filter_tables(of_bm3d)) {}

// Bytes of the trajectories of a grid row.
std::size_t Vbm4d::row_bytes(const ReferenceGrid& grid, bool second_step) const {
  const Vbm4dStep& of_step = step(second_step ? 1 : 0).parameters;
  return static_cast<std::size_t>(grid.columns) *
         Trajectories::bytes_of(span_.frames(), capacity_of(of_step));
}

// Bytes of a sample in the format for groups.
std::size_t Vbm4d::noisy_bytes() const { return narrow_ ? kHalfBytes : sizeof(float); }

// A multiple of the tile height.
int Vbm4d::rows_per_band(const ReferenceGrid& grid, bool second_step) const {
  std::size_t bytes = row_bytes(grid, second_step);
  if (stage_ != nullptr) {
    bytes += grid.columns * stage_->bytes_per_group(second_step);
  }
  const std::size_t tiles = kGroupBytes / bytes / kGroupTile;
  return static_cast<int>(std::min<std::size_t>(std::max<std::size_t>(tiles, 1) * kGroupTile, grid.rows));
}

Vbm4d::Vbm4d(const Vbm4dParameters& parameters, const FrameFormat& format,
             std::unique_ptr<const GroupStage> stage)
    : FrameFilter(format),
      parameters_(validated_vbm4d(parameters)),
      span_(temporal_span(parameters)),
      stage_(std::move(stage)),
      hard_(parameters.hard_threshold, bm3d_of(parameters).hard_threshold),
      executor_(parameters, format) {
  if (parameters.wiener) {
    wiener_.emplace(*parameters.wiener, *bm3d_of(parameters).wiener);
  }
  warnings_ = warnings_of_small_planes(bm3d_of(parameters), format);
  if (static_cast<int>(warnings_.size()) == format.color_plane_count()) {
    return;  // all planes are too small
  }
  // For the groups of a stage, the number of patches that overlap is unbounded.
  narrow_ = format.color_model != ColorModel::kRgb && !format.is_float() && format.bit_depth <= 11 &&
            stage_ == nullptr;
  const auto sums_of = [&](const Step& of_step) {
    return stage_ == nullptr ? GroupSums(narrow_, of_step.parameters, span_) : GroupSums::of_patches();
  };
  hard_.sums = sums_of(hard_);
  if (wiener_) {
    wiener_->sums = sums_of(*wiener_);
  }
  const auto floats = [](int width, int height) {
    return static_cast<std::size_t>(pitch_of(width)) * height * sizeof(float);
  };
  std::size_t groups = 0;
  std::size_t brightness = 0;
  std::size_t of_stage = 0;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const int width = format.plane_width(p);
    const int height = format.plane_height(p);
    scratch_[p] = DeviceMemory(floats(width, height));
    for (int s = 0; s < steps(); ++s) {
      const ReferenceGrid grid =
          make_grid(std::max(width, limpid::vbm4d::kPatch), std::max(height, limpid::vbm4d::kPatch),
                    limpid::vbm4d::kPatch, step(s).parameters.spacing);
      const std::size_t rows = rows_per_band(grid, s == 1);
      groups = std::max(groups, row_bytes(grid, s == 1) * rows);
      if (p > 0 && format.color_model != ColorModel::kRgb) {
        brightness = std::max(brightness, static_cast<std::size_t>(grid.columns) * grid.rows);
      }
      if (stage_ != nullptr) {
        of_stage = std::max(of_stage, stage_->bytes_per_group(s == 1) * grid.columns * rows);
      }
    }
  }
  if (format.chroma_shift_x > 0 || format.chroma_shift_y > 0) {
    means_ = DeviceMemory(floats(format.plane_width(1), format.plane_height(1)));
  }
  groups_ = DeviceMemory(groups);
  brightness_ = DeviceMemory(brightness * sizeof(float));
  stage_memory_ = DeviceMemory(of_stage);
  matching_ = DeviceMemory(static_cast<std::size_t>(MatchingPlane::pitch_of(format.width)) *
                           MatchingPlane::rows_of(format.height) * sizeof(std::int16_t));
  std::vector<float> transforms(GroupTransforms::floats());
  GroupTransforms::fill(transforms.data());
  transforms_ = DeviceMemory::copy_of(transforms);
  if (wiener_ && parameters_.motion_precision > 1) {
    std::vector<unsigned> interpolating(InterpolatingTransforms::kWords);
    InterpolatingTransforms::fill(wiener_->similar, interpolating.data());
    interpolating_ = DeviceMemory::copy_of(interpolating);
  }
}

std::size_t Vbm4d::memory() const {
  std::size_t bytes = pooled_ + means_.bytes() + matching_.bytes() + groups_.bytes() + brightness_.bytes() +
                      stage_memory_.bytes() + transforms_.bytes() + interpolating_.bytes();
  for (const DeviceMemory& plane : scratch_) {
    bytes += plane.bytes();
  }
  for (const auto& [height, motion] : motion_) {
    bytes += motion.bytes + motion.estimator.memory();
  }
  return bytes;
}

DeviceMemory Vbm4d::take(std::size_t bytes) {
  std::vector<DeviceMemory>& idle = idle_[bytes];
  if (idle.empty()) {
    DeviceMemory memory(bytes);
    pooled_ += bytes;
    return memory;
  }
  DeviceMemory memory = std::move(idle.back());
  idle.pop_back();
  return memory;
}

// Later work on the stream may write to it, because it runs after all work before.
void Vbm4d::give_back(DeviceMemory& memory) {
  if (memory.bytes() > 0) {
    std::vector<DeviceMemory>& idle = idle_[memory.bytes()];
    idle.push_back(std::move(memory));
    memory = DeviceMemory();
  }
}

void Vbm4d::give_back_samples(Picture& picture) {
  for (std::size_t c = 0; c < picture.noisy.size(); ++c) {
    give_back(picture.noisy[c]);
    give_back(picture.basic[c]);
  }
  for (DeviceMemory& guide : picture.guides[1]) {
    give_back(guide);
  }
}

void Vbm4d::give_back_motion(Picture& picture) {
  const auto give = [](auto& owned, auto& idle) {
    if (owned != nullptr) {
      idle.push_back(std::move(owned));
    }
  };
  if (picture.pyramid != nullptr) {
    give(picture.pyramid, motion_.at(picture.pyramid->height()).pyramids);
  }
  if (picture.plan != nullptr) {
    const auto motion = motion_.find(picture.plan->planes.heights[0]);
    if (motion != motion_.end()) {
      give(picture.ahead, motion->second.fields);
      give(picture.back, motion->second.fields);
    }
  }
}

void Vbm4d::renew(FrameState& state) {
  for (Picture& picture : static_cast<State&>(state).pictures) {
    release(picture);
    for (auto& sums : picture.sums) {
      for (DeviceMemory& component : sums) {
        give_back(component);
      }
    }
    picture = Picture();
  }
}

void Vbm4d::enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) {
  executor_.filter<State>(
      window,
      [&](const auto& sequence) {
        return Sequence{sequence, out, stream};
      },
      *this);
}

bool Vbm4d::has_guide(const Sequence& sequence, int kind) const {
  const auto fits = [&](int plane) {
    return format_.plane_width(plane) >= limpid::vbm4d::kPatch &&
           sequence.heights[plane] >= limpid::vbm4d::kPatch;
  };
  return fits(0) && (kind == 0 || (means_.bytes() > 0 && fits(1)));
}

FloatPlane Vbm4d::scratch(const Sequence& sequence, int component) const {
  const int width = format_.plane_width(component);
  return {scratch_[component].as<float>(), width, sequence.heights[component], pitch_of(width)};
}

FloatPlane Vbm4d::means(const Sequence& sequence) const {
  const int width = format_.plane_width(1);
  return {means_.as<float>(), width, sequence.heights[1], pitch_of(width)};
}

GroupSamples Vbm4d::samples_of(int component) const {
  // Float samples may be far outside the range of pictures, and their coefficients must fit halves.
  constexpr float kUnitOfFloats = 1.0F / 32;
  return {format_.color_model == ColorModel::kRgb && component > 0 ? 0.0F : 128.0F,
          format_.is_float() ? kUnitOfFloats : 1.0F, pitch_of(format_.plane_width(component))};
}

void Vbm4d::release(Picture& picture) {
  for (DeviceMemory& guide : picture.guides[0]) {
    give_back(guide);
  }
  give_back_samples(picture);
  give_back_motion(picture);
}

// Leaves noisy samples in code values, by component, in scratch memory.
void Vbm4d::load_noisy(const Sequence& sequence, int i) {
  const SamplePlanes planes = sequence.planes(sequence.frame(i).planes);
  for (int c = 0; c < format_.color_plane_count(); ++c) {
    load_plane(format_, planes[c], scratch(sequence, c), sequence.stream);
  }
  if (format_.color_model == ColorModel::kRgb) {
    rgb_to_opponent({scratch(sequence, 0), scratch(sequence, 1), scratch(sequence, 2)}, sequence.stream);
  }
}

// Uses luma in scratch memory.
void Vbm4d::make_guides(const Sequence& sequence, int i, int step) {
  Picture& picture = sequence.picture(i);
  for (int kind = 0; kind < kKinds; ++kind) {
    if (!has_guide(sequence, kind)) {
      continue;
    }
    FloatPlane values = scratch(sequence, 0);
    if (kind == 1) {
      values = means(sequence);
      subsample(scratch(sequence, 0), format_.chroma_shift_x, format_.chroma_shift_y, values,
                sequence.stream);
    }
    DeviceMemory& guide = picture.guides[step][kind];
    guide = take(TrajectoryGuide::bytes_of(values.width, values.height));
    prepare_guide(values, limpid::vbm4d::guide_matching(picture.plan->guide_scales[kind]),
                  TrajectoryGuide::first_of(guide.as<std::int8_t>(), values.width), sequence.stream);
  }
}

void Vbm4d::load(const Sequence& sequence, int i) {
  Picture& picture = sequence.picture(i);
  load_noisy(sequence, i);
  for (int c = 0; c < format_.color_plane_count(); ++c) {
    const FloatPlane values = scratch(sequence, c);
    if (values.height == 0) {
      continue;
    }
    const GroupSamples samples = samples_of(c);
    picture.noisy[c] = take(samples.positions(values.height) * noisy_bytes());
    (narrow_ ? store_halves : store_floats)(values, samples, picture.noisy[c].as(), sequence.stream);
  }
  make_guides(sequence, i, 0);
  if (has_guide(sequence, 0)) {
    find_motion(sequence, i);
  }
}

// Motion between the picture and the one before it.
void Vbm4d::find_motion(const Sequence& sequence, int i) {
  const int width = format_.width;
  const int height = sequence.heights[0];
  Motion& motion = motion_.try_emplace(height, width, height).first->second;
  const auto take_one = [&](auto& owned, auto& idle) {
    if (idle.empty()) {
      owned =
          std::make_unique<typename std::remove_reference_t<decltype(owned)>::element_type>(width, height);
      motion.bytes += owned->memory();
    } else {
      owned = std::move(idle.back());
      idle.pop_back();
    }
  };
  Picture& picture = sequence.picture(i);
  take_one(picture.pyramid, motion.pyramids);
  picture.pyramid->enqueue(format_, sequence.planes(sequence.frame(i).planes), sequence.stream);
  if (i == 0) {
    return;
  }
  Picture& before = sequence.picture(i - 1);
  if (before.pyramid == nullptr) {
    return;  // no group uses it
  }
  take_one(before.ahead, motion.fields);
  take_one(picture.back, motion.fields);
  motion.estimator.enqueue_both(*before.pyramid, *picture.pyramid, {*before.ahead, before.plan->motion_noise},
                                {*picture.back, picture.plan->motion_noise}, sequence.stream);
  if (before.plan->guide_scales != picture.plan->guide_scales) {
    before.ahead->cut(sequence.stream);
    picture.back->cut(sequence.stream);
  }
  motion.pyramids.push_back(std::move(before.pyramid));
}

// The search for the groups of a component set, and memory for those of `band` rows.
TrajectoryJob Vbm4d::trajectory_job(const Sequence& sequence, const GroupStep& groups,
                                    const Bm3dComponentSet& set,
                                    const limpid::vbm4d::TrajectoryBounds& bounds, int& band) {
  const Step& own_step = step(groups.number);
  TrajectoryJob job;
  job.grid = make_grid(set.width, set.height, limpid::vbm4d::kPatch, own_step.parameters.spacing);
  job.shift_x = set.shift_x;
  job.shift_y = set.shift_y;
  job.own = groups.picture - groups.first;
  for (int p = groups.first; p <= groups.last; ++p) {
    const Picture& picture = sequence.picture(p);
    const auto guide = [&](int of_step) {
      return TrajectoryGuide::first_of(picture.guides[of_step][set.subsampled() ? 1 : 0].as<std::int8_t>(),
                                       set.width);
    };
    const int at = p - groups.first;
    job.guides[at] = guide(groups.number);
    job.noisy_guides[at] = guide(0);
    job.ahead[at] = p < groups.last ? FollowedField(*picture.ahead) : FollowedField();
    job.back[at] = p > groups.first ? FollowedField(*picture.back) : FollowedField();
  }
  job.columns = format_.width / MotionField::kBlock;
  job.rows = sequence.heights[0] / MotionField::kBlock;
  job.bounds = bounds;
  job.step = own_step.similar;
  job.matching = own_step.matching;
  job.similar = {matching_.as<std::int16_t>(), limpid::vbm4d::kGuideScale, set.width, set.height,
                 MatchingPlane::pitch_of(set.width)};
  band = rows_per_band(job.grid, groups.number == 1);
  const std::size_t count = static_cast<std::size_t>(job.grid.columns) * band;
  Trajectories& found = job.out;
  found.pictures = groups.last - groups.first + 1;
  found.capacity = capacity_of(own_step.parameters);
  found.shapes = groups_.as<unsigned>();
  found.places = found.shapes + count;
  found.members = reinterpret_cast<std::int16_t*>(found.places + count * found.pictures);
  if (job.bounds.quarters) {
    found.quarters = reinterpret_cast<std::uint8_t*>(found.members + count * found.capacity);
  }
  return job;
}

// Filters the groups of a band in one component.
void Vbm4d::filter_component(const Sequence& sequence, const GroupStep& groups,
                             const TrajectoryJob& trajectories, int c, cudaStream_t stream) {
  const Step& own_step = step(groups.number);
  const bool second = groups.number == 1;
  const Bm3dComponent& component = sequence.picture(groups.picture).plan->planes.components[c];
  GroupJob job;
  job.grid = trajectories.grid;
  job.groups = trajectories.out;
  job.own = trajectories.own;
  job.format = own_step.sums;
  job.samples = samples_of(c);
  const std::size_t sum_bytes = own_step.sums.bytes_of(job.samples.pitch, trajectories.similar.height);
  for (int p = groups.first; p <= groups.last; ++p) {
    Picture& picture = sequence.picture(p);
    const int at = p - groups.first;
    job.noisy[at] = picture.noisy[c].as();
    job.basic[at] = second ? picture.basic[c].as() : nullptr;
    // If nothing is filtered, estimates are the noisy samples.
    if (p < groups.first_estimated || picture.plan->planes.components[c].sigma == 0) {
      continue;
    }
    DeviceMemory& sums = picture.sums[groups.number][c];
    if (sums.bytes() == 0) {
      sums = take(sum_bytes);
      check(cudaMemsetAsync(sums.as(), 0, sum_bytes, stream));
    }
    job.sums[at] = sums.as();
  }
  job.lambda = parameters_.lambda;
  job.over_time = noise_over_time(parameters_, second, component.repetition);
  job.sigma = component.sigma;
  job.variances = component.coefficient_variances[groups.number];
  job.curve = component.curve;
  job.brightness = component.curve_by_guide ? brightness_.as<float>() : nullptr;
  job.tables = &own_step.tables;
  job.transforms = transforms_.as<float>();
  job.interpolating = interpolating_.as<unsigned>();
  if (stage_ != nullptr) {
    stage_->filter(job, second, stage_memory_.as(), stream);
  } else {
    filter_trajectories(job, stream);
  }
}

// Finds the groups of a band and filters them in all components of a set.
void Vbm4d::filter_band(const Sequence& sequence, const GroupStep& groups, const Bm3dComponentSet& set,
                        const TrajectoryJob& trajectories) {
  follow_trajectories(trajectories, sequence.stream);
  if (stage_ != nullptr) {
    stage_->find(trajectories, groups.number == 1, stage_memory_.as(), sequence.stream);
  }
  // The groups of one subsampled plane would leave much of a GPU idle.
  const bool is_pair = set.components.size() == 2 && stage_ == nullptr;
  if (is_pair) {
    check(cudaEventRecord(forked_.get(), sequence.stream));
    beside_.wait(forked_.get());
  }
  for (const int c : set.components) {
    const bool beside = is_pair && c == set.components.back();
    filter_component(sequence, groups, trajectories, c, beside ? beside_.get() : sequence.stream);
  }
  if (is_pair) {
    joined_.record(beside_);
    check(cudaStreamWaitEvent(sequence.stream, joined_.get(), 0));
  }
}

// Frames before `first_target` get no estimates.
void Vbm4d::filter_groups(const Sequence& sequence, int i, int number, int first_target) {
  const Vbm4dPlan& plan = *sequence.picture(i).plan;
  const GroupStep groups{.picture = i,
                         .number = number,
                         .first = std::max(i - span_.before, 0),
                         .last = std::min(i + span_.after, sequence.count - 1),
                         .first_estimated = std::max(i - span_.spread, first_target)};
  for (std::size_t s = 0; s < plan.planes.sets.size(); ++s) {
    const Bm3dComponentSet& set = plan.planes.sets[s];
    int band = 0;
    TrajectoryJob trajectories = trajectory_job(sequence, groups, set, plan.bounds[s][number], band);
    if (std::ranges::any_of(set.components,
                            [&](int c) { return plan.planes.components[c].curve_by_guide; })) {
      find_brightness(trajectories.guides[trajectories.own], TrajectoryGuide::pitch_of(set.width),
                      trajectories.grid, brightness_.as<float>(), sequence.stream);
    }
    Trajectories& found = trajectories.out;
    for (found.first_row = 0; found.first_row < trajectories.grid.rows; found.first_row += band) {
      found.last_row = std::min(found.first_row + band, trajectories.grid.rows);
      filter_band(sequence, groups, set, trajectories);
    }
  }
}

// Leaves the estimates of one step, in code values, in scratch memory.
void Vbm4d::estimate(const Sequence& sequence, int i, int number) {
  Picture& picture = sequence.picture(i);
  const Vbm4dPlan& plan = *picture.plan;
  const auto is_filtered = [&](int c) { return plan.planes.components[c].sigma > 0; };
  const int colors = format_.color_plane_count();
  for (int c = 0; c < colors; ++c) {
    if (!is_filtered(c)) {
      load_noisy(sequence, i);
      break;
    }
  }
  for (int c = 0; c < colors; ++c) {
    DeviceMemory& sums = picture.sums[number][c];
    if (is_filtered(c)) {
      finish_estimate(step(number).sums, sums.as(), picture.noisy[c].as(), samples_of(c), step(number).tables,
                      scratch(sequence, c), sequence.stream);
    }
    give_back(sums);
  }
}

void Vbm4d::make_basic(const Sequence& sequence, int i) {
  estimate(sequence, i, 0);
  Picture& picture = sequence.picture(i);
  for (int c = 0; c < format_.color_plane_count(); ++c) {
    const FloatPlane values = scratch(sequence, c);
    if (values.height > 0) {
      const GroupSamples samples = samples_of(c);
      const std::size_t positions = samples.positions(values.height);
      if (stage_ != nullptr) {
        picture.basic[c] = take(positions * kHalfBytes);
        store_halves(values, samples, picture.basic[c].as(), sequence.stream);
      } else {
        picture.basic[c] = take(positions * 2 * kHalfBytes);
        store_pairs(values, samples, narrow_, picture.noisy[c].as(), picture.basic[c].as(), sequence.stream);
      }
    }
  }
  make_guides(sequence, i, 1);
}

void Vbm4d::store_result(const Sequence& sequence, int i) {
  const Bm3dPlan& plan = sequence.picture(i).plan->planes;
  const SamplePlanes in = sequence.planes(sequence.frame(i).planes);
  const SamplePlanes out = sequence.planes(sequence.out);
  for (int p = 0; p < format_.plane_count(); ++p) {
    if (plan.copied[p] && sequence.heights[p] > 0) {
      check(cudaMemcpy2DAsync(out[p].data, out[p].stride, in[p].data, in[p].stride,
                              static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample(),
                              sequence.heights[p], cudaMemcpyDeviceToDevice, sequence.stream));
    }
  }
  if (plan.sets.empty()) {
    return;
  }
  estimate(sequence, i, steps() - 1);
  if (plan.opponent) {
    opponent_to_rgb({scratch(sequence, 0), scratch(sequence, 1), scratch(sequence, 2)}, sequence.stream);
  }
  for (int p = 0; p < format_.color_plane_count(); ++p) {
    if (!plan.copied[p]) {
      store_plane(format_, scratch(sequence, p), out[p], sequence.stream);
    }
  }
}

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  return std::make_unique<Vbm4d>(parameters, format);
}

}  // namespace limpid::cuda
