// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace limpid::io {

/// A problem or loss that a Reader or Writer reports for the user, and that did not stop it.
struct Diagnostic {
  /// Ordered by importance.
  enum class Kind : std::uint8_t {
    /// Writer, from the start: properties that cannot be kept ("mkv can't hold the source's timecode (...)")
    /// or had to be guessed.
    kLoss,
    /// Writer, from the start: data of the source outside of its decoded pictures that is not kept.
    kLostData,
    /// Writer, from the start: a `stream` of the source that is missing in the file, although it should be
    /// copied.
    kLeftOut,
    /// The cause of an early end of the source, such as a disconnected camera, a lost connection, or a
    /// program that wrote an incomplete frame to a pipe.
    kFailure,
    /// A fault in a file that prevents reading its container any further. Later content is missing.
    kDamage,
    /// The missing part of a file that has been read to its end, such as "it ends after 3.2 s of the 10 s
    /// that its header declares".
    kShortfall,
    /// `count` missing frames in the middle of the stream, and their position: "3 frames are missing between
    /// 1.20 s and 1.32 s".
    kMissingFrames,
    /// The demuxer has reported errors in `count` places of the file and continued after them; the text is
    /// the first error.
    kContainerErrors,
    /// The decoder has logged errors for `count` packets; the text is the first error. Frames may be damaged
    /// or missing.
    kDecoderErrors,
    /// Reader: `count` packets that could not be decoded. Writer: `count` damaged packets of copied streams.
    /// Both are omitted.
    kDamagedPackets,
    /// `count` frames in which the decoder concealed lost parts.
    kDamagedFrames,
    /// `count` frames that do not match their checksums in the stream.
    kWrongChecksums,
    /// `count` frames whose times contradict those around them, and which got times between their neighbors.
    kWrongTimes,
    /// `count` frames whose size, pixel format, range or matrix differed from the first frame's, and which
    /// were converted.
    kConvertedFrames,
    /// Writer: properties of later frames that cannot be kept, such as captions that begin late.
    kLateLoss,
    /// A change of interlacing relative to the first frame, such as "from frame 12 on it is interlaced,
    /// bottom field first".
    kScanChange,
    /// A change of the pixel aspect ratio, transfer or primaries relative to the first frame, such as "from
    /// frame 12 on its pixel aspect ratio is 16:11 instead of 12:11".
    kAspectChange,
    kColorChange,
    /// A request of the container to crop the pictures that is ignored, and the reason.
    kIgnoredCropping,
    /// The cropping that has been applied, such as "its pictures are cropped from 1920x1088 to 1920x1080
    /// (...)".
    kCropping,
  };

  Kind kind;
  std::string text;                     ///< text of the diagnostic; empty if `count` suffices
  std::int64_t count = 0;               ///< number of packets or frames so far
  std::optional<unsigned> stream = {};  ///< index of the stream in the source
};

/// The Reader reports at most one diagnostic of each kind. The Writer may report several losses and missing
/// streams.
using Diagnostics = std::vector<Diagnostic>;

/// The text of the first diagnostic of a kind; empty if there is none.
std::string text_of(const Diagnostics& diagnostics, Diagnostic::Kind kind);

/// The number of packets or frames of a kind.
std::int64_t count_of(const Diagnostics& diagnostics, Diagnostic::Kind kind);

/// All texts. Streams that are left out for the same reason have one.
std::vector<std::string> texts_of(const Diagnostics& diagnostics);

/// Indices of the source's streams that are missing in the file, although they should be copied.
std::vector<unsigned> streams_left_out(const Diagnostics& diagnostics);

/// All diagnostics of a source and of its output, ordered by kind, with counts added.
Diagnostics merged(const Diagnostics& of_reader, const Diagnostics& of_writer);

}  // namespace limpid::io
