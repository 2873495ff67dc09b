#include "app/jobs/planning.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/console/diagnostics.h"
#include "app/jobs/hashed_frames.h"
#include "app/options/engine_options.h"
#include "app/pipeline/noise_log.h"
#include "core/base/error.h"
#include "core/frame/reach.h"
#include "io/media/frame_hash.h"

namespace limpid::app {
namespace {

/// All that is kept of a frame that was looked at.
struct SeenFrame {
  double time;
  std::uint64_t check;
  std::size_t level;
  bool is_result;
};

/// Goes through a source as one run would.
class LookThrough {
 public:
  LookThrough(PlannedInput& input, const JobSettings& settings, const NoiseSettings& noise,
              const std::shared_ptr<Engine>& engine)
      : input_(input),
        settings_(settings),
        engine_(engine),
        noise_(noise, *engine, noise_log(noise)),
        reader_(input.path, options_for(settings)) {
    input_.decoder_threads = reader_.decoder_threads();
    input_.still_picture = reader_.video().still_picture;
    noise_.check(reader_.video().format);
    reach_ = reach_of(make_filter(settings.filter, input_.still_picture));
  }

  /// False if it was stopped.
  bool run(const PlanningHooks& hooks) {
    std::deque<Frame> ahead;
    const auto settle = [&] {
      add_level(noise_.level_of(ahead.front()));
      ahead.pop_front();
    };
    const std::int64_t expected = reader_.video().frame_count;
    HashedFrames frames(reader_, settings_.frames, frame_allocator(engine_));
    while (auto next = frames.next()) {
      look_at(next->frame, next->hash);
      ahead.push_back(std::move(next->frame));
      if (std::ssize(ahead) > noise_.look_ahead()) {
        settle();
      }
      if (!hooks.progress(input_.frames, expected)) {
        return false;
      }
    }
    while (!ahead.empty()) {
      settle();
    }
    if (input_.frames == 0) {
      throw Error(input_.path + ": has no frames that could be decoded");
    }
    return true;
  }

  /// Whether stretches can be encoded as they are in the end.
  bool joins(const std::string& probe) const {
    io::WriterOptions options = stretch_options(settings_.writer);
    options.stretch_file = probe;
    options.stretch_temporary = probe + ".tmp";
    return !input_.still_picture && io::Writer(probe, reader_, options).joins_stretches();
  }

  /// Stretches, and what is to be known of each.
  std::vector<std::pair<Stretch, StretchPlan>> stretches(std::int64_t length) const {
    std::vector<std::pair<Stretch, StretchPlan>> all;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends_of_stretches(input_.frames, length, cuts_)) {
      all.emplace_back(Stretch{.input = 0, .first = begin, .frames = end - begin}, plan_of(begin, end));
      begin = end;
    }
    return all;
  }

  const io::Reader& reader() const { return reader_; }

 private:
  static io::ReaderOptions options_for(const JobSettings& settings) {
    io::ReaderOptions options = settings.reader;
    const Reach reach = reach_of(make_filter(settings.filter, false));
    options.context_before = reach.before;
    options.context_after = reach.after;
    options.audio = options.subtitles = options.data = false;
    return options;
  }

  void look_at(const Frame& frame, std::uint64_t hash) {
    noise_.observe(frame);
    const bool begins_scene = noise_.is_estimated() ? noise_.begins_scene() : is_cut_before(frame);
    if (!frame.context_only) {
      if (begins_scene && input_.frames > 0) {
        cuts_.push_back(input_.frames);
      }
      if (input_.frames++ == 0) {
        first_result_ = std::ssize(seen_);
      }
    }
    seen_.push_back({.time = io::presentation_time(frame).value_or(0),
                     .check = hash,
                     .level = 0,
                     .is_result = !frame.context_only});
  }

  bool is_cut_before(const Frame& frame) {
    const BrightnessHistogram before = std::exchange(brightness_, engine_->brightness_histogram(frame));
    return is_cut(before, brightness_);
  }

  void add_level(const NoiseModel& level) {
    if (levels_.empty() || level != levels_.back()) {
      levels_.push_back(level);
    }
    seen_[settled_++].level = levels_.size() - 1;
  }

  StretchPlan plan_of(std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = std::max<std::int64_t>(first_result_ + begin - reach_.before, 0);
    const std::int64_t last = std::min<std::int64_t>(first_result_ + end + reach_.after, std::ssize(seen_));
    StretchPlan plan{.position = first,
                     .seek = {},
                     .before = first_result_ + begin - first,
                     .frames = end - begin,
                     .after = last - first_result_ - end,
                     .checks = {},
                     .levels = {}};
    if (first > 0 && reader_.can_seek()) {
      plan.seek = seen_[static_cast<std::size_t>(first)].time;
    }
    for (std::int64_t i = first; i < last; ++i) {
      const SeenFrame& frame = seen_[static_cast<std::size_t>(i)];
      plan.checks.push_back(frame.check);
      if (i == first || frame.level != seen_[static_cast<std::size_t>(i) - 1].level) {
        plan.levels.emplace_back(i - first, levels_[frame.level]);
      }
    }
    return plan;
  }

  PlannedInput& input_;
  const JobSettings& settings_;
  const std::shared_ptr<Engine>& engine_;
  NoiseControl noise_;
  io::Reader reader_;
  Reach reach_;
  std::vector<SeenFrame> seen_;
  std::vector<NoiseModel> levels_;
  std::vector<std::int64_t> cuts_;
  BrightnessHistogram brightness_{};
  std::int64_t first_result_ = 0;
  std::size_t settled_ = 0;
};

/// What is known once all of it has been read. Throws Error if that could not be.
void tell_of_source(const io::Reader& reader, const PlannedInput& input) {
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

std::vector<std::int64_t> ends_of_stretches(std::int64_t frames, std::int64_t length,
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
              const NoiseSettings& noise, const std::shared_ptr<Engine>& engine, std::int64_t stretch_frames,
              const PlanningHooks& hooks) {
  folder.create();
  Plan plan{.program = program_version(), .settings = settings, .inputs = {}, .stretches = {}};
  for (const std::string& name : inputs) {
    try {
      PlannedInput input = describe(name);
      LookThrough look(input, settings, noise, engine);
      if (!look.run(hooks)) {
        return false;
      }
      tell_of_source(look.reader(), input);
      input.joined = look.joins(folder.data("probe-" + worker_name()));
      for (auto& [stretch, own] : look.stretches(stretch_frames)) {
        stretch.input = static_cast<int>(plan.inputs.size());
        write_durably(folder.stretch(static_cast<int>(plan.stretches.size())), to_json(own).dump() + "\n");
        plan.stretches.push_back(stretch);
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
