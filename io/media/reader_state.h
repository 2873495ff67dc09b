#pragma once

// What Reader holds. Private to io.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/frame/frame_pool.h"
#include "io/media/checksums.h"
#include "io/media/declared_length.h"
#include "io/media/frame_gaps.h"
#include "io/media/libav.h"
#include "io/media/picture_mender.h"
#include "io/media/picture_metadata.h"
#include "io/media/pipe_input.h"
#include "io/media/reader.h"
#include "io/media/samples.h"
#include "io/media/time_range.h"

namespace limpid::io {

struct Reader::State {
  State(std::string source_url, const ReaderOptions& options);

  Item read();
  void seek(double seconds, double before, const std::function<bool()>& given_up);
  Diagnostics diagnostics() const;

  /// Without a container, and so without times.
  bool is_raw() const { return (input->iformat->flags & AVFMT_NOTIMESTAMPS) != 0; }
  bool is_mp4() const { return std::string_view(input->iformat->name).starts_with("mov,"); }
  /// Frames per second: on average, and of a grid of times that libav has found. 0/1 if not known.
  AVRational average_rate() const;
  AVRational base_rate() const;
  /// Frames of the source, at its average rate, before the range.
  int skipped_frames() const;

  std::string url;
  VideoProperties video;
  std::int64_t damaged_packets = 0;
  std::int64_t damaged_frames = 0;
  std::int64_t wrong_checksums = 0;
  std::int64_t container_errors = 0;
  std::string first_container_error;
  std::int64_t converted_frames = 0;
  std::int64_t copies = 0;
  std::int64_t decoded_packets = 0;
  std::int64_t decoded_frames = 0;
  std::string failure;
  std::string damage;
  std::string shortfall;
  std::string scan_change;
  std::function<bool()> interrupted;

  std::optional<PipeInput> pipe;  ///< what `input` reads if the url is that of a pipe
  InputHandle input;
  AVStream* video_stream = nullptr;
  std::vector<bool> copied;  ///< by stream index
  ChecksumErrors checksums;  ///< of `decoder`, which calls it to its end
  CodecHandle decoder;

  /// Microseconds to add to all timestamps.
  std::int64_t time_offset = 0;
  TimeRange range;
  /// Tags and side data of the first frame, without its samples.
  std::shared_ptr<AVFrame> first_properties;

 private:
  void open(const ReaderOptions& options);
  void choose_streams(const ReaderOptions& options);
  void open_decoder(const ReaderOptions& options, Dictionary& codec_options);
  void describe();
  void decode_first_frame();
  bool find_first_frame();
  void decoding_failed();
  void look_at_end();
  void look_for_shortfall();
  [[noreturn]] void throw_reference(const std::string& demuxer) const;
  AVIOInterruptCB interrupt_callback();
  [[noreturn]] void explain_open_failure(int code, const ReaderOptions& options);

  Item decode_next();
  /// Reads a packet and gives it to the decoder or, if it is to be copied, to the caller.
  std::shared_ptr<Packet> demux_next();
  bool is_unseen(const AVPacket& packet);
  void decode(const AVPacket& packet);
  void look_for_gap(const AVPacket& packet);
  void count_container_error();
  void take_out_clock_jumps(const AVPacket& packet);
  void begin_device_clock(const AVPacket& packet);
  FrameHandle as_begun(const AVFrame& other, std::int64_t index);
  Frame deliver(FrameHandle decoded, std::int64_t index, bool context_only);
  AVPixelFormat sample_format(const AVFrame& frame) const;
  void set_format(const AVFrame& first);
  bool waits_for_time(const AVFrame& frame) const;
  void count_back_from(const AVFrame& timed);
  void look_at_scan(const AVFrame& frame, std::int64_t index);
  void inherit_from_stream(AVFrame& properties) const;
  void set_time(AVFrame& frame);

  // In reader_range.cpp.
  void set_range(const ReaderOptions& options);
  bool seek_first_frame();
  bool show_first_packet();
  bool can_jump() const;
  bool begin_at_key_frame(std::int64_t margin);
  bool gather_from_key_frame();
  void gather(PacketHandle packet);
  void rewind();
  void forget_position();
  bool take_for_range(AVPacket& packet);
  enum class Place { kBefore, kInside, kBehind };
  Place place_in_range(const AVFrame& frame);
  void keep_as_context(FrameHandle frame);
  /// Whether there is all of it, once the first of it has been delivered.
  bool has_context() const { return std::ssize(context_) + (behind_context_ ? 1 : 0) >= context_before_; }
  bool is_given_up() const { return given_up_ && given_up_(); }
  std::shared_ptr<Packet> rest_of_range();
  void describe_range();
  [[noreturn]] void throw_no_frame_in_range() const;

  std::deque<std::shared_ptr<Packet>> first_packets_;  ///< read while looking for the first frame
  std::optional<Frame> first_frame_;
  std::int64_t first_jump_ = TimeRange::kOpen;  ///< microseconds: where a jump of the clock was found
  std::vector<std::int64_t> next_time_;  ///< by stream, microseconds: where its next packet should begin
  bool device_clock_begun_ = false;
  bool range_reached_ = false;  ///< by a packet that was decoded
  bool finished_ = false;
  bool source_ended_ = false;
  bool drained_ = false;                      ///< the decoder has been told that no packet follows
  bool at_true_end_ = false;                  ///< the source itself has ended
  AVDiscard skip_frame_ = AVDISCARD_DEFAULT;  ///< what the user wants the decoder to leave out
  std::optional<PictureMender> mender_;
  std::deque<FrameHandle> mended_;
  std::deque<FrameHandle> untimed_;  ///< the first ones, decoded, until it is known when they are shown
  bool times_come_ = true;           ///< false once no time has come for so many that none is waited for
  std::map<std::int64_t, PictureMetadata> metadata_;  ///< of pictures in the decoder, by their times
  std::set<std::int64_t> corrupt_times_;              ///< of packets that the demuxer takes for damaged
  DeclaredLength declared_;
  FrameGaps gaps_;
  std::string pending_error_;          ///< of the demuxer, since the last packet of the video
  std::int64_t last_packet_end_ = -1;  ///< of the video: where it ends in the file
  std::int64_t copied_end_ = 0;        ///< microseconds: the end of the packets that were handed on

  std::int64_t source_begin_ = 0;             ///< microseconds, on the clock of `range`
  std::int64_t first_offset_ = 0;             ///< `time_offset` at the source's beginning
  std::int64_t range_offset_ = 0;             ///< `time_offset` before any jump of the clock
  std::int64_t first_time_ = AV_NOPTS_VALUE;  ///< of the first frame that was decoded since the last seek
  std::vector<bool> past_range_;              ///< by stream index: decoded up to the end of the range
  bool video_ended_ = false;                  ///< nothing more is sent to the decoder
  int context_before_ = 0;
  int context_after_ = 0;
  std::deque<FrameHandle> context_;      ///< the last frames before the range, until they are delivered
  std::optional<Frame> behind_context_;  ///< the first frame of the range, meanwhile
  int frames_behind_range_ = 0;          ///< that have been delivered
  std::int64_t jump_to_ = 0;             ///< microseconds, on the clock of `range`: where a seek leads
  std::int64_t latest_key_ = 0;          ///< in the video's time base: when the key frame is shown at last
  bool gathering_ = false;               ///< video packets go to `gathered_`, not to the decoder
  std::deque<PacketHandle> gathered_;    ///< from a key frame on, to be decoded next
  std::int64_t gathered_bytes_ = 0;
  std::function<bool()> given_up_;  ///< seek()'s, while it runs

  MemoryDomain memory_;  ///< of frames that the GPU decodes
  std::int64_t frame_index_ = 0;
  std::int64_t last_pts_ = AV_NOPTS_VALUE;
  std::int64_t last_duration_ = 0;

  AVPixelFormat source_format_ = AV_PIX_FMT_NONE;    ///< of the decoder, without range
  AVPixelFormat readable_format_ = AV_PIX_FMT_NONE;  ///< source_format_, or what the scaler makes of it
  std::optional<Scaler> scaler_;
  std::function<Frame(const FrameFormat&)> allocate_;  ///< empty: pool_'s
  FramePool pool_;
  LibavFramePool scaled_pool_;
  LibavFramePool rescaled_pool_;  ///< of source_format_
};

}  // namespace limpid::io
