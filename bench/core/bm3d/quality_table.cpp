// SPDX-License-Identifier: MIT
// Prints the PSNR gains of BM3D on the literature's images, beside the published figures of its authors'
// software.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/options/settings_options.h"
#include "bench/support/command.h"
#include "bench/support/images.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "cpu/noise/noise.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

// Zhang et al., "Beyond a Gaussian denoiser", TIP 2017, Table II: the authors' software, np up to sigma 40,
// its vn profile at 50.
struct PublishedImage {
  const char* file;
  double psnr[3];
};
constexpr float kSigmas[3] = {15, 25, 50};
constexpr PublishedImage kPublished[] = {
    {"set12_01_cameraman", {31.91, 29.45, 26.13}}, {"set12_03_peppers", {32.69, 30.16, 26.68}},
    {"set12_05_monarch", {31.85, 29.25, 25.82}},   {"set12_08_lena", {34.26, 32.07, 29.05}},
    {"set12_10_boat", {32.13, 29.90, 26.78}},      {"set12_11_man", {31.92, 29.61, 26.81}},
};
constexpr float kColorSigma = 25;

struct Options {
  std::filesystem::path data = LIMPID_DATA_DIR;
  std::string engine = "cpu";
  int threads = 0;
  int seeds = 1;
  std::vector<std::string> only;
  bool no_gray = false;
  bool no_color = false;
  bool no_auto = false;
  std::string json_file;
  app::FilterOptions filter;

  bool wants(const std::string& name) const {
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& part) {
             return name.find(part) != std::string::npos;
           });
  }
};

NoiseModel equal_noise(float sigma) { return {{sigma, sigma, sigma}}; }

class Table {
 public:
  explicit Table(const Options& options)
      : options_(options), engine_(engine_registry().open(options.engine, {.threads = options.threads})) {
    json_["engine"] = engine_->description();
  }

  void print_gray() {
    std::printf("Grayscale, unclipped noise, PSNR in dB; mean over %d seed(s)\n\n", options_.seeds);
    std::printf("| sigma | image | noisy | limpid | published | difference |\n|---|---|---|---|---|---|\n");
    for (int s = 0; s < 3; ++s) {
      double sum = 0;
      double published_sum = 0;
      int count = 0;
      for (const PublishedImage& image : kPublished) {
        if (!options_.wants(image.file)) {
          continue;
        }
        const Frame clean = to_float(read_picture(still(image.file, ".png")));
        double before = 0;
        double after = 0;
        for (int seed = 0; seed < options_.seeds; ++seed) {
          const Frame noisy = oracle::add_noise(clean, static_cast<double>(kSigmas[s]), seed + 1);
          before += psnr(clean, noisy) / options_.seeds;
          after += psnr(clean, denoise(noisy, equal_noise(kSigmas[s]))) / options_.seeds;
        }
        std::printf("| %.0f | %s | %.2f | %.2f | %.2f | %+.2f |\n", static_cast<double>(kSigmas[s]),
                    image.file, before, after, image.psnr[s], after - image.psnr[s]);
        std::fflush(stdout);
        json_["gray"].push_back({{"sigma", kSigmas[s]},
                                 {"image", image.file},
                                 {"noisy", before},
                                 {"psnr", after},
                                 {"published", image.psnr[s]}});
        sum += after;
        published_sum += image.psnr[s];
        ++count;
      }
      if (count > 0) {
        std::printf("| %.0f | **mean** | | %.3f | %.3f | %+.3f |\n", static_cast<double>(kSigmas[s]),
                    sum / count, published_sum / count, (sum - published_sum) / count);
        json_["gray_mean"].push_back(
            {{"sigma", kSigmas[s]}, {"psnr", sum / count}, {"published", published_sum / count}});
      }
    }
    std::printf("\n");
  }

  void print_color() {
    std::printf("RGB, unclipped noise of sigma %.0f in each channel, PSNR in dB over all channels\n\n",
                static_cast<double>(kColorSigma));
    std::printf("| image | noisy | each channel by itself | color | gain |\n|---|---|---|---|---|\n");
    double gain = 0;
    double least = 1e9;
    int count = 0;
    for (const std::filesystem::path& file : color_files()) {
      const std::string name = file.stem().string();
      const Frame clean = to_float(read_picture(file));
      const Frame noisy = oracle::add_noise(clean, static_cast<double>(kColorSigma), 1);
      const double together = psnr(clean, denoise(noisy, equal_noise(kColorSigma)));
      Frame channels = noisy;
      std::vector<Frame> results;
      for (int plane = 0; plane < 3; ++plane) {
        results.push_back(denoise(plane_as_gray(noisy, plane), equal_noise(kColorSigma)));
        channels.planes[plane] = results.back().planes[0];
      }
      const double apart = psnr(clean, channels);
      std::printf("| %s | %.2f | %.2f | %.2f | %+.2f |\n", name.c_str(), psnr(clean, noisy), apart, together,
                  together - apart);
      std::fflush(stdout);
      json_["color"].push_back(
          {{"sigma", kColorSigma}, {"image", name}, {"apart", apart}, {"together", together}});
      gain += together - apart;
      least = std::min(least, together - apart);
      ++count;
    }
    if (count > 0) {
      std::printf("| **mean** | | | | %+.2f (least %+.2f) |\n\n", gain / count, least);
    }
  }

  // The loss from estimating sigma: 8-bit pictures, noise rounded and clipped as in a file.
  void print_auto() {
    std::printf("8-bit pictures, PSNR in dB with the true sigma and with the estimated one\n\n");
    std::printf("| sigma | image | estimate | true sigma | estimated | loss |\n|---|---|---|---|---|---|\n");
    std::vector<std::filesystem::path> files = color_files();
    for (const PublishedImage& image : kPublished) {
      if (options_.wants(image.file)) {
        files.push_back(still(image.file, ".png"));
      }
    }
    for (const float sigma : {5.0F, 15.0F, 25.0F, 50.0F}) {
      double loss = 0;
      for (const std::filesystem::path& file : files) {
        const std::string name = file.stem().string();
        const Frame clean = read_picture(file);
        const Frame noisy = oracle::add_noise(clean, static_cast<double>(sigma), 1);
        const NoiseModel estimate = cpu::estimate_noise(noisy);
        const double with_true = psnr(clean, denoise(noisy, equal_noise(sigma)));
        const double with_estimate = psnr(clean, denoise(noisy, estimate));
        std::printf("| %.0f | %s | %.2f | %.2f | %.2f | %+.2f |\n", static_cast<double>(sigma), name.c_str(),
                    static_cast<double>(estimate.sigma[0]), with_true, with_estimate,
                    with_true - with_estimate);
        std::fflush(stdout);
        json_["auto"].push_back({{"sigma", sigma},
                                 {"image", name},
                                 {"estimate", estimate.sigma},
                                 {"true", with_true},
                                 {"estimated", with_estimate}});
        loss += (with_true - with_estimate) / static_cast<double>(files.size());
      }
      std::printf("| %.0f | **mean** | | | | %+.3f |\n", static_cast<double>(sigma), loss);
    }
    std::printf("\n");
  }

  void write_json() const {
    if (options_.json_file.empty()) {
      return;
    }
    std::ofstream file(options_.json_file);
    file << json_.dump(2) << '\n';
    if (!file.flush()) {
      throw Error(options_.json_file + " can't be written");
    }
  }

 private:
  std::filesystem::path still(const std::string& name, const char* extension) const {
    return options_.data / "still" / (name + extension);
  }

  std::vector<std::filesystem::path> color_files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(options_.data / "still")) {
      const std::string name = entry.path().stem().string();
      const bool is_color =
          name.starts_with("kodim") || name.starts_with("mcmaster_") || name.starts_with("bm3d_image_");
      if (is_color && options_.wants(name)) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  Frame denoise(const Frame& noisy, const NoiseModel& noise) const {
    const auto denoiser = engine_->make_denoiser(options_.filter.filter(), noise, noisy.format);
    denoiser->send(noisy);
    denoiser->flush();
    return denoiser->receive().value();
  }

  const Options& options_;
  std::shared_ptr<Engine> engine_;
  nlohmann::json json_;
};

int run(int argc, char** argv) {
  app::CommandLine command("Quality of BM3D on the literature's images, beside the published figures",
                           "bm3d_quality");
  Options options;
  command.add_option("--data", options.data, "Folder of test data")->type_name("FOLDER");
  command.add_option("--engine", options.engine, "Engine to measure [cpu]")->type_name("NAME");
  command.add_option("--threads", options.threads, "Threads of the CPU engine [all]")->type_name("N");
  command.add_option("--seeds", options.seeds, "Noise seeds to average over in the gray table [1]")
      ->type_name("N")
      ->positive();
  command.add_option("--only", options.only, "Images whose name contains any of these")->type_name("TEXT");
  command.add_flag("--no-gray", options.no_gray, "Leave out the gray table");
  command.add_flag("--no-color", options.no_color, "Leave out the color table");
  command.add_flag("--no-auto", options.no_auto, "Leave out the table of what estimating sigma loses");
  command.add_option("--json", options.json_file, "Write the figures to a file too")->type_name("FILE");
  options.filter.add_to(command);
  return run_command(command, argc, argv, [&] {
    Table table(options);
    if (!options.no_gray) {
      table.print_gray();
    }
    if (!options.no_color) {
      table.print_color();
    }
    if (!options.no_auto) {
      table.print_auto();
    }
    table.write_json();
  });
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) { return limpid::benchmarks::run(argc, argv); }
