// SPDX-License-Identifier: MIT
#include "tests/oracle/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>

#include "tests/oracle/bm3d.h"

namespace limpid::oracle {
namespace {

// Uniform in (0, 1). The standard does not define the algorithms of its distributions, and a seed must give
// equal numbers everywhere.
double uniform(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 11U) + 0.5) * std::exp2(-53.0);
}

double gaussian(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(uniform(random)));
  return radius * std::cos(2 * std::numbers::pi * uniform(random));
}

// Brightness at a point of the full-size picture, in code values.
double scene(double x, double y, int plane) {
  double value = plane == 0 ? 60 + 0.9 * x + 0.5 * y : 110 + 0.5 * x - 0.4 * y;
  if (std::hypot(x - 20, y - 16) < 11) {
    value += plane == 1 ? -45 : 60;
  }
  if (x + 0.6 * y > 52) {
    value = (plane == 2 ? 150 : 90) + 28 * std::sin(1.1 * x + 0.4 * y);
  }
  if (y > 26 && x < 24) {
    value += std::fmod(std::floor(x / 3) + std::floor(y / 3), 2) == 0 ? 22 : -22;
  }
  return value;
}

template <typename Sample>
bool same_rows(const Plane& a, const Plane& b) {
  for (int y = 0; y < a.height; ++y) {
    if (std::memcmp(a.row<Sample>(y), b.row<Sample>(y), a.width * sizeof(Sample)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

FrameFormat gray(int width, int height, int bit_depth) {
  FrameFormat format;
  format.width = width;
  format.height = height;
  format.bit_depth = bit_depth;
  format.sample_type = bit_depth == 8 ? SampleType::kUint8 : SampleType::kUint16;
  return format;
}

FrameFormat yuv(int width, int height, int chroma_shift_x, int chroma_shift_y, int bit_depth) {
  FrameFormat format = gray(width, height, bit_depth);
  format.color_model = ColorModel::kYuv;
  format.chroma_shift_x = chroma_shift_x;
  format.chroma_shift_y = chroma_shift_y;
  return format;
}

FrameFormat rgb(int width, int height, int bit_depth) {
  FrameFormat format = gray(width, height, bit_depth);
  format.color_model = ColorModel::kRgb;
  return format;
}

FrameFormat as_float(FrameFormat format) {
  format.sample_type = SampleType::kFloat32;
  format.bit_depth = 32;
  return format;
}

FrameFormat as_half(FrameFormat format) {
  format.sample_type = SampleType::kFloat16;
  format.bit_depth = 16;
  return format;
}

Frame draw_picture(const FrameFormat& format) {
  Frame frame = allocate_frame(format);
  for (int plane = 0; plane < format.plane_count(); ++plane) {
    Picture picture{format.plane_width(plane), format.plane_height(plane), {}};
    const bool is_chroma = plane == 1 || plane == 2;
    const int scale_x = is_chroma ? 1 << format.chroma_shift_x : 1;
    const int scale_y = is_chroma ? 1 << format.chroma_shift_y : 1;
    for (int y = 0; y < picture.height; ++y) {
      for (int x = 0; x < picture.width; ++x) {
        picture.samples.push_back(scene(scale_x * (x + 0.5) - 0.5, scale_y * (y + 0.5) - 0.5, plane));
      }
    }
    store(picture, frame, plane);
  }
  return frame;
}

Frame add_noise(const Frame& clean, double sigma, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Frame noisy = allocate_frame(clean.format);
  noisy.interlaced = clean.interlaced;
  for (int plane = 0; plane < clean.format.plane_count(); ++plane) {
    Picture picture = to_picture(clean, plane);
    for (double& sample : picture.samples) {
      sample += plane < clean.format.color_plane_count() ? sigma * gaussian(random) : 0;
    }
    store(picture, noisy, plane);
  }
  return noisy;
}

std::vector<Frame> with_defects(std::vector<Frame> frames) {
  for (Frame& frame : frames) {
    const Plane& plane = frame.planes[0];
    for (int y = 11; y < plane.height; y += 23) {
      for (int x = 9; x < plane.width; x += 29) {
        plane.row<std::uint8_t>(y)[x] = 255;
      }
    }
    for (int y = 30; frame.index % 5 == 4 && y < 34; ++y) {
      std::fill_n(plane.row<std::uint8_t>(y) + 30, 4, std::uint8_t{0});
    }
  }
  return frames;
}

Agreement compare(const Frame& a, const Frame& b) { return compare(std::span(&a, 1), std::span(&b, 1)); }

Agreement compare(std::span<const Frame> a, std::span<const Frame> b) {
  Agreement agreement;
  double energy = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    for (int plane = 0; plane < a[t].format.color_plane_count(); ++plane) {
      const Picture first = to_picture(a[t], plane);
      const Picture second = to_picture(b[t], plane);
      for (std::size_t i = 0; i < first.samples.size(); ++i) {
        const double difference = std::abs(first.samples[i] - second.samples[i]);
        // NaN must not count as agreement.
        agreement.over_one += difference <= 1 ? 0 : 1;
        agreement.greatest = difference <= agreement.greatest ? agreement.greatest : difference;
        energy += difference * difference;
        ++agreement.samples;
      }
    }
  }
  agreement.psnr = energy == 0
                       ? std::numeric_limits<double>::infinity()
                       : 10 * std::log10(255.0 * 255.0 * static_cast<double>(agreement.samples) / energy);
  return agreement;
}

bool within_contract(const Agreement& agreement) {
  return agreement.over_one <= std::max<std::size_t>(agreement.samples / 10000, 4) &&
         agreement.greatest <= 4 && agreement.psnr >= 60;
}

std::string to_string(const Agreement& agreement) {
  std::ostringstream text;
  text << agreement.over_one << " of " << agreement.samples
       << " samples differ by more than a code value, the greatest "
       << "difference is " << agreement.greatest << ", PSNR " << agreement.psnr << " dB";
  return text.str();
}

bool same_bits(const Frame& a, const Frame& b) {
  for (int plane = 0; plane < a.format.plane_count(); ++plane) {
    const bool same = visit_samples(a.format, [&]<typename Sample>(Sample) {
      return same_rows<Sample>(a.planes[plane], b.planes[plane]);
    });
    if (!same) {
      return false;
    }
  }
  return true;
}

}  // namespace limpid::oracle
