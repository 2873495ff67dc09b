#pragma once

#include <string>

#include "io/media/writer.h"

namespace limpid::io {

/// Writes a file with this text: to a temporary name, then renamed. Throws an Error that names the file.
void write_text(const std::string& path, const std::string& text, Overwrite overwrite = Overwrite::kNever);

}  // namespace limpid::io
