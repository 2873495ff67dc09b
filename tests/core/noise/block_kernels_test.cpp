// SPDX-License-Identifier: MIT
// Operations on many blocks side by side, at every SIMD level, compared with those on a single block.
#include "cpu/noise/block_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "core/noise/noise_blocks.h"
#include "core/noise/noise_statistics.h"
#include "tests/cpu/simd_level.h"
#include "tests/oracle/pictures.h"

namespace limpid::cpu {
namespace {

using noise::BlockSamples;
using noise::kBlock;

constexpr int kWidth = 150;
constexpr int kFirst = 3;
constexpr int kSpacing = 10;
constexpr int kBlocks = 13;  // less than a batch

class NoiseBlockKernels : public SimdLevelTest {
 protected:
  NoiseBlockKernels() {
    std::mt19937 random(1);
    std::generate(rows_.begin(), rows_.end(), [&] { return static_cast<float>(random() % 2550) / 10; });
    // A constant block.
    for (int y = 0; y < kBlock; ++y) {
      std::fill_n(rows_.begin() + y * kWidth + kFirst + 2 * kSpacing, kBlock, 77.7F);
    }
  }

  BlockBatch batch() const {
    BlockBatch batch;
    take_blocks(rows_.data(), kWidth, columns_of(kFirst, kSpacing, kBlocks), batch);
    return batch;
  }

  BlockSamples block(int b) const {
    BlockSamples block;
    for (int y = 0; y < kBlock; ++y) {
      std::copy_n(rows_.begin() + y * kWidth + kFirst + std::min(b, kBlocks - 1) * kSpacing, kBlock,
                  block[y].begin());
    }
    return block;
  }

  static BlockSamples of_batch(const BlockBatch& batch, int b) {
    BlockSamples block;
    for (int v = 0; v < kBlock; ++v) {
      for (int u = 0; u < kBlock; ++u) {
        block[v][u] = batch.at[v][u][b];
      }
    }
    return block;
  }

  std::vector<float> rows_ = std::vector<float>(std::size_t{kWidth} * kBlock);
  const noise::HalfDctMatrix matrix_ = noise::half_dct_matrix();
};

TEST_P(NoiseBlockKernels, RepeatTheLastBlockWhereThereAreNoMore) {
  const BlockBatch taken = batch();
  for (int b = 0; b < kBatch; ++b) {
    EXPECT_EQ(of_batch(taken, b), block(b)) << b;
  }
}

TEST_P(NoiseBlockKernels, AnalyzeAsOneBlockIsAnalyzed) {
  BlockBatch blocks = batch();
  const SampleRange range = range_of(blocks);
  transform(blocks);
  const AnalyzedBatch analyzed = analyze(blocks);
  for (int b = 0; b < kBatch; ++b) {
    const noise::Block expected = noise::analyze(block(b), matrix_);
    EXPECT_EQ(range.least[b], expected.least) << b;
    EXPECT_EQ(range.greatest[b], expected.greatest) << b;
    EXPECT_EQ(range.is_constant(b), b == 2) << b;
    EXPECT_EQ(analyzed.mean[b], expected.mean) << b;
    EXPECT_EQ(analyzed.texture[b], expected.texture) << b;
    EXPECT_EQ(analyzed.noise[b], expected.noise) << b;
    for (std::size_t i = 0; i < expected.spectrum.size(); ++i) {
      EXPECT_EQ(analyzed.spectrum[i][b], expected.spectrum[i]) << b << " " << i;
    }
  }
}

TEST_P(NoiseBlockKernels, HaveTheEnergiesOfOneBlock) {
  BlockBatch blocks = batch();
  transform(blocks);
  const BlockBatch coefficients = blocks;
  const std::array<Batch<float>, 2> halves = make_energies(blocks);
  for (int b = 0; b < kBatch; ++b) {
    BlockSamples expected = block(b);
    noise::dct_columns(expected, matrix_);
    noise::transpose(expected);
    noise::dct_columns(expected, matrix_);
    noise::transpose(expected);
    EXPECT_EQ(of_batch(coefficients, b), expected) << b;
    expected[0][0] = 0;
    noise::HalfEnergies sums{};
    for (int v = 0; v < kBlock; ++v) {
      for (float& value : expected[v]) {
        value *= value;
      }
      noise::add_to(sums, noise::halves_of_row(v, expected[v]));
    }
    EXPECT_EQ(of_batch(blocks, b), expected) << b;
    EXPECT_EQ(halves[0][b], sums[0]) << b;
    EXPECT_EQ(halves[1][b], sums[1]) << b;
  }
}

TEST_P(NoiseBlockKernels, AddUpSpectraInTheBlocksOrder) {
  std::array<noise::Block, 3> blocks;
  std::array<double, noise::kNoiseCoefficients> sums{};
  std::array<double, noise::kNoiseCoefficients> expected{};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    // Such that adding 1 is lost to rounding unless it is added last.
    expected[i] = sums[i] = static_cast<double>(i) + 0x1p53;
    blocks[0].spectrum[i] = 1;
    blocks[1].spectrum[i] = -0x1p53F;
    blocks[2].spectrum[i] = static_cast<float>(i) / 3;
    for (const noise::Block& block : blocks) {
      expected[i] += double{block.spectrum[i]};
    }
  }
  const std::array<const noise::Block*, 3> in_order = {&blocks[0], &blocks[1], &blocks[2]};
  add_spectra(in_order, sums);
  EXPECT_EQ(sums, expected);
  add_spectra({}, sums);
  EXPECT_EQ(sums, expected);
}

TEST_P(NoiseBlockKernels, MeasureWhatTheBestLevelDoes) {
  for (const FrameFormat& format : {oracle::yuv(203, 141, 1, 1), oracle::rgb(99, 64, 16)}) {
    const Frame before = oracle::add_noise(oracle::draw_picture(format), 15, 1);
    const Frame frame = oracle::add_noise(oracle::draw_picture(format), 15, 2);
    const auto measured = [&] {
      return std::pair(engine().estimate_noise(frame).sigma, engine().measure_noise(frame, &before, {}));
    };
    const auto at_level = measured();
    TearDown();
    EXPECT_EQ(at_level, measured());
    SetUp();
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, NoiseBlockKernels, kSimdLevels, simd_level_name);

}  // namespace
}  // namespace limpid::cpu
