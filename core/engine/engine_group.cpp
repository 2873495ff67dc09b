#include "core/engine/engine_group.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace limpid {
namespace {

// A denoiser on a thread of its own, which makes all calls to it: what one GPU's frames cost the host holds
// no other GPU up.
class Worker {
 public:
  explicit Worker(std::unique_ptr<Denoiser> denoiser)
      : denoiser_(std::move(denoiser)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  /// Does not wait. The result is the denoised frame, or what the denoiser has thrown; of a frame that is
  /// context only there is none.
  std::future<Frame> denoise(Frame frame, const NoiseModel& noise) {
    return enqueue({Task::kFrame, std::move(frame), noise, {}});
  }

  /// Waits until the denoiser knows that there are no more frames. Throws what it has thrown.
  void flush() { enqueue({Task::kFlush, {}, {}, {}}).get(); }
  /// Waits until the denoiser has let go of all frames. Throws what it has thrown.
  void reset() { enqueue({Task::kReset, {}, {}, {}}).get(); }

  DeviceStages device_stages() {
    const std::scoped_lock lock(mutex_);
    return device_stages_;
  }

 private:
  enum class Task : std::uint8_t { kFrame, kFlush, kReset };
  struct Job {
    Task task;
    Frame frame;
    NoiseModel noise;
    std::promise<Frame> result;
  };

  std::future<Frame> enqueue(Job job) {
    std::future<Frame> result = job.result.get_future();
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    arrived_.notify_one();
    return result;
  }

  // Sends what has arrived before it waits for a result.
  void run(const std::stop_token& stop) {
    const int most = denoiser_->latency() + denoiser_->concurrency();
    while (!stop.stop_requested()) {
      const bool owes_a_result = !under_way_.empty() && !wants_more_;
      std::optional<Job> job = static_cast<int>(under_way_.size()) < most || !owes_a_result
                                   ? take(stop, !owes_a_result)
                                   : std::nullopt;
      if (job) {
        carry_out(std::move(*job));
      } else if (owes_a_result) {
        receive();
      }
    }
  }

  std::optional<Job> take(const std::stop_token& stop, bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) {
      arrived_.wait(lock, stop, [&] { return !jobs_.empty(); });
    }
    if (jobs_.empty()) {
      return std::nullopt;
    }
    std::optional<Job> job(std::move(jobs_.front()));
    jobs_.pop_front();
    return job;
  }

  void carry_out(Job job) {
    try {
      if (job.task == Task::kFrame) {
        send(job);
        return;
      }
      if (job.task == Task::kReset) {
        under_way_.clear();
        denoiser_->reset();
      } else if (!failure_) {  // its frames tell
        denoiser_->flush();
      }
      wants_more_ = false;
      job.result.set_value({});
    } catch (...) {
      job.result.set_exception(std::current_exception());
    }
  }

  void send(Job& job) {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    const bool wanted = !job.frame.context_only;
    denoiser_->set_noise(job.noise);
    denoiser_->send(std::move(job.frame));
    wants_more_ = false;
    if (wanted) {
      under_way_.push_back(std::move(job.result));
    }
  }

  void receive() {
    try {
      std::optional<Frame> result = denoiser_->receive();
      if (!result) {
        wants_more_ = true;
        return;
      }
      {
        const std::scoped_lock lock(mutex_);
        device_stages_ = denoiser_->device_stages();
      }
      under_way_.front().set_value(std::move(*result));
      under_way_.pop_front();
    } catch (...) {
      // Which frame the denoiser would give next is not known any more.
      failure_ = std::current_exception();
      for (std::promise<Frame>& result : under_way_) {
        result.set_exception(failure_);
      }
      under_way_.clear();
    }
  }

  // Only the thread uses these.
  std::unique_ptr<Denoiser> denoiser_;
  std::deque<std::promise<Frame>> under_way_;
  bool wants_more_ = false;  // had nothing to give
  std::exception_ptr failure_;

  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<Job> jobs_;
  DeviceStages device_stages_;

  std::jthread thread_;  // the last: ends before what it works with
};

// Deals a stream to the engines in stretches, one after the other to each: of filters that look at one frame
// a frame each, of others so many frames that the context, which two engines are given, is a smaller part.
class DenoiserGroup final : public Denoiser {
 public:
  DenoiserGroup(std::vector<std::shared_ptr<Engine>> engines,
                std::vector<std::unique_ptr<Denoiser>> denoisers, const NoiseModel& noise)
      : engines_(std::move(engines)),
        noise_(noise),
        reach_(denoisers.front()->reach()),
        stretch_(std::max(2 * (reach_.before + reach_.after), 1)),
        warnings_(denoisers.front()->warnings()) {
    for (std::unique_ptr<Denoiser>& denoiser : denoisers) {
      // One more for each, so that a thread that has fetched a result finds a frame to send; and while one
      // engine is at its stretch, the others are given theirs.
      concurrency_ += denoiser->concurrency() + stretch_;
      workers_.push_back(std::make_unique<Worker>(std::move(denoiser)));
    }
  }

  void set_noise(const NoiseModel& noise) override {
    noise.validate();
    noise_ = noise;
  }

  void send(Frame frame) override {
    const std::int64_t index = sent_++;
    complete_ = frame.begins_anew ? index : std::max(complete_, index - reach_.after + 1);
    const std::int64_t own = index / stretch_;
    const std::int64_t first = std::max<std::int64_t>(index - reach_.after, 0) / stretch_;
    const std::int64_t last = workers_.size() > 1 ? (index + reach_.before) / stretch_ : own;
    for (std::int64_t stretch = workers_.size() > 1 ? first : own; stretch <= last; ++stretch) {
      const std::size_t to = static_cast<std::size_t>(stretch) % workers_.size();
      if (!frame.memory.is_host() && frame.memory != engines_[to]->memory()) {
        // At once, not on the worker's thread: the decoder has few frames to spare.
        frame = engines_.front()->in_host_memory(frame);
      }
      Frame dealt = frame;
      if (stretch != own) {
        dealt.context_only = true;
      }
      // The engine's last stretch was elsewhere.
      if (workers_.size() > 1 && index == std::max<std::int64_t>(stretch * stretch_ - reach_.before, 0)) {
        dealt.begins_anew = true;
      }
      const bool wanted = !dealt.context_only;
      std::future<Frame> result = workers_[to]->denoise(std::move(dealt), noise_);
      if (wanted) {
        results_.push_back({std::move(result), index});
      }
    }
  }

  std::optional<Frame> receive() override {
    if (results_.empty() || results_.front().index >= complete_) {
      return std::nullopt;
    }
    std::future<Frame> result = std::move(results_.front().frame);
    results_.pop_front();
    return result.get();
  }

  void flush() override {
    for (const auto& worker : workers_) {
      worker->flush();
    }
    complete_ = sent_;
  }
  void reset() override {
    results_.clear();
    for (const auto& worker : workers_) {
      worker->reset();
    }
    sent_ = 0;
    complete_ = 0;
  }
  std::vector<std::string> warnings() const override { return warnings_; }
  Reach reach() const override { return reach_; }
  int concurrency() const override { return concurrency_; }

  DeviceStages device_stages() const override {
    DeviceStages all;
    for (const auto& worker : workers_) {
      const DeviceStages one = worker->device_stages();
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
  std::vector<std::shared_ptr<Engine>> engines_;
  NoiseModel noise_;
  Reach reach_;
  int stretch_;  // frames
  std::vector<std::string> warnings_;
  int concurrency_ = 0;
  struct Result {
    std::future<Frame> frame;
    std::int64_t index;  // in the order of send()
  };

  std::int64_t sent_ = 0;
  std::int64_t complete_ = 0;  // frames from the first on whose results wait for no further one
  std::deque<Result> results_;
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
    std::vector<std::unique_ptr<Denoiser>> denoisers;
    denoisers.reserve(engines_.size());
    for (const auto& engine : engines_) {
      denoisers.push_back(engine->make_denoiser(filter, noise, format));
    }
    return std::make_unique<DenoiserGroup>(engines_, std::move(denoisers), noise);
  }

  Frame allocate_frame(const FrameFormat& format) override {
    return engines_.front()->allocate_frame(format);
  }
  bool prefers_own_frames() const override { return engines_.front()->prefers_own_frames(); }
  // The first decodes for all; the others get its frames through the host's memory.
  MemoryDomain memory() const override { return engines_.front()->memory(); }
  Frame in_host_memory(const Frame& frame) override { return engines_.front()->in_host_memory(frame); }
  NoiseModel estimate_noise(const Frame& frame) override { return engines_.front()->estimate_noise(frame); }
  noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before) override {
    return engines_.front()->measure_noise(frame, before);
  }
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    return engines_.front()->brightness_histogram(frame);
  }

 private:
  std::string name_;
  std::vector<std::shared_ptr<Engine>> engines_;
};

}  // namespace

std::vector<std::string> expand_engine_name(std::string_view name, const std::vector<EngineInfo>& engines) {
  const auto fail = [&](const std::string& why) {
    throw UsageError("the engines \"" + std::string(name) + "\": " + why);
  };
  constexpr std::string_view kAll = "all";
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos ||
      (name.find(',') == std::string_view::npos && name.substr(colon + 1) != kAll)) {
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
      // Opening the family's first device fails, with the reason why there is none.
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
      fail("all must be of one family, as in " + family + "0,1");
    }
    std::string single = whole ? std::string(part) : family + std::string(part);
    if (std::find(names.begin(), names.end(), single) != names.end()) {
      fail(single + " is named twice");
    }
    names.push_back(std::move(single));
  }
  if (name.back() == ',') {
    fail("one is missing after the last comma");
  }
  return names;
}

std::shared_ptr<Engine> make_engine_group(std::string name, std::vector<std::shared_ptr<Engine>> engines) {
  return std::make_shared<EngineGroup>(std::move(name), std::move(engines));
}

}  // namespace limpid
