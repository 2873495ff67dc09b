// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/pipeline/noise_text.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"
#include "app/player/quality_control.h"
#include "core/stream/noise_control.h"
#include "core/stream/stream.h"

namespace limpid::app {

/// A request to denoise from now on. The frames that are with the denoiser are dropped.
struct DenoisingRequest {
  std::stop_token superseded;
  /// Set if frames of another reading position follow: the token of the request to read there.
  std::optional<std::stop_token> position = {};
  bool again = false;              ///< the shown frame is denoised again
  std::uint64_t first_wanted = 0;  ///< PlayedFrame::sequence of the first frame to deliver
};

/// Denoises frames from PlayerQueues::decoded into PlayerQueues::presentation. Frames that cannot be ready
/// before their successor is due are dropped. For another filter or profile, a new denoiser is made before
/// the results of the old one are waited for; otherwise the denoiser is reset if its frames are dropped. All
/// members except cancel() and at_work_since() belong to the denoising thread, which runs them as commands.
class FrameDenoising {
 public:
  /// `request`: the first one, with the position that reading begins at.
  FrameDenoising(const PlayerStages& stages, const PlayerOptions& options, PlayerCounters& counters,
                 PlayerQueues& queues, const DenoisingRequest& request)
      : stages_(stages),
        live_(options.live),
        most_load_(options.most_load),
        counters_(counters),
        queues_(queues),
        stage_(counters.denoise),
        quality_(stages.ladder, QualityChoice::Seconds(options.most_load / options.frames_per_second),
                 stages.measured),
        settings_(options.settings),
        request_(request) {}

  /// Denoises until PlayerQueues::denoising is closed.
  void run() {
    while (queues_.denoising.run()) {
      if (request_.superseded.stop_requested()) {
        queues_.denoising.wait();  // for the request that supersedes
      } else if (!work()) {
        timed(counters_.denoise.waited_for_input_ns, [this] { queues_.denoising.wait(wake_at_); });
      }
    }
  }

  /// Sets the settings of frames that are sent from now on.
  void set_settings(const PlayerSettings& settings) { settings_ = settings; }
  void begin(const DenoisingRequest& request) {
    const std::stop_token position = request.position.value_or(*request_.position);
    request_ = request;
    request_.position = position;
    is_drained_ = false;
    quality_.restart(Clock::now());
    const QualityRung rung = quality_.rung(settings_, Clock::now());
    steps_down_ = false;
    past_.clear();
    if (rung.settings.same_denoiser(used_)) {
      stage_.reset();
    } else {
      stage_.abandon();
    }
    sent_.clear();
    again_.clear();
    if (request.position) {
      recent_.clear();
    }
    if (request.again) {
      again_ = recent_;
    }
    if (quality_.has_choice()) {
      const auto wanted = std::ranges::find_if(
          again_, [&](const PlayedFrame& frame) { return frame.sequence >= request_.first_wanted; });
      again_.erase(again_.begin(), std::max(wanted - context_of(rung), again_.begin()));
      queues_.presentation.pacing([](Pacing& pacing) { pacing.forget_turnaround(); });
    }
  }

  /// Ends the work for a superseded request. May be called on any thread.
  void cancel() { stage_.cancel(); }
  /// DenoiseStage::at_work_since(). May be called on any thread.
  std::optional<std::chrono::steady_clock::time_point> at_work_since() const {
    return stage_.at_work_since();
  }

 private:
  // If no frame in time can be found for so long, the source cannot keep up.
  static constexpr std::chrono::milliseconds kPatience{500};
  // Earlier frames that a filter is given when it replaces another, at most: its first results are as good as
  // the other's, and nothing flashes. They cost time in which no frame is shown.
  static constexpr int kMostContext = 8;
  // And if its reach is unbounded.
  static constexpr int kUnboundedContext = 4;
  // Frames that are shown while a filter begins that waits for later frames, besides these.
  static constexpr int kStepReserve = 3;

  static int context_of(const QualityRung& rung) {
    return rung.reach.unbounded ? kUnboundedContext : std::min(rung.reach.before, kMostContext);
  }
  using Clock = std::chrono::steady_clock;

  /// Does the next piece of work. Returns false if there is none until `wake_at_`.
  bool work() {
    if (std::exchange(steps_down_, false)) {
      send_again();
    }
    prepare_step_up();
    const Clock::time_point now = Clock::now();
    wake_at_ = queues_.presentation.expire(now);
    const DecodedFrames::Next next = queues_.decoded.next(*request_.position);
    // The last frame of a source is shown even if it is late.
    const bool is_late =
        next.exists && !next.is_last() && queues_.presentation.pacing([&](const Pacing& pacing) {
          return pacing.is_late(next.time, next.successor, now);
        });
    // A late frame is shown or dropped depending on its successor.
    const Clock::time_point decides_at = idle_since_ + kPatience;
    const bool waits = is_late && !next.successor && now < decides_at;
    if (waits) {
      wake_at_ = std::min(wake_at_.value_or(decides_at), decides_at);
    }
    if (!stage_.is_full() && !again_.empty()) {
      const PlayedFrame frame = std::move(again_.front());
      again_.pop_front();
      send(frame);
    } else if (!stage_.is_full() && next.exists && !waits && may_send()) {
      take_next(next, is_late);
    } else if (stage_.owes_a_result()) {
      receive();
    } else if (next.has_ended && !next.exists && again_.empty() && !is_drained_) {
      finish_stream();
    } else {
      return false;
    }
    return true;
  }
  /// Frames that were sent to the denoiser and are neither shown (live: ready) nor dropped.
  std::int64_t outstanding() const {
    return static_cast<std::int64_t>(sent_.size() + (live_ ? 0 : queues_.presentation.size()));
  }
  bool may_send() const {
    const int ahead = queues_.presentation.pacing(
        [this](const Pacing& pacing) { return pacing.frames_ahead(stage_.concurrency()); });
    return outstanding() < stage_.latency() + ahead + ahead_of_step_;
  }
  void take_next(const DecodedFrames::Next& next, bool is_late) {
    std::optional<PlayedFrame> frame = queues_.decoded.take(*request_.position);
    queues_.reading.wake();
    if (!frame) {
      return;
    }
    if (is_late && next.successor) {
      ++counters_.dropped_before;
      const auto interval =
          queues_.presentation.pacing([](const Pacing& pacing) { return pacing.interval(); });
      steps_down_ = quality_.add_dropped(most_load_ * interval, Clock::now());
      return;
    }
    frame->source_is_late = is_late;
    if (!live_) {  // of which nothing is denoised again
      remember(*frame);
    }
    send(*frame);
  }
  /// The filter in use is too slow: a quicker one takes over the frames that it has not finished.
  void send_again() {
    if (!sent_.empty()) {
      const std::uint64_t first = sent_.front()->sequence;
      std::erase_if(past_, [first](const PlayedFrame& frame) { return frame.sequence >= first; });
      for (; !sent_.empty(); sent_.pop_back()) {
        again_.push_front(*sent_.back());
      }
    }
    stage_.abandon();
    queues_.presentation.pacing([](Pacing& pacing) { pacing.forget_turnaround(); });
  }
  /// There is room for a better rung. If it waits for later frames, frames are made ready for that time.
  void prepare_step_up() {
    const QualityRung* const next = quality_.next();
    const bool waits = next != nullptr && next->settings.looks_ahead && !live_;
    ahead_of_step_ = waits ? next->reach.after + kStepReserve : 0;
    if (next == nullptr) {
      return;
    }
    const bool is_ready = static_cast<int>(queues_.presentation.size()) >= ahead_of_step_;
    if (is_ready || queues_.decoded.next(*request_.position).has_ended) {
      quality_.take_step(Clock::now());
      ahead_of_step_ = 0;
      queues_.presentation.pacing([](Pacing& pacing) { pacing.forget_turnaround(); });
    }
  }
  NoiseModel estimate(const Frame& frame) {
    const std::int64_t before = counters_.denoise.busy_ns;
    NoiseModel level = timed(counters_.denoise.busy_ns, [&] { return noise_->level_for(frame); });
    estimating_ += std::chrono::nanoseconds(counters_.denoise.busy_ns - before);
    return level;
  }
  /// Measures the speed of the rung by a result. The noise estimate takes the same time on all rungs, so it
  /// is left out of their times and out of the time that they have.
  void measure_pace() {
    constexpr int kMeanOf = 16;
    const std::int64_t busy = counters_.denoise.busy_ns;
    const std::chrono::nanoseconds estimating = std::exchange(estimating_, {});
    const std::chrono::nanoseconds took =
        std::chrono::nanoseconds(busy - std::exchange(busy_, busy)) - estimating;
    mean_estimating_ += (estimating - mean_estimating_) / kMeanOf;
    const auto [keeps_time, interval] = queues_.presentation.pacing(
        [](const Pacing& pacing) { return std::pair(pacing.keeps_time(), pacing.interval()); });
    if (!keeps_time) {
      quality_.rest(Clock::now());
    } else if (quality_.add(took, most_load_ * interval - mean_estimating_, Clock::now())) {
      steps_down_ = true;
    }
  }
  /// Keeps what is denoised again for new settings: the frame that is shown and those under way, and before
  /// either as many as a temporal filter needs. Frames between them have been dropped, any number if no
  /// frames are taken.
  void remember(const PlayedFrame& frame) {
    if (const PlayedFramePointer shown = queues_.presentation.shown()) {
      const auto behind = std::ranges::find_if(
          recent_, [&](const PlayedFrame& other) { return other.sequence > shown->sequence; });
      const std::int64_t until_shown = behind - recent_.begin();
      const std::int64_t not_needed = recent_.end() - behind - outstanding() - stage_.latency();
      recent_.erase(behind, behind + std::max<std::int64_t>(not_needed, 0));
      const std::int64_t too_old = until_shown - 1 - stage_.latency();
      recent_.erase(recent_.begin(), recent_.begin() + std::max<std::int64_t>(too_old, 0));
    }
    recent_.push_back(frame);
  }
  void send(const PlayedFrame& frame) {
    if (frame.is_refined && frame.settings == settings_) {
      return pass_on_result(frame);
    }
    const QualityRung rung = quality_.rung(settings_, Clock::now());
    if (!noise_ || settings_.noise != used_.noise) {
      noise_.emplace(settings_.noise, *stages_.engine, noise_log(settings_.noise, true));
    }
    const NoiseModel level = estimate(frame.noisy);
    std::unique_ptr<Denoiser> next;
    if (stage_.has_denoiser() && !rung.settings.same_denoiser(used_)) {
      next = stages_.make_denoiser(rung.settings, frame.noisy, level);
      drain();
      stage_.abandon();
    }
    const DenoiseStage::Maker make = [&](const Frame& first, const NoiseModel& noise) {
      return next != nullptr ? std::move(next) : stages_.make_denoiser(rung.settings, first, noise);
    };
    used_ = rung.settings;
    stage_.set_mix(settings_.noise.mix);
    if (!stage_.has_denoiser() && quality_.has_choice()) {
      send_context(context_of(rung), level, make);
    }
    const auto sent = std::make_shared<PlayedFrame>(frame);
    sent->denoised = {};
    sent->settings = settings_;
    sent->used = used_;
    sent->level = level;
    sent->noise = noise_->found();
    sent->sent_at = Clock::now();
    sent->is_refined = false;
    sent_.push_back(sent);
    show_waiting(*sent);
    if (quality_.has_choice()) {
      past_.push_back(*sent);
      if (past_.size() > kMostContext) {
        past_.pop_front();
      }
    }
    stage_.send(frame.noisy, level, make);
  }
  /// The result was computed earlier.
  void pass_on_result(const PlayedFrame& frame) {
    drain();  // results of frames before come first
    stage_.abandon();
    sent_.clear();
    past_.clear();
    const auto played = std::make_shared<PlayedFrame>(frame);
    played->sent_at = idle_since_ = Clock::now();
    deliver(played);
  }
  void deliver(const std::shared_ptr<PlayedFrame>& frame) {
    if (!request_.superseded.stop_requested() && frame->sequence >= request_.first_wanted) {
      queues_.presentation.put(request_.superseded, frame);
    }
  }
  /// A new filter gets the frames before as context.
  void send_context(int frames, const NoiseModel& level, const DenoiseStage::Maker& make) {
    const std::size_t count = std::min(past_.size(), static_cast<std::size_t>(frames));
    for (std::size_t i = past_.size() - count; i < past_.size(); ++i) {
      Frame frame = past_[i].noisy;
      frame.context_only = true;
      stage_.send(std::move(frame), level, make);
    }
  }
  /// The first frame, and the first one after a seek, is shown before it is denoised, unless denoising is
  /// quick.
  void show_waiting(const PlayedFrame& sent) {
    if (!quality_.has_choice() && stage_.under_way() == 0) {
      const auto waiting = std::make_shared<PlayedFrame>(sent);
      waiting->is_waiting = true;
      queues_.presentation.put_waiting(request_.superseded, waiting);
    }
  }
  void finish_stream() {
    drain();
    if (!request_.superseded.stop_requested()) {
      is_drained_ = true;
      queues_.presentation.end(request_.superseded);
    }
  }
  void drain() {
    stage_.flush();
    while (stage_.under_way() > 0 && receive()) {
    }
  }
  /// Passes a result on if there is one.
  bool receive() {
    std::optional<Frame> denoised = stage_.receive();
    if (!denoised) {
      return false;
    }
    const std::shared_ptr<PlayedFrame> frame = std::move(sent_.front());
    sent_.pop_front();
    frame->denoised = std::move(*denoised);
    if (stages_.denoised) {
      stages_.denoised(*frame);
    }
    idle_since_ = Clock::now();
    if (request_.superseded.stop_requested()) {
      return true;
    }
    measure_pace();
    deliver(frame);
    return true;
  }

  const PlayerStages& stages_;
  const bool live_;
  const double most_load_;
  PlayerCounters& counters_;
  PlayerQueues& queues_;
  DenoiseStage stage_;
  QualityChoice quality_;
  PlayerSettings settings_;
  DenoisingRequest request_;
  std::optional<NoiseControl> noise_;
  PlayerSettings used_;                            ///< of `stage_`
  std::deque<std::shared_ptr<PlayedFrame>> sent_;  ///< with the denoiser
  std::deque<PlayedFrame> past_;                   ///< the last frames that were sent
  std::deque<PlayedFrame> recent_;                 ///< see remember()
  std::deque<PlayedFrame> again_;                  ///< frames of `recent_` to be sent once more
  bool steps_down_ = false;
  int ahead_of_step_ = 0;    ///< further frames to be ready before a filter begins that waits for later ones
  bool is_drained_ = false;  ///< the denoiser has returned the last frame
  std::int64_t busy_ = 0;    ///< time of the denoiser up to its last result, in ns
  std::chrono::nanoseconds estimating_{0};       ///< of `busy_`, time of the noise estimate since that result
  std::chrono::nanoseconds mean_estimating_{0};  ///< per frame
  Clock::time_point idle_since_ = Clock::now();
  std::optional<Clock::time_point> wake_at_;
};

}  // namespace limpid::app
