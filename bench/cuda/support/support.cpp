// SPDX-License-Identifier: MIT
#include "bench/cuda/support/support.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>

#include "core/base/error.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {
namespace {

constexpr int kPictureSide = 512;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

std::vector<std::uint8_t> drawn_picture() {
  std::vector<std::uint8_t> picture;
  for (int y = 0; y < kPictureSide; ++y) {
    for (int x = 0; x < kPictureSide; ++x) {
      const double value = 128 + 60 * std::sin(0.02 * x * (1 + 0.004 * y)) + 40 * std::sin(0.13 * y) +
                           ((x / 64 + y / 48) % 2 == 0 ? 20 : -20);
      picture.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
    }
  }
  return picture;
}

template <typename Sample>
void fill(const Plane& plane, const FrameFormat& format, const std::vector<std::uint8_t>& picture) {
  const auto mirrored = [](int i) {
    return i / kPictureSide % 2 == 0 ? i % kPictureSide : kPictureSide - 1 - i % kPictureSide;
  };
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) {
      plane.row<Sample>(y)[x] =
          static_cast<Sample>(picture[mirrored(y) * kPictureSide + mirrored(x)] << (format.bit_depth - 8));
    }
  }
}

template <typename Sample>
void add_noise(const Plane& plane, const FrameFormat& format, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, static_cast<double>(kSigma) * format.code_value());
  const double peak = (1 << format.bit_depth) - 1;
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) {
      Sample& sample = plane.row<Sample>(y)[x];
      sample = static_cast<Sample>(std::clamp(std::round(sample + normal(random)), 0.0, peak));
    }
  }
}

template <typename Sample>
double squared_error(const Plane& a, const Plane& b) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      const double difference = a.row<Sample>(y)[x] - b.row<Sample>(y)[x];
      sum += difference * difference;
    }
  }
  return sum;
}

}  // namespace

NoiseModel white_noise() { return {{kSigma, kSigma, kSigma}}; }

NoiseModel camera_noise() {
  NoiseModel noise = white_noise();
  for (NoiseShape& shape : noise.shape) {
    float sum = 0;
    for (int i = 0; i < NoiseShape::kFrequencies * NoiseShape::kFrequencies; ++i) {
      const int frequency = i / NoiseShape::kFrequencies + i % NoiseShape::kFrequencies;
      shape.spectrum[i] = 1.0F / static_cast<float>(1 + frequency);
      sum += shape.spectrum[i];
    }
    for (float& variance : shape.spectrum) {
      variance *= static_cast<float>(shape.spectrum.size()) / sum;
    }
    for (std::size_t i = 0; i < shape.curve.size(); ++i) {
      shape.curve[i] = 1.3F - 0.6F * static_cast<float>(i) / static_cast<float>(shape.curve.size() - 1);
    }
  }
  return noise;
}

FrameFormat gray(int width, int height, int bit_depth) {
  FrameFormat format;
  format.width = width;
  format.height = height;
  format.bit_depth = bit_depth;
  format.sample_type = bit_depth == 8 ? SampleType::kUint8 : SampleType::kUint16;
  return format;
}

FrameFormat yuv420p(int width, int height, int bit_depth) {
  FrameFormat format = gray(width, height, bit_depth);
  format.color_model = ColorModel::kYuv;
  format.chroma_shift_x = 1;
  format.chroma_shift_y = 1;
  return format;
}

double time_ms(int repeats, const std::function<void()>& work, const std::function<void()>& prepare) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<double> times;
  for (int i = 0; i < repeats + 3; ++i) {
    if (prepare) {
      prepare();
    }
    check(cudaEventRecord(begin));
    work();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) {
      times.push_back(static_cast<double>(ms));
    }
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return median(times);
}

double time_in_graph_ms(int repeats, const std::function<void(cudaStream_t)>& work) {
  constexpr int kBatch = 20;
  const Stream stream;
  work(stream.get());
  check(cudaStreamSynchronize(stream.get()));
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kBatch; ++i) {
    work(stream.get());
  }
  check(cudaStreamEndCapture(stream.get(), &graph));
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0));
  const double ms = time_ms(repeats, [&] { check(cudaGraphLaunch(executable, nullptr)); }) / kBatch;
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  return ms;
}

double time_on_host_ms(int repeats, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  work();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return median(times);
}

Frame make_frame(Engine& engine, const FrameFormat& format, const std::vector<std::uint8_t>& picture,
                 bool noisy, unsigned seed) {
  Frame frame = engine.allocate_frame(format);
  const bool bytes = format.sample_type == SampleType::kUint8;
  for (int p = 0; p < format.plane_count(); ++p) {
    (bytes ? fill<std::uint8_t> : fill<std::uint16_t>)(frame.planes[p], format, picture);
    if (noisy) {
      (bytes ? add_noise<std::uint8_t> : add_noise<std::uint16_t>)(frame.planes[p], format, seed + p);
    }
  }
  return frame;
}

double psnr(const Frame& a, const Frame& b) {
  const Plane& plane = a.planes[0];
  const double error =
      (a.format.sample_type == SampleType::kUint8 ? squared_error<std::uint8_t>
                                                  : squared_error<std::uint16_t>)(plane, b.planes[0]);
  const double peak = 255.0 * a.format.code_value();
  return 10 * std::log10(peak * peak * plane.width * plane.height / error);
}

Frame run(Engine& engine, const Frame& frame, const Filter& filter) {
  const auto denoiser = engine.make_denoiser(filter, white_noise(), frame.format);
  denoiser->send(frame);
  denoiser->flush();
  return denoiser->receive().value();
}

BenchmarkOptions parse_options(int argc, char** argv) {
  BenchmarkOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--image") {
      options.image = argv[i + 1];
    } else if (name == "--json") {
      options.json = argv[i + 1];
    } else if (name == "--clip") {
      options.clips.push_back(argv[i + 1]);
    } else if (name == "--only") {
      options.only = argv[i + 1];
    } else if (name == "--repeats") {
      options.repeats = std::max(1, std::atoi(argv[i + 1]));
    } else {
      throw UsageError("there is no option " + name);
    }
  }
  return options;
}

std::vector<std::uint8_t> load_picture(const BenchmarkOptions& options) {
  if (options.image.empty()) {
    return drawn_picture();
  }
  std::ifstream file(options.image, std::ios::binary);
  std::vector<std::uint8_t> picture((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (picture.size() != std::size_t{kPictureSide} * kPictureSide) {
    throw Error(options.image + " is not a picture of 512x512 bytes");
  }
  return picture;
}

int run_benchmark(const char* name, const std::function<void()>& benchmark) {
  try {
    benchmark();
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace limpid::cuda
