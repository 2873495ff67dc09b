#include "core/cpu/noise/noise_measurement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.h"
#include "core/cpu/motion/motion_estimation.h"
#include "core/cpu/runtime/convert.h"
#include "core/cpu/runtime/planes.h"
#include "core/frame/code_values.h"
#include "core/noise/measured_blocks.h"

namespace limpid::cpu {
namespace {

using noise::BlockSamples;
using noise::ChannelStatistics;
using noise::kBlock;
using noise::kCoefficients;

using Picture = std::array<Plane, kMaxPlanes>;

// Reads blocks of a picture's channels as 8-bit code values.
class Channels {
 public:
  Channels(const FrameFormat& format, const Picture& picture)
      : format_(format), picture_(picture), white_(noise::white_level(format)) {}

  // Whether the block's noise is cut off. Opponent channels have that of all planes.
  bool is_cut_off(int channel, int x, int y) const {
    int count = 0;
    for (int row = 0; row < kBlock; ++row) {
      std::array<bool, kBlock> any{};
      const bool rgb = format_.color_model == ColorModel::kRgb;
      for (int p = rgb ? 0 : channel; p <= (rgb ? 2 : channel); ++p) {
        std::array<float, kBlock> samples;
        load(p, x, y + row, kBlock, samples.data());
        for (int i = 0; i < kBlock; ++i) {
          any[i] = any[i] || noise::is_cut_off(samples[i], white_);
        }
      }
      count += static_cast<int>(std::count(any.begin(), any.end(), true));
    }
    return count > noise::kMostCutOff;
  }

  // Of luma on which a block of chroma lies.
  float brightness_by_luma(int x, int y, int shift_x, int shift_y) const {
    std::array<float, kBlock> columns{};
    std::array<float, 4 * kBlock> samples;  // of 4:1:1
    for (int row = 0; row < kBlock; ++row) {
      load(0, x << shift_x, (y + row) << shift_y, ((kBlock - 1) << shift_x) + 1, samples.data());
      for (int i = 0; i < kBlock; ++i) {
        columns[i] += samples[i << shift_x];
      }
    }
    return noise::brightness_by_luma(columns);
  }

  BlockSamples block(int channel, int x, int y) const {
    BlockSamples block;
    if (format_.color_model != ColorModel::kRgb) {
      for (int row = 0; row < kBlock; ++row) {
        load(channel, x, y + row, kBlock, block[row].data());
      }
      return block;
    }
    std::array<std::array<float, kBlock>, 3> rgb;
    for (int row = 0; row < kBlock; ++row) {
      for (int p = 0; p < 3; ++p) {
        load(p, x, y + row, kBlock, rgb[p].data());
      }
      rgb_to_opponent_row(rgb[0].data(), rgb[1].data(), rgb[2].data(), kBlock);
      block[row] = rgb[channel];
    }
    return block;
  }

 private:
  void load(int plane, int x, int y, int count, float* out) const {
    load_code_values(picture_[plane], format_, x, y, count, out);
    if (format_.sample_type == SampleType::kFloat32) {
      std::transform(out, out + count, out, usable_code_value);
    }
  }

  FrameFormat format_;
  Picture picture_;
  float white_;
};

void transform(BlockSamples& block) {
  static const noise::HalfDctMatrix matrix = noise::half_dct_matrix();
  noise::dct_columns(block, matrix);
  noise::transpose(block);
  noise::dct_columns(block, matrix);
  noise::transpose(block);
}

bool is_constant(const BlockSamples& block) {
  return std::all_of(block.begin(), block.end(), [&](const auto& row) {
    return std::all_of(row.begin(), row.end(), [&](float sample) { return sample == block[0][0]; });
  });
}

// A block's contribution, before it is added to its bin.
struct Measured {
  int bin = -1;  // -1: none
  bool copied = false;
  std::array<float, kCoefficients> energy;
};

// Calls measure(x, y) for the grid's blocks in parallel and add(result) for each in their order.
template <typename Result, typename Measure, typename Add>
void for_each_block(const noise::BlockGrid& grid, const Measure& measure, const Add& add) {
  std::vector<Result> results(static_cast<std::size_t>(grid.columns) * grid.rows);
  constexpr int kRowsAtATime = 8;
  for_each_index(grid.rows, kRowsAtATime, [&](int row) {
    for (int column = 0; column < grid.columns; ++column) {
      results[static_cast<std::size_t>(row) * grid.columns + column] =
          measure(column * grid.spacing, row * grid.spacing);
    }
  });
  std::for_each(results.begin(), results.end(), add);
}

void add_to(noise::Energies& bin, const std::array<float, kCoefficients>& energy) {
  ++bin.blocks;
  for (std::size_t i = 0; i < energy.size(); ++i) {
    bin.energy[i] += static_cast<double>(energy[i]);
  }
}

// Makes energies of a block's coefficients, the DC's 0, and tells what they add up to.
noise::HalfEnergies energies_of(BlockSamples& block) {
  noise::HalfEnergies sums{};
  block[0][0] = 0;
  for (int v = 0; v < kBlock; ++v) {
    for (float& value : block[v]) {
      value *= value;
    }
    noise::add_to(sums, noise::halves_of_row(v, block[v]));
  }
  return sums;
}

void measure_single(const Channels& channels, int channel, int width, int height, ChannelStatistics& result) {
  struct Halves {
    std::array<int, 2> bins = {-1, -1};
    BlockSamples energy;
  };
  for (auto& bins : result.single) {
    bins.resize(noise::kActivities);
  }
  for_each_block<Halves>(
      noise::single_grid(width, height),
      [&](int x, int y) {
        Halves halves;
        halves.energy = channels.block(channel, x, y);
        if (is_constant(halves.energy) || channels.is_cut_off(channel, x, y)) {
          return halves;
        }
        transform(halves.energy);
        halves.bins = noise::single_bins(energies_of(halves.energy));
        return halves;
      },
      [&](const Halves& halves) {
        for (int half = 0; half < 2 && halves.bins[half] >= 0; ++half) {
          noise::Energies& bin = result.single[half][halves.bins[half]];
          ++bin.blocks;
          for (int i = 0; i < kCoefficients; ++i) {
            if (noise::is_odd(i) == (half == 1)) {
              bin.energy[i] += static_cast<double>(halves.energy[i / kBlock][i % kBlock]);
            }
          }
        }
      });
}

// A channel of two pictures, and how one becomes the other.
struct Pair {
  const Channels& now;
  const Channels& before;
  const MotionField& field;  // of luma
  bool opponent;
  int channel;
  int width;
  int height;
  int shift_x;  // of the channel, against luma
  int shift_y;
  bool by_luma() const { return channel > 0 && !opponent; }
};

void measure_differences(const Pair& pair, ChannelStatistics& result) {
  result.differences.resize(static_cast<std::size_t>(noise::kClasses) * noise::kActivities);
  for_each_block<Measured>(
      noise::difference_grid(pair.width, pair.height),
      [&](int x, int y) {
        Measured measured;
        const MotionField& field = pair.field;
        const MotionVector vector = noise::vector_of_block(field.vectors.data(), field.columns, field.rows, x,
                                                           y, pair.shift_x, pair.shift_y);
        const int from_x = x + vector.x;
        const int from_y = y + vector.y;
        if (from_x < 0 || from_y < 0 || from_x + kBlock > pair.width || from_y + kBlock > pair.height) {
          return measured;
        }
        const BlockSamples a = pair.now.block(pair.channel, x, y);
        const BlockSamples b = pair.before.block(pair.channel, from_x, from_y);
        if (a == b) {
          measured.copied = true;
          return measured;
        }
        if (pair.now.is_cut_off(pair.channel, x, y) || pair.before.is_cut_off(pair.channel, from_x, from_y)) {
          return measured;
        }
        BlockSamples difference;
        BlockSamples mean;
        for (int row = 0; row < kBlock; ++row) {
          for (int i = 0; i < kBlock; ++i) {
            difference[row][i] = noise::difference_sample(a[row][i], b[row][i]);
            mean[row][i] = noise::mean_sample(a[row][i], b[row][i]);
          }
        }
        transform(difference);
        transform(mean);
        for (int i = 0; i < kCoefficients; ++i) {
          const float value = difference[i / kBlock][i % kBlock];
          measured.energy[i] = value * value;
        }
        const float brightness = pair.by_luma()
                                     ? pair.now.brightness_by_luma(x, y, pair.shift_x, pair.shift_y)
                                     : noise::brightness_by_dc(mean[0][0], pair.opponent);
        measured.bin = noise::difference_bin(brightness, energies_of(mean));
        return measured;
      },
      [&](const Measured& measured) {
        result.copied += measured.copied ? 1 : 0;
        if (measured.bin >= 0) {
          add_to(result.differences[measured.bin], measured.energy);
        }
      });
}

}  // namespace

noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before) {
  const FrameFormat& format = frame.format;
  const PictureRows rows = pictures_of(frame.interlaced).front();
  const Picture picture = picture_of(format, frame.planes, rows);
  const Channels now(format, picture);
  noise::NoiseStatistics statistics;
  statistics.rgb = format.color_model == ColorModel::kRgb;
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
  MotionEstimator().estimate(pyramids[0], pyramids[1], field);
  if (field.empty()) {
    return statistics;
  }
  for (int c = 0; c < format.color_plane_count(); ++c) {
    const bool chroma = c > 0 && format.color_model == ColorModel::kYuv;
    measure_differences(
        {now, Channels(format, reference), field, statistics.rgb && c > 0, c, picture[c].width,
         picture[c].height, chroma ? format.chroma_shift_x : 0, chroma ? format.chroma_shift_y : 0},
        statistics.channels[c]);
  }
  return statistics;
}

}  // namespace limpid::cpu
