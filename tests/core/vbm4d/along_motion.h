// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vnlb/vnlb_parameters.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/vbm4d.h"
#include "tests/oracle/vnlb.h"

// Helpers for tests of V-BM4D and VNLB.

namespace limpid::test {

/// Parameters for pictures of some 40x40 samples.
template <typename Parameters>
Parameters small_parameters();

template <>
inline Vbm4dParameters small_parameters() {
  Vbm4dParameters parameters;
  parameters.before = 2;
  parameters.after = 1;
  parameters.hard_threshold.spacing = 5;
  parameters.wiener->spacing = 4;
  parameters.hard_threshold.search_window = parameters.wiener->search_window = 9;
  parameters.wiener->max_distance = 800;
  parameters.wiener->trajectory_threshold = 1.5F;
  return parameters;
}

template <>
inline VnlbParameters small_parameters() {
  VnlbParameters parameters;
  parameters.before = 1;
  parameters.after = 1;
  parameters.first = {.spacing = 7, .group_size = 20, .search_window = 5, .temporal_search_window = 3};
  parameters.second = {.spacing = 6, .group_size = 17, .search_window = 5, .temporal_search_window = 3};
  return parameters;
}

/// Noise whose spectrum falls and whose deviation rises with brightness.
inline NoiseModel shaped_noise() {
  NoiseModel noise = white_noise();
  for (NoiseShape& shape : noise.shape) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) {
      shape.spectrum[i] = 1.0F / (1 + 0.2F * static_cast<float>(i / 8 + 2 * (i % 8)));
      sum += double{shape.spectrum[i]};
    }
    for (float& variance : shape.spectrum) {
      variance *= static_cast<float>(64 / sum);
    }
    for (std::size_t i = 0; i < shape.curve.size(); ++i) {
      shape.curve[i] = 0.7F + 0.04F * static_cast<float>(i);
    }
  }
  return noise;
}

/// The engine's results agree with the oracle's. `noise`: of all frames, or of each frame. `doubled`: the
/// number of samples whose difference in rounding may be doubled by the correction of clipping.
template <typename Parameters>
void expect_as_defined(Engine& engine, const std::vector<Frame>& frames, const Parameters& parameters,
                       const std::vector<NoiseModel>& noise, std::size_t doubled = 0) {
  const std::vector<Frame> expected = oracle::denoise(frames, parameters, noise);
  const std::unique_ptr<Denoiser> denoiser =
      engine.make_denoiser(parameters, noise.front(), frames.front().format);
  std::vector<Frame> results;
  for (std::size_t t = 0; t < frames.size(); ++t) {
    denoiser->set_noise(noise[noise.size() == 1 ? 0 : t]);
    denoiser->send(frames[t]);
  }
  denoiser->flush();
  while (std::optional<Frame> result = denoiser->receive()) {
    results.push_back(std::move(*result));
  }
  ASSERT_EQ(results.size(), frames.size());
  for (std::size_t t = 0; t < results.size(); ++t) {
    oracle::Agreement agreement = oracle::compare(results[t], expected[t]);
    if (agreement.greatest <= 2) {
      agreement.over_one -= std::min(agreement.over_one, doubled);
    }
    EXPECT_TRUE(oracle::within_contract(agreement)) << "frame " << t << ": " << to_string(agreement);
    EXPECT_EQ(results[t].index, frames[t].index);
  }
}

/// A test of one temporal filter on an engine.
template <typename Parameters>
class TemporalSuite : public EngineSuite {
 protected:
  std::vector<Frame> run(const std::vector<Frame>& frames, const Parameters& parameters = {},
                         const NoiseModel& noise = white_noise()) {
    return run_stream(*engine().make_denoiser(parameters, noise, frames.front().format), frames);
  }
  void expect_as_defined(const std::vector<Frame>& frames, const Parameters& parameters = {},
                         const std::vector<NoiseModel>& noise = {white_noise()}, std::size_t doubled = 0) {
    test::expect_as_defined(engine(), frames, parameters, noise, doubled);
  }
};

}  // namespace limpid::test
