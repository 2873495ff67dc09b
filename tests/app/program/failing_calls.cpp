// SPDX-License-Identifier: MIT
// A system in which one call fails: preloaded into a program, this library lets the N-th call of one function
// fail. LIMPID_TEST_FAIL is "FUNCTION:N", such as "write:7"; with "write:7+", all later calls fail, too. With
// LIMPID_TEST_COUNTS, a file, the program writes there how often it called each function, and no call fails.
// tests/failing_calls.sh uses both.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The system's names, and those of glibc's allocator, which is needed before dlsym() works.
// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

enum Call {
  kWrite,
  kRename,
  kFsync,
  kClose,
  kLseek,
  kOpen,
  kRead,
  kUnlink,
  kMkdir,
  kThread,
  kMalloc,
  kMmap,
  kCalls
};

struct Kind {
  const char* name;
  int error;
};
constexpr std::array<Kind, kCalls> kKinds{{{"write", ENOSPC},
                                           {"rename", EACCES},
                                           {"fsync", EIO},
                                           {"close", EIO},
                                           {"lseek", EIO},
                                           {"open", EMFILE},
                                           {"read", EIO},
                                           {"unlink", EACCES},
                                           {"mkdir", EACCES},
                                           {"pthread_create", EAGAIN},
                                           {"malloc", ENOMEM},
                                           {"mmap", ENOMEM}}};

std::array<std::atomic<long>, kCalls> counts{};
Call failing = kCalls;
long failing_number = 0;
bool later_calls_fail = false;

/// Counting begins when the program's libraries have been loaded.
std::atomic<bool> is_ready = false;

__attribute__((constructor)) void begin() {
  if (const char* const wanted = std::getenv("LIMPID_TEST_FAIL")) {
    for (int call = 0; call < kCalls; ++call) {
      const std::size_t length = std::strlen(kKinds[call].name);
      if (std::strncmp(wanted, kKinds[call].name, length) == 0 && wanted[length] == ':') {
        failing = static_cast<Call>(call);
        char* rest = nullptr;
        failing_number = std::strtol(wanted + length + 1, &rest, 10);
        later_calls_fail = *rest == '+';
      }
    }
  }
  is_ready = true;
}

__attribute__((destructor)) void end() {
  is_ready = false;
  const char* const path = std::getenv("LIMPID_TEST_COUNTS");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file != nullptr) {
    for (int call = 0; call < kCalls; ++call) {
      std::fprintf(file, "%s %ld\n", kKinds[call].name, counts[call].load());
    }
    std::fclose(file);
  }
}

/// True, with errno set, if this call must fail.
bool fails(Call call) {
  if (!is_ready) {
    return false;
  }
  const long number = ++counts[call];
  if (call != failing || (later_calls_fail ? number < failing_number : number != failing_number)) {
    return false;
  }
  errno = kKinds[call].error;
  return true;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list& arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, std::size_t size) {
  static auto* const next = real<ssize_t(int, const void*, std::size_t)>("write");
  return fails(kWrite) ? -1 : next(descriptor, data, size);
}
std::size_t fwrite(const void* data, std::size_t size, std::size_t count, std::FILE* file) {
  static auto* const next = real<std::size_t(const void*, std::size_t, std::size_t, std::FILE*)>("fwrite");
  return fails(kWrite) ? 0 : next(data, size, count, file);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return fails(kRename) ? -1 : next(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  static auto* const next = real<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return fails(kRename) ? -1 : next(from_folder, from, to_folder, to, flags);
}

int fsync(int descriptor) {
  static auto* const next = real<int(int)>("fsync");
  return fails(kFsync) ? -1 : next(descriptor);
}

int close(int descriptor) {
  static auto* const next = real<int(int)>("close");
  const int result = next(descriptor);  // Linux closes the file even if it reports a failure
  return fails(kClose) ? -1 : result;
}
int fclose(std::FILE* file) {
  static auto* const next = real<int(std::FILE*)>("fclose");
  const int result = next(file);
  return fails(kClose) ? EOF : result;
}

off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  static auto* const next = real<off_t(int, off_t, int)>("lseek");
  return fails(kLseek) ? -1 : next(descriptor, offset, whence);
}
off64_t lseek64(int descriptor, off64_t offset, int whence) noexcept {
  static auto* const next = real<off64_t(int, off64_t, int)>("lseek64");
  return fails(kLseek) ? -1 : next(descriptor, offset, whence);
}

int open(const char* path, int flags, ...) {
  static auto* const next = real<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(kOpen) ? -1 : next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  static auto* const next = real<int(const char*, int, ...)>("open64");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(kOpen) ? -1 : next(path, flags, mode);
}

ssize_t read(int descriptor, void* data, std::size_t size) {
  static auto* const next = real<ssize_t(int, void*, std::size_t)>("read");
  return fails(kRead) ? -1 : next(descriptor, data, size);
}

int unlink(const char* path) noexcept {
  static auto* const next = real<int(const char*)>("unlink");
  return fails(kUnlink) ? -1 : next(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return fails(kMkdir) ? -1 : next(path, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) noexcept {
  static auto* const next =
      real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails(kThread) ? EAGAIN : next(thread, attributes, function, argument);
}

void* malloc(std::size_t size) noexcept { return fails(kMalloc) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return fails(kMalloc) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  return fails(kMalloc) ? nullptr : __libc_realloc(memory, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if (fails(kMalloc)) {
    return ENOMEM;
  }
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails(kMalloc) ? nullptr : __libc_memalign(alignment, size);
}

void* mmap(void* address, std::size_t size, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  static auto* const next = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return fails(kMmap) ? MAP_FAILED : next(address, size, protection, flags, descriptor, offset);
}
void* mmap64(void* address, std::size_t size, int protection, int flags, int descriptor,
             off64_t offset) noexcept {
  static auto* const next = real<void*(void*, std::size_t, int, int, int, off64_t)>("mmap64");
  return fails(kMmap) ? MAP_FAILED : next(address, size, protection, flags, descriptor, offset);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
