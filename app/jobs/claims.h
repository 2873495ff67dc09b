// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/jobs/job_folder.h"
#include "core/base/not_copyable.h"

namespace limpid::app {

/// Claims of workers on segments. A claim is a file that only one worker can create, and that the worker
/// touches while it runs. Its age is measured by the clock of the file system, against a file that has just
/// been touched; clocks of machines do not matter. Claims only avoid double work: if two workers denoise one
/// segment, for example after a long pause of one of them, both results are equal.
class Claims : NotCopyable {
 public:
  /// Claims that have not been touched for `patience` seconds are treated as those of lost workers.
  Claims(JobFolder folder, double patience);
  /// Releases the claim, if any.
  ~Claims();

  /// Claims a segment. Returns true if no other worker had claimed it, the other worker is lost, or
  /// `from_anybody`. A worker has at most one claim. Throws Error if the claim cannot be written, as on a
  /// full disk.
  bool take(int segment, bool from_anybody = false);
  void give_back() noexcept;
  /// True if another worker has taken over the claim of this one.
  bool is_lost();
  /// True if a worker has a valid claim on the segment.
  bool is_taken(int segment);

 private:
  enum class Holder { kNobody, kDead, kAlive };
  struct Content {
    std::string worker;
    int process = 0;
    std::string space;  ///< machine and container, in which a process number is unique
  };
  /// The content of a claim. Nothing if it is damaged or not written yet.
  static std::optional<Content> content_of(int descriptor);
  Holder holder_of(int segment, std::string& name);
  double seconds_since_touched(int descriptor);
  /// False if the claim exists. Throws Error if it cannot be written.
  bool create(int segment);
  void touch_now_and_then(const std::stop_token& stop);

  JobFolder folder_;
  double patience_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  struct Own {
    int segment = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };
  std::optional<Own> taken_;
  std::jthread heart_;
};

}  // namespace limpid::app
