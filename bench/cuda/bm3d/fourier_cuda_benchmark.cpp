// SPDX-License-Identifier: MIT
// BM3D's Fourier variants on the GPU and the separable transforms, with the settings of the programs from
// which they come: time, memory and quality.
//   fourier_cuda_benchmark [--image lena_512x512.gray] [--json results.json] [--repeats 30] [--only thesis]
#include <cuda_runtime_api.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cuda/support/support.h"
#include "core/engine/denoiser.h"
#include "cuda/bm3d/bm3d.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {
namespace {

struct Setting {
  const char* name;
  Bm3dParameters parameters;
  double reference_db;  // of the program with this setting
  double goal_ms;       // a twentieth of its time at 512x512
};

// Honzatko 2015: the first step only. Wang and Sun 2018: both.
std::vector<Setting> settings() {
  Bm3dParameters thesis = bm3d_profile(Profile::kNp);
  thesis.wiener.reset();
  Bm3dParameters groups_of_eight = bm3d_profile(Profile::kNp);
  for (Bm3dStep* step : {&groups_of_eight.hard_threshold, &*groups_of_eight.wiener}) {
    step->spacing = 4;
    step->max_group_size = 8;
    step->search_window = 65;
  }
  return {{"thesis", thesis, 32.27, 10}, {"gpu-bm3d", groups_of_eight, 32.13, 1.7}};
}

double time_frame(const Bm3dParameters& parameters, const Frame& frame, int repeats, std::size_t& memory) {
  Bm3d filter(parameters, frame.format);
  const DeviceMemory in(frame_bytes(frame.format));
  const DeviceMemory out(in.bytes());
  check(cudaMemcpy(in.as(), frame.planes[0].data,
                   static_cast<std::size_t>(frame.planes[0].stride) * frame.format.height,
                   cudaMemcpyHostToDevice));
  SamplePlanes in_planes;
  SamplePlanes out_planes;
  in_planes[0] = {in.as(), frame.planes[0].stride};
  out_planes[0] = {out.as(), frame.planes[0].stride};
  memory = filter.memory();
  return time_ms(repeats, [&] { filter.enqueue(in_planes, out_planes, false, white_noise(), nullptr); });
}

void benchmark(int argc, char** argv) {
  const BenchmarkOptions options = parse_options(argc, argv);
  const std::vector<std::uint8_t> picture = load_picture(options);
  const auto engine = open_cuda("cuda:0", {});
  std::printf("%s\n\n%-10s %-10s %10s %9s %6s %9s %9s %7s\n", engine->description().c_str(), "setting",
              "transform", "size", "ms", "goal", "PSNR dB", "source's", "MiB");
  nlohmann::ordered_json json;
  json["device"] = engine->description();
  for (const Setting& setting : settings()) {
    if (!options.only.empty() && options.only != setting.name) {
      continue;
    }
    for (const GroupTransform transform :
         {GroupTransform::kSeparable, GroupTransform::kDft2dAnd1d, GroupTransform::kFft3d}) {
      Bm3dParameters parameters = setting.parameters;
      parameters.transform = transform;
      const FrameFormat square = gray(512, 512);
      const double db = psnr(run(*engine, make_frame(*engine, square, picture, true), parameters),
                             make_frame(*engine, square, picture, false));
      for (const FrameFormat& format : {square, gray(1920, 1080), gray(5616, 3744)}) {
        nlohmann::ordered_json entry;
        entry["setting"] = setting.name;
        entry["transform"] = to_string(transform);
        entry["size"] = std::to_string(format.width) + "x" + std::to_string(format.height);
        std::size_t memory = 0;
        const int repeats = format.width > 1920 ? 3 : options.repeats;
        entry["frame_ms"] =
            time_frame(parameters, make_frame(*engine, format, picture, true), repeats, memory);
        entry["goal_ms"] = format == square ? setting.goal_ms : 0;
        entry["psnr_db"] = db;
        entry["source_psnr_db"] = setting.reference_db;
        entry["memory_mib"] = static_cast<double>(memory) / (1 << 20);
        std::printf("%-10s %-10s %10s %9.3f %6.1f %9.3f %9.2f %7.1f\n", setting.name,
                    std::string(to_string(transform)).c_str(), entry["size"].get<std::string>().c_str(),
                    entry["frame_ms"].get<double>(), entry["goal_ms"].get<double>(), db, setting.reference_db,
                    entry["memory_mib"].get<double>());
        std::fflush(stdout);
        json["settings"].push_back(entry);
      }
    }
  }
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

}  // namespace
}  // namespace limpid::cuda

int main(int argc, char** argv) {
  return limpid::cuda::run_benchmark("fourier_cuda_benchmark", [&] { limpid::cuda::benchmark(argc, argv); });
}
