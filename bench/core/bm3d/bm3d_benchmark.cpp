// SPDX-License-Identifier: MIT
// Times the CPU engine on a well-known picture with settings for which other programs' times are published.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bench/support/images.h"
#include "bench/support/memory.h"
#include "bench/support/timing.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr float kSigma = 20;

struct Setting {
  const char* name;
  Bm3dParameters parameters;
};

// Both steps with equal spacing and search window and groups of 8; other parameters are np's.
Bm3dParameters groups_of_eight(int spacing, int radius) {
  Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  for (Bm3dStep* one : {&parameters.hard_threshold, &*parameters.wiener}) {
    one->max_group_size = 8;
    one->spacing = spacing;
    one->search_window = 2 * radius + 1;
  }
  return parameters;
}

std::vector<Setting> settings() {
  return {{"groups_of_8/step_8/radius_9", groups_of_eight(8, 9)},
          {"groups_of_8/step_4/radius_9", groups_of_eight(4, 9)},
          {"groups_of_8/step_3/radius_19", groups_of_eight(3, 19)},
          {"fast", bm3d_profile(Profile::kFast)},
          {"lc", bm3d_profile(Profile::kLc)},
          {"np", bm3d_profile(Profile::kNp)},
          {"high", bm3d_profile(Profile::kHigh)}};
}

// Lena of 512x512 with 8-bit noise of sigma 20, and without.
struct Pictures {
  Frame clean;
  Frame noisy;
};

Pictures read_pictures() {
  const std::filesystem::path folder = std::filesystem::path(LIMPID_DATA_DIR) / "still";
  return {plane_as_gray(read_picture(folder / "gpu-bm3d_lena.png"), 0),
          plane_as_gray(read_picture(folder / "gpu-bm3d_lena_20.png"), 0)};
}

void measure_setting(benchmark::State& state, const Bm3dParameters& parameters, int threads) {
  try {
    const Pictures pictures = read_pictures();
    const auto engine = engine_registry().open("cpu", {.threads = threads});
    const auto denoiser = engine->make_denoiser(parameters, {{kSigma}}, pictures.noisy.format);
    Frame result;
    for (const auto _ : state) {
      denoiser->send(pictures.noisy);
      result = denoiser->receive().value();
    }
    state.counters["threads"] = threads;
    state.counters["noisy_dB"] = psnr(pictures.clean, pictures.noisy);
    state.counters["dB"] = psnr(pictures.clean, result);
    state.SetLabel(engine->description());
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

// 2048x1024 samples of the noisy Lena and its mirror images, enough tiles for many threads.
Frame mosaic() {
  constexpr int kSize = 512;
  const Frame lena = read_pictures().noisy;
  FrameFormat format = lena.format;
  format.width = 4 * kSize;
  format.height = 2 * kSize;
  Frame frame = allocate_frame(format);
  const auto mirrored = [](int i) { return i / kSize % 2 == 0 ? i % kSize : kSize - 1 - i % kSize; };
  for (int y = 0; y < format.height; ++y) {
    const auto* in = lena.planes[0].row<std::uint8_t>(mirrored(y));
    auto* out = frame.planes[0].row<std::uint8_t>(y);
    for (int x = 0; x < format.width; ++x) {
      out[x] = in[mirrored(x)];
    }
  }
  return frame;
}

// Frames one after the other, each awaited. `efficiency` is the speed per thread relative to a single
// thread's, by the least times of this run of the program.
void measure_scaling(benchmark::State& state, Profile profile, int threads) {
  using Clock = std::chrono::steady_clock;
  static std::map<Profile, std::map<int, double>> least_seconds;
  try {
    const Frame noisy = mosaic();
    const auto engine = engine_registry().open("cpu", {.threads = threads});
    const auto denoiser = engine->make_denoiser(bm3d_profile(profile), {{kSigma}}, noisy.format);
    auto& least = least_seconds[profile];
    least.try_emplace(threads, std::numeric_limits<double>::infinity());
    for (const auto _ : state) {
      const auto start = Clock::now();
      denoiser->send(noisy);
      benchmark::DoNotOptimize(denoiser->receive());
      least[threads] = std::min(least[threads], std::chrono::duration<double>(Clock::now() - start).count());
    }
    state.counters["threads"] = threads;
    if (least.contains(1)) {
      state.counters["efficiency"] = least[1] / (threads * least[threads]);
    }
    state.SetLabel(engine->description());
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

void measure_memory(benchmark::State& state, const Bm3dParameters& parameters, int threads) {
  const FrameFormat format = oracle::yuv(1920, 1080, 1, 1);
  const Frame noisy = oracle::add_noise(oracle::draw_picture(format), static_cast<double>(kSigma), 1);
  for (const auto _ : state) {
    reset_peak_memory();
    const auto engine = engine_registry().open("cpu", {.threads = threads});
    const auto denoiser = engine->make_denoiser(parameters, {{kSigma, kSigma, kSigma}}, format);
    denoiser->send(noisy);
    benchmark::DoNotOptimize(denoiser->receive());
  }
  state.counters["threads"] = threads;
  state.counters["peak_MB"] = peak_memory();
}

void add_benchmarks() {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  for (const int threads : processors > 1 ? std::vector{1, processors} : std::vector{1}) {
    const std::string suffix = "/threads_" + std::to_string(threads);
    for (const Setting& setting : settings()) {
      benchmark::RegisterBenchmark(("lena_512/" + (setting.name + suffix)).c_str(), measure_setting,
                                   setting.parameters, threads)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
    benchmark::RegisterBenchmark(("memory_1080p_yuv420/np" + suffix).c_str(), measure_memory,
                                 bm3d_profile(Profile::kNp), threads)
        ->Iterations(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  std::vector<int> counts;
  for (int threads = 1; threads < processors; threads *= 2) {
    counts.push_back(threads);
  }
  counts.push_back(processors);
  for (const Profile profile : {Profile::kNp, Profile::kFast}) {
    const std::string name(to_string(profile));
    for (const int threads : counts) {
      benchmark::RegisterBenchmark(
          ("scaling_2048x1024/" + name + "/threads_" + std::to_string(threads)).c_str(),
          [profile, threads](benchmark::State& state) { measure_scaling(state, profile, threads); })
          ->MinWarmUpTime(0.1)
          ->MinTime(2)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) {
  return limpid::benchmarks::run_benchmarks(argc, argv, limpid::benchmarks::add_benchmarks);
}
