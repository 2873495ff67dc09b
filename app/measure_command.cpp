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
#include <variant>
#include <vector>

#include "app/command.h"
#include "app/planes.h"
#include "core/error.h"
#include "core/metrics.h"
#include "io/reader.h"

namespace limpid::app {
namespace {

struct MeasureOptions {
  std::string reference;
  std::string test;
  bool json = false;
};

using Qualities = std::vector<PlaneQuality>;

io::Reader open_video(const std::string& url) {
  io::ReaderOptions options;
  options.audio = options.subtitles = options.data = false;
  return io::Reader(url, options);
}

std::optional<Frame> next_frame(io::Reader& reader) {
  while (true) {
    io::Reader::Item item = reader.read();
    if (Frame* frame = std::get_if<Frame>(&item)) {
      return std::move(*frame);
    }
    if (std::holds_alternative<io::Reader::End>(item)) {
      return std::nullopt;
    }
  }
}

/// Gathers the average over all frames: of the squared error, whose PSNR is then the average PSNR (finite
/// even if some frames are equal), and of SSIM.
class Average {
 public:
  void add(const Qualities& frame) {
    sums_.resize(frame.size());
    for (std::size_t plane = 0; plane < frame.size(); ++plane) {
      sums_[plane].mse += frame[plane].mse;
      sums_[plane].ssim += frame[plane].ssim;
    }
    ++count_;
  }

  Qualities result() const {
    Qualities average = sums_;
    for (PlaneQuality& plane : average) {
      plane.mse /= static_cast<double>(count_);
      plane.ssim /= static_cast<double>(count_);
      plane.psnr = psnr_from_mse(plane.mse);
    }
    return average;
  }

  std::int64_t count() const { return count_; }

 private:
  Qualities sums_;
  std::int64_t count_ = 0;
};

class TextReport {
 public:
  void begin(const std::vector<std::string_view>& planes) {
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
  void end(const Qualities& average) { print("average", average); }

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
  void end(const Qualities& average) {
    json_["average"] = to_json(average);
    std::cout << json_.dump(2) << '\n';
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

void check_same_kind(const MeasureOptions& options, const Frame& reference, const Frame& test) {
  FrameFormat expected = reference.format;
  expected.sample_type = test.format.sample_type;
  expected.bit_depth = test.format.bit_depth;
  expected.has_alpha = test.format.has_alpha;
  expected.matrix = test.format.matrix;
  expected.range = test.format.range;
  if (expected != test.format) {
    throw Error(fmt::format("{}: frame {} is {}, but that of {} is {}", options.test, test.index,
                            to_string(test.format), options.reference, to_string(reference.format)));
  }
}

template <typename Report>
int compare(const MeasureOptions& options, Report report) {
  io::Reader reference = open_video(options.reference);
  io::Reader test = open_video(options.test);
  Average average;
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
    check_same_kind(options, *reference_frame, *test_frame);
    const Qualities qualities = measure(*reference_frame, *test_frame);
    if (average.count() == 0) {
      report.begin(color_plane_names(reference_frame->format));
    }
    report.add(average.count(), qualities);
    average.add(qualities);
  }
  if (average.count() == 0) {
    throw Error(options.reference + ": has no frames");
  }
  report.end(average.result());
  return kExitDone;
}

}  // namespace

void add_measure_command(CLI::App& program, Command& selected) {
  CLI::App* command = program.add_subcommand(
      "measure", "Print PSNR and SSIM of a video against a reference, for each plane and frame");
  auto options = std::make_shared<MeasureOptions>();
  command->add_option("REFERENCE", options->reference, "The clean video or picture")->required();
  command->add_option("TEST", options->test, "What is compared with it")->required();
  command->add_flag("--json", options->json, "Print JSON; the PSNR of equal planes is null");
  command->callback([&selected, options] {
    selected = [options](Console&) {
      return options->json ? compare(*options, JsonReport(*options)) : compare(*options, TextReport());
    };
  });
}

}  // namespace limpid::app
