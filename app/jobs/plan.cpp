// SPDX-License-Identifier: MIT
#include "app/jobs/plan.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>
#include <variant>

#include "app/console/durable_file.h"
#include "app/console/logging.h"
#include "app/console/text.h"
#include "app/options/engine_options.h"
#include "app/options/media_options.h"
#include "app/pipeline/noise_text.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/thread.h"
#include "core/noise/scene.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/noise_settings.h"
#include "io/media/filter_chain.h"
#include "io/media/libav_setup.h"
#include "io/media/lossless_file.h"

namespace limpid::app {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json optional_to_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

FieldChoice fields_from(const JsonValue& json) {
  try {
    return parse_fields("fields", json.text());
  } catch (const UsageError&) {
    json.fail("must be auto, progressive or interlaced");
  }
}

/// A time in seconds, or nothing.
std::optional<double> time_from(const JsonValue& json, std::string_view key) {
  constexpr double kMost = 1e12;  // in microseconds, an integer of 64 bits
  const std::optional<JsonValue> time = json.find(key);
  return time ? std::optional(time->number(-kMost, kMost)) : std::nullopt;
}

Json table_to_json(const FilmGrainTable& table) { return table.empty() ? Json() : Json(to_text(table)); }

FilmGrainTable table_from(const JsonValue& json, std::string_view key) {
  const std::optional<JsonValue> table = json.find(key);
  return table ? parse_film_grain_table(table->text(), "the plan") : FilmGrainTable();
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

ParameterValue parameter_from(const JsonValue& json) {
  if (json.is_integer()) {
    return json.integer<int>();
  }
  constexpr double kMost = std::numeric_limits<float>::max();
  return json.is_number() ? ParameterValue(static_cast<float>(json.number(-kMost, kMost))) : json.text();
}

FilterSettings filter_from(const JsonValue& json) {
  FilterSettings filter{.name = json.at("name").text(), .profile = {}, .parameters = {}};
  if (const std::optional<JsonValue> profile = json.find("profile")) {
    filter.profile = profile->text();
  }
  for (const auto& [name, value] : json.at("parameters").members()) {
    filter.parameters[name] = parameter_from(value);
  }
  return filter;
}

/// Calls use(number) with each number of a model.
template <typename Model, typename Use>
void for_each_number(Model& model, const Use& use) {
  const auto use_shape = [&use](auto& shape) {
    std::ranges::for_each(shape.spectrum, use);
    std::ranges::for_each(shape.curve, use);
    use(shape.curve.scale.origin);
    use(shape.curve.scale.spacing);
    use(shape.repetition);
  };
  std::ranges::for_each(model.sigma, use);
  std::ranges::for_each(model.shape, use_shape);
  for (auto& plane : model.opponent) {
    use(plane.sigma);
    use_shape(plane.shape);
  }
}

// Numbers of JSON are not rounded.
Json level_to_json(const FrameLevel& level) {
  Json json{{"numbers", Json::array()}, {"area", level.area ? to_json(*level.area) : Json()}};
  for_each_number(level, [&numbers = json["numbers"]](float number) { numbers.push_back(number); });
  if (level.defects != Defects()) {
    json["lines"] = level.defects.lines;
    json["pixels"] = Json::array();
    for (const DefectivePixel& pixel : level.defects.pixels) {
      json["pixels"].push_back({pixel.plane, pixel.y, pixel.x});
    }
  }
  return json;
}

void read_defects(const JsonValue& json, Defects& defects) {
  constexpr int kBorder = 2;
  json.at("pixels").for_each([&defects](const JsonValue& pixel) {
    const std::vector<JsonValue> numbers = pixel.items(3);
    defects.pixels.push_back({.plane = numbers[0].integer(0, 2),
                              .y = numbers[1].integer(kBorder, kMaxDimension - 1 - kBorder),
                              .x = numbers[2].integer(kBorder, kMaxDimension - 1 - kBorder)});
  });
  const std::vector<JsonValue> lines = json.at("lines").items(defects.lines.size());
  for (std::size_t p = 0; p < lines.size(); ++p) {
    for (const std::size_t i : {0, 1}) {
      defects.lines[p][i] = static_cast<float>(lines[p].items(2)[i].number(0, double{kMaxSigma}));
    }
  }
}

FrameLevel level_from(const JsonValue& json) {
  FrameLevel level;
  std::size_t count = 0;
  for_each_number(level, [&count](float /*number*/) { ++count; });
  const std::vector<JsonValue> numbers = json.at("numbers").items(count);
  auto next = numbers.begin();
  for_each_number(level, [&next](float& number) {
    constexpr double kMost = std::numeric_limits<float>::max();
    number = static_cast<float>((next++)->number(-kMost, kMost));
  });
  if (const std::optional<JsonValue> area = json.find("area")) {
    level.area = region_from(*area);
  }
  if (json.find("pixels")) {
    read_defects(json, level.defects);
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

std::vector<std::uint64_t> hashes_from(const JsonValue& json) {
  const std::string text = json.text();
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < text.size(); i += kHashDigits) {
    const std::optional<std::uint64_t> hash = from_hex(text.substr(i, kHashDigits));
    if (!hash || text.size() - i < kHashDigits) {
      json.fail("must be hashes of 16 hexadecimal digits each");
    }
    hashes.push_back(*hash);
  }
  return hashes;
}

std::uint64_t hash_from(const JsonValue& json) {
  const std::vector<std::uint64_t> hashes = hashes_from(json);
  if (hashes.size() != 1) {
    json.fail("must be a hash of 16 hexadecimal digits");
  }
  return hashes.front();
}

constexpr int kMostThreads = 1024;
constexpr std::int64_t kPlanVersion = 3;
constexpr std::int64_t kMostFrames = std::int64_t{1} << 48;  // of which a few can be added

}  // namespace

nlohmann::ordered_json to_json(const JobSettings& settings) {
  return {{"filter", filter_to_json(settings.filter)},
          {"fields", to_string(settings.fields)},
          {"noise", settings.noise},
          {"frames", settings.frames},
          {"reader", to_json(reader_fields(), settings.reader)},
          {"writer", to_json(writer_fields(), settings.writer)},
          {"film_grain", table_to_json(settings.writer.film_grain)},
          {"added_grain", table_to_json(settings.added_grain)},
          {"encoder_threads", settings.writer.encoder_threads}};
}

JobSettings settings_from(const JsonValue& json) {
  JobSettings settings;
  settings.filter = filter_from(json.at("filter"));
  settings.fields = fields_from(json.at("fields"));
  if (const std::optional<JsonValue> noise = json.find("noise")) {
    settings.noise = noise->json();
  }
  settings.frames = json.at("frames").integer<std::int64_t>(0);
  read_json(reader_fields(), json.at("reader"), settings.reader);
  read_json(writer_fields(), json.at("writer"), settings.writer);
  settings.writer.encoder_threads = json.at("encoder_threads").integer(0, kMostThreads);
  settings.writer.film_grain = table_from(json, "film_grain");
  settings.added_grain = table_from(json, "added_grain");
  settings.reader.without_film_grain = true;
  io::match_depths(settings.writer, settings.reader);
  settings.writer.local_only = settings.reader.local_only;
  settings.writer.frames = settings.frames;
  io::require_independent_frames("--before", settings.reader.before, kJobOfSegments);
  io::require_independent_frames("--after", settings.writer.after, kJobOfSegments);
  return settings;
}

nlohmann::ordered_json to_json(const SegmentPlan& segment) {
  Json levels = Json::array();
  for (const auto& [from, level] : segment.levels) {
    levels.push_back({from, level_to_json(level)});
  }
  return {{"position", segment.position}, {"seek", optional_to_json(segment.seek)},
          {"before", segment.before},     {"frames", segment.frames},
          {"after", segment.after},       {"checks", hashes_to_text(segment.checks)},
          {"levels", std::move(levels)},  {"repair", to_string(segment.repair)},
          {"mix", segment.mix},           {"fields", segment.fields}};
}

SegmentPlan segment_plan_from(const JsonValue& json) {
  SegmentPlan segment;
  segment.position = json.at("position").integer<std::int64_t>(0, kMostFrames);
  segment.seek = time_from(json, "seek");
  segment.before = json.at("before").integer<std::int64_t>(0, kMostFrames);
  segment.frames = json.at("frames").integer<std::int64_t>(1, kMostFrames);
  segment.after = json.at("after").integer<std::int64_t>(0, kMostFrames);
  segment.checks = hashes_from(json.at("checks"));
  if (std::ssize(segment.checks) != segment.before + segment.frames + segment.after) {
    json.at("checks").fail("must have a hash of each frame");
  }
  json.at("fields").for_each(
      [&segment](const JsonValue& field) { segment.fields.push_back(field.boolean()); });
  if (segment.fields.size() != segment.checks.size()) {
    json.at("fields").fail("must have a value for each frame");
  }
  json.at("levels").for_each([&segment](const JsonValue& level) {
    const std::vector<JsonValue> parts = level.items(2);
    segment.levels.emplace_back(parts[0].integer<std::int64_t>(0, kMostFrames), level_from(parts[1]));
  });
  segment.repair = parse_repair("repair", json.at("repair").text());
  segment.mix = static_cast<float>(json.at("mix").number(0, 1));
  if (segment.levels.empty()) {
    json.at("levels").fail("must have a noise level");
  }
  return segment;
}

nlohmann::ordered_json to_json(const DoneSegment& done) {
  return {{"file", done.file},
          {"bytes", done.bytes},
          {"frames", done.hashes.size()},
          {"hash", to_hex(combined(done.hashes))},
          {"hashes", hashes_to_text(done.hashes)},
          {"plan", to_hex(done.plan)},
          {"reordering", done.reordering},
          {"engine", done.engine},
          {"worker", done.worker},
          {"seconds", done.seconds}};
}

DoneSegment done_segment_from(const JsonValue& json) {
  constexpr int kMostReordering = 64;
  DoneSegment done{.file = json.at("file").text(),
                   .bytes = json.at("bytes").integer<std::int64_t>(0),
                   .hashes = hashes_from(json.at("hashes")),
                   .plan = hash_from(json.at("plan")),
                   .reordering = json.at("reordering").integer(0, kMostReordering),
                   .engine = json.at("engine").text(),
                   .worker = json.at("worker").text(),
                   .seconds = json.at("seconds").number(0, std::numeric_limits<double>::max())};
  if (!is_plain_name(done.file)) {
    json.at("file").fail("must be the name of a file in the folder data");
  }
  return done;
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
  Json segments = Json::array();
  for (const Segment& segment : plan.segments) {
    segments.push_back({segment.input, segment.first, segment.frames});
  }
  const Json json{{"limpid_plan", kPlanVersion},
                  {"program", plan.program},
                  {"settings", to_json(plan.settings)},
                  {"inputs", std::move(inputs)},
                  {"segments", std::move(segments)}};
  try {
    write_job_file(folder.plan(), json.dump(1) + "\n");
  } catch (const nlohmann::json::exception&) {
    throw Error(folder.plan() + ": cannot hold the name of an input that is not UTF-8");
  }
}

namespace {

PlannedInput input_from(const JsonValue& json) {
  return {.path = json.at("path").text(),
          .bytes = json.at("bytes").integer<std::int64_t>(-1),
          .fingerprint = hash_from(json.at("fingerprint")),
          .frames = json.at("frames").integer<std::int64_t>(1, kMostFrames),
          .decoder_threads = json.at("decoder_threads").integer(0, kMostThreads),
          .decoded_on_gpu = json.at("decoded_on_gpu").boolean(),
          .still_picture = json.at("still_picture").boolean(),
          .joined = json.at("joined").boolean()};
}

Segment segment_from(const JsonValue& json, const std::vector<PlannedInput>& inputs) {
  const std::vector<JsonValue> parts = json.items(3);
  Segment segment;
  segment.input = parts[0].integer(0, static_cast<int>(inputs.size()) - 1);
  const std::int64_t frames = inputs[static_cast<std::size_t>(segment.input)].frames;
  segment.first = parts[1].integer<std::int64_t>(0, frames - 1);
  segment.frames = parts[2].integer<std::int64_t>(1, frames - segment.first);
  return segment;
}

}  // namespace

Plan read_plan(const JobFolder& folder) {
  folder.refuse_links();
  const std::string path = folder.plan();
  if (!file_exists(path)) {
    throw Error(folder.path() + ": has no plan; limpid plan INPUT -o " + folder.path() + " makes one");
  }
  const std::string text = read_regular_file(path, kMostJobFile);
  const JsonDocument document(text, path);
  const JsonValue json = document.root();
  if (json.at("limpid_plan").integer() != kPlanVersion) {
    throw Error(
        path + ": was made by another version of limpid; finish the job with that version, or plan it again");
  }
  Plan plan;
  plan.digest = io::hash_of(text);
  plan.program = json.at("program").text();
  if (plan.program != program_version()) {
    throw Error(path + ": was made by limpid " + plan.program + ", and this is limpid " + program_version());
  }
  plan.settings = settings_from(json.at("settings"));
  json.at("inputs").for_each([&plan](const JsonValue& input) { plan.inputs.push_back(input_from(input)); });
  if (plan.inputs.empty()) {
    json.at("inputs").fail("must have an input");
  }
  json.at("segments").for_each([&plan](const JsonValue& segment) {
    plan.segments.push_back(segment_from(segment, plan.inputs));
  });
  return plan;
}

SegmentPlan read_segment_plan(const JobFolder& folder, int number, std::int64_t frames) {
  const JsonDocument document = JsonDocument::read(folder.segment(number), kMostJobFile);
  SegmentPlan segment = segment_plan_from(document.root());
  if (segment.frames != frames) {
    document.root().at("frames").fail(fmt::format("must be {}, as in plan.json", frames));
  }
  return segment;
}

std::optional<DoneSegment> read_done(const JobFolder& folder, const Plan& plan, int number) {
  const std::string path = folder.done(number);
  if (!file_exists(path)) {
    return std::nullopt;
  }
  const JsonDocument document = JsonDocument::read(path, kMostJobFile);
  DoneSegment done = done_segment_from(document.root());
  if (done.plan != plan.digest) {
    throw Error(path + ": is a result of another plan");
  }
  const std::int64_t frames = plan.segments.at(static_cast<std::size_t>(number)).frames;
  if (std::ssize(done.hashes) != frames) {
    document.root().at("hashes").fail(
        fmt::format("must have {} hashes, one per frame of the segment", frames));
  }
  const std::string data = folder.data(done.file);
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(data, failure);
  if (failure) {
    throw Error(data + ": can't read it: " + failure.message());
  }
  if (bytes != static_cast<std::uintmax_t>(done.bytes)) {
    throw Error(fmt::format("{}: has {} bytes instead of {}", data, bytes, done.bytes));
  }
  return done;
}

nlohmann::json comparable(const JobSettings& settings) { return to_json(settings); }

void write_merge_record(const JobFolder& folder, int input, const MergeRecord& record) {
  Json json{{"input", record.input}, {"settings", record.settings}, {"temporary", record.temporary_mark}};
  if (record.whole) {
    json["bytes"] = record.whole->bytes;
    json["fingerprint"] = to_hex(record.whole->fingerprint);
  }
  write_job_file(folder.merged(input), json.dump(1) + "\n");
}

std::optional<MergeRecord> read_merge_record(const JobFolder& folder, int input) {
  const std::string path = folder.merged(input);
  if (!file_exists(path)) {
    return std::nullopt;
  }
  const JsonDocument document = JsonDocument::read(path, kMostJobFile);
  const JsonValue json = document.root();
  MergeRecord record{.input = json.at("input").text(),
                     .settings = json.at("settings").json(),
                     .temporary_mark = json.at("temporary").text(),
                     .whole = {}};
  if (!io::is_temporary_mark(record.temporary_mark)) {
    json.at("temporary").fail("must be six letters and digits");
  }
  if (const std::optional<JsonValue> bytes = json.find("bytes")) {
    record.whole = {bytes->integer<std::int64_t>(0), hash_from(json.at("fingerprint"))};
  }
  return record;
}

bool is_merged(const MergeRecord& record, const std::string& output) {
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(output, failure);
  return !failure && record.whole && bytes == static_cast<std::uintmax_t>(record.whole->bytes) &&
         io::file_fingerprint(output.c_str()) == record.whole->fingerprint;
}

io::WriterOptions segment_options(io::WriterOptions options) {
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
    throw Error(input.path + ": can't read it: " + failure.message() +
                "; the source must have the path with which it was planned on every machine");
  }
  if (bytes != static_cast<std::uintmax_t>(input.bytes) ||
      io::file_fingerprint(input.path.c_str()) != input.fingerprint) {
    throw Error(input.path + ": is not the file that was planned; plan the job again");
  }
}

std::uint64_t combined(const std::vector<std::uint64_t>& hashes) { return io::hash_of(hashes); }

JobStatus status_of(const JobFolder& folder, const Plan& plan, double patience) {
  JobStatus status;
  status.segments = static_cast<int>(plan.segments.size());
  const std::set<int> claimed = folder.numbers_in("claims");
  const std::set<int> failed = folder.numbers_in("failed");
  Claims claims(folder, patience);
  double seconds = 0;
  for (int number = 0; number < status.segments; ++number) {
    const std::int64_t frames = plan.segments[static_cast<std::size_t>(number)].frames;
    status.frames += frames;
    std::string why;
    try {
      if (const std::optional<DoneSegment> done = read_done(folder, plan, number)) {
        ++status.done;
        status.frames_done += frames;
        seconds += done->seconds;
        continue;
      }
      if (failed.contains(number) && file_exists(folder.failed(number))) {
        const JsonDocument document = JsonDocument::read(folder.failed(number), kMostFailure);
        why = document.root().at("error").text();
      }
    } catch (const Error& damage) {
      why = damage.what();
    }
    if (claimed.contains(number) && claims.is_taken(number)) {
      status.running.push_back(number);
    } else if (!why.empty()) {
      status.failed.push_back({number, why});
    }
  }
  if (seconds > 0) {
    status.worker_fps = static_cast<double>(status.frames_done) / seconds;
    status.fps = status.worker_fps * static_cast<double>(status.running.size());
  }
  if (status.fps > 0) {
    status.seconds_left = static_cast<double>(status.frames - status.frames_done) / status.fps;
  }
  return status;
}

namespace {

// In the host's memory; where `engine` is to estimate noise, in memory that it reads fastest.
HashedFrames::Copier copier_for(const std::shared_ptr<Engine>& engine, bool estimates_noise) {
  return [engine, estimates_noise](const Frame& frame) {
    if (!frame.memory.is_host() || !estimates_noise || !engine->prefers_own_frames()) {
      return engine->in_host_memory(frame);
    }
    return copied(frame, engine->allocate_frame(frame.format));
  };
}

class SourceAnalysis {
 public:
  SourceAnalysis(const AnalysisOptions& options, const std::shared_ptr<Engine>& engine,
                 std::unique_ptr<io::Reader> reader)
      : options_(options),
        engine_(engine),
        control_(options.noise, options.fields, options.reach, *engine, noise_log(options.noise)) {
    source_.reader = std::move(reader);
    options.noise.check(source_.reader->video().format);
  }

  std::optional<AnalyzedSource> run(const std::function<bool(std::int64_t, std::int64_t)>& progress) {
    const std::int64_t expected = source_.reader->video().frame_count;
    HashedFrames frames(*source_.reader, options_.most_frames, copier_for(engine_, control_.is_estimated()));
    std::int64_t results = 0;
    while (std::optional<HashedFrames::HashedFrame> next = frames.next()) {
      results += next->frame.context_only ? 0 : 1;
      add(next->frame, next->hash);
      if (!progress(results, expected)) {
        return std::nullopt;
      }
    }
    control_.flush();
    set_levels();
    return std::move(source_);
  }

 private:
  void add(const Frame& frame, std::uint64_t hash) {
    if (source_.frames.empty() && options_.reader.start && control_.grid().before > 0 &&
        source_.reader->can_seek()) {
      LevelLead lead(options_.path, options_.reader, frame, control_.grid());
      while (std::optional<Frame> earlier = lead.next()) {
        control_.send(*std::move(earlier));
      }
    }
    control_.send(frame);
    const bool begins_scene = is_cut_before(frame);
    source_.frames.push_back({.time = io::presentation_time(frame).value_or(0),
                              .hash = hash,
                              .level = 0,
                              .is_result = !frame.context_only,
                              .begins_scene = begins_scene && !source_.frames.empty()});
    set_levels();
  }

  bool is_cut_before(const Frame& frame) {
    const BrightnessHistogram before = std::exchange(brightness_, engine_->brightness_histogram(frame));
    return is_cut(before, brightness_);
  }

  void set_levels() {
    while (const std::optional<LeveledFrame> next = control_.receive()) {
      if (source_.levels.empty() || next->level != source_.levels.back()) {
        source_.levels.push_back(next->level);
      }
      source_.frames[leveled_].level = source_.levels.size() - 1;
      source_.frames[leveled_++].interlaced = next->frame.interlaced;
    }
  }

  const AnalysisOptions& options_;
  const std::shared_ptr<Engine>& engine_;
  NoiseControl control_;
  BrightnessHistogram brightness_{};
  std::size_t leveled_ = 0;  // frames that have a level
  AnalyzedSource source_;
};

/// An analyzed source, divided into segments.
class PlannedSource {
 public:
  PlannedSource(AnalyzedSource source, const FilterSettings& filter, Repair repair)
      : source_(std::move(source)),
        repair_(repair),
        reach_(Repairer::reach_with(repair, reach_of(make_filter(filter, reader().video().still_picture)))) {
    const auto first = std::ranges::find(source_.frames, true, &AnalyzedFrame::is_result);
    first_result_ = first - source_.frames.begin();
    for (auto frame = first; frame != source_.frames.end() && frame->is_result; ++frame, ++results_) {
      if (frame->begins_scene && results_ > 0) {
        cuts_.push_back(results_);
      }
    }
  }

  std::int64_t results() const { return results_; }

  /// Segments of about `length` frames, and what is to be known of each.
  std::vector<std::pair<Segment, SegmentPlan>> segments(std::int64_t length) const {
    std::vector<std::pair<Segment, SegmentPlan>> all;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends_of_segments(results_, length, cuts_)) {
      all.emplace_back(Segment{.input = 0, .first = begin, .frames = end - begin}, plan_of(begin, end));
      begin = end;
    }
    return all;
  }

  const io::Reader& reader() const { return *source_.reader; }

 private:
  SegmentPlan plan_of(std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = std::max<std::int64_t>(first_result_ + begin - reach_.before, 0);
    const std::int64_t last =
        std::min<std::int64_t>(first_result_ + end + reach_.after, std::ssize(source_.frames));
    SegmentPlan plan{.position = first,
                     .seek = {},
                     .before = first_result_ + begin - first,
                     .frames = end - begin,
                     .after = last - first_result_ - end,
                     .checks = {},
                     .levels = {},
                     .repair = repair_,
                     .fields = {}};
    if (first > 0 && reader().can_seek()) {
      plan.seek = source_.frames[static_cast<std::size_t>(first)].time;
    }
    for (std::int64_t i = first; i < last; ++i) {
      const AnalyzedFrame& frame = source_.frames[static_cast<std::size_t>(i)];
      plan.checks.push_back(frame.hash);
      if (i == first || frame.level != source_.frames[static_cast<std::size_t>(i) - 1].level) {
        plan.levels.emplace_back(i - first, source_.levels[frame.level]);
      }
      plan.fields.push_back(frame.interlaced);
    }
    return plan;
  }

  AnalyzedSource source_;
  Repair repair_;
  Reach reach_;
  std::int64_t first_result_ = 0;
  std::int64_t results_ = 0;
  std::vector<std::int64_t> cuts_;  ///< results before which scenes begin
};

AnalysisOptions analysis_of(const PlannedInput& input, const JobSettings& settings,
                            const NoiseSettings& noise) {
  const Filter filter = make_filter(settings.filter, false);
  AnalysisOptions options{.path = input.path,
                          .reader = settings.reader,
                          .noise = noise,
                          .fields = settings.fields,
                          .reach = reach_of(filter),
                          .most_frames = settings.frames};
  const Reach reach =
      Repairer::reach_with(noise.repair, FieldControl::reach_with(settings.fields, options.reach));
  options.reader.context_before = reach.before;
  // Workers need only the neighbors.
  options.reader.context_after = reach.after + NoiseControl::look_ahead(noise);
  options.reader.same_samples = true;
  options.reader.audio = options.reader.subtitles = options.reader.data = false;
  return options;
}

/// True if workers can encode segments in the final form.
bool joins(const io::Reader& reader, const io::WriterOptions& settings, const std::string& probe) {
  io::WriterOptions options = segment_options(settings);
  options.segment_file = probe;
  options.segment_temporary = probe + ".tmp";
  return !reader.video().still_picture && io::Writer(probe, reader, options).joins_segments();
}

/// The data of a source that has been read completely. Throws Error if it could not be read.
void tell_of_source(const io::Reader& reader, const PlannedInput& input) {
  report_decoding({.hwaccel = "cuda"}, reader);
  const io::Diagnostics diagnostics = reader.diagnostics();
  const ReadSource source{.name = input.path, .frames = input.frames, .expected = reader.video().frame_count};
  const auto failure = std::ranges::find(diagnostics, io::Diagnostic::Kind::kFailure, &io::Diagnostic::kind);
  if (failure != diagnostics.end()) {
    throw Error(sentence(*failure, source));
  }
  warn_of_the_whole(diagnostics, source);
}

PlannedInput describe(const std::string& name) {
  namespace fs = std::filesystem;
  PlannedInput input{.path = name};
  std::error_code failure;
  if (!fs::is_regular_file(name, failure)) {
    input.bytes = -1;
    return input;
  }
  input.path = fs::absolute(name).string();
  input.bytes = static_cast<std::int64_t>(fs::file_size(name, failure));
  input.fingerprint = io::file_fingerprint(name.c_str());
  return input;
}

}  // namespace

HashedFrames::HashedFrames(io::Reader& reader, std::int64_t most, Copier copy)
    : copy_(std::move(copy)), thread_(start_thread([this, &reader, most] {
        try {
          read(reader, most);
        } catch (const std::system_error&) {
          failure_ = std::make_exception_ptr(Error(kNoMoreThreads));
        } catch (...) {
          failure_ = std::current_exception();
        }
        pending_.close();
      })) {}

HashedFrames::~HashedFrames() { pending_.cancel(); }

void HashedFrames::read(io::Reader& reader, std::int64_t most) {
  for (std::int64_t frames = 0; most == 0 || frames < most;) {
    std::optional<Frame> frame = next_frame(reader);
    if (!frame) {
      return;
    }
    frames += frame->context_only ? 0 : 1;
    const auto hash = [this, frame = *std::move(frame)] {
      Frame copied = copy_(frame);
      const std::uint64_t hash_of_copy = io::frame_hash(copied);
      return HashedFrame{std::move(copied), hash_of_copy};
    };
    if (!pending_.push(std::async(std::launch::async, hash))) {
      return;
    }
  }
}

std::optional<HashedFrames::HashedFrame> HashedFrames::next() {
  std::optional<std::future<HashedFrame>> pending = pending_.pop();
  if (pending) {
    return pending->get();
  }
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  return std::nullopt;
}

std::optional<AnalyzedSource> analyze_source(
    const AnalysisOptions& options, const std::shared_ptr<Engine>& engine,
    const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  auto reader = std::make_unique<io::Reader>(options.path, options.reader);
  if (reader->video().decoded_on_cuda) {
    try {
      std::optional<AnalyzedSource> source = SourceAnalysis(options, engine, std::move(reader)).run(progress);
      if (!source || source->reader->diagnostics().empty()) {
        return source;
      }
    } catch (const Error&) {
      // The software decoder reports what is wrong with the source, if anything is.
    }
    io::ReaderOptions software = options.reader;
    software.memory = kHostMemory;
    reader = std::make_unique<io::Reader>(options.path, software);
  }
  return SourceAnalysis(options, engine, std::move(reader)).run(progress);
}

std::vector<std::int64_t> ends_of_segments(std::int64_t frames, std::int64_t length,
                                           const std::vector<std::int64_t>& cuts) {
  std::vector<std::int64_t> ends;
  const std::int64_t slack = length / 4;
  for (std::int64_t begin = 0; frames - begin > length + slack;) {
    const std::int64_t ideal = begin + length;
    std::int64_t end = ideal;
    std::int64_t least = slack + 1;
    for (auto cut = std::ranges::lower_bound(cuts, ideal - slack); cut != cuts.end() && *cut <= ideal + slack;
         ++cut) {
      if (const std::int64_t distance = std::abs(*cut - ideal); distance < least) {
        least = distance;
        end = *cut;
      }
    }
    ends.push_back(end);
    begin = end;
  }
  ends.push_back(frames);
  return ends;
}

bool plan_job(const JobFolder& folder, const std::vector<std::string>& inputs, const JobSettings& settings,
              const NoiseSettings& noise, const std::shared_ptr<Engine>& engine, std::int64_t segment_frames,
              const PlanningHooks& hooks) {
  require_bounded_reach(make_filter(settings.filter, false), "a job");
  folder.create();
  Plan plan{.program = program_version(), .settings = settings, .inputs = {}, .segments = {}};
  for (const std::string& name : inputs) {
    try {
      if (inputs.size() > 1) {
        spdlog::info(fmt::format("{} ({} of {})", name, &name - inputs.data() + 1, inputs.size()));
      }
      PlannedInput input = describe(name);
      std::optional<AnalyzedSource> analyzed =
          analyze_source(analysis_of(input, settings, noise), engine, hooks.progress);
      if (!analyzed) {
        return false;
      }
      const PlannedSource source(std::move(*analyzed), settings.filter, noise.repair);
      input.frames = source.results();
      input.decoded_on_gpu = source.reader().video().decoded_on_cuda;
      input.decoder_threads = input.decoded_on_gpu ? 0 : source.reader().decoder_threads();
      input.still_picture = source.reader().video().still_picture;
      if (input.frames == 0) {
        throw Error(input.path + ": has no frames that could be decoded");
      }
      tell_of_source(source.reader(), input);
      input.joined = joins(source.reader(), settings.writer, folder.data("probe-" + process_name()));
      for (auto& [segment, own] : source.segments(segment_frames)) {
        segment.input = static_cast<int>(plan.inputs.size());
        own.mix = noise.mix;
        write_job_file(folder.segment(static_cast<int>(plan.segments.size())), to_json(own).dump() + "\n");
        plan.segments.push_back(segment);
      }
      plan.inputs.push_back(std::move(input));
    } catch (const io::NoVideo& failure) {
      if (!hooks.leaves_out(name, failure)) {
        throw;
      }
    } catch (const Error&) {
      if (inputs.size() > 1) {
        spdlog::info("to plan the job without a file, name the others, or move it out of the folder");
      }
      throw;
    }
  }
  if (plan.inputs.empty()) {
    throw Error(folder.path() + ": there is nothing to plan");
  }
  write_plan(folder, plan);
  return true;
}

}  // namespace limpid::app
