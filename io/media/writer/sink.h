// SPDX-License-Identifier: MIT
#pragma once

// The destination of a Writer's packets. Private to io.

#include <cstdint>
#include <string>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

class Encoder;
class Rotation;
struct WriterOptions;

/// The parameters of a sink. The encoder outlives the sink.
struct Target {
  std::string url;
  const AVOutputFormat& container;
  const Encoder& encoder;
  const Rotation& rotation;
  const WriterOptions& options;
};

/// A destination for the packets of an encoder. Without finish() or finish_partial(), no file remains.
class Sink : NotCopyable {
 public:
  virtual ~Sink() = default;

  /// Called with each frame before it is sent to the encoder.
  virtual void expect(const Frame& /*frame*/) {}
  /// Takes the next frame in decoding order. Its times are in the encoder's time base.
  virtual void write_frame(PacketHandle frame) = 0;
  /// Takes a packet of another stream. Streams that the sink does not store are ignored.
  virtual void write_packet(const Packet& /*packet*/) {}

  virtual void finish() = 0;
  /// Finishes an interrupted output. Returns the name of its file; empty if it is the Writer's url.
  virtual std::string finish_partial() {
    finish();
    return "";
  }

  /// True when the disk is full except for the reserved space.
  virtual bool is_full() const { return false; }
  /// May be called from any thread.
  virtual std::int64_t bytes() const = 0;
  /// A warning about the finished output; empty if there is none.
  virtual std::string remark() const { return ""; }
  /// Number of damaged packets of other streams.
  virtual std::int64_t damaged_packets() const { return 0; }
};

}  // namespace limpid::io
