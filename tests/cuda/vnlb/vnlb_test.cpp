// SPDX-License-Identifier: MIT
// VNLB on a GPU compared with the CPU engine, on pictures too large for the oracle, and its filter of
// eigenvalues. The suite of all engines, tests/core/vnlb, defines its results.
#include "tests/oracle/vnlb.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
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

void expect_same_estimates(const std::vector<Frame>& frames, const NoiseModel& noise) {
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
    expect_same_estimates(frames, {{20}});
  }
}

TEST_F(VnlbCuda, AgreesWithTheCpuInColorAndWhereNothingMoves) {
  for (const FrameFormat& format : {oracle::yuv(160, 121, 1, 1), oracle::rgb(130, 96)}) {
    std::vector<Frame> frames;
    for (int t = 0; t < 6; ++t) {
      frames.push_back(oracle::add_noise(oracle::draw_picture(format), 15, t));
      frames.back().index = t;
    }
    expect_same_estimates(frames, {{15, 15, 15}});
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
    *step = {.spacing = 8, .group_size = 64, .search_window = 33, .temporal_search_window = 33};
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

TEST_F(VnlbCuda, FiltersEigenvaluesAsDefined) {
  std::mt19937 random(8);
  for (const int size : {1, 2, 3, 16, 31, 32, 33, 48, 63, 64}) {
    const int capacity = PatchGroups::capacity_for(size);
    std::vector<std::vector<double>> products;
    for (const int rank : {0, 1, size / 2, size}) {
      for (const double greatest : {1.0, 30.0}) {
        products.push_back(oracle::make_products(size, rank, greatest, random));
      }
    }
    const std::size_t square = static_cast<std::size_t>(capacity) * capacity;
    const auto at = [&](std::size_t group, int i) {
      return group * square + static_cast<std::size_t>(i / size) * capacity + i % size;
    };
    std::vector<float> matrices(products.size() * square);
    for (std::size_t g = 0; g < products.size(); ++g) {
      for (int i = 0; i < size * size; ++i) {
        matrices[at(g, i)] = static_cast<float>(products[g][i]);
      }
    }
    const std::vector<int> shapes(products.size(), size + 2 * PatchGroups::kSlicesUnit);
    const DeviceMemory memory(PatchGroups::bytes_of(capacity) * products.size());
    const PatchGroups groups = PatchGroups::in(memory.as(), capacity, products.size());
    for (const bool second_step : {false, true}) {
      check(cudaMemcpy(groups.matrices, matrices.data(), matrices.size() * sizeof(float),
                       cudaMemcpyHostToDevice));
      check(cudaMemcpy(groups.shapes, shapes.data(), shapes.size() * sizeof(int), cudaMemcpyHostToDevice));
      filter_eigenvalues(groups, static_cast<int>(products.size()), second_step, nullptr);
      std::vector<float> filters(matrices.size());
      std::vector<float> kept(matrices.size());
      check(cudaMemcpy(filters.data(), groups.matrices, filters.size() * sizeof(float),
                       cudaMemcpyDeviceToHost));
      check(cudaMemcpy(kept.data(), groups.kept, kept.size() * sizeof(float), cudaMemcpyDeviceToHost));
      const double most = second_step && size > 1 ? 1.0 / (size - 1) : 1;
      for (std::size_t g = 0; g < products.size(); ++g) {
        const std::vector<double> nothing(1);
        const limpid::vnlb::EigenvalueFilter filter = limpid::vnlb::eigenvalue_filter(
            second_step, size, limpid::vnlb::noise_edge(std::max(size, 2), 128),
            oracle::trace(products[g], size));
        limpid::vnlb::EigenvalueFilter alone = filter;
        alone.constant = 1;
        alone.inverse = -filter.bound;
        const auto expected = size > 1 ? oracle::filter_eigenvalues(products[g], size, filter) : nothing;
        const auto expected_kept = size > 1 ? oracle::filter_eigenvalues(products[g], size, alone) : nothing;
        for (int i = 0; i < size * size; ++i) {
          ASSERT_NEAR(filters[at(g, i)], expected[i], 3e-4 * most) << size << ", matrix " << g;
          if (second_step) {
            ASSERT_NEAR(kept[at(g, i)], expected_kept[i], 3e-4) << size << ", matrix " << g;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace limpid::cuda
