// SPDX-License-Identifier: MIT
#include "tests/oracle/vbm4d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/frame/metrics.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "core/vnlb/vnlb_parameters.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/vbm4d/along_motion.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/cpu/simd_level.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/samples.h"

namespace limpid {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;
using test::clean_picture;
using test::kSigma;
using test::noisy_clip;
using test::relit;
using test::run_stream;
using test::store_sample;
using test::white_noise;

Vbm4dParameters small_parameters() { return test::small_parameters<Vbm4dParameters>(); }

class Vbm4dTest : public test::TemporalSuite<Vbm4dParameters> {};

TEST_P(Vbm4dTest, AgreesWithTheOracleForAllParameters) {
  const std::vector<Frame> frames = noisy_clip(gray(48, 40), 9, static_cast<double>(kSigma));
  Vbm4dParameters parameters = small_parameters();
  parameters.before = 8;
  parameters.after = 8;
  expect_as_defined(frames, parameters);
  parameters.wiener.reset();
  expect_as_defined(frames, parameters);
  parameters = small_parameters();
  parameters.delay = 0;
  expect_as_defined(frames, parameters);
  parameters.delay = 3;
  expect_as_defined(frames, parameters);
  parameters = small_parameters();
  parameters.before = 3;
  parameters.after = 11;
  expect_as_defined(frames, parameters);
  parameters = small_parameters();
  parameters.before = 0;
  parameters.after = 0;
  expect_as_defined(frames, parameters);
  parameters = small_parameters();
  parameters.hard_threshold.max_group_size = 1;
  parameters.wiener->max_group_size = 4;
  parameters.hard_threshold.kaiser_beta = 0;
  parameters.lambda = 3.2F;
  expect_as_defined(frames, parameters);
  parameters.hard_threshold.trajectory_threshold = 2;
  parameters.wiener->trajectory_threshold = 0.1F;
  expect_as_defined(frames, parameters);
}

TEST_P(Vbm4dTest, AgreesWithTheOracleFarBackAlone) {
  Vbm4dParameters parameters = vbm4d_live_profile(Vbm4dProfile::kNp);
  EXPECT_EQ(parameters.before, 16);
  parameters.hard_threshold.spacing = parameters.wiener->spacing = 4;
  expect_as_defined(noisy_clip(yuv(24, 20, 1, 1, 10), 18, static_cast<double>(kSigma)), parameters);
  parameters.before = 11;
  parameters.motion_precision = 1;
  expect_as_defined(noisy_clip(as_float(gray(24, 20)), 13, static_cast<double>(kSigma)), parameters);
}

// Noise factors below 1 for constant coefficients, and above 1 for changing ones.
Vbm4dParameters with_noise_over_time(Vbm4dParameters parameters) {
  parameters.hard_threshold.constant_threshold = 0.75F;
  parameters.hard_threshold.changing_threshold = 1.3F;
  parameters.wiener->constant_threshold = 0.8F;
  parameters.wiener->changing_threshold = 1.5F;
  return parameters;
}

TEST_P(Vbm4dTest, AgreesWithTheOracleWhereNoiseIsTakenToDifferOverTime) {
  const std::vector<Frame> frames = noisy_clip(yuv(40, 36, 1, 1), 9, static_cast<double>(kSigma));
  Vbm4dParameters parameters = with_noise_over_time(small_parameters());
  expect_as_defined(frames, parameters);
  parameters.before = parameters.after = 8;
  expect_as_defined(frames, parameters);
  parameters.before = parameters.after = 2;
  parameters.hard_threshold.max_group_size = parameters.wiener->max_group_size = 3;
  expect_as_defined(frames, parameters);
}

// A texture that moves by fractions of a sample from picture to picture.
Frame drifting_picture(const FrameFormat& format, int t) {
  const auto texture = [](double x, double y) {
    return 128 + 45 * std::sin(1.5 * x + 0.2 * y) + 40 * std::sin(1.2 * y - 0.3 * x);
  };
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    const int shift_x = p > 0 ? format.chroma_shift_x : 0;
    const int shift_y = p > 0 ? format.chroma_shift_y : 0;
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        store_sample(frame, p, x, y, texture((x << shift_x) + 0.3 * t, (y << shift_y) - 0.45 * t));
      }
    }
  }
  return frame;
}

std::vector<Frame> drifting_clip(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  for (int t = 0; t < count; ++t) {
    frames.push_back(oracle::add_noise(drifting_picture(format, t), static_cast<double>(kSigma), 100 + t));
    frames.back().index = t;
  }
  return frames;
}

TEST_P(Vbm4dTest, FollowsMotionToQuartersOfASample) {
  const FrameFormat formats[] = {gray(41, 35), gray(40, 33, 10), yuv(44, 38, 1, 1), as_float(rgb(33, 35))};
  for (const FrameFormat& format : formats) {
    const std::vector<Frame> frames = drifting_clip(format, 6);
    Vbm4dParameters parameters = small_parameters();
    parameters.motion_precision = 4;
    expect_as_defined(frames, parameters);
    parameters.before = 3;
    parameters.delay = 0;
    parameters.wiener->max_group_size = format.is_float() ? 1 : parameters.wiener->max_group_size;
    expect_as_defined(frames, parameters);
  }
  const std::vector<Frame> frames = noisy_clip(gray(48, 40), 18, static_cast<double>(kSigma));
  Vbm4dParameters parameters = small_parameters();
  parameters.before = parameters.after = 8;
  parameters.motion_precision = 4;
  expect_as_defined(frames, parameters);
}

TEST_P(Vbm4dTest, QuartersOfASampleGiveABetterEstimateOfWhatDrifts) {
  const FrameFormat format = gray(64, 48);
  constexpr int kFrames = 7;
  const std::vector<Frame> frames = drifting_clip(format, kFrames);
  Vbm4dParameters parameters = small_parameters();
  parameters.before = 6;
  parameters.delay = 0;
  const auto psnr_of = [&](int precision) {
    parameters.motion_precision = precision;
    const std::vector<Frame> results = run(frames, parameters);
    return oracle::compare(results.back(), drifting_picture(format, kFrames - 1)).psnr;
  };
  EXPECT_GT(psnr_of(4), psnr_of(1) + 0.5);
}

TEST_P(Vbm4dTest, OneFrameHasNoNoiseOverTime) {
  const std::vector<Frame> frames = noisy_clip(gray(48, 40), 2, static_cast<double>(kSigma));
  Vbm4dParameters parameters = small_parameters();
  parameters.before = parameters.after = 0;
  const std::vector<Frame> expected = run(frames, parameters);
  const std::vector<Frame> results = run(frames, with_noise_over_time(parameters));
  test::expect_same(results, expected);
}

TEST_P(Vbm4dTest, AgreesWithTheOracleForNoiseThatRepeats) {
  const std::vector<Frame> frames = noisy_clip(yuv(40, 36, 1, 1), 6, static_cast<double>(kSigma));
  NoiseModel noise = test::shaped_noise();
  expect_as_defined(frames, with_noise_over_time(small_parameters()), {noise});
  for (NoiseShape& shape : noise.shape) {
    shape.curve.scale = {.origin = 70, .spacing = 5};
  }
  expect_as_defined(frames, small_parameters(), {noise});
  // Noise that repeats from frame to frame.
  noise.shape[0].repetition = 0.6F;
  noise.shape[1].repetition = 0.9F;
  expect_as_defined(frames, small_parameters(), {noise});
  noise = {{9, 4, 14}};
  expect_as_defined(noisy_clip(rgb(34, 33), 5, 9), small_parameters(), {noise});
  noise.shape[1].repetition = 0.5F;
  expect_as_defined(noisy_clip(rgb(34, 33), 5, 9), small_parameters(), {noise});
}

TEST_P(Vbm4dTest, TakesTheNoiseOfTheReferencesFrame) {
  const auto expect_as_defined_for = [&](const std::vector<Frame>& frames, float first, float difference) {
    std::vector<NoiseModel> noise;
    for (std::size_t t = 0; t < frames.size(); ++t) {
      noise.push_back({{first + static_cast<float>(t) * difference}});
    }
    expect_as_defined(frames, small_parameters(), noise);
  };
  expect_as_defined_for(noisy_clip(gray(40, 34), 7, static_cast<double>(kSigma)), 8, 0.5F);
  // The guides' scales differ from frame 3 on.
  expect_as_defined_for(noisy_clip(gray(40, 34, 16), 7, 0.25), 0.22F, 0.011F);
}

TEST_P(Vbm4dTest, AgreesWithTheOracleInFaintNoiseOfDeepPictures) {
  const auto faint_clip = [](const FrameFormat& format) {
    std::vector<Frame> frames;
    for (int t = 0; t < 5; ++t) {
      Frame frame = clean_picture(format, t);
      test::flatten(frame, 0.01);
      frames.push_back(oracle::add_noise(frame, 0.2, 100 + t));
      frames.back().index = t;
    }
    return frames;
  };
  expect_as_defined(faint_clip(gray(48, 40, 16)), small_parameters(), {white_noise(0.2F)});
  expect_as_defined(faint_clip(as_float(rgb(34, 33))), small_parameters(), {white_noise(0.2F)});
  // The full range folds.
  expect_as_defined(noisy_clip(yuv(48, 40, 1, 1, 12), 5, 0.2), small_parameters(), {white_noise(0.2F)});
  NoiseModel noise = white_noise(0.2F);
  noise.shape[0].curve.fill(0.5F);
  expect_as_defined(noisy_clip(yuv(48, 40, 1, 1, 12), 5, 0.2), small_parameters(), {noise});
  noise.shape[1].curve.back() = 2;
  expect_as_defined(noisy_clip(yuv(48, 40, 1, 1, 12), 5, 0.2), small_parameters(), {noise});
  expect_as_defined(noisy_clip(yuv(40, 34, 0, 0, 10), 5, 0.2), small_parameters(), {noise});
}

// Stars, cells and thermal pictures: their contrast is a few code values of 8 bits.
TEST_P(Vbm4dTest, FaintSignalsAreMatchedAsIfStretched) {
  const auto quality = [&](double stretch) {
    std::vector<Frame> clean;
    std::vector<Frame> noisy;
    for (int t = 0; t < 7; ++t) {
      clean.push_back(clean_picture(gray(96, 80, 16), t));
      test::flatten(clean.back(), 0.02 * stretch);
      noisy.push_back(oracle::add_noise(clean.back(), 0.2 * stretch, 100 + t));
      noisy.back().index = t;
    }
    const std::vector<Frame> result =
        run(noisy, vbm4d_profile(Vbm4dProfile::kFast), white_noise(static_cast<float>(0.2 * stretch)));
    double sum = 0;
    for (std::size_t t = 0; t < clean.size(); ++t) {
      sum += measure(clean[t], result[t])[0].psnr + 20 * std::log10(stretch);
    }
    return sum / static_cast<double>(clean.size());
  };
  EXPECT_NEAR(quality(1), quality(25), 0.3);
}

// The differences of equal patches scatter more, as coarse noise has fewer independent values in a patch.
TEST(Vbm4dPlan, TrajectoriesEndLaterInCoarseNoise) {
  const FrameFormat format = gray(64, 48);
  const Vbm4dParameters parameters = small_parameters();
  const auto ends = [&](const NoiseShape& shape) {
    NoiseModel noise = white_noise(10);
    noise.shape[0] = shape;
    const Vbm4dPlan plan = make_plan(parameters, format, noise, plane_heights(format, PictureRows()));
    return std::pair(plan.bounds[0][0].greatest, plan.bounds[0][1].greatest);
  };
  NoiseShape coarse;
  coarse.spectrum.fill(0.5);
  coarse.spectrum[0] = 32.5;
  const double scatter = std::sqrt((32.5 * 32.5 + 63 * 0.25) / 64);
  const double unit = 64 * 10 * 10;
  EXPECT_EQ(ends(NoiseShape()), std::pair(static_cast<int>(5 * unit), static_cast<int>(1.5 * unit)));
  EXPECT_NEAR(ends(coarse).first, (2 + 3 * scatter) * unit, 1);
  EXPECT_NEAR(ends(coarse).second, 1.5 * scatter * unit, 1);
}

TEST_P(Vbm4dTest, FramesWithOtherNoiseAreFilteredSeparately) {
  const FrameFormat format = gray(80, 64);
  Vbm4dParameters parameters = small_parameters();
  parameters.after = 0;
  const auto depends_on_first = [&](double first_sigma, double second_sigma) {
    const NoiseModel noise = white_noise(static_cast<float>(second_sigma));
    const Frame first = oracle::add_noise(clean_picture(format, 0), first_sigma, 1);
    const Frame second = oracle::add_noise(clean_picture(format, 1), second_sigma, 2);
    const std::unique_ptr<Denoiser> denoiser =
        engine().make_denoiser(parameters, white_noise(static_cast<float>(first_sigma)), format);
    denoiser->send(first);
    denoiser->set_noise(noise);
    denoiser->send(second);
    denoiser->flush();
    static_cast<void>(denoiser->receive());
    return !oracle::same_bits(denoiser->receive().value(), run({second}, parameters, noise).front());
  };
  EXPECT_TRUE(depends_on_first(20, 30));
  EXPECT_TRUE(depends_on_first(30, 20));
  EXPECT_FALSE(depends_on_first(20, 40));
  EXPECT_FALSE(depends_on_first(40, 20));
}

// The share of VNLB at sample (x, y) of plane p, by the definition of share_in_block().
double share_of_vnlb(const Frame& first, const Frame& before, const Frame& second, int p, int x, int y) {
  constexpr double kGreatest = 0.25;
  const auto squared_steps = [&](const Frame& a, const Frame& b, int u, int v) {
    const double difference = std::abs(oracle::sample_at(a, p, u, v) - oracle::sample_at(b, p, u, v));
    const double steps = std::floor(difference * 16 / a.format.code_value() + 0.5);
    return std::pow(std::min(steps, 1023.0), 2);
  };
  double change = 0;
  double gap = 0;
  for (int v = std::max(y / 8 * 8 - 8, 0); v < std::min(y / 8 * 8 + 16, first.format.height); ++v) {
    for (int u = std::max(x / 8 * 8 - 8, 0); u < std::min(x / 8 * 8 + 16, first.format.width); ++u) {
      change += squared_steps(first, before, u, v);
      gap += squared_steps(second, first, u, v);
    }
  }
  return 10 * change <= gap ? 0 : kGreatest * (10 * change - gap) / (10 * change + gap);
}

TEST_P(Vbm4dTest, MixesVnlbIntoLumaThatChanges) {
  Vbm4dParameters alone = small_parameters();
  for (const auto& [format, delay] : {std::pair(as_float(yuv(60, 44, 1, 1)), std::optional<int>()),
                                      {yuv(60, 44, 1, 1), 0},
                                      {rgb(44, 40, 10), std::nullopt}}) {
    alone.delay = delay;
    Vbm4dParameters mixed = alone;
    mixed.vnlb_share = 0.25F;
    const std::vector<Frame> frames = noisy_clip(format, 7, static_cast<double>(kSigma));
    std::vector<Frame> of_colors = frames;
    const FrameFormat colors = mixed_format(format);
    std::ranges::for_each(of_colors, [&](Frame& frame) { frame.format = colors; });
    const std::vector<Frame> first = run(frames, alone);
    const std::vector<Frame> second =
        run_stream(*engine().make_denoiser(mixed_vnlb(mixed), white_noise(), colors), of_colors);
    const std::vector<Frame> result = run(frames, mixed);
    ASSERT_EQ(result.size(), frames.size());
    double greatest = 0;
    for (std::size_t t = 0; t < frames.size(); ++t) {
      for (int p = 0; p < 3; ++p) {
        for (int y = 0; y < format.plane_height(p); ++y) {
          for (int x = 0; x < format.plane_width(p); ++x) {
            double expected = oracle::sample_at(first[t], p, x, y);
            if (t > 0 && p < colors.color_plane_count()) {
              const double share = share_of_vnlb(first[t], first[t - 1], second[t], p, x, y);
              expected += share * (oracle::sample_at(second[t], p, x, y) - expected);
              greatest = std::max(greatest, share);
            }
            ASSERT_NEAR(oracle::sample_at(result[t], p, x, y), expected, format.is_float() ? 1e-5 : 0.51)
                << "frame " << t << ", plane " << p << ", " << x << ", " << y;
          }
        }
      }
    }
    EXPECT_GT(greatest, 0.2);
  }
}

TEST_P(Vbm4dTest, SegmentsOfMixedResultsAreBitExactWithTheWhole) {
  Vbm4dParameters parameters = small_parameters();
  parameters.before = 1;
  parameters.vnlb_share = 0.5F;
  test::expect_segments_as_the_whole(engine(), parameters,
                                     noisy_clip(yuv(40, 36, 1, 1), 14, static_cast<double>(kSigma)));
}

// Where nothing moves, `best` is as good as `high`; where texture moves, it is better. Chroma is equal.
TEST_P(Vbm4dTest, BestIsNotWorseThanHigh) {
  const FrameFormat format = yuv(64, 48, 1, 1);
  for (const bool moves : {false, true}) {
    std::vector<Frame> clean;
    std::vector<Frame> noisy;
    for (int t = 0; t < 12; ++t) {
      clean.push_back(clean_picture(format, moves ? 4 * t : 0));
      if (!moves) {
        test::flatten(clean.back(), 0.1);
      }
      noisy.push_back(oracle::add_noise(clean.back(), static_cast<double>(kSigma), 50 + t));
      noisy.back().index = t;
    }
    const std::vector<Frame> high = run(noisy, vbm4d_profile(Vbm4dProfile::kHigh));
    const std::vector<Frame> best = run(noisy, vbm4d_profile(Vbm4dProfile::kBest));
    double gain = 0;
    for (std::size_t t = 0; t < clean.size(); ++t) {
      const auto of_high = measure(clean[t], high[t]);
      const auto of_best = measure(clean[t], best[t]);
      EXPECT_GT(of_best[0].psnr, of_high[0].psnr - 0.1) << t;
      EXPECT_EQ(of_best[1].psnr, of_high[1].psnr) << t;
      EXPECT_EQ(of_best[2].psnr, of_high[2].psnr) << t;
      gain += (of_best[0].psnr - of_high[0].psnr) / static_cast<double>(clean.size());
    }
    EXPECT_GT(gain, moves ? 0.1 : -0.01);
  }
}

// For any noise, the first frame after a cut is as good as a first frame, and a flash and the frames around
// it do not affect each other.
TEST_P(Vbm4dTest, ScenesAndFlashesAreFilteredByThemselves) {
  const FrameFormat format = gray(80, 64);
  const Vbm4dParameters parameters = small_parameters();
  for (const float sigma : {5.0F, 50.0F}) {
    std::vector<std::vector<Frame>> parts(5);
    const auto add = [&](std::size_t part, const Frame& clean) {
      std::size_t number = 0;
      for (const std::vector<Frame>& each : parts) {
        number += each.size();
      }
      parts[part].push_back(oracle::add_noise(clean, static_cast<double>(sigma), 300 + number));
      parts[part].back().index = static_cast<std::int64_t>(number);
    };
    for (int t = 0; t < 4; ++t) {
      add(0, clean_picture(format, t, 1));
    }
    for (int t = 0; t < 3; ++t) {
      add(1, clean_picture(format, t, 2));
    }
    add(2, relit(clean_picture(format, 3, 2), 0.3, 178));
    for (int t = 4; t < 6; ++t) {
      add(3, clean_picture(format, t, 2));
    }
    add(4, clean_picture(format, 0, 3));
    std::vector<Frame> frames;
    std::vector<Frame> expected;
    for (const std::vector<Frame>& part : parts) {
      frames.insert(frames.end(), part.begin(), part.end());
      const std::vector<Frame> alone = run(part, parameters, white_noise(sigma));
      expected.insert(expected.end(), alone.begin(), alone.end());
    }
    const std::vector<Frame> results = run(frames, parameters, white_noise(sigma));
    test::expect_same(results, expected);
    // The flash is so near white that much of the strongest noise is clipped.
    expect_as_defined(frames, parameters, {white_noise(sigma)}, sigma == 50 ? format.width / 8 : 0);
  }
}

TEST_P(Vbm4dTest, AgreesWithTheOracleInStrongNoise) {
  // A bright object passes in front of a dark, static scene.
  constexpr double kStrong = 60;
  const FrameFormat format = gray(96, 80);
  std::vector<Frame> clean;
  std::vector<Frame> frames;
  for (int t = 0; t < 9; ++t) {
    clean.push_back(relit(clean_picture(format, 0, 1), 0.3, 20));
    for (int y = 20; y < 44; ++y) {
      for (int x = 8 * t; x < 8 * t + 24; ++x) {
        store_sample(clean.back(), 0, x, y, 150);
      }
    }
    frames.push_back(oracle::add_noise(clean.back(), kStrong, 500 + t));
  }
  const NoiseModel noise = white_noise(static_cast<float>(kStrong));
  expect_as_defined(frames, small_parameters(), {noise}, frames.front().planes[0].width / 4);
}

TEST_P(Vbm4dTest, FadesAreFollowed) {
  constexpr double kStrong = 20;
  const FrameFormat format = gray(96, 80);
  std::vector<Frame> clean;
  std::vector<Frame> frames;
  for (int t = 0; t < 8; ++t) {
    clean.push_back(relit(clean_picture(format, 0, 1), 1 - 0.06 * t, 0));
    frames.push_back(oracle::add_noise(clean.back(), kStrong, 400 + t));
  }
  const NoiseModel noise = white_noise(static_cast<float>(kStrong));
  const std::vector<Frame> along_motion = run(frames, small_parameters(), noise);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    const std::vector<Frame> alone = run({frames[t]}, small_parameters(), noise);
    EXPECT_GT(measure(clean[t], along_motion[t])[0].psnr, measure(clean[t], alone[0])[0].psnr) << t;
  }
}

// The purpose of the filter: several frames contain more information than one.
TEST_P(Vbm4dTest, MoreFramesGiveBetterPictures) {
  const FrameFormat format = gray(96, 80);
  const std::vector<Frame> frames = noisy_clip(format, 9, 20);
  const auto psnr = [&](int before, int after) {
    Vbm4dParameters parameters = small_parameters();
    parameters.before = before;
    parameters.after = after;
    const std::vector<Frame> results = run(frames, parameters, white_noise(20));
    return measure(clean_picture(format, 4), results[4])[0].psnr;
  };
  const double alone = psnr(0, 0);
  const double past = psnr(4, 0);
  const double both = psnr(4, 4);
  EXPECT_GT(past, alone + 1);
  EXPECT_GT(both, past + 0.5);
}

INSTANTIATE_TEST_SUITE_P(Engines, Vbm4dTest, kSuiteEngines, suite_name);

TEST(Vbm4dParameters, TellWhatIsIllegal) {
  const auto message = [](const auto& change) {
    Vbm4dParameters parameters;
    change(parameters);
    return message_of([&] { parameters.validate(); });
  };
  EXPECT_EQ(message([](Vbm4dParameters&) {}), "");
  EXPECT_NE(message([](Vbm4dParameters& p) { p.before = 17; }).find("reach of 17,4"), std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) { p.before = 13; }).find("at most 16 together"),
            std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) { p.after = -1; }).find("reach"), std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) { p.delay = 33; }).find("delay"), std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) { p.wiener->spacing = 9; }).find("step"), std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) { p.lambda = NAN; }).find("lambda"), std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) {
              p.hard_threshold.trajectory_threshold = 0;
            }).find("trajectory threshold"),
            std::string::npos);
  EXPECT_NE(
      message([](Vbm4dParameters& p) { p.hard_threshold.constant_threshold = 0; }).find("constant threshold"),
      std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) { p.motion_precision = 2; }).find("motion precision"),
            std::string::npos);
  EXPECT_NE(message([](Vbm4dParameters& p) { p.wiener->changing_threshold = 11; }).find("changing threshold"),
            std::string::npos);
}

TEST(Vbm4dParameters, AReachIsOneNumberOrTwo) {
  const FilterType& type = filter_type("vbm4d");
  Filter filter = type.make("np");
  const auto found = std::find_if(type.parameters.begin(), type.parameters.end(),
                                  [](const auto& parameter) { return parameter.text.option == "reach"; });
  ASSERT_NE(found, type.parameters.end());
  found->set(filter, std::string("6,2"));
  EXPECT_EQ(std::get<Vbm4dParameters>(filter).before, 6);
  EXPECT_EQ(std::get<Vbm4dParameters>(filter).after, 2);
  EXPECT_EQ(found->get(filter), ParameterValue("6,2"));
  found->set(filter, std::string("3"));
  EXPECT_EQ(std::get<Vbm4dParameters>(filter).after, 3);
  for (const char* const text : {"", ",", "3,", "17", "-1", "1,2,3", "x"}) {
    EXPECT_THROW(found->set(filter, std::string(text)), UsageError) << text;
  }
}

TEST(Vbm4dSpan, SharesTheDelayBetweenWhatIsWaitedFor) {
  Vbm4dParameters parameters;
  parameters.before = 4;
  parameters.after = 4;
  EXPECT_EQ(reach_of(parameters), (Reach{.before = 16, .after = 16}));
  for (int delay = 0; delay <= 32; ++delay) {
    parameters.delay = delay;
    EXPECT_LE(reach_of(parameters).after, delay);
    EXPECT_GE(reach_of(parameters).after, std::min(delay - 1, 16));
  }
  parameters.delay = 0;
  EXPECT_EQ(reach_of(parameters), (Reach{.before = 8, .after = 0}));
  parameters.wiener.reset();
  EXPECT_EQ(reach_of(parameters), (Reach{.before = 4, .after = 0}));
}

TEST(Vbm4dGroupTransform, IsOrthonormalAndItsFirstCoefficientTheMeans) {
  for (const auto& [frames, members] : {std::pair(1, 16), {3, 4}, {4, 4}, {9, 1}, {17, 1}}) {
    const std::vector<double> matrix = group_transform(frames, members);
    const int size = frames * members;
    for (int a = 0; a < size; ++a) {
      EXPECT_NEAR(matrix[a], 1 / std::sqrt(size), 1e-12);
      for (int b = 0; b < size; ++b) {
        double product = 0;
        for (int i = 0; i < size; ++i) {
          product += matrix[a * size + i] * matrix[b * size + i];
        }
        EXPECT_NEAR(product, a == b ? 1 : 0, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace limpid
