#pragma once

// Pictures that are damaged are found and shown all the same. Private to io.

#include <deque>

#include "io/media/libav.h"

namespace limpid::io {

/// The decoder of (motion) JPEG hands out damaged pictures without a word unless it is told to give them up
/// (AV_EF_EXPLODE). It is told so, and what it has given up is decoded again without that, here. One packet
/// is one picture. What libavcodec doesn't find isn't found: garbage may happen to decode.
class PictureMender {
 public:
  /// Whether `decoder`, which isn't open yet, is of this kind and may be told so: not if `options` for it say
  /// how errors are to be taken.
  static bool is_for(const AVCodecContext& decoder,
                     const std::vector<std::pair<std::string, std::string>>& options);

  /// Tells `decoder`, before it is opened. `parameters` are those of its stream.
  PictureMender(AVCodecContext& decoder, const AVCodecParameters& parameters,
                std::vector<std::pair<std::string, std::string>> options);

  /// What the decoder is given, before, and gets out of it.
  void sent(const AVPacket& packet);
  void received(const AVFrame& frame);
  /// The picture that it has given up instead of handing it out next, marked as corrupt; null if there is
  /// none to be had.
  FrameHandle mend();
  /// The decoder has been flushed.
  void forget() { under_way_.clear(); }

 private:
  AVCodecParameters const& parameters_;
  AVRational time_base_;
  std::vector<std::pair<std::string, std::string>> options_;
  CodecHandle tolerant_;  ///< opened when it is needed
  std::deque<PacketHandle> under_way_;
};

}  // namespace limpid::io
