// SPDX-License-Identifier: MIT
#include "cpu/noise/noise.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/noise/clipping.h"
#include "core/noise/noise_blocks.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/noise/block_kernels.h"
#include "cpu/runtime/convert.h"
#include "cpu/runtime/planes.h"

namespace limpid::cpu {
namespace {

using noise::Block;
using noise::kBlock;
using noise::kBlocksPerCell;
using noise::kCell;

// The plane's blocks, cell by cell.
std::vector<Block> blocks_of(const Plane& plane, const FrameFormat& format) {
  const noise::BlockGrid grid = noise::cell_grid(plane.width, plane.height);
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
    static const Censoring censoring;
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

namespace {

constexpr int kRowsOfTask = 16;

template <typename Sample>
void undo(const Plane& noisy, const Plane& out, int greatest, int scale, const ClippedEnds& ends) {
  // Table by sample value: look-up is faster than computation. Planes that pass through may contain illegal
  // values.
  constexpr std::size_t kSamples = std::numeric_limits<Sample>::max() + std::size_t{1};
  std::array<std::vector<std::uint32_t>, 2> shares;
  for (std::size_t e = 0; e < ends.size(); ++e) {
    shares[e].resize(kSamples);
    for (int sample = 0; sample <= greatest; ++sample) {
      const int distance = clipped_distance(e == 0 ? sample : greatest - sample, scale);
      shares[e][sample] = distance < ClippedEnd::kDistances ? ends[e].share[distance] : 0;
    }
  }
  const auto rows = [&](const auto& row) {
    for_each_index((out.height + kRowsOfTask - 1) / kRowsOfTask, 1, [&](int task) {
      for (int y = task * kRowsOfTask; y < std::min((task + 1) * kRowsOfTask, out.height); ++y) {
        row(noisy.row<const Sample>(y), out.row<Sample>(y));
      }
    });
  };
  std::array<std::atomic<std::uint64_t>, 2> at_end{};
  std::array<std::atomic<std::uint64_t>, 2> sum{};
  rows([&](const Sample* from, const Sample* estimate) {
    std::array<ClippedCount, 2> counts{};
    for (int x = 0; x < out.width; ++x) {
      for (std::size_t e = 0; e < counts.size(); ++e) {
        const std::uint32_t share = shares[e][estimate[x]];
        counts[e].shares += share;
        counts[e].at_end += share > 0 && from[x] == (e == 0 ? 0 : greatest) ? 1 : 0;
      }
    }
    for (std::size_t e = 0; e < counts.size(); ++e) {
      at_end[e] += counts[e].at_end;
      sum[e] += counts[e].shares;
    }
  });
  const float low = clipped_weight({at_end[0], sum[0]});
  const float high = clipped_weight({at_end[1], sum[1]});
  if (low == 0 && high == 0) {
    return;
  }
  std::vector<Sample> moved(kSamples);
  std::iota(moved.begin(), moved.end(), Sample{0});
  for (int sample = 0; sample <= greatest; ++sample) {
    moved[sample] = static_cast<Sample>(
        without_clipping(sample, greatest, scale, ends[0].shift.data(), low, ends[1].shift.data(), high));
  }
  rows([&](const Sample* /*from*/, Sample* estimate) {
    for (int x = 0; x < out.width; ++x) {
      estimate[x] = moved[estimate[x]];
    }
  });
}

}  // namespace

void undo_clipping(const Frame& noisy, const NoiseModel& noise, Frame& out) {
  const FrameFormat& format = out.format;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const std::optional<ClippedEnds> ends = clipped_ends(format, p, noise.plane(p));
    if (!ends) {
      continue;
    }
    const int greatest = (1 << format.bit_depth) - 1;
    const int scale = static_cast<int>(format.code_value());
    if (format.sample_type == SampleType::kUint8) {
      undo<std::uint8_t>(noisy.planes[p], out.planes[p], greatest, scale, *ends);
    } else {
      undo<std::uint16_t>(noisy.planes[p], out.planes[p], greatest, scale, *ends);
    }
  }
}

namespace {

using noise::BlockSamples;
using noise::ChannelStatistics;
using noise::kBlock;
using noise::kCoefficients;

using Picture = std::array<Plane, kMaxPlanes>;

// Reads a picture's channels as 8-bit code values.
class Channels {
 public:
  Channels(const FrameFormat& format, const Picture& picture, const noise::SceneRange& range)
      : format_(format), picture_(picture), range_(format, range) {}

  // Reads `count` samples of row `y` from column `x` on, and flags for samples whose noise may be clipped.
  void load(int channel, int x, int y, int count, float* samples, std::uint8_t* cut_off) const {
    if (format_.color_model != ColorModel::kRgb) {
      load_usable_code_values(picture_[channel], format_, x, y, count, samples);
      for (int i = 0; i < count; ++i) {
        cut_off[i] = range_.is_at_end(samples[i]) ? 1 : 0;
      }
      return;
    }
    constexpr int kMost = 64;
    for (int first = 0; first < count; first += kMost) {
      const int some = std::min(kMost, count - first);
      std::array<std::array<float, kMost>, 3> rgb;
      for (int p = 0; p < 3; ++p) {
        load_usable_code_values(picture_[p], format_, x + first, y, some, rgb[p].data());
      }
      for (int i = 0; i < some; ++i) {
        cut_off[first + i] = range_.is_at_end(rgb[0][i], rgb[1][i], rgb[2][i]) ? 1 : 0;
      }
      rgb_to_opponent_row(rgb[0].data(), rgb[1].data(), rgb[2].data(), some);
      std::copy_n(rgb[channel].data(), some, samples + first);
    }
  }

  struct LoadedBlock {
    BlockSamples samples;
    int cut_off = 0;  // number of samples
  };
  LoadedBlock block(int channel, int x, int y) const {
    LoadedBlock block;
    for (int row = 0; row < kBlock; ++row) {
      std::array<std::uint8_t, kBlock> cut_off;
      load(channel, x, y + row, kBlock, block.samples[row].data(), cut_off.data());
      block.cut_off += std::accumulate(cut_off.begin(), cut_off.end(), 0);
    }
    return block;
  }

  // The brightness of the luma under a block of chroma.
  float brightness_by_luma(int x, int y, int shift_x, int shift_y) const {
    std::array<float, kBlock> columns{};
    std::array<float, 4 * kBlock> samples;  // size for 4:1:1
    for (int row = 0; row < kBlock; ++row) {
      load_usable_code_values(picture_[0], format_, x << shift_x, (y + row) << shift_y,
                              ((kBlock - 1) << shift_x) + 1, samples.data());
      for (int i = 0; i < kBlock; ++i) {
        columns[i] += samples[i << shift_x];
      }
    }
    return noise::brightness_by_luma(columns);
  }

 private:
  FrameFormat format_;
  Picture picture_;
  noise::ClippedRange range_;
};

// The eight rows of a channel that contain a row of blocks.
class RowOfBlocks {
 public:
  RowOfBlocks(const Channels& channels, int channel, int y, int width)
      : width_(width), samples_(static_cast<std::size_t>(width) * kBlock), cut_off_(samples_.size()) {
    for (int row = 0; row < kBlock; ++row) {
      const std::ptrdiff_t first = std::ptrdiff_t{row} * width;
      channels.load(channel, 0, y + row, width, samples_.data() + first, cut_off_.data() + first);
    }
    any_cut_off_ = std::find(cut_off_.begin(), cut_off_.end(), 1) != cut_off_.end();
  }

  void take(const Batch<int>& columns, BlockBatch& blocks) const {
    take_blocks(samples_.data(), width_, columns, blocks);
  }

  // The number of samples of the block whose noise may be clipped.
  int cut_off(int column) const {
    int count = 0;
    for (int row = 0; any_cut_off_ && row < kBlock; ++row) {
      const auto first = cut_off_.begin() + std::ptrdiff_t{row} * width_ + column;
      count = std::accumulate(first, first + kBlock, count);
    }
    return count;
  }

 private:
  int width_;
  std::vector<float> samples_;
  std::vector<std::uint8_t> cut_off_;
  bool any_cut_off_;
};

// The energies of blocks, set in any order and added up in the order of the blocks.
class BlockEnergies {
 public:
  explicit BlockEnergies(int blocks)
      : bins_(static_cast<std::size_t>(blocks), kNone),
        octaves_(bins_.size()),
        energies_(std::make_unique_for_overwrite<float[]>(bins_.size() * kCoefficients)) {}

  // Sets the energies of one block of a batch. The even coefficients belong to bins[0], the odd ones to
  // bins[1].
  void set(int block, const std::array<int, 2>& bins, const BlockBatch& energies, int of_batch,
           std::int32_t octaves = 0) {
    bins_[block] = bins;
    octaves_[block] = octaves;
    for (int v = 0; v < kBlock; ++v) {
      float* const row = row_of(block, v);
      for (int u = 0; u < kBlock; ++u) {
        row[(u + v) % 2 * kHalfRow + u / 2] = energies.at[v][u][of_batch];
      }
    }
  }

  // Sums over the bins of the even and of the odd coefficients. Blocks that were not set are in no bin.
  std::array<std::vector<noise::Energies>, 2> sums(int bins) const {
    std::array<std::vector<noise::Energies>, 2> result;
    result.fill(std::vector<noise::Energies>(static_cast<std::size_t>(bins)));
    for_each_index(kBlock, 1, [&](int v) {
      std::array<std::vector<std::array<double, kHalfRow>>, 2> rows;
      rows.fill(std::vector<std::array<double, kHalfRow>>(static_cast<std::size_t>(bins)));
      for (int block = 0; block < static_cast<int>(bins_.size()); ++block) {
        for (int half = 0; half < 2 && bins_[block] != kNone; ++half) {
          const float* const energies = row_of(block, v) + std::ptrdiff_t{half} * kHalfRow;
          std::array<double, kHalfRow>& row = rows[half][bins_[block][half]];
          for (int i = 0; i < kHalfRow; ++i) {
            row[i] += static_cast<double>(energies[i]);
          }
        }
      }
      for (int half = 0; half < 2; ++half) {
        for (int bin = 0; bin < bins; ++bin) {
          for (int i = 0; i < kHalfRow; ++i) {
            result[half][bin].energy[v * kBlock + 2 * i + (v + half) % 2] = rows[half][bin][i];
          }
        }
      }
    });
    for (std::size_t block = 0; block < bins_.size(); ++block) {
      for (int half = 0; half < 2 && bins_[block] != kNone; ++half) {
        noise::Energies& bin = result[half][bins_[block][half]];
        ++bin.blocks;
        bin.octaves += octaves_[block] * noise::kOctave;
      }
    }
    return result;
  }

 private:
  static constexpr int kHalfRow = kBlock / 2;
  static constexpr std::array<int, 2> kNone = {-1, -1};

  // Energies of row v, the even coefficients first. Rows v of all blocks are adjacent, in the order in which
  // sums() reads them.
  float* row_of(int block, int v) const {
    return energies_.get() + (static_cast<std::ptrdiff_t>(bins_.size()) * v + block) * kBlock;
  }

  std::vector<std::array<int, 2>> bins_;
  std::vector<std::int32_t> octaves_;
  std::unique_ptr<float[]> energies_;
};

constexpr int kRowsAtATime = 8;

// The levels of the blocks of a batch.
Batch<int> levels_of(const BlockBatch& energies) {
  Batch<float> sums{};
  for (int v = 0; v < kBlock; ++v) {
    Batch<float> row{};
    for (int u = std::max(noise::kFirstMiddleFrequency - v, 0);
         u < kBlock && u + v <= noise::kLastMiddleFrequency; ++u) {
      std::transform(row.begin(), row.end(), energies.at[v][u].begin(), row.begin(), std::plus());
    }
    std::transform(sums.begin(), sums.end(), row.begin(), sums.begin(), std::plus());
  }
  Batch<int> levels;
  std::transform(sums.begin(), sums.end(), levels.begin(), noise::level_of_middle);
  return levels;
}

void measure_single(const Channels& channels, int channel, int width, int height, ChannelStatistics& result) {
  const noise::BlockGrid grid = noise::single_grid(width, height);
  BlockEnergies energies(grid.blocks());
  constexpr int kNone = -1;
  std::vector<int> levels(static_cast<std::size_t>(grid.blocks()), kNone);
  for_each_index(grid.rows, kRowsAtATime, [&](int row) {
    const RowOfBlocks samples(channels, channel, row * grid.spacing,
                              (grid.columns - 1) * grid.spacing + kBlock);
    BlockBatch batch;
    for (int column = 0; column < grid.columns; column += kBatch) {
      const int count = std::min(kBatch, grid.columns - column);
      const Batch<int> columns = columns_of(column * grid.spacing, grid.spacing, count);
      samples.take(columns, batch);
      const SampleRange range = range_of(batch);
      transform(batch);
      const std::array<Batch<float>, 2> halves = make_energies(batch);
      const Batch<int> of_batch = levels_of(batch);
      for (int b = 0; b < count; ++b) {
        if (!range.is_constant(b) && samples.cut_off(columns[b]) <= noise::kMostCutOff) {
          levels[row * grid.columns + column + b] = of_batch[b];
          energies.set(row * grid.columns + column + b, noise::single_bins({halves[0][b], halves[1][b]}),
                       batch, b);
        }
      }
    }
  });
  result.single = energies.sums(noise::kActivities);
  result.levels.assign(noise::kLevels, 0);
  for (const int level : levels) {
    if (level != kNone) {
      ++result.levels[level];
    }
  }
}

// A channel of two pictures, and the motion between them.
struct Pair {
  const Channels& now;
  const Channels& before;
  const MotionField& field;  // of luma, to the picture before
  const MotionField& back;   // from that picture back
  bool opponent;
  int channel;
  int width;
  int height;
  int shift_x;  // subsampling relative to luma
  int shift_y;
  BrightnessScale scale;
  bool by_luma() const { return channel > 0 && !opponent; }
};

// Pairs of blocks that are measured in batches.
class PairedBlocks {
 public:
  PairedBlocks(const Pair& pair, BlockEnergies& energies) : pair_(pair), energies_(energies) {}

  // Adds block `number` at (x, y).
  void add(int number, int x, int y, const BlockSamples& now, const BlockSamples& before) {
    numbers_[count_] = number;
    brightness_[count_] =
        pair_.by_luma() ? pair_.now.brightness_by_luma(x, y, pair_.shift_x, pair_.shift_y) : 0;
    for (int row = 0; row < kBlock; ++row) {
      for (int i = 0; i < kBlock; ++i) {
        differences_.at[row][i][count_] = noise::difference_sample(now[row][i], before[row][i]);
        means_.at[row][i][count_] = noise::mean_sample(now[row][i], before[row][i]);
      }
    }
    if (++count_ == kBatch) {
      measure();
    }
  }

  void measure() {
    if (count_ == 0) {
      return;
    }
    transform(differences_);
    transform(means_);
    const Batch<float> dcs = differences_.at[0][0];
    const std::array<Batch<float>, 2> of_differences = make_energies(differences_);
    std::transform(dcs.begin(), dcs.end(), differences_.at[0][0].begin(), [](float dc) { return dc * dc; });
    if (!pair_.by_luma()) {
      std::transform(means_.at[0][0].begin(), means_.at[0][0].end(), brightness_.begin(),
                     [&](float dc) { return noise::brightness_by_dc(dc, pair_.opponent); });
    }
    const std::array<Batch<float>, 2> halves = make_energies(means_);
    for (int b = 0; b < count_; ++b) {
      const noise::HalfEnergies mean = {halves[0][b], halves[1][b]};
      const noise::HalfEnergies difference = {of_differences[0][b], of_differences[1][b]};
      if (noise::is_copy(difference)) {
        ++copied_;
      } else if (noise::can_be_noise(difference, mean)) {
        const int bin = noise::difference_bin(brightness_[b], pair_.scale, mean);
        energies_.set(numbers_[b], {bin, bin}, differences_, b, noise::octaves_of(difference));
      } else {
        ++lost_;
      }
    }
    count_ = 0;
  }

  // Pairs that are copies up to their brightness; pairs that cannot be noise.
  int copied() const { return copied_; }
  int lost() const { return lost_; }

 private:
  const Pair& pair_;
  BlockEnergies& energies_;
  int copied_ = 0;
  int lost_ = 0;
  int count_ = 0;
  Batch<int> numbers_{};
  Batch<float> brightness_{};
  BlockBatch differences_;
  BlockBatch means_;
};

bool is_constant(const BlockSamples& samples) {
  return std::all_of(samples.begin(), samples.end(), [&](const std::array<float, kBlock>& row) {
    return std::all_of(row.begin(), row.end(), [&](float sample) { return sample == samples[0][0]; });
  });
}

void measure_differences(const Pair& pair, ChannelStatistics& result) {
  const noise::BlockGrid grid = noise::difference_grid(pair.width, pair.height);
  BlockEnergies energies(grid.blocks());
  std::atomic<int> copied = 0;
  std::atomic<int> lost = 0;
  for_each_index(grid.rows, kRowsAtATime, [&](int row) {
    PairedBlocks pairs(pair, energies);
    const MotionField& field = pair.field;
    const int y = row * grid.spacing;
    for (int column = 0; column < grid.columns; ++column) {
      const int x = column * grid.spacing;
      const MotionVector vector = noise::vector_of_block(field.vectors.data(), field.columns, field.rows, x,
                                                         y, pair.shift_x, pair.shift_y);
      const int from_x = x + vector.x;
      const int from_y = y + vector.y;
      if (from_x < 0 || from_y < 0 || from_x + kBlock > pair.width || from_y + kBlock > pair.height) {
        continue;
      }
      const Channels::LoadedBlock a = pair.now.block(pair.channel, x, y);
      const Channels::LoadedBlock b = pair.before.block(pair.channel, from_x, from_y);
      if (a.samples == b.samples) {
        copied += is_constant(a.samples) ? 0 : 1;
      } else if (a.cut_off > noise::kMostCutOff || b.cut_off > noise::kMostCutOff) {
        continue;
      } else if (noise::is_followed(field.vectors.data(), pair.back.vectors.data(), field.columns, field.rows,
                                    x << pair.shift_x, y << pair.shift_y)) {
        pairs.add(row * grid.columns + column, x, y, a.samples, b.samples);
      } else {
        ++lost;
      }
    }
    pairs.measure();
    copied += pairs.copied();
    lost += pairs.lost();
  });
  result.copied += copied;
  result.lost += lost;
  auto [differences, odd] = energies.sums(noise::kClasses * noise::kActivities);
  for (std::size_t bin = 0; bin < differences.size(); ++bin) {
    std::transform(differences[bin].energy.begin(), differences[bin].energy.end(), odd[bin].energy.begin(),
                   differences[bin].energy.begin(), std::plus());
  }
  result.differences = std::move(differences);
}

}  // namespace

noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                     const noise::SceneRange& range) {
  const FrameFormat& format = frame.format;
  const PictureRows rows = pictures_of(frame.interlaced || frame.combed).front();
  const Picture picture = picture_of(format, frame.planes, rows);
  const Channels now(format, picture, range);
  noise::NoiseStatistics statistics;
  statistics.rgb = format.color_model == ColorModel::kRgb;
  statistics.step = noise::quantization_step(format);
  statistics.scale = range.scale;
  for (int c = 0; c < format.color_plane_count(); ++c) {
    measure_single(now, c, picture[c].width, picture[c].height, statistics.channels[c]);
  }
  if (before == nullptr) {
    return statistics;
  }
  const Picture reference = picture_of(format, before->planes, rows);
  std::array<MotionPyramid, 2> pyramids;
  pyramids[0].build(format, reference);
  pyramids[1].build(format, picture);
  MotionField field;
  MotionField back;
  MotionEstimator estimator;
  estimator.estimate(pyramids[0], pyramids[1], field);
  estimator.estimate(pyramids[1], pyramids[0], back);
  if (field.empty()) {
    return statistics;
  }
  for (int c = 0; c < format.color_plane_count(); ++c) {
    const bool chroma = c > 0 && format.color_model == ColorModel::kYuv;
    measure_differences({now, Channels(format, reference, range), field, back, statistics.rgb && c > 0, c,
                         picture[c].width, picture[c].height, chroma ? format.chroma_shift_x : 0,
                         chroma ? format.chroma_shift_y : 0, range.scale},
                        statistics.channels[c]);
  }
  return statistics;
}

}  // namespace limpid::cpu
