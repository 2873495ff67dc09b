// SPDX-License-Identifier: MIT
#include "core/noise/level_steps.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace limpid::noise {
namespace {

constexpr double kQuietBlocks = 0.1;
constexpr double kLeastStep = 1.15;
constexpr std::size_t kLeastFrames = 2;
constexpr std::size_t kMostFrames = 8;
constexpr std::ptrdiff_t kFramesOfRange = 3;

}  // namespace

bool LevelSteps::is_step(const ChannelStatistics& luma) const {
  const double level = level_quantile(luma, kQuietBlocks);
  if (levels_.size() < kLeastFrames || level == 0) {
    return false;
  }
  const auto [least, most] =
      std::minmax_element(levels_.end() - std::min(kFramesOfRange, std::ssize(levels_)), levels_.end());
  std::vector<double> sorted(levels_.begin(), levels_.end());
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  return level > std::max(*most, *middle * kLeastStep) ||
         level * kLeastStep < std::min(*least * kLeastStep, *middle);
}

void LevelSteps::add(const ChannelStatistics& luma) {
  if (const double level = level_quantile(luma, kQuietBlocks); level > 0) {
    levels_.push_back(level);
  }
  if (levels_.size() > kMostFrames) {
    levels_.pop_front();
  }
}

}  // namespace limpid::noise
