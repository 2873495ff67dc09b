#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/frame/frame.h"

// The parts of the noise estimate (cpu/noise/noise_estimation.h) that engines share: the arithmetic of
// one block and of sums over many blocks, which each engine orders as suits it, and the sigma that follows
// from the sums. Constant expressions may be used in device code.

namespace limpid::noise {

inline constexpr int kBlock = 8;
inline constexpr int kCell = 2 * kBlock;  ///< blocks are looked at in squares of 2 x 2
inline constexpr int kBlocksPerCell = 4;

/// Coefficient (u, v) of a block tells of texture up to u + v = 6 and of noise above.
inline constexpr int kHighestTextureFrequency = 6;
inline constexpr int kNoiseCoefficients = 36;

// Found by trial on natural pictures and clips with noise of sigma 2 to 50 added: more blocks and a smaller
// first share find rarer flat places; both make the estimate vary more.
inline constexpr int kMaxBlocks = 16384;
inline constexpr double kSmallestShare = 1.0 / 400;
inline constexpr double kShareGrowth = 1.15;
/// The weight that the high frequencies of a cell's other blocks have in a block's texture.
inline constexpr float kNeighborWeight = 0.3F;
/// Blocks in which clipping at the ends of the code range leaves less than this share of the noise's variance
/// are not used.
inline constexpr float kLeastGain = 0.5F;

using BlockSamples = std::array<std::array<float, kBlock>, kBlock>;

/// The left half of the orthonormal DCT-II matrix; the right half mirrors it, with the sign changed in odd
/// rows.
using HalfDctMatrix = std::array<std::array<float, kBlock / 2>, kBlock>;
HalfDctMatrix half_dct_matrix();

/// What a block's samples tell, in 8-bit code values and their squares.
struct Block {
  float mean = 0;
  float texture = 0;  ///< energy of the lower frequencies
  float noise = 0;    ///< energy of the higher ones
  float least = 0;    ///< sample
  float greatest = 0;
  std::array<float, kNoiseCoefficients> spectrum{};  ///< squares of the higher ones

  /// Constant blocks are bars, titles or saturated, not a part of the picture without noise.
  constexpr bool is_constant() const { return least == greatest; }
};

/// Where a plane's cells are: their corners are `spacing` samples apart. A plane that is smaller than a cell
/// has none.
struct CellGrid {
  int spacing = 1;
  int columns = 0;
  int rows = 0;
  constexpr int blocks() const { return columns * rows * kBlocksPerCell; }
};

constexpr CellGrid cell_grid(int width, int height) {
  CellGrid grid;
  if (width < kCell || height < kCell) {
    return grid;
  }
  const auto cells_along = [&](int side) { return (side - kCell) / grid.spacing + 1; };
  while (std::int64_t{cells_along(width)} * cells_along(height) * kBlocksPerCell > kMaxBlocks) {
    ++grid.spacing;
  }
  grid.columns = cells_along(width);
  grid.rows = cells_along(height);
  return grid;
}

/// The DCT of each column of a block, or of some of its columns.
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
  auto least = samples[0];
  auto greatest = samples[0];
  for (const auto& row : samples) {
    for (int x = 0; x < kBlock; ++x) {
      least[x] = std::min(least[x], row[x]);
      greatest[x] = std::max(greatest[x], row[x]);
    }
  }
  block.least = least[0];
  block.greatest = greatest[0];
  for (int x = 1; x < kBlock; ++x) {
    block.least = std::min(block.least, least[x]);
    block.greatest = std::max(block.greatest, greatest[x]);
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

/// The texture by which a block is chosen or not, given the energy of the higher frequencies of all blocks of
/// its cell.
constexpr float texture_with_neighbors(float texture, float noise,
                                       const std::array<float, kBlocksPerCell>& noise_of_cell) {
  float neighbors = -noise;
  for (const float each : noise_of_cell) {
    neighbors += each;
  }
  return texture + kNeighborWeight * neighbors;
}

/// What is left of Gaussian noise's variance where the samples' range cuts it off.
class Censoring {
 public:
  Censoring();

  /// The variance that is left of noise of deviation `sigma`, relative to its own, where the mean of what
  /// remains is `mean`, in a range from 0 to `white`. 1 if sigma is 0.
  constexpr float gain(float mean, float sigma, float white) const {
    return sigma > 0 ? variance(mean / sigma) * variance((white - mean) / sigma) : 1;
  }

 private:
  static constexpr int kEntriesPerUnit = 64;
  static constexpr int kReach = 4;  // beyond which nothing is lost

  // The variance that is left of noise of unit variance when its values beyond one end of the range are moved
  // to that end. `distance`: from that end to the mean of what results.
  constexpr float variance(float distance) const {
    const float within = std::min(std::max(distance, 0.0F), float{kReach});
    const int half_entries = static_cast<int>(within * (2 * kEntriesPerUnit));
    return variances_[(half_entries + 1) / 2];
  }

  std::array<float, kReach * kEntriesPerUnit + 1> variances_{};
};

/// Goes through the growing shares of `blocks` blocks at which the estimate is made, from the smallest to
/// all.
class Shares {
 public:
  constexpr explicit Shares(int blocks)
      : blocks_(blocks), next_(std::max(2.0 * kBlocksPerCell, blocks * kSmallestShare)) {}

  /// How many blocks the next share has; 0 after the last.
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

/// The greatest code value that integer samples have, and that float samples should.
float white_level(const FrameFormat& format);

/// The step from one integer sample to the next, in 8-bit code values; 0 for float samples.
float quantization_step(const FrameFormat& format);

/// Sums of the spectra and gains of the first blocks of an order: the estimate is made from them.
struct FlattestBlocks {
  int blocks = 0;
  std::array<double, kNoiseCoefficients> spectrum{};
  double gain = 0;
};

/// Finds sigma of a plane's noise from such sums. How strongly the range of the samples censors the noise
/// depends on its sigma, so it goes by rounds: while it isn't done, refine() it with the sums for each of the
/// Shares of those blocks that are neither constant nor of a gain under kLeastGain, in the order of their
/// textures divided by their gains (then of their numbers); then, unless that was the last round, give each
/// block the gain of deviation(), before which it is 1, and tell how much that has changed the gains.
class SigmaSearch {
 public:
  struct Counts {
    int blocks = 0;
    int constant = 0;      ///< blocks
    int out_of_range = 0;  ///< blocks with samples below 0 or above white_level(), as float samples may be
  };

  /// `samples` is the number of the plane's.
  SigmaSearch(const Counts& counts, std::int64_t samples);

  void refine(const std::vector<FlattestBlocks>& shares);
  void gains_changed_by(float most);

  bool done() const { return done_; }
  /// The deviation that the last round measured, which is not 0 in clean pictures either.
  float deviation() const;

 private:
  double independence_;  // the share of a block's samples that it doesn't have in common with others
  bool censored_;
  bool done_;
  int rounds_ = 0;
  double variance_ = 0;
};

}  // namespace limpid::noise
