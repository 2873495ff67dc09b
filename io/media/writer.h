// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "core/grain/film_grain.h"
#include "io/media/diagnostic.h"
#include "io/media/reader.h"

namespace limpid::io {

enum class Overwrite : std::uint8_t { kNever, kAlways };

/// Values of WriterOptions::encoding.
inline constexpr std::array<const char*, 3> kEncodingNames{"small", "high", "lossless"};

struct WriterOptions {
  std::string
      codec;  ///< libavcodec encoder by name; empty: selected for the container and depth, libx264 first
  /// Libav's name; empty: the format of the encoder that is nearest to the source.
  std::string pixel_format;
  std::string container;  ///< libavformat muxer; empty: from the file's name ("-": yuv4mpegpipe)
  /// Dithering of 8-bit output: "auto" or "none"; empty: none; see Ditherer.
  std::string dither;
  std::string crf, preset, bitrate;  ///< empty: the encoder's defaults
  /// "high": options of the encoder that cost less than the eye sees, unless others set its quality;
  /// "lossless": FFV1, unless `codec` is lossless; "small" or empty: the encoder's defaults.
  std::string encoding;
  std::string picture_quality;  ///< of JPEG, WebP, AVIF and JPEG XL, 1 to 100; empty: 90, JPEG about 88
  std::vector<std::pair<std::string, std::string>> encoder_options;
  /// Film grain that decoders add, for libaom-av1. Times count from the first frame. Empty: none.
  FilmGrainTable film_grain;
  /// Encoder of all audio, by its name or the codec's. Empty: audio is copied, and transcoded only if the
  /// container cannot store it. "copy": audio that the container cannot store is omitted.
  std::string audio_codec;
  /// Bit rate of transcoded audio; empty: a default for the codec and the channels.
  std::string audio_bitrate;
  std::int64_t frames = 0;  ///< maximum number of frames to write; chapters are cut to them; 0: all
                            ///< of the source
  /// For a live source: times begin at zero with the first frame, packets of earlier times are left out, and
  /// the encoder's preset keeps pace unless `preset` is set.
  bool live = false;
  /// Chain of libavfilter's filters that frames pass through before the encoder, in ffmpeg's syntax. Frames
  /// are turned upright. Empty: no filters.
  std::string after;
  /// "bt709": convert colors, after the filters, to BT.709 with limited range; empty: those of the source.
  std::string color;
  /// Prefer 4:2:0 for the default encoder, which most players require.
  bool for_players = false;
  int encoder_threads = 0;  ///< 0: libavcodec's default
  /// Memory of a GPU: accept frames in it if the encoder can read them, see Writer::cuda_frames().
  MemoryDomain memory;
  /// Name of a camera of PipeWire that receives the frames instead of the url; empty: none. The encoder must
  /// be rawvideo with the pixel format yuyv422.
  std::string camera;
  Overwrite overwrite = Overwrite::kNever;
  /// Write only to files and pipes, like ReaderOptions::local_only.
  bool local_only = false;
  /// Packet file for the encoded video of one segment of the source, which another Writer joins with other
  /// segments. It is encoded for a file with the name of the url, and has the second name until it is
  /// complete. Empty: the Writer writes the whole output to the url.
  std::string segment_file;
  std::string segment_temporary;
  /// A part of the temporary file's name, from new_temporary_mark(). A caller that stores it can remove the
  /// file after a kill (remove_left_temporary()). Empty: random.
  std::string temporary_mark;
  /// Called with the path of the temporary file when it is complete and on the disk, before it is renamed.
  std::function<void(const std::string& temporary)> when_whole;
};

/// Sets the reader options that the writer options require: `least_depth` and `fraction_bits`. Throws
/// UsageError for an unknown `dither`.
void match_depths(const WriterOptions& writer, ReaderOptions& reader);

/// True for the containers of lossless video: Matroska, QuickTime and AVI. Throws UsageError as Writer does.
bool holds_lossless(const std::string& url, const std::string& container);

/// Converts "file:///a.mkv" to "/a.mkv", "file:a.mkv" to "a.mkv" unless a file of exactly that name exists,
/// and "pipe:1" to "-"; other names and addresses are unchanged. Reader and Writer convert their urls with
/// it.
std::string local_name(const std::string& url);

/// True for pipes, devices and addresses, which are written without a temporary name.
bool is_written_straight(const std::string& url);

/// Throws Error if writing to `path` would replace the file `source_url`, or one of its numbered pictures.
void require_other_file(const std::string& path, const std::string& source_url);

/// Ends the process immediately, and removes all temporary files that any thread is writing.
[[noreturn]] void exit_without_temporary_files(int code);

/// A new folder, removed with its files by the destructor or by exit_without_temporary_files().
class TemporaryFolder : NotCopyable {
 public:
  /// Throws Error.
  TemporaryFolder();
  ~TemporaryFolder();

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Six random letters and digits.
std::string new_temporary_mark();
bool is_temporary_mark(const std::string& text);

/// Removes the temporary file of a Writer to `url` with this mark, unless a process is still writing it.
/// Ignores an invalid mark.
void remove_left_temporary(const std::string& url, const std::string& mark);

/// With true, outputs in all threads stop waiting for a program that reads their pipe: pipes without a reader
/// fail immediately, full pipes after five seconds. Writers abandon their encoders eight seconds later.
void set_outputs_interrupted(bool interrupted);

/// True if the threads of an abandoned encoder may still run. The process must then end by std::_Exit().
bool has_abandoned_encoders();

/// True if the file extension belongs to pictures of which each has a file.
bool is_picture_name(const std::string& name);
/// True if the file extension belongs to a container for video or pictures.
bool is_media_name(const std::string& name);

/// The extension, with its dot, for an output that is named after `input`: the extension of the requested
/// container; or the extension of the input, if such a file can store the encoder's output; or ".mkv", and
/// ".png" for pictures.
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
  /// The first file that this Writer would make: `url`, or the first picture of a sequence.
  static std::string first_file(const std::string& url, const Reader& source, const WriterOptions& options);
  /// libavcodec's name of the encoder for an output. Throws UsageError if there is none.
  static std::string encoder_name(const std::string& url, const Reader& source, const WriterOptions& options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  /// Diagnostics so far. Losses, missing streams and guesses are complete once the constructor has returned.
  Diagnostics diagnostics() const;

  /// A sentence about a quality or conversion that was not asked for, with the options that change it; may be
  /// empty.
  std::string advice() const;

  /// Allocates the frames for write() if the encoder reads them from WriterOptions::memory. May be called on
  /// any thread; the frames' samples must be complete when write() is called. Empty if write() accepts frames
  /// in host memory.
  std::function<Frame()> cuda_frames() const;

  /// Drops the frame if the encoder takes too long after an interrupt.
  void write(const Frame& frame);
  void write(const Packet& packet);
  /// Encodes all frames that have been written. Returns false if that takes too long after an interrupt;
  /// finish_partial() then keeps the frames that are encoded.
  bool drain();
  /// Drains the encoder, writes the trailer and renames the file. Throws Error if draining takes too long
  /// after an interrupt.
  void finish();
  /// Finishes an interrupted output as a playable file "NAME.partial.EXT" (or "NAME.partial-2.EXT", ...) that
  /// replaces no other file. After DiskFull, frames in the encoder are omitted. Returns the name of the file.
  /// Outputs that are written directly, such as pipes, and sequences of pictures keep their name, and the url
  /// is returned.
  std::string finish_partial();

  /// True if segments of the source that are encoded separately can form one stream of equal quality. This
  /// requires that the encoder's decisions on a frame depend only on nearby frames, and that it keeps the
  /// source's times.
  bool joins_segments() const;
  /// Number of frames by which decoding precedes presentation, in a finished segment.
  int reordering() const;

  /// Begins to write a segment's file (WriterOptions::segment_file) instead of frames. The segment must
  /// continue the previous one. `reordering` is the maximum over all segments. Throws Error unless the
  /// segment was encoded with this writer's settings, begins with a key frame, and presents no frame before
  /// the end of the previous segment.
  void begin_segment(const std::string& file, int reordering);
  /// Writes the segment's next frame, in decoding order. Returns false at its end.
  bool join_frame();

  /// May be called from any thread.
  std::int64_t bytes_written() const;

  /// Number of frames that the encoder has returned; after finish(), all frames.
  std::int64_t frames_written() const;

  /// Number of copies and conversions of frames' samples on their way to the encoder.
  std::int64_t copies() const;

  /// libav's names of the selected codec and formats.
  std::string codec() const;
  /// The codec with the preset that was set, such as "libx264, preset veryfast".
  std::string codec_with_preset() const;
  std::string pixel_format() const;
  std::string container() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
