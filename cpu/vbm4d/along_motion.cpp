// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/along_motion.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "core/base/parallel.h"
#include "core/motion/followed.h"
#include "core/vbm4d/schedule.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/motion/motion_pyramid.h"
#include "cpu/runtime/convert.h"
#include "cpu/runtime/planes.h"
#include "cpu/vbm4d/trajectory_tile.h"

namespace limpid::cpu {
namespace {

// Maximum number of reference patches on each side of a tile: small enough that the samples and sums of all
// pictures in a tile's reach fit a core's second-level cache and that there are many tiles. Independent of
// the number of threads (cpu/bm3d/bm3d.cpp).
int trajectory_tile_references(int spacing) { return spacing >= 6 ? 6 : spacing >= 3 ? 16 : 24; }

// Rows of luma per task of loading or estimating: few, so that many threads finish at the same time, and a
// whole number of chroma rows.
constexpr int kPictureBandRows = 4;

// Basic estimates of integer samples are stored as 16-bit values of 1/64 code value, relative to mid-gray
// like matching values. This is far finer than their noise and covers four times a sample's range.
constexpr MatchingScale kBasicScale = {.scale = 64, .limit = 32767};

// A pool of memory of one kind for pictures.
template <typename T>
class BufferPool {
 public:
  void take(std::unique_ptr<T>& into) {
    if (into == nullptr && idle_.empty()) {
      into = std::make_unique<T>();
    } else if (into == nullptr) {
      into = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  void give_back(std::unique_ptr<T>& from) {
    if (from != nullptr) {
      idle_.push_back(std::move(from));
    }
  }

 private:
  std::vector<std::unique_ptr<T>> idle_;
};

using vbm4d::Work;

// One plane per component.
using FloatPlanes = std::array<PlaneBuffer<float>, 3>;
// One plane for components of luma's size, and one for subsampled chroma.
using GuidePlanes = std::array<PlaneBuffer<std::uint8_t>, 2>;

using ValuePlanes = std::array<PlaneBuffer<std::int16_t>, 3>;

// Guides are stored as bytes, 128 more than matching values (TrajectoryJob).
std::uint8_t guide_byte(std::int16_t value) { return static_cast<std::uint8_t>(value + 128); }
std::int16_t matching_value(std::uint8_t byte) {
  return static_cast<std::int16_t>(std::max<int>(byte, kLeastGuideByte) - 128);
}

struct StepSums {
  std::array<PictureSums, 3> components;
  std::array<std::vector<std::mutex>, 2> locks;  // indices as in GuidePlanes
};

// The state of a frame or a field.
struct PictureState {
  std::optional<Vbm4dPlan> plan;
  vbm4d::PictureProgress progress;
  std::unique_ptr<MotionPyramid> pyramid;
  std::unique_ptr<MotionField> back;
  std::unique_ptr<MotionField> ahead;
  std::unique_ptr<FloatPlanes> noisy;  // null if groups read the frame's own samples
  std::unique_ptr<FloatPlanes> basic;  // null if groups read integers: basic_values
  std::unique_ptr<ValuePlanes> basic_values;
  std::unique_ptr<GuidePlanes> noisy_guide;
  std::unique_ptr<GuidePlanes> basic_guide;
  std::array<std::unique_ptr<StepSums>, 2> sums;

  bool is_filtered(int component) const { return plan->planes.components[component].sigma > 0; }
};

struct StateAlongMotion final : FrameState {
  std::array<PictureState, 2> pictures;  // of the frame, or of its fields
};

const Vbm4dParameters& checked(const Vbm4dParameters& parameters) {
  parameters.validate();
  return parameters;
}

const FrameFormat& checked(const FrameFormat& format) {
  format.validate("frame");
  return format;
}

}  // namespace

class FilterAlongMotion::Worker {
 public:
  Worker(const Vbm4dParameters& parameters, const FrameFormat& format, GroupStage groups)
      : groups_(std::move(groups)),
        parameters_(checked(parameters)),
        format_(checked(format)),
        span_(temporal_span(parameters)),
        steps_(parameters.wiener ? 2 : 1),
        bm3d_(bm3d_of(parameters)),
        tables_{StepTables(bm3d_.hard_threshold, parameters.lambda),
                StepTables(bm3d_.wiener.value_or(bm3d_.hard_threshold), 0.0F)},
        converted_(format.is_float() || format.color_model == ColorModel::kRgb),
        samples_guide_(!converted_ && format.sample_type == SampleType::kUint8),
        warnings_(warnings_of_small_planes(bm3d_, format)) {
    if (!converted_) {
      using Type = PatchSamples::Type;
      noisy_samples_ = {.type = samples_guide_ ? Type::kUint8 : Type::kUint16,
                        .unit = static_cast<float>(1 / format.code_value())};
      basic_samples_ = {.type = Type::kInt16, .unit = 1.0F / kBasicScale.scale, .zero = 128};
    }
    for (StepTables& tables : tables_) {
      tables.numerator_unit = PictureSums::numerator_unit(tables.step.spacing, groups_.patches);
    }
  }

  Reach reach() const { return reach_of(parameters_); }
  static bool is_done(const StateAlongMotion& state) {
    const vbm4d::PictureProgress& first = state.pictures[0].progress;
    const vbm4d::PictureProgress& second = state.pictures[1].progress;
    return first.has(Work::kRelease) && (second.has(Work::kRelease) || !second.has(Work::kLoad));
  }
  const std::vector<std::string>& warnings() const { return warnings_; }
  bool is_too_small() const { return static_cast<int>(warnings_.size()) == format_.color_plane_count(); }

  void filter(const FilterWindow& window, Frame& out) {
    const FilteredFrame& current = window.frames[window.current];
    if (is_too_small()) {
      for (int p = 0; p < format_.plane_count(); ++p) {
        copy_plane(format_, current.frame->planes[p], out.planes[p]);
      }
      return;
    }
    // Frames and pairs of fields are not filtered together.
    const auto alike = [&](std::size_t i) {
      return window.frames[i].frame->interlaced == current.frame->interlaced;
    };
    std::size_t first = window.current;
    while (first > 0 && alike(first - 1)) {
      --first;
    }
    std::size_t last = window.current;
    while (last + 1 < window.frames.size() && alike(last + 1)) {
      ++last;
    }
    const auto pictures = pictures_of(current.frame->interlaced);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      rows_ = pictures[i];
      heights_ = plane_heights(format_, rows_);
      frames_.assign(window.frames.begin() + static_cast<std::ptrdiff_t>(first),
                     window.frames.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      pictures_.clear();
      for (const FilteredFrame& frame : frames_) {
        pictures_.push_back(&static_cast<StateAlongMotion&>(*frame.state).pictures[i]);
      }
      filter_picture(static_cast<int>(window.current - first), picture_of(format_, out.planes, rows_));
    }
  }

  void renew(StateAlongMotion& state) {
    for (PictureState& picture : state.pictures) {
      release(picture);
      picture.plan.reset();
      picture.progress = {};
    }
  }

 private:
  struct Scratch {
    std::array<AlignedVector<float>, 4> rows;
    AlignedVector<float> mean;
    AlignedVector<std::int16_t> matching;
    AlignedVector<float> luma;  // row of a band
  };
  struct Rows {  // range of rows or sets
    int first = 0;
    int last = 0;
  };
  // A tile of one of the sets of a picture's groups.
  struct JobTile {
    std::size_t job = 0;
    Tile tile;
  };

  int count() const { return static_cast<int>(pictures_.size()); }
  int colors() const { return format_.color_plane_count(); }
  // The set of a component: 1 for subsampled chroma.
  int set_of(int component) const {
    return component > 0 && (format_.chroma_shift_x > 0 || format_.chroma_shift_y > 0) ? 1 : 0;
  }
  int width_of(int component) const { return format_.plane_width(component); }
  bool has_set(int set) const { return set == 0 || (colors() > 1 && set_of(1) == 1); }
  // A component whose planes have the size of the set's.
  static int component_of(int set) { return set; }

  void filter_picture(int c, const std::array<Plane, kMaxPlanes>& out) {
    bool any_noise = false;
    for (int t = 0; t < count(); ++t) {
      std::optional<Vbm4dPlan>& plan = pictures_[t]->plan;
      if (!plan) {
        plan = make_plan(parameters_, format_, frames_[t].noise, heights_);
      }
      any_noise = any_noise || !plan->planes.sets.empty();
    }
    if (!any_noise) {
      return make_result(c, out);
    }
    std::vector<vbm4d::PictureProgress> progress;
    for (const PictureState* picture : pictures_) {
      progress.push_back(picture->progress);
    }
    for (const vbm4d::ScheduledStep& step : vbm4d::schedule(span_, steps_ == 2, c, progress)) {
      execute(step, out);
      pictures_[step.picture]->progress.mark(step.work);
    }
  }

  void execute(const vbm4d::ScheduledStep& step, const std::array<Plane, kMaxPlanes>& out) {
    switch (step.work) {
      case Work::kLoad:
        load(step.picture);
        if (step.picture > 0) {
          find_motion(step.picture - 1);
        }
        break;
      case Work::kFirstGroups:
      case Work::kSecondGroups:
        filter_groups(step.picture, step.work == Work::kSecondGroups ? 1 : 0);
        break;
      case Work::kBasicEstimate:
        make_basic(step.picture);
        break;
      case Work::kResult:
        make_result(step.picture, out);
        give_back_sums(*pictures_[step.picture], steps_ - 1);
        break;
      case Work::kRelease:
        release(*pictures_[step.picture]);
        break;
    }
  }

  void release(PictureState& picture) {
    pyramids_.give_back(picture.pyramid);
    fields_.give_back(picture.back);
    fields_.give_back(picture.ahead);
    floats_.give_back(picture.noisy);
    floats_.give_back(picture.basic);
    values_.give_back(picture.basic_values);
    noisy_guides_.give_back(picture.noisy_guide);
    basic_guides_.give_back(picture.basic_guide);
    for (int step = 0; step < 2; ++step) {
      give_back_sums(picture, step);
    }
  }
  void give_back_sums(PictureState& picture, int step) { sums_.give_back(picture.sums[step]); }

  // Calls function(band) for all bands of a picture, in parallel.
  template <typename Function>
  void for_each_band(const Function& function) const {
    for_each_index(block_count(heights_[0], kPictureBandRows), 1, function);
  }
  // The rows of a component in a band.
  Rows rows_of(int band, int component) const {
    const int rows = kPictureBandRows >> (set_of(component) == 1 ? format_.chroma_shift_y : 0);
    return {std::min(band * rows, heights_[component]), std::min((band + 1) * rows, heights_[component])};
  }

  float* row_of(FloatPlanes& planes, int component, int y) const {
    return planes[component].data() + static_cast<std::ptrdiff_t>(y) * width_of(component);
  }
  template <typename Planes>
  void resize(Planes& planes, int component) const {
    planes[component].resize(static_cast<std::size_t>(width_of(component)) * heights_[component]);
  }

  // A row of noisy samples in the layout for groups; `memory` may be used.
  const float* noisy_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int component,
                         int y, AlignedVector<float>& memory) const {
    if (converted_) {
      return row_of(*picture.noisy, component, y);
    }
    memory.resize(width_of(component));
    load_row(format_, in[component].row<std::byte>(y), width_of(component), memory.data());
    return memory.data();
  }

  // Prepares samples, guides and pyramid of picture t.
  void load(int t) {
    PictureState& picture = *pictures_[t];
    noisy_guides_.take(picture.noisy_guide);
    resize_guides(*picture.noisy_guide, noisy_sets());
    pyramids_.take(picture.pyramid);
    take_sums(picture, 0);
    if (converted_) {
      floats_.take(picture.noisy);
      for (int c = 0; c < colors(); ++c) {
        resize(*picture.noisy, c);
      }
    }
    const std::array<Plane, kMaxPlanes> in = picture_of(format_, frames_[t].frame->planes, rows_);
    for_each_band([&](int band) {
      if (converted_) {
        convert(in, band, picture.plan->planes.opponent, *picture.noisy);
      }
      clear_sums(picture, 0, band);
      Scratch& scratch = scratch_.local();
      make_guides(band, noisy_sets(), *picture.noisy_guide,
                  [&](int y, int of) { return noisy_row(picture, in, 0, y, scratch.rows[of]); });
    });
    picture.pyramid->build(format_, in);
  }

  void convert(const std::array<Plane, kMaxPlanes>& in, int band, bool opponent, FloatPlanes& out) const {
    for (int c = 0; c < colors(); ++c) {
      const Rows rows = rows_of(band, c);
      for (int y = rows.first; y < rows.last; ++y) {
        load_row(format_, in[c].row<std::byte>(y), width_of(c), row_of(out, c, y));
      }
    }
    if (opponent) {
      const Rows rows = rows_of(band, 0);
      for (int y = rows.first; y < rows.last; ++y) {
        rgb_to_opponent_row(row_of(out, 0, y), row_of(out, 1, y), row_of(out, 2, y), width_of(0));
      }
    }
  }

  // The sets that have a noisy guide to be computed.
  Rows noisy_sets() const { return {samples_guide_ ? 1 : 0, 2}; }
  void resize_guides(GuidePlanes& guides, Rows sets) const {
    for (int set = sets.first; set < sets.last; ++set) {
      if (has_set(set)) {
        resize(guides, component_of(set));
      }
    }
  }

  // Computes the rows of a band of the sets' guides. luma_row(y, i) returns a row of luma; up to 4 rows, with
  // different i, are in use at a time.
  template <typename LumaRow>
  void make_guides(int band, Rows sets, GuidePlanes& guides, const LumaRow& luma_row) {
    for (int set = sets.first; set < sets.last; ++set) {
      if (!has_set(set)) {
        continue;
      }
      const int width = width_of(component_of(set));
      const Rows band_rows = rows_of(band, component_of(set));
      for (int y = band_rows.first; y < band_rows.last; ++y) {
        const float* row = nullptr;
        if (set == 0) {
          row = luma_row(y, 0);
        } else {
          const int shift_y = format_.chroma_shift_y;
          std::array<const float*, 4> rows{};
          int used = 0;
          for (int i = y << shift_y; i < std::min((y + 1) << shift_y, heights_[0]); ++i, ++used) {
            rows[used] = luma_row(i, used);
          }
          AlignedVector<float>& mean = scratch_.local().mean;
          mean.resize(width);
          subsample_row(rows.data(), used, format_.chroma_shift_x, format_.width, width, mean.data());
          row = mean.data();
        }
        AlignedVector<std::int16_t>& matching = scratch_.local().matching;
        matching.resize(width);
        matching_row(vbm4d::kGuideScale, row, width, matching.data());
        std::transform(matching.begin(), matching.end(),
                       guides[set].begin() + static_cast<std::ptrdiff_t>(y) * width, guide_byte);
      }
    }
  }

  // Motion between picture t and the next one, in both directions.
  void find_motion(int t) {
    PictureState& before = *pictures_[t];
    PictureState& after = *pictures_[t + 1];
    if (before.ahead != nullptr || before.pyramid == nullptr) {
      return;
    }
    fields_.take(before.ahead);
    fields_.take(after.back);
    for_each_index(2, 1, [&](int direction) {
      const bool ahead = direction == 0;
      MotionSearch& search = searches_[direction];
      search.estimator.estimate(ahead ? *after.pyramid : *before.pyramid,
                                ahead ? *before.pyramid : *after.pyramid, search.field);
      MotionField& field = ahead ? *before.ahead : *after.back;
      const std::int32_t noise = (ahead ? before : after).plan->motion_noise;
      if (vbm4d::is_cut(motion::lost_blocks(search.field, noise), std::ssize(search.field.vectors))) {
        std::ranges::fill(search.field.vectors, vbm4d::kNowhere);
      }
      field.columns = search.field.columns;
      field.rows = search.field.rows;
      field.vectors.swap(search.field.vectors);
    });
    pyramids_.give_back(before.pyramid);
  }

  void take_sums(PictureState& picture, int step) {
    sums_.take(picture.sums[step]);
    StepSums& sums = *picture.sums[step];
    for (int c = 0; c < colors(); ++c) {
      sums.components[c].resize(width_of(c), heights_[c]);
    }
    for (int set = 0; set < 2; ++set) {
      if (has_set(set)) {
        const auto blocks =
            static_cast<std::size_t>(block_count(width_of(component_of(set)), kLockedColumns)) *
            block_count(heights_[component_of(set)], kLockedRows);
        if (sums.locks[set].size() != blocks) {
          sums.locks[set] = std::vector<std::mutex>(blocks);
        }
      }
    }
  }

  void clear_sums(PictureState& picture, int step, int band) const {
    for (int c = 0; c < colors(); ++c) {
      const Rows rows = rows_of(band, c);
      for (int y = rows.first; y < rows.last; ++y) {
        picture.sums[step]->components[c].clear_row(y);
      }
    }
  }

  // Filters the groups whose reference patches are in picture t.
  void filter_groups(int t, int step) {
    PictureState& reference = *pictures_[t];
    const Vbm4dPlan& plan = *reference.plan;
    if (plan.planes.sets.empty()) {
      return;
    }
    const std::array<Plane, kMaxPlanes> in = picture_of(format_, frames_[t].frame->planes, rows_);
    for (int set = 0; set < 2; ++set) {
      if (has_set(set)) {
        resize(reference_guides_, component_of(set));
      }
    }
    for_each_band([&](int band) {
      for (int set = 0; set < 2; ++set) {
        if (!has_set(set)) {
          continue;
        }
        const int width = width_of(component_of(set));
        const Rows rows = rows_of(band, component_of(set));
        for (int y = rows.first; y < rows.last; ++y) {
          const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * width;
          const std::uint8_t* const bytes = step == 1 ? (*reference.basic_guide)[set].data() + offset
                                            : samples_guide_ && set == 0
                                                ? in[0].row<const std::uint8_t>(y)
                                                : (*reference.noisy_guide)[set].data() + offset;
          std::transform(bytes, bytes + width, reference_guides_[set].begin() + offset, matching_value);
        }
      }
    });
    std::vector<TrajectoryJob> jobs;
    std::vector<JobTile> tiles;
    const int references = trajectory_tile_references(tables_[step].step.spacing);
    for (std::size_t s = 0; s < plan.planes.sets.size(); ++s) {
      const Bm3dComponentSet& set = plan.planes.sets[s];
      jobs.push_back(make_job(t, step, set, plan.bounds[s][step]));
      const int columns = static_cast<int>(jobs.back().similar.grid_x.size());
      const int rows = static_cast<int>(jobs.back().similar.grid_y.size());
      // Columns of nearly equal size.
      const int across = block_count(columns, references);
      const int down = block_count(rows, references);
      for (int y = 0; y < down; ++y) {
        for (int x = 0; x < across; ++x) {
          tiles.push_back(
              {s,
               {x * columns / across, (x + 1) * columns / across, y * rows / down, (y + 1) * rows / down}});
        }
      }
    }
    for_each_index(static_cast<int>(tiles.size()), 1,
                   [&](int i) { groups_.process(jobs[tiles[i].job], tiles[i].tile); });
  }

  TrajectoryJob make_job(int t, int step, const Bm3dComponentSet& set,
                         const vbm4d::TrajectoryBounds& bounds) {
    const StepTables& tables = tables_[step];
    const int shape = set.subsampled() ? 1 : 0;
    TrajectoryJob job;
    job.tables = &tables;
    job.wiener = step == 1;
    job.numerator_scale = std::ldexp(1.0F, PictureSums::numerator_bits(tables.step.spacing, groups_.patches));
    job.width = set.width;
    job.height = set.height;
    job.shift_x = set.shift_x;
    job.shift_y = set.shift_y;
    job.bounds = bounds;
    job.similar.tables = &tables;
    job.similar.width = set.width;
    job.similar.height = set.height;
    const bool samples_guide = samples_guide_ && shape == 0;
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
      const Bm3dComponent& component = pictures_[t]->plan->planes.components[c];
      job.noise.push_back(make_coefficient_noise(tables, step == 1, component));
      job.noise_over_time.push_back(noise_over_time(parameters_, step == 1, component.repetition));
    }
    const int first = std::max(t - span_.before, 0);
    const int last = std::min(t + span_.after, count() - 1);
    job.current = t - first;
    for (int u = first; u <= last; ++u) {
      PictureState& picture = *pictures_[u];
      const bool wanted = u >= t - span_.spread;
      const std::array<Plane, kMaxPlanes> in = picture_of(format_, frames_[u].frame->planes, rows_);
      const auto values = [&](const auto& plane) {
        return PictureSamples{reinterpret_cast<const std::byte*>(plane.data()),
                              static_cast<std::ptrdiff_t>(set.width * sizeof(plane[0]))};
      };
      const auto samples = [&](int c) {
        return converted_ ? values((*picture.noisy)[c]) : PictureSamples{in[c].data, in[c].stride};
      };
      FollowedPicture seen;
      seen.noisy_guide = samples_guide ? samples(0) : values((*picture.noisy_guide)[shape]);
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
          plane.basic = converted_ ? values((*picture.basic)[c]) : values((*picture.basic_values)[c]);
        }
        plane.sums = wanted ? &picture.sums[step]->components[c] : nullptr;
      }
      job.pictures.push_back(seen);
    }
    return job;
  }

  // The estimate of a row in the last step or the one before; for components that are not filtered, the
  // samples.
  void estimate_row(const PictureState& picture, const std::array<Plane, kMaxPlanes>& in, int step,
                    int component, int y, float* out) const {
    if (picture.is_filtered(component)) {
      picture.sums[step]->components[component].estimate_row(tables_[step], y, out);
    } else if (converted_) {
      std::copy_n(row_of(*picture.noisy, component, y), width_of(component), out);
    } else {
      load_row(format_, in[component].row<std::byte>(y), width_of(component), out);
    }
  }

  void make_basic(int t) {
    PictureState& picture = *pictures_[t];
    basic_guides_.take(picture.basic_guide);
    resize_guides(*picture.basic_guide, {0, 2});
    if (converted_) {
      floats_.take(picture.basic);
    } else {
      values_.take(picture.basic_values);
    }
    for (int c = 0; c < colors(); ++c) {
      if (converted_) {
        resize(*picture.basic, c);
      } else {
        resize(*picture.basic_values, c);
      }
    }
    const std::array<Plane, kMaxPlanes> in = picture_of(format_, frames_[t].frame->planes, rows_);
    for_each_band([&](int band) {
      Scratch& scratch = scratch_.local();
      const Rows luma = rows_of(band, 0);
      scratch.luma.resize(static_cast<std::size_t>(kPictureBandRows) * format_.width);
      const auto luma_row = [&](int y) {
        return scratch.luma.data() + static_cast<std::ptrdiff_t>(y - luma.first) * format_.width;
      };
      for (int c = 0; c < colors(); ++c) {
        const Rows rows = rows_of(band, c);
        for (int y = rows.first; y < rows.last; ++y) {
          scratch.rows[0].resize(width_of(c));
          float* const row = c == 0 ? luma_row(y) : scratch.rows[0].data();
          estimate_row(picture, in, 0, c, y, row);
          const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * width_of(c);
          if (converted_) {
            std::copy_n(row, width_of(c), (*picture.basic)[c].data() + offset);
          } else {
            matching_row(kBasicScale, row, width_of(c), (*picture.basic_values)[c].data() + offset);
          }
        }
      }
      make_guides(band, {0, 2}, *picture.basic_guide, [&](int y, int /*of*/) { return luma_row(y); });
    });
    // The second step's sums replace the first's.
    picture.sums[1] = std::move(picture.sums[0]);
    for_each_band([&](int band) { clear_sums(picture, 1, band); });
  }

  void make_result(int c, const std::array<Plane, kMaxPlanes>& out) {
    PictureState& picture = *pictures_[c];
    const Bm3dPlan& plan = picture.plan->planes;
    const std::array<Plane, kMaxPlanes> in = picture_of(format_, frames_[c].frame->planes, rows_);
    for (int p = 0; p < format_.plane_count(); ++p) {
      if (plan.copied[p]) {
        copy_plane(format_, in[p], out[p]);
      }
    }
    if (plan.sets.empty()) {
      return;
    }
    for_each_band([&](int band) {
      std::array<AlignedVector<float>, 4>& memory = scratch_.local().rows;
      for (int p = 0; p < colors(); ++p) {
        const Rows rows = rows_of(band, p);
        if (plan.opponent ? p > 0 : plan.copied[p]) {
          continue;
        }
        for (int y = rows.first; y < rows.last; ++y) {
          for (int each = p; each < (plan.opponent ? 3 : p + 1); ++each) {
            memory[each].resize(width_of(each));
            estimate_row(picture, in, steps_ - 1, each, y, memory[each].data());
          }
          if (plan.opponent) {
            opponent_to_rgb_row(memory[0].data(), memory[1].data(), memory[2].data(), width_of(0));
          }
          for (int each = p; each < (plan.opponent ? 3 : p + 1); ++each) {
            if (!plan.copied[each]) {
              store_row(format_, memory[each].data(), width_of(each), out[each].row<std::byte>(y));
            }
          }
        }
      }
    });
  }

  struct MotionSearch {
    MotionEstimator estimator;
    MotionField field;
  };

  GroupStage groups_;
  Vbm4dParameters parameters_;
  FrameFormat format_;
  TemporalSpan span_;
  int steps_;
  Bm3dParameters bm3d_;
  std::array<StepTables, 2> tables_;
  bool converted_;      // groups read floats instead of the frame's samples
  bool samples_guide_;  // luma's noisy guide is the frame's samples
  PatchSamples noisy_samples_;
  PatchSamples basic_samples_;
  std::vector<std::string> warnings_;

  BufferPool<MotionPyramid> pyramids_;
  BufferPool<MotionField> fields_;
  BufferPool<FloatPlanes> floats_;
  BufferPool<ValuePlanes> values_;
  BufferPool<GuidePlanes> noisy_guides_;
  BufferPool<GuidePlanes> basic_guides_;
  BufferPool<StepSums> sums_;
  std::array<MotionSearch, 2> searches_;                       // one for each direction
  std::array<PlaneBuffer<std::int16_t>, 2> reference_guides_;  // matching values of the references' picture
  tbb::enumerable_thread_specific<Scratch> scratch_;

  // State of the current window and its fields.
  PictureRows rows_;
  PlaneHeights heights_{};
  std::vector<FilteredFrame> frames_;
  std::vector<PictureState*> pictures_;
};

FilterAlongMotion::FilterAlongMotion(const Vbm4dParameters& parameters, const FrameFormat& format,
                                     GroupStage groups)
    : worker_(std::make_unique<Worker>(parameters, format, std::move(groups))) {}

FilterAlongMotion::~FilterAlongMotion() = default;

Reach FilterAlongMotion::reach() const { return worker_->reach(); }

void FilterAlongMotion::filter_window(const FilterWindow& window, Frame& out) {
  worker_->filter(window, out);
}

std::unique_ptr<FrameState> FilterAlongMotion::make_state() { return std::make_unique<StateAlongMotion>(); }

void FilterAlongMotion::renew(FrameState& state) { worker_->renew(static_cast<StateAlongMotion&>(state)); }

bool FilterAlongMotion::is_done(const FrameState& state) const {
  return Worker::is_done(static_cast<const StateAlongMotion&>(state));
}

std::vector<std::string> FilterAlongMotion::warnings() const { return worker_->warnings(); }

}  // namespace limpid::cpu
