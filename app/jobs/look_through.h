#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engine/noise_control.h"
#include "io/media/reader.h"

namespace limpid::app {

/// All that is kept of a frame that was looked at.
struct SeenFrame {
  double time = 0;                       ///< io::presentation_time()
  std::uint64_t hash = 0;                ///< io::frame_hash()
  std::optional<std::int64_t> position;  ///< io::source_position()
  std::size_t level = 0;                 ///< of SeenSource::levels
  bool is_result = true;                 ///< not context only
  bool begins_scene = false;             ///< by its brightness; never the first
};

/// What a source is, from its first frame to its last.
struct SeenSource {
  std::vector<SeenFrame> frames;
  std::vector<NoiseModel> levels;      ///< what frames are to be filtered with
  std::unique_ptr<io::Reader> reader;  ///< that has read the source, or its first part
  std::size_t parts = 1;               ///< that it is put together of
};

/// What is to be looked through, and how.
struct LookThrough {
  std::string path;
  io::ReaderOptions reader;
  NoiseSettings noise;
  std::int64_t most_frames = 0;  ///< but for context; 0: all
  /// How many parts are looked through at the same time, if the source can be divided; 0: as many as this
  /// machine has processors for. What comes out doesn't depend on it.
  int parts = 0;
  /// Who is through with a part takes half of what is left of another, if that is at least so many frames.
  std::int64_t least_shared = 600;
};

/// Goes through a source as one run would: its frames, and their noise as `engine` finds it. `progress` is
/// told how many frames have been looked at and are expected, by several threads, one at a time; once it
/// returns false, nothing comes out. Throws Error.
///
/// Each part begins with a key frame and has a decoder of its own. The part before it goes on until both have
/// seen the same frames and hold the same noise: from there on both find the same, and one is enough. That is
/// so soon after a cut, or after the noise of a scene has changed; and within a scene, as a part is told what
/// the part before it holds. Where it is nowhere so, the part before goes on in its place. A source that
/// there is anything to tell of (io::Reader::diagnostics()) is looked through again by one reader, on
/// processors, which tells it.
std::optional<SeenSource> look_through(const LookThrough& source, const std::shared_ptr<Engine>& engine,
                                       const std::function<bool(std::int64_t, std::int64_t)>& progress);

/// How many parts are worth it on so many processors, and how many more on a GPU's decoders.
struct PartCounts {
  int on_processors = 1;
  int on_gpu = 0;
  bool operator==(const PartCounts&) const = default;
};
PartCounts parts_for(int processors, bool on_gpu, std::int64_t frames);

}  // namespace limpid::app
