// SPDX-License-Identifier: MIT
#include "app/console/durable_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <functional>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "app/console/process.h"
#include "core/base/error.h"
#include "core/base/system/posix.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_at(const std::string& path, const char* what) {
  const int error = errno;
  throw Error(path + ": " + what + ": " + std::strerror(error));
}

/// Writes a new name to the disk. Some file systems cannot do this, or need not.
void sync_folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const int descriptor =
      posix::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    static_cast<void>(posix::fsync(descriptor));
    posix::close(descriptor);
  }
}

/// Writes a new file; leaves none after a failure.
void write_new_file(const std::string& path, const std::string& text) {
  const int descriptor = posix::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    fail_at(path, "can't create it");
  }
  // Not every file system supports fsync(). File systems with support report failed writes here.
  const bool written =
      write_all(descriptor, text) && (posix::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP);
  const int error = errno;
  const bool closed = posix::close(descriptor) == 0;
  if (!written || !closed) {
    errno = written ? errno : error;
    const int reason = errno;
    posix::unlink(path.c_str());
    errno = reason;
    fail_at(path, "can't write it");
  }
}

std::string make_process_name() {
  std::string name = posix::host_name();
  std::ranges::replace_if(
      name,
      [](unsigned char letter) { return letter >= 0x80 || (std::isalnum(letter) == 0 && letter != '-'); },
      '_');
  std::random_device random;
  return fmt::format("{}-{}-{:08x}", name.empty() ? "host" : name, posix::getpid(), random());
}

}  // namespace

const std::string& process_name() {
  static const std::string name = make_process_name();
  return name;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const std::ptrdiff_t count = posix::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 0)));
  }
  return true;
}

void write_durably(const std::string& path, const std::string& text) {
  const std::string temporary = path + "." + process_name() + ".tmp";
  posix::unlink(temporary.c_str());
  write_new_file(temporary, text);
  if (posix::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    posix::unlink(temporary.c_str());
    errno = error;
    fail_at(path, "can't rename the finished file");
  }
  sync_folder_of(path);
}

std::string free_path(const std::string& stem, const std::string& extension) {
  std::string path = stem + extension;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(path, ignored); ++number) {
    path = fmt::format("{}-{}{}", stem, number, extension);
  }
  return path;
}

namespace fs = std::filesystem;

StateFolder::StateFolder(const std::string& name, std::size_t most) : most_(most) {
  const std::string state = state_folder();
  if (state.empty()) {
    throw Error("nothing can be kept between runs: set HOME or XDG_STATE_HOME to a folder");
  }
  folder_ = fs::path(state) / "limpid" / name;
}

fs::path StateFolder::write(const std::string& name, const std::string& text) const {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  fs::path target = path(name);
  write_durably(target.string(), text);
  remove_oldest();
  return target;
}

void StateFolder::remove_oldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failure;
  for (fs::directory_iterator each(folder_, failure); !failure && each != fs::directory_iterator();
       each.increment(failure)) {
    std::error_code gone;
    files.emplace_back(each->last_write_time(gone), each->path());
  }
  std::ranges::sort(files, std::greater<>());
  for (std::size_t i = most_; i < files.size(); ++i) {
    fs::remove(files[i].second, failure);
  }
}

std::string digest_of(const std::string& text) {
  return fmt::format("{:016x}", std::hash<std::string>()(text));
}

}  // namespace limpid::app
