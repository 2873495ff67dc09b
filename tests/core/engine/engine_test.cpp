// SPDX-License-Identifier: MIT
// Common behavior of all engines' denoisers: the order of frames, the properties they carry, and rejected
// input.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/mixing.h"
#include "core/frame/region.h"
#include "core/settings/filter_settings.h"
#include "cpu/noise/noise.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/engine/illegal_filters.h"
#include "tests/core/noise/clipped_ramp.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/samples.h"

namespace limpid {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;

class EngineTest : public EngineSuite {};

TEST_P(EngineTest, KnowsItsNameAndDescribesItself) {
  EXPECT_EQ(engine().name(), GetParam());
  EXPECT_FALSE(engine().description().empty());
}

TEST_P(EngineTest, FramesComeOutOnceInOrderWithWhatTravelsWithThem) {
  const FrameFormat format = yuv(40, 24, 1, 1);
  const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kFast), {{20, 10, 10}}, format);
  EXPECT_FALSE(denoiser->receive().has_value());
  constexpr int kFrames = 7;
  std::vector<Frame> results;
  const auto receive_all = [&] {
    while (std::optional<Frame> result = denoiser->receive()) {
      results.push_back(*result);
    }
  };
  std::vector<Attachment> attachments;
  for (int i = 0; i < kFrames; ++i) {
    Frame frame = oracle::add_noise(oracle::draw_picture(format), 20, i);
    frame.index = 100 + i;
    frame.interlaced = i % 3 == 1;
    frame.attachment = std::make_shared<int>(i);
    attachments.push_back(frame.attachment);
    denoiser->send(frame);
    if (i % 2 == 1) {
      receive_all();
      EXPECT_GE(static_cast<int>(results.size()), i + 1 - denoiser->latency());
    }
  }
  denoiser->flush();
  receive_all();
  EXPECT_FALSE(denoiser->receive().has_value());
  ASSERT_EQ(results.size(), static_cast<std::size_t>(kFrames));
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_EQ(results[i].index, 100 + i);
    EXPECT_EQ(results[i].interlaced, i % 3 == 1);
    EXPECT_EQ(results[i].attachment, attachments[i]);
    EXPECT_EQ(results[i].format, format);
    for (int plane = 0; plane < 3; ++plane) {
      EXPECT_EQ(results[i].planes[plane].width, format.plane_width(plane));
      EXPECT_EQ(results[i].planes[plane].height, format.plane_height(plane));
    }
  }
}

TEST_P(EngineTest, AStreamGivesWhatSingleFramesGive) {
  const FrameFormat format = gray(40, 32);
  const Bm3dParameters parameters = bm3d_profile(Profile::kLc);
  const auto denoiser = engine().make_denoiser(parameters, {{15}}, format);
  std::vector<Frame> frames;
  for (int i = 0; i < 5; ++i) {
    frames.push_back(oracle::add_noise(oracle::draw_picture(format), 15, 40 + i));
    denoiser->send(frames.back());
  }
  denoiser->flush();
  for (const Frame& frame : frames) {
    const std::optional<Frame> result = denoiser->receive();
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(oracle::same_bits(*result, run_filter(engine(), frame, parameters, {{15}})));
  }
}

// The frame with half floats, and floats of their values.
std::array<Frame, 2> halves_and_floats(const FrameFormat& format, double sigma, unsigned seed) {
  const Frame halves = oracle::add_noise(oracle::draw_picture(oracle::as_half(format)), sigma, seed);
  Frame floats = allocate_frame(as_float(format));
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        oracle::set_sample(floats, p, x, y, oracle::sample_at(halves, p, x, y));
      }
    }
  }
  return {halves, floats};
}

TEST_P(EngineTest, HalfFloatsGiveTheResultsOfFloatsRounded) {
  for (const FrameFormat& format : {gray(45, 33), rgb(45, 33), yuv(45, 33, 1, 1)}) {
    const auto [halves, floats] = halves_and_floats(format, 12, 5);
    for (const FilterType& type : filter_types()) {
      SCOPED_TRACE(to_string(halves.format) + ", " + std::string(type.name));
      const Filter filter = parse_filter(type.name);
      if (reach_of(filter).unbounded && GetParam() != "cpu") {
        continue;  // the CPU engine alone has such a filter
      }
      const Frame expected = run_filter(engine(), floats, filter, {{12, 8, 8}});
      const Frame result = run_filter(engine(), halves, filter, {{12, 8, 8}});
      int different = 0;
      for (int p = 0; p < format.plane_count(); ++p) {
        for (int y = 0; y < format.plane_height(p); ++y) {
          for (int x = 0; x < format.plane_width(p); ++x) {
            const Half rounded(static_cast<float>(oracle::sample_at(expected, p, x, y)));
            different += result.planes[p].row<Half>(y)[x].bits == rounded.bits ? 0 : 1;
          }
        }
      }
      EXPECT_EQ(different, 0);
    }
  }
}

TEST_P(EngineTest, MixesTheNoisyFrameIn) {
  for (const FrameFormat& format :
       {gray(45, 33), yuv(46, 34, 1, 1, 10), rgb(45, 33, 16), oracle::as_float(gray(45, 33))}) {
    for (const char* const filter : {"bm3d", "bilateral"}) {
      SCOPED_TRACE(to_string(format) + ", " + filter);
      const Frame noisy = oracle::draw_picture(format);
      constexpr float kMix = 0.3F;
      const auto denoiser = engine().make_denoiser(parse_filter(filter), {{12, 8, 8}}, format);
      const auto denoised = [&](float mix) {
        denoiser->set_mix(mix);
        denoiser->send(noisy);
        denoiser->flush();
        const Frame result = test::copy_of(denoiser->receive().value());
        denoiser->reset();
        return result;
      };
      Frame expected = denoised(0);
      visit_samples(format, [&]<typename Sample>(Sample) {
        for (int p = 0; p < format.plane_count(); ++p) {
          for (int y = 0; y < format.plane_height(p); ++y) {
            for (int x = 0; x < format.plane_width(p); ++x) {
              Sample& sample = expected.planes[p].row<Sample>(y)[x];
              sample = mixed(noisy.planes[p].row<Sample>(y)[x], sample, kMix);
            }
          }
        }
      });
      EXPECT_TRUE(oracle::same_bits(denoised(kMix), expected));
      EXPECT_TRUE(format.is_float() || oracle::same_bits(denoised(1), noisy));
    }
  }
}

TEST_P(EngineTest, PassesTheFrameOutsideTheAreaOfTheNoise) {
  for (const FrameFormat& format :
       {gray(45, 33), yuv(46, 34, 1, 1, 10), yuv(45, 33, 1, 0, 8), rgb(45, 33, 16)}) {
    for (const char* const filter : {"bm3d", "bilateral", "recursive"}) {
      SCOPED_TRACE(to_string(format) + ", " + filter);
      const Frame noisy = oracle::draw_picture(format);
      NoiseModel noise{{12, 8, 8}};
      const Region area{.x = 16, .y = 8, .width = 20, .height = 16};
      const Frame filtered = test::copy_of(run_filter(engine(), noisy, parse_filter(filter), noise));
      Frame expected = test::copy_of(noisy);
      for (int p = 0; p < format.color_plane_count(); ++p) {
        const Plane inside = part_of(filtered, area).planes[p];
        const Plane target = part_of(expected, area).planes[p];
        for (int y = 0; y < target.height; ++y) {
          std::copy_n(inside.row<const std::byte>(y),
                      std::ptrdiff_t{target.width} * format.bytes_per_sample(), target.row<std::byte>(y));
        }
      }
      noise.area = area;
      EXPECT_TRUE(oracle::same_bits(run_filter(engine(), noisy, parse_filter(filter), noise), expected));
      noise.area = Region{.x = 0, .y = 0, .width = format.width, .height = format.height};
      EXPECT_TRUE(oracle::same_bits(run_filter(engine(), noisy, parse_filter(filter), noise), filtered));
    }
  }
}

TEST(Mixing, RoundsToNearest) {
  EXPECT_EQ(mixed<std::uint8_t>(255, 0, 0.5F), 128);
  EXPECT_EQ(mixed<std::uint8_t>(0, 255, 0.25F), 191);
  EXPECT_EQ(mixed<std::uint8_t>(7, 200, 0), 200);
  EXPECT_EQ(mixed<std::uint16_t>(65535, 65535, 0.37F), 65535);
  EXPECT_EQ(mixed<std::uint16_t>(65535, 0, 1), 65535);
  EXPECT_EQ(mixed<float>(2, -1, 0.5F), 0.5F);
  EXPECT_EQ(mixed<Half>(Half(2), Half(-1), 0.5F).bits, Half(0.5F).bits);
}

TEST_P(EngineTest, HalfFloatsHaveTheNoiseOfFloats) {
  for (const FrameFormat& format : {gray(301, 203), rgb(120, 91)}) {
    SCOPED_TRACE(to_string(format));
    const auto [halves, floats] = halves_and_floats(format, 12, 5);
    const auto [halves_before, floats_before] = halves_and_floats(format, 12, 6);
    EXPECT_EQ(engine().estimate_noise(halves).sigma, engine().estimate_noise(floats).sigma);
    EXPECT_EQ(engine().brightness_histogram(halves), engine().brightness_histogram(floats));
    EXPECT_EQ(engine().combed_share(halves, halves_before), engine().combed_share(floats, floats_before));
    EXPECT_TRUE(engine().measure_noise(halves, &halves_before, {}) ==
                engine().measure_noise(floats, &floats_before, {}));
  }
}

TEST_P(EngineTest, ASpatialFilterHoldsNothingBack) {
  const FrameFormat format = gray(24, 16);
  const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kFast), {{10}}, format);
  EXPECT_EQ(denoiser->latency(), 0);
  for (int i = 0; i < 3; ++i) {
    denoiser->send(oracle::draw_picture(format));
    EXPECT_TRUE(denoiser->receive().has_value());
    EXPECT_FALSE(denoiser->receive().has_value());
  }
}

TEST_P(EngineTest, NothingComesOutOfAnEmptyStream) {
  const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kNp), {{10}}, gray(24, 16));
  denoiser->flush();
  EXPECT_FALSE(denoiser->receive().has_value());
}

TEST_P(EngineTest, ADenoiserMayGoWithFramesUnderWay) {
  const FrameFormat format = gray(64, 48);
  const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kNp), {{10}}, format);
  for (int i = 0; i < 3; ++i) {
    denoiser->send(oracle::draw_picture(format));
  }
}

// On two cores it would otherwise take about ten seconds.
TEST(CpuEngine, CancelledWorkEndsSoonWithoutAResult) {
  const auto engine = engine_registry().open("cpu", EngineOptions{2});
  const FrameFormat format = gray(1400, 1400);
  const Frame noisy = oracle::add_noise(oracle::draw_picture(format), 20, 1);
  for (const Filter& filter :
       {Filter(bm3d_profile(Profile::kHigh)), Filter(NlmParameters{.search_window = 101})}) {
    const auto denoiser = engine->make_denoiser(filter, NoiseModel{{20, 20, 20}}, format);
    denoiser->send(noisy);
    denoiser->send(noisy);
    std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      denoiser->cancel();
    });
    EXPECT_FALSE(denoiser->receive().has_value());
    EXPECT_FALSE(denoiser->receive().has_value());
  }
}

TEST_P(EngineTest, AFrameOfAnotherFormatIsAnError) {
  const auto denoiser =
      engine().make_denoiser(bm3d_profile(Profile::kFast), {{10, 10, 10}}, yuv(32, 24, 1, 1));
  for (const FrameFormat& other :
       {yuv(32, 26, 1, 1), yuv(30, 24, 1, 1), yuv(32, 24, 1, 0), yuv(32, 24, 1, 1, 10), gray(32, 24)}) {
    EXPECT_THROW(denoiser->send(oracle::draw_picture(other)), Error) << to_string(other);
  }
  Frame frame = oracle::draw_picture(gray(16, 16));
  frame.index = 4711;
  EXPECT_NE(message_of([&] { denoiser->send(frame); }).find("4711"), std::string::npos)
      << "the frame is not named: " << message_of([&] { denoiser->send(frame); });
}

TEST_P(EngineTest, AFrameInMemoryOutOfReachIsAnError) {
  const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kFast), {{10, 10, 10}}, gray(32, 24));
  Frame frame = oracle::draw_picture(gray(32, 24));
  frame.index = 4711;
  frame.memory = cuda_memory(99);
  EXPECT_NE(message_of([&] { denoiser->send(frame); }).find("4711"), std::string::npos);
  frame.memory = kHostMemory;
  EXPECT_EQ(engine().in_host_memory(frame).planes[0].data, frame.planes[0].data);
}

TEST_P(EngineTest, EstimatesNoiseAsTheCpuDoes) {
  struct Case {
    FrameFormat format;
    double sigma;
    bool interlaced = false;
  };
  for (const Case& c : {Case{gray(301, 203), 2},
                        {gray(301, 203), 60},
                        {gray(301, 203), 20, true},
                        {gray(16, 16), 20},
                        {gray(15, 40), 20},
                        {gray(301, 203, 10), 20},
                        {yuv(201, 151, 1, 1), 20},
                        {rgb(161, 121, 16), 0},
                        {as_float(rgb(120, 91)), 20}}) {
    SCOPED_TRACE(to_string(c.format) + ", sigma " + std::to_string(c.sigma));
    Frame frame = oracle::add_noise(oracle::draw_picture(c.format), c.sigma, 3);
    frame.interlaced = c.interlaced;
    const NoiseModel expected = cpu::estimate_noise(frame);
    const NoiseModel estimate = engine().estimate_noise(frame);
    for (std::size_t p = 0; p < expected.sigma.size(); ++p) {
      EXPECT_NEAR(estimate.sigma[p], expected.sigma[p], 1e-6F * expected.sigma[p]) << "plane " << p;
    }
    EXPECT_EQ(engine().brightness_histogram(frame), brightness_histogram(frame));
  }
}

TEST_P(EngineTest, EstimatesTheSameNoiseInEveryRun) {
  const Frame frame = oracle::add_noise(oracle::draw_picture(gray(301, 203)), 20, 3);
  EXPECT_EQ(engine().estimate_noise(frame), engine().estimate_noise(frame));
}

TEST_P(EngineTest, SeveralThreadsMayLookAtFramesAtOnce) {
  struct Look {
    NoiseModel noise;
    noise::NoiseStatistics statistics;
    BrightnessHistogram brightness;
    bool operator==(const Look&) const = default;
  };
  const auto look_at = [this](const Frame& frame, const Frame& before) {
    return Look{engine().estimate_noise(frame), engine().measure_noise(frame, &before, {}),
                engine().brightness_histogram(frame)};
  };
  std::vector<std::jthread> threads(4);
  for (std::size_t t = 0; t < threads.size(); ++t) {
    // Two threads have frames of one format.
    const FrameFormat format = gray(160 + 16 * static_cast<int>(t / 2), 128);
    const Frame before = oracle::add_noise(oracle::draw_picture(format), 10, static_cast<unsigned>(t));
    const Frame frame = oracle::add_noise(oracle::draw_picture(format), 10, static_cast<unsigned>(t) + 9);
    const Look alone = look_at(frame, before);
    threads[t] = std::jthread([=] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(look_at(frame, before), alone) << t;
      }
    });
  }
}

TEST_P(EngineTest, EstimatesTheNoiseOfOddPicturesAsTheCpuDoes) {
  Frame frame = oracle::add_noise(oracle::draw_picture(as_float(gray(256, 200))), 15, 4);
  const auto fill = [&](int begin, int end, float value) {
    for (int y = begin; y < end; ++y) {
      std::fill_n(frame.planes[0].row<float>(y), 256, value);
    }
  };
  const auto expect_the_same = [&](const char* what) {
    const float expected = cpu::estimate_noise(frame).sigma[0];
    EXPECT_NEAR(engine().estimate_noise(frame).sigma[0], expected, 1e-6F * expected) << what;
    return expected;
  };
  EXPECT_GT(expect_the_same("as it is, out of range"), 10);
  fill(0, 60, 16);
  EXPECT_GT(expect_the_same("with a bar"), 10);
  frame.planes[0].row<float>(100)[7] = std::numeric_limits<float>::quiet_NaN();
  frame.planes[0].row<float>(110)[7] = std::numeric_limits<float>::infinity();
  EXPECT_GT(expect_the_same("with samples that aren't numbers"), 10);
  fill(0, 140, 16);
  EXPECT_EQ(expect_the_same("mostly constant"), 0);
}

// Lamps in scene-linear pictures, and what is no number.
TEST_P(EngineTest, PassesFloatsThatFiltersCannotUse) {
  const FrameFormat format = as_float(rgb(64, 48));
  const std::vector<float> odd{
      40, 10000, -17, 1e30F, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (const std::string filter : {"bm3d", "vbm4d", "vnlb", "bilateral", "adaptive-bilateral", "nlm"}) {
    SCOPED_TRACE(filter);
    Frame frame = oracle::add_noise(oracle::draw_picture(format), 10, 3);
    for (std::size_t i = 0; i < odd.size(); ++i) {
      for (int y = 10; y < 14; ++y) {
        frame.planes[1].row<float>(y)[8 * i + 5] = odd[i];
      }
    }
    frame.planes[0].row<float>(30)[30] = std::numeric_limits<float>::quiet_NaN();
    const auto denoiser =
        engine().make_denoiser(make_filter(parse_filter_settings(filter), false), {{10, 10, 10}}, format);
    denoiser->send(frame);
    denoiser->flush();
    const std::optional<Frame> result = denoiser->receive();
    ASSERT_TRUE(result.has_value());
    int changed = 0;
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < 48; ++y) {
        for (int x = 0; x < 64; ++x) {
          const float before = frame.planes[p].row<float>(y)[x];
          const float after = result->planes[p].row<float>(y)[x];
          if (std::abs(before) < 16) {
            ASSERT_LT(std::abs(after), 17) << p << " " << x << " " << y;
            changed += before != after ? 1 : 0;
          } else {
            ASSERT_TRUE(before == after || (std::isnan(before) && std::isnan(after)))
                << p << " " << x << " " << y << ": " << before << " became " << after;
          }
        }
      }
    }
    EXPECT_GT(changed, 3 * 48 * 64 / 2);
  }
}

TEST_P(EngineTest, IllegalNoiseIsAUsageError) {
  const auto denoiser =
      engine().make_denoiser(bm3d_profile(Profile::kFast), {{10, 10, 10}}, yuv(32, 24, 1, 1));
  for (const float bad :
       {-1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (int plane = 0; plane < 3; ++plane) {
      NoiseModel noise{{10, 10, 10}};
      noise.sigma[plane] = bad;
      EXPECT_THROW(denoiser->set_noise(noise), UsageError) << bad;
      EXPECT_THROW(engine().make_denoiser(bm3d_profile(Profile::kFast), noise, yuv(32, 24, 1, 1)), UsageError)
          << bad;
    }
  }
  EXPECT_NO_THROW(denoiser->set_noise({{0, 5, 200}}));
  for (const float bad : {-0.1F, 1.1F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THROW(denoiser->set_mix(bad), UsageError) << bad;
  }
}

// Checked before any use: no division by a spacing of 0, no memory for patches of 2^31 samples.
TEST_P(EngineTest, IllegalParametersAreAUsageErrorThatNamesThem) {
  for (const auto& [named, filter] : illegal_filters()) {
    std::string complaint = "nothing was thrown";
    try {
      engine().make_denoiser(filter, {{10, 10, 10}}, yuv(32, 24, 1, 1));
    } catch (const UsageError& error) {
      complaint = error.what();
    }
    EXPECT_NE(complaint.find(named), std::string::npos)
        << to_string(filter) << ", " << named << ": " << complaint;
  }
}

TEST_P(EngineTest, AnImpossibleFormatIsAnError) {
  const auto spoil = [](const auto& change) {
    FrameFormat format = yuv(32, 24, 1, 1);
    change(format);
    return format;
  };
  const FrameFormat formats[] = {spoil([](FrameFormat& f) { f.width = 0; }),
                                 spoil([](FrameFormat& f) { f.height = -1; }),
                                 spoil([](FrameFormat& f) { f.width = kMaxDimension + 1; }),
                                 spoil([](FrameFormat& f) { f.height = std::numeric_limits<int>::max(); }),
                                 spoil([](FrameFormat& f) { f.bit_depth = 7; }),
                                 spoil([](FrameFormat& f) { f.bit_depth = 16; }),
                                 spoil([](FrameFormat& f) { f.chroma_shift_x = -1; }),
                                 spoil([](FrameFormat& f) { f.chroma_shift_y = 31; }),
                                 spoil([](FrameFormat& f) { f.color_model = ColorModel::kRgb; }),
                                 spoil([](FrameFormat& f) { f.color_model = static_cast<ColorModel>(9); }),
                                 spoil([](FrameFormat& f) { f.sample_type = static_cast<SampleType>(9); })};
  for (std::size_t i = 0; i < std::size(formats); ++i) {
    for (const FilterType& filter : filter_types()) {
      EXPECT_THROW(engine().make_denoiser(parse_filter(filter.name), {{10, 10, 10}}, formats[i]), Error)
          << filter.name << ", format " << i;
    }
    EXPECT_THROW(engine().allocate_frame(formats[i]), Error) << "format " << i;
  }
}

TEST_P(EngineTest, NoiseThatIsSetHoldsForLaterFramesOnly) {
  const FrameFormat format = gray(40, 32);
  const Bm3dParameters parameters = bm3d_profile(Profile::kLc);
  const Frame frame = oracle::add_noise(oracle::draw_picture(format), 20, 5);
  const auto denoiser = engine().make_denoiser(parameters, {{8}}, format);
  denoiser->send(frame);
  denoiser->set_noise({{20}});
  denoiser->send(frame);
  denoiser->set_noise({{0}});
  denoiser->send(frame);
  denoiser->flush();
  EXPECT_TRUE(oracle::same_bits(denoiser->receive().value(), run_filter(engine(), frame, parameters, {{8}})));
  EXPECT_TRUE(
      oracle::same_bits(denoiser->receive().value(), run_filter(engine(), frame, parameters, {{20}})));
  EXPECT_TRUE(oracle::same_bits(denoiser->receive().value(), frame));
}

TEST_P(EngineTest, PlanesSmallerThanAPatchPassUnchangedWithAWarning) {
  for (const FrameFormat& format : {gray(2, 2), gray(7, 9), gray(40, 7), yuv(2, 2, 1, 1), rgb(7, 9),
                                    gray(1, 1, 10), as_float(rgb(5, 30)), as_float(gray(3, 3))}) {
    SCOPED_TRACE(to_string(format));
    const Frame frame = oracle::add_noise(oracle::draw_picture(format), 20, 5);
    const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kNp), {{20, 20, 20}}, format);
    EXPECT_FALSE(denoiser->warnings().empty());
    denoiser->send(frame);
    denoiser->flush();
    EXPECT_TRUE(oracle::same_bits(denoiser->receive().value(), frame));
  }
  EXPECT_FALSE(engine()
                   .make_denoiser(bm3d_profile(Profile::kNp), {{20, 20, 20}}, yuv(16, 14, 1, 1))
                   ->warnings()
                   .empty())
      << "chroma of 8x7 is smaller than a patch";
}

TEST_P(EngineTest, PlanesThatFitGiveNoWarning) {
  for (const FrameFormat& format : {gray(8, 8), yuv(16, 16, 1, 1), yuv(16, 8, 1, 0), rgb(8, 9)}) {
    const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kNp), {{20, 20, 20}}, format);
    EXPECT_TRUE(denoiser->warnings().empty()) << to_string(format) << ": " << denoiser->warnings().front();
  }
}

TEST_P(EngineTest, FramesOfTheEngineHaveTheirFormatAndOutliveIt) {
  const FrameFormat format = yuv(37, 21, 1, 1, 10);
  Frame frame = engine().allocate_frame(format);
  EXPECT_EQ(frame.format, format);
  Frame other = engine().allocate_frame(format);
  engine_.reset();
  for (int plane = 0; plane < 3; ++plane) {
    EXPECT_EQ(frame.planes[plane].width, format.plane_width(plane));
    EXPECT_EQ(frame.planes[plane].height, format.plane_height(plane));
    for (int y = 0; y < format.plane_height(plane); ++y) {
      std::fill_n(frame.planes[plane].row<std::uint16_t>(y), format.plane_width(plane), std::uint16_t{1});
      std::fill_n(other.planes[plane].row<std::uint16_t>(y), format.plane_width(plane), std::uint16_t{2});
    }
  }
  EXPECT_EQ(frame.planes[2].row<std::uint16_t>(10)[18], 1);
  EXPECT_EQ(other.planes[0].row<std::uint16_t>(0)[0], 2);
}

TEST_P(EngineTest, ResultsOutliveDenoiserAndEngine) {
  const FrameFormat format = gray(40, 32);
  const Frame noisy = oracle::add_noise(oracle::draw_picture(format), 20, 5);
  const Frame expected = run_filter(engine(), noisy, bm3d_profile(Profile::kFast), {{20}});
  Frame result;
  {
    const auto denoiser = engine().make_denoiser(bm3d_profile(Profile::kFast), {{20}}, format);
    denoiser->send(noisy);
    result = denoiser->receive().value();
    // Later frames must not overwrite a result that is still referenced.
    denoiser->send(oracle::add_noise(oracle::draw_picture(format), 40, 6));
    denoiser->receive();
  }
  engine_.reset();
  EXPECT_TRUE(oracle::same_bits(result, expected));
}

// On engines with one and with several threads; by default, oneTBB starts at most as many as there are
// processors.
class SharedEngineTest : public EngineSuite {
 protected:
  static constexpr int kStreams = 3;

  void SetUp() override {
    EngineSuite::SetUp();
    for (int i = 0; i < kStreams && !IsSkipped(); ++i) {
      formats_[i] = yuv(32 + 2 * i, 24 - 2 * i, 1, 1);
      noisy_[i] = oracle::add_noise(oracle::draw_picture(formats_[i]), 20, 60 + i);
      expected_[i] = run_filter(engine(), noisy_[i], filter_of(i), noise_);
    }
  }
  static Filter filter_of(int stream) {
    return stream == 1 ? Filter(NlmParameters()) : Filter(bm3d_profile(Profile::kFast));
  }
  std::unique_ptr<Denoiser> denoiser_of(Engine& engine, int stream) const {
    return engine.make_denoiser(filter_of(stream), noise_, formats_[stream]);
  }
  void expect_next(Denoiser& denoiser, int stream) const {
    const std::optional<Frame> result = denoiser.receive();
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(oracle::same_bits(*result, expected_[stream])) << "stream " << stream;
  }
  // Three streams, one frame of each in turn, several in progress.
  void run_in_turns(Engine& engine) const {
    std::array<std::unique_ptr<Denoiser>, kStreams> denoisers;
    for (int i = 0; i < kStreams; ++i) {
      denoisers[i] = denoiser_of(engine, i);
      denoisers[i]->send(noisy_[i]);
    }
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < kStreams; ++i) {
        denoisers[i]->send(noisy_[i]);
        expect_next(*denoisers[(i + 1) % kStreams], (i + 1) % kStreams);
      }
    }
  }

  const tbb::global_control threads_allowed_{tbb::global_control::max_allowed_parallelism, 4};
  const NoiseModel noise_{{20, 12, 12}};
  std::array<FrameFormat, kStreams> formats_;
  std::array<Frame, kStreams> noisy_;
  std::array<Frame, kStreams> expected_;
};

TEST_P(SharedEngineTest, OneThreadMayHaveSeveralDenoisers) {
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(threads);
    run_in_turns(*engine_registry().open(GetParam(), {.threads = threads}));
  }
}

TEST_P(SharedEngineTest, SeveralThreadsMayHaveDenoisersOfTheirOwn) {
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(threads);
    const auto engine = engine_registry().open(GetParam(), {.threads = threads});
    std::vector<std::jthread> hosts(3);
    for (std::jthread& host : hosts) {
      host = std::jthread([&] { run_in_turns(*engine); });
    }
  }
}

TEST_P(SharedEngineTest, TasksOfAHostsOwnMayHaveDenoisers) {
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(threads);
    const auto engine = engine_registry().open(GetParam(), {.threads = threads});
    tbb::task_arena host(3);
    host.execute([&] { tbb::parallel_for(0, 4, [&](int) { run_in_turns(*engine); }); });
  }
}

TEST_P(SharedEngineTest, DenoisersAndTheirEngineMayGoInAnyOrder) {
  for (const std::array<int, kStreams> order : {std::array{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    auto engine = engine_registry().open(GetParam(), {.threads = 1});
    std::array<std::unique_ptr<Denoiser>, kStreams> denoisers;
    for (int i = 0; i < kStreams; ++i) {
      denoisers[i] = denoiser_of(*engine, i);
      denoisers[i]->send(noisy_[i]);
      denoisers[i]->send(noisy_[i]);
    }
    expect_next(*denoisers[order[0]], order[0]);
    denoisers[order[0]].reset();
    engine.reset();
    expect_next(*denoisers[order[1]], order[1]);
    denoisers[order[1]].reset();
    expect_next(*denoisers[order[2]], order[2]);
    expect_next(*denoisers[order[2]], order[2]);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, SharedEngineTest, kSuiteEngines, suite_name);
INSTANTIATE_TEST_SUITE_P(Engines, EngineTest, kSuiteEngines, suite_name);

}  // namespace
}  // namespace limpid
