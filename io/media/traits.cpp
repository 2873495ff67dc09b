// SPDX-License-Identifier: MIT
#include "io/media/traits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

extern "C" {
#include <libavutil/avstring.h>
}
extern "C" {
#include <libavutil/mastering_display_metadata.h>
}

#include "core/base/error.h"
#include "core/base/text.h"
#include "io/media/container_header.h"

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

namespace {

void require_file_or_pipe(const std::string& url) {
  const char* const protocol = avio_find_protocol_name(url.c_str());
  const std::string_view name = protocol == nullptr ? "" : protocol;
  const bool is_address = has_protocol(url) && !url.starts_with("pipe:") && !url.starts_with("file:");
  if (is_address || (protocol != nullptr && name != "file" && name != "pipe")) {
    throw Error(url + ": is neither a file nor a pipe, as --local-only requires");
  }
}

}  // namespace

bool follows_references(const AVInputFormat& format) {
  constexpr std::array<std::string_view, 9> kNames{"hls",  "dash", "concat",   "imf",        "sdp",
                                                   "rtsp", "sap",  "avisynth", "vapoursynth"};
  // The first of several names is the demuxer's own.
  const std::string_view names = format.name;
  return std::find(kNames.begin(), kNames.end(), names.substr(0, names.find(','))) != kNames.end();
}

bool is_address_for(const std::string& url, const AVInputFormat& format) {
  const std::string name = format.name;
  return url.starts_with(name + "://") || url.starts_with(name + "s://");
}

std::string demuxers_without_references(const std::string& url) {
  std::string names;
  void* position = nullptr;
  while (const AVInputFormat* const format = av_demuxer_iterate(&position)) {
    if (!follows_references(*format) || is_address_for(url, *format)) {
      names += (names.empty() ? "" : ",") + std::string(format->name);
    }
  }
  return names;
}

std::string demuxer_of_references(const std::string& libav_url, const AVIOInterruptCB& interrupt) {
  AVIOContext* bytes = nullptr;
  if (avio_open2(&bytes, libav_url.c_str(), AVIO_FLAG_READ, &interrupt, nullptr) < 0) {
    return "";
  }
  const AVInputFormat* format = nullptr;
  const int code = av_probe_input_buffer2(bytes, &format, libav_url.c_str(), nullptr, 0, 0);
  avio_closep(&bytes);
  return code >= 0 && format != nullptr && follows_references(*format) ? format->name : "";
}

void require_local_source(const std::string& libav_url, const AVInputFormat* format,
                          const std::vector<std::pair<std::string, std::string>>& options) {
  // Scripts can open any file, and demuxers without a file open devices or addresses by themselves.
  const std::string_view name = format == nullptr ? "" : format->name;
  const bool opens_others =
      format != nullptr && (is_device(*format) || name == "vapoursynth" ||
                            ((format->flags & AVFMT_NOFILE) != 0 && !traits_of(*format).is_image2));
  if (opens_others) {
    throw UsageError("the input format " + std::string(name) + " reads more than files and pipes, which " +
                     "--local-only forbids");
  }
  for (const auto& [key, value] : options) {
    if (av_strcasecmp(key.c_str(), "protocol_whitelist") == 0) {  // libav ignores case in options
      throw UsageError("the input option protocol_whitelist and --local-only exclude each other");
    }
  }
  require_file_or_pipe(libav_url);
}

void require_local_target(const std::string& url, const AVOutputFormat& container) {
  if ((container.flags & AVFMT_NOFILE) != 0 && !traits_of(container).local_output) {
    throw UsageError("the container " + std::string(container.name) +
                     " is a device or a network connection, which --local-only forbids");
  }
  if (has_protocol(url)) {
    require_file_or_pipe(url);
  }
}

namespace {

/// An encoder needs a row if it differs from the default.
constexpr std::array kEncoders{
    EncoderTraits{.name = "libx264",
                  .live = {{{"preset", "veryfast"}}},
                  .high_quality = {{{"crf", "12"}}},
                  .joins_segments = true,
                  .stores_stereo = true,
                  .parameters_option = "x264-params",
                  .bottom_field_first = "bff=1",
                  .mastering_display = "mastering-display",
                  .light_level = "cll"},
    // x265 prints to stderr unless its log is off.
    EncoderTraits{.name = "libx265",
                  .live = {{{"preset", "ultrafast"}}},
                  .high_quality = {{{"crf", "14"}}},
                  .joins_segments = true,
                  .faulty_captions = true,
                  .invents_first_times = true,
                  .frame_threads = 8,
                  .first_unsafe_width = 33,
                  .last_unsafe_width = 48,
                  .parameters_option = "x265-params",
                  .own_parameters = "log-level=none",
                  .mastering_display = "master-display",
                  .light_level = "max-cll"},
    EncoderTraits{
        .name = "libvpx", .live = {{{"deadline", "realtime"}, {"cpu-used", "8"}}}, .caps_rate = true},
    EncoderTraits{.name = "libvpx-vp9",
                  .live = {{{"deadline", "realtime"}, {"cpu-used", "8"}}},
                  .high_quality = {{{"crf", "14"}, {"b", "0"}}},
                  .caps_rate = true},
    // The default of libaom takes a second for each small frame.
    EncoderTraits{.name = "libaom-av1",
                  .instead_of_preset = {{{"cpu-used", "6"}, {"row-mt", "1"}}},
                  .live = {{{"usage", "realtime"}, {"cpu-used", "8"}}},
                  .high_quality = {{{"crf", "16"}}},
                  .picture_quality = EncoderTraits::PictureQuality::kCrf,
                  .worst_quantizer = 63,
                  .caps_rate = true},
    EncoderTraits{.name = "libsvtav1",
                  .live = {{{"preset", "12"}}},
                  .high_quality = {{{"crf", "14"}}},
                  .picture_quality = EncoderTraits::PictureQuality::kCrf,
                  .worst_quantizer = 63,
                  .hangs_without_frames = true},
    EncoderTraits{
        .name = "librav1e", .picture_quality = EncoderTraits::PictureQuality::kQp, .worst_quantizer = 255},
    // 2 is the finest quantizer of libavcodec's default range.
    EncoderTraits{.name = "mpeg4", .quantizer = 2},
    EncoderTraits{.name = "mpeg2video",
                  .quantizer = 2,
                  .high_quality = {{{"qmin", "1"}, {"global_quality", "118"}}},  // a quantizer of 1
                  .stores_stereo = true},
    EncoderTraits{.name = "mpeg1video", .quantizer = 2},
    EncoderTraits{.name = "libtheora", .quantizer = 8},
    EncoderTraits{.name = "ffv1", .joins_segments = true, .faulty_slices = true},
    EncoderTraits{.name = "mjpeg",
                  .quantizer = 2,
                  .picture_quality = EncoderTraits::PictureQuality::kJpegScale,
                  .default_picture_quality = false},
    EncoderTraits{
        .name = "libwebp", .picture_quality = EncoderTraits::PictureQuality::kPercent, .halves_chroma = true},
    EncoderTraits{.name = "libwebp_anim",
                  .picture_quality = EncoderTraits::PictureQuality::kPercent,
                  .halves_chroma = true},
    EncoderTraits{.name = "libjxl", .picture_quality = EncoderTraits::PictureQuality::kJxlDistance},
    EncoderTraits{.name = "jpeg2000", .most_right_depth = 8},
    EncoderTraits{.name = "libopenjpeg", .confuses_planar_rgb = true},
};

/// x264 and x265 share their presets, and print to stderr about invalid ones.
void check_preset(const std::string& codec, const std::string& preset) {
  const std::vector<std::string> presets{"ultrafast", "superfast", "veryfast", "faster",   "fast",
                                         "medium",    "slow",      "slower",   "veryslow", "placebo"};
  if (std::ranges::find(presets, preset) == presets.end()) {
    std::string names;
    for (const std::string& each : presets) {
      names += (names.empty() ? "" : ", ") + each;
    }
    throw UsageError("the encoder " + codec + " has no preset '" + preset + "', but " + names);
  }
}

/// x264 and x265 accept any number as CRF and use the nearest legal one.
void check_crf(const std::string& codec, const std::string& crf) {
  constexpr double kWorst = 51;
  const double value = to_number<double>(crf).value_or(-1);
  if (!(value >= 0 && value <= kWorst)) {
    throw UsageError("the encoder " + codec + " doesn't take '" + crf +
                     "' for its option 'crf', but 0 to 51");
  }
}

/// SMPTE ST 2086 and content light levels in the syntax of x264 and x265.
std::vector<std::string> hdr_parameters(const EncoderTraits& traits, const AVFrame& properties) {
  std::vector<std::string> parameters;
  if (const AVFrameSideData* const data =
          av_frame_get_side_data(&properties, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)) {
    const auto& display = *reinterpret_cast<const AVMasteringDisplayMetadata*>(data->data);
    const auto in_units = [](AVRational value, double per_unit) {
      return std::to_string(std::lround(av_q2d(value) * per_unit));
    };
    constexpr double kChromaticity = 50000;
    constexpr double kLuminance = 10000;
    if (display.has_primaries != 0 && display.has_luminance != 0) {
      const auto point = [&](const AVRational(&xy)[2]) {
        return "(" + in_units(xy[0], kChromaticity) + "," + in_units(xy[1], kChromaticity) + ")";
      };
      const auto& primaries = display.display_primaries;
      parameters.push_back(std::string(traits.mastering_display) + "=G" + point(primaries[1]) + "B" +
                           point(primaries[2]) + "R" + point(primaries[0]) + "WP" +
                           point(display.white_point) + "L(" + in_units(display.max_luminance, kLuminance) +
                           "," + in_units(display.min_luminance, kLuminance) + ")");
    }
  }
  if (const AVFrameSideData* const data =
          av_frame_get_side_data(&properties, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)) {
    const auto& light = *reinterpret_cast<const AVContentLightMetadata*>(data->data);
    parameters.push_back(std::string(traits.light_level) + "=" + std::to_string(light.MaxCLL) + "," +
                         std::to_string(light.MaxFALL));
  }
  return parameters;
}

constexpr int kBest = 100;

/// The scale of the Independent JPEG Group: percent of the standard quantization, of which libavcodec's
/// qscale 8 is 100 %.
int jpeg_scale(int quality) {
  constexpr double kMiddle = 50;
  const double percent = quality < kMiddle ? 5000.0 / quality : 200.0 - 2.0 * quality;
  return static_cast<int>(std::clamp(std::lround(percent * 8 / 100), 1L, 31L));
}

/// Butteraugli distance: 0.5 for 90, which has the PSNR of WebP's quality 90; 15 for 1.
double jxl_distance(int quality) {
  constexpr int kMiddle = 50;
  constexpr double kOfMiddle = 2.5;
  constexpr double kGreatest = 15;
  return quality >= kMiddle ? kOfMiddle * (kBest - quality) / (kBest - kMiddle)
                            : kOfMiddle + (kGreatest - kOfMiddle) * (kMiddle - quality) / (kMiddle - 1);
}

/// libavif's scale of quality, for a greatest quantizer of the encoder.
std::string av1_quantizer(int quality, int greatest) {
  return std::to_string(std::lround((kBest - quality) * greatest / 100.0));
}

int parsed_quality(const std::string& text) {
  const int quality = to_number<int>(text).value_or(0);
  if (quality < 1 || quality > kBest) {
    throw UsageError("--picture-quality is '" + text + "', but must be a whole number from 1 to 100");
  }
  return quality;
}

}  // namespace

const EncoderTraits& traits_of(const AVCodec& codec) {
  static constexpr EncoderTraits kNone;
  const auto* const found = std::ranges::find(kEncoders, codec.name, &EncoderTraits::name);
  return found == kEncoders.end() ? kNone : *found;
}

bool is_jpeg(const AVCodec& codec) {
  return codec.id == AV_CODEC_ID_MJPEG || codec.id == AV_CODEC_ID_LJPEG || codec.id == AV_CODEC_ID_JPEGLS;
}

bool needs_whole_chroma(const AVCodec& codec) {
  return codec.id == AV_CODEC_ID_H264 || codec.id == AV_CODEC_ID_HEVC;
}

bool keeps_full_range(const AVOutputFormat& container, const AVCodec& codec) {
  constexpr std::array kTagged{AV_CODEC_ID_H264,  AV_CODEC_ID_HEVC,  AV_CODEC_ID_VP9,   AV_CODEC_ID_AV1,
                               AV_CODEC_ID_MJPEG, AV_CODEC_ID_LJPEG, AV_CODEC_ID_JPEGLS};
  // Decoders of these codecs report a limited range, whatever the container's tag.
  constexpr std::array kLimited{AV_CODEC_ID_PRORES,     AV_CODEC_ID_DNXHD,   AV_CODEC_ID_MPEG1VIDEO,
                                AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_WEBP};
  return std::ranges::find(kTagged, codec.id) != kTagged.end() ||
         (traits_of(container).range_tag && std::ranges::find(kLimited, codec.id) == kLimited.end());
}

std::string own_parameters(const EncoderTraits& traits, const AVFrame& properties) {
  std::string all = traits.own_parameters;
  if (traits.parameters_option != nullptr) {
    for (const std::string& each : hdr_parameters(traits, properties)) {
      all += (all.empty() ? "" : ":") + each;
    }
  }
  return all;
}

void check_preset_and_crf(const EncoderTraits& traits, const WriterOptions& options) {
  if (traits.parameters_option != nullptr && !options.preset.empty()) {
    check_preset(std::string(traits.name), options.preset);
  }
  if (traits.parameters_option != nullptr && !options.crf.empty()) {
    check_crf(std::string(traits.name), options.crf);
  }
}

void check_bit_rate(const std::string& option, const std::string& rate) {
  constexpr double kLeast = 10000;
  const double value = to_number<double>(rate).value_or(0);
  if (value > 0 && value < kLeast) {
    constexpr double kMegabits = 100;
    throw UsageError(option + " " + rate + " is " + rate + " bits per second; use " + rate +
                     (value < kMegabits && option == "--bitrate" ? "M" : "k"));
  }
}

void check_quality_options(const AVCodec& codec, const AVOutputFormat& container,
                           const WriterOptions& writer) {
  const std::string name = codec.name;
  check_bit_rate("--bitrate", writer.bitrate);
  if (!writer.crf.empty() && !writer.bitrate.empty() && !traits_of(codec).caps_rate) {
    throw UsageError("--crf and --bitrate exclude each other for the encoder " + name +
                     "; -e maxrate=RATE -e bufsize=SIZE limits the bit rate of a CRF");
  }
  if (writer.picture_quality.empty()) {
    return;
  }
  const int quality = parsed_quality(writer.picture_quality);
  if (picture_quality_options(codec, container, quality).empty()) {
    throw UsageError("--picture-quality is for JPEG, WebP, AVIF and JPEG XL, not for the encoder " + name +
                     " in " + container.name);
  }
  if (!writer.crf.empty() || !writer.bitrate.empty()) {
    throw UsageError("--picture-quality excludes --crf and --bitrate");
  }
}

std::vector<std::pair<std::string, std::string>> picture_quality_options(const AVCodec& codec,
                                                                         const AVOutputFormat& container,
                                                                         int quality) {
  using PictureQuality = EncoderTraits::PictureQuality;
  const EncoderTraits& traits = traits_of(codec);
  const auto av1 = [&](const char* key) -> std::vector<std::pair<std::string, std::string>> {
    if (!traits_of(container).is_avif) {
      return {};
    }
    return {{key, av1_quantizer(quality, traits.worst_quantizer)}};
  };
  switch (traits.picture_quality) {
    case PictureQuality::kNone:
      return {};
    case PictureQuality::kJpegScale:
      return {{"flags", "+qscale"},
              {"qmin", "1"},
              {"global_quality", std::to_string(FF_QP2LAMBDA * jpeg_scale(quality))}};
    case PictureQuality::kPercent:
      return {{"quality", std::to_string(quality)}};
    case PictureQuality::kJxlDistance: {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "%.4f", jxl_distance(quality));
      return {{"distance", text.data()}};
    }
    case PictureQuality::kCrf:
      return av1("crf");
    case PictureQuality::kQp:
      return av1("qp");
  }
  return {};
}

}  // namespace limpid::io
