// SPDX-License-Identifier: MIT
// The tables of the properties, commands and keys of the window.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "app/player/properties.h"
#include "app/player/viewer.h"
#include "core/filter/filter.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
namespace {

struct NamedQuality {
  const char* name;
  const char* word;  ///< one of quality_words(), of the default filter
};
constexpr std::array<NamedQuality, 3> kQualities{{{"High", "high"}, {"Good", "good"}, {"Fast", "fast"}}};

std::vector<std::string> off_and_on(const Viewer& /*viewer*/) { return {"off", "on"}; }

template <typename List>
double index_in(const List& list, const std::string& entry) {
  const auto place = std::ranges::find(list, entry);
  return place == list.end() ? -1 : static_cast<double>(place - list.begin());
}

/// The estimate as a level by hand: white noise, which a command line can repeat.
NoiseProfile level_of(const std::array<float, 3>& sigma) { return {NoiseModel{sigma}, std::nullopt}; }

bool has_level(const PlayerSettings& settings) {
  return settings.noise.noise && !settings.noise.noise->color_model;
}

std::array<float, 3> level_in(const Viewer& v) {
  const PlayerSettings settings = v.panel_settings();
  return has_level(settings) ? settings.noise.noise->noise.sigma : v.shown()->noise.sigma;
}

float rounded(double value) {
  constexpr double kTenths = 10;
  return static_cast<float>(std::round(value * kTenths) / kTenths);
}

}  // namespace

/// Makes the tables.
struct ViewerTables {
  static std::vector<Property> playing();
  static std::vector<Property> settings();
  static std::vector<Property> noise();
  static std::vector<Property> filters();
  static std::vector<Property> view();
  static std::vector<Property> sources();
  static std::vector<WindowCommand> actions();
  static std::vector<WindowCommand> passages();
  static std::vector<WindowCommand> files();

  /// A property that is a value of the view, or of the settings.
  static Property flag(std::string_view name, std::string_view text, Scope scope, bool ViewState::*value) {
    return {.name = name,
            .text = text,
            .scope = scope,
            .range = {},
            .names = off_and_on,
            .get = [value](const Viewer& v) { return v.state_.*value ? 1.0 : 0.0; },
            .set = [value](Viewer& v, double on) { v.state_.*value = on != 0; }};
  }
  template <typename Change>
  static auto change(Change change) {
    return [change](Viewer& v, double value) {
      PlayerSettings settings = v.panel_settings();
      change(v, settings, value);
      v.change_settings(settings);
    };
  }
};

std::vector<Property> ViewerTables::playing() {
  constexpr Scope kFilm = Scope::kFilm;
  constexpr double kLongest = 1e9;
  const auto set_volume = [](Viewer& v, double volume, bool muted) {
    if (!v.audio_.exists()) {
      return v.notice("no audio");
    }
    v.state_.volume = volume;
    v.state_.muted = muted;
    v.audio_.set_volume(muted ? 0 : volume);
  };
  const auto set_speed = [](Viewer& v, double speed) {
    speed = std::abs(speed - 1) < 0.01 ? 1 : speed;
    v.player_->set_speed(speed);
    v.audio_.set_speed(speed, v.player_->position());
  };
  return {{"pause",
           "Play or pause",
           Scope::kMoving,
           {},
           off_and_on,
           [](const Viewer& v) { return v.player_->paused() || v.state_.ended ? 1.0 : 0.0; },
           [](Viewer& v, double on) { v.set_paused(on != 0); }},
          {"position",
           "Time",
           kFilm,
           {0, 1, kLongest, 0, 0, 3, " s"},
           {},
           [](const Viewer& v) { return v.position(); },
           [](Viewer& v, double seconds) { v.seek_to(seconds); }},
          {"speed",
           "Speed; audio keeps its pitch from x0.5 to x2",
           kFilm,
           {0.05, 4, 20, 0, 1, 2, ""},
           {},
           [](const Viewer& v) { return v.player_->speed(); },
           set_speed},
          {"volume",
           "Volume",
           Scope::kMoving,
           {0, 100, 100, 1, 100, 0, " %"},
           {},
           [](const Viewer& v) { return 100 * v.state_.volume; },
           [set_volume](Viewer& v, double volume) { set_volume(v, volume / 100, false); }},
          {"mute",
           "Mute",
           Scope::kMoving,
           {},
           off_and_on,
           [](const Viewer& v) { return v.state_.muted ? 1.0 : 0.0; },
           [set_volume](Viewer& v, double on) { set_volume(v, v.state_.volume, on != 0); }},
          {"loop",
           "Repeat the passage, or the whole file",
           kFilm,
           {},
           off_and_on,
           [](const Viewer& v) { return v.state_.loops ? 1.0 : 0.0; },
           [](Viewer& v, double on) { v.set_loop(on != 0); }}};
}

std::vector<Property> ViewerTables::settings() {
  constexpr ValueRange kStrength{0, 4, 10, 0.05, 1, 2, ""};
  const auto set_strength = [](const Viewer& v, PlayerSettings& settings, double value) {
    Strength& strength = settings.noise.strength;
    const bool together =
        strength.chroma == strength.luma || v.options_.format.color_model != ColorModel::kYuv;
    strength.luma = static_cast<float>(value);
    strength.chroma = together ? strength.luma : strength.chroma;
  };
  return {{"strength",
           "Factor of the noise level; that of chroma follows while both are equal",
           Scope::kAll,
           kStrength,
           {},
           [](const Viewer& v) { return double{v.panel_settings().noise.strength.luma}; },
           change(set_strength)},
          {"chroma-strength",
           "Factor of the noise level of chroma",
           Scope::kAll,
           kStrength,
           {},
           [](const Viewer& v) { return double{v.panel_settings().noise.strength.chroma}; },
           change([](const Viewer& /*v*/, PlayerSettings& settings, double value) {
             settings.noise.strength.chroma = static_cast<float>(value);
           })},
          {"original",
           "Share of the noisy picture in the result",
           Scope::kAll,
           {0, 100, 100, 1, 0, 0, " %"},
           {},
           [](const Viewer& v) { return std::round(100 * double{v.panel_settings().noise.mix}); },
           change([](const Viewer& /*v*/, PlayerSettings& settings, double value) {
             settings.noise.mix = static_cast<float>(value) / 100;
           })},
          {"settings",
           "Settings A or B",
           Scope::kAll,
           {},
           [](const Viewer& /*v*/) {
             return std::vector<std::string>{"A", "B"};
           },
           [](const Viewer& v) {
             return (v.state_.side == Side::kPair ? v.pair_.choice() : v.pair_.second()) ? 1.0 : 0.0;
           },
           [](Viewer& v, double second) {
             if (v.pair_.second() != (second != 0)) {
               v.flip_settings();
             }
           }}};
}

std::vector<Property> ViewerTables::noise() {
  constexpr ValueRange kLevel{0, 50, double{kMaxSigma}, 0.5, 0, 1, ""};
  const auto source = [](const Viewer& v) {
    const PlayerSettings settings = v.panel_settings();
    return !settings.noise.noise                  ? 0.0
           : has_level(settings)                  ? 1.0
           : v.area_.is_source_of(settings.noise) ? 2.0
                                                  : 3.0;
  };
  const auto set_source = [](Viewer& v, double chosen) {
    PlayerSettings settings = v.panel_settings();
    if (chosen >= 2) {
      return chosen == 2 ? v.propose_box() : v.show_files(true);
    }
    settings.noise.noise.reset();
    if (chosen == 1) {
      settings.noise.noise = level_of(v.shown_->noise.sigma);
    }
    v.change_settings(settings);
  };
  // The level of chroma keeps its ratio to that of luma.
  const auto set_level = [](const Viewer& v, PlayerSettings& settings, double value) {
    std::array<float, 3> sigma = level_in(v);
    const double ratio = sigma[0] > 0 ? value / double{sigma[0]} : 1;
    sigma = {static_cast<float>(value), rounded(double{sigma[1]} * ratio), rounded(double{sigma[2]} * ratio)};
    settings.noise.noise = level_of(sigma);
  };
  return {{"noise",
           "Noise of the whole clip; a number; the noise of an area: a box on a flat part, which the "
           "mouse moves; or a noise profile or settings file",
           Scope::kAll,
           {},
           [](const Viewer& /*v*/) {
             return std::vector<std::string>{"clip", "number", "area", "file"};
           },
           source,
           set_source},
          {"level",
           "Noise standard deviation in 8-bit code values",
           Scope::kAll,
           kLevel,
           {},
           [](const Viewer& v) { return double{level_in(v)[0]}; },
           change(set_level)},
          {"chroma-level",
           "Noise standard deviation of chroma in 8-bit code values",
           Scope::kAll,
           kLevel,
           {},
           [](const Viewer& v) { return double{level_in(v)[1]}; },
           change([](const Viewer& v, PlayerSettings& settings, double value) {
             std::array<float, 3> sigma = level_in(v);
             sigma[1] = sigma[2] = static_cast<float>(value);
             settings.noise.noise = level_of(sigma);
           })}};
}

std::vector<Property> ViewerTables::filters() {
  return {{"quality",
           "Filter and profile for files and pauses; playing uses a quicker filter if this one is too slow",
           Scope::kAll,
           {},
           [](const Viewer& /*v*/) {
             std::vector<std::string> names;
             std::ranges::transform(kQualities, std::back_inserter(names), &NamedQuality::name);
             return names;
           },
           [](const Viewer& v) {
             const FilterSettings filter = v.panel_settings().filter;
             const auto is_used = [&](const NamedQuality& each) {
               return filter.name == default_filter(v.options_.still_picture) &&
                      filter.profile == profile_for(filter_type(filter.name).profiles, each.word);
             };
             const auto* const used = std::ranges::find_if(kQualities, is_used);
             return used == kQualities.end() ? -1.0 : static_cast<double>(used - kQualities.begin());
           },
           change([](const Viewer& v, PlayerSettings& settings, double value) {
             settings.filter.name = default_filter(v.options_.still_picture);
             settings.filter.profile = profile_for(filter_type(settings.filter.name).profiles,
                                                   kQualities[static_cast<std::size_t>(value)].word);
           })},
          {"filter",
           "Filter",
           Scope::kAll,
           {},
           [](const Viewer& v) { return v.options_.filters; },
           [](const Viewer& v) { return index_in(v.options_.filters, v.panel_settings().filter.name); },
           change([](const Viewer& v, PlayerSettings& settings, double value) {
             settings.filter.name = v.options_.filters[static_cast<std::size_t>(value)];
           })},
          {"profile",
           "Profile: quality against speed",
           Scope::kAll,
           {},
           [](const Viewer& v) { return filter_type(v.panel_settings().filter.name).profiles; },
           [](const Viewer& v) {
             const FilterSettings filter = v.panel_settings().filter;
             return index_in(filter_type(filter.name).profiles, filter.profile.value_or(""));
           },
           [](Viewer& v, double value) {
             PlayerSettings settings = v.panel_settings();
             const std::vector<std::string>& profiles = filter_type(settings.filter.name).profiles;
             if (profiles.empty()) {
               return v.notice(settings.filter.name + " has no profiles");
             }
             settings.filter.profile = profiles[static_cast<std::size_t>(value)];
             v.change_settings(settings);
           }},
          {"pace",
           "Use a quicker filter while playing, where this one is too slow",
           Scope::kMoving,
           {},
           off_and_on,
           [](const Viewer& v) { return v.panel_settings().keeps_pace ? 1.0 : 0.0; },
           change([](const Viewer& /*v*/, PlayerSettings& settings, double value) {
             settings.keeps_pace = value != 0;
           })}};
}

std::vector<Property> ViewerTables::view() {
  const auto set_view = [](Viewer& v, double value) {
    const Side side = static_cast<Side>(value);
    side == Side::kPair&& v.state_.side != side ? v.show_pair() : v.change_side(side);
  };
  const auto set_zoom = [](Viewer& v, double value) {
    const io::Size area = v.screen_.picture_area(v.state_.side);
    v.change_zoom(value > 0 ? 1 << (static_cast<int>(value) - 1) : 0, {area.width / 2.0, area.height / 2.0});
  };
  return {{"view",
           "Noisy, denoised, or both; the difference is the removed noise",
           Scope::kAll,
           {},
           [](const Viewer& /*v*/) { return std::vector<std::string>(kSideNames.begin(), kSideNames.end()); },
           [](const Viewer& v) { return static_cast<double>(v.state_.side); },
           set_view},
          {"gain",
           "Gain of the difference",
           Scope::kAll,
           {1, 32, 32, 0.5, 4, 1, ""},
           {},
           [](const Viewer& v) { return v.state_.gain; },
           [](Viewer& v, double gain) { v.state_.gain = gain; }},
          {"zoom",
           "Zoom",
           Scope::kAll,
           {},
           [](const Viewer& /*v*/) {
             return std::vector<std::string>{"Fit", "1:1", "2:1", "4:1", "8:1"};
           },
           [](const Viewer& v) {
             return v.screen_.view().zoom() == 0 ? 0.0 : std::log2(v.screen_.view().zoom()) + 1;
           },
           set_zoom},
          {"mirror",
           "Exchange left and right in this window only",
           Scope::kCamera,
           {},
           off_and_on,
           [](const Viewer& v) { return v.state_.mirrored ? 1.0 : 0.0; },
           [](Viewer& v, double on) {
             if (v.state_.mirrored != (on != 0)) {
               v.state_.mirrored = on != 0;
               v.screen_.view().mirror();
             }
           }},
          flag("pixels", "Values of the pixel below the pointer, noisy and denoised", Scope::kAll,
               &ViewState::pixels),
          flag("statistics", "Statistics", Scope::kAll, &ViewState::statistics),
          {"help",
           "List of all keys",
           Scope::kAll,
           {},
           off_and_on,
           [](const Viewer& v) { return v.state_.help ? 1.0 : 0.0; },
           [](Viewer& v, double on) {
             v.state_.help = on != 0;
             v.notice("");
           }},
          {"panel",
           "Open or close the settings",
           Scope::kAll,
           {},
           off_and_on,
           [](const Viewer& v) { return v.screen_.controls().is_open() ? 1.0 : 0.0; },
           [](Viewer& v, double on) {
             v.screen_.controls().open_panel(on != 0);
             v.notice("");
           }},
          {"full-screen",
           "Full screen",
           Scope::kAll,
           {},
           off_and_on,
           [](const Viewer& v) { return v.screen_.window().is_full_screen() ? 1.0 : 0.0; },
           [](Viewer& v, double on) {
             if (v.screen_.window().is_full_screen() != (on != 0)) {
               v.screen_.window().toggle_full_screen();
             }
             v.notice("");
           }},
          {"line-follows",
           "The split line follows the pointer",
           Scope::kAll,
           {},
           off_and_on,
           [](const Viewer& v) { return v.screen_.split().locked() ? 0.0 : 1.0; },
           [](Viewer& v, double on) { v.screen_.split().set_locked(on == 0); }}};
}

std::vector<Property> ViewerTables::sources() {
  return {
      {"camera",
       "Camera and format",
       Scope::kCamera,
       {},
       [](const Viewer& v) {
         std::vector<std::string> names;
         std::ranges::transform(v.cameras_, std::back_inserter(names), &CameraChoice::name);
         return names;
       },
       [](const Viewer& /*v*/) { return -1.0; },
       [](Viewer& v, double value) { v.show_camera(static_cast<std::size_t>(value)); }},
      {"microphone",
       "Microphone for recordings. The camera is opened again",
       Scope::kCamera,
       {},
       [](const Viewer& v) {
         std::vector<std::string> names;
         std::ranges::transform(v.options_.microphones, std::back_inserter(names), &io::Microphone::name);
         return names;
       },
       [](const Viewer& v) {
         const auto& all = v.options_.microphones;
         const auto used = std::ranges::find(all, v.options_.microphone, &io::Microphone::id);
         return used == all.end() ? -1.0 : static_cast<double>(used - all.begin());
       },
       [](Viewer& v, double value) {
         v.use_microphone(v.options_.microphones[static_cast<std::size_t>(value)].id);
       }},
      {"loopback",
       "Other programs receive the denoised video, through v4l2loopback or PipeWire",
       Scope::kCamera,
       {},
       off_and_on,
       [](const Viewer& v) { return v.options_.loops_back && v.options_.loops_back() ? 1.0 : 0.0; },
       [](Viewer& v, double /*on*/) {
         v.notice(v.options_.toggle_loopback ? v.options_.toggle_loopback() : "there is no loopback device");
       }}};
}

std::vector<WindowCommand> ViewerTables::actions() {
  constexpr Scope kAll = Scope::kAll;
  const auto zoom = [](Viewer& v, const std::string& argument) {
    const bool greater = argument == "in";
    const int now = v.screen_.view().zoom();
    const int next = v.screen_.view().next_zoom(greater, v.screen_.picture_area(v.state_.side));
    v.change_zoom(next == now ? 0 : next, v.mouse_.zoom_point());
    v.notice("zoom: " + v.text("zoom"));
  };
  const auto wheel = [](Viewer& v, const std::string& argument) {
    if (v.state_.side == Side::kDifference) {
      return v.execute(argument == "in" ? "multiply gain 2" : "multiply gain 0.5");
    }
    const int next = v.screen_.view().next_zoom(argument == "in", v.screen_.picture_area(v.state_.side));
    v.change_zoom(next, v.mouse_.position());
    v.notice("zoom: " + v.text("zoom"));
  };
  return {{"step", "One frame back or forward", Scope::kMoving, true,
           [](Viewer& v, const std::string& argument) { v.step_frames(argument == "1"); }},
          {"chapter", "Next or previous chapter", Scope::kFilm, false,
           [](Viewer& v, const std::string& argument) { v.go_to_chapter(argument == "1" ? 1 : -1); }},
          {"go-to-end", "Last frame", Scope::kFilm, false,
           [](Viewer& v, const std::string&) {
             if (v.options_.duration <= 0) {
               return v.notice("the duration of this source is not known");
             }
             v.player_->set_paused(true);  // to be looked at
             v.seek_to(v.options_.duration);
           }},
          {"undo", "Undo the last change of a setting", kAll, false,
           [](Viewer& v, const std::string&) { v.undo(false); }},
          {"redo", "Redo what was undone", kAll, false, [](Viewer& v, const std::string&) { v.undo(true); }},
          {"measure-noise", "Measure the noise in the box", kAll, false,
           [](Viewer& v, const std::string&) { v.take_noise_of_box(); }},
          {"copy-settings", "Copy these settings to the other ones", kAll, false,
           [](Viewer& v, const std::string&) {
             v.pair_.copy(v.player_->settings());
             v.notice(fmt::format("settings copied to {}", v.pair_.second() ? "A" : "B"));
           }},
          {"zoom", "Zoom", kAll, false, zoom},
          {"wheel", "Zoom at the pointer, or the gain of the difference", kAll, false, wheel},
          {"center-line", "Split line in the middle", kAll, false,
           [](Viewer& v, const std::string&) {
             v.screen_.split().center();
             v.notice("split line in the middle");
           }},
          {"close", "Close the list, help, area or full screen", kAll, false,
           [](Viewer& v, const std::string&) { v.close_top(); }},
          {"quit", "Quit", kAll, false, [](Viewer& v, const std::string&) { v.ask_to_quit(); }},
          {"refuse-text", "", kAll, false,
           [](Viewer& v, const std::string& argument) { v.notice("not a number: " + argument); }},
          {"answer", "Quit while a file is written", kAll, false,
           [](Viewer& v, const std::string& argument) { v.answer(argument); }}};
}

std::vector<WindowCommand> ViewerTables::passages() {
  constexpr Scope kFilm = Scope::kFilm;
  return {{"mark", "Begin or end of the passage: this frame", kFilm, false,
           [](Viewer& v, const std::string& argument) {
             // A quarter of a frame more than the frames have, so that rounding leaves none out.
             const double frame = 1 / v.player_options_.frames_per_second;
             argument == "begin" ? v.mark_passage(v.state_.passage.begin, v.position() - frame / 4)
                                 : v.mark_passage(v.state_.passage.end, v.position() + 3 * frame / 4);
           }},
          {"whole-file", "The whole file again", kFilm, false,
           [](Viewer& v, const std::string&) { v.show_whole(); }},
          {"step-loop", "Loop: set its begin, set its end, stop", kFilm, false,
           [](Viewer& v, const std::string&) { v.step_loop(); }},
          {"drag-passage", "Begin or end of the passage to write or repeat", kFilm, false,
           [](Viewer& v, const std::string& argument) { v.drag_passage(argument); }},
          {"release-passage", "End of a drag", kFilm, false,
           [](Viewer& v, const std::string&) { v.release_passage(); }}};
}

std::vector<WindowCommand> ViewerTables::files() {
  constexpr Scope kAll = Scope::kAll;
  constexpr Scope kFile = Scope::kFile;
  const auto pictures = [](Viewer& v, const std::string&) {
    v.save([&v] { v.output_.save_pictures(*v.shown_, v.screen_.split_column(), !v.state_.mirrored); });
  };
  const auto window = [](Viewer& v, const std::string&) {
    v.save([&v] {
      v.draw();
      v.output_.save_window(v.screen_.window().snapshot(), v.shown_->noisy.index);
    });
  };
  return {{"write", "Denoise to a file in the background", kFile, false,
           [](Viewer& v, const std::string&) { v.output_.start(v.player_->settings(), v.state_.passage); }},
          {"cancel-writing", "Cancel the file, and keep what is written so far", kFile, false,
           [](Viewer& v, const std::string&) { v.output_.cancel(); }},
          {"copy-command", "Copy the command of this result", kFile, false,
           [](Viewer& v, const std::string&) { v.copy_command(); }},
          {"open", "Open another file, or drop it on the window", kFile, false,
           [](Viewer& v, const std::string&) { v.show_files(false); }},
          {"save-settings", "Write these settings to a file, for --settings", kAll, false,
           [](Viewer& v, const std::string&) { v.output_.save_settings(v.settings()); }},
          {"save-noise", "Write the noise of the area beside the video, for --noise", kAll, false,
           [](Viewer& v, const std::string&) { v.output_.save_noise(v.player_->settings().noise); }},
          {"save-pictures", "Write this picture, noisy and denoised", kAll, false, pictures},
          {"save-window", "Write a picture of the window", kAll, false, window},
          {"record", "Begin or end a recording", Scope::kCamera, false,
           [](Viewer& v, const std::string&) {
             v.notice(v.options_.toggle_recording ? v.options_.toggle_recording()
                                                  : "this source is not recorded");
           }},
          {"next-camera", "Next camera", Scope::kCamera, false,
           [](Viewer& v, const std::string&) { v.show_next_camera(); }}};
}

namespace {

template <typename Row, typename... Parts>
std::vector<Row> joined_rows(Parts... parts) {
  std::vector<Row> rows;
  (std::ranges::move(parts, std::back_inserter(rows)), ...);
  return rows;
}

template <typename Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? nullptr : &*row;
}

std::string shown_key(std::string_view key) { return std::string(key == " " ? "SPACE" : key); }

}  // namespace

bool is_in_scope(Scope scope, bool live, bool still_picture) {
  switch (scope) {
    case Scope::kAll:
      return true;
    case Scope::kMoving:
      return !still_picture;
    case Scope::kFilm:
      return !still_picture && !live;
    case Scope::kFile:
      return !live;
    case Scope::kCamera:
      return live;
  }
  return false;
}

const std::vector<Property>& properties() {
  static const std::vector<Property> all =
      joined_rows<Property>(ViewerTables::playing(), ViewerTables::settings(), ViewerTables::noise(),
                            ViewerTables::filters(), ViewerTables::view(), ViewerTables::sources());
  return all;
}

const std::vector<WindowCommand>& window_commands() {
  static const std::vector<WindowCommand> all =
      joined_rows<WindowCommand>(ViewerTables::actions(), ViewerTables::passages(), ViewerTables::files());
  return all;
}

const Property* find_property(std::string_view name) { return find_row(properties(), name); }
const WindowCommand* find_window_command(std::string_view name) { return find_row(window_commands(), name); }

const std::vector<KeyGroup>& key_groups() {
  constexpr Scope kAll = Scope::kAll;
  constexpr Scope kFilm = Scope::kFilm;
  constexpr Scope kMoving = Scope::kMoving;
  constexpr Scope kFile = Scope::kFile;
  static const std::vector<KeyGroup> groups{
      {kMoving, "click", "pause, play", {{" ", "toggle pause"}, {"p", "toggle pause"}}},
      {kMoving, "", "one frame forward, back", {{".", "step 1"}, {",", "step -1"}}},
      {kFilm,
       "",
       "5 s, 1 s, 1 min back, forward",
       {{"LEFT", "add position -5"},
        {"RIGHT", "add position 5"},
        {"Shift+LEFT", "add position -1"},
        {"Shift+RIGHT", "add position 1"},
        {"DOWN", "add position -60"},
        {"UP", "add position 60"}}},
      {kFilm,
       "",
       "go to the beginning, the end; previous, next chapter",
       {{"HOME", "set position 0"}, {"END", "go-to-end"}, {"PGDN", "chapter -1"}, {"PGUP", "chapter 1"}}},
      {kFilm,
       "",
       "slower, faster, normal, half, double speed",
       {{"[", "multiply speed 0.909091"},
        {"]", "multiply speed 1.1"},
        {"BACKSPACE", "set speed 1"},
        {"{", "multiply speed 0.5"},
        {"}", "multiply speed 2"}}},
      {kMoving,
       "",
       "lower, raise the volume; mute",
       {{"9", "add volume -10"},
        {"0", "add volume 10"},
        {"/", "add volume -10"},
        {"*", "add volume 10"},
        {"m", "toggle mute"}}},
      {kAll,
       "",
       "raise, lower the strength",
       {{"Shift+UP", "add strength 0.1"}, {"Shift+DOWN", "add strength -0.1"}}},
      {kAll,
       "",
       "raise, lower the strength of chroma",
       {{"Ctrl+UP", "add chroma-strength 0.1"}, {"Ctrl+DOWN", "add chroma-strength -0.1"}}},
      {kAll,
       "",
       "more, less of the original in the result",
       {{"d", "add original 5"}, {"D", "add original -5"}}},
      {kAll, "", "undo, redo the last change of a setting", {{"Ctrl+Z", "undo"}, {"Ctrl+Y", "redo"}}},
      {kAll,
       "",
       "raise, lower the noise level",
       {{"+", "add level 0.5"}, {"=", "add level 0.5"}, {"-", "add level -0.5"}}},
      {kAll,
       "",
       "lower, raise the level of chroma",
       {{"(", "add chroma-level -0.5"}, {")", "add chroma-level 0.5"}}},
      {kAll, "", "noise: estimated, by hand", {{"a", "set noise clip"}, {"v", "set noise number"}}},
      {kAll, "drag with the right button", "measure the noise in a flat area", {{"n", "set noise area"}}},
      {kAll,
       "",
       "use a noise profile or settings; save the noise",
       {{"N", "set noise file"}, {"Ctrl+N", "save-noise"}}},
      {kAll,
       "",
       "next, previous filter; next, previous profile",
       {{"e", "cycle filter"}, {"E", "cycle filter -1"}, {"c", "cycle profile"}, {"C", "cycle profile -1"}}},
      {kMoving, "", "quality that keeps pace, or always this filter", {{"Q", "toggle pace"}}},
      {kAll,
       "",
       "flip between the settings A and B; copy to the other",
       {{"b", "toggle settings"}, {"B", "copy-settings"}}},
      {kAll,
       "",
       "noisy, denoised, split, side by side, difference",
       {{"1", "set view noisy"},
        {"2", "set view denoised"},
        {"3", "set view split"},
        {"4", "set view side"},
        {"6", "set view difference"}}},
      {kFile, "", "A left of the line, B right of it", {{"5", "set view pair"}}},
      {kAll, "wheel", "gain of the difference", {{"g", "multiply gain 2"}, {"G", "multiply gain 0.5"}}},
      {kAll, "", "values of the pixel below the pointer", {{"P", "toggle pixels"}}},
      {kAll,
       "drag",
       "move, unlock, center the split line",
       {{"t", "toggle line-follows"}, {"|", "center-line"}}},
      {kAll, "wheel", "zoom in, out; drag to move", {{"z", "zoom in"}, {"Z", "zoom out"}}},
      {kAll, "double click", "full screen", {{"f", "toggle full-screen"}}},
      {kAll, "", "open, close the settings", {{"TAB", "toggle panel"}}},
      {kAll, "", "statistics; these keys", {{"i", "toggle statistics"}, {"?", "toggle help"}}},
      {kAll, "", "close the list, help, area or full screen", {{"ESC", "close"}}},
      {kAll, "", "quit", {{"q", "quit"}}},
      {kFilm,
       "drag the handles",
       "begin, end of the passage; the whole file; loop: set both ends, stop",
       {{"I", "mark begin"}, {"O", "mark end"}, {"X", "whole-file"}, {"l", "step-loop"}}},
      {kFile,
       "",
       "write the passage or file in the background; cancel that",
       {{"w", "write"}, {"W", "cancel-writing"}}},
      {kFile, "", "copy the command of this result", {{"Ctrl+C", "copy-command"}}},
      {kAll, "", "save these settings", {{"Ctrl+S", "save-settings"}}},
      {kFile, "drop a file", "open a file", {{"Ctrl+O", "open"}}},
      {kAll,
       "",
       "save pictures: noisy, denoised and split; the window",
       {{"s", "save-pictures"}, {"S", "save-window"}}},
      {Scope::kCamera,
       "",
       "record; be a camera for others; next camera; mirror",
       {{"r", "record"}, {"L", "toggle loopback"}, {"V", "next-camera"}, {"h", "toggle mirror"}}}};
  return groups;
}

std::string keys_text(const KeyGroup& group) {
  std::string text;
  for (const KeyBinding& binding : group.keys) {
    text += (text.empty() ? "" : " ") + shown_key(binding.key);
  }
  return text + (group.mouse.empty() ? "" : ", " + std::string(group.mouse));
}

std::string keys_of(std::string_view line) {
  std::string text;
  for (const KeyGroup& group : key_groups()) {
    for (const KeyBinding& binding : group.keys) {
      if (binding.line == line || binding.line.starts_with(std::string(line) + " ")) {
        text += (text.empty() ? "" : ", ") + shown_key(binding.key);
      }
    }
  }
  return text;
}

std::string key_of(std::string_view line) {
  const std::string keys = keys_of(line);
  return keys.substr(0, keys.find(", "));
}

std::string tooltip_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view first = line.substr(0, space);
  std::string keys = keys_of(line);
  const WindowCommand* const command = find_window_command(first);
  const Property* property = find_property(first);
  if (command == nullptr && property == nullptr) {
    const std::string_view rest = line.substr(space + 1);
    property = find_property(rest.substr(0, rest.find(' ')));
  } else if (property != nullptr && space == std::string_view::npos) {
    for (const char* const verb : {"set ", "add ", "multiply ", "toggle ", "cycle "}) {
      const std::string more = keys_of(verb + std::string(line));
      keys += (keys.empty() || more.empty() ? "" : ", ") + more;
    }
  }
  const std::string_view text = property != nullptr ? property->text : command->text;
  return std::string(text) + (keys.empty() ? "" : ". Keys: " + keys);
}

std::vector<std::string> key_help_lines(const std::vector<KeyGroup>& groups, const char* separator) {
  std::size_t width = 0;
  for (const KeyGroup& each : groups) {
    width = std::max(width, keys_text(each).size());
  }
  std::vector<std::string> lines;
  lines.reserve(groups.size());
  for (const KeyGroup& each : groups) {
    lines.push_back(separator != nullptr ? keys_text(each) + separator + std::string(each.help)
                                         : fmt::format("{:<{}}  {}", keys_text(each), width, each.help));
  }
  return lines;
}

}  // namespace limpid::app
