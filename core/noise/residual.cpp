// SPDX-License-Identifier: MIT
#include "core/noise/residual.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/frame/code_values.h"
#include "core/frame/fields.h"
#include "core/noise/brightness_histogram.h"
#include "core/noise/constants.h"
#include "core/noise/measured_blocks.h"
#include "core/noise/noise_blocks.h"

namespace limpid::noise {
namespace {

struct CheckedBlock {
  float texture = 0;  // variance of the denoised samples, and of the noisy ones in excess of the noise
  float removed = 0;  // variance of the residual, relative to the expected noise
};

BlockSamples load(const Plane& plane, const FrameFormat& format, int x, int y) {
  BlockSamples samples;
  for (int row = 0; row < kBlock; ++row) {
    load_usable_code_values(plane, format, x, y + row, kBlock, samples[row].data());
  }
  return samples;
}

struct Moments {
  float mean = 0;
  float variance = 0;
};

Moments moments_of(const BlockSamples& samples) {
  Moments moments;
  for (const auto& row : samples) {
    for (const float sample : row) {
      moments.mean += sample / kCoefficients;
    }
  }
  for (const auto& row : samples) {
    for (const float sample : row) {
      moments.variance += (sample - moments.mean) * (sample - moments.mean) / kCoefficients;
    }
  }
  return moments;
}

double mean_removed(std::vector<CheckedBlock>::const_iterator begin,
                    std::vector<CheckedBlock>::const_iterator end) {
  double sum = 0;
  for (auto it = begin; it != end; ++it) {
    sum += static_cast<double>(it->removed);
  }
  return sum / static_cast<double>(end - begin);
}

}  // namespace

double residual_ratio(const Frame& noisy, const Frame& denoised, const NoiseModel& model) {
  const FrameFormat& format = noisy.format;
  const int p = brightness_plane(format);
  const PlaneNoise noise = model.plane(p);
  if (!(noise.sigma > 0)) {
    return 1;
  }
  // The first field, for frames whose noise is estimated by field.
  const PictureRows rows = pictures_of(noisy.interlaced || noisy.combed).front();
  const auto picture = [&](Plane plane) {
    return Plane{plane.data + rows.first * plane.stride, plane.stride * rows.spacing, plane.width,
                 rows.count(plane.height)};
  };
  const Plane before = picture(noisy.planes[p]);
  const Plane after = picture(denoised.planes[p]);
  const BlockGrid grid = difference_grid(before.width, before.height);
  std::vector<CheckedBlock> blocks;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const BlockSamples given = load(before, format, column * grid.spacing, row * grid.spacing);
      BlockSamples residual = load(after, format, column * grid.spacing, row * grid.spacing);
      const Moments shown = moments_of(residual);
      const float variance = moments_of(given).variance;
      if (!(variance > 0)) {
        continue;
      }
      for (int y = 0; y < kBlock; ++y) {
        std::transform(given[y].begin(), given[y].end(), residual[y].begin(), residual[y].begin(),
                       [](float sample, float result) { return sample - result; });
      }
      const float deviation = noise.sigma * deviation_at(noise.shape.curve, shown.mean);
      const float expected = deviation * deviation;
      const float removed = moments_of(residual).variance / expected;
      blocks.push_back(
          {shown.variance + std::max(variance - kConstants.residual.most_of_noise * expected, 0.0F),
           removed});
    }
  }
  if (std::ssize(blocks) < kConstants.residual.least_blocks) {
    return 1;
  }
  std::sort(blocks.begin(), blocks.end(), [](const CheckedBlock& a, const CheckedBlock& b) {
    return a.texture != b.texture ? a.texture < b.texture : a.removed < b.removed;
  });
  const auto flat = static_cast<std::ptrdiff_t>(kConstants.residual.least_textured_share *
                                                static_cast<double>(blocks.size()));
  const auto textured = static_cast<std::ptrdiff_t>(kConstants.residual.most_textured_share *
                                                    static_cast<double>(blocks.size()));
  return mean_removed(blocks.end() - textured, blocks.end()) /
         std::max(mean_removed(blocks.begin(), blocks.begin() + flat), kConstants.residual.least_removed);
}

}  // namespace limpid::noise
