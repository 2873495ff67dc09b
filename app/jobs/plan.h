// SPDX-License-Identifier: MIT
#pragma once

// The contents of a plan. README.md lists the files.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/jobs/job_folder.h"
#include "core/engine/field_control.h"
#include "core/grain/film_grain.h"
#include "core/noise/noise_model.h"
#include "core/settings/filter_settings.h"
#include "core/settings/json_reader.h"
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
  std::vector<std::pair<std::int64_t, NoiseModel>> levels;
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

}  // namespace limpid::app
