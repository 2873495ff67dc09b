// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/player/player_settings.h"
#include "app/player/settings_history.h"
#include "app/player/settings_pair.h"
#include "core/frame/frame.h"

namespace limpid::app {

/// Edits of the settings A and B of a window, and their history. An edit is a function of the settings in
/// use, so no window or player is required.
class SettingsEditor {
 public:
  /// New settings, and a few words on them for the user. The settings are those in use if the edit is not
  /// possible.
  struct Edit {
    PlayerSettings settings;
    std::string text;
  };

  /// `filters`: the filters to choose from.
  SettingsEditor(ColorModel color_model, std::vector<std::string> filters)
      : color_model_(color_model), filters_(std::move(filters)) {}

  /// True if luma and chroma change together.
  bool is_linked() const { return linked_; }
  void toggle_linked() { linked_ = !linked_; }
  SettingsPair& pair() { return pair_; }
  const SettingsPair& pair() const { return pair_; }

  // One step up (1) or down (-1).
  Edit strength(PlayerSettings settings, int direction, bool luma, bool chroma) const;
  Edit mix(PlayerSettings settings, int direction) const;
  /// The step begins at the level by hand, or at the estimate.
  Edit level(PlayerSettings settings, const NoiseModel& estimate, int direction, bool luma,
             bool chroma) const;
  Edit profile(PlayerSettings settings, int direction) const;
  Edit filter(PlayerSettings settings, int direction) const;

  /// The estimate as a level by hand: white noise, which a command line can repeat.
  Edit level_by_hand(PlayerSettings settings, const NoiseModel& estimate) const;
  Edit estimated_level(PlayerSettings settings) const;
  Edit pace(PlayerSettings settings) const;

  /// Keeps settings that an edit replaces, as SettingsHistory::add() does.
  void keep(const PlayerSettings& before, std::uint64_t gesture) { history().add(before, gesture); }
  Edit undo(const PlayerSettings& settings) { return step(history().undo(settings), settings, "undo"); }
  Edit redo(const PlayerSettings& settings) { return step(history().redo(settings), settings, "redo"); }

 private:
  SettingsHistory& history() { return history_[pair_.second() ? 1 : 0]; }
  static Edit step(const std::optional<PlayerSettings>& settings, const PlayerSettings& used,
                   const std::string& word);

  ColorModel color_model_;
  std::vector<std::string> filters_;
  bool linked_ = true;
  SettingsPair pair_;
  std::array<SettingsHistory, 2> history_;  ///< of A and B
};

}  // namespace limpid::app
