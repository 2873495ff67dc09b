// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/along_motion.h"

#include <tbb/enumerable_thread_specific.h>

#include <cmath>
#include <iterator>
#include <string>

#include "core/bm3d/bm3d_parameters.h"
#include "core/motion/motion_blocks.h"
#include "core/vbm4d/trajectories.h"
#include "cpu/runtime/aligned_vector.h"
#include "cpu/runtime/convert.h"

namespace limpid::cpu {

/// Basic estimates of integer samples are stored as 16-bit values of 1/64 code value, relative to mid-gray
/// like matching values. This is far finer than their noise and covers four times a sample's range.
inline constexpr MatchingScale kBasicScale = {.scale = 64, .limit = 32767};

/// The samples and guides of pictures, the sums of their groups, and the estimates from these sums. A picture
/// is passed with its samples, `in`.
class PictureEstimates {
 public:
  /// Keeps references to `layout` and to the tables of both steps.
  PictureEstimates(const PictureLayout& layout, const std::array<StepTables, 2>& tables, int steps)
      : layout_(layout), tables_(tables), steps_(steps) {}

  /// Prepares the samples and guides for groups, and empty sums for the first step.
  void load(const std::array<Plane, kMaxPlanes>& in, PictureState& picture);
  /// Makes the basic estimate and its guides, and empty sums for the second step.
  void make_basic(const std::array<Plane, kMaxPlanes>& in, PictureState& picture);
  /// Makes the result from the sums of the last step, and releases these.
  void make_result(const std::array<Plane, kMaxPlanes>& in, PictureState& picture,
                   const std::array<Plane, kMaxPlanes>& out);
  void release(PictureState& picture);

 private:
  struct Scratch {
    std::array<AlignedVector<float>, 4> rows;
    AlignedVector<float> mean;
    AlignedVector<std::int16_t> matching;
    AlignedVector<float> luma;  // rows of a band
  };

  float* row_of(FloatPlanes& planes, int component, int y) const;
  const float* noisy_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int component,
                         int y, AlignedVector<float>& memory) const;
  void convert(const std::array<Plane, kMaxPlanes>& in, int band, bool opponent, FloatPlanes& out) const;
  PictureLayout::Rows noisy_sets() const;
  void resize_guides(GuidePlanes& guides, PictureLayout::Rows sets) const;
  template <typename LumaRow>
  void make_guides(int band, PictureLayout::Rows sets, const std::array<int, 2>& scales, GuidePlanes& guides,
                   const LumaRow& luma_row);
  void take_sums(PictureState& picture, int step);
  void clear_sums(PictureState& picture, int step, int band) const;
  void estimate_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int step,
                    int component, int y, float* out) const;
  void store_estimate(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int band,
                      const std::array<Plane, kMaxPlanes>& out);

  const PictureLayout& layout_;
  const std::array<StepTables, 2>& tables_;
  int steps_;
  BufferPool<FloatPlanes> floats_;
  BufferPool<ValuePlanes> values_;
  BufferPool<GuidePlanes> noisy_guides_;
  BufferPool<GuidePlanes> basic_guides_;
  BufferPool<StepSums> sums_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

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

namespace {

const Vbm4dParameters& checked(const Vbm4dParameters& parameters) {
  parameters.validate();
  return parameters;
}

const FrameFormat& checked(const FrameFormat& format) {
  format.validate("frame");
  return format;
}

std::array<StepTables, 2> tables_of(const Vbm4dParameters& parameters, int patches) {
  const Bm3dParameters bm3d = bm3d_of(parameters);
  std::array<StepTables, 2> tables{StepTables(bm3d.hard_threshold, parameters.lambda),
                                   StepTables(bm3d.wiener.value_or(bm3d.hard_threshold), 0.0F)};
  for (StepTables& each : tables) {
    each.numerator_unit = PictureSums::numerator_unit(each.step.spacing, patches);
  }
  return tables;
}

class FilterAlongMotion final : public FrameFilter {
 public:
  FilterAlongMotion(const Vbm4dParameters& parameters, const FrameFormat& format, const GroupStage& stage)
      : parameters_(checked(parameters)),
        layout_(checked(format)),
        tables_(tables_of(parameters, stage.patches)),
        groups_(parameters, stage, layout_, tables_),
        estimates_(layout_, tables_, parameters.wiener ? 2 : 1),
        executor_(parameters, format) {}

  Reach reach() const override { return reach_of(parameters_); }
  bool estimates_means() const override { return true; }
  std::vector<std::string> warnings() const override {
    return warnings_of_small_planes(bm3d_of(parameters_), layout_.format);
  }
  std::unique_ptr<FrameState> make_state() override { return std::make_unique<StateAlongMotion>(); }

  void renew(FrameState& state) override {
    for (PictureState& picture : static_cast<StateAlongMotion&>(state).pictures) {
      release(picture);
      picture.plan = nullptr;
      picture.progress = {};
    }
  }

  bool is_done(const FrameState& state) const override {
    const auto& pictures = static_cast<const StateAlongMotion&>(state).pictures;
    const auto is_released = [](const PictureState& picture) {
      return picture.progress.has(vbm4d::Work::kRelease);
    };
    return is_released(pictures[0]) &&
           (is_released(pictures[1]) || !pictures[1].progress.has(vbm4d::Work::kLoad));
  }

  void filter_window(const FilterWindow& window, Frame& out) override {
    executor_.filter<StateAlongMotion>(
        window,
        [&](const auto& sequence) {
          layout_.heights = sequence.heights;
          return PictureWindow{sequence, out};
        },
        *this);
  }

 private:
  friend vbm4d::Executor;

  void load(const PictureWindow& window, int t) {
    PictureState& picture = window.picture(t);
    const std::array<Plane, kMaxPlanes> in = window.samples(layout_, t);
    estimates_.load(in, picture);
    motion_.load(layout_.format, in, picture);
    if (t > 0) {
      motion_.find(window.picture(t - 1), picture);
    }
  }

  void filter_groups(const PictureWindow& window, int t, int step, int /*first_target*/) {
    groups_.filter(window, t, step);
  }

  void make_basic(const PictureWindow& window, int t) {
    estimates_.make_basic(window.samples(layout_, t), window.picture(t));
  }

  void store_result(const PictureWindow& window, int t) {
    estimates_.make_result(window.samples(layout_, t), window.picture(t), window.out(layout_));
  }

  void release(PictureState& picture) {
    motion_.release(picture);
    estimates_.release(picture);
  }

  Vbm4dParameters parameters_;
  PictureLayout layout_;
  std::array<StepTables, 2> tables_;
  PictureMotion motion_;
  PictureGroups groups_;
  PictureEstimates estimates_;
  vbm4d::Executor executor_;
};

}  // namespace

std::unique_ptr<FrameFilter> make_filter_along_motion(const Vbm4dParameters& parameters,
                                                      const FrameFormat& format, const GroupStage& groups) {
  return std::make_unique<FilterAlongMotion>(parameters, format, groups);
}

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  const auto scratch = std::make_shared<tbb::enumerable_thread_specific<TrajectoryScratch>>();
  return make_filter_along_motion(
      parameters, format,
      GroupStage{temporal_span(parameters).frames(), [scratch](const TrajectoryJob& job, const Tile& tile) {
                   process_trajectories(job, tile, scratch->local());
                 }});
}

}  // namespace limpid::cpu
