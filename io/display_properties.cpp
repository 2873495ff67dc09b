// What libav tells of how a source's frames are to be shown.

extern "C" {
#include <libavutil/display.h>
#include <libavutil/mastering_display_metadata.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "io/display.h"
#include "io/reader.h"
#include "io/reader_state.h"

namespace limpid::io {
namespace {

/// Heights from here on are taken for high definition, whose matrix is BT.709, when the source doesn't say.
constexpr int kHighDefinitionHeight = 720;

/// EXIF's eight orientations, of which 1 is upright.
Orientation exif_orientation(int number) {
  constexpr std::array<Orientation, 9> kOrientations{{{},
                                                      {},
                                                      {false, true, false},
                                                      {false, true, true},
                                                      {false, false, true},
                                                      {true, false, false},
                                                      {true, true, false},
                                                      {true, true, true},
                                                      {true, false, true}}};
  return number >= 1 && number <= 8 ? kOrientations[static_cast<std::size_t>(number)] : Orientation{};
}

/// The nearest quarter turn to what a display matrix does: x' = a x + c y, y' = b x + d y.
Orientation matrix_orientation(const std::uint8_t* data) {
  std::array<std::int32_t, 9> matrix{};
  std::memcpy(matrix.data(), data, sizeof matrix);
  const auto [a, b, c, d] = std::array{matrix[0], matrix[1], matrix[3], matrix[4]};
  const bool transposed = std::abs(std::int64_t{b}) > std::abs(std::int64_t{a});
  return {.transposed = transposed,
          .mirrored_x = (transposed ? c : a) < 0,
          .mirrored_y = (transposed ? b : d) < 0};
}

Orientation orientation_of(const AVStream& stream, const AVFrame& first) {
  constexpr std::size_t kMatrixSize = 9 * sizeof(std::int32_t);
  if (const AVFrameSideData* const data = av_frame_get_side_data(&first, AV_FRAME_DATA_DISPLAYMATRIX);
      data != nullptr && data->size >= kMatrixSize) {
    return matrix_orientation(data->data);
  }
  std::size_t size = 0;
  if (const std::uint8_t* const data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
      data != nullptr && size >= kMatrixSize) {
    return matrix_orientation(data);
  }
  const AVDictionaryEntry* const exif = av_dict_get(first.metadata, "Orientation", nullptr, 0);
  return exif == nullptr ? Orientation{} : exif_orientation(std::atoi(exif->value));
}

/// cd/m2: of the content if it is told, else of the display that it was made on.
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

/// Of chroma samples in the direction in which `shift` halves them, where they are in the middle of their
/// luma samples or on the first of them.
double chroma_position(bool centred, int shift) { return centred ? ((1 << shift) - 1) / 2.0 : 0; }

}  // namespace

DisplayProperties Reader::display() const {
  const AVFrame& first = *state_->first_properties;
  const FrameFormat& format = state_->video.format;
  DisplayProperties properties;

  properties.matrix = format.matrix;
  if (format.matrix == ColorMatrix::kUnspecified) {
    properties.matrix = format.height >= kHighDefinitionHeight ? ColorMatrix::kBt709 : ColorMatrix::kBt601;
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
  const bool centred =
      location == AVCHROMA_LOC_CENTER || location == AVCHROMA_LOC_TOP || location == AVCHROMA_LOC_BOTTOM;
  properties.chroma_x = chroma_position(centred, format.chroma_shift_x);
  properties.chroma_y =
      bottom ? (1 << format.chroma_shift_y) - 1 : chroma_position(!top, format.chroma_shift_y);

  properties.transfer = first.color_trc == AVCOL_TRC_SMPTE2084      ? Transfer::kPq
                        : first.color_trc == AVCOL_TRC_ARIB_STD_B67 ? Transfer::kHlg
                                                                    : Transfer::kSdr;
  properties.wide_gamut = first.color_primaries == AVCOL_PRI_BT2020;
  properties.peak = peak_luminance(first);

  const AVRational aspect =
      av_guess_sample_aspect_ratio(state_->input.get(), state_->video_stream, state_->first_properties.get());
  constexpr double kGreatestAspect = 8;  // beyond that it is a mistake
  if (aspect.num > 0 && aspect.den > 0 && std::abs(std::log(av_q2d(aspect))) < std::log(kGreatestAspect)) {
    properties.pixel_aspect = av_q2d(aspect);
  }
  properties.orientation = orientation_of(*state_->video_stream, first);
  return properties;
}

}  // namespace limpid::io
