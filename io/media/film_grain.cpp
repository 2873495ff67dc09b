// SPDX-License-Identifier: MIT
#include "io/media/film_grain.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

extern "C" {
#include <libavutil/film_grain_params.h>
}

#include "core/base/error.h"
#include "io/media/output_file.h"

namespace limpid::io {
namespace {

constexpr const char* kTableName = "grain.tbl";

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

GrainEncoding::GrainEncoding(std::string url, FilmGrainTable table)
    : url_(std::move(url)), table_(std::move(table)) {
  write_text(folder_.file(kTableName), to_text(table_));
}

std::string GrainEncoding::parameter() const {
  std::string text = "film-grain-table=";
  for (const char letter : folder_.file(kTableName)) {
    if (std::string_view(":='\\").find(letter) != std::string_view::npos) {
      text += '\\';
    }
    text += letter;
  }
  return text;
}

void GrainEncoding::open_check(const AVCodecContext& encoder) {
  const std::string failure = url_ + ": the film grain of the output cannot be checked: ";
  // libav's other decoders of AV1 do not report grain.
  const AVCodec* const codec = avcodec_find_decoder_by_name("libdav1d");
  if (codec == nullptr) {
    throw Error(failure + "this FFmpeg has no libdav1d");
  }
  decoder_.reset(avcodec_alloc_context3(codec));
  AVCodecParameters* parameters = avcodec_parameters_alloc();
  const bool is_set = decoder_ != nullptr && parameters != nullptr &&
                      avcodec_parameters_from_context(parameters, &encoder) >= 0 &&
                      avcodec_parameters_to_context(decoder_.get(), parameters) >= 0;
  avcodec_parameters_free(&parameters);
  if (is_set) {
    decoder_->pkt_timebase = encoder.time_base;
    decoder_->thread_count = 1;  // frame threads would delay frames
    decoder_->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
  }
  if (!is_set || avcodec_open2(decoder_.get(), codec, nullptr) < 0) {
    throw Error(failure + "its decoder cannot be opened");
  }
  is_checked_ = std::ranges::none_of(table_, &FilmGrainEntry::is_applied);
}

void GrainEncoding::note_encoded(const AVPacket& packet) {
  if (is_checked_) {
    return;
  }
  if (avcodec_send_packet(decoder_.get(), &packet) < 0) {
    throw Error(url_ + ": the film grain of the output cannot be checked: a packet cannot be decoded");
  }
  receive();
}

void GrainEncoding::finish() {
  if (!is_checked_ && decoder_ != nullptr) {
    avcodec_send_packet(decoder_.get(), nullptr);
    receive();
  }
}

void GrainEncoding::receive() {
  const FrameHandle frame = make_frame();
  while (!is_checked_ && avcodec_receive_frame(decoder_.get(), frame.get()) >= 0) {
    check_frame(*frame);
  }
  if (is_checked_) {
    decoder_ = nullptr;
  }
}

void GrainEncoding::check_frame(const AVFrame& frame) {
  if (first_pts_ == AV_NOPTS_VALUE) {
    first_pts_ = frame.pts;
  }
  constexpr AVRational kTick{1, kGrainTicksPerSecond};
  const std::int64_t time = av_rescale_q(frame.pts - first_pts_, decoder_->pkt_timebase, kTick);
  const auto entry = std::ranges::find_if(
      table_, [time](const FilmGrainEntry& each) { return time >= each.start && time < each.end; });
  if (entry == table_.end() || !entry->is_applied) {
    return;
  }
  if (av_frame_get_side_data(&frame, AV_FRAME_DATA_FILM_GRAIN_PARAMS) == nullptr) {
    throw Error(url_ + ": the encoder has left out the film grain");
  }
  is_checked_ = true;
}

}  // namespace limpid::io
