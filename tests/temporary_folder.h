// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <vector>

namespace limpid::test {

inline constexpr bool kIsWindows = std::filesystem::path::preferred_separator != '/';

/// A temporary folder of a test, removed with its contents by the destructor. Throws std::system_error if it
/// cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::string name = "limpid-test-" + std::to_string(std::random_device()());
    path_ = std::filesystem::temp_directory_path() / name;
    if (!std::filesystem::create_directory(path_)) {
      throw std::system_error(EEXIST, std::generic_category(), name);
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  /// The sorted names of its entries.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace limpid::test
