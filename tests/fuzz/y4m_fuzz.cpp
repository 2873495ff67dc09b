// SPDX-License-Identifier: MIT
// The reader with its simplest format: headers of all kinds, truncated frames, damaged marks.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "core/base/error.h"
#include "io/media/libav_setup.h"
#include "io/media/reader.h"

namespace limpid::io {
namespace {

void read_all(const std::string& url) {
  ReaderOptions options;
  options.input_format = "yuv4mpegpipe";
  options.decoder_threads = 1;
  Reader reader(url, options);
  while (!std::holds_alternative<Reader::End>(reader.read())) {
  }
  static_cast<void>(reader.diagnostics());
}

}  // namespace
}  // namespace limpid::io

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);  // NOLINT: libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  static const int file = [] {
    limpid::io::take_over_logs();  // keeps messages off the terminal
    return memfd_create("clip.y4m", MFD_CLOEXEC);
  }();
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    return 0;
  }
  try {
    limpid::io::read_all("/proc/self/fd/" + std::to_string(file));
  } catch (const limpid::Error&) {  // NOLINT(bugprone-empty-catch): a sentence is the right answer
  }
  return 0;
}
