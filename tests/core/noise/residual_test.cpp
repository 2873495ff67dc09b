// SPDX-License-Identifier: MIT
#include "core/noise/residual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engine/residual_check.h"
#include "core/engines.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "tests/core/noise/scenes.h"

namespace limpid {
namespace {

using test::gray_format;
using test::render;
using test::Scene;

double half_textured(int /*plane*/, int x, int y) {
  return 120 + (x < 160 ? 0.02 * y : 12 * std::sin(1.9 * x + 0.7 * y + 0.001 * x * y) * std::cos(1.3 * y));
}

TEST(Residual, IsEqualInFlatAndTexturedPlacesIfItIsNoise) {
  const Frame clean = render(gray_format(320, 240, 16), half_textured, 0);
  const Frame noisy = render(gray_format(320, 240, 16), half_textured, 8, 1);
  EXPECT_NEAR(noise::residual_ratio(noisy, clean, {{8}}), 1, 0.1);
}

TEST(Residual, IsGreatWhereTextureWasRemoved) {
  const Scene flat = [](int, int x, int y) { return 120 + (x < 160 ? 0.02 * y : 0.01 * x); };
  const Frame picture = render(gray_format(320, 240, 16), half_textured, 0);
  EXPECT_GT(noise::residual_ratio(picture, render(gray_format(320, 240, 16), flat, 0), {{3}}), 5);
  EXPECT_EQ(noise::residual_ratio(picture, picture, {{0}}), 1);
}

TEST(Residual, IsRelativeToTheCurve) {
  // Bright areas have more noise, and more texture.
  const auto level = [](int x) { return x < 160 ? 3.0F : 9.0F; };
  const Scene scene = [](int, int x, int y) { return x < 160 ? 60 : 200 + 9 * std::sin(0.9 * x + y); };
  const Frame clean = render(gray_format(320, 240, 16), scene, 0);
  const std::vector<double> unit = test::make_noise(320, 240, 1, false, 3);
  const Frame noisy = render(
      gray_format(320, 240, 16),
      [&](int p, int x, int y) { return scene(p, x, y) + static_cast<double>(level(x)) * unit[y * 320 + x]; },
      0);
  NoiseModel model{{6}};
  for (std::size_t i = 0; i < model.shape[0].curve.size(); ++i) {
    model.shape[0].curve[i] = i < 8 ? 0.5F : 1.5F;
  }
  EXPECT_NEAR(noise::residual_ratio(noisy, clean, model), 1, 0.25);
  EXPECT_GT(noise::residual_ratio(noisy, clean, {{6}}), 3);
}

TEST(ResidualCheck, LowersALevelThatRemovesTexture) {
  const std::shared_ptr<Engine> engine = engine_registry().open("cpu");
  ResidualCheck check(*engine);
  const Frame noisy = render(gray_format(320, 240), half_textured, 8, 1);
  EXPECT_EQ(check.supported_strength(noisy, {{8}}), 1);
  // Irregular texture without similar patches.
  const std::vector<double> texture = test::make_noise(320, 240, 14, true, 5);
  const Frame clean = render(
      gray_format(320, 240),
      [&](int, int x, int y) { return 120 + (x < 160 ? 0.02 * y : texture[y * 320 + x]); }, 0);
  const float strength = check.supported_strength(clean, {{8}});
  EXPECT_LT(strength, 0.8F);
  EXPECT_EQ(check.supported_strength(clean, {{8}}), strength);
  EXPECT_EQ(check.supported_strength(clean, {{0}}), 1);
}

}  // namespace
}  // namespace limpid
