// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/player/played_frame.h"
#include "core/frame/frame.h"

namespace limpid::app {

/// Where a ladder is used.
struct LadderUse {
  bool live = false;           ///< filters wait for no later frames, unless a delay is set
  bool on_processors = false;  ///< the engine is the CPU's
  /// False where no stream may depend on all earlier frames: with several GPUs.
  bool unbounded = true;
};

/// The filter of a rung.
Filter filter_of(const PlayerSettings& settings);

/// The rungs for settings. Only V-BM4D and VNLB have quicker ones: bilateral, recursive and lower profiles of
/// V-BM4D.
QualityLadder make_ladder(const PlayerSettings& settings, const LadderUse& use);

/// Time per frame of filters, as measured in earlier runs: by device, filter, pixel format and size. Kept in
/// a JSON file. Thread-safe.
class SpeedMemory {
 public:
  /// Reads `file`, which may not exist; a damaged file is ignored with a warning. `file`: empty if nothing is
  /// kept. `hardware`: describes the device that filters frames of this format.
  SpeedMemory(std::filesystem::path file, std::string hardware, const FrameFormat& format);

  /// Seconds per frame of a filter such as "vbm4d:profile=np"; computed from the most similar size if this
  /// one was not measured. Nothing if the filter was not measured on this device.
  std::optional<double> seconds(const std::string& filter) const;
  /// A measurement. Replaces one that differs by more than 30 %.
  void note(const std::string& filter, double seconds);
  /// Writes new measurements to the file, beside those that other processes have written meanwhile. Warns if
  /// that fails.
  void save();

  /// $XDG_CACHE_HOME/limpid/speeds.json, or the same below ~/.cache; empty if neither variable is set.
  static std::filesystem::path default_file();

 private:
  struct Entry {
    std::string hardware;
    std::string filter;
    std::string format;
    double samples = 0;  ///< of a frame
    double seconds = 0;
  };
  using Entries = std::vector<Entry>;

  static Entries read(const std::filesystem::path& file);
  static Entry& find_or_add(Entries& entries, const Entry& like) {
    const auto found = std::ranges::find_if(entries, [&](const Entry& each) {
      return each.hardware == like.hardware && each.filter == like.filter && each.format == like.format;
    });
    return found != entries.end() ? *found : entries.emplace_back(like);
  }

  const std::filesystem::path file_;
  const std::string hardware_;
  const std::string format_;
  const double samples_;
  mutable std::mutex mutex_;
  Entries entries_;
  Entries changed_;  ///< since the file was written
};

}  // namespace limpid::app
