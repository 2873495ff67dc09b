// SPDX-License-Identifier: MIT
// Renders the project's own test scene, clean and noisy, as YUV4MPEG2 files.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "samples/clip.h"

namespace limpid::samples {
namespace {

// A y4m file, or standard output for "-"; writes nothing for an empty name.
class Output {
 public:
  Output(std::string name, const Clip& clip) : name_(std::move(name)), clip_(clip) {
    if (name_.empty()) {
      return;
    }
    if (name_ != "-") {
      file_.open(name_, std::ios::binary | std::ios::trunc);
      if (!file_) {
        throw std::runtime_error(name_ + ": cannot be opened for writing");
      }
    }
    write_y4m_header(stream(), clip_);
  }

  bool wanted() const { return !name_.empty(); }

  void write(const Picture& picture) {
    write_y4m_frame(stream(), picture, clip_);
    check();
  }

  void finish() {
    if (wanted()) {
      stream().flush();
      check();
    }
  }

 private:
  std::ostream& stream() { return name_ == "-" ? std::cout : file_; }

  void check() {
    if (!stream()) {
      throw std::runtime_error(name_ + ": writing failed (is the disk full?)");
    }
  }

  std::string name_;
  Clip clip_;
  std::ofstream file_;
};

int run(int argc, char** argv) {
  Clip clip;
  std::string size = "480x270";
  std::string format = "420";
  std::string clean_name;
  std::string noisy_name;
  std::optional<double> chroma_sigma;

  CLI::App app("Renders two moving scenes with a cut half-way, clean and with Gaussian noise, as y4m files");
  app.option_defaults()->always_capture_default();
  const CLI::Validator size_format(
      [&clip](const std::string& text) -> std::string {
        const std::size_t cross = text.find('x');
        const bool split = cross != std::string::npos &&
                           CLI::detail::lexical_cast(text.substr(0, cross), clip.width) &&
                           CLI::detail::lexical_cast(text.substr(cross + 1), clip.height);
        const bool legal =
            split && std::min(clip.width, clip.height) >= 1 && std::max(clip.width, clip.height) <= 16384;
        return legal ? "" : text + " is not a size such as 640x360 (1 to 16384)";
      },
      "WxH");
  const CLI::Validator deviation(
      [](const std::string& text) -> std::string {
        double value = 0;
        const bool legal = CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 255;
        return legal ? "" : text + " is not a deviation from 0 to 255";
      },
      "0 to 255");
  app.add_option("--size", size, "Width and height")->check(size_format);
  app.add_option("--frames", clip.frames, "Number of frames")->check(CLI::Range(1, 100000));
  app.add_option("--fps", clip.frames_per_second, "Frames per second")->check(CLI::Range(1, 1000));
  app.add_option("--format", format, "Planes: gray, 420, 422 or 444")
      ->check(CLI::IsMember({"gray", "420", "422", "444"}));
  app.add_option("--depth", clip.depth, "Bits of a sample")->check(CLI::IsMember({8, 10}));
  app.add_option("--sigma", clip.sigma, "Deviation of the noise in luma, 8-bit code values")
      ->check(deviation);
  app.add_option("--chroma-sigma", chroma_sigma, "Deviation of the noise in chroma [as luma]")
      ->check(deviation);
  app.add_option("--seed", clip.seed, "Seed of the noise");
  app.add_option("--clean", clean_name, "Where to write the ground truth (y4m; - is standard output)");
  app.add_option("--noisy", noisy_name, "Where to write the noisy clip (y4m; - is standard output)");
  app.callback([&] {
    if (clean_name.empty() && noisy_name.empty()) {
      throw CLI::RequiredError("--clean or --noisy");
    }
    if (clean_name == noisy_name) {
      throw CLI::ValidationError("--clean and --noisy must be different files");
    }
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  clip.chroma =
      std::map<std::string, Chroma>{
          {"gray", Chroma::kGray}, {"420", Chroma::k420}, {"422", Chroma::k422}, {"444", Chroma::k444}}
          .at(format);
  clip.chroma_sigma = chroma_sigma.value_or(clip.sigma);

  Output clean(clean_name, clip);
  Output noisy(noisy_name, clip);
  for (int index = 0; index < clip.frames; ++index) {
    const Picture picture = render(clip, index);
    if (clean.wanted()) {
      clean.write(picture);
    }
    if (noisy.wanted()) {
      noisy.write(add_noise(picture, clip, index));
    }
  }
  clean.finish();
  noisy.finish();
  return 0;
}

}  // namespace
}  // namespace limpid::samples

int main(int argc, char** argv) {
  try {
    return limpid::samples::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "limpid-samples: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
