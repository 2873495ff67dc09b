// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/measuring.h"
#include "app/console/json_report.h"
#include "app/console/process.h"
#include "app/options/media_options.h"
#include "core/base/error.h"
#include "core/frame/frame.h"
#include "io/media/filter_chain.h"
#include "io/media/reader.h"

namespace limpid::app {
namespace {

struct MeasureOptions {
  std::string reference;
  std::string test;
  bool local_only = false;
  bool json = false;
};

class TextReport {
 public:
  void begin(const std::vector<std::string_view>& planes) {
    planes_ = planes;
    std::string line = fmt::format("{:>8}", "frame");
    for (const std::string_view plane : planes) {
      line += fmt::format("  {:>8}", fmt::format("PSNR {}", plane));
    }
    for (const std::string_view plane : planes) {
      line += fmt::format("  {:>7}", fmt::format("SSIM {}", plane));
    }
    std::cout << line << '\n';
  }
  void add(std::int64_t frame, const Qualities& planes) { print(std::to_string(frame), planes); }
  void end(const Qualities& average, const std::vector<Flicker>& flicker) {
    print("average", average);
    std::string line;
    for (std::size_t i = 0; i < flicker.size(); ++i) {
      line += fmt::format("{} {} {:.3f} ({:.2f} of the errors)", i == 0 ? "" : ",", planes_[i],
                          flicker[i].deviation(), flicker[i].share());
    }
    if (!line.empty()) {
      std::cout << "flicker where nothing moves, code values:" << line << '\n';
    }
  }

 private:
  static void print(const std::string& name, const Qualities& planes) {
    std::string line = fmt::format("{:>8}", name);
    for (const PlaneQuality& plane : planes) {
      line += fmt::format("  {:>8.3f}", plane.psnr);
    }
    for (const PlaneQuality& plane : planes) {
      line += fmt::format("  {:>7.5f}", plane.ssim);
    }
    std::cout << line << '\n';
  }

  std::vector<std::string_view> planes_;
};

class JsonReport {
 public:
  explicit JsonReport(const MeasureOptions& options) {
    json_["reference"] = options.reference;
    json_["test"] = options.test;
    json_["frames"] = nlohmann::json::array();
  }
  void begin(const std::vector<std::string_view>& planes) { planes_ = planes; }
  void add(std::int64_t frame, const Qualities& planes) {
    nlohmann::ordered_json entry = to_json(planes);
    entry["frame"] = frame;
    json_["frames"].push_back(entry);
  }
  void end(const Qualities& average, const std::vector<Flicker>& flicker) {
    json_["average"] = to_json(average);
    for (std::size_t i = 0; i < flicker.size(); ++i) {
      json_["flicker"][std::string(planes_[i])] = {{"deviation", flicker[i].deviation()},
                                                   {"share_of_errors", flicker[i].share()},
                                                   {"samples", flicker[i].samples}};
    }
    print_report(json_);
  }

 private:
  // JSON has no infinity: the PSNR of equal planes is null.
  nlohmann::ordered_json to_json(const Qualities& planes) const {
    nlohmann::ordered_json json;
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const std::string name(planes_[i]);
      json["psnr"][name] = std::isfinite(planes[i].psnr) ? nlohmann::json(planes[i].psnr) : nlohmann::json();
      json["ssim"][name] = planes[i].ssim;
      json["mse"][name] = planes[i].mse;
    }
    return json;
  }

  nlohmann::ordered_json json_;
  std::vector<std::string_view> planes_;
};

template <typename Report>
int compare(const MeasureOptions& options, Report report) {
  const InterruptWatch interrupts(Interrupts::kEnd);
  io::Reader reference = open_video(options.reference, options.local_only);
  io::ReaderOptions alike;
  alike.white = reference.video().white;
  io::Reader test = open_video(options.test, options.local_only, alike);
  AverageQuality average;
  std::vector<Flicker> flicker;  // none of a single frame
  std::optional<Frame> reference_before;
  std::optional<Frame> test_before;
  while (true) {
    const std::optional<Frame> reference_frame = next_frame(reference);
    const std::optional<Frame> test_frame = next_frame(test);
    if (reference_frame.has_value() != test_frame.has_value()) {
      throw Error(fmt::format("{}: ends after {} frames, before {}",
                              test_frame ? options.reference : options.test, average.count(),
                              test_frame ? options.test : options.reference));
    }
    if (!reference_frame) {
      break;
    }
    check_same_kind(options.reference, *reference_frame, options.test, *test_frame);
    const Qualities qualities = measure(*reference_frame, *test_frame);
    if (average.count() == 0) {
      report.begin(color_plane_names(reference_frame->format));
    }
    report.add(average.count(), qualities);
    average.add(qualities);
    if (reference_before) {
      const std::vector<Flicker> change =
          measure_flicker(*reference_before, *test_before, *reference_frame, *test_frame);
      flicker.resize(change.size());
      for (std::size_t i = 0; i < change.size(); ++i) {
        flicker[i] += change[i];
      }
    }
    reference_before = reference_frame;
    test_before = test_frame;
  }
  if (average.count() == 0) {
    throw Error(options.reference + ": has no frames");
  }
  report.end(average.result(), flicker);
  return kExitDone;
}

}  // namespace

io::Reader open_video(const std::string& url, bool local_only, io::ReaderOptions options) {
  options.local_only = local_only;
  io::require_independent_frames("--before", options.before, "this command");
  options.audio = options.subtitles = options.data = false;
  return io::Reader(url, options);
}

void check_same_kind(const std::string& reference_url, const Frame& reference, const std::string& test_url,
                     const Frame& test) {
  FrameFormat expected = reference.format;
  expected.sample_type = test.format.sample_type;
  expected.bit_depth = test.format.bit_depth;
  expected.has_alpha = test.format.has_alpha;
  expected.matrix = test.format.matrix;
  expected.range = test.format.range;
  if (expected != test.format) {
    throw Error(fmt::format(
        "{}: frame {} is {}, but that of {} is {}; convert one of them, as with ffmpeg -pix_fmt", test_url,
        test.index, to_string(test.format), reference_url, to_string(reference.format)));
  }
}

void AverageQuality::add(const Qualities& frame) {
  sums_.resize(frame.size());
  for (std::size_t plane = 0; plane < frame.size(); ++plane) {
    sums_[plane].mse += frame[plane].mse;
    sums_[plane].ssim += frame[plane].ssim;
    sums_[plane].peak = frame[plane].peak;
  }
  ++count_;
}

Qualities AverageQuality::result() const {
  Qualities average = sums_;
  for (PlaneQuality& plane : average) {
    plane.mse /= static_cast<double>(count_);
    plane.ssim /= static_cast<double>(count_);
    plane.psnr = psnr_from_mse(plane.mse, plane.peak);
  }
  return average;
}

void add_measure_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand(
      "measure", "Compare a video with a reference: PSNR, SSIM and flicker, per plane and frame");
  auto options = std::make_shared<MeasureOptions>();
  command->add_option("REFERENCE", options->reference, "Clean video or picture")->required()->file();
  command->add_option("TEST", options->test, "Video or picture to compare with REFERENCE")
      ->required()
      ->file();
  add_local_only(*command, options->local_only);
  command->add_flag("--json", options->json, "Print JSON (the PSNR of equal planes is null)");
  command->callback([options](Console&) {
    return options->json ? compare(*options, JsonReport(*options)) : compare(*options, TextReport());
  });
}

}  // namespace limpid::app
