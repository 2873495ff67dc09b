// SPDX-License-Identifier: MIT
// Requirements that every filter fulfills, on every engine and at every SIMD level of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/vbm4d/along_motion.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/cpu/simd_level.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/edge_preserving.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/recursive.h"

namespace limpid {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;
using test::expect_same;
using test::noisy_clip;
using test::run_stream;
using test::store_sample;
using test::white_noise;

constexpr double kLevel = test::kSigma;

Bm3dParameters first_step_of_bm3d() {
  Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  parameters.wiener.reset();
  return parameters;
}

struct Subject {
  const char* name;
  Filter filter;         // small enough for the oracle
  int frames;            // enough for a result in its middle
  std::size_t warnings;  // of 14x20 in 4:2:0, whose chroma is smaller than a patch
  bool keeps_flat_pictures;

  friend void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all{
      {"vbm4d", test::small_parameters<Vbm4dParameters>(), 4, 2, false},
      {"vnlb", test::small_parameters<VnlbParameters>(), 4, 2, false},
      {"recursive", RecursiveParameters{}, 4, 2, true},
      {"bm3d", bm3d_profile(Profile::kLc), 2, 2, false},
      {"bm3d_first_step", first_step_of_bm3d(), 2, 2, true},
      {"bilateral", BilateralParameters{.radius = 3}, 2, 0, true},
      {"adaptive_bilateral", AdaptiveBilateralParameters{.radius = 3}, 2, 0, true},
      {"nlm", NlmParameters{.patch_size = 5, .search_window = 9}, 2, 0, true},
      {"nlm_bilateral", NlmBilateralParameters{.search_window = 9}, 2, 0, true}};
  return all;
}

Frame filter_planes(const Frame& frame, const Filter& filter, const NoiseModel& noise) {
  Frame result = allocate_frame(frame.format);
  copy_samples(frame, result);
  result.index = frame.index;
  const std::vector<oracle::Picture> planes = oracle::filter_planes(frame, filter, noise);
  for (int p = 0; p < frame.format.color_plane_count(); ++p) {
    oracle::store(planes[p], result, p);
  }
  return result;
}

// The results by their definition.
std::vector<Frame> defined(const std::vector<Frame>& frames, const Filter& filter, const NoiseModel& noise) {
  return std::visit(
      [&](const auto& parameters) {
        using Parameters = std::decay_t<decltype(parameters)>;
        std::vector<Frame> results;
        if constexpr (std::is_same_v<Parameters, Vbm4dParameters> ||
                      std::is_same_v<Parameters, VnlbParameters> ||
                      std::is_same_v<Parameters, RecursiveParameters>) {
          results = oracle::denoise(frames, parameters, {noise});
        } else if constexpr (std::is_same_v<Parameters, Bm3dParameters>) {
          for (const Frame& frame : frames) {
            results.push_back(oracle::denoise(frame, parameters, noise));
          }
        } else {
          for (const Frame& frame : frames) {
            results.push_back(filter_planes(frame, filter, noise));
          }
        }
        return results;
      },
      filter);
}

std::vector<Frame> run(Engine& engine, const std::vector<Frame>& frames, const Filter& filter,
                       const NoiseModel& noise) {
  return run_stream(*engine.make_denoiser(filter, noise, frames.front().format), frames);
}

void expect_defined(Engine& engine, const std::vector<Frame>& frames, const Filter& filter,
                    const NoiseModel& noise = white_noise()) {
  SCOPED_TRACE(to_string(frames.front().format));
  const std::vector<Frame> expected = defined(frames, filter, noise);
  const std::vector<Frame> results = run(engine, frames, filter, noise);
  ASSERT_EQ(results.size(), frames.size());
  for (std::size_t t = 0; t < results.size(); ++t) {
    const oracle::Agreement agreement = oracle::compare(results[t], expected[t]);
    EXPECT_TRUE(oracle::within_contract(agreement)) << "frame " << t << ": " << to_string(agreement);
  }
}

bool same_plane(const Frame& a, const Frame& b, int plane) {
  const FrameFormat& format = a.format;
  const auto row_bytes = static_cast<std::ptrdiff_t>(format.plane_width(plane)) * format.bytes_per_sample();
  for (int y = 0; y < format.plane_height(plane); ++y) {
    const auto* const row = a.planes[plane].row<std::byte>(y);
    if (!std::equal(row, row + row_bytes, b.planes[plane].row<std::byte>(y))) {
      return false;
    }
  }
  return true;
}

using OnEngine = std::tuple<Subject, std::string>;

class EveryFilterTest : public testing::TestWithParam<OnEngine> {
 protected:
  void SetUp() override {
    std::string reason;
    const std::string& name = std::get<1>(GetParam());
    engine_ = open_engine(name, reason);
    if (engine_ == nullptr) {
      GTEST_SKIP() << name << ": " << reason;
    }
  }

  const Subject& subject() const { return std::get<0>(GetParam()); }
  const Filter& filter() const { return subject().filter; }
  std::vector<Frame> run_filter(const std::vector<Frame>& frames, const NoiseModel& noise = white_noise()) {
    return run(*engine_, frames, filter(), noise);
  }

  std::shared_ptr<Engine> engine_;
};

std::string name_of_case(const testing::TestParamInfo<OnEngine>& info) {
  return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) == "cpu" ? "_cpu" : "_cuda");
}

INSTANTIATE_TEST_SUITE_P(All, EveryFilterTest, testing::Combine(testing::ValuesIn(subjects()), kSuiteEngines),
                         name_of_case);

TEST_P(EveryFilterTest, FiltersFieldsByThemselves) {
  for (const FrameFormat& format : {yuv(40, 71, 1, 1), gray(35, 33, 10), rgb(24, 29, 10)}) {
    std::vector<Frame> frames = noisy_clip(format, 4, kLevel);
    for (Frame& frame : frames) {
      frame.interlaced = true;
    }
    expect_defined(*engine_, frames, filter());
    // A stream that changes in its middle.
    frames[0].interlaced = frames[3].interlaced = false;
    expect_defined(*engine_, frames, filter());
  }
}

TEST_P(EveryFilterTest, IsBitExactFromRunToRunAndForAnyNumberOfThreads) {
  for (const FrameFormat& format : {yuv(130, 150, 1, 1), as_float(gray(150, 110)), rgb(90, 70)}) {
    const std::vector<Frame> frames = noisy_clip(format, 3, kLevel);
    const std::vector<Frame> once = run_filter(frames);
    for (const int threads : {1, 3, 3}) {
      const auto engine = engine_registry().open(std::get<1>(GetParam()), {.threads = threads});
      expect_same(run(*engine, frames, filter(), white_noise()), once);
    }
  }
}

TEST_P(EveryFilterTest, PlanesWithoutNoiseAndAlphaPassUnchanged) {
  for (FrameFormat format : {yuv(40, 36, 1, 1), yuv(40, 36, 0, 0), rgb(32, 30, 12), as_float(rgb(32, 30))}) {
    format.has_alpha = true;
    SCOPED_TRACE(to_string(format));
    const std::vector<Frame> frames = noisy_clip(format, 3, kLevel);
    for (const NoiseModel& noise :
         std::vector<NoiseModel>{{{0, 9, 11}}, {{12, 0, 0}}, {{12, 0, 9}}, {{0, 0, 0}}}) {
      const std::vector<Frame> results = run_filter(frames, noise);
      for (std::size_t t = 0; t < frames.size(); ++t) {
        for (int p = 0; p < format.color_plane_count(); ++p) {
          EXPECT_EQ(same_plane(results[t], frames[t], p), noise.sigma[p] == 0) << "plane " << p;
        }
        EXPECT_TRUE(same_plane(results[t], frames[t], 3)) << "alpha";
      }
    }
  }
}

TEST_P(EveryFilterTest, FlatPicturesStayFlat) {
  for (const FrameFormat& format : {yuv(48, 40, 1, 1), gray(40, 30, 12), as_float(gray(40, 30))}) {
    for (const double level : {0.0, 77.0, 255.0}) {
      SCOPED_TRACE(to_string(format) + ", " + std::to_string(level));
      const Frame flat = allocate_frame(format);
      for (int p = 0; p < format.plane_count(); ++p) {
        for (int y = 0; y < format.plane_height(p); ++y) {
          for (int x = 0; x < format.plane_width(p); ++x) {
            store_sample(flat, p, x, y, level);
          }
        }
      }
      for (const Frame& result : run_filter({flat, flat, flat})) {
        const bool is_exact = subject().keeps_flat_pictures && !format.is_float();
        EXPECT_LE(oracle::compare(result, flat).greatest, is_exact                        ? 0
                                                          : subject().keeps_flat_pictures ? 1e-3
                                                                                          : 1);
      }
    }
  }
}

TEST_P(EveryFilterTest, HardlyAnyNoiseChangesHardlyAnything) {
  const std::vector<Frame> frames = noisy_clip(yuv(44, 38, 1, 1), 3, 20);
  for (const float sigma : {1e-6F, 1e-3F, 0.05F}) {
    NoiseModel noise = white_noise(sigma);
    for (int i = 0; i < 2; ++i) {
      const std::vector<Frame> results = run_filter(frames, noise);
      for (std::size_t t = 0; t < frames.size(); ++t) {
        EXPECT_LE(oracle::compare(results[t], frames[t]).greatest, 1) << sigma << ", " << t;
      }
      // Also with brightnesses that have even less noise.
      noise.shape[0].curve.fill(1e-3F);
    }
  }
}

TEST_P(EveryFilterTest, FloatSamplesMayBeAnything) {
  const FrameFormat format = as_float(gray(40, 36));
  const std::vector<Frame> frames = noisy_clip(format, 3, kLevel);
  frames[1].planes[0].row<float>(7)[9] = std::numeric_limits<float>::quiet_NaN();
  frames[1].planes[0].row<float>(17)[9] = std::numeric_limits<float>::infinity();
  frames[1].planes[0].row<float>(17)[19] = -1e30F;
  const std::vector<Frame> results = run_filter(frames);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    for (int y = 0; y < format.height; ++y) {
      const auto* const in = frames[t].planes[0].row<float>(y);
      const auto* const out = results[t].planes[0].row<float>(y);
      for (int x = 0; x < format.width; ++x) {
        if (is_usable_sample(in[x])) {
          ASSERT_TRUE(std::isfinite(out[x]));
        } else {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(out[x]), std::bit_cast<std::uint32_t>(in[x]));
        }
      }
    }
  }
}

// Rows begin at any address, without spare bytes before or after them: AddressSanitizer reports reads outside
// the plane, and a wrong stride changes all samples. The input is not changed.
TEST_P(EveryFilterTest, PlanesMayLieAnywhereInMemory) {
  for (const FrameFormat& format : {yuv(37, 29, 1, 1), rgb(21, 19, 10), as_float(gray(29, 23))}) {
    SCOPED_TRACE(to_string(format));
    const std::vector<Frame> frames = noisy_clip(format, 2, kLevel);
    std::vector<Frame> moved = frames;
    std::vector<std::unique_ptr<std::byte[]>> memory;
    for (Frame& frame : moved) {
      for (int p = 0; p < format.plane_count(); ++p) {
        Plane& plane = frame.planes[p];
        const Plane from = plane;
        plane.stride = static_cast<std::ptrdiff_t>(plane.width) * format.bytes_per_sample();
        memory.push_back(
            std::make_unique<std::byte[]>(static_cast<std::size_t>(plane.stride) * plane.height));
        plane.data = memory.back().get();
        for (int y = 0; y < plane.height; ++y) {
          std::copy_n(from.row<std::byte>(y), plane.stride, plane.row<std::byte>(y));
        }
      }
    }
    expect_same(run_filter(moved), run_filter(frames));
    expect_same(moved, frames);
  }
}

TEST_P(EveryFilterTest, AgreesWithTheOracleInEveryFormat) {
  std::vector<FrameFormat> formats{
      as_float(gray(40, 33)), yuv(43, 37, 1, 1, 10), rgb(36, 33),
      rgb(33, 30, 10),        as_float(rgb(33, 35)), as_float(yuv(36, 34, 1, 1))};
  for (const int depth : {8, 9, 12, 14, 16}) {
    formats.push_back(gray(41, 35, depth));
  }
  formats.push_back(formats.back());
  formats.back().bit_depth = 8;  // in 16 bits
  for (const auto& [shift_x, shift_y] : {std::pair(0, 0), {1, 0}, {1, 1}, {0, 1}, {2, 0}, {2, 2}}) {
    formats.push_back(yuv(44, 38, shift_x, shift_y));
  }
  for (const FrameFormat& format : formats) {
    expect_defined(*engine_, noisy_clip(format, subject().frames, kLevel), filter());
  }
}

TEST_P(EveryFilterTest, AgreesWithTheOracleForNoiseOfAnyShape) {
  const std::vector<Frame> frames = noisy_clip(yuv(40, 36, 1, 1), subject().frames, kLevel);
  expect_defined(*engine_, frames, filter(), test::shaped_noise());
  expect_defined(*engine_, noisy_clip(rgb(40, 44), subject().frames, kLevel), filter(), test::shaped_noise());
  // Planes with different noise, and one without.
  expect_defined(*engine_, frames, filter(), {{12, 0, 20}});
  expect_defined(*engine_, frames, filter(), {{0, 9, 9}});
}

TEST_P(EveryFilterTest, SmallPlanesPassThroughOrHaveFewPatches) {
  // 10 bits, since a few samples of 8 bits that are rounded differently would be too large a share of so
  // small a picture.
  for (const FrameFormat& format : {gray(7, 40), gray(40, 7), yuv(14, 14, 1, 1, 10), yuv(8, 8, 1, 1, 10),
                                    gray(8, 8, 10), gray(9, 8, 10), yuv(15, 9, 0, 0, 10)}) {
    expect_defined(*engine_, noisy_clip(format, subject().frames, kLevel), filter());
    expect_defined(*engine_, noisy_clip(format, 1, kLevel), filter());
  }
  EXPECT_EQ(engine_->make_denoiser(filter(), white_noise(), yuv(14, 20, 1, 1))->warnings().size(),
            subject().warnings);
}

// V-BM4D and VNLB, which filter along motion by one schedule.
class AlongMotionTest : public EveryFilterTest {
 protected:
  // The subject's filter with changed parameters.
  template <typename Change>
  Filter with(const Change& change) const {
    Filter changed = filter();
    std::visit(
        [&](auto& parameters) {
          if constexpr (requires { parameters.delay = 0; }) {
            change(parameters);
          }
        },
        changed);
    return changed;
  }
};

INSTANTIATE_TEST_SUITE_P(All, AlongMotionTest,
                         testing::Combine(testing::ValuesIn(subjects().begin(), subjects().begin() + 2),
                                          kSuiteEngines),
                         name_of_case);

TEST_P(AlongMotionTest, FiltersScenesByThemselves) {
  const std::vector<Frame> before = noisy_clip(gray(96, 80), 3, kLevel, 1);
  const std::vector<Frame> behind = noisy_clip(gray(96, 80), 2, kLevel, 2);
  std::vector<Frame> frames = before;
  frames.insert(frames.end(), behind.begin(), behind.end());
  std::vector<Frame> expected = run_filter(before);
  for (const Frame& result : run_filter(behind)) {
    expected.push_back(result);
  }
  for (const bool is_marked : {false, true}) {
    frames[3].begins_anew = is_marked;
    expect_same(run_filter(frames), expected);
  }
}

// Noise that is repeated with its picture would look like static content.
TEST_P(AlongMotionTest, RepeatedPicturesAreNoEvidence) {
  const FrameFormat format = gray(64, 48);
  std::vector<Frame> frames = noisy_clip(format, 3, 20);
  for (int t = 2; t >= 0; --t) {
    frames.insert(frames.begin() + t, 1 + t % 2, frames[t]);  // twice and three times, alternating
  }
  const Filter filter = with([](auto& parameters) { parameters.before = parameters.after = 3; });
  expect_defined(*engine_, frames, filter, white_noise(20));
  // A still picture is filtered as a single picture.
  const Frame clean = test::clean_picture(format, 0);
  const std::vector<Frame> still(7, frames.front());
  const Frame alone = run(*engine_, {still.front()}, filter, white_noise(20)).front();
  const double psnr = oracle::compare(alone, clean).psnr;
  EXPECT_GT(psnr, oracle::compare(frames.front(), clean).psnr + 3);
  for (const Frame& result : run(*engine_, still, filter, white_noise(20))) {
    EXPECT_GT(oracle::compare(result, clean).psnr, psnr - 0.3);
  }
}

TEST_P(AlongMotionTest, AnySegmentWithItsContextIsBitExactWithTheWhole) {
  const std::vector<Frame> frames = noisy_clip(yuv(40, 36, 1, 1), 14, kLevel);
  for (const std::optional<int> delay : {std::optional<int>(), std::optional<int>(0)}) {
    const Filter filter = with([&](auto& parameters) {
      parameters.before = 1;
      parameters.delay = delay;
    });
    test::expect_segments_as_the_whole(*engine_, filter, frames);
  }
}

TEST_P(AlongMotionTest, ResultsWaitForAtMostTheDelay) {
  for (const int delay : {0, 1, 2, 5, 32}) {
    const Filter filter = with([&](auto& parameters) { parameters.delay = delay; });
    test::expect_no_later(*engine_, filter, delay, noisy_clip(gray(32, 32), 12, kLevel));
  }
}

class EveryFilterSimdTest : public SimdLevelTest {};

INSTANTIATE_TEST_SUITE_P(Cpu, EveryFilterSimdTest, kSimdLevels, simd_level_name);

TEST_P(EveryFilterSimdTest, AgreesWithTheOracle) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.name);
    expect_defined(engine(), noisy_clip(yuv(45, 38, 1, 1), 4, kLevel), subject.filter);
    expect_defined(engine(), noisy_clip(as_float(rgb(33, 30)), 2, kLevel), subject.filter,
                   test::shaped_noise());
    expect_defined(engine(), noisy_clip(gray(43, 38, 10), 2, kLevel), subject.filter);
  }
}

TEST_P(EveryFilterSimdTest, ThreadsDoNotChangeABit) {
  const std::vector<Frame> frames = noisy_clip(yuv(200, 140, 1, 1), 2, kLevel);
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.name);
    const auto results_with = [&](int threads) {
      return run(*engine_registry().open("cpu", {.threads = threads}), frames, subject.filter, white_noise());
    };
    expect_same(results_with(1), results_with(3));
  }
}

}  // namespace
}  // namespace limpid
