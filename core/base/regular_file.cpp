// SPDX-License-Identifier: MIT
#include "core/base/regular_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace limpid {

std::string read_regular_file(const std::string& path, std::size_t most) {
  constexpr std::size_t kPart = 65536;
  const FileDescriptor file = open_regular_file(path);
  std::string text;
  std::string part(kPart, '\0');
  for (;;) {
    const std::ptrdiff_t count = read_some(file, part.data(), std::min(part.size(), most + 1));
    if (count == 0) {
      return text;
    }
    if (count > 0) {
      text.append(part, 0, static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw Error(path + ": " + std::strerror(errno));
    }
    if (text.size() > most) {
      constexpr std::size_t kKibibyte = 1024;
      throw Error(path + ": is larger than " + std::to_string(most / kKibibyte) + " KiB");
    }
  }
}

}  // namespace limpid
