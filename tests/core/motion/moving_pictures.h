// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "core/frame/frame.h"
#include "cpu/runtime/planes.h"
#include "tests/oracle/motion.h"
#include "tests/oracle/samples.h"

// Pictures with known motion.

namespace limpid::test {

// An endless texture without repetition: random values at the points of lattices of three sizes, linearly
// interpolated. From 8 to 248 code values.
inline double endless_texture(int x, int y, unsigned seed = 0) {
  const auto value_at = [&](int column, int row, int size) {
    std::uint32_t hash = 0x9E3779B9U * static_cast<std::uint32_t>(column) ^
                         0x85EBCA6BU * static_cast<std::uint32_t>(row) ^
                         0xC2B2AE35U * static_cast<std::uint32_t>(size + 64 * seed);
    hash = (hash ^ hash >> 15U) * 0x2C1B3C6DU;
    hash = (hash ^ hash >> 12U) * 0x297A2D39U;
    return static_cast<double>(hash >> 16U) / 65536 - 0.5;
  };
  double value = 128;
  for (const int size : {3, 11, 37}) {
    const double u = static_cast<double>(x) / size;
    const double v = static_cast<double>(y) / size;
    const int column = static_cast<int>(std::floor(u));
    const int row = static_cast<int>(std::floor(v));
    const double across = u - column;
    const double along = v - row;
    const double above =
        value_at(column, row, size) * (1 - across) + value_at(column + 1, row, size) * across;
    const double below =
        value_at(column, row + 1, size) * (1 - across) + value_at(column + 1, row + 1, size) * across;
    value += 80 * (above * (1 - along) + below * along);
  }
  return value;
}

// A picture of scene(x, y), in code values, with Gaussian noise, rounded and clipped.
template <typename Scene>
oracle::BytePicture draw(int width, int height, const Scene& scene, double sigma = 0, unsigned seed = 1) {
  oracle::BytePicture picture = {width, height, {}};
  std::mt19937 generator(seed);
  std::normal_distribution<double> gaussian;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double value = scene(x, y) + (sigma > 0 ? sigma * gaussian(generator) : 0);
      picture.samples.push_back(static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L)));
    }
  }
  return picture;
}

// The picture as a gray frame of any depth; 32 for float.
inline Frame frame_of(const oracle::BytePicture& picture, int bit_depth = 8) {
  FrameFormat format = {.width = picture.width, .height = picture.height, .bit_depth = bit_depth};
  format.sample_type = bit_depth == 8    ? SampleType::kUint8
                       : bit_depth == 32 ? SampleType::kFloat32
                                         : SampleType::kUint16;
  Frame frame = allocate_frame(format);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const int sample = picture.at(x, y);
      oracle::set_sample(frame, 0, x, y, sample * format.code_value());
    }
  }
  return frame;
}

// A frame of a panned texture, with another moving part in front of it and with noise.
inline Frame panned_frame(int time, int width, int height, double sigma) {
  const auto scene = [&](int x, int y) {
    return x / 3 + y < height ? endless_texture(x + 9 * time, y - 2 * time)
                              : endless_texture(x - 30 * time, y, 1);
  };
  return frame_of(draw(width, height, scene, sigma, time + 1));
}

inline std::array<Plane, kMaxPlanes> picture_planes(const Frame& frame) {
  return cpu::picture_of(frame.format, frame.planes, pictures_of(false).front());
}

}  // namespace limpid::test
