// SPDX-License-Identifier: MIT
#include "app/jobs/job_folder.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/console/durable_file.h"
#include "core/base/error.h"
#include "core/base/system/posix.h"
#include "core/base/thread.h"
#include "core/settings/json_reader.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSubfolders{"segments", "done", "failed", "claims", "workers", "data", "merged"};

const std::string& require_plain(const std::string& name) {
  if (!is_plain_name(name)) {
    throw Error("'" + name + "' is not a valid name for a file of a job");
  }
  return name;
}

/// Does not wait for a FIFO and does not follow a link.
FileDescriptor opened(const std::string& path, int flags) {
  return FileDescriptor(posix::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666));
}

double seconds_of(const timespec& time) {
  constexpr double kNanoseconds = 1e-9;
  return static_cast<double>(time.tv_sec) + kNanoseconds * static_cast<double>(time.tv_nsec);
}

}  // namespace

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= NAME_MAX && name.front() != '.' &&
         std::ranges::all_of(name, [](unsigned char letter) {
           return letter < 0x80 &&
                  (std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.');
         });
}

std::string lock_in(const std::string& folder) { return folder + "/lock"; }

std::string number_text(int number) { return fmt::format("{:05}", number); }

std::string JobFolder::segment(int number) const {
  return path_ + "/segments/" + number_text(number) + ".json";
}
std::string JobFolder::done(int number) const {
  return path_ + "/done/" + number_text(number) + ".done.json";
}
std::string JobFolder::failed(int number) const {
  return path_ + "/failed/" + number_text(number) + ".failed.json";
}
std::string JobFolder::claim(int number) const { return path_ + "/claims/" + number_text(number) + ".claim"; }
std::string JobFolder::merged(int input) const { return path_ + "/merged/" + number_text(input) + ".json"; }
std::string JobFolder::beacon(const std::string& worker) const {
  return path_ + "/workers/" + require_plain(worker);
}
std::string JobFolder::data(const std::string& name) const { return path_ + "/data/" + require_plain(name); }

void JobFolder::refuse_links() const {
  for (const char* part : kSubfolders) {
    const std::string folder = path_ + "/" + part;
    std::error_code ignored;
    if (fs::is_symlink(folder, ignored)) {
      throw Error(folder + ": is a symbolic link; the subfolders of a job must be folders");
    }
  }
}

void JobFolder::remove_empty(bool itself) const {
  for (const char* part : kSubfolders) {
    posix::rmdir((path_ + "/" + part).c_str());
  }
  if (itself) {
    posix::rmdir(path_.c_str());
  }
}

void JobFolder::create() const {
  refuse_links();
  for (const char* part : kSubfolders) {
    std::error_code failure;
    fs::create_directories(fs::path(path_) / part, failure);
    if (failure) {
      throw Error(path_ + ": can't create the folder: " + failure.message());
    }
  }
}

std::optional<FileDescriptor> lock_folder(const std::string& folder, const std::string& name) {
  const std::string path = lock_in(folder);
  FileDescriptor lock(
      posix::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (lock.get() < 0) {
    if (errno == ENOENT) {
      return std::nullopt;
    }
    throw Error(path + ": cannot be opened: " + std::strerror(errno));
  }
  if (posix::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      throw Error(name + ": another limpid works in this folder; wait until it ends");
    }
    spdlog::warn(fmt::format("{}: cannot be locked ({}); do not run the same command twice at a time", path,
                             std::strerror(errno)));
  }
  posix::Stat mine{};
  posix::Stat there{};
  const bool is_there = posix::fstat(lock.get(), &mine) == 0 && posix::lstat(path.c_str(), &there) == 0 &&
                        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
  return is_there ? std::optional(std::move(lock)) : std::nullopt;
}

std::set<int> JobFolder::numbers_in(const std::string& kind) const {
  const std::string folder = path_ + "/" + kind;
  std::set<int> numbers;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const std::string rest(end, name.data() + name.size());
    const bool is_known = rest == ".done.json" || rest == ".failed.json" || rest == ".claim";
    if (error == std::errc() && number >= 0 && is_known && name == number_text(number) + rest) {
      numbers.insert(number);
    }
  }
  // Some tools that copy a job leave empty folders out.
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw Error(folder + ": can't read the folder: " + failure.message());
  }
  return numbers;
}

void write_job_file(const std::string& path, const std::string& text) {
  if (text.size() > kMostJobFile) {
    throw Error(
        fmt::format("{}: would be larger than {} MiB; plan fewer frames at a time, or shorter segments", path,
                    kMostJobFile >> 20));
  }
  write_durably(path, text);
}

bool file_exists(const std::string& path) {
  posix::Stat status{};
  return posix::stat(path.c_str(), &status) == 0;
}

std::string to_hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::optional<std::uint64_t> from_hex(const std::string& text) {
  std::uint64_t number = 0;
  constexpr int kBase = 16;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, kBase);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Claims::Claims(JobFolder folder, double patience) : folder_(std::move(folder)), patience_(patience) {
  heart_ = start_thread([this](const std::stop_token& stop) { touch_now_and_then(stop); });
}

Claims::~Claims() {
  give_back();
  heart_ = {};
  try {
    std::error_code ignored;
    std::filesystem::remove(folder_.beacon(process_name()), ignored);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): an empty file is left behind
  }
}

void Claims::touch_now_and_then(const std::stop_token& stop) {
  constexpr double kBeatsInPatience = 8;
  const auto pause = std::chrono::duration<double>(patience_ / kBeatsInPatience);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, pause, [] { return false; });
    if (!taken_) {
      continue;
    }
    try {
      // A slow file system must not keep give_back() waiting for long: it waits for one touch at most.
      const FileDescriptor claim = opened(folder_.claim(taken_->segment), O_WRONLY);
      posix::touch(claim.get());
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next touch may do
    }
  }
}

bool Claims::create(int segment) {
  const std::string path = folder_.claim(segment);
  const FileDescriptor claim = opened(path, O_WRONLY | O_CREAT | O_EXCL);
  if (claim.get() < 0) {
    if (errno != EEXIST) {
      throw Error(path + ": can't create it: " + std::strerror(errno));
    }
    return false;
  }
  const std::string text =
      nlohmann::ordered_json{
          {"worker", process_name()}, {"process", posix::getpid()}, {"space", posix::process_space()}}
          .dump() +
      "\n";
  if (!write_all(claim.get(), text)) {
    const std::string reason = std::strerror(errno);
    posix::unlink(path.c_str());
    throw Error(path + ": can't write it: " + reason);
  }
  posix::Stat status{};
  posix::fstat(claim.get(), &status);
  const std::scoped_lock lock(mutex_);
  taken_ = {segment, status.st_dev, status.st_ino};
  return true;
}

/// The current time of the file system's clock.
double Claims::seconds_since_touched(int descriptor) {
  const FileDescriptor beacon = opened(folder_.beacon(process_name()), O_WRONLY | O_CREAT);
  posix::touch(beacon.get());  // the server's or the kernel's time, not this program's
  posix::Stat now{};
  posix::Stat then{};
  if (posix::fstat(beacon.get(), &now) != 0 || posix::fstat(descriptor, &then) != 0) {
    return 0;
  }
  return seconds_of(now.st_mtim) - seconds_of(then.st_mtim);
}

std::optional<Claims::Content> Claims::content_of(int descriptor) {
  std::array<char, kMostClaim> text{};
  const std::ptrdiff_t size = posix::pread(descriptor, text.data(), text.size(), 0);
  try {
    const JsonDocument document(
        std::string(text.data(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(size, 0))), "a claim");
    const JsonValue json = document.root();
    Content content{.worker = json.at("worker").text(),
                    .process = json.at("process").integer<int>(0),
                    .space = json.at("space").text()};
    constexpr std::size_t kLongestName = 128;  // leaves room for what files' names add
    const bool is_name = is_plain_name(content.worker) && content.worker.size() <= kLongestName;
    return is_name ? std::optional(std::move(content)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// `name`: the worker's, if it is known.
Claims::Holder Claims::holder_of(int segment, std::string& name) {
  const FileDescriptor claim =
      opened(folder_.claim(segment), O_RDONLY);  // which network file systems ask the server for
  if (claim.get() < 0) {
    return Holder::kNobody;
  }
  // A worker writes its name as soon as it has created the file, unless it is killed in between.
  constexpr double kSecondsToWriteAName = 5;
  double patience = std::min(patience_, kSecondsToWriteAName);
  if (const std::optional<Content> content = content_of(claim.get())) {
    patience = patience_;
    name = content->worker;
    const bool is_gone =
        content->process > 0 && content->space == posix::process_space() && posix::is_ended(content->process);
    if (is_gone) {
      return Holder::kDead;
    }
  }
  // A time in the future, as after the server's clock was set back, is no sign of life.
  return std::abs(seconds_since_touched(claim.get())) > patience ? Holder::kDead : Holder::kAlive;
}

bool Claims::take(int segment, bool from_anybody) {
  if (!create(segment)) {
    std::string name;
    const Holder holder = holder_of(segment, name);
    if (holder == Holder::kAlive && !from_anybody) {
      return false;
    }
    // Only one worker succeeds in renaming the claim. Others fail, or rename a new claim, and both do the
    // segment.
    const std::string path = folder_.claim(segment);
    const std::string taken = path + "." + process_name() + ".taken";
    const bool is_mine = posix::rename(path.c_str(), taken.c_str()) == 0;
    if (is_mine) {
      std::error_code ignored;
      std::filesystem::remove(taken, ignored);
      if (holder == Holder::kDead && !name.empty()) {  // what it had begun to write
        posix::unlink(folder_.data(number_text(segment) + "-" + name + ".tmp").c_str());
      }
    }
    return create(segment);
  }
  return true;
}

bool Claims::is_lost() {
  const std::scoped_lock lock(mutex_);
  if (!taken_) {
    return false;
  }
  const FileDescriptor claim = opened(folder_.claim(taken_->segment), O_RDONLY);
  if (claim.get() < 0) {
    return errno == ENOENT;
  }
  if (const std::optional<Content> content = content_of(claim.get())) {
    return content->worker != process_name();
  }
  // Unreadable, or of a worker that has not written its name yet.
  posix::Stat status{};
  return posix::fstat(claim.get(), &status) == 0 &&
         (status.st_dev != taken_->device || status.st_ino != taken_->inode);
}

void Claims::give_back() noexcept {
  try {
    const bool lost = is_lost();
    const std::scoped_lock lock(mutex_);
    if (const std::optional<Own> own = std::exchange(taken_, std::nullopt); own && !lost) {
      posix::unlink(folder_.claim(own->segment).c_str());
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): others take it over when it is old
  }
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarkText = "{\"limpid_resume\": 1}\n";
constexpr std::size_t kMostMark = std::size_t{1} << 12;
/// Subfolders, except "merged", which shows whether the output is complete and so is removed last.
constexpr std::array<std::string_view, 6> kParts{"segments", "done", "failed", "claims", "workers", "data"};

std::string mark_in(const std::string& folder) { return folder + "/resume.json"; }

/// Type bits of a file, 0 if it does not exist. Does not follow links.
posix::Mode type_of(const std::string& path) {
  posix::Stat status{};
  return posix::lstat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
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
      posix::unlink((fs::path(path) / name).string().c_str());
    }
  }
  posix::rmdir(path.c_str());
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
      posix::unlink((fs::path(folder) / name).string().c_str());
    }
  }
}

/// Removes the plan first: a folder without a plan is not a job.
void remove_all_but_merged(const std::string& folder) {
  posix::unlink((folder + "/plan.json").c_str());
  remove_half_written(folder);
  std::ranges::for_each(kParts, [&](std::string_view part) { remove_part(folder, part); });
}

/// Removes the mark, the lock, which it closes, and the folder itself. Returns false and sets errno on
/// failure.
bool remove_rest(const std::string& folder, FileDescriptor& lock) {
  remove_part(folder, "merged");
  remove_half_written(folder);
  posix::unlink(lock_in(folder).c_str());
  lock = FileDescriptor(-1);
  posix::unlink(mark_in(folder).c_str());
  return posix::rmdir(folder.c_str()) == 0 || errno == ENOENT;
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

}  // namespace

ResumableFolder::Kind ResumableFolder::kind_of(const std::string& path) {
  const posix::Mode type = type_of(path);
  if (type == 0) {
    return Kind::kNothing;
  }
  if (type != S_IFDIR) {
    return Kind::kForeign;
  }
  return has_mark(path)                                            ? Kind::kOwn
         : type_of(JobFolder(path).plan()) == posix::Mode{S_IFREG} ? Kind::kJob
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
  constexpr posix::Mode kPermissions = 0777;  // less what umask takes away
  if ((posix::mkdir(shell.c_str(), kPermissions) != 0 && errno != EEXIST) || type_of(shell) != S_IFDIR) {
    throw Error(shell + ": cannot create the folder: " + std::strerror(errno));
  }
  std::optional<FileDescriptor> lock;
  try {
    lock = lock_folder(shell, path);
  } catch (const Error&) {
    posix::rmdir(shell.c_str());  // another process may use it
    throw;
  }
  if (!lock) {
    return false;
  }
  try {
    remove_part(shell, "merged");
    write_job_file(mark_in(shell), std::string(kMarkText));
  } catch (const Error&) {
    remove_rest(shell, *lock);
    throw;
  }
  if (posix::kOpenFilesKeepFolders) {
    *lock = FileDescriptor(-1);
  }
  if (posix::rename_to_new(shell.c_str(), path.c_str())) {
    lock_ = *std::move(lock);
    return lock_.get() >= 0 || try_lock();
  }
  const int error = errno;
  remove_rest(shell, *lock);
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
  FileDescriptor lock(posix::open(lock_in(shell).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (lock.get() < 0 || posix::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    remove_rest(shell, lock);
  }
}

void ResumableFolder::clear() const {
  remove_all_but_merged(job_.path());
  remove_part(job_.path(), "merged");
}

/// Returns the folder that is left, which may have its other name; empty if none is left.
std::string ResumableFolder::try_remove() {
  std::string folder = job_.path();
  remove_all_but_merged(folder);
  const bool is_ours = std::ranges::all_of(names_in(folder), [](const std::string& name) {
    return name == "merged" || name == "lock" || name == "resume.json";
  });
  // One rename, so that no run sees a mark without the record in "merged".
  if (is_ours) {
    remove_shell(folder);
    if (const std::string shell = shell_of(folder); posix::rename_to_new(folder.c_str(), shell.c_str())) {
      folder = shell;
    }
  }
  return remove_rest(folder, lock_) ? "" : folder;
}

void ResumableFolder::remove() {
  const std::string folder = try_remove();
  if (folder.empty()) {
    return;
  }
  // File systems on a network may refuse to remove a file that is in use for a moment.
  remove_all_but_merged(folder);
  if (remove_rest(folder, lock_)) {
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
