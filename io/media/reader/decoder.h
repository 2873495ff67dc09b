// SPDX-License-Identifier: MIT
// The decoder of the video, the cropping that its container requests, and the filters behind it. Private to
// io.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/media/container_header.h"
#include "io/media/filter_graph.h"
#include "io/media/libav.h"
#include "io/media/libav_setup.h"
#include "io/media/picture_metadata.h"
#include "io/media/reader.h"
#include "io/media/reader/frame_times.h"
#include "io/media/reader/health.h"
#include "io/media/samples.h"
#include "io/media/tiff.h"

namespace limpid::io {

/// Removes the edges of pictures without a copy. Edges are rounded inward to whole chroma samples, and for
/// interlaced video to whole pairs of their rows: nothing that is cropped remains, and chroma and fields keep
/// their positions.
class Cropper {
 public:
  /// Pictures stay as they are if nothing is requested, or the request does not fit the pictures of `video`.
  Cropper(const std::optional<ContainerCropping>& requested, const AVStream& video);

  /// Crops a frame, in any memory. Frames of another size than the container reports stay as they are. Throws
  /// Error if memory is insufficient.
  void apply(AVFrame& frame) const;

  /// A sentence about the source if its pictures are cropped.
  const std::string& applied() const { return applied_; }
  /// A sentence about the source if the request is ignored, with the reason.
  const std::string& ignored() const { return ignored_; }
  /// The pixel aspect ratio of the cropped pictures; nothing if libav's is right.
  std::optional<AVRational> sample_aspect_ratio() const;

 private:
  std::optional<ContainerCropping> cropping_;
  std::string applied_;
  std::string ignored_;
};

/// Converts packets in decoding order to cropped frames in presentation order, with times, metadata and marks
/// of damage. Packets that cannot be decoded are reported to the Health.
class Decoder {
 public:
  enum class Status { kFrame, kNeedsPacket, kEnded };

  /// `unused`: the options that the demuxer has not used. All references must outlive this object. Throws an
  /// Error that begins with `url`, and UsageError for unknown options.
  Decoder(const std::string& url, const VideoSource& source, const ReaderOptions& options, Dictionary& unused,
          Health& health);

  /// Sends a packet after receive() has requested one. If `is_shown` is false, the frame is decoded only if
  /// other frames depend on it. Errors that the decoder only logs are reported if the packet `is_inside` the
  /// range.
  void send(const AVPacket& packet, bool is_shown, bool is_inside = true);
  /// Declares the end of the packets.
  void drain();
  /// Receives the next frame, if available. `index` identifies it in errors.
  Status receive(DecodedFrame& decoded, std::int64_t index);
  /// Declares that the next packet does not continue the previous one.
  void flush();

  const Cropper& cropper() const { return cropper_; }
  const FrameTimes& times() const { return times_; }
  /// Numbers of packets sent and of frames received.
  std::int64_t packets() const { return packets_; }
  std::int64_t frames() const { return frames_; }
  /// Number of pages of the last TIFF file that TiffPages has read; 1 otherwise.
  int pages() const { return tiff_ ? tiff_->count() : 1; }
  int threads() const { return codec_->thread_count; }
  /// The value of the file that float samples of 1 stand for.
  float white() const { return white_ == 0 ? 1 : white_; }
  /// True if the decoder may output frames to a GPU's memory. If a GPU was requested but is not used,
  /// why_not_on_cuda() returns the reason.
  bool uses_gpu() const { return codec_->hw_device_ctx != nullptr; }
  const std::string& why_not_on_cuda() const { return why_not_on_cuda_; }
  /// The pixel format of a frame's samples, in any memory.
  AVPixelFormat sample_format(const AVFrame& frame) const;

 private:
  void open(const ReaderOptions& options, Dictionary& unused);
  const AVCodec& choose_codec(const ReaderOptions& options);
  bool open_tiff(const AVPacket& packet);
  FrameHandle next_page();
  void note_metadata(const AVPacket& packet);
  void refuse_field(const AVFrame& frame) const;
  void describe_picture(AVFrame& frame);
  void scale_floats(AVFrame& frame);
  void lose_packet();
  void report_errors(bool is_complete);
  DecodedFrame inspected(FrameHandle frame);

  std::string url_;
  VideoSource source_;
  Health& health_;
  bool joins_fields_;  ///< by --before
  Cropper cropper_;
  DecoderErrors errors_;  ///< of `codec_`, which calls it until closed
  CodecHandle codec_;
  std::optional<PictureMender> mender_;
  std::unique_ptr<TiffPages> tiff_;           ///< decodes the last packet instead of `codec_`
  AVDiscard skip_frame_ = AVDISCARD_DEFAULT;  ///< the user's setting of frames to skip
  FrameTimes times_;
  std::map<std::int64_t, PictureMetadata> metadata_;  ///< metadata of the pictures in the decoder, by PTS
  bool chooses_white_;                                ///< by the first float picture
  float white_;                                       ///< 0 before it
  std::set<std::int64_t> damaged_times_;  ///< PTS of the packets that the demuxer has marked as damaged
  std::string why_not_on_cuda_;
  bool has_errors_ = false;  ///< `errors_` watches `codec_`
  std::int64_t packets_ = 0;
  std::int64_t frames_ = 0;
};

/// Filters decoded frames by the chain of ReaderOptions::before. Without a chain, they pass unchanged.
class DecoderFilter {
 public:
  /// `rate`: average frames per second of the stream, which must outlive this object. Throws UsageError for a
  /// chain that is not valid or not permitted.
  DecoderFilter(const ReaderOptions& options, const AVStream& stream, AVRational rate);

  bool is_active() const { return chain_.has_value(); }
  /// Decoder::receive() with the results of the filters.
  Decoder::Status receive(Decoder& decoder, DecodedFrame& decoded, std::int64_t index);
  /// Declares that the next frame does not continue the previous one.
  void forget_position();

  /// Null before the first frame and without a chain.
  const FilterGraph* graph() const { return graph_ ? &*graph_ : nullptr; }
  /// Sentences about properties of the source that the filters do not keep.
  std::vector<std::string> losses() const { return graph_ ? graph_->losses() : std::vector<std::string>(); }

 private:
  void send(DecodedFrame decoded, const Decoder& decoder);

  const AVStream& stream_;
  AVRational rate_;
  std::optional<FilterChain> chain_;
  std::optional<FilterGraph> graph_;
  DecodedFrame marks_;  ///< marks of the frames that have been sent since the last result, without a frame
};

}  // namespace limpid::io
