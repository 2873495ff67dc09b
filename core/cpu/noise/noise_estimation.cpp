#include "core/cpu/noise/noise_estimation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/cpu/runtime/planes.h"
#include "core/frame/code_values.h"
#include "core/noise/noise_blocks.h"

namespace limpid::cpu {
namespace {

using noise::Block;
using noise::kBlock;
using noise::kBlocksPerCell;
using noise::kCell;

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
        load_code_values(plane, format, column * grid.spacing, row_of_cells * grid.spacing + row, kCell,
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

NoiseModel estimate_noise(const Frame& frame) {
  NoiseModel level;
  const auto planes = picture_of(frame.format, frame.planes, pictures_of(frame.interlaced).front());
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

}  // namespace limpid::cpu
