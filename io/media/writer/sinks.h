// SPDX-License-Identifier: MIT
// The destinations of a Writer's packets: pictures, each in a file, or a video file with the other streams,
// chapters and tags of its source. Private to io.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/diagnostic.h"
#include "io/media/encoder.h"
#include "io/media/libav.h"
#include "io/media/output_file.h"
#include "io/media/picture_metadata.h"
#include "io/media/source.h"
#include "io/media/tiff.h"
#include "io/media/writer/tracks.h"

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

/// The metadata for the picture file of a frame that is sent to `encoder`.
PictureMetadata metadata_of(const Frame& frame, const Encoder& encoder, const Rotation& rotation,
                            bool is_stack);

/// A sink for one picture, or for a numbered sequence of pictures ("img_%03d.png"). Each file is renamed when
/// it is complete.
class Pictures : public Sink {
 public:
  Pictures(const Target& target, const Source& source, Diagnostics& diagnostics);

  void expect(const Frame& frame) override;
  void write_frame(PacketHandle frame) override;
  void finish() override;
  std::string remark() const override { return remark_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  Bytes file_of(const AVPacket& packet, const PictureMetadata& metadata, std::uint32_t base) const;

  std::string url_;
  std::string source_url_;
  const Encoder& encoder_;
  const Rotation& rotation_;
  Overwrite overwrite_;
  std::function<void(const std::string&)> when_whole_;
  std::int64_t first_;  ///< number of the first picture of a sequence, as in the source if that is a sequence
  std::unique_ptr<OutputFile> file_;     ///< the current file; null between the pictures of a sequence
  TiffStack stack_;                      ///< of a TIFF file that is not a sequence
  std::deque<PictureMetadata> waiting_;  ///< metadata of the frames in the encoder
  std::int64_t written_ = 0;
  std::int64_t last_ = first_;    ///< greatest number of a picture of a sequence
  std::int64_t pages_ = 0;        ///< of the source's file, if `stack_` is written
  bool describes_stack_ = false;  ///< in the tags of a picture
  std::string remark_;
  std::atomic<std::int64_t> bytes_ = 0;
};

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

/// False in a build without libpipewire.
bool supports_pipewire();

/// A camera with this name for the programs that look for cameras through PipeWire. Each receives the frames
/// that it is ready for. `encoder`: of uncompressed frames of the pixel format yuyv422. Throws Error if no
/// server answers, and write_frame() if it ends. Throws UsageError in a build without libpipewire.
std::unique_ptr<Sink> make_pipewire_camera(const std::string& name, const AVCodecContext& encoder);

}  // namespace limpid::io
