// SPDX-License-Identifier: MIT
// Renders the project's own test scene, clean and noisy, as YUV4MPEG2 files.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "app/options/command_line.h"
#include "core/base/error.h"
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

// Sets the clip's size from "WxH".
void set_size(const std::string& text, Clip& clip) {
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, clip.width);
  const bool split = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
  if (!split || std::from_chars(width.ptr + 1, end, clip.height).ptr != end ||
      std::min(clip.width, clip.height) < 1 || std::max(clip.width, clip.height) > 16384) {
    throw UsageError("--size: '" + text + "' is not a size such as 640x360 (1 to 16384)");
  }
}

int run(int argc, char** argv) {
  Clip clip;
  std::string size = "480x270";
  std::string format = "420";
  std::string clean_name;
  std::string noisy_name;
  double chroma_sigma = -1;
  std::int64_t seed = 1;

  app::CommandLine command(
      "Renders two moving scenes with a cut half-way, clean and with Gaussian noise, as y4m files",
      "limpid-samples");
  command.add_option("--size", size, "Width and height [480x270]")->type_name("WxH");
  command.add_option("--frames", clip.frames, "Number of frames [30]")->type_name("N")->in_range(1, 100000);
  command.add_option("--fps", clip.frames_per_second, "Frames per second [25]")
      ->type_name("N")
      ->in_range(1, 1000);
  command.add_option("--format", format, "Planes: gray, 420, 422 or 444 [420]")
      ->type_name("NAME")
      ->one_of({"gray", "420", "422", "444"});
  command.add_option("--depth", clip.depth, "Bits of a sample: 8 or 10 [8]")
      ->type_name("N")
      ->one_of({"8", "10"});
  command.add_option("--sigma", clip.sigma, "Noise level of luma, in 8-bit code values [20]")
      ->type_name("X")
      ->in_range(0.0, 255.0);
  command.add_option("--chroma-sigma", chroma_sigma, "Noise level of chroma [as luma]")
      ->type_name("X")
      ->in_range(0.0, 255.0);
  command.add_option("--seed", seed, "Seed of the noise [1]")->type_name("N")->not_negative();
  command.add_option("--clean", clean_name, "File for the clean clip, as y4m, or - for standard output")
      ->type_name("FILE");
  command.add_option("--noisy", noisy_name, "File for the noisy clip, as y4m, or - for standard output")
      ->type_name("FILE");
  if (const auto text = command.parse({argv + 1, argv + argc})) {
    std::cout << *text;
    return 0;
  }
  set_size(size, clip);
  if (clean_name == noisy_name) {
    throw UsageError(clean_name.empty() ? "--clean or --noisy is missing"
                                        : "--clean and --noisy must be different files");
  }
  clip.chroma =
      std::map<std::string, Chroma>{
          {"gray", Chroma::kGray}, {"420", Chroma::k420}, {"422", Chroma::k422}, {"444", Chroma::k444}}
          .at(format);
  clip.chroma_sigma = chroma_sigma < 0 ? clip.sigma : chroma_sigma;
  clip.seed = static_cast<std::uint64_t>(seed);

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
  } catch (const limpid::UsageError& error) {
    std::cerr << "limpid-samples: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "limpid-samples: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
