// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/frame/frame.h"

// The parts of the noise estimate (cpu/noise/noise.h) that engines share: the arithmetic of one
// block and of sums over many blocks, whose order each engine chooses, and the sigma that follows from the
// sums. Constant expressions for device code.

namespace limpid::noise {

inline constexpr int kBlock = 8;
inline constexpr int kCell = 2 * kBlock;  ///< blocks are processed in squares of 2 x 2
inline constexpr int kBlocksPerCell = 4;

/// Coefficients (u, v) of a block up to this u + v measure texture; those above measure noise.
inline constexpr int kHighestTextureFrequency = 6;
inline constexpr int kNoiseCoefficients = 36;

// Found by trial on natural pictures and clips with added noise of sigma 2 to 50. More blocks and a smaller
// first share detect rarer flat areas, but make the estimate vary more.
inline constexpr int kMaxBlocks = 16384;
inline constexpr double kSmallestShare = 1.0 / 400;
inline constexpr double kShareGrowth = 1.15;
/// The weight, in a block's texture, of the high frequencies of the cell's other blocks.
inline constexpr float kNeighborWeight = 0.3F;
/// Blocks are skipped if clipping at the ends of the code range leaves less than this share of the noise's
/// variance.
inline constexpr float kLeastGain = 0.5F;

using BlockSamples = std::array<std::array<float, kBlock>, kBlock>;

/// The left half of the orthonormal DCT-II matrix. The right half is its mirror image, with the sign changed
/// in odd rows.
using HalfDctMatrix = std::array<std::array<float, kBlock / 2>, kBlock>;
HalfDctMatrix half_dct_matrix();

/// Measurements of a block's samples, in 8-bit code values and their squares.
struct Block {
  float mean = 0;
  float texture = 0;  ///< energy of the lower frequencies
  float noise = 0;    ///< energy of the higher frequencies
  float least = 0;    ///< minimum sample
  float greatest = 0;
  std::array<float, kNoiseCoefficients> spectrum{};  ///< squares of the higher frequencies

  /// True for constant blocks: bars, titles or saturated areas, which are no evidence of a noise-free
  /// picture.
  constexpr bool is_constant() const { return least == greatest; }
};

/// Squares of blocks at 0, spacing, 2 spacing, ... along both sides of a plane. A plane smaller than a square
/// has none.
struct BlockGrid {
  int side = kBlock;  ///< of a square
  int spacing = 1;
  int columns = 0;
  int rows = 0;
  constexpr int blocks() const { return columns * rows * (side / kBlock) * (side / kBlock); }
};

/// The grid with at most `most` blocks whose spacing is the smallest possible multiple of `spacing`.
constexpr BlockGrid block_grid(int width, int height, int side, int spacing, int most) {
  BlockGrid grid{side, spacing};
  if (width < side || height < side) {
    return grid;
  }
  const auto count = [&](int length) { return (length - side) / grid.spacing + 1; };
  const int most_squares = most / ((side / kBlock) * (side / kBlock));
  while (std::int64_t{count(width)} * count(height) > most_squares) {
    grid.spacing += spacing;
  }
  grid.columns = count(width);
  grid.rows = count(height);
  return grid;
}

constexpr BlockGrid cell_grid(int width, int height) {
  return block_grid(width, height, kCell, 1, kMaxBlocks);
}

/// The DCT of all or some columns of a block.
template <std::size_t kColumns>
constexpr void dct_columns(std::array<std::array<float, kColumns>, kBlock>& block,
                           const HalfDctMatrix& matrix) {
  // Sums, then differences, of rows that mirror each other.
  std::array<std::array<float, kColumns>, kBlock> folded{};
  for (int i = 0; i < kBlock / 2; ++i) {
    for (std::size_t x = 0; x < kColumns; ++x) {
      folded[i][x] = block[i][x] + block[kBlock - 1 - i][x];
      folded[kBlock / 2 + i][x] = block[i][x] - block[kBlock - 1 - i][x];
    }
  }
  for (int k = 0; k < kBlock; ++k) {
    const int first = k % 2 == 0 ? 0 : kBlock / 2;
    for (std::size_t x = 0; x < kColumns; ++x) {
      block[k][x] = matrix[k][0] * folded[first][x] + matrix[k][1] * folded[first + 1][x] +
                    matrix[k][2] * folded[first + 2][x] + matrix[k][3] * folded[first + 3][x];
    }
  }
}

constexpr void transpose(BlockSamples& block) {
  for (int y = 0; y < kBlock; ++y) {
    for (int x = 0; x < y; ++x) {
      std::swap(block[y][x], block[x][y]);
    }
  }
}

constexpr Block analyze(BlockSamples samples, const HalfDctMatrix& matrix) {
  Block block;
  block.least = block.greatest = samples[0][0];
  for (const auto& row : samples) {
    for (const float sample : row) {
      block.least = std::min(block.least, sample);
      block.greatest = std::max(block.greatest, sample);
    }
  }
  dct_columns(samples, matrix);
  transpose(samples);
  dct_columns(samples, matrix);
  block.mean = samples[0][0] / kBlock;
  samples[0][0] = 0;
  int next = 0;
  for (int v = 0; v < kBlock; ++v) {
    for (int u = 0; u < kBlock; ++u) {
      const float energy = samples[v][u] * samples[v][u];
      if (u + v <= kHighestTextureFrequency) {
        block.texture += energy;
      } else {
        block.spectrum[next++] = energy;
        block.noise += energy;
      }
    }
  }
  return block;
}

/// The texture by which a block is selected, given the energies of the higher frequencies of all blocks of
/// its cell.
constexpr float texture_with_neighbors(float texture, float noise,
                                       const std::array<float, kBlocksPerCell>& noise_of_cell) {
  float neighbors = -noise;
  for (const float each : noise_of_cell) {
    neighbors += each;
  }
  return texture + kNeighborWeight * neighbors;
}

/// Iterates over the growing shares of `blocks` blocks at which the estimate is made, from the smallest to
/// all.
class Shares {
 public:
  constexpr explicit Shares(int blocks)
      : blocks_(blocks), next_(std::max(2.0 * kBlocksPerCell, blocks * kSmallestShare)) {}

  /// The number of blocks in the next share; 0 after the last.
  constexpr int next() {
    if (size_ == blocks_) {
      return 0;
    }
    const int whole = static_cast<int>(next_);
    const int enough = whole < next_ ? whole + 1 : whole;
    size_ = std::min(std::max(enough, size_ + 1), blocks_);
    next_ *= kShareGrowth;
    return size_;
  }

 private:
  int blocks_;
  int size_ = 0;
  double next_;
};

/// The greatest code value of integer samples, or the nominal maximum of float samples.
float white_level(const FrameFormat& format);

/// The step from one integer sample to the next, in 8-bit code values; 0 for float samples.
float quantization_step(const FrameFormat& format);

/// Sums of the spectra and gains of the first blocks of an order. The estimate is made from them.
struct FlattestBlocks {
  int blocks = 0;
  std::array<double, kNoiseCoefficients> spectrum{};
  double gain = 0;
};

/// Determines sigma of a plane's noise from sums over blocks. The degree to which the sample range clips the
/// noise depends on sigma, so the search has rounds. Until it is done, call refine() with the sums of each of
/// the Shares of the blocks that are not constant and have a gain of at least kLeastGain, ordered by texture
/// divided by gain (then by number). After each round except the last, set the gain of each block (initially
/// 1) to the gain for deviation(), and report how much the gains have changed.
class SigmaSearch {
 public:
  struct Counts {
    int blocks = 0;
    int constant = 0;      ///< number of constant blocks
    int out_of_range = 0;  ///< number of blocks with samples below 0 or above white_level(), which are
                           ///< possible in floats
  };

  /// `samples` is the plane's number of samples.
  SigmaSearch(const Counts& counts, std::int64_t samples);

  void refine(const std::vector<FlattestBlocks>& shares);
  void gains_changed_by(float most);

  bool done() const { return done_; }
  /// The standard deviation measured in the last round. It is greater than 0 even for clean pictures.
  float deviation() const;

 private:
  double independence_;  // share of a block's samples that it does not share with other blocks
  bool censored_;
  bool done_;
  int rounds_ = 0;
  double variance_ = 0;
};

}  // namespace limpid::noise
