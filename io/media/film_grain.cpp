// SPDX-License-Identifier: MIT
#include "io/media/film_grain.h"

extern "C" {
#include <libavutil/film_grain_params.h>
}

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "io/media/libav.h"

namespace limpid::io {
namespace {

std::vector<FilmGrain::Point> points_of(const std::uint8_t (*points)[2], int count) {
  std::vector<FilmGrain::Point> result(count);
  std::transform(points, points + count, result.begin(), [](const std::uint8_t(&point)[2]) {
    return FilmGrain::Point{point[0], point[1]};
  });
  return result;
}

}  // namespace

std::optional<FilmGrain> film_grain_of(const AVFrame& frame) {
  const AVFrameSideData* const data = av_frame_get_side_data(&frame, AV_FRAME_DATA_FILM_GRAIN_PARAMS);
  if (data == nullptr) {
    return std::nullopt;
  }
  const auto& parameters = *reinterpret_cast<const AVFilmGrainParams*>(data->data);
  if (parameters.type != AV_FILM_GRAIN_PARAMS_AV1) {
    return std::nullopt;
  }
  const AVFilmGrainAOMParams& aom = parameters.codec.aom;
  FilmGrain grain;
  grain.seed = static_cast<int>(parameters.seed & 0xFFFF);
  grain.points[0] = points_of(aom.y_points, aom.num_y_points);
  grain.chroma_from_luma = aom.chroma_scaling_from_luma != 0;
  grain.scaling_shift = aom.scaling_shift;
  grain.lag = aom.ar_coeff_lag;
  grain.coefficient_shift = aom.ar_coeff_shift;
  grain.grain_shift = aom.grain_scale_shift;
  grain.overlap = aom.overlap_flag != 0;
  grain.clips_to_limited = aom.limit_output_range != 0;
  std::copy_n(aom.ar_coeffs_y, grain.neighbors(), grain.coefficients[0].begin());
  for (int i = 0; i < 2; ++i) {
    grain.points[1 + i] = points_of(aom.uv_points[i], aom.num_uv_points[i]);
    std::copy_n(aom.ar_coeffs_uv[i], grain.neighbors() + 1, grain.coefficients[1 + i].begin());
    // libav's values have no offsets.
    grain.chroma_index[i] = {aom.uv_mult[i] + 128, aom.uv_mult_luma[i] + 128, aom.uv_offset[i] + 256};
  }
  return grain;
}

std::optional<FilmGrain> film_grain_of(const Frame& frame) {
  const auto* const properties = frame.attachment.get<AVFrame>();
  return properties == nullptr ? std::nullopt : film_grain_of(*properties);
}

void require_film_grain_encoder(const std::string& name) {
  if (name == "libsvtav1") {
    throw UsageError(
        "FFmpeg's encoder libsvtav1 does not take a film grain table; SVT-AV1's own program does: limpid "
        "denoise INPUT -o - | SvtAv1EncApp -i - --fgs-table FILE.tbl -b OUTPUT.ivf");
  }
  if (name != "libaom-av1") {
    throw UsageError((name.empty() ? "the default encoder" : "the encoder " + name) +
                     " does not take a film grain table; use -c libaom-av1");
  }
}

}  // namespace limpid::io
