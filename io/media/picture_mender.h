// SPDX-License-Identifier: MIT
#pragma once

// Detection and display of damaged pictures. Private to io.

#include <deque>

#include "io/media/libav.h"

namespace limpid::io {

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
