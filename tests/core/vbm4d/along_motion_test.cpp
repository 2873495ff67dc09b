// SPDX-License-Identifier: MIT
// The tests that V-BM4D and VNLB share: both filter groups of patches along motion, by one schedule.
#include "tests/core/vbm4d/along_motion.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/metrics.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vnlb/vnlb_parameters.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;
using test::clean_picture;
using test::kSigma;
using test::noisy_clip;
using test::run_stream;
using test::white_noise;

struct Cpu {
  static constexpr const char* kName = "cpu";
};
struct Cuda {
  static constexpr const char* kName = "cuda:0";
};

// A filter on an engine.
template <typename FilterParameters, typename OfEngine>
struct On {
  using Parameters = FilterParameters;
  using Family = OfEngine;
};

template <typename Type>
class AlongMotionTest : public testing::Test {
 protected:
  using Parameters = typename Type::Parameters;

  void SetUp() override {
    std::string reason;
    engine_ = open_engine(Type::Family::kName, reason);
    if (engine_ == nullptr) {
      GTEST_SKIP() << Type::Family::kName << ": " << reason;
    }
  }

  Engine& engine() { return *engine_; }
  static Parameters small() { return test::small_parameters<Parameters>(); }
  std::vector<Frame> run(const std::vector<Frame>& frames, const Parameters& parameters = small(),
                         const NoiseModel& noise = white_noise()) {
    return run_stream(*engine_->make_denoiser(parameters, noise, frames.front().format), frames);
  }
  void expect_defined(const std::vector<Frame>& frames, const Parameters& parameters = small(),
                      const NoiseModel& noise = white_noise()) {
    test::expect_as_defined(*engine_, frames, parameters, noise);
  }

  std::shared_ptr<Engine> engine_;
};

struct TypeNames {
  template <typename Type>
  static std::string GetName(int /*number*/) {
    return std::string(std::is_same_v<typename Type::Parameters, VnlbParameters> ? "vnlb" : "vbm4d") +
           (std::is_same_v<typename Type::Family, Cuda> ? "_cuda" : "_cpu");
  }
};

using FiltersAndEngines = testing::Types<On<Vbm4dParameters, Cpu>, On<VnlbParameters, Cpu>,
                                         On<Vbm4dParameters, Cuda>, On<VnlbParameters, Cuda>>;
TYPED_TEST_SUITE(AlongMotionTest, FiltersAndEngines, TypeNames);

TYPED_TEST(AlongMotionTest, AgreesWithTheOracleInEveryFormat) {
  const FrameFormat formats[] = {
      gray(41, 35),      gray(40, 33, 10),      gray(33, 40, 16),     as_float(gray(40, 33)),
      yuv(44, 38, 1, 1), yuv(43, 37, 1, 1, 10), yuv(42, 30, 1, 0),    yuv(40, 34, 2, 0),
      yuv(34, 33, 0, 0), rgb(36, 33),           as_float(rgb(33, 35))};
  for (const FrameFormat& format : formats) {
    SCOPED_TRACE(std::to_string(format.width) + "x" + std::to_string(format.height));
    this->expect_defined(noisy_clip(format, 5, static_cast<double>(kSigma)));
  }
}

TYPED_TEST(AlongMotionTest, AgreesWithTheOracleForNoiseOfAnyShape) {
  const std::vector<Frame> frames = noisy_clip(yuv(40, 36, 1, 1), 5, static_cast<double>(kSigma));
  this->expect_defined(frames, this->small(), test::shaped_noise());
  // Planes with different noise, and one without.
  this->expect_defined(frames, this->small(), {{12, 0, 20}});
  this->expect_defined(frames, this->small(), {{0, 9, 9}});
}

TYPED_TEST(AlongMotionTest, FiltersFieldsByThemselves) {
  std::vector<Frame> frames = noisy_clip(yuv(40, 70, 1, 1), 5, static_cast<double>(kSigma));
  for (Frame& frame : frames) {
    frame.interlaced = true;
  }
  this->expect_defined(frames);
  // A stream that changes in its middle.
  frames[0].interlaced = frames[3].interlaced = false;
  this->expect_defined(frames);
}

TYPED_TEST(AlongMotionTest, FiltersScenesByThemselves) {
  const FrameFormat format = gray(96, 80);
  const std::vector<Frame> before = noisy_clip(format, 3, static_cast<double>(kSigma), 1);
  const std::vector<Frame> behind = noisy_clip(format, 2, static_cast<double>(kSigma), 2);
  std::vector<Frame> frames = before;
  frames.insert(frames.end(), behind.begin(), behind.end());
  std::vector<Frame> expected = this->run(before);
  for (const Frame& result : this->run(behind)) {
    expected.push_back(result);
  }
  for (const bool is_marked : {false, true}) {
    frames[3].begins_anew = is_marked;
    const std::vector<Frame> results = this->run(frames);
    for (std::size_t t = 0; t < frames.size(); ++t) {
      EXPECT_TRUE(oracle::same_bits(results[t], expected[t])) << t << (is_marked ? ", marked" : "");
    }
  }
}

// Noise that is repeated with its picture would look like static content.
TYPED_TEST(AlongMotionTest, RepeatedPicturesAreNoEvidence) {
  const FrameFormat format = gray(64, 48);
  std::vector<Frame> frames = noisy_clip(format, 3, 20);
  for (int t = 2; t >= 0; --t) {
    frames.insert(frames.begin() + t, 1 + t % 2, frames[t]);  // twice and three times, alternating
  }
  auto parameters = this->small();
  parameters.before = parameters.after = 3;
  this->expect_defined(frames, parameters, white_noise(20));
  // A still picture is filtered as a single picture.
  const std::vector<Frame> still(7, frames.front());
  const Frame alone = this->run({still.front()}, parameters, white_noise(20)).front();
  const double psnr = measure(clean_picture(format, 0), alone)[0].psnr;
  EXPECT_GT(psnr, measure(clean_picture(format, 0), frames.front())[0].psnr + 3);
  for (const Frame& result : this->run(still, parameters, white_noise(20))) {
    EXPECT_GT(measure(clean_picture(format, 0), result)[0].psnr, psnr - 0.3);
  }
}

TYPED_TEST(AlongMotionTest, AnySegmentWithItsContextIsBitExactWithTheWhole) {
  const std::vector<Frame> frames = noisy_clip(yuv(40, 36, 1, 1), 14, static_cast<double>(kSigma));
  for (const std::optional<int> delay : {std::optional<int>(), std::optional<int>(0)}) {
    auto parameters = this->small();
    parameters.before = 1;
    parameters.delay = delay;
    test::expect_segments_as_the_whole(this->engine(), parameters, frames);
  }
}

TYPED_TEST(AlongMotionTest, ResultsWaitForAtMostTheDelay) {
  const std::vector<Frame> frames = noisy_clip(gray(32, 32), 12, static_cast<double>(kSigma));
  for (const int delay : {0, 1, 2, 5, 32}) {
    auto parameters = this->small();
    parameters.delay = delay;
    test::expect_no_later(this->engine(), parameters, delay, frames);
  }
}

TYPED_TEST(AlongMotionTest, SmallPlanesPassThroughOrHaveFewPatches) {
  // 10 bits, since a few samples of 8 bits that are rounded differently would be too large a share of so
  // small a picture.
  for (const FrameFormat& format : {gray(7, 40), gray(40, 7), yuv(14, 14, 1, 1, 10), yuv(8, 8, 1, 1, 10),
                                    gray(8, 8, 10), gray(9, 8, 10), yuv(15, 9, 0, 0, 10)}) {
    SCOPED_TRACE(std::to_string(format.width) + "x" + std::to_string(format.height));
    this->expect_defined(noisy_clip(format, 4, static_cast<double>(kSigma)));
    this->expect_defined(noisy_clip(format, 1, static_cast<double>(kSigma)));
  }
}

TYPED_TEST(AlongMotionTest, IsBitExactFromRunToRunAndForAnyNumberOfThreads) {
  const std::vector<Frame> frames = noisy_clip(yuv(130, 90, 1, 1), 4, static_cast<double>(kSigma));
  const std::vector<Frame> once = this->run(frames);
  for (const int threads : {1, 3, 3}) {
    this->engine_ = engine_registry().open(TypeParam::Family::kName, {.threads = threads});
    const std::vector<Frame> again = this->run(frames);
    for (std::size_t t = 0; t < frames.size(); ++t) {
      EXPECT_TRUE(oracle::same_bits(once[t], again[t])) << t;
    }
  }
}

TYPED_TEST(AlongMotionTest, HardlyAnyNoiseChangesHardlyAnything) {
  const std::vector<Frame> frames = noisy_clip(yuv(44, 38, 1, 1), 3, 20);
  for (const float sigma : {1e-6F, 1e-3F, 0.05F}) {
    NoiseModel noise = white_noise(sigma);
    for (int i = 0; i < 2; ++i) {
      const std::vector<Frame> results = this->run(frames, this->small(), noise);
      for (std::size_t t = 0; t < frames.size(); ++t) {
        EXPECT_LE(oracle::compare(results[t], frames[t]).greatest, 1) << sigma << ", " << t;
      }
      // Also with brightnesses that have even less noise.
      noise.shape[0].curve.fill(1e-3F);
    }
  }
}

}  // namespace
}  // namespace limpid
