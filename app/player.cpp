#include "app/player.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace limpid::app {
namespace {

// Frames decoded ahead: enough to even out the decoder's times.
constexpr std::size_t kDecodedFrames = 4;
// Frames between the denoiser and the screen, if the denoiser doesn't need more: changed settings show after
// so many.
constexpr int kFramesAhead = 2;
// If it takes so long to find a frame that isn't late, it is the source that can't keep up.
constexpr std::chrono::milliseconds kPatience{500};
// Containers round times.
constexpr double kSameTime = 0.0005;

}  // namespace

// On the denoise thread. Frames are sent and received without the mutex, all else happens with it.
class Player::Denoising {
 public:
  explicit Denoising(Player& player) : player_(player), stage_(player.counters_.denoise) {}

  void run() {
    std::unique_lock lock(player_.mutex_);
    while (!player_.stopped_) {
      if (epoch_ != player_.epoch_) {
        begin_epoch();
      }
      const std::optional<Clock::time_point> expires = player_.expire(Clock::now());
      if (!stage_.is_full() && (!again_.empty() || (!player_.decoded_.empty() && player_.may_send()))) {
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
        if (expires) {
          player_.changed_.wait_until(lock, *expires);
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
    Profile profile;
    NoiseLevel level;
    Clock::time_point at;
  };

  void begin_epoch() {
    epoch_ = player_.epoch_;
    stage_.abandon();
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
    if (!noise_ || settings.sigma != settings_.sigma || settings.strength != settings_.strength ||
        settings.planes != settings_.planes) {
      noise_.emplace(settings.sigma, settings.strength, settings.planes);
    }
    const NoiseLevel level = timed(player_.counters_.denoise.busy_ns,
                                   [&] { return noise_->level_for(job.frame, *stages.engine); });
    DenoiseSettings used = used_;
    if (settings != settings_ || !used.profile) {
      used = settings;
      used.profile = settings.profile.value_or(default_profile(level));
    }
    std::unique_ptr<Denoiser> next;
    if (stage_.has_denoiser() && !used.same_denoiser(used_)) {
      next = stages.make_denoiser(used, job.frame, level);
      drain();
      stage_.abandon();
    }
    settings_ = settings;
    used_ = used;
    sent_.push_back({job, settings, *used.profile, level, Clock::now()});
    stage_.send(std::move(job.frame), level, [&](const Frame& frame, const NoiseLevel& noise) {
      return next != nullptr ? std::move(next) : stages.make_denoiser(used, frame, noise);
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
    Sent sent = std::move(sent_.front());
    sent_.pop_front();
    auto frame = std::make_shared<PlayedFrame>();
    frame->noisy = std::move(sent.job.frame);
    frame->denoised = std::move(*denoised);
    frame->settings = std::move(sent.settings);
    frame->profile = sent.profile;
    frame->level = sent.level;
    frame->time = sent.job.time;
    frame->sequence = sent.job.sequence;
    frame->decoded_at = sent.job.decoded_at;
    frame->sent_at = sent.at;
    frame->source_is_late = sent.job.source_is_late;
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
    player_.finished_.push_back({epoch_, std::move(frame)});
    player_.changed_.notify_all();
    return true;
  }

  Player& player_;
  DenoiseStage stage_;
  std::optional<NoiseControl> noise_;
  DenoiseSettings settings_;
  DenoiseSettings used_;    // those, with the profile that they or the noise have decided on
  std::deque<Sent> sent_;   // whose results are to come
  std::deque<Job> recent_;  // see remember()
  std::deque<Job> again_;   // frames of `recent_` to be sent once more
  std::uint64_t first_wanted_ = 0;
  std::uint64_t epoch_ = 0;
};

Player::Player(PlayerStages stages, const PlayerOptions& options)
    : stages_(std::move(stages)),
      options_(options),
      settings_(options.settings),
      idle_since_(Clock::now()),
      reader_([this] { guarded([this] { read_loop(); }); }),
      denoiser_([this] { guarded([this] { denoise_loop(); }); }),
      preparer_([this] { guarded([this] { prepare_loop(); }); }) {}

Player::~Player() {
  stop(std::chrono::milliseconds(0));
  reader_.join();
  denoiser_.join();
  preparer_.join();
}

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
  changed_.notify_all();
  return changed_.wait_for(lock, patience, [&] { return at_work_ == 0; });
}

std::optional<Player::Job> Player::read_frame() {
  return timed(counters_.read.busy_ns, [&]() -> std::optional<Job> {
    for (;;) {
      io::Reader::Item item = stages_.read();
      if (std::holds_alternative<io::Reader::End>(item)) {
        return std::nullopt;
      }
      if (Frame* const frame = std::get_if<Frame>(&item)) {
        Job job;
        job.sequence = next_sequence_++;
        job.time = io::presentation_time(*frame).value_or(static_cast<double>(frame->index) /
                                                          options_.frames_per_second);
        job.frame = std::move(*frame);
        job.decoded_at = Clock::now();
        ++counters_.read.frames;
        return job;
      }
    }
  });
}

// The frame that is wanted, and the one behind it if that had to be looked at. Nothing if there is none.
std::deque<Player::Job> Player::look_for(const Target& target) {
  // Frames may be farther apart than the average: then the search begins earlier.
  const std::array<double, 3> margins{1.5 / options_.frames_per_second, 1, 10};
  std::deque<Job> found;
  for (const double margin : margins) {
    const double from = target.time - margin;
    stages_.seek(from);
    while (std::optional<Job> job = read_frame()) {
      const double time = job->time;
      const bool behind = target.before ? time > target.time - kSameTime : time > target.time + kSameTime;
      if (!behind) {
        found.clear();
      }
      found.push_back(std::move(*job));
      if (behind) {
        break;
      }
    }
    const bool has_it = !found.empty() && found.front().time <= target.time + kSameTime &&
                        !(target.before && found.front().time > target.time - kSameTime);
    if (has_it || from <= 0 || margin == margins.back()) {
      return found;
    }
    found.clear();
  }
  return found;
}

void Player::read_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    timed(counters_.read.waited_for_output_ns, [&] {
      changed_.wait(lock, [&] {
        return stopped_ || target_ || (!source_ended_ && (options_.live || decoded_.size() < kDecodedFrames));
      });
    });
    if (stopped_) {
      return;
    }
    const std::optional<Target> target = std::exchange(target_, std::nullopt);
    lock.unlock();
    std::deque<Job> jobs;
    if (target) {
      jobs = look_for(*target);
    } else if (std::optional<Job> job = read_frame()) {
      jobs.push_back(std::move(*job));
    }
    lock.lock();
    if (target_ || (source_ended_ && !target)) {
      continue;  // somebody wants to go elsewhere, or has seen enough
    }
    source_ended_ = source_ended_ || jobs.empty();
    if (options_.live && !jobs.empty()) {
      counters_.dropped_before += static_cast<std::int64_t>(decoded_.size());
      decoded_.clear();
    }
    std::move(jobs.begin(), jobs.end(), std::back_inserter(decoded_));
    changed_.notify_all();
  }
}

void Player::denoise_loop() { Denoising(*this).run(); }

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
    ++counters_.prepare.frames;
    next.frame->ready_at = Clock::now();
    lock.lock();
    --preparing_;
    if (next.epoch != epoch_) {
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
  const int ahead = options_.live  ? concurrency_ + 1
                    : !clock_runs_ ? 1
                                   : std::max(concurrency_, kFramesAhead);
  return outstanding_ < latency_ + ahead;
}

// Drops the next frame if its successor would be due by the time that it could be ready. Whether it did.
bool Player::drop_late(Clock::time_point now) {
  if (!follows_clock() || (decoded_.size() == 1 && source_ended_)) {
    return false;
  }
  const double successor =
      decoded_.size() > 1 ? decoded_[1].time : decoded_.front().time + 1 / options_.frames_per_second;
  const auto ready_at =
      now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(turnaround_));
  if (clock_.due(successor) > ready_at) {
    return false;
  }
  if (decoded_.size() == 1 && now - idle_since_ > kPatience) {
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
      changed_.notify_all();
    }
  }
  if (follows_clock() && !ready_.empty()) {
    taken.next_at = clock_.due(ready_.front()->time);
  }
  if (nothing_to_come() && !taken.frame) {
    const bool waits = shown_ != nullptr && !options_.live && !clock_.paused();
    const Clock::time_point end = waits ? clock_.due(shown_->time + 1 / options_.frames_per_second) : now;
    taken.ended = end <= now;
    taken.next_at = end;
  }
  return taken;
}

void Player::forget_frames_under_way() {
  ++epoch_;
  finished_.clear();
  ready_.clear();
  outstanding_ = 0;
  drained_ = false;
  changed_.notify_all();
}

void Player::go_to(const Target& target) {
  forget_frames_under_way();
  elsewhere_ = true;
  decoded_.clear();
  source_ended_ = false;
  clock_runs_ = false;
  target_ = target;
  going_to_ = target.time;
}

void Player::set_settings(const DenoiseSettings& settings) {
  const std::scoped_lock lock(mutex_);
  if (settings == settings_) {
    return;
  }
  settings_ = settings;
  if (clock_.paused() && !options_.live) {
    forget_frames_under_way();
    again_ = true;
    show_next_ = clock_runs_;
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
  changed_.notify_all();
}

void Player::step_back() {
  const std::scoped_lock lock(mutex_);
  if (!clock_.paused()) {
    clock_.pause(Clock::now());
  }
  if (stages_.seek && shown_ != nullptr) {
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
