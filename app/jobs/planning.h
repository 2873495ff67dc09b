// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/jobs/plan.h"
#include "app/pipeline/bounded_queue.h"
#include "core/base/not_copyable.h"
#include "core/engine/denoiser.h"
#include "core/engine/frame_control.h"
#include "core/engine/noise_control.h"
#include "core/frame/reach.h"
#include "io/media/reader.h"

namespace limpid::app {

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
  struct Task {
    Frame frame;
    std::promise<HashedFrame> result;
  };

  void cancel();
  void read(io::Reader& reader, std::int64_t most);
  void hash();
  HashedFrame hash(const Frame& frame) const;

  static constexpr std::size_t kAhead = 8;
  static constexpr int kHashing = 2;  // threads

  Copier copy_;
  BoundedQueue<std::future<HashedFrame>> pending_{kAhead};
  BoundedQueue<Task> tasks_{kAhead};
  std::exception_ptr failure_;  // to read; before the queues are closed
  std::vector<std::jthread> threads_;
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
  std::vector<NoiseModel> levels;      ///< noise models of the frames
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
