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
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system.h"
#include "core/base/text.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

bool has(const std::string& list, std::string_view word) {
  const std::vector<std::string> words = split(list, ',');
  return std::ranges::find(words, word) != words.end();
}

/// Spaces in names are written as \040.
std::string unescaped(std::string_view text) {
  constexpr std::size_t kDigits = 3;
  constexpr int kOctal = 8;
  std::string plain;
  while (!text.empty()) {
    if (text.front() == '\\' && text.size() > kDigits) {
      plain += static_cast<char>(std::strtol(std::string(text.substr(1, kDigits)).c_str(), nullptr, kOctal));
      text.remove_prefix(kDigits + 1);
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

/// A mounted hierarchy of control groups.
struct Hierarchy {
  bool is_second = false;  ///< version 2
  std::string root;        ///< the group that is mounted
  std::string point;       ///< its folder
};

/// The hierarchies that limit CPU time.
std::vector<Hierarchy> hierarchies(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    // "32 31 0:29 ROOT POINT rw,relatime shared:1 - TYPE SOURCE OPTIONS", with any number of words before "-"
    std::istringstream stream(line);
    const std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
    const auto dash = std::ranges::find(words, "-");
    constexpr std::ptrdiff_t kRoot = 3;
    constexpr std::ptrdiff_t kPoint = 4;
    if (dash - words.begin() <= kPoint || words.end() - dash <= 3) {
      continue;
    }
    const bool is_second = dash[1] == "cgroup2";
    if (is_second || (dash[1] == "cgroup" && has(dash[3], "cpu"))) {
      found.push_back({is_second, unescaped(words[kRoot]), unescaped(words[kPoint])});
    }
  }
  return found;
}

/// The process's group in a hierarchy, such as "/system.slice/limpid.service".
std::optional<std::string> group_in(const Hierarchy& hierarchy, const fs::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "NUMBER:CONTROLLERS:GROUP"; version 2 has the number 0 and no controllers
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (hierarchy.is_second ? line.starts_with("0::") : has(controllers, "cpu")) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

/// The folders of a group and its parents, as far as they are mounted.
std::vector<fs::path> folders_of(const Hierarchy& hierarchy, std::string group, const fs::path& root) {
  const std::string prefix = hierarchy.root == "/" ? "" : hierarchy.root;
  const bool is_below = group.starts_with(prefix + "/") || group == prefix;
  group = is_below ? group.substr(prefix.size()) : "";  // another namespace's name
  const fs::path top = root / fs::path(hierarchy.point).relative_path();
  std::vector<fs::path> folders{top};
  for (const fs::path& part : fs::path(group).relative_path()) {
    if (part == "..") {
      return {top};
    }
    folders.push_back(folders.back() / part);
  }
  return folders;
}

std::string line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// The quota of one group in processors.
std::optional<std::int64_t> quota_of(const fs::path& folder, bool is_second) {
  std::optional<std::int64_t> quota;
  std::optional<std::int64_t> period;
  if (is_second) {
    const std::vector<std::string> parts = split(line_of(folder / "cpu.max"), ' ');  // "max 100000"
    if (parts.size() == 2) {
      quota = to_number<std::int64_t>(parts[0]);
      period = to_number<std::int64_t>(parts[1]);
    }
  } else {
    quota = to_number<std::int64_t>(line_of(folder / "cpu.cfs_quota_us"));  // -1: none
    period = to_number<std::int64_t>(line_of(folder / "cpu.cfs_period_us"));
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) {
    return std::nullopt;
  }
  return *quota / *period + (*quota % *period > 0 ? 1 : 0);
}

}  // namespace

std::optional<int> cgroup_processors(const fs::path& root) {
  constexpr std::int64_t kMost = 1 << 20;
  std::optional<int> least;
  for (const Hierarchy& hierarchy : hierarchies(root)) {
    const std::optional<std::string> group = group_in(hierarchy, root);
    if (!group) {
      continue;
    }
    for (const fs::path& folder : folders_of(hierarchy, *group, root)) {
      if (const auto quota = quota_of(folder, hierarchy.is_second)) {
        least = static_cast<int>(std::min<std::int64_t>(*quota, least.value_or(kMost)));
      }
    }
  }
  return least;
}

std::optional<std::uint64_t> cgroup_memory() {
  std::optional<std::uint64_t> least;
  // "max" stands for no limit.
  for (const char* name : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(name);
    if (std::uint64_t limit = 0; file >> limit) {
      least = std::min(limit, least.value_or(limit));
    }
  }
  return least;
}

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
