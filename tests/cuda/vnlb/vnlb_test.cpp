// VNLB on a GPU against the CPU engine, on pictures too large for the oracle, and its eigenvectors. What it
// must compute is in the suite of all engines, tests/core/vnlb.
#include "tests/oracle/vnlb.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/vnlb/space_time_patches.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/vnlb/patch_groups.h"
#include "tests/core/engine/temporal_suite.h"
#include "tests/core/motion/moving_pictures.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

class VnlbCuda : public CudaTest {};

void expect_agreement(const std::vector<Frame>& frames, const NoiseModel& noise) {
  const auto gpu = open_cuda("cuda:0", {});
  const auto cpu = engine_registry().open("cpu");
  for (const VnlbProfile profile : {VnlbProfile::kFast, VnlbProfile::kHigh}) {
    const auto results_of = [&](Engine& engine) {
      return test::run_stream(*engine.make_denoiser(vnlb_profile(profile), noise, frames[0].format), frames);
    };
    const std::vector<Frame> on_gpu = results_of(*gpu);
    const std::vector<Frame> on_cpu = results_of(*cpu);
    const std::vector<Frame> again = results_of(*gpu);
    ASSERT_EQ(on_gpu.size(), frames.size());
    for (std::size_t t = 0; t < frames.size(); ++t) {
      const oracle::Agreement agreement = oracle::compare(on_gpu[t], on_cpu[t]);
      EXPECT_TRUE(oracle::within_contract(agreement)) << t << ": " << oracle::to_string(agreement);
      EXPECT_TRUE(oracle::same_bits(on_gpu[t], again[t])) << t;
    }
  }
}

TEST_F(VnlbCuda, AgreesWithTheCpuAlongMotion) {
  for (const int bit_depth : {8, 10, 32}) {
    std::vector<Frame> frames;
    for (int t = 0; t < 8; ++t) {
      const auto scene = [&](int x, int y) {
        return x / 3 + y < 120 ? test::endless_texture(x + 3 * t, y - 2 * t)
                               : test::endless_texture(x - 7 * t, y, 1);
      };
      frames.push_back(test::frame_of(test::draw(203, 141, scene, 20, t + 1), bit_depth));
      frames.back().index = t;
    }
    expect_agreement(frames, {{20}});
  }
}

TEST_F(VnlbCuda, AgreesWithTheCpuInColourAndWhereNothingMoves) {
  for (const FrameFormat& format : {oracle::yuv(160, 121, 1, 1), oracle::rgb(130, 96)}) {
    std::vector<Frame> frames;
    for (int t = 0; t < 6; ++t) {
      frames.push_back(oracle::add_noise(oracle::draw_picture(format), 15, t));
      frames.back().index = t;
    }
    expect_agreement(frames, {{15, 15, 15}});
  }
}

// More candidates than a block of several warps has room for.
TEST_F(VnlbCuda, AgreesWithTheCpuForTheGreatestWindows) {
  std::vector<Frame> frames;
  for (int t = 0; t < 3; ++t) {
    frames.push_back(oracle::add_noise(oracle::draw_picture(oracle::gray(90, 80)), 15, t));
    frames.back().index = t;
  }
  VnlbParameters parameters;
  parameters.before = parameters.after = limpid::vnlb::kMostReach;
  for (VnlbStep* step : {&parameters.first, &*parameters.second}) {
    *step = {.spacing = 8, .group_size = 64, .search_window = 33, .search_window_away = 33};
  }
  const auto results_of = [&](Engine& engine) {
    return test::run_stream(*engine.make_denoiser(parameters, {{15}}, frames[0].format), frames);
  };
  const std::vector<Frame> on_gpu = results_of(*open_cuda("cuda:0", {}));
  const std::vector<Frame> on_cpu = results_of(*engine_registry().open("cpu"));
  for (std::size_t t = 0; t < frames.size(); ++t) {
    const oracle::Agreement agreement = oracle::compare(on_gpu[t], on_cpu[t]);
    EXPECT_TRUE(oracle::within_contract(agreement)) << t << ": " << oracle::to_string(agreement);
  }
}

// A symmetric matrix of a rank, with eigenvalues that are alike, and very different.
std::vector<double> make_products(int size, int rank, double greatest, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<double> products(static_cast<std::size_t>(size) * size);
  for (int r = 0; r < rank; ++r) {
    std::vector<double> vector(size);
    for (double& value : vector) {
      value = normal(random) * (r == 0 ? greatest : 1);
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        products[i * size + j] += vector[i] * vector[j];
        products[i * size + j] += ((i + j) % 2 == 0 ? 1 : -1) * vector[std::min(i ^ 1, size - 1)] *
                                  vector[std::min(j ^ 1, size - 1)];
      }
    }
  }
  return products;
}

// Of a matrix's eigenvectors, those that a step keeps, multiplied by their factors.
std::vector<double> filter_of(std::vector<double> products, int size, bool second_step) {
  std::vector<double> vectors;
  oracle::decompose(products, size, vectors);
  std::vector<double> filter(static_cast<std::size_t>(size) * size);
  const float edge = limpid::vnlb::noise_edge(size, 128);
  for (int k = 0; k < size; ++k) {
    const auto x = static_cast<float>(products[k * size + k]);
    const float factor = second_step
                             ? limpid::vnlb::second_step_factor(x) / (x * static_cast<float>(size - 1))
                             : limpid::vnlb::first_step_factor(x, edge);
    for (int i = 0; factor > 0 && i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        filter[i * size + j] += double{factor} * vectors[k * size + i] * vectors[k * size + j];
      }
    }
  }
  return filter;
}

TEST_F(VnlbCuda, KeepsTheEigenvectorsThatAreDefined) {
  std::mt19937 random(8);
  for (const int size : {1, 2, 3, 16, 31, 32, 33, 48, 63, 64}) {
    const int capacity = PatchGroups::capacity_for(size);
    std::vector<std::vector<double>> products;
    for (const int rank : {0, 1, size / 2, size}) {
      for (const double greatest : {1.0, 10.0}) {
        products.push_back(make_products(size, rank, greatest, random));
      }
    }
    const std::size_t square = static_cast<std::size_t>(capacity) * capacity;
    std::vector<float> matrices(products.size() * square);
    for (std::size_t g = 0; g < products.size(); ++g) {
      for (int i = 0; i < size * size; ++i) {
        matrices[g * square + static_cast<std::size_t>(i / size) * capacity + i % size] =
            static_cast<float>(products[g][i]);
      }
    }
    const std::vector<int> shapes(products.size(), size + 2 * PatchGroups::kSlicesUnit);
    const DeviceMemory memory(PatchGroups::bytes_of(capacity) * products.size());
    const PatchGroups groups = PatchGroups::in(memory.as(), capacity, products.size());
    for (const bool second_step : {false, true}) {
      check(cudaMemcpy(groups.matrices, matrices.data(), matrices.size() * sizeof(float),
                       cudaMemcpyHostToDevice));
      check(cudaMemcpy(groups.shapes, shapes.data(), shapes.size() * sizeof(int), cudaMemcpyHostToDevice));
      decompose_patch_groups(groups, static_cast<int>(products.size()), second_step, nullptr);
      std::vector<float> vectors(matrices.size());
      std::vector<float> factors(products.size() * capacity);
      std::vector<int> kept(products.size());
      check(cudaMemcpy(vectors.data(), groups.matrices, vectors.size() * sizeof(float),
                       cudaMemcpyDeviceToHost));
      check(
          cudaMemcpy(factors.data(), groups.factors, factors.size() * sizeof(float), cudaMemcpyDeviceToHost));
      check(cudaMemcpy(kept.data(), groups.kept, kept.size() * sizeof(int), cudaMemcpyDeviceToHost));
      for (std::size_t g = 0; g < products.size(); ++g) {
        const std::vector<double> expected =
            size > 1 ? filter_of(products[g], size, second_step) : std::vector<double>(1);
        double greatest = 1e-6;
        for (const double value : expected) {
          greatest = std::max(greatest, std::abs(value));
        }
        for (int i = 0; i < size * size; ++i) {
          double value = 0;
          for (int k = 0; k < kept[g]; ++k) {
            const float* vector = vectors.data() + g * square + static_cast<std::size_t>(k) * capacity;
            value += double{factors[g * capacity + k]} * double{vector[i / size]} * double{vector[i % size]};
          }
          ASSERT_NEAR(value, expected[i], 1e-3 * greatest) << size << ", matrix " << g;
        }
      }
    }
  }
}

}  // namespace
}  // namespace limpid::cuda
