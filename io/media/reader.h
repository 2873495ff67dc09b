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
#include "io/media/diagnostic.h"
#include "io/media/display_properties.h"

namespace limpid::io {

struct ReaderOptions {
  std::string input_format;  ///< libavformat demuxer to use; empty: found from the content
  std::vector<std::pair<std::string, std::string>>
      options;              ///< demuxer and decoder options (framerate, video_size, ...)
  int decoder_threads = 0;  ///< 0: libavcodec's choice
  /// Follow sources that lead to other files or addresses, such as playlists. Without it, they are an error.
  bool allow_references = false;
  /// Open files and pipes alone: neither network addresses and libav's other protocols nor devices.
  bool local_only = false;
  /// If it is a GPU's: decode there, where that is possible, and leave frames in it; `allocate` is for
  /// others.
  MemoryDomain memory;
  /// Decode on a GPU only what comes out there with the samples that libavcodec's own decoders give, if it
  /// isn't damaged.
  bool same_samples = false;
  bool audio = true;  ///< deliver packets of audio streams for copying
  bool subtitles = true;
  bool data = true;  ///< data and attachment streams
  /// Seconds from the source's beginning. With a `start`, that becomes zero: frames and packets before it are
  /// left out, chapters and subtitles are cut. Without, times stay the source's own. Likewise from `end` on.
  std::optional<double> start;
  std::optional<double> end;
  /// How many frames before `start` and from `end` on are delivered as well, as far as there are any: marked
  /// as Frame::context_only, those before with indices below 0.
  int context_before = 0;
  int context_after = 0;
  /// Bits per sample that frames have at least, so that what is filtered and stored deeper than the source
  /// keeps the filter's precision. Formats without so deep a form stay as they are.
  int least_depth = 0;
  /// Bits that are added to samples of 8 bits, for the fractions of filtered samples.
  int fraction_bits = 0;
  /// Makes the frames that are delivered, of pooled memory. Empty: frames are views of the decoder's memory
  /// where it is laid out as core's frames are.
  std::function<Frame(const FrameFormat&)> allocate;
  /// Asked now and then while waiting for the source, which is taken to have ended once it returns true.
  std::function<bool()> interrupted;
};

/// Thrown for a source without video.
class NoVideo : public Error {
 public:
  NoVideo(const std::string& sentence, bool is_media) : Error(sentence), is_media_(is_media) {}
  /// True if it is sound or subtitles; otherwise it is something else, or too damaged to tell.
  bool is_media() const { return is_media_; }

 private:
  bool is_media_;
};

/// What is known of the video stream when the Reader has been made. The first frame has been decoded by then,
/// so the format is certain.
struct VideoProperties {
  FrameFormat format;            ///< of the frames that read() delivers
  std::string pixel_format;      ///< libav's name of the source's pixel format, such as "yuv420p10le"
  bool decoded_on_cuda = false;  ///< as ReaderOptions::memory asks
  std::string why_not_on_cuda;   ///< if it asked in vain
  double frames_per_second = 0;  ///< average; 0 if not known
  std::int64_t frame_count =
      0;                       ///< estimate for the progress display; 0 if not known (a pipe, a live source)
  double duration = 0;         ///< seconds; 0 if not known
  bool still_picture = false;  ///< one picture, not a video
};

/// A packet of a stream that is copied without decoding.
class Packet;
struct Source;

/// Presentation time of a frame that a Reader delivered, in seconds from the source's zero or
/// ReaderOptions::start; nothing for other frames.
std::optional<double> presentation_time(const Frame& frame);

/// Demuxes a file, pipe ("-") or image sequence and decodes its best video stream. Pixel formats that are not
/// planar (or not of core's formats) are converted to the nearest planar format of at least the same depth
/// and chroma resolution; everything libavcodec tells of a frame (timestamp, colour, side data) travels in
/// Frame::attachment, from which Writer takes it. Timestamps are the source's own; those of MPEG streams and
/// other sources whose clock starts anywhere begin at zero, with jumps of the clock taken out; times always
/// increase from frame to frame. A range of it is exact to the frame: decoding begins at a key frame before
/// the range, or at the beginning of sources that can't seek. All members throw limpid::Error with a sentence
/// that names the file, and UsageError for options that the source or its decoder doesn't know. One thread at
/// a time.
class Reader {
 public:
  /// What read() returns at the end.
  struct End {};
  using Item = std::variant<End, Frame, std::shared_ptr<Packet>>;

  explicit Reader(std::string url, const ReaderOptions& options = {});
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  const std::string& url() const;
  const VideoProperties& video() const;
  /// How to show its frames.
  DisplayProperties display() const;

  /// The next frame in presentation order, or the next packet to copy. Damaged packets are skipped and
  /// counted; frames of another size, pixel format, range or matrix than the first are converted to it and
  /// counted (diagnostics()).
  Item read();

  /// Goes to `seconds`, in the frames' times: the next frame is the first that is shown then or later.
  /// Decoding begins at the last key frame that is shown by then, as far as the container tells; of the
  /// frames on the way, those of the last `before` seconds are delivered too. `given_up` is asked all the
  /// time; once it returns true seek() returns, and nothing is to be read before another seek. Frame::index
  /// goes on from the frame's number in the whole source, as the average rate has it. Throws Error if the
  /// source can't go back.
  void seek(double seconds, double before = 0, const std::function<bool()>& given_up = {});
  /// Whether it can: pipes and devices only go on.
  bool can_seek() const;

  /// What has happened so far. Damage before a range, or before the target of a seek, doesn't count.
  Diagnostics diagnostics() const;

  /// Of the decoder: ReaderOptions::decoder_threads, or what libavcodec has chosen. Of a damaged stream it
  /// decides what comes out.
  int decoder_threads() const;

  /// Packets of the video that the decoder was given so far.
  std::int64_t decoded_packets() const;

  /// Frames that the decoder has given so far. Before a range, or before the target of a seek, it leaves out
  /// what no other frame is predicted from.
  std::int64_t decoded_frames() const;

  /// Times that the samples of a frame have been copied or converted so far, at most once for each frame but
  /// those of formats that swscale has to prepare.
  std::int64_t copies() const;

  struct State;  ///< private to io

 private:
  friend class AudioOutput;
  friend class Writer;
  Source source() const;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
