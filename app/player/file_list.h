// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/player/controls.h"
#include "io/media/size.h"

namespace limpid::app {

/// A list of the files of a folder, from which the user chooses one, with the pointer or with keys. Throws
/// nothing: an unreadable folder is an empty list with a message.
class FileList {
 public:
  /// io::ControlLayer::text().
  using TextOf = std::function<std::string(const std::string& text)>;
  /// True for the names of files that are listed. Folders are always listed.
  using Wanted = std::function<bool(const std::string& name)>;

  /// Shows the files of `folder`. `title`: what to choose.
  void open(const std::filesystem::path& folder, std::string title, Wanted wanted);
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  /// The folder that is shown.
  const std::filesystem::path& folder() const { return folder_; }

  /// Takes a key, as WindowEvent::key. The file that was chosen with it.
  std::optional<std::filesystem::path> press(const std::string& key);
  /// Draws the list in the middle of the window. The file that was chosen with the pointer.
  std::optional<std::filesystem::path> draw(io::Size window, ControlItems& items, const TextOf& text_of);

 private:
  struct Entry {
    std::string name;
    bool is_folder = false;
  };

  void list(const std::filesystem::path& folder);
  void draw_title(const TextOf& text_of) const;
  void draw_rows(std::size_t count, ControlItems& items, const TextOf& text_of,
                 std::optional<std::size_t>& chosen);
  /// Enters a folder, or returns the file.
  std::optional<std::filesystem::path> choose(std::size_t entry);
  void select_by_letter(const std::string& letter);

  bool open_ = false;
  std::string title_;
  Wanted wanted_;
  std::filesystem::path folder_;
  std::string failure_;
  std::vector<Entry> entries_;
  std::size_t selected_ = 0;
  std::size_t first_ = 0;  ///< the entry in the first line
};

}  // namespace limpid::app
