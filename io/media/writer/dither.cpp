// SPDX-License-Identifier: MIT
#include "io/media/writer/dither.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace limpid::io {
namespace {

constexpr int kSide = 8;
using MaskRow = std::array<int, kSide>;

constexpr int kThresholds = kSide * kSide;

/// Thresholds of one row of the mask, 0 to 63. The bits of Bayer's matrix are those of x ^ y and y,
/// interleaved from the lowest to the highest.
MaskRow mask_row(int y, std::int64_t frame) {
  // The golden section of the number of thresholds, which spreads those of successive frames evenly.
  constexpr std::int64_t kStep = 39;
  const int row = y % kSide;
  MaskRow mask{};
  for (int x = 0; x < kSide; ++x) {
    int threshold = 0;
    for (int bit = 0; bit < 3; ++bit) {
      const int different = (x ^ row) >> bit & 1;
      threshold |= (2 * different + (row >> bit & 1)) << 2 * (2 - bit);
    }
    mask[x] = static_cast<int>((threshold + kStep * frame) & (kThresholds - 1));
  }
  return mask;
}

struct Rows {
  const std::uint16_t* above;
  const std::uint16_t* row;
  const std::uint16_t* below;
  int width;
};

void dither_row(const Rows& rows, const MaskRow& mask, int bits, std::uint8_t* out) {
  constexpr int kGreatest = 255;
  const int step = 1 << bits;
  for (int x = 0; x < rows.width; ++x) {
    const int value = rows.row[x];
    const int left = rows.row[std::max(x - 1, 0)];
    const int right = rows.row[std::min(x + 1, rows.width - 1)];
    const auto [least, most] = std::minmax({value, left, right, int{rows.above[x]}, int{rows.below[x]}});
    const int dithering = (2 * mask[x % kSide] + 1) * step / (2 * kThresholds);
    const int added = most - least < step ? dithering : step / 2;
    out[x] = static_cast<std::uint8_t>(std::min((value + added) >> bits, kGreatest));
  }
}

FrameFormat in_8_bits(FrameFormat format) {
  format.sample_type = SampleType::kUint8;
  format.bit_depth = 8;
  return format;
}

}  // namespace

Ditherer::Ditherer(const FrameFormat& format) : format_(in_8_bits(format)) {}

Frame Ditherer::to_8_bits(const Frame& frame) {
  Frame result = pool_.allocate(format_);
  describe_alike(frame, result);
  const int bits = frame.format.bit_depth - format_.bit_depth;
  const int field_rows = frame.interlaced ? 2 : 1;  // between rows of one field
  for (int p = 0; p < format_.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      const int above = y - field_rows < 0 ? y : y - field_rows;
      const int below = y + field_rows >= plane.height ? y : y + field_rows;
      const auto row = [&](int number) { return plane.row<const std::uint16_t>(number); };
      dither_row({row(above), row(y), row(below), plane.width}, mask_row(y / field_rows, frame.index), bits,
                 result.planes[p].row<std::uint8_t>(y));
    }
  }
  return result;
}

}  // namespace limpid::io
