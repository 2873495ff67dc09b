// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace limpid::app {

/// A histogram of the latencies of frames, of fixed size and exact to 2 %: each octave of nanoseconds has 32
/// buckets.
struct Latencies {
  static constexpr int kOctaveBits = 5;
  static constexpr std::size_t kBuckets = std::size_t{38}
                                          << kOctaveBits;  // an hour; what is longer counts as that

  /// The latencies added since `earlier`.
  Latencies since(const Latencies& earlier) const;
  /// The latency in ms that the share `share` of frames does not exceed: 0.5 is the median, 1 the largest
  /// latency. 0 without frames.
  double milliseconds(double share) const;

  std::array<std::int64_t, kBuckets> counts{};
};

/// The median, the 99th percentile and the largest latency, for reports.
nlohmann::ordered_json to_json(const Latencies& latencies);

/// Counts latencies. May be read while another thread counts.
class LatencyCounter {
 public:
  void add(std::chrono::nanoseconds latency);
  Latencies latencies() const;

 private:
  std::array<std::atomic<std::int64_t>, Latencies::kBuckets> counts_{};
};

}  // namespace limpid::app
