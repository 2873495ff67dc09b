// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/viewing_options.h"
#include "app/console/console.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/options/media_options.h"
#include "app/player/live_outputs.h"
#include "app/player/measurements.h"
#include "app/player/player.h"
#include "app/player/player_queues.h"
#include "app/player/viewer_options.h"
#include "core/base/error.h"
#include "core/base/system/stop_callback.h"
#include "core/base/text.h"
#include "io/media/camera.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

// The name of a camera, with its device if another one has the same name; the device if it has no name.
std::string listed_name(const std::vector<io::Camera>& cameras, const std::string& device) {
  const auto camera = std::ranges::find(cameras, device, &io::Camera::node);
  const std::string name = camera != cameras.end() ? camera->name : io::video_device_name(device);
  const bool is_unique = std::ranges::count(cameras, name, &io::Camera::name) < 2;
  return name.empty() ? device : printable(name) + (is_unique ? "" : " (" + device + ")");
}

/// Prints the cameras of this machine, or one of them, with their formats. Returns the exit code.
int print_cameras(const std::string& device, bool as_json) {
  const std::vector<io::Camera> cameras = io::list_cameras(device);
  if (as_json) {
    nlohmann::ordered_json json;
    json["cameras"] = nlohmann::json::array();
    for (const io::Camera& camera : cameras) {
      nlohmann::ordered_json formats = nlohmann::json::array();
      for (const io::CameraFormat& format : camera.formats) {
        nlohmann::ordered_json modes = nlohmann::json::array();
        for (const auto& [size, rates] : format.modes) {
          modes.push_back({{"width", size.width}, {"height", size.height}, {"fps", rates}});
        }
        formats.push_back({{"name", format.name}, {"description", format.description}, {"modes", modes}});
      }
      json["cameras"].push_back({{"device", camera.node}, {"name", camera.name}, {"formats", formats}});
      if (!camera.failure.empty()) {
        json["cameras"].back()["failure"] = camera.failure;
      }
    }
    print_report(json);
    return kExitDone;
  }
  if (cameras.empty()) {
    std::cout << "no camera found: there is no /dev/video* that captures\n";
    spdlog::info("for other sources, set --input-format: x11grab for a screen, lavfi for a filter graph");
  }
  for (const io::Camera& camera : cameras) {
    std::cout << fmt::format("{}  {}\n", printable(camera.node),
                             printable(camera.failure.empty() ? camera.name : camera.failure));
    for (const io::CameraFormat& format : camera.formats) {
      std::cout << fmt::format("  {}  ({})\n", printable(format.name), printable(format.description));
      for (const auto& [size, rates] : format.modes) {
        std::string text;
        for (const double rate : rates) {
          text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", rate);
        }
        std::cout << fmt::format("    {}x{}{}\n", size.width, size.height,
                                 text.empty() ? "" : "  " + text + " fps");
      }
    }
  }
  return kExitDone;
}

/// "there are /dev/video0 (Integrated Camera), ...", or "no camera is connected".
std::string cameras_text() {
  std::string text;
  for (const io::Camera& camera : io::list_cameras()) {
    text += fmt::format("{}{} ({})", text.empty() ? "there are " : ", ", camera.node, camera.name);
  }
  return text.empty() ? "no camera is connected" : text;
}

/// The name of a camera for the user: with its device if another camera has the same name; `device` itself
/// for other devices.
std::string camera_name(const std::string& device) { return listed_name(io::list_cameras(), device); }

/// The cameras of this machine and, if it is one, `device`, with each format, size and highest rate.
std::vector<CameraChoice> camera_choices(const std::string& device) {
  std::vector<CameraChoice> choices;
  std::vector<io::Camera> cameras = io::list_cameras();
  const auto is_listed = [&](const io::Camera& camera) { return camera.node == device; };
  if (std::ranges::none_of(cameras, is_listed)) {
    try {
      cameras = io::list_cameras(device);
    } catch (const Error&) {
      // A screen or a filter graph.
    }
  }
  for (const io::Camera& camera : cameras) {
    for (const io::CameraFormat& format : camera.formats) {
      for (const auto& [size, rates] : format.modes) {
        CameraChoice choice{.name = "",
                            .node = camera.node,
                            .format = format.name,
                            .size = fmt::format("{}x{}", size.width, size.height),
                            .fps = rates.empty() ? "" : fmt::format("{:.6g}", std::ranges::max(rates)),
                            .microphone = ""};
        choice.name =
            fmt::format("{}, {} {}{}", listed_name(cameras, camera.node), choice.size, choice.format,
                        choice.fps.empty() ? "" : fmt::format(" {} fps", choice.fps));
        choices.push_back(std::move(choice));
      }
    }
  }
  return choices;
}

/// Runs a Player without a window. The results go to PlayerStages::denoised.
class HeadlessPlayer {
 public:
  /// `options`: how many frames are shown, which times are kept, and until when the player is needed; must
  /// outlive this object. `stages` does not need wake.
  HeadlessPlayer(const ViewerOptions& options, PlayerStages stages, const PlayerOptions& player_options)
      : options_(options) {
    stages.wake = [this] { commands_.wake(); };
    player_ = std::make_unique<Player>(std::move(stages), player_options);
  }

  /// Runs until the source has ended, a stop is requested, or one of the options ends it. Throws the error of
  /// a stage.
  void run(const std::stop_token& stop) {
    constexpr std::chrono::seconds kLongestWait{1};
    const StopCallback wakes(stop, [this] { commands_.wake(); });
    for (;;) {
      const auto now = Player::Clock::now();
      const Player::Taken taken = player_->take(now);
      if (taken.frame != nullptr) {
        report_.add(*taken.frame, now, options_.keep_times);
      }
      const bool is_enough = options_.frames > 0 && report_.shown >= options_.frames;
      if (taken.ended || is_enough || stop.stop_requested() || !options_.is_needed()) {
        break;
      }
      commands_.wait(Player::Clock::now() + kLongestWait);
    }
    report_.dropped = player_->counters().dropped_before + player_->counters().dropped_after;
  }
  /// Calls Player::finish().
  void finish() { player_->finish(); }
  const ViewerReport& report() const { return report_; }

 private:
  const ViewerOptions& options_;
  ViewerReport report_;
  CommandQueue commands_;           ///< of the thread that calls run()
  std::unique_ptr<Player> player_;  ///< last, as its threads use the queue
};

struct WebcamOptions {
  std::string source;
  std::string input_format = "v4l2";
  std::string size;
  std::string fps;
  bool list = false;
  std::string record;
  MediaOptions<io::WriterOptions> encoding{writer_fields()};
  io::WriterOptions writer;
  std::string loopback;
  bool no_window = false;
  bool no_audio = false;
  bool mirror = false;
  double most_load = 100;
  ViewerCommandOptions viewing;
  std::string failure;  ///< of the camera that was chosen before, for the window
};

/// The frame rate of an option; empty unless it is a plain number or ratio.
std::optional<double> parse_rate(const std::string& text) {
  double numerator = 0;
  double denominator = 1;
  char rest = 0;
  const int parts = std::sscanf(text.c_str(), "%lf/%lf%c", &numerator, &denominator, &rest);
  return (parts == 1 && text.find('/') == std::string::npos) || parts == 2
             ? std::optional(numerator / denominator)
             : std::nullopt;
}

/// Cameras give what is nearest to what they were asked for.
void warn_of_other_choice(const WebcamOptions& options, const io::VideoProperties& video) {
  std::vector<std::string> changes;
  int width = 0;
  int height = 0;
  char rest = 0;
  if (std::sscanf(options.size.c_str(), "%dx%d%c", &width, &height, &rest) == 2 &&
      (width != video.format.width || height != video.format.height)) {
    changes.push_back(
        fmt::format("{}x{} instead of {}", video.format.width, video.format.height, options.size));
  }
  constexpr double kSame = 0.01;
  if (const std::optional<double> requested = parse_rate(options.fps);
      requested && video.frames_per_second > 0 &&
      std::abs(video.frames_per_second / *requested - 1) > kSame) {
    changes.push_back(
        fmt::format("{:.4g} frames a second instead of {}", video.frames_per_second, options.fps));
  }
  if (!changes.empty()) {
    spdlog::warn(fmt::format("{} delivers {} (limpid webcam --list {} lists its formats)", options.source,
                             fmt::join(changes, " and "), options.source));
  }
}

/// Decides on what the options mean to libavdevice.
void settle_input(WebcamOptions& options) {
  if (const std::string why = io::why_no_cameras(); !why.empty()) {
    throw UsageError(why);
  }
  io::ReaderOptions& reader = options.viewing.reader;
  if (io::is_capture_format(options.input_format)) {
    reader.input_format = options.input_format;
  } else {
    // A camera's own format, as ffmpeg's -input_format.
    reader.input_format = "v4l2";
    reader.options.emplace_back("input_format", options.input_format);
  }
  if (options.source.empty()) {
    if (reader.input_format == "v4l2") {
      options.source = "/dev/video0";
    } else if (const char* const display = std::getenv("DISPLAY");
               reader.input_format == "x11grab" && display != nullptr) {
      options.source = display;
    } else {
      throw UsageError("the device is missing: limpid webcam DEVICE --input-format " + options.input_format);
    }
  }
  std::error_code ignored;
  const bool is_device = options.source.starts_with('/');
  if (reader.input_format == "v4l2" && (!options.no_window || !is_device) &&
      !io::is_video_device_present(options.source)) {
    const bool is_number = options.source.find_first_not_of("0123456789") == std::string::npos;
    throw Error(options.source + ": no such camera; " +
                (is_number    ? "its device has a name such as /dev/video" + options.source + "; "
                 : !is_device ? "--input-format lavfi reads a filter graph, x11grab a screen; "
                              : "") +
                cameras_text());
  }
  if (reader.input_format == "v4l2" && std::filesystem::is_regular_file(options.source, ignored)) {
    throw UsageError(fmt::format("{}: is a file, not a camera (limpid preview {} plays it)", options.source,
                                 options.source));
  }
  if (!options.size.empty()) {
    reader.options.emplace_back("video_size", options.size);
  }
  if (!options.fps.empty()) {
    reader.options.emplace_back("framerate", options.fps);
  }
  // Each thread of a decoder holds a frame back.
  reader.decoder_threads = 1;
  reader.options.emplace_back("flags", "low_delay");
  reader.audio = !options.no_audio;
  if (options.no_audio && !reader.sound_device.empty()) {
    throw UsageError("--audio and --no-audio exclude each other");
  }
  // Filter graphs and devices have different clocks.
  reader.sound_format = reader.input_format == "lavfi" ? "lavfi" : "alsa";
  if (!reader.sound_device.empty() && reader.input_format == "v4l2") {
    reader.options.emplace_back("timestamps", "abs");  // the clock of audio devices
  }
}

io::Writer open_recording(const WebcamOptions& options, const io::Reader& reader, const Engine& engine,
                          const std::string& file, io::Overwrite overwrite) {
  io::WriterOptions writer = options.writer;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored) && overwrite == io::Overwrite::kNever) {
    throw Error(file + ": exists; -y overwrites it");
  }
  writer.overwrite = overwrite;
  writer.live = true;         // the camera may have run for days
  writer.for_players = true;  // cameras and screens deliver more chroma than most players support
  static constexpr std::array<std::string_view, 4> kOfAac{".mkv", ".mp4", ".mov", ".m4v"};
  if (writer.audio_codec.empty() &&
      std::ranges::find(kOfAac, lower_case(std::filesystem::path(file).extension().string())) !=
          kOfAac.end()) {
    writer.audio_codec = "aac";  // devices deliver PCM
  }
  writer.encoder_threads = encoder_threads(engine);
  io::Writer recording(file, reader, writer);
  log_warnings(io::texts_of(recording.diagnostics()));
  const std::string format = recording.pixel_format();
  const bool is_h26x = recording.codec().find("264") != std::string::npos ||
                       recording.codec().find("265") != std::string::npos;
  if (writer.pixel_format.empty() && is_h26x && !format.starts_with("yuv420") &&
      !format.starts_with("nv12")) {
    spdlog::warn(
        fmt::format("{}: browsers and many players do not play {} with {}; use --pix-fmt yuv420p for them",
                    file, format, recording.codec()));
  }
  return recording;
}

void check_outputs(const WebcamOptions& options) {
  if (options.no_window && options.record.empty() && options.loopback.empty()) {
    throw UsageError("--no-window: add --loopback DEVICE or --record FILE for the denoised video");
  }
  io::require_virtual_camera(options.loopback);
}

/// The options of a window that controls the outputs and shows their state.
ViewerOptions viewer_options(const ViewerCommandOptions& viewing, const LiveSource& source,
                             const Engine& engine, const std::string& name, LiveOutputs& outputs) {
  ViewerOptions options = viewing.viewer_options(source.reader(), engine, name);
  options.duration = 0;
  options.recording = [&outputs] { return outputs.recorder().status(); };
  options.toggle_recording = [&outputs] { return outputs.recorder().toggle(); };
  options.toggle_loopback = [&outputs] { return outputs.loopback().toggle(); };
  options.loops_back = [&outputs] { return outputs.loopback().is_on(); };
  options.news = [&outputs] { return outputs.take_news(); };
  options.is_needed = [&outputs] { return outputs.work(); };
  options.window.display_lost = [&outputs, tell = options.window.display_lost] {
    try {
      outputs.finish(nullptr);
    } catch (const std::exception& error) {
      spdlog::error(error.what());
    }
    tell();
  };
  return options;
}

/// Runs a viewer or a headless player to its end, and completes the outputs whatever fails.
template <typename Shown>
ViewerReport run(Shown& shown, LiveOutputs& outputs, ViewerCommandOptions& viewing,
                 const InterruptWatch& interrupts) {
  const ClosingNotice notice(viewing.closing);
  std::exception_ptr failure;
  try {
    shown.run(interrupts.stop());
    viewing.closing = true;  // it may be waiting for a camera
    shown.finish();
  } catch (...) {
    failure = std::current_exception();
  }
  // Before a window is destroyed, which may take time.
  outputs.finish(failure);
  ViewerReport report = shown.report();
  report.recordings = outputs.recorder().recordings();
  return report;
}

/// The choice of a microphone, and its level.
void add_microphone(ViewerOptions& shown, const WebcamOptions& options, const SoundLevel& level) {
  const io::ReaderOptions& reader = options.viewing.reader;
  shown.microphone = reader.sound_device;
  if (!options.no_audio && reader.input_format == "v4l2") {
    shown.microphones = io::list_microphones(reader.sound_format);
  }
  if (!reader.sound_device.empty()) {
    shown.sound_level = [&level] { return level.get(); };
  }
}

PlayerOptions live_player_options(const WebcamOptions& options, const io::Reader& source) {
  PlayerOptions player_options = options.viewing.player_options(source);
  player_options.live = true;
  player_options.duration = 0;
  player_options.most_load = options.most_load / 100;
  if (player_options.most_load < 1 && !player_options.settings.keeps_pace) {
    throw UsageError("--max-load requires --pace auto");
  }
  return player_options;
}

struct FoundCameras {
  std::vector<CameraChoice> choices;
  std::string name;      ///< of the camera to show
  std::string loopback;  ///< device; empty if none is known
};

/// To be called before the camera is in use, as some cameras answer only one program.
FoundCameras find_cameras(const WebcamOptions& options) {
  FoundCameras found{.choices = {}, .name = options.source, .loopback = options.loopback};
  if (!options.no_window) {
    found.choices = camera_choices(options.source);
    if (options.viewing.reader.input_format == "v4l2") {
      found.name = camera_name(options.source);
    }
    if (found.loopback.empty()) {
      found.loopback = io::default_virtual_camera();
    }
  }
  return found;
}

/// The next item of the source. `is_reported`: whether the end of the audio has been reported.
io::Reader::Item read_live(LiveSource& source, LiveOutputs& outputs, SoundLevel& level,
                           const std::string& sound_device, bool& is_reported) {
  io::Reader::Item item = source.read([&outputs] { outputs.serve(); });
  outputs.serve();
  if (const std::string why = is_reported ? "" : source.reader().sound_failure(); !why.empty()) {
    is_reported = true;
    outputs.recorder().warn(fmt::format("{}: the audio ended: {}", sound_device, why));
  }
  if (const auto* const packet = std::get_if<std::shared_ptr<io::Packet>>(&item)) {
    level.add(io::peak_of(**packet, source.reader()));
    outputs.recorder().offer(*packet);
  }
  return item;
}

/// Shows one camera. Returns the camera to show next, or nothing at the end.
std::optional<CameraChoice> show_camera(WebcamOptions& options, const std::shared_ptr<Engine>& engine,
                                        const InterruptWatch& interrupts, int& exit_code) {
  ViewerCommandOptions& viewing = options.viewing;
  const FoundCameras found = find_cameras(options);
  LiveSource source({options.source, viewing.reader, viewing.denoising.fields.choice(), !options.no_window},
                    *engine);
  warn_of_other_choice(options, source.reader().video());
  PlayerOptions player_options = live_player_options(options, source.reader());
  LiveOutputs outputs(
      {.name = options.record,
       .begins = !options.record.empty(),
       .overwrite = viewing.overwrite,
       .frames = viewing.frames(),
       .open =
           [&](const std::string& name, io::Overwrite overwrite) {
             return open_recording(options, source.reader(), *engine, name, overwrite);
           }},
      {.name = found.loopback,
       .begins = !options.loopback.empty(),
       .is_camera = true,
       .open = [&source](const std::string& device,
                         io::Overwrite) { return io::open_virtual_camera(device, source.reader()); }},
      engine);
  outputs.begin();

  PlayerStages stages = viewing.stages(engine, source.reader(), true);
  SoundLevel level;
  stages.read = [&source, &outputs, &viewing, &level, told = false]() mutable {
    return read_live(source, outputs, level, viewing.reader.sound_device, told);
  };
  stages.denoised = [&outputs](const PlayedFrame& frame) {
    outputs.offer(frame.denoised, filter_text(frame.used));
  };
  ViewerOptions shown = viewer_options(viewing, source, *engine, found.name, outputs);
  shown.camera = options.source;
  shown.mirrored = options.mirror;
  shown.cameras = found.choices;
  shown.trouble = [&source] { return source.trouble(); };
  shown.find_cameras = [&options] { return camera_choices(options.source); };
  shown.notice = std::exchange(options.failure, "");
  ViewerReport report;
  std::optional<CameraChoice> next;
  if (options.no_window) {
    spdlog::info(fmt::format("{}: running, {}, without a window; Ctrl+C or --frames N ends it",
                             options.source, limpid::to_string(source.reader().video().format)));
    HeadlessPlayer player(shown, std::move(stages), player_options);
    report = run(player, outputs, viewing, interrupts);
  } else {
    add_microphone(shown, options, level);
    Viewer viewer(std::move(shown), std::move(stages), std::move(player_options));
    report = run(viewer, outputs, viewing, interrupts);
    next = viewer.next_camera();
    viewing.window = viewer.window();
    viewing.use_settings(viewer.chosen(), source.reader().video().format);
    options.mirror = viewer.state().mirrored;
    options.loopback = outputs.loopback().last_name();
  }
  if (const std::string why = text_of(source.reader().diagnostics(), io::Diagnostic::Kind::kFailure);
      !why.empty()) {
    spdlog::warn(fmt::format("{}: the source is gone: {}", options.source, why));
  }
  exit_code = viewing.report(report, "", interrupts, !next);
  return next;
}

void set_camera(WebcamOptions& options, const CameraChoice& choice) {
  options.viewing.reader.sound_device = choice.microphone;
  options.source = choice.node;
  options.input_format = choice.format;
  options.size = choice.size;
  options.fps = choice.fps;
  settle_input(options);
}

int show_webcam(WebcamOptions& options, Console& console) {
  ViewerCommandOptions& viewing = options.viewing;
  set_up_logging(console, viewing.logging);
  if (options.list) {
    return print_cameras(options.source, viewing.json);
  }
  viewing.check();
  options.encoding.apply_to(options.writer);
  options.record = io::local_name(options.record);
  check_outputs(options);
  InterruptWatch interrupts;
  const std::shared_ptr<Engine> engine = viewing.open_engine(interrupts);
  const io::ReaderOptions reader = viewing.reader;
  settle_input(options);
  int exit_code = kExitDone;
  CameraChoice shown{"",           options.source, options.input_format,
                     options.size, options.fps,    reader.sound_device};
  std::optional<CameraChoice> next = show_camera(options, engine, interrupts, exit_code);
  while (next) {
    viewing.reader = reader;
    viewing.closing = false;
    options.record.clear();                                    // it has ended with the camera before
    CameraChoice chosen = next->node.empty() ? shown : *next;  // another microphone only
    chosen.microphone = next->microphone.empty() ? shown.microphone : next->microphone;
    set_camera(options, chosen);
    try {
      next = show_camera(options, engine, interrupts, exit_code);
      shown = chosen;
    } catch (const Error& error) {
      if (chosen == shown) {
        throw;
      }
      spdlog::error(error.what());
      options.failure = error.what();
      next = shown;  // which could be opened
    }
  }
  viewing.window.reset();
  return exit_code;
}

void add_webcam_outputs(CommandLine& command, WebcamOptions& options) {
  constexpr const char* kOutput = "Output";
  command.begin_group(kOutput);
  command
      .add_option("--record", options.record,
                  "Also write the denoised video to a file; the key r starts recording later")
      ->type_name("OUT")
      ->file();
  command.add_flag("-y,--overwrite", options.viewing.overwrite,
                   "Overwrite an existing recording or screenshot");
  options.encoding.add_to(
      command, {"codec", "crf", "preset", "encoder_option", "pix_fmt", "audio_codec", "audio_bitrate"});
  command
      .add_option("--audio", options.viewing.reader.sound_device,
                  "Audio device to record, such as default or hw:1 [audio of DEVICE]")
      ->type_name("AUDIO-DEVICE");
  command.add_flag("--no-audio", options.no_audio, "Record no audio");
  command
      .add_option("--loopback", options.loopback,
                  "Also be a camera for other programs, with the denoised frames: a v4l2loopback device such "
                  "as /dev/video10, or pipewire")
      ->type_name("DEVICE")
      ->file();
  command.add_flag("--no-window", options.no_window,
                   "Run without a window, and wait for a camera that is absent");
}

}  // namespace

void add_webcam_command(CommandLine& program) {
  CommandLine* command =
      program.add_subcommand("webcam", "Show a camera or another live source in a window, denoised");
  auto options = std::make_shared<WebcamOptions>();
  constexpr const char* kInput = "Input";
  command
      ->add_option("DEVICE", options->source, "Camera, or another source of the input format [/dev/video0]")
      ->file();
  command->add_flag("--list", options->list, "List the cameras, or the formats, sizes and rates of DEVICE");
  command->begin_group(kInput);
  command
      ->add_option("--input-format", options->input_format,
                   "Format of the camera, such as mjpeg, or an input of libavdevice, such as x11grab [v4l2]")
      ->type_name("NAME");
  command->add_option("--size", options->size, "Size of the pictures [of the source]")->type_name("WxH");
  command->add_option("--fps", options->fps, "Frames per second [of the source]")->type_name("N");
  options->viewing.input.add_to(*command, {"input_option"});
  options->viewing.denoising.fields.add_to(*command);
  add_webcam_outputs(*command, *options);
  options->viewing.view = "denoised";
  options->viewing.add_to(*command);
  command->begin_group("Filter and quality");
  command
      ->add_option("--max-load", options->most_load,
                   "Share of the time that denoising may take, in percent of all processors or of the GPU: a "
                   "quicker filter is used above it [100]")
      ->type_name("PERCENT")
      ->in_range(1.0, 100.0)
      ->advanced();
  command->callback([options](Console& console) { return show_webcam(*options, console); });
}

}  // namespace limpid::app
