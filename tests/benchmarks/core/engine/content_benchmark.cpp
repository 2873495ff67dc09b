// SPDX-License-Identifier: MIT
// Times filters by picture content: no content may take much longer than a natural picture. On any engine,
// through send() and receive(). Without FFmpeg, so that it runs on a bare GPU machine:
//   content_benchmark [--engine cpu] [--image lena_512x512.gray] [--size 1920x1080] [--repeats 20]
//                     [--only fast] [--simd AVX2] [--json results.json]
// The image is 512x512 bytes; by default one is drawn. The CPU engine uses the processor's best instruction
// set or that of --simd. Figures are milliseconds per frame: for the CPU engine, the least processor time on
// one thread, which is least affected by other work on the machine; for other engines, wall-clock time with
// as many frames in progress as they process at once.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/frame.h"
#include "tests/benchmarks/core/engine/contents.h"
#include "tests/benchmarks/core/engine/simd_level.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr float kSigma = 10;
constexpr int kPictureSide = 512;

struct Options {
  std::string engine = "cpu";
  std::string image;
  std::string json;
  std::string only;
  std::string simd;
  int width = 1920;
  int height = 1080;
  int repeats = 20;
};

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--engine") {
      options.engine = value;
    } else if (name == "--image") {
      options.image = value;
    } else if (name == "--json") {
      options.json = value;
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--simd") {
      options.simd = value;
    } else if (name == "--repeats") {
      options.repeats = std::max(1, std::atoi(value.c_str()));
    } else if (name != "--size" ||
               std::sscanf(value.c_str(), "%dx%d", &options.width, &options.height) != 2) {
      throw UsageError("there is no option " + name + " " + value);
    }
  }
  return options;
}

struct Setting {
  std::string name;
  Filter filter;
};

std::vector<Setting> settings() {
  return {{"fast", bm3d_profile(Profile::kFast)},
          {"lc", bm3d_profile(Profile::kLc)},
          {"np", bm3d_profile(Profile::kNp)},
          {"high", bm3d_profile(Profile::kHigh)},
          {"bilateral", BilateralParameters{}},
          {"bilateral, radius 15", BilateralParameters{.radius = 15}},
          {"adaptive-bilateral", AdaptiveBilateralParameters{}},
          {"nlm", NlmParameters{}},
          {"nlm-bilateral", NlmBilateralParameters{}}};
}

std::vector<std::uint8_t> natural_picture(const std::string& file) {
  std::vector<std::uint8_t> picture;
  if (file.empty()) {
    for (int y = 0; y < kPictureSide; ++y) {
      for (int x = 0; x < kPictureSide; ++x) {
        const double value = 128 + 60 * std::sin(0.02 * x * (1 + 0.004 * y)) + 40 * std::sin(0.13 * y) +
                             6 * std::sin(0.9 * x + 0.31 * y) + 3 * std::sin(2.1 * x * std::sin(0.01 * y));
        picture.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
    }
    return picture;
  }
  std::ifstream in(file, std::ios::binary);
  picture.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  if (picture.size() != std::size_t{kPictureSide} * kPictureSide) {
    throw Error(file + " is not a picture of 512x512 bytes");
  }
  return picture;
}

// Copies the samples of 8-bit frames.
void copy(const Frame& from, const Frame& to) {
  for (int p = 0; p < from.format.plane_count(); ++p) {
    for (int y = 0; y < from.planes[p].height; ++y) {
      std::copy_n(from.planes[p].row<std::uint8_t>(y), from.planes[p].width,
                  to.planes[p].row<std::uint8_t>(y));
    }
  }
}

Frame make_frame(Engine& engine, const FrameFormat& format, const Content& content,
                 const std::vector<std::uint8_t>& natural) {
  const Frame frame = engine.allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    const auto samples = draw(content, plane.width, plane.height, p, natural, kPictureSide);
    for (int y = 0; y < plane.height; ++y) {
      std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(y) * plane.width, plane.width,
                  plane.row<std::uint8_t>(y));
    }
  }
  if (content.noisy) {
    copy(oracle::add_noise(frame, static_cast<double>(kSigma), 1), frame);
  }
  return frame;
}

double time_ms(Engine& engine, const Filter& filter, const Frame& frame, int repeats) {
  const auto denoiser = engine.make_denoiser(filter, {{kSigma, kSigma, kSigma}}, frame.format);
  const int in_flight = denoiser->concurrency();
  const auto stream = [&](int count) {
    for (int i = 0; i < count; ++i) {
      denoiser->send(frame);
      if (i >= in_flight) {
        denoiser->receive();
      }
    }
    for (int i = std::min(count, in_flight); i > 0; --i) {
      denoiser->receive();
    }
  };
  stream(in_flight + 1);
  if (engine.name() == "cpu") {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      const std::clock_t begin = std::clock();
      stream(1);
      least = std::min(least, 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
  }
  const auto begin = std::chrono::steady_clock::now();
  stream(repeats);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() /
         repeats;
}

void benchmark(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  const std::vector<std::uint8_t> natural = natural_picture(options.image);
  if (!options.simd.empty()) {
    limit_simd_level(options.simd);
  }
  const auto engine = engine_registry().open(options.engine, {.threads = 1});
  const FrameFormat format = oracle::yuv(options.width, options.height, 1, 1);
  const std::vector<Setting> all = settings();
  nlohmann::ordered_json json;
  json["engine"] = engine->description();
  json["size"] = std::to_string(options.width) + "x" + std::to_string(options.height);
  std::printf("%s, %s yuv420p, ms\n%-22s", engine->description().c_str(),
              json["size"].get<std::string>().c_str(), "");
  for (const Content& content : contents()) {
    std::printf(" %15s", content.name.c_str());
  }
  std::printf("   worst/natural\n");
  for (const Setting& setting : all) {
    if (!options.only.empty() && setting.name != options.only) {
      continue;
    }
    std::printf("%-22s", setting.name.c_str());
    nlohmann::ordered_json row;
    double first = 0;
    double worst = 0;
    for (const Content& content : contents()) {
      const double ms =
          time_ms(*engine, setting.filter, make_frame(*engine, format, content, natural), options.repeats);
      first = first == 0 ? ms : first;
      worst = std::max(worst, ms);
      row[content.name] = ms;
      std::printf(" %15.3f", ms);
      std::fflush(stdout);
    }
    std::printf(" %10.2f\n", worst / first);
    json["ms"][setting.name] = row;
  }
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) {
  try {
    limpid::benchmarks::benchmark(argc, argv);
    return 0;
  } catch (const limpid::UsageError& error) {
    std::fprintf(stderr, "content_benchmark: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "content_benchmark: %s\n", error.what());
    return 1;
  }
}
