// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "app/commands/contact_sheet.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Writes the sheets as the frames of a video, in 4:2:0 by the default encoder of the file's container. All
/// sheets must have one size. Keeps the pictures in the folder for temporary files until the video is
/// complete. Throws Error that names the file.
void write_clip(const std::string& file, const std::vector<ContactSheet>& sheets, double frames_per_second,
                io::Overwrite overwrite);

}  // namespace limpid::app
