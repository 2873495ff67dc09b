// SPDX-License-Identifier: MIT
#include "app/commands/viewing_options.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "app/console/durable_file.h"
#include "app/console/json_report.h"
#include "app/player/played_frame.h"
#include "app/player/properties.h"
#include "core/base/error.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/noise_settings.h"
#include "io/media/filter_chain.h"
#include "io/media/writer.h"
#include "io/screen/control_layer.h"

namespace limpid::app {
namespace {

using Words = std::vector<std::string>;

// Options for reading, but for the passage.
void add_reading(const io::ReaderOptions& reader, Words& words) {
  const io::ReaderOptions defaults;
  for (const MediaField<io::ReaderOptions>& field : reader_fields()) {
    std::visit(
        [&](auto member) {
          const auto& value = reader.*member;
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            if (!value.empty()) {
              words.insert(words.end(), {field.option(), value});
            }
          } else if constexpr (std::is_same_v<Value, bool>) {
            if (value != defaults.*member) {
              words.push_back(field.option());
            }
          } else if constexpr (std::is_same_v<Value, MediaField<io::ReaderOptions>::Pairs>) {
            for (const auto& [key, text] : value) {
              words.insert(words.end(), {field.option(), fmt::format("{}={}", key, text)});
            }
          }
        },
        field.member);
  }
}

// The name of a file with the profile, by its content: equal profiles have one file.
std::string stored_profile(const NoiseProfile& profile) {
  // Command lines that were copied name them.
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  const std::string text = json_text(profile, 2) + "\n";
  return StateFolder("noise", kAll).write(digest_of(text) + ".json", text).string();
}

void add_noise(const NoiseSettings& noise, Words& words) {
  for (const NoiseField& field : noise_fields()) {
    if (field.json == nullptr || field.json(noise) == field.json(NoiseSettings())) {
      continue;
    }
    const nlohmann::ordered_json value = field.json(noise);
    if (value.is_object()) {
      words.insert(words.end(), {"--" + field.name, stored_profile(*noise.noise)});
    } else {
      const bool is_level = field.name == "noise";
      words.insert(words.end(),
                   {is_level ? "--sigma" : "--" + field.name,
                    value.is_string() ? value.get<std::string>() : fmt::format("{}", value.get<float>())});
    }
  }
}

constexpr double kGuessedRate = 25;

io::Size parse_size(const std::string& text) {
  io::Size size;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &size.width, &size.height, &rest) != 2 || size.width < 1 ||
      size.height < 1 || size.width > kMaxDimension || size.height > kMaxDimension) {
    throw UsageError("--window-size: '" + text + "' is not a size such as 1280x720");
  }
  return size;
}

Side parse_side(const std::string& name) {
  const auto* const known = std::ranges::find(kSideNames, name);
  return static_cast<Side>(known - kSideNames.begin());
}

nlohmann::ordered_json quantiles(std::vector<double> values) {
  if (values.empty()) {
    return nullptr;
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double value =
        values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
    return std::round(value * 1e6) / 1e3;
  };
  return {{"min", at(0)}, {"p5", at(0.05)}, {"median", at(0.5)}, {"p95", at(0.95)}, {"max", at(1)}};
}

nlohmann::ordered_json to_json(const ViewerReport& report) {
  nlohmann::ordered_json json;
  json["frames_shown"] = report.shown;
  json["frames_dropped"] = report.dropped;
  json["frames_interlaced"] = report.interlaced;
  std::vector<double> intervals;
  for (std::size_t i = 1; i < report.shown_at.size(); ++i) {
    intervals.push_back(report.shown_at[i] - report.shown_at[i - 1]);
  }
  json["interval_ms"] = quantiles(intervals);
  // How late each frame was shown by the clock, against the first frame of the video or of a repetition.
  std::vector<double> lateness;
  for (std::size_t i = 0, first = 0; i < report.times.size(); ++i) {
    first = i > 0 && report.times[i] < report.times[i - 1] ? i : first;
    lateness.push_back(report.shown_at[i] - report.shown_at[first] - (report.times[i] - report.times[first]));
  }
  json["late_ms"] = quantiles(lateness);
  json["drift_ms"] = lateness.empty() ? 0 : std::round(lateness.back() * 1e6) / 1e3;
  json["latency_ms"] = quantiles(report.latencies);
  json["ahead_of_sound_ms"] = quantiles(report.ahead_of_sound);
  json["quality"] = nlohmann::ordered_json::array();
  for (const auto& [filter, frames] : report.filters) {
    json["quality"].push_back({{"filter", filter}, {"frames_shown", frames}});
  }
  for (const Recording& each : report.recordings) {
    json["recordings"].push_back({{"file", each.file},
                                  {"encoder", each.encoder},
                                  {"frames", each.frames},
                                  {"frames_dropped", each.dropped}});
  }
  return json;
}

// Settings that users have chosen for files.
StateFolder kept_settings() {
  constexpr std::size_t kMostFiles = 200;
  return {"files", kMostFiles};
}

// The filter of a rung, for SpeedMemory.
std::string speed_name(const PlayerSettings& settings, bool live) {
  const bool waits_less = live && live_filter(settings) != offline_filter(settings);
  return to_string(filter_settings(settings)) + (waits_less ? " (live)" : "");
}

std::string name_of_kept(const std::string& file) {
  std::error_code ignored;
  return digest_of(std::filesystem::weakly_canonical(file, ignored).string()) + ".json";
}

}  // namespace

void ViewerCommandOptions::add_to(CommandLine& command) {
  denoising.add_to(command);
  command.begin_group("Filter and quality");
  command
      .add_option("--pace", pace_,
                  "auto (a quicker filter where this one is too slow) or fixed [auto; fixed with --filter or "
                  "--quality]")
      ->type_name("NAME")
      ->one_of({"auto", "fixed"});
  engine.add_to(command);
  add_window_to(command);
  add_scripts_to(command);
  add_logging_options(command, logging, "Messages");
  command.footer("The key ? lists all keys in the window.");
}

void ViewerCommandOptions::add_window_to(CommandLine& command) {
  constexpr const char* kWindow = "Window";
  command.begin_group(kWindow);
  command
      .add_option("--view", view,
                  "Picture to show: split, noisy, denoised, difference or side (side by side) [" + view + "]")
      ->type_name("NAME")
      ->one_of({kSideNames.begin(), kSideNames.end() - 1});
  command.add_option("--zoom", shown_.zoom, "Zoom: 0 (fit the picture), 1, 2, 4 or 8 [0]")
      ->type_name("N")
      ->one_of({"0", "1", "2", "4", "8"})
      ->advanced();
  command
      .add_option("--split", shown_.split, "Position of the split line as a fraction of the width, 0-1 [0.5]")
      ->type_name("X")
      ->in_range(0.0, 1.0)
      ->advanced();
  command
      .add_option("--text-size", shown_.text_size,
                  "Size of the text relative to the screen's default, 0.5-5 [1]")
      ->type_name("X")
      ->in_range(0.5, 5.0)
      ->advanced();
  command
      .add_option("--window-size", window_size_,
                  "Size of the window [of the picture, or the largest that fits the screen]")
      ->type_name("WxH")
      ->advanced();
  command.add_flag("--no-vsync", no_vsync_, "Do not synchronize with the refresh of the display")->advanced();
  command.add_flag("--controls", shown_.controls, "Start with controls that stay on the screen")->advanced();
  command.add_flag("--no-osd", no_osd_, "Start with the picture only: no labels, hints or controls")
      ->advanced();
}

void ViewerCommandOptions::add_scripts_to(CommandLine& command) {
  constexpr const char* kScripts = "For scripts";
  command.begin_group("Window");
  command.add_option("--frames", shown_.frames, "Quit after N frames")->type_name("N")->positive();
  command.begin_group(kScripts);
  command
      .add_option("--screenshot", shown_.screenshot,
                  "Write a PNG of the window after --frames frames [1]; no frame is dropped")
      ->type_name("FILE")
      ->file(".png")
      ->advanced();
  command
      .add_option("--picture-folder", shown_.picture_folder,
                  "Folder for the pictures that keys save [beside the input]")
      ->type_name("FOLDER")
      ->folder()
      ->advanced();
  command.add_flag("--json", json, "Print a report as JSON to standard output")->advanced();
}

void ViewerCommandOptions::restore_settings(const std::string& file, const FrameFormat& format) {
  const bool is_scripted = !shown_.screenshot.empty() || shown_.frames > 0;
  no_memory = no_memory || is_scripted || sets_any_;
  if (no_memory || file == "-") {
    return;
  }
  DenoisingSettings kept;
  notice_.clear();
  std::error_code missing;
  try {
    const std::filesystem::path path = kept_settings().path(name_of_kept(file));
    if (std::filesystem::exists(path, missing)) {
      const DenoisingSettings read = read_settings(path.string());
      read.noise.check(format, Latency::kNone);
      kept = read;
      spdlog::info(fmt::format("settings: those last chosen for {} ({})", file, path.string()));
      notice_ = "with the settings that were last chosen for this file";
    }
  } catch (const Error& error) {
    spdlog::warn(fmt::format("the settings last chosen for {} are not used: {}", file, error.what()));
  }
  denoising.noise.set_base(kept.noise);
  denoising.filter.set_base(kept.filter);
  resolve_settings();
}

void ViewerCommandOptions::use_settings(const PlayerSettings& settings, const FrameFormat& format) {
  carried_ = settings;
  try {
    settings.noise.check(format, Latency::kNone);
  } catch (const UsageError& error) {
    spdlog::warn(fmt::format("the noise settings of before are not used: {}", error.what()));
    carried_->noise = {};
  }
}

std::string ViewerCommandOptions::objection(const io::Reader& source) const {
  try {
    (sets_any_ ? settings_.noise : NoiseSettings()).check(source.video().format, Latency::kNone);
    static_cast<void>(picture_filter(source));
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

void ViewerCommandOptions::remember(const std::string& file, const DenoisingSettings& settings) const {
  PlayerSettings begun = settings_;
  begun.filter.name = settings.filter.name;
  const bool same_filter = denoising.filter.name(false) == settings.filter.name ||
                           denoising.filter.name(true) == settings.filter.name;
  if (no_memory || file == "-" ||
      (same_filter && filter_settings(begun) == settings.filter && settings.noise == settings_.noise)) {
    return;
  }
  try {
    kept_settings().write(name_of_kept(file), json_text(settings) + "\n");
  } catch (const Error& error) {
    spdlog::warn(error.what());
  }
}

void ViewerCommandOptions::check() {
  denoising.read_file();
  sets_any_ = denoising.is_given();
  // Every frame counts for a screenshot, and there is no pace to keep.
  settings_.keeps_pace =
      shown_.screenshot.empty() && (pace_.empty() ? !denoising.filter.is_chosen() : pace_ == "auto");
  resolve_settings();
  if (!window_size_.empty()) {
    static_cast<void>(parse_size(window_size_));
  }
  std::error_code ignored;
  if (!overwrite && !shown_.screenshot.empty() && std::filesystem::exists(shown_.screenshot, ignored)) {
    throw Error(shown_.screenshot + ": exists; -y overwrites it");
  }
  if (shown_.frames == 0 && !shown_.screenshot.empty()) {
    shown_.frames = 1;
  }
  input.apply_to(reader);
  io::require_independent_frames("--before", reader.before, "the window");
  io::WriterOptions writer;
  output.apply_to(writer);
  after = writer.after;
  io::require_independent_frames("--after", after, "the window");
  reader.audio = reader.subtitles = reader.data = false;
}

PlayerStages ViewerCommandOptions::stages(const std::shared_ptr<Engine>& denoising_engine,
                                          const io::Reader& source, bool live) {
  LadderUse use;
  use.live = live;
  use.on_processors = denoising_engine->name() == "cpu";
  use.unbounded = denoising_engine->name().find(',') == std::string_view::npos;
  PlayerStages stages;
  stages.engine = denoising_engine;
  speeds_ = std::make_shared<SpeedMemory>(SpeedMemory::default_file(), denoising_engine->description(),
                                          source.video().format);
  stages.ladder = [use, speeds = speeds_](const PlayerSettings& settings) {
    QualityLadder ladder = make_ladder(settings, use);
    for (QualityRung& rung : ladder.rungs) {
      rung.seconds = speeds->seconds(speed_name(rung.settings, use.live));
    }
    return ladder;
  };
  stages.measured = [live, speeds = speeds_](const PlayerSettings& settings, double seconds) {
    speeds->note(speed_name(settings, live), seconds);
  };
  stages.make_denoiser = [denoising_engine](const PlayerSettings& settings, const Frame& frame,
                                            const NoiseModel& level) {
    const Filter filter = filter_of(settings);
    std::unique_ptr<Denoiser> denoiser = denoising_engine->make_denoiser(filter, level, frame.format);
    log_warnings(denoiser->warnings());
    return denoiser;
  };
  stages.refining_reach = [](const PlayerSettings& settings) {
    const Filter filter = offline_filter(settings);
    return live_filter(settings) == filter ? Reach{} : reach_of(filter);
  };
  stages.make_refiner = [denoising_engine](const PlayerSettings& settings, const Frame& frame,
                                           const NoiseModel& level) {
    return denoising_engine->make_denoiser(offline_filter(settings), level, frame.format);
  };
  return stages;
}

PlayerOptions ViewerCommandOptions::player_options(const io::Reader& source) const {
  PlayerOptions options;
  const io::VideoProperties& video = source.video();
  options.settings = settings_;
  options.settings.filter.name = denoising.filter.name(video.still_picture);
  if (const FilterType& type = filter_type(options.settings.filter.name); !type.profiles.empty()) {
    options.settings.filter.profile =
        profile_for(type.profiles, settings_.filter.profile.value_or(type.default_profile));
  }
  options.settings = carried_.value_or(options.settings);
  options.frames_per_second = video.frames_per_second > 0 ? video.frames_per_second : kGuessedRate;
  options.duration = video.duration;
  return options;
}

ViewerOptions ViewerCommandOptions::viewer_options(const io::Reader& source, const Engine& denoising_engine,
                                                   const std::string& name) const {
  ViewerOptions options = shown_;
  options.source = name;
  options.format = source.video().format;
  options.display = source.display();
  options.after = picture_filter(source);
  options.engine = denoising_engine.name();
  for (const FilterType& type : filter_types()) {
    options.filters.push_back(type.name);
  }
  options.duration = source.video().duration;
  options.chapters = source.chapters();
  options.keep_times = json;
  options.overwrite = overwrite;
  options.fields = denoising.fields.choice();
  options.overlay = !no_osd_;
  options.notice = notice_;
  options.side = parse_side(view);
  options.still_picture = source.video().still_picture;
  options.window.title = io::valid_utf8(name) + " - limpid";
  if (!window_size_.empty()) {
    options.window.size = parse_size(window_size_);
    options.window.fixed = true;
  }
  options.open_window = window;
  options.window.vsync = !no_vsync_;
  options.window.display_lost = [] {
    spdlog::error("the connection to the display is lost");
    spdlog::default_logger()->flush();
  };
  return options;
}

std::vector<std::string> ViewerCommandOptions::denoise_command(const std::string& input_path,
                                                               const PlayerSettings& settings,
                                                               const Passage& passage) const {
  const bool looks_like_an_option = input_path.starts_with("-");
  Words words{"limpid", "denoise", (looks_like_an_option ? "./" : "") + input_path};
  if (engine.name != "auto") {
    words.insert(words.end(), {"--engine", engine.name});
  }
  if (engine.threads > 0) {
    words.insert(words.end(), {"--threads", std::to_string(engine.threads)});
  }
  io::ReaderOptions reading;
  input.apply_to(reading);
  add_reading(reading, words);
  if (!after.empty()) {
    words.insert(words.end(), {"--after", after});
  }
  if (denoising.fields.choice() != FieldChoice::kAuto) {
    words.insert(words.end(), {"--fields", to_string(denoising.fields.choice())});
  }
  words.insert(words.end(), {"--filter", to_string(filter_settings(settings))});
  add_noise(settings.noise, words);
  for (const auto& [option, time] : {std::pair{"--start", passage.begin}, std::pair{"--end", passage.end}}) {
    if (time) {
      words.insert(words.end(), {option, fmt::format("{:.3f}", *time)});
    }
  }
  return words;
}

int ViewerCommandOptions::report(const ViewerReport& report, const std::string& command_line,
                                 const InterruptWatch& interrupts, bool is_last) const {
  if (speeds_ != nullptr) {
    speeds_->save();
  }
  spdlog::info(fmt::format("{} frames shown, {} dropped", report.shown, report.dropped));
  if (report.filters.size() > 1) {
    spdlog::info(fmt::format("frames shown: {}", to_text(report.filters)));
  }
  if (!command_line.empty()) {
    spdlog::info(fmt::format("command: {}", command_line));
  }
  if (json && is_last) {
    nlohmann::ordered_json document = to_json(report);
    document["command"] =
        command_line.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(command_line);
    print_report(document);
  }
  return interrupts.interrupted() ? interrupts.exit_code() : kExitDone;
}

}  // namespace limpid::app
