#include "app/pipeline.h"

#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "app/bounded_queue.h"

namespace limpid::app {
namespace {

using Item = io::Reader::Item;
using Queue = BoundedQueue<Item>;

// A packet is small beside a frame: counted alike, a burst of them would leave no room for frames and make
// the stages wait for each other.
constexpr std::size_t kFrameCost = 64;
constexpr std::size_t kPacketCost = 1;

bool push(Queue& queue, Item item) {
  const std::size_t cost = std::holds_alternative<Frame>(item) ? kFrameCost : kPacketCost;
  return queue.push(std::move(item), cost);
}

void read_all(const PipelineStages& stages, const PipelineOptions& options, PipelineCounters& counters,
              const std::stop_token& stop, Queue& decoded) {
  while (!stop.stop_requested()) {
    Item item = stages.read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      break;
    }
    const bool is_frame = std::holds_alternative<Frame>(item);
    if (!push(decoded, std::move(item))) {
      break;
    }
    if (is_frame && ++counters.frames_read == options.frame_limit) {
      break;
    }
  }
  decoded.close();
}

bool forward_results(Denoiser& denoiser, Queue& denoised) {
  while (std::optional<Frame> result = denoiser.receive()) {
    if (!push(denoised, std::move(*result))) {
      return false;
    }
  }
  return true;
}

void denoise_all(const PipelineStages& stages, Queue& decoded, Queue& denoised) {
  std::unique_ptr<Denoiser> denoiser;
  NoiseLevel noise;
  while (std::optional<Item> item = decoded.pop()) {
    if (!std::holds_alternative<Frame>(*item)) {
      if (!push(denoised, std::move(*item))) {
        return;
      }
      continue;
    }
    Frame& frame = std::get<Frame>(*item);
    const NoiseLevel level = stages.noise(frame);
    if (!denoiser) {
      denoiser = stages.make_denoiser(frame, level);
    } else if (level != noise) {
      denoiser->set_noise(level);
    }
    noise = level;
    denoiser->send(std::move(frame));
    if (!forward_results(*denoiser, denoised)) {
      return;
    }
  }
  if (denoiser) {
    denoiser->flush();
    forward_results(*denoiser, denoised);
  }
  denoised.close();
}

void write_all(const PipelineStages& stages, PipelineCounters& counters, Queue& denoised) {
  while (std::optional<Item> item = denoised.pop()) {
    if (const Frame* frame = std::get_if<Frame>(&*item)) {
      stages.write_frame(*frame);
      ++counters.frames_written;
    } else {
      stages.write_packet(*std::get<std::shared_ptr<io::Packet>>(*item));
    }
  }
}

}  // namespace

void run_pipeline(const PipelineStages& stages, const PipelineOptions& options, PipelineCounters& counters,
                  const std::stop_token& stop) {
  Queue decoded(options.queued_frames * kFrameCost);
  Queue denoised(options.queued_frames * kFrameCost);
  std::mutex error_mutex;
  std::exception_ptr first_error;

  const auto guarded = [&](const auto& stage) {
    try {
      stage();
    } catch (...) {
      {
        const std::scoped_lock lock(error_mutex);
        if (!first_error) {
          first_error = std::current_exception();
        }
      }
      decoded.cancel();
      denoised.cancel();
    }
  };

  {
    // A source that has nothing to give right now must not keep the frames under way from being finished.
    const std::stop_callback end_of_input(stop, [&] { decoded.close(); });
    const std::jthread reader([&] { guarded([&] { read_all(stages, options, counters, stop, decoded); }); });
    const std::jthread writer([&] { guarded([&] { write_all(stages, counters, denoised); }); });
    guarded([&] { denoise_all(stages, decoded, denoised); });
  }
  if (first_error) {
    std::rethrow_exception(first_error);
  }
}

}  // namespace limpid::app
