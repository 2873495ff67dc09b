// SPDX-License-Identifier: MIT
#pragma once

// The contents of a plan. README.md lists the files.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/jobs/job_folder.h"
#include "core/base/not_copyable.h"
#include "core/engine/denoiser.h"
#include "core/frame/reach.h"
#include "core/grain/film_grain.h"
#include "core/noise/noise_model.h"
#include "core/settings/filter_settings.h"
#include "core/settings/json_reader.h"
#include "core/stream/bounded_queue.h"
#include "core/stream/noise_control.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Settings of a job that do not depend on a machine.
// NOLINTNEXTLINE(bugprone-exception-escape): of JSON's moving, which only an assertion can end
struct JobSettings {
  FilterSettings filter;
  FieldChoice fields = FieldChoice::kAuto;
  io::ReaderOptions reader;
  io::WriterOptions writer;
  FilmGrainTable added_grain;  ///< grain that is added to results, with numbers of frames as times
  std::int64_t frames = 0;     ///< maximum number of frames of each input; 0: all
  nlohmann::json noise;        ///< noise settings of the user, for comparisons
};

inline constexpr const char* kJobOfSegments = "a job of segments";  ///< for messages
nlohmann::ordered_json to_json(const JobSettings& settings);
/// Throws Error if `json` is not a result of to_json().
JobSettings settings_from(const JsonValue& json);
/// to_json() with sorted members.
nlohmann::json comparable(const JobSettings& settings);

struct PlannedInput {
  std::string path;        ///< from the root
  std::int64_t bytes = 0;  ///< negative: not a single file, such as numbered pictures
  std::uint64_t fingerprint = 0;
  std::int64_t frames = 0;      ///< results
  int decoder_threads = 0;      ///< 0: libavcodec's choice
  bool decoded_on_gpu = false;  ///< for the plan
  bool still_picture = false;
  bool joined = false;  ///< segments are encoded with the final encoder and joined without reencoding
};

struct Segment {
  int input = 0;
  std::int64_t first = 0;  ///< first frame, counted in results of the input
  std::int64_t frames = 0;
};

// NOLINTNEXTLINE(bugprone-exception-escape): as of the moves of JSON
struct Plan {
  std::string program;  ///< version() of the program that made the plan
  JobSettings settings;
  std::vector<PlannedInput> inputs;
  std::vector<Segment> segments;
  std::uint64_t digest = 0;  ///< hash of the file, set by read_plan()
};

/// Data of a segment for its worker: all frames that it reads, with those around the segment.
struct SegmentPlan {
  /// Number of frames that a reader delivers before them, counted from the beginning.
  std::int64_t position = 0;
  std::optional<double> seek;  ///< time of the first frame, if the source can be searched for it
  std::int64_t before = 0;
  std::int64_t frames = 0;
  std::int64_t after = 0;
  std::vector<std::uint64_t> checks;  ///< io::frame_hash() of each
  /// The noise models of the frames. Each applies from the given frame on, counted from the first.
  std::vector<std::pair<std::int64_t, FrameLevel>> levels;
  Repair repair = Repair::kOff;
  float mix = 0;             ///< Denoiser::set_mix()
  std::vector<bool> fields;  ///< for each frame: true if it is filtered by field
};

nlohmann::ordered_json to_json(const SegmentPlan& segment);
SegmentPlan segment_plan_from(const JsonValue& json);

/// A denoised segment.
struct DoneSegment {
  std::string file;  ///< name in the folder of data
  std::int64_t bytes = 0;
  std::vector<std::uint64_t> hashes;  ///< io::sample_hash() of each result
  std::uint64_t plan = 0;             ///< Plan::digest
  int reordering = 0;
  std::string engine;
  std::string worker;
  double seconds = 0;
};

nlohmann::ordered_json to_json(const DoneSegment& done);
DoneSegment done_segment_from(const JsonValue& json);

/// The versions of this program and of the libraries that decode and encode, which must match between
/// workers.
std::string program_version();

void write_plan(const JobFolder& folder, const Plan& plan);
/// Throws Error if there is no plan, or if another version has made it.
Plan read_plan(const JobFolder& folder);
/// `frames`: number of results, as in the plan. Throws Error.
SegmentPlan read_segment_plan(const JobFolder& folder, int number, std::int64_t frames);
/// Nothing if the segment is not done. Throws Error if the result is of another plan or damaged: its record,
/// or a data file that is missing or has another size.
std::optional<DoneSegment> read_done(const JobFolder& folder, const Plan& plan, int number);

/// Record of a merge. The next process uses it if this one is killed.
// NOLINTNEXTLINE(bugprone-exception-escape): as of the moves of JSON
struct MergeRecord {
  struct Whole {
    std::int64_t bytes = 0;
    std::uint64_t fingerprint = 0;  ///< io::file_fingerprint()
  };
  std::string input;
  nlohmann::json settings;     ///< comparable()
  std::string temporary_mark;  ///< io::WriterOptions::temporary_mark
  std::optional<Whole> whole;  ///< set when the output is complete under its temporary name
};

/// Throws Error.
void write_merge_record(const JobFolder& folder, int input, const MergeRecord& record);
/// Nothing if there is no record. Throws Error for a damaged file.
std::optional<MergeRecord> read_merge_record(const JobFolder& folder, int input);
/// True if `output` is the complete file of that record.
bool is_merged(const MergeRecord& record, const std::string& output);

/// The options for encoded segments: with the given container, or the most common one.
io::WriterOptions segment_options(io::WriterOptions options);

/// Throws Error if the input has changed since it was planned.
void check_input(const PlannedInput& input);

/// One hash of several hashes, which depends on their order.
std::uint64_t combined(const std::vector<std::uint64_t>& hashes);

struct JobStatus {
  struct Failure {
    int segment = 0;
    std::string sentence;
  };
  int segments = 0;
  std::int64_t frames = 0;
  int done = 0;
  std::int64_t frames_done = 0;
  std::vector<int> running;
  std::vector<Failure> failed;  ///< failed segments that no worker has claimed again
  double worker_fps = 0;        ///< average speed of a worker, in frames per second; 0 if not known
  /// Total frames per second of the running workers, and the remaining time at this speed; nothing if not
  /// known.
  double fps = 0;
  std::optional<double> seconds_left;
};

/// The current state of the folder. `patience` as in WorkOptions.
JobStatus status_of(const JobFolder& folder, const Plan& plan, double patience);

/// A source's frames with their hashes (io::frame_hash()). Threads read and hash frames ahead of the
/// consumer, because this takes longer than most uses of the frames.
class HashedFrames : NotCopyable {
 public:
  struct HashedFrame {
    Frame frame;
    std::uint64_t hash = 0;
  };

  /// Returns a frame in host memory: its argument or a copy of it.
  using Copier = std::function<Frame(const Frame&)>;

  /// `most`: maximum number of frames, not counting context; 0: all. `copy` is called for each frame, on
  /// several threads at once. No one else may use `reader` during the lifetime of this object.
  HashedFrames(io::Reader& reader, std::int64_t most, Copier copy);
  ~HashedFrames();

  /// The next frame, in the order of the source; nothing at the end. Throws errors of the reader.
  std::optional<HashedFrame> next();

 private:
  void read(io::Reader& reader, std::int64_t most);

  Copier copy_;
  BoundedQueue<std::future<HashedFrame>> pending_{4};
  std::exception_ptr failure_;  // to read; before the queue is closed
  std::jthread thread_;
};

/// Data of a frame in a plan.
struct AnalyzedFrame {
  double time = 0;            ///< io::presentation_time()
  std::uint64_t hash = 0;     ///< io::frame_hash()
  std::size_t level = 0;      ///< index into AnalyzedSource::levels
  bool is_result = true;      ///< false if it is context only
  bool begins_scene = false;  ///< a scene cut precedes it; false for the first frame
  bool interlaced = false;    ///< filtered by field
};

/// A source from its first frame to its last.
struct AnalyzedSource {
  std::vector<AnalyzedFrame> frames;
  std::vector<FrameLevel> levels;      ///< noise models of the frames
  std::unique_ptr<io::Reader> reader;  ///< the reader, at the end of the source
};

struct AnalysisOptions {
  std::string path;
  io::ReaderOptions reader;
  NoiseSettings noise;
  FieldChoice fields = FieldChoice::kAuto;
  Reach reach;                   ///< the filter's
  std::int64_t most_frames = 0;  ///< maximum number of frames, not counting context; 0: all
};

/// Reads a source once, as a single run does: hashes its frames, detects scene cuts, and estimates noise with
/// `engine`. `progress` receives the numbers of analyzed and expected frames; if it returns false, the
/// analysis stops and the result is nothing. Throws Error.
///
/// If a GPU decoder failed or reported damage, the source is read again by a software decoder: GPUs
/// reconstruct damaged frames differently from the decoders of the workers.
std::optional<AnalyzedSource> analyze_source(const AnalysisOptions& options,
                                             const std::shared_ptr<Engine>& engine,
                                             const std::function<bool(std::int64_t, std::int64_t)>& progress);

/// Functions that plan_job() calls while it analyzes sources.
struct PlanningHooks {
  /// The number of the input's frames that have been analyzed and that are expected; false stops planning.
  std::function<bool(std::int64_t frames, std::int64_t expected)> progress;
  /// True to skip an input that cannot be opened.
  std::function<bool(const std::string& input, const std::exception& failure)> leaves_out;
};

/// Makes the plan of a job: estimates noise and detects scene cuts in the inputs with `engine`, and writes a
/// plan for each segment, then the plan of the job. `segment_frames`: approximate length of segments, which
/// end at scene cuts if possible. Returns false if it was stopped; other commands then do not accept the
/// folder as a job. Throws Error.
bool plan_job(const JobFolder& folder, const std::vector<std::string>& inputs, const JobSettings& settings,
              const NoiseSettings& noise, const std::shared_ptr<Engine>& engine, std::int64_t segment_frames,
              const PlanningHooks& hooks);

/// The ends of segments of about `length` frames, ascending; the last end is `frames`. Given are the first
/// frames of scenes, ascending.
std::vector<std::int64_t> ends_of_segments(std::int64_t frames, std::int64_t length,
                                           const std::vector<std::int64_t>& cuts);

}  // namespace limpid::app
