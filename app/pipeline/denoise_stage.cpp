// SPDX-License-Identifier: MIT
#include "app/pipeline/denoise_stage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace limpid::app {
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

nlohmann::ordered_json to_json(const Latencies& latencies) {
  return {{"median", latencies.milliseconds(0.5)},
          {"p99", latencies.milliseconds(0.99)},
          {"worst", latencies.milliseconds(1)}};
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

}  // namespace limpid::app
