// SPDX-License-Identifier: MIT
// The kernels of the edge-preserving filters compared with their definition
// (core/edge_preserving/edge_preserving.h) in plain double precision, and the filters compared with the CPU
// engine on larger frames.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "cuda/edge_preserving/kernels.h"
#include "cuda/engine/cuda_engine.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

// A plane on host and device, as bytes and as floats.
struct SamplesOnDevice {
  int width;
  int height;
  std::vector<float> samples;
  std::ptrdiff_t stride;
  DeviceMemory bytes;
  DeviceMemory floats;
  DeviceMemory result;
  DeviceMemory variance;

  // Stripes, a ramp and noise.
  SamplesOnDevice(int w, int h, int amplitude)
      : SamplesOnDevice(w, h, [amplitude, random = std::mt19937(3)](int x, int y) mutable {
          const int noise = static_cast<int>(random() % static_cast<unsigned>(2 * amplitude + 1)) - amplitude;
          return std::clamp((x / 9 % 2 == 0 ? 60 : 170) + (x + y) / 8 % 40 + noise, 0, 255);
        }) {}

  // Integer code values sample(x, y).
  SamplesOnDevice(int w, int h, const std::function<int(int, int)>& sample)
      : width(w), height(h), stride(w + 7) {
    const int pitch = float_pitch();
    std::vector<std::uint8_t> byte_rows(stride * h, std::uint8_t{0});
    std::vector<float> float_rows(static_cast<std::size_t>(pitch) * h, -1e9F);
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        const int value = sample(x, y);
        samples.push_back(static_cast<float>(value));
        byte_rows[y * stride + x] = static_cast<std::uint8_t>(value);
        float_rows[static_cast<std::size_t>(y) * pitch + x] = static_cast<float>(value);
      }
    }
    bytes = DeviceMemory::copy_of(byte_rows);
    floats = DeviceMemory::copy_of(float_rows);
    result = DeviceMemory::copy_of(float_rows);
    variance = DeviceMemory::copy_of(float_rows);
  }

  int float_pitch() const { return (width + 31) / 32 * 32; }
  FloatPlane plane(const DeviceMemory& memory) const {
    return {memory.as<float>(), width, height, float_pitch()};
  }
  double at(int x, int y) const {
    return static_cast<double>(samples[static_cast<std::size_t>(y) * width + x]);
  }
  bool inside(int x, int y) const { return x >= 0 && x < width && y >= 0 && y < height; }

  std::vector<double> download_floats(const DeviceMemory& memory) const {
    const auto rows = to_host<float>(memory, static_cast<std::size_t>(float_pitch()) * height);
    std::vector<double> values;
    for (int y = 0; y < height; ++y) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(y) * float_pitch();
      values.insert(values.end(), row, row + width);
    }
    return values;
  }
  std::vector<double> download_bytes(const DeviceMemory& memory) const {
    const auto rows = to_host<std::uint8_t>(memory, stride * height);
    std::vector<double> values;
    for (int y = 0; y < height; ++y) {
      values.insert(values.end(), rows.begin() + y * stride, rows.begin() + y * stride + width);
    }
    return values;
  }
};

struct Means {
  double value = 0;     // of the neighbors
  double variance = 0;  // about the sample
};

// Weights 2^-exponent(dx, dy, difference).
template <typename Exponent>
Means plain_means(const SamplesOnDevice& plane, int x, int y, int radius, const Exponent& exponent) {
  double weights = 0;
  double sum = 0;
  double squares = 0;
  for (int v = std::max(y - radius, 0); v <= std::min(y + radius, plane.height - 1); ++v) {
    for (int u = std::max(x - radius, 0); u <= std::min(x + radius, plane.width - 1); ++u) {
      const double difference = plane.at(u, v) - plane.at(x, y);
      const double weight = std::exp2(-exponent(u - x, v - y, difference));
      weights += weight;
      sum += weight * difference;
      squares += weight * difference * difference;
    }
  }
  return {plane.at(x, y) + sum / weights, squares / weights};
}

Means plain_bilateral(const SamplesOnDevice& plane, int x, int y, const BilateralWeights& weights,
                      double range) {
  return plain_means(plane, x, y, weights.radius, [&](int dx, int dy, double difference) {
    return static_cast<double>(weights.spatial) * (dx * dx + dy * dy) + range * difference * difference;
  });
}

class Bilateral : public CudaTest {
 protected:
  // Every variant and pass, at every `every`-th sample.
  static void check_bilateral(const SamplesOnDevice& plane, const AdaptiveBilateralWeights& weights,
                              int every, double variance_tolerance = 0.01) {
    SCOPED_TRACE(std::to_string(plane.width) + "x" + std::to_string(plane.height) + ", radius " +
                 std::to_string(weights.first.radius) + ", range " + std::to_string(weights.first.range));
    const DeviceMemory out = DeviceMemory::copy_of(std::vector<std::uint8_t>(plane.stride * plane.height, 7));
    const auto job_of = [&](BilateralPass pass) {
      return BilateralJob{.pass = pass,
                          .weights = weights,
                          .variance = plane.plane(plane.variance),
                          .width = plane.width,
                          .height = plane.height,
                          .bytes = true,
                          .in = {plane.bytes.as(), plane.stride},
                          .out = {out.as(), plane.stride},
                          .noisy = plane.plane(plane.floats),
                          .result = plane.plane(plane.result)};
    };
    const auto run = [&](BilateralPass pass, const BilateralVariant& variant) {
      variant.run(job_of(pass), nullptr);
      return pass == BilateralPass::kVariance ? plane.download_floats(plane.variance)
             : variant.takes_bytes            ? plane.download_bytes(out)
                                              : plane.download_floats(plane.result);
    };
    // With the variances computed by `first`.
    const auto check_adapted = [&](const BilateralVariant& first, const BilateralVariant& second) {
      const std::vector<double> adapted = run(BilateralPass::kAdapted, second);
      for (std::size_t i = 0; i < adapted.size(); i += every) {
        const int x = static_cast<int>(i) % plane.width;
        const int y = static_cast<int>(i) / plane.width;
        const double variance =
            plain_bilateral(plane, x, y, weights.first, static_cast<double>(weights.first.range)).variance;
        const double range =
            static_cast<double>(weights.adapted_range) / (variance + static_cast<double>(weights.epsilon));
        ASSERT_NEAR(adapted[i], plain_bilateral(plane, x, y, weights.first, range).value,
                    second.takes_bytes ? 0.75 : 0.01)
            << x << ", " << y << ", " << first.name << ", then " << second.name;
      }
    };
    const DeviceLimits device = device_limits();
    for (const BilateralVariant& variant : bilateral_variants()) {
      if (!variant.can(job_of(BilateralPass::kMean), device)) {
        continue;
      }
      ASSERT_TRUE(variant.can(job_of(BilateralPass::kVariance), device));
      const std::vector<double> mean = run(BilateralPass::kMean, variant);
      const std::vector<double> variance = run(BilateralPass::kVariance, variant);
      for (std::size_t i = 0; i < mean.size(); i += every) {
        const int x = static_cast<int>(i) % plane.width;
        const int y = static_cast<int>(i) / plane.width;
        SCOPED_TRACE(std::to_string(x) + ", " + std::to_string(y) + ", " + variant.name);
        const Means expected =
            plain_bilateral(plane, x, y, weights.first, static_cast<double>(weights.first.range));
        ASSERT_NEAR(mean[i], expected.value, variant.takes_bytes ? 0.75 : 0.01);
        ASSERT_NEAR(variance[i], expected.variance, 0.01 * expected.variance + variance_tolerance);
      }
      for (const BilateralVariant& second : bilateral_variants()) {
        if (second.takes_bytes == variant.takes_bytes &&
            second.can(job_of(BilateralPass::kAdapted), device)) {
          check_adapted(variant, second);
        }
      }
    }
  }

  static AdaptiveBilateralWeights weights_of(int radius, float range_sigma, float kappa = 0.5F) {
    AdaptiveBilateralParameters parameters;
    parameters.radius = radius;
    parameters.spatial_sigma = 0.5F + static_cast<float>(radius) / 3;
    parameters.range_sigma = range_sigma;
    parameters.kappa = kappa;
    return make_weights(parameters, 20);
  }
};

// A GPU of compute capability 9.0, and one of 7.5 with less memory.
constexpr DeviceLimits kLargeDevice = {
    .compute_capability = 90, .multiprocessors = 132, .shared_memory = std::size_t{225} << 10};
constexpr DeviceLimits kSmallDevice = {
    .compute_capability = 75, .multiprocessors = 40, .shared_memory = std::size_t{62} << 10};

TEST(BilateralVariants, AreChosenByPassRadiusAndDevice) {
  const auto chosen = [](BilateralPass pass, int radius, bool bytes, const DeviceLimits& device) {
    BilateralJob job;
    job.pass = pass;
    job.weights.first = make_weights(
        BilateralParameters{
            .radius = radius, .spatial_sigma = static_cast<float>(radius) / 3, .range_sigma = 40.0F},
        20);
    job.width = 1920;
    job.height = 1080;
    job.bytes = bytes;
    return std::string(choose(bilateral_variants(), job, device).name);
  };
  for (const BilateralPass pass : {BilateralPass::kMean, BilateralPass::kVariance}) {
    EXPECT_EQ(chosen(pass, 3, true, kLargeDevice), "bytes");
    EXPECT_EQ(chosen(pass, 15, true, kLargeDevice), "series") << "a large window";
    EXPECT_EQ(chosen(pass, 16, true, kLargeDevice), "any");
    EXPECT_EQ(chosen(pass, 3, false, kLargeDevice), "any") << "more than 8 bits";
    EXPECT_EQ(chosen(pass, 3, true, kSmallDevice), "any") << "too little shared memory";
  }
  EXPECT_EQ(chosen(BilateralPass::kAdapted, 15, true, kLargeDevice), "halves");
  EXPECT_EQ(chosen(BilateralPass::kAdapted, 16, true, kLargeDevice), "any");
  EXPECT_EQ(chosen(BilateralPass::kAdapted, 15, false, kLargeDevice), "any");
}

TEST_F(Bilateral, EveryRadius) {
  const SamplesOnDevice plane(157, 71, 25);
  for (int radius = 1; radius <= 15; ++radius) {
    check_bilateral(plane, weights_of(radius, 40), 7);
  }
  check_bilateral(plane, weights_of(31, 40), 97);
}

TEST_F(Bilateral, RangeSigmasFromNothingToAll) {
  const SamplesOnDevice plane(130, 40, 60);
  for (const float range_sigma : {0.05F, 1.0F, 8.0F, 30.0F, 120.0F, 1000.0F}) {
    for (const float kappa : {0.05F, 0.5F, 4.0F}) {
      check_bilateral(plane, weights_of(4, range_sigma, kappa), 3);
    }
  }
}

TEST_F(Bilateral, PlanesOfAnySizeAndShapeOfTiles) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 50}, {300, 1}, {64, 32}, {129, 65}, {513, 200}}) {
    check_bilateral(SamplesOnDevice(width, height, 25), weights_of(3, 40), 1);
  }
  // Large enough for the largest tiles.
  const SamplesOnDevice large(2047, 1081, 25);
  check_bilateral(large, weights_of(2, 40), 11);
  check_bilateral(large, weights_of(5, 40), 1009);
  check_bilateral(large, weights_of(8, 40), 2003);
  check_bilateral(large, weights_of(15, 40), 4001);
}

// Other samples' weights are nearly zero, but they are many and their squared differences large: errors of
// the variances must not be visible in the results.
TEST_F(Bilateral, LoneSamples) {
  const SamplesOnDevice plane(150, 90, [random = std::mt19937(5)](int x, int y) mutable {
    return x % 11 == 5 && y % 7 == 3 ? 255 : static_cast<int>(random() % 3);
  });
  for (const float range_sigma : {8.0F, 20.0F, 45.0F}) {
    check_bilateral(plane, weights_of(15, range_sigma), 1, 1.0);
  }
}

class PatchMeans : public CudaTest {
 protected:
  static double plain_distance(const SamplesOnDevice& plane, int x, int y, int dx, int dy, int radius) {
    double sum = 0;
    int count = 0;
    for (int v = y - radius; v <= y + radius; ++v) {
      for (int u = x - radius; u <= x + radius; ++u) {
        if (plane.inside(u, v) && plane.inside(u + dx, v + dy)) {
          sum += std::pow(plane.at(u, v) - plane.at(u + dx, v + dy), 2);
          ++count;
        }
      }
    }
    return sum / count;
  }

  // Every variant.
  static void check_nlm(const SamplesOnDevice& plane, const PatchWeights& weights, int every,
                        bool expect_fast = true) {
    SCOPED_TRACE(std::to_string(plane.width) + "x" + std::to_string(plane.height) + ", patch radius " +
                 std::to_string(weights.patch_radius) + ", search radii " +
                 std::to_string(weights.search_radius_x) + ", " + std::to_string(weights.search_radius_y));
    const DeviceMemory values(static_cast<std::size_t>(plane.float_pitch()) * plane.height *
                              sizeof(std::int16_t));
    struct Result {
      std::string name;
      double tolerance;
      std::vector<double> samples;
    };
    std::vector<Result> results;
    const DeviceLimits device = device_limits();
    // Integer code values, and quarters of them as for samples of 10 bits.
    for (const MatchingScale& scale : {matching_scale(true), matching_scale(false)}) {
      PatchWeights scaled = weights;
      scaled.patch /= static_cast<float>(scale.scale * scale.scale);
      const std::string unit = scale.bytes ? "" : ", quarters";
      const PatchPlane patches{plane.plane(plane.floats), values.as<std::int16_t>(), scale, true};
      prepare_patches(patches, nullptr);
      const NlmJob job{scaled, patches, plane.plane(plane.result)};
      if (device.compute_capability >= 80) {
        EXPECT_EQ(&choose(nlm_variants(), job, device) != &nlm_variants().back(), expect_fast);
      }
      for (const NlmVariant& variant : nlm_variants()) {
        if (variant.can(job, device)) {
          variant.run(job, nullptr);
          const bool reference = &variant == &nlm_variants().back();
          results.push_back(
              {variant.name + unit, reference ? 0.01 : 0.1, plane.download_floats(plane.result)});
        }
      }
    }
    for (std::size_t i = 0; i < plane.samples.size(); i += every) {
      const int x = static_cast<int>(i) % plane.width;
      const int y = static_cast<int>(i) / plane.width;
      const Means expected =
          plain_means(plane, x, y, std::max(weights.search_radius_x, weights.search_radius_y),
                      [&](int dx, int dy, double difference) {
                        const double distance = plain_distance(plane, x, y, dx, dy, weights.patch_radius);
                        const auto number = [](float value) { return static_cast<double>(value); };
                        return std::max(number(weights.patch) * distance - number(weights.offset), 0.0) +
                               number(weights.range) * difference * difference +
                               number(weights.spatial) * (dx * dx + dy * dy);
                      });
      for (const Result& result : results) {
        ASSERT_NEAR(result.samples[i], expected.value, result.tolerance)
            << result.name << " at " << x << ", " << y;
      }
    }
  }

  static PatchWeights nlm(const SamplesOnDevice& plane, int patch, int window, float h) {
    return make_weights(NlmParameters{patch, window, h}, 20, matching_scale(true), plane.width, plane.height);
  }
  static PatchWeights nlm_bilateral(const SamplesOnDevice& plane, int patch, int window, float patch_sigma,
                                    std::optional<float> spatial_sigma) {
    return make_weights(NlmBilateralParameters{patch, window, patch_sigma, 60.0F, spatial_sigma}, 20,
                        matching_scale(true), plane.width, plane.height);
  }
};

TEST_F(PatchMeans, PatchesOfEverySize) {
  const SamplesOnDevice plane(205, 110, 25);
  for (const int patch : {1, 3, 5, 7, 9}) {
    check_nlm(plane, nlm(plane, patch, 9, 9), 7);
    check_nlm(plane, nlm_bilateral(plane, patch, 9, 15, {}), 7);
  }
  for (const int patch : {11, 21}) {
    check_nlm(plane, nlm(plane, patch, 9, 9), 97, false);
  }
}

TEST_F(PatchMeans, WindowsOfEverySize) {
  const SamplesOnDevice plane(205, 110, 25);
  for (const int window : {1, 3, 21, 35, 71}) {
    check_nlm(plane, nlm(plane, 7, window, 9), 211);
    check_nlm(plane, nlm_bilateral(plane, 7, window, 15, 6.0F), 211);
  }
  check_nlm(plane, nlm_bilateral(plane, 3, 0, 15, {}), 1009, false);
}

TEST_F(PatchMeans, PlanesOfAnySize) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 50}, {300, 1}, {64, 32}, {65, 33}, {100, 20}}) {
    const SamplesOnDevice plane(width, height, 40);
    check_nlm(plane, nlm(plane, 5, 11, 12), 1);
    check_nlm(plane, nlm_bilateral(plane, 5, 11, 20, 4.0F), 1);
  }
}

TEST_F(PatchMeans, StrengthsFromNothingToAll) {
  const SamplesOnDevice plane(160, 70, 60);
  for (const float h : {4.5F, 20.0F, 200.0F, 1000.0F}) {
    check_nlm(plane, nlm(plane, 7, 9, h), 5);
  }
  // Noise so weak that distances in half floats are too coarse to compare with 2 sigma^2.
  check_nlm(plane, nlm(plane, 7, 9, 1), 5, false);
  for (const float patch_sigma : {0.01F, 3.0F, 100.0F, 1000.0F}) {
    check_nlm(plane, nlm_bilateral(plane, 7, 9, patch_sigma, {}), 5);
  }
}

class EdgePreservingEngine : public CudaTest {};

TEST_F(EdgePreservingEngine, IsWithinOneCodeValueOfTheCpuEverywhere) {
  const auto gpu = open_cuda("cuda:0", {});
  const auto cpu = engine_registry().open("cpu");
  const std::vector<Filter> filters = {BilateralParameters{},
                                       BilateralParameters{.radius = 15, .spatial_sigma = 5.0F},
                                       AdaptiveBilateralParameters{},
                                       AdaptiveBilateralParameters{.radius = 15, .spatial_sigma = 5.0F},
                                       NlmParameters{},
                                       NlmParameters{.patch_size = 7, .search_window = 21},
                                       NlmBilateralParameters{}};
  for (const FrameFormat& format : {oracle::yuv(1930, 1081, 1, 1), oracle::gray(640, 361, 10),
                                    oracle::rgb(300, 200, 16), oracle::as_float(oracle::gray(301, 203))}) {
    const Frame frame = oracle::add_noise(oracle::draw_picture(format), 20, 5);
    for (const Filter& filter : filters) {
      SCOPED_TRACE(std::string(to_string(filter)) + ", " + to_string(format));
      const NoiseModel noise{{20, 20, 20}};
      const Frame result = run_filter(*gpu, frame, filter, noise);
      const oracle::Agreement agreement = oracle::compare(result, run_filter(*cpu, frame, filter, noise));
      EXPECT_LE(agreement.greatest, 1) << oracle::to_string(agreement);
      EXPECT_TRUE(oracle::same_bits(result, run_filter(*gpu, frame, filter, noise)));
    }
  }
}

TEST_F(EdgePreservingEngine, MemoryIsThatOfAFewPlanes) {
  EXPECT_LT(make_frame_filter(NlmParameters(), oracle::rgb(5616, 3744))->memory(), std::size_t{256} << 20);
}

}  // namespace
}  // namespace limpid::cuda
