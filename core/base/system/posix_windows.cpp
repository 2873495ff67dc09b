// SPDX-License-Identifier: MIT
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// After windows.h:
#include <io.h>
#include <process.h>

#include <algorithm>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <utility>

#include "core/base/system.h"
#include "core/base/system/posix.h"
#include "core/base/system/windows_path.h"

namespace limpid::posix {
namespace {

using std::filesystem::path;

/// Sets errno, and returns -1.
int failed(DWORD code = GetLastError()) {
  switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
    case ERROR_INVALID_DRIVE:
      errno = ENOENT;
      break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      errno = EEXIST;
      break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      errno = ENOSPC;
      break;
    case ERROR_DIR_NOT_EMPTY:
      errno = ENOTEMPTY;
      break;
    case ERROR_LOCK_VIOLATION:
      errno = EWOULDBLOCK;
      break;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
      errno = EPIPE;
      break;
    case ERROR_FILENAME_EXCED_RANGE:
      errno = ENAMETOOLONG;
      break;
    case ERROR_DIRECTORY:
      errno = ENOTDIR;
      break;
    case ERROR_NOT_ENOUGH_MEMORY:
      errno = ENOMEM;
      break;
    case ERROR_INVALID_FUNCTION:
    case ERROR_NOT_SUPPORTED:
      errno = ENOTSUP;
      break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_WRITE_PROTECT:
      errno = EACCES;
      break;
    default:
      errno = EIO;
  }
  return -1;
}

int result(BOOL done) { return done != FALSE ? 0 : failed(); }

HANDLE handle_of(int file) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): handles are numbers here and pointers there
  return reinterpret_cast<HANDLE>(::_get_osfhandle(file));
}

class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (*this) {
      CloseHandle(handle_);
    }
  }
  explicit operator bool() const { return handle_ != INVALID_HANDLE_VALUE && handle_ != nullptr; }
  HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, INVALID_HANDLE_VALUE); }

 private:
  HANDLE handle_;
};

// Others may rename or remove the file while it is open, as on POSIX systems.
constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

Handle open_file(const path& file, DWORD access, DWORD creation, DWORD flags) {
  return Handle(CreateFileW(system_path(file).c_str(), access, kShared, nullptr, creation, flags, nullptr));
}

int descriptor_of(Handle handle, int flags) {
  if (!handle) {
    return failed();
  }
  const int file = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle.get()), flags | _O_BINARY);
  if (file >= 0) {
    handle.release();
  }
  return file;
}

timespec time_of(FILETIME time) {
  constexpr std::uint64_t kTicks = 10'000'000;                // in a second
  constexpr std::uint64_t kTicksTo1970 = 116444736000000000;  // from 1601
  const std::uint64_t ticks = (std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) - kTicksTo1970;
  return {static_cast<time_t>(ticks / kTicks), static_cast<long>(ticks % kTicks * 100)};
}

int status_of(HANDLE handle, Stat& status) {
  BY_HANDLE_FILE_INFORMATION information{};
  if (GetFileType(handle) != FILE_TYPE_DISK) {
    status = {};
    status.st_mode = GetFileType(handle) == FILE_TYPE_PIPE ? _S_IFIFO : _S_IFCHR;
    return 0;
  }
  if (GetFileInformationByHandle(handle, &information) == FALSE) {
    return failed();
  }
  const DWORD attributes = information.dwFileAttributes;
  const bool is_folder = (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  const unsigned permissions = (attributes & FILE_ATTRIBUTE_READONLY) != 0 ? 0444 : 0666;
  status = {};
  status.st_mode = (is_folder ? _S_IFDIR : _S_IFREG) | permissions;
  status.st_size =
      static_cast<std::int64_t>(std::uint64_t{information.nFileSizeHigh} << 32 | information.nFileSizeLow);
  status.st_dev = information.dwVolumeSerialNumber;
  status.st_ino = std::uint64_t{information.nFileIndexHigh} << 32 | information.nFileIndexLow;
  status.st_mtim = time_of(information.ftLastWriteTime);
  return 0;
}

int status_of(const char* name, Stat& status, DWORD flags) {
  const Handle handle =
      open_file(path_of(name), FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags);
  return handle ? status_of(handle.get(), status) : failed();
}

bool is_folder_name(const path& file) {
  const DWORD attributes = GetFileAttributesW(file.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

OVERLAPPED place(std::int64_t at) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(at);
  place.OffsetHigh = static_cast<DWORD>(at >> 32);
  return place;
}

/// One call of the system handles at most so many bytes.
DWORD limited(std::size_t size) {
  return static_cast<DWORD>(std::min<std::size_t>(size, std::size_t{1} << 30));
}

}  // namespace

int open(const char* name, int flags, Mode /*permissions*/) {
  const path file = path_of(name);
  const bool is_folder = is_folder_name(system_path(file));
  const int kind = flags & (_O_RDONLY | _O_WRONLY | _O_RDWR);
  const DWORD access = kind == _O_WRONLY ? GENERIC_WRITE | FILE_READ_ATTRIBUTES
                       : kind == _O_RDWR ? GENERIC_READ | GENERIC_WRITE
                                         : GENERIC_READ;
  const DWORD creation = (flags & _O_CREAT) == 0   ? OPEN_EXISTING
                         : (flags & _O_EXCL) != 0  ? CREATE_NEW
                         : (flags & _O_TRUNC) != 0 ? CREATE_ALWAYS
                                                   : OPEN_ALWAYS;
  const DWORD links = (flags & O_NOFOLLOW) != 0 ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
  return descriptor_of(open_file(file, access, creation,
                                 links | (is_folder ? FILE_FLAG_BACKUP_SEMANTICS : FILE_ATTRIBUTE_NORMAL)),
                       kind);
}

int close(int file) { return ::_close(file); }
std::ptrdiff_t read(int file, void* data, std::size_t size) { return ::_read(file, data, limited(size)); }

std::ptrdiff_t pread(int file, void* data, std::size_t size, std::int64_t at) {
  OVERLAPPED from = place(at);
  DWORD count = 0;
  if (ReadFile(handle_of(file), data, limited(size), &count, &from) == FALSE) {
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : failed();
  }
  return count;
}

std::ptrdiff_t write(int file, const void* data, std::size_t size) {
  DWORD count = 0;
  return WriteFile(handle_of(file), data, limited(size), &count, nullptr) != FALSE ? std::ptrdiff_t{count}
                                                                                   : failed();
}

std::int64_t lseek(int file, std::int64_t offset, int whence) { return ::_lseeki64(file, offset, whence); }
FILE* fdopen(int file, const char* mode) { return ::_fdopen(file, mode); }
int fileno(FILE* file) { return ::_fileno(file); }
int fseeko(FILE* file, std::int64_t offset, int whence) { return ::_fseeki64(file, offset, whence); }
std::int64_t ftello(FILE* file) { return ::_ftelli64(file); }

int fsync(int file) {
  Stat status;
  // Folders cannot be flushed. The system writes new names with its journal.
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? result(FlushFileBuffers(handle_of(file))) : 0;
}

int syncfs(int /*file*/) { return 0; }
int fstat(int file, Stat* status) { return status_of(handle_of(file), *status); }
int stat(const char* name, Stat* status) { return status_of(name, *status, 0); }
int lstat(const char* name, Stat* status) { return status_of(name, *status, FILE_FLAG_OPEN_REPARSE_POINT); }
int access(const char* name, int kind) { return ::_waccess(system_path(path_of(name)).c_str(), kind); }

int unlink(const char* name) {
  const path file = system_path(path_of(name));
  if (is_folder_name(file)) {
    errno = EISDIR;
    return -1;
  }
  return result(DeleteFileW(file.c_str()));
}

int mkdir(const char* name, Mode /*permissions*/) {
  return result(CreateDirectoryW(system_path(path_of(name)).c_str(), nullptr));
}
int rmdir(const char* name) { return result(RemoveDirectoryW(system_path(path_of(name)).c_str())); }

int rename(const char* from, const char* to) {
  return result(MoveFileExW(system_path(path_of(from)).c_str(), system_path(path_of(to)).c_str(),
                            MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH));
}

int flock(int file, int /*operation*/) {
  OVERLAPPED behind = place(INT64_MAX - 1);  // locks forbid reading what they cover
  return result(
      LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &behind));
}

int isatty(int file) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(file), &mode) != FALSE ? 1 : 0;
}

int getpid() { return ::_getpid(); }

int setenv(const char* name, const char* value, int overwrite) {
  return overwrite == 0 && std::getenv(name) != nullptr ? 0 : ::_putenv_s(name, value);
}

bool rename_to_new(const char* from, const char* to) {
  return result(MoveFileExW(system_path(path_of(from)).c_str(), system_path(path_of(to)).c_str(),
                            MOVEFILE_WRITE_THROUGH)) == 0;
}

bool touch(int file) {
  FILETIME now{};
  GetSystemTimeAsFileTime(&now);
  return result(SetFileTime(handle_of(file), nullptr, nullptr, &now)) == 0;
}

bool is_ended(int process) {
  const Handle running(OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process)));
  return running ? WaitForSingleObject(running.get(), 0) == WAIT_OBJECT_0
                 : GetLastError() == ERROR_INVALID_PARAMETER;
}

std::string process_space() { return "windows " + host_name(); }

std::string host_name() {
  std::wstring name(256, L'\0');
  auto size = static_cast<DWORD>(name.size());
  name.resize(GetComputerNameW(name.data(), &size) != FALSE ? size : 0);
  return text_of(name);
}

std::uint64_t free_space(const char* folder) {
  ULARGE_INTEGER available{};
  return GetDiskFreeSpaceExW(system_path(path_of(folder)).c_str(), &available, nullptr, nullptr) != FALSE
             ? available.QuadPart
             : 0;
}

int make_nameless_file(const std::string& folder) {
  const path file = path_of(folder) / (".limpid-" + std::to_string(getpid()) + "-" +
                                       std::to_string(GetTickCount64()) + "-reserve");
  return descriptor_of(
      open_file(file, GENERIC_WRITE | DELETE, CREATE_NEW, FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE),
      _O_WRONLY);
}

bool allocate(int file, std::int64_t size) {
  FILE_ALLOCATION_INFO information{};
  information.AllocationSize.QuadPart = size;
  return result(SetFileInformationByHandle(handle_of(file), FileAllocationInfo, &information,
                                           sizeof information)) == 0;
}

std::int64_t greatest_file_size() { return INT64_MAX; }
bool is_kept_by_folder(const char* /*file*/, const char* /*folder*/) { return false; }
bool take_over_permissions(int /*file*/, const Stat& /*replaced*/) { return true; }

int reopen_standard_output() { return -1; }

bool wait_to_read(int file, int milliseconds) {
  const HANDLE handle = handle_of(file);
  if (isatty(file) == 1) {
    return WaitForSingleObject(handle, static_cast<DWORD>(milliseconds)) == WAIT_OBJECT_0;
  }
  constexpr int kPause = 5;
  for (int waited = 0; GetFileType(handle) == FILE_TYPE_PIPE; waited += kPause) {
    DWORD available = 0;
    if (PeekNamedPipe(handle, nullptr, 0, nullptr, &available, nullptr) == FALSE || available > 0) {
      return true;  // or at the end
    }
    if (waited >= milliseconds) {
      return false;
    }
    Sleep(kPause);
  }
  return true;
}

bool wait_to_write(int /*file*/, int /*milliseconds*/) { return true; }

}  // namespace limpid::posix

// Called instead of mbrtowc() in the program, which is linked with --wrap=mbrtowc. libstdc++ makes a
// std::filesystem::path of a narrow text by it, and the C locale would take each byte for a character. Texts
// are in UTF-8 here. A character above U+FFFF is returned in two calls, with the second half in the state.
extern "C" std::size_t __wrap_mbrtowc(wchar_t* to, const char* from, std::size_t size,
                                      std::mbstate_t* state) {
  constexpr auto kIncomplete = static_cast<std::size_t>(-2);
  constexpr auto kInvalid = static_cast<std::size_t>(-1);
  if (*state != 0) {
    *to = static_cast<wchar_t>(std::exchange(*state, 0));
    return 1;
  }
  const unsigned lead = size > 0 ? static_cast<unsigned char>(*from) : 0;
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size < length) {
    return kIncomplete;
  }
  wchar_t units[2]{};
  const int count =
      MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, from, static_cast<int>(length), units, 2);
  if (count == 0) {
    errno = EILSEQ;
    return kInvalid;
  }
  *to = units[0];
  *state = count == 2 ? units[1] : 0;
  return lead == 0 ? 0 : count == 2 ? length - 1 : length;
}
