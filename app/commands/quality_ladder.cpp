// SPDX-License-Identifier: MIT
#include "app/commands/quality_ladder.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/console/durable_file.h"
#include "app/console/process.h"
#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/settings/json_reader.h"

namespace limpid::app {
namespace {

// Relative times per frame.
struct Cost {
  double on_gpu;
  double on_processors;

  double of(const LadderUse& use) const { return use.on_processors ? on_processors : on_gpu; }
};

struct Quality {
  std::string_view filter;
  std::string_view profile;
  Cost cost;
};

constexpr std::array<Quality, 7> kQualities = {{{"bilateral", "", {0.3, 0.33}},
                                                {"recursive", "fast", {1, 1}},
                                                {"recursive", "np", {1.5, 1.5}},
                                                {"vbm4d", "fast", {2, 7}},
                                                {"vbm4d", "lc", {3, 10}},
                                                {"vbm4d", "np", {5, 30}},
                                                {"vbm4d", "high", {17, 100}}}};
constexpr Cost kCostOfVnlb = {40, 150};

// The place of settings in the list; its size if they are better than all of it.
std::size_t place_of(const PlayerSettings& settings) {
  const auto place = std::ranges::find_if(kQualities, [&](const Quality& quality) {
    return quality.filter == settings.filter.name && quality.profile == settings.filter.profile;
  });
  return static_cast<std::size_t>(place - kQualities.begin());
}

}  // namespace

Filter filter_of(const PlayerSettings& settings) {
  return settings.looks_ahead ? offline_filter(settings) : live_filter(settings);
}

QualityLadder make_ladder(const PlayerSettings& settings, const LadderUse& use) {
  const auto rung = [&](const PlayerSettings& of, double cost) {
    return QualityRung{.settings = of, .cost = cost, .reach = reach_of(filter_of(of))};
  };
  const bool has_quicker = settings.filter.name == "vbm4d" || settings.filter.name == "vnlb";
  if (!settings.keeps_pace || !has_quicker) {
    return {.rungs = {rung(settings, 1)}, .first = 0};
  }
  QualityLadder ladder;
  const std::size_t last = place_of(settings);
  for (std::size_t i = 0; i < last; ++i) {
    const Quality& quality = kQualities[i];
    if (quality.profile == "lc" || (quality.filter == "recursive" && !use.unbounded)) {
      continue;  // hardly better than the rung before
    }
    PlayerSettings of = settings;
    of.filter.name = quality.filter;
    of.filter.profile = quality.profile;
    of.looks_ahead = !use.live && quality.filter == "vbm4d";
    ladder.rungs.push_back(rung(of, quality.cost.of(use)));
  }
  PlayerSettings best = settings;
  best.looks_ahead = !use.live;
  ladder.rungs.push_back(
      rung(best, (last < kQualities.size() ? kQualities[last].cost : kCostOfVnlb).of(use)));
  // bilateral, recursive fast, recursive np: a GPU does the last one in any case.
  ladder.first = !use.unbounded ? 0 : use.on_processors ? 1 : 2;
  return ladder;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionKey = "limpid_speeds";
constexpr int kVersion = 1;
constexpr std::size_t kMostSpeedBytes = std::size_t{1} << 20;
// The oldest entries are dropped.
constexpr std::size_t kMostSpeeds = 1000;
constexpr double kWrong = 0.3;
// The time of a size is computed from another size up to this ratio of their samples.
constexpr double kGreatestRatio = 16;

double samples_of(const FrameFormat& format) {
  double samples = 0;
  for (int plane = 0; plane < format.plane_count(); ++plane) {
    samples += static_cast<double>(format.plane_width(plane)) * format.plane_height(plane);
  }
  return samples;
}

}  // namespace

fs::path SpeedMemory::default_file() {
  const std::string cache = cache_folder();
  return cache.empty() ? fs::path() : fs::path(cache) / "limpid" / "speeds.json";
}

SpeedMemory::SpeedMemory(fs::path file, std::string hardware, const FrameFormat& format)
    : file_(std::move(file)),
      hardware_(std::move(hardware)),
      format_(to_string(format)),
      samples_(samples_of(format)),
      entries_(read(file_)) {}

SpeedMemory::Entries SpeedMemory::read(const fs::path& file) {
  Entries entries;
  std::error_code missing;
  if (file.empty() || !fs::exists(file, missing)) {
    return entries;
  }
  try {
    const JsonDocument document(read_regular_file(file.string(), kMostSpeedBytes), "");
    document.root().at(kVersionKey).integer(kVersion, kVersion);
    document.root().at("speeds").for_each([&entries](const JsonValue& each) {
      constexpr double kMost = 1e12;
      entries.push_back({.hardware = each.at("device").text(),
                         .filter = each.at("filter").text(),
                         .format = each.at("format").text(),
                         .samples = each.at("samples").number(1, kMost),
                         .seconds = each.at("seconds_per_frame").number(1 / kMost, kMost)});
    });
  } catch (const Error& error) {
    spdlog::warn(fmt::format("{}: the measured speeds are ignored, and measured again: {}", file.string(),
                             error.what()));
    entries.clear();
  }
  return entries;
}

std::optional<double> SpeedMemory::seconds(const std::string& filter) const {
  const std::scoped_lock lock(mutex_);
  const Entry* nearest = nullptr;
  double distance = std::log(kGreatestRatio);
  for (const Entry& each : entries_) {
    const bool is_same = each.format == format_;
    const double ratio = is_same ? 0 : std::abs(std::log(each.samples / samples_));
    if (each.hardware == hardware_ && each.filter == filter && (ratio < distance || is_same)) {
      nearest = &each;
      distance = is_same ? -1 : ratio;
    }
  }
  return nearest != nullptr ? std::optional(nearest->seconds * samples_ / nearest->samples) : std::nullopt;
}

void SpeedMemory::note(const std::string& filter, double seconds) {
  if (seconds <= 0) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  const Entry measured{
      .hardware = hardware_, .filter = filter, .format = format_, .samples = samples_, .seconds = seconds};
  const std::size_t count = entries_.size();
  Entry& kept = find_or_add(entries_, measured);
  const bool is_wrong = std::abs(kept.seconds / seconds - 1) > kWrong;
  if (entries_.size() > count || is_wrong) {
    kept = measured;
    find_or_add(changed_, measured).seconds = seconds;
  }
}

void SpeedMemory::save() {
  const std::scoped_lock lock(mutex_);
  if (file_.empty() || changed_.empty()) {
    return;
  }
  Entries all = read(file_);
  for (const Entry& each : changed_) {
    find_or_add(all, each).seconds = each.seconds;
  }
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), kMostSpeeds)));
  nlohmann::ordered_json json{{kVersionKey, kVersion}, {"speeds", nlohmann::ordered_json::array()}};
  for (const Entry& each : all) {
    json["speeds"].push_back({{"device", each.hardware},
                              {"filter", each.filter},
                              {"format", each.format},
                              {"samples", each.samples},
                              {"seconds_per_frame", each.seconds}});
  }
  try {
    std::error_code failure;
    fs::create_directories(file_.parent_path(), failure);
    write_durably(file_.string(), json.dump(1) + "\n");
    changed_.clear();
  } catch (const Error& error) {
    spdlog::warn(fmt::format("the measured speeds are not kept: {}", error.what()));
  }
}

}  // namespace limpid::app
