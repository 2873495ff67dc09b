// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vbm4d/vbm4d_parameters.h"

// The order in which V-BM4D filters the pictures (frames, or fields of one parity) of a stream. All engines
// execute the same steps.

namespace limpid::vbm4d {

enum class Work : std::uint8_t {
  kLoad,           ///< convert the samples, make the matching guide, estimate motion from and to the picture
                   ///< before
  kFirstGroups,    ///< filter the groups with references in the picture, first step
  kBasicEstimate,  ///< make the basic estimate from the sums of the first step
  kSecondGroups,   ///< filter the groups with references in the picture, second step
  kResult,         ///< make the result from the sums of the last step
  kRelease,        ///< free all memory of the picture: no later step uses it
};

struct ScheduledStep {
  Work work = Work::kLoad;
  int picture = 0;  ///< index in the window
  /// Groups only: the first picture that still needs their estimates. An engine may skip earlier ones.
  int first_target = 0;
  bool operator==(const ScheduledStep&) const = default;
};

/// The work done on a picture so far, which is part of its state between two windows.
class PictureProgress {
 public:
  bool has(Work work) const { return done_[static_cast<std::size_t>(work)]; }
  void mark(Work work) { done_[static_cast<std::size_t>(work)] = true; }

 private:
  std::array<bool, 6> done_{};
};

/// The steps, in order, that lead to the result of picture `current` of a window. All work is done once and
/// as late as possible, so that few pictures are kept at a time. Work that `progress` (by picture of the
/// window) contains is omitted, except the result.
std::vector<ScheduledStep> schedule(const TemporalSpan& span, bool has_second_step, int current,
                                    std::span<const PictureProgress> progress);

}  // namespace limpid::vbm4d
