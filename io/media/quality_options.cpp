// SPDX-License-Identifier: MIT
#include "io/media/quality_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "io/media/container.h"
#include "io/media/encoder_traits.h"

namespace limpid::io {
namespace {

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
  int quality = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), quality);
  if (code != std::errc() || end != text.data() + text.size() || quality < 1 || quality > kBest) {
    throw UsageError("--picture-quality is '" + text + "', but must be a whole number from 1 to 100");
  }
  return quality;
}

}  // namespace

void check_bit_rate(const std::string& option, const std::string& rate) {
  constexpr double kLeast = 10000;
  double value = 0;
  const auto [end, code] = std::from_chars(rate.data(), rate.data() + rate.size(), value);
  const bool is_number = code == std::errc() && end == rate.data() + rate.size();
  if (is_number && value > 0 && value < kLeast) {
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
