// SPDX-License-Identifier: MIT
// The VapourSynth plug-in in VapourSynth's own core.
#include <VapourSynth4.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/system.h"
#include "tests/lib/handles.h"
#include "tests/oracle/pictures.h"

namespace limpid::lib {
namespace {

const VSAPI* api() {
  static const VSAPI* const functions = [] {
    const auto get = reinterpret_cast<VSGetVapourSynthAPI>(
        find_function(load_library(LIMPID_VAPOURSYNTH_LIBRARY), "getVapourSynthAPI"));
    return get == nullptr ? nullptr : get(VAPOURSYNTH_API_VERSION);
  }();
  return functions;
}

using Argument = std::pair<const char*, std::function<void(VSMap*, const char*)>>;
Argument text(const char* name, std::string value) {
  return {name, [value = std::move(value)](VSMap* map, const char* key) {
            api()->mapSetData(map, key, value.c_str(), -1, dtUtf8, maAppend);
          }};
}
Argument number(const char* name, double value) {
  return {name, [value](VSMap* map, const char* key) { api()->mapSetFloat(map, key, value, maAppend); }};
}
Argument node(const char* name, VSNode* value) {
  return {name, [value](VSMap* map, const char* key) { api()->mapSetNode(map, key, value, maAppend); }};
}
Argument whole(const char* name, int value) {
  return {name, [value](VSMap* map, const char* key) { api()->mapSetInt(map, key, value, maAppend); }};
}

// A clip of frames that are there.
struct Source {
  std::vector<Frame> frames;
  VSVideoInfo clip{};
};
const VSFrame* VS_CC source_frame(int n, int /*reason*/, void* data, void** /*frame_data*/,
                                  VSFrameContext* /*context*/, VSCore* core, const VSAPI* vs) {
  const auto& source = *static_cast<Source*>(data);
  const Frame& from = source.frames[static_cast<std::size_t>(n)];
  VSFrame* const frame =
      vs->newVideoFrame(&source.clip.format, source.clip.width, source.clip.height, nullptr, core);
  for (int p = 0; p < from.format.plane_count(); ++p) {
    for (int y = 0; y < from.planes[p].height; ++y) {
      std::memcpy(vs->getWritePtr(frame, p) + y * vs->getStride(frame, p), from.planes[p].row<std::byte>(y),
                  static_cast<std::size_t>(from.planes[p].width * from.format.bytes_per_sample()));
    }
  }
  vs->mapSetInt(vs->getFramePropertiesRW(frame), "Number", n, maReplace);
  return frame;
}

class VapourSynth : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(api(), nullptr);
    core_ = api()->createCore(ccfDisableAutoLoading);
    api()->setThreadCount(3, core_);
    VSMap* const arguments = api()->createMap();
    // To test the plug-in of a package.
    const char* const given = std::getenv("LIMPID_VAPOURSYNTH_PLUGIN");
    api()->mapSetData(arguments, "path", given == nullptr ? LIMPID_VAPOURSYNTH_PLUGIN : given, -1, dtUtf8,
                      maReplace);
    VSMap* const result =
        api()->invoke(api()->getPluginByID("com.vapoursynth.std", core_), "LoadPlugin", arguments);
    const char* const error = api()->mapGetError(result);
    EXPECT_EQ(error, nullptr) << error;
    api()->freeMap(result);
    api()->freeMap(arguments);
  }
  void TearDown() override {
    if (core_ != nullptr) {
      api()->freeCore(core_);
    }
  }

  VSNode* source(const std::vector<Frame>& frames) {
    source_.frames = frames;
    const FrameFormat& format = frames.front().format;
    api()->queryVideoFormat(&source_.clip.format,
                            format.color_model == ColorModel::kGray  ? cfGray
                            : format.color_model == ColorModel::kYuv ? cfYUV
                                                                     : cfRGB,
                            format.is_float() ? stFloat : stInteger, format.bit_depth, format.chroma_shift_x,
                            format.chroma_shift_y, core_);
    source_.clip.width = format.width;
    source_.clip.height = format.height;
    source_.clip.fpsNum = 25;
    source_.clip.fpsDen = 1;
    source_.clip.numFrames = static_cast<int>(frames.size());
    return api()->createVideoFilter2("Source", &source_.clip, source_frame, nullptr, fmParallel, nullptr, 0,
                                     &source_, core_);
  }

  // The clip that a function makes; null, and error_, if it makes none.
  VSNode* invoke(const char* function, const std::vector<Frame>& frames,
                 const std::vector<Argument>& arguments) {
    VSNode* const clip = source(frames);
    VSNode* const made = invoke_on(function, clip, arguments);
    api()->freeNode(clip);
    return made;
  }

  VSNode* invoke_on(const char* function, VSNode* clip, const std::vector<Argument>& arguments) {
    VSMap* const in = api()->createMap();
    api()->mapSetNode(in, "clip", clip, maReplace);
    if (function != std::string("BM3Dv2")) {
      api()->mapSetInt(in, "threads", 2, maReplace);
      api()->mapSetData(in, "engine", "cpu", -1, dtUtf8, maReplace);
    }
    for (const auto& [name, set] : arguments) {
      set(in, name);
    }
    VSMap* const out = api()->invoke(api()->getPluginByID("org.limpid.limpid", core_), function, in);
    api()->freeMap(in);
    const char* const error = api()->mapGetError(out);
    error_ = error == nullptr ? "" : error;
    VSNode* const node = error == nullptr ? api()->mapGetNode(out, "clip", 0, nullptr) : nullptr;
    api()->freeMap(out);
    return node;
  }

  static Frame taken(const VSFrame* frame, const FrameFormat& format) {
    Frame result = allocate_frame(format);
    for (int p = 0; p < format.plane_count(); ++p) {
      for (int y = 0; y < result.planes[p].height; ++y) {
        std::memcpy(result.planes[p].row<std::byte>(y),
                    api()->getReadPtr(frame, p) + y * api()->getStride(frame, p),
                    static_cast<std::size_t>(result.planes[p].width * format.bytes_per_sample()));
      }
    }
    result.index = api()->mapGetInt(api()->getFramePropertiesRO(frame), "Number", 0, nullptr);
    return result;
  }

  // Asks for frames one after the other, in this order.
  static std::vector<Frame> get(VSNode* node, const FrameFormat& format, const std::vector<int>& order) {
    std::vector<Frame> results(static_cast<std::size_t>(*std::ranges::max_element(order)) + 1);
    for (const int n : order) {
      char error[256] = {};
      const VSFrame* const frame = api()->getFrame(n, node, error, sizeof error);
      EXPECT_NE(frame, nullptr) << error;
      if (frame != nullptr) {
        results[static_cast<std::size_t>(n)] = taken(frame, format);
        api()->freeFrame(frame);
      }
    }
    return results;
  }

  // Takes frames of a node out of order, compares each with the frame of the same number in `whole_clip` (150
  // frames, filtered in order), and frees the node.
  void expect_in_any_order(VSNode* node, const std::vector<Frame>& whole_clip) {
    ASSERT_NE(node, nullptr) << error_;
    const std::vector<int> order{149, 60, 61, 90, 3, 148, 0, 100, 99, 98, 35, 130, 36};
    const std::vector<Frame> results = get(node, whole_clip.front().format, order);
    for (const int n : order) {
      EXPECT_TRUE(
          oracle::same_bits(results[static_cast<std::size_t>(n)], whole_clip[static_cast<std::size_t>(n)]))
          << "frame " << n;
    }
    api()->freeNode(node);
  }

  // Asks for all at once.
  static std::vector<Frame> get_at_once(VSNode* node, const FrameFormat& format, int count) {
    struct Waiting {
      std::mutex mutex;
      std::condition_variable arrived;
      const FrameFormat& format;
      std::vector<Frame> results;
      int left;
    } waiting{{}, {}, format, std::vector<Frame>(static_cast<std::size_t>(count)), count};
    for (int n = 0; n < count; ++n) {
      api()->getFrameAsync(
          n, node,
          [](void* data, const VSFrame* frame, int number, VSNode* /*node*/, const char* /*error*/) {
            auto& own = *static_cast<Waiting*>(data);
            const std::scoped_lock lock(own.mutex);
            if (frame != nullptr) {
              own.results[static_cast<std::size_t>(number)] = taken(frame, own.format);
              api()->freeFrame(frame);
            }
            --own.left;
            own.arrived.notify_one();
          },
          &waiting);
    }
    std::unique_lock lock(waiting.mutex);
    waiting.arrived.wait(lock, [&] { return waiting.left == 0; });
    return waiting.results;
  }

  VSCore* core_ = nullptr;
  Source source_;
  std::string error_;
};

// The picture moves by four samples per frame.
std::vector<Frame> noisy_clip(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  const Frame picture = oracle::draw_picture(format);
  Frame moved = allocate_frame(format);
  for (int i = 0; i < count; ++i) {
    for (int p = 0; p < format.plane_count(); ++p) {
      const Plane& plane = picture.planes[p];
      const int samples = (4 * i >> (p > 0 ? format.chroma_shift_x : 0)) % plane.width;
      for (int y = 0; y < plane.height; ++y) {
        const auto* const row = plane.row<std::byte>(y);
        std::rotate_copy(row, row + samples * format.bytes_per_sample(),
                         row + plane.width * format.bytes_per_sample(), moved.planes[p].row<std::byte>(y));
      }
    }
    frames.push_back(oracle::add_noise(moved, 10, static_cast<std::uint64_t>(i + 1)));
    frames.back().index = i;
  }
  return frames;
}

// By the library.
std::vector<Frame> expected(const std::vector<Frame>& frames,
                            const std::vector<std::pair<const char*, const char*>>& settings) {
  const Handle denoiser;
  limpid_set(denoiser, "engine", "cpu");
  for (const auto& [name, value] : settings) {
    EXPECT_EQ(limpid_set(denoiser, name, value), LIMPID_OK) << limpid_error(denoiser);
  }
  EXPECT_EQ(start(denoiser, frames.front().format), LIMPID_OK) << limpid_error(denoiser);
  return denoise(denoiser, frames);
}

void expect_same(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NE(a[i].samples, nullptr) << "frame " << i;
    EXPECT_EQ(a[i].index, static_cast<std::int64_t>(i));
    EXPECT_TRUE(oracle::same_bits(a[i], b[i])) << "frame " << i;
  }
}

TEST_F(VapourSynth, GivesTheLibrarysBitsInAnyOrder) {
  const FrameFormat format = oracle::yuv(48, 40, 1, 1, 10);
  const std::vector<Frame> frames = noisy_clip(format, 9);
  const std::vector<Frame> whole_clip =
      expected(frames, {{"profile", "fast"}, {"reach", "1"}, {"sigma", "10,5,5"}});
  const std::vector<Argument> arguments{text("profile", "fast"), text("reach", "1"), number("sigma", 10),
                                        number("sigma", 5)};
  std::vector<int> order(frames.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::vector<int>> orders{order, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {4, 0, 8, 1, 5, 3, 2, 7, 6}};
  for (const std::vector<int>& each : orders) {
    VSNode* const node = invoke("Denoise", frames, arguments);
    ASSERT_NE(node, nullptr) << error_;
    expect_same(get(node, format, each), whole_clip);
    api()->freeNode(node);
  }
  VSNode* const node = invoke("Denoise", frames, arguments);
  ASSERT_NE(node, nullptr) << error_;
  expect_same(get_at_once(node, format, 9), whole_clip);
  api()->freeNode(node);
}

TEST_F(VapourSynth, FindsTheNoiseAsTheLibraryDoes) {
  const FrameFormat format = oracle::yuv(96, 64, 1, 1);
  const std::vector<Frame> frames = noisy_clip(format, 6);
  VSNode* const node = invoke("Denoise", frames, {text("filter", "bilateral")});
  ASSERT_NE(node, nullptr) << error_;
  expect_same(get(node, format, {0, 1, 2, 3, 4, 5}), expected(frames, {{"filter", "bilateral"}}));
  api()->freeNode(node);
}

// Levels are those of the whole clip, whose noise grows.
TEST_F(VapourSynth, FindsTheSameNoiseInAnyOrder) {
  for (const FrameFormat& format : {oracle::yuv(96, 80, 1, 1), oracle::as_float(oracle::gray(96, 80))}) {
    SCOPED_TRACE(to_string(format));
    constexpr int kFrames = 150;
    std::vector<Frame> frames;
    for (int i = 0; i < kFrames; ++i) {
      frames.push_back(oracle::add_noise(oracle::draw_picture(format), 2 + i / 15.0, i + 1));
    }
    const std::vector<Frame> whole_clip = expected(frames, {{"filter", "bilateral"}});
    expect_in_any_order(invoke("Bilateral", frames, {}), whole_clip);
  }
}

TEST_F(VapourSynth, RepairsAlikeInAnyOrder) {
  const FrameFormat format = oracle::gray(96, 80);
  constexpr int kFrames = 150;
  const std::vector<Frame> frames = oracle::with_defects(noisy_clip(format, kFrames));
  const std::vector<Frame> whole_clip =
      expected(frames, {{"filter", "bilateral"}, {"sigma", "3"}, {"repair", "all"}});
  EXPECT_FALSE(
      oracle::same_bits(whole_clip[100], expected(frames, {{"filter", "bilateral"}, {"sigma", "3"}})[100]));
  expect_in_any_order(
      invoke("Denoise", frames, {text("filter", "bilateral"), number("sigma", 3), text("repair", "all")}),
      whole_clip);
}

TEST_F(VapourSynth, TakesFieldsAndLive) {
  const FrameFormat format = oracle::gray(64, 48);
  const std::vector<Frame> frames = noisy_clip(format, 4);
  const auto results = [&](std::vector<Argument> arguments) {
    arguments.push_back(number("sigma", 10));
    VSNode* const node = invoke("Denoise", frames, arguments);
    EXPECT_NE(node, nullptr) << error_;
    std::vector<Frame> all = get(node, format, {0, 1, 2, 3});
    api()->freeNode(node);
    return all;
  };
  const std::vector<Frame> plain = results({});
  const std::vector<Frame> fields = results({text("fields", "interlaced")});
  expect_same(fields, expected(frames, {{"sigma", "10"}, {"fields", "interlaced"}}));
  EXPECT_FALSE(oracle::same_bits(fields[0], plain[0]));
  const std::vector<Frame> live = results({whole("live", 1)});
  expect_same(live, expected(frames, {{"sigma", "10"}, {"live", "1"}}));
  EXPECT_FALSE(oracle::same_bits(live[0], plain[0]));
  EXPECT_EQ(invoke("Denoise", frames, {whole("live", 1)}), nullptr);
  EXPECT_EQ(
      error_,
      "Denoise: VapourSynth requests frames in any order, so live needs a noise level; set one, or leave "
      "live out");
  VSNode* const node = invoke("NLM", frames, {text("fields", "odd")});
  EXPECT_EQ(node, nullptr);
  EXPECT_EQ(error_.find("NLM: fields: 'odd'"), 0U) << error_;
}

TEST_F(VapourSynth, LevelsArePropertiesOfFrames) {
  const FrameFormat format = oracle::yuv(96, 64, 1, 1);
  const std::vector<Frame> frames = noisy_clip(format, 6);
  const auto levels_of = [&](const std::vector<Argument>& arguments) {
    VSNode* const node = invoke("Bilateral", frames, arguments);
    EXPECT_NE(node, nullptr) << error_;
    VSNode* const again = invoke_on("Bilateral", node, {number("sigma", 7)});
    std::vector<double> levels;
    for (VSNode* const each : {node, again}) {
      const VSFrame* const frame = api()->getFrame(3, each, nullptr, 0);
      const VSMap* const properties = api()->getFramePropertiesRO(frame);
      for (int p = 0; p < api()->mapNumElements(properties, "_LimpidSigma"); ++p) {
        levels.push_back(api()->mapGetFloat(properties, "_LimpidSigma", p, nullptr));
      }
      api()->freeFrame(frame);
      api()->freeNode(each);
    }
    return levels;
  };
  EXPECT_EQ(levels_of({number("sigma", 12), number("sigma", 5), number("sigma", 6)}),
            (std::vector<double>{12, 5, 6, 7, 7, 7}));
  const Handle denoiser;
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  denoise(denoiser, frames);
  auto noise = sized<limpid_noise>();
  ASSERT_EQ(limpid_get_noise(denoiser, &noise), LIMPID_OK);
  const std::vector<double> estimated = levels_of({});
  ASSERT_EQ(estimated.size(), 6U);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(static_cast<float>(estimated[p]), noise.sigma[p]);
  }
}

TEST_F(VapourSynth, TakesItsFormats) {
  using oracle::as_float;
  for (const FrameFormat& format :
       {oracle::gray(33, 21), oracle::gray(33, 21, 16), oracle::yuv(36, 22, 0, 0),
        oracle::yuv(36, 22, 1, 0, 12), oracle::rgb(33, 21), as_float(oracle::gray(33, 21)),
        as_float(oracle::rgb(33, 21)), oracle::as_half(oracle::gray(33, 21)),
        oracle::as_half(oracle::rgb(33, 21))}) {
    SCOPED_TRACE(to_string(format));
    const std::vector<Frame> frames = noisy_clip(format, 1);
    for (const auto& [function, filter] : {std::pair{"Bilateral", "bilateral"}, std::pair{"NLM", "nlm"}}) {
      VSNode* const node = invoke(function, frames, {number("sigma", 10)});
      ASSERT_NE(node, nullptr) << error_;
      expect_same(get(node, format, {0}), expected(frames, {{"filter", filter}, {"sigma", "10"}}));
      api()->freeNode(node);
    }
  }
}

TEST_F(VapourSynth, PassesPlanesThatAreNotChosen) {
  const FrameFormat format = oracle::yuv(64, 64, 1, 1);
  const std::vector<Frame> frames = noisy_clip(format, 1);
  VSNode* node = invoke("Denoise", frames, {text("filter", "bm3d"), number("sigma", 10), whole("planes", 0)});
  ASSERT_NE(node, nullptr) << error_;
  expect_same(get(node, format, {0}), expected(frames, {{"filter", "bm3d"}, {"sigma", "10,0,0"}}));
  api()->freeNode(node);
  node = invoke("Denoise", frames, {text("filter", "bilateral"), whole("planes", 1), whole("planes", 2)});
  ASSERT_NE(node, nullptr) << error_;
  expect_same(get(node, format, {0}), expected(frames, {{"filter", "bilateral"}, {"planes", "chroma"}}));
  api()->freeNode(node);
}

TEST_F(VapourSynth, TakesTheArgumentsOfBm3dCuda) {
  const FrameFormat format = oracle::as_float(oracle::yuv(48, 40, 0, 0));
  const std::vector<Frame> frames = noisy_clip(format, 4);
  const std::vector<std::pair<const char*, const char*>> first_step{
      {"engine", "auto"}, {"filter", "bm3d"},      {"steps", "1"},
      {"step", "4"},      {"search-window", "19"}, {"sigma", "9,0,6"}};
  const auto result = [&](std::vector<Argument> arguments) {
    arguments.insert(arguments.end(), {text("engine", "cpu"), whole("threads", 2)});
    VSNode* const node = invoke("BM3Dv2", frames, arguments);
    EXPECT_NE(node, nullptr) << error_;
    std::vector<Frame> results = node == nullptr ? std::vector<Frame>() : get(node, format, {0, 1, 2, 3});
    api()->freeNode(node);
    return results;
  };
  std::vector<Argument> arguments{number("sigma", 12), number("sigma", 0), number("sigma", 8),
                                  whole("block_step", 4), whole("block_step", 4)};
  expect_same(result(arguments), expected(frames, first_step));
  arguments.insert(arguments.end(), {whole("zero_init", 0), whole("fast", 0), whole("extractor_exp", 6),
                                     text("bm_error_s", "SSD"), text("transform_2d_s", "DCT"),
                                     text("transform_1d_s", "Haar")});
  std::vector<std::pair<const char*, const char*>> transformed = first_step;
  transformed.insert(transformed.end(), {{"transform-2d", "dct"}, {"transform-1d", "haar"}});
  expect_same(result(arguments), expected(frames, transformed));
  VSNode* const node = invoke("BM3Dv2", frames, {whole("device_id", 99)});
  EXPECT_EQ(node, nullptr);
  EXPECT_NE(error_.find("cuda:99"), std::string::npos) << error_;
}

// bm3dcpu and BM3DCUDA read three levels, whatever the clip has.
TEST_F(VapourSynth, TakesThreeLevelsOfBm3dCudaForAGrayClip) {
  const FrameFormat format = oracle::as_float(oracle::gray(48, 40));
  const std::vector<Frame> frames = noisy_clip(format, 1);
  VSNode* const node =
      invoke("BM3Dv2", frames, {number("sigma", 12), number("sigma", 0), number("sigma", 0)});
  ASSERT_NE(node, nullptr) << error_;
  expect_same(get(node, format, {0}), expected(frames, {{"engine", "auto"},
                                                        {"filter", "bm3d"},
                                                        {"steps", "1"},
                                                        {"step", "8"},
                                                        {"search-window", "19"},
                                                        {"sigma", "9"}}));
  api()->freeNode(node);
  const std::vector<Argument> four(4, number("sigma", 1));
  EXPECT_EQ(invoke("BM3Dv2", frames, four), nullptr);
  EXPECT_EQ(invoke("NLM", frames, {number("sigma", 1), number("sigma", 1)}), nullptr);
  EXPECT_EQ(error_, "NLM: sigma: there are more levels than planes");
}

TEST_F(VapourSynth, MakesBothStepsOfBm3dWhereTheFirstIsTheReference) {
  const FrameFormat format = oracle::as_float(oracle::yuv(48, 40, 0, 0));
  source_.frames = noisy_clip(format, 4);
  const std::vector<Frame> frames = source_.frames;
  VSNode* const clip = source(frames);
  for (const int radius : {0, 1}) {
    std::vector<Argument> arguments{number("sigma", 12)};
    arguments.push_back(whole("radius", radius));
    std::vector<Argument> first = arguments;
    first.push_back(whole("block_step", 4));
    VSNode* const basic = invoke_on("BM3Dv2", clip, first);
    ASSERT_NE(basic, nullptr) << error_;
    arguments.push_back(whole("bm_range", 7));
    arguments.push_back(node("ref", basic));
    VSNode* const both = invoke_on("BM3Dv2", clip, arguments);
    ASSERT_NE(both, nullptr) << error_;
    std::vector<std::pair<const char*, const char*>> settings{
        {"engine", "auto"},      {"filter", radius > 0 ? "vbm4d" : "bm3d"},
        {"step", "4"},           {"step-2", "8"},
        {"search-window", "19"}, {"search-window-2", "15"},
        {"sigma", "9"}};
    if (radius > 0) {
      settings.emplace_back("reach", "1");
    }
    expect_same(get(both, format, {0, 1, 2, 3}), expected(frames, settings));
    api()->freeNode(both);
    EXPECT_EQ(invoke_on("BM3Dv2", clip, {number("sigma", 6), whole("radius", radius), node("ref", basic)}),
              nullptr);
    EXPECT_EQ(error_, "BM3Dv2: ref: the call that made it must have the same sigma and radius");
    api()->freeNode(basic);
  }
  api()->freeNode(clip);
}

TEST_F(VapourSynth, ComputesBothStepsForAnyOtherGuide) {
  const FrameFormat format = oracle::as_float(oracle::gray(48, 40));
  const std::vector<Frame> frames = noisy_clip(format, 4);
  VSNode* const clip = source(frames);
  VSNode* const other = source(frames);
  VSNode* const denoised = invoke_on("Bilateral", clip, {number("sigma", 5)});
  VSNode* const basic_of_other = invoke_on("BM3Dv2", other, {});
  VSNode* const basic = invoke_on("BM3Dv2", clip, {});
  VSNode* const both = invoke_on("BM3Dv2", clip, {node("ref", basic)});
  const std::vector<Frame> results = expected(frames, {{"engine", "auto"},
                                                       {"filter", "bm3d"},
                                                       {"steps", "2"},
                                                       {"step-2", "4"},
                                                       {"search-window-2", "19"},
                                                       {"sigma", "2.25"}});
  for (VSNode* const guide : {clip, other, denoised, basic_of_other, both}) {
    ASSERT_NE(guide, nullptr) << error_;
    VSNode* const guided = invoke_on("BM3Dv2", clip, {whole("block_step", 4), node("ref", guide)});
    ASSERT_NE(guided, nullptr) << error_;
    expect_same(get(guided, format, {0, 1, 2, 3}), results);
    api()->freeNode(guided);
  }
  Source small;
  std::swap(small, source_);
  VSNode* const another = source(noisy_clip(oracle::as_float(oracle::gray(40, 40)), 4));
  EXPECT_EQ(invoke_on("BM3Dv2", clip, {node("ref", another)}), nullptr);
  EXPECT_EQ(error_, "BM3Dv2: ref: the guide must have the format, the size and the length of the clip");
  for (VSNode* const each : {another, clip, other, denoised, basic_of_other, basic, both}) {
    api()->freeNode(each);
  }
}

TEST_F(VapourSynth, ListsOfBm3dCudaHaveAValueForEachPlane) {
  const FrameFormat format = oracle::as_float(oracle::yuv(48, 40, 0, 0));
  const std::vector<Frame> frames = noisy_clip(format, 2);
  VSNode* const made =
      invoke("BM3Dv2", frames,
             {number("sigma", 12), number("sigma", 8), whole("block_step", 4), whole("block_step", 6),
              text("transform_2d_s", "DCT"), text("transform_2d_s", "Haar")});
  ASSERT_NE(made, nullptr) << error_;
  const std::vector<Frame> results = get(made, format, {0, 1});
  api()->freeNode(made);
  const auto plane = [&](const char* step, const char* transform, const char* sigma) {
    return expected(frames, {{"engine", "auto"},
                             {"filter", "bm3d"},
                             {"steps", "1"},
                             {"search-window", "19"},
                             {"step", step},
                             {"transform-2d", transform},
                             {"sigma", sigma}});
  };
  const std::vector<std::vector<Frame>> planes = {plane("4", "dct", "9,0,0"), plane("6", "haar", "0,6,0"),
                                                  plane("6", "haar", "0,0,6")};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Frame whole = allocate_frame(format);
    whole.index = results[i].index;
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < format.height; ++y) {
        const auto bytes = static_cast<std::size_t>(format.width * format.bytes_per_sample());
        std::memcpy(whole.planes[p].row<std::byte>(y), planes[p][i].planes[p].row<std::byte>(y), bytes);
      }
    }
    EXPECT_TRUE(oracle::same_bits(results[i], whole)) << i;
  }
}

// An eighth of the cache limit bounds them, whatever their size.
TEST_F(VapourSynth, BoundsResultsThatNobodyAskedFor) {
  const FrameFormat format = oracle::gray(256, 128);
  const std::vector<Frame> frames = noisy_clip(format, 48);
  constexpr std::int64_t kCache = 1 << 20;
  api()->setMaxCacheSize(kCache, core_);
  VSNode* const clip = source(frames);
  VSNode* const node =
      invoke_on("Denoise", clip, {number("sigma", 10), text("profile", "fast"), text("reach", "1")});
  ASSERT_NE(node, nullptr) << error_;
  api()->setCacheMode(clip, cmForceDisable);
  api()->setCacheMode(node, cmForceDisable);
  for (int n = 0; n < 48; n += 2) {
    api()->freeFrame(api()->getFrame(n, node, nullptr, 0));
  }
  VSCoreInfo info;
  api()->getCoreInfo(core_, &info);
  EXPECT_LE(info.usedFramebufferSize, kCache / 2);
  api()->freeNode(node);
  api()->freeNode(clip);
}

TEST_F(VapourSynth, TellsWhatIsWrong) {
  const std::vector<Frame> frames = noisy_clip(oracle::yuv(32, 32, 1, 1), 1);
  const auto objection = [&](const char* function, const std::vector<Argument>& arguments) {
    VSNode* const node = invoke(function, frames, arguments);
    EXPECT_EQ(node, nullptr);
    api()->freeNode(node);
    return error_;
  };
  EXPECT_EQ(objection("Denoise", {text("filter", "bilateral"), whole("reach", 1)}).substr(0, 8), "Denoise:");
  EXPECT_EQ(objection("Denoise", {text("filter", "nlm"), whole("radius", 3)}),
            "Denoise: radius is no option of the filter nlm, but of bilateral, adaptive-bilateral");
  EXPECT_EQ(objection("Bilateral", {number("sigma", -1)}).substr(0, 24), "Bilateral: sigma: '-1,-1");
  EXPECT_EQ(objection("NLM", {number("sigma", 1), text("noise", "auto")}),
            "NLM: sigma and noise exclude each other");
  EXPECT_EQ(objection("BM3Dv2", {whole("radius", 16)}), "BM3Dv2: radius: 16 is not possible (0 to 8)");
  EXPECT_EQ(
      objection("Denoise", {whole("radius", 2)}),
      "Denoise: radius is no option of the filter vbm4d, but of bilateral, adaptive-bilateral; reach sets "
      "the number of frames before and after");
  EXPECT_EQ(objection("BM3Dv2", {text("bm_error_s", "ZSAD")}), "BM3Dv2: bm_error_s: only SSD is supported");
  EXPECT_EQ(objection("BM3Dv2", {text("transform_2d_s", "DCT"), whole("radius", 1)}),
            "BM3Dv2: transform_2d_s: with radius above 0 the transforms are fixed; leave it out");
  EXPECT_NE(objection("BM3Dv2", {text("transform_1d_s", "DCT")}).find("no group transform"),
            std::string::npos)
      << error_;
  EXPECT_EQ(objection("Denoise", {text("filter", "recursive"), number("sigma", 5)}),
            "Denoise: VapourSynth requests frames in any order, so it cannot use the filter recursive, whose "
            "results depend on all earlier frames; use vbm4d with delay=0");
  EXPECT_EQ(objection("NLM", {text("repair", "dust"), whole("live", 1), number("sigma", 5)}).substr(0, 30),
            "NLM: repair: live video and th");
  EXPECT_EQ(objection("NLM", {whole("planes", 3)}), "NLM: planes: there is no plane 3, or it is named twice");
  EXPECT_EQ(objection("NLM", {whole("planes", 1)}),
            "NLM: planes: without sigma, [0] or [1, 2] of a clip in YUV, or all");
}

}  // namespace
}  // namespace limpid::lib
