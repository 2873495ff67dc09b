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
  double time = 0;
  std::uint64_t hash = 0;     ///< io::frame_hash()
  std::size_t level = 0;      ///< of SeenSource::levels
  bool is_result = true;      ///< not context only
  bool begins_scene = false;  ///< by its brightness
  bool interlaced = false;
};

/// What a source is, from its first frame to its last.
struct SeenSource {
  std::vector<SeenFrame> frames;
  std::vector<NoiseModel> levels;  ///< what frames are to be filtered with
  /// That has read the source, or its first part.
  std::unique_ptr<io::Reader> reader;
  std::size_t parts = 1;  ///< that it is put together of
};

struct LookThrough {
  std::string path;
  io::ReaderOptions reader;
  NoiseSettings noise;
  std::int64_t most_frames = 0;  ///< but for context; 0: all
  /// Parts that are looked through at the same time, where the source allows that; 0: as many as are worth it
  /// on this machine. What comes out doesn't depend on it.
  int parts = 0;
};

/// Goes through a source as one run would: its frames, and their noise as `engine` finds it. `progress`, told
/// how many frames have been looked at and are expected, stops it by returning false; then the result is
/// nothing. Throws Error.
///
/// Each part begins with a key frame and is decoded by itself. What noise a scene has depends on all of its
/// frames and on no others, so a part knows the noise from its first cut on, and the one before it goes on
/// that far. On the way, it has to see the same frames as the part whose beginning they are; else it goes on
/// in that part's place. Sources with anything to be told of (Reader::diagnostics()) are looked through again
/// as a whole.
std::optional<SeenSource> look_through(const LookThrough& source, Engine& engine,
                                       const std::function<bool(std::int64_t, std::int64_t)>& progress);

}  // namespace limpid::app
