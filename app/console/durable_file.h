// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace limpid::app {

/// A name for this process that no other process on any machine has. Used in names of files.
const std::string& process_name();

/// Writes the whole text to a file. Returns false and sets errno on failure.
bool write_all(int descriptor, std::string_view text);

/// Writes or replaces a file atomically: after a power cut and for other processes, it has either its old or
/// its new content. Throws Error.
void write_durably(const std::string& path, const std::string& text);

/// STEM + EXTENSION, or STEM-2 + EXTENSION and so on: the first path that no file has yet.
std::string free_path(const std::string& stem, const std::string& extension);

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
