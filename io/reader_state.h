#pragma once

// What Reader holds; Writer reads the source's streams, chapters and metadata from it. Private to io.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/frame_pool.h"
#include "io/libav.h"
#include "io/pipe_input.h"
#include "io/reader.h"
#include "io/samples.h"
#include "io/time_range.h"

namespace limpid::io {

struct Reader::State {
  State(std::string source_url, const ReaderOptions& options);

  Item read();
  void seek(double seconds);

  /// Frames per second: on average, and of a grid of times that libav has found. 0/1 if not known.
  AVRational average_rate() const;
  AVRational base_rate() const;
  /// Frames of the source, at its average rate, before the range.
  int skipped_frames() const;

  std::string url;
  VideoProperties video;
  std::int64_t damaged_packets = 0;
  std::int64_t damaged_frames = 0;
  std::int64_t converted_frames = 0;
  std::int64_t copies = 0;
  std::string failure;
  std::string damage;
  std::function<bool()> interrupted;

  std::optional<PipeInput> pipe;  ///< what `input` reads if the url is that of a pipe
  InputHandle input;
  AVStream* video_stream = nullptr;
  std::vector<bool> copied;  ///< by stream index
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
  [[noreturn]] void explain_open_failure(int code, const ReaderOptions& options) const;

  Item decode_next();
  /// Reads a packet and gives it to the decoder or, if it is to be copied, to the caller.
  std::shared_ptr<Packet> demux_next();
  void take_out_clock_jumps(const AVPacket& packet);
  void begin_device_clock(const AVPacket& packet);
  FrameHandle as_begun(const AVFrame& other);
  Frame deliver(FrameHandle decoded);
  AVPixelFormat sample_format(const AVFrame& frame) const;
  void set_format(const AVFrame& first);
  void inherit_from_stream(AVFrame& properties) const;
  void set_time(AVFrame& frame);

  // In reader_range.cpp.
  void set_range(const ReaderOptions& options);
  bool seek_first_frame();
  bool seek_before_range(std::int64_t margin);
  void rewind();
  void forget_position();
  bool take_for_range(AVPacket& packet);
  bool take_for_range(const AVFrame& frame);
  void end_video();
  std::shared_ptr<Packet> rest_of_range();
  void describe_range();
  [[noreturn]] void throw_no_frame_in_range() const;

  std::deque<std::shared_ptr<Packet>> first_packets_;  ///< read while looking for the first frame
  std::optional<Frame> first_frame_;
  std::vector<std::int64_t> next_time_;  ///< by stream, microseconds: where its next packet should begin
  bool device_clock_begun_ = false;
  bool finished_ = false;
  bool source_ended_ = false;

  std::int64_t source_begin_ = 0;             ///< microseconds, on the clock of `range`
  std::int64_t first_offset_ = 0;             ///< `time_offset` at the source's beginning
  std::int64_t range_offset_ = 0;             ///< `time_offset` before any jump of the clock
  std::int64_t first_time_ = AV_NOPTS_VALUE;  ///< of the first frame that was decoded since the last seek
  std::vector<bool> past_range_;              ///< by stream index: decoded up to the end of the range
  bool video_ended_ = false;                  ///< nothing more is sent to the decoder
  bool wants_key_frame_ = false;

  int cuda_device_ = Frame::kHostMemory;  ///< of frames that the GPU decodes
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
