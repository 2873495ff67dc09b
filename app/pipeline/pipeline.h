#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "app/pipeline/stage_counters.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engine/leveler.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "io/media/reader.h"

namespace limpid::app {

/// The stages of a pipeline. Each function is called from one thread only; any of them may throw.
struct PipelineStages {
  /// The source: frames, packets to copy, then End. Called on the reader thread.
  std::function<io::Reader::Item()> read;
  /// Called when a stage has failed, on its thread: a read() that waits for the source must return soon,
  /// with any item. May be empty if none waits.
  std::function<void()> stop_reading;
  /// Gives the frames their noise levels, on the noise thread.
  Leveler* noise = nullptr;
  /// Makes the denoiser, when the first frame and its noise level are known; on the calling thread.
  std::function<std::unique_ptr<Denoiser>(const Frame&, const NoiseModel&)> make_denoiser;
  /// The sink; called on the writer thread.
  std::function<void(const Frame&)> write_frame;
  std::function<void(const io::Packet&)> write_packet;
};

struct PipelineOptions {
  std::int64_t frame_limit = 0;  ///< stop reading after so many frames; 0: no limit
  /// Most frames waiting to be denoised whose noise is known; fewer, down to three, where they would take
  /// more than 128 MiB. Three in the memory of a GPU's decoder, which has little to spare. On an interrupt,
  /// each costs the time to finish it.
  std::size_t queued_frames = 3;
  /// Most results waiting to be encoded; fewer if they would take more than 128 MiB. Decoders and encoders
  /// that work on many frames at once give and take them in bursts.
  std::size_t queued_results = 16;
};

struct PipelineCounters {
  StageCounters read;
  StageCounters noise;  ///< no frames unless it is estimated
  StageCounters denoise;
  StageCounters write;
  /// Times of the denoiser's device within `denoise`, if it has its own memory; otherwise no frames.
  StageTimes upload;
  StageTimes filter;
  StageTimes download;

  bool on_device() const { return filter.frames > 0; }
};

/// Thrown by run_pipeline() if denoising fails. The frames before have been written. The message is that of
/// the failure.
class DenoisingFailure : public Error {
 public:
  using Error::Error;
};

/// A line for each stage: its frames, the rate that it would have alone, the shares of its time (busy,
/// without input, without room for its output), and its latency: the median, 99 % and the largest, in ms.
/// Devices add lines for uploads, filtering and downloads, without latencies.
std::vector<std::string> to_table(const PipelineCounters& counters);

/// The counters as JSON, for reports.
nlohmann::ordered_json to_json(const PipelineCounters& counters);

///     reader thread ─► queue ─► noise thread ─► queue ─► calling thread: denoise ─► queue ─► writer thread
///
/// Noise is estimated while frames are denoised: on a GPU most of the estimation is waiting.
///
/// Runs until the source ends, `frame_limit` is reached or a stop is requested: then reading ends and the
/// frames under way are finished. The denoiser has as many frames at once as it can work on, but no frame
/// waits for the next one. Packets overtake the frames of the denoiser and otherwise keep their place. Throws
/// what the first stage to fail has thrown, and drops the frames under way; but if that is denoising, what
/// has been denoised is written first.
void run_pipeline(const PipelineStages& stages, const PipelineOptions& options, PipelineCounters& counters,
                  const std::stop_token& stop);

}  // namespace limpid::app
