// SPDX-License-Identifier: MIT
// Copies and converts samples between libav's frames and core's, and mends damaged pictures. Private to io.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// A pool of libav frames that are reused when they are no longer referenced. Frames from take() share their
/// samples with the pool, and have memory for a multiple of four rows. Frames whose format differs from the
/// last requested one are released.
class LibavFramePool {
 public:
  FrameHandle take(AVPixelFormat format, int width, int height);

 private:
  std::vector<FrameHandle> frames_;
};

/// A Frame that refers to the samples of `from`, whose pixel format must be planar, and keeps them alive.
Frame view_of(std::shared_ptr<AVFrame> from, const FrameFormat& format);

/// An AVFrame that refers to the samples of `from` as `format`, the planar pixel format of its samples, and
/// keeps them alive.
FrameHandle view_of(const Frame& from, AVPixelFormat format);

/// Both copy samples without changing values. The pixel format's frame_format() must equal the format of the
/// Frame.
void unpack(const AVFrame& from, const Frame& to);
void pack(const Frame& from, AVFrame& to);

/// Copies samples to a frame with more bits and an otherwise equal format. The greatest value is mapped to
/// the greatest value, except in chroma, in limited range, and if the added bits are `fractions`: there, zero
/// bits are appended.
void deepen(const Frame& from, const Frame& to, bool fractions);

/// The range of float samples without alpha, infinities, NaN and marks of missing data (from 1e30 on).
struct FloatRange {
  float greatest = 0;     ///< magnitude
  bool is_usable = true;  ///< filters can use most of the samples
};
bool has_floats(const AVFrame& frame);
FloatRange range_of(const AVFrame& frame);
/// Multiplies all samples but alpha.
void multiply_floats(AVFrame& frame, float factor);

/// The color matrix and range of YUV samples.
struct ColorCoding {
  AVColorSpace matrix = AVCOL_SPC_UNSPECIFIED;
  bool full_range = false;
};

struct PictureLayout {
  int width = 0;
  int height = 0;
  AVPixelFormat format = AV_PIX_FMT_NONE;
  ColorCoding coding;
};

/// Converts pixel formats and sizes with swscale.
class Scaler {
 public:
  /// Throws an Error that names `subject` if swscale does not support the conversion.
  Scaler(std::string subject, const PictureLayout& from, const PictureLayout& to);
  /// Where rows change, the fields of an interlaced frame are converted apart, as each has chroma of its own.
  /// `to`: from a LibavFramePool.
  void convert(const AVFrame& from, AVFrame& to, bool is_interlaced = false);

 private:
  enum Part : std::uint8_t { kTop, kBottom, kFrame };

  ScalerHandle made_for(Part part) const;

  std::string subject_;
  PictureLayout from_;
  PictureLayout to_;
  bool changes_rows_;                    ///< of frames whose fields can be converted apart
  std::array<ScalerHandle, 3> scalers_;  ///< by Part
};

/// Rounds frames of 9 to 16 bits to 8 bits. Dithers smooth areas, where a sample and its four neighbors
/// differ by less than an 8-bit step, with an ordered mask of 8x8 samples (Bayer, 1973), whose thresholds
/// rotate from frame to frame. The mask depends only on the position and Frame::index, so results do not
/// depend on engines and segments.
class Ditherer {
 public:
  /// `format`: the format of the frames, which must be in host memory.
  explicit Ditherer(const FrameFormat& format);

  /// Format of the results.
  const FrameFormat& format() const { return format_; }
  Frame to_8_bits(const Frame& frame);

 private:
  FrameFormat format_;
  FramePool pool_;
};

/// Recovers damaged JPEG pictures. The (motion) JPEG decoder outputs damaged pictures without an error unless
/// it is set to reject them (AV_EF_EXPLODE). It is set to reject them, and this class decodes rejected
/// pictures again without that flag. Each packet is one picture. Damage that libavcodec does not detect
/// remains undetected: wrong data may decode without errors.
class PictureMender {
 public:
  /// True if `decoder`, which is not open yet, decodes (motion) JPEG, and `options` do not specify its
  /// handling of errors.
  static bool is_for(const AVCodecContext& decoder,
                     const std::vector<std::pair<std::string, std::string>>& options);

  /// Sets up `decoder` before it is opened. `parameters` are those of its stream.
  PictureMender(AVCodecContext& decoder, const AVCodecParameters& parameters,
                std::vector<std::pair<std::string, std::string>> options);

  /// Must be called before a packet is sent to the decoder, and after a frame is received.
  void sent(const AVPacket& packet);
  void received(const AVFrame& frame);
  /// The next picture in order, decoded again and marked as corrupt, if the decoder rejected it; otherwise
  /// null.
  FrameHandle mend();
  /// Must be called when the decoder is flushed.
  void forget() { under_way_.clear(); }

 private:
  AVCodecParameters const& parameters_;
  AVRational time_base_;
  std::vector<std::pair<std::string, std::string>> options_;
  CodecHandle tolerant_;  ///< decoder that accepts damage; opened on first use
  std::deque<PacketHandle> under_way_;
};

}  // namespace limpid::io
