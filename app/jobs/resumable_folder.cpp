// SPDX-License-Identifier: MIT
#include "app/jobs/resumable_folder.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/settings/json_reader.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarkText = "{\"limpid_resume\": 1}\n";
constexpr std::size_t kMostMark = std::size_t{1} << 12;
/// Subfolders, except "merged", which shows whether the output is complete and so is removed last.
constexpr std::array<std::string_view, 6> kParts{"segments", "done", "failed", "claims", "workers", "data"};

std::string mark_in(const std::string& folder) { return folder + "/resume.json"; }

/// Type bits of a file, 0 if it does not exist. Does not follow links.
mode_t type_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

bool has_mark(const std::string& folder) {
  if (type_of(mark_in(folder)) != S_IFREG) {
    return false;
  }
  try {
    JsonDocument::read(mark_in(folder), kMostMark).root().at("limpid_resume").integer(1, 1);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  if (type_of(folder) == S_IFDIR) {
    for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
         entry.increment(failure)) {
      names.push_back(entry->path().filename().string());
    }
  }
  return names;
}

/// True for the names that Limpid gives to files in a subfolder of a job.
bool is_own_name(std::string_view part, const std::string& name) {
  constexpr std::array<std::string_view, 5> kEnds{".json", ".claim", ".taken", ".packets", ".tmp"};
  return is_plain_name(name) && (part == "workers" || std::ranges::any_of(kEnds, [&](std::string_view end) {
                                   return name.ends_with(end);
                                 }));
}

bool is_part(const std::string& name) {
  return name == "merged" || std::ranges::find(kParts, name) != kParts.end();
}

/// Keeps foreign files, and then the subfolder too.
void remove_part(const std::string& folder, std::string_view part) {
  const std::string path = folder + "/" + std::string(part);
  for (const std::string& name : names_in(path)) {
    if (is_own_name(part, name)) {
      ::unlink((fs::path(path) / name).c_str());
    }
  }
  ::rmdir(path.c_str());
}

/// Name of the folder while it has no mark yet and while its mark is removed. The next process finds it there
/// after a kill.
std::string shell_of(const std::string& path) {
  constexpr std::size_t kLongestName = 200;
  const std::string name = fs::path(path).filename().string();
  return (fs::path(path).parent_path() /
          (".limpid-" + name.substr(name.size() - std::min(name.size(), kLongestName))))
      .string();
}

void remove_half_written(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    const bool is_half = name.starts_with("plan.json.") || name.starts_with("resume.json.");
    if (is_half && name.ends_with(".tmp") && is_plain_name(name)) {
      ::unlink((fs::path(folder) / name).c_str());
    }
  }
}

/// Removes the plan first: a folder without a plan is not a job.
void remove_all_but_merged(const std::string& folder) {
  ::unlink((folder + "/plan.json").c_str());
  remove_half_written(folder);
  std::ranges::for_each(kParts, [&](std::string_view part) { remove_part(folder, part); });
}

/// Removes the mark, the lock and the folder itself. Returns false and sets errno on failure.
bool remove_rest(const std::string& folder) {
  remove_part(folder, "merged");
  remove_half_written(folder);
  ::unlink(lock_in(folder).c_str());
  ::unlink(mark_in(folder).c_str());
  return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

/// A file of the job that is still in its folder; empty if there is none.
std::string own_file_in(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    std::string path = folder;
    path += "/";
    path += name;
    if (type_of(path) != S_IFDIR) {
      if (name == "lock" || name == "plan.json" || name == "resume.json") {
        return path;
      }
      continue;
    }
    const std::vector<std::string> own = names_in(path);
    const auto is_own = [&name](const std::string& file) { return is_own_name(name, file); };
    if (const auto file = std::ranges::find_if(own, is_own); file != own.end() && is_part(name)) {
      return path + "/" + *file;
    }
  }
  return "";
}

/// Returns false and sets errno on failure.
bool rename_folder(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  // RENAME_NOREPLACE is not supported by every file system.
  return (errno == EINVAL || errno == ENOSYS) && type_of(to) == 0 && ::rename(from.c_str(), to.c_str()) == 0;
}

}  // namespace

ResumableFolder::Kind ResumableFolder::kind_of(const std::string& path) {
  const mode_t type = type_of(path);
  if (type == 0) {
    return Kind::kNothing;
  }
  if (type != S_IFDIR) {
    return Kind::kForeign;
  }
  return has_mark(path)                                       ? Kind::kOwn
         : type_of(JobFolder(path).plan()) == mode_t{S_IFREG} ? Kind::kJob
                                                              : Kind::kForeign;
}

ResumableFolder::ResumableFolder(const std::string& path) : job_(path) {
  // Another process may make the folder or remove it between any two steps.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Kind kind = kind_of(path);
    if (kind == Kind::kForeign) {
      throw Error(path + ": exists and was not made by limpid denoise --resume; rename it or delete it");
    }
    if (kind == Kind::kNothing ? try_create() : try_lock()) {
      if (kind == Kind::kJob) {
        write_job_file(mark_in(path), std::string(kMarkText));
        job_.create();
      }
      return;
    }
  }
  throw Error(path + ": other processes keep making and removing this folder");
}

/// False if another process has created the folder meanwhile.
bool ResumableFolder::try_create() {
  const std::string& path = job_.path();
  const std::string shell = shell_of(path);
  constexpr mode_t kPermissions = 0777;  // less what umask takes away
  if ((::mkdir(shell.c_str(), kPermissions) != 0 && errno != EEXIST) || type_of(shell) != S_IFDIR) {
    throw Error(shell + ": cannot create the folder: " + std::strerror(errno));
  }
  std::optional<FileDescriptor> lock;
  try {
    lock = lock_folder(shell, path);
  } catch (const Error&) {
    ::rmdir(shell.c_str());  // another process may use it
    throw;
  }
  if (!lock) {
    return false;
  }
  try {
    remove_part(shell, "merged");
    write_job_file(mark_in(shell), std::string(kMarkText));
  } catch (const Error&) {
    remove_rest(shell);
    throw;
  }
  if (rename_folder(shell, path)) {
    lock_ = *std::move(lock);
    return true;
  }
  const int error = errno;
  remove_rest(shell);
  if (error == EEXIST || error == ENOTEMPTY) {
    return false;
  }
  throw Error(path + ": cannot create the folder: " + std::strerror(error));
}

/// False if the folder has gone meanwhile.
bool ResumableFolder::try_lock() {
  std::optional<FileDescriptor> lock = job_.lock();
  if (!lock) {
    return false;
  }
  lock_ = *std::move(lock);
  return true;
}

void ResumableFolder::remove_shell(const std::string& path) {
  const std::string shell = shell_of(path);
  if (type_of(shell) != S_IFDIR) {
    return;
  }
  const FileDescriptor lock(::open(lock_in(shell).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    remove_rest(shell);
  }
}

void ResumableFolder::clear() const {
  remove_all_but_merged(job_.path());
  remove_part(job_.path(), "merged");
}

/// Returns the folder that is left, which may have its other name; empty if none is left.
std::string ResumableFolder::try_remove() const {
  std::string folder = job_.path();
  remove_all_but_merged(folder);
  const bool is_ours = std::ranges::all_of(names_in(folder), [](const std::string& name) {
    return name == "merged" || name == "lock" || name == "resume.json";
  });
  // One rename, so that no run sees a mark without the record in "merged".
  if (is_ours) {
    remove_shell(folder);
    if (const std::string shell = shell_of(folder); rename_folder(folder, shell)) {
      folder = shell;
    }
  }
  return remove_rest(folder) ? "" : folder;
}

void ResumableFolder::remove() const {
  const std::string folder = try_remove();
  if (folder.empty()) {
    return;
  }
  // File systems on a network may refuse to remove a file that is in use for a moment.
  remove_all_but_merged(folder);
  if (remove_rest(folder)) {
    return;
  }
  const std::string reason = std::strerror(errno);
  if (const std::string file = own_file_in(folder); !file.empty()) {
    spdlog::warn(
        fmt::format("{}: is not removed, because {} cannot be removed; delete the folder", folder, file));
  } else if (names_in(folder).empty()) {
    spdlog::warn(fmt::format("{}: cannot be removed: {}; delete the folder", folder, reason));
  } else {
    spdlog::warn(
        fmt::format("{}: is not removed, because it contains files that Limpid did not make", folder));
  }
}

}  // namespace limpid::app
