#include "app/options/media_options.h"

namespace limpid::app {

void add_local_only(CommandLine& command, bool& value, const std::string& group) {
  Option* const option = command.add_flag(
      "--local-only", value, "Open files and pipes alone: no network, no devices, no protocols of FFmpeg");
  if (!group.empty()) {
    option->group(group);
  }
}

void InputOptions::add_to(CommandLine& command, const std::string& group) {
  command.add_option("--input-format", format_, "Demuxer to use [from the content]")
      ->type_name("NAME")
      ->group(group);
  add_pairs_to(command, group);
  command
      .add_flag("--allow-references", allow_references_,
                "Read playlists, manifests and lists, and the other files that they lead to")
      ->group(group);
  add_local_only(command, local_only_, group);
}

void InputOptions::add_pairs_to(CommandLine& command, const std::string& group) {
  command.add_option("--input-option", pairs_, "Demuxer or decoder option, any number")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(group);
}

void InputOptions::apply_to(io::ReaderOptions& reader) const {
  reader.input_format = format_;
  reader.options = parse_pairs("--input-option", pairs_);
  reader.allow_references = allow_references_;
  reader.local_only = local_only_;
}

void EncoderOptions::add_to(CommandLine& command, const std::string& group) {
  command.add_option("--crf", crf_, "Constant quality of the encoder [its own: x264 23, x265 28]")
      ->type_name("N")
      ->group(group);
  command.add_option("--preset", preset_, "Speed preset of the encoder [its own: x264, x265 medium]")
      ->type_name("NAME")
      ->group(group);
  command.add_option("-e,--encoder-option", pairs_, "Encoder option, any number")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(group);
}

void EncoderOptions::apply_to(io::WriterOptions& writer) const {
  writer.crf = crf_;
  writer.preset = preset_;
  writer.encoder_options = parse_pairs("-e", pairs_);
}

}  // namespace limpid::app
