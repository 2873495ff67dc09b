// SPDX-License-Identifier: MIT
// Times the edge-preserving filters on the GPU, with PSNR, and the kernels of the report in which they were
// published, rebuilt from its description, with its radii and sizes.
//   edge_preserving_cuda_benchmark [--image lena_512x512.gray] [--json results.json] [--repeats 30]
//                                  [--only nlm]
// --only takes a filter's name, "report" for the comparison, or "variants" for every kernel that supports a
// job.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/cuda/edge_preserving/report_filters.h"
#include "bench/cuda/support/support.h"
#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/engine/denoiser.h"
#include "cuda/edge_preserving/kernels.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {
namespace {

struct Setting {
  const char* name;
  Filter filter;
  FrameFormat format;
  double goal_ms = 0;
};

std::vector<Setting> settings() {
  const FrameFormat bytes = gray(1920, 1080);
  const FrameFormat words = gray(1920, 1080, 10);
  const NlmParameters nlm{.patch_size = 7, .search_window = 21};
  const NlmBilateralParameters nlm_bilateral{.patch_size = 7, .search_window = 21};
  return {
      {"bilateral, radius 5", BilateralParameters{.radius = 5}, bytes, 0.06},
      {"bilateral, radius 15", BilateralParameters{.radius = 15, .spatial_sigma = 5.0F}, bytes, 0.35},
      {"bilateral, radius 5, 10 bit", BilateralParameters{.radius = 5}, words},
      {"adaptive, radius 5", AdaptiveBilateralParameters{.radius = 5}, bytes, 0.12},
      {"adaptive, radius 15", AdaptiveBilateralParameters{.radius = 15, .spatial_sigma = 5.0F}, bytes, 0.7},
      {"adaptive, radius 5, 10 bit", AdaptiveBilateralParameters{.radius = 5}, words},
      {"nlm, 7x7 in 21x21", nlm, bytes, 0.5},
      {"nlm, 7x7 in 21x21, 10 bit", nlm, words},
      {"nlm, as sigma asks", NlmParameters{}, bytes},
      {"nlm-bilateral, 7x7 in 21x21", nlm_bilateral, bytes, 0.5},
      {"nlm-bilateral, 10 bit", nlm_bilateral, words}};
}

// A noisy frame in device memory, and memory for the result.
struct DeviceFrames {
  DeviceMemory in;
  DeviceMemory out;
  SamplePlanes in_planes;
  SamplePlanes out_planes;

  explicit DeviceFrames(const Frame& frame) : in(frame_bytes(frame.format)), out(in.bytes()) {
    const Plane& plane = frame.planes[0];
    check(cudaMemcpy(in.as(), plane.data, static_cast<std::size_t>(plane.stride) * plane.height,
                     cudaMemcpyHostToDevice));
    in_planes[0] = {in.as(), plane.stride};
    out_planes[0] = {out.as(), plane.stride};
  }
  FilterWindow window() const { return {{{in_planes, false, {{kSigma, kSigma, kSigma}}}}}; }
};

double time_frame(const Filter& filter, const Frame& frame, int repeats) {
  const auto engine = make_filter(filter, frame.format);
  const DeviceFrames frames(frame);
  return time_in_graph_ms(repeats, [&](cudaStream_t stream) {
    engine->enqueue_window(frames.window(), frames.out_planes, stream);
  });
}

void time_settings(Engine& engine, const std::vector<std::uint8_t>& picture, const BenchmarkOptions& options,
                   nlohmann::ordered_json& json) {
  std::printf("%-30s %8s %8s %9s\n", "1920x1080", "ms", "goal", "PSNR dB");
  for (const Setting& setting : settings()) {
    if (!options.only.empty() && options.only != to_string(setting.filter)) {
      continue;
    }
    nlohmann::ordered_json entry;
    entry["setting"] = setting.name;
    entry["frame_ms"] =
        time_frame(setting.filter, make_frame(engine, setting.format, picture, true), options.repeats);
    entry["goal_ms"] = setting.goal_ms;
    FrameFormat square = setting.format;
    square.width = square.height = 512;
    entry["psnr_db"] = psnr(run(engine, make_frame(engine, square, picture, true), setting.filter),
                            make_frame(engine, square, picture, false));
    std::printf("%-30s %8.4f %8.3f %9.3f\n", setting.name, entry["frame_ms"].get<double>(), setting.goal_ms,
                entry["psnr_db"].get<double>());
    std::fflush(stdout);
    json["settings"].push_back(entry);
  }
}

// A filter of the report, and Limpid's with equal parameters.
struct Comparison {
  const char* name;
  std::vector<int> radii;
  std::function<Filter(int radius, float spatial_sigma)> filter;
  std::function<void(const report::Variant&, const report::Image&, const report::Weights&,
                     const report::Image&, cudaStream_t)>
      report;
};

constexpr float kRangeSigma = 50;
constexpr float kPatchSigma = 12;
constexpr float kReportKappa = 0.5F;

std::vector<Comparison> comparisons() {
  const std::vector<int> radii = {3, 5, 7, 9, 11, 13, 15};
  return {{"bilateral", radii,
           [](int radius, float spatial_sigma) {
             return BilateralParameters{radius, spatial_sigma, kRangeSigma};
           },
           report::bilateral},
          {"adaptive-bilateral", radii,
           [](int radius, float spatial_sigma) {
             return AdaptiveBilateralParameters{radius, spatial_sigma, kRangeSigma, kReportKappa};
           },
           report::adaptive_bilateral},
          {"nlm-bilateral",
           {3, 9, 15},
           [](int radius, float /*spatial_sigma*/) {
             return NlmBilateralParameters{7, 2 * radius + 1, kPatchSigma, kRangeSigma};
           },
           [](const report::Variant& variant, const report::Image& in, const report::Weights& weights,
              const report::Image& out, cudaStream_t stream) {
             report::nlm_bilateral(variant, in, weights, kPatchSigma, out, stream);
           }}};
}

std::vector<float> report_tables(int radius, float spatial_sigma) {
  const auto gaussian = [](int squared, float sigma) {
    return std::exp(-static_cast<float>(squared) / (2 * sigma * sigma));
  };
  std::vector<float> tables;
  tables.reserve(256 + static_cast<std::size_t>(2 * radius + 1) * (2 * radius + 1));
  for (int difference = 0; difference < 256; ++difference) {
    tables.push_back(gaussian(difference * difference, kRangeSigma));
  }
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      tables.push_back(gaussian(dx * dx + dy * dy, spatial_sigma));
    }
  }
  return tables;
}

std::vector<std::uint8_t> download(const DeviceMemory& memory, std::ptrdiff_t stride, int width, int height) {
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(width) * height);
  check(cudaDeviceSynchronize());
  check(cudaMemcpy2D(samples.data(), width, memory.as(), stride, width, height, cudaMemcpyDeviceToHost));
  return samples;
}

nlohmann::ordered_json compare(const Comparison& comparison, const Frame& frame, int radius, int repeats) {
  const int width = frame.format.width;
  const int height = frame.format.height;
  const float spatial_sigma = static_cast<float>(radius) / 2;
  const std::vector<float> host_tables = report_tables(radius, spatial_sigma);
  const auto tables = DeviceMemory::copy_of(host_tables);
  const DeviceMemory in(static_cast<std::size_t>(width) * height);
  const DeviceMemory out(in.bytes());
  check(cudaMemcpy2D(in.as(), width, frame.planes[0].data, frame.planes[0].stride, width, height,
                     cudaMemcpyHostToDevice));
  const report::Weights weights{radius, spatial_sigma, kRangeSigma, tables.as<float>()};
  const report::Image image{in.as<std::uint8_t>(), width, height};
  const report::Image result{out.as<std::uint8_t>(), width, height};

  nlohmann::ordered_json entry;
  entry["filter"] = comparison.name;
  entry["size"] = std::to_string(width) + "x" + std::to_string(height);
  entry["radius"] = radius;
  // The report's NLM computes every patch distance from scratch: up to a second.
  const bool slow = std::string(comparison.name) == "nlm-bilateral";
  double best = std::numeric_limits<double>::max();
  for (const report::Variant& variant : report::kVariants) {
    const auto work = [&](cudaStream_t stream) {
      comparison.report(variant, image, weights, result, stream);
    };
    const double ms = slow ? time_ms(1, [&] { work(nullptr); }) : time_in_graph_ms(repeats, work);
    entry[variant.name] = ms;
    best = std::min(best, ms);
  }
  const Filter filter = comparison.filter(radius, spatial_sigma);
  const double ours = time_frame(filter, frame, repeats);
  entry["limpid"] = ours;
  entry["times_as_fast"] = best / ours;

  // Times are only comparable for equal results.
  const DeviceFrames frames(frame);
  const auto engine = make_filter(filter, frame.format);
  engine->enqueue_window(frames.window(), frames.out_planes, nullptr);
  const auto a = download(frames.out, frames.out_planes[0].stride, width, height);
  const auto b = download(out, width, width, height);
  int greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    greatest = std::max(greatest, std::abs(a[i] - b[i]));
  }
  entry["greatest_difference"] = greatest;
  return entry;
}

void compare_with_report(Engine& engine, const std::vector<std::uint8_t>& picture,
                         const BenchmarkOptions& options, nlohmann::ordered_json& json) {
  std::printf("\n%-18s %9s %6s | %8s %8s %8s %8s | %8s %7s %5s\n", "ms", "size", "radius", "plain", "tables",
              "tile", "both", "Limpid", "times", "diff");
  for (const Comparison& comparison : comparisons()) {
    for (const auto& [width, height] :
         {std::pair{570, 426}, {256, 256}, {512, 512}, {1280, 800}, {1920, 1080}}) {
      const Frame frame = make_frame(engine, gray(width, height), picture, true);
      for (const int radius : comparison.radii) {
        const nlohmann::ordered_json entry = compare(comparison, frame, radius, options.repeats);
        const auto get = [&](const char* name) { return entry[name].get<double>(); };
        std::printf("%-18s %4dx%-4d %6d | %8.4f %8.4f %8.4f %8.4f | %8.4f %7.2f %5d\n", comparison.name,
                    width, height, radius, get("plain"), get("tables"), get("tile"), get("both"),
                    get("limpid"), get("times_as_fast"), entry["greatest_difference"].get<int>());
        std::fflush(stdout);
        json["report"].push_back(entry);
      }
    }
  }
}

// Times every variant of a table that supports a job.
template <typename AVariant, typename Job>
void time_variants(const std::string& name, std::span<const AVariant> table, const Job& job, int repeats,
                   nlohmann::ordered_json& json) {
  nlohmann::ordered_json entry;
  entry["job"] = name;
  std::printf("%-30s", name.c_str());
  for (const AVariant& variant : table) {
    if (variant.can(job, device_limits())) {
      const double ms = time_in_graph_ms(repeats, [&](cudaStream_t stream) { variant.run(job, stream); });
      entry["ms"][variant.name] = ms;
      std::printf(" | %6s %8.4f ms", variant.name, ms);
    }
  }
  std::printf("\n");
  std::fflush(stdout);
  json["variants"].push_back(entry);
}

// Every kernel that supports a job, on an 8-bit plane.
void compare_variants(Engine& engine, const std::vector<std::uint8_t>& picture, int repeats,
                      nlohmann::ordered_json& json) {
  const Frame frame = make_frame(engine, gray(1920, 1080), picture, true);
  const DeviceFrames frames(frame);
  const int width = frame.format.width;
  const int height = frame.format.height;
  const std::size_t samples = static_cast<std::size_t>(width) * height;
  const DeviceMemory noisy(samples * sizeof(float));
  const DeviceMemory result(noisy.bytes());
  const DeviceMemory values(samples * sizeof(std::int16_t));
  const FloatPlane noisy_plane{noisy.as<float>(), width, height, width};
  const FloatPlane result_plane{result.as<float>(), width, height, width};
  load_plane(frame.format, frames.in_planes[0], noisy_plane, nullptr);

  for (const int radius : {3, 5, 9, 15}) {
    const AdaptiveBilateralWeights weights = make_weights(
        AdaptiveBilateralParameters{radius, static_cast<float>(radius) / 3, kRangeSigma, kReportKappa},
        kSigma);
    for (const auto& [pass, name] : {std::pair{BilateralPass::kMean, "mean"},
                                     {BilateralPass::kVariance, "variance"},
                                     {BilateralPass::kAdapted, "adapted"}}) {
      const BilateralJob job{.pass = pass,
                             .weights = weights,
                             .variance = result_plane,
                             .width = width,
                             .height = height,
                             .bytes = true,
                             .in = frames.in_planes[0],
                             .out = frames.out_planes[0],
                             .noisy = noisy_plane,
                             .result = result_plane};
      time_variants(std::string(name) + ", radius " + std::to_string(radius), bilateral_variants(), job,
                    repeats, json);
    }
  }
  const PatchPlane patches{noisy_plane, values.as<std::int16_t>(), patch_scale(frame.format), true};
  prepare_patches(patches, nullptr);
  for (const int window : {9, 21}) {
    const std::string size = ", 7x7 in " + std::to_string(window) + "x" + std::to_string(window);
    time_variants("nlm" + size, nlm_variants(),
                  NlmJob{make_weights(NlmParameters{7, window}, kSigma, patches.scale, width, height),
                         patches, result_plane},
                  repeats, json);
    time_variants(
        "nlm-bilateral" + size, nlm_variants(),
        NlmJob{make_weights(NlmBilateralParameters{7, window}, kSigma, patches.scale, width, height), patches,
               result_plane},
        repeats, json);
  }
}

void benchmark(int argc, char** argv) {
  const BenchmarkOptions options = parse_options(argc, argv);
  const std::vector<std::uint8_t> picture = load_picture(options);
  const auto engine = open_cuda("cuda:0", {});
  std::printf("%s\n\n", engine->description().c_str());
  nlohmann::ordered_json json;
  json["device"] = engine->description();
  if (options.only == "variants") {
    compare_variants(*engine, picture, options.repeats, json);
  } else {
    time_settings(*engine, picture, options, json);
  }
  if (options.only.empty() || options.only == "report") {
    compare_with_report(*engine, picture, options, json);
  }
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

}  // namespace
}  // namespace limpid::cuda

int main(int argc, char** argv) {
  return limpid::cuda::run_benchmark("edge_preserving_cuda_benchmark",
                                     [&] { limpid::cuda::benchmark(argc, argv); });
}
