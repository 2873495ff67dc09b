// SPDX-License-Identifier: MIT
// The tables of the properties, commands and keys of the window, and the actions that they request.

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/player/measurements.h"
#include "app/player/properties.h"
#include "app/player/viewer.h"
#include "core/base/error.h"
#include "core/filter/filter.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_tracker.h"
#include "io/screen/control_layer.h"

namespace limpid::app {
namespace {

struct NamedQuality {
  const char* name;
  const char* word;  ///< one of quality_words(), of the default filter
};
constexpr std::array<NamedQuality, 3> kQualityButtons{{{"High", "high"}, {"Good", "good"}, {"Fast", "fast"}}};

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

bool has_chroma(const Viewer& v) { return v.options().format.color_model == ColorModel::kYuv; }

float in_tenths(double value) {
  constexpr double kTenths = 10;
  return static_cast<float>(std::round(value * kTenths) / kTenths);
}

}  // namespace

/// Makes the tables.
struct ViewerTables {
  using Names = std::function<std::vector<std::string>(const Viewer&)>;
  using Get = std::function<double(const Viewer&)>;
  using Set = std::function<void(Viewer&, double)>;

  static std::vector<Property> playing();
  static std::vector<Property> settings();
  static std::vector<Property> noise();
  static std::vector<Property> filters();
  static std::vector<Property> view();
  static std::vector<Property> sources();
  static std::vector<WindowCommand> actions();
  static std::vector<WindowCommand> files();

  static Property number(std::string_view name, std::string_view text, Scope scope, const ValueRange& range,
                         Get get, Set set) {
    return {name, text, scope, range, {}, std::move(get), std::move(set)};
  }
  static Property in_panel(Property property, Place place, const char* label,
                           std::function<bool(const Viewer&)> is_shown = {}) {
    property.place = place;
    property.label = label;
    property.is_shown = std::move(is_shown);
    return property;
  }
  /// A number that the shaders of the picture have under its name.
  static Property shader_value(const char* name, std::string_view text, const ValueRange& range) {
    Property property = number(
        name, text, Scope::kAll, range, [name](const Viewer& v) { return v.state_.shader_values.at(name); },
        [name](Viewer& v, double value) { v.state_.shader_values[name] = value; });
    property.is_of_shader = true;
    return property;
  }
  static Property choice(std::string_view name, std::string_view text, Scope scope, Names names, Get get,
                         Set set) {
    return {name, text, scope, {}, std::move(names), std::move(get), std::move(set)};
  }
  template <typename IsOn>
  static Property flag(std::string_view name, std::string_view text, Scope scope, IsOn is_on,
                       std::function<void(Viewer&, bool)> set) {
    const auto get = [is_on](const Viewer& v) { return is_on(v) ? 1.0 : 0.0; };
    return choice(name, text, scope, names_of({"off", "on"}), get,
                  [set = std::move(set)](Viewer& v, double on) { set(v, on != 0); });
  }
  static Property flag(std::string_view name, std::string_view text, bool ViewState::*value) {
    return flag(
        name, text, Scope::kAll, [value](const Viewer& v) { return v.state_.*value; },
        [value](Viewer& v, bool on) { v.state_.*value = on; });
  }
  static Names names_of(std::vector<std::string> names) {
    return [names = std::move(names)](const Viewer&) { return names; };
  }
  template <typename Change>
  static Set change(Change change) {
    return [change](Viewer& v, double value) {
      PlayerSettings settings = v.panel_settings();
      change(v, settings, value);
      v.change_settings(settings);
    };
  }
  template <typename Value>
  static Get setting(Value value) {
    return [value](const Viewer& v) { return double{value(v.panel_settings())}; };
  }
  template <typename Run>
  static WindowCommand action(std::string_view name, std::string_view text, Scope scope, Run run) {
    return {name, text, scope, false, [run](Viewer& v, const std::string& argument) {
              if constexpr (std::is_invocable_v<Run, Viewer&>) {
                run(v);
              } else {
                run(v, argument);
              }
            }};
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
  return {flag(
              "pause", "Play or pause", Scope::kMoving,
              [](const Viewer& v) { return v.player_->paused() || v.state_.ended; },
              [](Viewer& v, bool on) { v.set_paused(on); }),
          number(
              "position", "Time", kFilm, {0, 1, kLongest, 0, 0, 3, " s"},
              [](const Viewer& v) { return v.position(); }, [](Viewer& v, double time) { v.seek_to(time); }),
          number(
              "speed", "Speed; audio keeps its pitch from x0.5 to x2", kFilm, {0.05, 4, 20, 0, 1, 2, ""},
              [](const Viewer& v) { return v.player_->speed(); }, set_speed),
          number(
              "volume", "Volume", Scope::kMoving, {0, 100, 100, 1, 100, 0, " %"},
              [](const Viewer& v) { return 100 * v.state_.volume; },
              [set_volume](Viewer& v, double volume) { set_volume(v, volume / 100, false); }),
          flag(
              "mute", "Mute", Scope::kMoving, [](const Viewer& v) { return v.state_.muted; },
              [set_volume](Viewer& v, bool on) { set_volume(v, v.state_.volume, on); }),
          flag(
              "loop", "Repeat the passage, or the whole file", kFilm,
              [](const Viewer& v) { return v.state_.loops; }, [](Viewer& v, bool on) { v.set_loop(on); })};
}

std::vector<Property> ViewerTables::settings() {
  constexpr Scope kAll = Scope::kAll;
  constexpr ValueRange kStrength{0, 4, 10, 0.05, 1, 2, ""};
  const auto set_strength = [](const Viewer& v, PlayerSettings& settings, double value) {
    Strength& strength = settings.noise.strength;
    const bool together =
        strength.chroma == strength.luma || v.options_.format.color_model != ColorModel::kYuv;
    strength.luma = static_cast<float>(value);
    strength.chroma = together ? strength.luma : strength.chroma;
  };
  const auto set_chroma = [](const Viewer&, PlayerSettings& settings, double value) {
    settings.noise.strength.chroma = static_cast<float>(value);
  };
  const auto set_mix = [](const Viewer&, PlayerSettings& settings, double value) {
    settings.noise.mix = static_cast<float>(value) / 100;
  };
  const auto is_second = [](const Viewer& v) {
    return (v.state_.side == Side::kPair ? v.pair_.choice() : v.pair_.second()) ? 1.0 : 0.0;
  };
  const auto choose = [](Viewer& v, double second) {
    if (v.pair_.second() != (second != 0)) {
      v.flip_settings();
    }
  };
  return {number("strength", "Factor of the noise level; that of chroma follows while both are equal", kAll,
                 kStrength, setting([](const PlayerSettings& s) { return s.noise.strength.luma; }),
                 change(set_strength)),
          in_panel(number("chroma-strength", "Factor of the noise level of chroma", kAll, kStrength,
                          setting([](const PlayerSettings& s) { return s.noise.strength.chroma; }),
                          change(set_chroma)),
                   Place::kStrength, "Chroma", has_chroma),
          in_panel(number("original", "Share of the noisy picture in the result", kAll,
                          {0, 100, 100, 1, 0, 0, " %"},
                          setting([](const PlayerSettings& s) { return std::round(100 * s.noise.mix); }),
                          change(set_mix)),
                   Place::kStrength, "Original"),
          choice(
              "encoding", "Quality of written files; lossless is possible in .mkv, .mov and .avi",
              Scope::kFile, names_of({io::kEncodingNames.begin(), io::kEncodingNames.end()}),
              [](const Viewer& v) { return static_cast<double>(v.output_.encoding()); },
              [](Viewer& v, double value) { v.output_.set_encoding(static_cast<Encoding>(value)); }),
          choice("settings", "Settings A or B", kAll, names_of({"A", "B"}), is_second, choose)};
}

std::vector<Property> ViewerTables::noise() {
  constexpr ValueRange kLevel{0, 50, double{kMaxSigma}, 0.5, 0, 1, ""};
  const auto source = [](const Viewer& v) {
    const PlayerSettings settings = v.panel_settings();
    const bool has_box = v.area_.is_source_of(settings.noise);
    return !settings.noise.noise ? 0.0 : has_level(settings) ? 1.0 : has_box ? 2.0 : 3.0;
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
    sigma = {static_cast<float>(value), in_tenths(double{sigma[1]} * ratio),
             in_tenths(double{sigma[2]} * ratio)};
    settings.noise.noise = level_of(sigma);
  };
  const auto set_chroma = [](const Viewer& v, PlayerSettings& settings, double value) {
    std::array<float, 3> sigma = level_in(v);
    sigma[1] = sigma[2] = static_cast<float>(value);
    settings.noise.noise = level_of(sigma);
  };
  return {choice("noise",
                 "Noise of the whole clip; a number; the noise of an area: a box on a flat part, which the "
                 "mouse moves; or a noise profile or settings file",
                 Scope::kAll, names_of({"clip", "number", "area", "file"}), source, set_source),
          in_panel(number(
                       "level", "Noise standard deviation in 8-bit code values", Scope::kAll, kLevel,
                       [](const Viewer& v) { return double{level_in(v)[0]}; }, change(set_level)),
                   Place::kNoise, "Level"),
          in_panel(number(
                       "chroma-level", "Noise standard deviation of chroma in 8-bit code values", Scope::kAll,
                       kLevel, [](const Viewer& v) { return double{level_in(v)[1]}; }, change(set_chroma)),
                   Place::kNoise, "Chroma", has_chroma)};
}

std::vector<Property> ViewerTables::filters() {
  constexpr Scope kAll = Scope::kAll;
  const auto quality = [](const Viewer& v) {
    const FilterSettings filter = v.panel_settings().filter;
    const auto is_used = [&](const NamedQuality& each) {
      return filter.name == default_filter(v.options_.still_picture) &&
             filter.profile == profile_for(filter_type(filter.name).profiles, each.word);
    };
    const auto* const used = std::ranges::find_if(kQualityButtons, is_used);
    return used == kQualityButtons.end() ? -1.0 : static_cast<double>(used - kQualityButtons.begin());
  };
  const auto set_quality = [](const Viewer& v, PlayerSettings& settings, double value) {
    settings.filter.name = default_filter(v.options_.still_picture);
    settings.filter.profile = profile_for(filter_type(settings.filter.name).profiles,
                                          kQualityButtons[static_cast<std::size_t>(value)].word);
  };
  const auto set_filter = [](const Viewer& v, PlayerSettings& settings, double value) {
    settings.filter.name = v.options_.filters[static_cast<std::size_t>(value)];
  };
  const auto profile = [](const Viewer& v) {
    const FilterSettings filter = v.panel_settings().filter;
    return index_in(filter_type(filter.name).profiles, filter.profile.value_or(""));
  };
  const auto set_profile = [](Viewer& v, double value) {
    PlayerSettings settings = v.panel_settings();
    const std::vector<std::string>& profiles = filter_type(settings.filter.name).profiles;
    if (profiles.empty()) {
      return v.notice(settings.filter.name + " has no profiles");
    }
    settings.filter.profile = profiles[static_cast<std::size_t>(value)];
    v.change_settings(settings);
  };
  const auto set_pace = [](const Viewer&, PlayerSettings& settings, double on) {
    settings.keeps_pace = on != 0;
  };
  Property pace = flag("pace", "Use a quicker filter while playing, where this one is too slow",
                       Scope::kMoving, [](const Viewer& v) { return v.panel_settings().keeps_pace; }, {});
  pace.set = change(set_pace);
  return {
      choice("quality",
             "Filter and profile for files and pauses; playing uses a quicker filter if this one is too slow",
             kAll, names_of({kQualityButtons[0].name, kQualityButtons[1].name, kQualityButtons[2].name}),
             quality, change(set_quality)),
      choice(
          "filter", "Filter", kAll, [](const Viewer& v) { return v.options_.filters; },
          [](const Viewer& v) { return index_in(v.options_.filters, v.panel_settings().filter.name); },
          change(set_filter)),
      choice(
          "profile", "Profile: quality against speed", kAll,
          [](const Viewer& v) { return filter_type(v.panel_settings().filter.name).profiles; }, profile,
          set_profile),
      pace};
}

std::vector<Property> ViewerTables::view() {
  constexpr Scope kAll = Scope::kAll;
  const auto set_view = [](Viewer& v, double value) {
    const Side side = static_cast<Side>(value);
    side == Side::kPair&& v.state_.side != side ? v.show_pair() : v.change_side(side);
  };
  const auto zoom = [](const Viewer& v) {
    const int factor = v.screen_.view().zoom();
    return factor == 0 ? 0.0 : std::log2(factor) + 1;
  };
  const auto set_zoom = [](Viewer& v, double value) {
    const io::Size area = v.screen_.picture_area(v.state_.side);
    v.change_zoom(value > 0 ? 1 << (static_cast<int>(value) - 1) : 0, {area.width / 2.0, area.height / 2.0});
  };
  const auto set_mirror = [](Viewer& v, bool on) {
    if (std::exchange(v.state_.mirrored, on) != on) {
      v.screen_.view().mirror();
    }
  };
  const auto set_full_screen = [](Viewer& v, bool on) {
    if (v.screen_.window().is_full_screen() != on) {
      v.screen_.window().toggle_full_screen();
    }
    v.notice("");
  };
  const auto set_panel = [](Viewer& v, bool on) {
    v.screen_.controls().open_panel(on);
    v.notice("");
  };
  const auto set_help = [](Viewer& v, bool on) {
    v.state_.help = on;
    v.notice("");
  };
  return {
      choice(
          "view", "Noisy, denoised, or both; the difference shows what is removed", kAll,
          names_of({kSideNames.begin(), kSideNames.end()}),
          [](const Viewer& v) { return static_cast<double>(v.state_.side); }, set_view),
      in_panel(shader_value("gain", "Gain of the difference", {1, 32, 32, 0.5, 4, 1, ""}), Place::kCompare,
               "Gain", [](const Viewer& v) { return v.state_.side == Side::kDifference; }),
      choice("zoom", "Zoom", kAll, names_of({"Fit", "1:1", "2:1", "4:1", "8:1"}), zoom, set_zoom),
      flag(
          "mirror", "Exchange left and right in this window only", Scope::kCamera,
          [](const Viewer& v) { return v.state_.mirrored; }, set_mirror),
      flag("pixels", "Values of the pixel below the pointer, noisy and denoised", &ViewState::pixels),
      flag("statistics", "Statistics", &ViewState::statistics),
      flag(
          "help", "List of all keys", kAll, [](const Viewer& v) { return v.state_.help; }, set_help),
      flag(
          "panel", "Open or close the settings", kAll,
          [](const Viewer& v) { return v.screen_.controls().is_open(); }, set_panel),
      flag(
          "full-screen", "Full screen", kAll,
          [](const Viewer& v) { return v.screen_.window().is_full_screen(); }, set_full_screen),
      flag(
          "line-follows", "The split line follows the pointer", kAll,
          [](const Viewer& v) { return !v.screen_.split().locked(); },
          [](Viewer& v, bool on) { v.screen_.split().set_locked(!on); })};
}

std::vector<Property> ViewerTables::sources() {
  constexpr Scope kCamera = Scope::kCamera;
  const auto cameras = [](const Viewer& v) {
    std::vector<std::string> names;
    std::ranges::transform(v.cameras_, std::back_inserter(names), &CameraChoice::name);
    return names;
  };
  const auto microphones = [](const Viewer& v) {
    std::vector<std::string> names;
    std::ranges::transform(v.options_.microphones, std::back_inserter(names), &io::Microphone::name);
    return names;
  };
  const auto microphone = [](const Viewer& v) {
    const auto& all = v.options_.microphones;
    const auto used = std::ranges::find(all, v.options_.microphone, &io::Microphone::id);
    return used == all.end() ? -1.0 : static_cast<double>(used - all.begin());
  };
  const auto set_loopback = [](Viewer& v, bool) {
    v.notice(v.options_.toggle_loopback ? v.options_.toggle_loopback() : "there is no loopback device");
  };
  return {
      choice(
          "camera", "Camera and format", kCamera, cameras, [](const Viewer&) { return -1.0; },
          [](Viewer& v, double value) { v.show_camera(static_cast<std::size_t>(value)); }),
      choice("microphone", "Microphone for recordings. The camera is opened again", kCamera, microphones,
             microphone,
             [](Viewer& v, double value) {
               v.use_microphone(v.options_.microphones[static_cast<std::size_t>(value)].id);
             }),
      flag(
          "loopback", "Other programs receive the denoised video, through v4l2loopback or PipeWire", kCamera,
          [](const Viewer& v) { return v.options_.loops_back && v.options_.loops_back(); }, set_loopback)};
}

std::vector<WindowCommand> ViewerTables::actions() {
  constexpr Scope kAll = Scope::kAll;
  constexpr Scope kFilm = Scope::kFilm;
  const auto zoom_at = [](Viewer& v, bool greater, View::Point at, bool wraps) {
    const int now = v.screen_.view().zoom();
    const int next = v.screen_.view().next_zoom(greater, v.screen_.picture_area(v.state_.side));
    v.change_zoom(wraps && next == now ? 0 : next, at);
    v.notice("zoom: " + v.text("zoom"));
  };
  const auto zoom = [zoom_at](Viewer& v, const std::string& argument) {
    zoom_at(v, argument == "in", v.mouse_.zoom_point(), true);
  };
  const auto wheel = [zoom_at](Viewer& v, const std::string& argument) {
    v.state_.side == Side::kDifference ? v.execute(argument == "in" ? "multiply gain 2" : "multiply gain 0.5")
                                       : zoom_at(v, argument == "in", v.mouse_.zoom_point(), false);
  };
  const auto go_to_end = [](Viewer& v) {
    if (v.options_.duration <= 0) {
      return v.notice("the duration of this source is not known");
    }
    v.player_->set_paused(true);  // to be looked at
    v.seek_to(v.options_.duration);
  };
  const auto copy_settings = [](Viewer& v) {
    v.pair_.copy(v.player_->settings());
    v.notice(fmt::format("settings copied to {}", v.pair_.second() ? "A" : "B"));
  };
  const auto center = [](Viewer& v) {
    v.screen_.split().center();
    v.notice("split line in the middle");
  };
  // A quarter of a frame more than the frames have, so that rounding leaves none out.
  const auto mark = [](Viewer& v, const std::string& argument) {
    const double frame = 1 / v.player_options_.frames_per_second;
    argument == "begin" ? v.mark_passage(v.state_.passage.begin, v.position() - frame / 4)
                        : v.mark_passage(v.state_.passage.end, v.position() + 3 * frame / 4);
  };
  WindowCommand step = action("step", "One frame back or forward", Scope::kMoving,
                              [](Viewer& v, const std::string& argument) { v.step_frames(argument == "1"); });
  step.repeats = true;
  return {
      step,
      action("chapter", "Next or previous chapter", kFilm,
             [](Viewer& v, const std::string& argument) { v.go_to_chapter(argument == "1" ? 1 : -1); }),
      action("go-to-end", "Last frame", kFilm, go_to_end),
      action("undo", "Undo the last change of a setting", kAll, [](Viewer& v) { v.undo(false); }),
      action("redo", "Redo what was undone", kAll, [](Viewer& v) { v.undo(true); }),
      action("measure-noise", "Measure the noise in the box", kAll, [](Viewer& v) { v.take_noise_of_box(); }),
      action("copy-settings", "Copy these settings to the other ones", kAll, copy_settings),
      action("zoom", "Zoom", kAll, zoom),
      action("wheel", "Zoom at the pointer, or the gain of the difference", kAll, wheel),
      action("center-line", "Split line in the middle", kAll, center),
      action("close", "Close the list, help, area or full screen", kAll, [](Viewer& v) { v.close_top(); }),
      action("quit", "Quit", kAll, [](Viewer& v) { v.ask_to_quit(); }),
      action("answer", "Quit while a file is written", kAll,
             [](Viewer& v, const std::string& argument) { v.answer(argument); }),
      action("refuse-text", "Text that is not a number", kAll,
             [](Viewer& v, const std::string& text) { v.notice("not a number: " + text); }),
      action("mark", "Begin or end of the passage: this frame", kFilm, mark),
      action("whole-file", "The whole file again", kFilm, [](Viewer& v) { v.show_whole(); }),
      action("step-loop", "Loop: set its begin, set its end, stop", kFilm, [](Viewer& v) { v.step_loop(); }),
      action("drag-passage", "Begin or end of the passage to write or repeat", kFilm,
             [](Viewer& v, const std::string& argument) { v.drag_passage(argument); }),
      action("release-passage", "End of a drag", kFilm, [](Viewer& v) { v.release_passage(); })};
}

std::vector<WindowCommand> ViewerTables::files() {
  constexpr Scope kAll = Scope::kAll;
  constexpr Scope kFile = Scope::kFile;
  const auto pictures = [](Viewer& v) {
    v.save([&v] { v.output_.save_pictures(*v.shown_, v.screen_.split_column(), !v.state_.mirrored); });
  };
  const auto window = [](Viewer& v) {
    v.save([&v] {
      v.draw();
      v.output_.save_window(v.screen_.window().snapshot(), v.shown_->noisy.index);
    });
  };
  const auto record = [](Viewer& v) {
    v.notice(v.options_.toggle_recording ? v.options_.toggle_recording() : "this source is not recorded");
  };
  return {
      action("write", "Denoise to a file in the background", kFile,
             [](Viewer& v) { v.output_.start(v.player_->settings(), v.state_.passage); }),
      action("cancel-writing", "Cancel the file, and keep what is written so far", kFile,
             [](Viewer& v) { v.output_.cancel(); }),
      action("copy-command", "Copy the command of this result", kFile, [](Viewer& v) { v.copy_command(); }),
      action("open", "Open another file, or drop it on the window", kFile,
             [](Viewer& v) { v.show_files(false); }),
      action("save-settings", "Write these settings to a file, for --settings", kAll,
             [](Viewer& v) { v.output_.save_settings(v.settings()); }),
      action("save-noise", "Write the noise of the area beside the video, for --noise", kAll,
             [](Viewer& v) { v.output_.save_noise(v.player_->settings().noise); }),
      action("save-pictures", "Write this picture, noisy and denoised", kAll, pictures),
      action("save-window", "Write a picture of the window", kAll, window),
      action("record", "Begin or end a recording", Scope::kCamera, record),
      action("next-camera", "Next camera", Scope::kCamera, [](Viewer& v) { v.show_next_camera(); })};
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
      joined_rows<WindowCommand>(ViewerTables::actions(), ViewerTables::files());
  return all;
}

const Property* find_property(std::string_view name) { return find_row(properties(), name); }
const WindowCommand* find_window_command(std::string_view name) { return find_row(window_commands(), name); }

const std::vector<KeyGroup>& key_groups() {
  constexpr Scope kAll = Scope::kAll;
  constexpr Scope kFilm = Scope::kFilm;
  constexpr Scope kMoving = Scope::kMoving;
  constexpr Scope kFile = Scope::kFile;
  // Keys with their lines, separated by "; ".
  static const std::vector<KeyGroup> groups{
      {kMoving, "click", "pause, play", "SPACE toggle pause; p toggle pause"},
      {kMoving, "", "one frame forward, back", ". step 1; , step -1"},
      {kFilm, "", "5 s, 1 s, 1 min back, forward",
       "LEFT add position -5; RIGHT add position 5; Shift+LEFT add position -1; Shift+RIGHT add position 1; "
       "DOWN add position -60; UP add position 60"},
      {kFilm, "", "go to the beginning, the end; previous, next chapter",
       "HOME set position 0; END go-to-end; PGDN chapter -1; PGUP chapter 1"},
      {kFilm, "", "slower, faster, normal, half, double speed",
       "[ multiply speed 0.909091; ] multiply speed 1.1; BACKSPACE set speed 1; { multiply speed 0.5; } "
       "multiply speed 2"},
      {kMoving, "", "lower, raise the volume; mute",
       "9 add volume -10; 0 add volume 10; / add volume -10; * add volume 10; m toggle mute"},
      {kAll, "", "raise, lower the strength", "Shift+UP add strength 0.1; Shift+DOWN add strength -0.1"},
      {kAll, "", "raise, lower the strength of chroma",
       "Ctrl+UP add chroma-strength 0.1; Ctrl+DOWN add chroma-strength -0.1"},
      {kAll, "", "more, less of the original in the result", "d add original 5; D add original -5"},
      {kAll, "", "undo, redo the last change of a setting", "Ctrl+Z undo; Ctrl+Y redo"},
      {kAll, "", "raise, lower the noise level", "+ add level 0.5; = add level 0.5; - add level -0.5"},
      {kAll, "", "lower, raise the level of chroma", "( add chroma-level -0.5; ) add chroma-level 0.5"},
      {kAll, "", "noise: estimated, by hand", "a set noise clip; v set noise number"},
      {kAll, "drag with the right button", "measure the noise in a flat area", "n set noise area"},
      {kAll, "", "use a noise profile or settings; save the noise", "N set noise file; Ctrl+N save-noise"},
      {kAll, "", "next, previous filter; next, previous profile",
       "e cycle filter; E cycle filter -1; c cycle profile; C cycle profile -1"},
      {kMoving, "", "quality that keeps pace, or always this filter", "Q toggle pace"},
      {kAll, "", "flip between the settings A and B; copy to the other",
       "b toggle settings; B copy-settings"},
      {kAll, "", "noisy, denoised, split, side by side, difference",
       "1 set view noisy; 2 set view denoised; 3 set view split; 4 set view side; 6 set view difference"},
      {kFile, "", "A left of the line, B right of it", "5 set view pair"},
      {kAll, "wheel", "gain of the difference", "g multiply gain 2; G multiply gain 0.5"},
      {kAll, "", "values of the pixel below the pointer", "P toggle pixels"},
      {kAll, "drag", "move, unlock, center the split line", "t toggle line-follows; | center-line"},
      {kAll, "wheel", "zoom in, out; drag to move", "z zoom in; Z zoom out"},
      {kAll, "double click", "full screen", "f toggle full-screen"},
      {kAll, "", "open, close the settings", "TAB toggle panel"},
      {kAll, "", "statistics; these keys", "i toggle statistics; ? toggle help"},
      {kAll, "", "close the list, help, area or full screen", "ESC close"},
      {kAll, "", "quit", "q quit"},
      {kFilm, "drag the handles", "begin, end of the passage; the whole file; loop: set both ends, stop",
       "I mark begin; O mark end; X whole-file; l step-loop"},
      {kFile, "", "write the passage or file in the background; cancel that", "w write; W cancel-writing"},
      {kFile, "", "copy the command of this result", "Ctrl+C copy-command"},
      {kAll, "", "save these settings", "Ctrl+S save-settings"},
      {kFile, "drop a file", "open a file", "Ctrl+O open"},
      {kAll, "", "save pictures: noisy, denoised and split; the window", "s save-pictures; S save-window"},
      {Scope::kCamera, "", "record; be a camera for others; next camera; mirror",
       "r record; L toggle loopback; V next-camera; h toggle mirror"}};
  return groups;
}

KeyGroup::KeyGroup(Scope of, std::string_view by_mouse, std::string_view text, std::string_view bindings)
    : scope(of), mouse(by_mouse), help(text) {
  while (!bindings.empty()) {
    const std::string_view binding = bindings.substr(0, bindings.find("; "));
    keys.push_back({binding.substr(0, binding.find(' ')), binding.substr(binding.find(' ') + 1)});
    bindings.remove_prefix(std::min(binding.size() + 2, bindings.size()));
  }
}

std::string keys_text(const KeyGroup& group) {
  std::string text;
  for (const KeyBinding& binding : group.keys) {
    text += (text.empty() ? "" : " ") + std::string(binding.key);
  }
  return text + (group.mouse.empty() ? "" : ", " + std::string(group.mouse));
}

std::string keys_of(std::string_view line) {
  std::string text;
  for (const KeyGroup& group : key_groups()) {
    for (const KeyBinding& binding : group.keys) {
      if (binding.line == line || binding.line.starts_with(std::string(line) + " ")) {
        text += (text.empty() ? "" : ", ") + std::string(binding.key);
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

std::vector<std::string> key_help_lines(const std::vector<KeyGroup>& groups) {
  std::vector<std::string> lines;
  lines.reserve(groups.size());
  for (const KeyGroup& each : groups) {
    lines.push_back(keys_text(each) + "\t" + std::string(each.help));
  }
  return lines;
}

// ESC closes one thing at a time, and never the window.
void Viewer::close_top() {
  screen_.redraw();
  if (state_.help) {
    state_.help = false;
  } else if (area_.box()) {
    area_.box().reset();
  } else if (screen_.window().is_full_screen()) {
    screen_.window().toggle_full_screen();
  }
}

void Viewer::show_next_camera() {
  if (!trouble_.empty()) {
    cameras_ = options_.find_cameras();
  }
  const auto& all = cameras_;
  // A camera that is back with another format counts as another one.
  const auto is_other = [&](const CameraChoice& each) {
    return !trouble_.empty() || each.node != options_.camera;
  };
  const auto own = std::ranges::find(all, options_.camera, &CameraChoice::node);
  const auto next = std::find_if(own, all.end(), is_other);
  const auto first = std::ranges::find_if(all, is_other);
  if (first == all.end()) {
    return notice("no other camera");
  }
  show_camera(static_cast<std::size_t>((next == all.end() ? first : next) - all.begin()));
}

bool Viewer::go_to(double seconds) {
  const Passage played = is_bounded() ? state_.passage : Passage{};
  double target = seconds;
  if (played.end) {  // its last frame
    target = std::min(target, *played.end - 0.5 / player_options_.frames_per_second);
  } else if (options_.duration > 0) {
    target = std::min(target, options_.duration);
  }
  target = std::max(target, played.begin.value_or(0));
  if (!player_->seek(target)) {
    notice("this source can't go back or forth");
    return false;
  }
  asked_at_ = Clock::now();
  audio_.seek_with_picture(target);
  state_.ended = false;
  return true;
}

void Viewer::set_paused(bool paused) {
  if (state_.ended && !paused && player_->can_seek()) {
    player_->set_paused(false);
    seek_to(0);  // or to the beginning of the passage
    return notice("from the beginning");
  }
  player_->set_paused(paused);
  if (!paused) {
    audio_.seek(player_->position());  // frames may have been stepped through
  }
  notice(paused ? "paused" : "playing");
}

void Viewer::undo(bool again) {
  const PlayerSettings& used = player_->settings();
  SettingsHistory& history = history_[pair_.second() ? 1 : 0];
  const std::optional<PlayerSettings> settings = again ? history.redo(used) : history.undo(used);
  const std::string word = again ? "redo" : "undo";
  if (!settings) {
    return notice("nothing to " + word);
  }
  apply_settings(*settings, word + ": " + settings_text(*settings));
}

bool Viewer::apply_settings(PlayerSettings settings, const std::string& text) {
  const auto tell = [&] {
    if (!text.empty()) {
      notice(text);
    }
  };
  if (settings == player_->settings()) {
    tell();
    return false;
  }
  // Filters have profiles of their own.
  const FilterType& type = filter_type(settings.filter.name);
  std::optional<std::string>& profile = settings.filter.profile;
  if (!type.profiles.empty() && std::ranges::find(type.profiles, profile) == type.profiles.end()) {
    profile = type.default_profile;
  }
  try {
    static_cast<void>(offline_filter(settings));
  } catch (const UsageError& error) {
    notice(error.what());
    return false;
  }
  area_.suit(settings.noise);
  if (state_.side == Side::kPair) {
    pair_.note_request(settings);
  }
  measurements_.forget_slowness();
  request_settings(settings);
  tell();
  return true;
}

void Viewer::take_noise_of_box() {
  const NoiseArea::Measured measured = area_.measure(*shown_);
  if (!measured.noise) {
    return notice(measured.text);
  }
  PlayerSettings settings = player_->settings();
  settings.noise.noise = measured.noise;
  change_settings(settings, measured.text);
}

// The flattest part of the picture, where the bar does not cover it.
void Viewer::propose_box() {
  if (options_.after == nullptr && !area_.propose(*shown_, screen_.seen_part(state_.side))) {
    constexpr int kLeast = NoiseTracker::kLeastSide;
    return notice(fmt::format("{}x{} samples are needed to measure noise", kLeast, kLeast));
  }
  take_noise_of_box();
}

// Both settings are shown of a paused picture.
void Viewer::show_pair() {
  if (!pair_.is_complete()) {  // B begins as A, and is changed
    pair_.flip(player_->settings());
  }
  player_->set_paused(true);
  pair_.begin_comparison();
  change_side(Side::kPair);
}

// Ends a change of settings that the view of both has made, not the user.
void Viewer::restore_pair() {
  if (state_.side != Side::kPair) {
    return;
  }
  if (const std::optional<PlayerSettings> chosen = pair_.restore(player_->settings())) {
    player_->set_settings(*chosen);
  }
}

// One chapter back goes to the beginning of this one, unless that has just begun.
void Viewer::go_to_chapter(int step) {
  const std::vector<io::Chapter>& chapters = options_.chapters;
  if (chapters.empty()) {
    return notice("no chapters");
  }
  constexpr double kJustBegun = 2;
  const double now = position() + (step > 0 ? kSameInstant : -kJustBegun);
  const auto behind =
      std::ranges::find_if(chapters, [now](const io::Chapter& each) { return each.begin > now; });
  if (step > 0 && behind == chapters.end()) {
    return notice("the last chapter");
  }
  const auto chapter = step > 0 || behind == chapters.begin() ? behind : behind - 1;
  seek_to(chapter->begin);
  notice(fmt::format("chapter {} of {}{}", chapter - chapters.begin() + 1, chapters.size(),
                     chapter->title.empty() ? "" : ": " + io::valid_utf8(chapter->title)));
}

void Viewer::mark_passage(std::optional<double>& end, double time) {
  const Passage before = state_.passage;
  end = std::max(time, 0.0);
  if (state_.passage.begin && state_.passage.end && *state_.passage.begin >= *state_.passage.end) {
    state_.passage = before;
    return notice("a passage begins before its end");
  }
  notice(fmt::format("passage {} to {}",
                     state_.passage.begin ? time_text(*state_.passage.begin) : "the beginning",
                     state_.passage.end ? time_text(*state_.passage.end) : "the end"));
  if (is_bounded()) {
    use_passage(state_.passage.begin.value_or(0));
  }
}

void Viewer::show_whole() {
  const bool was_bounded = is_bounded();
  state_.passage = {};
  state_.plays_passage = false;
  notice("the whole file");
  if (was_bounded) {
    use_passage(position());
  }
}

// Repeats the passage, or the whole source.
void Viewer::set_loop(bool loops) {
  if (!player_->can_seek()) {
    return notice("this source can't go back or forth");
  }
  state_.loops = loops;
  state_.plays_passage = false;
  if (!loops) {
    notice("no loop");
    return use_passage(position());
  }
  const Passage& passage = state_.passage;
  notice(passage == Passage{} ? "loop of the whole file"
                              : fmt::format("loop from {} to {}", time_text(passage.begin.value_or(0)),
                                            passage.end ? time_text(*passage.end) : "the end"));
  use_passage(passage.begin.value_or(0));
}

// Marks the beginning, then the end, and begins to repeat; ends that.
void Viewer::step_loop() {
  if (!player_->can_seek() || state_.loops) {
    return set_loop(false);
  }
  // A quarter of a frame more than the frames have, so that rounding leaves none out.
  const double frame = 1 / player_options_.frames_per_second;
  if (state_.passage == Passage{}) {
    state_.passage.begin = std::max(position() - frame / 4, 0.0);
    return notice(
        fmt::format("loop from {}; {} sets its end", time_text(*state_.passage.begin), key_of("step-loop")));
  }
  if (!state_.passage.end) {
    mark_passage(state_.passage.end, position() + 3 * frame / 4);
  }
  if (state_.passage.end) {
    set_loop(true);
  }
}

// While a handle is dragged, the frame at its place is shown. `argument`: "begin 2.5" or "end 2.5".
void Viewer::drag_passage(const std::string& argument) {
  const double time = parse_number(argument.substr(argument.find(' '))).value_or(0);
  (argument.starts_with("begin") ? state_.passage.begin : state_.passage.end) = time;
  state_.resumes = state_.resumes || !player_->paused();
  player_->set_paused(true);
  player_->set_passage(std::nullopt, false);
  player_->seek(time);
  audio_.seek_with_picture(time);
  state_.ended = false;
  asked_at_ = Clock::now();
}

void Viewer::release_passage() {
  const Passage& passage = state_.passage;
  player_->set_paused(player_->paused() && !std::exchange(state_.resumes, false));
  notice(fmt::format("passage {} to {}", time_text(passage.begin.value_or(0)),
                     time_text(passage.end.value_or(options_.duration))));
  use_passage(is_bounded() ? passage.begin.value_or(0) : position());
}

void Viewer::step_frames(bool forward) {
  if (forward) {
    return player_->step_forward();
  }
  asked_at_ = Clock::now();
  state_.ended = false;
  player_->step_back();
}

void Viewer::copy_command() {
  const std::string line = command_line();
  if (line.empty()) {
    return notice("no command line repeats this source");
  }
  screen_.window().copy(line);
  spdlog::info(fmt::format("command: {}", line));
  notice("copied: " + line);
}

void Viewer::open_file(const std::string& path) {
  restore_pair();
  if (!FileInput::has_settings(path)) {
    state_.quits = input_.choose(path, output_.is_writing()) || state_.quits;
  } else if (const auto read = input_.read_settings_of(path, player_->settings())) {
    area_.box().reset();
    change_settings(read->settings, read->text);
  }
}

// Pictures are saved with the settings in use, after refinement.
void Viewer::save(const std::function<void()>& pictures) {
  if (!awaited_ && !player_->will_refine()) {
    return pictures();
  }
  saves_.push_back(pictures);
  notice("to be saved when the final result is there");
}

void Viewer::ask_to_quit() {
  output_.poll();  // it may just have ended
  if (!output_.is_writing()) {
    state_.quits = true;
    return;
  }
  state_.asks_to_quit = true;
  screen_.redraw();
}

}  // namespace limpid::app
