// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "core/frame/stream_item.h"
#include "io/media/diagnostic.h"
#include "io/media/display_properties.h"

namespace limpid::io {

struct ReaderOptions {
  std::string input_format;  ///< libavformat demuxer; empty: detected from the content
  std::vector<std::pair<std::string, std::string>>
      options;              ///< options of the demuxer and the decoder (framerate, video_size, ...)
  int decoder_threads = 0;  ///< 0: libavcodec's default
  /// Follow references to other files or addresses, such as those in playlists. If false, sources with
  /// references are an error.
  bool allow_references = false;
  /// Open only files and pipes; no network addresses, devices or other protocols of libav.
  bool local_only = false;
  /// Continue a sequence of pictures after missing numbers. If false, the first one is an error.
  bool skip_missing = false;
  /// Memory of a GPU: decode on it if possible, and leave frames in it. `allocate` applies to frames in host
  /// memory.
  MemoryDomain memory;
  /// Decode on a GPU only if its samples are bit-exact with those of libavcodec's own decoders for undamaged
  /// streams.
  bool same_samples = false;
  /// Chain of libavfilter's filters that decoded frames pass through before all else, in ffmpeg's syntax.
  /// Frames are decoded on the CPU then, and turned upright. Empty: no filters.
  std::string before;
  bool audio = true;  ///< deliver packets of audio streams for copying
  /// An audio device that is read with a camera, with its format of libavdevice. Empty: none.
  std::string sound_device;
  std::string sound_format = "alsa";
  std::int64_t first_time = 0;  ///< time of the first packet of a device, in microseconds
  bool subtitles = true;
  bool data = true;  ///< deliver packets of data and attachment streams
  /// Range in seconds from the source's beginning. Times are counted from `start`: earlier frames and packets
  /// are omitted, chapters and subtitles are cut. Without `start`, the times of the source are kept. Frames
  /// and packets from `end` on are omitted.
  std::optional<double> start;
  std::optional<double> end;
  /// Number of frames before `start` and from `end` on that are delivered in addition, if they exist. They
  /// are marked as Frame::context_only; those before have negative indices.
  int context_before = 0;
  int context_after = 0;
  /// Minimum bits per sample of frames, so that filtering and storing with more bits than the source keeps
  /// the filter's precision. Formats without a deeper form are not changed.
  int least_depth = 0;
  /// Bits that are added to 8-bit samples, for the fractions of filtered samples.
  int fraction_bits = 0;
  /// Value of float pictures that becomes 1, see VideoProperties; 0: by the samples of the first file.
  float white = 0;
  /// Decode AV1 without its synthetic film grain, which film_grain_of() then describes.
  bool without_film_grain = false;
  /// Allocates the delivered frames, in pooled memory. Empty: frames are views of the decoder's memory if
  /// that has the layout of core's frames.
  std::function<Frame(const FrameFormat&)> allocate;
  /// Called repeatedly during waits. The source ends when it returns true.
  std::function<bool()> interrupted;
};

/// The error for a source without video.
class NoVideo : public Error {
 public:
  NoVideo(const std::string& sentence, bool is_media) : Error(sentence), is_media_(is_media) {}
  /// True for media without video, such as audio or subtitles; false for other files and for files too
  /// damaged to detect.
  bool is_media() const { return is_media_; }

 private:
  bool is_media_;
};

/// Properties of the video stream when the Reader has been constructed. The first frame has been decoded by
/// then, so the format is final.
struct VideoProperties {
  FrameFormat format;            ///< format of the frames that read() delivers
  std::string pixel_format;      ///< libav's name of the source's pixel format, such as "yuv420p10le"
  bool decoded_on_cuda = false;  ///< frames are decoded on the GPU that ReaderOptions::memory requested
  std::string why_not_on_cuda;   ///< reason if the GPU was requested but not used
  double frames_per_second = 0;  ///< average rate; 0 if unknown
  std::int64_t frame_count = 0;  ///< estimate for the progress display; 0 if unknown (a pipe, a live source)
  double duration = 0;           ///< duration in seconds; 0 if unknown
  bool still_picture = false;    ///< one picture, not a video
  bool lossless = false;         ///< the codec keeps all samples
  /// Value of a float picture that its samples were divided by: a power of two if 1 cannot be white, as in
  /// counts, heights or temperatures. Writer multiplies by it.
  float white = 1;
};

/// A chapter of a source.
struct Chapter {
  double begin = 0;   ///< seconds, as in presentation_time()
  std::string title;  ///< in UTF-8; may be empty
};

/// A packet of a stream that is copied without decoding.
using limpid::Packet;
struct Source;

/// Presentation time of a frame from a Reader, in seconds from the source's zero or ReaderOptions::start;
/// nothing for other frames.
std::optional<double> presentation_time(const Frame& frame);

/// Demuxes a file, pipe ("-") or image sequence and decodes its best video stream. Pixel formats that are not
/// planar (or not supported by core) are converted to the nearest planar format of at least equal depth and
/// chroma resolution. All other properties of a frame in libavcodec (timestamp, color, side data) are in
/// Frame::attachment, which Writer reads. Timestamps are the source's; those of MPEG streams and other
/// sources with an arbitrary origin begin at zero, with jumps of the clock removed. Times always increase
/// from frame to frame. A range is exact to the frame: decoding begins at a key frame before the range, or at
/// the beginning of sources that cannot seek. All members throw a limpid::Error that names the file, and
/// UsageError for unknown options of the source or its decoder. One thread at a time.
class Reader {
 public:
  /// Returned by read() at the end.
  using End = EndOfStream;
  using Item = StreamItem;

  explicit Reader(std::string url, const ReaderOptions& options = {});
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  const std::string& url() const;
  const VideoProperties& video() const;
  /// Properties for displaying the frames.
  DisplayProperties display() const;

  /// The next frame in presentation order, or the next packet to copy. Damaged packets are skipped and
  /// counted. Frames of another size, pixel format, range or matrix than the first one are converted and
  /// counted (diagnostics()).
  Item read();

  /// Seeks to `seconds`, in the frames' times: the next frame is the first one that is shown at that time or
  /// later. The frames of the last `before` seconds before the target are delivered, too. Decoding begins at
  /// the last key frame before the target, as far as the container reports it. `given_up` is called
  /// repeatedly; if it returns true, seek() returns, and another seek must follow before reading.
  /// Frame::index continues from the frame's number in the whole source, computed from the average rate.
  /// Throws Error if the source cannot seek.
  /// `glimpse`, unless empty, is called at most once: with the first decoded frame if that is not delivered
  /// because it is too early, so that there is something to show meanwhile.
  void seek(double seconds, double before = 0, const std::function<bool()>& given_up = {},
            const std::function<void(Frame)>& glimpse = {});
  /// True if the source can seek; false for pipes and devices.
  bool can_seek() const;

  /// The chapters of a source that is read from its beginning, in order.
  std::vector<Chapter> chapters() const;

  /// Diagnostics so far, without damage before a range or before the target of a seek.
  Diagnostics diagnostics() const;
  /// The error that ended the audio of ReaderOptions::sound_device; empty while it lasts or without one.
  std::string sound_failure() const;
  /// libav's number of the codec of a packet that read() has returned.
  int codec_of(const Packet& packet) const;
  /// Closes ReaderOptions::sound_device, so that another Reader can open it.
  void end_sound();

  /// Number of the decoder's threads: ReaderOptions::decoder_threads, or libavcodec's choice. It affects the
  /// result for damaged streams.
  int decoder_threads() const;

  /// Number of video packets that have been sent to the decoder.
  std::int64_t decoded_packets() const;

  /// Number of frames that the decoder has returned. Before a range or the target of a seek, the decoder
  /// skips frames that no other frame refers to.
  std::int64_t decoded_frames() const;

  /// Copies and conversions of frames' samples so far: at most one per frame, except for formats that swscale
  /// must convert first.
  std::int64_t copies() const;

  struct State;  ///< private to io

 private:
  friend class AudioOutput;
  friend class PictureFilter;
  friend class Writer;
  Source source() const;
  std::unique_ptr<State> state_;
};

/// The next frame of a function that returns items as Reader::read() does. Drops packets. Returns nothing at
/// the end.
template <typename Read>
std::optional<Frame> next_frame(const Read& read) {
  for (;;) {
    Reader::Item item = read();
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      return std::move(*frame);
    }
    if (std::holds_alternative<Reader::End>(item)) {
      return std::nullopt;
    }
  }
}
inline std::optional<Frame> next_frame(Reader& reader) {
  return next_frame([&reader] { return reader.read(); });
}

}  // namespace limpid::io
