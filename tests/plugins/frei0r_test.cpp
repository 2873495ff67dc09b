// SPDX-License-Identifier: MIT
// The frei0r plug-in, by its functions.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
#include <frei0r.h>
}

#include "tests/lib/handles.h"
#include "tests/oracle/pictures.h"

namespace limpid::lib {
namespace {

// What a host does with a plug-in.
class Plugin {
 public:
  Plugin() : library_(dlopen(LIMPID_FREI0R_PLUGIN, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
    EXPECT_EQ(function<decltype(f0r_init)>("f0r_init")(), 1);
    construct = function<decltype(f0r_construct)>("f0r_construct");
    destruct = function<decltype(f0r_destruct)>("f0r_destruct");
    set = function<decltype(f0r_set_param_value)>("f0r_set_param_value");
    get = function<decltype(f0r_get_param_value)>("f0r_get_param_value");
    update = function<decltype(f0r_update)>("f0r_update");
  }
  Plugin(const Plugin&) = delete;
  Plugin(Plugin&&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  Plugin& operator=(Plugin&&) = delete;
  ~Plugin() {
    function<decltype(f0r_deinit)>("f0r_deinit")();
    dlclose(library_);
  }

  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  decltype(f0r_construct)* construct;
  decltype(f0r_destruct)* destruct;
  decltype(f0r_set_param_value)* set;
  decltype(f0r_get_param_value)* get;
  decltype(f0r_update)* update;

 private:
  void* library_;
};

class Instance {
 public:
  Instance(const Plugin& plugin, const FrameFormat& format)
      : plugin_(plugin),
        format_(format),
        instance_(
            plugin.construct(static_cast<unsigned>(format.width), static_cast<unsigned>(format.height))) {}
  Instance(const Instance&) = delete;
  Instance(Instance&&) = delete;
  Instance& operator=(const Instance&) = delete;
  Instance& operator=(Instance&&) = delete;
  ~Instance() { plugin_.destruct(instance_); }

  void set(int parameter, double value) const { plugin_.set(instance_, &value, parameter); }
  void set(int parameter, std::string value) const {
    char* text = value.data();
    plugin_.set(instance_, static_cast<void*>(&text), parameter);
  }
  double number(int parameter) const {
    double value = -1;
    plugin_.get(instance_, &value, parameter);
    return value;
  }
  std::string text(int parameter) const {
    char* value = nullptr;
    plugin_.get(instance_, static_cast<void*>(&value), parameter);
    return value;
  }

  Frame update(double time, const Frame& frame) const {
    const auto pixels = static_cast<std::size_t>(format_.width * format_.height);
    std::vector<std::uint32_t> in(pixels);
    std::vector<std::uint32_t> out(pixels);
    for_each_sample(frame, in, [](std::uint8_t& sample, std::uint8_t& packed) { packed = sample; });
    plugin_.update(instance_, time, in.data(), out.data());
    Frame result = allocate_frame(format_);
    result.index = frame.index;
    for_each_sample(result, out, [](std::uint8_t& sample, std::uint8_t& packed) { sample = packed; });
    return result;
  }

 private:
  template <typename Each>
  void for_each_sample(const Frame& frame, std::vector<std::uint32_t>& packed, const Each& each) const {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(packed.data());
    for (int y = 0; y < format_.height; ++y) {
      for (int x = 0; x < format_.width; ++x) {
        for (int c = 0; c < 4; ++c) {
          each(frame.planes[c].row<std::uint8_t>(y)[x], bytes[(y * format_.width + x) * 4 + c]);
        }
      }
    }
  }

  const Plugin& plugin_;
  FrameFormat format_;
  f0r_instance_t instance_;
};

enum Parameter { kNoise, kStrength, kFilter, kProfile, kSettings };

FrameFormat rgba(int width, int height) {
  FrameFormat format = oracle::rgb(width, height);
  format.has_alpha = true;
  return format;
}

std::vector<Frame> noisy_clip(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  for (int i = 0; i < count; ++i) {
    frames.push_back(oracle::add_noise(oracle::draw_picture(format), 10, static_cast<std::uint64_t>(i + 1)));
    frames.back().index = i;
  }
  return frames;
}

// By the library, live.
std::vector<Frame> expected(const std::vector<Frame>& frames,
                            const std::vector<std::pair<const char*, const char*>>& settings) {
  const Handle denoiser;
  limpid_set(denoiser, "live", "1");
  for (const auto& [name, value] : settings) {
    EXPECT_EQ(limpid_set(denoiser, name, value), LIMPID_OK) << limpid_error(denoiser);
  }
  EXPECT_EQ(start(denoiser, frames.front().format), LIMPID_OK) << limpid_error(denoiser);
  return denoise(denoiser, frames);
}

// Frames at 25 a second.
std::vector<Frame> results_of(const Instance& instance, const std::vector<Frame>& frames) {
  std::vector<Frame> results;
  for (const Frame& frame : frames) {
    results.push_back(instance.update(static_cast<double>(frame.index) / 25, frame));
  }
  return results;
}

void expect_same(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(oracle::same_bits(a[i], b[i])) << "frame " << i;
  }
}

TEST(Frei0r, TellsWhatItIs) {
  const Plugin plugin;
  f0r_plugin_info_t info{};
  plugin.function<decltype(f0r_get_plugin_info)>("f0r_get_plugin_info")(&info);
  EXPECT_EQ(info.plugin_type, F0R_PLUGIN_TYPE_FILTER);
  EXPECT_EQ(info.color_model, F0R_COLOR_MODEL_RGBA8888);
  EXPECT_EQ(info.num_params, 5);
  for (int i = 0; i < info.num_params; ++i) {
    f0r_param_info_t parameter{};
    plugin.function<decltype(f0r_get_param_info)>("f0r_get_param_info")(&parameter, i);
    EXPECT_EQ(parameter.type, i == kStrength ? F0R_PARAM_DOUBLE : F0R_PARAM_STRING) << parameter.name;
  }
  const Instance instance(plugin, rgba(8, 8));
  EXPECT_EQ(instance.text(kNoise), "");
  EXPECT_EQ(instance.number(kStrength), 0.5);
  EXPECT_EQ(instance.text(kFilter), "");
  instance.set(kFilter, "nlm");
  EXPECT_EQ(instance.text(kFilter), "nlm");
}

TEST(Frei0r, GivesTheLibrarysBits) {
  const Plugin plugin;
  for (const FrameFormat& format : {rgba(48, 40), rgba(33, 21), rgba(1, 1)}) {
    SCOPED_TRACE(to_string(format));
    const std::vector<Frame> frames = noisy_clip(format, 4);
    const Instance found(plugin, format);
    expect_same(results_of(found, frames), expected(frames, {}));
    const Instance given(plugin, format);
    given.set(kNoise, "10");
    given.set(kStrength, 0.75);
    given.set(kFilter, "bm3d");
    given.set(kProfile, "fast");
    given.set(kSettings, " search-window=9  threads=1 ");
    expect_same(results_of(given, frames), expected(frames, {{"sigma", "10"},
                                                             {"strength", "1.5"},
                                                             {"filter", "bm3d"},
                                                             {"profile", "fast"},
                                                             {"search-window", "9"}}));
  }
}

TEST(Frei0r, InstancesRunOnThreadsOfTheirOwn) {
  const Plugin plugin;
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&plugin, i] {
      const FrameFormat format = rgba(40, 24 + static_cast<int>(i));
      const std::vector<Frame> frames = noisy_clip(format, 3);
      const Instance instance(plugin, format);
      instance.set(kNoise, "10");
      instance.set(kFilter, "bilateral");
      expect_same(results_of(instance, frames), expected(frames, {{"sigma", "10"}, {"filter", "bilateral"}}));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// MLT has an instance on each of its threads, which receive frames as they come, and one on the main thread
// for a first look.
TEST(Frei0r, FiltersFrameByFrameWhereAHostRendersInParallel) {
  const Plugin plugin;
  const FrameFormat format = rgba(40, 24);
  const std::vector<Frame> frames = noisy_clip(format, 6);
  const std::vector<Frame> along_motion = expected(frames, {{"sigma", "10"}});
  const Instance of_main(plugin, format);
  of_main.set(kNoise, "10");
  expect_same(results_of(of_main, frames), along_motion);
  std::thread([&] {
    const Instance first(plugin, format);
    first.set(kNoise, "10");
    expect_same(results_of(first, frames), along_motion);
    std::thread([&] {
      const Instance second(plugin, format);
      second.set(kNoise, "10");
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const Frame result = (i % 3 == 1 ? second : first).update(static_cast<double>(i) / 25, frames[i]);
        EXPECT_TRUE(oracle::same_bits(result, expected({frames[i]}, {{"sigma", "10"}}).front()))
            << "frame " << i;
      }
    }).join();
    expect_same(results_of(first, frames), along_motion);
  }).join();
}

TEST(Frei0r, TakesNewValuesBetweenFrames) {
  const Plugin plugin;
  const FrameFormat format = rgba(40, 24);
  const std::vector<Frame> frames = noisy_clip(format, 1);
  const Instance instance(plugin, format);
  instance.set(kFilter, "bilateral");
  instance.set(kNoise, "10");
  const auto is_as = [&](const char* sigma, const char* filter) {
    return oracle::same_bits(instance.update(0, frames[0]),
                             expected(frames, {{"sigma", sigma}, {"filter", filter}}).front());
  };
  EXPECT_TRUE(is_as("10", "bilateral"));
  instance.set(kNoise, "20");
  EXPECT_TRUE(is_as("20", "bilateral"));
  instance.set(kFilter, "nlm");
  EXPECT_TRUE(is_as("20", "nlm"));
  instance.set(kNoise, "auto");
  EXPECT_TRUE(is_as("auto", "nlm"));
}

TEST(Frei0r, BeginsAnewWhereTheTimeJumps) {
  const Plugin plugin;
  const FrameFormat format = rgba(40, 24);
  const std::vector<Frame> frames = noisy_clip(format, 3);
  const Frame alone = expected({frames[2]}, {{"sigma", "10"}}).front();
  const auto third_at = [&](double time) {
    const Instance instance(plugin, format);
    instance.set(kNoise, "10");
    instance.update(7, frames[0]);
    instance.update(7.04, frames[1]);
    return instance.update(time, frames[2]);
  };
  EXPECT_FALSE(oracle::same_bits(third_at(7.08), alone)) << "the frames before it help";
  EXPECT_TRUE(oracle::same_bits(third_at(3), alone));
  EXPECT_TRUE(oracle::same_bits(third_at(7.04), alone));
  EXPECT_TRUE(oracle::same_bits(third_at(17), alone));
}

TEST(Frei0r, PassesFramesOnAndTellsWhyOnce) {
  const Plugin plugin;
  const FrameFormat format = rgba(16, 8);
  const std::vector<Frame> frames = noisy_clip(format, 2);
  const auto complaint = [&](int parameter, const std::string& value) {
    const Instance instance(plugin, format);
    instance.set(kNoise, "10");
    instance.set(parameter, value);
    testing::internal::CaptureStderr();
    expect_same(results_of(instance, frames), frames);
    std::string told = testing::internal::GetCapturedStderr();
    instance.set(parameter, "");  // and it goes on
    expect_same(results_of(instance, {frames[0]}), expected({frames[0]}, {{"sigma", "10"}}));
    return told;
  };
  EXPECT_EQ(complaint(kFilter, "bm5d").find("limpid (frei0r): there is no filter \"bm5d\""), 0U);
  EXPECT_EQ(complaint(kSettings, "reach"),
            "limpid (frei0r): settings: 'reach' is neither NAME=VALUE nor a settings file (.json)\n");
  EXPECT_EQ(complaint(kSettings, "repair=pixels").find("limpid (frei0r): repair: live video and the window"),
            0U);
  EXPECT_EQ(complaint(kSettings, "delay=8"),
            "limpid (frei0r): settings: a frame's result would come 8 frames late, and frei0r takes it at "
            "once\n");
}

TEST(Frei0r, SaysTheUnitsOfItsParameters) {
  const Plugin plugin;
  const FrameFormat format = rgba(16, 8);
  const std::vector<Frame> frames = noisy_clip(format, 2);
  const auto told_of = [&](const char* noise, double strength) {
    const Instance instance(plugin, format);
    instance.set(kNoise, noise);
    instance.set(kStrength, strength);
    testing::internal::CaptureStderr();
    results_of(instance, frames);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told_of("10", 0.5), "");
  EXPECT_EQ(told_of("10,5,5", 1), "");
  EXPECT_EQ(told_of("0.1", 0.5),
            "limpid (frei0r): noise: a level of 0.1 in 8-bit code values changes hardly anything; give the "
            "level itself, such as 10\n");
  EXPECT_EQ(
      told_of("10", 2),
      "limpid (frei0r): strength: 2 is not 0 to 1; give half of the strength of limpid denoise: 0.5 for "
      "1\n");
}

}  // namespace
}  // namespace limpid::lib
