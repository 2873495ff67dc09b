#include "core/noise_estimation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/code_values.h"
#include "core/cpu/planes.h"
#include "core/noise_blocks.h"
#include "core/parallel.h"

namespace limpid {
namespace {

using noise::Block;
using noise::kBlock;
using noise::kBlocksPerCell;
using noise::kCell;

// The tracker.
constexpr int kFramesToAverage = 8;
constexpr int kCheckInterval = 8;  // frames, once enough have been averaged
constexpr std::size_t kDisagreementsToRestart = 3;
constexpr float kSameSigma = 0.5F;      // levels differ if they do by more than this
constexpr float kSameShare = 0.15F;     // and by more than this share
constexpr float kCutDifference = 0.6F;  // sum of the changes of all shares; 2 at most

// The plane's blocks; those of a cell follow each other.
std::vector<Block> analyse(const Plane& plane, const FrameFormat& format) {
  static const noise::HalfDctMatrix dct_matrix = noise::half_dct_matrix();
  const noise::CellGrid grid = noise::cell_grid(plane.width, plane.height);
  std::vector<Block> blocks(static_cast<std::size_t>(grid.blocks()));
  constexpr int kRowsAtATime = 8;
  for_each_index(grid.rows, kRowsAtATime, [&](int row_of_cells) {
    auto block = blocks.begin() + static_cast<std::ptrdiff_t>(row_of_cells) * grid.columns * kBlocksPerCell;
    std::array<std::array<float, kCell>, kCell> cell;
    for (int column = 0; column < grid.columns; ++column) {
      for (int row = 0; row < kCell; ++row) {
        load_code_values(plane, format, column * grid.step, row_of_cells * grid.step + row, kCell,
                         cell[row].data());
      }
      if (format.sample_type == SampleType::kFloat32) {
        for (auto& row : cell) {
          std::transform(row.begin(), row.end(), row.begin(), usable_code_value);
        }
      }
      std::array<float, kBlocksPerCell> noise_of_cell{};
      const auto first = block;
      for (const int top : {0, kBlock}) {
        for (const int left : {0, kBlock}) {
          noise::BlockSamples samples;
          for (int row = 0; row < kBlock; ++row) {
            std::copy_n(cell[top + row].data() + left, kBlock, samples[row].data());
          }
          *block = noise::analyse(samples, dct_matrix);
          noise_of_cell[static_cast<std::size_t>(block - first)] = block->noise;
          ++block;
        }
      }
      for (auto each = first; each != block; ++each) {
        each->texture = noise::texture_with_neighbours(each->texture, each->noise, noise_of_cell);
      }
    }
  });
  return blocks;
}

class PlaneBlocks {
 public:
  PlaneBlocks(const Plane& plane, const FrameFormat& format)
      : white_(noise::white_level(format)), blocks_(analyse(plane, format)), gains_(blocks_.size(), 1) {}

  noise::SigmaSearch::Counts counts() const {
    noise::SigmaSearch::Counts counts{.blocks = static_cast<int>(blocks_.size())};
    for (const Block& block : blocks_) {
      counts.constant += block.is_constant() ? 1 : 0;
      counts.out_of_range += block.least < 0 || block.greatest > white_ ? 1 : 0;
    }
    return counts;
  }

  // The greatest change of a gain.
  float set_gains(float sigma) {
    static const noise::Censoring censoring;
    float change = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const float gain = censoring.gain(blocks_[i].mean, sigma, white_);
      change = std::max(change, std::abs(gain - gains_[i]));
      gains_[i] = gain;
    }
    return change;
  }

  std::vector<noise::FlattestBlocks> flattest() const {
    std::vector<std::pair<float, int>> order;  // textures with their blocks' numbers
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      if (!blocks_[i].is_constant() && gains_[i] >= noise::kLeastGain) {
        order.emplace_back(blocks_[i].texture / gains_[i], i);
      }
    }
    std::sort(order.begin(), order.end());
    std::vector<noise::FlattestBlocks> shares;
    noise::Shares sizes(static_cast<int>(order.size()));
    noise::FlattestBlocks sums;
    while (const int size = sizes.next()) {
      for (; sums.blocks < size; ++sums.blocks) {
        const int index = order[sums.blocks].second;
        for (std::size_t i = 0; i < sums.spectrum.size(); ++i) {
          sums.spectrum[i] += double{blocks_[index].spectrum[i]};
        }
        sums.gain += double{gains_[index]};
      }
      shares.push_back(sums);
    }
    return shares;
  }

 private:
  float white_;
  std::vector<Block> blocks_;
  std::vector<float> gains_;
};

}  // namespace

NoiseLevel estimate_noise(const Frame& frame) {
  NoiseLevel level;
  const auto planes = frame.interlaced ? cpu::field_of(frame.format, frame.planes, 0) : frame.planes;
  // Whoever denoises on a GPU waits for this several times as long as for a frame.
  for_each_index(frame.format.color_plane_count(), 1, [&](int p) {
    const Plane& plane = planes[p];
    PlaneBlocks blocks(plane, frame.format);
    noise::SigmaSearch search(blocks.counts(), static_cast<std::int64_t>(plane.width) * plane.height);
    while (!search.done()) {
      search.refine(blocks.flattest());
      if (!search.done()) {
        search.gains_changed_by(blocks.set_gains(search.deviation()));
      }
    }
    level.sigma[p] = search.sigma();
  });
  return level;
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
  return update(brightness(frame), [&] { return estimate_noise(frame); });
}

NoiseLevel NoiseTracker::update(const Brightness& brightness, const std::function<NoiseLevel()>& estimate) {
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
  const NoiseLevel own = estimate();
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
