#include "core/engine/noise_tracker.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace limpid {
namespace {

constexpr int kFramesToAverage = 8;
constexpr int kCheckInterval = 8;  // frames, once enough have been averaged
constexpr std::size_t kDisagreementsToRestart = 3;
constexpr float kSameSigma = 0.5F;      // levels differ if they do by more than this
constexpr float kSameShare = 0.15F;     // and by more than this share
constexpr float kCutDifference = 0.6F;  // sum of the changes of all shares; 2 at most

}  // namespace

void NoiseTracker::average_in(const NoiseModel& own) {
  ++averaged_;
  for (std::size_t p = 0; p < own.sigma.size(); ++p) {
    variance_sums_[p] += std::pow(double{own.sigma[p]}, 2);
    level_.sigma[p] = static_cast<float>(std::sqrt(variance_sums_[p] / averaged_));
  }
}

bool NoiseTracker::agrees(const NoiseModel& own) const {
  for (std::size_t p = 0; p < own.sigma.size(); ++p) {
    if (std::abs(own.sigma[p] - level_.sigma[p]) > std::max(kSameSigma, kSameShare * level_.sigma[p])) {
      return false;
    }
  }
  return true;
}

NoiseModel NoiseTracker::next(const Frame& frame) {
  const BrightnessHistogram brightness = engine_.brightness_histogram(frame);
  float difference = 0;
  for (std::size_t i = 0; i < brightness.size(); ++i) {
    difference += std::abs(brightness[i] - brightness_[i]);
  }
  brightness_ = brightness;
  const bool cut = averaged_ == 0 || difference > kCutDifference;
  ++since_estimate_;
  if (!cut && averaged_ == kFramesToAverage && disagreeing_.empty() && since_estimate_ < kCheckInterval) {
    return level_;
  }

  since_estimate_ = 0;
  const NoiseModel own = engine_.estimate_noise(frame);
  if (!cut && agrees(own)) {
    disagreeing_.clear();
    if (averaged_ < kFramesToAverage) {
      average_in(own);
    }
    return level_;
  }
  disagreeing_.push_back(own);
  if (cut || disagreeing_.size() == kDisagreementsToRestart) {
    averaged_ = 0;
    variance_sums_ = {};
    for (const NoiseModel& level : cut ? std::vector{own} : disagreeing_) {
      average_in(level);
    }
    disagreeing_.clear();
  }
  return level_;
}

}  // namespace limpid
