// SPDX-License-Identifier: MIT
#include "core/repair/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

constexpr int kWidth = 164;  // tiles at the border have 4 columns
constexpr int kHeight = 128;
constexpr Repair kAll = Repair::kAll;

// A texture at (x, y) that resembles pictures: waves and edges.
double texture(double x, double y) {
  return 110 + 20 * std::sin(x * 0.9 + y * 0.7) + 20 * std::sin(y * 0.8 - x * 0.3) + 30 * std::sin(x / 9) +
         25 * std::cos(y / 7 + x / 31) + (std::sin(x / 17 + y / 13) > 0 ? 25 : 0);
}

Frame frame_of(const std::function<double(int x, int y)>& value, int index) {
  Frame frame = allocate_frame(oracle::gray(kWidth, kHeight));
  frame.index = index;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      frame.planes[0].row<std::uint8_t>(y)[x] =
          static_cast<std::uint8_t>(std::clamp(std::lround(value(x, y)), 0L, 255L));
    }
  }
  return frame;
}

// `count` frames of a scene that moves `speed` samples per frame.
std::vector<Frame> scene(int count, double speed, const std::function<double(int t, int x, int y)>& added) {
  std::vector<Frame> frames;
  for (int t = 0; t < count; ++t) {
    frames.push_back(frame_of(
        [&](int x, int y) { return texture(x + speed * t, y + speed * t / 2) + added(t, x, y); }, t));
  }
  return frames;
}
double nothing(int /*t*/, int /*x*/, int /*y*/) { return 0; }

std::vector<Repairer::Item> repaired(const std::vector<Frame>& frames, Repair choice,
                                     RepairCounts* counts = nullptr) {
  Repairer repairer(choice);
  std::vector<Repairer::Item> items;
  const auto receive = [&] {
    while (std::optional<Repairer::Item> item = repairer.receive()) {
      items.push_back(*std::move(item));
    }
  };
  for (const Frame& frame : frames) {
    repairer.send(frame);
    receive();
    EXPECT_LE(frame.index + 1 - std::ssize(items), Repairer::look_ahead(choice));
  }
  repairer.flush();
  receive();
  if (counts != nullptr) {
    *counts = repairer.counts();
  }
  return items;
}

int at(const Frame& frame, int x, int y) { return frame.planes[0].row<const std::uint8_t>(y)[x]; }

// The greatest difference between two frames.
int difference(const Frame& a, const Frame& b) {
  int most = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      most = std::max(most, std::abs(at(a, x, y) - at(b, x, y)));
    }
  }
  return most;
}

bool is_hot(int x, int y) { return x % 37 == 20 && y % 29 == 15; }

TEST(Repairer, ReplacesHotPixelsOfAMovingScene) {
  const std::vector<Frame> truth = scene(16, 1.7, nothing);
  RepairCounts counts;
  const auto items = repaired(scene(16, 1.7, [](int, int x, int y) { return is_hot(x, y) ? 70 : 0; }),
                              Repair::kPixels, &counts);
  ASSERT_EQ(items.size(), truth.size());
  EXPECT_GE(items[0].defects.pixels.size(), 13U);  // of 16
  std::int64_t pixels = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    EXPECT_EQ(items[t].frame.index, static_cast<std::int64_t>(t));
    pixels += std::ssize(items[t].defects.pixels);
    for (const DefectivePixel& pixel : items[t].defects.pixels) {
      EXPECT_TRUE(is_hot(pixel.x, pixel.y));
      EXPECT_NEAR(at(items[t].frame, pixel.x, pixel.y), at(truth[t], pixel.x, pixel.y), 25) << t;
    }
  }
  EXPECT_EQ(counts.pixels, pixels);
}

TEST(Repairer, KeepsOutliersOfDrawingsWhereNothingMoves) {
  const std::vector<Frame> stars = scene(16, 0, [](int, int x, int y) { return is_hot(x, y) ? 70 : 0; });
  const auto items = repaired(stars, kAll);
  for (std::size_t t = 0; t < stars.size(); ++t) {
    EXPECT_EQ(difference(items[t].frame, stars[t]), 0) << t;
  }
}

// 8 frames of a flat ground with noise and what is added.
std::vector<Frame> still(double sigma, const std::function<double(int x, int y)>& added) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, sigma);
  std::vector<Frame> frames;
  for (int t = 0; t < 8; ++t) {
    frames.push_back(frame_of([&](int x, int y) { return 60 + added(x, y) + normal(random); }, t));
  }
  return frames;
}

TEST(Repairer, ReplacesHotPixelsWhereOnlyNoiseChanges) {
  const auto items = repaired(still(4, [](int x, int y) { return is_hot(x, y) ? 70 : 0; }), kAll);
  EXPECT_EQ(items[0].defects.pixels.size(), 16U);
  for (const DefectivePixel& pixel : items[0].defects.pixels) {
    EXPECT_TRUE(is_hot(pixel.x, pixel.y));
    EXPECT_NEAR(at(items[5].frame, pixel.x, pixel.y), 60, 16);
  }
}

TEST(Repairer, KeepsStarsPatternsAndTheBorderWhereOnlyNoiseChanges) {
  const auto is_star = [](int x, int y) { return is_hot(x, y) || is_hot(x + 1, y) || is_hot(x, y - 1); };
  EXPECT_EQ(
      repaired(still(4, [&](int x, int y) { return is_hot(x, y)    ? 90
                                                   : is_star(x, y) ? 35
                                                                   : 0; }), kAll)[0]
          .defects,
      Defects());
  EXPECT_EQ(
      repaired(still(4, [](int x, int y) { return x % 7 == 3 && y % 30 == 9 ? 90 : 0; }), kAll)[0].defects,
      Defects());
  EXPECT_EQ(repaired(still(10, [](int, int) { return 0; }), Repair::kPixels)[0].defects, Defects());
}

TEST(Repairer, KeepsPointsThatMoveWithTheScene) {
  const std::vector<Frame> points =
      scene(16, 1, [](int t, int x, int y) { return is_hot(x + t, y) ? 70 : 0; });
  const auto items = repaired(points, Repair::kPixels);
  for (std::size_t t = 0; t < points.size(); ++t) {
    EXPECT_EQ(difference(items[t].frame, points[t]), 0) << t;
  }
}

TEST(Repairer, ABlockHasTheDefectsOfTheWholeStream) {
  const std::vector<Frame> frames = scene(32 + 72, 1.7, [](int t, int x, int y) {
    return (is_hot(x, y) ? 70 : 0) + (t % 5 == 3 && x / 4 == 9 && y / 4 == 9 ? 90 : 0);
  });
  const auto whole = repaired(frames, kAll);
  std::vector<Frame> later(frames.begin() + 32, frames.end());
  for (Frame& frame : later) {
    frame.index -= 32;
  }
  const auto part = repaired(later, kAll);
  for (std::size_t t = 64; t + 2 < later.size(); ++t) {
    EXPECT_EQ(part[t].defects, whole[32 + t].defects) << t;
    EXPECT_EQ(difference(part[t].frame, whole[32 + t].frame), 0) << t;
  }
}

TEST(Repairer, GivenDefectsHaveTheResultOfMeasuredOnes) {
  const std::vector<Frame> frames = scene(16, 1.7, [](int t, int x, int y) {
    return (is_hot(x, y) ? 70 : 0) + (t % 5 == 3 && x / 4 == 9 && y / 4 == 9 ? 90 : 0);
  });
  const auto measured = repaired(frames, kAll);
  Repairer given(kAll);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    given.send(frames[t], measured[t].defects);
  }
  given.flush();
  for (const Repairer::Item& item : measured) {
    EXPECT_EQ(difference(given.receive().value().frame, item.frame), 0) << item.frame.index;
  }
  EXPECT_FALSE(given.receive());
}

TEST(Repairer, ReducesNoiseOfRows) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 3);
  std::vector<std::vector<double>> offsets(8, std::vector<double>(kHeight));
  for (auto& frame : offsets) {
    std::ranges::generate(frame, [&] { return normal(random); });
  }
  const std::vector<Frame> truth = scene(8, 1.7, nothing);
  const auto items = repaired(scene(8, 1.7, [&](int t, int, int y) { return offsets[t][y]; }), Repair::kRows);
  EXPECT_NEAR(items[0].defects.lines[0][0], 3, 0.6);
  EXPECT_EQ(items[0].defects.lines[0][1], 0);
  double before = 0;
  double after = 0;
  for (int y = 8; y < kHeight - 8; ++y) {
    double mean = 0;
    for (int x = 0; x < kWidth; ++x) {
      mean += static_cast<double>(at(items[4].frame, x, y) - at(truth[4], x, y)) / kWidth;
    }
    before += offsets[4][y] * offsets[4][y];
    after += mean * mean;
  }
  EXPECT_LT(after, 0.35 * before);
}

TEST(Repairer, KeepsScanLinesAndHorizontalEdges) {
  const std::vector<Frame> lines =
      scene(16, 1.7, [](int, int, int y) { return (y % 2 == 0 ? 6 : 0) + (y == 50 ? 40 : 0); });
  const auto items = repaired(lines, Repair::kRows);
  for (std::size_t t = 0; t < lines.size(); ++t) {
    EXPECT_EQ(difference(items[t].frame, lines[t]), 0) << t;
  }
}

TEST(Repairer, KeepsStripesThatMove) {
  for (const double frequency : {0.4, 0.8, 1.5, 2.1, 2.8}) {
    std::vector<Frame> stripes;
    for (int t = 0; t < 8; ++t) {
      stripes.push_back(frame_of(
          [&](int x, int y) {
            return 128 + 40 * std::sin((x + 2 * t) * frequency) + 9 * std::sin(y * 0.9 + x);
          },
          t));
    }
    const auto items = repaired(stripes, Repair::kRows);
    EXPECT_EQ(items[0].defects, Defects()) << frequency;
  }
}

TEST(Repairer, ReplacesDustAndDropoutsAlongMotion) {
  const std::vector<Frame> truth = scene(5, 4, nothing);
  RepairCounts counts;
  const auto items = repaired(scene(5, 4,
                                    [](int t, int x, int y) {
                                      const bool speck = std::abs(x - 70) < 3 && std::abs(y - 60) < 3;
                                      const bool dropout = y / 2 == 50 && x > 30 && x < 130;
                                      return t == 2 && (speck || dropout) ? 100 : 0;
                                    }),
                              Repair::kDust, &counts);
  for (std::size_t t = 0; t < truth.size(); ++t) {
    EXPECT_LT(difference(items[t].frame, truth[t]), 30) << t;
  }
  EXPECT_GT(counts.dust, 200);
}

TEST(Repairer, KeepsFlashesCutsAndObjectsThatMove) {
  std::vector<Frame> frames = scene(9, 1, [](int t, int x, int y) {
    return std::hypot(x - 12 * t - 10, y - 60) < 3 ? 90 : t == 4 ? 60 : 0;
  });
  for (Frame& other : scene(4, 2, [](int, int x, int y) { return 40 * std::sin(x * y / 50.0); })) {
    other.index += 9;
    frames.push_back(other);
  }
  const auto items = repaired(frames, kAll);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    EXPECT_EQ(difference(items[t].frame, frames[t]), 0) << t;
  }
}

}  // namespace
}  // namespace limpid
