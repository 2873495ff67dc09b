#pragma once

// What a file cannot keep of its source. Private to io.

#include <string>
#include <vector>

#include "io/media/diagnostic.h"
#include "io/media/libav.h"
#include "io/media/source.h"
#include "io/media/writer/sink.h"

namespace limpid::io {

void report_loss(Diagnostics& diagnostics, std::string text);
/// Reports a `stream` of the source, by its index, that the file does not have.
void report_left_out(Diagnostics& diagnostics, unsigned stream, std::string text);

/// What losses depend on beside the source.
struct LossTarget {
  const AVOutputFormat& container;
  const AVCodec& codec;
  AVPixelFormat pixel_format = AV_PIX_FMT_NONE;
  bool keeps_profile = true;     ///< the source's color profile suits the pixel format
  bool is_picture_file = false;  ///< the picture's file can be changed before it has its name
};

/// A sentence about each loss: chapters, timecode, dynamic HDR, packing of 3D, metadata of pictures.
std::vector<std::string> losses(const Source& source, const LossTarget& target);

/// Reports them. `is_picture_file`: each picture is a file that can be changed before it has its name.
void report_losses(Diagnostics& diagnostics, const Source& source, const Target& target,
                   bool is_picture_file);

}  // namespace limpid::io
