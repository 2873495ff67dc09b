// SPDX-License-Identifier: MIT
#include "cpu/noise/clipping.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "core/base/parallel.h"

namespace limpid::cpu {
namespace {

constexpr int kRowsOfTask = 16;

template <typename Sample>
void undo(const Plane& noisy, const Plane& out, int greatest, int scale, const ClippedEnds& ends) {
  // Table by sample value: look-up is faster than computation. Planes that pass through may contain illegal
  // values.
  constexpr std::size_t kSamples = std::numeric_limits<Sample>::max() + std::size_t{1};
  std::array<std::vector<std::uint32_t>, 2> shares;
  for (std::size_t e = 0; e < ends.size(); ++e) {
    shares[e].resize(kSamples);
    for (int sample = 0; sample <= greatest; ++sample) {
      const int distance = clipped_distance(e == 0 ? sample : greatest - sample, scale);
      shares[e][sample] = distance < ClippedEnd::kDistances ? ends[e].share[distance] : 0;
    }
  }
  const auto rows = [&](const auto& row) {
    for_each_index((out.height + kRowsOfTask - 1) / kRowsOfTask, 1, [&](int task) {
      for (int y = task * kRowsOfTask; y < std::min((task + 1) * kRowsOfTask, out.height); ++y) {
        row(noisy.row<const Sample>(y), out.row<Sample>(y));
      }
    });
  };
  std::array<std::atomic<std::uint64_t>, 2> at_end{};
  std::array<std::atomic<std::uint64_t>, 2> sum{};
  rows([&](const Sample* from, const Sample* estimate) {
    std::array<ClippedCount, 2> counts{};
    for (int x = 0; x < out.width; ++x) {
      for (std::size_t e = 0; e < counts.size(); ++e) {
        const std::uint32_t share = shares[e][estimate[x]];
        counts[e].shares += share;
        counts[e].at_end += share > 0 && from[x] == (e == 0 ? 0 : greatest) ? 1 : 0;
      }
    }
    for (std::size_t e = 0; e < counts.size(); ++e) {
      at_end[e] += counts[e].at_end;
      sum[e] += counts[e].shares;
    }
  });
  const float low = clipped_weight({at_end[0], sum[0]});
  const float high = clipped_weight({at_end[1], sum[1]});
  if (low == 0 && high == 0) {
    return;
  }
  std::vector<Sample> moved(kSamples);
  std::iota(moved.begin(), moved.end(), Sample{0});
  for (int sample = 0; sample <= greatest; ++sample) {
    moved[sample] = static_cast<Sample>(
        without_clipping(sample, greatest, scale, ends[0].shift.data(), low, ends[1].shift.data(), high));
  }
  rows([&](const Sample* /*from*/, Sample* estimate) {
    for (int x = 0; x < out.width; ++x) {
      estimate[x] = moved[estimate[x]];
    }
  });
}

}  // namespace

void undo_clipping(const Frame& noisy, const NoiseModel& noise, ClippedEndsOfPlanes& all, Frame& out) {
  const FrameFormat& format = out.format;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const std::optional<ClippedEnds>& ends = all.of(format, p, noise.plane(p));
    if (!ends) {
      continue;
    }
    const int greatest = (1 << format.bit_depth) - 1;
    const int scale = static_cast<int>(format.code_value());
    if (format.sample_type == SampleType::kUint8) {
      undo<std::uint8_t>(noisy.planes[p], out.planes[p], greatest, scale, *ends);
    } else {
      undo<std::uint16_t>(noisy.planes[p], out.planes[p], greatest, scale, *ends);
    }
  }
}

}  // namespace limpid::cpu
