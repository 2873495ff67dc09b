// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// Shared code of the CUDA benchmarks. Without FFmpeg, so that they run on a bare GPU machine.

namespace limpid::cuda {

inline constexpr float kSigma = 20;  ///< noise level of the pictures, in 8-bit code values

/// White noise of this level, and noise of this level as from a camera, colored and dependent on brightness.
NoiseModel white_noise();
NoiseModel camera_noise();

FrameFormat gray(int width, int height, int bit_depth = 8);
FrameFormat yuv420p(int width, int height, int bit_depth = 8);

/// Milliseconds on the device, median of many. `prepare` runs before each measurement and is not timed.
double time_ms(int repeats, const std::function<void()>& work, const std::function<void()>& prepare = {});
/// For kernels so short that their launch would matter: milliseconds per execution in a graph of many.
double time_in_graph_ms(int repeats, const std::function<void(cudaStream_t)>& work);

/// For work that waits for its results: milliseconds by the host's clock.
double time_on_host_ms(int repeats, const std::function<void()>& work);

/// A frame of the engine, of 8 to 16 bits, whose planes all show `picture` (512x512 bytes), tiled and
/// mirrored. The noise depends on the seed.
Frame make_frame(Engine& engine, const FrameFormat& format, const std::vector<std::uint8_t>& picture,
                 bool noisy, unsigned seed = 1);

/// dB between the first planes of 8- to 16-bit frames of one format.
double psnr(const Frame& a, const Frame& b);

/// Filters one frame with its own denoiser.
Frame run(Engine& engine, const Frame& frame, const Filter& filter);

struct BenchmarkOptions {
  std::string image;  ///< a file of 512x512 bytes; empty: a picture is drawn
  std::string json;
  std::string only;  ///< name of a setting
  std::vector<std::string> clips;
  int repeats = 30;
};

/// --image FILE --clip FILE... --json FILE --only NAME --repeats N. Throws UsageError for others.
BenchmarkOptions parse_options(int argc, char** argv);

/// The options' picture. Throws Error if it cannot be read.
std::vector<std::uint8_t> load_picture(const BenchmarkOptions& options);

/// Runs a benchmark, prints its errors, and returns the exit code.
int run_benchmark(const char* name, const std::function<void()>& benchmark);

}  // namespace limpid::cuda
