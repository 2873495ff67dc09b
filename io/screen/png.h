// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "io/media/writer.h"
#include "io/screen/rgb_image.h"

namespace limpid::io {

/// Writes a picture, without its alpha, as an 8-bit RGB PNG file: to a temporary name, then renamed. Throws
/// Error with a sentence that names the file.
void write_png(const std::string& path, const RgbImage& image, Overwrite overwrite = Overwrite::kNever);

}  // namespace limpid::io
