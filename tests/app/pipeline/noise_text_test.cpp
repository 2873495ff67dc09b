// SPDX-License-Identifier: MIT
#include "app/pipeline/noise_text.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace limpid::app {
namespace {

NoiseModel model(float repetition) {
  NoiseModel noise{{10, 4, 0}};
  for (std::size_t i = 0; i < noise.shape[0].spectrum.size(); ++i) {
    noise.shape[0].spectrum[i] = i < 32 ? 1.75F : 0.25F;
  }
  for (NoiseShape& shape : noise.shape) {
    shape.repetition = repetition;
  }
  return noise;
}

TEST(NoiseText, TellsHowMuchOfLumasNoiseRepeats) {
  EXPECT_EQ(shape_text(model(0), ColorModel::kYuv), "smooth in Y");
  EXPECT_EQ(shape_text(model(0.65F), ColorModel::kYuv), "smooth in Y; 65 % repeats");
  EXPECT_EQ(repetition_text(model(0.65F).plane(1)), "65 % repeats");
  EXPECT_EQ(repetition_text(model(0.65F).plane(2)), "") << "there is no noise";
}

TEST(NoiseText, OpponentChannelsAreDescribedByTheFirst) {
  NoiseModel noise{{10, 10, 10}};
  noise.opponent[0].sigma = 6;
  noise.opponent[0].shape.repetition = 0.5F;
  EXPECT_EQ(shape_text(noise, ColorModel::kRgb), "50 % repeats");
}

}  // namespace
}  // namespace limpid::app
