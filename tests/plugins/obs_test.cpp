// SPDX-License-Identifier: MIT
// The OBS filter, called as OBS does: the module registers it with this program instead of libobs, which also
// sets OBS's frame rate.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <obs-module.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/lib/handles.h"
#include "tests/oracle/pictures.h"

namespace limpid::lib {
namespace {

obs_source_info filter_info{};       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::vector<std::string> log_lines;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

std::uint32_t pictures_a_second = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

using Settings = std::vector<std::pair<const char*, const char*>>;
using Picture = std::unique_ptr<obs_source_frame, void (*)(obs_source_frame*)>;

struct Format {
  video_format format;
  FrameFormat own;
  unsigned padding_bits;
  // For each of the frame's planes in order: OBS's plane, offset and stride of samples.
  std::vector<std::array<int, 3>> places;
};

std::vector<Format> formats(int width, int height) {
  const auto yuv = [&](int x, int y, int depth = 8) { return oracle::yuv(width, height, x, y, depth); };
  FrameFormat rgba = oracle::rgb(width, height);
  rgba.has_alpha = true;
  return {
      {VIDEO_FORMAT_NV12, yuv(1, 1), 0, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
      {VIDEO_FORMAT_I420, yuv(1, 1), 0, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}},
      {VIDEO_FORMAT_I422, yuv(1, 0), 0, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}},
      {VIDEO_FORMAT_I444, yuv(0, 0), 0, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}},
      {VIDEO_FORMAT_YUY2, yuv(1, 0), 0, {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}}},
      {VIDEO_FORMAT_UYVY, yuv(1, 0), 0, {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}}},
      {VIDEO_FORMAT_I010, yuv(1, 1, 10), 0, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}},
      {VIDEO_FORMAT_P010, yuv(1, 1, 10), 6, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
      {VIDEO_FORMAT_Y800, oracle::gray(width, height), 0, {{0, 0, 1}}},
      {VIDEO_FORMAT_RGBA, rgba, 0, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {0, 3, 4}}},
      {VIDEO_FORMAT_BGRA, rgba, 0, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {0, 3, 4}}},
      {VIDEO_FORMAT_BGRX, oracle::rgb(width, height), 0, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}}},
  };
}

// Calls each(the frame's sample, the picture's sample) for all samples.
template <typename Each>
void for_each_sample(const Format& format, const obs_source_frame& picture, const Frame& frame,
                     const Each& each) {
  for (int c = 0; c < frame.format.plane_count(); ++c) {
    const auto [plane, offset, stride] = format.places[static_cast<std::size_t>(c)];
    const int bytes = frame.format.bytes_per_sample();
    for (int y = 0; y < frame.planes[c].height; ++y) {
      std::uint8_t* const row =
          picture.data[plane] + y * static_cast<std::ptrdiff_t>(picture.linesize[plane]);
      for (int x = 0; x < frame.planes[c].width; ++x) {
        std::uint8_t* const place = row + (offset + x * stride) * bytes;
        if (bytes == 1) {
          each(frame.planes[c].row<std::uint8_t>(y)[x], place);
        } else {
          each(frame.planes[c].row<std::uint16_t>(y)[x], place);
        }
      }
    }
  }
}

Picture picture_of(const Format& format, const Frame& frame) {
  Picture picture(obs_source_frame_create(format.format, static_cast<std::uint32_t>(frame.format.width),
                                          static_cast<std::uint32_t>(frame.format.height)),
                  obs_source_frame_destroy);
  for_each_sample(format, *picture, frame, [&](auto sample, std::uint8_t* place) {
    sample = static_cast<decltype(sample)>(sample << format.padding_bits);
    std::memcpy(place, &sample, sizeof sample);
  });
  picture->timestamp = 1'000'000'007;
  return picture;
}

Frame frame_of(const Format& format, const obs_source_frame& picture) {
  Frame frame = allocate_frame(format.own);
  for_each_sample(format, picture, frame, [&](auto& sample, std::uint8_t* place) {
    std::memcpy(&sample, place, sizeof sample);
    sample = static_cast<std::remove_reference_t<decltype(sample)>>(sample >> format.padding_bits);
  });
  return frame;
}

Frame noisy(const FrameFormat& format, std::uint64_t seed = 1) {
  return oracle::add_noise(oracle::draw_picture(format), 10, seed);
}

// By the library.
Frame expected(const Frame& frame, const Settings& settings) {
  const Handle denoiser;
  for (const auto& [name, value] : settings) {
    EXPECT_EQ(limpid_set(denoiser, name, value), LIMPID_OK) << limpid_error(denoiser);
  }
  EXPECT_EQ(start(denoiser, frame.format), LIMPID_OK) << limpid_error(denoiser);
  return denoise(denoiser, {frame}).front();
}

class FilterInObs {
 public:
  explicit FilterInObs(const Settings& settings) : settings_(obs_data_create()) {
    filter_info.get_defaults(settings_);
    set(settings);
    filter_ = filter_info.create(settings_, nullptr);
  }
  FilterInObs(const FilterInObs&) = delete;
  FilterInObs(FilterInObs&&) = delete;
  FilterInObs& operator=(const FilterInObs&) = delete;
  FilterInObs& operator=(FilterInObs&&) = delete;
  ~FilterInObs() {
    filter_info.destroy(filter_);
    obs_data_release(settings_);
  }

  void change(const Settings& settings) {
    set(settings);
    filter_info.update(filter_, settings_);
  }
  void give(obs_source_frame& picture) const {
    EXPECT_EQ(filter_info.filter_video(filter_, &picture), &picture);
  }

  // The result of the frame if it is not late, as it may be on a busy machine.
  Frame result(const Format& format, const Frame& frame) const {
    for (int tries = 0; tries < 1000; ++tries) {
      const Picture picture = picture_of(format, frame);
      give(*picture);
      EXPECT_EQ(picture->timestamp, 1'000'000'007U);
      const Frame result = frame_of(format, *picture);
      if (!oracle::same_bits(result, frame)) {
        return result;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "all frames were late";
    return frame;
  }

 private:
  void set(const Settings& settings) {
    for (const auto& [name, value] : settings) {
      if (std::string(name) == "strength") {
        obs_data_set_double(settings_, name, std::stod(value));
      } else {
        obs_data_set_string(settings_, name, value);
      }
    }
  }

  obs_data_t* settings_;
  void* filter_ = nullptr;
};

class Obs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    void* const module = dlopen(LIMPID_OBS_PLUGIN, RTLD_NOW);
    ASSERT_NE(module, nullptr) << dlerror();
    const auto load = reinterpret_cast<bool (*)()>(dlsym(module, "obs_module_load"));
    ASSERT_NE(load, nullptr);
    ASSERT_TRUE(load());
    ASSERT_STREQ(filter_info.id, "limpid_denoise");
    base_set_log_handler(
        [](int /*level*/, const char* text, va_list arguments, void* /*data*/) {
          char line[512];
          static_cast<void>(std::vsnprintf(line, sizeof line, text, arguments));
          log_lines.emplace_back(line);
        },
        nullptr);
  }
  void SetUp() override {
    log_lines.clear();
    pictures_a_second = 5;  // so that few are late on a busy machine
  }
};

TEST_F(Obs, GivesTheLibrarysBitsInAllFormats) {
  const Settings settings{{"noise", "10"}, {"filter", "bilateral"}};
  for (const Format& format : formats(36, 22)) {
    SCOPED_TRACE(get_video_format_name(format.format));
    const Frame frame = noisy(format.own);
    const FilterInObs filter(settings);
    EXPECT_TRUE(oracle::same_bits(filter.result(format, frame), expected(frame, settings)));
  }
}

TEST_F(Obs, DenoisesWithItsDefaults) {
  const Format format = formats(36, 22)[0];
  const Frame frame = noisy(format.own);
  const FilterInObs filter(Settings{{"noise", "10"}});
  EXPECT_FALSE(oracle::same_bits(filter.result(format, frame), frame));
}

TEST_F(Obs, TakesNewSettingsAndFormatsWhileItRuns) {
  const std::vector<Format> known = formats(48, 40);
  const Frame frame = noisy(known[0].own);
  FilterInObs filter({{"noise", "10"}, {"filter", "bm3d"}, {"profile", "fast"}});
  const auto expect = [&](const Format& format, const Frame& given, const Settings& settings) {
    EXPECT_TRUE(oracle::same_bits(filter.result(format, given), expected(given, settings)));
  };
  expect(known[0], frame, {{"noise", "10"}, {"filter", "bm3d"}, {"profile", "fast"}});
  filter.change({{"noise", "20"}, {"strength", "1.5"}});
  expect(known[0], frame, {{"noise", "20"}, {"strength", "1.5"}, {"filter", "bm3d"}, {"profile", "fast"}});
  filter.change({{"profile", "np"}, {"strength", "1"}});
  expect(known[0], frame, {{"noise", "20"}, {"filter", "bm3d"}, {"profile", "np"}});
  filter.change({{"filter", "bilateral"}});  // which has no profiles
  expect(known[0], frame, {{"noise", "20"}, {"filter", "bilateral"}});
  const Format smaller = formats(34, 20)[3];
  expect(smaller, noisy(smaller.own), {{"noise", "20"}, {"filter", "bilateral"}});
}

TEST_F(Obs, LetsFramesPassWhoseResultsComeTooLate) {
  pictures_a_second = 1000;
  const Format format = formats(400, 224)[1];
  const FilterInObs filter({{"noise", "10"}, {"filter", "bm3d"}, {"profile", "high"}});
  const Frame frame = noisy(format.own);
  for (int i = 0; i < 3; ++i) {
    const Picture picture = picture_of(format, frame);
    const auto begin = std::chrono::steady_clock::now();
    filter.give(*picture);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500)) << "OBS waited";
    EXPECT_TRUE(oracle::same_bits(frame_of(format, *picture), frame));
  }
  ASSERT_EQ(log_lines.size(), 1U);
  EXPECT_NE(log_lines.front().find("late ones pass as they are"), std::string::npos) << log_lines.front();
}

TEST_F(Obs, ChangesNothingAtStrengthZeroNorInUnknownFormats) {
  const Format format = formats(48, 40)[0];
  const Frame frame = noisy(format.own);
  const FilterInObs filter({{"noise", "10"}, {"strength", "0"}});
  const Picture picture = picture_of(format, frame);
  filter.give(*picture);
  EXPECT_TRUE(oracle::same_bits(frame_of(format, *picture), frame));

  const FilterInObs other(Settings{{"noise", "10"}});
  const Picture unknown(obs_source_frame_create(VIDEO_FORMAT_BGR3, 48, 40), obs_source_frame_destroy);
  other.give(*unknown);
  other.give(*unknown);
  EXPECT_EQ(log_lines, std::vector<std::string>{"[limpid] frames of BGR3 pass as they are"});
}

TEST_F(Obs, TellsOfWrongSettingsAndGoesOnWithRightOnes) {
  const Format format = formats(48, 40)[0];
  const Frame frame = noisy(format.own);
  FilterInObs filter({{"noise", "loud"}, {"filter", "bilateral"}});
  const Picture picture = picture_of(format, frame);
  for (int i = 0; i < 100 && log_lines.empty(); ++i) {
    filter.give(*picture);
  }
  ASSERT_FALSE(log_lines.empty());
  EXPECT_NE(log_lines.back().find("noise"), std::string::npos) << log_lines.back();
  EXPECT_TRUE(oracle::same_bits(frame_of(format, *picture), frame));
  filter.change({{"noise", "10"}});
  EXPECT_TRUE(oracle::same_bits(filter.result(format, frame),
                                expected(frame, {{"noise", "10"}, {"filter", "bilateral"}})));
}

TEST_F(Obs, ShowsTheLibrarysFiltersAndProfiles) {
  obs_properties_t* const properties = filter_info.get_properties(nullptr);
  const auto count = [&](const char* name) {
    return obs_property_list_item_count(obs_properties_get(properties, name));
  };
  EXPECT_EQ(count("filter"), static_cast<std::size_t>(limpid_filter_count()) + 1);  // and the default
  EXPECT_EQ(count("profile"), 4U);
  EXPECT_GE(count("engine"), 2U);
  obs_properties_destroy(properties);
}

}  // namespace
}  // namespace limpid::lib

// Replaces libobs's function.
bool obs_get_video_info(obs_video_info* info) {
  *info = {};
  info->fps_num = limpid::lib::pictures_a_second;
  info->fps_den = 1;
  return true;
}

void obs_register_source_s(const obs_source_info* info, std::size_t /*size*/) {
  limpid::lib::filter_info = *info;
}
