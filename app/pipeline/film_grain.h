// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/grain/film_grain.h"
#include "core/stream/noise_control.h"
#include "io/media/reader.h"

namespace limpid::app {

struct FilmGrainRequest {
  std::string input;
  io::ReaderOptions reader;
  NoiseSettings noise;  ///< given noise, or none for an estimate
  FieldChoice fields = FieldChoice::kAuto;
  std::int64_t frames = 0;  ///< maximum number of frames to read; 0: all
  bool by_number = false;   ///< times in the table are numbers of frames, from 0
};

/// A video's noise as film grain, with an entry for each part of constant noise. Times count from the first
/// frame. If the video is AV1 with film grain, its own grain. Reads the whole input. Throws UsageError for
/// pipes and for formats that cannot have film grain.
FilmGrainTable film_grain_of_video(const FilmGrainRequest& request, Engine& engine);

/// True if any part has grain.
bool has_grain(const FilmGrainTable& table);

/// Adds the grain of a table, whose times are numbers of frames, to the frame. Returns the frame itself if
/// the table has none for it. The result depends only on the table, and on the frame's samples and number.
/// Throws UsageError for formats that cannot have film grain.
Frame with_added_grain(const FilmGrainTable& table, const Frame& frame);

}  // namespace limpid::app
