// SPDX-License-Identifier: MIT
#pragma once

// Copies and converts samples between libav's frames and core's. Private to io.

#include <array>
#include <cstdint>
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

}  // namespace limpid::io
