// SPDX-License-Identifier: MIT
#pragma once

// The connections between the parts of Reader. Private to io.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/media/container_header.h"
#include "io/media/libav.h"
#include "io/media/reader.h"
#include "io/media/reader/decoder.h"
#include "io/media/reader/demuxer.h"
#include "io/media/reader/frame_converter.h"
#include "io/media/reader/health.h"
#include "io/media/reader/range.h"
#include "io/media/source.h"

namespace limpid::io {

/// Packets in the range go from the demuxer to the decoder or the caller. Frames in the range go from the
/// decoder to the filters of ReaderOptions::before, the converter and the caller.
///
/// After a seek, decoding begins at the last key frame that is shown by the requested time; for a range, half
/// a second earlier, because audio packets may be stored before the pictures of their time. Packets are read
/// without decoding until that key frame is certain, from an earlier position if the container's times are
/// only approximate. If the decoded frames begin too late, an earlier key frame is tried, and finally
/// decoding starts at the beginning. Sources that cannot seek or have no times are also decoded from the
/// beginning, and so are seeks beyond a removed jump of the clock. Audio is cut between its packets.
struct Reader::State {
  State(std::string url, const ReaderOptions& options)
      : State(std::move(url), options, Dictionary(options.options)) {}

  Item read();
  void seek(double seconds, double before, const std::function<bool()>& given_up,
            const std::function<void(Frame)>& glimpse);

  const std::string& url() const { return demuxer_.url(); }
  const VideoProperties& video() const { return video_; }
  void set_why_not_on_cuda(std::string why) { video_.why_not_on_cuda = std::move(why); }
  Source source() const;
  bool can_seek() const { return demuxer_.can_seek(); }
  void end_sound() { demuxer_.end_sound(); }
  std::string sound_failure() const { return demuxer_.sound_failure(); }
  Diagnostics diagnostics() const { return health_.diagnostics(range_.has_video_ended()); }
  const Decoder& decoder() const { return decoder_; }
  std::int64_t copies() const { return converter_->copies(); }

 private:
  /// Result of the search for the first frame. kNothing: decoding began early enough, but no frame follows.
  enum class Found { kFrame, kNothing, kNoKeyFrame };

  State(std::string url, const ReaderOptions& options, Dictionary&& unused);
  void describe();
  void describe_filtered();
  AVRational frame_rate() const;
  AVRational time_base() const;
  AVRational sample_aspect_ratio() const;
  void read_first_frame();
  [[noreturn]] void throw_no_first_frame() const;

  Item read_next();
  std::optional<Frame> next_of_context();
  std::shared_ptr<Packet> feed_decoder();
  std::shared_ptr<Packet> read_packet();
  void decode(const AVPacket& packet) {
    decoder_.send(packet, range_.is_shown(packet), range_.contains(packet));
  }
  std::optional<Frame> take(DecodedFrame decoded);
  void set_up_converter(const AVFrame& first);
  Frame deliver(FrameHandle decoded, std::int64_t index, bool context_only);
  std::shared_ptr<Packet> rest_of_range();
  void look_for_shortfall();
  void compare_length(const DeclaredLength::Length& length);

  bool find_first_frame();
  void show_glimpse(const AVFrame& decoded);
  std::int64_t index_at(const Frame& frame) const;
  Found seek_first_frame();
  bool may_seek_to_target() const;
  bool show_first_packet();
  bool begin_at_key_frame(std::int64_t margin);
  bool gather_from_key_frame();
  void rewind();
  void forget_position();
  bool is_given_up() const { return given_up_ && given_up_(); }

  const ReaderOptions options_;
  Health health_;
  Demuxer demuxer_;
  Range range_;
  Decoder decoder_;
  DecoderFilter filter_;
  std::optional<FrameConverter> converter_;  ///< made with the first frame
  VideoProperties video_;
  std::shared_ptr<AVFrame> first_properties_;  ///< tags and side data of the first frame
  std::int64_t frame_index_ = 0;               ///< index of the next frame
  /// Packets that were read before the first frame was found.
  std::deque<std::shared_ptr<Packet>> first_packets_;
  std::optional<Frame> first_frame_;
  // Arguments of seek() while it runs.
  std::function<bool()> given_up_;
  std::function<void(Frame)> glimpse_;  ///< empty once it has been called
};

}  // namespace limpid::io
