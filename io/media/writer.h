#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "io/media/diagnostic.h"
#include "io/media/reader.h"

namespace limpid::io {

enum class Overwrite : std::uint8_t { kNever, kAlways };

struct WriterOptions {
  std::string
      codec;  ///< libavcodec encoder by name; empty: selected for the container and depth, libx264 first
  std::string pixel_format;          ///< libav name; empty: the nearest to the source that the encoder
                                     ///< accepts
  std::string container;             ///< libavformat muxer; empty: from the file's name ("-": yuv4mpegpipe)
  std::string dither;                ///< of 8-bit output: "auto" or, as empty, "none"; see Ditherer
  std::string crf, preset, bitrate;  ///< empty: the encoder's defaults
  std::vector<std::pair<std::string, std::string>> encoder_options;
  /// Encoder of all audio, by its name or the codec's. Empty: audio is copied, and transcoded only if the
  /// container cannot store it. "copy": audio that the container cannot store is left out.
  std::string audio_codec;
  std::string audio_bitrate;   ///< for transcoded audio; empty: a default for the codec and the channels
  std::int64_t frames = 0;     ///< maximum number of frames that are written: chapters end with them; 0: all
                               ///< of the source
  bool begin_at_zero = false;  ///< frames' times count from the first one; for sources without other streams
  int encoder_threads = 0;     ///< 0: libavcodec's default
  /// A GPU's memory: accept frames from it if the encoder can, see Writer::cuda_frames().
  MemoryDomain memory;
  Overwrite overwrite = Overwrite::kNever;
  /// Write only to files and pipes, as ReaderOptions::local_only.
  bool local_only = false;
  /// File of packets for the video of one segment of the source, encoded for a file of the url's name;
  /// another Writer joins it with other segments. It has the second name until it is complete. Empty:
  /// everything is written to the url.
  std::string segment_file;
  std::string segment_temporary;
  /// Part of the temporary file's name, from new_temporary_mark(). If the caller keeps it, the file can be
  /// removed after a kill (remove_left_temporary()). Empty: random.
  std::string temporary_mark;
  /// Called with the path of the temporary file when it is complete and on the disk, before it is renamed.
  std::function<void(const std::string& temporary)> when_whole;
};

/// Sets what WriterOptions require of the reader: `least_depth` and `fraction_bits`. Throws UsageError for an
/// unknown `dither`.
void match_depths(const WriterOptions& writer, ReaderOptions& reader);

/// Converts "file:///a.mkv" to "/a.mkv", and "file:a.mkv" to "a.mkv" unless a file of exactly that name
/// exists; other names and addresses are unchanged. Reader and Writer convert their urls in this way.
std::string local_name(const std::string& url);

/// True for a pipe, a device and an address, which are written without a temporary name.
bool is_written_straight(const std::string& url);

/// Throws Error if a file written to `path` would replace the file `source_url`, or one of its numbered
/// pictures.
void require_other_file(const std::string& path, const std::string& source_url);

/// Removes all temporary files that are being written, in every thread: for a process that ends immediately.
void remove_temporary_files();

/// Six random letters and digits.
std::string new_temporary_mark();
bool is_temporary_mark(const std::string& text);

/// Removes the temporary file of a Writer to `url` with this mark, unless a process is still writing it.
/// Ignores an invalid mark.
void remove_left_temporary(const std::string& url, const std::string& mark);

/// With true, outputs in every thread stop waiting for a program that reads their pipe: pipes without a
/// reader fail immediately, full ones after five seconds.
void set_outputs_interrupted(bool interrupted);

/// True if files of this name belong to a container for video or pictures.
bool is_media_name(const std::string& name);

/// The extension, including its dot, for an output that is named after `input`: that of the requested
/// container; or the input's own, if a file of that name can store the encoder's output; or ".mkv", for
/// pictures ".png".
std::string output_extension(const std::string& input, bool still_picture, const WriterOptions& options);

/// Thrown when the disk is full. The space reserved for the end of the file allows Writer::finish_partial().
class DiskFull : public Error {
 public:
  using Error::Error;
};

/// Encodes and muxes frames, with the other streams, chapters and metadata of the Reader's source. Writes to
/// a temporary name beside the target; finish() renames it, and without finish() nothing remains. All members
/// throw a limpid::Error (UsageError for impossible requests) that names the file, option or frame. Pictures
/// of a sequence ("img_%03d.png") are renamed one by one, each when complete. One thread at a time, which may
/// differ from the Reader's.
class Writer {
 public:
  /// Opens the encoder and writes the file's header for frames with the format and the tags of `source`,
  /// which is not used afterwards.
  Writer(const std::string& url, const Reader& source, const WriterOptions& options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  /// Diagnostics so far. Losses, streams that are left out and guesses are complete once the constructor has
  /// returned.
  Diagnostics diagnostics() const;

  /// Allocates the frames for write() if the encoder reads them from WriterOptions::memory. May be called on
  /// any thread; the frames' samples must be complete when write() is called. Empty if write() accepts frames
  /// in host memory.
  std::function<Frame()> cuda_frames() const;

  void write(const Frame& frame);
  void write(const Packet& packet);
  /// Drains the encoder, writes the trailer and renames the file.
  void finish();
  /// Finishes an interrupted output: a playable file that is called "NAME.partial.EXT" (or
  /// "NAME.partial-2.EXT", ...) and replaces nothing. After DiskFull, frames in the encoder are left out.
  /// Returns that name; for outputs that are written directly, such as pipes, and for pictures, each of which
  /// is complete, the url.
  std::string finish_partial();

  /// True if segments of the source that are encoded separately form one stream of equal quality: the encoder
  /// decides on each frame from that frame or nearby ones, and keeps the source's times.
  bool joins_segments() const;
  /// Number of frames by which decoding precedes presentation, in a finished segment.
  int reordering() const;

  /// Takes a segment's file (WriterOptions::segment_file) instead of frames. It continues the segment before
  /// it. `reordering` is the maximum over all segments. Throws Error unless the segment was encoded with this
  /// writer's settings, begins with a key frame, and presents no frame before the end of the last one.
  void begin_segment(const std::string& file, int reordering);
  /// Writes the segment's next frame, in decoding order. Returns false at its end.
  bool join_frame();

  /// May be called from any thread.
  std::int64_t bytes_written() const;

  /// Frames that the encoder has returned so far; all of them after finish().
  std::int64_t frames_written() const;

  /// Copies and conversions of frames' samples so far, on their way to the encoder.
  std::int64_t copies() const;

  /// libav's names of the selected codec and formats.
  std::string codec() const;
  std::string pixel_format() const;
  std::string container() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
