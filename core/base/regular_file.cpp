// SPDX-License-Identifier: MIT
#include "core/base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace limpid {
namespace {

[[noreturn]] void fail_for_errno(const std::string& path) { throw Error(path + ": " + std::strerror(errno)); }

[[noreturn]] void fail_as_too_large(const std::string& path, std::size_t most) {
  constexpr std::size_t kKibibyte = 1024;
  throw Error(path + ": is larger than " + std::to_string(most / kKibibyte) + " KiB");
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

FileDescriptor open_regular_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    fail_for_errno(path);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(path + (S_ISDIR(status.st_mode) ? ": is a folder, not a file" : ": is not a regular file"));
  }
  return file;
}

std::string read_regular_file(const std::string& path, std::size_t most) {
  const FileDescriptor file = open_regular_file(path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    fail_for_errno(path);
  }
  if (static_cast<std::size_t>(status.st_size) > most) {
    fail_as_too_large(path, most);
  }
  // Files of /proc report a size of 0, and any file may grow while it is read.
  std::string text;
  std::string part(std::max<std::size_t>(static_cast<std::size_t>(status.st_size) + 1, 4096), '\0');
  for (;;) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count == 0) {
      return text;
    }
    if (count > 0) {
      text.append(part, 0, static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      fail_for_errno(path);
    }
    if (text.size() > most) {
      fail_as_too_large(path, most);
    }
  }
}

}  // namespace limpid
