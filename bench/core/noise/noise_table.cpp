// SPDX-License-Identifier: MIT
// Prints the errors of noise estimates for known noise that was added to clean pictures and clips, and the
// variation of the tracker's level.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bench/support/command.h"
#include "bench/support/images.h"
#include "core/base/error.h"
#include "core/engines.h"
#include "core/stream/noise_tracker.h"
#include "cpu/noise/noise.h"
#include "io/media/reader.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr double kSigmas[] = {2, 5, 10, 15, 20, 25, 30, 40, 50};
constexpr double kTrackedSigmas[] = {5, 20, 50};
constexpr int kTrackedFrames = 16;
constexpr double kAllowed = 0.15;  // from sigma 5 on

// Material with hardly any noise of its own. Names are compared by prefix.
constexpr const char* kStills[] = {"bm3d_", "cc_",       "gpu-bm3d_lena.", "gpu-bm3d_pentagon",
                                   "kodim", "mcmaster_", "set12_"};
constexpr const char* kClips[] = {"video/akiyo",        "video/baseball",     "video/basketballpass",
                                  "video/bus",          "video/dinner",       "video/foreman",
                                  "video/hall_monitor", "video/hypersmooth",  "video/mobile",
                                  "video/tennis",       "odd/parkjoy_480x270"};

struct Options {
  std::filesystem::path data = LIMPID_DATA_DIR;
  std::string only;
  int worst = 12;
  std::string json_file;
};

struct Result {
  std::string name;
  std::string plane;
  int bit_depth = 8;
  double sigma = 0;
  double estimate = 0;

  double error() const { return estimate / sigma - 1; }
};

// The files of `folder` whose names begin with `prefix`.
std::vector<std::filesystem::path> files_named(const std::filesystem::path& folder,
                                               const std::string& prefix) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(prefix)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::filesystem::path> clips(const std::filesystem::path& data) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path clip : kClips) {
    const auto found = files_named(data / clip.parent_path(), clip.filename().string());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::vector<std::filesystem::path> stills(const std::filesystem::path& data) {
  std::vector<std::filesystem::path> files;
  for (const char* const prefix : kStills) {
    for (const auto& file : files_named(data / "still", prefix)) {
      if (file.stem().string().find("_real") == std::string::npos) {
        files.push_back(file);
      }
    }
  }
  return files;
}

std::string plane_name(const FrameFormat& format, int plane) {
  switch (format.color_model) {
    case ColorModel::kGray:
      return "gray";
    case ColorModel::kYuv:
      return std::string(1, "YUV"[plane]);
    case ColorModel::kRgb:
      return std::string(1, "RGB"[plane]);
  }
  return {};
}

// The picture in 10-bit samples; `frame` has 8-bit ones.
Frame to_ten_bit(const Frame& frame) {
  FrameFormat format = frame.format;
  format.sample_type = SampleType::kUint16;
  format.bit_depth = 10;
  Frame result = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < result.planes[p].height; ++y) {
      const auto* const from = frame.planes[p].row<std::uint8_t>(y);
      std::transform(from, from + result.planes[p].width, result.planes[p].row<std::uint16_t>(y),
                     [](std::uint8_t sample) { return static_cast<std::uint16_t>(sample * 4); });
    }
  }
  return result;
}

class Table {
 public:
  explicit Table(const Options& options) : options_(options) {}

  void measure(const std::filesystem::path& file) {
    const std::string name = file.stem().string();
    if (name.find(options_.only) == std::string::npos) {
      return;
    }
    const Frame clean = read_picture(file);
    if (clean.format.bit_depth == 8) {
      measure(name, clean);
      measure(name, to_ten_bit(clean));
    }
  }

  // The tracker's level after some frames, and its change since the first frame.
  void track(const std::filesystem::path& file) {
    const std::string name = file.stem().string();
    if (name.find(options_.only) == std::string::npos) {
      return;
    }
    const std::shared_ptr<Engine> engine = engine_registry().open("cpu");
    for (const double sigma : kTrackedSigmas) {
      io::Reader reader(file.string());
      NoiseTracker tracker(*engine);
      NoiseModel level;
      NoiseModel least = {{1000, 1000, 1000}};
      NoiseModel greatest;
      int frames = 0;
      while (frames < kTrackedFrames) {
        const io::Reader::Item item = reader.read();
        if (std::holds_alternative<io::Reader::End>(item)) {
          break;
        }
        if (const Frame* frame = std::get_if<Frame>(&item)) {
          level = tracker.next(oracle::add_noise(*frame, sigma, ++frames));
          for (std::size_t p = 0; p < level.sigma.size(); ++p) {
            least.sigma[p] = std::min(least.sigma[p], level.sigma[p]);
            greatest.sigma[p] = std::max(greatest.sigma[p], level.sigma[p]);
          }
        }
      }
      for (int p = 0; p < reader.video().format.color_plane_count(); ++p) {
        std::printf("| %s | %s | %g | %+.1f | %.1f |\n", name.c_str(),
                    plane_name(reader.video().format, p).c_str(), sigma,
                    100 * (double{level.sigma[p]} / sigma - 1),
                    100 * double{greatest.sigma[p] - least.sigma[p]} / sigma);
      }
    }
  }

  void print() const {
    std::printf("Relative errors of the estimate in %%, noise clipped and rounded\n\n");
    std::printf("| plane | bits | sigma | planes | mean error | mean magnitude | lowest | highest |\n");
    std::printf("|---|---|---|---|---|---|---|---|\n");
    std::map<std::tuple<std::string, int, double>, std::vector<double>> errors;
    for (const Result& result : results_) {
      errors[{result.plane, result.bit_depth, result.sigma}].push_back(result.error());
      errors[{"all", result.bit_depth, result.sigma}].push_back(result.error());
    }
    for (const auto& [key, values] : errors) {
      double sum = 0;
      double magnitudes = 0;
      for (const double value : values) {
        sum += value;
        magnitudes += std::abs(value);
      }
      const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
      const auto count = static_cast<double>(values.size());
      std::printf("| %s | %d | %g | %zu | %+.1f | %.1f | %+.1f | %+.1f |\n", std::get<0>(key).c_str(),
                  std::get<1>(key), std::get<2>(key), values.size(), 100 * sum / count,
                  100 * magnitudes / count, 100 * *lowest, 100 * *highest);
    }
    print_worst();
  }

  void write_json() const {
    if (options_.json_file.empty()) {
      return;
    }
    nlohmann::json json;
    for (const Result& result : results_) {
      json.push_back({{"name", result.name},
                      {"plane", result.plane},
                      {"bit_depth", result.bit_depth},
                      {"sigma", result.sigma},
                      {"estimate", result.estimate}});
    }
    std::ofstream file(options_.json_file);
    file << json.dump(2) << '\n';
    if (!file.flush()) {
      throw Error(options_.json_file + " can't be written");
    }
  }

 private:
  void measure(const std::string& name, const Frame& clean) {
    for (const double sigma : kSigmas) {
      const NoiseModel estimate = cpu::estimate_noise(oracle::add_noise(clean, sigma, ++seed_));
      for (int p = 0; p < clean.format.color_plane_count(); ++p) {
        results_.push_back({name, plane_name(clean.format, p), clean.format.bit_depth, sigma,
                            static_cast<double>(estimate.sigma[p])});
      }
    }
  }

  void print_worst() const {
    std::vector<Result> required;
    double magnitudes = 0;
    std::size_t outside = 0;
    for (const Result& result : results_) {
      if (result.sigma >= 5) {
        required.push_back(result);
        magnitudes += std::abs(result.error());
        outside += std::abs(result.error()) > kAllowed ? 1 : 0;
      }
    }
    std::sort(required.begin(), required.end(),
              [](const Result& a, const Result& b) { return std::abs(a.error()) > std::abs(b.error()); });
    std::printf("\nFrom sigma 5 on: mean magnitude %.2f %%, %zu of %zu over %g %%; the worst:\n\n",
                100 * magnitudes / static_cast<double>(required.size()), outside, required.size(),
                100 * kAllowed);
    std::printf("| name | plane | bits | sigma | estimate | error |\n|---|---|---|---|---|---|\n");
    required.resize(std::min<std::size_t>(required.size(), options_.worst));
    for (const Result& result : required) {
      std::printf("| %s | %s | %d | %g | %.2f | %+.1f |\n", result.name.c_str(), result.plane.c_str(),
                  result.bit_depth, result.sigma, result.estimate, 100 * result.error());
    }
  }

  const Options& options_;
  std::vector<Result> results_;
  std::uint64_t seed_ = 0;
};

int run(int argc, char** argv) {
  app::CommandLine command("Errors of the noise estimate on clean pictures and clips with known noise added",
                           "noise_table");
  Options options;
  command.add_option("--data", options.data, "Folder of test data")->type_name("FOLDER");
  command.add_option("--only", options.only, "Files whose name contains this")->type_name("TEXT");
  command.add_option("--worst", options.worst, "How many of the worst to list [12]")
      ->type_name("N")
      ->not_negative();
  command.add_option("--json", options.json_file, "Write all estimates to a file too")->type_name("FILE");
  return run_command(command, argc, argv, [&] {
    Table table(options);
    for (const auto& file : stills(options.data)) {
      table.measure(file);
    }
    for (const auto& file : clips(options.data)) {
      table.measure(file);
    }
    table.print();
    table.write_json();
    std::printf(
        "\nThe tracker on clips: error of its level after %d frames, and range of its levels, in %%\n\n",
        kTrackedFrames);
    std::printf("| clip | plane | sigma | error | range |\n|---|---|---|---|---|\n");
    for (const auto& file : clips(options.data)) {
      table.track(file);
    }
  });
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) { return limpid::benchmarks::run(argc, argv); }
