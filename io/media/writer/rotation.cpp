// SPDX-License-Identifier: MIT
#include "io/media/writer/rotation.h"

#include <optional>
#include <string>
#include <string_view>

#include "io/media/container.h"
#include "io/media/orientation.h"
#include "io/media/writer/losses.h"

namespace limpid::io {
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
