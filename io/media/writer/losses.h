// SPDX-License-Identifier: MIT
#pragma once

// Properties of a source that a file cannot keep. Private to io.

#include <string>
#include <vector>

#include "io/media/diagnostic.h"
#include "io/media/libav.h"
#include "io/media/source.h"
#include "io/media/writer/sinks.h"

namespace limpid::io {

inline constexpr const char* kLostStack =
    "the source's description of its stack (ImageJ, OME, tifffile) is not kept: it would not hold";

void report_loss(Diagnostics& diagnostics, std::string text);
/// Reports a `stream` of the source, by its index, that the file does not contain.
void report_left_out(Diagnostics& diagnostics, unsigned stream, std::string text);

/// Throws Error for a source whose colors no output could describe: Dolby Vision without a base layer that
/// other players show.
void require_displayable(const Source& source);

/// See Writer::advice().
std::string output_advice(const Source& source, const AVCodecContext& encoder,
                          const AVOutputFormat& container, const WriterOptions& options);

/// The properties of the output that losses depend on.
struct LossTarget {
  const AVOutputFormat& container;
  const AVCodec& codec;
  AVPixelFormat pixel_format = AV_PIX_FMT_NONE;
  bool keeps_profile = true;     ///< the source's color profile matches the pixel format
  bool is_picture_file = false;  ///< the picture's file can be changed before it is renamed
  bool has_film_grain = false;   ///< decoders of the output add film grain
  int width = 0;
  int height = 0;
  bool is_stack = false;  ///< one file has all pictures
};

/// Messages about losses: chapters, timecode, dynamic HDR, stereo 3D packing, metadata of pictures.
std::vector<std::string> losses(const Source& source, const LossTarget& target);
/// Messages about data outside of the decoded pictures, and about their range of samples.
std::vector<std::string> lost_data(const Source& source, const LossTarget& target);

/// Reports losses. `is_picture_file`: each picture is a separate file that can be changed before it is
/// renamed.
void report_losses(Diagnostics& diagnostics, const Source& source, const Target& target,
                   bool is_picture_file);

}  // namespace limpid::io
