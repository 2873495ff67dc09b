// SPDX-License-Identifier: MIT
// Times the CPU engine's filters along motion, V-BM4D, VNLB and the recursive filter, on clips: by profile
// and content, by threads, and the memory that 1080p takes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/core/engine/contents.h"
#include "bench/support/images.h"
#include "bench/support/memory.h"
#include "bench/support/timing.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr float kSigma = 20;
constexpr int kLenaSide = 512;
constexpr int kDistinct = 10;  // frames of a clip, which is then repeated backward

// A moving picture, a part of which moves in the opposite direction; flat pictures are still.
struct ClipContent {
  std::string name;
  std::string drawing;    // name in contents.h
  double sigma = 0;       // noise level
  bool drifting = false;  // motion includes half samples
};

std::vector<ClipContent> clip_contents() {
  const auto sigma = static_cast<double>(kSigma);
  return {{"natural", "natural", sigma},       {"flat", "one gray", 0},
          {"flat_noisy", "one gray", sigma},   {"black", "black", 0},
          {"noise", "one gray", 4 * sigma},    {"drawn", "drawn", sigma},
          {"drifting", "natural", sigma, true}};
}

std::vector<std::uint8_t> natural_picture() {
  const Frame lena =
      plane_as_gray(read_picture(std::filesystem::path(LIMPID_DATA_DIR) / "still" / "gpu-bm3d_lena.png"), 0);
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < kLenaSide; ++y) {
    const auto* row = lena.planes[0].row<std::uint8_t>(y);
    samples.insert(samples.end(), row, row + kLenaSide);
  }
  return samples;
}

struct Clip {
  std::vector<Frame> clean;
  std::vector<Frame> noisy;
};

Clip make_clip(const FrameFormat& format, const ClipContent& content) {
  const std::vector<std::uint8_t> natural = natural_picture();
  const auto mirrored = [](int i, int size) {
    const int reduced = (i % (2 * size) + 2 * size) % (2 * size);
    return reduced < size ? reduced : 2 * size - 1 - reduced;
  };
  Clip clip;
  for (int t = 0; t < kDistinct; ++t) {
    clip.clean.push_back(allocate_frame(format));
  }
  for (int p = 0; p < format.plane_count(); ++p) {
    const int width = format.plane_width(p);
    const int height = format.plane_height(p);
    const auto picture = draw({content.drawing, false}, width, height, p, natural, kLenaSide);
    for (int t = 0; t < kDistinct; ++t) {
      for (int y = 0; y < height; ++y) {
        auto* const row = clip.clean[t].planes[p].row<std::uint8_t>(y);
        for (int x = 0; x < width; ++x) {
          const bool other = x / 2 + y > height;
          const int from_x = other ? x - 6 * t : x + 4 * t;
          const int from_y = other ? y : y - 2 * t;
          const auto sample = [&](int right) {
            return picture[static_cast<std::size_t>(mirrored(from_y, height)) * width +
                           mirrored(from_x + right, width)];
          };
          const int half = content.drifting ? t % 2 : 0;
          row[x] = static_cast<std::uint8_t>((sample(0) + sample(half) + 1) / 2);
        }
      }
    }
  }
  for (int t = 0; t < kDistinct; ++t) {
    clip.noisy.push_back(content.sigma > 0 ? oracle::add_noise(clip.clean[t], content.sigma, 1 + t)
                                           : clip.clean[t]);
  }
  return clip;
}

int distinct_of(std::int64_t t) {
  const auto reduced = static_cast<int>(t % (2 * kDistinct - 2));
  return reduced < kDistinct ? reduced : 2 * kDistinct - 2 - reduced;
}

// A clip that passes through a denoiser. Each frame has its own samples, as from a file.
class FilteredClip {
 public:
  FilteredClip(const Filter& filter, Clip clip, int threads)
      : clip_(std::move(clip)), engine_(engine_registry().open("cpu", {.threads = threads})) {
    denoiser_ = engine_->make_denoiser(filter, {{kSigma, kSigma, kSigma}}, clip_.clean.front().format);
    // Until every result depends on the maximum number of frames.
    const Reach reach = denoiser_->reach();
    for (int i = 0; i < reach.before + reach.after; ++i) {
      next();
    }
  }

  void next() {
    const Frame& noisy = clip_.noisy[distinct_of(sent_++)];
    Frame frame = engine_->allocate_frame(noisy.format);
    for (int p = 0; p < noisy.format.plane_count(); ++p) {
      for (int y = 0; y < noisy.planes[p].height; ++y) {
        std::copy_n(noisy.planes[p].row<std::uint8_t>(y), noisy.planes[p].width,
                    frame.planes[p].row<std::uint8_t>(y));
      }
    }
    denoiser_->send(std::move(frame));
    if (std::optional<Frame> result = denoiser_->receive()) {
      result_ = std::move(*result);
      ++received_;
    }
  }

  double noisy_psnr() const { return psnr(clip_.clean[last()], clip_.noisy[last()]); }
  double result_psnr() const { return psnr(clip_.clean[last()], result_); }
  std::string description() const { return engine_->description(); }

 private:
  int last() const { return distinct_of(received_ - 1); }

  Clip clip_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Denoiser> denoiser_;
  Frame result_;
  std::int64_t sent_ = 0;
  std::int64_t received_ = 0;
};

void measure_content(benchmark::State& state, const Filter& filter, const ClipContent& content, int threads) {
  try {
    FilteredClip clip(filter, make_clip(oracle::gray(kLenaSide, kLenaSide), content), threads);
    for (const auto _ : state) {
      clip.next();
    }
    state.counters["threads"] = threads;
    if (content.sigma == static_cast<double>(kSigma)) {
      state.counters["noisy_dB"] = clip.noisy_psnr();
      state.counters["dB"] = clip.result_psnr();
    }
    state.SetLabel(clip.description());
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

// Frames one after the other, each awaited, as in BM3D's benchmark. `efficiency` is the speed per thread
// relative to a single thread's, by the least times of this run of the program.
void measure_scaling(benchmark::State& state, Vbm4dProfile profile, const FrameFormat& format, int threads) {
  using Clock = std::chrono::steady_clock;
  static std::map<std::pair<Vbm4dProfile, int>, std::map<int, double>> least_seconds;
  try {
    FilteredClip clip(vbm4d_profile(profile), make_clip(format, clip_contents().front()), threads);
    auto& least = least_seconds[{profile, format.width}];
    least.try_emplace(threads, std::numeric_limits<double>::infinity());
    for (const auto _ : state) {
      const auto start = Clock::now();
      clip.next();
      least[threads] = std::min(least[threads], std::chrono::duration<double>(Clock::now() - start).count());
    }
    state.counters["threads"] = threads;
    if (least.contains(1)) {
      state.counters["efficiency"] = least[1] / (threads * least[threads]);
    }
    state.SetLabel(clip.description());
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

// The additional memory of a process while a clip passes through, with the frames that the filter holds.
void measure_clip_memory(benchmark::State& state, const Filter& filter, int threads) {
  try {
    double before = 0;
    for (const auto _ : state) {
      Clip clip = make_clip(oracle::yuv(1920, 1080, 1, 1), clip_contents().front());
      reset_peak_memory();
      before = peak_memory();
      FilteredClip filtered(filter, std::move(clip), threads);
      filtered.next();
    }
    state.counters["threads"] = threads;
    state.counters["more_MB"] = peak_memory() - before;
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

void add_benchmarks() {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  const std::vector<std::pair<std::string, Vbm4dProfile>> profiles = {{"fast", Vbm4dProfile::kFast},
                                                                      {"lc", Vbm4dProfile::kLc},
                                                                      {"np", Vbm4dProfile::kNp},
                                                                      {"high", Vbm4dProfile::kHigh},
                                                                      {"best", Vbm4dProfile::kBest}};
  for (const auto& [name, filter] : {std::pair("np", Filter(vbm4d_profile(Vbm4dProfile::kNp))),
                                     std::pair("vnlb_np", Filter(vnlb_profile(VnlbProfile::kNp)))}) {
    benchmark::RegisterBenchmark(("memory_1080p_yuv420/" + std::string(name)).c_str(),
                                 [filter = filter, processors](benchmark::State& state) {
                                   measure_clip_memory(state, filter, processors);
                                 })
        ->Iterations(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  for (const auto& [name, profile] : profiles) {
    for (const ClipContent& content : clip_contents()) {
      if (content.name != "natural" && profile != Vbm4dProfile::kFast && profile != Vbm4dProfile::kNp) {
        continue;
      }
      benchmark::RegisterBenchmark(("clip_512/" + name + "/" + content.name).c_str(),
                                   [profile = profile, content](benchmark::State& state) {
                                     measure_content(state, vbm4d_profile(profile), content, 1);
                                   })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  Vbm4dParameters to_whole_samples = vbm4d_profile(Vbm4dProfile::kNp);
  to_whole_samples.motion_precision = 1;
  for (const ClipContent& content : clip_contents()) {
    benchmark::RegisterBenchmark(("clip_512/np_whole/" + content.name).c_str(),
                                 [to_whole_samples, content](benchmark::State& state) {
                                   measure_content(state, to_whole_samples, content, 1);
                                 })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  for (const auto& [name, filter] :
       {std::pair<const char*, Filter>("live_fast", vbm4d_live_profile(Vbm4dProfile::kFast)),
        std::pair<const char*, Filter>("recursive_fast", recursive_profile(RecursiveProfile::kFast)),
        std::pair<const char*, Filter>("recursive_np", recursive_profile(RecursiveProfile::kNp))}) {
    for (const ClipContent& content : clip_contents()) {
      benchmark::RegisterBenchmark(
          ("clip_512/" + std::string(name) + "/" + content.name).c_str(),
          [filter = filter, content](benchmark::State& state) { measure_content(state, filter, content, 1); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  for (const auto& [name, profile] :
       {std::pair("fast", VnlbProfile::kFast), std::pair("np", VnlbProfile::kNp),
        std::pair("high", VnlbProfile::kHigh)}) {
    for (const ClipContent& content : clip_contents()) {
      if (content.name == "natural" || profile == VnlbProfile::kNp) {
        benchmark::RegisterBenchmark(("clip_512/vnlb_" + std::string(name) + "/" + content.name).c_str(),
                                     [profile = profile, content](benchmark::State& state) {
                                       measure_content(state, vnlb_profile(profile), content, 1);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  std::vector<int> counts;
  for (int threads = 1; threads < processors; threads *= 2) {
    counts.push_back(threads);
  }
  counts.push_back(processors);
  for (const auto& [size, format] : {std::pair("512x512", oracle::gray(kLenaSide, kLenaSide)),
                                     std::pair("2048x1024", oracle::gray(4 * kLenaSide, 2 * kLenaSide))}) {
    for (const auto& [name, profile] : profiles) {
      if (profile != Vbm4dProfile::kFast && profile != Vbm4dProfile::kNp) {
        continue;
      }
      for (const int threads : counts) {
        benchmark::RegisterBenchmark(
            ("scaling_" + std::string(size) + "/" + name + "/threads_" + std::to_string(threads)).c_str(),
            [profile = profile, format = format, threads](benchmark::State& state) {
              measure_scaling(state, profile, format, threads);
            })
            ->MinTime(2)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) {
  return limpid::benchmarks::run_benchmarks(argc, argv, limpid::benchmarks::add_benchmarks);
}
