// SPDX-License-Identifier: MIT
#include "app/commands/progress.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <new>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <utility>

#include "app/console/text.h"
#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/filter/filter.h"

namespace limpid::app {
namespace {

constexpr std::chrono::milliseconds kStatusInterval{200};
constexpr std::chrono::seconds kLineInterval{1};
constexpr std::chrono::seconds kRecent{3};

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string whole_seconds(double duration) { return time_text(std::round(duration), false); }

// The container's count of frames is an estimate, and a run may go past it.
double fraction(const ProgressState& state) {
  return state.total > 0 ? std::min(1.0, static_cast<double>(state.frames) / static_cast<double>(state.total))
                         : 0.0;
}

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm time{};
  localtime_r(&now, &time);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", time.tm_year + 1900, time.tm_mon + 1,
                     time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec);
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

ProgressStyle parse_progress_style(const std::string& name, bool terminal) {
  if (name == "auto") {
    return terminal ? ProgressStyle::kStatus : ProgressStyle::kNone;
  }
  if (name == "plain") {
    return terminal ? ProgressStyle::kStatus : ProgressStyle::kPlain;
  }
  if (name == "json") {
    return ProgressStyle::kJson;
  }
  if (name == "none") {
    return ProgressStyle::kNone;
  }
  throw UsageError("--progress: '" + name + "' is not one of auto, plain, json, none");
}

std::string to_line(const ProgressState& state) {
  std::string line = state.total > 0
                         ? fmt::format("{}/{}  {:.1f} %", state.frames, state.total, 100 * fraction(state))
                         : fmt::format("{} frames", state.frames);
  line += fmt::format("  {} fps, avg {}", rate_text(state.fps), rate_text(state.average_fps));
  if (state.speed() > 0) {
    line += fmt::format("  {:.2f}x", state.speed());
  }
  if (state.finished) {
    line += fmt::format("  in {}", whole_seconds(state.elapsed));
  } else if (state.eta() >= 0) {
    line += fmt::format("  ETA {}", whole_seconds(state.eta()));
  }
  line += fmt::format("  dec {:.0f} den {:.0f} enc {:.0f}%", 100 * state.busy[0], 100 * state.busy[1],
                      100 * state.busy[2]);
  if (state.on_device) {
    line += fmt::format(" up {:.0f} flt {:.0f} down {:.0f}%", 100 * state.busy[3], 100 * state.busy[4],
                        100 * state.busy[5]);
  }
  return line;
}

std::string to_json_line(const ProgressState& state) {
  nlohmann::ordered_json json;
  if (!state.input.empty()) {
    json["input"] = state.input;
  }
  json["frames"] = state.frames;
  json["total"] = state.total > 0 ? nlohmann::json(state.total) : nlohmann::json();
  json["percent"] = state.total > 0 ? nlohmann::json(rounded(100 * fraction(state))) : nlohmann::json();
  json["fps"] = rounded(state.fps);
  json["average_fps"] = rounded(state.average_fps);
  json["speed"] = state.speed() > 0 ? nlohmann::json(rounded(state.speed())) : nlohmann::json();
  json["elapsed"] = rounded(state.elapsed);
  json["eta"] = state.eta() >= 0 ? nlohmann::json(rounded(state.eta())) : nlohmann::json();
  json["busy"] = {{"decode", rounded(state.busy[0])},
                  {"denoise", rounded(state.busy[1])},
                  {"encode", rounded(state.busy[2])}};
  if (state.on_device) {
    json["busy"]["upload"] = rounded(state.busy[3]);
    json["busy"]["filter"] = rounded(state.busy[4]);
    json["busy"]["download"] = rounded(state.busy[5]);
  }
  json["finished"] = state.finished;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_plain_line(const ProgressState& state, const std::string& time) {
  return fmt::format("{} {}: {}", time, state.input, to_line(state));
}

bool PlainInterval::is_due(const ProgressState& state) {
  constexpr double kSeconds = 30;
  constexpr double kShare = 0.05;
  if (!state.finished && state.elapsed < elapsed_ + kSeconds && fraction(state) < fraction_ + kShare) {
    return false;
  }
  elapsed_ = state.elapsed;
  fraction_ = fraction(state);
  return true;
}

Progress::Progress(Console& console, ProgressStyle style, const StreamCounters& counters, std::int64_t total,
                   double source_fps, std::string input,
                   std::function<std::string(const ProgressState&)> outlook)
    : console_(console),
      style_(style),
      counters_(counters),
      total_(total),
      source_fps_(source_fps),
      input_(std::move(input)),
      outlook_(style == ProgressStyle::kJson ? nullptr : std::move(outlook)),
      start_(sample()) {
  recent_.push_back(start_);
  if (style_ != ProgressStyle::kNone || outlook_) {
    thread_ = start_thread([this](const std::stop_token& stop) { run(stop); });
  }
}

Progress::~Progress() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    try_to_report(true);
  }
}

ProgressState Progress::state(bool finished) {
  const Sample now = sample();
  ProgressState state;
  state.frames = now.frames;
  state.total = complete_ ? now.frames : total_;
  state.source_fps = source_fps_;
  state.input = input_;
  state.finished = finished;
  state.on_device = counters_.on_device();
  state.elapsed = seconds(now.time - start_.time);
  state.average_fps = state.elapsed > 0 ? static_cast<double>(state.frames) / state.elapsed : 0;
  const std::scoped_lock lock(recent_mutex_);
  recent_.push_back(now);
  while (recent_.size() > 2 && now.time - recent_[1].time >= kRecent) {
    recent_.pop_front();
  }
  const double span = seconds(now.time - recent_.front().time);
  state.fps = span > 0 ? static_cast<double>(state.frames - recent_.front().frames) / span : 0;
  const Sample& since = finished ? start_ : recent_.front();
  const double nanoseconds = std::max(seconds(now.time - since.time) * 1e9, 1.0);
  for (std::size_t stage = 0; stage < state.busy.size(); ++stage) {
    // A piece of work is counted when it is done, and may have begun before.
    const auto busy = static_cast<double>(now.busy_ns[stage] - since.busy_ns[stage]);
    state.busy[stage] = std::min(1.0, busy / nanoseconds);
  }
  return state;
}

void Progress::report(bool finished) {
  const ProgressState now = state(finished);
  switch (style_) {
    case ProgressStyle::kNone:
      break;
    case ProgressStyle::kStatus:
      console_.set_status(to_line(now));
      if (finished) {
        console_.keep_status();
      }
      break;
    case ProgressStyle::kPlain:
      if (plain_.is_due(now)) {
        console_.print_line(printable(to_plain_line(now, local_time())));
      }
      break;
    case ProgressStyle::kJson:
      console_.print_line(to_json_line(now));
      break;
  }
}

// The rate counts from the first result: filters wait for frames before it.
void Progress::give_outlook(double elapsed) {
  constexpr double kFirstSeconds = 4;
  constexpr std::int64_t kFewFrames = 4;
  if (!outlook_ || counters_.write.frames == 0) {
    return;
  }
  if (first_results_ == 0) {
    first_results_ = counters_.write.frames;
    first_result_at_ = elapsed;
    return;
  }
  const double time = elapsed - first_result_at_;
  ProgressState now = state();
  if (time < kFirstSeconds || now.frames - first_results_ < kFewFrames) {
    return;
  }
  now.elapsed = elapsed;
  now.average_fps = static_cast<double>(now.frames - first_results_) / time;
  if (const std::string text = outlook_(now); !text.empty()) {
    spdlog::info(text);
  }
  outlook_ = nullptr;
}

void Progress::try_to_report(bool finished) {
  try {
    if (!finished) {
      give_outlook(seconds(Clock::now() - start_.time));
    }
    report(finished);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the run continues without this line
  }
}

void Progress::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  const Clock::duration interval =
      style_ == ProgressStyle::kStatus ? Clock::duration(kStatusInterval) : Clock::duration(kLineInterval);
  std::unique_lock lock(mutex);
  for (Clock::time_point next = start_.time + interval;; next += interval) {
    wake.wait_until(lock, stop, next, [] { return false; });
    if (stop.stop_requested()) {
      return;
    }
    try_to_report(false);
  }
}

namespace {

// The rows are ordered by filter, and from the quickest profile to the best.
constexpr std::array kFigures = std::to_array<FilterFigures>({
    {"vbm4d", "fast", 33.16, {}, 0.7284, 0.42, 733},
    {"vbm4d", "lc", 33.45, {}, 0.8864, 0.57, 736},
    {"vbm4d", "np", 33.78, {}, 1.67, 1, 748},
    {"vbm4d", "high", 34.14, {}, 5.318, 4.1, 1446},
    {"vnlb", "fast", 32.91, {}, 7.497, 5.8, 962},
    {"vnlb", "np", 33.88, {}, 15.62, 9.5, 1488},
    {"vnlb", "high", 34.22, {}, 16.94, 11, 2024},
    {"vnlb", "best", 34.35, {}, 22.69, 15, 2300},
    {"recursive", "fast", 31.68, {}, {}, 0.069, 157},
    {"recursive", "np", 32.02, {}, {}, 0.12, 191},
    {"bm3d", "fast", 29.56, {}, {}, 0.23},
    {"bm3d", "np", 30.08, 29.12, 2.76, 2.2},
    {"nlm", "", {}, 28.01, 0.488, 0.4},
    {"nlm-bilateral", "", {}, 27.73, 0.464, 0.36},
    {"bilateral", "", {}, 26.93, 0.051, 0.028},
    {"adaptive-bilateral", "", {}, 26.93, 0.116, 0.06},
});

/// "; with --quality fast about 16 min, and 0.6 dB less on the test clips". Empty if no profile is quicker.
std::string quicker_text(const ProgressState& state, const ProfileInUse& used, double left) {
  const FilterFigures* const own = figures_of(used.filter, used.profile);
  const FilterFigures* const quick = quickest_profile(used.filter);
  if (own == nullptr || quick == nullptr || own == quick) {
    return "";
  }
  const std::optional<double>& own_ms = state.on_device ? own->gpu_ms : own->cpu_time;
  const std::optional<double>& quick_ms = state.on_device ? quick->gpu_ms : quick->cpu_time;
  if (!own_ms || !quick_ms) {
    return "";
  }
  return fmt::format("; with --quality {} about {}, and {:.1f} dB less on the test clips", quick->profile,
                     duration_text(left * *quick_ms / *own_ms),
                     own->video_psnr.value_or(0) - quick->video_psnr.value_or(0));
}

}  // namespace

std::string less_memory_text(const ProfileInUse& used) {
  const FilterFigures* const own = figures_of(used.filter, used.profile);
  if (own == nullptr || !own->gpu_mib) {
    return "";
  }
  const FilterFigures* best = nullptr;
  for (const FilterFigures& each : kFigures) {
    constexpr double kMuchLess = 0.75;
    if (each.gpu_mib && *each.gpu_mib <= kMuchLess * *own->gpu_mib &&
        (best == nullptr || best->video_psnr < each.video_psnr)) {
      best = &each;
    }
  }
  return best == nullptr
             ? ""
             : fmt::format("; --filter {} --quality {} takes {:.0f} % of the memory", best->filter,
                           quality_name(std::string(best->profile)), 100 * *best->gpu_mib / *own->gpu_mib);
}

const char* const kFigureSources =
    "video: mean PSNR in dB of seven clips, luma, noise of sigma 20. pictures: mean PSNR in dB of twelve "
    "pictures, noise of sigma 25 (20.34 dB before denoising). GPU: milliseconds per frame of 1080p luma on "
    "one NVIDIA H200 (bilateral filters: radius 5; non-local means: windows of 21x21). CPU: time on one "
    "thread relative to vbm4d, which filters 3.4 frames of 1080p (4:2:0) per second on 8 threads, and 10.8 "
    "with the quality fast. Source: bench/results.md.";

const FilterFigures* figures_of(std::string_view filter, std::string_view profile) {
  const auto* const found = std::ranges::find_if(
      kFigures, [&](const FilterFigures& each) { return each.filter == filter && each.profile == profile; });
  return found == kFigures.end() ? nullptr : found;
}

const FilterFigures* quickest_profile(std::string_view filter) {
  const auto* const found = std::ranges::find(kFigures, filter, &FilterFigures::filter);
  return found == kFigures.end() ? nullptr : found;
}

std::string outlook_text(const ProgressState& state, const ProfileInUse& used) {
  constexpr double kLongRun = 60;
  constexpr double kMostOfTheTime = 0.8;
  const double left = state.eta();
  if (left < 0 || state.elapsed + left < kLongRun) {
    return "";
  }
  const bool is_denoising = state.busy[1] >= kMostOfTheTime;
  return fmt::format("about {} left{}", duration_text(left),
                     is_denoising ? quicker_text(state, used, left) : "");
}

}  // namespace limpid::app
