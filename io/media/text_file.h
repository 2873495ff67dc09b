// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "io/media/writer.h"

namespace limpid::io {

/// Writes `text` to a file, which has a temporary name until it is complete. Throws an Error that names the
/// file.
void write_text(const std::string& path, const std::string& text, Overwrite overwrite = Overwrite::kNever);

}  // namespace limpid::io
