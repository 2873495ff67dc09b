// SPDX-License-Identifier: MIT
#include "core/base/system/control_groups.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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

std::optional<std::int64_t> number_of(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
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
      quota = number_of(parts[0]);
      period = number_of(parts[1]);
    }
  } else {
    quota = number_of(line_of(folder / "cpu.cfs_quota_us"));  // -1: none
    period = number_of(line_of(folder / "cpu.cfs_period_us"));
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

}  // namespace limpid
