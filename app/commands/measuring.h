// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/metrics.h"
#include "io/media/reader.h"

// Functions that the commands share that measure quality.

namespace limpid::app {

using Qualities = std::vector<PlaneQuality>;

/// Opens a video and reads only its frames, with these options.
io::Reader open_video(const std::string& url, bool local_only, io::ReaderOptions options = {});

/// Throws Error, with both sources' names, if the frames differ in anything but bit depth and tags.
void check_same_kind(const std::string& reference_url, const Frame& reference, const std::string& test_url,
                     const Frame& test);

/// Averages over all frames: the squared error, whose PSNR is the average PSNR (finite even if some frames
/// are equal), and the SSIM.
class AverageQuality {
 public:
  void add(const Qualities& frame);
  Qualities result() const;
  std::int64_t count() const { return count_; }

 private:
  Qualities sums_;
  std::int64_t count_ = 0;
};

}  // namespace limpid::app
