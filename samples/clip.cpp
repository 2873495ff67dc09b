// SPDX-License-Identifier: MIT
#include "samples/clip.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <ostream>
#include <thread>

#include "samples/random.h"
#include "samples/scene.h"

namespace limpid::samples {
namespace {

struct RealPlane {
  RealPlane(int plane_width, int plane_height)
      : width(plane_width),
        height(plane_height),
        samples(static_cast<std::size_t>(plane_width) * plane_height) {}
  float* row(int y) { return samples.data() + static_cast<std::size_t>(y) * width; }
  const float* row(int y) const { return samples.data() + static_cast<std::size_t>(y) * width; }

  int width;
  int height;
  std::vector<float> samples;
};

void for_each_row(int rows, const std::function<void(int)>& work) {
  std::atomic<int> next = 0;
  const auto run = [&] {
    for (int y = next++; y < rows; y = next++) {
      work(y);
    }
  };
  std::vector<std::jthread> helpers;
  for (unsigned n = 1; n < std::thread::hardware_concurrency(); ++n) {
    helpers.emplace_back(run);
  }
  run();
}

// Chroma at half the width, sited on the even luma columns: weights 1/4, 1/2, 1/4.
RealPlane halve_width(const RealPlane& plane) {
  RealPlane half((plane.width + 1) / 2, plane.height);
  for (int y = 0; y < half.height; ++y) {
    const float* const row = plane.row(y);
    for (int x = 0; x < half.width; ++x) {
      const float left = row[std::max(2 * x - 1, 0)];
      const float right = row[std::min(2 * x + 1, plane.width - 1)];
      half.row(y)[x] = 0.25F * (left + right) + 0.5F * row[2 * x];
    }
  }
  return half;
}

// Chroma at half the height, sited between the luma rows.
RealPlane halve_height(const RealPlane& plane) {
  RealPlane half(plane.width, (plane.height + 1) / 2);
  for (int y = 0; y < half.height; ++y) {
    const float* const upper = plane.row(2 * y);
    const float* const lower = plane.row(std::min(2 * y + 1, plane.height - 1));
    for (int x = 0; x < half.width; ++x) {
      half.row(y)[x] = 0.5F * (upper[x] + lower[x]);
    }
  }
  return half;
}

std::uint16_t to_sample(double value, int depth) {
  const double greatest = (1 << depth) - 1;
  return static_cast<std::uint16_t>(std::floor(std::clamp(value, 0.0, greatest) + 0.5));
}

SamplePlane quantize(const RealPlane& plane, int depth) {
  SamplePlane result{plane.width, plane.height, {}};
  result.samples.reserve(plane.samples.size());
  const float scale = depth == 8 ? 1.0F : 4.0F;
  for (const float value : plane.samples) {
    result.samples.push_back(to_sample(value * scale, depth));
  }
  return result;
}

}  // namespace

Picture render(const Clip& clip, int index) {
  std::vector<RealPlane> planes(3, RealPlane(clip.width, clip.height));
  const int scene = index < clip.cut() ? 0 : 1;
  const float time = static_cast<float>(index) / static_cast<float>(clip.frames_per_second);
  const float pixel = 1.0F / static_cast<float>(clip.height);
  for_each_row(clip.height, [&](int y) {
    for (int x = 0; x < clip.width; ++x) {
      const Point point{(static_cast<float>(x) + 0.5F - 0.5F * static_cast<float>(clip.width)) * pixel,
                        (static_cast<float>(y) + 0.5F) * pixel};
      const Color color = scene_color(scene, point, time, pixel);
      const float luma = 0.2126F * color.red + 0.7152F * color.green + 0.0722F * color.blue;
      planes[0].row(y)[x] = 16 + 219 * luma;
      planes[1].row(y)[x] = 128 + 224 * (color.blue - luma) / 1.8556F;
      planes[2].row(y)[x] = 128 + 224 * (color.red - luma) / 1.5748F;
    }
  });
  Picture picture{quantize(planes[0], clip.depth)};
  if (clip.chroma == Chroma::kGray) {
    return picture;
  }
  for (int p = 1; p < 3; ++p) {
    RealPlane plane = std::move(planes[p]);
    if (clip.chroma != Chroma::k444) {
      plane = halve_width(plane);
    }
    if (clip.chroma == Chroma::k420) {
      plane = halve_height(plane);
    }
    picture.push_back(quantize(plane, clip.depth));
  }
  return picture;
}

Picture add_noise(const Picture& clean, const Clip& clip, int index) {
  Picture noisy = clean;
  for (std::size_t p = 0; p < noisy.size(); ++p) {
    SamplePlane& plane = noisy[p];
    const double deviation = (p == 0 ? clip.sigma : clip.chroma_sigma) * (1 << (clip.depth - 8));
    for_each_row(plane.height, [&](int y) {
      // Every row has its own generator, so that the order of rows does not matter.
      const std::uint64_t row_number = (static_cast<std::uint64_t>(index) * 3 + p) << 32U | y;
      Random random(mix_bits(clip.seed) + row_number);
      const std::size_t begin = static_cast<std::size_t>(y) * plane.width;
      for (std::size_t i = begin; i < begin + plane.width; ++i) {
        plane.samples[i] = to_sample(plane.samples[i] + deviation * random.gaussian(), clip.depth);
      }
    });
  }
  return noisy;
}

void write_y4m_header(std::ostream& out, const Clip& clip) {
  const std::string suffix = clip.depth == 8 ? "" : "p10";
  std::string colorspace;
  switch (clip.chroma) {
    case Chroma::kGray:
      colorspace = clip.depth == 8 ? "mono" : "mono10";
      break;
    case Chroma::k420:
      colorspace = clip.depth == 8 ? "420mpeg2" : "420p10";
      break;
    case Chroma::k422:
      colorspace = "422" + suffix;
      break;
    case Chroma::k444:
      colorspace = "444" + suffix;
      break;
  }
  out << "YUV4MPEG2 W" << clip.width << " H" << clip.height << " F" << clip.frames_per_second
      << ":1 Ip A1:1 C" << colorspace << " XCOLORRANGE=LIMITED\n";
}

void write_y4m_frame(std::ostream& out, const Picture& picture, const Clip& clip) {
  out << "FRAME\n";
  std::string bytes;
  for (const SamplePlane& plane : picture) {
    bytes.clear();
    for (const std::uint16_t sample : plane.samples) {
      bytes.push_back(static_cast<char>(sample & 0xffU));
      if (clip.depth > 8) {
        bytes.push_back(static_cast<char>(sample >> 8U));
      }
    }
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace limpid::samples
