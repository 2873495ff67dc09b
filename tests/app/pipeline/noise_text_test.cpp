// SPDX-License-Identifier: MIT
#include "app/pipeline/noise_text.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "app/console/logging.h"
#include "tests/app/console/silent_logging.h"

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

TEST(NoiseLog, WarnsOnceOfManyFramesWithoutNoise) {
  // Broken pictures of MJPEG, which are gray, interrupt the noise of the others.
  const SilentLogging silence;
  const WarningRecorder recorder;
  const NoiseControl::Listener log = noise_log(NoiseSettings());
  Frame frame;
  frame.format.width = frame.format.height = 8;
  for (int i = 0; i < 20; ++i) {
    frame.index = i;
    log({NoiseModel{{i % 2 == 0 ? 5.0F : 0.0F, 0, 0}}}, {}, frame);
  }
  ASSERT_EQ(recorder.warnings().size(), 1U);
  EXPECT_TRUE(recorder.warnings()[0].starts_with("no noise was found, so frames pass unchanged"));
}

TEST(NoiseLog, WarnsOnceOfAGivenLevelThatChangesNoSample) {
  const SilentLogging silence;
  Frame frame;
  frame.format.width = frame.format.height = 8;
  const auto warnings_for = [&](float sigma) {
    const WarningRecorder recorder;
    const NoiseModel level{{sigma, sigma, sigma}};
    const NoiseControl::Listener log = noise_log({.noise = NoiseProfile{level, std::nullopt}});
    log({level}, level, frame);
    log({level}, level, frame);
    return recorder.warnings();
  };
  ASSERT_EQ(warnings_for(0.05F).size(), 1U);
  EXPECT_EQ(
      warnings_for(0.05F)[0],
      "the noise level 0.05 changes hardly any sample: levels are in code values of 8 bits, and visible "
      "noise has 2 to 20");
  EXPECT_TRUE(warnings_for(0).empty());
  EXPECT_TRUE(warnings_for(0.5F).empty());
  frame.format.sample_type = SampleType::kUint16;
  frame.format.bit_depth = 16;
  EXPECT_TRUE(warnings_for(0.05F).empty());
}

TEST(NoiseText, LevelsOfDeepPicturesHaveTwoDigitsAndSteps) {
  FrameFormat format;
  format.color_model = ColorModel::kGray;
  EXPECT_EQ(plane_levels_text({{6.94F, 0, 0}}, format), "Y 6.9");
  EXPECT_EQ(plane_levels_text({{0.43F, 0, 0}}, format), "Y 0.43");
  EXPECT_EQ(plane_levels_text({}, format), "Y 0.0");
  format.sample_type = SampleType::kUint16;
  format.bit_depth = 16;
  EXPECT_EQ(plane_levels_text({{0.0311F, 0, 0}}, format), "Y 0.031 (8 of 65535)");
  EXPECT_EQ(plane_levels_text({{6.94F, 0, 0}}, format), "Y 6.9 (1777 of 65535)");
  format.color_model = ColorModel::kYuv;
  EXPECT_EQ(plane_levels_text({{0.72F, 0.0311F, 0}}, format),
            "Y 0.72 (184 of 65535), U 0.031 (8 of 65535), V 0.0 (0 of 65535)");
  format.sample_type = SampleType::kFloat32;
  EXPECT_EQ(plane_levels_text({{0.0311F, 0, 0}}, format), "Y 0.031, U 0.0, V 0.0");
}

TEST(NoiseText, LevelsHaveAWord) {
  EXPECT_EQ(visibility_of(0), "none");
  EXPECT_EQ(visibility_of(2.9F), "faint");
  EXPECT_EQ(visibility_of(3), "visible");
  EXPECT_EQ(visibility_of(10), "strong");
}

}  // namespace
}  // namespace limpid::app
