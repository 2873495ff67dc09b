// SPDX-License-Identifier: MIT
// Properties of demuxers that libav does not report, and the contents of Matroska and MP4 headers that libav
// does not report. Private to io.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

/// Maximum plausible frame rate. libav reports the resolution of the container's clock if it has no other
/// information.
inline constexpr int kGreatestRate = 480;

/// Properties of a container for reading. A default object describes a demuxer without peculiarities.
struct InputTraits {
  enum class End : std::uint8_t { kNone, kGif, kPng, kOgg, kTs };

  std::string_view name;  ///< the first of the demuxer's names
  bool is_matroska = false;
  bool is_mp4 = false;
  bool is_image2 = false;         ///< single pictures or image sequences in files
  bool draws_text = false;        ///< renders text as video; text files are not opened with it
  bool counts_frames = false;     ///< the declared length is a number of frames
  bool exact_length = false;      ///< the declared length is exact
  bool hides_errors = false;      ///< the demuxer reports no error of reading
  bool has_steady_clock = false;  ///< although its clock may jump: gaps indicate missing frames
  bool has_loops = false;         ///< an animation with a number of loops
  End end = End::kNone;           ///< the mark that ends a file
};

const InputTraits& traits_of(const AVInputFormat& format);

/// True for raw streams, which have no container and no times.
inline bool is_raw(const AVInputFormat& format) { return (format.flags & AVFMT_NOTIMESTAMPS) != 0; }

inline bool is_mp4(const AVInputFormat& format) { return traits_of(format).is_mp4; }

/// True for demuxers whose clock may jump, such as those of broadcasts.
inline bool has_jumps(const AVInputFormat& format) { return (format.flags & AVFMT_TS_DISCONT) != 0; }

/// True for demuxers of single pictures or image sequences.
inline bool reads_pictures(const AVInputFormat& format) {
  return traits_of(format).is_image2 || std::string_view(format.name).ends_with("_pipe");
}

/// True if gaps in the times of the video indicate missing frames. Live streams and pictures have no steady
/// clock. In transport streams, gaps without a lost packet are intended; program streams do not count
/// packets.
inline bool has_steady_clock(const AVInputFormat& format) {
  const bool may_pause = has_jumps(format) && !traits_of(format).has_steady_clock;
  return !may_pause && (format.flags & AVFMT_NOFILE) == 0 && !is_raw(format) && !is_device(format);
}

/// An element of Matroska or a box of MP4: its name and the positions of its content.
struct Part {
  std::uint32_t name = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_whole = false;  ///< its size is known, and it ends within its parent
};

/// Reads the parts of a file that can seek, which may be damaged or hostile: parts end with their parents,
/// and the number of parts that are read is limited.
class ContainerHeader {
 public:
  enum class Kind { kMatroska, kMp4 };

  ContainerHeader(AVIOContext& bytes, Kind kind)
      : bytes_(bytes), kind_(kind), file_{.end = std::max<std::int64_t>(avio_size(&bytes), 0)} {}

  const Part& file() const { return file_; }
  /// Calls `visit` for the parts of `parent`, until it returns false or a part is damaged.
  template <typename Visit>
  void for_each(const Part& parent, Visit visit) {
    Part part;
    for (std::int64_t at = parent.begin; at < parent.end && read_part(at, parent.end, part); at = part.end) {
      if (!visit(part)) {
        return;
      }
    }
  }
  /// The first part of this name; an empty part if there is none.
  Part find(const Part& parent, std::uint32_t name);

  /// Goes to `offset` in a part. Returns false unless the part has `length` bytes there.
  bool go_to(const Part& part, std::int64_t offset, std::int64_t length);
  std::uint32_t read_32() { return avio_rb32(&bytes_); }
  int read_16() { return static_cast<int>(avio_rb16(&bytes_)); }
  /// The content of a part as an unsigned integer, limited to INT_MAX.
  std::int64_t number(const Part& part);

 private:
  bool read_part(std::int64_t at, std::int64_t limit, Part& part);

  AVIOContext& bytes_;
  Kind kind_;
  Part file_;
  int parts_ = 0;
};

/// The name of a box of MP4.
constexpr std::uint32_t name_of_box(const char (&text)[5]) {
  return static_cast<std::uint32_t>(MKBETAG(text[0], text[1], text[2], text[3]));
}

/// Bytes behind the last box of an MP4, such as the motion data of a camera; 0 for other files and those that
/// cannot seek. Restores the position.
std::int64_t bytes_behind_boxes(AVFormatContext& input);

// Cropping that containers request: Matroska's PixelCrop elements, and the clean aperture ("clap") of MP4 and
// QuickTime. libav reports it from FFmpeg 7.1 on; this reader is used for all versions.

/// Samples at the edges of a picture that are not shown.
struct Cropping {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t right = 0;
  std::int64_t bottom = 0;
  bool operator==(const Cropping&) const = default;
};

/// The cropping of a video according to its container's header, which may be damaged: nothing is checked
/// against the size of the pictures.
struct ContainerCropping {
  int width = 0;  ///< of the pictures before cropping
  int height = 0;
  /// Fractions are rounded inward. A negative value is beyond the picture.
  Cropping edges;
  /// The pixel aspect ratio that shows the cropped picture in the container's display size; 0/1 if the
  /// container has none, and libav's ratio is right. libav may compute it for the picture before cropping.
  AVRational sample_aspect_ratio{0, 1};
};

/// Reads the cropping of a video from the header of a file; nothing if the container requests none, its
/// header is damaged, or the source cannot seek. Does not change the position in the source.
std::optional<ContainerCropping> find_container_cropping(AVFormatContext& input, const AVStream& video);

/// The time by which the duration of a stream in a fragmented MP4 exceeds the duration of its frames, in the
/// stream's time base. libav counts the duration from zero, but the fragments of a live stream may begin
/// hours later.
std::int64_t time_before_fragments(const AVFormatContext& input, const AVStream& video);

/// The length of a file's video according to its header, for the detection of truncated files.
class DeclaredLength {
 public:
  /// Reads the header's values. Must be called after avformat_open_input() and before
  /// avformat_find_stream_info(), which estimates missing values.
  void note(AVFormatContext& input);

  /// Microseconds from the source's first time to the end of the video; nothing if the header does not
  /// contain it. If `of_container`, the time to the end of the longest stream.
  struct Length {
    std::int64_t microseconds = 0;
    bool of_container = false;
    bool is_exact = false;  ///< a number of frames
  };
  std::optional<Length> of(const AVFormatContext& input, const AVStream& video) const;

 private:
  std::vector<std::int64_t> stream_durations_;  ///< durations of the streams, in their time bases
  bool is_whole_matroska_ = false;              ///< the file has all bytes that its header declares
};

}  // namespace limpid::io
