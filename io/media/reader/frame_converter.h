#pragma once

// Decoded frames as core's. Private to io.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/frame/frame.h"
#include "core/frame/frame_pool.h"
#include "io/media/libav.h"
#include "io/media/reader.h"
#include "io/media/samples.h"

namespace limpid::io {

/// Makes Frames of one format of all that a decoder gives. Where the samples are laid out as core's are, they
/// stay where they are. `samples` is the pixel format of a frame's samples, which may be in a GPU's memory.
class FrameConverter {
 public:
  /// Everything becomes as the `first` frame is. Throws Error that begins with `url` for formats that are not
  /// supported.
  FrameConverter(std::string url, const ReaderOptions& options, const AVFrame& first, AVPixelFormat samples);

  /// Of the frames that are made.
  const FrameFormat& format() const { return format_; }
  /// True if format() has more bits than the decoder's samples for ReaderOptions::fraction_bits.
  bool has_fractions() const { return adds_fractions_ && format_.bit_depth > decoded_format_.bit_depth; }
  /// True if a frame has the size, the pixel format, the range and the matrix of the first, as far as it has
  /// tags.
  bool fits(const AVFrame& frame, AVPixelFormat samples) const;
  /// A frame that doesn't fit, converted to one that does, like ffmpeg does it. `index` names it in errors.
  FrameHandle adapted(const AVFrame& other, std::int64_t index);
  /// The samples of a frame that fits.
  Frame convert(FrameHandle decoded);

  /// Times that samples were copied or converted.
  std::int64_t copies() const { return copies_; }

 private:
  void choose_format(const AVFrame& first, AVPixelFormat samples);
  bool has_first_coding(const AVFrame& frame, AVPixelFormat samples) const;
  void choose_depth(int least);
  Frame convert_decoded(FrameHandle decoded, bool is_kept);
  Frame allocated() { return allocate_ ? allocate_(format_) : pool_.allocate(format_); }

  std::string url_;
  int device_;                   ///< ordinal of the GPU that decodes
  FrameFormat decoded_format_;   ///< of the decoder's samples, or what the scaler makes of them
  FrameFormat format_;           ///< decoded_format_, or a deeper one
  AVColorSpace matrix_;          ///< tag of the first frame
  AVColorRange range_;           ///< tag of the first frame
  bool adds_fractions_ = false;  ///< ReaderOptions::fraction_bits
  bool is_full_range_;
  AVPixelFormat source_format_;    ///< pixel format of the decoder, without range
  AVPixelFormat readable_format_;  ///< source_format_, or what the scaler makes of it
  std::optional<Scaler> scaler_;
  std::function<Frame(const FrameFormat&)> allocate_;  ///< empty: pool_'s
  FramePool pool_;
  FramePool decoded_pool_;  ///< of decoded_format_, for frames that become deeper
  LibavFramePool scaled_pool_;
  LibavFramePool adapted_pool_;  ///< of source_format_
  std::int64_t copies_ = 0;
};

}  // namespace limpid::io
