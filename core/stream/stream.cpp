// SPDX-License-Identifier: MIT
#include "core/stream/stream.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/stream/bounded_queue.h"

namespace limpid {
namespace {

constexpr std::size_t kPerOctave = std::size_t{1} << Latencies::kOctaveBits;

// The bucket follows from the leading bit of the nanoseconds and the kOctaveBits after it; smaller values
// have a bucket each.
std::size_t bucket_of(std::chrono::nanoseconds latency) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0));
  const int octave = std::max(static_cast<int>(std::bit_width(ns)) - Latencies::kOctaveBits - 1, 0);
  return std::min(octave * kPerOctave + (ns >> octave), Latencies::kBuckets - 1);
}

double middle_of(std::size_t bucket) {
  const std::size_t octave = bucket < 2 * kPerOctave ? 0 : bucket / kPerOctave - 1;
  return std::ldexp(static_cast<double>(bucket - octave * kPerOctave) + 0.5, static_cast<int>(octave));
}

}  // namespace

Latencies Latencies::since(const Latencies& earlier) const {
  Latencies difference;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    difference.counts[i] = counts[i] - earlier.counts[i];
  }
  return difference;
}

double Latencies::milliseconds(double share) const {
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  auto left = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(all)));
  for (std::size_t i = 0; i < kBuckets && all > 0; ++i) {
    left -= counts[i];
    if (left <= 0 && counts[i] > 0) {
      return middle_of(i) / 1e6;
    }
  }
  return 0;
}

void LatencyCounter::add(std::chrono::nanoseconds latency) {
  counts_[bucket_of(latency)].fetch_add(1, std::memory_order_relaxed);
}

Latencies LatencyCounter::latencies() const {
  Latencies latencies;
  for (std::size_t i = 0; i < Latencies::kBuckets; ++i) {
    latencies.counts[i] = counts_[i].load(std::memory_order_relaxed);
  }
  return latencies;
}

void DenoiseStage::own(std::unique_ptr<Denoiser> denoiser) {
  if (denoiser != nullptr && ready_) {
    denoiser->set_ready_listener(ready_);
  }
  const std::scoped_lock lock(mutex_);
  denoiser_.swap(denoiser);
}

void DenoiseStage::send(Frame frame, const NoiseModel& level, const Maker& make) {
  timed(counters_.busy_ns, [&] {
    if (!denoiser_) {
      own(make(frame, level));
      denoiser_->set_mix(mix_);
    } else if (level != noise_) {
      denoiser_->set_noise(level);
    }
    noise_ = level;
    sent_.push_back({std::chrono::steady_clock::now(), frame.context_only});
    forget_context();
    denoiser_->send(std::move(frame));
    wants_more_ = false;
  });
}

std::optional<Frame> DenoiseStage::receive() {
  const auto at_work = [this](bool is) {
    const std::scoped_lock lock(mutex_);
    at_work_since_ = is ? std::optional(std::chrono::steady_clock::now()) : std::nullopt;
  };
  at_work(true);
  std::optional<Frame> result = timed(counters_.busy_ns, [&] { return denoiser_->receive(); });
  at_work(false);
  if (result) {
    counters_.latency.add(std::chrono::steady_clock::now() - sent_.front().at);
    sent_.pop_front();
    forget_context();
    ++counters_.frames;
  } else {
    wants_more_ = true;
  }
  return result;
}

void DenoiseStage::reset() {
  if (denoiser_) {
    denoiser_->reset();
  }
  sent_.clear();
  wants_more_ = false;
}

DenoisingStream::DenoisingStream(std::shared_ptr<Engine> engine, const Filter& filter,
                                 const NoiseSettings& noise, FieldChoice fields, const FrameFormat& format,
                                 Latency latency)
    : engine_(std::move(engine)), format_(format), filter_(filter), fields_(fields) {
  noise.check(format_, latency);
  denoiser_ = engine_->make_denoiser(filter_, level_, format_);
  denoiser_->set_mix(noise.mix);
  control_.emplace(noise, fields_, denoiser_->reach(), *engine_, NoiseControl::Listener{}, latency);
}

void DenoisingStream::check(const Frame& frame) const {
  if (frame.format != format_) {
    throw UsageError("the frame is " + to_string(frame.format) + ", but the stream is " + to_string(format_));
  }
  if (!frame.memory.is_host() && frame.memory != engine_->memory()) {
    throw UsageError("the frame is in " + to_string(frame.memory) + ", which the engine " +
                     std::string(engine_->name()) + " cannot read");
  }
}

void DenoisingStream::choose_results(bool given) {
  const Results kind = given ? Results::kGiven : Results::kOwn;
  if (kind_of_results_ == Results::kNotKnown && given) {
    denoiser_->set_result_frames([this] { return std::move(next_result_).value(); });
  } else if (kind_of_results_ != Results::kNotKnown && kind_of_results_ != kind) {
    throw UsageError(
        "memory for results must be passed with all frames of a stream or with none; this frame differs from "
        "the frames before");
  }
  kind_of_results_ = kind;
}

void DenoisingStream::send(Frame frame, std::optional<Frame> result) {
  check(frame);
  if (!frame.context_only) {
    choose_results(result.has_value());
  }
  if (frame.level_only) {
    has_gap_ = true;
  } else {
    sent_.push_back({std::move(result), std::exchange(has_gap_, false)});
  }
  control_->send(std::move(frame));
  pass_on();
}

std::optional<Frame> DenoisingStream::receive() {
  std::optional<Frame> result = denoiser_->receive();
  if (result) {
    found_of_result_ = founds_.front();
    founds_.pop_front();
  }
  return result;
}

void DenoisingStream::pass_on() {
  while (std::optional<LeveledFrame> next = control_->receive()) {
    found_ = next->noise;
    if (!next->frame.context_only) {
      founds_.push_back(next->noise);
    }
    if (const NoiseModel& level = next->level; level != level_) {
      denoiser_->set_noise(level);
      level_ = level;
    }
    Sent& sent = sent_.front();
    next->frame.begins_anew = next->frame.begins_anew || sent.behind_gap;
    next_result_ = std::move(sent.result);
    sent_.pop_front();
    denoiser_->send(std::move(next->frame));
  }
}

void DenoisingStream::flush() {
  if (!is_flushed_) {
    control_->flush();
    pass_on();
    denoiser_->flush();
    is_flushed_ = true;
  }
}

void DenoisingStream::reset() {
  sent_.clear();
  founds_.clear();
  denoiser_->reset();
  control_->reset();
  has_gap_ = false;
  is_flushed_ = false;
}

void DenoisingStream::set_noise(const NoiseSettings& noise) {
  noise.check(format_, control_->latency());
  if (control_->begins_with(noise)) {
    control_->flush();
    pass_on();
  }
  control_->set(noise);
  denoiser_->set_mix(noise.mix);
}

namespace {

using Queue = BoundedQueue<StreamItem>;
// Frames with the noise to filter them with.
using LeveledQueue = BoundedQueue<std::pair<StreamItem, NoiseModel>>;

// A packet is small beside a frame: counted alike, a burst of them would leave no room for frames and make
// the stages wait for each other.
constexpr std::size_t kFrameCost = 64;
constexpr std::size_t kPacketCost = 1;

constexpr std::size_t kQueuedBytes = std::size_t{128} << 20;

// The cost of a frame in a queue of up to `most` frames: at most a little more than a quarter of the
// capacity, so that three fit.
std::size_t greatest_cost(std::size_t most) { return std::max(most * kFrameCost / 4 + 1, kFrameCost); }

std::size_t cost_of(const Frame& frame, std::size_t most) {
  return std::clamp(frame_bytes(frame.format) * most * kFrameCost / kQueuedBytes, kFrameCost,
                    greatest_cost(most));
}

template <typename T>
bool push(BoundedQueue<T>& queue, StageCounters& counters, std::type_identity_t<T> item, std::size_t cost) {
  return timed(counters.waited_for_output_ns, [&] { return queue.push(std::move(item), cost); });
}

template <typename T>
std::optional<T> pop(BoundedQueue<T>& queue, StageCounters& counters) {
  return timed(counters.waited_for_input_ns, [&] { return queue.pop(); });
}

void copy(const DeviceStage& from, StageTimes& to) {
  to.frames = from.frames;
  to.busy_ns = from.busy_ns;
  to.waited_for_input_ns = from.waited_for_input_ns;
  to.waited_for_output_ns = from.waited_for_output_ns;
}

/// A run: its queues, its threads, and how it ends when one of them fails.
class StreamRun {
 public:
  StreamRun(const StreamParts& parts, const StreamOptions& options, StreamCounters& counters,
            const std::stop_token& stop)
      : parts_(parts),
        options_(options),
        counters_(counters),
        stop_(stop),
        leveled_(options.queued_frames * kFrameCost),
        denoised_(options.queued_results * kFrameCost) {}

  void run() {
    run_threads();
    if (first_error_) {
      std::rethrow_exception(first_error_);
    }
  }

 private:
  void run_threads() {
    // A source that has nothing to give right now must not keep the frames under way from being finished.
    const StopCallback end_of_input(stop_, [this] { decoded_.close(); });
    const StopCallback end_of_work(options_.abandon, [this] {
      decoded_.cancel();
      leveled_.cancel();
      denoised_.cancel();
    });
    std::jthread reader;
    std::jthread leveler;
    std::jthread writer;
    // A thread that cannot be started is a failure like any other: it ends those that run.
    guarded([&] {
      reader = start_thread([this] { guarded([this] { read_all(); }); });
      leveler =
          start_thread([this] { guarded_denoising([this] { level_all(); }, [this] { leveled_.close(); }); });
      writer = start_thread([this] { guarded([this] { write_all(); }); });
      guarded_denoising([this] { denoise_all(); },
                        [this] {
                          leveled_.cancel();
                          denoised_.close();
                        });
    });
  }

  void fail(const std::exception_ptr& error) {
    {
      const std::scoped_lock lock(error_mutex_);
      if (!first_error_) {
        first_error_ = error;
      }
    }
    decoded_.cancel();
    if (parts_.stop_reading) {
      parts_.stop_reading();
    }
  }

  template <typename Part>
  void guarded(const Part& part) {
    try {
      part();
    } catch (...) {
      fail(std::current_exception());
      leveled_.cancel();
      denoised_.cancel();
    }
  }

  /// Results may have taken hours: all that exist or can still be computed are written first.
  template <typename Part, typename EndOfResults>
  void guarded_denoising(const Part& part, const EndOfResults& end_of_results) {
    guarded([&] {
      const auto end = [&](const std::string& sentence, bool out_of_memory) {
        fail(std::make_exception_ptr(DenoisingFailure(sentence, out_of_memory)));
        end_of_results();
      };
      try {
        part();
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {
        end(error.what(), dynamic_cast<const OutOfMemory*>(&error) != nullptr);
      } catch (const std::bad_alloc&) {
        end(kOutOfMemory, true);
      }
    });
  }

  void read_all() {
    StageCounters& counters = counters_.read;
    while (!stop_.stop_requested()) {
      const auto begin = std::chrono::steady_clock::now();
      StreamItem item = timed(counters.busy_ns, [&] { return parts_.read(); });
      if (std::holds_alternative<EndOfStream>(item)) {
        break;
      }
      const Frame* const frame = std::get_if<Frame>(&item);
      const bool is_result = frame != nullptr && !frame->context_only;
      std::size_t cost = kPacketCost;
      if (frame != nullptr) {
        counters.latency.add(std::chrono::steady_clock::now() - begin);
        // A GPU's decoder needs its frames, which those who look ahead hold, too.
        cost = frame->memory.is_host() ? kFrameCost : greatest_cost(options_.queued_frames);
      }
      if (!push(decoded_, counters, std::move(item), cost)) {
        break;
      }
      if (is_result && ++counters.frames == options_.frame_limit) {
        break;
      }
    }
    decoded_.close();
  }

  void level_all() {
    Leveler& noise = *parts_.noise;
    StageCounters& counters = counters_.noise;
    // Passes on all frames that have a level. False once the queue takes no more.
    const auto pass_on = [&] {
      while (auto next = timed(counters.busy_ns, [&] { return noise.receive(); })) {
        // A GPU's decoder has few frames to spare.
        const std::size_t most = options_.queued_frames;
        const std::size_t cost =
            next->frame.memory.is_host() ? cost_of(next->frame, most) : greatest_cost(most);
        if (!push(leveled_, counters, {std::move(next->frame), next->level}, cost)) {
          return false;
        }
      }
      return true;
    };
    while (std::optional<StreamItem> item = pop(decoded_, counters)) {
      if (Frame* const frame = std::get_if<Frame>(&*item)) {
        timed(counters.busy_ns, [&] { noise.send(std::move(*frame)); });
        counters.frames += noise.is_estimated() ? 1 : 0;
        if (!pass_on()) {
          return;
        }
      } else if (!push(leveled_, counters, {std::move(*item), NoiseModel()}, kPacketCost)) {
        return;
      }
    }
    noise.flush();
    if (pass_on()) {
      leveled_.close();
    }
  }

  void denoise_all() {
    StageCounters& counters = counters_.denoise;
    DenoiseStage stage(counters, [this] { leveled_.wake(); });
    stage.set_mix(parts_.mix);
    const StopCallback abandon(options_.abandon, [&stage] { stage.cancel(); });
    // An item, waiting for one if there is no result to fetch instead.
    const auto next = [&] {
      if (!stage.owes_a_result()) {
        return pop(leveled_, counters);
      }
      return timed(counters.busy_ns, [&] { return leveled_.pop_unless([&] { return stage.is_ready(); }); });
    };
    for (;;) {
      auto leveled_item = next();
      if (!leveled_item) {
        // Several devices share the last frames as soon as the end is signaled.
        if (!stage.owes_a_result() || leveled_.is_done()) {
          break;
        }
        if (!forward(stage)) {
          return;
        }
        continue;
      }
      auto& [item, level] = *leveled_item;
      if (Frame* const frame = std::get_if<Frame>(&item)) {
        stage.send(std::move(*frame), level, parts_.make_denoiser);
        if (options_.abandon.stop_requested()) {
          return;  // perhaps before the denoiser was made
        }
        if (stage.is_full() && !forward(stage)) {
          return;
        }
      } else if (!push(denoised_, counters, std::move(item), kPacketCost)) {
        return;
      }
    }
    stage.flush();
    for (std::int64_t left = stage.under_way(); left > 0; --left) {
      if (!forward(stage)) {
        return;
      }
    }
    denoised_.close();
  }

  /// Passes the next result on, if there is one. False once the queue takes no more.
  bool forward(DenoiseStage& stage) {
    std::optional<Frame> result = stage.receive();
    if (!result) {
      return true;
    }
    const DeviceStages device = stage.on_device();
    copy(device.upload, counters_.upload);
    copy(device.filter, counters_.filter);
    copy(device.download, counters_.download);
    const std::size_t cost = cost_of(*result, options_.queued_results);
    return push(denoised_, counters_.denoise, std::move(*result), cost);
  }

  void write_all() {
    StageCounters& counters = counters_.write;
    while (std::optional<StreamItem> item = pop(denoised_, counters)) {
      timed(counters.busy_ns, [&] {
        if (const Frame* const frame = std::get_if<Frame>(&*item)) {
          const auto begin = std::chrono::steady_clock::now();
          parts_.write_frame(*frame);
          counters.latency.add(std::chrono::steady_clock::now() - begin);
          ++counters.frames;
        } else if (parts_.write_packet) {
          parts_.write_packet(*std::get<std::shared_ptr<Packet>>(*item));
        }
      });
    }
  }

  const StreamParts& parts_;
  const StreamOptions& options_;
  StreamCounters& counters_;
  const std::stop_token& stop_;
  Queue decoded_{kFrameCost};
  LeveledQueue leveled_;
  Queue denoised_;
  std::mutex error_mutex_;
  std::exception_ptr first_error_;
};

}  // namespace

void run_stream(const StreamParts& parts, const StreamOptions& options, StreamCounters& counters,
                const std::stop_token& stop) {
  StreamRun(parts, options, counters, stop).run();
}

}  // namespace limpid
