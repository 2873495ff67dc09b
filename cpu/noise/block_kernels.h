#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/noise/measured_blocks.h"
#include "core/noise/noise_blocks.h"

// What is done to the blocks that noise is found in, to many side by side. Results are those of
// noise_blocks.h and measured_blocks.h to the last bit, whatever the instruction set.

namespace limpid::cpu {

inline constexpr int kBatch = 16;
/// A value of each block.
template <typename T>
using Batch = std::array<T, kBatch>;

/// Samples [y][x] of the blocks or, transformed, their coefficients or energies [v][u].
struct BlockBatch {
  alignas(64) std::array<std::array<Batch<float>, noise::kBlock>, noise::kBlock> at{};
};

/// The columns of `count` blocks, `spacing` apart; where a batch has room for more, the last one's.
Batch<int> columns_of(int first, int spacing, int count);

/// Copies blocks out of eight rows that are `pitch` values apart: one begins at each of `columns`.
void take_blocks(const float* rows, std::ptrdiff_t pitch, const Batch<int>& columns, BlockBatch& blocks);

/// The least and the greatest sample of each.
struct SampleRange {
  Batch<float> least;
  Batch<float> greatest;
  bool is_constant(int block) const { return least[block] == greatest[block]; }
};
SampleRange range_of(const BlockBatch& blocks);

/// Replaces samples by their DCT: noise::dct_columns() of columns, then of rows.
void transform(BlockBatch& blocks);

/// Replaces coefficients by their energies, the DC's by 0, and tells what rows' halves_of_row() add up to:
/// [half][block].
std::array<Batch<float>, 2> make_energies(BlockBatch& coefficients);

/// Of coefficients, what noise::Block has beside the range.
struct AnalyzedBatch {
  Batch<float> mean;
  Batch<float> texture;
  Batch<float> noise;
  std::array<Batch<float>, noise::kNoiseCoefficients> spectrum;
};
AnalyzedBatch analyze(const BlockBatch& coefficients);

/// Adds the spectra of blocks to sums, in the blocks' order.
void add_spectra(std::span<const noise::Block* const> blocks,
                 std::array<double, noise::kNoiseCoefficients>& sums);

}  // namespace limpid::cpu
