#include "core/cpu/bm3d.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/cpu/convert.h"
#include "core/cpu/planes.h"

namespace limpid::cpu {
namespace {

// Reference patches on each side of a tile. A tile should be large against its search window's margin and
// small enough for many tiles and for its samples and sums to stay in a core's second-level cache.
// Independent of the number of threads, since the order of additions within a tile shows in the result's last
// bits.
int tile_references(int step) { return step >= 6 ? 16 : step >= 3 ? 24 : 32; }

// Positions 0, step, 2 step, ... and the last one.
std::vector<int> reference_grid(int size, int patch, int step) {
  std::vector<int> grid;
  for (int i = 0; i < size - patch; i += step) {
    grid.push_back(i);
  }
  grid.push_back(size - patch);
  return grid;
}

}  // namespace

std::array<float, 3> opponent_sigma(const std::array<float, 3>& sigma) {
  const float r = sigma[0] * sigma[0];
  const float g = sigma[1] * sigma[1];
  const float b = sigma[2] * sigma[2];
  return {std::sqrt(r + g + b) / 3, std::sqrt(r + b) / 2, std::sqrt(r + 4 * g + b) / 4};
}

// One channel as floats in 8-bit code values.
struct Bm3d::Component {
  int width = 0;
  int height = 0;
  float sigma = 0;  // 0: not filtered
  std::vector<float> noisy;
  std::vector<float> basic;

  void resize(int new_width, int new_height) {
    width = new_width;
    height = new_height;
    noisy.resize(static_cast<std::size_t>(width) * height);
    basic.resize(noisy.size());
  }
};

// Components of one size that are filtered with the same groups.
struct Bm3d::PlaneSet {
  int width = 0;
  int height = 0;
  const float* guide = nullptr;  // the plane that patches are matched on
  bool guide_is_bytes = false;   // its values are 8-bit samples
  double guide_sigma = 0;        // of the noise in the noisy guide
  std::vector<Component*> components;
};

struct Bm3d::Workspace {
  std::array<Component, 3> components;
  std::vector<float> guide;
  std::vector<std::int16_t> matching;
  std::array<AggregationSums, 3> sums;
  std::vector<std::mutex> row_locks;
  tbb::enumerable_thread_specific<TileScratch> scratch;
};

Bm3d::Bm3d(const Bm3dParameters& parameters, const FrameFormat& format)
    : format_(format),
      matching_(parameters.matching),
      hard_(parameters.hard_threshold, parameters.lambda),
      workspace_(std::make_unique<Workspace>()) {
  parameters.validate();
  format.validate("frame");
  if (parameters.wiener) {
    wiener_ = std::make_unique<StepTables>(*parameters.wiener, 0.0F);
  }
  workspace_->row_locks = std::vector<std::mutex>(format.height / kRowsPerLock + 1);
  const int patch = std::max(hard_.step.patch_size, wiener_ ? wiener_->step.patch_size : 0);
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const int width = format.plane_width(p);
    const int height = format.plane_height(p);
    if (width < patch || height < patch) {
      warnings_.push_back("plane " + std::to_string(p) + " (" + std::to_string(width) + "x" +
                          std::to_string(height) + ") is smaller than a patch of " + std::to_string(patch) +
                          "x" + std::to_string(patch) + " and passes through unchanged");
    }
  }
}

Bm3d::~Bm3d() = default;

void Bm3d::filter(const Frame& in, const NoiseLevel& noise, Frame& out) {
  if (!in.interlaced) {
    filter_picture(in.planes, noise, out.planes);
  } else {
    for (int parity = 0; parity < 2; ++parity) {
      filter_picture(field_of(format_, in.planes, parity), noise, field_of(format_, out.planes, parity));
    }
  }
}

void Bm3d::filter_picture(const std::array<Plane, kMaxPlanes>& in, const NoiseLevel& noise,
                          const std::array<Plane, kMaxPlanes>& out) {
  const int colors = format_.color_plane_count();
  const bool rgb = format_.color_model == ColorModel::kRgb;
  const int patch = std::max(hard_.step.patch_size, wiener_ ? wiener_->step.patch_size : 0);
  const auto large_enough = [&](const Plane& plane) { return plane.width >= patch && plane.height >= patch; };
  const std::array<float, 3> sigma = rgb ? opponent_sigma(noise.sigma) : noise.sigma;

  // Chroma is never larger than luma, so that a luma plane that is too small leaves nothing to filter.
  bool filtered = false;
  auto& components = workspace_->components;
  for (int p = 0; p < colors; ++p) {
    Component& component = components[p];
    component.sigma = large_enough(in[p]) ? sigma[p] : 0;
    filtered = filtered || component.sigma > 0;
  }
  const auto passes_through = [&](int p) {
    return !filtered || p >= colors || noise.sigma[p] == 0 || (!rgb && components[p].sigma == 0);
  };
  for (int p = 0; p < format_.plane_count(); ++p) {
    if (passes_through(p)) {
      copy_plane(format_, in[p], out[p]);
    }
  }
  if (!filtered) {
    return;
  }

  for (int p = 0; p < colors; ++p) {
    Component& component = components[p];
    component.resize(in[p].width, in[p].height);
    for_each_row(component.height, [&](int y) {
      load_row(format_, in[p].row<std::byte>(y), component.width,
               component.noisy.data() + static_cast<std::ptrdiff_t>(y) * component.width);
    });
  }
  Component& luma = components[0];
  if (rgb) {
    for_each_row(luma.height, [&](int y) {
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * luma.width;
      rgb_to_opponent_row(components[0].noisy.data() + offset, components[1].noisy.data() + offset,
                          components[2].noisy.data() + offset, luma.width);
    });
  }

  PlaneSet full;
  full.width = luma.width;
  full.height = luma.height;
  full.guide_sigma = static_cast<double>(luma.sigma);
  PlaneSet chroma;
  // Each of its guide's samples is the mean of so many.
  chroma.guide_sigma = full.guide_sigma / std::sqrt(1 << (format_.chroma_shift_x + format_.chroma_shift_y));
  chroma.width = components[1].width;
  chroma.height = components[1].height;
  for (int p = 0; p < colors; ++p) {
    if (components[p].sigma > 0) {
      const bool subsampled = p > 0 && (format_.chroma_shift_x > 0 || format_.chroma_shift_y > 0);
      (subsampled ? chroma : full).components.push_back(&components[p]);
    }
  }
  const auto step = [&](const StepTables& tables, bool second) {
    const std::vector<float>& guide = second ? luma.basic : luma.noisy;
    full.guide = guide.data();
    full.guide_is_bytes = !second && !rgb && format_.sample_type == SampleType::kUint8;
    if (!chroma.components.empty()) {
      // Taken before the full planes are filtered, which in the second step overwrites the noisy samples.
      workspace_->guide.resize(static_cast<std::size_t>(chroma.width) * chroma.height);
      for_each_row(chroma.height, [&](int y) {
        std::array<const float*, 4> rows{};
        int count = 0;
        for (int i = y << format_.chroma_shift_y;
             i < std::min((y + 1) << format_.chroma_shift_y, luma.height); ++i) {
          rows[count++] = guide.data() + static_cast<std::ptrdiff_t>(i) * luma.width;
        }
        subsample_row(rows.data(), count, format_.chroma_shift_x, luma.width, chroma.width,
                      workspace_->guide.data() + static_cast<std::ptrdiff_t>(y) * chroma.width);
      });
      chroma.guide = workspace_->guide.data();
    }
    run_step(tables, second, full);
    run_step(tables, second, chroma);
  };
  step(hard_, false);
  if (luma.sigma == 0) {
    luma.basic = luma.noisy;
  }
  if (wiener_) {
    step(*wiener_, true);
  }

  // The first step's estimates are in `basic`; the second step's have replaced the noisy samples.
  const auto result = [&](int p, int y) {
    Component& component = components[p];
    std::vector<float>& samples = wiener_ || component.sigma == 0 ? component.noisy : component.basic;
    return samples.data() + static_cast<std::ptrdiff_t>(y) * component.width;
  };
  if (rgb) {
    for_each_row(luma.height,
                 [&](int y) { opponent_to_rgb_row(result(0, y), result(1, y), result(2, y), luma.width); });
  }
  for (int p = 0; p < colors; ++p) {
    if (!passes_through(p)) {
      for_each_row(components[p].height, [&](int y) {
        store_row(format_, result(p, y), components[p].width, out[p].row<std::byte>(y));
      });
    }
  }
}

void Bm3d::run_step(const StepTables& tables, bool wiener, const PlaneSet& set) {
  if (set.components.empty()) {
    return;
  }
  const int k = tables.step.patch_size;
  StepJob job;
  job.tables = &tables;
  job.wiener = wiener;
  job.width = set.width;
  job.height = set.height;
  job.scale = matching_scale(set.guide_is_bytes);
  job.distances = matching_distances(matching_, wiener, tables.step, job.scale, set.guide_sigma);
  job.grid_x = reference_grid(set.width, k, tables.step.step);
  job.grid_y = reference_grid(set.height, k, tables.step.step);
  job.row_locks = &workspace_->row_locks;

  const std::size_t size = static_cast<std::size_t>(set.width) * set.height;
  workspace_->matching.resize(std::max(workspace_->matching.size(), size));
  job.matching = workspace_->matching.data();
  for (std::size_t i = 0; i < set.components.size(); ++i) {
    AggregationSums& sums = workspace_->sums[i];
    sums.numerator.resize(std::max(sums.numerator.size(), size));
    sums.weight.resize(std::max(sums.weight.size(), size));
    const Component& component = *set.components[i];
    job.planes.push_back({component.noisy.data(), component.basic.data(), component.sigma, &sums});
  }
  const bool smooth = matching_ == Matching::kStatistical && !wiener && set.guide_sigma > 0;
  for_each_row(set.height, [&](int y) {
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * set.width;
    const float* guide = set.guide + offset;
    if (smooth) {
      AlignedVector<float>& row = workspace_->scratch.local().guide_row;
      row.resize(set.width);
      smooth_row(guide + (y > 0 ? -set.width : set.width), guide,
                 guide + (y < set.height - 1 ? set.width : -set.width), set.width, row.data());
      guide = row.data();
    }
    matching_row(job.scale, guide, set.width, workspace_->matching.data() + offset);
    for (const FilteredPlane& plane : job.planes) {
      std::fill_n(plane.sums->numerator.begin() + offset, set.width, 0);
      std::fill_n(plane.sums->weight.begin() + offset, set.width, 0);
    }
  });

  const int references = tile_references(tables.step.step);
  const int columns = static_cast<int>(job.grid_x.size());
  const int rows = static_cast<int>(job.grid_y.size());
  std::vector<Tile> tiles;
  for (int y = 0; y < rows; y += references) {
    for (int x = 0; x < columns; x += references) {
      tiles.push_back({x, std::min(x + references, columns), y, std::min(y + references, rows)});
    }
  }
  for_each_index(static_cast<int>(tiles.size()), 1,
                 [&](int i) { process_tile(job, tiles[i], workspace_->scratch.local()); });

  for_each_row(set.height, [&](int y) {
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(y) * set.width;
    for (std::size_t i = 0; i < set.components.size(); ++i) {
      const AggregationSums& sums = workspace_->sums[i];
      std::array<const std::int64_t*, 16> weights{};
      for (int row = 0; row < k; ++row) {
        const int from = y - k + 1 + row;
        weights[row] =
            from >= 0 ? sums.weight.data() + static_cast<std::ptrdiff_t>(from) * set.width : nullptr;
      }
      Component& component = *set.components[i];
      float* out = (wiener ? component.noisy : component.basic).data() + offset;
      estimate_row(tables, sums.numerator.data() + offset, weights.data(), set.width, out);
    }
  });
}

}  // namespace limpid::cpu
