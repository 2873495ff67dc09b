// SPDX-License-Identifier: MIT
#include "io/media/quality_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "core/base/error.h"

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

/// True for encoders that use a bit rate beside a CRF as an upper limit.
bool caps_rate(const AVCodec& codec) {
  constexpr std::array<std::string_view, 3> kNames{"libvpx", "libvpx-vp9", "libaom-av1"};
  return std::ranges::find(kNames, codec.name) != kNames.end();
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
  if (!writer.crf.empty() && !writer.bitrate.empty() && !caps_rate(codec)) {
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
  const std::string_view name = codec.name;
  if (name == "mjpeg") {
    return {{"flags", "+qscale"},
            {"qmin", "1"},
            {"global_quality", std::to_string(FF_QP2LAMBDA * jpeg_scale(quality))}};
  }
  if (name == "libwebp" || name == "libwebp_anim") {
    return {{"quality", std::to_string(quality)}};
  }
  if (name == "libjxl") {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4f", jxl_distance(quality));
    return {{"distance", text.data()}};
  }
  if (container.name != std::string_view("avif")) {
    return {};
  }
  constexpr int kAom = 63;
  constexpr int kRav1e = 255;
  return name == "libaom-av1" || name == "libsvtav1"
             ? std::vector{std::pair<std::string, std::string>("crf", av1_quantizer(quality, kAom))}
         : name == "librav1e"
             ? std::vector{std::pair<std::string, std::string>("qp", av1_quantizer(quality, kRav1e))}
             : std::vector<std::pair<std::string, std::string>>();
}

}  // namespace limpid::io
