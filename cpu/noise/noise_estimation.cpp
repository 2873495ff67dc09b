// SPDX-License-Identifier: MIT
#include "cpu/noise/noise_estimation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/frame/code_values.h"
#include "core/noise/noise_blocks.h"
#include "cpu/noise/block_kernels.h"
#include "cpu/runtime/planes.h"

namespace limpid::cpu {
namespace {

using noise::Block;
using noise::kBlock;
using noise::kBlocksPerCell;
using noise::kCell;

// The plane's blocks, cell by cell.
std::vector<Block> blocks_of(const Plane& plane, const FrameFormat& format) {
  const noise::CellGrid grid = noise::cell_grid(plane.width, plane.height);
  std::vector<Block> blocks(static_cast<std::size_t>(grid.blocks()));
  const int width = (grid.columns - 1) * grid.spacing + kCell;
  constexpr int kRowsAtATime = 8;
  for_each_index(grid.rows, kRowsAtATime, [&](int row_of_cells) {
    std::vector<float> rows(static_cast<std::size_t>(width) * kCell);
    for (int row = 0; row < kCell; ++row) {
      load_usable_code_values(plane, format, 0, row_of_cells * grid.spacing + row, width,
                              rows.data() + static_cast<std::ptrdiff_t>(row) * width);
    }
    BlockBatch batch;
    for (int column = 0; column < grid.columns; column += kBatch) {
      const int cells = std::min(kBatch, grid.columns - column);
      Block* const first =
          blocks.data() + (std::ptrdiff_t{row_of_cells} * grid.columns + column) * kBlocksPerCell;
      for (int b = 0; b < kBlocksPerCell; ++b) {
        take_blocks(rows.data() + std::ptrdiff_t{b / 2 * kBlock} * width, width,
                    columns_of(column * grid.spacing + b % 2 * kBlock, grid.spacing, cells), batch);
        const SampleRange range = range_of(batch);
        transform(batch);
        const AnalyzedBatch analyzed = analyze(batch);
        for (int cell = 0; cell < cells; ++cell) {
          Block& block = first[cell * kBlocksPerCell + b];
          block.mean = analyzed.mean[cell];
          block.texture = analyzed.texture[cell];
          block.noise = analyzed.noise[cell];
          block.least = range.least[cell];
          block.greatest = range.greatest[cell];
          for (int i = 0; i < noise::kNoiseCoefficients; ++i) {
            block.spectrum[i] = analyzed.spectrum[i][cell];
          }
        }
      }
      for (int cell = 0; cell < cells; ++cell) {
        Block* const of_cell = first + std::ptrdiff_t{cell} * kBlocksPerCell;
        std::array<float, kBlocksPerCell> noise_of_cell;
        std::transform(of_cell, of_cell + kBlocksPerCell, noise_of_cell.begin(),
                       [](const Block& block) { return block.noise; });
        for (int b = 0; b < kBlocksPerCell; ++b) {
          of_cell[b].texture =
              noise::texture_with_neighbors(of_cell[b].texture, of_cell[b].noise, noise_of_cell);
        }
      }
    }
  });
  return blocks;
}

// The number of a block, and an integer key with the order of the blocks' textures.
struct KeyedBlock {
  std::uint32_t key;
  int block;
};

std::uint32_t key_of(float texture) {
  const auto bits = std::bit_cast<std::uint32_t>(texture);
  constexpr std::uint32_t kSign = 0x80000000;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Radix sort by the keys' digits, from the last one on. Stable.
void sort(std::vector<KeyedBlock>& blocks) {
  constexpr int kBits = 11;
  const auto digit_of = [](const KeyedBlock& block, int shift) {
    return block.key >> shift & ((1U << kBits) - 1);
  };
  std::vector<KeyedBlock> sorted(blocks.size());
  for (int shift = 0; shift < 32; shift += kBits) {
    std::array<int, std::size_t{1} << kBits> places{};
    for (const KeyedBlock& block : blocks) {
      ++places[digit_of(block, shift)];
    }
    std::exclusive_scan(places.begin(), places.end(), places.begin(), 0);
    for (const KeyedBlock& block : blocks) {
      sorted[places[digit_of(block, shift)]++] = block;
    }
    blocks.swap(sorted);
  }
}

class PlaneBlocks {
 public:
  PlaneBlocks(const Plane& plane, const FrameFormat& format)
      : white_(noise::white_level(format)), blocks_(blocks_of(plane, format)), gains_(blocks_.size(), 1) {}

  noise::SigmaSearch::Counts counts() const {
    noise::SigmaSearch::Counts counts{.blocks = static_cast<int>(blocks_.size())};
    for (const Block& block : blocks_) {
      counts.constant += block.is_constant() ? 1 : 0;
      counts.out_of_range += block.least < 0 || block.greatest > white_ ? 1 : 0;
    }
    return counts;
  }

  // Returns the greatest change of a gain.
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
    std::vector<KeyedBlock> order;
    order.reserve(blocks_.size());
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      if (!blocks_[i].is_constant() && gains_[i] >= noise::kLeastGain) {
        order.push_back({key_of(blocks_[i].texture / gains_[i]), i});
      }
    }
    sort(order);
    std::vector<const Block*> blocks(order.size());
    std::transform(order.begin(), order.end(), blocks.begin(),
                   [&](const KeyedBlock& keyed) { return &blocks_[keyed.block]; });
    std::vector<noise::FlattestBlocks> shares;
    noise::Shares sizes(static_cast<int>(order.size()));
    noise::FlattestBlocks sums;
    while (const int size = sizes.next()) {
      add_spectra(std::span(blocks).subspan(sums.blocks, size - sums.blocks), sums.spectrum);
      for (; sums.blocks < size; ++sums.blocks) {
        sums.gain += double{gains_[order[sums.blocks].block]};
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
  const auto planes =
      picture_of(frame.format, frame.planes, pictures_of(frame.interlaced || frame.combed).front());
  // Denoisers on a GPU wait for this several times as long as for a frame.
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
    level.sigma[p] = search.deviation();
  });
  return level;
}

}  // namespace limpid::cpu
