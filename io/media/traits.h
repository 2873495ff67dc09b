// SPDX-License-Identifier: MIT
// Properties of containers and encoders that libav does not report. writer/streams.cpp tests the others of
// containers: it writes a header with the stream to memory, and for mp4 and mov reads it back, where the
// stream must have the same codec. Also files that refer to other files, and sources that are not files.
// Private to io.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/media/libav.h"
#include "io/media/writer.h"

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

/// True for demuxers whose files are lists of other files or addresses: playlists, manifests, scripts. They
/// give their author access to all files that this process may read.
bool follows_references(const AVInputFormat& format);

/// True if the address selects the demuxer, as rtsp://camera/ and rtsps://camera/ do.
bool is_address_for(const std::string& url, const AVInputFormat& format);

/// A value for AVFormatContext::format_whitelist: all demuxers without references, and the demuxer that the
/// address selects.
std::string demuxers_without_references(const std::string& url);

/// The name of the demuxer for the source if it follows references; otherwise empty.
std::string demuxer_of_references(const std::string& libav_url, const AVIOInterruptCB& interrupt);

/// For AVFormatContext::protocol_whitelist.
inline constexpr const char* kLocalProtocols = "file,pipe";

/// Both throw Error, or UsageError for options, unless the source or target is a file or a pipe.
void require_local_source(const std::string& libav_url, const AVInputFormat* format,
                          const std::vector<std::pair<std::string, std::string>>& options);
void require_local_target(const std::string& url, const AVOutputFormat& container);

// Properties of encoders that libavcodec does not report: defaults, limits and faults. Private to io.

/// Requirements, defaults and faults of an encoder. A default object describes an encoder without
/// peculiarities.
struct EncoderTraits {
  using Options = std::array<std::pair<const char*, const char*>, 2>;  ///< null: no option
  enum class PictureQuality : std::uint8_t { kNone, kJpegScale, kPercent, kJxlDistance, kCrf, kQp };

  std::string_view name;
  /// Constant quantizer instead of a default bit rate of 200 kbit/s for any size; 0: the default is usable.
  int quantizer = 0;
  /// Used without a preset.
  Options instead_of_preset = {};
  Options live = {};  ///< replace them for WriterOptions::live
  /// Used for WriterOptions::encoding "high", unless other options set the quality. bench/encodings.py chose
  /// them.
  Options high_quality = {};
  PictureQuality picture_quality = PictureQuality::kNone;  ///< options of --picture-quality
  int worst_quantizer = 0;                                 ///< of PictureQuality::kCrf and kQp, for AVIF only
  bool default_picture_quality = true;                     ///< has one that differs from the encoder's
  bool caps_rate = false;                                  ///< a bit rate beside a CRF is an upper limit
  bool halves_chroma = false;                              ///< unless it is lossless
  bool joins_segments = false;                             ///< segments of equal parameters can be joined
  bool stores_stereo = false;  ///< stereoscopic 3D of frames, but not of containers
  /// libavcodec's slices omit the last chroma samples of 4:1:1 and 4:1:0 if they do not cover four luma
  /// samples. Slices with a side of a single sample are wrong, too.
  bool faulty_slices = false;
  /// x265 (4.1) reuses memory of earlier captions, and writes past its end if the new ones are longer.
  bool faulty_captions = false;
  /// x265 determines from the third frame by how much decoding precedes presentation, and invents it before.
  bool invents_first_times = false;
  /// SVT-AV1 (1.4) hangs at the end of a stream without frames.
  bool hangs_without_frames = false;
  /// libavcodec passes planar RGB to OpenJPEG in the order G, B, R.
  bool confuses_planar_rgb = false;
  int most_right_depth = 64;  ///< pictures with more bits are damaged
  int frame_threads = 0;      ///< most threads that it starts beside one per processor
  /// Widths at which it writes past the end of its memory, as x265 does in all tested versions: 3.5 and 4.2,
  /// the newest. libavcodec does not expose x265_version_str.
  int first_unsafe_width = 0;
  int last_unsafe_width = -1;
  /// Option with the encoder's own parameters, and those that are always set. Null: x264's syntax is not
  /// used.
  const char* parameters_option = nullptr;
  const char* own_parameters = "";
  /// Own parameter for interlaced frames whose bottom field is first. libavcodec sets this order after it has
  /// opened libx264, which then writes both orders.
  const char* bottom_field_first = nullptr;
  const char* mastering_display = nullptr;  ///< own parameter for SMPTE ST 2086
  const char* light_level = nullptr;        ///< own parameter for content light levels

  bool is_safe(int width) const { return width < first_unsafe_width || width > last_unsafe_width; }
};

const EncoderTraits& traits_of(const AVCodec& codec);

/// JPEG samples are full range and BT.601, whatever the file's tags.
bool is_jpeg(const AVCodec& codec);

/// True for codecs with chroma subsampling that require an even size, and whose fields require whole chroma
/// rows.
bool needs_whole_chroma(const AVCodec& codec);

/// False if full-range YUV would be shown as limited because neither the encoder's stream nor the container
/// has a tag for it.
bool keeps_full_range(const AVOutputFormat& container, const AVCodec& codec);

/// The encoder's own parameters for the properties of a frame, in the syntax of x264.
std::string own_parameters(const EncoderTraits& traits, const AVFrame& properties);

/// Throws UsageError for a preset or CRF that the encoder would misinterpret.
void check_preset_and_crf(const EncoderTraits& traits, const WriterOptions& options);

// Options for the bit rate and the quality of encoders. Private to io.

/// Quality of pictures, from 1 to 100, unless the user gives one.
inline constexpr int kPictureQuality = 90;

/// Throws UsageError for options of `writer` that the encoder ignores or that contradict each other.
void check_quality_options(const AVCodec& codec, const AVOutputFormat& container,
                           const WriterOptions& writer);

/// Throws UsageError for a bit rate that is likely meant in kbit/s or Mbit/s. `option` is its name.
void check_bit_rate(const std::string& option, const std::string& rate);

/// The options of an encoder of JPEG, WebP, AVIF or JPEG XL for a quality from 1 to 100; empty for other
/// encoders.
std::vector<std::pair<std::string, std::string>> picture_quality_options(const AVCodec& codec,
                                                                         const AVOutputFormat& container,
                                                                         int quality);

}  // namespace limpid::io
