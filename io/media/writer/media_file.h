// SPDX-License-Identifier: MIT
#pragma once

// A video file with the other streams, chapters and tags of its source. Private to io.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/media/diagnostic.h"
#include "io/media/encoder.h"
#include "io/media/picture_metadata.h"
#include "io/media/source.h"
#include "io/media/writer/animation.h"
#include "io/media/writer/audio.h"
#include "io/media/writer/muxer.h"
#include "io/media/writer/sink.h"
#include "io/media/writer/tracks.h"

namespace limpid::io {

class MediaFile : public Sink {
 public:
  /// Writes the header.
  MediaFile(const Target& target, const Source& source, Audio audio, Diagnostics& diagnostics);

  void expect(const Frame& frame) override;
  void write_frame(PacketHandle frame) override;
  void write_packet(const Packet& packet) override { tracks_.write(packet, muxer_); }
  void finish() override;
  std::string finish_partial() override;
  bool is_full() const override { return muxer_.is_full(); }
  std::int64_t bytes() const override { return muxer_.bytes(); }
  std::int64_t damaged_packets() const override {
    return muxer_.damaged_packets() + tracks_.damaged_packets();
  }

 private:
  void add_streams(const Target& target, const Source& source, Diagnostics& diagnostics);
  void end();

  const Encoder& encoder_;
  const Rotation& rotation_;
  std::function<void(const std::string&)> when_whole_;
  Muxer muxer_;
  Tracks tracks_;
  /// Metadata of the first picture, for files that store the metadata of one picture.
  std::optional<PictureMetadata> metadata_;
  AnimationTimes times_;
  bool sets_last_delay_ = true;  ///< false: the user has set it
};

}  // namespace limpid::io
