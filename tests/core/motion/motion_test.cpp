// SPDX-License-Identifier: MIT
#include "tests/oracle/motion.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/motion/motion_blocks.h"
#include "cpu/motion/motion_estimation.h"
#include "tests/core/motion/moving_pictures.h"
#include "tests/cpu/simd_level.h"

namespace limpid {
namespace {

using oracle::BytePicture;
using test::draw;
using test::endless_texture;
using test::frame_of;
using test::picture_planes;

MotionField estimate(const Frame& reference, const Frame& current, const MotionParameters& parameters = {}) {
  cpu::MotionPyramid reference_pyramid;
  cpu::MotionPyramid current_pyramid;
  reference_pyramid.build(reference.format, picture_planes(reference));
  current_pyramid.build(current.format, picture_planes(current));
  cpu::MotionEstimator estimator;
  MotionField field;
  estimator.estimate(reference_pyramid, current_pyramid, field, parameters);
  return field;
}

MotionField estimate(const BytePicture& reference, const BytePicture& current,
                     const MotionParameters& parameters = {}) {
  return estimate(frame_of(reference), frame_of(current), parameters);
}

// Two frames of a moving disc in front of a background with other motion.
std::pair<BytePicture, BytePicture> moving_disc(int width, int height, double sigma) {
  const auto at = [&](int time) {
    return [=](int x, int y) {
      const double from_center = std::hypot(x - width / 2 - 5 * time, y - height / 2 - 2 * time);
      return from_center < std::min(width, height) / 4 ? endless_texture(x - 5 * time, y - 2 * time, 1)
                                                       : endless_texture(x + 3 * time, y + time);
    };
  };
  return {draw(width, height, at(0), sigma, 1), draw(width, height, at(1), sigma, 2)};
}

// The share of the blocks, more than `border` samples from the border, that have this vector, up to `off`
// samples along each axis.
double share_with(const MotionField& field, const MotionVector& vector, int border = 0, int off = 0) {
  int all = 0;
  int right = 0;
  const int least = border / MotionField::kBlock;
  for (int row = least; row < field.rows - least; ++row) {
    for (int column = least; column < field.columns - least; ++column) {
      const MotionVector& found = field.vectors[static_cast<std::size_t>(row) * field.columns + column];
      ++all;
      right += std::max(std::abs(found.x - vector.x), std::abs(found.y - vector.y)) <= off ? 1 : 0;
    }
  }
  return static_cast<double>(right) / all;
}

double mean_difference(const MotionField& field) {
  return std::accumulate(field.differences.begin(), field.differences.end(), 0.0) /
         static_cast<double>(field.differences.size());
}

TEST(Motion, IsWhatItsDefinitionSays) {
  const std::pair<int, int> sizes[] = {{8, 8},   {9, 15},   {16, 79},   {39, 41},
                                       {80, 80}, {131, 97}, {176, 144}, {341, 203}};
  for (const auto& [width, height] : sizes) {
    for (const double sigma : {0.0, 20.0}) {
      const auto [reference, current] = moving_disc(width, height, sigma);
      for (const bool quarters : {false, true}) {
        EXPECT_EQ(estimate(reference, current, {quarters}),
                  oracle::find_motion(reference, current, {quarters}))
            << width << "x" << height << ", sigma " << sigma;
      }
    }
  }
}

TEST(Motion, IsWhatItsDefinitionSaysOfExtremeSamples) {
  const auto stripes = draw(90, 90, [](int x, int y) { return (x / 5 + y / 7) % 2 * 255; });
  const auto black = draw(90, 90, [](int, int) { return 0; });
  const auto white = draw(90, 90, [](int, int) { return 255; });
  for (const auto& [reference, current] : {std::pair{stripes, black}, {black, white}, {white, stripes}}) {
    EXPECT_EQ(estimate(reference, current), oracle::find_motion(reference, current));
  }
}

TEST(Motion, FollowsShifts) {
  const MotionVector shifts[] = {{0, 0}, {1, 0}, {-3, 2}, {7, -11}, {-20, 9}, {33, 30}, {-64, 64}};
  for (const MotionVector& shift : shifts) {
    for (const double sigma : {0.0, 20.0, 50.0}) {
      const auto reference = draw(
          400, 320, [](int x, int y) { return endless_texture(x, y); }, sigma, 1);
      const auto current = draw(
          400, 320, [&](int x, int y) { return endless_texture(x + shift.x, y + shift.y); }, sigma, 2);
      const int border = std::max(std::abs(shift.x), std::abs(shift.y)) + 16;
      const MotionField field = estimate(reference, current);
      const int off = sigma < 50 ? 0 : 1;
      EXPECT_GT(share_with(field, shift, border, off), sigma == 0 ? 0.9999 : 0.95)
          << shift.x << ", " << shift.y << ", sigma " << sigma;
    }
  }
}

TEST(Motion, FollowsWhatMovesFar) {
  const auto scene = [](int x, int y) { return endless_texture(x, y); };
  const auto reference = draw(1280, 720, scene, 20, 1);
  const auto current = draw(
      1280, 720, [&](int x, int y) { return scene(x + 120, y - 90); }, 20, 2);
  EXPECT_GT(share_with(estimate(reference, current), {120, -90}, 160), 0.99);
}

TEST(Motion, FlatPicturesRest) {
  for (const int value : {0, 77, 255}) {
    const auto flat = draw(200, 120, [&](int, int) { return value; });
    const MotionField field = estimate(flat, flat);
    EXPECT_EQ(share_with(field, {}), 1);
    EXPECT_EQ(mean_difference(field), 0);
  }
}

TEST(Motion, NoiseIsNotTakenForMotion) {
  for (const double sigma : {5.0, 20.0, 50.0}) {
    const auto flat = [](int, int) { return 128; };
    const MotionField field = estimate(draw(640, 360, flat, sigma, 1), draw(640, 360, flat, sigma, 2));
    EXPECT_GT(share_with(field, {}), 0.9) << sigma;
    EXPECT_NEAR(mean_difference(field) / motion::difference_of_noise(sigma), 1, 0.03) << sigma;
  }
}

// A sample of an endless texture at four times the resolution, which begins `later` points later.
double fine_texture(int x, int y) {
  double sum = 0;
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 8; ++i) {
      sum += endless_texture(x + i, y + j) / 64;
    }
  }
  return 2 * sum - 128;
}

TEST(Motion, QuarterSamplesAreFound) {
  for (const auto& [x, y] : {std::pair{1, 0}, {2, -1}, {-1, 5}, {14, -7}}) {
    for (const double sigma : {0.0, 10.0}) {
      const auto picture = [&](int dx, int dy, unsigned seed) {
        return draw(
            96, 80, [&](int i, int j) { return fine_texture(4 * i + dx, 4 * j + dy); }, sigma, seed);
      };
      const MotionField field = estimate(picture(0, 0, 1), picture(x, y, 2), {.quarters = true});
      ASSERT_EQ(field.quarters.size(), field.vectors.size());
      double off_x = 0;
      double off_y = 0;
      int inside = 0;
      for (int row = 2; row < field.rows - 2; ++row) {
        for (int column = 2; column < field.columns - 2; ++column) {
          const std::size_t block = field.block_at(8 * column, 8 * row);
          off_x += std::abs(4 * field.vectors[block].x + field.quarters[block].x - x);
          off_y += std::abs(4 * field.vectors[block].y + field.quarters[block].y - y);
          ++inside;
        }
      }
      EXPECT_LT(off_x / inside, sigma == 0 ? 0.5 : 0.8) << x << ", " << y << ", sigma " << sigma;
      EXPECT_LT(off_y / inside, sigma == 0 ? 0.5 : 0.8) << x << ", " << y << ", sigma " << sigma;
    }
  }
}

TEST(Motion, QuartersStayInsideThePicture) {
  const auto [reference, current] = moving_disc(101, 63, 10);
  const MotionField field = estimate(reference, current, {.quarters = true});
  for (int row = 0; row < field.rows; ++row) {
    for (int column = 0; column < field.columns; ++column) {
      const std::size_t block = field.block_at(8 * column, 8 * row);
      const auto inside = [](int begin, int quarters, int size) {
        return begin + (quarters < 0 ? -1 : 0) >= 0 && begin + 8 + (quarters > 0 ? 1 : 0) <= size;
      };
      EXPECT_TRUE(inside(8 * column + field.vectors[block].x, field.quarters[block].x, 101) &&
                  inside(8 * row + field.vectors[block].y, field.quarters[block].y, 63));
    }
  }
}

TEST(Motion, TellsWhatCouldNotBeFollowed) {
  for (const double sigma : {0.0, 20.0, 50.0}) {
    const double noise = motion::difference_of_noise(sigma);
    const auto picture_of = [&](unsigned texture, unsigned seed) {
      return draw(
          256, 192, [&](int x, int y) { return endless_texture(x, y, texture); }, sigma, seed);
    };
    const auto reference = picture_of(0, 1);
    EXPECT_LT(oracle::lost_share(estimate(reference, picture_of(0, 2)), noise), 0.01) << sigma;
    EXPECT_GT(oracle::lost_share(estimate(reference, picture_of(9, 2)), noise), sigma < 50 ? 0.8 : 0.7)
        << sigma;
    const auto [before, after] = moving_disc(256, 192, sigma);
    EXPECT_LT(oracle::lost_share(estimate(before, after), noise), 0.1) << sigma;
    const auto flat = [&](int value, unsigned seed) {
      return draw(
          256, 192, [&](int, int) { return value; }, sigma, seed);
    };
    EXPECT_LT(oracle::lost_share(estimate(flat(90, 1), flat(90, 2)), noise), 0.03) << sigma;
    EXPECT_GT(oracle::lost_share(estimate(flat(90, 1), flat(140, 2)), noise), 0.99) << sigma;
  }
  EXPECT_EQ(oracle::lost_share({}, 0), 0);
}

TEST(Motion, PicturesSmallerThanABlockHaveNone) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 100}, {7, 8}, {300, 7}}) {
    const auto picture = draw(width, height, [](int x, int y) { return endless_texture(x, y); });
    const MotionField field = estimate(picture, picture);
    EXPECT_TRUE(field.empty()) << width << "x" << height;
    EXPECT_EQ(field.columns * field.rows, 0);
    EXPECT_EQ(field.differences.size(), 0U);
  }
}

TEST(Motion, CounterpartsAreInsideThePicture) {
  for (const auto& [width, height] : {std::pair{8, 8}, {23, 57}, {101, 63}, {245, 130}}) {
    const auto [reference, current] = moving_disc(width, height, 30);
    const MotionField field = estimate(reference, current);
    ASSERT_EQ(field.columns, width / 8);
    ASSERT_EQ(field.rows, height / 8);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        ASSERT_LT(field.block_at(x, y), field.vectors.size());
      }
    }
    for (int row = 0; row < field.rows; ++row) {
      for (int column = 0; column < field.columns; ++column) {
        const MotionVector& v = field.vectors[field.block_at(8 * column, 8 * row)];
        ASSERT_TRUE(8 * column + v.x >= 0 && 8 * column + v.x + 8 <= width && 8 * row + v.y >= 0 &&
                    8 * row + v.y + 8 <= height)
            << width << "x" << height << ", block " << column << ", " << row;
      }
    }
  }
}

TEST(Motion, IsTheSameAtEveryDepth) {
  const auto [reference, current] = moving_disc(150, 110, 20);
  const MotionField field = estimate(reference, current);
  for (const int depth : {9, 10, 12, 16, 32}) {
    EXPECT_EQ(estimate(frame_of(reference, depth), frame_of(current, depth)), field) << depth;
  }
}

TEST(Motion, RoundsSamplesToCodeValues) {
  EXPECT_EQ(motion::guide_value(std::uint16_t{401}, 10), 100);
  EXPECT_EQ(motion::guide_value(std::uint16_t{402}, 10), 101);
  EXPECT_EQ(motion::guide_value(std::uint16_t{1023}, 10), 255);
  EXPECT_EQ(motion::guide_value(std::uint16_t{65535}, 16), 255);
  EXPECT_EQ(motion::guide_value(std::uint16_t{200}, 8), 200);
  EXPECT_EQ(motion::guide_value(100.4F / 255, 32), 100);
  EXPECT_EQ(motion::guide_value(100.6F / 255, 32), 101);
  EXPECT_EQ(motion::guide_value(-3.0F, 32), 0);
  EXPECT_EQ(motion::guide_value(7.0F, 32), 255);
  EXPECT_EQ(motion::guide_value(std::numeric_limits<float>::infinity(), 32), 255);
  EXPECT_EQ(motion::guide_value(std::numeric_limits<float>::quiet_NaN(), 32), 0);
}

TEST(Motion, ColorFollowsTheLuma) {
  const auto [reference, current] = moving_disc(150, 110, 0);
  const MotionField field = estimate(reference, current);
  const auto in_color = [](const BytePicture& picture, ColorModel model) {
    Frame frame = allocate_frame({.width = picture.width, .height = picture.height, .color_model = model});
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < picture.height; ++y) {
        for (int x = 0; x < picture.width; ++x) {
          // Chroma contains no information; R, G and B differ, and their luminance is the picture.
          const int value = model == ColorModel::kYuv ? (p == 0 ? picture.at(x, y) : x * y % 256)
                                                      : picture.at(x, y) + std::array{30, -20, 10}[p];
          frame.planes[p].row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(value);
        }
      }
    }
    return frame;
  };
  for (const ColorModel model : {ColorModel::kYuv, ColorModel::kRgb}) {
    EXPECT_EQ(estimate(in_color(reference, model), in_color(current, model)), field);
  }
}

TEST(Motion, FieldsHaveTheMotionOfTheirRows) {
  // The second fields show other content with other motion.
  const auto frame_at = [](int time) {
    return frame_of(draw(160, 128, [&](int x, int y) {
      return y % 2 == 0 ? endless_texture(x - 4 * time, y / 2) : endless_texture(x, y / 2 + 3 * time, 5);
    }));
  };
  const Frame reference = frame_at(0);
  const Frame current = frame_at(1);
  const MotionVector expected[] = {{-4, 0}, {0, 3}};
  for (int i = 0; i < 2; ++i) {
    const PictureRows rows = pictures_of(true)[i];
    cpu::MotionPyramid pyramids[2];
    pyramids[0].build(reference.format, cpu::picture_of(reference.format, reference.planes, rows));
    pyramids[1].build(current.format, cpu::picture_of(current.format, current.planes, rows));
    MotionField field;
    cpu::MotionEstimator().estimate(pyramids[0], pyramids[1], field);
    EXPECT_EQ(field.rows, 8);
    EXPECT_EQ(share_with(field, expected[i], 8), 1) << "field " << i;
  }
}

TEST(Motion, IsTheSameOnAnyNumberOfThreads) {
  const auto [reference, current] = moving_disc(333, 222, 20);
  const MotionField field = estimate(reference, current);
  for (const int threads : {1, 2, 5}) {
    tbb::task_arena arena(threads);
    run_in(arena, [&, &a = reference, &b = current] { EXPECT_EQ(estimate(a, b), field) << threads; });
  }
}

TEST(Motion, PyramidsAndEstimatorsMayBeUsedAgain) {
  cpu::MotionPyramid first;
  cpu::MotionPyramid second;
  cpu::MotionEstimator estimator;
  MotionField field;
  for (const auto& [width, height] : {std::pair{200, 150}, {64, 48}, {5, 5}, {200, 150}}) {
    const auto [reference, current] = moving_disc(width, height, 10);
    const Frame frames[] = {frame_of(reference), frame_of(current)};
    first.build(frames[0].format, picture_planes(frames[0]));
    second.build(frames[1].format, picture_planes(frames[1]));
    estimator.estimate(first, second, field);
    EXPECT_EQ(field, estimate(frames[0], frames[1])) << width << "x" << height;
    estimator.estimate(second, first, field);
    EXPECT_EQ(field, estimate(frames[1], frames[0])) << width << "x" << height;
  }
}

TEST(Motion, IsNotSoughtBetweenPicturesOfDifferentSizes) {
  const auto scene = [](int x, int y) { return endless_texture(x, y); };
  EXPECT_THROW(estimate(draw(64, 64, scene), draw(64, 72, scene)), Error);
}

class MotionSimdTest : public SimdLevelTest {};

TEST_P(MotionSimdTest, IsTheSameAtEveryLevel) {
  for (const auto& [width, height] : {std::pair{31, 90}, {161, 117}, {322, 180}}) {
    const auto [reference, current] = moving_disc(width, height, 20);
    EXPECT_EQ(estimate(reference, current, {.quarters = true}),
              oracle::find_motion(reference, current, {.quarters = true}))
        << width << "x" << height;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, MotionSimdTest, kSimdLevels, simd_level_name);

}  // namespace
}  // namespace limpid
