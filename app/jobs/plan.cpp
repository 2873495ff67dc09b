#include "app/jobs/plan.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

#include "app/console/version.h"
#include "core/base/error.h"
#include "io/media/ffmpeg_version.h"
#include "io/media/frame_hash.h"

namespace limpid::app {
namespace {

using Json = nlohmann::ordered_json;

/// Runs `read`, of which a file that isn't as it should be makes an Error that names it.
template <typename Read>
auto reading(const std::string& path, const Read& read) {
  try {
    return read(read_json(path));
  } catch (const nlohmann::json::exception&) {
    throw Error(path + ": is not as limpid plan writes it");
  }
}

Json pairs_to_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json json = Json::array();
  for (const auto& [key, value] : pairs) {
    json.push_back({key, value});
  }
  return json;
}

std::vector<std::pair<std::string, std::string>> pairs_from(const Json& json) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json& pair : json) {
    pairs.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  }
  return pairs;
}

template <typename Value>
Json optional_to_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

template <typename Value>
std::optional<Value> optional_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<Value>(json.get<Value>());
}

Json filter_to_json(const FilterSettings& filter) {
  Json parameters = Json::object();
  for (const auto& [name, value] : filter.parameters) {
    std::visit([&json = parameters[name]](const auto& own) { json = own; }, value);
  }
  return {{"name", filter.name},
          {"profile", optional_to_json(filter.profile)},
          {"parameters", std::move(parameters)}};
}

FilterSettings filter_from(const Json& json) {
  FilterSettings filter{.name = json.at("name").get<std::string>(),
                        .profile = optional_from<std::string>(json.at("profile")),
                        .parameters = {}};
  for (const auto& [name, value] : json.at("parameters").items()) {
    if (value.is_number_integer()) {
      filter.parameters[name] = value.get<int>();
    } else if (value.is_number()) {
      filter.parameters[name] = value.get<float>();
    } else {
      filter.parameters[name] = value.get<std::string>();
    }
  }
  return filter;
}

// Models are told by the bits of their numbers: nothing may be rounded.

template <typename Numbers>
std::string bits_of(const Numbers& numbers) {
  std::string text;
  for (const float number : numbers) {
    text += fmt::format("{:08x}", std::bit_cast<std::uint32_t>(number));
  }
  return text;
}

template <typename Numbers>
void set_bits(Numbers& numbers, const std::string& text) {
  constexpr std::size_t kDigits = 8;
  if (text.size() != numbers.size() * kDigits) {
    throw Error("a noise level has not as many numbers as it should");
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] =
        std::bit_cast<float>(static_cast<std::uint32_t>(from_hex(text.substr(kDigits * i, kDigits))));
  }
}

Json shape_to_json(const NoiseShape& shape) {
  return shape == NoiseShape()
             ? Json()
             : Json{bits_of(shape.spectrum), bits_of(shape.curve), bits_of(std::array{shape.repetition})};
}

NoiseShape shape_from(const Json& json) {
  NoiseShape shape;
  if (!json.is_null()) {
    set_bits(shape.spectrum, json.at(0).get<std::string>());
    set_bits(shape.curve, json.at(1).get<std::string>());
    std::array<float, 1> repetition{};
    set_bits(repetition, json.at(2).get<std::string>());
    shape.repetition = repetition[0];
  }
  return shape;
}

Json level_to_json(const NoiseModel& level) {
  Json json{{"sigma", bits_of(level.sigma)}, {"shapes", Json::array()}, {"opponent", Json()}};
  for (const NoiseShape& shape : level.shape) {
    json["shapes"].push_back(shape_to_json(shape));
  }
  if (level.opponent != NoiseModel().opponent) {
    for (const PlaneNoise& plane : level.opponent) {
      json["opponent"].push_back({bits_of(std::array{plane.sigma}), shape_to_json(plane.shape)});
    }
  }
  return json;
}

NoiseModel level_from(const Json& json) {
  NoiseModel level;
  set_bits(level.sigma, json.at("sigma").get<std::string>());
  for (std::size_t p = 0; p < level.shape.size(); ++p) {
    level.shape.at(p) = shape_from(json.at("shapes").at(p));
    if (!json.at("opponent").is_null()) {
      std::array<float, 1> sigma{};
      set_bits(sigma, json.at("opponent").at(p).at(0).get<std::string>());
      level.opponent.at(p) = {sigma[0], shape_from(json.at("opponent").at(p).at(1))};
    }
  }
  return level;
}

constexpr std::size_t kHashDigits = 16;

std::string hashes_to_text(const std::vector<std::uint64_t>& hashes) {
  std::string text;
  for (const std::uint64_t hash : hashes) {
    text += to_hex(hash);
  }
  return text;
}

std::vector<std::uint64_t> hashes_from(const std::string& text) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i + kHashDigits <= text.size(); i += kHashDigits) {
    hashes.push_back(from_hex(text.substr(i, kHashDigits)));
  }
  return hashes;
}

}  // namespace

nlohmann::ordered_json to_json(const JobSettings& settings) {
  const io::ReaderOptions& reader = settings.reader;
  const io::WriterOptions& writer = settings.writer;
  return {{"filter", filter_to_json(settings.filter)},
          {"noise", settings.noise},
          {"frames", settings.frames},
          {"reader",
           {{"format", reader.input_format},
            {"options", pairs_to_json(reader.options)},
            {"references", reader.allow_references},
            {"audio", reader.audio},
            {"subtitles", reader.subtitles},
            {"data", reader.data},
            {"start", optional_to_json(reader.start)},
            {"end", optional_to_json(reader.end)}}},
          {"writer",
           {{"codec", writer.codec},
            {"pixel_format", writer.pixel_format},
            {"container", writer.container},
            {"crf", writer.crf},
            {"preset", writer.preset},
            {"bitrate", writer.bitrate},
            {"options", pairs_to_json(writer.encoder_options)},
            {"audio_codec", writer.audio_codec},
            {"audio_bitrate", writer.audio_bitrate},
            {"threads", writer.encoder_threads}}}};
}

JobSettings settings_from(const nlohmann::ordered_json& json) {
  JobSettings settings;
  settings.filter = filter_from(json.at("filter"));
  settings.noise = json.at("noise");
  settings.frames = json.at("frames").get<std::int64_t>();
  const Json& reader = json.at("reader");
  settings.reader.input_format = reader.at("format").get<std::string>();
  settings.reader.options = pairs_from(reader.at("options"));
  settings.reader.allow_references = reader.at("references").get<bool>();
  settings.reader.audio = reader.at("audio").get<bool>();
  settings.reader.subtitles = reader.at("subtitles").get<bool>();
  settings.reader.data = reader.at("data").get<bool>();
  settings.reader.start = optional_from<double>(reader.at("start"));
  settings.reader.end = optional_from<double>(reader.at("end"));
  const Json& writer = json.at("writer");
  settings.writer.codec = writer.at("codec").get<std::string>();
  settings.writer.pixel_format = writer.at("pixel_format").get<std::string>();
  settings.writer.container = writer.at("container").get<std::string>();
  settings.writer.crf = writer.at("crf").get<std::string>();
  settings.writer.preset = writer.at("preset").get<std::string>();
  settings.writer.bitrate = writer.at("bitrate").get<std::string>();
  settings.writer.encoder_options = pairs_from(writer.at("options"));
  settings.writer.audio_codec = writer.at("audio_codec").get<std::string>();
  settings.writer.audio_bitrate = writer.at("audio_bitrate").get<std::string>();
  settings.writer.encoder_threads = writer.at("threads").get<int>();
  settings.writer.frames = settings.frames;
  return settings;
}

nlohmann::ordered_json to_json(const StretchPlan& stretch) {
  Json levels = Json::array();
  for (const auto& [from, level] : stretch.levels) {
    levels.push_back({from, level_to_json(level)});
  }
  return {{"position", stretch.position}, {"seek", optional_to_json(stretch.seek)},
          {"before", stretch.before},     {"frames", stretch.frames},
          {"after", stretch.after},       {"checks", hashes_to_text(stretch.checks)},
          {"levels", std::move(levels)}};
}

StretchPlan stretch_plan_from(const nlohmann::ordered_json& json) {
  StretchPlan stretch;
  stretch.position = json.at("position").get<std::int64_t>();
  stretch.seek = optional_from<double>(json.at("seek"));
  stretch.before = json.at("before").get<std::int64_t>();
  stretch.frames = json.at("frames").get<std::int64_t>();
  stretch.after = json.at("after").get<std::int64_t>();
  stretch.checks = hashes_from(json.at("checks").get<std::string>());
  for (const Json& level : json.at("levels")) {
    stretch.levels.emplace_back(level.at(0).get<std::int64_t>(), level_from(level.at(1)));
  }
  if (std::ssize(stretch.checks) != stretch.before + stretch.frames + stretch.after ||
      stretch.levels.empty()) {
    throw Error("a stretch's plan doesn't tell of all its frames");
  }
  return stretch;
}

nlohmann::ordered_json to_json(const DoneStretch& done) {
  return {{"file", done.file},
          {"bytes", done.bytes},
          {"frames", done.hashes.size()},
          {"hash", to_hex(combined(done.hashes))},
          {"hashes", hashes_to_text(done.hashes)},
          {"reordering", done.reordering},
          {"engine", done.engine},
          {"worker", done.worker},
          {"seconds", done.seconds}};
}

DoneStretch done_stretch_from(const nlohmann::ordered_json& json) {
  return {.file = json.at("file").get<std::string>(),
          .bytes = json.at("bytes").get<std::int64_t>(),
          .hashes = hashes_from(json.at("hashes").get<std::string>()),
          .reordering = json.at("reordering").get<int>(),
          .engine = json.at("engine").get<std::string>(),
          .worker = json.at("worker").get<std::string>(),
          .seconds = json.at("seconds").get<double>()};
}

std::string program_version() { return version() + ", FFmpeg " + io::ffmpeg_version(); }

void write_plan(const JobFolder& folder, const Plan& plan) {
  Json inputs = Json::array();
  for (const PlannedInput& input : plan.inputs) {
    inputs.push_back({{"path", input.path},
                      {"bytes", input.bytes},
                      {"fingerprint", to_hex(input.fingerprint)},
                      {"frames", input.frames},
                      {"decoder_threads", input.decoder_threads},
                      {"decoded_on_gpu", input.decoded_on_gpu},
                      {"still_picture", input.still_picture},
                      {"joined", input.joined}});
  }
  Json stretches = Json::array();
  for (const Stretch& stretch : plan.stretches) {
    stretches.push_back({stretch.input, stretch.first, stretch.frames});
  }
  const Json json{{"limpid_plan", 1},
                  {"program", plan.program},
                  {"settings", to_json(plan.settings)},
                  {"inputs", std::move(inputs)},
                  {"stretches", std::move(stretches)}};
  try {
    write_durably(folder.plan(), json.dump(1) + "\n");
  } catch (const nlohmann::json::exception&) {
    throw Error(folder.plan() + ": can't hold the name of an input, which is not UTF-8");
  }
}

Plan read_plan(const JobFolder& folder) {
  const std::string path = folder.plan();
  if (!file_exists(path)) {
    throw Error(folder.path() + ": has no plan; limpid plan INPUT -o " + folder.path() + " makes one");
  }
  return reading(path, [&](const Json& json) {
    Plan plan;
    plan.program = json.at("program").get<std::string>();
    if (plan.program != program_version()) {
      throw Error(path + ": was made by limpid " + plan.program + ", and this is limpid " +
                  program_version());
    }
    plan.settings = settings_from(json.at("settings"));
    for (const Json& input : json.at("inputs")) {
      plan.inputs.push_back({.path = input.at("path").get<std::string>(),
                             .bytes = input.at("bytes").get<std::int64_t>(),
                             .fingerprint = from_hex(input.at("fingerprint").get<std::string>()),
                             .frames = input.at("frames").get<std::int64_t>(),
                             .decoder_threads = input.at("decoder_threads").get<int>(),
                             .decoded_on_gpu = input.at("decoded_on_gpu").get<bool>(),
                             .still_picture = input.at("still_picture").get<bool>(),
                             .joined = input.at("joined").get<bool>()});
    }
    for (const Json& stretch : json.at("stretches")) {
      plan.stretches.push_back({.input = stretch.at(0).get<int>(),
                                .first = stretch.at(1).get<std::int64_t>(),
                                .frames = stretch.at(2).get<std::int64_t>()});
      static_cast<void>(plan.inputs.at(static_cast<std::size_t>(plan.stretches.back().input)));
    }
    return plan;
  });
}

StretchPlan read_stretch_plan(const JobFolder& folder, int number) {
  return reading(folder.stretch(number), [](const Json& json) { return stretch_plan_from(json); });
}

std::optional<DoneStretch> read_done(const JobFolder& folder, int number) {
  const std::string path = folder.done(number);
  if (!file_exists(path)) {
    return std::nullopt;
  }
  DoneStretch done = reading(path, [](const Json& json) { return done_stretch_from(json); });
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(folder.data(done.file), failure);
  if (failure || bytes != static_cast<std::uintmax_t>(done.bytes)) {
    return std::nullopt;
  }
  return done;
}

io::WriterOptions stretch_options(io::WriterOptions options) {
  if (options.container.empty()) {
    options.container = "matroska";
  }
  return options;
}

void check_input(const PlannedInput& input) {
  if (input.bytes < 0) {
    return;
  }
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(input.path, failure);
  if (failure) {
    throw Error(input.path + ": can't read it: " + failure.message());
  }
  if (bytes != static_cast<std::uintmax_t>(input.bytes) ||
      io::file_fingerprint(input.path.c_str()) != input.fingerprint) {
    throw Error(input.path + ": is not the file that was planned; plan anew");
  }
}

std::uint64_t combined(const std::vector<std::uint64_t>& hashes) { return io::hash_of(hashes); }

}  // namespace limpid::app
