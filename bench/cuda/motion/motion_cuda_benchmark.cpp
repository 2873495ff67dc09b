// SPDX-License-Identifier: MIT
// Times block motion on a GPU and on the CPU, and compares the results. Without FFmpeg, so that it runs on a
// bare GPU machine:
//   motion_cuda_benchmark [--json results.json] [--repeats 30]
#include <tbb/task_arena.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bench/cuda/support/support.h"
#include "core/base/parallel.h"
#include "cpu/motion/motion_estimation.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/runtime.h"
#include "tests/core/motion/moving_pictures.h"

namespace limpid::cuda {
namespace {

void benchmark(int argc, char** argv) {
  const BenchmarkOptions options = parse_options(argc, argv);
  const auto engine = open_cuda("cuda:0", {});
  std::printf("%s\n\n%-12s %5s %12s %12s %12s %14s %8s\n", engine->description().c_str(), "block motion",
              "sigma", "pyramid, ms", "search, ms", "both, ms", "CPU 1 thread", "same");
  nlohmann::ordered_json json;
  json["device"] = engine->description();
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}, {3840, 2160}}) {
    for (const double sigma : {0.0, 20.0, 50.0}) {
      const Frame frames[] = {test::panned_frame(0, width, height, sigma),
                              test::panned_frame(1, width, height, sigma)};
      const FrameFormat& format = frames[0].format;
      MotionPyramid pyramids[] = {{width, height}, {width, height}};
      const std::size_t bytes = static_cast<std::size_t>(frames[0].planes[0].stride) * height;
      const DeviceMemory samples[] = {DeviceMemory(bytes), DeviceMemory(bytes)};
      MotionEstimator estimator(width, height);
      DeviceMotionField field(width, height);
      const auto build = [&](int i, cudaStream_t stream) {
        pyramids[i].enqueue(format, {SamplePlane{samples[i].as(), frames[i].planes[0].stride}}, stream);
      };
      const auto search = [&](cudaStream_t stream) {
        estimator.enqueue(pyramids[0], pyramids[1], field, stream);
      };
      for (int i = 0; i < 2; ++i) {
        check(cudaMemcpy(samples[i].as(), frames[i].planes[0].data, bytes, cudaMemcpyHostToDevice));
        build(i, nullptr);
      }
      check(cudaDeviceSynchronize());

      limpid::cpu::MotionPyramid cpu_pyramids[2];
      limpid::cpu::MotionEstimator cpu_estimator;
      MotionField cpu_field;
      tbb::task_arena arena(1);
      cpu_pyramids[0].build(format, test::picture_planes(frames[0]));
      const double cpu_ms = time_on_host_ms(5, [&] {
        run_in(arena, [&] {
          cpu_pyramids[1].build(format, test::picture_planes(frames[1]));
          cpu_estimator.estimate(cpu_pyramids[0], cpu_pyramids[1], cpu_field);
        });
      });

      nlohmann::ordered_json entry;
      entry["size"] = std::to_string(width) + "x" + std::to_string(height);
      entry["sigma"] = sigma;
      entry["pyramid_ms"] = time_in_graph_ms(options.repeats, [&](cudaStream_t stream) { build(1, stream); });
      entry["search_ms"] = time_in_graph_ms(options.repeats, search);
      entry["both_ms"] = time_in_graph_ms(options.repeats, [&](cudaStream_t stream) {
        build(1, stream);
        search(stream);
      });
      entry["cpu_ms"] = cpu_ms;
      entry["same"] = field.download(nullptr) == cpu_field;
      std::printf("%-12s %5.0f %12.4f %12.4f %12.4f %14.2f %8s\n", entry["size"].get<std::string>().c_str(),
                  sigma, entry["pyramid_ms"].get<double>(), entry["search_ms"].get<double>(),
                  entry["both_ms"].get<double>(), cpu_ms, entry["same"].get<bool>() ? "yes" : "NO");
      json["pairs"].push_back(entry);
    }
  }
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

}  // namespace
}  // namespace limpid::cuda

int main(int argc, char** argv) {
  return limpid::cuda::run_benchmark("motion_cuda_benchmark", [&] { limpid::cuda::benchmark(argc, argv); });
}
