// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/console/process.h"
#include "app/player/controls.h"
#include "app/player/played_frame.h"
#include "app/player/viewer_options.h"
#include "core/base/not_copyable.h"
#include "core/settings/denoising_settings.h"
#include "io/media/writer.h"
#include "io/screen/display.h"

namespace limpid::app {

/// A run of `limpid denoise` in a process of its own. Belongs to one thread.
class BackgroundWrite : NotCopyable {
 public:
  /// Starts `command`, whose first word is the path of the program. Throws Error.
  explicit BackgroundWrite(std::vector<std::string> command);
  /// Cancels the process unless it has ended or is left alone, and waits a second for its end.
  ~BackgroundWrite();

  /// Ends the process as Ctrl-C does; its output so far is kept as `limpid denoise` does.
  void cancel();
  /// The process continues after this object.
  void leave_alone() { left_alone_ = true; }
  /// Reads the progress. The exit code, once the process has ended.
  std::optional<int> poll();
  /// 0 to 1.
  double progress() const { return progress_; }
  /// The last line that the process has logged.
  const std::string& message() const { return message_; }

 private:
  void read();
  void take_line(const std::string& line);

  ChildProcess process_;
  std::int64_t read_ = 0;  ///< bytes of its log
  bool left_alone_ = false;
  std::string unread_;
  std::string message_;
  double progress_ = 0;
  std::optional<int> exit_code_;
};

/// A path for the result of `input` beside it, "clip-denoised.mkv", that no file has yet.
std::string free_output(const std::string& input);

/// Settings from a file, and a few words on them for the user.
struct ReadSettings {
  PlayerSettings settings;
  std::string text;
};

/// The files that a window opens: another source, settings, or a noise profile.
class FileInput {
 public:
  using Notice = std::function<void(const std::string& text)>;

  /// `notice` shows a text to the user. `options` must outlive this object.
  FileInput(const ViewerOptions& options, Notice notice) : options_(options), notice_(std::move(notice)) {}

  FileList& list() { return list_; }
  const FileList& list() const { return list_; }
  /// Shows the list of files. `profiles`: of settings and noise profiles only.
  void show_list(bool profiles);
  /// True if a path names settings or a noise profile, not a source.
  static bool has_settings(const std::string& path) { return path.ends_with(".json"); }
  /// The settings in use changed by those of a file; nothing, and a notice, if they cannot be used.
  std::optional<ReadSettings> read_settings_of(const std::string& path, PlayerSettings used) const;
  /// Chooses the source to be shown next. Returns false, with a notice, if the window cannot show it.
  bool choose(const std::string& path, bool is_writing);
  /// The source to be shown next; empty if there is none.
  const std::string& next() const { return next_; }

 private:
  const ViewerOptions& options_;
  const Notice notice_;
  FileList list_;
  std::string next_;
};

/// How written files are encoded, in the order of io::kEncodingNames.
enum class Encoding : std::uint8_t {
  kSmall,     ///< as the encoder does by default
  kHigh,      ///< hardly different from the picture shown
  kLossless,  ///< in .mkv, .mov and .avi
};

/// The files that a window writes: pictures, settings, and results in the background.
class FileOutput {
 public:
  using Notice = std::function<void(const std::string& text)>;

  /// `notice` shows a text to the user. `options` must outlive this object.
  FileOutput(const ViewerOptions& options, std::shared_ptr<Engine> engine, Notice notice)
      : options_(options),
        engine_(std::move(engine)),
        notice_(std::move(notice)),
        encoding_(options.lossless && !options.encoders.back().empty() ? Encoding::kLossless
                                                                       : Encoding::kHigh) {}

  /// Writes the frame noisy, denoised, and split at a column of the picture, noisy on its left if
  /// `noisy_left` is set.
  void save_pictures(const PlayedFrame& frame, int column, bool noisy_left) const;
  /// Writes a picture of the window with the frame of that number.
  void save_window(const io::RgbImage& picture, std::int64_t frame) const;
  void save_settings(const DenoisingSettings& settings) const;
  void save_noise(const NoiseSettings& noise) const;
  /// The command line with this result; empty if there is none.
  std::string command_line(const PlayerSettings& settings, const Passage& passage) const;

  Encoding encoding() const { return encoding_; }
  /// Shows a notice if the file cannot have this encoding.
  void set_encoding(Encoding encoding);
  /// Codec and expected size of the file that would be written now: "H.264, ~12 MB".
  std::string description(const Passage& passage) const;
  /// The file that would be written now.
  std::string next_path() const { return free_output(options_.input); }

  /// Begins to write the result in the background.
  void start(const PlayerSettings& settings, const Passage& passage);
  bool is_writing() const { return process_ != nullptr; }
  /// 0 to 1; nothing if no file is written.
  std::optional<double> progress() const {
    return is_writing() ? std::optional(process_->progress()) : std::nullopt;
  }
  /// The file that is or was written.
  const std::string& path() const { return path_; }
  void cancel() const;
  /// Reports the end of the process. Returns true if it has ended.
  bool poll();
  /// Cancels the process, or leaves it to finish the file.
  void settle(bool cancels);

 private:
  std::vector<std::string> output_words(const std::string& path) const;
  bool has_file() const { return !options_.input.empty() && options_.input != "-"; }
  std::filesystem::path picture_folder() const {
    return !options_.picture_folder.empty() ? std::filesystem::path(options_.picture_folder)
           : has_file()                     ? std::filesystem::path(options_.input).parent_path()
                                            : ".";
  }
  std::string stem() const;
  void save_json(const std::string& path, const std::string& text) const;
  template <typename Write>
  void report_failure(const Write& write) const;

  const ViewerOptions& options_;
  const std::shared_ptr<Engine> engine_;
  const Notice notice_;
  Encoding encoding_;
  std::unique_ptr<BackgroundWrite> process_;
  std::string path_;
};

}  // namespace limpid::app
