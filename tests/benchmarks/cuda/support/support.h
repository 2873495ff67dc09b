#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// What the CUDA benchmarks share. Without FFmpeg, so that they run on a bare GPU machine.

namespace limpid::cuda {

inline constexpr float kSigma = 20;  ///< of the noise in the pictures, 8-bit code values

/// White noise of that deviation, and noise as cameras make it, of the same deviation but neither white nor
/// the same at every brightness.
NoiseModel white_noise();
NoiseModel camera_noise();

FrameFormat gray(int width, int height, int bit_depth = 8);
FrameFormat yuv420p(int width, int height, int bit_depth = 8);

/// Milliseconds on the device, the median of many. `prepare` is done before each and not timed.
double time_ms(int repeats, const std::function<void()>& work, const std::function<void()>& prepare = {});
/// The same of kernels so short that launching them would count: of a graph of many, for each.
double time_in_graph_ms(int repeats, const std::function<void(cudaStream_t)>& work);

/// The same by the host's clock, of work that waits for what it makes.
double time_on_host_ms(int repeats, const std::function<void()>& work);

/// A frame of the engine's, every plane of which shows `picture` (512x512 bytes), tiled and mirrored. 8 to 16
/// bits. Another seed makes other noise.
Frame make_frame(Engine& engine, const FrameFormat& format, const std::vector<std::uint8_t>& picture,
                 bool noisy, unsigned seed = 1);

/// dB between the first planes of 8- to 16-bit frames of one format.
double psnr(const Frame& a, const Frame& b);

/// One frame through a denoiser of its own.
Frame run(Engine& engine, const Frame& frame, const Filter& filter);

struct BenchmarkOptions {
  std::string image;  ///< a file of 512x512 bytes; without it a picture is drawn
  std::string json;
  std::string only;  ///< the setting of this name
  int repeats = 30;
};

/// --image FILE --json FILE --only NAME --repeats N. Throws UsageError for others.
BenchmarkOptions parse_options(int argc, char** argv);

/// The options' picture. Throws Error if it can't be read.
std::vector<std::uint8_t> load_picture(const BenchmarkOptions& options);

/// Runs a benchmark, tells its errors, and returns the exit code.
int run_benchmark(const char* name, const std::function<void()>& benchmark);

}  // namespace limpid::cuda
