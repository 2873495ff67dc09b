// SPDX-License-Identifier: MIT
// The OpenFX plug-in in a host of the tests' own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/frame/frame.h"
#include "tests/lib/handles.h"
#include "tests/oracle/pictures.h"
#include "tests/plugins/openfx_host.h"
#include "tests/temporary_folder.h"

namespace limpid::lib::openfx {
namespace {

namespace property = abi::property;

FrameFormat rgba(int width, int height, int bit_depth = 8) {
  FrameFormat format = oracle::rgb(width, height, bit_depth);
  format.has_alpha = true;
  return format;
}

// Noisy frames of a picture that moves in steps of brightness. Alpha is 1.
std::vector<Frame> noisy_frames(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  const Frame clean = oracle::draw_picture(format);
  for (int i = 0; i < count; ++i) {
    frames.push_back(oracle::add_noise(clean, 10, static_cast<std::uint64_t>(i + 1)));
    frames.back().index = i;
  }
  return frames;
}

template <typename Sample>
void fill_alpha(std::vector<Frame>& frames, Sample value) {
  for (Frame& frame : frames) {
    for (int y = 0; y < frame.format.height; ++y) {
      std::fill_n(frame.planes[3].row<Sample>(y), frame.format.width, value);
    }
  }
}

using Settings = std::vector<std::pair<const char*, std::string>>;
std::vector<Frame> by_library(const std::vector<Frame>& frames, const Settings& settings) {
  const Handle denoiser;
  limpid_set(denoiser, "engine", "cpu");
  for (const auto& [name, value] : settings) {
    EXPECT_EQ(limpid_set(denoiser, name, value.c_str()), LIMPID_OK) << limpid_error(denoiser);
  }
  EXPECT_EQ(start(denoiser, frames.front().format), LIMPID_OK) << limpid_error(denoiser);
  return denoise(denoiser, frames);
}

std::string profile_of(const std::vector<Frame>& frames) {
  const Handle denoiser;
  limpid_set(denoiser, "engine", "cpu");
  std::vector<limpid_frame> views;
  for (const Frame& frame : frames) {
    views.push_back(c_frame(frame));
  }
  std::vector<const limpid_frame*> pointers;
  for (const limpid_frame& view : views) {
    pointers.push_back(&view);
  }
  const limpid_format format = c_format(frames.front().format);
  auto noise = sized<limpid_noise>();
  EXPECT_EQ(
      limpid_estimate_noise(denoiser, &format, pointers.data(), static_cast<int>(pointers.size()), &noise),
      LIMPID_OK)
      << limpid_error(denoiser);
  return noise.profile;
}

SourceClip clip_of(const std::vector<Frame>& frames, int x = 0, int y = 0, bool is_top_down = false) {
  SourceClip clip;
  for (const Frame& frame : frames) {
    clip.frames.push_back(picture_of(frame, x, y, is_top_down));
  }
  return clip;
}

std::vector<double> times_of(const SourceClip& clip) {
  std::vector<double> times(clip.frames.size());
  std::iota(times.begin(), times.end(), clip.first_time);
  return times;
}

class OpenFx : public testing::Test {
 protected:
  static void SetUpTestSuite() { plugin() = load_plugin(plugin_path()); }
  // The environment may name another plug-in than that of the build, such as that of a release.
  static const char* plugin_path() {
    const char* const given = std::getenv("LIMPID_OPENFX_PLUGIN");
    return given == nullptr ? LIMPID_OPENFX_PLUGIN : given;
  }
  static abi::Plugin*& plugin() {
    static abi::Plugin* loaded = nullptr;
    return loaded;
  }

  void SetUp() override {
    described_ = std::make_unique<HostEffect>(*plugin());
    ASSERT_EQ(described_->describe(abi::kContextFilter), abi::kOk);
  }

  // With a level of 10, and the fast profile of a short reach.
  std::unique_ptr<HostEffect> instance(SourceClip source) const {
    std::unique_ptr<HostEffect> made = described_->instance(std::move(source));
    made->set("engine", "cpu");
    made->set("noise", 1);
    made->set("profile", 1);
    made->set("vbm4d_reach", "1");
    return made;
  }
  static Settings settings() { return {{"sigma", "10"}, {"profile", "fast"}, {"reach", "1"}}; }

  static void expect_pictures(const std::map<double, Picture>& results, const std::vector<Frame>& expected,
                              int x = 0, int y = 0, bool is_top_down = false) {
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; const auto& [time, picture] : results) {
      EXPECT_TRUE(picture.same_pixels(picture_of(expected[i], x, y, is_top_down))) << "frame " << time;
      ++i;
    }
  }

  std::unique_ptr<HostEffect> described_;
};

TEST_F(OpenFx, DescribesItself) {
  const PropertySet& own = described_->properties();
  EXPECT_EQ(own.text(property::kLabel), "Limpid");
  EXPECT_EQ(own.text(property::kVersionLabel), limpid_version());
  EXPECT_EQ(own.dimension(property::kContexts), 2);
  EXPECT_EQ(own.dimension(property::kDepths), 4);
  EXPECT_EQ(own.text(property::kThreadSafety), abi::kFullySafe);
  EXPECT_EQ(own.whole(property::kTemporalAccess), 1);
  EXPECT_EQ(own.whole(property::kTiles), 0);
  EXPECT_EQ(described_->clip(abi::kSource).whole(property::kTemporalAccess), 1);
  EXPECT_EQ(described_->clip(abi::kSource).text(property::kFieldExtraction), abi::kFieldBoth);
  HostEffect general(*plugin());
  EXPECT_EQ(general.describe(abi::kContextGeneral), abi::kOk);
}

// Projects save the numbers of choices: additions go to the end.
TEST_F(OpenFx, KeepsTheOrderOfChoices) {
  const auto choices = [&](const char* name) {
    std::vector<std::string> list;
    const PropertySet& own = described_->parameter(name).properties;
    for (int i = 0; i < own.dimension(abi::parameter::kOption); ++i) {
      list.push_back(own.text(abi::parameter::kOption, i));
    }
    return list;
  };
  EXPECT_EQ(choices("filter"), (std::vector<std::string>{"vbm4d", "bm3d", "bilateral", "adaptive-bilateral",
                                                         "nlm", "nlm-bilateral", "vnlb"}));
  EXPECT_EQ(choices("profile"), (std::vector<std::string>{"default", "fast", "lc", "np", "high", "best"}));
  EXPECT_EQ(choices("repair"), (std::vector<std::string>{"off", "pixels", "rows", "dust", "all"}));
  EXPECT_EQ(choices("noise"), (std::vector<std::string>{"automatic", "level", "measured"}));
}

TEST_F(OpenFx, HasTheFiltersParametersInGroups) {
  for (std::int32_t f = 0; f < limpid_filter_count(); ++f) {
    auto filter = sized<limpid_filter_info>();
    limpid_get_filter(f, &filter);
    std::string prefix = filter.name;
    std::replace(prefix.begin(), prefix.end(), '-', '_');
    const bool is_offered = described_->has_parameter(prefix + "_parameters");
    EXPECT_EQ(is_offered, std::string(filter.name) != "recursive") << filter.name;
    for (std::int32_t p = 0; is_offered && p < filter.parameter_count; ++p) {
      auto parameter = sized<limpid_parameter_info>();
      limpid_get_parameter(f, p, &parameter);
      std::string name = prefix + "_" + parameter.name;
      std::replace(name.begin(), name.end(), '-', '_');
      ASSERT_TRUE(described_->has_parameter(name)) << name;
      const PropertySet& own = described_->parameter(name).properties;
      EXPECT_EQ(own.text(abi::parameter::kParent), prefix + "_parameters");
      EXPECT_NE(own.text(abi::parameter::kHint).find(parameter.help), std::string::npos);
      EXPECT_EQ(own.whole(abi::parameter::kAnimates), 0);
    }
  }
}

TEST_F(OpenFx, ShowsTheParametersOfTheChosenFilter) {
  const auto effect = instance(clip_of(noisy_frames(rgba(64, 64), 1)));
  const auto is_hidden = [&](const char* group) {
    return effect->parameter(group).properties.whole(abi::parameter::kSecret);
  };
  EXPECT_EQ(is_hidden("vbm4d_parameters"), 0);
  EXPECT_EQ(is_hidden("nlm_parameters"), 1);
  effect->set("filter", 4);
  EXPECT_EQ(is_hidden("vbm4d_parameters"), 1);
  EXPECT_EQ(is_hidden("nlm_parameters"), 0);
}

TEST_F(OpenFx, GivesTheLibrarysBits) {
  for (const int depth : {8, 16}) {
    for (const bool is_top_down : {false, true}) {
      const std::vector<Frame> frames = noisy_frames(rgba(52, 40, depth), 5);
      SourceClip clip = clip_of(frames, -7, 3, is_top_down);
      clip.first_time = 12;
      const auto effect = instance(clip);
      expect_pictures(effect->render_all(times_of(clip), 1), by_library(frames, settings()), -7, 3,
                      is_top_down);
      EXPECT_EQ(effect->unannounced(), std::set<double>{});
    }
  }
}

TEST_F(OpenFx, GivesTheSameBitsInAnyOrderOnAnyThreads) {
  const std::vector<Frame> frames = noisy_frames(rgba(52, 40), 24);
  const std::vector<Frame> expected = by_library(frames, settings());
  const SourceClip clip = clip_of(frames);
  std::vector<double> order = times_of(clip);
  std::vector<std::vector<double>> orders{order, {order.rbegin(), order.rend()}, {}};
  for (int i = 0; i < 24; ++i) {
    orders.back().push_back(i * 7 % 24);
  }
  for (const std::vector<double>& each : orders) {
    for (const int threads : {1, 4}) {
      const auto effect = instance(clip);
      expect_pictures(effect->render_all(each, threads), expected);
      EXPECT_EQ(effect->unannounced(), std::set<double>{});
      EXPECT_EQ(effect->end_sequence(), abi::kOk);
      expect_pictures(effect->render_all(each, threads), expected);
    }
  }
}

TEST_F(OpenFx, RepairsAlikeInAnyOrderAlsoAtStrengthZero) {
  std::vector<Frame> frames = oracle::with_defects(noisy_frames(rgba(72, 64), 24));
  const std::vector<Frame> expected = by_library(
      frames, {{"sigma", "10"}, {"profile", "fast"}, {"reach", "1"}, {"strength", "0"}, {"repair", "all"}});
  EXPECT_FALSE(oracle::same_bits(expected[9], frames[9]));
  const SourceClip clip = clip_of(frames);
  const auto effect = instance(clip);
  effect->set("repair", 4);
  effect->set("strength", 0.0);
  const std::vector<double> order = times_of(clip);
  expect_pictures(effect->render_all({order.rbegin(), order.rend()}, 4), expected);
  EXPECT_EQ(effect->unannounced(), std::set<double>{});
}

// Also when the stream has gone on to frames beyond the reach of an earlier one.
TEST_F(OpenFx, FetchesAnnouncedFramesOnly) {
  const auto effect = instance(clip_of(noisy_frames(rgba(52, 40), 24)));
  effect->set("filter", 1);  // a filter of single frames
  effect->set("profile", 0);
  EXPECT_EQ(effect->render(12).status, abi::kOk) << effect->message;
  EXPECT_EQ(effect->render(14).status, abi::kOk) << effect->message;
  effect->forget_announced();
  EXPECT_EQ(effect->render(10).status, abi::kOk) << effect->message;
  EXPECT_EQ(effect->unannounced(), std::set<double>{});
}

// The noise grows, so that a level of other frames would be another one.
TEST_F(OpenFx, EstimatesTheSameNoiseInAnyOrder) {
  std::vector<Frame> frames;
  for (int i = 0; i < 100; ++i) {
    frames.push_back(oracle::add_noise(oracle::draw_picture(rgba(72, 64)), 4 + i / 10.0,
                                       static_cast<std::uint64_t>(i + 1)));
    frames.back().index = i;
  }
  const std::vector<Frame> expected = by_library(frames, {{"filter", "bilateral"}});
  const auto render = [&](HostEffect& effect, int n) {
    const HostEffect::Rendered rendered = effect.render(n);
    EXPECT_EQ(rendered.status, abi::kOk) << effect.message;
    EXPECT_TRUE(rendered.picture.same_pixels(picture_of(expected[static_cast<std::size_t>(n)]))) << n;
    EXPECT_EQ(effect.unannounced(), std::set<double>{});
  };
  for (const int step : {1, -23, 43}) {  // of numbers, modulo 100
    const auto effect = instance(clip_of(frames));
    effect->set("noise", 0);
    effect->set("profile", 0);
    effect->set("filter", 2);
    for (int i = 0; i < (step == 1 ? 100 : 2); ++i) {
      render(*effect, ((i + 1) * step % 100 + 100) % 100);
    }
  }
}

TEST_F(OpenFx, FiltersAlphaAloneAndColorsWithoutAlpha) {
  for (const FrameFormat& format : {oracle::gray(52, 40), oracle::rgb(52, 40)}) {
    const std::vector<Frame> frames = noisy_frames(format, 4);
    const SourceClip clip = clip_of(frames);
    expect_pictures(instance(clip)->render_all(times_of(clip), 1), by_library(frames, settings()));
  }
}

TEST_F(OpenFx, KeepsSceneLinearValues) {
  for (const bool is_half : {false, true}) {
    const FrameFormat format = is_half ? oracle::as_half(rgba(52, 40)) : oracle::as_float(rgba(52, 40));
    std::vector<Frame> frames = noisy_frames(format, 4);
    for (Frame& frame : frames) {
      for (int p = 0; p < 3; ++p) {
        for (int y = 0; y < 40; ++y) {
          for (int x = 0; x < 52; ++x) {
            const auto scaled = [&](float value) { return value * 5 - 1; };
            if (is_half) {
              Half& sample = frame.planes[p].row<Half>(y)[x];
              sample = Half(scaled(float(sample)));
            } else {
              float& sample = frame.planes[p].row<float>(y)[x];
              sample = scaled(sample);
            }
          }
        }
      }
    }
    const SourceClip clip = clip_of(frames);
    const std::vector<Frame> expected = by_library(frames, settings());
    expect_pictures(instance(clip)->render_all(times_of(clip), 1), expected);
    float least = 0;
    float most = 0;
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 52; ++x) {
        const float value =
            is_half ? float(expected[1].planes[0].row<Half>(y)[x]) : expected[1].planes[0].row<float>(y)[x];
        least = std::min(least, value);
        most = std::max(most, value);
      }
    }
    EXPECT_LT(least, -0.2F);
    EXPECT_GT(most, 1.5F);
  }
}

TEST_F(OpenFx, PassesFramesOfStrengthZero) {
  const SourceClip clip = clip_of(noisy_frames(rgba(52, 40), 1));
  const auto effect = instance(clip);
  EXPECT_FALSE(effect->render(0).is_identity);
  effect->set("strength", 0);
  HostEffect::Rendered rendered = effect->render(0);
  EXPECT_TRUE(rendered.is_identity);
  EXPECT_TRUE(rendered.picture.same_pixels(clip.frames[0]));
  effect->set("strength", 1);
  effect->set("level", 0);
  EXPECT_TRUE(effect->render(0).is_identity);
}

TEST_F(OpenFx, DecidesWithOptionsWhetherFramesPass) {
  const auto effect = instance(clip_of(noisy_frames(rgba(52, 40), 1)));
  const auto passes = [&](const std::string& options) {
    effect->set("options", options);
    const HostEffect::Rendered rendered = effect->render(0);
    EXPECT_EQ(rendered.status, abi::kOk) << effect->message;
    return rendered.is_identity;
  };
  EXPECT_TRUE(passes("strength=0"));
  EXPECT_TRUE(passes("sigma=0"));
  EXPECT_TRUE(passes("sigma=0,0,0"));
  EXPECT_FALSE(passes("sigma=0,5,0"));
  effect->set("level", 0);
  EXPECT_TRUE(passes(""));
  EXPECT_FALSE(passes("sigma=10"));
  effect->set("strength", 0);
  EXPECT_FALSE(passes("sigma=10 strength=1"));
}

// Divides by alpha, filters by the library, multiplies by alpha, in plain code.
TEST_F(OpenFx, FiltersPremultipliedColorsDividedByAlpha) {
  std::vector<Frame> frames = noisy_frames(rgba(52, 40), 3);
  fill_alpha<std::uint8_t>(frames, 255);
  SourceClip opaque = clip_of(frames);
  opaque.premultiplication = abi::kPremultiplied;
  expect_pictures(instance(opaque)->render_all(times_of(opaque), 1), by_library(frames, settings()));

  std::vector<Frame> divided = noisy_frames(rgba(52, 40), 3);
  const auto alpha_at = [](int x) { return static_cast<std::uint8_t>(x < 13 ? 0 : x < 26 ? 100 : 255); };
  const auto for_each = [&](auto function) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < 52; ++x) {
          for (int p = 0; p < 4; ++p) {
            function(i, y, x, p);
          }
        }
      }
    }
  };
  const auto at = [](std::vector<Frame>& list, std::size_t i, int p, int y, int x) -> std::uint8_t& {
    return list[i].planes[p].row<std::uint8_t>(y)[x];
  };
  for_each([&](std::size_t i, int y, int x, int p) {
    const double alpha = alpha_at(x) / 255.0;
    std::uint8_t& sample = at(frames, i, p, y, x);
    sample = p == 3 ? alpha_at(x) : static_cast<std::uint8_t>(sample * (alpha == 0 ? 0.1 : alpha));
    at(divided, i, p, y, x) =
        p == 3 || alpha == 0 ? sample
                             : static_cast<std::uint8_t>(std::min(std::nearbyint(sample / alpha), 255.0));
  });
  std::vector<Frame> expected = by_library(divided, settings());
  for_each([&](std::size_t i, int y, int x, int p) {
    if (const double alpha = alpha_at(x) / 255.0; p < 3) {
      std::uint8_t& sample = at(expected, i, p, y, x);
      sample =
          alpha == 0 ? at(frames, i, p, y, x) : static_cast<std::uint8_t>(std::nearbyint(sample * alpha));
    }
  });
  SourceClip clip = clip_of(frames, 0, 0, true);
  clip.premultiplication = abi::kPremultiplied;
  expect_pictures(instance(clip)->render_all(times_of(clip), 1), expected, 0, 0, true);
}

TEST_F(OpenFx, DividesHalfsByAlpha) {
  std::vector<Frame> frames = noisy_frames(oracle::as_half(rgba(52, 40)), 2);
  fill_alpha<Half>(frames, Half(0.5F));
  std::vector<Frame> doubled = noisy_frames(oracle::as_half(rgba(52, 40)), 2);
  fill_alpha<Half>(doubled, Half(0.5F));
  for (Frame& frame : doubled) {
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < 40; ++y) {
        Half* const row = frame.planes[p].row<Half>(y);
        std::transform(row, row + 52, row, [](Half sample) { return Half(2 * float(sample)); });
      }
    }
  }
  std::vector<Frame> expected = by_library(doubled, settings());
  for (Frame& frame : expected) {
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < 40; ++y) {
        Half* const row = frame.planes[p].row<Half>(y);
        std::transform(row, row + 52, row, [](Half sample) { return Half(float(sample) / 2); });
      }
    }
  }
  SourceClip clip = clip_of(frames);
  clip.premultiplication = abi::kPremultiplied;
  expect_pictures(instance(clip)->render_all(times_of(clip), 1), expected);
}

TEST_F(OpenFx, LowersTheLevelWithTheRenderScale) {
  const std::vector<Frame> frames = noisy_frames(rgba(52, 40), 3);
  SourceClip clip = clip_of(frames);
  clip.scale = 0.5;
  Settings scaled = settings();
  scaled.emplace_back("strength", "0.5");
  expect_pictures(instance(clip)->render_all(times_of(clip), 1), by_library(frames, scaled));
}

// Frames that are combed in so few places that only flagged ones are filtered by field.
std::vector<Frame> slightly_combed(int count) {
  constexpr int kWidth = 128;
  std::vector<Frame> frames = noisy_frames(rgba(kWidth, 96), count);
  for (int i = 0; i < count; ++i) {
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < 16; ++y) {
        const std::ptrdiff_t bytes = frames[i].format.bytes_per_sample();
        std::byte* const row = frames[i].planes[p].data + y * frames[i].planes[p].stride;
        std::rotate(row, row + (9 * i + y % 2 * 20) % kWidth * bytes, row + kWidth * bytes);
      }
    }
  }
  return frames;
}

TEST_F(OpenFx, FiltersFieldsSeparately) {
  const std::vector<Frame> frames = slightly_combed(3);
  Settings interlaced = settings();
  interlaced.emplace_back("fields", "interlaced");
  const std::vector<Frame> expected = by_library(frames, interlaced);
  EXPECT_FALSE(oracle::same_bits(expected[1], by_library(frames, settings())[1]));
  SourceClip clip = clip_of(frames);
  clip.field = abi::kFieldBoth;
  const auto effect = instance(clip);
  expect_pictures(effect->render_all(times_of(clip), 1), expected);
  // The second field of a frame is half a frame later.
  EXPECT_TRUE(effect->render(1, nullptr, abi::kFieldLower).picture.same_pixels(picture_of(expected[1])));
  EXPECT_TRUE(effect->render(1.5, nullptr, abi::kFieldUpper).picture.same_pixels(picture_of(expected[1])));
}

TEST_F(OpenFx, RendersAWindowFromWholeFrames) {
  const std::vector<Frame> frames = noisy_frames(rgba(52, 40), 3);
  const auto effect = instance(clip_of(frames));
  const abi::Rectangle window{10, 20, 30, 25};
  const Picture part = effect->render(1, &window).picture;
  const Picture expected = picture_of(by_library(frames, settings())[1]);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 52; ++x) {
      const bool is_inside = x >= 10 && x < 30 && y >= 20 && y < 25;
      const std::uint32_t untouched = 0xa5a5a5a5;
      EXPECT_EQ(std::memcmp(part.pixel(x, y),
                            is_inside ? static_cast<const void*>(expected.pixel(x, y)) : &untouched, 4),
                0);
    }
  }
  PropertySet in;
  PropertySet out;
  in.set(property::kTime, 1.0);
  EXPECT_EQ(effect->act(abi::kGetRegionsOfInterest, in, out), abi::kOk);
  EXPECT_EQ(out.number(property::kSourceRegion, 2), 52);
  EXPECT_EQ(out.number(property::kSourceRegion, 3), 40);
}

TEST_F(OpenFx, ClearsTheOutputOutsideTheSource) {
  const std::vector<Frame> frames = noisy_frames(rgba(52, 40), 3);
  for (const char* const premultiplication : {abi::kUnpremultiplied, abi::kPremultiplied}) {
    for (const double strength : {0., 1.}) {
      std::vector<Frame> opaque = frames;
      fill_alpha<std::uint8_t>(opaque, 255);
      SourceClip clip = clip_of(opaque);
      clip.premultiplication = premultiplication;
      const auto effect = instance(clip);
      effect->set("strength", strength);
      effect->output_bounds = {-9, -5, 60, 47};
      const Picture result = effect->render(1).picture;
      const Picture expected = picture_of(strength == 0 ? opaque[1] : by_library(opaque, settings())[1]);
      for (int y = -5; y < 47; ++y) {
        for (int x = -9; x < 60; ++x) {
          const bool is_inside = x >= 0 && x < 52 && y >= 0 && y < 40;
          const std::uint32_t clear = 0;
          ASSERT_EQ(std::memcmp(result.pixel(x, y),
                                is_inside ? static_cast<const void*>(expected.pixel(x, y)) : &clear, 4),
                    0)
              << x << " " << y;
        }
      }
    }
  }
}

TEST_F(OpenFx, TakesMissingNeighborsAsBlack) {
  const std::vector<Frame> frames = noisy_frames(rgba(52, 40), 5);
  SourceClip clip = clip_of(frames);
  clip.missing[3] = abi::kFailed;
  const auto effect = instance(clip);
  std::vector<Frame> with_black = noisy_frames(rgba(52, 40), 5);
  for (int c = 0; c < 4; ++c) {
    for (int y = 0; y < 40; ++y) {
      std::fill_n(with_black[3].planes[c].row<std::uint8_t>(y), 52, std::uint8_t{0});
    }
  }
  const std::vector<Frame> expected = by_library(with_black, settings());
  for (const int n : {1, 2, 4}) {
    const HostEffect::Rendered rendered = effect->render(n);
    EXPECT_EQ(rendered.status, abi::kOk) << effect->message;
    EXPECT_TRUE(rendered.picture.same_pixels(picture_of(expected[static_cast<std::size_t>(n)]))) << n;
  }
  EXPECT_EQ(effect->render(3).status, abi::kFailed);
  EXPECT_NE(effect->message.find("no image at frame 3"), std::string::npos) << effect->message;
  // The image exists later.
  effect->source().missing.clear();
  EXPECT_TRUE(effect->render(2).picture.same_pixels(picture_of(by_library(frames, settings())[2])));
}

TEST_F(OpenFx, PassesOtherErrorsOfTheHostOn) {
  SourceClip clip = clip_of(noisy_frames(rgba(52, 40), 3));
  for (const abi::Status status : {abi::kNoMemory, abi::kBadHandle}) {
    clip.missing[2] = status;
    EXPECT_EQ(instance(clip)->render(1).status, status);
  }
  const auto effect = instance(clip_of(noisy_frames(rgba(52, 40), 1)));
  effect->parameter("level").status = abi::kBadHandle;
  EXPECT_EQ(effect->render(0).status, abi::kBadHandle);
  EXPECT_NE(effect->message.find("parameter level"), std::string::npos) << effect->message;
  effect->parameter("level").status = abi::kOk;
  effect->source().row_bytes = -207;
  EXPECT_EQ(effect->render(0).status, abi::kFailed);
  EXPECT_NE(effect->message.find("need 208"), std::string::npos) << effect->message;
}

// Neighbors are 0 outside their bounds.
TEST_F(OpenFx, TakesFramesOfOtherBounds) {
  std::vector<Frame> frames = noisy_frames(rgba(52, 40), 3);
  SourceClip clip = clip_of(frames);
  clip.frames[2] = picture_of(noisy_frames(rgba(30, 50), 3)[2], 10, -5);
  const Picture small = clip.frames[2];
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 52; ++x) {
      for (int c = 0; c < 4; ++c) {
        frames[2].planes[c].row<std::uint8_t>(39 - y)[x] =
            x >= 10 && x < 40 ? static_cast<std::uint8_t>(small.pixel(x, y)[c]) : std::uint8_t{0};
      }
    }
  }
  EXPECT_TRUE(instance(clip)->render(1).picture.same_pixels(picture_of(by_library(frames, settings())[1])));
}

TEST_F(OpenFx, SeesChangesOfTheSource) {
  for (const bool has_identifiers : {false, true}) {  // which do not change
    std::vector<Frame> frames = noisy_frames(rgba(52, 40), 5);
    SourceClip clip = clip_of(frames);
    clip.has_identifiers = has_identifiers;
    const auto effect = instance(clip);
    effect->render_all(times_of(clip), 4);
    frames[3] = oracle::add_noise(oracle::draw_picture(rgba(52, 40)), 30, 77);
    frames[3].index = 3;
    effect->source().frames[3] = picture_of(frames[3]);
    const std::vector<Frame> expected = by_library(frames, settings());
    EXPECT_TRUE(effect->render(4).picture.same_pixels(picture_of(expected[4])));
    EXPECT_TRUE(effect->render(2).picture.same_pixels(picture_of(expected[2])));
  }
}

TEST_F(OpenFx, SeesChangesOfFieldsAndPremultiplication) {
  const std::vector<Frame> frames = slightly_combed(3);
  const auto effect = instance(clip_of(frames));
  EXPECT_TRUE(effect->render(1).picture.same_pixels(picture_of(by_library(frames, settings())[1])));
  effect->source().field = abi::kFieldBoth;
  Settings interlaced = settings();
  interlaced.emplace_back("fields", "interlaced");
  EXPECT_TRUE(effect->render(1).picture.same_pixels(picture_of(by_library(frames, interlaced)[1])));
  effect->source().premultiplication = abi::kPremultiplied;
  const auto other = instance(effect->source());
  EXPECT_TRUE(effect->render(1).picture.same_pixels(other->render(1).picture));
}

TEST_F(OpenFx, EstimatesAgainAfterChangesOfTheSource) {
  for (const bool has_identifiers : {false, true}) {  // which do not change
    SourceClip clip = clip_of(noisy_frames(rgba(96, 80), 20));
    clip.has_identifiers = has_identifiers;
    const auto effect = instance(clip);
    effect->set("noise", 0);
    EXPECT_EQ(effect->render(19).status, abi::kOk) << effect->message;
    for (std::size_t i = 0; i < clip.frames.size(); ++i) {
      clip.frames[i] = picture_of(
          oracle::add_noise(oracle::draw_picture(rgba(96, 80)), 25, static_cast<std::uint64_t>(i)));
    }
    const auto other = instance(clip);
    other->set("noise", 0);
    effect->source().frames = clip.frames;
    EXPECT_TRUE(effect->render(19).picture.same_pixels(other->render(19).picture));
    EXPECT_EQ(effect->unannounced(), std::set<double>{});
  }
}

// Hosts may render each frame as a sequence of its own, and report each change of the time.
TEST_F(OpenFx, KeepsStreamsAfterSequencesOfOneFrame) {
  const auto effect = instance(clip_of(noisy_frames(rgba(52, 40), 24)));
  const auto fetched_by_render = [&] {
    const int before = effect->fetched();
    EXPECT_EQ(effect->render(12).status, abi::kOk);
    return effect->fetched() - before;
  };
  const int first = fetched_by_render();
  const int later = fetched_by_render();
  EXPECT_LT(later, first);
  effect->end_sequence(std::pair{12., 12.});
  EXPECT_EQ(fetched_by_render(), later);
  effect->source_changed(abi::kChangeTime);
  EXPECT_EQ(fetched_by_render(), later);
  effect->source_changed();
  EXPECT_EQ(fetched_by_render(), first);
  effect->end_sequence(std::pair{0., 23.});
  EXPECT_EQ(fetched_by_render(), first);
}

TEST_F(OpenFx, MeasuresInARectangleAndSavesTheProfileInTheProject) {
  const std::vector<Frame> frames = noisy_frames(rgba(120, 100), 6);
  SourceClip clip = clip_of(frames, 5, 7);
  const auto effect = instance(clip);
  // The lower left corner is at (5, 7). Columns 10 to 89 and the 70 rows above row 20 are measured.
  effect->set("rectanglePosition", 15, 27);
  effect->set("rectangleSize", 80, 70);
  EXPECT_EQ(effect->press("measure", 2), abi::kOk) << effect->message;
  EXPECT_FALSE(effect->progress.empty());
  std::vector<Frame> parts;
  for (std::size_t i = 2; i < frames.size(); ++i) {
    Frame part = allocate_frame(rgba(80, 70));
    for (int p = 0; p < 4; ++p) {
      for (int y = 0; y < 70; ++y) {
        std::memcpy(part.planes[p].row<std::uint8_t>(y), frames[i].planes[p].row<std::uint8_t>(10 + y) + 10,
                    80);
      }
    }
    parts.push_back(part);
  }
  const std::string profile = profile_of(parts);
  const std::vector<Frame> expected =
      by_library(frames, {{"noise", profile}, {"profile", "fast"}, {"reach", "1"}});
  expect_pictures(effect->render_all(times_of(clip), 1), expected, 5, 7);
  EXPECT_FALSE(effect->parameter("measuredLevel").text.empty());

  const auto reloaded = described_->instance(clip);
  reloaded->load_project(effect->project());
  EXPECT_EQ(reloaded->project(), effect->project());
  expect_pictures(reloaded->render_all(times_of(clip), 4), expected, 5, 7);
}

TEST_F(OpenFx, MeasuresNothingWhenCanceledOrTooSmall) {
  const auto effect = instance(clip_of(noisy_frames(rgba(120, 100), 3)));
  effect->cancels = true;
  EXPECT_EQ(effect->press("measure", 0), abi::kOk);
  EXPECT_EQ(effect->parameter("measuredProfile").text, "");
  effect->cancels = false;
  effect->set("rectangleSize", 63, 70);
  EXPECT_EQ(effect->press("measure", 0), abi::kFailed);
  EXPECT_NE(effect->message.find("63x70"), std::string::npos) << effect->message;
  effect->set("noise", 2);
  EXPECT_EQ(effect->render(0).status, abi::kFailed);
  EXPECT_NE(effect->message.find("no noise has been measured"), std::string::npos) << effect->message;
}

TEST_F(OpenFx, RefusesFramesOfSeveralFormats) {
  SourceClip clip = clip_of(noisy_frames(rgba(96, 80), 3));
  clip.frames[2] = picture_of(noisy_frames(oracle::rgb(96, 80), 1)[0]);
  const auto effect = instance(clip);
  EXPECT_EQ(effect->press("measure", 0), abi::kUnsupported);
  EXPECT_NE(effect->message.find("noise cannot be measured in frames of different components"),
            std::string::npos)
      << effect->message;
  EXPECT_EQ(effect->render(1).status, abi::kUnsupported);
  EXPECT_NE(effect->message.find("not supported"), std::string::npos) << effect->message;
}

TEST_F(OpenFx, RefusesWhatItDoesNotSupport) {
  const auto effect = instance(clip_of(noisy_frames(rgba(52, 40), 2)));
  const auto refusal = [&] {
    EXPECT_NE(effect->render(0).status, abi::kOk);
    return effect->message;
  };
  effect->set("profile", 0);
  effect->set("vbm4d_reach", "");
  effect->set("options", "filter=recursive");
  EXPECT_NE(refusal().find("use vbm4d with delay=0"), std::string::npos) << effect->message;
  effect->set("options", "bogus");
  EXPECT_NE(refusal().find("'bogus' is neither NAME=VALUE nor a settings file (.json)"), std::string::npos)
      << effect->message;
  effect->set("options", "look.json");
  EXPECT_NE(refusal().find("settings file 'look.json'"), std::string::npos) << effect->message;
  effect->set("options", "");
  effect->set("vbm4d_step", "99");
  EXPECT_NE(refusal().find("step"), std::string::npos) << effect->message;
  effect->set("vbm4d_step", "");
  effect->set("engine", "abacus");
  EXPECT_NE(refusal().find("abacus"), std::string::npos) << effect->message;
  effect->set("engine", "cpu");
  effect->source().frames[0].depth = "OfxBitDepthNone";
  EXPECT_NE(refusal().find("not supported"), std::string::npos) << effect->message;
  effect->source().frames[0].depth = abi::kByte;
  EXPECT_EQ(effect->render(0).status, abi::kOk);
  EXPECT_EQ(effect->message, "");
}

TEST_F(OpenFx, EndsAbortedRendersWithoutAMessage) {
  const std::vector<Frame> frames = noisy_frames(rgba(52, 40), 3);
  const auto effect = instance(clip_of(frames));
  effect->aborts = true;
  EXPECT_EQ(effect->render(1).status, abi::kOk);
  effect->aborts = false;
  EXPECT_EQ(effect->message, "");
  EXPECT_TRUE(effect->render(1).picture.same_pixels(picture_of(by_library(frames, settings())[1])));
}

#ifdef LIMPID_BIN_DIR
// The program reads RGBA frames from a lossless file.
TEST_F(OpenFx, GivesTheProgramsBits) {
  if (std::system("command -v ffmpeg >/dev/null") != 0) {
    GTEST_SKIP() << "there is no ffmpeg";
  }
  const std::vector<Frame> frames = noisy_frames(rgba(64, 48), 4);
  const test::TemporaryFolder folder;
  const std::string path = folder.path().string();
  const SourceClip clip = clip_of(frames, 0, 0, true);
  std::ofstream raw(path + "/in.raw", std::ios::binary);
  for (const Picture& picture : clip.frames) {
    for (int y = 47; y >= 0; --y) {
      raw.write(reinterpret_cast<const char*>(picture.pixel(0, y)), 64 * 4);
    }
  }
  raw.close();
  const std::string command =
      "cd '" + path +
      "' && ffmpeg -v error -f rawvideo -s 64x48 -pix_fmt rgba -i in.raw -pix_fmt gbrp -c utvideo in.mkv" +
      " </dev/null && " LIMPID_BIN_DIR
      "/limpid denoise in.mkv -o out.mkv -c utvideo --pix-fmt gbrp -q --engine cpu " +
      "--sigma 10 --profile fast --reach 1 && ffmpeg -v error -i out.mkv -f rawvideo -pix_fmt rgb24 out.raw "
      "</dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream results(path + "/out.raw", std::ios::binary);
  for (const auto& [time, picture] : instance(clip)->render_all(times_of(clip), 4)) {
    for (int y = 47; y >= 0; --y) {
      for (int x = 0; x < 64; ++x) {
        char colors[3];
        results.read(colors, sizeof colors);
        EXPECT_EQ(std::memcmp(colors, picture.pixel(x, y), sizeof colors), 0) << time << " " << x << " " << y;
      }
    }
  }
  EXPECT_TRUE(results);
}
#endif

}  // namespace
}  // namespace limpid::lib::openfx
