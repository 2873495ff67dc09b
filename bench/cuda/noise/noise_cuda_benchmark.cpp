// SPDX-License-Identifier: MIT
// Times the noise estimate on a GPU and on the CPU, and the other measurements of every frame of a stream.
// Without FFmpeg, so that it runs on a bare GPU machine:
//   noise_cuda_benchmark [--image lena_512x512.gray] [--json results.json] [--repeats 30]
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/cuda/support/support.h"
#include "core/noise/noise_statistics.h"
#include "cpu/noise/noise.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/engine/window_denoiser.h"
#include "cuda/noise/noise.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {
namespace {

// The frame's samples in device memory, as if decoded there.
Frame on_device(const Frame& host, const DeviceMemory& memory) {
  Frame frame = host;
  frame.memory = cuda_memory(0);
  std::byte* next = memory.as();
  for (int p = 0; p < host.format.plane_count(); ++p) {
    Plane& plane = frame.planes[p];
    const auto bytes = static_cast<std::size_t>(plane.stride) * plane.height;
    check(cudaMemcpy(next, plane.data, bytes, cudaMemcpyHostToDevice));
    plane.data = next;
    next += bytes;
  }
  return frame;
}

// The measurement of colored noise in two successive frames, including motion estimation.
void measure(Engine& engine, const BenchmarkOptions& options, const std::vector<std::uint8_t>& picture,
             nlohmann::ordered_json& json) {
  std::printf("\n%-26s %10s %10s %10s %10s %8s\n", "noise of two frames, ms", "of host's", "of GPU's",
              "of one", "by the CPU", "sigma");
  const std::vector<std::pair<std::string, FrameFormat>> formats = {
      {"yuv420p 1920x1080", yuv420p(1920, 1080)},
      {"yuv420p10 1920x1080", yuv420p(1920, 1080, 10)},
      {"yuv420p 3840x2160", yuv420p(3840, 2160)}};
  for (const auto& [name, format] : formats) {
    const std::array<Frame, 2> host = {make_frame(engine, format, picture, true, 1),
                                       make_frame(engine, format, picture, true, 11)};
    const std::size_t bytes = host[0].planes[0].stride * std::size_t{4} * format.height;
    const std::array<DeviceMemory, 2> memory = {DeviceMemory(bytes), DeviceMemory(bytes)};
    const std::array<Frame, 2> decoded = {on_device(host[0], memory[0]), on_device(host[1], memory[1])};
    const auto time = [&](const Frame& frame, const Frame* before) {
      return time_on_host_ms(options.repeats, [&] { engine.measure_noise(frame, before, {}); });
    };
    nlohmann::ordered_json entry;
    entry["frame"] = name;
    entry["host_frames_ms"] = time(host[1], &host[0]);
    entry["device_frames_ms"] = time(decoded[1], &decoded[0]);
    entry["device_frame_ms"] = time(decoded[1], nullptr);
    entry["cpu_ms"] = time_on_host_ms(3, [&] { cpu::measure_noise(host[1], host.data()); });
    entry["sigma"] = noise::model_of(engine.measure_noise(decoded[1], decoded.data(), {}), {}).sigma[0];
    std::printf("%-26s %10.3f %10.3f %10.3f %10.3f %8.2f\n", name.c_str(),
                entry["host_frames_ms"].get<double>(), entry["device_frames_ms"].get<double>(),
                entry["device_frame_ms"].get<double>(), entry["cpu_ms"].get<double>(),
                entry["sigma"].get<double>());
    json["pairs"].push_back(entry);
  }
}

// The correction of clipped noise: of a picture, and of a black one, the worst case.
void undo_clipping(Engine& engine, const BenchmarkOptions& options, const std::vector<std::uint8_t>& picture,
                   nlohmann::ordered_json& json) {
  std::printf("\n%-26s %10s %10s\n", "clipping undone, ms", "picture", "black");
  const std::vector<std::pair<std::string, FrameFormat>> formats = {
      {"yuv420p 1920x1080", yuv420p(1920, 1080)}, {"yuv420p10 3840x2160", yuv420p(3840, 2160, 10)}};
  for (const auto& [name, format] : formats) {
    ClippingCorrection correction(format);
    const NoiseModel noise{{20, 20, 20}};
    const auto time = [&](const std::vector<std::uint8_t>& shown) {
      const Frame noisy = make_frame(engine, format, shown, true);
      const DeviceFrame on_gpu(format);
      const DeviceFrame estimate(format);
      copy(noisy, on_gpu.planes(), cudaMemcpyHostToDevice, nullptr);
      copy(make_frame(engine, format, shown, false), estimate.planes(), cudaMemcpyHostToDevice, nullptr);
      correction.enqueue(on_gpu.planes(), noise, estimate.planes(), nullptr);  // includes the upload of
                                                                               // tables
      return time_in_graph_ms(options.repeats, [&](cudaStream_t stream) {
        correction.enqueue(on_gpu.planes(), noise, estimate.planes(), stream);
      });
    };
    nlohmann::ordered_json entry;
    entry["frame"] = name;
    entry["picture_ms"] = time(picture);
    entry["black_ms"] = time(std::vector<std::uint8_t>(picture.size(), 10));
    std::printf("%-26s %10.4f %10.4f\n", name.c_str(), entry["picture_ms"].get<double>(),
                entry["black_ms"].get<double>());
    json["clipping"].push_back(entry);
  }
}

void benchmark(int argc, char** argv) {
  const BenchmarkOptions options = parse_options(argc, argv);
  const std::vector<std::uint8_t> picture = load_picture(options);
  const auto engine = open_cuda("cuda:0", {});
  std::printf("%s\n\n%-22s %10s %10s %10s %10s %8s\n", engine->description().c_str(), "noise estimate, ms",
              "of host's", "of GPU's", "by the CPU", "brightness", "sigma");
  nlohmann::ordered_json json;
  json["device"] = engine->description();
  const std::vector<std::pair<std::string, FrameFormat>> formats = {
      {"gray 512x512", gray(512, 512)},
      {"yuv420p 1920x1080", yuv420p(1920, 1080)},
      {"yuv420p 3840x2160", yuv420p(3840, 2160)}};
  for (const auto& [name, format] : formats) {
    const Frame host = make_frame(*engine, format, picture, true);
    const DeviceMemory memory(host.planes[0].stride * std::size_t{4} * format.height);
    const Frame decoded = on_device(host, memory);
    nlohmann::ordered_json entry;
    entry["frame"] = name;
    entry["host_frame_ms"] = time_on_host_ms(options.repeats, [&] { engine->estimate_noise(host); });
    entry["device_frame_ms"] = time_on_host_ms(options.repeats, [&] { engine->estimate_noise(decoded); });
    entry["cpu_ms"] = time_on_host_ms(options.repeats, [&] { cpu::estimate_noise(host); });
    entry["brightness_ms"] = time_on_host_ms(options.repeats, [&] { engine->brightness_histogram(decoded); });
    entry["sigma"] = engine->estimate_noise(decoded).sigma[0];
    std::printf("%-22s %10.3f %10.3f %10.3f %10.3f %8.2f\n", name.c_str(),
                entry["host_frame_ms"].get<double>(), entry["device_frame_ms"].get<double>(),
                entry["cpu_ms"].get<double>(), entry["brightness_ms"].get<double>(),
                entry["sigma"].get<double>());
    json["frames"].push_back(entry);
  }
  measure(*engine, options, picture, json);
  undo_clipping(*engine, options, picture, json);
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

}  // namespace
}  // namespace limpid::cuda

int main(int argc, char** argv) {
  return limpid::cuda::run_benchmark("noise_cuda_benchmark", [&] { limpid::cuda::benchmark(argc, argv); });
}
