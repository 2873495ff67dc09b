// SPDX-License-Identifier: MIT
#include "core/grain/chroma_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace limpid {
namespace {

constexpr int kChromaBlockSide = 8;
constexpr std::size_t kQuietShare = 5;

// The mean of luma over the chroma sample (y, x), times the number of its samples.
template <typename Sample>
int luma_at(const Frame& frame, int y, int x) {
  const int step_y = 1 << frame.format.chroma_shift_y;
  const int step_x = 1 << frame.format.chroma_shift_x;
  int sum = 0;
  for (int dy = 0; dy < step_y; ++dy) {
    const Sample* const row = frame.planes[0].row<Sample>(y * step_y + dy);
    for (int dx = 0; dx < step_x; ++dx) {
      sum += row[x * step_x + dx];
    }
  }
  return sum;
}

}  // namespace

void ChromaCorrelationMeter::Sums::add(const Sums& other) {
  luma += other.luma;
  chroma += other.chroma;
  both += other.both;
}

// Of second differences in a row of a block.
template <typename Sample>
ChromaCorrelationMeter::Sums ChromaCorrelationMeter::of_row(const Frame& frame, int plane, int y, int left) {
  Sums sums;
  const Sample* const row = frame.planes[plane].row<Sample>(y);
  for (int x = left + 1; x < left + kChromaBlockSide - 1; ++x) {
    const double chroma = row[x] - (row[x - 1] + row[x + 1]) / 2.0;
    const double luma = luma_at<Sample>(frame, y, x) -
                        (luma_at<Sample>(frame, y, x - 1) + luma_at<Sample>(frame, y, x + 1)) / 2.0;
    sums.add({luma * luma, chroma * chroma, luma * chroma});
  }
  return sums;
}

// Even rows of a block tell whether it is quiet, odd rows are measured: the noise of the measured rows must
// not influence the choice.
template <typename Sample>
ChromaCorrelationMeter::Sums ChromaCorrelationMeter::of_quiet_blocks(const Frame& frame, int plane) {
  struct Block {
    double energy = 0;
    Sums sums;
  };
  const int width = frame.format.width >> frame.format.chroma_shift_x;
  const int height = frame.format.height >> frame.format.chroma_shift_y;
  std::vector<Block> blocks;
  for (int top = 0; top + kChromaBlockSide <= height; top += kChromaBlockSide) {
    for (int left = 0; left + kChromaBlockSide <= width; left += kChromaBlockSide) {
      Block block;
      for (int y = top; y < top + kChromaBlockSide; y += 2) {
        block.energy += of_row<Sample>(frame, plane, y, left).luma;
        block.sums.add(of_row<Sample>(frame, plane, y + 1, left));
      }
      if (block.energy > 0) {  // not a block of a single value
        blocks.push_back(block);
      }
    }
  }
  std::ranges::sort(blocks, {}, &Block::energy);
  blocks.resize((blocks.size() + kQuietShare - 1) / kQuietShare);
  Sums sums;
  for (const Block& block : blocks) {
    sums.add(block.sums);
  }
  return sums;
}

void ChromaCorrelationMeter::add(const Frame& frame) {
  if (frame.format.color_model != ColorModel::kYuv) {
    return;
  }
  visit_samples(frame.format, [&](auto sample) {
    using Sample = decltype(sample);
    if constexpr (std::is_integral_v<Sample>) {
      sums_[0].add(of_quiet_blocks<Sample>(frame, 1));
      sums_[1].add(of_quiet_blocks<Sample>(frame, 2));
    }
  });
}

ChromaCorrelations ChromaCorrelationMeter::result() const {
  ChromaCorrelations result{};
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double scale = std::sqrt(sums_[i].luma * sums_[i].chroma);
    result[i] = scale > 0 ? sums_[i].both / scale : 0;
  }
  return result;
}

}  // namespace limpid
