// SPDX-License-Identifier: MIT
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/base/system/posix.h"

namespace limpid::posix {
namespace {

bool wait_for(int file, short events, int milliseconds) {
  pollfd waiting{file, events, 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

}  // namespace

bool rename_to_new(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return false;
  }
  // The file system does not support that. Links do not replace files either.
  if (::link(from, to) == 0) {
    ::unlink(from);
    return true;
  }
  if (errno == EEXIST) {
    return false;
  }
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(to, ignored))) {
    errno = EEXIST;
    return false;
  }
  return ::rename(from, to) == 0;
}

bool touch(int file) {
  constexpr std::array<timespec, 2> kNow{timespec{0, UTIME_NOW}, timespec{0, UTIME_NOW}};
  return ::futimens(file, kNow.data()) == 0;
}

bool is_ended(int process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

std::string process_space() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string start;
  std::getline(stream, start);
  std::array<char, PATH_MAX> numbers{};
  const ssize_t size = ::readlink("/proc/self/ns/pid", numbers.data(), numbers.size());
  return start + " " + std::string(numbers.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

std::uint64_t free_space(const char* folder) {
  struct statvfs disk {};
  return ::statvfs(folder, &disk) == 0 ? std::uint64_t{disk.f_bavail} * disk.f_frsize : 0;
}

int make_nameless_file(const std::string& folder) {
  const int nameless = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (nameless >= 0) {
    return nameless;
  }
  // The file system does not support that.
  std::random_device random;
  const std::string path = folder + "/.limpid-" + std::to_string(random()) + "-reserve";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  ::unlink(path.c_str());
  return file;
}

bool allocate(int file, std::int64_t size) { return ::fallocate(file, 0, 0, size) == 0; }

std::int64_t greatest_file_size() {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX))
             : INT64_MAX;
}

bool is_kept_by_folder(const char* file, const char* folder) {
  Stat around{};
  Stat status{};
  const uid_t user = ::geteuid();
  return user != 0 && ::stat(folder, &around) == 0 && (around.st_mode & S_ISVTX) != 0 &&
         ::lstat(file, &status) == 0 && status.st_uid != user && around.st_uid != user;
}

bool take_over_permissions(int file, const Stat& replaced) {
  // Only root can change a file's owner; for other users the new file is theirs, as with any program that
  // replaces files.
  static_cast<void>(::fchown(file, replaced.st_uid, replaced.st_gid) == 0);
  constexpr mode_t kPermissions = 0777;
  return ::fchmod(file, replaced.st_mode & kPermissions) == 0;
}

int reopen_standard_output() {
  // Other owners of the descriptor may rely on blocking writes.
  Stat status{};
  return ::fstat(STDOUT_FILENO, &status) == 0 && S_ISFIFO(status.st_mode)
             ? ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
             : -1;
}

bool wait_to_read(int file, int milliseconds) { return wait_for(file, POLLIN, milliseconds); }
bool wait_to_write(int file, int milliseconds) { return wait_for(file, POLLOUT, milliseconds); }

}  // namespace limpid::posix
