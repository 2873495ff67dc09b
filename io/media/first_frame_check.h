// SPDX-License-Identifier: MIT
#pragma once

// Verification of an encoder by its first frame. Private to io.

#include <string>

#include "io/media/libav.h"

namespace limpid::io {

/// Decodes the first frame of an encoder and compares it with the frame that was sent. Detects encoders that
/// are wrong for some pixel format or size. All errors name the encoder and the pixel format.
class FirstFrameCheck {
 public:
  enum class Demand {
    kNone,
    kSimilar,  ///< the brightness must have a PSNR of 25 dB
    kEqual,    ///< all samples must be equal, if the decoder returns the encoder's pixel format
  };

  FirstFrameCheck() = default;
  /// `encoder` is open.
  FirstFrameCheck(std::string url, const AVCodecContext& encoder, Demand demand);

  bool is_pending() const { return demand_ != Demand::kNone; }
  /// Keeps a reference to the first picture; ignores later ones.
  void note_sent(const AVFrame& picture);
  /// Decodes a packet until the first frame is available. Throws Error if that is not the picture that was
  /// sent.
  void note_encoded(const AVPacket& packet);
  /// To be called at the end of the packets. Throws Error as note_encoded() does.
  void finish();

 private:
  void receive();
  void compare(const AVFrame& decoded) const;
  void give_up(const std::string& reason);

  std::string url_;
  std::string name_;  ///< of the encoder
  Demand demand_ = Demand::kNone;
  CodecHandle decoder_;
  FrameHandle sent_;
  int packets_ = 0;
};

/// True for codecs that reproduce all samples.
bool is_lossless_video(AVCodecID codec);

}  // namespace limpid::io
