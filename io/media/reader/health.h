// SPDX-License-Identifier: MIT
#pragma once

// Faults of a source. Private to io.

#include <cstdint>
#include <string>
#include <utility>

#include "io/media/diagnostic.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Detects missing frames by the times of the video's packets. A gap with a demuxer error in it is damage. A
/// gap without an error may be intended, as in screen recordings, dropped frames of cameras and slides. It
/// counts only in a stream that has a steady clock and otherwise a constant rate, and only among regular
/// frames: cameras begin with irregular frames, and screen recorders repeat the last one at the end.
class FrameGaps {
 public:
  /// Adds the next packet in decoding order. `damaged`: the demuxer has logged an error before it. `counts`:
  /// a gap before it lies within the range that is read. `has_clock`: the container has a steady clock.
  void add(const AVPacket& packet, AVRational time_base, bool damaged, bool counts, bool has_clock = true);
  /// Declares that the next packet does not continue the previous one.
  void forget_position();

  struct Missing {
    std::int64_t frames = 0;
    std::int64_t places = 0;
    double begin = 0;  ///< position of the first gap, in seconds
    double end = 0;
  };
  /// The gaps so far. Gaps without an error are classified only when the whole stream is known (`ended`).
  Missing missing(bool ended) const;

 private:
  Missing damaged_;
  Missing unexplained_;
  Missing last_;                      ///< the last gap without an error, until regular frames follow it
  std::int64_t regular_at_last_ = 0;  ///< `regular_` at that gap
  std::int64_t regular_ = 0;          ///< number of steps between packets that have the usual duration
  std::int64_t regular_time_ = 0;     ///< their sum
  std::int64_t irregular_ = 0;        ///< number of other steps that are not gaps
  std::int64_t last_time_ = AV_NOPTS_VALUE;
  std::int64_t last_duration_ = 0;
  bool was_damaged_ = false;  ///< the demuxer has logged an error since the packet at `last_time_`
};

/// "3 frames are missing between 1.20 s and 1.32 s", or with the number of positions.
std::string text_of(const FrameGaps::Missing& missing);

/// A decoded frame and the damage that the decoder has detected in it.
struct DecodedFrame {
  FrameHandle frame;
  bool is_damaged = false;
  bool has_wrong_checksum = false;
  bool has_wrong_time = false;  ///< contradicts the times around it; the frame has another one
};

/// Collects reports of the demuxer and the decoder, and creates the Diagnostics.
class Health {
 public:
  // Reports of the demuxer.

  /// Reports an error that the demuxer has logged and recovered from. It is counted with the next packet of
  /// the video.
  void note_container_error(std::string line);
  /// Reports pictures that are missing in a sequence and are skipped.
  void note_missing_pictures(std::string text, std::int64_t count) {
    missing_pictures_ = {std::move(text), count};
  }
  /// Reports a packet of the video, in decoding order. Only packets inside the range count. Gaps without an
  /// error are detected only with a steady clock.
  void note_packet(const AVPacket& packet, AVRational time_base, bool has_clock, bool is_inside);
  /// Reports the cause of an early end of the source: a failed input, or damage in the file.
  void note_failure(std::string text) { failure_ = std::move(text); }
  void note_damage(std::string text) { damage_ = std::move(text); }
  /// Reports the end of the source, after its cause. `in_mid_frame`: a frame is incomplete; in a pipe, this
  /// is an error of the writing program.
  void note_end(bool interrupted, bool in_mid_frame, bool is_pipe);
  /// Reports that a source has ended without the mark that ends its format.
  void note_missing_end(std::string text);
  /// Delays the report of an error at the end until release_end_error(), as the length may explain it.
  void hold_end_error() { holds_end_error_ = true; }
  void release_end_error() { holds_end_error_ = false; }
  /// Compares the number of frames of a source that has ended with the declared number.
  void note_frame_count(std::int64_t delivered, std::int64_t declared);
  /// Compares the length of a source that has ended with its declared length, in microseconds.
  void note_length(std::int64_t length, std::int64_t declared, std::int64_t tolerance);
  /// Declares that the next packet does not continue the previous one.
  void forget_position();

  // Reports of the decoder and the converter.

  /// Sentences about the cropping that the container requests; both are empty if there is none.
  void note_cropping(std::string applied, std::string ignored);
  void note_damaged_packet() { ++damaged_packets_; }
  std::int64_t damaged_packets() const { return damaged_packets_; }
  /// Resets the count to `count` after a seek, because packets read since then precede the requested frames.
  void restore_damaged_packets(std::int64_t count) { damaged_packets_ = count; }
  /// Reports the number of packets for which the decoder has logged errors so far, and the first error.
  void note_decoder_errors(std::int64_t packets, const std::string& first);
  void note_frame(const DecodedFrame& decoded);
  void note_converted_frame() { ++converted_frames_; }
  /// Reports a change of interlacing relative to the `first` frame, for which the encoder is set up.
  /// Progressive frames among interlaced ones are not reported.
  void note_scan(const AVFrame& first, const AVFrame& frame, std::int64_t index);
  /// Reports changes of the pixel aspect ratio, the transfer and the primaries relative to the `first` frame,
  /// whose values files store.
  void note_display(const AVFrame& first, const AVFrame& frame, std::int64_t index);

  /// `is_complete`: the video has been read up to the end of the range.
  Diagnostics diagnostics(bool is_complete) const;

 private:
  void count_container_error();

  std::string failure_;
  std::string damage_;
  std::string shortfall_;
  std::string scan_change_;
  std::string aspect_change_;
  std::string color_change_;
  std::string ignored_cropping_;
  std::string cropping_;
  std::pair<std::string, std::int64_t> missing_pictures_;
  FrameGaps gaps_;
  std::string pending_error_;  ///< demuxer error since the last packet of the video
  std::string end_error_;      ///< demuxer error at the end of the source
  bool holds_end_error_ = false;
  std::string first_container_error_;
  std::int64_t container_errors_ = 0;
  std::string first_decoder_error_;
  std::int64_t decoder_errors_ = 0;
  std::int64_t damaged_packets_ = 0;
  std::int64_t damaged_frames_ = 0;
  std::int64_t wrong_checksums_ = 0;
  std::int64_t wrong_times_ = 0;
  std::int64_t converted_frames_ = 0;
  bool at_true_end_ = false;  ///< the source has ended without an interrupt
};

}  // namespace limpid::io
