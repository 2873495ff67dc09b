// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/noise/noise_blocks.h"
#include "core/noise/noise_statistics.h"

// Operations on the blocks of noise estimation, for many blocks side by side. Results are bit-exact with
// noise_blocks.h and noise_statistics.h on all instruction sets.

namespace limpid::cpu {

inline constexpr int kBatch = 16;
/// One value per block.
template <typename T>
using Batch = std::array<T, kBatch>;

/// Samples [y][x] of the blocks or, transformed, their coefficients or energies [v][u].
struct BlockBatch {
  alignas(64) std::array<std::array<Batch<float>, noise::kBlock>, noise::kBlock> at{};
};

/// The columns of `count` blocks at intervals of `spacing`. Unused entries of the batch repeat the last
/// column.
Batch<int> columns_of(int first, int spacing, int count);

/// Copies blocks from eight rows, which are `pitch` values apart. A block begins at each of `columns`.
void take_blocks(const float* rows, std::ptrdiff_t pitch, const Batch<int>& columns, BlockBatch& blocks);

/// The minimum and maximum sample of each block.
struct SampleRange {
  Batch<float> least;
  Batch<float> greatest;
  bool is_constant(int block) const { return least[block] == greatest[block]; }
};
SampleRange range_of(const BlockBatch& blocks);

/// Replaces samples by their DCT: noise::dct_columns() of columns, then of rows.
void transform(BlockBatch& blocks);

/// Replaces coefficients by their energies, and those of the DC by 0. Returns the sums of halves_of_row()
/// over the rows: [half][block].
std::array<Batch<float>, 2> make_energies(BlockBatch& coefficients);

/// The members of noise::Block that follow from coefficients.
struct AnalyzedBatch {
  Batch<float> mean;
  Batch<float> texture;
  Batch<float> noise;
  std::array<Batch<float>, noise::kNoiseCoefficients> spectrum;
};
AnalyzedBatch analyze(const BlockBatch& coefficients);

/// Adds the spectra of blocks to sums, in the order of the blocks.
void add_spectra(std::span<const noise::Block* const> blocks,
                 std::array<double, noise::kNoiseCoefficients>& sums);

}  // namespace limpid::cpu
