#pragma once

// Moves and converts samples between libav's frames and core's. Private to io.

#include <memory>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// libav frames that are used again when nobody else holds them; what take() returns shares its samples with
/// the pool. Those of another format than the one asked for last are let go of.
class LibavFramePool {
 public:
  FrameHandle take(AVPixelFormat format, int width, int height);

 private:
  std::vector<FrameHandle> frames_;
};

/// A Frame that shows the samples of `from`, whose pixel format must be planar, and keeps them alive.
Frame view_of(std::shared_ptr<AVFrame> from, const FrameFormat& format);

/// An AVFrame that shows the samples of `from` as `format`, the planar pixel format of its samples, and keeps
/// them alive.
FrameHandle view_of(const Frame& from, AVPixelFormat format);

/// Copy sample by sample without changing a value. The pixel format's frame_format() must be that of the
/// Frame.
void unpack(const AVFrame& from, const Frame& to);
void pack(const Frame& from, AVFrame& to);

/// Copies samples of fewer bits to a frame of more, whose format is otherwise the same. The greatest value
/// becomes the greatest but in chroma and limited range, where zero bits are appended, and if the added bits
/// are `fractions`.
void deepen(const Frame& from, const Frame& to, bool fractions);

/// What YUV samples mean.
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
  /// Throws Error, which names `subject`, if swscale can't do it.
  Scaler(const std::string& subject, const PictureLayout& from, const PictureLayout& to);
  void convert(const AVFrame& from, AVFrame& to) const;

 private:
  std::string subject_;
  ScalerHandle scaler_;
};

}  // namespace limpid::io
