#pragma once

// The decoder of the video. Private to io.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/media/checksums.h"
#include "io/media/libav.h"
#include "io/media/picture_mender.h"
#include "io/media/picture_metadata.h"
#include "io/media/reader.h"
#include "io/media/reader/frame_times.h"
#include "io/media/reader/health.h"

namespace limpid::io {

/// Packets in decoding order become frames in presentation order, with times, metadata and marks of damage.
/// Packets that can't be decoded are reported to the Health.
class Decoder {
 public:
  enum class Status { kFrame, kNeedsPacket, kEnded };

  /// `unused`: the options that the demuxer has left. All references must outlive this object. Throws Error
  /// that begins with `url`, and UsageError for unknown options.
  Decoder(const std::string& url, const VideoSource& source, const ReaderOptions& options, Dictionary& unused,
          Health& health);

  /// When receive() needs a packet. If its frame is not shown, it is decoded only if others need it.
  void send(const AVPacket& packet, bool is_shown);
  /// No packet follows.
  void drain();
  /// The next frame, if there is one. `index` names it in errors.
  Status receive(DecodedFrame& decoded, std::int64_t index);
  /// The next packet does not continue the last one.
  void flush();

  const FrameTimes& times() const { return times_; }
  /// Packets that were sent and frames that were received.
  std::int64_t packets() const { return packets_; }
  std::int64_t frames() const { return frames_; }
  int threads() const { return codec_->thread_count; }
  /// True if the codec may leave frames in a GPU's memory; otherwise why not, if it was asked for.
  bool uses_gpu() const { return codec_->hw_device_ctx != nullptr; }
  const std::string& why_not_on_cuda() const { return why_not_on_cuda_; }
  /// The pixel format of a frame's samples, wherever they are.
  AVPixelFormat sample_format(const AVFrame& frame) const;

 private:
  void open(const ReaderOptions& options, Dictionary& unused);
  const AVCodec& choose_codec(const ReaderOptions& options);
  void note_metadata(const AVPacket& packet);
  void lose_packet();
  DecodedFrame inspected(FrameHandle frame);

  std::string url_;
  VideoSource source_;
  Health& health_;
  ChecksumErrors checksums_;  ///< of `codec_`, which calls it to its end
  CodecHandle codec_;
  std::optional<PictureMender> mender_;
  AVDiscard skip_frame_ = AVDISCARD_DEFAULT;  ///< what the user wants the decoder to leave out
  FrameTimes times_;
  std::map<std::int64_t, PictureMetadata> metadata_;  ///< of pictures in the decoder, by PTS
  std::set<std::int64_t> damaged_times_;  ///< PTS of the packets that the demuxer takes for damaged
  std::string why_not_on_cuda_;
  std::int64_t packets_ = 0;
  std::int64_t frames_ = 0;
};

}  // namespace limpid::io
