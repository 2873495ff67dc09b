#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/jobs/job_folder.h"

namespace limpid::app {

/// Claims of workers on segments. A claim is a file that only one worker can create, and that it touches
/// while it runs. The clock of the file system measures its age, by a file that has just been touched there:
/// clocks of machines do not matter. Claims only save work: if two workers denoise one segment, as after a
/// long pause of one, both results are equal.
class Claims {
 public:
  /// Claims that have not been touched for `patience` seconds belong to lost workers.
  Claims(JobFolder folder, double patience);
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  Claims(Claims&&) = delete;
  Claims& operator=(Claims&&) = delete;
  /// Gives back what is claimed.
  ~Claims();

  /// True if this worker has the segment now: no other worker had it, or it is lost, or `from_anybody`. A
  /// worker has one segment at a time.
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
