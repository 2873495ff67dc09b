// SPDX-License-Identifier: MIT
#include "io/media/writer/segment_writer.h"

#include <algorithm>
#include <cstddef>

namespace limpid::io {

int reordering_of(std::span<const std::int64_t> presented, std::span<const std::int64_t> decoded) {
  std::vector<std::int64_t> times(presented.begin(), presented.end());
  std::ranges::sort(times);
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < presented.size(); ++i) {
    const auto rank = std::ranges::lower_bound(times, presented[i]) - times.begin();
    most = std::max(most, static_cast<std::ptrdiff_t>(i) - rank);
    if (decoded[i] == times.front()) {
      most = std::max(most, static_cast<std::ptrdiff_t>(i));
    }
  }
  return static_cast<int>(most);
}

void SegmentWriter::write_frame(PacketHandle frame) {
  presented_.push_back(frame->pts);
  decoded_.push_back(frame->dts);
  file_.write(*frame);
  bytes_ = file_.bytes();
}

void SegmentWriter::finish() {
  file_.finish();
  bytes_ = file_.bytes();
}

}  // namespace limpid::io
