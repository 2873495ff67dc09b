// SPDX-License-Identifier: MIT
// What Limpid needs from Linux.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/base/regular_file.h"
#include "core/base/shared_library.h"
#include "core/base/system/control_groups.h"

namespace limpid {
namespace {

/// The number of processors in the affinity mask.
int allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    return CPU_COUNT(&allowed);
  }
  return static_cast<int>(std::thread::hardware_concurrency());  // more than 1024 processors
}

}  // namespace

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t usable_memory() {
  const std::uint64_t physical = physical_memory();
  return std::min(physical, cgroup_memory().value_or(physical));
}

int processors() {
  const int allowed = allowed_processors();
  return std::max(1, std::min(allowed, cgroup_processors().value_or(allowed)));
}

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

FileDescriptor open_regular_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    throw Error(path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(path + (S_ISDIR(status.st_mode) ? ": is a folder, not a file" : ": is not a regular file"));
  }
  return file;
}

std::ptrdiff_t read_some(const FileDescriptor& file, char* data, std::size_t most) {
  return ::read(file.get(), data, most);
}

std::filesystem::path own_file() {
  std::error_code error;
  Dl_info info{};
  link_map* object = nullptr;
  const bool found = dladdr1(reinterpret_cast<void*>(&own_file), &info, reinterpret_cast<void**>(&object),
                             RTLD_DL_LINKMAP) != 0;
  // The program itself has an empty name there.
  const bool program = !found || object == nullptr || *object->l_name == '\0';
  return std::filesystem::canonical(program ? "/proc/self/exe" : object->l_name, error);
}

void* load_library(const std::filesystem::path& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::string_view reason = dlerror();
    if (reason.starts_with(file.string() + ": ")) {
      reason.remove_prefix(file.string().size() + 2);
    }
    throw Error("cannot load " + file.string() + ": " + std::string(reason));
  }
  return library;
}

void* find_function(void* library, const char* name) { return dlsym(library, name); }

std::string trusted_variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace limpid
