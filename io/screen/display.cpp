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

// Rows that one task converts; a multiple of the tiles in which pictures are transposed.
constexpr int kStripRows = 16;
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

// Coded RGB of 0 to 1 in wide gamut or HDR to the display's RGB.
class LightMapper {
 public:
  explicit LightMapper(const DisplayProperties& properties)
      : properties_(properties), curve_(tone_curve(properties)) {}

  void map(float& red, float& green, float& blue) const {
    const auto decode = [&](float code) {
      return decoded_light(code > 0 ? std::min(double{code}, 1.0) : 0.0, properties_.transfer);
    };
    std::array light{decode(red), decode(green), decode(blue)};
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
    red = code(light[0]);
    green = code(light[1]);
    blue = code(light[2]);
  }

 private:
  static constexpr double kLeastLight = 1e-7;
  static double weigh(const float (&weights)[3], const std::array<double, 3>& light) {
    return double{weights[0]} * light[0] + double{weights[1]} * light[1] + double{weights[2]} * light[2];
  }

  DisplayProperties properties_;
  ToneCurve curve_;
};

// Where between two samples of a plane a position lies.
struct Between {
  int first;     // index of the sample before it, -1 if it lies before the first
  float weight;  // of the next sample
};

Between between(int position, double origin, int shift) {
  const double t = (position - origin) / (1 << shift);
  const double floor = std::floor(t);
  return {static_cast<int>(floor), static_cast<float>(t - floor)};
}

void load_row(const Plane& plane, const FrameFormat& format, int y, Normalization normalization, float* out) {
  visit_samples(format, [&]<typename Sample>(Sample) {
    const auto* const samples = plane.row<const Sample>(y);
    for (int x = 0; x < plane.width; ++x) {
      out[x] = (static_cast<float>(samples[x]) - normalization.offset) * normalization.scale;
    }
  });
}

// A value of 0 to 1 as a byte. NaN becomes 0.
inline std::uint32_t to_byte(float value) {
  const float scaled = value * 255.0F + 0.5F;
  const float low = scaled > 0.0F ? scaled : 0.0F;
  const float clamped = low < 255.0F ? low : 255.0F;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(clamped));
}

inline Pixel to_pixel(float r, float g, float b) {
  return 0xFF000000U | to_byte(r) << 16 | to_byte(g) << 8 | to_byte(b);
}

}  // namespace

struct DisplayConverter::State {
  explicit State(int threads) : arena(threads > 0 ? threads : tbb::task_arena::automatic) {
    arena.initialize();  // oneTBB would wait for ever after a failure at the first use
    require_threads(std::min(arena.max_concurrency(), tbb::info::default_concurrency()) - 1);
  }

  // Rows of floats that one task works in.
  struct Scratch {
    explicit Scratch(const State& state)
        : red(state.format.width), green(state.format.width), blue(state.format.width) {
      const int chroma_width = state.format.plane_width(1);
      if (state.format.color_model == ColorModel::kYuv) {
        upper.resize(chroma_width);
        blend.resize(chroma_width + 2);
      }
    }
    std::vector<float> red, green, blue;  // or Y, U and V
    std::vector<float> upper;             // a row of chroma
    std::vector<float> blend;  // a row of chroma at the height of a row of luma, a sample more at both ends
  };

  void chroma_row(const Plane& plane, int y, Scratch& scratch, std::vector<float>& out) const;
  void convert_row(const Frame& frame, int y, Scratch& scratch, Pixel* out) const;
  void convert_strip(const Frame& frame, int first, int last, RgbImage& image) const;

  FrameFormat format;
  DisplayProperties properties;
  Normalization luma;
  Normalization chroma;
  YuvToRgb matrix;
  std::unique_ptr<LightMapper> light;  // none for SDR of BT.709's primaries
  tbb::task_arena arena;
};

// A row of chroma at the positions of row `y` of luma.
void DisplayConverter::State::chroma_row(const Plane& plane, int y, Scratch& scratch,
                                         std::vector<float>& out) const {
  const auto [above, weight] = between(y, properties.chroma_y, format.chroma_shift_y);
  const int upper = std::clamp(above, 0, plane.height - 1);
  const int lower = std::clamp(above + 1, 0, plane.height - 1);
  const bool wide = format.chroma_shift_x > 0;
  float* const row = wide ? scratch.blend.data() + 1 : out.data();
  load_row(plane, format, upper, chroma, row);
  if (weight > 0 && lower != upper) {
    load_row(plane, format, lower, chroma, scratch.upper.data());
    const float* const other = scratch.upper.data();
    for (int x = 0; x < plane.width; ++x) {
      row[x] += weight * (other[x] - row[x]);
    }
  }
  if (!wide) {
    return;
  }
  row[-1] = row[0];
  row[plane.width] = row[plane.width - 1];
  const int factor = 1 << format.chroma_shift_x;
  for (int phase = 0; phase < factor; ++phase) {
    const auto [before, next] = between(phase, properties.chroma_x, format.chroma_shift_x);
    const int count = (format.width - phase + factor - 1) / factor;
    const float* const from = row + std::clamp(before, -1, 0);
    for (int i = 0; i < count; ++i) {
      out[static_cast<std::size_t>(i) * factor + phase] = from[i] + next * (from[i + 1] - from[i]);
    }
  }
}

void DisplayConverter::State::convert_row(const Frame& frame, int y, Scratch& scratch, Pixel* out) const {
  const int width = format.width;
  float* const r = scratch.red.data();
  float* const g = scratch.green.data();
  float* const b = scratch.blue.data();
  load_row(frame.planes[0], format, y, luma, r);
  switch (format.color_model) {
    case ColorModel::kGray:
      std::copy_n(r, width, g);
      std::copy_n(r, width, b);
      break;
    case ColorModel::kRgb:
      load_row(frame.planes[1], format, y, luma, g);
      load_row(frame.planes[2], format, y, luma, b);
      break;
    case ColorModel::kYuv:
      chroma_row(frame.planes[1], y, scratch, scratch.green);
      chroma_row(frame.planes[2], y, scratch, scratch.blue);
      if (light == nullptr) {
        for (int x = 0; x < width; ++x) {
          out[x] = to_pixel(r[x] + matrix.red_v * b[x], r[x] + matrix.green_u * g[x] + matrix.green_v * b[x],
                            r[x] + matrix.blue_u * g[x]);
        }
        return;
      }
      for (int x = 0; x < width; ++x) {
        const float luma_value = r[x];
        const float u = g[x];
        const float v = b[x];
        r[x] = luma_value + matrix.red_v * v;
        g[x] = luma_value + matrix.green_u * u + matrix.green_v * v;
        b[x] = luma_value + matrix.blue_u * u;
      }
      break;
  }
  if (light != nullptr) {
    for (int x = 0; x < width; ++x) {
      light->map(r[x], g[x], b[x]);
    }
  }
  for (int x = 0; x < width; ++x) {
    out[x] = to_pixel(r[x], g[x], b[x]);
  }
}

// Rows first to last - 1 of the stored picture.
void DisplayConverter::State::convert_strip(const Frame& frame, int first, int last, RgbImage& image) const {
  const auto& [transposed, mirrored_x, mirrored_y] = properties.orientation;
  Scratch scratch(*this);
  if (!transposed) {
    for (int y = first; y < last; ++y) {
      Pixel* const row = image.row(mirrored_y ? image.height - 1 - y : y);
      convert_row(frame, y, scratch, row);
      if (mirrored_x) {
        std::reverse(row, row + image.width);
      }
    }
    return;
  }
  std::vector<Pixel> strip(static_cast<std::size_t>(format.width) * (last - first));
  for (int y = first; y < last; ++y) {
    convert_row(frame, y, scratch, strip.data() + static_cast<std::ptrdiff_t>(y - first) * format.width);
  }
  for (int x = 0; x < format.width; ++x) {
    Pixel* const row = image.row(mirrored_y ? image.height - 1 - x : x);
    const Pixel* const column = strip.data() + x;
    for (int y = first; y < last; ++y) {
      row[mirrored_x ? image.width - 1 - y : y] =
          column[static_cast<std::ptrdiff_t>(y - first) * format.width];
    }
  }
}

DisplayConverter::DisplayConverter(const FrameFormat& format, const DisplayProperties& properties,
                                   int threads)
    : state_(std::make_unique<State>(threads)) {
  format.validate("frame");
  state_->format = format;
  state_->properties = properties;
  state_->luma = luma_normalization(format, properties.range);
  state_->chroma = chroma_normalization(format, properties.range);
  state_->matrix = yuv_to_rgb(properties.matrix);
  if (properties.transfer != Transfer::kSdr || properties.wide_gamut) {
    state_->light = std::make_unique<LightMapper>(properties);
  }
}

DisplayConverter::~DisplayConverter() = default;

int DisplayConverter::width() const {
  return state_->properties.orientation.transposed ? state_->format.height : state_->format.width;
}

int DisplayConverter::height() const {
  return state_->properties.orientation.transposed ? state_->format.width : state_->format.height;
}

double DisplayConverter::pixel_aspect() const {
  const double aspect = state_->properties.pixel_aspect;
  return state_->properties.orientation.transposed ? 1 / aspect : aspect;
}

void DisplayConverter::convert(const Frame& frame, RgbImage& image) const {
  if (frame.format != state_->format) {
    throw Error("frame " + std::to_string(frame.index) + " is " + limpid::to_string(frame.format) +
                " instead of " + limpid::to_string(state_->format));
  }
  image.resize(width(), height());
  const int rows = state_->format.height;
  run_in(state_->arena, [&] {
    for_each_index((rows + kStripRows - 1) / kStripRows, 1, [&](int strip) {
      state_->convert_strip(frame, strip * kStripRows, std::min((strip + 1) * kStripRows, rows), image);
    });
  });
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
