#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engine/field_control.h"
#include "core/engine/noise_control.h"
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
  std::vector<NoiseModel> levels;      ///< what frames are filtered with
  std::unique_ptr<io::Reader> reader;  ///< at the end of the source
};

struct AnalysisOptions {
  std::string path;
  io::ReaderOptions reader;
  NoiseSettings noise;
  FieldChoice fields = FieldChoice::kAuto;
  Reach reach;                   ///< the filter's
  std::int64_t most_frames = 0;  ///< without context; 0: all
};

/// Reads a source once, as one run does: hashes its frames, detects scene cuts, and estimates noise with
/// `engine`. `progress` gets the number of frames analyzed and expected; analysis stops when it returns
/// false, and the result is nothing. Throws Error.
///
/// A source that a GPU has decoded is read again by a software decoder if decoding failed or reported damage:
/// of damage, GPUs make other samples than the workers' decoders.
std::optional<AnalyzedSource> analyze_source(const AnalysisOptions& options,
                                             const std::shared_ptr<Engine>& engine,
                                             const std::function<bool(std::int64_t, std::int64_t)>& progress);

}  // namespace limpid::app
