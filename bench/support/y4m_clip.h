// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"

// Real clips for benchmarks that run without FFmpeg, which can make the files:
//   ffmpeg -i CLIP -pix_fmt yuv420p clip.y4m

namespace limpid::benchmarks {

/// At most `most` frames of a YUV4MPEG2 file of 8-bit 4:2:0 samples, in memory of the engine, cut to the size
/// and depth of `format`, which is 4:2:0 or gray. Of a larger picture, the center is used; a smaller one is
/// mirrored at its borders. Throws Error for other files.
std::vector<Frame> read_y4m(const std::filesystem::path& file, Engine& engine, const FrameFormat& format,
                            int most);

}  // namespace limpid::benchmarks
