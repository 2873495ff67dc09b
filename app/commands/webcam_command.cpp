#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/viewing_options.h"
#include "app/console/console.h"
#include "app/console/interrupt.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/options/media_options.h"
#include "app/player/frame_sink.h"
#include "app/player/recorder.h"
#include "core/base/error.h"
#include "core/engine/field_control.h"
#include "io/media/camera.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

struct WebcamOptions {
  std::string source;
  std::string input_format = "v4l2";
  std::string size;
  std::string fps;
  bool list = false;
  std::string record;
  bool overwrite = false;
  MediaOptions<io::WriterOptions> encoding{writer_fields()};
  io::WriterOptions writer;
  std::string loopback;
  ViewingOptions viewing;
};

int list(const std::string& device, bool as_json) {
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
  if (const std::optional<double> wanted = parse_rate(options.fps);
      wanted && video.frames_per_second > 0 && std::abs(video.frames_per_second / *wanted - 1) > kSame) {
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
}

/// Cameras and screens give frames when it is time for them; libavfilter's sources as fast as they are asked.
class Pace {
 public:
  void wait(const Frame& frame) {
    const double time = io::presentation_time(frame).value_or(0);
    if (!begun_) {
      begun_ = true;
      begin_ = Clock::now() - in_clock(time);
    }
    std::this_thread::sleep_until(begin_ + in_clock(time));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::duration in_clock(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  bool begun_ = false;
  Clock::time_point begin_;
};

io::Writer open_recording(const WebcamOptions& options, const io::Reader& reader, const Engine& engine,
                          const std::string& file, io::Overwrite overwrite) {
  io::WriterOptions writer = options.writer;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored) && overwrite == io::Overwrite::kNever) {
    throw Error(file + ": exists; -y overwrites it");
  }
  writer.overwrite = overwrite;
  writer.begin_at_zero = true;  // the camera may have run for days
  writer.encoder_threads = encoder_threads(engine);
  io::Writer recording(file, reader, writer);
  log_warnings(io::texts_of(recording.diagnostics()));
  // Cameras and screens deliver more chroma than most players of H.264 and HEVC support.
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

io::Writer open_loopback(const std::string& device, const io::Reader& reader) {
  io::WriterOptions writer;
  writer.container = "v4l2";
  writer.codec = "rawvideo";
  writer.pixel_format = "yuv420p";  // which every program takes
  std::error_code ignored;
  try {
    return {device, reader, writer};
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    if (!std::filesystem::exists(device, ignored)) {
      throw Error(
          device +
          ": device not found; install v4l2loopback-dkms, then run 'modprobe v4l2loopback exclusive_caps=1' "
          "as root");
    }
    throw Error(
        fmt::format("{} (it must be a v4l2loopback device that no other program writes to)", error.what()));
  }
}

/// The recordings and the loopback device. If one fails, the other one and the window continue.
class Sinks {
 public:
  explicit Sinks(RecorderOptions options) : records_(!options.file.empty()), recorder_(std::move(options)) {}

  Recorder& recorder() { return recorder_; }
  void set_loopback(std::string name, io::Writer writer) {
    loopback_name_ = std::move(name);
    loopback_.emplace(std::move(writer));
  }

  /// On one thread.
  void offer(const Frame& frame) {
    recorder_.offer(frame);
    if (loopback_) {
      loopback_->offer(frame);
      if (loopback_->has_failed() && !std::exchange(is_told_, true)) {
        tell_failure();
      }
    }
  }

  /// True if an output of the command line accepts frames, or the command line has no output. On any thread.
  bool work() const {
    return (!records_ && !loopback_) || (records_ && !recorder_.has_failed()) ||
           (loopback_ && !loopback_->has_failed());
  }

  /// The text for the window. On any thread.
  News take_news() {
    {
      const std::scoped_lock lock(mutex_);
      if (!loopback_news_.empty()) {
        return {std::exchange(loopback_news_, ""), true};
      }
    }
    return recorder_.take_news();
  }

  /// Completes what has been written, whatever else has failed: the camera doesn't see it again. Then throws
  /// `failure`, or else the first of the sinks' own. On any thread.
  void finish(std::exception_ptr failure) {
    const auto guarded = [&failure](const auto& finish_one) {
      try {
        finish_one();
      } catch (...) {
        failure = failure == nullptr ? std::current_exception() : failure;
      }
    };
    guarded([this] { recorder_.finish(); });
    if (loopback_) {
      guarded([this] {
        loopback_->finish();
        loopback_->log_frames(loopback_name_);
      });
    }
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }

 private:
  void tell_failure() {
    try {
      loopback_->finish();
    } catch (const std::exception& error) {
      spdlog::warn(fmt::format("{} gets no more frames: {}", loopback_name_, error.what()));
      const std::scoped_lock lock(mutex_);
      loopback_news_ = error.what();
    }
  }

  const bool records_;
  Recorder recorder_;
  std::string loopback_name_;
  std::optional<FrameSink> loopback_;
  bool is_told_ = false;  ///< that it has failed
  std::mutex mutex_;
  std::string loopback_news_;
};

int show_webcam(WebcamOptions& options, Console& console) {
  ViewingOptions& viewing = options.viewing;
  set_up_logging(console, viewing.logging);
  if (options.list) {
    return list(options.source, viewing.json);
  }
  viewing.check();
  options.encoding.apply_to(options.writer);
  settle_input(options);
  options.record = io::local_name(options.record);
  InterruptWatch interrupts;

  const std::shared_ptr<Engine> engine = viewing.open_engine(interrupts);
  io::Reader reader(options.source, viewing.reader);
  warn_of_other_choice(options, reader.video());

  Sinks sinks({options.record, options.overwrite, [&](const std::string& name, io::Overwrite overwrite) {
                 return open_recording(options, reader, *engine, name, overwrite);
               }});
  Recorder& recorder = sinks.recorder();
  if (!options.record.empty()) {
    recorder.begin();
  }
  if (!options.loopback.empty()) {
    sinks.set_loopback(options.loopback, open_loopback(options.loopback, reader));
  }

  PlayerStages stages = viewing.stages(engine, reader, true);
  const bool needs_pace = viewing.reader.input_format == "lavfi";
  // Any filter may be chosen while it plays.
  FieldControl fields(viewing.fields.choice(), {.before = 1, .after = 1}, *engine);
  stages.read = [&reader, &recorder, &fields, needs_pace, pace = Pace()]() mutable {
    io::Reader::Item item = reader.read();
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      if (needs_pace) {
        pace.wait(*frame);
      }
      fields.decide(*frame);
    }
    recorder.serve();
    return item;
  };
  stages.denoised = [&sinks](const PlayedFrame& frame) { sinks.offer(frame.denoised); };
  PlayerOptions player_options = viewing.player_options(reader);
  player_options.live = true;
  player_options.duration = 0;
  ViewerOptions viewer_options = viewing.viewer_options(reader, *engine, options.source);
  viewer_options.duration = 0;

  viewer_options.recording = [&recorder] { return recorder.status(); };
  viewer_options.toggle_recording = [&recorder] { return recorder.toggle(); };
  viewer_options.news = [&sinks] { return sinks.take_news(); };
  viewer_options.is_needed = [&sinks] { return sinks.work(); };
  viewer_options.window.display_lost = [&sinks, tell = viewer_options.window.display_lost] {
    try {
      sinks.finish(nullptr);
    } catch (const std::exception& error) {
      spdlog::error(error.what());
    }
    tell();
  };

  Viewer viewer(std::move(viewer_options), std::move(stages), std::move(player_options));
  const ClosingNotice notice(viewing.closing);
  std::exception_ptr failure;
  try {
    viewer.run(interrupts.stop());
    viewer.finish();
  } catch (...) {
    failure = std::current_exception();
  }
  // Before the window goes, for which one may have to wait.
  sinks.finish(failure);
  if (const std::string why = text_of(reader.diagnostics(), io::Diagnostic::Kind::kFailure); !why.empty()) {
    spdlog::warn(fmt::format("{}: the source is gone: {}", options.source, why));
  }
  return viewing.tell(viewer.report(), interrupts);
}

}  // namespace

void add_webcam_command(CommandLine& program, Command& selected) {
  CommandLine* command =
      program.add_subcommand("webcam", "Show a camera or another live source in a window, denoised");
  command->take_last();
  auto options = std::make_shared<WebcamOptions>();
  constexpr const char* kInput = "Input";
  command
      ->add_option("DEVICE", options->source, "Camera, or another source of the input format [/dev/video0]")
      ->file();
  command->add_flag("--list", options->list, "List the cameras, or the formats, sizes and rates of DEVICE");
  command
      ->add_option("--input-format", options->input_format,
                   "Format of the camera, such as mjpeg or yuyv422; or another input of libavdevice, such as "
                   "x11grab or "
                   "lavfi [v4l2]")
      ->type_name("NAME")
      ->group(kInput);
  command->add_option("--size", options->size, "Size of the pictures [of the source]")
      ->type_name("WxH")
      ->group(kInput);
  command->add_option("--fps", options->fps, "Frames per second [of the source]")
      ->type_name("N")
      ->group(kInput);
  options->viewing.input.add_to(*command, kInput, {"input_option"});
  options->viewing.fields.add_to(*command, kInput);
  command
      ->add_option("--latency", options->viewing.latency_ms,
                   "Longest time that filters wait for later frames, in milliseconds [0]")
      ->type_name("MS")
      ->in_range(0.0, 10000.0)
      ->group("Filter");
  constexpr const char* kOutput = "Output";
  command
      ->add_option("--record", options->record,
                   "Also write the denoised video to a file; the key r starts recording later")
      ->type_name("OUT")
      ->file()
      ->group(kOutput);
  command->add_flag("-y,--overwrite", options->overwrite, "Overwrite an existing recording")->group(kOutput);
  options->encoding.add_to(*command, kOutput, {"codec", "crf", "preset", "encoder_option", "pix_fmt"});
  command
      ->add_option("--loopback", options->loopback,
                   "Also write the denoised frames to a v4l2loopback device, as a camera for other programs")
      ->type_name("/dev/videoN")
      ->file()
      ->group(kOutput);
  options->viewing.add_to(*command);
  command->callback([&selected, options] {
    selected = [options](Console& console) { return show_webcam(*options, console); };
  });
}

}  // namespace limpid::app
