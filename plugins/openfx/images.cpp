// SPDX-License-Identifier: MIT
#include "plugins/openfx/images.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "plugins/shared/denoiser.h"

namespace limpid::openfx {
namespace {

// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;
};

double value_of(std::uint8_t sample) { return sample; }
double value_of(std::uint16_t sample) { return sample; }
double value_of(float sample) { return static_cast<double>(sample); }
double value_of(Half sample) {
  const int exponent = sample.bits >> 10 & 31;
  const int fraction = sample.bits & 1023;
  const double size = exponent == 31  ? fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                      : std::numeric_limits<double>::infinity()
                       : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return (sample.bits & 0x8000) != 0 ? -size : size;
}

Half half_of(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
  const double size = std::abs(value);
  constexpr double kOverflow = 65520;
  if (!(size < kOverflow)) {
    return {static_cast<std::uint16_t>(sign | (std::isnan(value) ? 0x7e00U : 0x7c00U))};
  }
  constexpr int kLeastExponent = -14;
  const int exponent = size == 0 ? kLeastExponent : std::max(std::ilogb(size), kLeastExponent);
  // The fraction with its leading 1, which carries to the exponent.
  const auto fraction = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return {static_cast<std::uint16_t>(sign |
                                     ((static_cast<unsigned>(exponent - kLeastExponent) << 10) + fraction))};
}

template <typename Sample>
Sample sample_of(double value) {
  if constexpr (std::is_same_v<Sample, Half>) {
    return half_of(value);
  } else if constexpr (std::is_same_v<Sample, float>) {
    return static_cast<float>(value);
  } else {
    constexpr double kMost = std::numeric_limits<Sample>::max();
    return static_cast<Sample>(std::clamp(std::nearbyint(value), 0.0, kMost));
  }
}

// The value of an opaque alpha.
template <typename Sample>
constexpr double kOpaqueAlpha =
    std::is_integral_v<Sample>
        ? std::numeric_limits<std::conditional_t<std::is_integral_v<Sample>, Sample, int>>::max()
        : 1;

template <typename Function>
void with_sample_type(limpid_sample_type type, Function function) {
  switch (type) {
    case LIMPID_UINT8:
      return function(std::uint8_t{});
    case LIMPID_UINT16:
      return function(std::uint16_t{});
    case LIMPID_FLOAT16:
      return function(Half{});
    case LIMPID_FLOAT32:
      return function(0.0F);
  }
}

abi::Rectangle common_part(const abi::Rectangle& a, const abi::Rectangle& b) {
  const abi::Rectangle part{std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2),
                            std::min(a.y2, b.y2)};
  return part.x1 < part.x2 && part.y1 < part.y2 ? part : abi::Rectangle{};
}

// Divides the colors of RGBA pixels by alpha.
template <typename Sample>
void unpremultiply(std::byte* row, int width) {
  auto* sample = reinterpret_cast<Sample*>(row);
  for (int x = 0; x < width; ++x, sample += 4) {
    const double alpha = value_of(sample[3]) / kOpaqueAlpha<Sample>;
    if (alpha > 0 && alpha != 1) {
      std::transform(sample, sample + 3, sample,
                     [alpha](Sample color) { return sample_of<Sample>(value_of(color) / alpha); });
    }
  }
}

// A row of a result, whose planes are apart or interleaved. `source` is the row's first pixel if the source
// is premultiplied, and null otherwise.
template <typename Sample>
void write_row(const limpid_frame& result, int row, int first, const Sample* source, Sample* out, int width,
               int channels) {
  const Sample* in[4]{};
  int step[4]{};
  for (int c = 0; c < channels; ++c) {
    const limpid_plane& plane = result.planes[c];
    step[c] = std::max(plane.sample_stride, 1);
    in[c] = reinterpret_cast<const Sample*>(static_cast<const std::byte*>(plane.data) + row * plane.stride) +
            std::ptrdiff_t{first} * step[c];
  }
  for (int x = 0; x < width; ++x, out += channels) {
    const double alpha = source == nullptr ? 1 : value_of(source[4 * x + 3]) / kOpaqueAlpha<Sample>;
    for (int c = 0; c < channels; ++c) {
      const Sample sample = in[c][x * step[c]];
      out[c] = alpha == 1 || c == 3 ? sample
               : alpha > 0          ? sample_of<Sample>(value_of(sample) * alpha)
                                    : source[4 * x + c];
    }
  }
}

// A hash of bounds, layout, premultiplication, fields and every `step`th row.
std::uint64_t hash_of(const Image& image, int step) {
  const Pixels& pixels = image.pixels();
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  constexpr std::size_t kLanes = 4;
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  const auto add = [&](const void* data, std::size_t size) {
    std::uint64_t words[kLanes]{};
    std::memcpy(words, data, size);
    for (std::size_t l = 0; l < kLanes; ++l) {
      lanes[l] = (lanes[l] ^ words[l]) * kFactor;
      lanes[l] ^= lanes[l] >> 32;
    }
  };
  add(&pixels.bounds, sizeof pixels.bounds);
  const std::size_t row_size =
      static_cast<std::size_t>(pixels.width() * pixels.layout.channels) * sample_bytes(pixels.layout.type);
  for (int y = pixels.bounds.y1; y < pixels.bounds.y2; y += step) {
    const std::byte* const row = pixels.row(y);
    for (std::size_t at = 0; at < row_size; at += sizeof lanes) {
      add(row + at, std::min(row_size - at, sizeof lanes));
    }
  }
  std::uint64_t hash = 0;
  for (const int trait : {pixels.layout.channels, static_cast<int>(pixels.layout.type),
                          image.is_premultiplied() ? 1 : 0, image.is_interlaced() ? 1 : 0}) {
    hash = 8 * hash + static_cast<std::uint64_t>(trait);
  }
  for (const std::uint64_t lane : lanes) {
    hash = (hash ^ lane) * kFactor;
    hash ^= hash >> 29;
  }
  return hash;
}
constexpr int kSomeRows = 16;

Layout layout_of(const Properties& image) {
  const std::string components = image.text(abi::property::kComponents);
  const std::string depth = image.text(abi::property::kDepth);
  Layout layout;
  layout.channels = components == abi::kRgba    ? 4
                    : components == abi::kRgb   ? 3
                    : components == abi::kAlpha ? 1
                                                : 0;
  layout.type = depth == abi::kByte    ? LIMPID_UINT8
                : depth == abi::kShort ? LIMPID_UINT16
                : depth == abi::kHalf  ? LIMPID_FLOAT16
                                       : LIMPID_FLOAT32;
  if (layout.channels == 0 || (layout.type == LIMPID_FLOAT32 && depth != abi::kFloat)) {
    throw Failure(abi::kUnsupported,
                  "images of " + components + ", " + depth +
                      " are not supported; use RGBA, RGB or alpha of 8 or 16 bits, half or float");
  }
  return layout;
}

// Sets the columns x1 to x2 - 1 of a row to 0.
void clear(const Pixels& out, int y, int x1, int x2) {
  if (x1 < x2) {
    std::memset(out.pixel(x1, y), 0, static_cast<std::size_t>(x2 - x1) * out.pixel_bytes());
  }
}

// The part of `out` that `source` has. Sets the rest of the part to 0. Throws Failure if the images differ in
// layout.
abi::Rectangle written_part(const Pixels& source, const Pixels& out, const abi::Rectangle& part) {
  if (source.layout != out.layout) {
    throw Failure(abi::kUnsupported, "the output must have the components and the bit depth of the source");
  }
  const abi::Rectangle all = common_part(part, out.bounds);
  const abi::Rectangle area = common_part(all, source.bounds);
  for (int y = all.y1; y < all.y2; ++y) {
    if (y < area.y1 || y >= area.y2) {
      clear(out, y, all.x1, all.x2);
    } else {
      clear(out, y, all.x1, area.x1);
      clear(out, y, area.x2, all.x2);
    }
  }
  return area;
}

}  // namespace

std::size_t sample_bytes(limpid_sample_type type) {
  return type == LIMPID_UINT8 ? 1 : type == LIMPID_FLOAT32 ? 4 : 2;
}

std::optional<Image> Image::fetch(abi::Clip clip, double time) {
  abi::Properties image = nullptr;
  const abi::Status status = suites().effect->image(clip, time, nullptr, &image);
  if (status == abi::kFailed || (status == abi::kOk && image == nullptr)) {
    return std::nullopt;
  }
  check(status, "the host cannot give the image at frame " + plugins::text_of(time));
  return Image(image);
}

Image::Image(abi::Properties image) : handle_(image), properties_(image) {
  try {
    int bounds[4];
    for (int i = 0; int& bound : bounds) {
      bound = properties_.whole(abi::property::kBounds, i++);
    }
    pixels_ = {static_cast<std::byte*>(properties_.pointer(abi::property::kData)),
               properties_.whole(abi::property::kRowBytes),
               {bounds[0], bounds[1], bounds[2], bounds[3]},
               layout_of(properties_)};
    if (pixels_.lowest_row == nullptr || pixels_.width() <= 0 || pixels_.height() <= 0) {
      throw Failure(abi::kFailed, "the host's image has no samples");
    }
    const std::size_t row_size = static_cast<std::size_t>(pixels_.width()) * pixels_.pixel_bytes();
    if (static_cast<std::size_t>(std::abs(pixels_.row_bytes)) < row_size) {
      throw Failure(abi::kFailed, "the host's image has rows of " + std::to_string(pixels_.row_bytes) +
                                      " bytes; its pixels need " + std::to_string(row_size));
    }
  } catch (...) {
    suites().effect->release_image(handle_);
    throw;
  }
}

Image::Image(Image&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      properties_(other.properties_),
      pixels_(other.pixels_) {}

Image::~Image() {
  if (handle_ != nullptr) {
    suites().effect->release_image(handle_);
  }
}

bool Image::is_premultiplied() const {
  return pixels_.layout.channels == 4 &&
         properties_.text(abi::property::kPremultiplication) == abi::kPremultiplied;
}

bool Image::is_interlaced() const { return properties_.text(abi::property::kField) == abi::kFieldBoth; }

Framed::Framed(Image image, const abi::Rectangle& bounds)
    : is_interlaced_(image.is_interlaced()), pixels_(image.pixels()) {
  const bool is_inside = common_part(image.pixels().bounds, bounds) == bounds;
  pixels_.bounds = bounds;
  if (is_inside && !image.is_premultiplied()) {
    pixels_.lowest_row = image.pixels().pixel(bounds.x1, bounds.y1);
    image_.emplace(std::move(image));
  } else {
    copy_from(image);
  }
}

Framed::Framed(const Layout& layout, const abi::Rectangle& bounds)
    : is_interlaced_(false),
      pixels_{.lowest_row = nullptr, .row_bytes = 0, .bounds = bounds, .layout = layout} {
  allocate();
}

void Framed::allocate() {
  pixels_.row_bytes =
      static_cast<std::ptrdiff_t>(static_cast<std::size_t>(pixels_.width()) * pixels_.pixel_bytes());
  samples_.resize(static_cast<std::size_t>(pixels_.row_bytes) * static_cast<std::size_t>(pixels_.height()));
  pixels_.lowest_row = samples_.data();
}

void Framed::copy_from(const Image& image) {
  const Pixels& from = image.pixels();
  allocate();
  const abi::Rectangle part = common_part(from.bounds, pixels_.bounds);
  const int width = part.x2 - part.x1;
  for (int y = part.y1; y < part.y2; ++y) {
    std::byte* const to = pixels_.pixel(part.x1, y);
    std::memcpy(to, from.pixel(part.x1, y), static_cast<std::size_t>(width) * from.pixel_bytes());
    if (image.is_premultiplied()) {
      with_sample_type(from.layout.type, [&](auto sample) { unpremultiply<decltype(sample)>(to, width); });
    }
  }
}

limpid_format format_of(const Pixels& pixels) {
  const Layout& layout = pixels.layout;
  return {.struct_size = sizeof(limpid_format),
          .width = pixels.width(),
          .height = pixels.height(),
          .color_model = layout.channels == 1 ? LIMPID_GRAY : LIMPID_RGB,
          .chroma_shift_x = 0,
          .chroma_shift_y = 0,
          .sample_type = layout.type,
          .bit_depth = static_cast<std::int32_t>(8 * sample_bytes(layout.type)),
          .has_alpha = layout.channels == 4 ? 1 : 0};
}

limpid_frame frame_of(const Pixels& pixels) {
  limpid_frame frame{};
  frame.struct_size = sizeof frame;
  std::byte* const highest = pixels.row(pixels.bounds.y2 - 1);
  for (int c = 0; c < pixels.layout.channels; ++c) {
    frame.planes[c] = {highest + static_cast<std::size_t>(c) * sample_bytes(pixels.layout.type),
                       -pixels.row_bytes, pixels.layout.channels};
  }
  return frame;
}

void write_result(const limpid_frame& result, const Image& source, const Image& out,
                  const abi::Rectangle& part) {
  const Pixels& from = source.pixels();
  const Pixels& to = out.pixels();
  const abi::Rectangle area = written_part(from, to, part);
  with_sample_type(to.layout.type, [&]<typename Sample>(Sample) {
    for (int y = area.y1; y < area.y2; ++y) {
      const auto* const colors =
          source.is_premultiplied() ? reinterpret_cast<const Sample*>(from.pixel(area.x1, y)) : nullptr;
      write_row<Sample>(result, from.bounds.y2 - 1 - y, area.x1 - from.bounds.x1, colors,
                        reinterpret_cast<Sample*>(to.pixel(area.x1, y)), area.x2 - area.x1,
                        to.layout.channels);
    }
  });
}

void write_source(const Image& source, const Image& out, const abi::Rectangle& part) {
  const Pixels& from = source.pixels();
  const Pixels& to = out.pixels();
  const abi::Rectangle area = written_part(from, to, part);
  for (int y = area.y1; y < area.y2; ++y) {
    std::memcpy(to.pixel(area.x1, y), from.pixel(area.x1, y),
                static_cast<std::size_t>(area.x2 - area.x1) * from.pixel_bytes());
  }
}

Fingerprint::Fingerprint(const std::optional<Image>& image) : is_missing_(!image) {
  if (image) {
    identifier_ = image->properties().text(abi::property::kIdentifier);
    some_rows_ = hash_of(*image, kSomeRows);
    all_rows_ = hash_of(*image, 1);
  }
}

bool Fingerprint::operator==(const std::optional<Image>& image) const {
  if (is_missing_ || !image) {
    return is_missing_ && !image;
  }
  const bool has_identifier =
      !identifier_.empty() && identifier_ == image->properties().text(abi::property::kIdentifier);
  return has_identifier ? some_rows_ == hash_of(*image, kSomeRows) : all_rows_ == hash_of(*image, 1);
}

}  // namespace limpid::openfx
