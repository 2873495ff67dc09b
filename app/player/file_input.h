// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/player/file_list.h"
#include "app/player/settings_editor.h"
#include "app/player/viewer_options.h"

namespace limpid::app {

/// The files that a window opens: another source, settings, or a noise profile.
class FileInput {
 public:
  using Notice = std::function<void(const std::string& text)>;

  /// `notice` shows a text to the user. `options` must outlive this object.
  FileInput(const ViewerOptions& options, std::shared_ptr<Engine> engine, Notice notice)
      : options_(options), engine_(std::move(engine)), notice_(std::move(notice)) {}

  FileList& list() { return list_; }
  /// Shows the list of files. `profiles`: of settings and noise profiles only.
  void show_list(bool profiles);
  /// True if a path names settings or a noise profile, not a source.
  static bool has_settings(const std::string& path) { return path.ends_with(".json"); }
  /// The settings in use changed by those of a file; nothing, and a notice, if they cannot be used.
  std::optional<SettingsEditor::Edit> read_settings_of(const std::string& path, PlayerSettings used) const;
  /// Chooses the source to be shown next. Returns false, with a notice, if the window cannot show it.
  bool choose(const std::string& path, bool is_writing);
  /// The source to be shown next; empty if there is none.
  const std::string& next() const { return next_; }

 private:
  const ViewerOptions& options_;
  const std::shared_ptr<Engine> engine_;
  const Notice notice_;
  FileList list_;
  std::string next_;
};

}  // namespace limpid::app
