// SPDX-License-Identifier: MIT
#include "app/jobs/work.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "app/console/durable_file.h"
#include "app/console/logging.h"
#include "app/jobs/job_folder.h"
#include "app/options/engine_options.h"
#include "app/pipeline/film_grain.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/base/text.h"
#include "io/media/lossless_file.h"
#include "io/media/reader.h"

namespace limpid::app {
namespace {

/// A frame isn't the one that was planned.
class OtherFrame : public Error {
 public:
  using Error::Error;
};

/// The frames of a segment and around it, each checked to be the one that one run would see.
class SegmentSource {
 public:
  SegmentSource(const PlannedInput& input, const SegmentPlan& segment, std::int64_t first_index,
                io::Reader& reader, bool sought)
      : input_(input),
        segment_(segment),
        first_index_(first_index),
        reader_(reader),
        skip_(sought ? 0 : segment.position) {}

  io::Reader::Item read() {
    if (next_ == std::ssize(segment_.checks)) {
      return io::Reader::End{};
    }
    std::optional<Frame> frame = next_frame(reader_);
    for (; frame && skip_ > 0; --skip_) {
      frame = next_frame(reader_);
    }
    if (!frame || io::frame_hash(*frame) != segment_.checks[static_cast<std::size_t>(next_)]) {
      fail();
    }
    frame->interlaced = segment_.fields[static_cast<std::size_t>(next_)];
    frame->index = first_index_ + next_ - segment_.before;
    frame->context_only = next_ < segment_.before || next_ >= segment_.before + segment_.frames;
    ++next_;
    return *std::move(frame);
  }

 private:
  [[noreturn]] void fail() const {
    throw OtherFrame(
        fmt::format("{}: frame {} is not the frame that was planned{}", input_.path,
                    first_index_ + next_ - segment_.before,
                    input_.decoded_on_gpu ? " (if the input is damaged, plan without --hwaccel)" : ""));
  }

  const PlannedInput& input_;
  const SegmentPlan& segment_;
  std::int64_t first_index_;
  io::Reader& reader_;
  std::int64_t skip_;
  std::int64_t next_ = 0;
};

/// Where the results go.
class SegmentTarget {
 public:
  SegmentTarget(const std::string& path, const std::string& temporary, const PlannedInput& input,
                const io::Reader& reader, io::WriterOptions options)
      : lossless_threads_(options.encoder_threads) {
    if (input.joined) {
      options = segment_options(options);
      options.segment_file = path;
      options.segment_temporary = temporary;
      encoded_.emplace(path, reader, options);
    } else {
      lossless_.emplace(path, temporary, reader.video().format, lossless_threads_);
    }
  }

  void write(const Frame& frame) {
    hashes_.push_back(io::sample_hash(frame));
    if (encoded_) {
      encoded_->write(frame);
    } else {
      lossless_->write(frame);
    }
  }

  /// Writes the file and returns its contents. Throws Stopped if the encoder takes too long after an
  /// interrupt.
  DoneSegment finish() {
    DoneSegment done;
    if (encoded_) {
      if (!encoded_->drain()) {
        throw Stopped();
      }
      encoded_->finish();
      done.bytes = encoded_->bytes_written();
      done.reordering = encoded_->reordering();
    } else {
      lossless_->finish();
      done.bytes = lossless_->bytes();
    }
    done.hashes = hashes_;
    return done;
  }

 private:
  int lossless_threads_;
  std::optional<io::Writer> encoded_;
  std::optional<io::LosslessWriter> lossless_;
  std::vector<std::uint64_t> hashes_;
};

class SegmentRun {
 public:
  SegmentRun(const JobFolder& folder, const Plan& plan, int number, const std::shared_ptr<Engine>& engine,
             const std::stop_token& stop)
      : folder_(folder),
        plan_(plan),
        number_(number),
        engine_(engine),
        stop_(stop),
        segment_(plan.segments.at(static_cast<std::size_t>(number))),
        input_(plan.inputs.at(static_cast<std::size_t>(segment_.input))),
        frames_(read_segment_plan(folder, number, segment_.frames)) {}

  DoneSegment run() {
    if (frames_.seek) {
      try {
        return run_from(frames_.seek);
      } catch (const OtherFrame& failure) {
        if (stop_.stop_requested()) {
          throw Stopped();  // the reader has ended early
        }
        // Decoders may do so in the middle of a damaged stream, or of one without key frames.
        spdlog::info(fmt::format("{} after a seek; decoding from the beginning of the file", failure.what()));
      }
    }
    return run_from({});
  }

 private:
  DoneSegment run_from(std::optional<double> seek) {
    io::ReaderOptions options = plan_.settings.reader;
    const Filter filter = make_filter(plan_.settings.filter, input_.still_picture);
    require_bounded_reach(filter, "a job");
    const Reach reach = Repairer::reach_with(
        frames_.repair, FieldControl::reach_with(plan_.settings.fields, reach_of(filter)));
    options.context_before = seek ? 0 : reach.before;
    options.context_after = reach.after;
    options.audio = options.subtitles = options.data = false;
    options.decoder_threads = input_.decoder_threads;
    options.allocate = frame_allocator(engine_);
    options.interrupted = [this] { return stop_.stop_requested(); };
    io::Reader reader(input_.path, options);
    const std::string name = number_text(number_) + "-" + process_name();
    SegmentTarget target(folder_.data(name + ".packets"), folder_.data(name + ".tmp"), input_, reader,
                         plan_.settings.writer);
    if (seek) {
      reader.seek(*seek);
    }
    SegmentSource source(input_, frames_, segment_.first, reader, seek.has_value());
    denoise(source, target, filter);
    DoneSegment done = target.finish();
    done.file = name + ".packets";
    done.engine = std::string(engine_->name().substr(0, engine_->name().find(':')));
    done.worker = process_name();
    done.plan = plan_.digest;
    return done;
  }

  void denoise(SegmentSource& source, SegmentTarget& target, const Filter& filter) {
    std::int64_t asked = 0;
    std::size_t level = 0;
    const auto level_of = [&](const Frame&) {
      while (level + 1 < frames_.levels.size() && frames_.levels[level + 1].first <= asked) {
        ++level;
      }
      ++asked;
      return frames_.levels[level].second;
    };
    GivenLevels levels(level_of, frames_.repair);
    std::int64_t written = 0;
    const auto end_if_stopped = [this] {
      if (stop_.stop_requested()) {
        throw Stopped();
      }
    };
    StreamParts parts;
    parts.read = [&] {
      end_if_stopped();
      io::Reader::Item item = source.read();
      if (Frame* const frame = std::get_if<Frame>(&item);
          frame != nullptr && frames_.repair != Repair::kOff) {
        *frame = engine_->in_host_memory(*frame);
      }
      return item;
    };
    parts.noise = &levels;
    parts.make_denoiser = [&](const Frame& frame, const NoiseModel& noise) {
      return engine_->make_denoiser(filter, noise, frame.format);
    };
    parts.mix = frames_.mix;
    parts.write_frame = [&](const Frame& frame) {
      target.write(with_added_grain(plan_.settings.added_grain, frame));
      ++written;
    };
    StreamOptions options;
    options.queued_frames = queued_frames(*engine_);
    options.abandon = stop_;
    StreamCounters counters;
    run_stream(parts, options, counters, {});
    if (written != frames_.frames) {
      end_if_stopped();
      throw Error(fmt::format("{}: segment {} has {} frames instead of {}", input_.path, number_ + 1, written,
                              frames_.frames));
    }
  }

  const JobFolder& folder_;
  const Plan& plan_;
  int number_;
  const std::shared_ptr<Engine>& engine_;
  std::stop_token stop_;
  const Segment& segment_;
  const PlannedInput& input_;
  SegmentPlan frames_;
};

int whole_number(const char* name, const char* text) {
  const std::optional<int> number = to_number<int>(text);
  if (!number || *number < 0) {
    throw UsageError(fmt::format("{}: '{}' is not the number of a task; set it with --index N", name, text));
  }
  return *number;
}

class Worker {
 public:
  Worker(const JobFolder& folder, const Plan& plan, const WorkOptions& options,
         const std::shared_ptr<Engine>& engine, const std::stop_token& stop)
      : folder_(folder),
        plan_(plan),
        options_(options),
        engine_(engine),
        stop_(stop),
        claims_(folder, options.patience) {}

  WorkReport run() {
    if (options_.share) {
      for (const int number : segments_of(*options_.share, static_cast<int>(plan_.segments.size()))) {
        // The scheduler decides: the previous worker of the segment is no longer running.
        if (stop_.stop_requested() || !do_one(number, true)) {
          report_.stopped = report_.stopped || stop_.stop_requested();
        }
      }
    } else {
      do_what_is_free();
    }
    std::ranges::sort(report_.failed);
    return report_;
  }

 private:
  /// In an order of this worker's own: others begin elsewhere.
  void do_what_is_free() {
    std::vector<int> order(plan_.segments.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(std::random_device()()));
    // Workers without an index take segments in order.
    if (options_.waits) {
      std::ranges::sort(order);
    }
    std::set<int> settled;  // that this worker has done or failed in, or that are done
    for (;;) {
      const std::set<int> marked = folder_.numbers_in("done");
      const std::set<int> claimed = folder_.numbers_in("claims");
      std::vector<int> left;
      std::ranges::copy_if(order, std::back_inserter(left), [&](int number) {
        if (!settled.contains(number) && marked.contains(number) && is_done(number)) {
          settled.insert(number);
        }
        return !settled.contains(number);
      });
      report_.with_others = static_cast<int>(left.size());
      const auto free = std::ranges::find_if(left, [&](int number) { return !claimed.contains(number); });
      if (stop_.stop_requested()) {
        report_.stopped = free != left.end() || (options_.waits && !left.empty());
        return;
      }
      if (free != left.end()) {
        left = {*free};
      }
      // The workers of claimed segments may be lost.
      const auto worked = std::ranges::find_if(left, [&](int number) { return do_one(number, false); });
      if (worked != left.end()) {
        settled.insert(*worked);
      } else if (left.empty() || (free == left.end() && !options_.waits)) {
        return;
      } else if (!claimed.empty()) {
        pause();
      }
    }
  }

  void pause() const {
    constexpr auto kBetweenLooks = std::chrono::milliseconds(500);
    constexpr auto kPatience = std::chrono::milliseconds(20);
    for (auto left = kBetweenLooks; left.count() > 0 && !stop_.stop_requested(); left -= kPatience) {
      std::this_thread::sleep_for(kPatience);
    }
  }

  /// False if another worker has it.
  bool do_one(int number, bool from_anybody) {
    if (is_done(number)) {
      ++report_.there;
      return true;
    }
    if (!claims_.take(number, from_anybody)) {
      return false;
    }
    struct GiveBack : NotCopyable {
      Claims& claims;
      explicit GiveBack(Claims& of) : claims(of) {}
      ~GiveBack() { claims.give_back(); }
    };
    const GiveBack give_back(claims_);
    // Between the look and the claim it may have been done.
    if (is_done(number)) {
      ++report_.there;
      return true;
    }
    try {
      check_input_once(number);
      const DoneSegment done = do_segment(folder_, plan_, number, engine_, stop_);
      ++report_.done;
      report_.frames += std::ssize(done.hashes);
      spdlog::info(fmt::format("segment {} of {}: {} frames in {:.1f} s", number + 1, plan_.segments.size(),
                               done.hashes.size(), done.seconds));
      std::error_code ignored;
      std::filesystem::remove(folder_.failed(number), ignored);
    } catch (const Stopped&) {
      return false;
    } catch (const Error& failure) {
      if (claims_.is_lost()) {
        spdlog::warn(fmt::format("segment {}: another worker has taken it over", number + 1));
        return false;
      }
      failed(number, failure.what());
    } catch (const std::bad_alloc&) {
      failed(number, kOutOfMemory);
    } catch (const std::exception& failure) {
      failed(number, failure.what());
    }
    return true;
  }

  /// A segment with a damaged result is not done: it is repeated, with a warning.
  bool is_done(int number) {
    try {
      return read_done(folder_, plan_, number).has_value();
    } catch (const Error& damage) {
      if (damaged_.insert(number).second) {
        spdlog::warn(fmt::format("{}; segment {} is repeated", damage.what(), number + 1));
      }
      return false;
    }
  }

  void check_input_once(int number) {
    const int input = plan_.segments[static_cast<std::size_t>(number)].input;
    if (!checked_.contains(input)) {
      check_input(plan_.inputs[static_cast<std::size_t>(input)]);
      checked_.insert(input);
    }
  }

  void failed(int number, const std::string& sentence) {
    if (is_done(number)) {
      ++report_.there;  // by another worker, which may have taken it over
      return;
    }
    spdlog::error(fmt::format("segment {}: {}", number + 1, sentence));
    report_.failed.push_back(number);
    try {
      write_job_file(folder_.failed(number),
                     nlohmann::ordered_json{{"error", sentence}, {"worker", process_name()}}.dump(
                         -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                         "\n");
    } catch (const Error&) {
      // The disk may be full. It has been logged.
    }
  }

  const JobFolder& folder_;
  const Plan& plan_;
  const WorkOptions& options_;
  const std::shared_ptr<Engine>& engine_;
  std::stop_token stop_;
  Claims claims_;
  std::set<int> checked_;  // inputs
  std::set<int> damaged_;  // segments with a damaged result that has been logged
  WorkReport report_;
};

}  // namespace

DoneSegment do_segment(const JobFolder& folder, const Plan& plan, int number,
                       const std::shared_ptr<Engine>& engine, const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  DoneSegment done;
  try {
    done = SegmentRun(folder, plan, number, engine, stop).run();
  } catch (const Error&) {
    if (stop.stop_requested()) {
      throw Stopped();
    }
    throw;
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  write_job_file(folder.done(number), to_json(done).dump() + "\n");
  return done;
}

std::optional<Share> share_of_array(const std::function<const char*(const char* name)>& value_of) {
  struct Scheduler {
    const char* index;
    const char* count;  // of all tasks of the array, also when one is run again; null if there is none
  };
  constexpr std::array<Scheduler, 6> kSchedulers{{{"SLURM_ARRAY_TASK_ID", nullptr},
                                                  {"JOB_COMPLETION_INDEX", nullptr},
                                                  {"AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE"},
                                                  {"BATCH_TASK_INDEX", "BATCH_TASK_COUNT"},
                                                  {"CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"},
                                                  {"PBS_ARRAY_INDEX", nullptr}}};
  for (const Scheduler& scheduler : kSchedulers) {
    const auto number = [&](const char* name, int otherwise) {
      const char* const text = name == nullptr ? nullptr : value_of(name);
      return text == nullptr || *text == 0 ? otherwise : whole_number(name, text);
    };
    if (const int index = number(scheduler.index, -1); index >= 0) {
      return Share{.index = index, .of = number(scheduler.count, 0)};
    }
  }
  return std::nullopt;
}

std::vector<int> segments_of(const Share& share, int segments) {
  const int of = share.of > 0 ? share.of : segments;
  if (share.index < 0 || share.index >= of) {
    throw UsageError(fmt::format("--index: {} does not exist; the job has {} {}, with the indices 0 to {}",
                                 share.index, of, share.of > 0 ? "shares" : "segments", of - 1));
  }
  std::vector<int> numbers;
  for (int number = share.index; number < segments; number += of) {
    numbers.push_back(number);
  }
  return numbers;
}

WorkReport work_on(const JobFolder& folder, const Plan& plan, const WorkOptions& options,
                   const std::shared_ptr<Engine>& engine, const std::stop_token& stop) {
  folder.create();  // some tools that copy a job leave empty folders out
  return Worker(folder, plan, options, engine, stop).run();
}

namespace {

/// "5, 17 to 18".
std::string ranges_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) {
      ++end;
    }
    text += text.empty() ? "" : ", ";
    text += end == i ? std::to_string(numbers[i]) : fmt::format("{} to {}", numbers[i], numbers[end]);
    i = end + 1;
  }
  return text;
}

/// The results of an input's segments, one after the other.
class SegmentResults {
 public:
  SegmentResults(const JobFolder& folder, const Plan& plan, int input)
      : folder_(folder), plan_(plan), input_(plan.inputs.at(static_cast<std::size_t>(input))) {
    for (std::size_t number = 0; number < plan.segments.size(); ++number) {
      if (plan.segments[number].input == input) {
        numbers_.push_back(static_cast<int>(number));
        const DoneSegment done = done_of(numbers_.size() - 1);
        most_reordered_ = std::max(most_reordered_, done.reordering);
        engines_.insert(done.engine);
      }
    }
  }

  /// Writes the next to the writer, in place of `source`, the frame that it was made of.
  void write_next(io::Writer& writer, const Frame& source) {
    if (input_.joined) {
      while (!joining_ || !writer.join_frame()) {
        next_segment();
        writer.begin_segment(folder_.data(done_.file), most_reordered_);
        joining_ = true;
      }
    } else {
      std::optional<Frame> result = lossless_ ? lossless_->read() : std::nullopt;
      while (!result) {
        next_segment();
        lossless_ = std::make_unique<io::LosslessReader>(folder_.data(done_.file), source.format);
        result = lossless_->read();
      }
      if (frame_ >= done_.hashes.size() || io::sample_hash(*result) != done_.hashes[frame_]) {
        fail(numbers_[next_ - 1], "has frames that do not match their hashes");
      }
      ++frame_;
      pass_on(source, *result);
      writer.write(*result);
    }
  }

  /// After the last frame of the source.
  void end(io::Writer& writer) {
    const bool more_of_this = joining_ ? writer.join_frame() : lossless_ && lossless_->read();
    if (more_of_this || next_ != numbers_.size()) {
      throw Error(input_.path + ": has fewer frames than when it was planned");
    }
  }

  std::uint64_t hash() const { return combined(hashes_); }
  const std::set<std::string>& engines() const { return engines_; }

 private:
  [[noreturn]] void fail(int number, const char* what) const {
    throw Error(fmt::format("{}: segment {} {}; delete {}, and limpid work {} repeats it", folder_.path(),
                            number + 1, what, folder_.done(number), folder_.path()));
  }

  DoneSegment done_of(std::size_t place) const {
    std::optional<DoneSegment> done;
    try {
      done = read_done(folder_, plan_, numbers_[place]);
    } catch (const Error& damage) {
      throw Error(fmt::format("{}; limpid work {} repeats the segment", damage.what(), folder_.path()));
    }
    if (!done) {
      throw Error(fmt::format("{}: segment {} is missing; limpid work {} does it", folder_.path(),
                              numbers_[place] + 1, folder_.path()));
    }
    return *std::move(done);
  }

  void next_segment() {
    if (next_ == numbers_.size()) {
      throw Error(input_.path + ": has more frames than when it was planned");
    }
    done_ = done_of(next_++);
    hashes_.insert(hashes_.end(), done_.hashes.begin(), done_.hashes.end());
    frame_ = 0;
  }

  const JobFolder& folder_;
  const Plan& plan_;
  const PlannedInput& input_;
  std::vector<int> numbers_;
  std::set<std::string> engines_;
  int most_reordered_ = 0;
  std::size_t next_ = 0;  // of `numbers_`
  DoneSegment done_;
  std::size_t frame_ = 0;  // of the segment under way
  bool joining_ = false;
  std::unique_ptr<io::LosslessReader> lossless_;
  std::vector<std::uint64_t> hashes_;
};

/// Removes the temporary file of an earlier merge that was killed, and records that of this one.
void keep_record(const JobFolder& folder, const Plan& plan, int input, const std::string& output,
                 io::WriterOptions& writer) {
  if (io::is_written_straight(output)) {
    return;
  }
  try {
    if (const std::optional<MergeRecord> earlier = read_merge_record(folder, input)) {
      io::remove_left_temporary(output, earlier->temporary_mark);
    }
  } catch (const Error& damage) {
    spdlog::warn(fmt::format("{}; the temporary file of an interrupted merge is not removed", damage.what()));
  }
  MergeRecord record{.input = plan.inputs[static_cast<std::size_t>(input)].path,
                     .settings = comparable(plan.settings),
                     .temporary_mark = io::new_temporary_mark(),
                     .whole = {}};
  // Merging must work without write access to the job's folder.
  const auto write = [folder, input](const MergeRecord& changed) {
    try {
      write_merge_record(folder, input, changed);
    } catch (const Error& failure) {
      spdlog::debug(failure.what());
    }
  };
  write(record);
  writer.temporary_mark = record.temporary_mark;
  writer.when_whole = [write, record](const std::string& temporary) {
    MergeRecord whole = record;
    whole.whole = {static_cast<std::int64_t>(std::filesystem::file_size(temporary)),
                   io::file_fingerprint(temporary.c_str())};
    write(whole);
  };
}

/// Fills in the description of a file that is complete, and logs warnings.
void fill_in(MergedFile& merged, const io::Reader& reader, const io::Writer& writer,
             const SegmentResults& results, const PlannedInput& planned) {
  merged.diagnostics = io::merged(reader.diagnostics(), writer.diagnostics());
  io::Diagnostics news = merged.diagnostics;
  // The plan was made with this cropping, and has reported it.
  std::erase_if(news, [](const auto& each) { return each.kind == io::Diagnostic::Kind::kCropping; });
  warn_of_the_whole(news, {.name = planned.path, .frames = merged.frames, .expected = planned.frames});
  if (results.engines().size() > 1) {
    std::string names;
    for (const std::string& name : results.engines()) {
      names += (names.empty() ? "" : ", ") + name;
    }
    spdlog::warn(
        fmt::format("{}: segments were done by different engines ({}), whose results differ by rounding",
                    planned.path, names));
  }
  merged.bytes = writer.bytes_written();
  merged.hash = results.hash();
  merged.engines.assign(results.engines().begin(), results.engines().end());
}

}  // namespace

std::string missing_segments(const JobFolder& folder, const Plan& plan) {
  std::vector<int> missing;
  bool is_any_damaged = false;
  for (int number = 0; number < std::ssize(plan.segments); ++number) {
    bool is_there = false;
    try {
      is_there = read_done(folder, plan, number).has_value();
    } catch (const Error& damage) {
      spdlog::warn(damage.what());
      is_any_damaged = true;
    }
    if (!is_there) {
      missing.push_back(number + 1);
    }
  }
  return missing.empty()
             ? ""
             : fmt::format("{} of {} segments are missing{}: {}", missing.size(), plan.segments.size(),
                           is_any_damaged ? " or damaged" : "", ranges_text(missing));
}

MergedFile merge_input(const JobFolder& folder, const Plan& plan, int input, const std::string& output,
                       io::Overwrite overwrite,
                       const std::function<bool(std::int64_t frames, std::int64_t expected)>& goes_on) {
  const PlannedInput& planned = plan.inputs.at(static_cast<std::size_t>(input));
  check_input(planned);
  io::ReaderOptions options = plan.settings.reader;
  options.decoder_threads = planned.decoder_threads;
  io::Reader reader(planned.path, options);
  io::WriterOptions writer_options = plan.settings.writer;
  writer_options.overwrite = overwrite;
  keep_record(folder, plan, input, output, writer_options);
  io::Writer writer(output, reader, writer_options);
  log_warnings(io::texts_of(writer.diagnostics()));
  if (planned.joined && !writer.joins_segments()) {
    throw Error(fmt::format("{}: the encoded segments of this job can't be joined in {}; plan with -f {}",
                            output, writer.container(), writer.container()));
  }
  MergedFile merged;
  merged.joined = planned.joined;
  SegmentResults results(folder, plan, input);
  while (plan.settings.frames == 0 || merged.frames < plan.settings.frames) {
    io::Reader::Item item = reader.read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      break;
    }
    if (const Frame* const frame = std::get_if<Frame>(&item)) {
      results.write_next(writer, *frame);
      if (!goes_on(++merged.frames, planned.frames)) {
        return {};
      }
    } else {
      writer.write(*std::get<std::shared_ptr<io::Packet>>(item));
    }
  }
  results.end(writer);
  writer.finish();
  try {
    fill_in(merged, reader, writer, results, planned);
  } catch (const std::bad_alloc&) {
    warn_of_missing_report(output);
  }
  return merged;
}

}  // namespace limpid::app
