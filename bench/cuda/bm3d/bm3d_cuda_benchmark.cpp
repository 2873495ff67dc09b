// SPDX-License-Identifier: MIT
// Times the CUDA engine: each kernel, whole frames on the device, and frames through send() and receive(),
// with PSNR. Without FFmpeg, so that it runs on a bare GPU machine:
//   bm3d_cuda_benchmark [--image lena_512x512.gray] [--json results.json] [--repeats 30] [--only np]
// --only takes the name of a setting, or "variants" for every kernel that supports a setting's steps. The
// image is 512x512 bytes; by default one is drawn, whose PSNR is not comparable.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cuda/support/support.h"
#include "core/bm3d/transforms.h"
#include "core/engine/denoiser.h"
#include "core/engine/engine_group.h"
#include "cuda/bm3d/bm3d.h"
#include "cuda/bm3d/filter.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {
namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;

struct Setting {
  std::string name;
  Bm3dParameters parameters;
  FrameFormat format;
  double goal_ms = 0;  // for a whole frame
  bool streamed = false;
  NoiseModel noise = white_noise();  // for whole frames
};

Bm3dParameters groups_of_eight(int spacing, int radius) {
  Bm3dParameters parameters = bm3d_profile(Profile::kFast);
  for (Bm3dStep* which : {&parameters.hard_threshold, &*parameters.wiener}) {
    which->spacing = spacing;
    which->search_window = 2 * radius + 1;
  }
  return parameters;
}

std::vector<Setting> settings() {
  const FrameFormat luma = gray(kWidth, kHeight);
  return {{"8, step 8, +-9", groups_of_eight(8, 9), luma, 0.35, false},
          {"8, step 4, +-9", groups_of_eight(4, 9), luma, 0.8, false},
          {"8, step 3, +-19", groups_of_eight(3, 19), luma, 1.8, false},
          {"fast", bm3d_profile(Profile::kFast), luma, 0, true},
          {"lc", bm3d_profile(Profile::kLc), luma, 0, false},
          {"np", bm3d_profile(Profile::kNp), luma, 3, true},
          {"high", bm3d_profile(Profile::kHigh), luma, 0, false},
          {"fast, yuv420p", bm3d_profile(Profile::kFast), yuv420p(kWidth, kHeight), 0, true},
          {"np, yuv420p", bm3d_profile(Profile::kNp), yuv420p(kWidth, kHeight), 4.5, true},
          {"np, camera", bm3d_profile(Profile::kNp), yuv420p(kWidth, kHeight), 0, false, camera_noise()}};
}

// Lower bounds of the time for the arithmetic of a step on the current device: 64 products of half floats for
// each distance on tensor cores, and for each coefficient of a group 64 operations in single precision in
// each direction (twice, in the second step), at the peak of GPUs of compute capability 9.0.
struct Bounds {
  double match_ms;
  double filter_ms;
};

Bounds bounds_of(const Bm3dStep& step, bool wiener, const ReferenceGrid& grid) {
  int device = 0;
  check(cudaGetDevice(&device));
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<double>(value);
  };
  // Cycles of the whole device in a millisecond: the clock is in kHz.
  const double cycles = attribute(cudaDevAttrMultiProcessorCount) * attribute(cudaDevAttrClockRate);
  constexpr double kProductsPerCycle = 2048;
  constexpr double kOperationsPerCycle = 256;
  const double references = static_cast<double>(grid.columns) * grid.rows;
  const double samples = step.patch_size * step.patch_size;
  const double distances = references * step.search_window * step.search_window;
  const double coefficients = references * step.max_group_size * samples * (wiener ? 2 : 1);
  return {distances * samples / (cycles * kProductsPerCycle),
          coefficients * 64 / (cycles * kOperationsPerCycle)};
}

// Input and output of a step's kernels for a luma plane. The first step's result is `basic`.
class StepKernels {
 public:
  StepKernels(const Bm3dStep& step, bool wiener, const DeviceMemory& noisy, const DeviceMemory& basic)
      : step_(step),
        wiener_(wiener),
        noisy_{noisy.as<float>(), kWidth, kHeight, kWidth},
        basic_{basic.as<float>(), kWidth, kHeight, kWidth},
        grid_(make_grid(kWidth, kHeight, step.patch_size, step.spacing)),
        tables_(make_filter_tables(step)),
        variances_(static_cast<std::size_t>(step.patch_size) * step.patch_size, 1.0F),
        distances_(matching_distances(Matching::kStatistical, wiener, step, matching_scale(!wiener),
                                      static_cast<double>(kSigma))),
        result_(basic.bytes()),
        samples_(static_cast<std::size_t>(MatchingPlane::pitch_of(kWidth)) * MatchingPlane::rows_of(kHeight) *
                 sizeof(std::int16_t)),
        numerator_(basic.bytes() * 2),
        weight_(basic.bytes()) {
    matching_.width = kWidth;
    matching_.height = kHeight;
    matching_.pitch = MatchingPlane::pitch_of(kWidth);
    matching_.scale = matching_scale(!wiener);
    matching_.samples = samples_.as<std::int16_t>();
    const int capacity = static_cast<int>(std::bit_floor(static_cast<unsigned>(step.max_group_size)));
    members_ =
        DeviceMemory(static_cast<std::size_t>(grid_.columns) * grid_.rows * capacity * sizeof(std::int16_t));
    groups_ = {members_.as<std::int16_t>(), capacity, 0, grid_.rows};
    const TransformMatrices matrices = transform_matrices(step.transform_2d, step.patch_size);
    forward_ = floats(matrices.forward);
    inverse_ = floats(matrices.inverse);
    window_ = floats(kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta)));
    scratch_ = DeviceMemory(GeneralFilter::scratch_floats(step, capacity) * sizeof(float));
  }

  void prepare() const { prepare_matching(wiener_ ? basic_ : noisy_, !wiener_, matching_, nullptr); }
  void match(const MatchingVariant& variant) const {
    variant.run(matching_, grid_, step_, distances_, groups_, nullptr);
  }
  void clear(const FilterVariant& variant) const {
    clear_sums(sums(fixed_point(variant)), kWidth, kHeight, nullptr);
  }
  // Prepared in advance, so that only its run is timed.
  FilterJob job(const FilterVariant& variant) const {
    FilterJob job;
    job.step = step_;
    job.lambda = 2.7F;
    job.sigma = kSigma;
    job.variances = variances_;
    job.grid = grid_;
    job.groups = groups_;
    job.noisy = noisy_;
    job.basic = wiener_ ? basic_ : FloatPlane{};
    job.fixed_point = fixed_point(variant);
    job.sums = sums(job.fixed_point);
    job.tables = &tables_;
    job.general = {forward_.as<float>(), inverse_.as<float>(), window_.as<float>(), scratch_.as<float>()};
    return job;
  }
  void finish(const FilterJob& job) const {
    const FloatPlane out = wiener_ ? FloatPlane{result_.as<float>(), kWidth, kHeight, kWidth} : basic_;
    limpid::cuda::finish(job.sums, step_.patch_size, tables_, out, nullptr);
  }
  const ReferenceGrid& grid() const { return grid_; }

 private:
  static DeviceMemory floats(const std::vector<double>& values) {
    return DeviceMemory::copy_of(std::vector<float>(values.begin(), values.end()));
  }
  FixedPoint fixed_point(const FilterVariant& variant) const {
    return choose_fixed_point(step_, wiener_, 128, variant.tile_sums);
  }
  AggregationSums sums(const FixedPoint& bits) const {
    return {numerator_.as<long long>(), weight_.as<int>(), bits.numerator_scale, bits.weight_bits, 128};
  }

  Bm3dStep step_;
  bool wiener_;
  FloatPlane noisy_;
  FloatPlane basic_;
  ReferenceGrid grid_;
  FilterTables tables_;
  std::vector<float> variances_;
  MatchingDistances distances_;
  DeviceMemory result_;
  DeviceMemory samples_;
  DeviceMemory numerator_;
  DeviceMemory weight_;
  DeviceMemory members_;
  DeviceMemory forward_;
  DeviceMemory inverse_;
  DeviceMemory window_;
  DeviceMemory scratch_;
  MatchingPlane matching_;
  Groups groups_;
};

// One step on a luma plane, kernel by kernel.
nlohmann::ordered_json time_kernels(const Bm3dStep& step, bool wiener, const DeviceMemory& noisy,
                                    const DeviceMemory& basic, int repeats) {
  const StepKernels kernels(step, wiener, noisy, basic);
  const MatchingVariant& match = choose(matching_variants(), step, device_limits());
  const FilterVariant& filter = choose(filter_variants(), step, device_limits());
  const FilterJob job = kernels.job(filter);
  nlohmann::ordered_json json;
  json["prepare"] = time_ms(repeats, [&] { kernels.prepare(); });
  json["match"] = time_ms(repeats, [&] { kernels.match(match); });
  json["clear"] = time_ms(repeats, [&] { kernels.clear(filter); });
  json["filter"] = time_ms(repeats, [&] { filter.run(job, nullptr); });
  kernels.clear(filter);
  filter.run(job, nullptr);
  json["finish"] = time_ms(repeats, [&] { kernels.finish(job); });
  const Bounds bounds = bounds_of(step, wiener, kernels.grid());
  json["match_bound"] = bounds.match_ms;
  json["filter_bound"] = bounds.filter_ms;
  return json;
}

// Every variant that supports a step. The references are slow and timed less often.
nlohmann::ordered_json time_variants(const Bm3dStep& step, bool wiener, const DeviceMemory& noisy,
                                     const DeviceMemory& basic, int most_repeats) {
  const StepKernels kernels(step, wiener, noisy, basic);
  const DeviceLimits device = device_limits();
  const int repeats = std::min(most_repeats, 5);
  nlohmann::ordered_json json;
  kernels.prepare();
  for (const MatchingVariant& variant : matching_variants()) {
    if (variant.can(step, device)) {
      json["match"][variant.name] = time_ms(repeats, [&] { kernels.match(variant); });
    }
  }
  FilterJob job;
  for (const FilterVariant& variant : filter_variants()) {
    if (variant.can(step, device)) {
      job = kernels.job(variant);
      kernels.clear(variant);
      json["filter"][variant.name] = time_ms(repeats, [&] { variant.run(job, nullptr); });
    }
  }
  kernels.clear(filter_variants().back());
  filter_variants().back().run(job, nullptr);
  kernels.finish(job);
  return json;
}

// time_kernels() or time_variants() of both steps.
template <typename TimeStep>
nlohmann::ordered_json time_steps(const Setting& setting, const Frame& noisy, int repeats,
                                  const TimeStep& time_step) {
  std::vector<float> samples;
  for (int y = 0; y < kHeight; ++y) {
    const auto* row = noisy.planes[0].row<std::uint8_t>(y);
    samples.insert(samples.end(), row, row + kWidth);
  }
  const auto noisy_memory = DeviceMemory::copy_of(samples);
  const DeviceMemory basic(noisy_memory.bytes());
  nlohmann::ordered_json json;
  json["step1"] = time_step(setting.parameters.hard_threshold, false, noisy_memory, basic, repeats);
  json["step2"] = time_step(*setting.parameters.wiener, true, noisy_memory, basic, repeats);
  return json;
}

// A whole frame, from device memory to device memory.
double time_frame(const Setting& setting, const Frame& noisy, int repeats, std::size_t& memory) {
  Bm3d filter(setting.parameters, setting.format);
  const DeviceMemory in(frame_bytes(setting.format));
  const DeviceMemory out(in.bytes());
  SamplePlanes in_planes;
  SamplePlanes out_planes;
  for (int p = 0; p < setting.format.plane_count(); ++p) {
    const std::ptrdiff_t offset = noisy.planes[p].data - noisy.planes[0].data;
    in_planes[p] = {in.as() + offset, noisy.planes[p].stride};
    out_planes[p] = {out.as() + offset, noisy.planes[p].stride};
  }
  check(cudaMemcpy(in.as(), noisy.planes[0].data, in.bytes(), cudaMemcpyHostToDevice));
  memory = filter.memory();
  return time_ms(repeats, [&] { filter.enqueue(in_planes, out_planes, false, setting.noise, nullptr); });
}

// Frames per second through the denoiser, from and to pinned frames, with a few in flight.
double streamed_fps(Engine& engine, const Setting& setting, const Frame& noisy, double frame_ms) {
  const auto denoiser = engine.make_denoiser(setting.parameters, setting.noise, setting.format);
  const int in_flight = denoiser->concurrency();
  const int frames = std::clamp(static_cast<int>(150 * in_flight / frame_ms), 15 * in_flight, 4000);
  const auto stream = [&](int count) {
    int received = 0;
    for (int i = 0; i < count; ++i) {
      denoiser->send(noisy);
      if (i >= in_flight) {
        received += denoiser->receive().has_value() ? 1 : 0;
      }
    }
    denoiser->flush();
    while (denoiser->receive()) {
      ++received;
    }
    return received;
  };
  stream(3 * in_flight);
  const auto begin = std::chrono::steady_clock::now();
  const int received = stream(frames);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return received / seconds.count();
}

// From a video decoder's NV12 to the planes of a filter, and from these to an encoder's.
nlohmann::ordered_json time_surfaces(int repeats) {
  const FrameFormat format = yuv420p(kWidth, kHeight);
  const DeviceMemory surface(static_cast<std::size_t>(kWidth) * kHeight * 3 / 2);
  const DeviceMemory memory(surface.bytes());
  std::byte* const chroma = surface.as() + static_cast<std::ptrdiff_t>(kWidth) * kHeight;
  std::array<Plane, 3> nv12{Plane{surface.as(), kWidth, kWidth, kHeight, 1},
                            Plane{chroma, kWidth, kWidth / 2, kHeight / 2, 2},
                            Plane{chroma + 1, kWidth, kWidth / 2, kHeight / 2, 2}};
  std::byte* const u = memory.as() + (chroma - surface.as());
  const std::array<SamplePlane, 3> planes{
      SamplePlane{memory.as(), kWidth}, SamplePlane{u, kWidth / 2},
      SamplePlane{u + static_cast<std::ptrdiff_t>(kWidth / 2) * (kHeight / 2), kWidth / 2}};
  const double unpack = time_in_graph_ms(repeats, [&](cudaStream_t stream) {
    for (int p = 0; p < 3; ++p) {
      unpack_plane(format, nv12[p], 0, planes[p], stream);
    }
  });
  const double pack = time_in_graph_ms(repeats, [&](cudaStream_t stream) {
    for (int p = 0; p < 3; ++p) {
      pack_plane(format, planes[p], 0, nv12[p], stream);
    }
  });
  std::printf("NV12 to planes %.4f ms, planes to NV12 %.4f ms\n", unpack, pack);
  return {{"unpack_ms", unpack}, {"pack_ms", pack}};
}

// True if every engine of the group is bit-exact with `one`.
bool same_bits(Engine& group, Engine& one, const Setting& setting, const Frame& noisy) {
  const Frame expected = run(one, noisy, setting.parameters);
  const auto denoiser = group.make_denoiser(setting.parameters, setting.noise, setting.format);
  const int frames = denoiser->concurrency();
  for (int i = 0; i < frames; ++i) {
    denoiser->send(noisy);
  }
  denoiser->flush();
  for (int i = 0; i < frames; ++i) {
    const Frame result = denoiser->receive().value();
    for (int p = 0; p < setting.format.plane_count(); ++p) {
      const Plane& plane = result.planes[p];
      for (int y = 0; y < plane.height; ++y) {
        const auto* row = plane.row<std::uint8_t>(y);
        if (!std::equal(row, row + plane.width, expected.planes[p].row<std::uint8_t>(y))) {
          return false;
        }
      }
    }
  }
  return true;
}

// The streamed settings on two, three, ... of the machine's GPUs.
nlohmann::ordered_json time_groups(Engine& one, const std::vector<std::uint8_t>& picture) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::vector<std::shared_ptr<Engine>> engines;
  for (const EngineInfo& info : list_cuda()) {
    if (!info.available) {
      continue;
    }
    engines.push_back(open_cuda(info.name, {}));
    if (engines.size() < 2) {
      continue;
    }
    const auto group = make_engine_group(std::to_string(engines.size()) + " GPUs", engines);
    for (const Setting& setting : settings()) {
      if (setting.streamed) {
        const Frame noisy = make_frame(*group, setting.format, picture, true);
        const double alone = streamed_fps(one, setting, noisy, setting.goal_ms > 0 ? setting.goal_ms : 0.5);
        const double fps = streamed_fps(*group, setting, noisy, setting.goal_ms > 0 ? setting.goal_ms : 0.5);
        const bool same = same_bits(*group, one, setting, noisy);
        std::printf("%s, %-16s %6.0f fps, %.2f times one's %6.0f, %s bits\n",
                    std::string(group->name()).c_str(), setting.name.c_str(), fps, fps / alone, alone,
                    same ? "the same" : "OTHER");
        json.push_back({{"gpus", engines.size()},
                        {"setting", setting.name},
                        {"fps", fps},
                        {"one", alone},
                        {"same_bits", same}});
      }
    }
  }
  return json;
}

// All variants of every setting's kernels, for comparison.
nlohmann::ordered_json compare_variants(Engine& engine, const std::vector<std::uint8_t>& picture,
                                        int repeats) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Setting& setting : settings()) {
    nlohmann::ordered_json entry =
        time_steps(setting, make_frame(engine, setting.format, picture, true), repeats, time_variants);
    for (const char* step : {"step1", "step2"}) {
      for (const char* stage : {"match", "filter"}) {
        std::printf("%-16s %s %-6s", setting.name.c_str(), step, stage);
        for (const auto& [variant, ms] : entry[step][stage].items()) {
          std::printf(" | %6s %9.3f ms", variant.c_str(), ms.get<double>());
        }
        std::printf("\n");
        std::fflush(stdout);
      }
    }
    entry["setting"] = setting.name;
    json.push_back(entry);
  }
  return json;
}

void time_settings(Engine& engine, const std::vector<std::uint8_t>& picture, const BenchmarkOptions& options,
                   nlohmann::ordered_json& json) {
  std::printf("%-16s %8s %6s %8s | %7s %7s %6s %6s | %7s %7s %6s %6s | %8s %6s\n", "1920x1080", "frame ms",
              "goal", "PSNR dB", "match 1", "filter1", "other", "bound", "match 2", "filter2", "other",
              "bound", "MiB", "fps");
  for (const Setting& setting : settings()) {
    if (!options.only.empty() && setting.name != options.only) {
      continue;
    }
    const Frame noisy = make_frame(engine, setting.format, picture, true);
    nlohmann::ordered_json entry;
    entry["setting"] = setting.name;
    std::size_t memory = 0;
    const double frame_ms = time_frame(setting, noisy, options.repeats, memory);
    entry["frame_ms"] = frame_ms;
    entry["goal_ms"] = setting.goal_ms;
    entry["memory_mib"] = static_cast<double>(memory) / (1 << 20);
    const Frame small = make_frame(engine, gray(512, 512), picture, true);
    const Frame clean = make_frame(engine, gray(512, 512), picture, false);
    entry["psnr_db"] = psnr(run(engine, small, setting.parameters), clean);
    entry["kernels_ms"] = time_steps(setting, noisy, options.repeats, time_kernels);
    entry["fps"] = setting.streamed ? streamed_fps(engine, setting, noisy, frame_ms) : 0.0;
    std::printf("%-16s %8.3f %6.2f %8.3f", setting.name.c_str(), frame_ms, setting.goal_ms,
                entry["psnr_db"].get<double>());
    for (const char* step : {"step1", "step2"}) {
      const auto& kernels = entry["kernels_ms"][step];
      const auto get = [&](const char* name) { return kernels[name].get<double>(); };
      const double achieved = (get("match_bound") + get("filter_bound")) / (get("match") + get("filter"));
      std::printf(" | %7.3f %7.3f %6.3f %4.0f %%", get("match"), get("filter"),
                  get("prepare") + get("clear") + get("finish"), 100 * achieved);
    }
    std::printf(" | %8.1f %6.0f\n", entry["memory_mib"].get<double>(), entry["fps"].get<double>());
    std::fflush(stdout);
    json["settings"].push_back(entry);
  }
  json["surfaces"] = time_surfaces(options.repeats);
  json["groups"] = time_groups(engine, picture);
}

void benchmark(int argc, char** argv) {
  const BenchmarkOptions options = parse_options(argc, argv);
  const std::vector<std::uint8_t> picture = load_picture(options);
  const auto engine = open_cuda("cuda:0", {});
  std::printf("%s\n\n", engine->description().c_str());
  nlohmann::ordered_json json;
  json["device"] = engine->description();
  if (options.only == "variants") {
    json["variants"] = compare_variants(*engine, picture, options.repeats);
  } else {
    time_settings(*engine, picture, options, json);
  }
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

}  // namespace
}  // namespace limpid::cuda

int main(int argc, char** argv) {
  return limpid::cuda::run_benchmark("bm3d_cuda_benchmark", [&] { limpid::cuda::benchmark(argc, argv); });
}
