// SPDX-License-Identifier: MIT
#include "app/player/viewer.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "app/console/time_text.h"
#include "app/pipeline/noise_text.h"
#include "core/base/error.h"
#include "core/engine/noise_tracker.h"
#include "core/frame/plane_names.h"
#include "core/frame/region.h"
#include "io/screen/png.h"

namespace limpid::app {
namespace {

using io::make_pixel;
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// Numbers of the pictures over the video.
enum : std::size_t {
  kStatisticsBox,
  kNoticeBox,
  kHintBox,
  kHelpBox,
  kNoisyLabel,
  kDenoisedLabel,
  kDifferenceLabel,
};

constexpr int kDifferenceGain = 4;
constexpr milliseconds kStatisticsInterval{1000};
constexpr milliseconds kNoticeTime{1500};
constexpr milliseconds kNewsTime{4000};  // with the name of a file
// So long nothing is said of what the user waits for; and so often in a row a second has to be too slow.
constexpr milliseconds kHintAfter{300};
constexpr int kReliable = 3;
constexpr double kSpeedStep = 1.1;
constexpr double kSlowest = 0.05;
constexpr double kFastest = 20;
constexpr io::Pixel kLineColor = make_pixel(255, 255, 255);
constexpr ImU32 kLineInk = IM_COL32(255, 255, 255, 255);
constexpr ImU32 kLineEdgeInk = IM_COL32(0, 0, 0, 128);

bool has_profiles(const std::string& filter) { return !filter_type(filter).profiles.empty(); }

// The next step of sigma from `value`, finer where it is small.
float step_sigma(float value, int direction) {
  const float probe = direction > 0 ? value : value - 0.01F;
  const float step = probe < 5 ? 0.5F : probe < 20 ? 1 : probe < 50 ? 2 : 5;
  const float stepped = direction > 0 ? (std::floor(value / step + 0.001F) + 1) * step
                                      : (std::ceil(value / step - 0.001F) - 1) * step;
  return std::clamp(stepped, 0.0F, kMaxSigma);
}

std::string sigma_text(const NoiseModel& level, const std::vector<std::string_view>& planes) {
  std::string text = "sigma";
  for (std::size_t plane = 0; plane < planes.size(); ++plane) {
    text += fmt::format(" {} {:.1f}", planes[plane], level.sigma[plane]);
  }
  return text;
}

// What a part of the picture on the screen is of the frame as it is stored.
Region stored_region(io::Rectangle part, const ViewerOptions& options) {
  const io::Orientation& turned = options.display.orientation;
  const FrameFormat& format = options.format;
  const int width = turned.transposed ? format.height : format.width;
  const int height = turned.transposed ? format.width : format.height;
  part.x = turned.mirrored_x ? width - part.x - part.width : part.x;
  part.y = turned.mirrored_y ? height - part.y - part.height : part.y;
  return turned.transposed ? Region{part.y, part.x, part.height, part.width}
                           : Region{part.x, part.y, part.width, part.height};
}

// The picture's, or a multiple of it where that would be too small to see anything.
io::Size window_size(const io::DisplayConverter& converter) {
  constexpr int kLeastWidth = 640;
  const double aspect = converter.pixel_aspect();
  const int factor = (kLeastWidth + converter.width() - 1) / converter.width();
  return {static_cast<int>(std::lround(factor * converter.width() * std::max(aspect, 1.0))),
          static_cast<int>(std::lround(factor * converter.height() * std::max(1 / aspect, 1.0)))};
}

// The beginning of the names of pictures in `folder`, such that no file there begins so.
std::string free_stem(const std::filesystem::path& folder, const std::string& source, std::int64_t frame) {
  const std::string first =
      (folder / fmt::format("{}-{:06}", std::filesystem::path(source).stem().string(), frame)).string();
  std::string stem = first;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(stem + "-split.png", ignored) ||
                       std::filesystem::exists(stem + "-window.png", ignored);
       ++number) {
    stem = fmt::format("{}-{}", first, number);
  }
  return stem;
}

io::WindowOptions window_options(const ViewerOptions& options) {
  io::WindowOptions result = options.window;
  if (result.size.width <= 0) {
    result.size = window_size(io::DisplayConverter(options.format, options.display));
  }
  return result;
}

}  // namespace

Viewer::Viewer(ViewerOptions options, PlayerStages stages, PlayerOptions player_options)
    : options_(std::move(options)),
      player_options_(std::move(player_options)),
      window_(window_options(options_)),
      converter_(options_.format, options_.display),
      painter_(options_.format, options_.display),
      view_({converter_.width(), converter_.height()}, converter_.pixel_aspect()),
      side_(options_.side),
      split_(options_.split),
      engine_(stages.engine),
      labels_(options_.statistics) {
  const io::Size size = window_size_ = window_.size();
  view_.set_zoom(options_.zoom, size.width / 2.0, size.height / 2.0, size);
  stages.wake = [this] { window_.wake(); };
  player_ = std::make_unique<Player>(std::move(stages), player_options_);
}

Viewer::~Viewer() = default;

void Viewer::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { window_.wake(); });
  if (!options_.screenshot.empty()) {
    player_->set_paused(true);  // frame by frame, so that none is dropped
  }
  while (!quit_ && !stop.stop_requested()) {
    const Player::Taken taken = player_->take(Clock::now());
    if (taken.frame != nullptr) {
      show(taken.frame);
    } else if (taken.waiting != nullptr) {
      hand_to_screen(taken.waiting);
    }
    if (taken.refined != nullptr) {
      hand_to_screen(taken.refined);
      spdlog::debug(fmt::format("refined: frame {}", shown_->noisy.index));
    }
    if (!saves_.empty() && !player_->will_refine()) {
      save_awaited();
    }
    if (taken.begins) {
      audio_waits_ = false;
      // The source may begin anywhere, and a seek goes to a frame.
      if (constexpr double kNotHeard = 0.02; std::abs(shown_->time - audio_begins_at_) > kNotHeard) {
        seek_audio(shown_->time);
      }
    }
    const Clock::time_point now = Clock::now();
    measure(now);
    follow_audio();
    tell_news();
    if (!notice_.empty() && now >= notice_until_) {
      notice_.clear();
      redraw_ = true;
    }
    hint(now);
    if (redraw_ && shown_ != nullptr && window_.is_visible()) {
      draw();
      timed(presenting_.busy_ns, [&] { window_.present(); });
      redraw_ = false;
    }
    const bool is_needed = !options_.is_needed || window_.is_on_screen() || options_.is_needed();
    if (is_needed && awaits_refinement()) {
      // The screenshot is to show it.
    } else if (!is_needed || (options_.frames > 0 && report_.shown >= options_.frames)) {
      quit_ = true;
    } else if (taken.ended) {
      handle_end();
    }
    if (!quit_) {
      wait_until(taken.ended && ended_ ? std::nullopt : taken.next_at, stop);
    }
  }
  save_awaited();
  if (!options_.screenshot.empty() && ended_ && report_.shown < options_.frames) {
    throw Error(fmt::format("{}: has no frame {} for the screenshot: it ends after {}", options_.source,
                            options_.frames, report_.shown));
  }
  if (!options_.screenshot.empty() && shown_ != nullptr) {
    draw();
    const io::RgbImage picture = window_.snapshot();
    io::write_png(options_.screenshot, picture, io::Overwrite::kAlways);
    spdlog::info(fmt::format("screenshot: {}, {}x{}", options_.screenshot, picture.width, picture.height));
  }
  if (audio_ != nullptr) {
    audio_->set_playing(false);
  }
  report_.dropped = player_->counters().dropped_before + player_->counters().dropped_after;
}

bool Viewer::awaits_refinement() const {
  return !options_.screenshot.empty() && report_.shown >= options_.frames && player_->will_refine();
}

void Viewer::hand_to_screen(const std::shared_ptr<const PlayedFrame>& frame) {
  if (shown_ != nullptr && shown_->sequence != frame->sequence) {
    save_awaited();  // as it is
    before_ = shown_->noisy;
    before_sequence_ = shown_->sequence;
  }
  shown_ = frame;
  handed_at_ = Clock::now();
  noisy_uploaded_ = denoised_uploaded_ = false;
  redraw_ = true;
  for (const std::string& key : std::exchange(early_keys_, {})) {
    press(key);
  }
}

void Viewer::show(const std::shared_ptr<const PlayedFrame>& frame) {
  hand_to_screen(frame);
  ended_ = false;
  const Clock::time_point now = Clock::now();
  const double latency = duration<double>(now - frame->decoded_at).count();
  constexpr double kShare = 0.1;
  latency_ += (report_.shown == 0 ? 1 : kShare) * (latency - latency_);
  if (report_.shown == 0) {
    spdlog::debug("shown: the first frame");
  }
  report_.add(*frame, now, options_.keep_times);
  if (options_.keep_times) {
    if (const std::optional<double> heard = audio_ != nullptr ? audio_->position() : std::nullopt) {
      report_.ahead_of_sound.push_back(frame->time - *heard);
    }
  }
  if (player_->paused()) {
    spdlog::debug(fmt::format("frame: {}", frame->noisy.index));
  }
  if (awaited_ && frame->settings == *awaited_) {
    spdlog::debug(fmt::format("shown: frame {} with {}", frame->noisy.index,
                              sigma_text(frame->level, color_plane_names(options_.format))));
    awaited_.reset();
  }
  if (!options_.screenshot.empty() && report_.shown < options_.frames) {
    player_->step_forward();
  }
}

void Viewer::handle_end() {
  if (ended_) {
    return;
  }
  if (options_.loop && player_->can_seek() && shown_ != nullptr) {
    player_->seek(0);
    seek_audio(0);
    audio_waits_ = true;
    return;
  }
  // Whoever has paused wants to look at it.
  if (!options_.keep_open && (!player_->paused() || !options_.screenshot.empty())) {
    quit_ = true;
  }
  ended_ = true;
  spdlog::debug("shown: the end");
}

void Viewer::wait_until(std::optional<Clock::time_point> next, const std::stop_token& stop) {
  const Clock::time_point now = Clock::now();
  Clock::time_point until = now + kStatisticsInterval;
  if (next) {
    until = std::min(until, *next);
  }
  if (const Clock::time_point hint_at = asked_at_ + kHintAfter; hint_at > now) {
    until = std::min(until, hint_at);
  }
  // Events are waited for in whole milliseconds; the rest of the time is slept exactly.
  constexpr milliseconds kRest{1};
  const auto wait = std::max(duration_cast<milliseconds>(until - now) - kRest, milliseconds(0));
  std::optional<io::WindowEvent> event = window_.wait(wait);
  while (event && !quit_) {
    handle(*event);
    event = window_.wait(milliseconds(0));
  }
  if (next && !redraw_ && !stop.stop_requested() && !quit_) {
    const Clock::time_point left = *next;
    if (left > Clock::now() && left - Clock::now() <= 2 * kRest) {
      std::this_thread::sleep_until(left);
    }
  }
}

int Viewer::text_line() const { return text_size(window_.size(), window_.scale(), options_.text_size); }

void Viewer::lay_over(std::size_t number, const io::RgbImage& picture, int x, int y) {
  const ImVec2 at{static_cast<float>(x), static_cast<float>(y)};
  ImGui::GetBackgroundDrawList()->AddImage(
      controls_.picture(number, picture), at,
      {at.x + static_cast<float>(picture.width), at.y + static_cast<float>(picture.height)});
}

// What the window tells unasked.
std::string Viewer::standing_hint(Clock::time_point now) const {
  const bool is_long = now - asked_at_ > kHintAfter;
  if (shown_->is_waiting && handed_at_ > asked_at_) {
    return std::string(report_.shown == 0 ? "denoising the first frame" : "denoising") +
           "; m: a quicker filter";
  }
  if (player_->is_seeking()) {
    return is_long ? "seeking " + time_text(player_->position(), false) : "";
  }
  if (awaited_ && is_long && shown_->settings != *awaited_) {
    return "denoising with the new settings; m: a quicker filter";
  }
  const NoiseModel& level = shown_->level;
  if (!shown_->settings.noise.noise &&
      std::all_of(level.sigma.begin(), level.sigma.end(), [](float sigma) { return sigma <= 0; })) {
    return "no noise found, nothing is changed; UP: denoise all the same";
  }
  if (slow_measurements_ >= kReliable && !ended_ && !player_->paused()) {
    return !denoising_is_slow_ ? "too slow: this source can't be decoded in time"
           : has_profiles(player_->settings().filter)
               ? "too slow to show every frame; m: a quicker filter, c: another profile"
               : "too slow to show every frame; m: another filter";
  }
  return "";
}

void Viewer::hint(Clock::time_point now) {
  std::string next = options_.statistics && shown_ != nullptr ? standing_hint(now) : "";
  if (next != hint_) {
    hint_ = std::move(next);
    if (!hint_.empty()) {
      spdlog::debug(fmt::format("hint: {}", hint_));
    }
    redraw_ = true;
  }
}

// Uploads what the view needs of the frame that is shown.
void Viewer::upload_pictures() {
  const Side side = shown_side();
  if (side != Side::kDenoised && !noisy_uploaded_) {
    painter_.set_first(shown_->noisy);
    noisy_uploaded_ = true;
  }
  if (side != Side::kNoisy && !denoised_uploaded_) {
    painter_.set_second(shown_->denoised);
    denoised_uploaded_ = true;
  }
}

void Viewer::draw_picture() {
  upload_pictures();
  const io::Size size = window_.size();
  const View::Placement placement = view_.place(size);
  const auto draw_part = [&](io::PictureChoice choice, int left, int right) {
    painter_.draw({placement.source,
                   placement.target,
                   {left, 0, right - left, size.height},
                   placement.smooth,
                   choice,
                   kDifferenceGain},
                  size);
  };
  window_.clear();
  switch (shown_side()) {
    case Side::kSplit:
      draw_part(io::PictureChoice::kFirst, 0, split_.column(size.width));
      draw_part(io::PictureChoice::kSecond, split_.column(size.width), size.width);
      break;
    case Side::kNoisy:
      draw_part(io::PictureChoice::kFirst, 0, size.width);
      break;
    case Side::kDenoised:
      draw_part(io::PictureChoice::kSecond, 0, size.width);
      break;
    case Side::kDifference:
      draw_part(io::PictureChoice::kDifference, 0, size.width);
      break;
  }
}

void Viewer::draw() {
  const io::Size size = window_.size();
  const int split = split_.column(size.width);
  draw_picture();
  controls_.begin(size, window_.scale());
  if (shown_side() == Side::kSplit) {
    const auto x = static_cast<float>(split);
    const auto bottom = static_cast<float>(size.height);
    ImGui::GetBackgroundDrawList()->AddRectFilled({x - 2, 0}, {x + 2, bottom}, kLineEdgeInk);
    ImGui::GetBackgroundDrawList()->AddRectFilled({x - 1, 0}, {x + 1, bottom}, kLineInk);
  }
  draw_labels(split);
  draw_mark();
  draw_text(Clock::now());
  controls_.end();
}

void Viewer::draw_mark() {
  if (!mark_) {
    return;
  }
  const auto outline = [this](double inset, ImU32 color) {
    ImGui::GetBackgroundDrawList()->AddRect({static_cast<float>(std::min(mark_->x0, mark_->x1) + inset),
                                             static_cast<float>(std::min(mark_->y0, mark_->y1) + inset)},
                                            {static_cast<float>(std::max(mark_->x0, mark_->x1) - inset),
                                             static_cast<float>(std::max(mark_->y0, mark_->y1) - inset)},
                                            color);
  };
  outline(0, kLineInk);
  outline(1, kLineEdgeInk);
}

void Viewer::draw_labels(int split) {
  if (!labels_) {
    return;
  }
  const io::Size size = window_.size();
  const int margin = text_margin(text_line());
  const auto label = [&](std::size_t number, const std::string& text, int x, bool left_of_it) {
    const io::RgbImage box = lettering_.box({text}, text_line(), size.width);
    lay_over(number, box, left_of_it ? x - margin - box.width : x + margin,
             size.height - margin - box.height);
  };
  switch (shown_side()) {
    case Side::kSplit:
      label(kNoisyLabel, "noisy", split, true);
      label(kDenoisedLabel, "denoised", split, false);
      break;
    case Side::kNoisy:
      label(kNoisyLabel, "noisy", 0, false);
      break;
    case Side::kDenoised:
      label(kDenoisedLabel, "denoised", 0, false);
      break;
    case Side::kDifference:
      label(kDifferenceLabel, fmt::format("noisy - denoised, x{}", kDifferenceGain), 0, false);
      break;
  }
}

void Viewer::draw_text(Clock::time_point now) {
  const int line = text_line();
  const int margin = text_margin(line);
  const io::Size size = window_.size();
  const int inner = size.width - 2 * margin;
  if (options_.statistics && !help_) {
    lay_over(kStatisticsBox, statistics_box(lettering_, statistics(), line, size), margin, margin);
  }
  int bottom = size.height - margin - 2 * line - margin;  // above the labels
  const auto tell = [&](std::size_t number, const std::string& text) {
    const io::RgbImage box = lettering_.box({text}, line, inner);
    bottom -= box.height;
    lay_over(number, box, (size.width - box.width) / 2, bottom);
    bottom -= margin;
  };
  if (!notice_.empty() && now < notice_until_) {
    tell(kNoticeBox, notice_);
  }
  if (!hint_.empty() && !help_) {
    tell(kHintBox, hint_);
  }
  if (help_) {
    const io::RgbImage box = help_box(lettering_, line, size);
    lay_over(kHelpBox, box, (size.width - box.width) / 2, std::max((size.height - box.height) / 2, 0));
  }
}

Viewer::Sample Viewer::sample() const {
  const PlayerCounters& counters = player_->counters();
  return {.at = Clock::now(),
          .shown = counters.shown,
          .denoised = counters.denoise.frames,
          .read_ns = counters.read.busy_ns,
          .denoise_ns = counters.denoise.busy_ns + player_->at_work().count(),
          .present_ns = presenting_.busy_ns};
}

// Rates and loads, over the time since they were last taken.
void Viewer::measure(Clock::time_point now) {
  if (last_sample_ && now - last_sample_->at < kStatisticsInterval) {
    return;
  }
  const Sample next = sample();
  if (last_sample_) {
    const Sample& last = *last_sample_;
    const double span = duration<double>(next.at - last.at).count();
    // Work is counted when it's done, and may have begun before.
    const auto share = [span](std::int64_t from, std::int64_t to) {
      return std::clamp(static_cast<double>(to - from) / 1e9 / span, 0.0, 1.0);
    };
    const auto denoised = static_cast<double>(next.denoised - last.denoised);
    const double busy = share(last.denoise_ns, next.denoise_ns);
    shown_fps_ = static_cast<double>(next.shown - last.shown) / span;
    denoise_fps_ = denoised / span;
    denoise_fps_alone_ = busy > 0 ? denoise_fps_ / busy : 0;
    loads_ = {{"denoise", busy}, {"present", share(last.present_ns, next.present_ns)}};
    if (!player_options_.live) {  // of which reading is waiting
      loads_.insert(loads_.begin(), {"decode", share(last.read_ns, next.read_ns)});
    }
    constexpr double kFewer = 0.8;
    const double wanted = player_options_.frames_per_second * player_->speed();
    denoising_is_slow_ = busy > kFewer;
    spdlog::debug(
        fmt::format("rates: {:.1f} frames shown a second, denoising busy {:.0f} %", shown_fps_, 100 * busy));
    // A live source may have fewer frames than it tells, and reading is waiting for them.
    const bool reading_is_slow = !player_options_.live && share(last.read_ns, next.read_ns) > kFewer;
    const bool is_slow = !player_->paused() && !ended_ && shown_fps_ < kFewer * wanted &&
                         (denoising_is_slow_ || reading_is_slow);
    slow_measurements_ = is_slow ? slow_measurements_ + 1 : 0;
  }
  last_sample_ = next;
  redraw_ = redraw_ || options_.statistics;
}

Statistics Viewer::statistics() const {
  const PlayerCounters& counters = player_->counters();
  Statistics statistics;
  statistics.source = options_.source;
  statistics.format = limpid::to_string(options_.format) + "  " +
                      io::to_string(options_.display, options_.format.color_model);
  statistics.engine = options_.engine;
  statistics.position = player_->is_seeking() ? player_->position() : shown_->time;
  statistics.duration = options_.duration;
  statistics.frame = shown_->noisy.index;
  const double speed = player_->speed();
  statistics.runs = !ended_ && !player_->paused();
  statistics.state = player_->is_seeking()  ? "seeking"
                     : ended_               ? "end"
                     : player_->paused()    ? "paused"
                     : player_options_.live ? "live"
                     : speed != 1           ? fmt::format("playing x{:.2f}", speed)
                                            : "playing";
  if (const std::string recording = options_.recording ? options_.recording() : ""; !recording.empty()) {
    statistics.state += "   " + recording;
  }
  statistics.source_fps = options_.still_picture ? 0 : player_options_.frames_per_second;
  statistics.shown_fps = shown_fps_;
  statistics.denoise_fps = denoise_fps_;
  statistics.denoise_fps_alone = denoise_fps_alone_;
  statistics.dropped = counters.dropped_before + counters.dropped_after;
  statistics.live = player_options_.live;
  statistics.latency = player_options_.live ? latency_ : player_->turnaround();
  const DenoiseSettings& settings = shown_->settings;
  // What is seen; a refined frame has what was asked for.
  const DenoiseSettings& used = shown_->is_refined ? settings : shown_->used;
  statistics.filter = used.filter;
  if (has_profiles(used.filter)) {
    statistics.profile = used.profile;
  }
  statistics.keeps_pace = settings.keeps_pace;
  for (const std::string_view plane : color_plane_names(options_.format)) {
    statistics.planes.emplace_back(plane);
  }
  statistics.level = shown_->level;
  statistics.noise_shape = shape_text(shown_->level, options_.format.color_model);
  const std::string evidence = evidence_text(shown_->level);
  statistics.noise_shape += (statistics.noise_shape.empty() || evidence.empty() ? "" : ", ") + evidence;
  statistics.estimated = !settings.noise.noise;
  statistics.loads = loads_;
  return statistics;
}

void Viewer::follow_audio() {
  if (audio_ == nullptr) {
    return;
  }
  if (const std::string failure = audio_->failure(); !failure.empty()) {
    spdlog::warn(fmt::format("{}: no more sound: {}", options_.source, failure));
    notice("no more sound: " + failure);
    audio_.reset();
    return;
  }
  const bool plays = !audio_waits_ && !ended_ && !player_->paused() && player_->speed() == 1;
  audio_->set_playing(plays);
  if (!plays) {
    return;
  }
  if (const std::optional<double> position = audio_->position()) {
    player_->follow_audio(*position);
  }
}

void Viewer::seek_audio(double time) {
  if (audio_ != nullptr) {
    audio_->seek(time);
  }
  audio_begins_at_ = time;
}

void Viewer::handle(const io::WindowEvent& event) {
  using Kind = io::WindowEvent::Kind;
  const io::Size size = window_.size();
  switch (event.kind) {
    case Kind::kClose:
      quit_ = true;
      break;
    case Kind::kKey:
      press(event.key);
      break;
    case Kind::kPointer:
      pointer_x_ = event.x;
      pointer_y_ = event.y;
      split_.release();
      redraw_ = (split_.point(event.x, size.width) && side_ == Side::kSplit) || redraw_;
      break;
    case Kind::kDrag: {
      if (event.right) {
        mark_ = {mark_ ? mark_->x0 : event.x - event.dx, mark_ ? mark_->y0 : event.y - event.dy, event.x,
                 event.y};
        redraw_ = true;
        break;
      }
      const bool picture_moves = view_.zoom() > 0 || side_ != Side::kSplit;
      pointer_x_ = event.x;
      pointer_y_ = event.y;
      if (!split_.drag(event.x - event.dx, event.x, size.width, event.touch, picture_moves)) {
        view_.pan(event.dx, event.dy);
      }
      redraw_ = true;
      break;
    }
    case Kind::kRelease:
      if (event.right && mark_ && shown_ != nullptr) {
        take_noise_of_mark();
      }
      mark_.reset();
      split_.release();
      break;
    case Kind::kLeave:
      split_.leave();
      redraw_ = true;
      break;
    case Kind::kWheel:
      if (event.dy != 0) {
        change_zoom(view_.next_zoom(event.dy > 0), event.x, event.y);
      }
      break;
    case Kind::kPress:
      if (event.clicks == 2 && !event.right) {
        window_.toggle_full_screen();
      }
      break;
    case Kind::kDrop:
      break;
    case Kind::kChanged:
      if (size != window_size_) {
        window_size_ = size;
        split_.forget_pointer();
      }
      redraw_ = true;
      break;
    case Kind::kWake:
      break;
  }
}

void Viewer::press(const std::string& key) {
  using Action = std::function<void(Viewer&)>;
  static const auto pause = [](Viewer& v) { v.toggle_pause(); };
  static const auto zoom = [](bool greater) {
    return [greater](Viewer& v) {
      int next = v.view_.next_zoom(greater);
      if (greater && v.view_.zoom() == View::kGreatestZoom) {
        next = 0;
      }
      v.change_zoom(next, v.pointer_x_, v.pointer_y_);
    };
  };
  static const auto sigma = [](int direction) {
    return [direction](Viewer& v) { v.change_sigma(direction); };
  };
  static const auto seek = [](double seconds) { return [seconds](Viewer& v) { v.seek_by(seconds); }; };
  static const auto side = [](Side chosen) { return [chosen](Viewer& v) { v.change_side(chosen); }; };
  static const auto quit = [](Viewer& v) { v.quit_ = true; };
  static const std::map<std::string, Action, std::less<>> actions{
      {" ", pause},
      {"p", pause},
      {".", [](Viewer& v) { v.player_->step_forward(); }},
      {",",
       [](Viewer& v) {
         v.asked_at_ = Clock::now();
         v.ended_ = false;
         v.player_->step_back();
       }},
      {"LEFT", seek(-5)},
      {"RIGHT", seek(5)},
      {"Shift+LEFT", seek(-60)},
      {"Shift+RIGHT", seek(60)},
      {"PGDN", seek(-60)},
      {"PGUP", seek(60)},
      {"HOME", [](Viewer& v) { v.seek_to(0); }},
      {"END",
       [](Viewer& v) {
         if (v.options_.duration <= 0) {
           return v.notice("how long this source is isn't known");
         }
         v.player_->set_paused(true);  // to be looked at
         v.seek_to(v.options_.duration);
       }},
      {"l",
       [](Viewer& v) {
         v.split_.toggle_lock();
         v.notice(v.split_.locked() ? "split line locked" : "split line follows the pointer");
       }},
      {"|",
       [](Viewer& v) {
         v.split_.center();
         v.notice("split line in the middle");
       }},
      {"[", [](Viewer& v) { v.change_speed(v.player_->speed() / kSpeedStep); }},
      {"]", [](Viewer& v) { v.change_speed(v.player_->speed() * kSpeedStep); }},
      {"BACKSPACE", [](Viewer& v) { v.change_speed(1); }},
      {"0", side(Side::kDifference)},
      {"1", side(Side::kNoisy)},
      {"2", side(Side::kDenoised)},
      {"3", side(Side::kSplit)},
      {"UP", sigma(1)},
      {"+", sigma(1)},
      {"=", sigma(1)},
      {"DOWN", sigma(-1)},
      {"-", sigma(-1)},
      {"a",
       [](Viewer& v) {
         DenoiseSettings settings = v.player_->settings();
         settings.noise.noise.reset();
         v.change_settings(settings, "sigma estimated");
       }},
      {"m", [](Viewer& v) { v.next_filter(); }},
      {"c", [](Viewer& v) { v.next_profile(); }},
      {"Q", [](Viewer& v) { v.toggle_pace(); }},
      {"z", zoom(true)},
      {"Z", zoom(false)},
      {"f", [](Viewer& v) { v.window_.toggle_full_screen(); }},
      {"s", [](Viewer& v) { v.save(&Viewer::save_pictures); }},
      {"S", [](Viewer& v) { v.save(&Viewer::save_window); }},
      {"r",
       [](Viewer& v) {
         v.notice(v.options_.toggle_recording ? v.options_.toggle_recording()
                                              : "only the webcam is recorded");
       }},
      {"i",
       [](Viewer& v) {
         v.options_.statistics = !v.options_.statistics;
         v.labels_ = true;
         v.notice(v.options_.statistics ? "statistics" : "no statistics");
       }},
      {"?",
       [](Viewer& v) {
         v.help_ = !v.help_;
         v.notice(v.help_ ? "keys" : "");
       }},
      {"q", quit},
      {"ESC",
       [](Viewer& v) {
         if (v.window_.is_full_screen()) {
           v.window_.toggle_full_screen();
         } else {
           v.quit_ = true;
         }
       }},
  };
  if (notice_until_ == Clock::time_point::max()) {
    notice_.clear();
    notice_until_ = {};
    redraw_ = true;
  }
  if (shown_ == nullptr && key != "q" && key != "ESC") {
    early_keys_.push_back(key);
  } else if (const auto action = actions.find(key); action != actions.end()) {
    action->second(*this);
  }
}

void Viewer::notice(const std::string& text) {
  spdlog::debug(fmt::format("key: {}", text));
  notice_ = text;
  notice_until_ = Clock::now() + kNoticeTime;
  redraw_ = true;
}

void Viewer::tell_news() {
  const News news = options_.news ? options_.news() : News{};
  if (news.text.empty()) {
    return;
  }
  spdlog::debug(fmt::format("news: {}", news.text));
  if (news.is_failure || notice_until_ != Clock::time_point::max()) {
    notice_ = news.text;
    notice_until_ = news.is_failure ? Clock::time_point::max() : Clock::now() + kNewsTime;
    redraw_ = true;
  }
}

void Viewer::change_side(Side side) {
  // The same key again goes back to the split view.
  side_ = side == side_ ? Side::kSplit : side;
  static constexpr std::array<const char*, 4> kNames{"split", "noisy", "denoised", "difference"};
  notice(fmt::format("view: {}", kNames[static_cast<std::size_t>(side_)]));
}

void Viewer::change_speed(double speed) {
  if (player_options_.live) {
    return notice("a live source has its own speed");
  }
  speed = std::clamp(speed, kSlowest, kFastest);
  if (std::abs(speed - 1) < 0.01) {
    speed = 1;
  }
  const bool was_heard = player_->speed() == 1;
  player_->set_speed(speed);
  if (speed == 1 && !was_heard) {
    seek_audio(player_->position());
  }
  notice(fmt::format("speed x{:.2f}", speed));
}

void Viewer::seek_by(double seconds) { seek_to(player_->position() + seconds); }

void Viewer::seek_to(double seconds) {
  double target = std::max(seconds, 0.0);
  if (options_.duration > 0) {
    target = std::min(target, options_.duration);
  }
  if (!player_->seek(target)) {
    return notice("this source can't go back or forth");
  }
  asked_at_ = Clock::now();
  seek_audio(target);
  audio_waits_ = true;
  ended_ = false;
  notice(time_text(target, false));
}

void Viewer::toggle_pause() {
  if (ended_ && player_->can_seek()) {
    player_->set_paused(false);
    seek_to(0);
    return notice("from the beginning");
  }
  player_->set_paused(!player_->paused());
  if (!player_->paused()) {
    seek_audio(player_->position());  // frames may have been stepped through
  }
  notice(player_->paused() ? "paused" : "playing");
}

void Viewer::change_settings(const DenoiseSettings& settings, const std::string& text) {
  try {
    if (options_.check) {
      options_.check(settings);
    }
  } catch (const UsageError& error) {
    return notice(error.what());
  }
  awaited_ = settings;
  asked_at_ = Clock::now();
  slow_measurements_ = 0;
  player_->set_settings(settings);
  notice(text);
}

void Viewer::change_sigma(int direction) {
  DenoiseSettings settings = player_->settings();
  // From what is seen, as long as it is estimated; then from what has been asked for, which may not be seen
  // yet.
  NoiseModel level = shown_->level;
  if (settings.noise.noise) {
    level = scaled(settings.noise.noise->noise, settings.noise.strength);
  }
  const auto first = std::find_if(level.sigma.begin(), level.sigma.end(), [](float s) { return s > 0; });
  if (first == level.sigma.end()) {
    level.sigma.fill(direction > 0 ? step_sigma(0, direction) : 0);
  } else {
    const float stepped = step_sigma(*first, direction);
    if (stepped > 0) {
      level = scaled(level, stepped / *first);
    } else {
      level.sigma.fill(0);
    }
  }
  settings.noise.noise = NoiseProfile{level, std::nullopt};
  settings.noise.strength = 1;
  change_settings(settings, sigma_text(level, color_plane_names(options_.format)));
}

void Viewer::take_noise_of_mark() {
  const Region marked =
      stored_region(view_.picture_part(mark_->x0, mark_->y0, mark_->x1, mark_->y1, window_.size()), options_);
  constexpr int kLeast = NoiseTracker::kLeastSide;
  if (marked.width < kLeast || marked.height < kLeast) {
    return notice(fmt::format("{}x{} marked; {}x{} are needed to find noise", marked.width, marked.height,
                              kLeast, kLeast));
  }
  const Region region = whole_samples(marked, options_.format, shown_->noisy.interlaced);
  NoiseTracker tracker(*engine_);
  NoiseModel noise;
  if (before_sequence_ + 1 == shown_->sequence && before_.samples != nullptr) {
    noise = tracker.next(part_of(engine_->in_host_memory(before_), region));
  }
  noise = tracker.next(part_of(engine_->in_host_memory(shown_->noisy), region));
  if (!noise.has_noise()) {
    return notice("no noise was found there: " + evidence_text(noise));
  }
  DenoiseSettings settings = player_->settings();
  settings.noise.noise = NoiseProfile{noise, options_.format.color_model};
  const std::string shape = shape_text(noise, options_.format.color_model);
  change_settings(settings, fmt::format("from what is marked: {}{}",
                                        sigma_text(noise, color_plane_names(options_.format)),
                                        shape.empty() ? "" : ", " + shape));
}

void Viewer::next_profile() {
  DenoiseSettings settings = player_->settings();
  const std::vector<std::string>& profiles = filter_type(settings.filter).profiles;
  if (profiles.empty()) {
    return notice(settings.filter + " has no profiles");
  }
  const auto place = std::find(profiles.begin(), profiles.end(), settings.profile);
  settings.profile = profiles[static_cast<std::size_t>(place - profiles.begin() + 1) % profiles.size()];
  change_settings(settings, "profile " + settings.profile);
}

void Viewer::next_filter() {
  if (options_.filters.size() < 2) {
    return notice("there is no filter but " + player_->settings().filter);
  }
  DenoiseSettings settings = player_->settings();
  const auto place = std::find(options_.filters.begin(), options_.filters.end(), settings.filter);
  settings.filter =
      options_
          .filters[static_cast<std::size_t>(place - options_.filters.begin() + 1) % options_.filters.size()];
  const FilterType& type = filter_type(settings.filter);
  if (!type.profiles.empty() && std::ranges::find(type.profiles, settings.profile) == type.profiles.end()) {
    settings.profile = type.default_profile;
  }
  change_settings(settings, "filter " + settings.filter);
}

void Viewer::toggle_pace() {
  DenoiseSettings settings = player_->settings();
  settings.keeps_pace = !settings.keeps_pace;
  change_settings(settings, settings.keeps_pace ? "quality: automatic, keeps pace"
                                                : "quality: always " + filter_text(settings));
}

void Viewer::change_zoom(int zoom, double x, double y) {
  view_.set_zoom(zoom, x, y, window_.size());
  notice(zoom == 0 ? "zoom: fit" : fmt::format("zoom: {}:1", zoom));
}

// Those who pause to keep a picture want the best that can be had of it.
void Viewer::save(void (Viewer::*pictures)()) {
  if (!player_->will_refine()) {
    (this->*pictures)();
    return;
  }
  saves_.push_back(pictures);
  notice("to be saved when it is refined");
}

void Viewer::save_awaited() {
  for (const auto pictures : std::exchange(saves_, {})) {
    (this->*pictures)();
  }
}

void Viewer::save_pictures() {
  if (shown_->is_waiting) {
    return notice("the frame is not denoised yet");
  }
  io::RgbImage noisy;
  io::RgbImage denoised;
  converter_.convert(shown_->noisy, noisy);
  converter_.convert(shown_->denoised, denoised);
  const int column = view_.picture_column(split_.column(window_.size().width), window_.size());
  io::RgbImage split = denoised;
  for (int y = 0; y < split.height; ++y) {
    std::copy_n(noisy.row(y), column, split.row(y));
    if (column > 0 && column < split.width) {
      split.row(y)[column] = kLineColor;
    }
  }
  try {
    const std::string stem = free_stem(options_.picture_folder, options_.source, shown_->noisy.index);
    for (const auto& [name, picture] : {std::pair<const char*, const io::RgbImage&>{"noisy", noisy},
                                        {"denoised", denoised},
                                        {"split", split}}) {
      io::write_png(fmt::format("{}-{}.png", stem, name), picture);
    }
    spdlog::info(fmt::format("pictures: {}-noisy.png, -denoised.png, -split.png", stem));
    notice("pictures saved");
  } catch (const Error& error) {
    spdlog::error(error.what());
    notice(error.what());
  }
}

void Viewer::save_window() {
  try {
    const std::string path =
        free_stem(options_.picture_folder, options_.source, shown_->noisy.index) + "-window.png";
    draw();
    io::write_png(path, window_.snapshot());
    spdlog::info(fmt::format("picture: {}", path));
    notice("picture saved");
  } catch (const Error& error) {
    spdlog::error(error.what());
    notice(error.what());
  }
}

}  // namespace limpid::app
