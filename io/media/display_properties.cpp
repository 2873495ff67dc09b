// SPDX-License-Identifier: MIT
// How a source's frames are to be displayed, according to libav.

extern "C" {
#include <libavutil/mastering_display_metadata.h>
}

#include <cmath>

#include "io/media/display_properties.h"
#include "io/media/orientation.h"
#include "io/media/pixel_format.h"
#include "io/media/reader.h"
#include "io/media/source.h"

namespace limpid::io {
namespace {

/// In cd/m2: of the content if available, otherwise of the mastering display.
double peak_luminance(const AVFrame& first) {
  if (const AVFrameSideData* const data = av_frame_get_side_data(&first, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)) {
    if (const unsigned peak = reinterpret_cast<const AVContentLightMetadata*>(data->data)->MaxCLL; peak > 0) {
      return peak;
    }
  }
  if (const AVFrameSideData* const data =
          av_frame_get_side_data(&first, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)) {
    const auto& display = *reinterpret_cast<const AVMasteringDisplayMetadata*>(data->data);
    if (display.has_luminance != 0 && av_q2d(display.max_luminance) > 0) {
      return av_q2d(display.max_luminance);
    }
  }
  return DisplayProperties().peak;
}

/// Position of chroma samples along an axis that `shift` halves: centered between their luma samples, or at
/// the first one.
double chroma_position(bool centered, int shift) { return centered ? ((1 << shift) - 1) / 2.0 : 0; }

}  // namespace

DisplayProperties Reader::display() const { return display_of(source()); }

DisplayProperties display_of(const Source& from) {
  const AVFrame& first = from.first;
  const FrameFormat& format = from.format;
  DisplayProperties properties;

  properties.matrix = format.matrix;
  if (format.matrix == ColorMatrix::kUnspecified) {
    properties.matrix = color_matrix(guessed_matrix(format.height));
  }
  properties.range = format.range;
  if (format.range == ColorRange::kUnspecified) {
    properties.range = format.color_model == ColorModel::kYuv ? ColorRange::kLimited : ColorRange::kFull;
  }

  AVChromaLocation location = first.chroma_location;
  if (location == AVCHROMA_LOC_UNSPECIFIED) {
    location = AVCHROMA_LOC_LEFT;
  }
  const bool bottom = location == AVCHROMA_LOC_BOTTOMLEFT || location == AVCHROMA_LOC_BOTTOM;
  const bool top = location == AVCHROMA_LOC_TOPLEFT || location == AVCHROMA_LOC_TOP;
  const bool centered =
      location == AVCHROMA_LOC_CENTER || location == AVCHROMA_LOC_TOP || location == AVCHROMA_LOC_BOTTOM;
  properties.chroma_x = chroma_position(centered, format.chroma_shift_x);
  properties.chroma_y =
      bottom ? (1 << format.chroma_shift_y) - 1 : chroma_position(!top, format.chroma_shift_y);

  properties.transfer = first.color_trc == AVCOL_TRC_SMPTE2084      ? Transfer::kPq
                        : first.color_trc == AVCOL_TRC_ARIB_STD_B67 ? Transfer::kHlg
                                                                    : Transfer::kSdr;
  properties.wide_gamut = first.color_primaries == AVCOL_PRI_BT2020;
  properties.peak = peak_luminance(first);

  const AVRational aspect = from.sample_aspect_ratio;
  constexpr double kGreatestAspect = 8;  // greater ratios are errors
  if (aspect.num > 0 && aspect.den > 0 && std::abs(std::log(av_q2d(aspect))) < std::log(kGreatestAspect)) {
    properties.pixel_aspect = av_q2d(aspect);
  }
  properties.orientation = orientation_of(from).value_or(Orientation{});
  return properties;
}

}  // namespace limpid::io
