// SPDX-License-Identifier: MIT
#include "core/engine/engine_group.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/base/system.h"
#include "core/base/thread.h"
#include "core/frame/mixing.h"

namespace limpid {

SegmentDealer::SegmentDealer(std::size_t workers, Reach reach, std::int64_t ahead)
    : reach_(reach),
      ahead_(std::max<std::int64_t>({ahead, reach.before + reach.after, 1})),
      shares_(workers) {
  reset();
}

void SegmentDealer::reset() {
  count_ = 0;
  ended_ = false;
  shares_.assign(shares_.size(), Share());
  shares_.front().end = kOpen;
}

// The end of the share's frames with results, as far as it is known.
std::int64_t SegmentDealer::end_of(const Share& share) const {
  return ended_ ? std::min(share.end, count_) : share.end;
}

// The end of the share's frames, including the context after them.
std::int64_t SegmentDealer::end_of_context(const Share& share) const {
  const std::int64_t end = share.end == kOpen ? kOpen : share.end + reach_.after;
  return ended_ ? std::min(end, count_) : end;
}

bool SegmentDealer::is_done(const Share& share) const {
  return share.begin >= end_of(share) || share.next >= end_of_context(share);
}

// The number of frames with results of a finished stream that have not been dealt.
std::int64_t SegmentDealer::left_of(const Share& share) const {
  return is_done(share) ? 0 : end_of(share) - std::max(share.next, share.begin);
}

// Gives an idle worker frames of another share. While the stream continues, these are the frames far ahead in
// the open share; all others are being processed. Later it is half of another share's remaining frames, if
// that is worth the context that both workers then need.
void SegmentDealer::take_over(Share& idle) {
  const std::int64_t context = reach_.before + reach_.after;
  const auto left = [this](const Share& share) { return left_of(share); };
  Share& from =
      ended_ ? *std::ranges::max_element(shares_, {}, left) : *std::ranges::find(shares_, kOpen, &Share::end);
  if (ended_ && left_of(from) <= 2 * context + 1) {
    return;
  }
  // A share begins with context frames, which take about half as long as frames with results. While the
  // stream continues, shares end at the frames received so far, so that no worker waits for its first frame,
  // unless most of them would be context.
  const std::int64_t least = std::min(std::max<std::int64_t>(2 * context, 1), ahead_);
  const std::int64_t kept =
      ended_ ? (left_of(from) + context / 2) / 2 : std::clamp(count_ - from.next, least, ahead_);
  const std::int64_t begin = std::max(from.next, from.begin) + kept;
  idle = {.begin = begin,
          .end = from.end,
          .next = std::max<std::int64_t>(begin - reach_.before, 0),
          .begins = true};
  from.end = begin;
}

std::optional<SegmentDealer::Dealt> SegmentDealer::next(std::size_t worker) {
  Share& share = shares_[worker];
  if (is_done(share)) {
    take_over(share);
  }
  if (is_done(share) || share.next >= count_) {
    return std::nullopt;
  }
  const Dealt dealt{.frame = share.next,
                    .wanted = share.next >= share.begin && share.next < share.end,
                    .begins = share.begins};
  ++share.next;
  share.begins = false;
  return dealt;
}

bool SegmentDealer::has_had_the_last(std::size_t worker) const {
  const Share& share = shares_[worker];
  return ended_ && !share.begins && share.next == count_;
}

std::int64_t SegmentDealer::first_needed() const {
  std::int64_t first = count_;
  for (const Share& share : shares_) {
    if (!is_done(share)) {
      first = std::min(first, share.next);
    }
  }
  return first;
}

namespace {

// State shared by all threads of a group: the frames and results of a stream.
struct SharedStream {
  struct Sent {
    Frame frame;
    NoiseModel noise;
    float mix = 0;
  };
  struct Result {
    bool wanted = false;
    std::optional<Frame> frame;
    std::exception_ptr failure;  // thrown by receive() in place of the frame
    bool has_come() const { return frame.has_value() || failure != nullptr; }
  };

  explicit SharedStream(SegmentDealer dealing) : dealer(std::move(dealing)) {}

  /// The element of number `number`, which must still be in the queue.
  template <typename T>
  std::int64_t first_of(const std::deque<T>& last) const {
    return dealer.count() - std::ssize(last);
  }
  Sent& sent_frame(std::int64_t index) { return at(frames, index); }
  Result& result_of(std::int64_t index) { return at(results, index); }
  void release_dealt() {
    for (const std::int64_t needed = dealer.first_needed(); first_of(frames) < needed;) {
      frames.pop_front();
    }
  }
  void notify_workers() {
    ++changes;
    changed.notify_all();
  }

  std::mutex mutex;  // guards all members below
  SegmentDealer dealer;
  std::deque<Sent> frames;               // the last frames that were sent and may still be dealt
  std::deque<Result> results;            // the last frames that were sent and not received
  std::function<void()> ready_listener;  // called without the mutex
  bool resetting = false;
  std::int64_t changes = 0;         // counts events that workers wait for
  std::condition_variable changed;  // signals changes
  std::condition_variable arrived;  // signals a result or a worker that has reset

 private:
  template <typename T>
  T& at(std::deque<T>& last, std::int64_t index) {
    return last[static_cast<std::size_t>(index - first_of(last))];
  }
};

// A denoiser on its own thread, which makes all calls to it. Host-side work for one GPU does not delay other
// GPUs.
class Worker : NotCopyable {
 public:
  Worker(std::size_t number, std::unique_ptr<Denoiser> denoiser, SharedStream& stream)
      : number_(number),
        denoiser_(std::move(denoiser)),
        stream_(stream),
        thread_(start_thread([this] { run(); })) {}
  ~Worker() {
    const Lock lock(stream_.mutex);
    ending_ = true;
    stream_.notify_workers();
  }

  // Requires the stream's mutex.
  const DeviceStages& device_stages() const { return device_stages_; }
  void request_reset() { has_reset_ = false; }
  bool has_reset() const { return has_reset_; }
  const std::exception_ptr& failure() const { return failure_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run() {
    while (true) {
      try {
        return work();
      } catch (...) {  // out of memory
        const Lock lock(stream_.mutex);
        failure_ = std::current_exception();
        fail_all();
      }
    }
  }

  // Returns once the worker is destroyed.
  void work() {
    Lock lock(stream_.mutex);
    while (!ending_) {
      const bool did_something = stream_.resetting ? reset_once(lock) : take_turn(lock);
      if (std::exchange(has_unreported_results_, false) && stream_.ready_listener) {
        lock.unlock();
        stream_.ready_listener();
        lock.lock();
      } else if (!did_something) {
        stream_.changed.wait(lock, [&, seen = stream_.changes] { return stream_.changes != seen; });
      }
    }
  }

  // Sends available frames before waiting for a result. Returns true if there was work.
  bool take_turn(Lock& lock) {
    const int most = denoiser_->latency() + denoiser_->concurrency();
    const auto dealt = std::ssize(under_way_) < most ? stream_.dealer.next(number_) : std::nullopt;
    if (dealt) {
      send(*dealt, lock);
    } else if (!flushed_ && stream_.dealer.has_had_the_last(number_)) {
      flush(lock);
    } else if (!under_way_.empty() && !needs_more_) {
      receive(lock);
    } else {
      return false;
    }
    return true;
  }

  // Runs `call` without the lock. If it throws, records the failure and returns true; the denoiser then gets
  // no more frames.
  template <typename Call>
  bool fails(Lock& lock, const Call& call) {
    lock.unlock();
    std::exception_ptr failure;
    try {
      call();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure ? failure : failure_;
    return failure != nullptr;
  }

  void announce_results() {
    stream_.arrived.notify_all();
    has_unreported_results_ = true;
  }
  void fail(std::int64_t index) {
    stream_.result_of(index).failure = failure_;
    announce_results();
  }
  // Marks the frames in progress as failed.
  void fail_under_way() {
    std::ranges::for_each(std::exchange(under_way_, {}), [&](std::int64_t index) { fail(index); });
  }

  // Fails all frames of this denoiser, as it is unknown which of them will have results.
  void fail_all() {
    under_way_.clear();
    for (SharedStream::Result& result : stream_.results) {
      if (!result.has_come()) {
        result.failure = failure_;
      }
    }
    announce_results();
  }

  void send(const SegmentDealer::Dealt& dealt, Lock& lock) {
    const SharedStream::Sent& sent = stream_.sent_frame(dealt.frame);
    Frame frame = sent.frame;
    const NoiseModel noise = sent.noise;
    const float mix = sent.mix;
    stream_.release_dealt();
    frame.context_only = frame.context_only || !dealt.wanted;
    frame.begins_anew = frame.begins_anew || dealt.begins;
    const bool wanted = !frame.context_only;
    needs_more_ = false;
    if (failure_ || fails(lock, [&] {
          denoiser_->set_noise(noise);
          denoiser_->set_mix(mix);
          denoiser_->send(std::move(frame));
        })) {
      if (wanted) {
        fail(dealt.frame);
      }
    } else if (wanted) {
      under_way_.push_back(dealt.frame);
    }
  }

  void flush(Lock& lock) {
    flushed_ = true;
    needs_more_ = false;
    if (!failure_) {
      fails(lock, [&] { denoiser_->flush(); });
    }
  }

  void receive(Lock& lock) {
    std::optional<Frame> result;
    DeviceStages stages;
    fails(lock, [&] {
      result = denoiser_->receive();
      stages = denoiser_->device_stages();
    });
    if (result) {
      device_stages_ = stages;
      stream_.result_of(under_way_.front()).frame = std::move(result);
      under_way_.pop_front();
      announce_results();
    } else if (failure_) {
      fail_under_way();  // no further results, or a frame that was not accepted is missing
    } else {
      needs_more_ = true;
    }
  }

  // Resets the denoiser if that is pending. Returns true if it was.
  bool reset_once(Lock& lock) {
    if (has_reset_) {
      return false;
    }
    failure_ = nullptr;
    under_way_.clear();
    fails(lock, [&] { denoiser_->reset(); });
    flushed_ = false;
    needs_more_ = false;
    has_reset_ = true;
    stream_.arrived.notify_all();
    return true;
  }

  // Used by the worker's thread only.
  const std::size_t number_;
  std::unique_ptr<Denoiser> denoiser_;
  std::deque<std::int64_t> under_way_;  // numbers of the frames in the denoiser that have results
  bool needs_more_ = false;             // last receive() returned nothing
  bool flushed_ = false;
  bool has_unreported_results_ = false;  // not yet reported to the listener

  // Guarded by the stream's mutex.
  SharedStream& stream_;
  std::exception_ptr failure_;
  bool has_reset_ = true;
  bool ending_ = false;
  DeviceStages device_stages_;

  std::jthread thread_;  // last member: its thread ends before the members it uses
};

// The number of frames between the positions of two engines, with frames of `bytes` bytes each. Context,
// which both engines process, is then a twentieth of a segment. Waiting frames are limited to an eighth of
// the memory.
std::int64_t frames_ahead(Reach reach, std::size_t engines, std::size_t bytes) {
  constexpr std::int64_t kContexts = 20;
  constexpr std::uint64_t kShare = 8;
  const auto count = static_cast<std::int64_t>(engines);
  // With `count` engines, segments are count / (count - 1) times as long.
  const std::int64_t context = reach.before + reach.after;
  const std::int64_t wished = kContexts * context * (count - 1) / count;
  const auto most = static_cast<std::int64_t>(usable_memory() / kShare / (bytes * engines));
  return std::min(wished, most);
}

// Deals a stream to the engines in segments (engine_group.h). For filters of single frames, segments have
// one or two frames.
class DenoiserGroup final : public Denoiser {
 public:
  DenoiserGroup(std::shared_ptr<Engine> first, std::vector<std::unique_ptr<Denoiser>> denoisers,
                const NoiseModel& noise, const FrameFormat& format)
      : first_(std::move(first)),
        noise_(noise),
        reach_(denoisers.front()->reach()),
        warnings_(denoisers.front()->warnings()) {
    const std::size_t count = denoisers.size();
    const SegmentDealer dealer(count, reach_, frames_ahead(reach_, count, frame_bytes(format)));
    stream_ = std::make_unique<SharedStream>(dealer);
    // Frames up to the last engine but one, plus the segment that an engine takes next, whose frames must
    // have arrived by then.
    concurrency_ = static_cast<int>(count > 1 ? static_cast<std::int64_t>(count) * dealer.ahead() : 0);
    for (std::unique_ptr<Denoiser>& denoiser : denoisers) {
      // One more for each engine, so that a thread that has received a result finds a frame to send.
      concurrency_ += denoiser->concurrency() + 1;
      workers_.push_back(std::make_unique<Worker>(workers_.size(), std::move(denoiser), *stream_));
    }
  }

  void set_noise(const NoiseModel& noise) override {
    noise.validate();
    noise_ = noise;
  }
  void set_mix(float mix) override { mix_ = checked_mix(mix); }

  void send(Frame frame) override {
    if (workers_.size() > 1 && !frame.memory.is_host()) {
      // Copied immediately: the decoder has few frames to spare, and any GPU may get this frame.
      frame = first_->in_host_memory(frame);
    }
    const std::scoped_lock lock(stream_->mutex);
    const std::int64_t index = stream_->dealer.count();
    complete_ = frame.begins_anew ? index : std::max(complete_, index - reach_.after + 1);
    stream_->results.push_back({.wanted = !frame.context_only, .frame = {}, .failure = {}});
    stream_->frames.push_back({std::move(frame), noise_, mix_});
    stream_->dealer.add();
    stream_->notify_workers();
  }

  bool is_ready() const override {
    const std::scoped_lock lock(stream_->mutex);
    const auto& results = stream_->results;
    const auto next = std::ranges::find(results, true, &SharedStream::Result::wanted);
    return next == results.end() || stream_->first_of(results) + (next - results.begin()) >= complete_ ||
           next->has_come();
  }
  void set_ready_listener(const std::function<void()>& listener) override {
    const std::scoped_lock lock(stream_->mutex);
    stream_->ready_listener = listener;
  }

  std::optional<Frame> receive() override {
    std::unique_lock lock(stream_->mutex);
    auto& results = stream_->results;
    while (!results.empty() && !results.front().wanted) {
      results.pop_front();
    }
    if (results.empty() || stream_->first_of(results) >= complete_) {
      return std::nullopt;
    }
    stream_->arrived.wait(lock, [&] { return results.front().has_come(); });
    const SharedStream::Result result = std::move(results.front());
    results.pop_front();
    if (result.failure) {
      std::rethrow_exception(result.failure);
    }
    return result.frame;
  }

  void flush() override {
    const std::scoped_lock lock(stream_->mutex);
    complete_ = stream_->dealer.count();
    stream_->dealer.end();
    stream_->notify_workers();
  }

  void reset() override {
    std::unique_lock lock(stream_->mutex);
    stream_->resetting = true;
    for (const auto& worker : workers_) {
      worker->request_reset();
    }
    stream_->notify_workers();
    std::exception_ptr failure;
    for (const auto& worker : workers_) {
      stream_->arrived.wait(lock, [&] { return worker->has_reset(); });
      failure = failure ? failure : worker->failure();
    }
    stream_->dealer.reset();
    stream_->frames.clear();
    stream_->results.clear();
    complete_ = 0;
    stream_->resetting = false;
    stream_->notify_workers();
    if (failure) {
      std::rethrow_exception(failure);
    }
  }

  std::vector<std::string> warnings() const override { return warnings_; }
  Reach reach() const override { return reach_; }
  int concurrency() const override { return concurrency_; }

  DeviceStages device_stages() const override {
    DeviceStages all;
    const std::scoped_lock lock(stream_->mutex);
    for (const auto& worker : workers_) {
      const DeviceStages& one = worker->device_stages();
      for (const auto stage : {&DeviceStages::upload, &DeviceStages::filter, &DeviceStages::download}) {
        (all.*stage).frames += (one.*stage).frames;
        for (const auto time :
             {&DeviceStage::busy_ns, &DeviceStage::waited_for_input_ns, &DeviceStage::waited_for_output_ns}) {
          (all.*stage).*time += (one.*stage).*time / static_cast<std::int64_t>(workers_.size());
        }
      }
    }
    return all;
  }

 private:
  std::shared_ptr<Engine> first_;
  NoiseModel noise_;
  float mix_ = 0;
  Reach reach_;
  std::vector<std::string> warnings_;
  int concurrency_ = 0;
  std::int64_t complete_ = 0;  // number of frames, from the first, whose results require no further frame
  std::unique_ptr<SharedStream> stream_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

class EngineGroup final : public Engine {
 public:
  EngineGroup(std::string name, std::vector<std::shared_ptr<Engine>> engines)
      : name_(std::move(name)), engines_(std::move(engines)) {}

  std::string_view name() const override { return name_; }
  std::string description() const override {
    std::string text;
    for (const auto& engine : engines_) {
      text += (text.empty() ? "" : "; ") + engine->description();
    }
    return text;
  }

  std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseModel& noise,
                                          const FrameFormat& format) override {
    require_bounded_reach(filter, "several GPUs");
    std::vector<std::unique_ptr<Denoiser>> denoisers;
    denoisers.reserve(engines_.size());
    for (const auto& engine : engines_) {
      denoisers.push_back(engine->make_denoiser(filter, noise, format));
    }
    return std::make_unique<DenoiserGroup>(engines_.front(), std::move(denoisers), noise, format);
  }

  Frame allocate_frame(const FrameFormat& format) override {
    return engines_.front()->allocate_frame(format);
  }
  bool prefers_own_frames() const override { return engines_.front()->prefers_own_frames(); }
  // The first engine decodes for all; the others get its frames through host memory.
  MemoryDomain memory() const override { return engines_.front()->memory(); }
  float combed_share(const Frame& frame, const Frame& before) override {
    return engines_.front()->combed_share(frame, before);
  }
  Frame in_host_memory(const Frame& frame) override { return engines_.front()->in_host_memory(frame); }
  NoiseModel estimate_noise(const Frame& frame) override { return engines_.front()->estimate_noise(frame); }
  noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                       const noise::SceneRange& range) override {
    return engines_.front()->measure_noise(frame, before, range);
  }
  noise::ChannelStatistics measure_levels(const Frame& frame, const noise::SceneRange& range) override {
    return engines_.front()->measure_levels(frame, range);
  }
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    return engines_.front()->brightness_histogram(frame);
  }

 private:
  std::string name_;
  std::vector<std::shared_ptr<Engine>> engines_;
};

/// The first device of the family `name` that can run, or the first; `name` for a family without devices.
std::string best_device(std::string_view name, const std::vector<EngineInfo>& engines) {
  const std::string prefix = std::string(name) + ":";
  std::string best(name);
  for (const EngineInfo& engine : engines) {
    if (engine.name == name || (engine.available && engine.name.starts_with(prefix))) {
      return engine.name;
    }
    if (best == name && engine.name.starts_with(prefix)) {
      best = engine.name;
    }
  }
  return best;
}

}  // namespace

std::vector<std::string> expand_engine_name(std::string_view name, const std::vector<EngineInfo>& engines) {
  const auto fail = [&](const std::string& why) {
    throw UsageError("the engines \"" + std::string(name) + "\": " + why);
  };
  constexpr std::string_view kAll = "all";
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) {
    return {best_device(name, engines)};
  }
  if ((name.find(',') == std::string_view::npos && name.substr(colon + 1) != kAll)) {
    return {std::string(name)};
  }
  const std::string family(name.substr(0, colon + 1));
  std::vector<std::string> names;
  if (name.substr(colon + 1) == kAll) {
    for (const EngineInfo& engine : engines) {
      if (engine.available && engine.name.starts_with(family)) {
        names.push_back(engine.name);
      }
    }
    if (names.empty()) {
      // Opening the first device of the family throws the reason why no device is available.
      names.push_back(family + "0");
    }
    return names;
  }
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const bool whole = part.find(':') != std::string_view::npos;
    if (part.empty() || (whole && !part.starts_with(family))) {
      fail("all engines must belong to one family, as in " + family + "0,1");
    }
    std::string single = whole ? std::string(part) : family + std::string(part);
    if (std::find(names.begin(), names.end(), single) != names.end()) {
      fail(single + " is listed twice");
    }
    names.push_back(std::move(single));
  }
  if (name.back() == ',') {
    fail("an engine is missing after the last comma");
  }
  return names;
}

std::shared_ptr<Engine> make_engine_group(std::string name, std::vector<std::shared_ptr<Engine>> engines) {
  return std::make_shared<EngineGroup>(std::move(name), std::move(engines));
}

}  // namespace limpid
