// SPDX-License-Identifier: MIT
#include "io/media/container.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace limpid::io {
namespace {

/// A container needs a row if it differs from the default.
constexpr std::array kContainers{
    ContainerTraits{.name = "matroska",
                    .is_matroska = true,
                    .chapters = true,
                    .timecode = true,
                    .stereo = true,
                    .range_tag = true,
                    .attachments = true,
                    .text = AV_CODEC_ID_SUBRIP},
    ContainerTraits{.name = "webm",
                    .is_matroska = true,
                    .chapters = true,
                    .timecode = true,
                    .range_tag = true,
                    .text = AV_CODEC_ID_WEBVTT,
                    .alpha_encoder = "libvpx-vp9"},
    ContainerTraits{.name = "mp4",
                    .display_matrix = true,
                    .index_first = true,
                    .chapters = true,
                    .timecode = true,
                    .stereo = true,
                    .cover_art = true,
                    .for_players = true,
                    .text = AV_CODEC_ID_MOV_TEXT},
    ContainerTraits{.name = "mov",
                    .display_matrix = true,
                    .index_first = true,
                    .chapters = true,
                    .timecode = true,
                    .for_players = true,
                    .quicktime_languages = true,
                    .text = AV_CODEC_ID_MOV_TEXT,
                    .alpha_encoder = "prores_ks"},
    ContainerTraits{.name = "ipod",
                    .display_matrix = true,
                    .index_first = true,
                    .chapters = true,
                    .cover_art = true,
                    .for_players = true,
                    .text = AV_CODEC_ID_MOV_TEXT},
    // The muxers' own defaults of 3gp, 3g2 and mpegts are telephone codecs and MP2.
    ContainerTraits{.name = "3gp",
                    .display_matrix = true,
                    .index_first = true,
                    .chapters = true,
                    .for_players = true,
                    .audio = AV_CODEC_ID_AAC},
    ContainerTraits{.name = "3g2",
                    .display_matrix = true,
                    .index_first = true,
                    .chapters = true,
                    .for_players = true,
                    .audio = AV_CODEC_ID_AAC},
    ContainerTraits{.name = "psp", .display_matrix = true, .chapters = true, .cover_art = true},
    ContainerTraits{
        .name = "mpegts", .transport_stream = true, .for_players = true, .audio = AV_CODEC_ID_AAC},
    ContainerTraits{.name = "flv", .for_players = true},
    ContainerTraits{.name = "avi",
                    .microsoft_audio = true,
                    .constant_rate = true,
                    .omits_frames = true,
                    .counts_samples = true,
                    .surround = AV_CODEC_ID_AC3},
    ContainerTraits{.name = "asf", .chapters = true, .microsoft_audio = true},
    ContainerTraits{.name = "mpeg", .surround = AV_CODEC_ID_AC3},
    ContainerTraits{.name = "vob", .surround = AV_CODEC_ID_AC3},
    ContainerTraits{.name = "svcd", .surround = AV_CODEC_ID_AC3},
    ContainerTraits{
        .name = "mxf", .timecode = true, .constant_rate = true, .counts_samples = true, .audio_rate = 48000},
    ContainerTraits{.name = "mxf_d10",
                    .timecode = true,
                    .constant_rate = true,
                    .counts_samples = true,
                    .audio_rate = 48000},
    ContainerTraits{.name = "mxf_opatom", .audio_rate = 48000},
    ContainerTraits{.name = "gxf", .timecode = true, .constant_rate = true, .counts_samples = true},
    ContainerTraits{.name = "ogg", .chapters = true, .counts_samples = true},
    ContainerTraits{.name = "ogv", .chapters = true, .counts_samples = true},
    ContainerTraits{.name = "nut", .chapters = true},
    ContainerTraits{.name = "rawvideo", .constant_rate = true},
    ContainerTraits{.name = "yuv4mpegpipe", .range_tag = true, .constant_rate = true, .is_y4m = true},
    ContainerTraits{.name = "image2",
                    .constant_rate = true,
                    .single_output = true,
                    .local_output = true,
                    .picture_files = true,
                    .separate_files = true,
                    .single_picture = true},
    ContainerTraits{.name = "image2pipe", .constant_rate = true, .picture_files = true},
    ContainerTraits{.name = "webp", .single_picture = true, .is_webp = true, .loop_option = "loop"},
    ContainerTraits{.name = "avif", .single_picture = true, .is_avif = true},
    ContainerTraits{
        .name = "gif", .loop_option = "loop", .final_delay = ContainerTraits::FinalDelay::kHundredths},
    ContainerTraits{
        .name = "apng", .loop_option = "plays", .final_delay = ContainerTraits::FinalDelay::kFraction},
    ContainerTraits{
        .name = "null", .chapters = true, .timecode = true, .single_output = true, .local_output = true},
    ContainerTraits{.name = "rtsp", .single_output = true},
    ContainerTraits{.name = "sap", .single_output = true},
    ContainerTraits{.name = "whip", .single_output = true},
};

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

const ContainerTraits& traits_of(const AVOutputFormat& container) {
  static constexpr ContainerTraits kNone;
  const auto* const found = std::ranges::find(kContainers, container.name, &ContainerTraits::name);
  return found == kContainers.end() ? kNone : *found;
}

bool is_cover_art(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
         (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

bool writes_several_files(const AVOutputFormat& container) {
  const bool is_output_device =
      container.priv_class != nullptr && AV_IS_OUTPUT_DEVICE(container.priv_class->category);
  return (container.flags & AVFMT_NOFILE) != 0 && !is_output_device && !traits_of(container).single_output;
}

bool is_known(const AVOutputFormat& container, const std::string& url, const AVStream& stream) {
  const ContainerTraits& traits = traits_of(container);
  if (is_cover_art(stream)) {
    return traits.cover_art;
  }
  if (stream.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT) {
    return traits.attachments;
  }
  if (traits.microsoft_audio && stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
    return is_played_from_avi(stream.codecpar->codec_id);
  }
  constexpr std::uint32_t kGoPro = MKTAG('g', 'p', 'm', 'd');
  if (stream.codecpar->codec_id == AV_CODEC_ID_BIN_DATA && stream.codecpar->codec_tag != kGoPro &&
      traits.display_matrix) {
    return false;  // libav's muxer would label any data as that manufacturer's camera data
  }
  return !traits.transport_stream || is_known_in_mpegts(url, *stream.codecpar);
}

bool attaches_cover(const AVOutputFormat& container, const AVStream& stream) {
  const AVCodecID codec = stream.codecpar->codec_id;
  return traits_of(container).attachments && is_cover_art(stream) && stream.attached_pic.size > 0 &&
         (codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_MJPEG);
}

}  // namespace limpid::io
