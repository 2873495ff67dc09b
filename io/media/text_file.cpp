#include "io/media/text_file.h"

#include "io/media/libav.h"
#include "io/media/output_file.h"

namespace limpid::io {

void write_text(const std::string& path, const std::string& text, Overwrite overwrite) {
  OutputFile file(path, "", overwrite);
  avio_write(file.bytes(), reinterpret_cast<const unsigned char*>(text.data()),
             static_cast<int>(text.size()));
  file.commit();
}

}  // namespace limpid::io
