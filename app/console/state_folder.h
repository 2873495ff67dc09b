// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace limpid::app {

/// Data of the program that are kept between runs: $XDG_STATE_HOME/limpid/NAME, or
/// ~/.local/state/limpid/NAME.
class StateFolder {
 public:
  /// Keeps the newest `most` files. Throws Error if neither variable names a folder.
  StateFolder(const std::string& name, std::size_t most);

  /// The path of the file `name`, which may not exist.
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  /// Replaces or creates a file, at once, and removes the oldest files if there are too many. Throws Error.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  void remove_oldest() const;

  std::filesystem::path folder_;
  std::size_t most_;
};

/// 16 hexadecimal digits that differ for different texts, for names of files.
std::string digest_of(const std::string& text);

}  // namespace limpid::app
