// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/pipeline/denoise_stage.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engine/leveler.h"
#include "core/engine/noise_control.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// The stages of a pipeline. Each function is called from one thread only; any of them may throw.
struct PipelineStages {
  /// The source: returns frames and packets to copy, then End. Called on the reader thread.
  std::function<io::Reader::Item()> read;
  /// Called when a stage has failed, on the thread of that stage. A read() that waits for the source must
  /// then return soon, with any item. May be empty if read() never waits.
  std::function<void()> stop_reading;
  /// Assigns noise levels to the frames, on the noise thread.
  Leveler* noise = nullptr;
  /// Makes the denoiser when the first frame and its noise level are known. Called on the calling thread.
  std::function<std::unique_ptr<Denoiser>(const Frame&, const NoiseModel&)> make_denoiser;
  float mix = 0;  ///< Denoiser::set_mix()
  /// The sink. Called on the writer thread.
  std::function<void(const Frame&)> write_frame;
  std::function<void(const io::Packet&)> write_packet;
};

struct PipelineOptions {
  std::int64_t frame_limit = 0;  ///< maximum number of frames to read; 0: no limit
  /// Maximum number of frames that have a noise level and wait to be denoised; fewer, but at least three, if
  /// they take more than 128 MiB. Three if they are in the memory of a GPU's decoder, which has few surfaces.
  /// After a stop, all these frames are still denoised, unless `abandon` is requested.
  std::size_t queued_frames = 3;
  /// Maximum number of results that wait to be encoded; fewer if they take more than 128 MiB. Decoders and
  /// encoders that work on many frames at once deliver and accept them in bursts.
  std::size_t queued_results = 16;
  /// Drops all frames that have not reached the sink, also those in the denoiser. run_pipeline() then returns
  /// soon and without an error.
  std::stop_token abandon;
};

struct PipelineCounters {
  StageCounters read;
  StageCounters noise;  ///< without frames if the noise is not estimated
  StageCounters denoise;
  StageCounters write;
  /// Times of the denoiser's device within `denoise`. Without frames if the device has no memory of its own.
  StageTimes upload;
  StageTimes filter;
  StageTimes download;

  bool on_device() const { return filter.frames > 0; }
};

/// Thrown by run_pipeline() if denoising fails. The results of earlier frames have been written. It has the
/// message of the failure.
class DenoisingFailure : public Error {
 public:
  using Error::Error;
};

/// One line per stage: frames, the rate that the stage would reach alone, the shares of its time (working,
/// waiting for input, waiting for output), and the median, 99th percentile and maximum of its latency in ms.
/// Devices add lines for uploads, filtering and downloads, without latencies.
std::vector<std::string> to_table(const PipelineCounters& counters);

/// The counters as JSON, for reports.
nlohmann::ordered_json to_json(const PipelineCounters& counters);

/// reader thread ─► queue ─► noise thread ─► queue ─► calling thread: denoise ─► queue ─► writer thread
///
/// Noise is estimated while frames are denoised, because on a GPU estimation consists mostly of waiting.
///
/// Runs until the source ends, `frame_limit` is reached or a stop is requested. Then reading ends, and the
/// frames already read are finished unless `PipelineOptions::abandon` is requested. The denoiser receives as
/// many frames at once as it can process, but no frame waits for a later one. Packets overtake frames in the
/// denoiser and otherwise keep their order. Throws the error of the first stage that fails, and drops
/// unfinished frames. If denoising fails, the finished results are written first.
void run_pipeline(const PipelineStages& stages, const PipelineOptions& options, PipelineCounters& counters,
                  const std::stop_token& stop);

/// Keeps the output that `writer` had written before `failure` as NAME.partial.EXT. Returns an error that
/// describes both. Throws the errors of renaming.
Error broken_off(io::Writer& writer, const std::string& failure);

/// The frames before a range of a file on which the noise levels in it depend, so that they are the levels of
/// the whole file.
class LevelLead {
 public:
  /// Opens the file once more. `options`: of the reader of the range. `first`: the first frame that this
  /// reader has delivered.
  LevelLead(const std::string& path, io::ReaderOptions options, const Frame& first, const LevelGrid& grid);

  /// The next frame, marked as `level_only`; nothing after the last one before `first`.
  std::optional<Frame> next();

 private:
  io::Reader reader_;
  LevelGrid grid_;
  double end_ = 0;  ///< seconds, as in presentation_time()
  bool has_begun_ = false;
};

}  // namespace limpid::app
