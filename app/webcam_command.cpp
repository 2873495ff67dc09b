#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/command.h"
#include "app/frame_sink.h"
#include "app/interrupt.h"
#include "app/json_report.h"
#include "app/logging.h"
#include "app/viewing_options.h"
#include "core/error.h"
#include "io/camera.h"
#include "io/writer.h"

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
    }
    print_report(json);
    return kExitDone;
  }
  if (cameras.empty()) {
    std::cout << "no camera found\n";
  }
  for (const io::Camera& camera : cameras) {
    std::cout << fmt::format("{}  {}\n", camera.node, camera.name);
    for (const io::CameraFormat& format : camera.formats) {
      std::cout << fmt::format("  {}  ({})\n", format.name, format.description);
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

io::Writer open_recording(const WebcamOptions& options, const io::Reader& reader, const Engine& engine) {
  io::WriterOptions writer = options.writer;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(options.record, ignored) && !options.overwrite) {
    throw Error(options.record + ": exists; -y overwrites it");
  }
  writer.overwrite = options.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever;
  writer.encoder_threads = encoder_threads(engine);
  return io::Writer(options.record, reader, writer);
}

io::Writer open_loopback(const std::string& device, const io::Reader& reader) {
  io::WriterOptions writer;
  writer.container = "v4l2";
  writer.codec = "rawvideo";
  writer.pixel_format = "yuv420p";  // which every program takes
  return io::Writer(device, reader, writer);
}

using Sinks = std::vector<std::pair<std::string, std::unique_ptr<FrameSink>>>;  // by what to call them

/// Completes what has been recorded, whatever else has failed: the camera doesn't see it again. Then throws
/// `failure`, or else the first of the sinks' own.
void finish(const Sinks& sinks, std::exception_ptr failure) {
  for (const auto& [name, sink] : sinks) {
    try {
      sink->finish();
      spdlog::info(fmt::format(
          "{} frames to {}{}", sink->written(), name,
          sink->dropped() > 0 ? fmt::format(", {} dropped as it was too slow", sink->dropped()) : ""));
    } catch (...) {
      if (failure == nullptr) {
        failure = std::current_exception();
      }
    }
  }
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

int show_webcam(WebcamOptions& options, Console& console) {
  ViewingOptions& viewing = options.viewing;
  set_up_logging(console, viewing.logging);
  if (options.list) {
    return list(options.source, viewing.json);
  }
  viewing.check();
  settle_input(options);
  InterruptWatch interrupts;

  const std::shared_ptr<Engine> engine = viewing.open_engine(interrupts);
  io::Reader reader(options.source, viewing.reader);

  Sinks sinks;
  if (!options.record.empty()) {
    io::Writer writer = open_recording(options, reader, *engine);
    log_warnings(writer.warnings());
    sinks.emplace_back(options.record, std::make_unique<FrameSink>(std::move(writer)));
  }
  if (!options.loopback.empty()) {
    sinks.emplace_back(options.loopback,
                       std::make_unique<FrameSink>(open_loopback(options.loopback, reader)));
  }

  PlayerStages stages = viewing.stages(engine);
  const bool needs_pace = viewing.reader.input_format == "lavfi";
  stages.read = [&reader, needs_pace, pace = Pace()]() mutable {
    io::Reader::Item item = reader.read();
    if (const Frame* const frame = std::get_if<Frame>(&item); frame != nullptr && needs_pace) {
      pace.wait(*frame);
    }
    return item;
  };
  stages.denoised = [&sinks](const PlayedFrame& frame) {
    for (const auto& [name, sink] : sinks) {
      sink->offer(frame.denoised);
    }
  };
  PlayerOptions player_options = viewing.player_options(reader);
  player_options.live = true;
  player_options.duration = 0;
  ViewerOptions viewer_options = viewing.viewer_options(reader, *engine, options.source);
  viewer_options.duration = 0;

  ViewerReport report;
  std::exception_ptr failure;
  try {
    Viewer viewer(std::move(viewer_options), std::move(stages), std::move(player_options));
    const ClosingNotice notice(viewing.closing);
    viewer.run(interrupts.stop());
    viewer.finish();
    report = viewer.report();
  } catch (...) {
    failure = std::current_exception();
  }
  finish(sinks, failure);
  if (!reader.failure().empty()) {
    spdlog::warn(fmt::format("{}: the source is gone: {}", options.source, reader.failure()));
  }
  return viewing.tell(report, interrupts);
}

}  // namespace

void add_webcam_command(CommandLine& program, Command& selected) {
  CommandLine* command =
      program.add_subcommand("webcam", "Show a camera, or another live source, denoised in a window");
  command->take_last();
  auto options = std::make_shared<WebcamOptions>();
  constexpr const char* kInput = "Input";
  command->add_option("DEVICE", options->source, "Camera, or what the input format takes [/dev/video0]");
  command->add_flag("--list", options->list,
                    "List the cameras, or DEVICE's formats, sizes and rates; --json");
  command
      ->add_option(
          "--input-format", options->input_format,
          "The camera's format, such as mjpeg or yuyv422; or another of libavdevice's inputs: x11grab, "
          "lavfi, ... [v4l2]")
      ->type_name("NAME")
      ->group(kInput);
  command->add_option("--size", options->size, "Of the source's pictures [the source's choice]")
      ->type_name("WxH")
      ->group(kInput);
  command->add_option("--fps", options->fps, "The source's frames per second [the source's choice]")
      ->type_name("N")
      ->group(kInput);
  constexpr const char* kOutput = "Output";
  command->add_option("--record", options->record, "Write the denoised frames to this file, too")
      ->type_name("OUT")
      ->group(kOutput);
  command->add_flag("-y,--overwrite", options->overwrite, "Overwrite the recording's file")->group(kOutput);
  command
      ->add_option("-c,--codec", options->writer.codec, "Encoder [what suits the container, libx264 first]")
      ->type_name("NAME")
      ->group(kOutput);
  command->add_option("--crf", options->writer.crf, "Constant quality of the encoder")
      ->type_name("N")
      ->group(kOutput);
  command->add_option("--preset", options->writer.preset, "Speed preset of the encoder")
      ->type_name("NAME")
      ->group(kOutput);
  command
      ->add_option(
          "--loopback", options->loopback,
          "Write the denoised frames to this v4l2loopback device, too: other programs take it for a camera")
      ->type_name("/dev/videoN")
      ->group(kOutput);
  options->viewing.add_to(*command);
  command->callback([&selected, options] {
    selected = [options](Console& console) { return show_webcam(*options, console); };
  });
}

}  // namespace limpid::app
