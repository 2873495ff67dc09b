// SPDX-License-Identifier: MIT
#pragma once

// Detection of frames that do not match the checksums in the stream. Private to io.

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "io/media/libav.h"

namespace limpid::io {

/// Reports frames that do not match the checksums in the stream: HEVC may have an MD5 of each picture, and
/// FFV1 has a CRC of each slice. libavcodec compares them but only logs differences, on any of its threads. A
/// log line belongs to the frame that the thread decodes, which is identified by the buffer that the thread
/// allocated last.
class ChecksumErrors {
 public:
  /// True if libavcodec compares the codec's checksums and delivers frames that differ.
  static bool is_for(AVCodecID codec);

  /// Connects this object to a decoder that is not open yet. This object must outlive the decoder.
  void watch(AVCodecContext& decoder);
  /// Returns true, once per frame, if the frame does not match its checksum.
  bool take(const AVFrame& frame);

  /// Processes an error that libav has logged for `object`, of any class.
  static void on_logged_error(void* object, const std::string& line);

 private:
  static int get_buffer(AVCodecContext* decoder, AVFrame* frame, int flags);

  std::mutex mutex_;
  std::map<const AVCodecContext*, const void*> current_;  ///< by the context of a thread: the buffer of its
                                                          ///< frame
  std::set<const void*> wrong_;
};

}  // namespace limpid::io
