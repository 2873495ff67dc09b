// SPDX-License-Identifier: MIT
#pragma once

// What io and app use of POSIX, by its names. On Windows, functions of this file do the same by those of the
// system: names are in UTF-8 and have any length, files are binary, and open files can be renamed and
// removed.

#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <sys/types.h>
#else
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#ifdef _WIN32
// Values of flags that the system lacks. The functions below know those that are not 0.
#define O_CLOEXEC 0
#define O_DIRECTORY 0
#define O_NOFOLLOW 0x4000000
#define O_NONBLOCK 0
#define LOCK_EX 0
#define LOCK_NB 0
#define S_ISVTX 0
#define NAME_MAX 255
#ifndef EDQUOT
#define EDQUOT ENOSPC
#endif
#endif

namespace limpid::posix {

#ifdef _WIN32

struct Stat {
  unsigned st_mode = 0;
  std::int64_t st_size = 0;
  std::uint64_t st_dev = 0;
  std::uint64_t st_ino = 0;
  int st_uid = 0;
  int st_gid = 0;
  timespec st_mtim{};
};
using Mode = unsigned;
using Device = std::uint64_t;
using Inode = std::uint64_t;

int open(const char* path, int flags, Mode permissions = 0);
int close(int file);
std::ptrdiff_t read(int file, void* data, std::size_t size);
std::ptrdiff_t pread(int file, void* data, std::size_t size, std::int64_t at);
std::ptrdiff_t write(int file, const void* data, std::size_t size);
std::int64_t lseek(int file, std::int64_t offset, int whence);
FILE* fdopen(int file, const char* mode);
int fileno(FILE* file);
int fseeko(FILE* file, std::int64_t offset, int whence);
std::int64_t ftello(FILE* file);
int fsync(int file);
int syncfs(int file);
int fstat(int file, Stat* status);
int stat(const char* path, Stat* status);
int lstat(const char* path, Stat* status);
int access(const char* path, int kind);
int unlink(const char* path);
int mkdir(const char* path, Mode permissions);
int rmdir(const char* path);
int rename(const char* from, const char* to);
/// Locks a file, without waiting. Ends when the file is closed.
int flock(int file, int operation);
int isatty(int file);
int getpid();
int setenv(const char* name, const char* value, int overwrite);

#else

using Stat = struct ::stat;
using Mode = ::mode_t;
using Device = ::dev_t;
using Inode = ::ino_t;
using ::access;
using ::close;
using ::fdopen;
using ::fileno;
using ::flock;
using ::fseeko;
using ::fstat;
using ::fsync;
using ::ftello;
using ::getpid;
using ::isatty;
using ::lseek;
using ::lstat;
using ::mkdir;
using ::open;
using ::pread;
using ::read;
using ::rename;
using ::rmdir;
using ::setenv;
using ::stat;
using ::syncfs;
using ::unlink;
using ::write;

#endif

/// True if a folder with open files can be neither renamed nor removed.
#ifdef _WIN32
constexpr bool kOpenFilesKeepFolders = true;
#else
constexpr bool kOpenFilesKeepFolders = false;
#endif

// What POSIX lacks, or the systems do in different ways. Unless otherwise stated, functions return false, and
// set errno, if they fail.

/// Renames a file or folder. Fails with EEXIST if the new name exists, which is not replaced.
bool rename_to_new(const char* from, const char* to);
/// Sets the time of the last change to the clock of the file system.
bool touch(int file);
/// True if no process has this number.
bool is_ended(int process);
/// Tells where process numbers mean the same: on one machine, since it was started, in one container.
std::string process_space();
/// The name of this machine in a network; may be empty.
std::string host_name();
/// Bytes that this user may still write to the disk of a folder; 0 if they are not known.
std::uint64_t free_space(const char* folder);
/// Makes a file without a name, or with one that vanishes when the file is closed, even if this process is
/// killed. Returns -1 if it fails.
int make_nameless_file(const std::string& folder);
/// Reserves `size` bytes on the disk for a file.
bool allocate(int file, std::int64_t size);
/// The greatest size that this process may give to a file; INT64_MAX without a limit.
std::int64_t greatest_file_size();
/// True if `file` is kept from this user by its folder, as in /tmp.
bool is_kept_by_folder(const char* file, const char* folder);
/// Gives an open file the owner and the permissions of a file that it replaces.
bool take_over_permissions(int file, const Stat& replaced);
/// Opens standard output once more, if it is a pipe, such that full pipes do not block it. Returns -1
/// otherwise.
int reopen_standard_output();
/// Waits until a file can be read or written without waiting, at most some milliseconds. True also at the end
/// of a file.
bool wait_to_read(int file, int milliseconds);
bool wait_to_write(int file, int milliseconds);

}  // namespace limpid::posix
