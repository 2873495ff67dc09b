// SPDX-License-Identifier: MIT
#include "cpu/recursive/recursive_state.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/base/parallel.h"
#include "core/recursive/recursion.h"
#include "cpu/recursive/recursive_kernels.h"

namespace limpid::cpu {
namespace {

constexpr int kBlockSide = MotionField::kBlock;

void warp_block_row(const ComponentState& state, const FollowedMotion& motion, const ComponentShifts& shifts,
                    bool with_pilot, int row, WarpedState& warped) {
  const MotionField& field = motion.field;
  const int width = kBlockSide >> shifts.x;
  const int height = kBlockSide >> shifts.y;
  const int y = row * height;
  const int count = std::min(height, state.merged.height() - y);
  const int block_row = std::min(row, field.rows - 1);
  for (int column = 0; column * width < state.merged.width(); ++column) {
    const std::size_t block = static_cast<std::size_t>(block_row) * field.columns +
                              static_cast<std::size_t>(std::min(column, field.columns - 1));
    const recursive::EighthVector vector = {recursive::subsampled(motion.vectors[block].x, shifts.x),
                                            recursive::subsampled(motion.vectors[block].y, shifts.y)};
    const int x = column * width;
    warp_block(state.merged, vector, x, y, count, warped.prior);
    if (with_pilot) {
      warp_block(state.result, vector, x, y, count, warped.pilot);
    }
    if (row < field.rows && column < field.columns) {
      const auto center = [](int begin, int side, int eighths) {
        return static_cast<float>(begin) + 0.5F * static_cast<float>(side - 1) +
               static_cast<float>(eighths) / recursive::kEighths;
      };
      warped.variances[block] = state.variance_at(center(x, width, vector.x), center(y, height, vector.y));
    }
  }
}

}  // namespace

void ComponentState::resize(int width, int height) {
  for (PaddedPlane* plane : {&noisy, &merged, &result}) {
    plane->resize(width, height);
  }
  columns = width / recursive::kPatch;
  rows = height / recursive::kPatch;
}

float ComponentState::variance_at(float x, float y) const {
  constexpr float kCenter = 0.5F * (recursive::kPatch - 1);
  const auto place = [](float position, int count) {
    return std::clamp((position - kCenter) / recursive::kPatch, 0.0F, static_cast<float>(count - 1));
  };
  const float column = place(x, columns);
  const float row = place(y, rows);
  const int left = static_cast<int>(column);
  const int top = static_cast<int>(row);
  const float right_share = column - static_cast<float>(left);
  const float bottom_share = row - static_cast<float>(top);
  const auto on_row = [&](int r) {
    const float* cells = variances.data() + static_cast<std::ptrdiff_t>(std::min(r, rows - 1)) * columns;
    return cells[left] + right_share * (cells[std::min(left + 1, columns - 1)] - cells[left]);
  };
  const float upper = on_row(top);
  return upper + bottom_share * (on_row(top + 1) - upper);
}

void FollowedMotion::refine(const MotionPyramid& reference, const MotionPyramid& current, float sigma) {
  vectors.resize(field.vectors.size());
  const std::ptrdiff_t stride = reference.layout().levels[0].stride;
  const int gain = recursive::least_gain(sigma);
  for_each_index(field.rows, 4, [&](int row) {
    for (int column = 0; column < field.columns; ++column) {
      const std::size_t block = static_cast<std::size_t>(row) * field.columns + column;
      const MotionVector& whole = field.vectors[block];
      const std::ptrdiff_t first = (row * kBlockSide - recursive::kWindowMargin) * stride +
                                   column * kBlockSide - recursive::kWindowMargin;
      const recursive::EighthVector fraction = find_fraction(
          {current.samples(0) + first, reference.samples(0) + first + whole.y * stride + whole.x, stride},
          gain);
      vectors[block] = {recursive::kEighths * whole.x + fraction.x,
                        recursive::kEighths * whole.y + fraction.y};
    }
  });
}

void warp_state(const ComponentState& state, const FollowedMotion& motion, const ComponentShifts& shifts,
                bool with_pilot, WarpedState& warped) {
  warped.prior.resize(state.merged.width(), state.merged.height());
  warped.pilot.resize(state.merged.width(), state.merged.height());
  warped.variances.resize(motion.vectors.size());
  const int height = kBlockSide >> shifts.y;
  for_each_index((state.merged.height() + height - 1) / height, 4,
                 [&](int row) { warp_block_row(state, motion, shifts, with_pilot, row, warped); });
}

// A frame with new noise fails at its first block.
bool repeats_frame(const ComponentState& state, const PaddedPlane& noisy, float repetition,
                   const std::optional<NoiseShape::Curve>& curve) {
  const float deviation = state.sigma * (curve ? std::ranges::min(*curve) : 1);
  const float variance = deviation * deviation * (1 - repetition);
  int repeated = 0;
  int blocks = 0;
  for (int y = 0; y < noisy.height(); y += kBlockSide) {
    for (int x = 0; x < noisy.width(); x += kBlockSide) {
      const int width = std::min(kBlockSide, noisy.width() - x);
      const int height = std::min(kBlockSide, noisy.height() - y);
      const float difference = squared_difference(noisy.row(y) + x, noisy.pitch(), state.noisy.row(y) + x,
                                                  state.noisy.pitch(), width, height);
      const float unit = variance * static_cast<float>(width * height);
      if (difference > recursive::kRepeatLimit * unit) {
        return false;
      }
      repeated += difference <= recursive::kRepeatNear * unit ? 1 : 0;
      ++blocks;
    }
  }
  return static_cast<float>(repeated) >= recursive::kRepeatShare * static_cast<float>(blocks);
}

void noise_factors(const NoiseShape::Curve& curve, const PaddedPlane& luma, const ComponentShifts& shifts,
                   int y, std::span<const int> xs, std::span<float> factors) {
  const int top = y << shifts.y;
  const int bottom = std::min((y + recursive::kPatch) << shifts.y, luma.height());
  std::vector<float> columns(static_cast<std::size_t>(luma.width()), 0.0F);
  for (int row = top; row < bottom; ++row) {
    const float* samples = luma.row(row);
    for (int x = 0; x < luma.width(); ++x) {
      columns[x] += samples[x];
    }
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const int left = xs[i] << shifts.x;
    const int right = std::min((xs[i] + recursive::kPatch) << shifts.x, luma.width());
    float sum = 0;
    for (int x = left; x < right; ++x) {
      sum += columns[x];
    }
    const float deviation = deviation_at(curve, sum / static_cast<float>((right - left) * (bottom - top)));
    factors[i] = deviation * deviation;
  }
}

}  // namespace limpid::cpu
