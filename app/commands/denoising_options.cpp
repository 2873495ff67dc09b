// SPDX-License-Identifier: MIT
#include "app/commands/denoising_options.h"

#include <utility>

#include "app/options/purpose.h"
#include "io/media/filter_chain.h"

namespace limpid::app {

void DenoisingOptions::add_range_to(CommandLine& command, const std::string& group) {
  reader.add_to(command, group, {"start", "end"});
  duration.add_to(command, group);
  command.add_option("--frames", frames, "Number of frames to denoise [all]")
      ->type_name("N")
      ->positive()
      ->group(group);
}

void DenoisingOptions::add_streams_to(CommandLine& command, const std::string& group) {
  reader.add_to(command, group,
                {"input_format", "input_option", "allow_references", "local_only", "skip_missing"});
  settings.fields.add_to(command, group);
  reader.add_to(command, group, {"before"});
  reader.add_to(command, group, {"no_audio", "no_subtitles", "no_data"});
}

void DenoisingOptions::add_encoding_to(CommandLine& command) {
  command
      .add_option("--for", purpose,
                  "Purpose of the output: web (MP4), archive (FFV1) or edit (ProRes) [none]")
      ->details(
          "web stands for -f mp4 -c libx264 --pix-fmt yuv420p --audio-codec aac, the colors of BT.709, and "
          "--after scale=trunc(iw/2)*2:trunc(ih/2)*2, which makes odd sizes even; archive for -f matroska -c "
          "ffv1; edit for -f mov -c prores_ks -e profile=hq --pix-fmt yuv422p10le --audio-codec pcm_s24le. "
          "Options that are given as well take precedence.")
      ->type_name("PURPOSE")
      ->one_of({"web", "archive", "edit"})
      ->group("Encoding");
  writer.add_to(command, "Encoding",
                {"after", "codec", "crf", "preset", "encoder_option", "bitrate", "picture_quality"});
  grain.add_to(command, "Encoding");
  writer.add_to(command, "Encoding", {"audio_codec", "audio_bitrate", "pix_fmt", "dither", "container"});
}

void DenoisingOptions::check() const {
  const io::ReaderOptions reading = reader_options();
  for (const auto& [option, chain] :
       {std::pair("--before", reading.before), std::pair("--after", writer_options().after)}) {
    if (!chain.empty()) {
      io::FilterChain(option, chain, reading.local_only).require_accepted();
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

}  // namespace limpid::app
