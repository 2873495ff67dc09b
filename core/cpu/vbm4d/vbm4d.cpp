#include "core/cpu/vbm4d/vbm4d.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "core/base/parallel.h"
#include "core/cpu/motion/motion_estimation.h"
#include "core/cpu/motion/motion_pyramid.h"
#include "core/cpu/runtime/convert.h"
#include "core/cpu/runtime/planes.h"
#include "core/cpu/vbm4d/trajectory_tile.h"
#include "core/motion/followed.h"
#include "core/vbm4d/vbm4d_plan.h"

namespace limpid::cpu {
namespace {

// Reference patches on each side of a tile: as many as let the local sums of all pictures in reach stay in a
// core's second-level cache. Independent of the number of threads (core/cpu/bm3d/bm3d.cpp).
int trajectory_tile_references(int spacing) { return spacing >= 6 ? 10 : spacing >= 3 ? 16 : 24; }

// Memory of one kind that pictures take and give back.
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

// Of each component.
using FloatPlanes = std::array<PlaneBuffer<float>, 3>;
// For components of luma's size, and for subsampled chroma.
using GuidePlanes = std::array<PlaneBuffer<std::int16_t>, 2>;

struct StepSums {
  std::array<AggregationSums, 3> components;
  std::array<std::vector<std::mutex>, 2> locks;  // as GuidePlanes
};

// What is kept of a frame or a field.
struct PictureState {
  std::optional<Vbm4dPlan> plan;
  bool loaded = false;
  std::array<bool, 2> grouped{};  // its groups have been filtered, in each step
  bool estimated = false;         // basic and basic_guide have been made
  std::unique_ptr<MotionPyramid> pyramid;
  std::unique_ptr<MotionField> back;
  std::unique_ptr<MotionField> ahead;
  std::unique_ptr<FloatPlanes> noisy;
  std::unique_ptr<FloatPlanes> basic;
  std::unique_ptr<GuidePlanes> noisy_guide;
  std::unique_ptr<GuidePlanes> basic_guide;
  std::array<std::unique_ptr<StepSums>, 2> sums;

  bool is_filtered(int component) const { return plan->planes.components[component].sigma > 0; }
  const float* basic_of(int component) const {
    return (is_filtered(component) ? *basic : *noisy)[component].data();
  }
};

struct Vbm4dState final : FrameState {
  std::array<PictureState, 2> pictures;  // the frame, or its fields
};

const Vbm4dParameters& checked(const Vbm4dParameters& parameters) {
  parameters.validate();
  return parameters;
}

const FrameFormat& checked(const FrameFormat& format) {
  format.validate("frame");
  return format;
}

// Groups are in planes of at least a patch.
StepTables tables_of(const Bm3dStep& step, float lambda, int width, int height) {
  StepTables tables(step, lambda);
  const TrajectoryFractions fractions = trajectory_fractions(width, height, step.spacing);
  tables.numerator_unit = std::ldexp(1.0F, fractions.weight - fractions.numerator);
  return tables;
}

}  // namespace

class Vbm4d::Worker {
 public:
  Worker(const Vbm4dParameters& parameters, const FrameFormat& format)
      : parameters_(checked(parameters)),
        format_(checked(format)),
        span_(temporal_span(parameters)),
        steps_(parameters.wiener ? 2 : 1),
        bm3d_(bm3d_of(parameters)),
        over_time_(make_time_transforms()),
        warnings_(warnings_of_small_planes(bm3d_, format)) {}

  Reach reach() const { return reach_of(parameters_); }
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
    // Frames and pairs of fields have nothing to do with each other.
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
        pictures_.push_back(&static_cast<Vbm4dState&>(*frame.state).pictures[i]);
      }
      filter_picture(static_cast<int>(window.current - first), picture_of(format_, out.planes, rows_));
    }
  }

  void renew(Vbm4dState& state) {
    for (PictureState& picture : state.pictures) {
      release(picture);
      picture.plan.reset();
      picture.loaded = false;
      picture.grouped = {};
      picture.estimated = false;
    }
  }

 private:
  struct Scratch {
    std::array<AlignedVector<float>, 3> rows;
  };
  // A tile of one of the sets that a picture's groups are in.
  struct JobTile {
    std::size_t job = 0;
    Tile tile;
  };

  int count() const { return static_cast<int>(pictures_.size()); }
  int colors() const { return format_.color_plane_count(); }
  // The part of planes that a component belongs to: 1 if it is subsampled chroma.
  int set_of(int component) const {
    return component > 0 && (format_.chroma_shift_x > 0 || format_.chroma_shift_y > 0) ? 1 : 0;
  }
  int width_of(int component) const { return format_.plane_width(component); }
  bool has_set(int set) const { return set == 0 || (colors() > 1 && set_of(1) == 1); }
  // Whose size a set's planes have.
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
    for (int t = 0; t < count(); ++t) {
      load(t);
    }
    for (int t = 0; t + 1 < count(); ++t) {
      find_motion(t);
    }
    const auto range = [&](int from, int to, const auto& function) {
      for (int t = std::max(from, 0); t <= std::min(to, count() - 1); ++t) {
        function(t);
      }
    };
    if (steps_ == 2) {
      const int basic_from = c - span_.after - span_.before;
      const int basic_to = c + span_.spread + span_.after;
      range(basic_from - span_.after, basic_to + span_.spread, [&](int t) { filter_groups(t, 0); });
      range(basic_from, basic_to, [&](int t) { make_basic(t); });
    }
    range(c - span_.after, c + span_.spread, [&](int t) { filter_groups(t, steps_ - 1); });
    make_result(c, out);
    // What later pictures' groups of the last step reach.
    range(0, c + span_.spread - span_.before, [&](int t) { release(*pictures_[t]); });
    give_back_sums(*pictures_[c], steps_ - 1);
  }

  void release(PictureState& picture) {
    pyramids_.give_back(picture.pyramid);
    fields_.give_back(picture.back);
    fields_.give_back(picture.ahead);
    floats_.give_back(picture.noisy);
    floats_.give_back(picture.basic);
    guides_.give_back(picture.noisy_guide);
    guides_.give_back(picture.basic_guide);
    for (int step = 0; step < 2; ++step) {
      give_back_sums(picture, step);
    }
  }
  void give_back_sums(PictureState& picture, int step) { sums_.give_back(picture.sums[step]); }

  // Samples, guides and pyramid of picture t.
  void load(int t) {
    PictureState& picture = *pictures_[t];
    if (picture.loaded) {
      return;
    }
    picture.loaded = true;
    floats_.take(picture.noisy);
    guides_.take(picture.noisy_guide);
    pyramids_.take(picture.pyramid);
    const std::array<Plane, kMaxPlanes> in = picture_of(format_, frames_[t].frame->planes, rows_);
    FloatPlanes& planes = *picture.noisy;
    for (int c = 0; c < colors(); ++c) {
      planes[c].resize(static_cast<std::size_t>(width_of(c)) * heights_[c]);
      for_each_row(heights_[c], [&](int y) {
        load_row(format_, in[c].row<std::byte>(y), width_of(c), row_of(planes, c, y));
      });
    }
    if (picture.plan->planes.opponent) {
      for_each_row(heights_[0], [&](int y) {
        rgb_to_opponent_row(row_of(planes, 0, y), row_of(planes, 1, y), row_of(planes, 2, y), width_of(0));
      });
    }
    make_guides(planes[0].data(), *picture.noisy_guide);
    picture.pyramid->build(format_, in);
  }

  float* row_of(FloatPlanes& planes, int component, int y) const {
    return planes[component].data() + static_cast<std::ptrdiff_t>(y) * width_of(component);
  }

  void make_guides(const float* luma, GuidePlanes& guides) {
    const int luma_width = format_.width;
    for (int set = 0; set < 2; ++set) {
      if (!has_set(set)) {
        continue;
      }
      const int width = width_of(component_of(set));
      const int height = heights_[component_of(set)];
      guides[set].resize(static_cast<std::size_t>(width) * height);
      for_each_row(height, [&](int y) {
        const float* row = luma + static_cast<std::ptrdiff_t>(y) * luma_width;
        if (set == 1) {
          std::array<const float*, 4> rows{};
          int used = 0;
          const int shift_y = format_.chroma_shift_y;
          for (int i = y << shift_y; i < std::min((y + 1) << shift_y, heights_[0]); ++i) {
            rows[used++] = luma + static_cast<std::ptrdiff_t>(i) * luma_width;
          }
          AlignedVector<float>& mean = scratch_.local().rows[0];
          mean.resize(width);
          subsample_row(rows.data(), used, format_.chroma_shift_x, luma_width, width, mean.data());
          row = mean.data();
        }
        matching_row(vbm4d::kGuideScale, row, width,
                     guides[set].data() + static_cast<std::ptrdiff_t>(y) * width);
      });
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
    estimator_.estimate(*after.pyramid, *before.pyramid, *before.ahead);
    estimator_.estimate(*before.pyramid, *after.pyramid, *after.back);
    const auto end_at_cut = [](MotionField& field, const Vbm4dPlan& plan) {
      if (vbm4d::is_cut(motion::lost_blocks(field, plan.motion_noise), std::ssize(field.vectors))) {
        std::ranges::fill(field.vectors, vbm4d::kNowhere);
      }
    };
    end_at_cut(*before.ahead, *before.plan);
    end_at_cut(*after.back, *after.plan);
    pyramids_.give_back(before.pyramid);
  }

  StepSums& sums_of(PictureState& picture, int step) {
    if (picture.sums[step] != nullptr) {
      return *picture.sums[step];
    }
    sums_.take(picture.sums[step]);
    StepSums& sums = *picture.sums[step];
    for (int c = 0; c < colors(); ++c) {
      const std::size_t width = width_of(c);
      sums.components[c].numerator.resize(width * heights_[c]);
      sums.components[c].weight.resize(width * heights_[c]);
      for_each_row(heights_[c], [&](int y) {
        std::fill_n(sums.components[c].numerator.begin() + static_cast<std::ptrdiff_t>(y * width), width, 0);
        std::fill_n(sums.components[c].weight.begin() + static_cast<std::ptrdiff_t>(y * width), width, 0);
      });
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
    return sums;
  }

  // The groups whose reference patches are in picture t.
  void filter_groups(int t, int step) {
    PictureState& reference = *pictures_[t];
    if (std::exchange(reference.grouped[step], true)) {
      return;
    }
    const Vbm4dPlan& plan = *reference.plan;
    std::vector<TrajectoryJob> jobs;
    std::vector<StepTables> tables;
    std::vector<JobTile> tiles;
    tables.reserve(plan.planes.sets.size());
    for (std::size_t s = 0; s < plan.planes.sets.size(); ++s) {
      const Bm3dComponentSet& set = plan.planes.sets[s];
      tables.push_back(tables_of(step == 0 ? bm3d_.hard_threshold : *bm3d_.wiener,
                                 step == 0 ? parameters_.lambda : 0.0F, set.width, set.height));
      jobs.push_back(make_job(t, step, set, plan.bounds[s][step], tables.back()));
      const int references = trajectory_tile_references(tables.back().step.spacing);
      const int columns = static_cast<int>(jobs.back().similar.grid_x.size());
      const int rows = static_cast<int>(jobs.back().similar.grid_y.size());
      for (int y = 0; y < rows; y += references) {
        for (int x = 0; x < columns; x += references) {
          tiles.push_back({s, {x, std::min(x + references, columns), y, std::min(y + references, rows)}});
        }
      }
    }
    for_each_index(static_cast<int>(tiles.size()), 1, [&](int i) {
      process_trajectories(jobs[tiles[i].job], tiles[i].tile, trajectory_scratch_.local());
    });
  }

  TrajectoryJob make_job(int t, int step, const Bm3dComponentSet& set, const vbm4d::TrajectoryBounds& bounds,
                         const StepTables& tables) {
    const int shape = set.subsampled() ? 1 : 0;
    TrajectoryJob job;
    job.tables = &tables;
    job.over_time = &over_time_;
    job.wiener = step == 1;
    job.width = set.width;
    job.height = set.height;
    job.shift_x = set.shift_x;
    job.shift_y = set.shift_y;
    job.bounds = bounds;
    job.similar.tables = &tables;
    job.similar.width = set.width;
    job.similar.height = set.height;
    job.similar.matching =
        (step == 0 ? *pictures_[t]->noisy_guide : *pictures_[t]->basic_guide)[shape].data();
    job.similar.scale = vbm4d::kGuideScale;
    job.similar.distances = bounds.similar;
    job.similar.grid_x = reference_grid(set.width, vbm4d::kPatch, tables.step.spacing);
    job.similar.grid_y = reference_grid(set.height, vbm4d::kPatch, tables.step.spacing);
    for (const int c : set.components) {
      job.noise.push_back(
          make_coefficient_noise(tables, step == 1, pictures_[t]->plan->planes.components[c]));
    }
    const int first = std::max(t - span_.before, 0);
    const int last = std::min(t + span_.after, count() - 1);
    job.current = t - first;
    for (int u = first; u <= last; ++u) {
      PictureState& picture = *pictures_[u];
      const bool wanted = u >= t - span_.spread;
      FollowedPicture seen;
      seen.guide = (step == 0 ? *picture.noisy_guide : *picture.basic_guide)[shape].data();
      seen.noisy_guide = (*picture.noisy_guide)[shape].data();
      seen.back = picture.back.get();
      seen.ahead = picture.ahead.get();
      if (wanted) {
        seen.locks = &sums_of(picture, step).locks[shape];
      }
      for (std::size_t i = 0; i < set.components.size(); ++i) {
        const int c = set.components[i];
        seen.planes[i] = {(*picture.noisy)[c].data(), step == 0 ? nullptr : picture.basic_of(c),
                          wanted ? &sums_of(picture, step).components[c] : nullptr};
      }
      job.pictures.push_back(seen);
    }
    return job;
  }

  // The estimate of a row of a component that is filtered, of samples about mid-grey.
  void estimate(const StepTables& tables, const AggregationSums& sums, int component, int y,
                float* out) const {
    const int width = width_of(component);
    std::array<const std::int64_t*, 16> weights{};
    for (int i = 0; i < vbm4d::kPatch; ++i) {
      const int from = y - vbm4d::kPatch + 1 + i;
      weights[i] = from >= 0 ? sums.weight.data() + static_cast<std::ptrdiff_t>(from) * width : nullptr;
    }
    estimate_row(tables, sums.numerator.data() + static_cast<std::ptrdiff_t>(y) * width, weights.data(),
                 width, out);
  }

  StepTables estimate_tables(int component, int step) const {
    return tables_of(step == 0 ? bm3d_.hard_threshold : *bm3d_.wiener, 0.0F, width_of(component),
                     heights_[component]);
  }

  void make_basic(int t) {
    PictureState& picture = *pictures_[t];
    if (std::exchange(picture.estimated, true)) {
      return;
    }
    floats_.take(picture.basic);
    guides_.take(picture.basic_guide);
    for (int c = 0; c < colors(); ++c) {
      if (!picture.is_filtered(c)) {
        continue;
      }
      PlaneBuffer<float>& plane = (*picture.basic)[c];
      plane.resize(static_cast<std::size_t>(width_of(c)) * heights_[c]);
      const StepTables tables = estimate_tables(c, 0);
      for_each_row(heights_[c], [&](int y) {
        estimate(tables, picture.sums[0]->components[c], c, y,
                 plane.data() + static_cast<std::ptrdiff_t>(y) * width_of(c));
      });
    }
    make_guides(picture.basic_of(0), *picture.basic_guide);
    give_back_sums(picture, 0);
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
    const int step = steps_ - 1;
    const auto estimated = [&](const StepTables& tables, int component, int y) -> float* {
      AlignedVector<float>& row = scratch_.local().rows[component];
      row.resize(width_of(component));
      if (picture.is_filtered(component)) {
        estimate(tables, picture.sums[step]->components[component], component, y, row.data());
      } else {
        std::copy_n(row_of(*picture.noisy, component, y), width_of(component), row.data());
      }
      return row.data();
    };
    if (plan.opponent) {
      const StepTables tables = estimate_tables(0, step);
      for_each_row(heights_[0], [&](int y) {
        std::array<float*, 3> rows{};
        for (int each = 0; each < 3; ++each) {
          rows[each] = estimated(tables, each, y);
        }
        opponent_to_rgb_row(rows[0], rows[1], rows[2], width_of(0));
        for (int p = 0; p < 3; ++p) {
          if (!plan.copied[p]) {
            store_row(format_, rows[p], width_of(p), out[p].row<std::byte>(y));
          }
        }
      });
      return;
    }
    for (int p = 0; p < colors(); ++p) {
      if (!plan.copied[p]) {
        const StepTables tables = estimate_tables(p, step);
        for_each_row(heights_[p], [&](int y) {
          store_row(format_, estimated(tables, p, y), width_of(p), out[p].row<std::byte>(y));
        });
      }
    }
  }

  Vbm4dParameters parameters_;
  FrameFormat format_;
  TemporalSpan span_;
  int steps_;
  Bm3dParameters bm3d_;
  TimeTransforms over_time_;
  std::vector<std::string> warnings_;

  BufferPool<MotionPyramid> pyramids_;
  BufferPool<MotionField> fields_;
  BufferPool<FloatPlanes> floats_;
  BufferPool<GuidePlanes> guides_;
  BufferPool<StepSums> sums_;
  MotionEstimator estimator_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
  tbb::enumerable_thread_specific<TrajectoryScratch> trajectory_scratch_;

  // Of the window and the fields under way.
  PictureRows rows_;
  PlaneHeights heights_{};
  std::vector<FilteredFrame> frames_;
  std::vector<PictureState*> pictures_;
};

Vbm4d::Vbm4d(const Vbm4dParameters& parameters, const FrameFormat& format)
    : worker_(std::make_unique<Worker>(parameters, format)) {}

Vbm4d::~Vbm4d() = default;

Reach Vbm4d::reach() const { return worker_->reach(); }

void Vbm4d::filter_window(const FilterWindow& window, Frame& out) { worker_->filter(window, out); }

std::unique_ptr<FrameState> Vbm4d::make_state() { return std::make_unique<Vbm4dState>(); }

void Vbm4d::renew(FrameState& state) { worker_->renew(static_cast<Vbm4dState&>(state)); }

std::vector<std::string> Vbm4d::warnings() const { return worker_->warnings(); }

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  return std::make_unique<Vbm4d>(parameters, format);
}

}  // namespace limpid::cpu
