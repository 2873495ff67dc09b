// SPDX-License-Identifier: MIT
#include "io/media/output_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system/posix.h"

namespace limpid::io {
namespace {

namespace fs = std::filesystem;

// Reserved for the end of a file. The index of an MP4 takes about 20 bytes for each frame and audio packet,
// so this suffices for half a day.
constexpr std::int64_t kLargestReserve = 16 << 20;
constexpr std::int64_t kLargestReserveShare = 4;
constexpr int kStreamBufferSize = 1 << 15;
constexpr std::chrono::milliseconds kPipePause{50};
/// For a reader that is busy when the interrupt arrives.
constexpr std::chrono::seconds kPatienceWithReader{5};

using Clock = std::chrono::steady_clock;

/// Clock::time_point::max() without an interrupt.
std::atomic<Clock::time_point> outputs_interrupted_at = Clock::time_point::max();

bool outputs_interrupted() { return outputs_interrupted_at.load() != Clock::time_point::max(); }

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::is_regular_file(a, ignored) && fs::equivalent(a, b, ignored);
}

/// Compares names only: the numbers of the input are unknown, and pictures that have not been read must not
/// be replaced either.
bool is_picture_of(const std::string& file, const std::string& sequence) {
  std::error_code ignored;
  if (!is_sequence(sequence) || fs::exists(sequence, ignored)) {
    return false;
  }
  const std::size_t folder_end = sequence.rfind('/', sequence.find('%')) + 1;  // 0 without a folder
  const std::string folder = folder_end == 0 ? "." : sequence.substr(0, folder_end);
  const std::string name = fs::relative(file, folder, ignored).string();  // with all links followed
  // These two names differ from the first digit to the last.
  const std::string zeros = picture_name(sequence.substr(folder_end), 0);
  const std::string nines = picture_name(sequence.substr(folder_end), 999'999'999);
  const auto begin = std::mismatch(zeros.begin(), zeros.end(), nines.begin(), nines.end()).first;
  const auto end = std::mismatch(zeros.rbegin(), zeros.rend(), nines.rbegin(), nines.rend()).first.base();
  const std::string prefix(zeros.begin(), begin);
  const std::string suffix(end, zeros.end());
  if (name.size() < zeros.size() || !name.starts_with(prefix) || !name.ends_with(suffix)) {
    return false;
  }
  return std::all_of(name.begin() + std::ssize(prefix), name.end() - std::ssize(suffix),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// All temporary files, of every thread.
class TemporaryFiles {
 public:
  static TemporaryFiles& instance() {
    static TemporaryFiles files;
    return files;
  }
  /// Calls `create`, which returns a negative number if it fails, and adds the file if it succeeds. A process
  /// that ends meanwhile waits, so that no new file is left behind.
  template <typename Create>
  int add(const std::string& path, const Create& create) {
    const std::scoped_lock lock(mutex_);
    const int result = create();
    if (result >= 0) {
      paths_.insert(path);
    }
    return result;
  }
  void remove(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    paths_.erase(path);
    remove_one(path);
  }
  [[noreturn]] void exit(int code) {
    const std::scoped_lock lock(mutex_);
    std::ranges::for_each(paths_, remove_one);
    std::_Exit(code);
  }

 private:
  static void remove_one(const std::string& path) {
    constexpr int kAttempts = 10;  // another thread may be adding a file to a folder
    std::error_code failure;
    for (int i = 0; posix::unlink(path.c_str()) != 0 && errno == EISDIR && i < kAttempts; ++i) {
      fs::remove_all(path, failure);
    }
  }

  std::mutex mutex_;
  std::set<std::string> paths_;
};

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kMarkLetters = 6;

std::string random_text() {
  std::random_device random;
  std::uniform_int_distribution<std::size_t> pick(0, kLetters.size() - 1);
  std::string text(kMarkLetters, ' ');
  for (char& letter : text) {
    letter = kLetters[pick(random)];
  }
  return text;
}

void check_errno(int code, const std::string& subject, const char* what) {
  check(code == 0 ? 0 : AVERROR(errno), subject, what);
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// The path with links resolved; the target need not exist.
std::string followed(const std::string& path) {
  fs::path linked(path);
  std::error_code ignored;
  constexpr int kMostLinks = 40;  // Linux's limit
  for (int links = 0; links < kMostLinks && fs::is_symlink(linked, ignored); ++links) {
    linked = linked.parent_path() / fs::read_symlink(linked, ignored);
  }
  return linked.string();
}

std::string temporary_path(const fs::path& target, const std::string& mark) {
  // File names are limited to 255 bytes; some muxers depend on the extension at the name's end.
  constexpr std::size_t kLongestName = 200;
  std::string name = target.filename().string();
  name = name.substr(name.size() - std::min(name.size(), kLongestName));
  return (target.parent_path() / (".limpid-" + mark + "-" + name)).string();
}

/// Makes a new name survive a power failure. Some file systems do not support it or do not need it.
void sync_folder(const std::string& folder) {
  const int descriptor = posix::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    static_cast<void>(posix::fsync(descriptor));
    posix::close(descriptor);
  }
}

}  // namespace

/// Callbacks for libav; newer versions pass the bytes as constants.
struct OutputFile::Callbacks {
  template <typename Byte>
  static int write(void* file, Byte* data, int size) {
    return static_cast<OutputFile*>(file)->write(data, size);
  }
  static std::int64_t seek(void* file, std::int64_t offset, int whence) {
    return static_cast<OutputFile*>(file)->seek(offset, whence);
  }
};

int TemporaryFile::create(const std::string& path, int flags, posix::Mode permissions,
                          std::optional<TemporaryFile>& file) {
  const int descriptor = TemporaryFiles::instance().add(
      path, [&] { return posix::open(path.c_str(), flags | O_CREAT | O_EXCL | O_CLOEXEC, permissions); });
  if (descriptor >= 0) {
    file.emplace(path);
  }
  return descriptor;
}

TemporaryFile::~TemporaryFile() { TemporaryFiles::instance().remove(path_); }

void exit_without_temporary_files(int code) { TemporaryFiles::instance().exit(code); }

TemporaryFolder::TemporaryFolder() {
  std::error_code failure;
  path_ = (fs::temp_directory_path(failure) / ("limpid-" + new_temporary_mark())).string();
  if (failure) {
    throw Error("the folder for temporary files does not exist; set TMPDIR to a folder");
  }
  constexpr posix::Mode kOwner = 0700;
  const int result =
      TemporaryFiles::instance().add(path_, [&] { return posix::mkdir(path_.c_str(), kOwner); });
  check_errno(result, path_, "can't create a temporary folder");
}

TemporaryFolder::~TemporaryFolder() { TemporaryFiles::instance().remove(path_); }

std::string new_temporary_mark() { return random_text(); }

bool is_temporary_mark(const std::string& text) {
  return text.size() == kMarkLetters && text.find_first_not_of(kLetters) == std::string::npos;
}

void remove_left_temporary(const std::string& url, const std::string& mark) {
  if (!is_temporary_mark(mark) || is_written_straight(url)) {
    return;
  }
  const std::string path = temporary_path(followed(local_name(url)), mark);
  const FileDescriptor left(posix::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  posix::Stat status{};
  const bool is_file = left.get() >= 0 && posix::fstat(left.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (is_file && (posix::flock(left.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)) {
    posix::unlink(path.c_str());
  }
}

void set_outputs_interrupted(bool interrupted) {
  outputs_interrupted_at = interrupted ? Clock::now() : Clock::time_point::max();
}

bool outputs_interrupted_for(std::chrono::milliseconds time) {
  return outputs_interrupted() && Clock::now() - outputs_interrupted_at.load() >= time;
}

std::string picture_name(const std::string& sequence, std::int64_t number) {
  std::array<char, 4096> name{};
  check(av_get_frame_filename2(name.data(), static_cast<int>(name.size()), sequence.c_str(),
                               static_cast<int>(number), 0),
        sequence, "is not a usable pattern of file names");
  return name.data();
}

std::string local_name(const std::string& url) {
  constexpr std::string_view kProtocol = "file:";
  std::error_code ignored;
  if (url == "pipe:" || url == "pipe:0" || url == "pipe:1") {
    return "-";
  }
  if (!url.starts_with(kProtocol) || url.size() == kProtocol.size() || fs::exists(url, ignored)) {
    return url;
  }
  std::string path = url.substr(kProtocol.size());
  for (const std::string_view host : {"//localhost/", "///"}) {
    if (path.starts_with(host)) {
      return path.substr(host.size() - 1);
    }
  }
  return path;
}

bool is_written_straight(const std::string& url) {
  std::error_code ignored;
  return url == "-" || has_protocol(url) || (fs::exists(url, ignored) && !fs::is_regular_file(url, ignored));
}

void require_other_file(const std::string& path, const std::string& source_url) {
  const std::string source = local_name(source_url);
  if (is_same_file(path, source)) {
    throw Error(path + ": is the input itself");
  }
  if (is_picture_of(path, source)) {
    throw Error(path + ": is a picture of the input; name another output");
  }
}

void require_writable_target(const std::string& path, Overwrite overwrite) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(path + ": is a directory, not a file");
  }
  if (overwrite == Overwrite::kNever && fs::is_regular_file(path, ignored)) {
    throw Error(path + ": exists; -y overwrites it");
  }
  if (fs::is_regular_file(path, ignored)) {
    const bool is_protected = posix::access(path.c_str(), W_OK) != 0;
    if (is_protected || posix::is_kept_by_folder(path.c_str(), folder_of(path).c_str())) {
      check(AVERROR(is_protected ? errno : EPERM), path, "can't overwrite it");
    }
  }
}

DiskReserve::DiskReserve(const std::string& folder) {
  bytes_ = static_cast<std::int64_t>(
      std::min<std::uint64_t>(kLargestReserve, posix::free_space(folder.c_str()) / kLargestReserveShare));
  descriptor_ = posix::make_nameless_file(folder);
  if (descriptor_ < 0) {
    return;
  }
  if (bytes_ == 0 || !posix::allocate(descriptor_, bytes_)) {
    release();
  }
}

bool DiskReserve::release() {
  const int descriptor = std::exchange(descriptor_, -1);
  bytes_ = 0;
  return descriptor >= 0 && posix::close(descriptor) == 0;
}

OutputFile::OutputFile(std::string url, const std::string& source_url, Overwrite overwrite,
                       const std::string& mark)
    : url_(std::move(url)), overwrite_(overwrite) {
  if (url_ == "-") {
    open_standard_output();
    return;
  }
  if (has_protocol(url_)) {
    open_straight(url_);
    return;
  }
  require_other_file(url_, source_url);
  require_writable_target(url_, overwrite_);
  std::error_code ignored;
  if (fs::is_fifo(url_, ignored)) {
    open_pipe();
  } else if (fs::exists(url_, ignored) && !fs::is_regular_file(url_, ignored)) {
    open_straight("file:" + url_);  // a device
  } else {
    create_temporary(mark);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) {
    avio_closep(&bytes_);
    return;
  }
  free_bytes();
  posix::close(descriptor_);
}

/// For `descriptor_`.
void OutputFile::make_bytes(bool seekable) {
  bytes_ = avio_alloc_context(make_io_buffer(kStreamBufferSize), kStreamBufferSize, 1, this, nullptr,
                              Callbacks::write, seekable ? Callbacks::seek : nullptr);
  if (bytes_ == nullptr) {
    throw Error("out of memory");
  }
}

void OutputFile::free_bytes() {
  if (bytes_ != nullptr) {
    av_freep(&bytes_->buffer);
    avio_context_free(&bytes_);
  }
}

/// A pipe without a reader blocks a plain open(), and a full one a plain write(), indefinitely.
void OutputFile::open_pipe() {
  while ((descriptor_ = posix::open(url_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
    if (errno != ENXIO && errno != EINTR) {
      check(AVERROR(errno), url_, "can't open it for writing");
    }
    if (outputs_interrupted()) {
      throw Error(url_ + ": interrupted before a program opened this pipe to read it");
    }
    std::this_thread::sleep_for(kPipePause);
  }
  make_bytes(false);
}

void OutputFile::open_standard_output() {
  descriptor_ = posix::reopen_standard_output();
  if (descriptor_ >= 0) {
    make_bytes(false);
  } else {
    open_straight("pipe:1");
  }
}

void OutputFile::open_straight(const std::string& url) {
  check(avio_open2(&bytes_, url.c_str(), AVIO_FLAG_WRITE, nullptr, nullptr), url_,
        "can't open it for writing");
}

void OutputFile::create_temporary(const std::string& mark) {
  target_ = followed(url_);
  const fs::path target(target_);
  if (target.filename().string().size() > NAME_MAX) {
    check(AVERROR(ENAMETOOLONG), url_, "can't create a file there");
  }
  std::error_code ignored;
  // Users without read access to the replaced file must not have access to this one in the meantime.
  const bool replaces = fs::exists(target, ignored);
  const posix::Mode permissions = replaces ? S_IRUSR | S_IWUSR : 0666;  // minus the umask
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    const std::string path = temporary_path(target, mark.empty() ? random_text() : mark);
    descriptor_ = TemporaryFile::create(path, O_RDWR, permissions, temporary_);
    if (descriptor_ >= 0) {
      // Protects the file from remove_left_temporary(), on file systems with locks.
      static_cast<void>(posix::flock(descriptor_, LOCK_EX | LOCK_NB));
    } else if (errno != EEXIST) {
      break;
    }
  }
  if (!temporary_) {
    const int failure = errno;
    if (const fs::path folder = target.parent_path();
        failure == ENOENT && !folder.empty() && !fs::exists(folder, ignored)) {
      throw Error(url_ + ": the folder " + folder.string() + " does not exist");
    }
    check(AVERROR(failure), url_, "can't create a file there");
  }
  make_bytes(true);
}

std::int64_t OutputFile::reserve_space() {
  if (!temporary_) {
    return 0;
  }
  std::int64_t bytes = reserve_.emplace(folder_of(target_)).bytes();
  // The process's limit of file sizes (`ulimit -f`) is treated in the same way.
  if (const std::int64_t most = posix::greatest_file_size(); most != INT64_MAX) {
    const std::int64_t reserve = std::min(kLargestReserve, most / kLargestReserveShare);
    full_from_ = most - reserve;
    bytes = bytes == 0 ? reserve : std::min(bytes, reserve);
  }
  return bytes;
}

int OutputFile::write(const std::uint8_t* data, int size) {
  if (full_from_ && full_because_ == 0 && posix::lseek(descriptor_, 0, SEEK_CUR) + size > *full_from_) {
    full_because_ = EFBIG;
  }
  for (int done = 0; done < size;) {
    const std::ptrdiff_t count =
        posix::write(descriptor_, data + done, static_cast<std::size_t>(size - done));
    if (count >= 0) {
      done += static_cast<int>(count);
    } else if (const int error = errno;
               (error == ENOSPC || error == EDQUOT) && reserve_ && reserve_->release()) {
      full_because_ = error;
    } else if (error == EAGAIN && !wait_for_reader()) {
      return AVERROR_EXIT;
    } else if (error != EINTR && error != EAGAIN) {
      return AVERROR(error);
    }
  }
  return size;
}

/// Waits until a full pipe has room. Returns false if an interrupt has arrived and the reader takes nothing.
bool OutputFile::wait_for_reader() const {
  const auto begin = std::chrono::steady_clock::now();
  while (!posix::wait_to_write(descriptor_, static_cast<int>(kPipePause.count()))) {
    if (outputs_interrupted() && std::chrono::steady_clock::now() - begin > kPatienceWithReader) {
      return false;
    }
  }
  return true;
}

std::int64_t OutputFile::seek(std::int64_t offset, int whence) const {
  if (whence == AVSEEK_SIZE) {
    posix::Stat status{};
    return posix::fstat(descriptor_, &status) == 0 ? status.st_size : AVERROR(errno);
  }
  const std::int64_t position = posix::lseek(descriptor_, offset, whence & ~AVSEEK_FORCE);
  return position >= 0 ? position : AVERROR(errno);
}

void OutputFile::close(bool synced) {
  if (descriptor_ < 0) {
    check(avio_closep(&bytes_), url_, "can't write");
    return;
  }
  avio_flush(bytes_);
  const int error = bytes_->error;
  free_bytes();
  check(error, url_, "can't write");
  if (temporary_) {
    complete_file(synced);
  }
  check_errno(posix::close(std::exchange(descriptor_, -1)), url_, "can't write");
  reserve_.reset();
}

/// Gives the temporary file the permissions of the file that it replaces, and syncs it to the disk.
void OutputFile::complete_file(bool synced) const {
  posix::Stat replaced{};
  if (posix::stat(target_.c_str(), &replaced) == 0) {
    check_errno(posix::take_over_permissions(descriptor_, replaced) ? 0 : -1, url_,
                "can't set its permissions");
  }
  // Some file systems do not support it; the others can report failed writes here.
  if (synced && posix::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) {
    check(AVERROR(errno), url_, "can't write");
  }
}

/// Renames the temporary file to the first free name of "NAME.mark.EXT", "NAME.mark-2.EXT" and so on.
std::string OutputFile::name_beside(const std::string& mark) {
  const fs::path target(target_);
  constexpr int kMostNames = 1000;
  for (int number = 1;; ++number) {
    const std::string end =
        "." + mark + (number > 1 ? "-" + std::to_string(number) : "") + target.extension().string();
    const std::string stem =
        target.stem().string().substr(0, NAME_MAX - std::min<std::size_t>(end.size(), NAME_MAX));
    std::string path = (target.parent_path() / (stem + end)).string();
    if (posix::rename_to_new(temporary_->path().c_str(), path.c_str())) {
      temporary_.reset();
      sync_folder(folder_of(path));
      return path;
    }
    if (errno != EEXIST || number == kMostNames) {
      check(AVERROR(errno), url_, "can't rename " + temporary_->path() + " to " + path);
    }
  }
}

void OutputFile::commit(bool synced, const std::function<void(const std::string&)>& when_whole) {
  close(synced);
  if (!temporary_) {
    return;
  }
  if (when_whole) {
    when_whole(temporary_->path());
  }
  const std::string folder = folder_of(target_);  // after the renaming, nothing may fail
  if (overwrite_ == Overwrite::kNever) {
    if (!posix::rename_to_new(temporary_->path().c_str(), target_.c_str())) {
      const std::string reason = error_text(AVERROR(errno));
      throw Error(url_ + ": the finished file can't be renamed to it and is called " + name_beside("new") +
                  " instead: " + reason);
    }
  } else if (posix::rename(temporary_->path().c_str(), target_.c_str()) != 0) {
    const std::string reason = error_text(AVERROR(errno));
    throw Error(url_ + ": can't be replaced by the finished file, which is called " + name_beside("new") +
                " instead: " + reason);
  }
  temporary_.reset();
  if (synced) {
    sync_folder(folder);
  }
}

std::string OutputFile::commit_partial() {
  close(true);
  return temporary_ ? name_beside("partial") : url_;
}

void sync_file_system(const std::string& folder) {
  const int descriptor =
      posix::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    const int code = posix::syncfs(descriptor);
    const int error = errno;
    posix::close(descriptor);
    check(code == 0 ? 0 : AVERROR(error), folder, "can't write");
  }
}

void write_text(const std::string& path, const std::string& text, Overwrite overwrite) {
  OutputFile file(path, "", overwrite);
  write_bytes(*file.bytes(), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  file.commit();
}

}  // namespace limpid::io
