// SPDX-License-Identifier: MIT
#include "app/pipeline/pipeline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <variant>

#include "app/pipeline/bounded_queue.h"
#include "app/system/stop_callback.h"
#include "core/base/thread.h"

namespace limpid::app {
namespace {

using Item = io::Reader::Item;
using Queue = BoundedQueue<Item>;
// Frames with the noise to filter them with.
using LeveledQueue = BoundedQueue<std::pair<Item, NoiseModel>>;

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

// A GPU's decoder has few frames to spare.
std::size_t cost_of_decoded(const Frame& frame, std::size_t most) {
  return frame.memory.is_host() ? cost_of(frame, most) : greatest_cost(most);
}

template <typename T>
bool push(BoundedQueue<T>& queue, StageCounters& counters, std::type_identity_t<T> item, std::size_t cost) {
  return timed(counters.waited_for_output_ns, [&] { return queue.push(std::move(item), cost); });
}

template <typename T>
std::optional<T> pop(BoundedQueue<T>& queue, StageCounters& counters) {
  return timed(counters.waited_for_input_ns, [&] { return queue.pop(); });
}

void read_all(const PipelineStages& stages, const PipelineOptions& options, StageCounters& counters,
              const std::stop_token& stop, Queue& decoded) {
  while (!stop.stop_requested()) {
    const auto begin = std::chrono::steady_clock::now();
    Item item = timed(counters.busy_ns, [&] { return stages.read(); });
    if (std::holds_alternative<io::Reader::End>(item)) {
      break;
    }
    const bool is_frame = std::holds_alternative<Frame>(item);
    const bool is_result = is_frame && !std::get<Frame>(item).context_only;
    if (is_frame) {
      counters.latency.add(std::chrono::steady_clock::now() - begin);
    }
    // A GPU's decoder needs its frames, which those who look ahead hold, too.
    const bool is_decoders = is_frame && !std::get<Frame>(item).memory.is_host();
    const std::size_t cost = is_decoders ? greatest_cost(options.queued_frames)
                             : is_frame  ? kFrameCost
                                         : kPacketCost;
    if (!push(decoded, counters, std::move(item), cost)) {
      break;
    }
    if (is_result && ++counters.frames == options.frame_limit) {
      break;
    }
  }
  decoded.close();
}

void copy(const DeviceStage& from, StageTimes& to) {
  to.frames = from.frames;
  to.busy_ns = from.busy_ns;
  to.waited_for_input_ns = from.waited_for_input_ns;
  to.waited_for_output_ns = from.waited_for_output_ns;
}

void level_all(Leveler& noise, const PipelineOptions& options, StageCounters& counters, Queue& decoded,
               LeveledQueue& leveled) {
  // Passes on all frames that have a level. False once the queue takes no more.
  const auto pass_on = [&] {
    while (auto next = timed(counters.busy_ns, [&] { return noise.receive(); })) {
      const std::size_t cost = cost_of_decoded(next->frame, options.queued_frames);
      if (!push(leveled, counters, {std::move(next->frame), next->level}, cost)) {
        return false;
      }
    }
    return true;
  };
  while (std::optional<Item> item = pop(decoded, counters)) {
    if (Frame* frame = std::get_if<Frame>(&*item)) {
      timed(counters.busy_ns, [&] { noise.send(std::move(*frame)); });
      counters.frames += noise.is_estimated() ? 1 : 0;
      if (!pass_on()) {
        return;
      }
    } else if (!push(leveled, counters, {std::move(*item), NoiseModel()}, kPacketCost)) {
      return;
    }
  }
  noise.flush();
  if (pass_on()) {
    leveled.close();
  }
}

void denoise_all(const PipelineStages& stages, const PipelineOptions& options, PipelineCounters& all_counters,
                 LeveledQueue& leveled, Queue& denoised) {
  StageCounters& counters = all_counters.denoise;
  DenoiseStage stage(counters, [&leveled] { leveled.wake(); });
  stage.set_mix(stages.mix);
  const StopCallback abandon(options.abandon, [&stage] { stage.cancel(); });
  // Passes the next result on, if there is one. False once the queue takes no more.
  const auto forward = [&] {
    std::optional<Frame> result = stage.receive();
    if (!result) {
      return true;
    }
    const DeviceStages device = stage.on_device();
    copy(device.upload, all_counters.upload);
    copy(device.filter, all_counters.filter);
    copy(device.download, all_counters.download);
    const std::size_t cost = cost_of(*result, options.queued_results);
    return push(denoised, counters, std::move(*result), cost);
  };
  // An item, waiting for one if there is no result to fetch instead.
  const auto next = [&] {
    if (!stage.owes_a_result()) {
      return pop(leveled, counters);
    }
    return timed(counters.busy_ns, [&] { return leveled.pop_unless([&] { return stage.is_ready(); }); });
  };
  for (;;) {
    auto leveled_item = next();
    if (!leveled_item) {
      // Several devices share the last frames as soon as the end is signaled.
      if (!stage.owes_a_result() || leveled.is_done()) {
        break;
      }
      if (!forward()) {
        return;
      }
      continue;
    }
    auto& [item, level] = *leveled_item;
    if (Frame* frame = std::get_if<Frame>(&item)) {
      stage.send(std::move(*frame), level, stages.make_denoiser);
      if (options.abandon.stop_requested()) {
        return;  // perhaps before the denoiser was made
      }
      if (stage.is_full() && !forward()) {
        return;
      }
    } else if (!push(denoised, counters, std::move(item), kPacketCost)) {
      return;
    }
  }
  stage.flush();
  for (std::int64_t left = stage.under_way(); left > 0; --left) {
    if (!forward()) {
      return;
    }
  }
  denoised.close();
}

void write_all(const PipelineStages& stages, StageCounters& counters, Queue& denoised) {
  while (std::optional<Item> item = pop(denoised, counters)) {
    timed(counters.busy_ns, [&] {
      if (const Frame* frame = std::get_if<Frame>(&*item)) {
        const auto begin = std::chrono::steady_clock::now();
        stages.write_frame(*frame);
        counters.latency.add(std::chrono::steady_clock::now() - begin);
        ++counters.frames;
      } else {
        stages.write_packet(*std::get<std::shared_ptr<io::Packet>>(*item));
      }
    });
  }
}

struct Shares {
  double fps_alone;
  double busy;
  double waited_for_input;
  double waited_for_output;
};

Shares shares_of(const StageTimes& counters) {
  const auto busy = static_cast<double>(counters.busy_ns);
  const auto input = static_cast<double>(counters.waited_for_input_ns);
  const auto output = static_cast<double>(counters.waited_for_output_ns);
  const double all = std::max(busy + input + output, 1.0);
  return {busy > 0 ? static_cast<double>(counters.frames) * 1e9 / busy : 0, busy / all, input / all,
          output / all};
}

struct Stage {
  const char* name;
  const StageTimes& times;
  const LatencyCounter* latency;  // nullptr where it isn't counted
};

std::vector<Stage> stages_of(const PipelineCounters& counters) {
  std::vector<Stage> stages{{"decode", counters.read, &counters.read.latency}};
  if (counters.noise.frames > 0) {
    stages.push_back({"noise", counters.noise, nullptr});
  }
  stages.push_back({"denoise", counters.denoise, &counters.denoise.latency});
  if (counters.on_device()) {
    stages.push_back({"upload", counters.upload, nullptr});
    stages.push_back({"filter", counters.filter, nullptr});
    stages.push_back({"download", counters.download, nullptr});
  }
  stages.push_back({"encode", counters.write, &counters.write.latency});
  return stages;
}

/// A run: its queues, its threads, and how it ends when one of them fails.
class PipelineRun {
 public:
  PipelineRun(const PipelineStages& stages, const PipelineOptions& options, PipelineCounters& counters,
              const std::stop_token& stop)
      : stages_(stages),
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
      reader = start_thread(
          [this] { guarded([this] { read_all(stages_, options_, counters_.read, stop_, decoded_); }); });
      leveler = start_thread([this] {
        guarded_denoising(
            [this] { level_all(*stages_.noise, options_, counters_.noise, decoded_, leveled_); },
            [this] { leveled_.close(); });
      });
      writer = start_thread([this] { guarded([this] { write_all(stages_, counters_.write, denoised_); }); });
      guarded_denoising([this] { denoise_all(stages_, options_, counters_, leveled_, denoised_); },
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
    if (stages_.stop_reading) {
      stages_.stop_reading();
    }
  }

  template <typename Stage>
  void guarded(const Stage& stage) {
    try {
      stage();
    } catch (...) {
      fail(std::current_exception());
      leveled_.cancel();
      denoised_.cancel();
    }
  }

  /// Results may have taken hours: all that exist or can still be computed are written first.
  template <typename Stage, typename EndOfResults>
  void guarded_denoising(const Stage& stage, const EndOfResults& end_of_results) {
    guarded([&] {
      const auto end = [&](const std::string& sentence) {
        fail(std::make_exception_ptr(DenoisingFailure(sentence)));
        end_of_results();
      };
      try {
        stage();
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {
        end(error.what());
      } catch (const std::bad_alloc&) {
        end(kOutOfMemory);
      }
    });
  }

  const PipelineStages& stages_;
  const PipelineOptions& options_;
  PipelineCounters& counters_;
  const std::stop_token& stop_;
  Queue decoded_{kFrameCost};
  LeveledQueue leveled_;
  Queue denoised_;
  std::mutex error_mutex_;
  std::exception_ptr first_error_;
};

}  // namespace

std::vector<std::string> to_table(const PipelineCounters& counters) {
  std::vector<std::string> lines{fmt::format("{:<8} {:>7} {:>10} {:>7} {:>9} {:>9} {:>10} {:>8} {:>8}",
                                             "stage", "frames", "fps alone", "busy", "no input", "no room",
                                             "median ms", "99 %", "worst")};
  for (const Stage& stage : stages_of(counters)) {
    const Shares shares = shares_of(stage.times);
    lines.push_back(fmt::format("{:<8} {:>7} {:>10.1f} {:>5.1f} % {:>7.1f} % {:>7.1f} %", stage.name,
                                stage.times.frames.load(), shares.fps_alone, 100 * shares.busy,
                                100 * shares.waited_for_input, 100 * shares.waited_for_output));
    if (stage.latency != nullptr) {
      const Latencies latencies = stage.latency->latencies();
      lines.back() += fmt::format(" {:>10.3f} {:>8.3f} {:>8.3f}", latencies.milliseconds(0.5),
                                  latencies.milliseconds(0.99), latencies.milliseconds(1));
    }
  }
  return lines;
}

nlohmann::ordered_json to_json(const PipelineCounters& counters) {
  nlohmann::ordered_json json;
  for (const Stage& stage : stages_of(counters)) {
    const Shares shares = shares_of(stage.times);
    json[stage.name] = {{"frames", stage.times.frames.load()},
                        {"fps_alone", shares.fps_alone},
                        {"busy", shares.busy},
                        {"waited_for_input", shares.waited_for_input},
                        {"waited_for_output", shares.waited_for_output}};
    if (stage.latency != nullptr) {
      json[stage.name]["latency_ms"] = to_json(stage.latency->latencies());
    }
  }
  return json;
}

void run_pipeline(const PipelineStages& stages, const PipelineOptions& options, PipelineCounters& counters,
                  const std::stop_token& stop) {
  PipelineRun(stages, options, counters, stop).run();
}

Error broken_off(io::Writer& writer, const std::string& failure) {
  const std::string name = writer.finish_partial();
  const std::int64_t frames = writer.frames_written();
  return Error(fmt::format("{}; {} has the {} {} before that", failure, name, frames,
                           frames == 1 ? "frame" : "frames"));
}

namespace {

io::ReaderOptions lead_options(io::ReaderOptions options) {
  options.end.reset();
  options.context_before = options.context_after = 0;
  options.audio = options.subtitles = options.data = false;
  return options;
}

}  // namespace

LevelLead::LevelLead(const std::string& path, io::ReaderOptions options, const Frame& first,
                     const LevelGrid& grid)
    : reader_(path, lead_options(std::move(options))), grid_(grid) {
  const double rate = reader_.video().frames_per_second;
  const std::optional<double> time = io::presentation_time(first);
  if (rate > 0 && time && reader_.can_seek()) {
    end_ = *time - 0.5 / rate;
    reader_.seek(*time - static_cast<double>(grid.lead()) / rate);
  }
}

std::optional<Frame> LevelLead::next() {
  for (;;) {
    io::Reader::Item item = reader_.read();
    Frame* const frame = std::get_if<Frame>(&item);
    if (std::holds_alternative<io::Reader::End>(item) ||
        (frame != nullptr && !(io::presentation_time(*frame) < end_))) {
      return std::nullopt;
    }
    has_begun_ = has_begun_ || (frame != nullptr && grid_.may_begin(frame->index));
    if (frame != nullptr && has_begun_) {
      frame->context_only = frame->level_only = true;
      return std::move(*frame);
    }
  }
}

}  // namespace limpid::app
