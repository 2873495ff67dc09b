// SPDX-License-Identifier: MIT
#include "app/player/frame_denoising.h"

#include <algorithm>
#include <utility>

#include "app/pipeline/denoise_stage.h"
#include "app/pipeline/noise_text.h"

namespace limpid::app {
namespace {

// If no frame in time can be found for so long, the source cannot keep up.
constexpr std::chrono::milliseconds kPatience{500};
// Earlier frames that a filter is given when it replaces another, at most: its first results are as good as
// the other's, and nothing flashes. They cost time in which no frame is shown.
constexpr int kMostContext = 8;
// And if its reach is unbounded.
constexpr int kUnboundedContext = 4;
// Frames that are shown while a filter begins that waits for later frames, besides these.
constexpr int kStepReserve = 3;

int context_of(const QualityRung& rung) {
  return rung.reach.unbounded ? kUnboundedContext : std::min(rung.reach.before, kMostContext);
}

}  // namespace

FrameDenoising::FrameDenoising(const PlayerStages& stages, const PlayerOptions& options,
                               PlayerCounters& counters, PlayerQueues& queues,
                               const DenoisingRequest& request)
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

void FrameDenoising::run() {
  while (queues_.denoising.run()) {
    if (request_.superseded.stop_requested()) {
      queues_.denoising.wait();  // for the request that supersedes
    } else if (!work()) {
      timed(counters_.denoise.waited_for_input_ns, [this] { queues_.denoising.wait(wake_at_); });
    }
  }
}

bool FrameDenoising::work() {
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

// Frames that were sent to the denoiser and are neither shown (live: ready) nor dropped.
std::int64_t FrameDenoising::outstanding() const {
  return static_cast<std::int64_t>(sent_.size() + (live_ ? 0 : queues_.presentation.size()));
}

bool FrameDenoising::may_send() const {
  const int ahead = queues_.presentation.pacing(
      [this](const Pacing& pacing) { return pacing.frames_ahead(stage_.concurrency()); });
  return outstanding() < stage_.latency() + ahead + ahead_of_step_;
}

void FrameDenoising::take_next(const DecodedFrames::Next& next, bool is_late) {
  std::optional<PlayedFrame> frame = queues_.decoded.take(*request_.position);
  queues_.reading.wake();
  if (!frame) {
    return;
  }
  if (is_late && next.successor) {
    ++counters_.dropped_before;
    const auto interval = queues_.presentation.pacing([](const Pacing& pacing) { return pacing.interval(); });
    steps_down_ = quality_.add_dropped(most_load_ * interval, Clock::now());
    return;
  }
  frame->source_is_late = is_late;
  if (!live_) {  // of which nothing is denoised again
    remember(*frame);
  }
  send(*frame);
}

void FrameDenoising::begin(const DenoisingRequest& request) {
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

// The filter in use is too slow: a quicker one takes over the frames that it has not finished.
void FrameDenoising::send_again() {
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

// There is room for a better rung. If it waits for later frames, frames are made ready for that time.
void FrameDenoising::prepare_step_up() {
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

NoiseModel FrameDenoising::estimate(const Frame& frame) {
  const std::int64_t before = counters_.denoise.busy_ns;
  NoiseModel level = timed(counters_.denoise.busy_ns, [&] { return noise_->level_for(frame); });
  estimating_ += std::chrono::nanoseconds(counters_.denoise.busy_ns - before);
  return level;
}

// Measures the speed of the rung by a result. The noise estimate takes the same time on all rungs, so it is
// left out of their times and out of the time that they have.
void FrameDenoising::measure_pace() {
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

// Keeps what is denoised again for new settings: the frame that is shown and those under way, and before
// either as many as a temporal filter needs. Frames between them have been dropped, any number if no frames
// are taken.
void FrameDenoising::remember(const PlayedFrame& frame) {
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

void FrameDenoising::send(const PlayedFrame& frame) {
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

// The result was computed earlier.
void FrameDenoising::pass_on_result(const PlayedFrame& frame) {
  drain();  // results of frames before come first
  stage_.abandon();
  sent_.clear();
  past_.clear();
  const auto played = std::make_shared<PlayedFrame>(frame);
  played->sent_at = idle_since_ = Clock::now();
  deliver(played);
}

void FrameDenoising::deliver(const std::shared_ptr<PlayedFrame>& frame) {
  if (!request_.superseded.stop_requested() && frame->sequence >= request_.first_wanted) {
    queues_.presentation.put(request_.superseded, frame);
  }
}

// A new filter gets the frames before as context.
void FrameDenoising::send_context(int frames, const NoiseModel& level, const DenoiseStage::Maker& make) {
  const std::size_t count = std::min(past_.size(), static_cast<std::size_t>(frames));
  for (std::size_t i = past_.size() - count; i < past_.size(); ++i) {
    Frame frame = past_[i].noisy;
    frame.context_only = true;
    stage_.send(std::move(frame), level, make);
  }
}

// The first frame, and the first one after a seek, is shown before it is denoised, unless denoising is quick.
void FrameDenoising::show_waiting(const PlayedFrame& sent) {
  if (!quality_.has_choice() && stage_.under_way() == 0) {
    const auto waiting = std::make_shared<PlayedFrame>(sent);
    waiting->is_waiting = true;
    queues_.presentation.put_waiting(request_.superseded, waiting);
  }
}

void FrameDenoising::finish_stream() {
  drain();
  if (!request_.superseded.stop_requested()) {
    is_drained_ = true;
    queues_.presentation.end(request_.superseded);
  }
}

void FrameDenoising::drain() {
  stage_.flush();
  while (stage_.under_way() > 0 && receive()) {
  }
}

// Passes a result on if there is one.
bool FrameDenoising::receive() {
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

}  // namespace limpid::app
