// SPDX-License-Identifier: MIT
// Times the CPU engine's edge-preserving filters and, if installed, OpenCV's bilateral filter, on 8-bit luma
// with noise of sigma 20.
#include <benchmark/benchmark.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/support/images.h"
#include "bench/support/timing.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "tests/oracle/pictures.h"

#if LIMPID_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace limpid::benchmarks {
namespace {

constexpr float kSigma = 20;

struct Setting {
  std::string name;
  Filter filter;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const int radius : {3, 5, 9, 15}) {
    const std::string suffix = "/radius_" + std::to_string(radius);
    all.push_back({"bilateral" + suffix, BilateralParameters{.radius = radius}});
    all.push_back({"adaptive-bilateral" + suffix, AdaptiveBilateralParameters{.radius = radius}});
  }
  for (const int patch_size : {3, 7, 11}) {
    const std::string suffix = "/patch_" + std::to_string(patch_size) + "/window_21";
    all.push_back({"nlm" + suffix, NlmParameters{.patch_size = patch_size, .search_window = 21}});
    all.push_back(
        {"nlm-bilateral" + suffix, NlmBilateralParameters{.patch_size = patch_size, .search_window = 21}});
  }
  return all;
}

struct Pictures {
  Frame clean;
  Frame noisy;
};

Pictures lena() {
  const std::filesystem::path folder = std::filesystem::path(LIMPID_DATA_DIR) / "still";
  return {plane_as_gray(read_picture(folder / "gpu-bm3d_lena.png"), 0),
          plane_as_gray(read_picture(folder / "gpu-bm3d_lena_20.png"), 0)};
}

Pictures full_hd() {
  const Frame clean = oracle::draw_picture(oracle::gray(1920, 1080));
  return {clean, oracle::add_noise(clean, static_cast<double>(kSigma), 1)};
}

template <typename Run>
void measure(benchmark::State& state, Pictures (*read)(), const Run& make_run) {
  try {
    const Pictures pictures = read();
    const auto run = make_run(pictures.noisy);
    Frame result;
    for (const auto _ : state) {
      result = run();
    }
    state.counters["noisy_dB"] = psnr(pictures.clean, pictures.noisy);
    state.counters["dB"] = psnr(pictures.clean, result);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

void measure_limpid(benchmark::State& state, Pictures (*read)(), const Filter& filter, int threads) {
  measure(state, read, [&](const Frame& noisy) {
    const auto engine = engine_registry().open("cpu", {.threads = threads});
    state.SetLabel(engine->description());
    return [noisy,
            denoiser = std::shared_ptr<Denoiser>(engine->make_denoiser(filter, {{kSigma}}, noisy.format))] {
      denoiser->send(noisy);
      return denoiser->receive().value();
    };
  });
}

#if LIMPID_OPENCV
// With the default parameters of Limpid's filter. OpenCV's window is the circle in Limpid's square.
void measure_opencv(benchmark::State& state, Pictures (*read)(), int radius, int threads) {
  measure(state, read, [&](const Frame& noisy) {
    cv::setNumThreads(threads);
    state.SetLabel("OpenCV " CV_VERSION);
    const BilateralParameters parameters = resolve(BilateralParameters{.radius = radius}, kSigma);
    const auto matrix = [](const Frame& frame) {
      const Plane& plane = frame.planes[0];
      return cv::Mat(plane.height, plane.width, CV_8UC1, plane.data, static_cast<std::size_t>(plane.stride));
    };
    return [=, out = allocate_frame(noisy.format)] {
      cv::Mat result = matrix(out);
      cv::bilateralFilter(matrix(noisy), result, 2 * radius + 1, static_cast<double>(*parameters.range_sigma),
                          static_cast<double>(*parameters.spatial_sigma));
      return out;
    };
  });
}
#endif

void add_benchmarks() {
  const auto add = [](const std::string& name, const auto& function) {
    benchmark::RegisterBenchmark(name.c_str(), function)->UseRealTime()->Unit(benchmark::kMillisecond);
  };
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  for (const auto& [picture, read] : {std::pair{"lena_512", &lena}, {"1080p", &full_hd}}) {
    for (const int threads : processors > 1 ? std::vector{1, processors} : std::vector{1}) {
      const auto name = [&, picture = picture](const std::string& filter) {
        return std::string(picture)
            .append("/")
            .append(filter)
            .append("/threads_")
            .append(std::to_string(threads));
      };
      for (const Setting& setting : settings()) {
        add(name(setting.name), [=, read = read](benchmark::State& state) {
          measure_limpid(state, read, setting.filter, threads);
        });
      }
#if LIMPID_OPENCV
      for (const int radius : {3, 5, 9, 15}) {
        add(name("opencv-bilateral/radius_" + std::to_string(radius)),
            [=, read = read](benchmark::State& state) { measure_opencv(state, read, radius, threads); });
      }
#endif
    }
  }
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) {
  return limpid::benchmarks::run_benchmarks(argc, argv, limpid::benchmarks::add_benchmarks);
}
