// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/jobs/job_folder.h"
#include "core/base/regular_file.h"

namespace limpid::app {

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
  void remove() const;

 private:
  std::string try_remove() const;
  bool try_create();
  bool try_lock();

  JobFolder job_;
  FileDescriptor lock_{-1};
};

}  // namespace limpid::app
