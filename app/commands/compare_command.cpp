// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/contact_sheet.h"
#include "app/commands/measuring.h"
#include "app/console/console.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/options/engine_options.h"
#include "app/options/media_options.h"
#include "app/options/settings_options.h"
#include "app/pipeline/noise_text.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/stream/noise_control.h"
#include "core/stream/stream.h"
#include "io/media/filter_chain.h"
#include "io/media/reader.h"
#include "io/media/writer.h"
#include "io/screen/display.h"

namespace limpid::app {
namespace {

bool is_numbered(const std::string& sheet) { return sheet.find('%') != std::string::npos; }

struct CompareOptions {
  std::string input;
  std::string filters = "vbm4d,vbm4d:quality=fast,bm3d,nlm,bilateral";
  std::string truth;
  NoiseOptions noise;
  FieldOptions fields;
  MediaOptions<io::ReaderOptions> reader{reader_fields()};
  MediaOptions<io::WriterOptions> writer{writer_fields()};
  std::int64_t frames = 10;
  std::string sheet;
  std::string clip;
  std::string at;
  int crop = 160;
  bool overwrite = false;
  bool json = false;
  EngineChoice engine;
};

struct Row {
  std::string filter;
  std::optional<std::array<float, 3>> sigma;  // of the first frame
  std::optional<Qualities> quality;
  double fps = 0;
};

struct Clip {
  std::vector<Frame> frames;
  io::DisplayProperties display;                       // of the frames, or of what `after` makes of them
  double frames_per_second = 0;                        // 0 if unknown
  std::shared_ptr<io::PictureFilter> after = nullptr;  // null without --after
};

/// Reads the frames once, as the source may be a pipe.
Clip read_clip(const std::string& url, std::int64_t count, const io::ReaderOptions& options,
               const std::string& after) {
  io::Reader reader = open_video(url, options.local_only, options);
  Clip clip{.frames = {}, .display = reader.display(), .frames_per_second = reader.video().frames_per_second};
  if (!after.empty()) {
    const io::FilterChain chain("--after", after, options.local_only);
    chain.require_no_memory("this command");
    clip.after = std::make_shared<io::PictureFilter>(chain, reader);
    clip.display = clip.after->display();
  }
  while (static_cast<std::int64_t>(clip.frames.size()) < count) {
    std::optional<Frame> frame = next_frame(reader);
    if (!frame) {
      break;
    }
    clip.frames.push_back(std::move(*frame));
  }
  if (clip.frames.empty()) {
    throw Error(url + ": contains no decodable frames");
  }
  return clip;
}

class Comparison {
 public:
  explicit Comparison(const CompareOptions& options)
      : options_(options), filters_(parse_filter_list(options.filters, options.noise.settings())) {
    engine_ = options.engine.open();
    io::ReaderOptions reader;
    options.reader.apply_to(reader);
    io::WriterOptions writer;
    options.writer.apply_to(writer);
    input_ = read_clip(options.input, options.frames, reader, writer.after);
    if (!options.truth.empty()) {
      truth_ = read_clip(options.truth, static_cast<std::int64_t>(frame_count()), reader, writer.after);
      if (truth_.frames.size() < frame_count()) {
        throw Error(fmt::format("{}: ends after {} frames, before {}", options.truth, truth_.frames.size(),
                                options.input));
      }
    }
    levels_of(options.noise.settings());
    shown_ = frame_count() / 2;
  }

  const Engine& engine() const { return *engine_; }
  const std::vector<Row>& rows() const { return rows_; }
  const FrameFormat& format() const { return input_.frames.front().format; }
  std::size_t frame_count() const { return input_.frames.size(); }
  double frames_per_second() const { return input_.frames_per_second; }
  /// The level of the first frame, without the settings of single filters.
  const NoiseModel& noise() const { return levels_.front().second.front(); }

  void run() {
    rows_.push_back({.filter = "input", .sigma = {}, .quality = quality_of(input_.frames)});
    keep_pictures(input_.frames);
    for (const FilterEntry& filter : filters_) {
      run(filter);
    }
  }

  /// The sheet of the middle frame, or those of all frames for a sequence or a clip.
  std::vector<ContactSheet> sheets() const {
    std::vector<ContactSheet> sheets(pictures_.front().size());
    for (std::size_t frame = 0; frame < sheets.size(); ++frame) {
      if (!truth_.frames.empty()) {
        sheets[frame].add({"truth"}, crop_of(truth_.frames[is_sequence() ? frame : shown_], truth_));
      }
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        sheets[frame].add(label(rows_[i]), pictures_[i][frame]);
      }
    }
    return sheets;
  }

  /// The frame of a single sheet.
  std::size_t shown() const { return shown_; }

  /// Throws the errors of sheets().
  void check_sheet() const { static_cast<void>(crop_of(input_.frames[shown_], input_)); }

 private:
  bool is_sequence() const { return !options_.clip.empty() || is_numbered(options_.sheet); }

  /// The level of each frame, and the frames with their fields marked.
  const std::vector<NoiseModel>& levels_of(const NoiseSettings& settings) {
    const auto known = std::ranges::find(levels_, settings, &Levels::first);
    if (known != levels_.end()) {
      return known->second;
    }
    std::vector<NoiseModel>& levels = levels_.emplace_back(settings, std::vector<NoiseModel>()).second;
    NoiseControl control(settings, options_.fields.choice(), {.before = 1, .after = 1}, *engine_,
                         noise_log(settings));
    std::ranges::for_each(input_.frames, [&](const Frame& frame) { control.send(frame); });
    control.flush();
    while (std::optional<LeveledFrame> next = control.receive()) {
      input_.frames[levels.size()] = std::move(next->frame);
      levels.push_back(next->level);
    }
    return levels;
  }

  void keep_pictures(const std::vector<Frame>& frames) {
    std::vector<io::RgbImage>& pictures = pictures_.emplace_back();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (is_sequence() || (!options_.sheet.empty() && i == shown_)) {
        pictures.push_back(crop_of(frames[i], input_));
      }
    }
  }

  void run(const FilterEntry& filter) {
    const std::vector<NoiseModel>& noise = levels_of(filter.noise);
    std::vector<Frame> results;
    results.reserve(frame_count());
    StageCounters counters;
    DenoiseStage stage(counters);
    stage.set_mix(filter.noise.mix);
    const auto send = [&](std::size_t i) {
      stage.send(input_.frames[i], noise[i], [&](const Frame& /*first*/, const NoiseModel& level) {
        return engine_->make_denoiser(filter.filter.filter(), level, format());
      });
    };
    const auto receive = [&] {
      if (std::optional<Frame> result = stage.receive()) {
        results.push_back(std::move(*result));
      }
    };
    // The setup for the first frame is not timed.
    send(0);
    stage.flush();
    receive();
    stage.reset();
    results.clear();

    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < frame_count(); ++i) {
      send(i);
      if (stage.is_full()) {
        receive();
      }
    }
    stage.flush();
    while (results.size() < frame_count()) {
      receive();
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

    Row row;
    row.filter = filter.text;
    row.sigma = noise.front().sigma;
    row.fps = static_cast<double>(frame_count()) / elapsed.count();
    row.quality = quality_of(results);
    rows_.push_back(std::move(row));
    keep_pictures(results);
  }

  /// `clip`: the one that the frame is of, or was made from.
  io::RgbImage crop_of(const Frame& frame, const Clip& clip) const {
    const Frame shown = clip.after == nullptr ? frame : clip.after->filter(frame);
    const io::RgbImage image = io::screen_picture(shown, clip.display);
    return crop(image, place_crop(options_.at, options_.crop, image.width, image.height));
  }

  std::optional<Qualities> quality_of(const std::vector<Frame>& frames) const {
    if (truth_.frames.empty()) {
      return std::nullopt;
    }
    AverageQuality average;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      check_same_kind(options_.truth, truth_.frames[i], options_.input, frames[i]);
      average.add(measure(truth_.frames[i], frames[i]));
    }
    return average.result();
  }

  static std::vector<std::string> label(const Row& row) {
    std::string figures;
    if (row.quality) {
      figures = fmt::format("{:.2f} dB, {:.4f}", row.quality->front().psnr, row.quality->front().ssim);
    }
    std::vector<std::string> lines = {row.filter};
    if (!figures.empty()) {
      lines.push_back(figures);
    }
    if (row.fps > 0) {
      lines.push_back(fmt::format("{:.1f} fps", row.fps));
    }
    return lines;
  }

  const CompareOptions& options_;
  std::vector<FilterEntry> filters_;
  std::shared_ptr<Engine> engine_;
  Clip input_;
  Clip truth_;
  using Levels = std::pair<NoiseSettings, std::vector<NoiseModel>>;
  std::deque<Levels> levels_;  // of all frames; the first without the settings of single filters
  std::size_t shown_ = 0;      // the frame of the contact sheet
  std::vector<Row> rows_;
  std::vector<std::vector<io::RgbImage>> pictures_;  // crops of each row
};

void print_table(const Comparison& comparison, const CompareOptions& options) {
  const std::vector<std::string_view> planes = color_plane_names(comparison.format());
  const std::vector<Row>& rows = comparison.rows();
  std::size_t width = 6;
  for (const Row& row : rows) {
    width = std::max(width, row.filter.size());
  }
  std::cout << fmt::format("{}, {} frames, {}, engine {}, sigma {}\n\n", printable(options.input),
                           comparison.frame_count(), to_string(comparison.format()),
                           comparison.engine().name(), level_text(comparison.noise().sigma[0]));
  std::string head = fmt::format("{:<{}}", "filter", width);
  if (rows.front().quality) {
    for (const std::string_view plane : planes) {
      head += fmt::format("  {:>7}", fmt::format("PSNR {}", plane));
    }
    for (const std::string_view plane : planes) {
      head += fmt::format("  {:>7}", fmt::format("SSIM {}", plane));
    }
  }
  std::cout << head << "       fps\n";
  for (const Row& row : rows) {
    std::string line = fmt::format("{:<{}}", row.filter, width);
    if (row.quality) {
      for (const PlaneQuality& plane : *row.quality) {
        line += fmt::format("  {:>7.2f}", plane.psnr);
      }
      for (const PlaneQuality& plane : *row.quality) {
        line += fmt::format("  {:>7.4f}", plane.ssim);
      }
    }
    line += row.fps > 0 ? fmt::format("  {:>8.2f}", row.fps) : fmt::format("  {:>8}", "");
    std::cout << line << '\n';
  }
}

void print_json(const Comparison& comparison, const CompareOptions& options) {
  nlohmann::ordered_json json;
  json["input"] = options.input;
  json["frames"] = comparison.frame_count();
  json["engine"] = comparison.engine().name();
  json["sigma"] = comparison.noise().sigma;
  json["filters"] = nlohmann::json::array();
  const std::vector<std::string_view> planes = color_plane_names(comparison.format());
  for (const Row& row : comparison.rows()) {
    nlohmann::ordered_json entry;
    entry["filter"] = row.filter;
    if (row.sigma) {
      entry["sigma"] = *row.sigma;
    }
    for (std::size_t i = 0; row.quality && i < planes.size(); ++i) {
      const PlaneQuality& quality = (*row.quality)[i];
      const std::string name(planes[i]);
      // JSON has no infinity: the PSNR of equal planes is null.
      entry["psnr"][name] = std::isfinite(quality.psnr) ? nlohmann::json(quality.psnr) : nlohmann::json();
      entry["ssim"][name] = quality.ssim;
    }
    if (row.fps > 0) {
      entry["fps"] = row.fps;
    }
    json["filters"].push_back(std::move(entry));
  }
  print_report(json);
}

/// The file of the sheet with this number, which counts for a sequence only.
std::string sheet_name(const CompareOptions& options, int number) {
  const std::string& name = options.sheet;
  const std::size_t percent = name.find('%');
  if (percent == std::string::npos) {
    return name;
  }
  int width = 0;
  const char* const end = name.data() + name.size();
  const auto [behind, error] = std::from_chars(name.data() + percent + 1, end, width);
  constexpr int kMostDigits = 9;
  if ((error != std::errc() && error != std::errc::invalid_argument) || behind == end || *behind != 'd' ||
      width > kMostDigits) {
    throw UsageError("--sheet: '" + name + "' is not a name such as sheet_%03d.png");
  }
  return fmt::format("{}{:0{}}{}", name.substr(0, percent), number, width, std::string(behind + 1, end));
}

void check_names(const CompareOptions& options) {
  if (!options.sheet.empty() && std::filesystem::path(options.sheet).extension() != ".png") {
    throw UsageError("--sheet: '" + options.sheet + "' must end in .png");
  }
  if (!options.clip.empty() && !io::is_media_name(options.clip)) {
    throw UsageError("--clip: '" + options.clip + "' must be the name of a video, such as clip.mkv");
  }
  const std::string first = options.sheet.empty() ? "" : sheet_name(options, 1);
  for (const std::string& name : {first, options.clip}) {
    std::error_code ignored;
    if (!options.overwrite && std::filesystem::is_regular_file(name, ignored)) {
      throw Error(name + ": exists; -y overwrites it");
    }
  }
}

void write_sheets(const CompareOptions& options, const Comparison& comparison) {
  const io::Overwrite overwrite = options.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever;
  const std::vector<ContactSheet> sheets = comparison.sheets();
  if (is_numbered(options.sheet)) {
    for (std::size_t i = 0; i < sheets.size(); ++i) {
      io::write_png(sheet_name(options, static_cast<int>(i) + 1), sheets[i].draw(), overwrite);
    }
  } else if (!options.sheet.empty()) {
    const ContactSheet& sheet = sheets.size() > 1 ? sheets[comparison.shown()] : sheets.front();
    io::write_png(options.sheet, sheet.draw(), overwrite);
  }
  if (!options.clip.empty()) {
    write_clip(options.clip, sheets, comparison.frames_per_second(), overwrite);
  }
}

int compare(const CompareOptions& options, Console& console) {
  const InterruptWatch interrupts(Interrupts::kEnd);
  set_up_logging(console, {.level = "warning", .file = ""});
  const bool draws = !options.sheet.empty() || !options.clip.empty();
  if (!draws && !options.at.empty()) {
    throw UsageError("--at requires --sheet or --clip");
  }
  for (const std::string& source : {options.input, options.truth}) {
    io::require_other_file(options.sheet, source);
    io::require_other_file(options.clip, source);
  }
  check_names(options);
  Comparison comparison(options);
  if (draws) {
    comparison.check_sheet();
  }
  comparison.run();
  if (draws) {
    write_sheets(options, comparison);
  }
  if (options.json) {
    print_json(comparison, options);
  } else {
    print_table(comparison, options);
  }
  return kExitDone;
}

}  // namespace

void add_compare_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand(
      "compare", "Compare filters on the same frames: quality, speed, and crops side by side");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("INPUT", options->input, "Noisy video or picture")->required()->file();
  command
      ->add_option("--filters", options->filters,
                   "Filters separated by commas, each with parameters, strength, sigma or noise: "
                   "bm3d,vbm4d:strength=light [vbm4d, vbm4d:quality=fast, bm3d, nlm and bilateral]")
      ->type_name("LIST")
      ->words(filter_names());
  command->add_option("--truth", options->truth, "Clean video, for PSNR and SSIM")->type_name("FILE")->file();
  options->noise.add_sigma_to(*command);
  options->fields.add_to(*command);
  command->add_option("--frames", options->frames, "Maximum number of frames to process, 1-10000 [10]")
      ->type_name("N")
      ->in_range(1, 10000);
  command
      ->add_option("--sheet", options->sheet,
                   "Write a PNG with labeled crops of the middle frame; a name such as sheet_%03d.png writes "
                   "a sheet for each frame")
      ->type_name("FILE")
      ->file(".png");
  command
      ->add_option("--clip", options->clip, "Write a video of the labeled crops of all frames side by side")
      ->type_name("FILE")
      ->file(".mkv");
  command->add_option("--at", options->at, "Center of the crops, in pixels [center of the picture]")
      ->type_name("X,Y");
  command->add_option("--crop", options->crop, "Width and height of the crops, 16-4096 [160]")
      ->type_name("N")
      ->in_range(16, 4096);
  options->reader.add_to(*command, {"start", "before", "local_only"});
  options->writer.add_to(*command, {"after"});
  command->add_flag("-y,--overwrite", options->overwrite, "Overwrite an existing contact sheet or clip");
  command->add_flag("--json", options->json, "Print JSON (the PSNR of equal planes is null)");
  options->engine.add_to(*command);
  command->footer("fps: frames per second of denoising alone.");
  command->callback([options](Console& console) { return compare(*options, console); });
}

}  // namespace limpid::app
