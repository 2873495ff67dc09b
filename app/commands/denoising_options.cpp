// SPDX-License-Identifier: MIT
#include "app/commands/denoising_options.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>

#include "app/options/engine_options.h"
#include "core/settings/noise_settings.h"
#include "io/media/filter_chain.h"

namespace limpid::app {

void DenoisingOptions::add_range_to(CommandLine& command) {
  reader.add_to(command, {"start", "end"});
  duration.add_to(command);
  command.add_option("--frames", frames, "Number of frames to denoise [all]")->type_name("N")->positive();
}

void DenoisingOptions::add_streams_to(CommandLine& command) {
  reader.add_to(command, {"input_format", "input_option", "allow_references", "local_only", "skip_missing"});
  settings.fields.add_to(command);
  reader.add_to(command, {"before"});
  reader.add_to(command, {"no_audio", "no_subtitles", "no_data"});
}

void DenoisingOptions::add_encoding_to(CommandLine& command) {
  command.begin_group("Encoding");
  command
      .add_option("--for", purpose,
                  "Purpose of the output: web (MP4), archive (FFV1) or edit (ProRes) [none]")
      ->details(
          "web stands for -f mp4 -c libx264 --encoding small --pix-fmt yuv420p --audio-codec aac, the colors "
          "of BT.709 and even sizes; archive for -f matroska -c ffv1; edit for -f mov -c prores_ks "
          "--audio-codec pcm_s24le: ProRes 422 HQ, or 4444 for RGB, 4:4:4 and transparency. "
          "Options that are given as well take precedence.")
      ->type_name("PURPOSE")
      ->one_of({"web", "archive", "edit"});
  writer.add_to(command, {"after", "codec", "encoding", "crf", "preset", "encoder_option", "bitrate",
                          "picture_quality"});
  grain.add_to(command);
  writer.add_to(command, {"audio_codec", "audio_bitrate", "pix_fmt", "dither", "container"});
}

void DenoisingOptions::check(bool in_segments) const {
  const io::ReaderOptions reading = reader_options();
  for (const auto& [option, chain] :
       {std::pair("--before", reading.before), std::pair("--after", writer_options().after)}) {
    if (!chain.empty()) {
      const io::FilterChain filters(option, chain, reading.local_only);
      if (in_segments) {
        filters.require_no_memory(kJobOfSegments);
      }
      filters.require_accepted();
    }
  }
  settings.filter.check();
  grain.check(writer_options().codec);
}

io::ReaderOptions DenoisingOptions::reader_options() const {
  // The decoder's threads are libav's choice, as with ffmpeg: of a damaged stream their number decides how
  // many frames come out.
  io::ReaderOptions options;
  options.without_film_grain = true;  // the options choose the film grain of the output
  reader.apply_to(options);
  duration.apply_to(options);
  return options;
}

io::WriterOptions DenoisingOptions::writer_options() const {
  io::WriterOptions options;
  writer.apply_to(options);
  apply_purpose(purpose, options);
  options.frames = frames;
  options.local_only = reader_options().local_only;
  return options;
}

void JobMessageOptions::add_to(CommandLine& command) {
  constexpr const char* kGroup = "Messages";
  command.begin_group(kGroup);
  command.add_flag("-q,--quiet", quiet, "Print errors only");
  command.add_flag("--json", json, "Print a report as JSON to standard output");
  add_logging_options(command, logging, kGroup);
  command.help_group(kGroup);
}

void JobMessageOptions::set_up(Console& console) const {
  LoggingOptions options = logging;
  if (quiet && options.level == LoggingOptions().level) {
    options.level = "error";
  }
  set_up_logging(console, options);
}

JobSettings job_settings(const DenoisingOptions& options, const Engine& engine) {
  JobSettings settings;
  const DenoisingSettings denoising = options.settings.settings();
  settings.filter = denoising.filter;
  settings.fields = denoising.fields;
  settings.reader = options.reader_options();
  settings.writer = options.writer_options();
  io::match_depths(settings.writer, settings.reader);
  settings.frames = options.frames;
  settings.noise = to_json(denoising.noise);
  // The number of threads changes the output of some encoders.
  settings.writer.encoder_threads = encoder_threads(engine);
  return settings;
}

std::function<bool(std::int64_t frames, std::int64_t expected)> frame_counter(
    Console& console, const JobMessageOptions& options, const InterruptWatch& interrupts, std::string what) {
  const bool shown = console.is_terminal() && !options.quiet;
  return
      [&console, &interrupts, shown, what = std::move(what), last = std::chrono::steady_clock::time_point()](
          std::int64_t frames, std::int64_t expected) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (shown && now - last > std::chrono::milliseconds(500)) {
          last = now;
          console.set_status(fmt::format("{}: {}{} frames", what, frames,
                                         expected > 0 ? fmt::format(" of {}", expected) : ""));
        }
        return !interrupts.interrupted();
      };
}

}  // namespace limpid::app
