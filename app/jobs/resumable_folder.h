#pragma once

#include <string>

#include "app/jobs/job_folder.h"
#include "core/base/regular_file.h"

namespace limpid::app {

/// The folder of `limpid denoise --resume`: a job's folder with a mark (resume.json), used by one process at
/// a time and removed when the output is complete. A folder without the mark is not touched, except a job
/// that is adopted, which is given the mark.
class ResumableFolder {
 public:
  enum class Kind {
    kNothing,  ///< does not exist
    kOwn,      ///< has the mark
    kJob,      ///< has a plan, but no mark
    kForeign,  ///< anything else, links included
  };
  static Kind kind_of(const std::string& path);
  /// Removes the remains of a folder whose removal was interrupted by a kill at its very end.
  static void remove_shell(const std::string& path);

  /// Creates the folder or takes it over; a job is given the mark. Throws Error for a foreign folder, and if
  /// another process uses it.
  explicit ResumableFolder(const std::string& path);

  const JobFolder& job() const { return job_; }

  /// Removes the files of the job, and nothing else.
  void clear() const;
  /// Removes the files of the job and the folder. A folder with foreign files is kept, with a warning.
  void remove() const;

 private:
  bool try_create();
  bool try_lock();

  JobFolder job_;
  FileDescriptor lock_{-1};
};

}  // namespace limpid::app
