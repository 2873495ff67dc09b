// SPDX-License-Identifier: MIT
// Times filters by picture content: no content may take much longer than a natural picture. On any engine,
// through send() and receive(). Without FFmpeg, so that it runs on a bare GPU machine:
//   content_benchmark [--engine cpu] [--image lena_512x512.gray] [--clip clip.y4m]... [--size 1920x1080]
//                     [--repeats 20] [--only fast] [--simd AVX2] [--json results.json]
// The image is 512x512 bytes; by default one is drawn. A real clip, of 8 bits and 4:2:0, is cut to the size,
// and repeated backward and forward with and without noise; all other contents are still pictures. --only
// vbm4d or recursive selects all profiles of these filters. The CPU engine uses the processor's best
// instruction set or that of --simd. Figures are milliseconds per frame: for the CPU engine, the least
// processor time on one thread, which is least affected by other work on the machine; for other engines,
// wall-clock time with as many frames in progress as they process at once.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/core/engine/contents.h"
#include "bench/core/engine/simd_level.h"
#include "bench/support/y4m_clip.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/frame.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr float kSigma = 10;
constexpr int kPictureSide = 512;

struct Options {
  std::string engine = "cpu";
  std::string image;
  std::vector<std::string> clips;
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
    } else if (name == "--clip") {
      options.clips.push_back(value);
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
          {"nlm-bilateral", NlmBilateralParameters{}},
          {"vbm4d fast", vbm4d_profile(Vbm4dProfile::kFast)},
          {"vbm4d np", vbm4d_profile(Vbm4dProfile::kNp)},
          {"vbm4d high", vbm4d_profile(Vbm4dProfile::kHigh)},
          {"recursive fast", recursive_profile(RecursiveProfile::kFast)},
          {"recursive np", recursive_profile(RecursiveProfile::kNp)}};
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

// Frames that are filtered again and again, backward and forward.
struct Footage {
  std::string name;
  std::vector<Frame> frames;

  const Frame& at(int i) const {
    const int count = static_cast<int>(frames.size());
    const int reduced = count == 1 ? 0 : i % (2 * count - 2);
    return frames[reduced < count ? reduced : 2 * count - 2 - reduced];
  }
};

// Names are those of files without folder and extension.
std::vector<Footage> clips_of(Engine& engine, const FrameFormat& format, const Options& options) {
  constexpr int kMostFrames = 24;
  std::vector<Footage> clips;
  for (const std::string& file : options.clips) {
    const std::string name = std::filesystem::path(file).stem().string();
    Footage clip{name, read_y4m(file, engine, format, kMostFrames)};
    Footage noisy{name + ", noisy", {}};
    for (const Frame& frame : clip.frames) {
      copy(oracle::add_noise(frame, static_cast<double>(kSigma), noisy.frames.size() + 1),
           noisy.frames.emplace_back(engine.allocate_frame(format)));
    }
    clips.push_back(std::move(clip));
    clips.push_back(std::move(noisy));
  }
  return clips;
}

double time_ms(Engine& engine, const Filter& filter, const Footage& footage, int repeats) {
  const auto denoiser =
      engine.make_denoiser(filter, {{kSigma, kSigma, kSigma}}, footage.frames.front().format);
  const int in_flight = denoiser->concurrency();
  int next = 0;
  const auto stream = [&](int count) {
    for (int i = 0; i < count; ++i) {
      denoiser->send(footage.at(next++));
      if (i >= in_flight) {
        denoiser->receive();
      }
    }
    for (int i = std::min(count, in_flight); i > 0; --i) {
      denoiser->receive();
    }
  };
  stream(in_flight + reach_of(filter).before + reach_of(filter).after + 1);
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

bool is_selected(const Options& options, const std::string& name) {
  return options.only.empty() || name == options.only || name.starts_with(options.only + " ");
}

// Prints a row of the table and returns its milliseconds by content.
nlohmann::ordered_json time_row(Engine& engine, const Setting& setting, const FrameFormat& format,
                                const std::vector<std::uint8_t>& natural, const std::vector<Footage>& clips,
                                int repeats) {
  std::printf("%-22s", setting.name.c_str());
  nlohmann::ordered_json row;
  double first = 0;
  double worst = 0;
  const auto time = [&](const Footage& footage) {
    const double ms = time_ms(engine, setting.filter, footage, repeats);
    first = first == 0 ? ms : first;
    worst = std::max(worst, ms);
    row[footage.name] = ms;
    std::printf(" %15.3f", ms);
    std::fflush(stdout);
  };
  for (const Content& content : contents()) {
    time({content.name, {make_frame(engine, format, content, natural)}});
  }
  for (const Footage& clip : clips) {
    time(clip);
  }
  std::printf(" %10.2f\n", worst / first);
  return row;
}

void benchmark(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  const std::vector<std::uint8_t> natural = natural_picture(options.image);
  if (!options.simd.empty()) {
    limit_simd_level(options.simd);
  }
  const auto engine = engine_registry().open(options.engine, {.threads = 1});
  const FrameFormat format = oracle::yuv(options.width, options.height, 1, 1);
  const std::vector<Footage> clips = clips_of(*engine, format, options);
  nlohmann::ordered_json json;
  json["engine"] = engine->description();
  json["size"] = std::to_string(options.width) + "x" + std::to_string(options.height);
  std::printf("%s, %s yuv420p, ms\n%-22s", engine->description().c_str(),
              json["size"].get<std::string>().c_str(), "");
  for (const Content& content : contents()) {
    std::printf(" %15s", content.name.c_str());
  }
  for (const Footage& clip : clips) {
    std::printf(" %15s", clip.name.c_str());
  }
  std::printf("   worst/natural\n");
  for (const Setting& setting : settings()) {
    if (is_selected(options, setting.name)) {
      json["ms"][setting.name] = time_row(*engine, setting, format, natural, clips, options.repeats);
    }
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
