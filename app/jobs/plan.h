#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/jobs/job_folder.h"
#include "core/engine/field_control.h"
#include "core/noise/noise_model.h"
#include "core/settings/filter_settings.h"
#include "core/settings/json_reader.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

// The contents of a plan. README.md lists the files.

namespace limpid::app {

/// Settings of a job that do not depend on a machine.
// NOLINTNEXTLINE(bugprone-exception-escape): of JSON's moving, which only an assertion can end
struct JobSettings {
  FilterSettings filter;
  FieldChoice fields = FieldChoice::kAuto;
  io::ReaderOptions reader;
  io::WriterOptions writer;
  std::int64_t frames = 0;  ///< of each input at most; 0: all
  nlohmann::json noise;     ///< as it was asked for, to be compared
};

nlohmann::ordered_json to_json(const JobSettings& settings);
/// Throws Error for what to_json() would not make.
JobSettings settings_from(const JsonValue& json);
/// to_json() with sorted members.
nlohmann::json comparable(const JobSettings& settings);

struct PlannedInput {
  std::string path;        ///< from the root
  std::int64_t bytes = 0;  ///< below 0: no file, such as numbered pictures
  std::uint64_t fingerprint = 0;
  std::int64_t frames = 0;      ///< results
  int decoder_threads = 0;      ///< 0: libavcodec's choice
  bool decoded_on_gpu = false;  ///< for the plan
  bool still_picture = false;
  bool joined = false;  ///< segments are encoded as they are in the end
};

struct Segment {
  int input = 0;
  std::int64_t first = 0;  ///< of the input's results
  std::int64_t frames = 0;
};

// NOLINTNEXTLINE(bugprone-exception-escape): as of the moves of JSON
struct Plan {
  std::string program;  ///< that made it: version()
  JobSettings settings;
  std::vector<PlannedInput> inputs;
  std::vector<Segment> segments;
};

/// Data of a segment for its worker: all frames that it reads, with those around the segment.
struct SegmentPlan {
  std::int64_t position = 0;   ///< frames that a reader gives before them, from the beginning
  std::optional<double> seek;  ///< the time of the first, if that may be sought
  std::int64_t before = 0;
  std::int64_t frames = 0;
  std::int64_t after = 0;
  std::vector<std::uint64_t> checks;  ///< io::frame_hash() of each
  /// What each is filtered with, from so many frames behind the first on.
  std::vector<std::pair<std::int64_t, NoiseModel>> levels;
  std::vector<bool> fields;  ///< whether each is filtered by field
};

nlohmann::ordered_json to_json(const SegmentPlan& segment);
SegmentPlan segment_plan_from(const JsonValue& json);

/// The result of a worker.
struct DoneSegment {
  std::string file;  ///< in the folder of data
  std::int64_t bytes = 0;
  std::vector<std::uint64_t> hashes;  ///< io::sample_hash() of each result
  int reordering = 0;
  std::string engine;
  std::string worker;
  double seconds = 0;
};

nlohmann::ordered_json to_json(const DoneSegment& done);
DoneSegment done_segment_from(const JsonValue& json);

/// The versions of this program and of the libraries that decode and encode.
std::string program_version();

void write_plan(const JobFolder& folder, const Plan& plan);
/// Throws Error if there is none, or if another version has made it.
Plan read_plan(const JobFolder& folder);
/// `frames`: results, of the plan. Throws Error.
SegmentPlan read_segment_plan(const JobFolder& folder, int number, std::int64_t frames);
/// Nothing if the segment isn't done, or its file is gone or not whole. Throws Error for a damaged file.
std::optional<DoneSegment> read_done(const JobFolder& folder, int number);

/// Record of a merge, for the next process after a kill.
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
/// Nothing if there is none. Throws Error for a damaged file.
std::optional<MergeRecord> read_merge_record(const JobFolder& folder, int input);
/// True if `output` is the complete file of that record.
bool is_merged(const MergeRecord& record, const std::string& output);

/// The container of encoded segments; without a choice the most common one.
io::WriterOptions segment_options(io::WriterOptions options);

/// Throws Error unless the input is the file that was planned.
void check_input(const PlannedInput& input);

/// One hash of hashes, in their order.
std::uint64_t combined(const std::vector<std::uint64_t>& hashes);

}  // namespace limpid::app
