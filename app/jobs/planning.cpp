// SPDX-License-Identifier: MIT
#include "app/jobs/planning.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "app/console/durable_file.h"
#include "app/console/logging.h"
#include "app/options/engine_options.h"
#include "app/pipeline/noise_text.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/frame/reach.h"
#include "core/noise/brightness_histogram.h"
#include "io/media/frame_hash.h"

namespace limpid::app {
namespace {

// In the host's memory; where `engine` is to estimate noise, in memory that it reads fastest.
HashedFrames::Copier copier_for(const std::shared_ptr<Engine>& engine, bool estimates_noise) {
  return [engine, estimates_noise](const Frame& frame) {
    if (!frame.memory.is_host() || !estimates_noise || !engine->prefers_own_frames()) {
      return engine->in_host_memory(frame);
    }
    Frame copied = engine->allocate_frame(frame.format);
    describe_alike(frame, copied);
    copy_samples(frame, copied);
    return copied;
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
    control_.noise().check(source_.reader->video().format);
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
    if (source_.frames.empty() && options_.reader.start && control_.is_estimated() &&
        source_.reader->can_seek()) {
      LevelLead lead(options_.path, options_.reader, frame, control_.noise().grid());
      while (std::optional<Frame> earlier = lead.next()) {
        control_.send(*std::move(earlier));
      }
    }
    control_.send(frame);
    const bool begins_scene =
        control_.is_estimated() ? control_.noise().begins_scene() : is_cut_before(frame);
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
  FrameControl control_;
  BrightnessHistogram brightness_{};
  std::size_t leveled_ = 0;  // frames that have a level
  AnalyzedSource source_;
};

/// An analyzed source, divided into segments.
class PlannedSource {
 public:
  PlannedSource(AnalyzedSource source, const FilterSettings& filter)
      : source_(std::move(source)), reach_(reach_of(make_filter(filter, reader().video().still_picture))) {
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
  const Reach reach = FieldControl::reach_with(settings.fields, options.reach);
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

HashedFrames::HashedFrames(io::Reader& reader, std::int64_t most, Copier copy) : copy_(std::move(copy)) {
  try {
    threads_.reserve(kHashing + 1);
    for (int i = 0; i < kHashing; ++i) {
      threads_.push_back(start_thread([this] { hash(); }));
    }
    threads_.push_back(start_thread([this, &reader, most] {
      try {
        read(reader, most);
      } catch (...) {
        failure_ = std::current_exception();
      }
      tasks_.close();
      pending_.close();
    }));
  } catch (...) {
    cancel();  // the threads that run wait for tasks
    throw;
  }
}

HashedFrames::~HashedFrames() { cancel(); }

void HashedFrames::cancel() {
  tasks_.cancel();
  pending_.cancel();
}

void HashedFrames::read(io::Reader& reader, std::int64_t most) {
  for (std::int64_t frames = 0; most == 0 || frames < most;) {
    io::Reader::Item item = reader.read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      return;
    }
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      frames += frame->context_only ? 0 : 1;
      std::promise<HashedFrame> result;
      if (!pending_.push(result.get_future()) || !tasks_.push({std::move(*frame), std::move(result)})) {
        return;
      }
    }
  }
}

void HashedFrames::hash() {
  while (std::optional<Task> task = tasks_.pop()) {
    try {
      task->result.set_value(hash(task->frame));
    } catch (...) {
      task->result.set_exception(std::current_exception());
    }
  }
}

HashedFrames::HashedFrame HashedFrames::hash(const Frame& frame) const {
  Frame copied = copy_(frame);
  const std::uint64_t hash = io::frame_hash(copied);
  return {std::move(copied), hash};
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
      const PlannedSource source(std::move(*analyzed), settings.filter);
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
    }
  }
  if (plan.inputs.empty()) {
    throw Error(folder.path() + ": there is nothing to plan");
  }
  write_plan(folder, plan);
  return true;
}

}  // namespace limpid::app
