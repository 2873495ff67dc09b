// SPDX-License-Identifier: MIT
#include "io/media/orientation.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "io/media/picture_metadata.h"
#include "io/media/pixel_format.h"
#include "io/media/traits.h"
#include "io/media/writer/losses.h"

namespace limpid::io {
namespace {

/// libavutil/display.h: a stored point (p, q) is shown at (a p + c q + x, b p + d q + y), where the first row
/// of the matrix is (a, b, u), the second (c, d, v).
std::optional<Orientation> from_matrix(const std::uint8_t* data) {
  std::array<std::int32_t, 9> matrix{};
  std::memcpy(matrix.data(), data, sizeof matrix);
  const auto [a, b, c, d] = std::array{matrix[0], matrix[1], matrix[3], matrix[4]};
  if (b == 0 && c == 0 && a != 0 && d != 0) {
    return Orientation{false, a < 0, d < 0};
  }
  if (a == 0 && d == 0 && b != 0 && c != 0) {
    return Orientation{true, c < 0, b < 0};
  }
  return std::nullopt;
}

Orientation from_exif(int value) {
  constexpr std::array<Orientation, 8> kValues{{{false, false, false},
                                                {false, true, false},
                                                {false, true, true},
                                                {false, false, true},
                                                {true, false, false},
                                                {true, true, false},
                                                {true, true, true},
                                                {true, false, true}}};
  return value >= 1 && value <= 8 ? kValues[static_cast<std::size_t>(value - 1)] : Orientation{};
}

template <typename Sample>
void turn(const Plane& from, const Plane& to, Orientation orientation) {
  // Tiles keep the samples that are read across rows in the cache for the next row.
  constexpr int kTile = 32;
  for (int tile_y = 0; tile_y < to.height; tile_y += kTile) {
    for (int tile_x = 0; tile_x < to.width; tile_x += kTile) {
      for (int y = tile_y; y < std::min(tile_y + kTile, to.height); ++y) {
        const int v = orientation.mirrored_y ? to.height - 1 - y : y;
        auto* const row = to.row<Sample>(y);
        for (int x = tile_x; x < std::min(tile_x + kTile, to.width); ++x) {
          const int u = orientation.mirrored_x ? to.width - 1 - x : x;
          row[x] = orientation.transposed ? from.row<const Sample>(u)[v] : from.row<const Sample>(v)[u];
        }
      }
    }
  }
}

}  // namespace

std::optional<Orientation> orientation_of(const AVStream& stream, const AVFrame& first) {
  constexpr std::size_t kMatrixBytes = 9 * sizeof(std::int32_t);
  if (const AVPacketSideData* const data = find_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX);
      data != nullptr && data->size >= kMatrixBytes) {
    return from_matrix(data->data);
  }
  if (const AVFrameSideData* const data = av_frame_get_side_data(&first, AV_FRAME_DATA_DISPLAYMATRIX);
      data != nullptr && data->size >= kMatrixBytes) {
    return from_matrix(data->data);
  }
  if (const AVDictionaryEntry* const exif = av_dict_get(first.metadata, "Orientation", nullptr, 0)) {
    return from_exif(std::atoi(exif->value));
  }
  return from_exif(exif_orientation(kept_metadata(first).exif));  // for pictures whose EXIF libav does not
                                                                  // parse
}

std::optional<Orientation> orientation_of(const Source& source) {
  return source.is_filtered ? Orientation{} : orientation_of(source.video, source.first);
}

std::optional<FrameFormat> turned(FrameFormat format, Orientation orientation) {
  if (orientation.transposed) {
    std::swap(format.width, format.height);
    std::swap(format.chroma_shift_x, format.chroma_shift_y);
    if (pixel_format(format) == AV_PIX_FMT_NONE) {
      return std::nullopt;
    }
  }
  return format;
}

AVChromaLocation turned(AVChromaLocation location, Orientation orientation) {
  // At the left edge of the luma samples or between them; for rows at the top edge or between.
  struct Place {
    AVChromaLocation location;
    int x;
    int y;
  };
  constexpr std::array<Place, 6> kPlaces{{{AVCHROMA_LOC_LEFT, -1, 0},
                                          {AVCHROMA_LOC_CENTER, 0, 0},
                                          {AVCHROMA_LOC_TOPLEFT, -1, -1},
                                          {AVCHROMA_LOC_TOP, 0, -1},
                                          {AVCHROMA_LOC_BOTTOMLEFT, -1, 1},
                                          {AVCHROMA_LOC_BOTTOM, 0, 1}}};
  const auto* const from = std::find_if(kPlaces.begin(), kPlaces.end(),
                                        [&](const Place& place) { return place.location == location; });
  if (from == kPlaces.end()) {
    return location;
  }
  const int x = (orientation.transposed ? from->y : from->x) * (orientation.mirrored_x ? -1 : 1);
  const int y = (orientation.transposed ? from->x : from->y) * (orientation.mirrored_y ? -1 : 1);
  const auto* const to = std::find_if(kPlaces.begin(), kPlaces.end(),
                                      [&](const Place& place) { return place.x == x && place.y == y; });
  return to == kPlaces.end() ? AVCHROMA_LOC_UNSPECIFIED : to->location;
}

Frame turned(const Frame& frame, Orientation orientation, FramePool& pool) {
  Frame result = pool.allocate(turned(frame.format, orientation).value());
  pass_on(frame, result);
  for (int p = 0; p < result.format.plane_count(); ++p) {
    switch (result.format.bytes_per_sample()) {
      case 1:
        turn<std::uint8_t>(frame.planes[p], result.planes[p], orientation);
        break;
      case 2:
        turn<std::uint16_t>(frame.planes[p], result.planes[p], orientation);
        break;
      default:
        turn<std::uint32_t>(frame.planes[p], result.planes[p], orientation);
    }
  }
  return result;
}

namespace {

bool has_display_matrix(const Source& source) {
  return stream_side_data(source, AV_PKT_DATA_DISPLAYMATRIX) != nullptr ||
         av_frame_get_side_data(&source.first, AV_FRAME_DATA_DISPLAYMATRIX) != nullptr;
}

}  // namespace

Rotation::Rotation(const Source& source, const AVOutputFormat& container, Diagnostics& diagnostics) {
  const std::optional<Orientation> needed = orientation_of(source);
  const bool is_held = has_display_matrix(source) && traits_of(container).display_matrix;
  if (is_held || (needed && needed->is_upright())) {
    return;
  }
  const bool is_picture = std::string_view(container.name) == "image2";
  const std::string lost =
      std::string(is_picture ? "a picture file" : container.name) + " can't hold the source's rotation: ";
  const bool breaks_fields =
      is_interlaced(source.first) && needed && (needed->transposed || needed->mirrored_y);
  is_lost_ = !needed || breaks_fields || !turned(source.format, *needed);
  if (is_lost_) {
    report_loss(diagnostics, lost + "players show the picture without it");
  } else {
    report_loss(diagnostics, lost + "the samples are rotated instead");
    applied_ = *needed;
  }
}

Frame Rotation::turn(const Frame& frame) {
  ++copies_;
  return turned(frame, applied_, pool_);
}

}  // namespace limpid::io
