// SPDX-License-Identifier: MIT
#include "core/vbm4d/schedule.h"

#include <algorithm>

namespace limpid::vbm4d {
namespace {

class Schedule {
 public:
  Schedule(const TemporalSpan& span, std::span<const PictureProgress> progress)
      : span_(span), progress_(progress.begin(), progress.end()) {}

  // Adds the work for picture i of the window unless the picture does not exist or the work is done.
  void add(Work work, int i, int first_target = 0) {
    if (i < 0 || i >= count() || progress_[i].has(work)) {
      return;
    }
    if (work == Work::kFirstGroups) {
      for (int p = i - span_.before; p <= i + span_.after; ++p) {
        add(Work::kLoad, p);
      }
    }
    progress_[i].mark(work);
    steps_.push_back({work, i, std::max(first_target, 0)});
  }

  void add_result(int i) { steps_.push_back({Work::kResult, i}); }

  // Releases all loaded pictures up to number i.
  void release(int i) {
    for (int p = 0; p <= std::min(i, count() - 1); ++p) {
      if (progress_[p].has(Work::kLoad)) {
        add(Work::kRelease, p);
      }
    }
  }

  std::vector<ScheduledStep> steps() && { return std::move(steps_); }

 private:
  int count() const { return static_cast<int>(progress_.size()); }

  TemporalSpan span_;
  std::vector<PictureProgress> progress_;
  std::vector<ScheduledStep> steps_;
};

}  // namespace

// Groups of the last step with references in [current - after, current + spread] reach the current picture.
// Their basic estimates are made by groups that reach equally far again.
std::vector<ScheduledStep> schedule(const TemporalSpan& span, bool has_second_step, int current,
                                    std::span<const PictureProgress> progress) {
  const auto [before, after, spread] = span;
  Schedule result(span, progress);
  if (!has_second_step) {
    for (int now = current - after; now <= current + spread; ++now) {
      result.add(Work::kFirstGroups, now, current);
      result.release(std::min(now - before, current - 1));
    }
  } else {
    const int first_basic = current - after - before;
    const int last_basic = current + spread + after;
    for (int now = first_basic - after; now <= last_basic + spread; ++now) {
      result.add(Work::kFirstGroups, now, first_basic);
      const int complete = now - spread;
      if (complete >= first_basic) {
        result.add(Work::kBasicEstimate, complete);
      }
      const int reached = complete - after;
      if (reached >= current - after) {
        result.add(Work::kSecondGroups, reached, current);
      }
      result.release(std::min(reached - before, current - 1));
    }
  }
  result.add_result(current);
  result.release(std::min(current + spread - before, current));
  return std::move(result).steps();
}

}  // namespace limpid::vbm4d
