// SPDX-License-Identifier: MIT
#include "cpu/bm3d/matches.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/matching.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/convert.h"

namespace limpid::cpu {
namespace {

// The values that the first step compares, for the whole plane.
std::vector<std::int16_t> matching_values(const Frame& frame, const Bm3dGuide& guide) {
  const FrameFormat& format = frame.format;
  const int width = format.width;
  const auto load = [&](int y) {
    std::array<std::vector<float>, 3> channels;
    const int count = format.color_model == ColorModel::kRgb ? 3 : 1;
    for (int p = 0; p < count; ++p) {
      channels[p].resize(width);
      load_row(format, frame.planes[p].row<std::byte>(y), width, channels[p].data());
    }
    if (count == 3) {
      rgb_to_opponent_row(channels[0].data(), channels[1].data(), channels[2].data(), width);
    }
    return channels[0];
  };
  std::vector<std::int16_t> values(static_cast<std::size_t>(width) * format.height);
  for (int y = 0; y < format.height; ++y) {
    std::vector<float> row = load(y);
    if (guide.smoothed) {
      const std::vector<float> above = load(y > 0 ? y - 1 : 1);
      const std::vector<float> below = load(y < format.height - 1 ? y + 1 : y - 1);
      const std::vector<float> middle = row;
      smooth_row(above.data(), middle.data(), below.data(), width, row.data());
    }
    matching_row(guide.scale, row.data(), width, values.data() + static_cast<std::ptrdiff_t>(y) * width);
  }
  return values;
}

// The position of the grid 0, spacing, 2 spacing, ..., size - patch whose patch has the center nearest to
// `sample`.
int nearest_reference(int sample, int size, int patch, int spacing) {
  const int last = size - patch;
  const int wanted = std::clamp(sample - patch / 2, 0, last);
  const int below = wanted / spacing * spacing;
  const int above = std::min(below + spacing, last);
  return wanted - below <= above - wanted ? below : above;
}

double mean_squared_difference(const StepJob& job, Position a, Position b) {
  const int k = job.tables->step.patch_size;
  double sum = 0;
  for (int y = 0; y < k; ++y) {
    for (int x = 0; x < k; ++x) {
      const double difference =
          job.matching[(a.y + y) * job.width + a.x + x] - job.matching[(b.y + y) * job.width + b.x + x];
      sum += difference * difference;
    }
  }
  return sum / (k * k * job.scale.scale * job.scale.scale);
}

}  // namespace

MatchedGroup find_matches(const Frame& frame, const Bm3dParameters& parameters, const NoiseModel& noise,
                          int x, int y) {
  parameters.validate();
  const FrameFormat& format = frame.format;
  const Bm3dStep& step = parameters.hard_threshold;
  const int k = step.patch_size;
  if (x < 0 || y < 0 || x >= format.width || y >= format.height) {
    throw UsageError("the sample " + std::to_string(x) + "," + std::to_string(y) +
                     " is outside of the picture of " + std::to_string(format.width) + "x" +
                     std::to_string(format.height));
  }
  if (format.width < k || format.height < k) {
    throw Error("frame " + std::to_string(frame.index) + " is smaller than a patch of " + std::to_string(k) +
                "x" + std::to_string(k));
  }
  const Bm3dGuide guide = make_guide(parameters, format, false, 0, 0, component_noise(format, noise)[0]);
  const StepTables tables(step, parameters.lambda);
  StepJob job;
  job.tables = &tables;
  job.width = format.width;
  job.height = format.height;
  job.scale = guide.scale;
  job.distances = guide.distances;
  const std::vector<std::int16_t> values = matching_values(frame, guide);
  job.matching = values.data();
  job.grid_x = {nearest_reference(x, format.width, k, step.spacing)};
  job.grid_y = {nearest_reference(y, format.height, k, step.spacing)};
  TileScratch scratch;
  const std::vector<Position> positions = match_tile(job, {0, 1, 0, 1}, scratch).front();

  MatchedGroup group;
  group.patch_size = k;
  const Position reference = positions.front();
  const int radius = step.search_window / 2;
  group.window_x0 = std::max(reference.x - radius, 0);
  group.window_y0 = std::max(reference.y - radius, 0);
  group.window_x1 = std::min(reference.x + radius, format.width - k) + 1;
  group.window_y1 = std::min(reference.y + radius, format.height - k) + 1;
  for (const Position& position : positions) {
    group.patches.push_back({position.x, position.y, mean_squared_difference(job, reference, position)});
  }
  return group;
}

}  // namespace limpid::cpu
