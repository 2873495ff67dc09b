// SPDX-License-Identifier: MIT
#include "app/jobs/segment_work.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <variant>

#include "app/console/durable_file.h"
#include "app/options/engine_options.h"
#include "app/pipeline/added_grain.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "io/media/frame_hash.h"
#include "io/media/lossless_file.h"

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
    for (;;) {
      io::Reader::Item item = reader_.read();
      if (std::holds_alternative<io::Reader::End>(item)) {
        fail();
      }
      Frame* const frame = std::get_if<Frame>(&item);
      if (frame == nullptr || skip_-- > 0) {
        continue;
      }
      if (io::frame_hash(*frame) != segment_.checks[static_cast<std::size_t>(next_)]) {
        fail();
      }
      frame->interlaced = segment_.fields[static_cast<std::size_t>(next_)];
      frame->index = first_index_ + next_ - segment_.before;
      frame->context_only = next_ < segment_.before || next_ >= segment_.before + segment_.frames;
      ++next_;
      return item;
    }
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
    const Reach reach = FieldControl::reach_with(plan_.settings.fields, reach_of(filter));
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
    return done;
  }

  void denoise(SegmentSource& source, SegmentTarget& target, const Filter& filter) {
    std::int64_t asked = 0;
    std::size_t level = 0;
    GivenLevels levels([&](const Frame&) {
      while (level + 1 < frames_.levels.size() && frames_.levels[level + 1].first <= asked) {
        ++level;
      }
      ++asked;
      return frames_.levels[level].second;
    });
    std::int64_t written = 0;
    const auto end_if_stopped = [this] {
      if (stop_.stop_requested()) {
        throw Stopped();
      }
    };
    PipelineStages stages;
    stages.read = [&] {
      end_if_stopped();
      return source.read();
    };
    stages.noise = &levels;
    stages.make_denoiser = [&](const Frame& frame, const NoiseModel& noise) {
      return engine_->make_denoiser(filter, noise, frame.format);
    };
    stages.mix = frames_.mix;
    stages.write_frame = [&](const Frame& frame) {
      target.write(with_added_grain(plan_.settings.added_grain, frame));
      ++written;
    };
    stages.write_packet = [](const io::Packet&) {};
    PipelineOptions options;
    options.queued_frames = queued_frames(*engine_);
    options.abandon = stop_;
    PipelineCounters counters;
    run_pipeline(stages, options, counters, {});
    if (written != frames_.frames) {
      end_if_stopped();
      throw Error(fmt::format("{}: segment {} has {} frames instead of {}", input_.path, number_, written,
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

}  // namespace limpid::app
