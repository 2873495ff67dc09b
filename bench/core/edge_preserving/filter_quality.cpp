// SPDX-License-Identifier: MIT
// Prints the gains of filters and settings on still pictures: the table from which the defaults of
// core/edge_preserving/edge_preserving_parameters.cpp were chosen, and which shows the best filter for a
// noise level and time.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "app/options/settings_options.h"
#include "bench/support/command.h"
#include "bench/support/images.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/metrics.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

struct Options {
  std::filesystem::path data = LIMPID_DATA_DIR;
  std::vector<std::string> images = {"set12_01_cameraman",
                                     "set12_03_peppers",
                                     "set12_05_monarch",
                                     "set12_08_lena",
                                     "set12_10_boat",
                                     "set12_11_man",
                                     "kodim01",
                                     "kodim05",
                                     "kodim08",
                                     "kodim13",
                                     "kodim19",
                                     "kodim23"};
  std::vector<std::string> sigmas = {"5", "10", "15", "25", "35", "50"};
  std::vector<std::string> filters;
  std::string engine = "cpu";
  int threads = 0;
};

// Converts to gray by the green plane.
Frame read_gray(const std::filesystem::path& file) {
  const Frame frame = read_picture(file);
  return plane_as_gray(frame, frame.format.color_model == ColorModel::kRgb ? 1 : 0);
}

struct Gain {
  double psnr = 0;
  double ssim = 0;
  double seconds = 0;
  double megapixels = 0;
};

void run(const Options& options) {
  const auto engine = engine_registry().open(options.engine, {.threads = options.threads});
  std::vector<Frame> pictures;
  for (const std::string& name : options.images) {
    pictures.push_back(read_gray(options.data / "still" / (name + ".png")));
  }
  std::printf("filter,sigma,psnr_db,ssim,ms_per_megapixel\n");
  for (const std::string& level : options.sigmas) {
    const float sigma = std::stof(level);
    std::vector<Frame> noisy;
    noisy.reserve(pictures.size());
    for (const Frame& picture : pictures) {
      noisy.push_back(oracle::add_noise(picture, static_cast<double>(sigma), noisy.size() + 1));
    }
    const auto print = [&](const std::string& name, const Gain& gain) {
      const auto count = static_cast<double>(pictures.size());
      std::printf("%s,%g,%.3f,%.4f,%.1f\n", name.c_str(), static_cast<double>(sigma), gain.psnr / count,
                  gain.ssim / count, 1000 * gain.seconds / gain.megapixels);
      std::fflush(stdout);
    };
    const auto add = [&](Gain& gain, std::size_t i, const Frame& result) {
      const PlaneQuality quality = measure(pictures[i], result).front();
      gain.psnr += quality.psnr;
      gain.ssim += quality.ssim;
      gain.megapixels += result.format.width * result.format.height / 1e6;
    };
    Gain before;
    for (std::size_t i = 0; i < noisy.size(); ++i) {
      add(before, i, noisy[i]);
    }
    print("noisy", before);
    for (const std::string& text : options.filters) {
      const app::FilterText filter(text);
      const NoiseModel noise{{sigma}};
      Gain gain;
      for (std::size_t i = 0; i < noisy.size(); ++i) {
        const auto denoiser = engine->make_denoiser(filter.filter(), noise, noisy[i].format);
        const auto start = std::chrono::steady_clock::now();
        denoiser->send(noisy[i]);
        denoiser->flush();
        const Frame result = denoiser->receive().value();
        gain.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        add(gain, i, result);
      }
      print(text, gain);
    }
  }
}

int run(int argc, char** argv) {
  app::CommandLine command("PSNR, SSIM and time of filters on pictures with 8-bit Gaussian noise, as CSV",
                           "filter_quality");
  Options options;
  command.add_option("FILTER", options.filters, "As limpid compare takes them: nlm, bilateral:radius=5")
      ->required();
  command.add_option("--data", options.data, "Folder of test data")->type_name("FOLDER");
  command.add_option("--image", options.images, "Picture in its folder still; may be repeated")
      ->type_name("NAME");
  command.add_option("--sigma", options.sigmas, "Noise level; may be repeated [5, 10, 15, 25, 35, 50]")
      ->type_name("X");
  command.add_option("--engine", options.engine, "Engine to measure [cpu]")->type_name("NAME");
  command.add_option("--threads", options.threads, "Threads of the CPU engine [all]")->type_name("N");
  return run_command(command, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) { return limpid::benchmarks::run(argc, argv); }
