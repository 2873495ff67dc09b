// SPDX-License-Identifier: MIT
#include "app/player/player.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/thread.h"

namespace limpid::app {
namespace {

// A frame is refined once it has been shown for so long.
constexpr std::chrono::milliseconds kRest{100};
// The results of a passage are computed once its settings have not changed for so long.
constexpr std::chrono::milliseconds kLoopRest{200};

}  // namespace

Player::Player(PlayerStages stages, const PlayerOptions& options)
    : stages_(without_loop_speeds(std::move(stages))),
      options_(options),
      settings_(options.settings),
      queues_{.reading = {},
              .denoising = {},
              .refining = {},
              .looping = {},
              .decoded = {options.live, counters_.dropped_before},
              .presentation = {{.live = options.live,
                                .frames_per_second = options.frames_per_second,
                                .wake = stages_.wake,
                                .has_room = [this] { queues_.denoising.wake(); }},
                               counters_.dropped_after}},
      reading_(stages_, options_, counters_, queues_, position_ends_.get_token()),
      denoising_(stages_, options_, counters_, queues_,
                 {.superseded = request_ends_.get_token(), .position = position_ends_.get_token()}),
      refining_stage_(
          stages_, options_, queues_,
          [this](const RefiningRequest& request) {
            const auto deliver = [this, frame = request.frame](Surroundings neighbors) {
              queues_.refining.post([this, frame, neighbors = std::move(neighbors)] {
                refining_stage_.receive(frame, neighbors);
              });
            };
            queues_.reading.post(
                [this, search = NeighborSearch{request.frame->time, request.reach, request.superseded,
                                               deliver}] { reading_.find_neighbors(search); });
          }),
      loop_rendering_(
          stages_, options_, queues_.looping,
          [this](const std::stop_token& superseded, const std::shared_ptr<const LoopFrames>& frames) {
            queues_.reading.post([this, superseded, frames] {
              if (!superseded.stop_requested()) {
                reading_.use_loop(frames);
              }
            });
          }) {
  reading_.set_reach(refining_reach());
  try {
    start([this] { reading_.run(); });
    start([this] { denoising_.run(); });
    start([this] { refining_stage_.run(); });
    start([this] { loop_rendering_.run(); });
  } catch (...) {
    stop(std::chrono::milliseconds(0));  // those that run
    throw;
  }
}

// A passage that is computed beside the playback slows it down: such speeds are not passed on.
PlayerStages Player::without_loop_speeds(PlayerStages stages) {
  if (stages.measured) {
    stages.measured = [this, pass_on = stages.measured](const PlayerSettings& settings, double seconds) {
      if (loop_rendering_.status().state != LoopStatus::State::kComputing) {
        pass_on(settings, seconds);
      }
    };
  }
  return stages;
}

void Player::start(const std::function<void()>& loop) {
  std::packaged_task<void()> task([this, loop] {
    try {
      loop();
    } catch (...) {
      queues_.presentation.fail(std::current_exception());
    }
  });
  ends_.push_back(task.get_future());
  threads_.push_back(start_thread(std::move(task)));
}

bool Player::stop(std::chrono::milliseconds patience) {
  for (std::stop_source* const source : {&position_ends_, &request_ends_, &refining_ends_, &loop_ends_}) {
    source->request_stop();
  }
  for (CommandQueue* const queue :
       {&queues_.reading, &queues_.denoising, &queues_.refining, &queues_.looping}) {
    queue->close();
  }
  denoising_.cancel();
  refining_stage_.cancel();
  const Clock::time_point end = Clock::now() + patience;
  return std::ranges::all_of(
      ends_, [end](std::future<void>& each) { return each.wait_until(end) == std::future_status::ready; });
}

Player::Taken Player::take(Clock::time_point now) {
  Taken taken = queues_.presentation.take(now);
  if (taken.frame != nullptr) {
    ++counters_.shown;
    going_to_.reset();
  }
  // No frame follows that would show settings which came with the last frames.
  if (taken.ended && !options_.live) {
    if (const PlayedFramePointer shown = queues_.presentation.shown();
        shown != nullptr && shown->settings != settings_) {
      denoise_shown_again();
      taken.ended = false;
    }
  }
  if (taken.refined != nullptr && !taken.refined->is_refined && refining_ != nullptr) {
    refining_ = taken.refined;  // of which a part is refined
  }
  follow_refining();
  return taken;
}

// Supersedes the work of the denoiser. Its frames are dropped.
void Player::begin_denoising(bool again) {
  request_ends_.request_stop();
  request_ends_ = std::stop_source();
  const bool runs = queues_.presentation.pacing([](const Pacing& pacing) { return pacing.runs(); });
  const PlayedFramePointer shown = queues_.presentation.shown();
  DenoisingRequest request;
  request.superseded = request_ends_.get_token();
  request.again = again;
  if (!again) {
    request.position = position_ends_.get_token();
  } else if (runs && shown != nullptr) {  // after a seek, no frame at its target has been shown
    request.first_wanted = shown->sequence;
  }
  queues_.presentation.begin();
  denoising_.cancel();
  queues_.denoising.post([this, request] { denoising_.begin(request); });
}

void Player::go_to(const SeekTarget& target) {
  position_ends_.request_stop();
  position_ends_ = std::stop_source();
  queues_.decoded.begin();
  going_to_ = target.time;
  going_before_ = target.before;
  change_pacing([](Pacing& pacing) { pacing.stop(); });
  begin_denoising(false);
  queues_.reading.post(
      [this, target, superseded = position_ends_.get_token()] { reading_.seek(target, superseded); });
}

void Player::set_settings(const PlayerSettings& settings) {
  if (settings == settings_) {
    return;
  }
  settings_ = settings;
  queues_.denoising.post([this, settings] { denoising_.set_settings(settings); });
  queues_.reading.post([this, reach = refining_reach()] { reading_.set_reach(reach); });
  // Frames that take long are not waited for, and neither are later frames.
  const PlayedFramePointer shown = queues_.presentation.shown();
  const bool looks_ahead = settings.keeps_pace && shown != nullptr && shown->used.looks_ahead;
  const bool runs = queues_.presentation.pacing([](const Pacing& pacing) { return pacing.runs(); });
  if ((stands() || !runs || at_work() > PresentationQueue::kLong || looks_ahead) && !options_.live) {
    denoise_shown_again();
  }
  follow_refining();
  if (loop_) {
    render_loop();
  }
}

void Player::set_passage(const std::optional<Passage>& passage, bool repeats) {
  queues_.reading.post([this, played = passage.value_or(Passage{}), repeats] {
    reading_.set_passage(played);
    if (repeats) {  // otherwise the results of a loop that ends are kept
      reading_.use_loop(nullptr);
    }
  });
  loop_ = repeats && passage && stages_.open_again && stages_.make_refiner ? passage : std::nullopt;
  render_loop();
}

void Player::render_loop() {
  loop_ends_.request_stop();
  loop_ends_ = std::stop_source();
  if (!loop_) {
    return queues_.looping.post([this] { loop_rendering_.release(); });
  }
  const Reach reach = stages_.refining_reach ? stages_.refining_reach(settings_) : Reach{};
  LoopRequest request{*loop_, settings_, reach, Clock::now() + kLoopRest, loop_ends_.get_token()};
  queues_.looping.post([this, request] { loop_rendering_.request(request); });
}

void Player::set_paused(bool paused) {
  if (paused == this->paused()) {
    return;
  }
  queues_.reading.post([this] { reading_.expect_steps_forward(); });
  change_pacing([paused](Pacing& pacing) {
    paused ? pacing.clock().pause(Clock::now()) : pacing.clock().resume(Clock::now());
  });
}

void Player::step_back() {
  set_paused(true);
  const PlayedFramePointer shown = queues_.presentation.shown();
  // A repeated key does not restart the seek.
  const bool is_on_its_way = going_to_ && going_before_ && *going_to_ == shown->time;
  if (stages_.seek && shown != nullptr && !is_on_its_way) {
    go_to({.time = shown->time, .before = true});
  }
}

bool Player::seek(double time) {
  if (!stages_.seek) {
    return false;
  }
  if (options_.duration > 0) {
    time = std::min(time, options_.duration);
  }
  go_to({.time = std::max(time, 0.0), .before = false});
  return true;
}

void Player::follow_audio(double position) {
  queues_.presentation.pacing([position](Pacing& pacing) {
    if (pacing.follows_clock()) {
      pacing.clock().follow(position, Clock::now());
    }
  });
}

bool Player::will_refine() const {
  const PlayedFramePointer shown = queues_.presentation.shown();
  const bool rests =
      queues_.presentation.pacing([](const Pacing& pacing) { return pacing.runs() && !pacing.shows_next(); });
  return rests && stands() && !going_to_ && shown != nullptr && !queues_.presentation.is_settled(shown) &&
         !shown->is_refined && shown->settings == settings_ && improves();
}

void Player::follow_refining() {
  const PlayedFramePointer wanted = will_refine() ? queues_.presentation.shown() : nullptr;
  if (wanted == refining_) {
    return;
  }
  if (refining_ != nullptr) {
    refining_ends_.request_stop();
    refining_ends_ = std::stop_source();
    queues_.presentation.drop_refined();
    refining_stage_.cancel();
    queues_.refining.wake();
  }
  refining_ = wanted;
  if (wanted != nullptr) {
    RefiningRequest request{wanted, refining_reach(), Clock::now() + kRest, refining_ends_.get_token(),
                            view_};
    queues_.refining.post([this, request] { refining_stage_.request(request); });
  } else if (!stands()) {
    queues_.refining.post([this] { refining_stage_.release(); });  // its memory may be of use
  }
}

}  // namespace limpid::app
