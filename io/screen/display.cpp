// SPDX-License-Identifier: MIT
#include "io/screen/display.h"

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <array>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/thread.h"
#include "io/media/libav.h"
#include "io/media/output_file.h"

namespace limpid::io {

void write_png(const std::string& path, const RgbImage& image, Overwrite overwrite) {
  const AVCodec* const codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (codec == nullptr) {
    throw Error(path + ": libavcodec has no encoder for PNG");
  }
  const CodecHandle encoder(avcodec_alloc_context3(codec));
  if (encoder == nullptr) {
    throw Error("out of memory");
  }
  encoder->width = image.width;
  encoder->height = image.height;
  encoder->pix_fmt = AV_PIX_FMT_RGB24;
  encoder->time_base = {1, 1};
  encoder->thread_count = 1;
  check(avcodec_open2(encoder.get(), codec, nullptr), path, "can't encode a picture as PNG");

  const FrameHandle frame = make_frame();
  frame->format = encoder->pix_fmt;
  frame->width = image.width;
  frame->height = image.height;
  check(av_frame_get_buffer(frame.get(), 0), path, "can't allocate a picture");
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* to = frame->data[0] + std::ptrdiff_t{y} * frame->linesize[0];
    for (int x = 0; x < image.width; ++x) {
      const Pixel pixel = image.row(y)[x];
      *to++ = static_cast<std::uint8_t>(red(pixel));
      *to++ = static_cast<std::uint8_t>(green(pixel));
      *to++ = static_cast<std::uint8_t>(blue(pixel));
    }
  }
  const PacketHandle packet = make_packet();
  check(avcodec_send_frame(encoder.get(), frame.get()), path, "can't encode the picture");
  check(avcodec_send_frame(encoder.get(), nullptr), path, "can't encode the picture");
  check(avcodec_receive_packet(encoder.get(), packet.get()), path, "can't encode the picture");

  OutputFile file(path, "", overwrite);
  avio_write(file.bytes(), packet->data, packet->size);
  file.commit();
}

namespace {

// Light, in cd/m2, of a PQ code value of 0 to 1 (SMPTE ST 2084).
double pq_light(double value) {
  constexpr double kM1 = 2610.0 / 16384;
  constexpr double kM2 = 2523.0 / 4096 * 128;
  constexpr double kC1 = 3424.0 / 4096;
  constexpr double kC2 = 2413.0 / 4096 * 32;
  constexpr double kC3 = 2392.0 / 4096 * 32;
  const double power = std::pow(value, 1 / kM2);
  return 10000 * std::pow(std::max(power - kC1, 0.0) / (kC2 - kC3 * power), 1 / kM1);
}

// Light of the scene, 0 to 1, of an HLG code value (ARIB STD-B67).
double hlg_scene_light(double value) {
  constexpr double kA = 0.17883277;
  constexpr double kB = 0.28466892;
  constexpr double kC = 0.55991073;
  return value <= 0.5 ? value * value / 3 : (std::exp((value - kC) / kA) + kB) / 12;
}

// Light of a code value of 0 to 1, 1 being the reference white; of the scene for HLG.
double decoded_light(double code, Transfer transfer) {
  switch (transfer) {
    case Transfer::kSdr:
      return std::pow(code, kDisplayGamma);
    case Transfer::kPq:
      return pq_light(code) / kReferenceWhite;
    case Transfer::kHlg:
      return hlg_scene_light(code);
  }
  return 0;
}

using Rgb = std::array<float, 3>;

// Coded RGB of 0 to 1 in wide gamut or HDR to the display's RGB.
class LightMapper {
 public:
  explicit LightMapper(const DisplayProperties& properties)
      : properties_(properties), curve_(tone_curve(properties)) {}

  Rgb map(const Rgb& coded) const {
    const auto decode = [&](float code) {
      return decoded_light(code > 0 ? std::min(double{code}, 1.0) : 0.0, properties_.transfer);
    };
    std::array light{decode(coded[0]), decode(coded[1]), decode(coded[2])};
    if (properties_.transfer == Transfer::kHlg) {
      const double luminance = weigh(kLuminance2020, light);
      const double gain = properties_.peak / kReferenceWhite *
                          std::pow(std::clamp(luminance, kLeastLight, 1.0), hlg_exponent(properties_.peak));
      std::ranges::for_each(light, [&](double& each) { each *= gain; });
    }
    if (properties_.wide_gamut) {
      light = {weigh(kToBt709[0], light), weigh(kToBt709[1], light), weigh(kToBt709[2], light)};
    }
    // All three by the same factor, which keeps the hue.
    const double largest = std::clamp(*std::ranges::max_element(light), kLeastLight, curve_.peak);
    const double gain = curve_(largest) / largest;
    const auto code = [&](double each) {
      return static_cast<float>(std::pow(std::clamp(each * gain, 0.0, 1.0), 1 / kDisplayGamma));
    };
    return {code(light[0]), code(light[1]), code(light[2])};
  }

 private:
  static constexpr double kLeastLight = 1e-7;
  static double weigh(const float (&weights)[3], const std::array<double, 3>& light) {
    return double{weights[0]} * light[0] + double{weights[1]} * light[1] + double{weights[2]} * light[2];
  }

  DisplayProperties properties_;
  ToneCurve curve_;
};

// A frame's code values as RGB.
template <typename Sample>
class CodedPicture {
 public:
  CodedPicture(const Frame& frame, const DisplayProperties& properties)
      : frame_(frame),
        properties_(properties),
        luma_(luma_normalization(frame.format, properties.range)),
        chroma_(chroma_normalization(frame.format, properties.range)),
        matrix_(yuv_to_rgb(properties.matrix)) {}

  // At a pixel of the stored picture.
  Rgb at(int x, int y) const {
    const float first = value(0, x, y, luma_);
    switch (frame_.format.color_model) {
      case ColorModel::kGray:
        return {first, first, first};
      case ColorModel::kRgb:
        return {first, value(1, x, y, luma_), value(2, x, y, luma_)};
      case ColorModel::kYuv:
        break;
    }
    const float u = chroma(1, x, y);
    const float v = chroma(2, x, y);
    return {first + matrix_.red_v * v, first + matrix_.green_u * u + matrix_.green_v * v,
            first + matrix_.blue_u * u};
  }

 private:
  float value(int plane, int x, int y, const Normalization& normalization) const {
    const auto sample = static_cast<float>(frame_.planes[plane].template row<const Sample>(y)[x]);
    return (sample - normalization.offset) * normalization.scale;
  }
  // Interpolates between value_at(i) and value_at(i + 1) at a position of luma.
  template <typename ValueAt>
  static float interpolate(int position, double origin, int shift, const ValueAt& value_at) {
    const double t = (position - origin) / (1 << shift);
    const double before = std::floor(t);
    const auto weight = static_cast<float>(t - before);
    const float first = value_at(static_cast<int>(before));
    return weight > 0 ? first + weight * (value_at(static_cast<int>(before) + 1) - first) : first;
  }
  float chroma(int number, int x, int y) const {
    const Plane& plane = frame_.planes[number];
    const FrameFormat& format = frame_.format;
    const auto in_column = [&](int column) {
      return interpolate(y, properties_.chroma_y, format.chroma_shift_y, [&](int row) {
        return value(number, std::clamp(column, 0, plane.width - 1), std::clamp(row, 0, plane.height - 1),
                     chroma_);
      });
    };
    return format.chroma_shift_x > 0 ? interpolate(x, properties_.chroma_x, format.chroma_shift_x, in_column)
                                     : in_column(x);
  }

  const Frame& frame_;
  const DisplayProperties& properties_;
  const Normalization luma_;
  const Normalization chroma_;
  const YuvToRgb matrix_;
};

// A value of 0 to 1 as a byte. NaN becomes 0.
inline std::uint32_t to_byte(float value) {
  const float scaled = value * 255.0F + 0.5F;
  const float low = scaled > 0.0F ? scaled : 0.0F;
  const float clamped = low < 255.0F ? low : 255.0F;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(clamped));
}

}  // namespace

RgbImage screen_picture(const Frame& frame, const DisplayProperties& properties) {
  const auto& turn = properties.orientation;
  const FrameFormat& format = frame.format;
  const bool maps_light = properties.transfer != Transfer::kSdr || properties.wide_gamut;
  const LightMapper light(properties);
  RgbImage image;
  image.resize(turn.transposed ? format.height : format.width,
               turn.transposed ? format.width : format.height);
  tbb::task_arena arena;
  arena.initialize();  // oneTBB would wait for ever after a failure at the first use
  require_threads(std::min(arena.max_concurrency(), tbb::info::default_concurrency()) - 1);
  visit_samples(format, [&]<typename Sample>(Sample) {
    const CodedPicture<Sample> picture(frame, properties);
    const auto convert_row = [&](int row) {
      for (int column = 0; column < image.width; ++column) {
        int x = turn.mirrored_x ? image.width - 1 - column : column;
        int y = turn.mirrored_y ? image.height - 1 - row : row;
        if (turn.transposed) {
          std::swap(x, y);
        }
        const Rgb coded = picture.at(x, y);
        const auto [red, green, blue] = maps_light ? light.map(coded) : coded;
        image.row(row)[column] = 0xFF000000U | to_byte(red) << 16 | to_byte(green) << 8 | to_byte(blue);
      }
    };
    run_in(arena, [&] { for_each_index(image.height, 1, convert_row); });
  });
  return image;
}

std::string to_string(const DisplayProperties& properties, ColorModel color_model) {
  std::string text;
  if (color_model == ColorModel::kYuv) {
    text = properties.matrix == ColorMatrix::kBt601    ? "BT.601 "
           : properties.matrix == ColorMatrix::kBt2020 ? "BT.2020 "
                                                       : "BT.709 ";
  }
  text += properties.range == ColorRange::kLimited ? "limited" : "full range";
  switch (properties.transfer) {
    case Transfer::kSdr:
      return text + (properties.wide_gamut ? ", wide gamut clipped" : "");
    case Transfer::kPq:
      return text + ", HDR (PQ) tone-mapped";
    case Transfer::kHlg:
      return text + ", HDR (HLG) tone-mapped";
  }
  return text;
}

}  // namespace limpid::io
