// SPDX-License-Identifier: MIT
#include "app/options/media_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace limpid::app {
namespace {

using Json = nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;
using Time = std::optional<double>;

constexpr const char* kLocalOnly =
    "Open only files and pipes: no network, no devices, no other protocols of FFmpeg";

constexpr const char* kBefore = "Filters of FFmpeg before the denoiser, such as crop=1440:1080 [none]";
constexpr const char* kAfter = "Filters of FFmpeg after the denoiser, such as hflip,scale=1280:720 [none]";

// Each kind of value: to JSON, from JSON, from the command line. `standard` is the default of a flag.

Json json_of(const std::string& text, const std::string& /*standard*/) {
  return text.empty() ? Json() : Json(text);
}
Json json_of(bool value, bool standard) { return value != standard; }
Json json_of(const Time& time, const Time& /*standard*/) { return time ? Json(*time) : Json(); }
Json json_of(const Pairs& pairs, const Pairs& /*standard*/) {
  Json json = Json::array();
  for (const auto& [key, value] : pairs) {
    json.push_back(fmt::format("{}={}", key, value));
  }
  return json;
}

void read(const JsonValue& json, std::string& text, const std::string& /*standard*/) { text = json.text(); }
void read(const JsonValue& json, bool& value, bool standard) { value = json.boolean() != standard; }
void read(const JsonValue& json, Time& time, const Time& /*standard*/) {
  constexpr double kMost = 1e12;  // in microseconds, an integer of 64 bits
  time = json.number(-kMost, kMost);
}
void read(const JsonValue& json, Pairs& pairs, const Pairs& /*standard*/) {
  pairs.clear();
  json.for_each([&pairs](const JsonValue& pair) {
    const std::string text = pair.text();
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      pair.fail("must be of the form KEY=VALUE");
    }
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  });
}

struct Given {
  const std::string& option;
  const std::string& text;
  const std::vector<std::string>& texts;
  bool flag;
};

void take(const Given& given, std::string& text, const std::string& /*standard*/) { text = given.text; }
void take(const Given& given, bool& value, bool standard) { value = given.flag != standard; }
void take(const Given& given, Time& time, const Time& /*standard*/) {
  time = given.text.empty() ? std::nullopt : std::optional(parse_time(given.option, given.text));
}
void take(const Given& given, Pairs& pairs, const Pairs& /*standard*/) {
  pairs = parse_pairs(given.option, given.texts);
}

}  // namespace

const MediaFields<io::ReaderOptions>& reader_fields() {
  using Options = io::ReaderOptions;
  static const MediaFields<Options> fields = {
      {"--start", "[[H:]M:]S", "Start of the passage, exact to the frame [start of the input]",
       &Options::start},
      {"--end", "[[H:]M:]S", "End of the passage, counted from the start of the input [its end]",
       &Options::end},
      {"--input-format", "NAME", "Demuxer [detected from the content]", &Options::input_format, true},
      {"--input-option", "KEY=VALUE", "Option of the demuxer or decoder; may be repeated", &Options::options,
       true},
      {"--allow-references", "", "Read playlists and lists, and the files that they refer to",
       &Options::allow_references, true},
      {"--local-only", "", kLocalOnly, &Options::local_only, true},
      {"--skip-missing", "", "Continue a sequence of pictures after missing ones, with a warning",
       &Options::skip_missing, true},
      {"--before", "CHAIN", kBefore, &Options::before},
      {"--no-audio", "", "Do not copy audio (all streams are copied by default)", &Options::audio},
      {"--no-subtitles", "", "Do not copy subtitles", &Options::subtitles, true},
      {"--no-data", "", "Do not copy data streams and attachments", &Options::data, true},
  };
  return fields;
}

const MediaFields<io::WriterOptions>& writer_fields() {
  using Options = io::WriterOptions;
  static const MediaFields<Options> fields = {
      {"-c,--codec",
       "NAME",
       "Video encoder [libx264, or libx265 for HDR, if the container allows]",
       &Options::codec,
       false,
       {"libx264", "libx265", "libsvtav1", "libaom-av1", "libvpx-vp9", "ffv1", "prores_ks", "dnxhd",
        "h264_nvenc", "hevc_nvenc"}},
      {"--encoding",
       "NAME",
       "Encoding: small (the encoder's default), high or lossless (FFV1) [high; lossless if the source is, "
       "into "
       ".mkv, .mov or .avi]",
       &Options::encoding,
       false,
       {io::kEncodingNames.begin(), io::kEncodingNames.end()}},
      {"--crf", "N", "Quality, lower is better [by --encoding; x264: small 23, high 12]", &Options::crf},
      {"--preset", "NAME", "Speed preset of the encoder [the encoder's default: x264 and x265 medium]",
       &Options::preset},
      {"-e,--encoder-option", "KEY=VALUE", "Option of the encoder; may be repeated",
       &Options::encoder_options},
      {"--bitrate", "RATE", "Bit rate of the video, such as 4M", &Options::bitrate, true},
      {"--picture-quality", "N", "Quality of JPEG, WebP, AVIF and JPEG XL, 1-100 [90; JPEG about 88]",
       &Options::picture_quality, true},
      {"--after", "CHAIN", kAfter, &Options::after},
      // In job files; options set it by --for web.
      {"--color", "NAME", "Colors of the output", &Options::color, true, {"bt709"}},
      {"--audio-codec", "NAME",
       "Audio encoder, such as aac; or copy, which drops audio that the container cannot store [copy, or "
       "transcode if required]",
       &Options::audio_codec, true},
      {"--audio-bitrate", "RATE", "Bit rate of transcoded audio, such as 160k [about 96k per channel]",
       &Options::audio_bitrate, true},
      {"--pix-fmt", "NAME", "Pixel format of the output [of the source]", &Options::pixel_format, true},
      {"--dither", "MODE",
       "Dithering of 8-bit output: auto (where the filtered picture is smoother than 8-bit steps) or none "
       "[none]",
       &Options::dither, true},
      {"-f,--container", "NAME", "Container [from the name of the output; y4m for a pipe]",
       &Options::container, true},
  };
  return fields;
}

template <typename Options>
std::string MediaField<Options>::option() const {
  return names.substr(names.find("--"));
}

template <typename Options>
std::string MediaField<Options>::key() const {
  std::string key = option().substr(2);
  std::ranges::replace(key, '-', '_');
  return key;
}

template <typename Options>
Json to_json(const MediaFields<Options>& fields, const Options& options) {
  const Options standard;
  Json json = Json::object();
  for (const MediaField<Options>& field : fields) {
    json[field.key()] =
        std::visit([&](auto member) { return json_of(options.*member, standard.*member); }, field.member);
  }
  return json;
}

template <typename Options>
void read_json(const MediaFields<Options>& fields, const JsonValue& json, Options& options) {
  const Options standard;
  for (const auto& [key, value] : json.members()) {
    const auto field = std::ranges::find(fields, key, &MediaField<Options>::key);
    if (field == fields.end()) {
      value.fail("is not a known option");
    }
    if (!value.is_null()) {
      std::visit([&, &value = value](auto member) { read(value, options.*member, standard.*member); },
                 field->member);
    }
  }
}

template <typename Options>
MediaOptions<Options>::MediaOptions(const MediaFields<Options>& fields) : fields_(fields) {}

template <typename Options>
void MediaOptions<Options>::add_to(CommandLine& command, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    const MediaField<Options>& field =
        *std::ranges::find(fields_, key, [](const MediaField<Options>& each) { return each.key(); });
    Value& value = values_.emplace_back(Value{&field, {}, {}, false});
    Option* option = nullptr;
    if (field.value.empty()) {
      option = command.add_flag(field.names, value.flag, field.help);
    } else if (std::holds_alternative<Pairs Options::*>(field.member)) {
      option = command.add_option(field.names, value.texts, field.help)->type_name(field.value);
    } else {
      option = command.add_option(field.names, value.text, field.help)->type_name(field.value);
      if (!field.words.empty()) {
        option->words(field.words);
      }
    }
    if (field.advanced) {
      option->advanced();
    }
  }
}

template <typename Options>
void MediaOptions<Options>::apply_to(Options& options) const {
  const Options standard;
  for (const Value& value : values_) {
    const std::string option = value.field->option();
    const Given given = {option, value.text, value.texts, value.flag};
    std::visit([&](auto member) { take(given, options.*member, standard.*member); }, value.field->member);
  }
}

template struct MediaField<io::ReaderOptions>;
template struct MediaField<io::WriterOptions>;
template class MediaOptions<io::ReaderOptions>;
template class MediaOptions<io::WriterOptions>;
template Json to_json(const MediaFields<io::ReaderOptions>& fields, const io::ReaderOptions& options);
template Json to_json(const MediaFields<io::WriterOptions>& fields, const io::WriterOptions& options);
template void read_json(const MediaFields<io::ReaderOptions>& fields, const JsonValue& json,
                        io::ReaderOptions& options);
template void read_json(const MediaFields<io::WriterOptions>& fields, const JsonValue& json,
                        io::WriterOptions& options);

double parse_time(const std::string& option, const std::string& text) {
  constexpr double kSixty = 60;
  constexpr double kLongest = 1e9;
  double time = 0;
  std::string_view rest = text;
  for (int field = 0; field < 3; ++field) {
    const std::size_t colon = rest.find(':');
    const std::string_view digits = rest.substr(0, colon);
    double value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size() && value >= 0;
    const bool is_whole = digits.find('.') == std::string_view::npos;
    if (!is_number || (field > 0 && value >= kSixty) || (colon != std::string_view::npos && !is_whole)) {
      break;
    }
    time = time * kSixty + value;
    if (colon == std::string_view::npos) {
      if (time < kLongest) {
        return time;
      }
      break;
    }
    rest.remove_prefix(colon + 1);
  }
  throw UsageError(option + ": '" + text + "' is not a time: seconds, or [hours:]minutes:seconds");
}

void DurationOption::add_to(CommandLine& command) {
  command.add_option("--duration", text_, "Length of the passage, instead of --end [to the end]")
      ->type_name("[[H:]M:]S")
      ->advanced();
}

void DurationOption::apply_to(io::ReaderOptions& reader) const {
  if (!text_.empty()) {
    if (reader.end) {
      throw UsageError("--duration and --end exclude each other");
    }
    const double duration = parse_time("--duration", text_);
    if (duration <= 0) {
      throw UsageError(fmt::format("--duration: {} s contains no frames", text_));
    }
    reader.end = reader.start.value_or(0) + duration;
  }
  if (reader.end && *reader.end <= reader.start.value_or(0)) {
    throw UsageError(
        fmt::format("--end: {} s is not later than {}", *reader.end,
                    reader.start ? fmt::format("--start, {} s", *reader.start) : "the beginning"));
  }
}

void add_local_only(CommandLine& command, bool& value) {
  command.add_flag("--local-only", value, kLocalOnly)->advanced();
}

namespace {

struct Purpose {
  std::string_view name;
  const char* container;
  std::string_view extension;  ///< of outputs
  const char* codec;
  const char* pixel_format;  ///< empty: the encoder's nearest to the source's
  const char* audio_codec;
  const char* color;
};

constexpr std::array kPurposes{
    Purpose{"web", "mp4", ".mp4", "libx264", "yuv420p", "aac", "bt709"},
    Purpose{"archive", "matroska", ".mkv", "ffv1", "", "", ""},
    Purpose{"edit", "mov", ".mov", "prores_ks", "", "pcm_s24le", ""},
};

const Purpose& find_purpose(const std::string& name) {
  const auto* const found = std::ranges::find(kPurposes, name, &Purpose::name);
  if (found == kPurposes.end()) {
    throw UsageError(fmt::format("--for: '{}' is not one of web, archive and edit", name));
  }
  return *found;
}

void set_missing(std::string& option, const char* value) { option = option.empty() ? value : option; }

}  // namespace

void settle_encoding(io::WriterOptions& options, const std::string& output, bool is_source_lossless) {
  if (!options.encoding.empty()) {
    if (std::ranges::find(io::kEncodingNames, options.encoding) == io::kEncodingNames.end()) {
      throw UsageError(
          fmt::format("--encoding: '{}' is not one of small, high and lossless", options.encoding));
    }
    return;
  }
  const bool is_chosen = !options.codec.empty() || !options.crf.empty() || !options.bitrate.empty() ||
                         !options.preset.empty() || !options.encoder_options.empty() ||
                         !options.pixel_format.empty();
  options.encoding =
      is_source_lossless && !is_chosen && io::holds_lossless(output, options.container) ? "lossless" : "high";
}

void apply_purpose(const std::string& purpose, io::WriterOptions& options) {
  if (purpose.empty()) {
    return;
  }
  const Purpose& chosen = find_purpose(purpose);
  if (options.codec.empty()) {
    options.codec = chosen.codec;
    set_missing(options.pixel_format, chosen.pixel_format);
  }
  set_missing(options.container, chosen.container);
  set_missing(options.encoding, "small");
  set_missing(options.audio_codec, chosen.audio_codec);
  set_missing(options.color, chosen.color);
}

void require_container_of_purpose(const std::string& purpose, const std::string& output,
                                  const io::WriterOptions& options) {
  if (purpose.empty() || output.empty() || output == "-") {
    return;
  }
  const Purpose& chosen = find_purpose(purpose);
  const std::string extension = std::filesystem::path(output).extension().string();
  if (options.container == chosen.container && extension != chosen.extension && io::is_media_name(output)) {
    throw UsageError(fmt::format("{}: --for {} writes {}; name the output so, or choose a container with -f",
                                 output, purpose, chosen.extension));
  }
}

}  // namespace limpid::app
