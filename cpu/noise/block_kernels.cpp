// SPDX-License-Identifier: MIT
// Compiled without fused multiply-adds, which would make results depend on the instruction set.
#include "cpu/noise/block_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/noise/block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using noise::kBlock;

// A vector of up to a batch of blocks.
const hn::CappedTag<float, kBatch> kFloats;
using Floats = hn::Vec<decltype(kFloats)>;

HWY_ATTR Floats load(const Batch<float>& values, std::size_t first) {
  return hn::Load(kFloats, values.data() + first);
}

// One coefficient of the DCT, from sums or differences of samples that mirror each other.
HWY_ATTR Floats weigh(const std::array<float, kBlock / 2>& weights, Floats a, Floats b, Floats c, Floats d) {
  const Floats first =
      hn::Add(hn::Mul(hn::Set(kFloats, weights[0]), a), hn::Mul(hn::Set(kFloats, weights[1]), b));
  return hn::Add(hn::Add(first, hn::Mul(hn::Set(kFloats, weights[2]), c)),
                 hn::Mul(hn::Set(kFloats, weights[3]), d));
}

// Transforms eight values at a distance of `step`, for as many blocks as a vector holds, in place.
HWY_ATTR void transform_eight(const noise::HalfDctMatrix& matrix, float* values, std::size_t step) {
  const auto value = [&](std::size_t i) HWY_ATTR { return hn::Load(kFloats, values + i * step); };
  const Floats sum0 = hn::Add(value(0), value(7));
  const Floats sum1 = hn::Add(value(1), value(6));
  const Floats sum2 = hn::Add(value(2), value(5));
  const Floats sum3 = hn::Add(value(3), value(4));
  const Floats difference0 = hn::Sub(value(0), value(7));
  const Floats difference1 = hn::Sub(value(1), value(6));
  const Floats difference2 = hn::Sub(value(2), value(5));
  const Floats difference3 = hn::Sub(value(3), value(4));
  for (std::size_t k = 0; k < kBlock; k += 2) {
    hn::Store(weigh(matrix[k], sum0, sum1, sum2, sum3), kFloats, values + k * step);
    hn::Store(weigh(matrix[k + 1], difference0, difference1, difference2, difference3), kFloats,
              values + (k + 1) * step);
  }
}

HWY_ATTR void transform_blocks(const noise::HalfDctMatrix& matrix, BlockBatch& blocks) {
  for (std::size_t first = 0; first < kBatch; first += hn::Lanes(kFloats)) {
    for (int x = 0; x < kBlock; ++x) {
      transform_eight(matrix, blocks.at[0][x].data() + first, std::size_t{kBlock} * kBatch);
    }
    for (auto& row : blocks.at) {
      transform_eight(matrix, row[0].data() + first, kBatch);
    }
  }
}

HWY_ATTR void find_range(const BlockBatch& blocks, SampleRange& range) {
  for (std::size_t first = 0; first < kBatch; first += hn::Lanes(kFloats)) {
    Floats least = load(blocks.at[0][0], first);
    Floats greatest = least;
    for (const auto& row : blocks.at) {
      for (const Batch<float>& samples : row) {
        least = hn::Min(least, load(samples, first));
        greatest = hn::Max(greatest, load(samples, first));
      }
    }
    hn::StoreU(least, kFloats, range.least.data() + first);
    hn::StoreU(greatest, kFloats, range.greatest.data() + first);
  }
}

HWY_ATTR void square(BlockBatch& coefficients, std::array<Batch<float>, 2>& halves) {
  coefficients.at[0][0].fill(0);
  for (std::size_t first = 0; first < kBatch; first += hn::Lanes(kFloats)) {
    Floats even = hn::Zero(kFloats);
    Floats odd = hn::Zero(kFloats);
    for (int v = 0; v < kBlock; ++v) {
      // Sums over even and over odd u.
      Floats sum0 = hn::Zero(kFloats);
      Floats sum1 = hn::Zero(kFloats);
      for (int u = 0; u < kBlock; u += 2) {
        const auto square_at = [&](Batch<float>& values) HWY_ATTR {
          const Floats value = load(values, first);
          const Floats energy = hn::Mul(value, value);
          hn::Store(energy, kFloats, values.data() + first);
          return energy;
        };
        sum0 = hn::Add(sum0, square_at(coefficients.at[v][u]));
        sum1 = hn::Add(sum1, square_at(coefficients.at[v][u + 1]));
      }
      even = hn::Add(even, v % 2 == 0 ? sum0 : sum1);
      odd = hn::Add(odd, v % 2 == 0 ? sum1 : sum0);
    }
    hn::StoreU(even, kFloats, halves[0].data() + first);
    hn::StoreU(odd, kFloats, halves[1].data() + first);
  }
}

HWY_ATTR void analyze_blocks(const BlockBatch& coefficients, AnalyzedBatch& result) {
  for (std::size_t first = 0; first < kBatch; first += hn::Lanes(kFloats)) {
    const Floats mean = hn::Mul(load(coefficients.at[0][0], first), hn::Set(kFloats, 1.0F / kBlock));
    Floats texture = hn::Zero(kFloats);
    Floats noise = hn::Zero(kFloats);
    auto* next = result.spectrum.data();
    for (int u = 0; u < kBlock; ++u) {
      for (int v = u == 0 ? 1 : 0; v < kBlock; ++v) {
        const Floats value = load(coefficients.at[v][u], first);
        const Floats energy = hn::Mul(value, value);
        if (u + v <= noise::kHighestTextureFrequency) {
          texture = hn::Add(texture, energy);
        } else {
          noise = hn::Add(noise, energy);
          hn::StoreU(energy, kFloats, (next++)->data() + first);
        }
      }
    }
    hn::StoreU(mean, kFloats, result.mean.data() + first);
    hn::StoreU(texture, kFloats, result.texture.data() + first);
    hn::StoreU(noise, kFloats, result.noise.data() + first);
  }
}

HWY_ATTR void add_up(std::span<const noise::Block* const> blocks,
                     std::array<double, noise::kNoiseCoefficients>& sums) {
  const hn::CappedTag<double, 4> d;
  const hn::Rebind<float, decltype(d)> floats;
  constexpr std::size_t kVectors = noise::kNoiseCoefficients / hn::MaxLanes(d);
  std::array<hn::Vec<decltype(d)>, kVectors> all;
  for (std::size_t i = 0; i < kVectors; ++i) {
    all[i] = hn::LoadU(d, sums.data() + i * hn::Lanes(d));
  }
  for (const noise::Block* block : blocks) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const auto energies = hn::LoadU(floats, block->spectrum.data() + i * hn::Lanes(d));
      all[i] = hn::Add(all[i], hn::PromoteTo(d, energies));
    }
  }
  for (std::size_t i = 0; i < kVectors; ++i) {
    hn::StoreU(all[i], d, sums.data() + i * hn::Lanes(d));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(find_range);
HWY_EXPORT(transform_blocks);
HWY_EXPORT(square);
HWY_EXPORT(analyze_blocks);
HWY_EXPORT(add_up);

Batch<int> columns_of(int first, int spacing, int count) {
  Batch<int> columns;
  for (int b = 0; b < kBatch; ++b) {
    columns[b] = first + std::min(b, count - 1) * spacing;
  }
  return columns;
}

void take_blocks(const float* rows, std::ptrdiff_t pitch, const Batch<int>& columns, BlockBatch& blocks) {
  for (int y = 0; y < noise::kBlock; ++y) {
    for (int x = 0; x < noise::kBlock; ++x) {
      const float* const samples = rows + y * pitch + x;
      for (int b = 0; b < kBatch; ++b) {
        blocks.at[y][x][b] = samples[columns[b]];
      }
    }
  }
}

SampleRange range_of(const BlockBatch& blocks) {
  SampleRange range;
  HWY_DYNAMIC_DISPATCH(find_range)(blocks, range);
  return range;
}

void transform(BlockBatch& blocks) {
  static const noise::HalfDctMatrix matrix = noise::half_dct_matrix();
  HWY_DYNAMIC_DISPATCH(transform_blocks)(matrix, blocks);
}

std::array<Batch<float>, 2> make_energies(BlockBatch& coefficients) {
  std::array<Batch<float>, 2> halves;
  HWY_DYNAMIC_DISPATCH(square)(coefficients, halves);
  return halves;
}

AnalyzedBatch analyze(const BlockBatch& coefficients) {
  AnalyzedBatch result;
  HWY_DYNAMIC_DISPATCH(analyze_blocks)(coefficients, result);
  return result;
}

void add_spectra(std::span<const noise::Block* const> blocks,
                 std::array<double, noise::kNoiseCoefficients>& sums) {
  HWY_DYNAMIC_DISPATCH(add_up)(blocks, sums);
}

}  // namespace limpid::cpu
#endif
