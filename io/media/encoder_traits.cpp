// SPDX-License-Identifier: MIT
#include "io/media/encoder_traits.h"

extern "C" {
#include <libavutil/mastering_display_metadata.h>
}

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/base/error.h"
#include "io/media/container.h"

namespace limpid::io {
namespace {

/// An encoder needs a row if it differs from the default.
constexpr std::array kEncoders{
    EncoderTraits{.name = "libx264",
                  .joins_segments = true,
                  .stores_stereo = true,
                  .parameters_option = "x264-params",
                  .mastering_display = "mastering-display",
                  .light_level = "cll"},
    // x265 prints to stderr unless its log is off.
    EncoderTraits{.name = "libx265",
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
    EncoderTraits{.name = "libvpx", .caps_rate = true},
    EncoderTraits{.name = "libvpx-vp9", .caps_rate = true},
    // The default of libaom takes a second for each small frame.
    EncoderTraits{.name = "libaom-av1",
                  .instead_of_preset = {{{"cpu-used", "6"}, {"row-mt", "1"}}},
                  .picture_quality = EncoderTraits::PictureQuality::kCrf,
                  .worst_quantizer = 63,
                  .caps_rate = true},
    EncoderTraits{.name = "libsvtav1",
                  .picture_quality = EncoderTraits::PictureQuality::kCrf,
                  .worst_quantizer = 63,
                  .hangs_without_frames = true},
    EncoderTraits{
        .name = "librav1e", .picture_quality = EncoderTraits::PictureQuality::kQp, .worst_quantizer = 255},
    // 2 is the finest quantizer of libavcodec's default range.
    EncoderTraits{.name = "mpeg4", .quantizer = 2},
    EncoderTraits{.name = "mpeg2video", .quantizer = 2, .stores_stereo = true},
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
  double value = -1;
  const auto [end, code] = std::from_chars(crf.data(), crf.data() + crf.size(), value);
  if (code != std::errc() || end != crf.data() + crf.size() || !(value >= 0 && value <= kWorst)) {
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

}  // namespace limpid::io
