// SPDX-License-Identifier: MIT

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/bm3d_plan.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/convert.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/runtime/planes.h"
#include "cpu/runtime/task_graph.h"

namespace limpid::cpu {

/// BM3D of whole frames, divided into bands of rows and tiles that run as oneTBB tasks. Each task starts as
/// soon as its inputs are complete.
class Bm3d final : public SpatialFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats.
  Bm3d(const Bm3dParameters& parameters, const FrameFormat& format);
  ~Bm3d() override;

  void filter(const Frame& in, const NoiseModel& noise, Frame& out) override;

  bool estimates_means() const override { return true; }

  /// Warnings about planes that are too small to be filtered.
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  struct Component;
  struct Picture;
  struct PlaneSet;
  struct Scratch;
  struct Task;
  struct Workspace;
  class TaskMaker;

  int steps() const;
  void filter_picture(const Picture& picture);

  // Prepares for pictures of this noise and size if the last picture's differ. Tasks are kept until the size
  // or the set of filtered components changes.
  void prepare_for(const NoiseModel& noise, const PlaneHeights& heights);
  void make_jobs(const Bm3dPlan& plan, PlaneSet& set);
  void make_tasks(const Bm3dPlan& plan);

  // The tasks of one band of rows.
  void load(const Picture& picture, int band);
  void prepare(PlaneSet& set, int step, int band);
  void estimate(const Picture& picture, PlaneSet& set, int step, int band);

  Bm3dParameters parameters_;
  FrameFormat format_;
  StepTables hard_;
  std::unique_ptr<StepTables> wiener_;
  std::vector<std::string> warnings_;
  std::unique_ptr<Workspace> workspace_;
};

namespace {

// Reference patches on each side of a tile. Tiles are large compared to their search window's margin, and
// small enough that there are many of them and that their samples and sums fit a core's second-level cache.
// Independent of the number of threads, since the order of additions within a tile affects the last bits of
// the result.
int tile_references(int spacing) { return spacing >= 6 ? 16 : spacing >= 3 ? 24 : 32; }

// Rows of luma per task of loading, preparing or estimating.
constexpr int kBandRows = 16;

// The second step follows the first at a distance of about this many rows of luma, as soon as its input is
// complete and while most of it is still in the cache.
constexpr int kStepLag = 128;

// Rows [first, last), or bands.
struct Range {
  int first = 0;
  int last = 0;
};

// Tables are made of legal parameters only.
const Bm3dParameters& validated(const Bm3dParameters& parameters) {
  parameters.validate();
  return parameters;
}

Plane part_of(const Plane& plane, Range rows) {
  return {plane.data + rows.first * plane.stride, plane.stride, plane.width, rows.last - rows.first};
}

}  // namespace

// One component as floats in 8-bit code values.
struct Bm3d::Component {
  int width = 0;
  PlaneBuffer<float> noisy;
  PlaneBuffer<float> basic;

  float* noisy_row(int y) { return noisy.data() + static_cast<std::ptrdiff_t>(y) * width; }
  float* basic_row(int y) { return basic.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

// The filtering of a set of the plan, and its working memory.
struct Bm3d::PlaneSet {
  Bm3dComponentSet plan;
  PlaneBuffer<std::int16_t> matching;
  std::array<AggregationSums, 3> sums;
  std::vector<std::mutex> locks;
  std::array<StepJob, 2> jobs;
  std::array<std::vector<Tile>, 2> tiles;

  // The rows of a band.
  Range rows(int band) const {
    const int count = kBandRows >> plan.shift_y;
    return {std::min(band * count, plan.height), std::min((band + 1) * count, plan.height)};
  }
  // The bands of the plane that contain rows [first, last).
  Range bands(int first, int last) const {
    const int count = kBandRows >> plan.shift_y;
    return {std::max(first, 0) / count, block_count(std::min(last, plan.height), count)};
  }
};

// The work for a picture, in tasks of one band of rows or one tile. A task waits only for its own inputs, so
// that threads proceed from step to step, and from luma to chroma, without idling.
struct Bm3d::Task {
  enum class Kind { kLoad, kPrepare, kTile, kEstimate };
  Kind kind = Kind::kLoad;
  PlaneSet* set = nullptr;
  int step = 0;
  int index = 0;  // number of the band or the tile
};

struct Bm3d::Scratch {
  TileScratch tile;
  std::array<AlignedVector<float>, 3> guide_rows;
  AlignedVector<float> smoothed_row;
};

struct Bm3d::Workspace {
  std::optional<Bm3dPlan> plan;  // plan of the last picture; all members below belong to it
  std::array<Component, 3> components;
  std::array<PlaneSet, 2> sets;  // one for each set of the plan
  std::vector<Task> tasks;
  TaskGraph graph;
  tbb::enumerable_thread_specific<Scratch> scratch;
};

// The picture being filtered.
struct Bm3d::Picture {
  std::array<Plane, kMaxPlanes> in;
  std::array<Plane, kMaxPlanes> out;
};

Bm3d::Bm3d(const Bm3dParameters& parameters, const FrameFormat& format)
    : parameters_(validated(parameters)),
      format_(format),
      hard_(parameters.hard_threshold, parameters.lambda),
      workspace_(std::make_unique<Workspace>()) {
  format.validate("frame");
  if (parameters.wiener) {
    wiener_ = std::make_unique<StepTables>(*parameters.wiener, 0.0F);
  }
  warnings_ = warnings_of_small_planes(parameters, format);
}

Bm3d::~Bm3d() = default;

void Bm3d::filter(const Frame& in, const NoiseModel& noise, Frame& out) {
  for (const PictureRows& rows : pictures_of(in.interlaced)) {
    prepare_for(noise, plane_heights(format_, rows));
    filter_picture({picture_of(format_, in.planes, rows), picture_of(format_, out.planes, rows)});
  }
}

void Bm3d::filter_picture(const Picture& picture) {
  if (workspace_->plan->sets.empty()) {
    for (int p = 0; p < format_.plane_count(); ++p) {
      copy_plane(format_, picture.in[p], picture.out[p]);
    }
    return;
  }
  workspace_->graph.run([&](int i) {
    const Task& task = workspace_->tasks[i];
    switch (task.kind) {
      case Task::Kind::kLoad:
        return load(picture, task.index);
      case Task::Kind::kPrepare:
        return prepare(*task.set, task.step, task.index);
      case Task::Kind::kTile:
        return process_tile(task.set->jobs[task.step], task.set->tiles[task.step][task.index],
                            workspace_->scratch.local().tile);
      case Task::Kind::kEstimate:
        return estimate(picture, *task.set, task.step, task.index);
    }
  });
}

int Bm3d::steps() const { return wiener_ ? 2 : 1; }

void Bm3d::prepare_for(const NoiseModel& noise, const PlaneHeights& heights) {
  std::optional<Bm3dPlan>& last = workspace_->plan;
  if (last && last->noise == noise && last->heights == heights) {
    return;
  }
  Bm3dPlan plan = make_plan(parameters_, format_, noise, heights);
  const auto same_components = [](const Bm3dComponentSet& a, const Bm3dComponentSet& b) {
    return a.components == b.components;
  };
  // Tasks depend on the size and on the filtered components.
  const bool same_tasks =
      last && last->heights == heights &&
      std::equal(last->sets.begin(), last->sets.end(), plan.sets.begin(), plan.sets.end(), same_components);
  last.reset();
  if (!plan.sets.empty()) {
    for (int c = 0; c < format_.color_plane_count(); ++c) {
      Component& component = workspace_->components[c];
      const std::size_t size = static_cast<std::size_t>(plan.components[c].width) * plan.components[c].height;
      component.width = plan.components[c].width;
      component.noisy.resize(size);
      component.basic.resize(size);
    }
    for (std::size_t s = 0; s < plan.sets.size(); ++s) {
      workspace_->sets[s].plan = plan.sets[s];
      make_jobs(plan, workspace_->sets[s]);
    }
    if (!same_tasks) {
      make_tasks(plan);
    }
  }
  last = std::move(plan);
}

void Bm3d::make_jobs(const Bm3dPlan& plan, PlaneSet& set) {
  const int width = set.plan.width;
  const int height = set.plan.height;
  const std::size_t size = static_cast<std::size_t>(width) * height;
  set.matching.resize(size);
  const auto blocks =
      static_cast<std::size_t>(block_count(width, kLockedColumns)) * block_count(height, kLockedRows);
  if (set.locks.size() != blocks) {
    set.locks = std::vector<std::mutex>(blocks);
  }
  for (std::size_t i = 0; i < set.plan.components.size(); ++i) {
    set.sums[i].numerator.resize(size);
    set.sums[i].weight.resize(size);
  }
  for (int step = 0; step < steps(); ++step) {
    StepJob& job = set.jobs[step];
    job.tables = step == 0 ? &hard_ : wiener_.get();
    job.wiener = step == 1;
    job.width = width;
    job.height = height;
    job.matching = set.matching.data();
    job.scale = set.plan.guides[step].scale;
    job.distances = set.plan.guides[step].distances;
    job.grid_x = reference_grid(width, job.tables->step.patch_size, job.tables->step.spacing);
    job.grid_y = reference_grid(height, job.tables->step.patch_size, job.tables->step.spacing);
    job.locks = &set.locks;
    job.planes.clear();
    for (std::size_t i = 0; i < set.plan.components.size(); ++i) {
      const int c = set.plan.components[i];
      const Component& component = workspace_->components[c];
      job.planes.push_back({component.noisy.data(), component.basic.data(),
                            make_coefficient_noise(*job.tables, job.wiener, plan.components[c]),
                            &set.sums[i]});
    }
    const int references = tile_references(job.tables->step.spacing);
    const int columns = static_cast<int>(job.grid_x.size());
    const int rows = static_cast<int>(job.grid_y.size());
    set.tiles[step].clear();
    for (int y = 0; y < rows; y += references) {
      for (int x = 0; x < columns; x += references) {
        set.tiles[step].push_back({x, std::min(x + references, columns), y, std::min(y + references, rows)});
      }
    }
  }
}

// Adds the tasks of a picture to its graph, and what they wait for.
class Bm3d::TaskMaker {
 public:
  TaskMaker(const Bm3d& bm3d, Workspace& workspace, const Bm3dPlan& plan)
      : bm3d_(bm3d),
        workspace_(workspace),
        bands_(block_count(plan.components[0].height, kBandRows)),
        sets_(workspace.sets.data(), plan.sets.size()) {}

  void make() {
    loads_ = add_bands(Task::Kind::kLoad, nullptr, 0);
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      for (int step = 0; step < bm3d_.steps(); ++step) {
        prepares_[s][step] = add_bands(Task::Kind::kPrepare, &sets_[s], step);
        estimates_[s][step] = add_bands(Task::Kind::kEstimate, &sets_[s], step);
      }
    }
    for (int step = 0; step < bm3d_.steps(); ++step) {
      for (std::size_t s = 0; s < sets_.size(); ++s) {
        add_tiles(s, step);
        for (int band = 0; band < bands_; ++band) {
          connect_band(s, step, band);
        }
      }
    }
  }

 private:
  int add(const Task& task, int luma_row, std::optional<float> place) {
    workspace_.tasks.push_back(task);
    return workspace_.graph.add(luma_row + task.step * kStepLag, place);
  }
  // Adds a task for each band and returns the number of the first one.
  int add_bands(Task::Kind kind, PlaneSet* set, int step) {
    const int first = static_cast<int>(workspace_.tasks.size());
    for (int band = 0; band < bands_; ++band) {
      add({kind, set, step, band}, band * kBandRows, std::nullopt);
    }
    return first;
  }
  // Makes `task` wait for the tasks of the bands `needed`. `first` is the task number of band 0.
  void require(int task, int first, Range needed) {
    for (int band = needed.first; band < needed.last; ++band) {
      workspace_.graph.require(task, first + band);
    }
  }
  Range around(int band) const { return {std::max(band - 1, 0), std::min(band + 2, bands_)}; }

  void add_tiles(std::size_t s, int step) {
    const PlaneSet& set = sets_[s];
    const StepJob& job = set.jobs[step];
    for (int i = 0; i < static_cast<int>(set.tiles[step].size()); ++i) {
      const Area reach = tile_reach(job, set.tiles[step][i]);
      const int tile = add({Task::Kind::kTile, &sets_[s], step, i}, reach.y1 << set.plan.shift_y,
                           static_cast<float>(reach.x0) / static_cast<float>(set.plan.width));
      const Range reached = set.bands(reach.y0, reach.y1);
      require(tile, prepares_[s][step], reached);
      for (int band = reached.first; band < reached.last; ++band) {
        workspace_.graph.require(estimates_[s][step] + band, tile);
      }
    }
  }

  void connect_band(std::size_t s, int step, int band) {
    const PlaneSet& set = sets_[s];
    const int patch = set.jobs[step].tables->step.patch_size;
    const Range rows = set.rows(band);
    // Patches that begin up to patch - 1 rows above have their weight there. The tiles that this band waits
    // for imply these bands, as they reach those rows; they are listed because estimates read them.
    const Range weights = set.bands(rows.first - patch + 1, rows.last);
    require(estimates_[s][step] + band, prepares_[s][step], weights);
    if (step == 0) {
      return require(prepares_[s][0] + band, loads_, around(band));
    }
    // The second step's sums replace the first's, which the estimates of this band and of later bands still
    // need. Its guide is luma's basic estimate.
    const int reach = bm3d_.hard_.step.patch_size - 1;
    require(prepares_[s][1] + band, estimates_[s][0], set.bands(rows.first, rows.last + reach));
    workspace_.graph.require(prepares_[s][1] + band, estimates_[0][0] + band);
    // The second step's estimates replace luma's noisy samples, which are chroma's guide in the first step.
    for (std::size_t other = 0; other < sets_.size(); ++other) {
      require(estimates_[s][1] + band, prepares_[other][0], around(band));
    }
  }

  const Bm3d& bm3d_;
  Workspace& workspace_;
  const int bands_;
  const std::span<PlaneSet> sets_;
  // The numbers of the first tasks of a kind, by set and step.
  int loads_ = 0;
  std::array<std::array<int, 2>, 2> prepares_{};
  std::array<std::array<int, 2>, 2> estimates_{};
};

void Bm3d::make_tasks(const Bm3dPlan& plan) {
  workspace_->tasks.clear();
  workspace_->graph = {};
  TaskMaker(*this, *workspace_, plan).make();
}

void Bm3d::load(const Picture& picture, int band) {
  const auto rows_of = [&](const Plane& plane, int shift) {
    return Range{std::min((band * kBandRows) >> shift, plane.height),
                 std::min(((band + 1) * kBandRows) >> shift, plane.height)};
  };
  const Bm3dPlan& plan = *workspace_->plan;
  const int colors = format_.color_plane_count();
  for (int p = 0; p < format_.plane_count(); ++p) {
    const Plane& in = picture.in[p];
    const Range rows = rows_of(in, p == 1 || p == 2 ? format_.chroma_shift_y : 0);
    if (plan.copied[p]) {
      copy_plane(format_, part_of(in, rows), part_of(picture.out[p], rows));
    }
    if (p < colors && (p == 0 || plan.opponent || !plan.copied[p])) {
      Component& component = workspace_->components[p];
      for (int y = rows.first; y < rows.last; ++y) {
        load_row(format_, in.row<std::byte>(y), component.width, component.noisy_row(y));
      }
    }
  }
  if (plan.opponent) {
    auto& components = workspace_->components;
    const Range rows = rows_of(picture.in[0], 0);
    for (int y = rows.first; y < rows.last; ++y) {
      rgb_to_opponent_row(components[0].noisy_row(y), components[1].noisy_row(y), components[2].noisy_row(y),
                          components[0].width);
    }
  }
}

void Bm3d::prepare(PlaneSet& set, int step, int band) {
  Component& luma = workspace_->components[0];
  Scratch& scratch = workspace_->scratch.local();
  const Bm3dGuide& guide_plan = set.plan.guides[step];
  const int width = set.plan.width;
  const int luma_height = workspace_->plan->components[0].height;
  const auto luma_row = [&](int y) {
    return guide_plan.basic_estimate ? luma.basic_row(y) : luma.noisy_row(y);
  };
  const auto guide_row = [&](int y) -> const float* {
    if (!set.plan.subsampled()) {
      return luma_row(y);
    }
    std::array<const float*, 4> rows{};
    int count = 0;
    for (int i = y << set.plan.shift_y; i < std::min((y + 1) << set.plan.shift_y, luma_height); ++i) {
      rows[count++] = luma_row(i);
    }
    AlignedVector<float>& row = scratch.guide_rows[y % 3];  // three successive rows are in use at a time
    row.resize(width);
    subsample_row(rows.data(), count, set.plan.shift_x, luma.width, width, row.data());
    return row.data();
  };
  const Range rows = set.rows(band);
  for (int y = rows.first; y < rows.last; ++y) {
    const float* guide = guide_row(y);
    if (guide_plan.smoothed) {
      const float* above = guide_row(y > 0 ? y - 1 : 1);
      const float* below = guide_row(y < set.plan.height - 1 ? y + 1 : y - 1);
      scratch.smoothed_row.resize(width);
      smooth_row(above, guide, below, width, scratch.smoothed_row.data());
      guide = scratch.smoothed_row.data();
    }
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * width;
    matching_row(guide_plan.scale, guide, width, set.matching.data() + offset);
    for (const FilteredPlane& plane : set.jobs[step].planes) {
      std::fill_n(plane.sums->numerator.begin() + offset, width, 0);
      std::fill_n(plane.sums->weight.begin() + offset, width, 0);
    }
  }
}

void Bm3d::estimate(const Picture& picture, PlaneSet& set, int step, int band) {
  const Bm3dPlan& plan = *workspace_->plan;
  const StepJob& job = set.jobs[step];
  const int k = job.tables->step.patch_size;
  const int width = set.plan.width;
  // The first step's estimates go to `basic`; the second step's replace the noisy samples.
  const auto row_of = [&](int c, int y) {
    Component& component = workspace_->components[c];
    return step == 1 || plan.components[c].sigma == 0 ? component.noisy_row(y) : component.basic_row(y);
  };
  const Range rows = set.rows(band);
  for (int y = rows.first; y < rows.last; ++y) {
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * width;
    for (std::size_t i = 0; i < set.plan.components.size(); ++i) {
      const AggregationSums& sums = set.sums[i];
      std::array<const std::int64_t*, 16> weights{};
      for (int row = 0; row < k; ++row) {
        const int from = y - k + 1 + row;
        weights[row] = from >= 0 ? sums.weight.data() + static_cast<std::ptrdiff_t>(from) * width : nullptr;
      }
      estimate_row(*job.tables, sums.numerator.data() + offset, weights.data(), width,
                   row_of(set.plan.components[i], y));
    }
    if (step < steps() - 1) {
      continue;
    }
    const auto store = [&](int c) {
      if (!plan.copied[c]) {
        store_row(format_, row_of(c, y), width, picture.out[c].row<std::byte>(y));
      }
    };
    if (plan.opponent) {
      opponent_to_rgb_row(row_of(0, y), row_of(1, y), row_of(2, y), width);
      for (int p = 0; p < 3; ++p) {
        store(p);
      }
    } else {
      std::for_each(set.plan.components.begin(), set.plan.components.end(), store);
    }
  }
}

std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& parameters, const FrameFormat& format) {
  return std::make_unique<Bm3d>(parameters, format);
}

}  // namespace limpid::cpu
