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
      codec;  ///< libavcodec encoder by name; empty: what suits the container and depth, libx264 first
  std::string pixel_format;          ///< libav name; empty: the nearest to the source that the encoder takes
  std::string container;             ///< libavformat muxer; empty: from the file's name ("-": yuv4mpegpipe)
  std::string dither;                ///< of 8-bit output: "auto" or, as empty, "none"; see Ditherer
  std::string crf, preset, bitrate;  ///< empty: the encoder's defaults
  std::vector<std::pair<std::string, std::string>> encoder_options;
  /// Encoder of all sound, by its name or the codec's. Empty: sound is copied, and encoded as suits the
  /// container if that can't hold it. "copy": it is left out in that case.
  std::string audio_codec;
  std::string audio_bitrate;   ///< of sound that is encoded; empty: what suits the codec and the channels
  std::int64_t frames = 0;     ///< that will be written at most: chapters end with them; 0: all of the source
  bool begin_at_zero = false;  ///< frames' times count from the first; for sources without other streams
  int encoder_threads = 0;     ///< 0: libavcodec's choice
  /// If it is a GPU's: take frames from it where the encoder can, see Writer::cuda_frames().
  MemoryDomain memory;
  Overwrite overwrite = Overwrite::kNever;
  /// Write to files and pipes alone, as ReaderOptions::local_only.
  bool local_only = false;
  /// File of packets that gets the video of one segment of the source, encoded for a file of the url's name;
  /// another Writer joins it with others. It has the second name until it is complete. Empty: everything is
  /// written to the url.
  std::string segment_file;
  std::string segment_temporary;
  /// Part of the temporary file's name, from new_temporary_mark(). Keeping it allows the file to be removed
  /// after a kill (remove_left_temporary()). Empty: random.
  std::string temporary_mark;
  /// Called with the path of the temporary file when it is complete and on the disk, before it is renamed.
  std::function<void(const std::string& temporary)> when_whole;
};

/// Sets what WriterOptions require of the reader: `least_depth` and `fraction_bits`. Throws UsageError for an
/// unknown `dither`.
void match_depths(const WriterOptions& writer, ReaderOptions& reader);

/// "/a.mkv" for "file:///a.mkv", and "a.mkv" for "file:a.mkv" unless there is a file of just that name; other
/// names and addresses as they are. Reader and Writer take their urls so.
std::string local_name(const std::string& url);

/// True of a pipe, a device and an address: what is written there has no temporary name first.
bool is_written_straight(const std::string& url);

/// Throws Error if a file written to `path` would replace that of `source_url`, or one of its numbered
/// pictures.
void require_other_file(const std::string& path, const std::string& source_url);

/// Removes what is being written, in every thread, and not yet under its final name: for a process that ends
/// at once.
void remove_temporary_files();

/// Six random letters and digits.
std::string new_temporary_mark();
bool is_temporary_mark(const std::string& text);

/// Removes the temporary file of a Writer to `url` with that mark, unless a process still writes it. Ignores
/// an invalid mark.
void remove_left_temporary(const std::string& url, const std::string& mark);

/// With true, outputs in every thread stop waiting for a program that reads their pipe: one that nobody has
/// opened fails at once, one that is full after five seconds.
void set_outputs_interrupted(bool interrupted);

/// True if files of this name are of a container that holds video, or pictures.
bool is_media_name(const std::string& name);

/// The extension, with its dot, for an output that is named after `input`: that of the container asked for;
/// or the input's own, if a file of that name can hold what the encoder makes; or ".mkv", of pictures ".png".
std::string output_extension(const std::string& input, bool still_picture, const WriterOptions& options);

/// Thrown when the disk is full and room has been kept to finish the file, by Writer::finish_partial().
class DiskFull : public Error {
 public:
  using Error::Error;
};

/// Encodes and muxes frames, with the other streams, chapters and metadata of the Reader's source. Writes to
/// a temporary name beside the target; finish() renames it, and without finish() nothing remains. All members
/// throw limpid::Error (UsageError for impossible requests) with a sentence that names the file, option or
/// frame. Pictures of a sequence ("img_%03d.png") are put in place one by one, each complete. One thread at a
/// time; it need not be the Reader's.
class Writer {
 public:
  /// Opens the encoder and writes the file's header for frames of the format and with the tags of `source`,
  /// which is not used any more afterwards.
  Writer(const std::string& url, const Reader& source, const WriterOptions& options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  /// What has happened so far. What can't be kept, streams that are left out and what had to be guessed are
  /// known once the constructor has returned.
  Diagnostics diagnostics() const;

  /// Makes the frames that write() takes if the encoder reads them from WriterOptions::memory, by
  /// whatever thread; they are complete when write() is called. Empty if write() takes frames in host memory.
  std::function<Frame()> cuda_frames() const;

  void write(const Frame& frame);
  void write(const Packet& packet);
  /// Drains the encoder, writes the trailer and puts the file under its final name.
  void finish();
  /// The same for what breaks off before its end: a file that plays but is called "NAME.partial.EXT" (or
  /// "NAME.partial-2.EXT", ...), so that nobody takes it for the whole; it replaces nothing. After DiskFull,
  /// what is with the encoder is left out. Returns that name; the url where it is written straight, as a
  /// pipe, and of pictures, each of which is whole.
  std::string finish_partial();

  /// True if segments of the source, each encoded by itself, make one stream that is as good as the whole:
  /// the encoder decides on each frame by that frame or those nearby, and counts in the source's times.
  bool joins_segments() const;
  /// Frames by which decoding is ahead of presentation, in a finished segment.
  int reordering() const;

  /// Takes a segment's file (WriterOptions::segment_file) in place of frames. It continues the segment before
  /// it. `reordering` is the greatest of all segments. Throws Error unless the segment was encoded as this
  /// writer would encode it, begins with a key frame, and presents no frame before the end of the last one.
  void begin_segment(const std::string& file, int reordering);
  /// Writes the segment's next frame, in decoding order; false at its end.
  bool join_frame();

  /// May be called from any thread.
  std::int64_t bytes_written() const;

  /// Frames that the encoder has given back so far; all of them after finish().
  std::int64_t frames_written() const;

  /// Times that the samples of a frame have been copied or converted on their way to the encoder so far.
  std::int64_t copies() const;

  /// libav's names of what was chosen.
  std::string codec() const;
  std::string pixel_format() const;
  std::string container() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
