// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/denoise_job.h"
#include "app/commands/jobs.h"
#include "app/commands/measuring.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/console/text.h"
#include "app/options/engine_options.h"
#include "app/options/media_options.h"
#include "app/options/settings_options.h"
#include "app/pipeline/film_grain.h"
#include "app/pipeline/noise_text.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/frame/region.h"
#include "core/grain/film_grain.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_control.h"
#include "core/stream/noise_tracker.h"
#include "io/media/output_file.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

// limpid noise: prints and saves the noise of a clip.

namespace limpid::app {
namespace {

struct NoiseCommandOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string region;
  MediaOptions<io::ReaderOptions> reader{reader_fields()};
  DurationOption duration;
  FieldOptions fields;
  int frames = 0;  // 0: not given
  bool overwrite = false;
  bool json = false;
  bool quiet = false;
  EngineChoice engine;
};

Region parse_region(const std::string& text) {
  std::array<int, 4> numbers{};
  static constexpr std::array<char, 4> kBehind = {',', ',', 'x', '\0'};
  const char* at = text.c_str();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [behind, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] < 0 || *behind != kBehind[i]) {
      throw UsageError("--region: '" + text + "' is not a region such as 100,50,256x128");
    }
    at = behind + 1;
  }
  const Region region{numbers[0], numbers[1], numbers[2], numbers[3]};
  if (region.width < NoiseTracker::kLeastSide || region.height < NoiseTracker::kLeastSide) {
    throw UsageError("--region: " + text + " is too small to estimate noise: at least " +
                     fmt::format("{0}x{0}", NoiseTracker::kLeastSide) + " samples are needed");
  }
  return region;
}

/// The measured noise of a video, or of a channel or slice of a stack.
struct Finding {
  std::string input;
  std::size_t channel = 0;  ///< number of the channel or slice; 0: of a video
  SceneNoise scene;         ///< the longest
  FrameFormat format;       ///< of the measured region
  Region region;            ///< in the picture
  std::int64_t frames = 0;  ///< looked at
};

constexpr int kFrames = 16;
constexpr const char* kUse = "to use it for other files: add -o noise.json, then --noise noise.json\n";

bool is_table(const std::string& output) { return std::filesystem::path(output).extension() == ".tbl"; }

Region region_in(const Frame& frame, const NoiseCommandOptions& options) {
  const FrameFormat& whole = frame.format;
  Region region{0, 0, whole.width, whole.height};
  if (!options.region.empty()) {
    region = parse_region(options.region);
    if (!is_within(region, whole)) {
      throw UsageError(fmt::format("--region: {} is not within the picture of {}x{}", options.region,
                                   whole.width, whole.height));
    }
  }
  return whole_samples(region, whole, frame.interlaced || frame.combed);
}

/// The findings of a video, or of each channel and slice of a stack.
std::vector<Finding> find_noise(const std::string& input, const NoiseCommandOptions& options,
                                Engine& engine) {
  io::ReaderOptions reader_options;
  options.reader.apply_to(reader_options);
  options.duration.apply_to(reader_options);
  io::Reader reader = open_video(input, reader_options.local_only, reader_options);
  const int frames = options.frames > 0 ? options.frames : kFrames;
  NoiseTracker tracker(engine);
  FieldControl fields(options.fields.choice(), {.before = 1, .after = 1}, engine);
  std::vector<Finding> findings;
  const auto end = [&] {
    if (findings.empty()) {
      return;
    }
    SceneNoise& scene = findings.back().scene;
    scene = noise_of_longest_scene(tracker, findings.back().frames);
    if (!options.region.empty()) {
      scene.noise.area.reset();  // of the region, but the profile is for the whole picture
    }
  };
  bool is_stack = false;
  while (is_stack || findings.empty() || findings.back().frames < frames) {
    std::optional<Frame> frame = next_frame(reader);
    if (!frame) {
      break;
    }
    fields.decide(*frame);
    is_stack = is_stack || frame->begins_anew;
    if (findings.empty() || frame->begins_anew) {
      end();
      Finding& finding = findings.emplace_back();
      finding.input = input;
      finding.region = region_in(*frame, options);
      if (findings.size() == 1 && reader_options.start && reader.can_seek()) {
        LevelLead lead(input, reader_options, *frame, {NoiseTracker::kSection, NoiseTracker::kBefore});
        while (const std::optional<Frame> earlier = lead.next()) {
          tracker.next(part_of(*earlier, finding.region));
        }
      }
    }
    if (Finding& finding = findings.back(); finding.frames < frames) {
      const Frame part = part_of(*frame, finding.region);
      finding.format = part.format;
      tracker.observe(part);
      ++finding.frames;
    }
  }
  if (findings.empty()) {
    throw Error(input + ": has no frames that could be decoded");
  }
  end();
  for (std::size_t i = 0; findings.size() > 1 && i < findings.size(); ++i) {
    findings[i].channel = i + 1;
  }
  return findings;
}

std::string headline(const Finding& finding) {
  std::string text = fmt::format("{}, {}", frames_text(finding.frames), to_string(finding.format));
  if (finding.scene.frames < finding.frames) {
    text += fmt::format(", the scene of frames {} to {}", finding.scene.first,
                        finding.scene.first + finding.scene.frames - 1);
  }
  return text;
}

/// The visibility of the noise of the strongest plane.
std::string word_of(const Finding& finding) {
  return std::string(visibility_of(*std::ranges::max_element(finding.scene.noise.sigma)));
}

void print_table(const NoiseCommandOptions& options, const Finding& finding, const Engine& engine) {
  std::cout << fmt::format("{}, {}, engine {}\n", printable(finding.input), headline(finding), engine.name());
  if (!options.region.empty()) {
    const Region& region = finding.region;
    std::cout << fmt::format("region {},{},{}x{}\n", region.x, region.y, region.width, region.height);
  }
  std::cout << fmt::format("\n{:<10}  {:>7}  {:>7}  {:>7}  {:>7}  {}\n", "plane", "sigma", "low", "middle",
                           "high", "noise");
  for (const ChannelNoise& channel : channels_of(finding.scene.noise, finding.format.color_model)) {
    std::string line = fmt::format("{:<10}  {:>7.2f}", channel.name, channel.noise.sigma);
    if (channel.has_shape) {
      const Bands bands = bands_of(channel.noise);
      line += fmt::format("  {:>7.2f}  {:>7.2f}  {:>7.2f}  {}", bands.low, bands.middle, bands.high,
                          kind_of(channel.noise));
      const std::string repetition = repetition_text(channel.noise);
      line += (repetition.empty() ? "" : ", ") + repetition;
    }
    std::cout << line << steps_text(channel.noise.sigma, finding.format) << '\n';
  }
  std::cout << fmt::format("\nestimate: {}; noise: {}\n{}", evidence_text(finding.scene.noise),
                           word_of(finding), options.output.empty() ? kUse : "");
}

/// A line for each of several files, channels or slices.
void print_line(const Finding& finding) {
  std::string name = printable(finding.input);
  name += finding.channel == 0 ? "" : fmt::format(", channel or slice {}", finding.channel);
  std::string levels;
  for (const ChannelNoise& channel : channels_of(finding.scene.noise, finding.format.color_model)) {
    levels += fmt::format("  {} {:>5.2f}{}", channel.name, channel.noise.sigma,
                          steps_text(channel.noise.sigma, finding.format));
  }
  std::cout << fmt::format("{:<40}{}  {}, {}\n", name, levels, word_of(finding),
                           evidence_text(finding.scene.noise));
}

nlohmann::ordered_json report_of(const Finding& finding, const Engine& engine) {
  nlohmann::ordered_json json = to_json(profile_of(finding.scene.noise, finding.format.color_model));
  json["input"] = finding.input;
  if (finding.channel > 0) {
    json["channel"] = finding.channel;
  }
  json["engine"] = engine.name();
  json["frames"] = finding.frames;
  json["scene"] = {{"first", finding.scene.first}, {"frames", finding.scene.frames}};
  const Region& region = finding.region;
  json["region"] = {{"x", region.x}, {"y", region.y}, {"width", region.width}, {"height", region.height}};
  for (const ChannelNoise& channel : channels_of(finding.scene.noise, finding.format.color_model)) {
    if (channel.has_shape) {
      const Bands bands = bands_of(channel.noise);
      json["deviations"][channel.name] = {{"low", bands.low},
                                          {"middle", bands.middle},
                                          {"high", bands.high},
                                          {"noise", kind_of(channel.noise)}};
    }
  }
  json["evidence"] = evidence_report(finding.scene.noise);
  json["visibility"] = word_of(finding);
  return json;
}

void check_target(const NoiseCommandOptions& options) {
  const std::string& path = options.output;
  if (path.empty()) {
    return;
  }
  if (std::filesystem::path(path).extension() != ".json" && !is_table(path)) {
    throw UsageError("-o: '" + path + "' must end in .json or .tbl");
  }
  for (const std::string& input : options.inputs) {
    io::require_other_file(path, input);
  }
  std::error_code ignored;
  if (!options.overwrite && std::filesystem::exists(path, ignored)) {
    throw Error(path + ": exists; -y overwrites it");
  }
}

void save(const NoiseCommandOptions& options, const std::vector<Finding>& findings) {
  if (options.output.empty()) {
    return;
  }
  if (findings.size() > 1) {
    throw Error(fmt::format(
        "{}: has {} channels or slices with a noise of their own, and a profile holds one; limpid denoise "
        "measures each without --noise",
        findings.front().input, findings.size()));
  }
  const Finding& finding = findings.front();
  io::write_text(options.output,
                 json_text(profile_of(finding.scene.noise, finding.format.color_model), 1) + "\n",
                 options.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever);
}

void add(const std::vector<Finding>& findings, const NoiseCommandOptions& options, const Engine& engine,
         ReportList& reports) {
  for (const Finding& finding : findings) {
    reports.add(report_of(finding, engine));
    if (!options.json) {
      print_line(finding);
    }
  }
}

/// Measures one file after the other; files after a failed one are still measured. Returns the exit code.
int find_in_many(const std::vector<Jobs::Input>& inputs, const NoiseCommandOptions& options, Engine& engine) {
  ReportList reports(options.json);
  int done = 0;
  int failed = 0;
  for (const Jobs::Input& input : inputs) {
    const std::optional<InputFailure> failure = attempt(input, [&] {
      add(find_noise(input.file, options, engine), options, engine, reports);
      ++done;
    });
    if (failure) {
      failed += failure->is_skipped ? 0 : 1;
      reports.add({{"input", input.file}, {failure->is_skipped ? "skipped" : "error", failure->text}});
    }
  }
  reports.end({{"status", failed > 0 || done == 0 ? "failed" : "done"},
               {"totals", {{"inputs", inputs.size()}, {"done", done}, {"failed", failed}}}});
  return failed > 0 || done == 0 ? kExitFailed : kExitDone;
}

std::string scaling_text(const FilmGrainEntry& entry) {
  constexpr std::array<const char*, 3> kNames{"Y", "U", "V"};
  std::string text;
  for (std::size_t plane = 0; plane < kNames.size(); ++plane) {
    if (entry.is_applied && entry.grain.has_grain(static_cast<int>(plane))) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", kNames[plane]);
    }
  }
  return text.empty() ? "no grain" : "grain in " + text;
}

/// Writes the film grain table of a whole file.
int save_film_grain(const std::string& input, const NoiseCommandOptions& options, Engine& engine) {
  if (!options.region.empty()) {
    throw UsageError("-o: a film grain table describes whole pictures; --region needs a profile");
  }
  FilmGrainRequest request{.input = input, .reader = {}, .noise = {}, .frames = options.frames};
  options.reader.apply_to(request.reader);
  options.duration.apply_to(request.reader);
  request.fields = options.fields.choice();
  const FilmGrainTable table = film_grain_of_video(request, engine);
  if (table.empty()) {
    throw Error(input + ": has no frames that could be decoded");
  }
  io::write_text(options.output, to_text(table),
                 options.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever);
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const FilmGrainEntry& entry : table) {
    const double start = static_cast<double>(entry.start) / kGrainTicksPerSecond;
    parts.push_back({{"start", start}, {"grain", entry.is_applied}});
    if (!options.json) {
      std::cout << fmt::format("{}, from {:.3f} s: {}\n", printable(input), start, scaling_text(entry));
    }
  }
  if (options.json) {
    print_report({{"input", input}, {"engine", engine.name()}, {"film_grain", parts}});
  }
  return kExitDone;
}

int find(const NoiseCommandOptions& options, Console& console) {
  const InterruptWatch interrupts(Interrupts::kEnd);
  set_up_logging(console, {.level = options.quiet ? "error" : "warning", .file = ""});
  const std::vector<Jobs::Input> inputs = expand_inputs(options.inputs);
  const bool many = options.inputs.size() > 1 || inputs.front().from_folder;
  if (many && !options.output.empty()) {
    throw UsageError("-o describes the noise of one file; name a single one");
  }
  check_target(options);
  const std::shared_ptr<Engine> engine = options.engine.open();
  if (many) {
    return find_in_many(inputs, options, *engine);
  }
  const std::string& input = inputs.front().file;
  if (is_table(options.output)) {
    return save_film_grain(input, options, *engine);
  }
  const std::vector<Finding> findings = find_noise(input, options, *engine);
  save(options, findings);
  if (findings.size() > 1) {
    ReportList reports(options.json);
    add(findings, options, *engine, reports);
    reports.end({{"status", "done"}});
  } else if (options.json) {
    print_report(report_of(findings.front(), *engine));
  } else {
    print_table(options, findings.front(), *engine);
  }
  return kExitDone;
}

}  // namespace

void add_noise_command(CommandLine& program) {
  CommandLine* command =
      program.add_subcommand("noise", "Measure the noise of a clip; print it, or save it as a profile");
  auto options = std::make_shared<NoiseCommandOptions>();
  command->add_option("INPUT", options->inputs, "Videos, pictures, and folders whose files are all measured")
      ->required()
      ->file();
  command
      ->add_option("--frames", options->frames,
                   "Maximum number of frames to read, 1-10000 [16; all for a film grain table]")
      ->type_name("N")
      ->in_range(1, 10000);
  options->reader.add_to(*command, {"start", "end", "before", "local_only"});
  options->duration.add_to(*command);
  options->fields.add_to(*command);
  command
      ->add_option("--region", options->region,
                   "Part of the picture to measure, in samples before any rotation; at least 64x64 [all]")
      ->type_name("X,Y,WxH");
  command
      ->add_option("-o,--output", options->output,
                   "Save a noise profile for \"limpid denoise --noise\", or a film grain table of AV1")
      ->details(
          "FILE.json is a profile. FILE.tbl is a table in the format of libaom, for \"limpid denoise "
          "--grain\" and for encoders. It has an entry for each scene, and the whole input is read.")
      ->type_name("FILE.json|.tbl")
      ->file();
  command->add_flag("-y,--overwrite", options->overwrite, "Overwrite an existing profile or table");
  command->add_flag("--json", options->json, "Print JSON; that of one file is also a noise profile");
  command->add_flag("-q,--quiet", options->quiet, "Print no warnings");
  options->engine.add_to(*command);
  command->footer(
      "sigma is the standard deviation of the noise. low, middle and high are the standard deviations of 8x8 "
      "DCT coefficients at low, middle and high frequencies, which are equal for white noise. All are in "
      "8-bit code values. Noise is called faint below a sigma of 3 and strong from 10 on, by its strongest "
      "plane. Cameras and codecs smooth noise: its high frequencies are weaker. If the frames contain scene "
      "cuts, the longest scene is measured. strength in a profile is the factor with which subsampled chroma "
      "is filtered best.");
  command->callback([options](Console& console) { return find(*options, console); });
}

}  // namespace limpid::app
