#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace limpid::io {

/// What a Reader or Writer has noticed that a user may want to know, and that has stopped neither.
struct Diagnostic {
  /// In the order in which they are worth telling.
  enum class Kind : std::uint8_t {
    /// Of the Writer, from the start: what can't be kept ("mkv can't hold the source's timecode (...)") or
    /// had
    /// to be guessed.
    kLoss,
    /// Likewise, a `stream` of the source's that the file should have and doesn't.
    kLeftOut,
    /// What has ended the source before its end, such as a camera that was unplugged, a connection that broke
    /// off, or a program that wrote half a frame to a pipe.
    kFailure,
    /// What is wrong with a file beyond which its container can't be followed any more, so that what it may
    /// have behind is missing.
    kDamage,
    /// Of a file that has been read to its end: how it lacks a part, such as "it ends after 3.2 s of the 10 s
    /// that its header tells".
    kShortfall,
    /// `count` frames that are missing in the middle, and where: "3 frames are missing between 1.20 s and
    /// 1.32 s".
    kMissingFrames,
    /// The demuxer has reported errors in `count` places of the file and read on behind them; the text is the
    /// first of them.
    kContainerErrors,
    /// Of the Reader, `count` packets that could not be decoded. Of the Writer, `count` packets to copy that
    /// turned out to be damaged. Both leave them out.
    kDamagedPackets,
    /// `count` frames of which the decoder has lost a part and put something in its place.
    kDamagedFrames,
    /// `count` frames that do not match the checksums that the stream has of them.
    kWrongChecksums,
    /// `count` frames whose size, pixel format, range or matrix was not the first one's, and which were
    /// converted
    /// to that.
    kConvertedFrames,
    /// Of the Writer: what can't be kept of what only later frames have, such as captions that begin then.
    kLateLoss,
    /// How frames are interlaced otherwise than the first says of all, such as "from frame 12 on it is
    /// interlaced, bottom field first".
    kScanChange,
    /// A pixel aspect ratio, transfer or primaries other than the first frame's, such as "from frame 12 on
    /// its pixel
    /// aspect ratio is 16:11 instead of 12:11".
    kAspectChange,
    kColorChange,
  };

  Kind kind;
  std::string text;                     ///< empty where `count` says all
  std::int64_t count = 0;               ///< of packets or frames so far
  std::optional<unsigned> stream = {};  ///< by its index in the source
};

/// At most one of each kind of the Reader's; losses and streams that are left out come one by one.
using Diagnostics = std::vector<Diagnostic>;

/// The text of the first of a kind; empty if there is none.
std::string text_of(const Diagnostics& diagnostics, Diagnostic::Kind kind);

/// Packets or frames of a kind.
std::int64_t count_of(const Diagnostics& diagnostics, Diagnostic::Kind kind);

/// All texts.
std::vector<std::string> texts_of(const Diagnostics& diagnostics);

/// The source's streams, by index, that the file should have and doesn't.
std::vector<unsigned> streams_left_out(const Diagnostics& diagnostics);

/// What there is to tell of a source and of what was made of it, in the order of kinds: counts are summed.
Diagnostics merged(const Diagnostics& of_reader, const Diagnostics& of_writer);

}  // namespace limpid::io
