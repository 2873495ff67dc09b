// SPDX-License-Identifier: MIT
// Combed frames are distinguished from complete ones, in noise, text and fine patterns too.
#include "core/frame/combing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

// The brightness at a position and time, in 8-bit code values.
using MovingScene = std::function<double(int x, int y, double time)>;

double comb_texture(double x, double y) {
  return 128 + 40 * std::sin(x / 3.7 + y / 9.0) + 30 * std::sin(x / 1.9 - y / 13.0) +
         25 * std::sin(x / 11.0 + y / 5.0);
}

double panning(int x, int y, double time) { return comb_texture(x - 4 * time, y); }
double rising(int x, int y, double time) { return comb_texture(x, y - 5 * time); }

template <typename Sample>
void set_sample(const Plane& plane, int x, int y, double value) {
  plane.row<Sample>(y)[x] = static_cast<Sample>(value);
}

// Even rows are of one time and odd rows of another.
Frame woven(const FrameFormat& format, const MovingScene& scene, double even, double odd, double noise = 0,
            unsigned seed = 1) {
  Frame frame = allocate_frame(format);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise > 0 ? noise : 1);
  const bool is_float = format.sample_type == SampleType::kFloat32;
  for (int p = 0; p < format.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        const double code = scene(x, y, y % 2 == 0 ? even : odd) + (noise > 0 ? normal(random) : 0);
        const double value = std::clamp(code, 0.0, 255.0) * format.code_value();
        if (is_float) {
          set_sample<float>(plane, x, y, value);
        } else if (format.sample_type == SampleType::kUint8) {
          set_sample<std::uint8_t>(plane, x, y, std::round(value));
        } else {
          set_sample<std::uint16_t>(plane, x, y, std::round(value));
        }
      }
    }
  }
  return frame;
}

struct Pulldown {
  std::vector<Frame> frames;
  std::vector<bool> combed;
};

// 3:2: A, B, B/C, C/D, D of each four.
Pulldown pulldown(const FrameFormat& format, const MovingScene& scene, double noise = 0) {
  Pulldown film;
  unsigned seed = 1;
  for (int first = 0; first < 8; first += 4) {
    for (const auto& [even, odd] : {std::pair{0, 0}, {1, 1}, {1, 2}, {2, 3}, {3, 3}}) {
      film.frames.push_back(woven(format, scene, first + even, first + odd, noise, seed++));
      film.combed.push_back(even != odd);
    }
  }
  return film;
}

std::vector<bool> found_in(const std::vector<Frame>& frames) {
  std::vector<bool> combed{false};
  for (std::size_t i = 1; i < frames.size(); ++i) {
    combed.push_back(combed_share(frames[i], frames[i - 1]) > 0);
  }
  return combed;
}

void expect_no_combing(const MovingScene& scene, double noise = 0,
                       const FrameFormat& format = oracle::gray(320, 192)) {
  Frame before = woven(format, scene, 0, 0, noise, 1);
  for (int i = 1; i < 6; ++i) {
    const Frame frame = woven(format, scene, i, i, noise, static_cast<unsigned>(1 + i));
    EXPECT_EQ(combed_share(frame, before), 0) << "frame " << i;
    before = frame;
  }
}

TEST(Combing, IsFoundInPulldownOfAnyFormat) {
  for (const FrameFormat& format :
       {oracle::gray(203, 117), oracle::yuv(202, 150, 1, 1), oracle::yuv(201, 151, 1, 1, 10),
        oracle::rgb(160, 98), oracle::gray(128, 130, 16), oracle::as_float(oracle::rgb(160, 98)),
        oracle::as_float(oracle::gray(203, 117))}) {
    SCOPED_TRACE(to_string(format));
    for (const MovingScene& scene : {MovingScene(panning), MovingScene(rising)}) {
      const Pulldown film = pulldown(format, scene);
      EXPECT_EQ(found_in(film.frames), film.combed);
    }
  }
}

TEST(Combing, IsFoundInNoise) {
  for (const double noise : {2, 10, 20}) {
    const Pulldown film = pulldown(oracle::yuv(320, 192, 1, 1), panning, noise);
    EXPECT_EQ(found_in(film.frames), film.combed) << noise;
  }
}

// A tenth of the picture moves.
TEST(Combing, IsFoundWhereAPartMoves) {
  const Pulldown film = pulldown(
      oracle::gray(320, 192),
      [](int x, int y, double time) { return x < 32 ? panning(x, y, time) : comb_texture(x, y); }, 3);
  EXPECT_EQ(found_in(film.frames), film.combed);
}

TEST(Combing, OfAFirstFrameIsFoundByItsRows) {
  for (const double noise : {0, 10}) {
    const Pulldown film = pulldown(oracle::yuv(320, 192, 1, 1, 10), panning, noise);
    for (std::size_t i = 0; i < film.frames.size(); ++i) {
      EXPECT_EQ(combed_share(film.frames[i]) > 0, film.combed[i]) << i;
    }
  }
}

TEST(Combing, IsNotFoundInProgressivePictures) {
  for (const double noise : {0, 3, 10, 40}) {
    expect_no_combing(panning, noise);
    expect_no_combing(rising, noise);
    expect_no_combing([](int x, int y, double) { return comb_texture(x, y); }, noise);
    expect_no_combing([](int, int, double) { return 100.0; }, noise);
  }
}

TEST(Combing, IsNotFoundInFineStripesAndCheckerboards) {
  for (const double noise : {0, 3, 10}) {
    for (const int period : {2, 3, 4}) {
      for (const int rows_a_frame : {0, 1, 3}) {
        SCOPED_TRACE(testing::Message() << period << ", " << rows_a_frame << ", " << noise);
        expect_no_combing(
            [&](int, int y, double time) {
              return (y + rows_a_frame * static_cast<int>(time)) % period < period / 2 ? 60.0 : 180.0;
            },
            noise);
      }
    }
    for (const int samples_a_frame : {0, 1}) {
      expect_no_combing(
          [&](int x, int y, double time) {
            return (x + y + samples_a_frame * static_cast<int>(time)) % 2 == 0 ? 60.0 : 180.0;
          },
          noise);
    }
  }
  // Static stripes of two rows that end within blocks.
  expect_no_combing([](int x, int y, double) { return y % 2 == 0 && x / 5 % 2 == 0 ? 60.0 : 180.0; });
}

// Strokes of one sample's width in every direction.
TEST(Combing, IsNotFoundInText) {
  const auto text = [](int x, int y) {
    const auto letter = static_cast<unsigned>(x / 9 * 31 + y / 14 * 17);
    const int column = x % 9;
    const int row = y % 14;
    const bool is_stroke = column < 7 && row < 11 &&
                           (column == static_cast<int>(letter % 7) || row == static_cast<int>(letter % 11) ||
                            row == static_cast<int>(letter / 3 % 11) || column == row * 6 / 10 ||
                            (letter % 2 == 0 && column + row / 2 == 6));
    return is_stroke ? 20.0 : 230.0;
  };
  for (const int rows_a_frame : {0, 1, 3, 5, 11}) {
    for (const double noise : {0, 6}) {
      SCOPED_TRACE(testing::Message() << rows_a_frame << ", " << noise);
      expect_no_combing(
          [&](int x, int y, double time) { return text(x, y + rows_a_frame * static_cast<int>(time)); },
          noise);
    }
  }
}

TEST(Combing, IsNotFoundInPicturesOfFewBlocks) {
  for (const auto& [width, height] : {std::pair{1, 1}, {15, 200}, {200, 15}, {48, 16}, {17, 33}}) {
    const FrameFormat format = oracle::gray(width, height);
    EXPECT_EQ(combed_share(woven(format, panning, 1, 2), woven(format, panning, 1, 1)), 0);
  }
}

TEST(Combing, SamplesThatAreNoNumbersAreNoHarm) {
  const FrameFormat format = oracle::as_float(oracle::gray(64, 64));
  const Frame odd = woven(
      format,
      [](int x, int y, double) { return (x + y) % 3 == 0 ? std::nan("") : 1e30 * ((x + 2 * y) % 5 - 2); }, 0,
      0);
  EXPECT_EQ(combed_share(odd, odd), 0);
}

}  // namespace
}  // namespace limpid
