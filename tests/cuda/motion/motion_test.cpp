// SPDX-License-Identifier: MIT
#include "cuda/motion/motion.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/motion/motion_blocks.h"
#include "cpu/motion/motion_estimation.h"
#include "cuda/runtime/runtime.h"
#include "tests/core/motion/moving_pictures.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/motion.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

class MotionTest : public CudaTest {};

// A picture's planes in device memory.
class Uploaded {
 public:
  explicit Uploaded(const Frame& frame, const PictureRows& rows = {}) {
    for (int p = 0; p < frame.format.plane_count(); ++p) {
      const Plane& plane = frame.planes[p];
      const auto bytes = static_cast<std::size_t>(plane.stride) * plane.height;
      memory_.emplace_back(bytes);
      check(cudaMemcpy(memory_.back().as(), plane.data, bytes, cudaMemcpyHostToDevice));
      planes_[p] = {memory_.back().as() + rows.first * plane.stride, plane.stride * rows.spacing};
    }
  }
  const std::array<SamplePlane, kMaxPlanes>& planes() const { return planes_; }

 private:
  std::vector<DeviceMemory> memory_;
  std::array<SamplePlane, kMaxPlanes> planes_;
};

MotionField estimate_on_cpu(const Frame& reference, const Frame& current, const PictureRows& rows = {},
                            const MotionParameters& parameters = {}) {
  limpid::cpu::MotionPyramid pyramids[2];
  pyramids[0].build(reference.format, cpu::picture_of(reference.format, reference.planes, rows));
  pyramids[1].build(current.format, cpu::picture_of(current.format, current.planes, rows));
  MotionField field;
  limpid::cpu::MotionEstimator().estimate(pyramids[0], pyramids[1], field, parameters);
  return field;
}

MotionField estimate_on_gpu(const Frame& reference, const Frame& current, const PictureRows& rows = {},
                            const MotionParameters& parameters = {}) {
  const int width = reference.format.width;
  const int height = rows.count(reference.format.height);
  const Stream stream;
  MotionPyramid pyramids[2] = {{width, height}, {width, height}};
  const Uploaded uploaded[2] = {Uploaded(reference, rows), Uploaded(current, rows)};
  check(cudaDeviceSynchronize());
  for (int i = 0; i < 2; ++i) {
    pyramids[i].enqueue(reference.format, uploaded[i].planes(), stream.get());
  }
  DeviceMotionField field(width, height);
  MotionEstimator(width, height).enqueue(pyramids[0], pyramids[1], field, stream.get(), parameters);
  return field.download(stream.get());
}

// Two frames of a moving disc in front of a background with other motion.
std::pair<oracle::BytePicture, oracle::BytePicture> moving_disc(int width, int height, double sigma) {
  const auto at = [&](int time) {
    return [=](int x, int y) {
      const double from_center = std::hypot(x - width / 2 - 15 * time, y - height / 2 - 2 * time);
      return from_center < std::min(width, height) / 4 ? test::endless_texture(x - 15 * time, y - 2 * time, 1)
                                                       : test::endless_texture(x + 33 * time, y + 7 * time);
    };
  };
  return {test::draw(width, height, at(0), sigma, 1), test::draw(width, height, at(1), sigma, 2)};
}

TEST_F(MotionTest, IsTheCpus) {
  const std::pair<int, int> sizes[] = {{8, 8},     {9, 15},     {16, 79},    {39, 41},
                                       {80, 80},   {131, 97},   {176, 144},  {341, 203},
                                       {640, 360}, {1283, 725}, {1920, 1080}};
  for (const auto& [width, height] : sizes) {
    for (const double sigma : {0.0, 20.0, 50.0}) {
      const auto [reference, current] = moving_disc(width, height, sigma);
      EXPECT_EQ(estimate_on_gpu(test::frame_of(reference), test::frame_of(current)),
                estimate_on_cpu(test::frame_of(reference), test::frame_of(current)))
          << width << "x" << height << ", sigma " << sigma;
    }
  }
}

TEST_F(MotionTest, QuartersAreTheCpus) {
  for (const auto& [width, height] : {std::pair{8, 8}, {39, 41}, {341, 203}, {1283, 725}}) {
    const auto [reference, current] = moving_disc(width, height, 10);
    EXPECT_EQ(estimate_on_gpu(test::frame_of(reference), test::frame_of(current), {}, {.quarters = true}),
              estimate_on_cpu(test::frame_of(reference), test::frame_of(current), {}, {.quarters = true}))
        << width << "x" << height;
  }
}

TEST_F(MotionTest, IsTheCpusOfNothingButNoise) {
  const auto flat = [](int, int) { return 128; };
  for (const double sigma : {0.0, 3.0, 50.0}) {
    const Frame reference = test::frame_of(test::draw(500, 300, flat, sigma, 1));
    const Frame current = test::frame_of(test::draw(500, 300, flat, sigma, 2));
    EXPECT_EQ(estimate_on_gpu(reference, current), estimate_on_cpu(reference, current)) << sigma;
  }
}

TEST_F(MotionTest, IsTheCpusOfExtremeSamples) {
  const Frame stripes =
      test::frame_of(test::draw(190, 90, [](int x, int y) { return (x / 5 + y / 7) % 2 * 255; }));
  const Frame black = test::frame_of(test::draw(190, 90, [](int, int) { return 0; }));
  const Frame white = test::frame_of(test::draw(190, 90, [](int, int) { return 255; }));
  for (const auto& [reference, current] : {std::pair{stripes, black}, {black, white}, {white, stripes}}) {
    EXPECT_EQ(estimate_on_gpu(reference, current), estimate_on_cpu(reference, current));
  }
}

TEST_F(MotionTest, IsTheCpusInEveryFormat) {
  for (const FrameFormat& format :
       {oracle::gray(203, 121), oracle::gray(203, 121, 10), oracle::gray(203, 121, 16),
        oracle::as_float(oracle::gray(203, 121)), oracle::yuv(203, 121, 1, 1),
        oracle::yuv(203, 121, 1, 0, 10), oracle::rgb(203, 121), oracle::rgb(203, 121, 12),
        oracle::as_float(oracle::rgb(203, 121))}) {
    const Frame picture = oracle::draw_picture(format);
    const Frame reference = oracle::add_noise(picture, 20, 1);
    const Frame current = oracle::add_noise(picture, 20, 2);
    for (const PictureRows& rows : {PictureRows{0, 1}, PictureRows{1, 2}}) {
      EXPECT_EQ(estimate_on_gpu(reference, current, rows), estimate_on_cpu(reference, current, rows))
          << to_string(format) << ", every row but " << rows.spacing - 1;
    }
  }
}

TEST_F(MotionTest, PicturesSmallerThanABlockHaveNone) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 100}, {300, 7}}) {
    const Frame picture = test::frame_of(test::draw(width, height, [](int x, int y) { return x + y; }));
    EXPECT_TRUE(estimate_on_gpu(picture, picture).empty()) << width << "x" << height;
  }
}

TEST_F(MotionTest, MemoryMayBeUsedAgain) {
  const Stream stream;
  MotionPyramid first(320, 200);
  MotionPyramid second(320, 200);
  MotionEstimator estimator(320, 200);
  DeviceMotionField field(320, 200);
  for (const double sigma : {0.0, 20.0}) {
    const auto [reference, current] = moving_disc(320, 200, sigma);
    const Frame frames[] = {test::frame_of(reference), test::frame_of(current)};
    const Uploaded uploaded[2] = {Uploaded(frames[0]), Uploaded(frames[1])};
    check(cudaDeviceSynchronize());
    first.enqueue(frames[0].format, uploaded[0].planes(), stream.get());
    second.enqueue(frames[1].format, uploaded[1].planes(), stream.get());
    estimator.enqueue(first, second, field, stream.get());
    EXPECT_EQ(field.download(stream.get()), estimate_on_cpu(frames[0], frames[1])) << sigma;
    estimator.enqueue(second, first, field, stream.get());
    EXPECT_EQ(field.download(stream.get()), estimate_on_cpu(frames[1], frames[0])) << sigma;
    DeviceMotionField ahead(320, 200);
    constexpr std::int32_t kNoise = 100;
    estimator.enqueue_both(first, second, {ahead, kNoise}, {field, kNoise}, stream.get());
    EXPECT_EQ(ahead.download(stream.get()), estimate_on_cpu(frames[1], frames[0])) << sigma;
    EXPECT_EQ(field.download(stream.get()), estimate_on_cpu(frames[0], frames[1])) << sigma;
    std::int32_t lost = 0;
    check(cudaMemcpy(&lost, field.lost(), sizeof(lost), cudaMemcpyDeviceToHost));
    EXPECT_GT(lost, 0);
    EXPECT_EQ(lost, motion::lost_blocks(estimate_on_cpu(frames[0], frames[1]), kNoise)) << sigma;
  }
}

TEST_F(MotionTest, IsNotSoughtBetweenPicturesOfDifferentSizes) {
  const MotionPyramid pyramid(64, 64);
  const MotionPyramid other(64, 72);
  DeviceMotionField field(64, 64);
  EXPECT_THROW(MotionEstimator(64, 64).enqueue(pyramid, other, field, nullptr), Error);
  EXPECT_THROW(MotionEstimator(128, 128).enqueue(pyramid, pyramid, field, nullptr), Error);
}

}  // namespace
}  // namespace limpid::cuda
