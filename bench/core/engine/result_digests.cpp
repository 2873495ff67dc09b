// SPDX-License-Identifier: MIT
// Prints a digest of each filter's results for every format, much content and moving clips, to compare two
// builds:
//   result_digests [--engine cpu] [--simd AVX2]
// Each line has the filter, the frame and a digest of the result's bits; further lines have digests of the
// engine's noise levels. Builds with equal lines have equal results. Without FFmpeg, so that it runs on a
// bare GPU machine.
#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/core/engine/contents.h"
#include "bench/core/engine/simd_level.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr NoiseModel kNoise = {{12, 8, 10}};

// FNV-1a, 64 bits.
class Digest {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) {
      value_ = (value_ ^ bytes[i]) * 0x100000001b3U;
    }
  }
  void add(const Frame& frame) {
    for (int p = 0; p < frame.format.plane_count(); ++p) {
      for (int y = 0; y < frame.planes[p].height; ++y) {
        add(frame.planes[p].row<std::byte>(y),
            static_cast<std::size_t>(frame.planes[p].width) * frame.format.bytes_per_sample());
      }
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

struct NamedFilter {
  std::string name;
  Filter filter;
};

Filter bm3d(Transform2d transform, int patch_size, int spacing, int group, Transform1d across,
            Matching matching) {
  Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  parameters.matching = matching;
  for (Bm3dStep* each : {&parameters.hard_threshold, &*parameters.wiener}) {
    each->transform_2d = transform;
    each->transform_1d = across;
    each->patch_size = patch_size;
    each->spacing = spacing;
    each->max_group_size = group;
    each->search_window = 15;
  }
  return parameters;
}

std::vector<NamedFilter> filters() {
  Bm3dParameters one_step = bm3d_profile(Profile::kLc);
  one_step.wiener.reset();
  return {
      {"fast", bm3d_profile(Profile::kFast)},
      {"lc", bm3d_profile(Profile::kLc)},
      {"np", bm3d_profile(Profile::kNp)},
      {"high", bm3d_profile(Profile::kHigh)},
      {"lc, one step", one_step},
      {"bior, 8, step 2, 32",
       bm3d(Transform2d::kBior15, 8, 2, 32, Transform1d::kWalshHadamard, Matching::kNearest)},
      {"haar, 4, step 1, 8", bm3d(Transform2d::kHaar, 4, 1, 8, Transform1d::kHaar, Matching::kStatistical)},
      {"dct, 12, step 5, 64", bm3d(Transform2d::kDct, 12, 5, 64, Transform1d::kHaar, Matching::kNearest)},
      {"hadamard, 16, step 7, 1",
       bm3d(Transform2d::kWalshHadamard, 16, 7, 1, Transform1d::kHaar, Matching::kStatistical)},
      {"bilateral", BilateralParameters{}},
      {"bilateral, radius 15", BilateralParameters{.radius = 15}},
      {"adaptive-bilateral", AdaptiveBilateralParameters{}},
      {"nlm", NlmParameters{}},
      {"nlm, 3 in 9", NlmParameters{.patch_size = 3, .search_window = 9}},
      {"nlm-bilateral", NlmBilateralParameters{}},
      {"nlm-bilateral, spatial",
       NlmBilateralParameters{.patch_size = 5, .search_window = 11, .spatial_sigma = 3.0F}},
  };
}

std::vector<NamedFilter> temporal_filters() {
  Vbm4dParameters one_step = vbm4d_profile(Vbm4dProfile::kFast);
  one_step.wiener.reset();
  Vbm4dParameters delayed = vbm4d_profile(Vbm4dProfile::kLc);
  delayed.delay = 3;
  return {
      {"vbm4d fast", vbm4d_profile(Vbm4dProfile::kFast)},
      {"vbm4d lc", vbm4d_profile(Vbm4dProfile::kLc)},
      {"vbm4d np", vbm4d_profile(Vbm4dProfile::kNp)},
      {"vbm4d high", vbm4d_profile(Vbm4dProfile::kHigh)},
      {"vbm4d best", vbm4d_profile(Vbm4dProfile::kBest)},
      {"vbm4d fast, live", vbm4d_live_profile(Vbm4dProfile::kFast)},
      {"vbm4d np, live", vbm4d_live_profile(Vbm4dProfile::kNp)},
      {"vbm4d fast, one step", one_step},
      {"vbm4d lc, delay 3", delayed},
      {"vnlb fast", vnlb_profile(VnlbProfile::kFast)},
      {"vnlb np", vnlb_profile(VnlbProfile::kNp)},
      {"recursive fast", recursive_profile(RecursiveProfile::kFast)},
      {"recursive np", recursive_profile(RecursiveProfile::kNp)},
  };
}

struct NamedFrame {
  std::string name;
  Frame frame;
};

struct NamedClip {
  std::string name;
  std::vector<Frame> frames;
};

std::vector<NamedFrame> frames() {
  constexpr int kWidth = 203;
  constexpr int kHeight = 117;
  const auto noisy = [](const FrameFormat& format) {
    return oracle::add_noise(oracle::draw_picture(format), static_cast<double>(kNoise.sigma[0]), 1);
  };
  std::vector<NamedFrame> frames;
  for (const auto& [name, format] : std::vector<std::pair<std::string, FrameFormat>>{
           {"gray", oracle::gray(kWidth, kHeight)},
           {"gray, 10 bit", oracle::gray(kWidth, kHeight, 10)},
           {"gray, 16 bit", oracle::gray(kWidth, kHeight, 16)},
           {"gray, float", oracle::as_float(oracle::gray(kWidth, kHeight))},
           {"4:2:0", oracle::yuv(kWidth, kHeight, 1, 1)},
           {"4:2:0, 10 bit", oracle::yuv(kWidth, kHeight, 1, 1, 10)},
           {"4:2:2", oracle::yuv(kWidth, kHeight, 1, 0)},
           {"4:1:1, 12 bit", oracle::yuv(kWidth, kHeight, 2, 0, 12)},
           {"4:4:4", oracle::yuv(kWidth, kHeight, 0, 0)},
           {"4:4:4, float", oracle::as_float(oracle::yuv(kWidth, kHeight, 0, 0))},
           {"RGB", oracle::rgb(kWidth, kHeight)},
           {"RGB, 16 bit", oracle::rgb(kWidth, kHeight, 16)},
           {"RGB, float", oracle::as_float(oracle::rgb(kWidth, kHeight))},
           {"4:4:4, half", oracle::as_half(oracle::yuv(kWidth, kHeight, 0, 0))},
           {"9x40", oracle::yuv(9, 40, 1, 1)},
           {"40x3", oracle::yuv(40, 3, 1, 1)}}) {
    frames.push_back({name, noisy(format)});
  }
  FrameFormat with_alpha = oracle::yuv(kWidth, kHeight, 1, 1);
  with_alpha.has_alpha = true;
  frames.push_back({"4:2:0, alpha", noisy(with_alpha)});
  Frame fields = noisy(oracle::yuv(kWidth, kHeight, 1, 1));
  fields.interlaced = true;
  frames.push_back({"4:2:0, fields", std::move(fields)});

  constexpr int kSide = 128;
  const Frame natural = oracle::draw_picture(oracle::gray(kSide, kSide));
  std::vector<std::uint8_t> tile;
  for (int y = 0; y < kSide; ++y) {
    const auto* row = natural.planes[0].row<std::uint8_t>(y);
    tile.insert(tile.end(), row, row + kSide);
  }
  for (const Content& content : contents()) {
    Frame frame = allocate_frame(oracle::yuv(kWidth, kHeight, 1, 1));
    for (int p = 0; p < frame.format.plane_count(); ++p) {
      const Plane& plane = frame.planes[p];
      const auto samples = draw(content, plane.width, plane.height, p, tile, kSide);
      for (int y = 0; y < plane.height; ++y) {
        std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(y) * plane.width, plane.width,
                    plane.row<std::uint8_t>(y));
      }
    }
    frames.push_back({content.name, content.noisy ? oracle::add_noise(frame, 12, 2) : frame});
  }
  return frames;
}

// A noisy clip that moves across a picture, with a scene cut before frame 5.
std::vector<Frame> make_clip(const FrameFormat& format) {
  constexpr int kFrames = 8;
  constexpr int kSpeed = 4;  // luma samples per frame, a multiple of all subsamplings
  FrameFormat whole = format;
  whole.width += kSpeed * kFrames;
  const Frame picture = oracle::draw_picture(whole);
  std::vector<Frame> frames;
  for (int t = 0; t < kFrames; ++t) {
    Frame frame = allocate_frame(format);
    for (int p = 0; p < format.plane_count(); ++p) {
      const Plane& plane = frame.planes[p];
      const int shift = p == 1 || p == 2 ? format.chroma_shift_x : 0;
      const int offset = (kSpeed * t >> shift) * format.bytes_per_sample();
      for (int y = 0; y < plane.height; ++y) {
        const int row = t < 5 ? y : plane.height - 1 - y;
        std::copy_n(picture.planes[p].row<std::byte>(row) + offset, plane.width * format.bytes_per_sample(),
                    plane.row<std::byte>(y));
      }
    }
    frames.push_back(oracle::add_noise(frame, static_cast<double>(kNoise.sigma[0]), 10 + t));
  }
  return frames;
}

std::vector<NamedClip> clips() {
  constexpr int kWidth = 109;
  constexpr int kHeight = 77;
  std::vector<NamedClip> clips;
  for (const auto& [name, format] : std::vector<std::pair<std::string, FrameFormat>>{
           {"gray", oracle::gray(kWidth, kHeight)},
           {"gray, 16 bit", oracle::gray(kWidth, kHeight, 16)},
           {"4:2:0", oracle::yuv(kWidth, kHeight, 1, 1)},
           {"4:2:0, 10 bit", oracle::yuv(kWidth, kHeight, 1, 1, 10)},
           {"4:4:4, float", oracle::as_float(oracle::yuv(kWidth, kHeight, 0, 0))},
           {"4:2:0, half", oracle::as_half(oracle::yuv(kWidth, kHeight, 1, 1))},
           {"RGB", oracle::rgb(kWidth, kHeight)}}) {
    clips.push_back({name, make_clip(format)});
  }
  clips.push_back({"4:2:0, fields", make_clip(oracle::yuv(kWidth, kHeight, 1, 1))});
  for (Frame& frame : clips.back().frames) {
    frame.interlaced = true;
  }
  return clips;
}

Digest digest_of(Engine& engine, const Filter& filter, const std::vector<Frame>& frames) {
  const auto denoiser = engine.make_denoiser(filter, kNoise, frames.front().format);
  Digest digest;
  const auto add_results = [&] {
    while (const std::optional<Frame> result = denoiser->receive()) {
      digest.add(*result);
    }
  };
  for (const Frame& frame : frames) {
    denoiser->send(frame);
    add_results();
  }
  denoiser->flush();
  add_results();
  return digest;
}

void print_digests(int argc, char** argv) {
  std::string name = "cpu";
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--engine") {
      name = value;
    } else if (option == "--simd") {
      limit_simd_level(value);
    } else {
      throw UsageError("there is no option " + option);
    }
  }
  const auto engine = engine_registry().open(name);
  const auto print = [](const std::string& filter, const std::string& frame, const Digest& digest) {
    std::printf("%-26s %-18s %016" PRIx64 "\n", filter.c_str(), frame.c_str(), digest.value());
  };
  for (const NamedFrame& named : frames()) {
    Digest noise;
    const NoiseModel level = engine->estimate_noise(named.frame);
    noise.add(level.sigma.data(), sizeof(level.sigma));
    print("noise", named.name, noise);
    for (const NamedFilter& filter : filters()) {
      print(filter.name, named.name, digest_of(*engine, filter.filter, {named.frame}));
    }
  }
  for (const NamedClip& clip : clips()) {
    for (const NamedFilter& filter : temporal_filters()) {
      print(filter.name, clip.name, digest_of(*engine, filter.filter, clip.frames));
    }
  }
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) {
  try {
    limpid::benchmarks::print_digests(argc, argv);
    return 0;
  } catch (const limpid::UsageError& error) {
    std::fprintf(stderr, "result_digests: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "result_digests: %s\n", error.what());
    return 1;
  }
}
