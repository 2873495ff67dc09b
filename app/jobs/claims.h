#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/jobs/job_folder.h"

namespace limpid::app {

/// Which worker does which segment. A claim is a file that only one worker can create, and that is touched
/// while the worker lives. How old it is tells the file system's own clock, by a file that has just been
/// touched there: machines' clocks don't matter. Claims save work: should two workers do one segment, as when
/// one was held up for long, both make the same.
class Claims {
 public:
  /// Claims that haven't been touched for `patience` seconds are those of the dead.
  Claims(JobFolder folder, double patience);
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  Claims(Claims&&) = delete;
  Claims& operator=(Claims&&) = delete;
  /// Gives back what is claimed.
  ~Claims();

  /// Whether this worker has the segment now: nobody else had it, or is dead, or `from_anybody`. One at a
  /// time.
  bool take(int segment, bool from_anybody = false);
  void give_back() noexcept;
  /// Whether another worker has taken over what this one has claimed, believing it dead.
  bool is_lost();
  /// Whether somebody works on it.
  bool is_taken(int segment);

 private:
  enum class Holder { kNobody, kDead, kAlive };
  struct Content {
    std::string worker;
    int process = 0;
    std::string space;  ///< machine and container in which the process number is unique
  };
  /// Nothing if the worker has not written the claim yet, or if it is damaged.
  static std::optional<Content> content_of(int descriptor);
  Holder holder_of(int segment, std::string& name);
  double seconds_since_touched(int descriptor);
  bool create(int segment) const;
  void touch_now_and_then(const std::stop_token& stop);

  JobFolder folder_;
  double patience_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<int> taken_;
  std::jthread heart_;
};

}  // namespace limpid::app
