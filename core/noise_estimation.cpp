#include "core/noise_estimation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/code_values.h"
#include "core/cpu/parallel.h"

namespace limpid {
namespace {

constexpr int kBlock = 8;
constexpr int kCell = 2 * kBlock;  // blocks are looked at in squares of 2 x 2
constexpr int kBlocksPerCell = 4;

// Coefficient (u, v) of a block tells of texture up to u + v = 6 and of noise above.
constexpr int kHighestTextureFrequency = 6;
constexpr int kNoiseCoefficients = 36;

// Found by trial on natural pictures and clips with noise of sigma 2 to 50 added: more blocks and a smaller
// first share find rarer flat places, a smaller bound trusts them more; both make the estimate vary more.
constexpr int kMaxBlocks = 16384;
constexpr double kSmallestShare = 1.0 / 400;
constexpr double kShareGrowth = 1.15;
constexpr double kConfidence = 0.6;       // standard errors between an estimate and its upper bound
constexpr float kNeighbourWeight = 0.3F;  // of the other blocks' high frequencies in a block's texture

// Noise and fine texture that clean pictures have even where they are flattest, squared code values.
constexpr double kResidualVariance = 0.5;
// Less than this changes no 8-bit sample.
constexpr double kNegligibleSigma = 0.1;

constexpr int kMostIterations = 4;
// Blocks whose noise has lost more of its variance to the ends of the code range tell too little.
constexpr float kLeastGain = 0.5F;

// The tracker.
constexpr int kFramesToAverage = 8;
constexpr int kCheckInterval = 8;  // frames, once enough have been averaged
constexpr std::size_t kDisagreementsToRestart = 3;
constexpr float kSameSigma = 0.5F;      // levels differ if they do by more than this
constexpr float kSameShare = 0.15F;     // and by more than this share
constexpr float kCutDifference = 0.6F;  // sum of the changes of all shares; 2 at most

using BlockSamples = std::array<std::array<float, kBlock>, kBlock>;

struct Block {
  float mean = 0;
  float texture = 0;  // energy of the lower frequencies
  float noise = 0;    // energy of the higher ones
  float least = 0;    // sample
  float greatest = 0;
  std::array<float, kNoiseCoefficients> spectrum{};  // squares of the higher ones
};

// The left half of the orthonormal DCT-II matrix; the right half mirrors it, with the sign changed in odd
// rows.
const auto kDctMatrix = [] {
  std::array<std::array<float, kBlock / 2>, kBlock> matrix{};
  for (int k = 0; k < kBlock; ++k) {
    for (int i = 0; i < kBlock / 2; ++i) {
      const double norm = k == 0 ? std::sqrt(0.125) : 0.5;
      matrix[k][i] = static_cast<float>(norm * std::cos((2 * i + 1) * k * M_PI / (2 * kBlock)));
    }
  }
  return matrix;
}();

void dct_columns(BlockSamples& block) {
  BlockSamples folded;  // sums, then differences, of rows that mirror each other
  for (int i = 0; i < kBlock / 2; ++i) {
    for (int x = 0; x < kBlock; ++x) {
      folded[i][x] = block[i][x] + block[kBlock - 1 - i][x];
      folded[kBlock / 2 + i][x] = block[i][x] - block[kBlock - 1 - i][x];
    }
  }
  for (int k = 0; k < kBlock; ++k) {
    const int first = k % 2 == 0 ? 0 : kBlock / 2;
    for (int x = 0; x < kBlock; ++x) {
      block[k][x] = kDctMatrix[k][0] * folded[first][x] + kDctMatrix[k][1] * folded[first + 1][x] +
                    kDctMatrix[k][2] * folded[first + 2][x] + kDctMatrix[k][3] * folded[first + 3][x];
    }
  }
}

void transpose(BlockSamples& block) {
  for (int y = 0; y < kBlock; ++y) {
    for (int x = 0; x < y; ++x) {
      std::swap(block[y][x], block[x][y]);
    }
  }
}

Block analyse(BlockSamples samples) {
  Block block;
  auto least = samples[0];
  auto greatest = samples[0];
  for (const auto& row : samples) {
    for (int x = 0; x < kBlock; ++x) {
      least[x] = std::min(least[x], row[x]);
      greatest[x] = std::max(greatest[x], row[x]);
    }
  }
  block.least = *std::min_element(least.begin(), least.end());
  block.greatest = *std::max_element(greatest.begin(), greatest.end());
  dct_columns(samples);
  transpose(samples);
  dct_columns(samples);
  block.mean = samples[0][0] / kBlock;
  samples[0][0] = 0;
  for (auto& row : samples) {
    for (float& coefficient : row) {
      coefficient *= coefficient;
    }
  }
  float* next = block.spectrum.data();
  for (int v = 0; v < kBlock; ++v) {
    const auto split = samples[v].begin() + std::max(0, kHighestTextureFrequency + 1 - v);
    block.texture = std::accumulate(samples[v].begin(), split, block.texture);
    next = std::copy(split, samples[v].end(), next);
  }
  block.noise = std::accumulate(block.spectrum.begin(), block.spectrum.end(), 0.0F);
  return block;
}

// How many cells whose corners are `step` samples apart lie along a side, which has room for one.
int cells_along(int side, int step) { return (side - kCell) / step + 1; }

// The blocks of cells whose corners are `step` samples apart; those of a cell follow each other.
std::vector<Block> analyse(const Plane& plane, const FrameFormat& format, int step) {
  const int rows = cells_along(plane.height, step);
  const int columns = cells_along(plane.width, step);
  std::vector<Block> blocks(static_cast<std::size_t>(rows) * columns * kBlocksPerCell);
  constexpr int kRowsAtATime = 8;
  cpu::for_each_index(rows, kRowsAtATime, [&](int row_of_cells) {
    auto block = blocks.begin() + static_cast<std::ptrdiff_t>(row_of_cells) * columns * kBlocksPerCell;
    std::array<std::array<float, kCell>, kCell> cell;
    for (int column = 0; column < columns; ++column) {
      for (int row = 0; row < kCell; ++row) {
        load_code_values(plane, format, column * step, row_of_cells * step + row, kCell, cell[row].data());
      }
      for (const int top : {0, kBlock}) {
        for (const int left : {0, kBlock}) {
          BlockSamples samples;
          for (int row = 0; row < kBlock; ++row) {
            std::copy_n(cell[top + row].data() + left, kBlock, samples[row].data());
          }
          *block++ = analyse(samples);
        }
      }
    }
  });
  return blocks;
}

// The variance that is left of Gaussian noise of unit variance where values beyond an end of the code range
// have been moved to that end, by the distance of the remaining mean from it.
float censored_variance(float distance) {
  constexpr int kStepsPerUnit = 64;
  constexpr int kReach = 4;  // beyond which nothing is lost
  static const auto table = [] {
    std::array<float, kReach * kStepsPerUnit + 1> variances{};
    const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); };
    const auto below = [](double x) { return std::erfc(-x / std::sqrt(2)) / 2; };
    const auto remaining_mean = [&](double x) { return x * below(x) + density(x); };
    // Remaining means under that of a plane at the very end are chance; they get its variance.
    double distance_before = 0;
    for (std::size_t i = 0; i < variances.size(); ++i) {
      while (remaining_mean(distance_before) * kStepsPerUnit < static_cast<double>(i)) {
        distance_before += 1.0 / 1024;
      }
      const double x = distance_before;
      variances[i] =
          static_cast<float>((x * x + 1) * below(x) + x * density(x) - std::pow(remaining_mean(x), 2));
    }
    return variances;
  }();
  return table[std::lround(std::clamp(distance, 0.0F, float{kReach}) * kStepsPerUnit)];
}

// Variance of the noise in the flattest of `order`'s blocks, each given with its texture and divided by its
// gain. `independence` is the share of a block's samples that it doesn't have in common with others.
double variance_of_flattest(const std::vector<Block>& blocks, std::vector<std::pair<float, int>>& order,
                            const std::vector<float>& gains, double independence) {
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const double count = static_cast<double>(order.size());
  // The variance of the sum of n squared coefficients, relative to the square of its mean, is 2 / n.
  const auto relative_error = [independence](double coefficients) {
    return std::sqrt(2 / (coefficients * independence));
  };
  std::array<double, kNoiseCoefficients> sums{};
  double gain_sum = 0;
  double lowest_bound = std::numeric_limits<double>::infinity();
  double next = std::max(2.0 * kBlocksPerCell, count * kSmallestShare);
  for (std::size_t n = 1; n <= order.size(); ++n) {
    const int index = order[n - 1].second;
    const Block& block = blocks[index];
    for (int i = 0; i < kNoiseCoefficients; ++i) {
      sums[i] += double{block.spectrum[i]};
    }
    gain_sum += double{gains[index]};
    if (static_cast<double>(n) < next && n < order.size()) {
      continue;
    }
    next *= kShareGrowth;
    // Structure rarely fills the whole spectrum, so the quieter half and quarter of it are tried as well.
    // Their means are lower even in white noise, by this many standard errors of a single coefficient's mean
    // (the means of the lowest 1/1, 1/2 and 1/4 of normally distributed numbers).
    constexpr std::array<std::pair<int, double>, 3> kParts = {
        {{kNoiseCoefficients, 0}, {kNoiseCoefficients / 2, 0.798}, {kNoiseCoefficients / 4, 1.271}}};
    auto sorted = sums;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [part, lowering] : kParts) {
      const double expected = 1 - lowering * relative_error(static_cast<double>(n));
      if (expected < 0.3) {
        continue;  // too few blocks for the normal approximation
      }
      double sum = 0;
      for (int i = 0; i < part; ++i) {
        sum += sorted[i];
      }
      const double error = relative_error(static_cast<double>(n) * part);
      lowest_bound = std::min(lowest_bound, sum / (part * gain_sum * expected) * (1 + kConfidence * error));
    }
  }
  // White noise reaches its lowest bound with all blocks and coefficients.
  return lowest_bound / (1 + kConfidence * relative_error(count * kNoiseCoefficients));
}

double estimate_sigma(const Plane& plane, const FrameFormat& format) {
  if (plane.width < kCell || plane.height < kCell) {
    return 0;
  }
  int step = 1;
  while (std::int64_t{cells_along(plane.width, step)} * cells_along(plane.height, step) * kBlocksPerCell >
         kMaxBlocks) {
    ++step;
  }
  const std::vector<Block> blocks = analyse(plane, format, step);
  std::ptrdiff_t constant = 0;
  float least = 0;
  float greatest = 0;
  for (const Block& block : blocks) {
    constant += block.least == block.greatest ? 1 : 0;
    least = std::min(least, block.least);
    greatest = std::max(greatest, block.greatest);
  }
  if (2 * constant > static_cast<std::ptrdiff_t>(blocks.size())) {
    return 0;
  }
  const double independence = std::min(1.0, static_cast<double>(plane.width) * plane.height /
                                                (kBlock * kBlock) / static_cast<double>(blocks.size()));
  const float white = format.sample_type == SampleType::kFloat32
                          ? 255
                          : static_cast<float>(((1 << format.bit_depth) - 1) / format.code_value());
  const bool censored = least >= 0 && greatest <= white;  // float samples need not be

  // How strongly the range censors the noise depends on its sigma, so that is found by iteration.
  std::vector<float> gains(blocks.size(), 1);
  std::vector<std::pair<float, int>> order;
  double variance = 0;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    order.clear();
    for (int i = 0; i < static_cast<int>(blocks.size()); ++i) {
      // Constant blocks are bars, titles or saturated, not a part of the picture without noise.
      if (blocks[i].least == blocks[i].greatest || gains[i] < kLeastGain) {
        continue;
      }
      float neighbours = -blocks[i].noise;
      for (int j = 0; j < kBlocksPerCell; ++j) {
        neighbours += blocks[i / kBlocksPerCell * kBlocksPerCell + j].noise;
      }
      order.emplace_back((blocks[i].texture + kNeighbourWeight * neighbours) / gains[i], i);
    }
    if (order.empty()) {
      break;
    }
    variance = variance_of_flattest(blocks, order, gains, independence);
    if (variance <= 0 || !censored) {
      break;
    }
    const auto sigma = static_cast<float>(std::sqrt(variance));
    float change = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const float mean = blocks[i].mean;
      const float gain = censored_variance(mean / sigma) * censored_variance((white - mean) / sigma);
      change = std::max(change, std::abs(gain - gains[i]));
      gains[i] = gain;
    }
    if (change < 0.01F) {
      break;
    }
  }
  const double sigma = variance / std::sqrt(variance + kResidualVariance);
  return sigma < kNegligibleSigma ? 0 : sigma;
}

}  // namespace

NoiseLevel estimate_noise(const Frame& frame) {
  NoiseLevel level;
  // Whoever denoises on a GPU waits for this several times as long as for a frame.
  cpu::for_each_index(frame.format.color_plane_count(), 1, [&](int p) {
    Plane plane = frame.planes[p];
    if (frame.interlaced) {
      plane.stride *= 2;
      plane.height = (plane.height + 1) / 2;
    }
    level.sigma[p] = static_cast<float>(estimate_sigma(plane, frame.format));
  });
  return level;
}

NoiseTracker::Histogram NoiseTracker::brightness(const Frame& frame) {
  const Plane& plane = frame.planes[frame.format.color_model == ColorModel::kRgb ? 1 : 0];
  constexpr int kPoints = 64;  // each way
  Histogram histogram{};
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kPoints; ++j) {
      const int x = static_cast<int>(std::int64_t{plane.width} * j / kPoints);
      const int y = static_cast<int>(std::int64_t{plane.height} * i / kPoints);
      float value = 0;
      load_code_values(plane, frame.format, x, y, 1, &value);
      const auto last = static_cast<float>(histogram.size() - 1);
      const float bin = value * static_cast<float>(histogram.size()) / 256;
      histogram[static_cast<std::size_t>(std::clamp(bin, 0.0F, last))] += 1.0F / (kPoints * kPoints);
    }
  }
  return histogram;
}

void NoiseTracker::average_in(const NoiseLevel& own) {
  ++averaged_;
  for (std::size_t p = 0; p < own.sigma.size(); ++p) {
    variance_sums_[p] += std::pow(double{own.sigma[p]}, 2);
    level_.sigma[p] = static_cast<float>(std::sqrt(variance_sums_[p] / averaged_));
  }
}

bool NoiseTracker::agrees(const NoiseLevel& own) const {
  for (std::size_t p = 0; p < own.sigma.size(); ++p) {
    if (std::abs(own.sigma[p] - level_.sigma[p]) > std::max(kSameSigma, kSameShare * level_.sigma[p])) {
      return false;
    }
  }
  return true;
}

NoiseLevel NoiseTracker::update(const Frame& frame) {
  const Histogram histogram = brightness(frame);
  float difference = 0;
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    difference += std::abs(histogram[i] - histogram_[i]);
  }
  histogram_ = histogram;
  const bool cut = averaged_ == 0 || difference > kCutDifference;
  ++since_estimate_;
  if (!cut && averaged_ == kFramesToAverage && disagreeing_.empty() && since_estimate_ < kCheckInterval) {
    return level_;
  }

  since_estimate_ = 0;
  const NoiseLevel own = estimate_noise(frame);
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
    for (const NoiseLevel& level : cut ? std::vector{own} : disagreeing_) {
      average_in(level);
    }
    disagreeing_.clear();
  }
  return level_;
}

}  // namespace limpid
