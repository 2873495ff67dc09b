// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/player/background_write.h"
#include "app/player/played_frame.h"
#include "app/player/viewer_options.h"
#include "core/settings/denoising_settings.h"
#include "io/screen/rgb_image.h"

namespace limpid::app {

/// The files that a window writes: pictures, settings, and results in the background.
class FileOutput {
 public:
  using Notice = std::function<void(const std::string& text)>;

  /// `notice` shows a text to the user. `options` must outlive this object.
  FileOutput(const ViewerOptions& options, std::shared_ptr<Engine> engine, Notice notice);

  /// Writes the frame noisy, denoised, and split at a column of the picture, noisy on its left if
  /// `noisy_left` is set.
  void save_pictures(const PlayedFrame& frame, int column, bool noisy_left) const;
  /// Writes a picture of the window with the frame of that number.
  void save_window(const io::RgbImage& picture, std::int64_t frame) const;
  void save_settings(const DenoisingSettings& settings) const;
  void save_noise(const NoiseSettings& noise) const;
  /// The command line with this result; empty if there is none.
  std::string command_line(const PlayerSettings& settings, const Passage& passage) const;

  /// Begins to write the result in the background.
  void start(const PlayerSettings& settings, const Passage& passage);
  bool is_writing() const { return process_ != nullptr; }
  /// 0 to 1; nothing if no file is written.
  std::optional<double> progress() const;
  /// The file that is or was written.
  const std::string& path() const { return path_; }
  void cancel() const;
  /// Reports the end of the process. Returns true if it has ended.
  bool poll();
  /// Cancels the process, or leaves it to finish the file.
  void settle(bool cancels);

 private:
  std::string stem() const;
  void save_json(const std::string& path, const std::string& text) const;
  template <typename Write>
  void report_failure(const Write& write) const;

  const ViewerOptions& options_;
  const std::shared_ptr<Engine> engine_;
  const Notice notice_;
  std::unique_ptr<BackgroundWrite> process_;
  std::string path_;
};

}  // namespace limpid::app
