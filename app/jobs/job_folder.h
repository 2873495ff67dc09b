// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "core/base/not_copyable.h"
#include "core/base/regular_file.h"

namespace limpid::app {

/// The file whose lock a process holds that makes a plan or resumes a job.
std::string lock_in(const std::string& folder);
/// Locks it. Nothing if the folder has gone meanwhile. Throws Error, which names `name`, if another process
/// holds the lock.
std::optional<FileDescriptor> lock_folder(const std::string& folder, const std::string& name);

/// The paths of a job's files, see README.md.
class JobFolder {
 public:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string plan() const { return path_ + "/plan.json"; }
  std::string segment(int number) const;
  std::string done(int number) const;
  std::string failed(int number) const;
  std::string claim(int number) const;
  /// Record of a merged output, by the number of its input.
  std::string merged(int input) const;
  /// Both throw Error for a name that is not plain (is_plain_name()).
  std::string beacon(const std::string& worker) const;
  std::string data(const std::string& name) const;

  /// Makes the folder and its subfolders. Throws Error, also for subfolders that are links.
  void create() const;
  /// Removes the subfolders that are empty, and with `itself` the folder if it is empty then.
  void remove_empty(bool itself) const;
  /// lock_folder() of the folder.
  std::optional<FileDescriptor> lock() const { return lock_folder(path_, path_); }
  /// Throws Error if a subfolder is a symbolic link, which could lead to files outside of the job.
  void refuse_links() const;
  /// The segments that have a file of kind "done", "failed" or "claims". Throws Error.
  std::set<int> numbers_in(const std::string& kind) const;

 private:
  std::string path_;
};

/// Size limits of a job's files, in bytes. 64 MiB hold a segment of 4 million frames.
inline constexpr std::size_t kMostJobFile = std::size_t{1} << 26;
inline constexpr std::size_t kMostFailure = std::size_t{1} << 20;
inline constexpr std::size_t kMostClaim = std::size_t{1} << 12;

/// The number in names of files, such as "00017".
std::string number_text(int number);

/// True for names that cannot lead out of a folder: letters, digits, '-', '_' and '.', but no '.' at the
/// beginning. Names read from a job's files must be plain.
bool is_plain_name(const std::string& name);

/// Writes or replaces a file of a job as write_durably() does. Throws Error, also for more than kMostJobFile
/// bytes.
void write_job_file(const std::string& path, const std::string& text);

bool file_exists(const std::string& path);

/// 64 bits as 16 hexadecimal digits, and back. Nothing for other text.
std::string to_hex(std::uint64_t number);
std::optional<std::uint64_t> from_hex(const std::string& text);

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
  bool is_taken(int segment) {
    std::string ignored;
    return holder_of(segment, ignored) == Holder::kAlive;
  }

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

/// The folder of `limpid denoise --resume`: the folder of a job with a mark (resume.json), used by one
/// process at a time and removed when the output is complete. A folder without the mark is not touched,
/// except a job that is adopted, which receives the mark.
class ResumableFolder {
 public:
  enum class Kind {
    kNothing,  ///< does not exist
    kOwn,      ///< has the mark
    kJob,      ///< has a plan, but not the mark
    kForeign,  ///< anything else, links included
  };
  static Kind kind_of(const std::string& path);
  /// Removes a folder that is empty because a kill interrupted its removal.
  static void remove_shell(const std::string& path);

  /// Creates the folder, or takes over an existing one; a job receives the mark. Throws Error for a foreign
  /// folder, and if another process uses the folder.
  explicit ResumableFolder(const std::string& path);

  const JobFolder& job() const { return job_; }

  /// Removes the files of the job only.
  void clear() const;
  /// Removes the files of the job and the folder. A folder with foreign files is kept, with a warning.
  void remove();

 private:
  std::string try_remove();
  bool try_create();
  bool try_lock();

  JobFolder job_;
  FileDescriptor lock_{-1};
};

}  // namespace limpid::app
