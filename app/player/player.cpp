// SPDX-License-Identifier: MIT
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
#include "app/player/quality_choice.h"
#include "core/base/error.h"
#include "core/base/thread.h"

namespace limpid::app {
namespace {

// Frames decoded ahead: enough to even out the decoder's times.
constexpr std::size_t kDecodedFrames = 4;
// If it takes so long to find a frame that isn't late, it is the source that can't keep up.
constexpr std::chrono::milliseconds kPatience{500};
// Earlier frames that a filter is given when it replaces another, at most: its first results are as good as
// the other's, and nothing flashes. They cost time in which no frame is shown.
constexpr int kMostContext = 8;
// And if its reach is unbounded.
constexpr int kUnboundedContext = 4;
// Frames that are shown while a filter begins that waits for later frames, besides these.
constexpr int kStepReserve = 3;
// A frame that takes the denoiser longer is shown noisy, and is abandoned if the settings change.
constexpr std::chrono::milliseconds kLong{200};
}  // namespace

// On the denoise thread. Frames are sent and received without the mutex, all else happens with it.
class Player::Denoising {
 public:
  explicit Denoising(Player& player)
      : player_(player), stage_(player.stage_), quality_(player.stages_.ladder) {}

  void run() {
    std::unique_lock lock(player_.mutex_);
    while (!player_.stopped_) {
      if (epoch_ != player_.epoch_) {
        begin_epoch();
      }
      if (std::exchange(steps_down_, false)) {
        send_again();
      }
      prepare_step_up();
      std::optional<Clock::time_point> wake_at = player_.expire(Clock::now());
      const std::optional<Clock::time_point> decides_at = player_.decides_at(Clock::now());
      if (decides_at) {
        wake_at = std::min(wake_at.value_or(*decides_at), *decides_at);
      }
      const bool has_next = !player_.decoded_.empty() && player_.may_send() && !decides_at;
      if (!stage_.is_full() && (!again_.empty() || has_next)) {
        if (again_.empty() && player_.drop_late(Clock::now())) {
          steps_down_ = quality_.add_dropped(player_.pacing_.interval(), Clock::now());
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
    PlayerSettings settings;
    PlayerSettings used;
    NoiseModel level;
    NoiseEstimate noise;
    Clock::time_point at;
  };

  void begin_epoch() {
    epoch_ = player_.epoch_;
    quality_.restart(Clock::now());
    const QualityRung rung = quality_.rung(player_.settings_, Clock::now());
    steps_down_ = false;
    past_.clear();
    if (rung.settings.same_denoiser(used_)) {
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
    first_wanted_ = player_.pacing_.runs() && player_.shown_ != nullptr ? player_.shown_->sequence : 0;
    if (quality_.has_choice()) {
      const auto wanted = std::find_if(again_.begin(), again_.end(),
                                       [this](const Job& job) { return job.sequence >= first_wanted_; });
      const std::ptrdiff_t context = context_of(rung);
      again_.erase(again_.begin(), std::max(wanted - context, again_.begin()));
      player_.pacing_.forget_turnaround();
    }
  }

  static int context_of(const QualityRung& rung) {
    return rung.reach.unbounded ? kUnboundedContext : std::min(rung.reach.before, kMostContext);
  }

  // The rung is too slow: a quicker one does what it has not done yet.
  void send_again() {
    if (!sent_.empty()) {
      const std::uint64_t first = sent_.front().job.sequence;
      std::erase_if(past_, [first](const Job& job) { return job.sequence >= first; });
      player_.outstanding_ -= static_cast<std::int64_t>(sent_.size());
      for (; !sent_.empty(); sent_.pop_back()) {
        again_.push_front(std::move(sent_.back().job));
      }
    }
    stage_.abandon();
    player_.pacing_.forget_turnaround();
    player_.latency_ = 0;
  }

  // There is room for a better rung. If it waits for later frames, frames are made ready for that time.
  void prepare_step_up() {
    const QualityRung* const next = quality_.next();
    const bool waits = next != nullptr && next->settings.looks_ahead && !player_.options_.live;
    player_.ahead_of_step_ = waits ? next->reach.after + kStepReserve : 0;
    const std::int64_t ready = player_.outstanding_ - static_cast<std::int64_t>(sent_.size());
    if (next != nullptr && (ready >= player_.ahead_of_step_ || player_.source_ended_)) {
      quality_.take_step(Clock::now());
      player_.ahead_of_step_ = 0;
      player_.pacing_.forget_turnaround();
    }
  }

  // Measures the speed of the rung by a result.
  void measure_pace() {
    const std::int64_t busy = player_.counters_.denoise.busy_ns;
    const std::chrono::nanoseconds took(busy - std::exchange(busy_, busy));
    if (!player_.pacing_.keeps_time()) {
      quality_.rest(Clock::now());
    } else if (quality_.add(took, player_.pacing_.interval(), Clock::now())) {
      steps_down_ = true;
    }
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
    const PlayerSettings settings = player_.settings_;
    player_.changed_.notify_all();
    lock.unlock();
    send(std::move(job), settings, quality_.rung(settings, Clock::now()));
    lock.lock();
    player_.latency_ = stage_.latency();
    player_.concurrency_ = stage_.concurrency();
  }

  // The first frame, and the first one after a seek, is shown before it is denoised, unless denoising is
  // quick.
  void show_waiting(const Sent& sent) {
    const std::scoped_lock lock(player_.mutex_);
    const bool soon = player_.shown_ != nullptr && player_.pacing_.turnaround() < seconds_of(kLong);
    if (quality_.has_choice() || soon || player_.pacing_.runs() || stage_.under_way() > 0 ||
        epoch_ != player_.epoch_) {
      return;
    }
    player_.waiting_ = frame_of(sent);
    player_.waiting_->is_waiting = true;
    player_.stages_.wake();
  }
  static std::shared_ptr<PlayedFrame> frame_of(const Sent& sent) {
    auto frame = std::make_shared<PlayedFrame>();
    frame->noisy = sent.job.frame;
    frame->settings = sent.settings;
    frame->used = sent.used;
    frame->level = sent.level;
    frame->noise = sent.noise;
    frame->time = sent.job.time;
    frame->sequence = sent.job.sequence;
    frame->decoded_at = sent.job.decoded_at;
    frame->sent_at = sent.at;
    frame->source_is_late = sent.job.source_is_late;
    return frame;
  }
  static double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

  // Keeps what is denoised again for new settings: the frame that is shown and those under way, and before
  // either as many as a temporal filter needs. Frames between them have been dropped, any number if no
  // frames are taken.
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

  void send(Job job, const PlayerSettings& settings, const QualityRung& rung) {
    const PlayerStages& stages = player_.stages_;
    if (!noise_ || settings.noise != used_.noise) {
      noise_.emplace(settings.noise, *stages.engine, noise_log(settings.noise));
    }
    const NoiseModel level =
        timed(player_.counters_.denoise.busy_ns, [&] { return noise_->level_for(job.frame); });
    std::unique_ptr<Denoiser> next;
    if (stage_.has_denoiser() && !rung.settings.same_denoiser(used_)) {
      next = stages.make_denoiser(rung.settings, job.frame, level);
      drain();
      stage_.abandon();
    }
    const DenoiseStage::Maker make = [&](const Frame& frame, const NoiseModel& noise) {
      return next != nullptr ? std::move(next) : stages.make_denoiser(rung.settings, frame, noise);
    };
    used_ = rung.settings;
    stage_.set_mix(settings.noise.mix);
    if (!stage_.has_denoiser() && quality_.has_choice()) {
      send_context(context_of(rung), level, make);
    }
    sent_.push_back({job, settings, used_, level, noise_->found(), Clock::now()});
    show_waiting(sent_.back());
    if (quality_.has_choice()) {
      past_.push_back(job);
      if (past_.size() > kMostContext) {
        past_.pop_front();
      }
    }
    stage_.send(std::move(job.frame), level, make);
  }

  // A new filter gets the frames before as context.
  void send_context(int frames, const NoiseModel& level, const DenoiseStage::Maker& make) {
    const std::size_t count = std::min(past_.size(), static_cast<std::size_t>(frames));
    for (std::size_t i = past_.size() - count; i < past_.size(); ++i) {
      Frame frame = past_[i].frame;
      frame.context_only = true;
      stage_.send(std::move(frame), level, make);
    }
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
    measure_pace();
    if (frame->sequence < first_wanted_) {
      --player_.outstanding_;
      return true;
    }
    player_.deliver(frame);
    return true;
  }

  Player& player_;
  DenoiseStage& stage_;
  QualityChoice quality_;
  bool steps_down_ = false;
  std::int64_t busy_ = 0;  // of the denoiser, in ns, at its last result
  std::optional<NoiseControl> noise_;
  PlayerSettings used_;
  std::deque<Sent> sent_;   // whose results are to come
  std::deque<Job> past_;    // the last ones that were sent
  std::deque<Job> recent_;  // see remember()
  std::deque<Job> again_;   // frames of `recent_` to be sent once more
  std::uint64_t first_wanted_ = 0;
  std::uint64_t epoch_ = 0;
};

// On the refining thread. Frames are filtered without the mutex, all else happens with it.
class Player::Refining {
 public:
  explicit Refining(Player& player)
      : player_(player), refinement_(player.refinement_), stage_(player.refining_stage_) {}

  void run() {
    std::unique_lock lock(player_.mutex_);
    while (!player_.stopped_) {
      const bool stands = player_.pacing_.clock().paused() || player_.nothing_to_come();
      if (!refinement_.is_under_way() && player_.can_refine(player_.shown_.get())) {
        if (const Clock::time_point begin = refinement_.begins_at(); Clock::now() < begin) {
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
    const std::shared_ptr<const PlayedFrame> frame = player_.shown_;
    const auto is_wanted = [&] { return !player_.stopped_ && refinement_.is_of(frame); };
    refinement_.begin(frame);
    player_.changed_.notify_all();
    player_.changed_.wait(lock, [&] { return !is_wanted() || refinement_.has_neighbors(); });
    if (!is_wanted()) {
      return;
    }
    const Surroundings around = refinement_.take_neighbors();
    std::optional<Frame> denoised;
    if (!around.frames.empty()) {
      lock.unlock();
      try {
        send(around, *frame);
        // A request from before the denoiser existed has not canceled it.
        lock.lock();
        const bool is_still_wanted = is_wanted();
        lock.unlock();
        denoised = is_still_wanted ? stage_.receive() : std::nullopt;
      } catch (const Error& error) {
        // There may be no memory for a second denoiser. Playing continues.
        spdlog::warn(fmt::format("the picture is not refined: {}", error.what()));
        stage_.abandon();
      }
      lock.lock();
    }
    if (!is_wanted()) {
      return;
    }
    if (!denoised) {
      refinement_.settle(Clock::now());
      player_.stages_.wake();
      return;
    }
    auto refined = std::make_shared<PlayedFrame>(*frame);
    refined->denoised = std::move(*denoised);
    refined->is_refined = true;
    refinement_.finish(std::move(refined));
    player_.stages_.wake();
  }

  void send(const Surroundings& around, const PlayedFrame& played) {
    if (played.settings.same_denoiser(settings_)) {
      stage_.reset();
    } else {
      stage_.abandon();
    }
    settings_ = played.settings;
    stage_.set_mix(settings_.noise.mix);
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
  Refinement& refinement_;
  DenoiseStage& stage_;
  PlayerSettings settings_;
};

Player::Player(PlayerStages stages, const PlayerOptions& options)
    : stages_(std::move(stages)),
      options_(options),
      settings_(options.settings),
      pacing_(options.live, options.frames_per_second),
      store_({stages_.read, stages_.seek}, {options.live, options.frames_per_second, options.kept_bytes},
             counters_.read),
      idle_since_(Clock::now()),
      refinement_(Clock::now()),
      stage_(counters_.denoise),
      refining_stage_(refining_counters_) {
  try {
    reader_ = start_thread([this] { guarded([this] { read_loop(); }); });
    denoiser_ = start_thread([this] { guarded([this] { denoise_loop(); }); });
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

Player::Job Player::job_of(StoredFrame stored) {
  Job job;
  job.sequence = next_sequence_++;
  job.time = stored.time;
  job.frame = std::move(stored.frame);
  job.decoded_at = Clock::now();
  return job;
}

// While earlier frames are decoded, delivers the requested frames that are kept. Returns false if other
// frames are requested.
bool Player::serve_from_store() {
  const std::scoped_lock lock(mutex_);
  if (stopped_ || !stepping_back_) {
    return false;
  }
  if (target_ && !store_.find(*target_)) {
    return store_.is_before_first(*target_);  // that is about to be decoded
  }
  target_.reset();
  bool passed_on = false;
  while (decoded_.size() < kDecodedFrames) {
    std::optional<StoredFrame> next = store_.next_kept();
    if (!next) {
      break;
    }
    decoded_.push_back(job_of(std::move(*next)));
    passed_on = true;
  }
  if (passed_on) {
    changed_.notify_all();
  }
  return !decoded_.empty() || store_.has_reached_end();
}

// Gives the refining thread the neighbors of its frame.
void Player::serve_refining(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<const PlayedFrame> frame = refinement_.frame();
  const Reach reach = refining_reach();
  lock.unlock();
  Surroundings around = store_.around(frame->time, reach, [&] {
    const std::scoped_lock locked(mutex_);
    return stopped_ || target_ || !refinement_.is_of(frame);
  });
  lock.lock();
  if (refinement_.is_of(frame)) {
    refinement_.give_neighbors(std::move(around));
    changed_.notify_all();
  }
}

// The key frame before the target of a seek, which take() returns if the seek takes long.
void Player::show_glimpse(StoredFrame key_frame, Clock::time_point begun) {
  const std::scoped_lock lock(mutex_);
  if (is_given_up() || shown_ == nullptr) {
    return;
  }
  waiting_ = std::make_shared<PlayedFrame>();
  waiting_->noisy = std::move(key_frame.frame);
  waiting_->settings = waiting_->used = settings_;
  waiting_->level = shown_->level;
  waiting_->time = key_frame.time;
  waiting_->sequence = next_sequence_;
  next_sequence_ += 2;  // it and the next frame are not neighbors
  waiting_->sent_at = begun;
  waiting_->is_waiting = waiting_->is_glimpse = true;
  stages_.wake();
}

bool Player::wants_frame() const {
  // After a step back, the frames after the kept ones, for which the source would have to seek, are not
  // shown.
  const std::size_t enough = stepping_back_ && store_.must_seek() ? 1 : kDecodedFrames;
  return !source_ended_ && (options_.live || decoded_.size() < enough);
}

void Player::read_loop() {
  const auto given_up = [this] {
    const std::scoped_lock lock(mutex_);
    return is_given_up();
  };
  std::unique_lock lock(mutex_);
  for (;;) {
    store_.set_reach(refining_reach());
    const auto is_wanted = [&] {
      return stopped_ || target_ || refinement_.wants_neighbors() || wants_frame();
    };
    if (!is_wanted() && stepping_back_ && store_.needs_earlier_frames(decoded_.size())) {
      lock.unlock();
      store_.decode_earlier([this] { return !serve_from_store(); });
      lock.lock();
      continue;
    }
    timed(counters_.read.waited_for_output_ns, [&] { changed_.wait(lock, is_wanted); });
    if (stopped_) {
      return;
    }
    if (refinement_.wants_neighbors() && !target_) {
      serve_refining(lock);
      continue;
    }
    const std::optional<SeekTarget> target = std::exchange(target_, std::nullopt);
    lock.unlock();
    std::optional<StoredFrame> frame;
    const auto glimpse = [this, begun = Clock::now()](StoredFrame key_frame) {
      show_glimpse(std::move(key_frame), begun);
    };
    if (!target || store_.seek(*target, given_up, glimpse)) {
      frame = store_.next(given_up);
    }
    lock.lock();
    if (waiting_ != nullptr && waiting_->is_glimpse) {
      waiting_.reset();  // the target is there
    }
    if (is_given_up() || (source_ended_ && !target)) {
      continue;  // another frame is requested, or none
    }
    source_ended_ = source_ended_ || !frame;
    if (options_.live && frame) {
      counters_.dropped_before += static_cast<std::int64_t>(decoded_.size());
      decoded_.clear();
    }
    if (frame) {
      decoded_.push_back(job_of(std::move(*frame)));
    }
    changed_.notify_all();
  }
}

void Player::denoise_loop() { Denoising(*this).run(); }

void Player::refine_loop() { Refining(*this).run(); }

// A frame is denoised and can be shown.
void Player::deliver(const std::shared_ptr<PlayedFrame>& frame) {
  pacing_.add_turnaround(std::chrono::duration<double>(Clock::now() - frame->sent_at).count());
  if (options_.live) {
    counters_.dropped_after += static_cast<std::int64_t>(ready_.size());
    ready_.clear();
    --outstanding_;
  }
  ready_.push_back(frame);
  changed_.notify_all();
  stages_.wake();
}

bool Player::may_send() const {
  return outstanding_ < latency_ + pacing_.frames_ahead(concurrency_) + ahead_of_step_;
}

// True if the frame after the next one is due before the next one can be ready.
bool Player::is_late(Clock::time_point now) const {
  if (decoded_.empty() || (decoded_.size() == 1 && source_ended_)) {
    return false;
  }
  const std::optional<double> successor =
      decoded_.size() > 1 ? std::optional(decoded_[1].time) : std::nullopt;
  return pacing_.is_late(decoded_.front().time, successor, now);
}

// The deadline for the decision to show or drop the next frame, if that frame is late and its successor is
// not yet known. The last frame of a source is shown even if it is late.
std::optional<Player::Clock::time_point> Player::decides_at(Clock::time_point now) const {
  const Clock::time_point at = idle_since_ + kPatience;
  return decoded_.size() == 1 && now < at && is_late(now) ? std::optional(at) : std::nullopt;
}

// Drops the next frame if it is late. Returns true if it did.
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
  if (!pacing_.follows_clock()) {
    return std::nullopt;
  }
  while (ready_.size() > 1) {
    const Clock::time_point due = pacing_.clock().due(ready_[1]->time);
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
  return drained_ && source_ended_ && !target_ && decoded_.empty() && ready_.empty();
}

Player::Taken Player::take(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (error_) {
    std::rethrow_exception(error_);
  }
  Taken taken;
  expire(now);
  if (!ready_.empty() && !pacing_.is_frozen()) {
    const std::shared_ptr<PlayedFrame> next = ready_.front();
    if (pacing_.due(next->time, now) <= now) {
      taken.begins = pacing_.show(next->time, next->source_is_late, now);
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
  if (refinement_.is_finished()) {
    if (refinement_.is_of(shown_)) {
      shown_ = taken.refined = refinement_.refined();
    }
    forget_refining();
  }
  if (pacing_.follows_clock() && !ready_.empty()) {
    taken.next_at = pacing_.clock().due(ready_.front()->time);
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
    const bool waits = shown_ != nullptr && !options_.live && !pacing_.clock().paused();
    const Clock::time_point end = waits ? pacing_.end_of(shown_->time) : now;
    taken.ended = end <= now && taken.frame == nullptr;
    taken.next_at = end;
    // No frame follows that would show settings which came with the last frames.
    if (taken.ended && shown_ != nullptr && shown_->settings != settings_ && !options_.live) {
      denoise_shown_again();
      taken.ended = false;
    }
  }
  return taken;
}

void Player::forget_frames_under_way() {
  ++epoch_;
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

// True if the frame is shown, stays on the screen, and would improve.
bool Player::can_refine(const PlayedFrame* frame) const {
  const bool stands = (pacing_.clock().paused() || nothing_to_come()) && pacing_.runs() &&
                      !pacing_.shows_next() && !going_to_;
  return stands && frame != nullptr && frame == shown_.get() && !refinement_.is_settled(frame) &&
         !frame->is_refined && frame->settings == settings_ && refining_reach() != Reach{};
}

void Player::forget_refining() {
  if (refinement_.forget(Clock::now())) {
    refining_stage_.cancel();
    changed_.notify_all();
  }
}

bool Player::will_refine() const {
  const std::scoped_lock lock(mutex_);
  return can_refine(shown_.get());
}

bool Player::is_given_up() const { return stopped_ || target_.has_value(); }

Player::Clock::duration Player::at_work() const {
  const std::optional<Clock::time_point> since = stage_.at_work_since();
  return since ? Clock::now() - *since : Clock::duration::zero();
}

void Player::go_to(const SeekTarget& target) {
  forget_frames_under_way();
  elsewhere_ = true;
  ++next_sequence_;  // the next frame is not the neighbor of the last one
  decoded_.clear();
  source_ended_ = false;
  pacing_.stop();
  target_ = target;
  going_to_ = target.time;
  going_before_ = stepping_back_ = target.before;
}

void Player::set_settings(const PlayerSettings& settings) {
  const std::scoped_lock lock(mutex_);
  if (settings == settings_) {
    return;
  }
  settings_ = settings;
  // Frames that take long are not waited for.
  const bool waits = settings.keeps_pace && latency_ > 0;  // for later frames
  const bool stands = pacing_.clock().paused() || nothing_to_come();
  const bool anew = stands || !pacing_.runs() || at_work() > kLong || waits;
  if (anew && !options_.live) {
    denoise_shown_again();
  }
}

void Player::denoise_shown_again() {
  forget_frames_under_way();
  again_ = true;
  pacing_.show_next(pacing_.runs() && pacing_.clock().paused());
}

PlayerSettings Player::settings() const {
  const std::scoped_lock lock(mutex_);
  return settings_;
}

void Player::set_paused(bool paused) {
  const std::scoped_lock lock(mutex_);
  if (paused == pacing_.clock().paused()) {
    return;
  }
  paused ? pacing_.clock().pause(Clock::now()) : pacing_.clock().resume(Clock::now());
  forget_refining();
  stepping_back_ = false;
  changed_.notify_all();
}

bool Player::paused() const {
  const std::scoped_lock lock(mutex_);
  return pacing_.clock().paused();
}

void Player::set_speed(double speed) {
  const std::scoped_lock lock(mutex_);
  pacing_.clock().set_speed(speed, Clock::now());
  changed_.notify_all();
}

double Player::speed() const {
  const std::scoped_lock lock(mutex_);
  return pacing_.clock().speed();
}

void Player::step_forward() {
  const std::scoped_lock lock(mutex_);
  if (!pacing_.clock().paused()) {
    pacing_.clock().pause(Clock::now());
  }
  pacing_.show_next(!nothing_to_come());
  forget_refining();
  stepping_back_ = false;
  changed_.notify_all();
}

void Player::step_back() {
  const std::scoped_lock lock(mutex_);
  if (!pacing_.clock().paused()) {
    pacing_.clock().pause(Clock::now());
  }
  // A repeated key does not restart the seek.
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
  if (pacing_.follows_clock()) {
    pacing_.clock().follow(position, Clock::now());
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
  return pacing_.turnaround();
}

}  // namespace limpid::app
