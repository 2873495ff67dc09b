#pragma once

#include <string>

#include "io/media/writer.h"

namespace limpid::io {

/// Writes a file that has this text: to a temporary name, then renamed. Throws Error with a sentence that
/// names the file.
void write_text(const std::string& path, const std::string& text, Overwrite overwrite = Overwrite::kNever);

}  // namespace limpid::io
