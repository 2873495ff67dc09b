// SPDX-License-Identifier: MIT
#include "app/commands/measuring.h"

#include <spdlog/fmt/fmt.h>

#include "core/base/error.h"
#include "io/media/filter_chain.h"

namespace limpid::app {

io::Reader open_video(const std::string& url, bool local_only, io::ReaderOptions options) {
  options.local_only = local_only;
  io::require_independent_frames("--before", options.before, "this command");
  options.audio = options.subtitles = options.data = false;
  return io::Reader(url, options);
}

void check_same_kind(const std::string& reference_url, const Frame& reference, const std::string& test_url,
                     const Frame& test) {
  FrameFormat expected = reference.format;
  expected.sample_type = test.format.sample_type;
  expected.bit_depth = test.format.bit_depth;
  expected.has_alpha = test.format.has_alpha;
  expected.matrix = test.format.matrix;
  expected.range = test.format.range;
  if (expected != test.format) {
    throw Error(fmt::format(
        "{}: frame {} is {}, but that of {} is {}; convert one of them, as with ffmpeg -pix_fmt", test_url,
        test.index, to_string(test.format), reference_url, to_string(reference.format)));
  }
}

void AverageQuality::add(const Qualities& frame) {
  sums_.resize(frame.size());
  for (std::size_t plane = 0; plane < frame.size(); ++plane) {
    sums_[plane].mse += frame[plane].mse;
    sums_[plane].ssim += frame[plane].ssim;
    sums_[plane].peak = frame[plane].peak;
  }
  ++count_;
}

Qualities AverageQuality::result() const {
  Qualities average = sums_;
  for (PlaneQuality& plane : average) {
    plane.mse /= static_cast<double>(count_);
    plane.ssim /= static_cast<double>(count_);
    plane.psnr = psnr_from_mse(plane.mse, plane.peak);
  }
  return average;
}

}  // namespace limpid::app
