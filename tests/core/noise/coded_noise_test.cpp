// SPDX-License-Identifier: MIT
// Noise after a codec: clips through a toy codec, which copies negligible changes from the frame before.
#include "core/noise/coded_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_blocks.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/spectrum.h"
#include "cpu/noise/noise_estimation.h"
#include "cpu/noise/noise_measurement.h"
#include "tests/core/noise/scenes.h"

namespace limpid::noise {
namespace {

using test::gray_format;
using test::make_noise;

constexpr int kWidth = 320;
constexpr int kHeight = 240;
constexpr int kFrames = 6;
using Samples = std::vector<double>;
using Pattern = std::function<double(double x, double y)>;

// D^T x D where `inverse`, D x D^T otherwise, of an 8x8 block of doubles and the DCT-II's matrix D.
using Coefficients = std::array<std::array<double, kBlock>, kBlock>;
Coefficients dct(const Coefficients& block, bool inverse) {
  static const HalfDctMatrix half = half_dct_matrix();
  const auto matrix = [&](int k, int i) {
    const double value = double{half[k][i < kBlock / 2 ? i : kBlock - 1 - i]};
    return i < kBlock / 2 || k % 2 == 0 ? value : -value;
  };
  const auto at = [&](int k, int i) { return inverse ? matrix(i, k) : matrix(k, i); };
  Coefficients rows{};
  Coefficients result{};
  for (int y = 0; y < kBlock; ++y) {
    for (int k = 0; k < kBlock; ++k) {
      for (int i = 0; i < kBlock; ++i) {
        rows[y][k] += at(k, i) * block[y][i];
      }
    }
  }
  for (int k = 0; k < kBlock; ++k) {
    for (int x = 0; x < kBlock; ++x) {
      for (int i = 0; i < kBlock; ++i) {
        result[k][x] += at(k, i) * rows[i][x];
      }
    }
  }
  return result;
}

// Codes `source` as a change of `decoded`, and updates `decoded` to the decoder's output.
void code(const Samples& source, double step, Samples& decoded) {
  for (int y = 0; y < kHeight; y += kBlock) {
    for (int x = 0; x < kWidth; x += kBlock) {
      Coefficients block;
      const auto index = [&](int row, int i) { return (y + row) * kWidth + x + i; };
      for (int row = 0; row < kBlock; ++row) {
        for (int i = 0; i < kBlock; ++i) {
          block[row][i] = source[index(row, i)] - decoded[index(row, i)];
        }
      }
      block = dct(block, false);
      for (auto& row : block) {
        for (double& value : row) {
          value = std::copysign(std::floor(std::abs(value) / step + 1.0 / 6), value) * step;
        }
      }
      block = dct(block, true);
      for (int row = 0; row < kBlock; ++row) {
        for (int i = 0; i < kBlock; ++i) {
          decoded[index(row, i)] += block[row][i];
        }
      }
    }
  }
}

struct Clip {
  NoiseStatistics statistics;
  NoiseModel white;   // for the last frame
  double error = 0;   // root mean square, relative to the scene
  double common = 0;  // mean product of successive frames' errors

  double deviation() const {  // by coded_noise()
    const std::optional<CodedNoise> found = coded_noise(statistics.channels[0], 1e9);
    return found ? std::sqrt(mean_of(found->spectrum)) : 0;
  }
  double correlation() const { return common / (error * error); }
  double repetition() const { return double{model_of(statistics, white).shape[0].repetition}; }
};

// The scene, clipped, with smooth or white noise, and coded if there is a `step`. Between frames it moves to
// the left by `motion` and rotates by `turn`.
struct Making {
  Pattern scene;
  double sigma = 0;
  double step = 0;
  bool smooth = true;
  double motion = 0;
  double turn = 0;
  double repetition = 0;  // of the noise, as NoiseShape::repetition, where nothing moves
};

Clip make_clip(const Making& making) {
  Samples decoded(kWidth * kHeight);
  Samples errors(kWidth * kHeight);
  Samples noise;
  Clip clip;
  Frame before;
  for (int t = 0; t < kFrames; ++t) {
    const double cosine = std::cos(t * making.turn);
    const double sine = std::sin(t * making.turn);
    const auto scene = [&](int x, int y) {
      return std::min(making.scene(cosine * x - sine * y + t * making.motion, sine * x + cosine * y), 255.0);
    };
    Samples source = make_noise(kWidth, kHeight, making.sigma, making.smooth, static_cast<unsigned>(t));
    for (std::size_t i = 0; i < source.size() && t > 0; ++i) {
      source[i] =
          making.repetition * noise[i] + std::sqrt(1 - making.repetition * making.repetition) * source[i];
    }
    noise = source;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        double& sample = source[y * kWidth + x];
        sample = std::min(sample + scene(x, y), 255.0);
      }
    }
    if (making.step > 0) {
      code(source, making.step, decoded);
    } else {
      decoded = source;
    }
    const Frame frame = test::render(
        gray_format(kWidth, kHeight), [&](int, int x, int y) { return decoded[y * kWidth + x]; }, 0);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        double& error = errors[y * kWidth + x];
        const double error_before = error;
        error = decoded[y * kWidth + x] - scene(x, y);
        clip.error += error * error;
        clip.common += t > 0 ? error * error_before : 0;
      }
    }
    clip.statistics.add(cpu::measure_noise(frame, t > 0 ? &before : nullptr));
    clip.white = cpu::estimate_noise(frame);
    before = frame;
  }
  clip.error = std::sqrt(clip.error / (double{kFrames} * kWidth * kHeight));
  clip.common /= (kFrames - 1.0) * kWidth * kHeight;
  return clip;
}

// From dark to beyond the greatest sample, where there is no noise, with some texture in the lower half.
double slopes(double x, double y) {
  return 60 + 0.65 * x + (y < 120 ? 0 : 0.1 * (y - 120)) * std::sin(0.6 * x) +
         10 * std::sin(0.05 * (x + 2 * y));
}

TEST(CodedNoise, IsFoundThoughMuchOfItIsGoneOrRepeats) {
  for (const double step : {20.0, 30.0, 40.0, 50.0}) {
    SCOPED_TRACE(step);
    const Clip clip = make_clip({.scene = slopes, .sigma = 10, .step = step});
    EXPECT_GT(clip.deviation(), 0.75 * clip.error);
    EXPECT_LT(clip.deviation(), 1.1 * clip.error);
  }
}

// Strong compression leaves most noise in a few blocks.
TEST(CodedNoise, IsInTheModelIfItsDifferencesAreNotUniform) {
  Clip clip = make_clip({.scene = slopes, .sigma = 10, .step = 35});
  for (Energies& bin : clip.statistics.channels[0].differences) {
    bin.octaves -= 2 * bin.blocks;
  }
  const NoiseModel model = model_of(clip.statistics, clip.white);
  EXPECT_GT(double{model.sigma[0]}, 0.75 * clip.error);
}

TEST(CodedNoise, OfBrightPartsThatHaveNoneTheModelTellsIt) {
  const Clip clip = make_clip({.scene = slopes, .sigma = 10, .step = 20});
  const NoiseModel model = model_of(clip.statistics, clip.white);
  EXPECT_NEAR(test::error_of(model.sigma[0], clip.error), 0, 0.15);
  EXPECT_GT(model.shape[0].spectrum[9], 4);
}

TEST(CodedNoise, RepeatsWhereACameraFilteredOverTime) {
  for (const double repetition : {0.8, 0.9}) {
    SCOPED_TRACE(repetition);
    const Clip clip = make_clip({.scene = slopes, .sigma = 10, .repetition = repetition});
    // The estimate is slightly greater.
    EXPECT_NEAR(clip.repetition() - clip.correlation(), 0.05, 0.05);
  }
}

TEST(CodedNoise, RepeatsWhereACodecWas) {
  for (const double step : {30.0, 35.0}) {
    SCOPED_TRACE(step);
    const Clip clip = make_clip({.scene = slopes, .sigma = 10, .step = step});
    EXPECT_GT(clip.repetition(), clip.correlation());
    EXPECT_LT(clip.repetition(), clip.correlation() + 0.45);
  }
}

TEST(CodedNoise, OfFramesByThemselvesDoesNotRepeat) {
  for (const double motion : {0.0, 1.0}) {
    EXPECT_EQ(make_clip({.scene = slopes, .sigma = 10, .motion = motion}).repetition(), 0) << motion;
  }
}

TEST(CodedNoise, IsNotGreaterWhereNoCodecWas) {
  for (const double motion : {0.0, 1.0}) {
    SCOPED_TRACE(motion);
    EXPECT_NEAR(make_clip({.scene = slopes, .sigma = 10, .motion = motion}).deviation(), 11, 1.5);
  }
}

TEST(CodedNoise, IsNotFoundInCleanClips) {
  for (const double step : {0.0, 10.0, 40.0}) {
    for (const double motion : {0.0, 0.25, 0.5}) {
      SCOPED_TRACE(std::to_string(step) + ", " + std::to_string(motion));
      EXPECT_EQ(make_clip({.scene = slopes, .step = step, .motion = motion}).deviation(), 0);
    }
  }
}

// Texture without high frequencies everywhere, increasing from top to bottom.
double blurred(double x, double y) {
  double sum = 0;
  for (int i = 1; i <= 12; ++i) {
    sum += std::sin((0.1 + 0.05 * i) * (x * std::cos(2.4 * i) + y * std::sin(2.4 * i)) + i);
  }
  return 120 + 0.1 * y * sum;
}

TEST(CodedNoise, IsNotFoundInTextureThatTurns) {
  for (const double step : {0.0, 10.0, 30.0}) {
    SCOPED_TRACE(step);
    EXPECT_EQ(make_clip({.scene = blurred, .step = step, .turn = 0.01}).deviation(), 0);
  }
}

TEST(CodedNoise, IsNotWhite) {
  EXPECT_EQ(make_clip({.scene = slopes, .sigma = 10, .smooth = false}).deviation(), 0);
}

TEST(CodedNoise, AFewBlocksDoNotTellOfIt) {
  const NoiseStatistics all = make_clip({.scene = slopes, .sigma = 10, .step = 30}).statistics;
  ChannelStatistics few;
  double blocks = 0;
  for (const Energies& bin : all.channels[0].differences) {
    few.differences.push_back(blocks < 300 ? bin : Energies{});
    blocks += bin.blocks;
  }
  EXPECT_FALSE(coded_noise(few, 1e9));
  EXPECT_FALSE(coded_noise({}, 1e9));
}

TEST(CodedNoise, IsBoundByTheFlattestPlaces) {
  const ChannelStatistics channel =
      make_clip({.scene = slopes, .sigma = 10, .step = 30}).statistics.channels[0];
  EXPECT_LT(mean_of(coded_noise(channel, 1)->spectrum), mean_of(coded_noise(channel, 1e9)->spectrum) / 4);
}

}  // namespace
}  // namespace limpid::noise
