#include "app/player/player.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

#include "app/pipeline/noise_log.h"
#include "core/base/error.h"
#include "core/base/thread.h"

namespace limpid::app {
namespace {

// Frames decoded ahead: enough to even out the decoder's times.
constexpr std::size_t kDecodedFrames = 4;
// Frames between the denoiser and the screen, if the denoiser doesn't need more: changed settings show after
// so many.
constexpr int kFramesAhead = 2;
// And at most: several GPUs as one could work on hundreds.
constexpr int kMostAhead = 8;
// If it takes so long to find a frame that isn't late, it is the source that can't keep up.
constexpr std::chrono::milliseconds kPatience{500};
// Containers round times.
constexpr double kSameTime = 0.0005;
// So long a frame may be with the denoiser until it is shown as it is, or given up for new settings.
constexpr std::chrono::milliseconds kLong{200};
// So long the same picture is shown before it is worth refining: nobody steps on meanwhile.
constexpr std::chrono::milliseconds kRest{100};
// Frames between the reader and the screen, at most, but for engines with many devices.
constexpr std::size_t kUnderWay = 16;
// More than these are hardly stepped through one by one.
constexpr std::size_t kMostKept = 250;

std::size_t bytes_of(const FrameFormat& format) {
  std::size_t samples = 0;
  for (int plane = 0; plane < format.plane_count(); ++plane) {
    samples += static_cast<std::size_t>(format.plane_width(plane)) * format.plane_height(plane);
  }
  return samples * format.bytes_per_sample();
}

}  // namespace

// On the denoise thread. Frames are sent and received without the mutex, all else happens with it.
class Player::Denoising {
 public:
  explicit Denoising(Player& player) : player_(player), stage_(player.stage_) {}

  void run() {
    std::unique_lock lock(player_.mutex_);
    while (!player_.stopped_) {
      if (epoch_ != player_.epoch_) {
        begin_epoch();
      }
      std::optional<Clock::time_point> wake_at = player_.expire(Clock::now());
      const std::optional<Clock::time_point> decides_at = player_.decides_at(Clock::now());
      if (decides_at) {
        wake_at = std::min(wake_at.value_or(*decides_at), *decides_at);
      }
      const bool has_next = !player_.decoded_.empty() && player_.may_send() && !decides_at;
      if (!stage_.is_full() && (!again_.empty() || has_next)) {
        if (again_.empty() && player_.drop_late(Clock::now())) {
          continue;
        }
        send_next(lock);
      } else if (stage_.owes_a_result()) {
        lock.unlock();
        receive();
        lock.lock();
      } else if (player_.source_ended_ && player_.decoded_.empty() && again_.empty() && !player_.drained_) {
        lock.unlock();
        drain();
        lock.lock();
        player_.drained_ = epoch_ == player_.epoch_;
        player_.changed_.notify_all();
        lock.unlock();
        player_.stages_.wake();
        lock.lock();
      } else {
        const auto begin = Clock::now();
        if (wake_at) {
          player_.changed_.wait_until(lock, *wake_at);
        } else {
          player_.changed_.wait(lock);
        }
        player_.counters_.denoise.waited_for_input_ns += (Clock::now() - begin).count();
      }
    }
  }

 private:
  struct Sent {
    Job job;
    DenoiseSettings settings;
    NoiseModel level;
    Clock::time_point at;
  };

  void begin_epoch() {
    epoch_ = player_.epoch_;
    if (player_.settings_.same_denoiser(settings_)) {
      stage_.reset();
    } else {
      stage_.abandon();
    }
    sent_.clear();
    again_.clear();
    if (std::exchange(player_.elsewhere_, false)) {
      recent_.clear();
    }
    if (std::exchange(player_.again_, false)) {
      again_ = recent_;
    }
    // After a seek none has been shown of those that count.
    first_wanted_ = player_.clock_runs_ && player_.shown_ != nullptr ? player_.shown_->sequence : 0;
  }

  void send_next(std::unique_lock<std::mutex>& lock) {
    Job job;
    if (!again_.empty()) {
      job = std::move(again_.front());
      again_.pop_front();
    } else {
      job = std::move(player_.decoded_.front());
      player_.decoded_.pop_front();
      if (!player_.options_.live) {  // of which nothing is denoised again
        remember(job);
      }
    }
    ++player_.outstanding_;
    const DenoiseSettings settings = player_.settings_;
    player_.changed_.notify_all();
    lock.unlock();
    send(std::move(job), settings);
    lock.lock();
    player_.latency_ = stage_.latency();
    player_.concurrency_ = stage_.concurrency();
  }

  // Who waits for the first frame, or the first behind a seek, sees it before it is denoised, unless that is
  // a matter of a moment.
  void show_waiting(const Sent& sent) {
    const std::scoped_lock lock(player_.mutex_);
    const bool soon = player_.shown_ != nullptr && player_.turnaround_ < seconds_of(kLong);
    if (soon || player_.clock_runs_ || stage_.under_way() > 0 || epoch_ != player_.epoch_) {
      return;
    }
    player_.finished_.push_back({epoch_, frame_of(sent)});
    player_.finished_.back().frame->is_waiting = true;
    player_.changed_.notify_all();
  }
  static std::shared_ptr<PlayedFrame> frame_of(const Sent& sent) {
    auto frame = std::make_shared<PlayedFrame>();
    frame->noisy = sent.job.frame;
    frame->settings = sent.settings;
    frame->level = sent.level;
    frame->time = sent.job.time;
    frame->sequence = sent.job.sequence;
    frame->decoded_at = sent.job.decoded_at;
    frame->sent_at = sent.at;
    frame->source_is_late = sent.job.source_is_late;
    return frame;
  }
  static double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

  // Keeps what is denoised again for new settings: the frame that is shown and those under way, and before
  // either as many as a temporal filter needs. Frames between them have been dropped, any number if nobody
  // takes frames.
  void remember(const Job& job) {
    if (player_.shown_ != nullptr) {
      const auto behind = std::find_if(recent_.begin(), recent_.end(), [&](const Job& other) {
        return other.sequence > player_.shown_->sequence;
      });
      const std::int64_t until_shown = behind - recent_.begin();
      const std::int64_t not_needed = recent_.end() - behind - player_.outstanding_ - stage_.latency();
      recent_.erase(behind, behind + std::max<std::int64_t>(not_needed, 0));
      const std::int64_t too_old = until_shown - 1 - stage_.latency();
      recent_.erase(recent_.begin(), recent_.begin() + std::max<std::int64_t>(too_old, 0));
    }
    recent_.push_back(job);
  }

  void send(Job job, const DenoiseSettings& settings) {
    const PlayerStages& stages = player_.stages_;
    if (!noise_ || settings.noise != settings_.noise) {
      noise_.emplace(settings.noise, *stages.engine, noise_log(settings.noise));
    }
    const NoiseModel level =
        timed(player_.counters_.denoise.busy_ns, [&] { return noise_->level_for(job.frame); });
    std::unique_ptr<Denoiser> next;
    if (stage_.has_denoiser() && !settings.same_denoiser(settings_)) {
      next = stages.make_denoiser(settings, job.frame, level);
      drain();
      stage_.abandon();
    }
    settings_ = settings;
    sent_.push_back({job, settings, level, Clock::now()});
    show_waiting(sent_.back());
    stage_.send(std::move(job.frame), level, [&](const Frame& frame, const NoiseModel& noise) {
      return next != nullptr ? std::move(next) : stages.make_denoiser(settings, frame, noise);
    });
  }

  void drain() {
    stage_.flush();
    while (stage_.under_way() > 0 && receive()) {
    }
  }

  // Passes a result on if there is one.
  bool receive() {
    std::optional<Frame> denoised = stage_.receive();
    if (!denoised) {
      return false;
    }
    const std::shared_ptr<PlayedFrame> frame = frame_of(sent_.front());
    sent_.pop_front();
    frame->denoised = std::move(*denoised);
    if (player_.stages_.denoised) {
      player_.stages_.denoised(*frame);
    }
    const std::scoped_lock lock(player_.mutex_);
    player_.idle_since_ = Clock::now();
    if (epoch_ != player_.epoch_) {
      return true;
    }
    if (frame->sequence < first_wanted_) {
      --player_.outstanding_;
      return true;
    }
    player_.finished_.push_back({epoch_, frame});
    player_.changed_.notify_all();
    return true;
  }

  Player& player_;
  DenoiseStage& stage_;
  std::optional<NoiseControl> noise_;
  DenoiseSettings settings_;
  std::deque<Sent> sent_;   // whose results are to come
  std::deque<Job> recent_;  // see remember()
  std::deque<Job> again_;   // frames of `recent_` to be sent once more
  std::uint64_t first_wanted_ = 0;
  std::uint64_t epoch_ = 0;
};

// On the refining thread. Frames are filtered without the mutex, all else happens with it.
class Player::Refining {
 public:
  explicit Refining(Player& player) : player_(player), stage_(player.refining_stage_) {}

  void run() {
    std::unique_lock lock(player_.mutex_);
    while (!player_.stopped_) {
      const bool stands = player_.clock_.paused() || player_.nothing_to_come();
      if (player_.refining_ == nullptr && player_.can_refine(player_.shown_.get())) {
        if (const Clock::time_point begin = player_.rests_since_ + kRest; Clock::now() < begin) {
          player_.changed_.wait_until(lock, begin);
        } else {
          refine(lock);
        }
      } else if (!stands && stage_.has_denoiser()) {
        lock.unlock();
        stage_.abandon();  // its memory may be of use
        lock.lock();
      } else {
        player_.changed_.wait(lock);
      }
    }
  }

 private:
  void refine(std::unique_lock<std::mutex>& lock) {
    const std::shared_ptr<const PlayedFrame> frame = player_.refining_ = player_.shown_;
    const auto is_wanted = [&] { return !player_.stopped_ && player_.refining_ == frame; };
    player_.wants_surroundings_ = true;
    player_.changed_.notify_all();
    player_.changed_.wait(lock, [&] { return !is_wanted() || player_.surroundings_; });
    if (!is_wanted()) {
      return;
    }
    const Surroundings around = *std::exchange(player_.surroundings_, std::nullopt);
    std::optional<Frame> denoised;
    if (!around.frames.empty()) {
      lock.unlock();
      try {
        send(around, *frame);
        // What came before there was a denoiser has not cancelled it.
        lock.lock();
        const bool is_still_wanted = is_wanted();
        lock.unlock();
        denoised = is_still_wanted ? stage_.receive() : std::nullopt;
      } catch (const Error& error) {
        // There may be no memory for a second denoiser. The window goes on.
        spdlog::warn(fmt::format("the picture is not refined: {}", error.what()));
        stage_.abandon();
      }
      lock.lock();
    }
    if (!is_wanted()) {
      return;
    }
    if (!denoised) {
      player_.settled_ = frame;
      player_.forget_refining();
      player_.stages_.wake();
      return;
    }
    auto refined = std::make_shared<PlayedFrame>(*frame);
    refined->denoised = std::move(*denoised);
    refined->denoised_picture = nullptr;
    refined->is_refined = true;
    player_.finished_.push_back({player_.epoch_, std::move(refined)});
    player_.changed_.notify_all();
  }

  void send(const Surroundings& around, const PlayedFrame& played) {
    if (played.settings.same_denoiser(settings_)) {
      stage_.reset();
    } else {
      stage_.abandon();
    }
    settings_ = played.settings;
    for (std::size_t i = 0; i < around.frames.size(); ++i) {
      Frame frame = around.frames[i];
      frame.context_only = i != around.current;
      stage_.send(std::move(frame), played.level, [&](const Frame& first, const NoiseModel& noise) {
        return player_.stages_.make_refiner(settings_, first, noise);
      });
    }
    stage_.flush();
  }

  Player& player_;
  DenoiseStage& stage_;
  DenoiseSettings settings_;
};

Player::Player(PlayerStages stages, const PlayerOptions& options)
    : stages_(std::move(stages)),
      options_(options),
      settings_(options.settings),
      idle_since_(Clock::now()),
      rests_since_(Clock::now()),
      stage_(counters_.denoise),
      refining_stage_(refining_counters_) {
  try {
    reader_ = start_thread([this] { guarded([this] { read_loop(); }); });
    denoiser_ = start_thread([this] { guarded([this] { denoise_loop(); }); });
    preparer_ = start_thread([this] { guarded([this] { prepare_loop(); }); });
    refiner_ = start_thread([this] { guarded([this] { refine_loop(); }); });
  } catch (...) {
    stop(std::chrono::milliseconds(0));  // those that run
    throw;
  }
}

Player::~Player() { stop(std::chrono::milliseconds(0)); }

void Player::guarded(const std::function<void()>& loop) {
  try {
    loop();
  } catch (...) {
    {
      const std::scoped_lock lock(mutex_);
      if (!error_) {
        error_ = std::current_exception();
      }
      stopped_ = true;
      changed_.notify_all();
    }
    stages_.wake();
  }
  const std::scoped_lock lock(mutex_);
  --at_work_;
  changed_.notify_all();
}

bool Player::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  stage_.cancel();
  refining_stage_.cancel();
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [&] { return at_work_ == 0; });
}

std::optional<Frame> Player::decode_frame() {
  return timed(counters_.read.busy_ns, [&]() -> std::optional<Frame> {
    for (;;) {
      io::Reader::Item item = stages_.read();
      if (std::holds_alternative<io::Reader::End>(item)) {
        return std::nullopt;
      }
      if (Frame* const frame = std::get_if<Frame>(&item)) {
        ++counters_.read.frames;
        return std::move(*frame);
      }
    }
  });
}

// Nothing at the end, or if somebody wants to go elsewhere meanwhile.
std::optional<Player::Job> Player::read_frame() {
  if (next_kept_ == kept_.size() && !source_follows_ && !kept_to_the_end_) {
    if (!decode_up_to({.time = kept_.back().time, .before = false})) {
      return std::nullopt;
    }
    next_kept_ = std::min(next_kept_ + 1, kept_.size());
  }
  if (next_kept_ == kept_.size()) {
    std::optional<Frame> frame = kept_to_the_end_ ? std::nullopt : decode_frame();
    if (!frame) {
      kept_to_the_end_ = !options_.live;
      return std::nullopt;
    }
    const double time = time_of(*frame);
    kept_.push_back({std::move(*frame), time});
  }
  Job job = next_kept();
  while (next_kept_ > 0 && kept_.size() > kept_frames(job.frame)) {
    kept_.pop_front();
    kept_from_the_beginning_ = false;
    --next_kept_;
  }
  return job;
}

Player::Job Player::next_kept() {
  const Kept& kept = kept_[next_kept_++];
  Job job;
  job.sequence = next_sequence_++;
  job.time = kept.time;
  job.frame = kept.frame;
  job.decoded_at = Clock::now();
  return job;
}

double Player::time_of(const Frame& frame) const {
  return io::presentation_time(frame).value_or(static_cast<double>(frame.index) / options_.frames_per_second);
}

std::size_t Player::kept_frames(const Frame& frame) const {
  // Those that refining a frame takes can't be had again if the source can't go back.
  const std::size_t for_refining =
      wanted_reach_ == Reach{} ? 0 : static_cast<std::size_t>(wanted_reach_.before) + kUnderWay;
  if (options_.live || !stages_.seek) {
    return for_refining;
  }
  const std::size_t for_steps =
      std::min(options_.kept_bytes / std::max<std::size_t>(bytes_of(frame.format), 1), kMostKept);
  return std::max<std::size_t>(for_steps, for_refining > 0 ? 1 : 0);
}

void Player::forget_kept() {
  kept_.clear();
  next_kept_ = 0;
  kept_to_the_end_ = kept_from_the_beginning_ = false;
  source_follows_ = true;
}

// Makes the frame that is wanted the next to be read, if it is among those that are kept.
bool Player::find_kept(const Target& target) {
  const double latest = target.before ? target.time - kSameTime : target.time + kSameTime;
  const auto behind =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.time > latest; });
  if ((behind == kept_.begin() && !(kept_from_the_beginning_ && !kept_.empty())) ||
      (behind == kept_.end() && !kept_to_the_end_)) {
    return false;
  }
  next_kept_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - kept_.begin(), 1)) - 1;
  return true;
}

// Decodes until the frame that is wanted and the one behind it are kept, or the end. False if nobody wants it
// any more.
bool Player::decode_up_to(const Target& target) {
  const auto given_up = [this] {
    const std::scoped_lock lock(mutex_);
    return is_given_up();
  };
  // Which frame is the last one before a time is known once there is a later one. That it is farther from
  // it than frames are apart on average is rare.
  constexpr double kAnywhere = 1e6;
  constexpr std::size_t kLeast = 2;
  // Who seeks may step back a little, who steps back will go on. Decoders leave out half of the frames that
  // nobody sees.
  const std::size_t few = std::max<std::size_t>(12, static_cast<std::size_t>(wanted_reach_.before));
  const auto frames_before = [&](std::size_t kept) {
    return kLeast + (target.before ? kept / 2 : std::min(kept, few));
  };
  std::size_t most = frames_before(kept_.empty() ? 0 : kept_frames(kept_.front().frame));
  const double latest = target.before ? target.time - kSameTime : target.time + kSameTime;
  for (const double before : {static_cast<double>(most) / options_.frames_per_second, kAnywhere}) {
    forget_kept();
    timed(counters_.read.busy_ns,
          [&] { stages_.seek(target.before ? target.time - 2 * kSameTime : target.time, before, given_up); });
    while (!kept_to_the_end_ && !given_up() && (kept_.empty() || kept_.back().time <= latest)) {
      std::optional<Frame> frame = decode_frame();
      kept_to_the_end_ = !frame;
      if (frame) {
        most = frames_before(kept_frames(*frame));
        const double time = time_of(*frame);
        kept_.push_back({std::move(*frame), time});
      }
      while (kept_.size() > most) {
        kept_.pop_front();
      }
    }
    if (given_up()) {
      forget_kept();  // where the source is now is not known
      return false;
    }
    if (find_kept(target)) {
      break;
    }
  }
  return true;  // with the first frame, if there is none so early
}

// While earlier frames are decoded: hands on what is wanted of those that are kept. False if that won't do.
bool Player::serve_from_kept() {
  const std::scoped_lock lock(mutex_);
  if (stopped_ || !stepping_back_) {
    return false;
  }
  if (target_ && !find_kept(*target_)) {
    // What is being decoded may be just that.
    return target_->before && std::abs(target_->time - kept_.front().time) <= kSameTime;
  }
  target_.reset();
  bool handed_on = false;
  for (; decoded_.size() < kDecodedFrames && next_kept_ < kept_.size(); handed_on = true) {
    decoded_.push_back(next_kept());
  }
  if (handed_on) {
    changed_.notify_all();
  }
  return !decoded_.empty() || kept_to_the_end_;
}

// Decodes from the last key frame before those that are kept on, up to these; keeps those of the last
// `before` seconds. False if something else is wanted.
bool Player::decode_group_before(std::deque<Kept>& earlier, double before) {
  const double end = kept_.front().time - kSameTime;
  const std::size_t most = kept_frames(kept_.front().frame) / 2;
  bool is_given_up = false;  // for good: where the source is then is not known
  const auto given_up = [&] { return is_given_up = is_given_up || !serve_from_kept(); };
  source_follows_ = false;
  timed(counters_.read.busy_ns, [&] { stages_.seek(end - kSameTime, before, given_up); });
  while (!given_up()) {
    std::optional<Frame> frame = decode_frame();
    if (!frame || time_of(*frame) >= end) {
      return true;
    }
    const double time = time_of(*frame);
    earlier.push_back({std::move(*frame), time});
    if (earlier.size() > most) {
      earlier.pop_front();
    }
  }
  return false;
}

// Has frames ready for further steps back: the whole group of pictures before takes longer to decode than
// anybody wants to wait for one frame.
void Player::decode_earlier() {
  const std::size_t most = kept_frames(kept_.front().frame);
  constexpr double kAnywhere = 1e6;
  std::deque<Kept> earlier;
  for (const double before : {static_cast<double>(most) / (2 * options_.frames_per_second), kAnywhere}) {
    if (!decode_group_before(earlier, before)) {
      return;
    }
    if (!earlier.empty()) {
      break;
    }
  }
  kept_from_the_beginning_ = earlier.empty();
  next_kept_ += earlier.size();
  kept_.insert(kept_.begin(), std::make_move_iterator(earlier.begin()),
               std::make_move_iterator(earlier.end()));
  while (kept_.size() > std::max(most, next_kept_ + kDecodedFrames)) {
    kept_.pop_back();
    kept_to_the_end_ = false;
  }
}

// Which of those that are kept it is.
std::optional<std::size_t> Player::find_kept(double time) const {
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return std::abs(kept.time - time) <= kSameTime; });
  return found == kept_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - kept_.begin()));
}

// Has those kept that are around the frame at `time`, as far as there are any. What is read next stays the
// same. False if they can't be had, or are given up.
bool Player::keep_around(double time, const Reach& reach, const std::function<bool()>& given_up) {
  const auto before = static_cast<std::size_t>(reach.before);
  const auto after = static_cast<std::size_t>(reach.after);
  std::optional<std::size_t> place = find_kept(time);
  const bool has_before = place && (*place >= before || kept_from_the_beginning_);
  const bool can_go_on = source_follows_ || kept_to_the_end_ || (place && kept_.size() - *place > after);
  if ((!has_before || !can_go_on) && stages_.seek && !kept_.empty()) {
    if (!decode_around(time, before, given_up)) {
      return false;
    }
    place = find_kept(time);
  }
  while (place && source_follows_ && !kept_to_the_end_ && kept_.size() - *place <= after) {
    if (given_up()) {
      return false;
    }
    std::optional<Frame> frame = decode_frame();
    kept_to_the_end_ = !frame;
    if (frame) {
      const double frame_time = time_of(*frame);
      kept_.push_back({std::move(*frame), frame_time});
    }
  }
  return place.has_value();
}

// Decodes anew what is kept, from so many frames before `time` to the last frame that has been read, at
// least. False if that is given up: then what is kept stays.
bool Player::decode_around(double time, std::size_t before, const std::function<bool()>& given_up) {
  const double last_read = next_kept_ > 0 ? kept_[next_kept_ - 1].time : kept_.front().time - 2 * kSameTime;
  // Where frames are farther apart than on average, more time.
  for (const double spread : {1.0, 8.0}) {
    std::deque<Kept> around;
    const double seconds = spread * static_cast<double>(before + 1) / options_.frames_per_second;
    bool ended = false;
    source_follows_ = false;
    timed(counters_.read.busy_ns, [&] { stages_.seek(time, seconds, given_up); });
    while (!ended && (around.empty() || around.back().time <= std::max(time, last_read) + kSameTime)) {
      if (given_up()) {
        return false;
      }
      std::optional<Frame> frame = decode_frame();
      ended = !frame;
      if (frame) {
        const double frame_time = time_of(*frame);
        around.push_back({std::move(*frame), frame_time});
      }
      while (around.size() > before + 1 && around[before + 1].time <= time + kSameTime) {
        around.pop_front();
      }
    }
    const auto behind = [&](double than) {
      return std::find_if(around.begin(), around.end(),
                          [&](const Kept& kept) { return kept.time > than + kSameTime; }) -
             around.begin();
    };
    const bool is_all = seconds >= time;
    if (behind(time) > static_cast<std::ptrdiff_t>(before) || is_all || spread > 1) {
      next_kept_ = static_cast<std::size_t>(behind(last_read));
      kept_ = std::move(around);
      kept_to_the_end_ = ended;
      kept_from_the_beginning_ = false;
      source_follows_ = true;
      return true;
    }
  }
  return false;
}

// Hands the refining thread the frames around what it refines; none if they can't be had.
void Player::serve_refining(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<const PlayedFrame> frame = refining_;
  const Reach reach = wanted_reach_;
  lock.unlock();
  const auto given_up = [&] {
    const std::scoped_lock locked(mutex_);
    return stopped_ || target_ || refining_ != frame;
  };
  Surroundings around;
  if (keep_around(frame->time, reach, given_up)) {
    const std::size_t place = *find_kept(frame->time);
    around.current = std::min(place, static_cast<std::size_t>(reach.before));
    const std::size_t first = place - around.current;
    const std::size_t end = std::min(kept_.size(), place + 1 + static_cast<std::size_t>(reach.after));
    for (std::size_t i = first; i < end; ++i) {
      around.frames.push_back(kept_[i].frame);
    }
  }
  lock.lock();
  if (refining_ == frame) {
    wants_surroundings_ = false;
    surroundings_ = std::move(around);
    changed_.notify_all();
  }
}

void Player::read_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_reach_ = refining_reach();
    const auto is_wanted = [&] {
      // Who steps back sees none of those behind, for which the source would have to be sought anew.
      const bool has_enough = stepping_back_ && !source_follows_ && next_kept_ == kept_.size();
      const std::size_t enough = has_enough ? 1 : kDecodedFrames;
      return stopped_ || target_ || wants_surroundings_ ||
             (!source_ended_ && (options_.live || decoded_.size() < enough));
    };
    if (!is_wanted() && may_step_farther_back()) {
      lock.unlock();
      decode_earlier();
      lock.lock();
      continue;
    }
    timed(counters_.read.waited_for_output_ns, [&] { changed_.wait(lock, is_wanted); });
    if (stopped_) {
      return;
    }
    if (wants_surroundings_ && !target_) {
      serve_refining(lock);
      continue;
    }
    const std::optional<Target> target = std::exchange(target_, std::nullopt);
    lock.unlock();
    std::optional<Job> job;
    if (!target || find_kept(*target) || decode_up_to(*target)) {
      job = read_frame();
    }
    lock.lock();
    if (is_given_up() || (source_ended_ && !target)) {
      continue;  // somebody wants to go elsewhere, or has seen enough
    }
    source_ended_ = source_ended_ || !job;
    if (options_.live && job) {
      counters_.dropped_before += static_cast<std::int64_t>(decoded_.size());
      decoded_.clear();
    }
    if (job) {
      decoded_.push_back(std::move(*job));
    }
    changed_.notify_all();
  }
}

void Player::denoise_loop() { Denoising(*this).run(); }

void Player::refine_loop() { Refining(*this).run(); }

void Player::prepare_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    timed(counters_.prepare.waited_for_input_ns,
          [&] { changed_.wait(lock, [&] { return stopped_ || !finished_.empty(); }); });
    if (stopped_) {
      return;
    }
    Finished next = std::move(finished_.front());
    finished_.pop_front();
    ++preparing_;
    lock.unlock();
    timed(counters_.prepare.busy_ns, [&] { stages_.prepare(*next.frame); });
    counters_.prepare.frames += next.frame->is_waiting || next.frame->is_refined ? 0 : 1;
    next.frame->ready_at = Clock::now();
    lock.lock();
    --preparing_;
    if (next.epoch != epoch_) {
      continue;
    }
    if (next.frame->is_waiting || next.frame->is_refined) {
      (next.frame->is_waiting ? waiting_ : refined_) = std::move(next.frame);
      lock.unlock();
      stages_.wake();
      lock.lock();
      continue;
    }
    const double took = std::chrono::duration<double>(next.frame->ready_at - next.frame->sent_at).count();
    constexpr double kShare = 0.25;
    turnaround_ += (turnaround_ > 0 ? kShare : 1) * (took - turnaround_);
    if (options_.live) {
      counters_.dropped_after += static_cast<std::int64_t>(ready_.size());
      ready_.clear();
      --outstanding_;
    }
    ready_.push_back(std::move(next.frame));
    changed_.notify_all();
    lock.unlock();
    stages_.wake();
    lock.lock();
  }
}

bool Player::may_send() const {
  // Which frames won't be late is known only once the clock runs, with the first.
  const int ahead = options_.live  ? std::min(concurrency_, kMostAhead) + 1
                    : !clock_runs_ ? 1
                                   : std::clamp(concurrency_, kFramesAhead, kMostAhead);
  return outstanding_ < latency_ + ahead;
}

// Whether the successor of the next frame would be due by the time that the frame could be ready.
bool Player::is_late(Clock::time_point now) const {
  if (!follows_clock() || decoded_.empty() || (decoded_.size() == 1 && source_ended_)) {
    return false;
  }
  const double successor =
      decoded_.size() > 1 ? decoded_[1].time : decoded_.front().time + 1 / options_.frames_per_second;
  const auto ready_at =
      now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(turnaround_));
  return clock_.due(successor) <= ready_at;
}

// When it is decided at the latest what becomes of the next frame, if it is late and it is not known yet
// whether it has a successor: the last one is shown however late.
std::optional<Player::Clock::time_point> Player::decides_at(Clock::time_point now) const {
  const Clock::time_point at = idle_since_ + kPatience;
  return decoded_.size() == 1 && now < at && is_late(now) ? std::optional(at) : std::nullopt;
}

// Drops the next frame if it is late. Whether it did.
bool Player::drop_late(Clock::time_point now) {
  if (!is_late(now)) {
    return false;
  }
  if (decoded_.size() == 1) {
    decoded_.front().source_is_late = true;
    return false;
  }
  decoded_.pop_front();
  ++counters_.dropped_before;
  changed_.notify_all();
  return true;
}

// Drops ready frames whose successors are due; returns when the next will be.
std::optional<Player::Clock::time_point> Player::expire(Clock::time_point now) {
  if (!follows_clock()) {
    return std::nullopt;
  }
  while (ready_.size() > 1) {
    const Clock::time_point due = clock_.due(ready_[1]->time);
    if (due > now) {
      return due;
    }
    ready_.pop_front();
    --outstanding_;
    ++counters_.dropped_after;
    changed_.notify_all();
  }
  return std::nullopt;
}

bool Player::nothing_to_come() const {
  return drained_ && source_ended_ && !target_ && decoded_.empty() && finished_.empty() && preparing_ == 0 &&
         ready_.empty();
}

Player::Taken Player::take(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (error_) {
    std::rethrow_exception(error_);
  }
  Taken taken;
  expire(now);
  const bool frozen = clock_.paused() && clock_runs_ && !show_next_;
  if (!ready_.empty() && !frozen) {
    const std::shared_ptr<PlayedFrame> next = ready_.front();
    const bool at_once = options_.live || !clock_runs_ || show_next_;
    const Clock::time_point due = at_once ? now : clock_.due(next->time);
    if (due <= now) {
      if (at_once || next->source_is_late) {
        clock_.set(next->time, now);
      }
      taken.begins = !std::exchange(clock_runs_, true);
      show_next_ = false;
      going_to_.reset();
      ready_.pop_front();
      outstanding_ -= options_.live ? 0 : 1;
      ++counters_.shown;
      shown_ = next;
      taken.frame = next;
      waiting_.reset();
      forget_refining();
      changed_.notify_all();
    }
  }
  if (refined_ != nullptr) {
    if (refining_ == shown_) {
      shown_ = taken.refined = refined_;
    }
    forget_refining();
  }
  if (follows_clock() && !ready_.empty()) {
    taken.next_at = clock_.due(ready_.front()->time);
  }
  if (waiting_ != nullptr && ready_.empty()) {
    const Clock::time_point long_since = shown_ == nullptr ? now : waiting_->sent_at + kLong;
    if (long_since <= now) {
      taken.waiting = std::exchange(waiting_, nullptr);
    } else {
      taken.next_at = long_since;
    }
  }
  if (nothing_to_come()) {
    const bool waits = shown_ != nullptr && !options_.live && !clock_.paused();
    const Clock::time_point end = waits ? clock_.due(shown_->time + 1 / options_.frames_per_second) : now;
    taken.ended = end <= now && taken.frame == nullptr;
    taken.next_at = end;
  }
  return taken;
}

void Player::forget_frames_under_way() {
  ++epoch_;
  finished_.clear();
  ready_.clear();
  waiting_.reset();
  outstanding_ = 0;
  drained_ = false;
  stage_.cancel();
  forget_refining();
  changed_.notify_all();
}

Reach Player::refining_reach() const {
  return stages_.refining_reach && !options_.live ? stages_.refining_reach(settings_) : Reach{};
}

// Whether it is what is shown, stays so, and would be better.
bool Player::can_refine(const PlayedFrame* frame) const {
  const bool stands = (clock_.paused() || nothing_to_come()) && clock_runs_ && !show_next_ && !going_to_;
  return stands && frame != nullptr && frame == shown_.get() && frame != settled_.get() &&
         !frame->is_refined && frame->settings == settings_ && refining_reach() != Reach{};
}

// Nobody wants to see what is being refined.
void Player::forget_refining() {
  rests_since_ = Clock::now();
  if (refining_ != nullptr) {
    refining_.reset();
    refined_.reset();
    wants_surroundings_ = false;
    surroundings_.reset();
    refining_stage_.cancel();
    changed_.notify_all();
  }
}

bool Player::will_refine() const {
  const std::scoped_lock lock(mutex_);
  return can_refine(shown_.get());
}

bool Player::is_given_up() const { return stopped_ || target_.has_value(); }

// Whether the frames are running out that are kept for steps back.
bool Player::may_step_farther_back() const {
  return stepping_back_ && !kept_.empty() && !kept_from_the_beginning_ &&
         next_kept_ < decoded_.size() + kept_frames(kept_.front().frame) / 2;
}

Player::Clock::duration Player::at_work() const {
  const std::optional<Clock::time_point> since = stage_.at_work_since();
  return since ? Clock::now() - *since : Clock::duration::zero();
}

void Player::go_to(const Target& target) {
  forget_frames_under_way();
  elsewhere_ = true;
  decoded_.clear();
  source_ended_ = false;
  clock_runs_ = false;
  target_ = target;
  going_to_ = target.time;
  going_before_ = stepping_back_ = target.before;
}

void Player::set_settings(const DenoiseSettings& settings) {
  const std::scoped_lock lock(mutex_);
  if (settings == settings_) {
    return;
  }
  settings_ = settings;
  // What takes long is not waited for.
  const bool anew = clock_.paused() || !clock_runs_ || at_work() > kLong;
  if (anew && !options_.live) {
    forget_frames_under_way();
    again_ = true;
    show_next_ = clock_runs_ && clock_.paused();
  }
}

DenoiseSettings Player::settings() const {
  const std::scoped_lock lock(mutex_);
  return settings_;
}

void Player::set_paused(bool paused) {
  const std::scoped_lock lock(mutex_);
  if (paused == clock_.paused()) {
    return;
  }
  paused ? clock_.pause(Clock::now()) : clock_.resume(Clock::now());
  forget_refining();
  stepping_back_ = false;
  changed_.notify_all();
}

bool Player::paused() const {
  const std::scoped_lock lock(mutex_);
  return clock_.paused();
}

void Player::set_speed(double speed) {
  const std::scoped_lock lock(mutex_);
  clock_.set_speed(speed, Clock::now());
  changed_.notify_all();
}

double Player::speed() const {
  const std::scoped_lock lock(mutex_);
  return clock_.speed();
}

void Player::step_forward() {
  const std::scoped_lock lock(mutex_);
  if (!clock_.paused()) {
    clock_.pause(Clock::now());
  }
  show_next_ = !nothing_to_come();
  forget_refining();
  stepping_back_ = false;
  changed_.notify_all();
}

void Player::step_back() {
  const std::scoped_lock lock(mutex_);
  if (!clock_.paused()) {
    clock_.pause(Clock::now());
  }
  // Who is impatient doesn't make it begin anew.
  const bool is_on_its_way = going_to_ && going_before_ && *going_to_ == shown_->time;
  if (stages_.seek && shown_ != nullptr && !is_on_its_way) {
    go_to({.time = shown_->time, .before = true});
  }
}

bool Player::seek(double time) {
  if (!stages_.seek) {
    return false;
  }
  const std::scoped_lock lock(mutex_);
  if (options_.duration > 0) {
    time = std::min(time, options_.duration);
  }
  go_to({.time = std::max(time, 0.0), .before = false});
  return true;
}

double Player::position() const {
  const std::scoped_lock lock(mutex_);
  return going_to_.value_or(shown_ != nullptr ? shown_->time : 0);
}

bool Player::is_seeking() const {
  const std::scoped_lock lock(mutex_);
  return going_to_.has_value();
}

void Player::follow_audio(double position) {
  const std::scoped_lock lock(mutex_);
  if (follows_clock()) {
    clock_.follow(position, Clock::now());
  }
}

void Player::finish() {
  std::unique_lock lock(mutex_);
  source_ended_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return stopped_ || drained_; });
  if (error_) {
    std::rethrow_exception(error_);
  }
}

double Player::turnaround() const {
  const std::scoped_lock lock(mutex_);
  return turnaround_;
}

}  // namespace limpid::app
