// SPDX-License-Identifier: MIT
#include "app/jobs/merge.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "app/console/diagnostics.h"
#include "app/console/logging.h"
#include "core/base/error.h"
#include "io/media/frame_hash.h"
#include "io/media/lossless_file.h"
#include "io/media/reader.h"

namespace limpid::app {
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
                            number, what, folder_.done(number), folder_.path()));
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
                              numbers_[place], folder_.path()));
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
      missing.push_back(number);
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
