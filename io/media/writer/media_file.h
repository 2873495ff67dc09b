// SPDX-License-Identifier: MIT
#pragma once

// A video file with the other streams, chapters and tags of its source. Private to io.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/frame/frame.h"
#include "io/media/diagnostic.h"
#include "io/media/encoder.h"
#include "io/media/libav.h"
#include "io/media/picture_metadata.h"
#include "io/media/source.h"
#include "io/media/writer/sink.h"
#include "io/media/writer/tracks.h"

namespace limpid::io {

/// The muxer's option for the number of loops: the source's number, or endless for other sources. Nothing for
/// containers without loops.
std::optional<std::pair<std::string, std::string>> loop_option(const Source& source,
                                                               const AVOutputFormat& container);

/// The times of the frames of an animation, whose muxers lack the duration of the last one.
class AnimationTimes {
 public:
  void note(const Frame& frame);

  /// The muxer's option for the duration of the last frame; nothing for other containers.
  std::optional<std::pair<std::string, std::string>> last_delay(const AVOutputFormat& container) const;
  /// From the first frame to the end of the last one, in milliseconds; 0 if unknown.
  std::int64_t milliseconds() const;

 private:
  std::int64_t begin_ = AV_NOPTS_VALUE;  ///< in `time_base_`
  std::int64_t end_ = 0;
  std::int64_t last_duration_ = 0;
  AVRational time_base_{0, 1};
};

/// Corrects an animation of libwebp: the last frame lasts to the end of `milliseconds` (0: unchanged), and
/// the file is marked as transparent if it `has_alpha`, which libwebp omits if the transparent part lies
/// outside all frames.
void correct_webp_animation(Bytes& file, std::int64_t milliseconds, bool has_alpha);

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
