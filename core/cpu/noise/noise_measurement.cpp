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

namespace limpid::cpu {
namespace {

using noise::BlockSamples;
using noise::ChannelStatistics;
using noise::kBlock;
using noise::kCoefficients;

// Blocks that are looked at are spread over the picture, no more than these.
constexpr std::int64_t kMostDifferences = 8192;
constexpr std::int64_t kMostSingle = 16384;

using Picture = std::array<Plane, kMaxPlanes>;

// Reads blocks of a picture's channels as 8-bit code values.
class Channels {
 public:
  Channels(const FrameFormat& format, const Picture& picture) : format_(format), picture_(picture) {}

  BlockSamples block(int channel, int x, int y) const {
    BlockSamples block;
    if (format_.color_model != ColorModel::kRgb) {
      for (int row = 0; row < kBlock; ++row) {
        load(channel, x, y + row, block[row].data());
      }
      return block;
    }
    std::array<std::array<float, kBlock>, 3> rgb;
    for (int row = 0; row < kBlock; ++row) {
      for (int p = 0; p < 3; ++p) {
        load(p, x, y + row, rgb[p].data());
      }
      rgb_to_opponent_row(rgb[0].data(), rgb[1].data(), rgb[2].data(), kBlock);
      block[row] = rgb[channel];
    }
    return block;
  }

  // What tells of brightness.
  float brightness(int channel, float mean) const {
    // Chroma's middle is no colour.
    return channel == 0 ? mean : mean + (format_.color_model == ColorModel::kRgb ? 128.0F : 0.0F);
  }

 private:
  void load(int plane, int x, int y, float* out) const {
    load_code_values(picture_[plane], format_, x, y, kBlock, out);
    if (format_.sample_type == SampleType::kFloat32) {
      std::transform(out, out + kBlock, out, usable_code_value);
    }
  }

  FrameFormat format_;
  Picture picture_;
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

// Positions 0, step, 2 step, ... of blocks along both sides of a plane.
struct Grid {
  int step = 1;
  int columns = 0;
  int rows = 0;
};

Grid grid_of(int width, int height, int step, std::int64_t most) {
  Grid grid{step};
  if (width < kBlock || height < kBlock) {
    return grid;
  }
  const auto count = [&](int side) { return (side - kBlock) / grid.step + 1; };
  while (std::int64_t{count(width)} * count(height) > most) {
    grid.step += step;
  }
  grid.columns = count(width);
  grid.rows = count(height);
  return grid;
}

// Calls measure(x, y) for the grid's blocks in parallel and add(result) for each in their order.
template <typename Result, typename Measure, typename Add>
void for_each_block(const Grid& grid, const Measure& measure, const Add& add) {
  std::vector<Result> results(static_cast<std::size_t>(grid.columns) * grid.rows);
  constexpr int kRowsAtATime = 8;
  for_each_index(grid.rows, kRowsAtATime, [&](int row) {
    for (int column = 0; column < grid.columns; ++column) {
      results[static_cast<std::size_t>(row) * grid.columns + column] =
          measure(column * grid.step, row * grid.step);
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

void measure_single(const Channels& channels, int channel, int width, int height, ChannelStatistics& result) {
  struct Halves {
    std::array<int, 2> bins = {-1, -1};
    std::array<float, kCoefficients> energy;
  };
  for (auto& bins : result.single) {
    bins.resize(noise::kActivities);
  }
  constexpr int kStep = 2;
  for_each_block<Halves>(
      grid_of(width, height, kStep, kMostSingle),
      [&](int x, int y) {
        Halves halves;
        BlockSamples block = channels.block(channel, x, y);
        if (is_constant(block)) {
          return halves;
        }
        transform(block);
        std::array<float, 2> sums{};  // of even and of odd coefficients
        for (int i = 1; i < kCoefficients; ++i) {
          const float value = block[i / kBlock][i % kBlock];
          halves.energy[i] = value * value;
          sums[noise::is_odd(i) ? 1 : 0] += value * value;
        }
        halves.energy[0] = 0;
        halves.bins = {noise::activity_of(sums[1] / 32), noise::activity_of(sums[0] / 31)};
        return halves;
      },
      [&](const Halves& halves) {
        for (int half = 0; half < 2 && halves.bins[half] >= 0; ++half) {
          noise::Energies& bin = result.single[half][halves.bins[half]];
          ++bin.blocks;
          for (int i = 0; i < kCoefficients; ++i) {
            if (noise::is_odd(i) == (half == 1)) {
              bin.energy[i] += static_cast<double>(halves.energy[i]);
            }
          }
        }
      });
}

// The blocks of a channel go with those of luma under their upper left sample.
MotionVector vector_at(const MotionField& field, int x, int y, int shift_x, int shift_y) {
  const MotionVector luma = field.vectors[field.block_at(x << shift_x, y << shift_y)];
  return {static_cast<std::int16_t>(luma.x >> shift_x), static_cast<std::int16_t>(luma.y >> shift_y)};
}

// A channel of two pictures, and how one becomes the other.
struct Pair {
  const Channels& now;
  const Channels& before;
  const MotionField& field;  // of luma
  int channel;
  int width;
  int height;
  int shift_x;  // of the channel, against luma
  int shift_y;
};

void measure_differences(const Pair& pair, ChannelStatistics& result) {
  result.differences.resize(static_cast<std::size_t>(noise::kClasses) * noise::kActivities);
  for_each_block<Measured>(
      grid_of(pair.width, pair.height, kBlock, kMostDifferences),
      [&](int x, int y) {
        Measured measured;
        const MotionVector vector = vector_at(pair.field, x, y, pair.shift_x, pair.shift_y);
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
        BlockSamples difference;
        BlockSamples mean;
        for (int row = 0; row < kBlock; ++row) {
          for (int i = 0; i < kBlock; ++i) {
            difference[row][i] = (a[row][i] - b[row][i]) * 0.707106781186548F;
            mean[row][i] = (a[row][i] + b[row][i]) * 0.5F;
          }
        }
        transform(difference);
        transform(mean);
        float texture = 0;
        for (int i = 0; i < kCoefficients; ++i) {
          const float value = difference[i / kBlock][i % kBlock];
          measured.energy[i] = value * value;
          if (i > 0) {
            texture += mean[i / kBlock][i % kBlock] * mean[i / kBlock][i % kBlock];
          }
        }
        measured.bin =
            noise::class_of(pair.now.brightness(pair.channel, mean[0][0] / kBlock)) * noise::kActivities +
            noise::activity_of(texture / (kCoefficients - 1));
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
    measure_differences({now, Channels(format, reference), field, c, picture[c].width, picture[c].height,
                         chroma ? format.chroma_shift_x : 0, chroma ? format.chroma_shift_y : 0},
                        statistics.channels[c]);
  }
  return statistics;
}

}  // namespace limpid::cpu
