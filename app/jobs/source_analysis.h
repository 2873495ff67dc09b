// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engine/frame_control.h"
#include "core/frame/reach.h"
#include "io/media/reader.h"

namespace limpid::app {

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

}  // namespace limpid::app
