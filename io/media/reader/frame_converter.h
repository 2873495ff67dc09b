// SPDX-License-Identifier: MIT
#pragma once

// Conversion of decoded frames to core's frames. Private to io.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/frame/frame.h"
#include "io/media/libav.h"
#include "io/media/reader.h"
#include "io/media/samples.h"

namespace limpid::io {

/// Converts all frames of a decoder to Frames of one format, without a copy if the samples have core's
/// layout. `samples` is the pixel format of a frame's samples, which may be in a GPU's memory.
class FrameConverter {
 public:
  /// All frames are converted to the format of `first`. Throws an Error that begins with `url` for formats
  /// that are not supported.
  FrameConverter(std::string url, const ReaderOptions& options, const AVFrame& first, AVPixelFormat samples);

  /// Format of the resulting frames.
  const FrameFormat& format() const { return format_; }
  /// True if format() has more bits than the decoder's samples for ReaderOptions::fraction_bits.
  bool has_fractions() const { return adds_fractions_ && format_.bit_depth > decoded_format_.bit_depth; }
  /// True if a frame has the size, the pixel format, the range and the matrix of the first frame. Missing
  /// tags match any value.
  bool fits(const AVFrame& frame, AVPixelFormat samples) const;
  /// A frame that does not fit, converted to the format of the first frame as ffmpeg does. `index` identifies
  /// it in errors.
  FrameHandle adapted(const AVFrame& other, std::int64_t index);
  /// Converts a frame that fits.
  Frame convert(FrameHandle decoded);

  /// Number of copies and conversions of samples.
  std::int64_t copies() const { return copies_; }

 private:
  void choose_format(const AVFrame& first, AVPixelFormat samples);
  bool has_first_coding(const AVFrame& frame, AVPixelFormat samples) const;
  void choose_depth(int least);
  Frame convert_decoded(FrameHandle decoded, bool is_kept);
  Frame allocated() { return allocate_ ? allocate_(format_) : pool_.allocate(format_); }

  std::string url_;
  int device_;                   ///< number of the GPU that decodes
  FrameFormat decoded_format_;   ///< format of the decoder's samples, or of the scaler's result
  FrameFormat format_;           ///< decoded_format_, or the same with more bits
  AVColorSpace matrix_;          ///< matrix tag of the first frame
  AVColorRange range_;           ///< range tag of the first frame
  bool adds_fractions_ = false;  ///< ReaderOptions::fraction_bits
  bool is_full_range_;
  AVPixelFormat source_format_;    ///< pixel format of the decoder, without range
  AVPixelFormat readable_format_;  ///< source_format_, or the format of the scaler's result
  std::optional<Scaler> scaler_;
  std::function<Frame(const FrameFormat&)> allocate_;  ///< empty: from pool_
  FramePool pool_;
  FramePool decoded_pool_;  ///< frames of decoded_format_ whose bit depth is then increased
  LibavFramePool scaled_pool_;
  LibavFramePool adapted_pool_;  ///< of source_format_
  std::int64_t copies_ = 0;
};

}  // namespace limpid::io
