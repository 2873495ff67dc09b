#pragma once

// Choice and use of a video encoder. Private to io.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/cuda_encoding.h"
#include "io/media/libav.h"
#include "io/media/samples.h"
#include "io/media/writer.h"

namespace limpid::io {

/// What the encoder has to know of the frames before it sees one.
struct EncoderSource {
  FrameFormat format;
  const AVFrame* properties = nullptr;  ///< tags and side data of the first frame
  AVRational time_base{1, 25};
  AVRational frame_rate{25, 1};  ///< average; a guess if the source doesn't tell
  AVRational base_rate{25, 1};   ///< of a regular grid that the frames' times lie on, by libav's guess
  AVRational sample_aspect_ratio{0, 1};
  AVChromaLocation chroma_location = AVCHROMA_LOC_UNSPECIFIED;
};

/// HDR10+, Dolby Vision or the like, which no encoder is given.
bool has_dynamic_hdr(const AVFrame& frame);

/// The muxer that writes a file of this name; `container` overrides the name. Throws UsageError.
const AVOutputFormat& choose_container(const std::string& url, const std::string& container);

/// True for image2 and its like: every packet of the encoder is a file of its own.
bool holds_pictures(const AVOutputFormat& container);

/// Encodes frames. Unless one is named, the encoder is libx264; libx265 for PQ and HLG, as players show HDR
/// in HEVC, and for depths that only it has; ffv1 for what neither has. RGB becomes 4:2:0 in containers that
/// are made for players (mp4, mov, ts, flv) and 4:4:4 in Matroska: by BT.709 from 720 lines on and BT.601
/// below, in limited range, and tagged so. YUV without tags stays without. A source with alpha becomes VP9 in
/// WebM and ProRes in MOV, which keep it. Full range becomes limited where nothing can tell it. H.264 has odd
/// sizes only as 4:4:4; no row of the picture is cut off or made up to have it otherwise, and a warning says
/// so.
class Encoder {
 public:
  /// Throws UsageError for what can't be asked of the encoder or container, and Error if the encoder fails.
  /// Adds sentences about what can't be kept to `warnings`. Options that only the muxer may know are handed
  /// back by muxer_options().
  Encoder(const std::string& url, const AVOutputFormat& container, const EncoderSource& source,
          const WriterOptions& options, std::vector<std::string>& warnings);

  const AVCodecContext& context() const { return *context_; }
  /// Of the samples, in whatever memory the encoder gets them.
  AVPixelFormat target_format() const { return target_format_; }
  const std::vector<std::pair<std::string, std::string>>& muxer_options() const { return muxer_options_; }

  /// The frames that send() takes, in a GPU's memory; null if it takes frames in the host's.
  const std::shared_ptr<const CudaFramePool>& cuda_frames() const { return cuda_frames_; }

  void send(const Frame& frame);
  /// No more frames will be sent.
  void flush();
  /// The next packet, with its duration, in context().time_base; nothing if more frames are needed first or,
  /// after flush(), at the end.
  PacketHandle receive();

  /// As those of the constructor, about what only later frames have.
  const std::vector<std::string>& late_warnings() const { return late_warnings_; }

  /// False if the source has a profile of colors that the encoder's pixels don't have.
  bool keeps_profile() const { return keeps_profile_; }

  /// Of the samples of frames, on their way to the encoder.
  std::int64_t copies() const { return copies_; }

 private:
  void refuse_ignored_parameters(const WriterOptions& options) const;
  void choose_codec(const AVOutputFormat& container, const WriterOptions& options);
  AVPixelFormat requested_pixel_format(const AVOutputFormat& container, const std::string& name) const;
  void choose_pixel_format(const AVOutputFormat& container, const WriterOptions& options,
                           std::vector<std::string>& warnings);
  void set_up(const AVOutputFormat& container, const WriterOptions& options,
              std::vector<std::string>& warnings);
  void use_cuda_frames(int device, std::vector<std::string>& warnings);
  void set_colors(const AVOutputFormat& container, std::vector<std::string>& warnings);
  void set_scan(std::vector<std::string>& warnings);
  void set_time_base(const AVOutputFormat& container, std::vector<std::string>& warnings);
  void set_quality(const WriterOptions& options, std::vector<std::string>& warnings);
  void set_options(const WriterOptions& options);
  void set_option(const std::string& key, const std::string& value);
  FrameHandle to_libav(const Frame& frame);
  void leave_out_stale_metadata(AVFrame& picture) const;
  bool loses_captions(const AVFrame& frame) const;
  void look_for_losses(const AVFrame& frame, std::int64_t index);

  std::string url_;
  EncoderSource source_;
  const AVCodec* codec_ = nullptr;
  struct Closer {
    void operator()(AVCodecContext* context) const;
  };
  std::unique_ptr<AVCodecContext, Closer> context_;
  std::vector<std::pair<std::string, std::string>> muxer_options_;

  AVPixelFormat source_format_ = AV_PIX_FMT_NONE;  ///< that holds the frames' samples
  AVPixelFormat target_format_ = AV_PIX_FMT_NONE;  ///< that the encoder gets
  std::shared_ptr<const CudaFramePool> cuda_frames_;
  std::optional<Scaler> scaler_;
  LibavFramePool packed_pool_;
  LibavFramePool target_pool_;
  bool keeps_profile_ = true;
  bool captions_told_ = false;
  bool hdr_told_ = false;
  std::vector<std::string> late_warnings_;
  std::int64_t copies_ = 0;

  std::int64_t sent_ = 0;
  bool begins_at_zero_;
  std::int64_t first_pts_ = AV_NOPTS_VALUE;  ///< in the source's time base
  std::int64_t last_pts_ = AV_NOPTS_VALUE;
  std::map<std::int64_t, std::int64_t> durations_;  ///< by pts, of the frames inside the encoder
};

}  // namespace limpid::io
