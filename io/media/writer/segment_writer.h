// SPDX-License-Identifier: MIT
#pragma once

// One segment of a source, encoded to a packet file. Private to io.

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/media/libav.h"
#include "io/media/packet_file.h"
#include "io/media/writer/sink.h"

namespace limpid::io {

/// The number of frames by which decoding precedes presentation: the encoder's value for the first frame, but
/// at least the number that the order of the frames requires. `presented` and `decoded` are the times of the
/// frames, in decoding order.
int reordering_of(std::span<const std::int64_t> presented, std::span<const std::int64_t> decoded);

class SegmentWriter : public Sink {
 public:
  /// Writes to a new file at `temporary`, which finish() renames to `path`.
  SegmentWriter(const std::string& path, const std::string& temporary, const AVCodecContext& encoder)
      : file_(path, temporary, encoder) {}

  void write_frame(PacketHandle frame) override;
  void finish() override;
  std::int64_t bytes() const override { return bytes_; }

  int reordering() const { return reordering_of(presented_, decoded_); }

 private:
  PacketFileWriter file_;
  std::vector<std::int64_t> presented_;  ///< presentation times of the frames, in decoding order
  std::vector<std::int64_t> decoded_;
  std::atomic<std::int64_t> bytes_ = 0;
};

}  // namespace limpid::io
