// SPDX-License-Identifier: MIT
#include "io/media/text_file.h"

#include "io/media/libav.h"
#include "io/media/output_file.h"

namespace limpid::io {

void write_text(const std::string& path, const std::string& text, Overwrite overwrite) {
  OutputFile file(path, "", overwrite);
  write_bytes(*file.bytes(), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  file.commit();
}

}  // namespace limpid::io
