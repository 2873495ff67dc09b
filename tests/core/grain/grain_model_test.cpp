// SPDX-License-Identifier: MIT
// Grain that resembles a noise model, compared with the model: deviations by brightness, and spectra.
#include "core/grain/grain_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/bm3d/transforms.h"
#include "core/grain/film_grain.h"

namespace limpid {
namespace {

constexpr int kBlock = 8;

FrameFormat yuv_format(int depth, int shift_x, int shift_y) {
  return {.width = 256,
          .height = 256,
          .color_model = ColorModel::kYuv,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y,
          .sample_type = depth == 8 ? SampleType::kUint8 : SampleType::kUint16,
          .bit_depth = depth};
}

/// Calls `visit` with each sample.
template <typename Visit>
void for_each_sample(const Frame& frame, int plane, const Visit& visit) {
  visit_samples(frame.format, [&](auto sample) {
    using Sample = decltype(sample);
    if constexpr (std::is_integral_v<Sample>) {
      const Plane& samples = frame.planes[plane];
      for (int y = 0; y < samples.height; ++y) {
        for (int x = 0; x < samples.width; ++x) {
          visit(y, x, samples.row<Sample>(y)[x]);
        }
      }
    }
  });
}

Frame flat_frame(const FrameFormat& format, int luma) {
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    const int value = (p == 0 ? luma : 128) << (format.bit_depth - 8);
    for_each_sample(frame, p, [value](int, int, auto& sample) {
      sample = static_cast<std::remove_reference_t<decltype(sample)>>(value);
    });
  }
  return frame;
}

constexpr int kPlanes = 3;

/// The grain of the planes of a flat frame, in 8-bit code values.
std::array<std::vector<double>, kPlanes> grain_of(const FilmGrain& grain, const FrameFormat& format,
                                                  int luma) {
  const Frame frame = with_film_grain(grain, flat_frame(format, luma));
  std::array<std::vector<double>, kPlanes> result;
  for (int p = 0; p < kPlanes; ++p) {
    for_each_sample(frame, p, [&](int, int, const auto& sample) {
      result[p].push_back(sample / format.code_value() - (p == 0 ? luma : 128));
    });
  }
  return result;
}

/// The deviation in each plane, over several seeds.
std::array<double, kPlanes> deviations_of(FilmGrain grain, const FrameFormat& format, int luma) {
  constexpr int kSeeds = 24;
  std::array<double, kPlanes> squares{};
  for (int i = 0; i < kSeeds; ++i) {
    grain.seed = (grain.seed * 17 + 4321) & 0xFFFF;
    const auto planes = grain_of(grain, format, luma);
    for (int p = 0; p < kPlanes; ++p) {
      squares[p] += std::transform_reduce(planes[p].begin(), planes[p].end(), planes[p].begin(), 0.0) /
                    static_cast<double>(planes[p].size() * kSeeds);
    }
  }
  std::ranges::transform(squares, squares.begin(), [](double each) { return std::sqrt(each); });
  return squares;
}

/// White noise after a Gaussian kernel of this deviation.
NoiseShape blurred(double width) {
  std::array<double, kBlock> correlation{};
  for (int d = 0; d < kBlock; ++d) {
    correlation[d] = std::exp(-d * d / (4 * width * width));
  }
  const std::vector<double> rows = transform_matrices(Transform2d::kDct, kBlock).forward;
  std::array<double, kBlock> variances{};
  for (int u = 0; u < kBlock; ++u) {
    for (int i = 0; i < kBlock; ++i) {
      for (int j = 0; j < kBlock; ++j) {
        variances[u] += rows[u * kBlock + i] * rows[u * kBlock + j] * correlation[std::abs(i - j)];
      }
    }
  }
  NoiseShape shape;
  for (int i = 0; i < kBlock * kBlock; ++i) {
    shape.spectrum[i] = static_cast<float>(std::max(variances[i / kBlock] * variances[i % kBlock], 1e-4));
  }
  return shape;
}

/// Mean variances of the coefficients of 8x8 blocks.
std::vector<double> spectrum_of(FilmGrain grain, const FrameFormat& format) {
  const std::vector<double> rows = transform_matrices(Transform2d::kDct, kBlock).forward;
  std::vector<double> spectrum(kBlock * kBlock);
  constexpr int kSeeds = 32;
  for (int seed = 0; seed < kSeeds; ++seed) {
    grain.seed = (grain.seed * 17 + 4321) & 0xFFFF;
    const std::vector<double> samples = grain_of(grain, format, 128)[0];
    for (int top = 0; top < format.height; top += kBlock) {
      for (int left = 0; left < format.width; left += kBlock) {
        std::array<double, kBlock * kBlock> half{};
        for (int u = 0; u < kBlock; ++u) {
          for (int y = 0; y < kBlock; ++y) {
            for (int x = 0; x < kBlock; ++x) {
              half[y * kBlock + u] +=
                  rows[u * kBlock + x] * samples[static_cast<std::size_t>(top + y) * format.width + left + x];
            }
          }
        }
        for (int v = 0; v < kBlock; ++v) {
          for (int u = 0; u < kBlock; ++u) {
            double sum = 0;
            for (int y = 0; y < kBlock; ++y) {
              sum += rows[v * kBlock + y] * half[y * kBlock + u];
            }
            spectrum[v * kBlock + u] += sum * sum;
          }
        }
      }
    }
  }
  const double blocks = kSeeds * format.width / kBlock * format.height / kBlock;
  for (double& each : spectrum) {
    each /= blocks;
  }
  return spectrum;
}

TEST(Autoregression, WhiteNoiseHasNoNeighbors) {
  const Autoregression filter = autoregression_of(NoiseShape());
  EXPECT_TRUE(std::ranges::all_of(filter.weights, [](double each) { return each == 0; }));
  EXPECT_DOUBLE_EQ(filtered_variance(filter), 1);
}

TEST(Autoregression, UnstableFiltersHaveNoGain) {
  Autoregression filter;
  filter.weights[Autoregression::kNeighbors - 1] = 0.5;
  EXPECT_NEAR(filtered_variance(filter), 1 / (1 - 0.25), 1e-9);
  filter.weights[3] = 0.2;
  filter.weights[10] = 0.4;
  EXPECT_TRUE(std::isinf(filtered_variance(filter)));
}

TEST(GrainModel, HasTheDeviationOfTheNoiseAtEachBrightness) {
  NoiseModel noise{{6, 3, 4}};
  for (int i = 0; i <= BrightnessScale::kSteps; ++i) {
    noise.shape[0].curve[i] = 0.5F + static_cast<float>(i) / 16;
    noise.shape[1].curve[i] = 1.5F - static_cast<float>(i) / 16;
  }
  for (const FrameFormat& format :
       {yuv_format(8, 1, 1), yuv_format(10, 1, 1), yuv_format(12, 1, 0), yuv_format(8, 0, 0)}) {
    const FilmGrain grain = film_grain_of(noise, format, 1000);
    grain.validate("grain");
    for (const int luma : {40, 96, 128, 200}) {
      const auto deviations = deviations_of(grain, format, luma);
      for (int p = 0; p < kPlanes; ++p) {
        const double expected = noise.sigma[p] * deviation_at(noise.shape[p].curve, static_cast<float>(luma));
        EXPECT_NEAR(deviations[p], expected, expected * 0.03)
            << format.bit_depth << " bit, plane " << p << ", luma " << luma;
      }
    }
  }
}

TEST(GrainModel, FaintAndStrongNoiseKeepsItsDeviation) {
  for (const float sigma : {0.6F, 1.0F, 2.5F, 12.0F, 25.0F}) {
    const FrameFormat format = yuv_format(8, 1, 1);
    const FilmGrain grain = film_grain_of(NoiseModel{{sigma, sigma, sigma}}, format, 7);
    const auto deviations = deviations_of(grain, format, 128);
    EXPECT_NEAR(deviations[0] / static_cast<double>(sigma), 1, 0.05) << sigma;
    EXPECT_NEAR(deviations[1] / static_cast<double>(sigma), 1, 0.05) << sigma;
  }
}

TEST(GrainModel, HasTheSpectrumOfTheNoise) {
  for (const double width : {0.5, 0.75, 1.0}) {
    NoiseModel noise{{8, 0, 0}};
    noise.shape[0] = blurred(width);
    const FrameFormat format = yuv_format(10, 1, 1);
    const FilmGrain grain = film_grain_of(noise, format, 99);
    grain.validate("grain");
    const std::vector<double> spectrum = spectrum_of(grain, format);
    // Low, middle and high frequencies. Deviations of bands with hardly any noise do not count.
    for (const auto& [from, to] : {std::pair(1, 3), std::pair(3, 6), std::pair(6, 10)}) {
      double expected = 0;
      double found = 0;
      double count = 0;
      for (int i = 0; i < kBlock * kBlock; ++i) {
        if (const int frequency = i / kBlock + i % kBlock; frequency >= from && frequency < to) {
          expected += 64 * static_cast<double>(noise.shape[0].spectrum[i]);
          found += spectrum[i];
          count += 1;
        }
      }
      if (expected > 1e-2 * 64 * count) {
        EXPECT_NEAR(std::sqrt(found / expected), 1, 0.15) << "width " << width << ", from " << from;
      }
    }
  }
}

/// The correlation of each chroma plane's grain with the mean of luma's, over several seeds.
std::array<double, 2> correlations_of(FilmGrain grain, const FrameFormat& format) {
  double luma_squares = 0;
  std::array<double, 2> chroma_squares{};
  std::array<double, 2> products{};
  for (grain.seed = 100; grain.seed < 3000; grain.seed += 100) {
    const auto planes = grain_of(grain, format, 128);
    const int width = format.plane_width(1);
    for (std::size_t i = 0; i < planes[1].size(); ++i) {
      const int x = static_cast<int>(i) % width << format.chroma_shift_x;
      const int y = static_cast<int>(i) / width << format.chroma_shift_y;
      double sum = 0;
      for (int dy = 0; dy < 1 << format.chroma_shift_y; ++dy) {
        for (int dx = 0; dx < 1 << format.chroma_shift_x; ++dx) {
          sum += planes[0][static_cast<std::size_t>(y + dy) * format.width + x + dx];
        }
      }
      luma_squares += sum * sum;
      for (const int c : {0, 1}) {
        const double chroma = planes[c + 1][i];
        chroma_squares[c] += chroma * chroma;
        products[c] += sum * chroma;
      }
    }
  }
  return {products[0] / std::sqrt(luma_squares * chroma_squares[0]),
          products[1] / std::sqrt(luma_squares * chroma_squares[1])};
}

TEST(GrainModel, ChromaHasTheCorrelationOfTheNoise) {
  for (const FrameFormat& format : {yuv_format(8, 1, 1), yuv_format(10, 0, 0)}) {
    for (const double width : {0.0, 0.6}) {
      NoiseModel noise{{8, 6, 6}};
      if (width > 0) {
        noise.shape = {blurred(width), blurred(width), blurred(width)};
      }
      const FilmGrain grain = film_grain_of(noise, format, 5, {0.3, -0.2});
      grain.validate("grain");
      const auto correlations = correlations_of(grain, format);
      EXPECT_NEAR(correlations[0], 0.3, 0.05) << format.bit_depth << ", " << width;
      EXPECT_NEAR(correlations[1], -0.2, 0.05) << format.bit_depth << ", " << width;
      const auto deviations = deviations_of(grain, format, 128);
      for (int p = 0; p < kPlanes; ++p) {
        const auto expected = static_cast<double>(noise.sigma[p]);
        EXPECT_NEAR(deviations[p], expected, 0.07 * expected) << p << ", " << width;
      }
    }
  }
}

TEST(ChromaCorrelationMeter, MeasuresTheNoiseBesideTexture) {
  constexpr double kCorrelation = 0.4;
  const FrameFormat format = yuv_format(8, 1, 1);
  Frame frame = flat_frame(format, 128);
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0, 6);
  for_each_sample(frame, 0, [&](int, int, auto& sample) {
    sample = static_cast<std::uint8_t>(std::lround(128 + normal(random)));
  });
  for_each_sample(frame, 1, [&](int y, int x, auto& sample) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      sum += frame.planes[0].row<std::uint8_t>(2 * y + i / 2)[2 * x + i % 2] - 128;
    }
    const double luma = sum / 2;  // of the deviation of a sample
    sample = static_cast<std::uint8_t>(
        std::lround(128 + kCorrelation * luma + std::sqrt(1 - kCorrelation * kCorrelation) * normal(random)));
  });
  // Three quarters of the picture are texture of both planes.
  for (const int p : {0, 1}) {
    for_each_sample(frame, p, [&](int y, int x, auto& sample) {
      if (y < format.plane_height(p) * 3 / 4) {
        sample = static_cast<std::uint8_t>(std::clamp(sample - 40 + 80 * ((x >> (1 - p)) & 1), 0, 255));
      }
    });
  }
  ChromaCorrelationMeter meter;
  meter.add(frame);
  EXPECT_NEAR(meter.result()[0], kCorrelation, 0.08);
  EXPECT_EQ(meter.result()[1], 0) << "no noise";
}

TEST(GrainModel, WhiteNoiseNeedsNoCoefficients) {
  EXPECT_EQ(film_grain_of(NoiseModel{{5, 4, 3}}, yuv_format(8, 1, 1), 1).lag, 0);
  NoiseModel noise{{5, 4, 3}};
  noise.shape[2] = blurred(0.5);
  EXPECT_EQ(film_grain_of(noise, yuv_format(8, 1, 1), 1).lag, 3);
}

TEST(GrainModel, PlanesWithoutNoiseHaveNoGrain) {
  const FilmGrain gray = film_grain_of(NoiseModel{{5, 0, 0}}, yuv_format(8, 1, 1), 1);
  EXPECT_FALSE(gray.points[0].empty());
  EXPECT_TRUE(gray.points[1].empty());
  EXPECT_TRUE(gray.points[2].empty());
  const FilmGrain one = film_grain_of(NoiseModel{{5, 0, 3}}, yuv_format(8, 1, 1), 1);
  EXPECT_EQ(one.points[1].size(), 1U);  // required by AV1
  EXPECT_EQ(one.points[1][0].scaling, 0);
  const FilmGrain chroma = film_grain_of(NoiseModel{{0, 3, 3}}, yuv_format(8, 1, 1), 1);
  EXPECT_EQ(chroma.points[0].size(), 1U);  // required by AV1
  EXPECT_NEAR(deviations_of(chroma, yuv_format(8, 1, 1), 128)[1], 3, 0.1);
  EXPECT_EQ(deviations_of(chroma, yuv_format(8, 1, 1), 128)[0], 0);
}

}  // namespace
}  // namespace limpid
