// SPDX-License-Identifier: MIT
#pragma once

// Properties of containers that libav's muxers do not report. writer/streams.cpp tests the others: it writes
// a header with the stream to memory, and for mp4 and mov reads it back, where the stream must have the same
// codec. Private to io.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/media/libav.h"

namespace limpid::io {

/// Capabilities, requirements and preferences of a container. A default object describes a container without
/// peculiarities.
struct ContainerTraits {
  enum class FinalDelay : std::uint8_t { kNone, kHundredths, kFraction };

  std::string_view name;  ///< of the muxer
  bool is_matroska = false;
  /// Matrices that rotate the picture; the containers of the QuickTime family.
  bool display_matrix = false;
  bool index_first = false;  ///< the muxer can move the index to the beginning, for playing during a download
  bool chapters = false;
  bool timecode = false;
  bool stereo = false;       ///< any packing of stereoscopic 3D; WebM supports few
  bool range_tag = false;    ///< full-range YUV
  bool cover_art = false;    ///< as a video stream
  bool attachments = false;  ///< cover art is stored as one of them
  /// Players do not play audio that libav's muxer writes in other forms than Microsoft's, or play it at the
  /// wrong rate.
  bool microsoft_audio = false;
  /// The muxer rejects no stream, and libav has no list of its codecs.
  bool transport_stream = false;
  bool for_players = false;     ///< files that should play everywhere
  bool constant_rate = false;   ///< frames are counted and have no times
  bool omits_frames = false;    ///< times are kept on the regular grid of the source
  bool counts_samples = false;  ///< the start time of audio is not stored
  bool quicktime_languages = false;
  /// The muxer opens its own output, but writes one file, of which Limpid writes each, or none.
  bool single_output = false;
  bool local_output = false;    ///< as single_output, and no network connection
  bool picture_files = false;   ///< pictures of formats such as TIFF
  bool separate_files = false;  ///< every packet of the encoder is a separate file
  bool single_picture = false;  ///< one picture or an animation; files have metadata as pictures do
  bool is_webp = false;
  bool is_avif = false;
  bool is_y4m = false;
  std::optional<int> audio_rate = {};          ///< the only sample rate
  AVCodecID audio = AV_CODEC_ID_NONE;          ///< preferred to the muxer's default
  AVCodecID surround = AV_CODEC_ID_NONE;       ///< `audio` for more than two channels
  AVCodecID text = AV_CODEC_ID_NONE;           ///< for text subtitles
  const char* alpha_encoder = nullptr;         ///< keeps alpha, which the default encoder does not
  const char* loop_option = nullptr;           ///< muxer option of animations
  FinalDelay final_delay = FinalDelay::kNone;  ///< unit of the muxer option
};

const ContainerTraits& traits_of(const AVOutputFormat& container);

bool is_cover_art(const AVStream& stream);

/// True for muxers that write several files, such as HLS and DASH.
bool writes_several_files(const AVOutputFormat& container);

/// False for streams that the muxer accepts but writes, to a file of this name, in a form that no software
/// reads.
bool is_known(const AVOutputFormat& container, const std::string& url, const AVStream& stream);

/// True for cover art that is stored as an attachment.
bool attaches_cover(const AVOutputFormat& container, const AVStream& stream);

}  // namespace limpid::io
