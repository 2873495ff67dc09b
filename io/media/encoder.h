// SPDX-License-Identifier: MIT
#pragma once

// Selection and use of a video encoder. Private to io.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/cuda_frames.h"
#include "io/media/film_grain.h"
#include "io/media/first_frame_check.h"
#include "io/media/libav.h"
#include "io/media/samples.h"
#include "io/media/writer.h"

namespace limpid::io {

/// Properties of the frames that the encoder requires in advance.
struct EncoderSource {
  FrameFormat format;
  const AVFrame* properties = nullptr;  ///< tags and side data of the first frame
  AVRational time_base{1, 25};
  AVRational frame_rate{25, 1};  ///< average; a guess if the source does not specify it
  AVRational base_rate{25, 1};   ///< rate of the regular grid of the frames' times, estimated by libav
  AVRational sample_aspect_ratio{0, 1};
  AVChromaLocation chroma_location = AVCHROMA_LOC_UNSPECIFIED;
};

/// The encoder of the options, or the one for the container and the source. Throws UsageError if there is
/// none.
const AVCodec& choose_codec(const std::string& url, const AVOutputFormat& container,
                            const EncoderSource& source, const WriterOptions& options);

/// True for HDR10+, Dolby Vision and similar metadata, which is not passed to any encoder.
bool has_dynamic_hdr(const AVFrame& frame);

/// The muxer for a file of this name; `container` overrides the name. Throws UsageError.
const AVOutputFormat& choose_container(const std::string& url, const std::string& container);

/// Encodes frames. The default encoder is libx264; libx265 for PQ and HLG, since players show HDR in HEVC,
/// and for depths that only it supports; ffv1 for formats that neither supports. RGB becomes 4:2:0 in
/// containers for players (mp4, mov, ts, flv) and 4:4:4 in Matroska: BT.709 from 720 lines on and BT.601
/// below, limited range, with these tags. YUV without tags remains untagged. A source with alpha becomes VP9
/// in WebM and ProRes in MOV, which keep it. Full range becomes limited if no tag can signal it. H.264
/// supports odd sizes only in 4:4:4, which is then used, with a warning, instead of cropping or padding the
/// picture.
class Encoder {
 public:
  /// Throws UsageError for requests that the encoder or container does not support, and Error if the encoder
  /// fails. Adds sentences about losses to `warnings`. muxer_options() returns the options that the
  /// encoder does not have.
  Encoder(const std::string& url, const AVOutputFormat& container, const EncoderSource& source,
          const WriterOptions& options, std::vector<std::string>& warnings);

  const AVCodecContext& context() const { return *context_; }
  /// The codec of the output: of TIFF if context() delivers raw floats for a TIFF file.
  const AVCodec& codec() const { return stores_floats_ ? *avcodec_find_encoder(AV_CODEC_ID_TIFF) : *codec_; }
  /// The format of the samples that the encoder receives, in any memory.
  AVPixelFormat target_format() const { return target_format_; }
  /// The preset that was set, as ", preset veryfast"; empty if none was.
  const std::string& preset() const { return preset_; }
  const std::vector<std::pair<std::string, std::string>>& muxer_options() const { return muxer_options_; }

  /// The frames that send() accepts, in a GPU's memory; null if it accepts frames in host memory.
  const std::shared_ptr<const CudaFramePool>& cuda_frames() const { return cuda_frames_; }

  void send(const Frame& frame);
  /// The source's time that is the zero of the output, in microseconds. Nothing before the first frame.
  std::optional<std::int64_t> zero() const { return zero_; }
  /// Ends the stream.
  void flush();
  /// The next packet, with its duration, in context().time_base. Returns nothing if more frames are required
  /// first or, after flush(), at the end.
  PacketHandle receive();

  /// Sentences about losses of properties that only later frames have.
  const std::vector<std::string>& late_warnings() const { return late_warnings_; }

  /// True if the source has alpha.
  bool has_alpha() const { return source_.format.has_alpha; }
  /// False if the source has a color profile that does not apply to the encoder's pixel format.
  bool keeps_profile() const { return keeps_profile_; }

  /// True if decoders add film grain.
  bool has_film_grain() const { return grain_.has_value(); }

  /// Number of copies of frames' samples on the way to the encoder.
  std::int64_t copies() const { return copies_; }

 private:
  void refuse_ignored_parameters(const WriterOptions& options) const;
  FirstFrameCheck::Demand demand_on(const AVOutputFormat& container, const WriterOptions& options) const;
  AVPixelFormat requested_pixel_format(const AVOutputFormat& container, const std::string& name) const;
  void require_right_depth() const;
  void choose_pixel_format(const AVOutputFormat& container, const WriterOptions& options,
                           std::vector<std::string>& warnings);
  void set_up(const AVOutputFormat& container, const WriterOptions& options,
              std::vector<std::string>& warnings);
  void use_cuda_frames(int device, std::vector<std::string>& warnings);
  struct Colors {
    ColorCoding from;
    ColorCoding to;
    bool becomes_bt601 = false;
  };
  Colors choose_colors(const AVOutputFormat& container, std::vector<std::string>& warnings) const;
  void tag_colors(const Colors& colors);
  void set_colors(const AVOutputFormat& container, std::vector<std::string>& warnings);
  void set_scan(const AVOutputFormat& container, const WriterOptions& options,
                std::vector<std::string>& warnings);
  void set_time_base(const AVOutputFormat& container, std::vector<std::string>& warnings);
  void set_quality(const AVOutputFormat& container, const WriterOptions& options,
                   std::vector<std::string>& warnings);
  void set_options(const WriterOptions& options);
  void set_film_grain(const WriterOptions& options);
  void set_option(const std::string& key, const std::string& value);
  FrameHandle to_libav(const Frame& frame);
  FrameHandle in_own_scale(FrameHandle picture, float white);
  void leave_out_stale_metadata(AVFrame& picture) const;
  bool loses_captions(const AVFrame& frame) const;
  void look_for_losses(const AVFrame& frame, std::int64_t index);

  std::string url_;
  EncoderSource source_;
  const AVCodec* codec_ = nullptr;
  bool stores_floats_ = false;  ///< in TIFF, which libav's encoder does not
  std::optional<GrainEncoding> grain_;
  struct Closer {
    void operator()(AVCodecContext* context) const;
  };
  std::unique_ptr<AVCodecContext, Closer> context_;
  FirstFrameCheck check_;
  std::vector<std::pair<std::string, std::string>> muxer_options_;

  AVPixelFormat source_format_ = AV_PIX_FMT_NONE;  ///< format of the frames' samples
  AVPixelFormat target_format_ = AV_PIX_FMT_NONE;  ///< format of the encoder's input
  std::shared_ptr<const CudaFramePool> cuda_frames_;
  std::optional<Scaler> scaler_;
  LibavFramePool packed_pool_;
  LibavFramePool target_pool_;
  bool keeps_profile_ = true;
  bool captions_told_ = false;
  bool hdr_told_ = false;
  bool active_format_told_ = false;
  std::vector<std::string> late_warnings_;
  std::int64_t copies_ = 0;

  std::int64_t sent_ = 0;
  bool is_live_;
  std::string preset_;
  std::optional<std::int64_t> zero_;
  std::int64_t first_pts_ = AV_NOPTS_VALUE;  ///< time of the first frame in the source's time base
  std::int64_t last_pts_ = AV_NOPTS_VALUE;
  std::map<std::int64_t, std::int64_t> durations_;  ///< durations by PTS, of frames in the encoder
};

/// Calls an encoder on a thread of its own. A single call may take minutes, and no encoder can be
/// interrupted: some time after an interrupt, an unfinished call is abandoned. The encoder's threads then
/// run until the process ends; see has_abandoned_encoders().
class EncoderThread : NotCopyable {
 public:
  /// Time from an interrupt until the encoder is abandoned. The program drops frames that have not reached
  /// the encoder after three seconds, and Docker kills after ten.
  static constexpr std::chrono::milliseconds kPatience{8000};

  /// Throws Error if the system cannot start a thread.
  explicit EncoderThread(std::unique_ptr<Encoder> encoder, std::chrono::milliseconds patience = kPatience);
  /// Closes the encoder, or abandons it.
  ~EncoderThread();

  /// For properties that are set when the encoder is opened.
  const Encoder& encoder() const;

  /// Calls `task` on the thread and waits until it returns; throws what it throws. Returns false, now and
  /// later, if it takes too long after an interrupt. `task` may then still run, so it must own what it uses.
  bool run(std::function<void(Encoder&)> task);

 private:
  struct State;
  static void serve(State& state);
  bool wait_until_idle();

  std::chrono::milliseconds patience_;
  std::shared_ptr<State> state_;
  std::jthread thread_;
};

}  // namespace limpid::io
