// SPDX-License-Identifier: MIT
#include "io/media/container.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace limpid::io {
namespace {

template <std::size_t kCount>
bool is_one_of(const AVOutputFormat& container, const std::array<std::string_view, kCount>& names) {
  return std::find(names.begin(), names.end(), container.name) != names.end();
}

constexpr std::array<std::string_view, 6> kMovFamily{"mov", "mp4", "ipod", "3gp", "3g2", "psp"};

/// The muxer of MPEG transport streams rejects nothing. Data streams are always private there.
bool is_known_in_mpegts(const std::string& url, const AVCodecParameters& stream) {
  constexpr std::array kKnown{AV_CODEC_ID_MP1,   AV_CODEC_ID_MP2,          AV_CODEC_ID_MP3,
                              AV_CODEC_ID_AAC,   AV_CODEC_ID_AAC_LATM,     AV_CODEC_ID_AC3,
                              AV_CODEC_ID_EAC3,  AV_CODEC_ID_DTS,          AV_CODEC_ID_OPUS,
                              AV_CODEC_ID_S302M, AV_CODEC_ID_DVB_SUBTITLE, AV_CODEC_ID_DVB_TELETEXT};
  if (stream.codec_id == AV_CODEC_ID_HDMV_PGS_SUBTITLE || stream.codec_id == AV_CODEC_ID_TRUEHD) {
    return url.ends_with(".m2ts");  // the file name by which the muxer selects Blu-ray's format
  }
  return stream.codec_type == AVMEDIA_TYPE_DATA ||
         std::find(kKnown.begin(), kKnown.end(), stream.codec_id) != kKnown.end();
}

/// True for containers that store the codec in Microsoft's form; otherwise libav's muxers write files that
/// players do not play, or play at the wrong rate.
bool is_played_from_avi(AVCodecID sound) {
  constexpr std::array kKnown{AV_CODEC_ID_MP1, AV_CODEC_ID_MP2,   AV_CODEC_ID_MP3,  AV_CODEC_ID_AC3,
                              AV_CODEC_ID_AAC, AV_CODEC_ID_WMAV1, AV_CODEC_ID_WMAV2};
  const bool is_pcm = sound >= AV_CODEC_ID_FIRST_AUDIO && sound < AV_CODEC_ID_ADPCM_IMA_QT;
  return is_pcm || std::find(kKnown.begin(), kKnown.end(), sound) != kKnown.end();
}

}  // namespace

bool is_cover_art(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
         (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

bool is_matroska(const AVOutputFormat& container) { return is_one_of<2>(container, {"matroska", "webm"}); }

bool is_webp(const AVOutputFormat& container) { return is_one_of<1>(container, {"webp"}); }

bool holds_display_matrix(const AVOutputFormat& container) { return is_one_of(container, kMovFamily); }

bool holds_chapters(const AVOutputFormat& container) {
  return is_one_of(container, kMovFamily) || is_matroska(container) ||
         is_one_of<5>(container, {"ogg", "ogv", "nut", "asf", "null"});
}

bool holds_timecode(const AVOutputFormat& container) {
  return is_matroska(container) || is_one_of<6>(container, {"mov", "mp4", "mxf", "mxf_d10", "gxf", "null"});
}

bool holds_stereo(const AVOutputFormat& container) { return is_one_of<2>(container, {"matroska", "mp4"}); }

bool writes_several_files(const AVOutputFormat& container) {
  const bool is_output_device =
      container.priv_class != nullptr && AV_IS_OUTPUT_DEVICE(container.priv_class->category);
  // Other muxers that open their output themselves: pictures, of which Limpid writes each file itself, and
  // network connections.
  return (container.flags & AVFMT_NOFILE) != 0 && !is_output_device &&
         !is_one_of<5>(container, {"image2", "null", "rtsp", "sap", "whip"});
}

bool counts_samples(const AVOutputFormat& container) {
  return is_one_of<6>(container, {"avi", "mxf", "mxf_d10", "gxf", "ogg", "ogv"});
}

bool is_known(const AVOutputFormat& container, const std::string& url, const AVStream& stream) {
  if (is_cover_art(stream)) {
    return is_one_of<3>(container, {"mp4", "ipod", "psp"});
  }
  if (stream.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT) {
    return is_one_of<1>(container, {"matroska"});
  }
  if (is_one_of<2>(container, {"avi", "asf"}) && stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
    return is_played_from_avi(stream.codecpar->codec_id);
  }
  constexpr std::uint32_t kGoPro = MKTAG('g', 'p', 'm', 'd');
  if (stream.codecpar->codec_id == AV_CODEC_ID_BIN_DATA && stream.codecpar->codec_tag != kGoPro &&
      is_one_of(container, kMovFamily)) {
    return false;  // libav's muxer would label any data as that manufacturer's camera data
  }
  return !is_one_of<1>(container, {"mpegts"}) || is_known_in_mpegts(url, *stream.codecpar);
}

bool attaches_cover(const AVOutputFormat& container, const AVStream& stream) {
  const AVCodecID codec = stream.codecpar->codec_id;
  return is_one_of<1>(container, {"matroska"}) && is_cover_art(stream) && stream.attached_pic.size > 0 &&
         (codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_MJPEG);
}

}  // namespace limpid::io
