// SPDX-License-Identifier: MIT
// Measures the cases of noise_zoo for fitting the noise decision: prints the features of each channel, and
// the PSNR of the filter's result at several noise levels, as a line of JSON for each case.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/support/command.h"
#include "core/base/error.h"
#include "core/engines.h"
#include "core/frame/frame.h"
#include "core/noise/noise_features.h"
#include "core/noise/scene.h"
#include "core/stream/stream.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "cpu/runtime/convert.h"
#include "io/media/reader.h"

namespace limpid::benchmarks {
namespace {

constexpr std::array<double, 5> kFactors = {0.4, 0.7, 1, 1.35, 2};
constexpr std::array<double, 3> kCleanLevels = {0.7, 2, 5.6};
constexpr std::array<int, 3> kStages = {1, 3, 6};  // numbers of frames that are measured

using Json = nlohmann::ordered_json;
using Planes = std::array<std::vector<float>, 3>;

struct Options {
  std::vector<std::string> cases;
  std::string profile = "np";
  int frames = kStages.back();
};

std::vector<Frame> read_frames(const std::filesystem::path& file, int count) {
  io::Reader reader(file.string());
  std::vector<Frame> frames;
  for (;;) {
    io::Reader::Item item = reader.read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      return frames;
    }
    if (auto* const frame = std::get_if<Frame>(&item); frame != nullptr && std::ssize(frames) < count) {
      frames.push_back(std::move(*frame));
    }
  }
}

Planes planes_of(const Frame& frame) {
  Planes planes;
  for (int p = 0; p < frame.format.color_plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    planes[p].resize(static_cast<std::size_t>(plane.width) * plane.height);
    for (int y = 0; y < plane.height; ++y) {
      load_code_values(plane, frame.format, 0, y, plane.width,
                       planes[p].data() + std::ptrdiff_t{y} * plane.width);
    }
  }
  return planes;
}

bool is_rgb(const Frame& frame) { return frame.format.color_model == ColorModel::kRgb; }

// Mean squared errors of the planes; of RGB, one for all. With `opponent`, of the opponent channels.
std::array<double, 3> errors_of(const std::vector<Frame>& truth, const std::vector<Frame>& other,
                                double below, bool opponent = false) {
  std::array<double, 3> sums{};
  std::array<double, 3> counts{};
  for (std::size_t f = 0; f < std::min(truth.size(), other.size()); ++f) {
    Planes a = planes_of(truth[f]);
    Planes b = planes_of(other[f]);
    const Planes limits = a;
    if (opponent) {
      cpu::rgb_to_opponent_row(a[0].data(), a[1].data(), a[2].data(), static_cast<int>(a[0].size()));
      cpu::rgb_to_opponent_row(b[0].data(), b[1].data(), b[2].data(), static_cast<int>(b[0].size()));
    }
    for (std::size_t p = 0; p < 3; ++p) {
      const std::size_t to = is_rgb(truth[f]) && !opponent ? 0 : p;
      for (std::size_t i = 0; i < a[p].size(); ++i) {
        if (double{limits[p][i]} <= below) {
          sums[to] += std::pow(double{a[p][i]} - double{b[p][i]}, 2);
          ++counts[to];
        }
      }
    }
  }
  for (std::size_t p = 0; p < 3; ++p) {
    sums[p] = counts[p] > 0 ? sums[p] / counts[p] : 0;
  }
  return sums;
}

struct Measured {
  noise::NoiseStatistics statistics;
  std::array<double, 3> white{};
};

noise::ChannelKind kind_of(const noise::NoiseStatistics& statistics, std::size_t c) {
  return c == 0           ? noise::ChannelKind::kLuma
         : statistics.rgb ? noise::ChannelKind::kOpponent
                          : noise::ChannelKind::kChroma;
}

class CaseMeasurement {
 public:
  CaseMeasurement(const std::filesystem::path& folder, const std::string& profile, int frames)
      : folder_(folder), profile_(profile), engine_(engine_registry().open("cpu", {.threads = 1})) {
    std::ifstream file(folder / "case.json");
    about_ = Json::parse(file);
    const bool clean =
        about_.contains("clean") ? about_["clean"].get<bool>() : about_["truth"] == about_["noisy"];
    truth_ = read_frames(folder / about_.value("truth", "truth.y4m"), frames);
    noisy_ = clean ? truth_ : read_frames(folder / about_.value("noisy", "noisy.y4m"), frames);
    clean_ = clean;
    below_ = about_.contains("below") ? about_["below"].get<double>() * 255 : 1e30;
  }

  Json measure() {
    Json result = {{"name", (folder_ / "").parent_path().filename().string()},
                   {"clean", clean_},
                   {"rgb", is_rgb(truth_[0])}};
    measure_features(result);
    result["input"] = errors_of(truth_, noisy_, below_);
    std::array<double, 3> levels = errors_of(truth_, noisy_, below_, is_rgb(truth_[0]));
    for (double& level : levels) {
      level = std::sqrt(level);
    }
    Json runs = Json::array();
    const auto run = [&](const std::array<double, 3>& at) {
      runs.push_back({{"levels", at}, {"errors", errors_of(truth_, filtered(at), below_)}});
    };
    if (clean_) {
      for (const double level : kCleanLevels) {
        run({level, level, level});
      }
    } else {
      for (const double factor : kFactors) {
        run({levels[0] * factor, levels[1] * factor, levels[2] * factor});
      }
    }
    result["runs"] = runs;
    return result;
  }

 private:
  void measure_features(Json& result) {
    Measured sum;
    BrightnessHistogram brightness{};
    Json stages = Json::array();
    const noise::SceneRange range = noise::scene_range(noisy_[0]);
    const Region picture = noise::region_inside_bars(noisy_[0]);
    sum.statistics.patches = noise::patch_deviations(part_of(noisy_[0], picture), range);
    in_blocks_ = sum.statistics.patches && sum.statistics.patches->grid > noise::kGridOfCodec;
    std::optional<Frame> before;
    const int frames = static_cast<int>(std::min<std::size_t>(noisy_.size(), kStages.back()));
    for (int f = 0; f < frames; ++f) {
      const Frame frame = part_of(noisy_[f], picture);
      const BrightnessHistogram own = engine_->brightness_histogram(frame);
      const bool cut = f > 0 && is_cut(brightness, own);
      brightness = own;
      if (!cut) {
        const NoiseModel white = engine_->estimate_noise(frame);
        for (std::size_t p = 0; p < 3; ++p) {
          sum.white[p] += std::pow(double{white.sigma[p]}, 2);
        }
        sum.statistics.add(engine_->measure_noise(frame, before ? &*before : nullptr, range));
        before = frame;
      }
      const bool last = f + 1 == frames || cut;
      if (last || std::find(kStages.begin(), kStages.end(), f + 1) != kStages.end()) {
        stages.push_back(features_at(sum, cut ? f : f + 1));
      }
      if (last) {
        break;
      }
    }
    result["stages"] = stages;
  }

  Json features_at(const Measured& measured, int frames) {
    Json stage = {{"frames", frames}, {"channels", Json::array()}};
    const noise::NoiseStatistics& statistics = measured.statistics;
    double luma_of_white = 0;
    for (const double white : measured.white) {
      luma_of_white += white / frames / 9;
    }
    for (std::size_t c = 0; c < 3 && !statistics.channels[c].empty(); ++c) {
      channels_[c] =
          noise::channel_noise(statistics.channels[c], kind_of(statistics, c), double{statistics.step});
      const double white = !statistics.rgb ? std::sqrt(measured.white[c] / frames)
                           : c == 0        ? std::sqrt(luma_of_white)
                                           : 0;
      const noise::Features features =
          noise::features_of(statistics.channels[c], *channels_[c], white,
                             c == 0 && statistics.patches ? &*statistics.patches : nullptr);
      stage["channels"].push_back({{"base", channels_[c]->base}, {"features", features}});
    }
    return stage;
  }

  // The result of the filter at these levels.
  std::vector<Frame> filtered(const std::array<double, 3>& levels) {
    NoiseModel model;
    for (std::size_t c = 0; c < 3 && channels_[c]; ++c) {
      const PlaneNoise plane = noise::shaped_noise(*channels_[c], std::min(levels[c], 200.0), in_blocks_);
      if (is_rgb(truth_[0])) {
        model.opponent[c] = plane;
      } else {
        model.sigma[c] = plane.sigma;
        model.shape[c] = plane.shape;
      }
    }
    if (is_rgb(truth_[0])) {
      const auto variance = [&](std::size_t c) { return model.opponent[c].sigma * model.opponent[c].sigma; };
      const float red = std::sqrt(variance(0) + variance(1) + variance(2) * 4 / 9);
      model.sigma = {red, std::sqrt(variance(0) + variance(2) * 16 / 9), red};
    }
    NoiseSettings settings;
    settings.noise = NoiseProfile{model, std::nullopt};
    const Vbm4dProfile profile = profile_ == "fast" ? Vbm4dProfile::kFast : Vbm4dProfile::kNp;
    DenoisingStream stream(engine_, vbm4d_profile(profile), settings, FieldChoice::kAuto, noisy_[0].format);
    std::vector<Frame> results;
    const auto receive = [&] {
      while (std::optional<Frame> frame = stream.receive()) {
        results.push_back(std::move(*frame));
      }
    };
    for (const Frame& frame : noisy_) {
      stream.send(frame);
      receive();
    }
    stream.flush();
    receive();
    return results;
  }

  std::filesystem::path folder_;
  std::string profile_;
  std::shared_ptr<Engine> engine_;
  Json about_;
  std::vector<Frame> truth_;
  std::vector<Frame> noisy_;
  bool clean_ = false;
  double below_ = 0;
  bool in_blocks_ = false;  // NoiseStatistics::patches show a codec
  std::array<std::optional<noise::ChannelNoise>, 3> channels_;
};

int run(int argc, char** argv) {
  Options options;
  app::CommandLine command("Measures cases of noise_zoo for fitting the noise decision", "noise_cases");
  command.add_option("CASE", options.cases, "Folders of cases")->required();
  command.add_option("--profile", options.profile, "Profile of V-BM4D [np]");
  command.add_option("--frames", options.frames, "Number of frames that are measured, 1 to 6 [6]");
  return run_command(command, argc, argv, [&] {
    for (const std::filesystem::path folder : options.cases) {
      try {
        std::printf("%s\n",
                    CaseMeasurement(folder, options.profile, options.frames).measure().dump().c_str());
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", folder.c_str(), e.what());
      }
      std::fflush(stdout);
    }
  });
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) { return limpid::benchmarks::run(argc, argv); }
