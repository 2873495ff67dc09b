// SPDX-License-Identifier: MIT
#include "core/noise/noise_blocks.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace limpid::noise {
namespace {

// Distance of an estimate's upper bound from it, in standard errors. Found by trial, as kMaxBlocks. A smaller
// number relies more on rare flat areas, and the estimate varies more.
constexpr double kConfidence = 0.6;

constexpr int kMostRounds = 4;
constexpr float kSmallChange = 0.01F;  // relative change of all gains

// The variance of the noise in the share of the blocks that has the lowest upper bound; the last share is all
// blocks. `independence` is the share of a block's samples that it does not share with other blocks.
double lowest_variance(const std::vector<FlattestBlocks>& shares, double independence) {
  // The variance of the sum of n squared coefficients, relative to the square of its mean, is 2 / n.
  const auto relative_error = [independence](double coefficients) {
    return std::sqrt(2 / (coefficients * independence));
  };
  double lowest_bound = std::numeric_limits<double>::infinity();
  for (const FlattestBlocks& share : shares) {
    // Structure rarely fills the whole spectrum, so its quieter half and quarter are tried as well. Their
    // means are lower even in white noise, by this many standard errors of a single coefficient's mean (the
    // means of the lowest 1/1, 1/2 and 1/4 of normally distributed numbers).
    constexpr std::array<std::pair<int, double>, 3> kParts = {
        {{kNoiseCoefficients, 0}, {kNoiseCoefficients / 2, 0.798}, {kNoiseCoefficients / 4, 1.271}}};
    const double blocks = share.blocks;
    auto sorted = share.spectrum;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [part, lowering] : kParts) {
      const double expected = 1 - lowering * relative_error(blocks);
      if (expected < 0.3) {
        continue;  // too few blocks for the normal approximation
      }
      double sum = 0;
      for (int i = 0; i < part; ++i) {
        sum += sorted[i];
      }
      const double error = relative_error(blocks * part);
      lowest_bound = std::min(lowest_bound, sum / (part * share.gain * expected) * (1 + kConfidence * error));
    }
  }
  // For white noise, all blocks and coefficients give the lowest bound.
  const double all = static_cast<double>(shares.back().blocks) * kNoiseCoefficients;
  return lowest_bound / (1 + kConfidence * relative_error(all));
}

}  // namespace

HalfDctMatrix half_dct_matrix() {
  HalfDctMatrix matrix{};
  for (int k = 0; k < kBlock; ++k) {
    for (int i = 0; i < kBlock / 2; ++i) {
      const double norm = k == 0 ? std::sqrt(0.125) : 0.5;
      matrix[k][i] = static_cast<float>(norm * std::cos((2 * i + 1) * k * std::numbers::pi / (2 * kBlock)));
    }
  }
  return matrix;
}

float white_level(const FrameFormat& format) {
  return format.is_float() ? 255 : static_cast<float>(((1 << format.bit_depth) - 1) / format.code_value());
}

float quantization_step(const FrameFormat& format) {
  return format.is_float() ? 0 : static_cast<float>(1.0 / format.code_value());
}

SigmaSearch::SigmaSearch(const Counts& counts, std::int64_t samples)
    : independence_(std::min(1.0, static_cast<double>(samples) / (kBlock * kBlock) / counts.blocks)),
      censored_(counts.out_of_range == 0),
      done_(counts.blocks == 0 || 2 * counts.constant > counts.blocks) {}

void SigmaSearch::refine(const std::vector<FlattestBlocks>& shares) {
  ++rounds_;
  if (!shares.empty()) {
    variance_ = lowest_variance(shares, independence_);
  }
  done_ = shares.empty() || variance_ <= 0 || !censored_ || rounds_ == kMostRounds;
}

void SigmaSearch::gains_changed_by(float most) { done_ = done_ || most < kSmallChange; }

float SigmaSearch::deviation() const { return static_cast<float>(std::sqrt(variance_)); }

}  // namespace limpid::noise
