#include "app/commands/denoising_options.h"

#include "core/base/error.h"

namespace limpid::app {

void DenoisingOptions::add_range_to(CommandLine& command, const std::string& group) {
  time.add_to(command, group);
  command.add_option("--frames", frames, "Stop after N frames")->type_name("N")->positive()->group(group);
}

void DenoisingOptions::add_streams_to(CommandLine& command, const std::string& group) {
  input.add_to(command, group);
  fields.add_to(command, group);
  command.add_flag("--no-audio", no_audio, "Don't copy audio streams")->group(group);
  command.add_flag("--no-subtitles", no_subtitles, "Don't copy subtitle streams")->group(group);
  command.add_flag("--no-data", no_data, "Don't copy data streams and attachments")->group(group);
}

void DenoisingOptions::add_encoding_to(CommandLine& command) {
  constexpr const char* kGroup = "Encoding";
  command
      .add_option("-c,--codec", writer.codec,
                  "Encoder [what suits the container: libx264, or libx265 for HDR]")
      ->type_name("NAME")
      ->check([](const std::string& name) {
        return name.starts_with(':') ? "'-c" + name +
                                           "' is ffmpeg's; the encoder is given as -c NAME, "
                                           "and streams other than the video are copied"
                                     : std::string();
      })
      ->group(kGroup);
  encoder.add_to(command, kGroup);
  command.add_option("--bitrate", writer.bitrate, "Such as 4M")->type_name("RATE")->group(kGroup);
  command
      .add_option("--audio-codec", writer.audio_codec,
                  "Encoder of all sound, such as aac, libopus or flac; or copy, as --no-transcode [sound is "
                  "copied; what the container can't hold is encoded as suits it]")
      ->type_name("NAME")
      ->group(kGroup);
  command
      .add_option("--audio-bitrate", writer.audio_bitrate,
                  "Of sound that is encoded, such as 160k [about 96k for each channel]")
      ->type_name("RATE")
      ->group(kGroup);
  command
      .add_flag("--no-transcode", no_transcode,
                "Leave out sound that the container can't hold instead of encoding it anew")
      ->group(kGroup);
  command.add_option("--pix-fmt", writer.pixel_format, "Pixel format [the source's]")
      ->type_name("NAME")
      ->group(kGroup);
  command
      .add_option("-f,--container", writer.container, "Container [from the output's name; y4m for a pipe]")
      ->type_name("NAME")
      ->group(kGroup);
}

void DenoisingOptions::check() const {
  const std::string& sound = writer.audio_codec;
  if (no_transcode && !sound.empty() && sound != "copy") {
    throw UsageError("--no-transcode and --audio-codec " + sound + " exclude each other");
  }
  filter.check();
}

io::ReaderOptions DenoisingOptions::reader_options() const {
  // The decoder's threads are libav's choice, as with ffmpeg: of a damaged stream their number decides how
  // many frames come out.
  io::ReaderOptions reader;
  input.apply_to(reader);
  time.apply_to(reader);
  reader.audio = !no_audio;
  reader.subtitles = !no_subtitles;
  reader.data = !no_data;
  return reader;
}

io::WriterOptions DenoisingOptions::writer_options() const {
  io::WriterOptions options = writer;
  encoder.apply_to(options);
  options.frames = frames;
  options.local_only = input.local_only();
  if (no_transcode) {
    options.audio_codec = "copy";
  }
  return options;
}

}  // namespace limpid::app
