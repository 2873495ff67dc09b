// SPDX-License-Identifier: MIT
#pragma once

// The demuxer of a source. Private to io.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "io/media/container_header.h"
#include "io/media/libav.h"
#include "io/media/picture_sequence.h"
#include "io/media/reader.h"
#include "io/media/reader/frame_times.h"
#include "io/media/reader/health.h"
#include "io/media/reader/open_input.h"
#include "io/media/source.h"

namespace limpid::io {

/// A sentence about the missing mark if a file that has been read to its end lacks it; empty otherwise, and
/// for formats without such a mark, and for sources that cannot seek.
std::string missing_end(AVFormatContext& input);

/// True if the last bytes that were read are the trailer of a GIF.
bool is_behind_gif_trailer(const AVFormatContext& input);

/// Opens a file, pipe, device or image sequence, selects its streams and reads their packets. Reports the
/// cause of an early end and errors of the container to the Health.
class Demuxer : NotCopyable {
 public:
  /// `unused`: initially all options; the demuxer removes the options that it uses, and the decoder receives
  /// the rest. Throws as Reader does.
  Demuxer(std::string url, const ReaderOptions& options, Dictionary& unused, Health& health);
  ~Demuxer() = default;

  const std::string& url() const { return url_; }
  AVFormatContext& input() const { return *input_; }
  const AVInputFormat& format() const { return *input_->iformat; }
  /// The video to be decoded.
  AVStream& video() const { return video_; }
  const AVStream& stream(std::size_t index) const { return *input_->streams[index]; }
  /// For each stream: true if its packets are copied.
  const std::vector<bool>& copied() const { return copied_; }
  /// For each stream: true if it is not copied because it belongs to another program than the video.
  const std::vector<bool>& of_other_program() const { return of_other_program_; }
  std::int64_t unread_bytes() const { return unread_bytes_; }
  bool is_pipe() const { return pipe_.has_value(); }
  /// The number of the first picture of a sequence; 1 for other sources.
  std::int64_t first_picture() const;
  /// True for one picture, not a video.
  bool is_still_picture() const;
  /// True if the source can seek.
  bool can_seek() const;
  /// Frames per second of the video: the average, and the rate of the regular grid of times that libav has
  /// detected. 0/1 if unknown.
  AVRational average_rate() const;
  AVRational base_rate() const;
  /// The earliest time stamp of the source, in microseconds.
  std::int64_t begin() const;

  SourceClock& clock() { return clock_; }
  const SourceClock& clock() const { return clock_; }

  /// The next packet of a stream that was present at the beginning, with times shifted by the SourceClock.
  /// Null at the end, or if none is available yet. `times_are_guesses`: true after a seek.
  PacketHandle read(bool times_are_guesses);
  bool has_ended() const { return has_ended_; }
  /// Closes the sound device.
  void end_sound() { sound_.reset(); }
  /// The error that ended the audio of ReaderOptions::sound_device; empty while it lasts or without one.
  std::string sound_failure() const { return sound_ ? sound_->failure() : ""; }
  /// A packet for the caller to copy; null if its stream is not copied.
  std::shared_ptr<Packet> to_copy(PacketHandle packet);

  /// Seeks to a key frame that is shown at `time` or earlier, in microseconds of the clock before any jump,
  /// as far as the container reports it. Returns false if that is not possible.
  bool seek(std::int64_t time);
  /// Seeks to the beginning. Throws Error if that is not possible.
  void rewind();

  /// The length according to the header; nothing if it may be the length of a stream that is not read.
  std::optional<DeclaredLength::Length> declared_length() const;
  /// The number of frames according to the header, and the number that was delivered from the beginning of
  /// the source; nothing if the header does not contain it or the number that was delivered is unknown.
  struct FrameCount {
    std::int64_t declared = 0;
    std::int64_t delivered = 0;
  };
  std::optional<FrameCount> frame_count() const;
  /// End time of the packets that were copied, in microseconds.
  std::int64_t copied_end() const { return copied_end_; }

 private:
  bool is_interrupted() const { return interrupted_ && interrupted_(); }
  AVIOInterruptCB interrupt_callback();
  InputHandle open(const ReaderOptions& options, Dictionary& unused);
  void add_sound(AVFormatContext& input, const ReaderOptions& options);
  PacketHandle read_sound();
  void count(const AVPacket& packet);
  void judge_corruption(const AVPacket& packet, bool has_jumped);
  void note_corruption();
  void end(int code, std::string error);
  void forget_position();

  std::string url_;
  std::optional<PictureSequence> sequence_;
  std::optional<std::int64_t> first_picture_;
  bool skips_missing_ = false;  ///< pictures of the sequence, by ReaderOptions::skip_missing
  std::int64_t pictures_ = 0;   ///< number of pictures up to the last one that was read
  std::function<bool()> interrupted_;
  Health& health_;
  std::optional<PipeInput> pipe_;  ///< input of `input_` if the source is a pipe
  DeclaredLength declared_;
  std::set<int> corrupt_at_opening_;  ///< streams with a corrupt packet among those that were read ahead
  std::set<int>
      interrupted_at_opening_;  ///< PIDs of streams with lost packets in the part that was read ahead
  bool is_at_gif_end_ = false;  ///< the whole GIF has been read ahead
  int packets_to_gap_ = 0;      ///< packets of the video among which lost ones leave a gap
  int packets_to_judge_ = 0;    ///< packets of the video that decide about a corrupt one
  std::int64_t expected_dts_ = AV_NOPTS_VALUE;  ///< of the video's next packet
  std::unique_ptr<SoundDevice> sound_;
  bool has_read_ = false;  ///< a packet of the source itself
  int sound_index_ = -1;   ///< of its stream in `input_`
  InputHandle input_;
  AVStream& video_;
  std::vector<bool> of_other_program_;
  std::vector<bool> copied_;
  std::int64_t unread_bytes_;  ///< behind the boxes of an MP4
  SourceClock clock_;
  std::int64_t video_end_ = -1;  ///< file position after the last video packet
  std::int64_t copied_end_ = 0;
  std::int64_t video_packets_ = 0;          ///< number of packets of the video since the beginning
  std::int64_t last_end_ = AV_NOPTS_VALUE;  ///< greatest end of a packet of the video, in its time base
  bool has_sought_ = false;
  bool has_ended_ = false;
};

}  // namespace limpid::io
