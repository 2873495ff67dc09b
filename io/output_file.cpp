#include "io/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/writer.h"

namespace limpid::io {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::is_regular_file(a, ignored) && fs::equivalent(a, b, ignored);
}

/// By its name alone: which numbers the input has isn't known, and those that it has yet to read must not be
/// replaced either.
bool is_picture_of(const std::string& file, const std::string& sequence) {
  std::error_code ignored;
  if (!is_sequence(sequence) || fs::exists(sequence, ignored)) {
    return false;
  }
  const std::size_t folder_end = sequence.rfind('/', sequence.find('%')) + 1;  // 0 if there is no folder
  const std::string folder = folder_end == 0 ? "." : sequence.substr(0, folder_end);
  const std::string name = fs::relative(file, folder, ignored).string();  // with all links followed
  // The numbers of these two differ from the first digit to the last.
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

/// All that there are, of every thread.
class TemporaryFiles {
 public:
  static TemporaryFiles& instance() {
    static TemporaryFiles files;
    return files;
  }
  void add(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    paths_.insert(path);
  }
  void remove(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    paths_.erase(path);
    ::unlink(path.c_str());
  }
  void remove_all() {
    const std::scoped_lock lock(mutex_);
    for (const std::string& path : paths_) {
      ::unlink(path.c_str());
    }
    paths_.clear();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

std::string random_text() {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> pick(0, kLetters.size() - 1);
  std::string text(6, ' ');
  for (char& letter : text) {
    letter = kLetters[pick(random)];
  }
  return text;
}

}  // namespace

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)) {
  TemporaryFiles::instance().add(path_);
}

TemporaryFile::~TemporaryFile() { TemporaryFiles::instance().remove(path_); }

void remove_temporary_files() { TemporaryFiles::instance().remove_all(); }

std::string picture_name(const std::string& sequence, std::int64_t number) {
  std::array<char, 4096> name{};
  check(av_get_frame_filename2(name.data(), static_cast<int>(name.size()), sequence.c_str(),
                               static_cast<int>(number), 0),
        sequence, "can't make a file name of it");
  return name.data();
}

void require_other_file(const std::string& path, const std::string& source_url) {
  constexpr std::string_view kProtocol = "file:";
  const std::string source =
      source_url.starts_with(kProtocol) ? source_url.substr(kProtocol.size()) : source_url;
  if (is_same_file(path, source)) {
    throw Error(path + ": is the input itself");
  }
  if (is_picture_of(path, source)) {
    throw Error(path + ": is a picture of the input");
  }
}

void require_writable_target(const std::string& path, Overwrite overwrite) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(path + ": is a directory, not a file");
  }
  if (overwrite == Overwrite::kNever && fs::is_regular_file(path, ignored)) {
    throw Error(path + ": exists already and is not overwritten");
  }
}

OutputFile::OutputFile(std::string url, const std::string& source_url, Overwrite overwrite)
    : url_(std::move(url)), overwrite_(overwrite) {
  std::error_code ignored;
  std::string opened = url_;
  if (url_ == "-") {
    opened = "pipe:1";
  } else if (!has_protocol(url_)) {
    require_other_file(url_, source_url);
    require_writable_target(url_, overwrite_);
    const bool is_device = fs::exists(url_, ignored) && !fs::is_regular_file(url_, ignored);
    if (!is_device) {
      create_temporary();
    }
    opened = "file:" + (is_device ? url_ : temporary_->path());
  }
  AVIOContext* bytes = nullptr;
  const int code = avio_open2(&bytes, opened.c_str(), AVIO_FLAG_WRITE, nullptr, nullptr);
  bytes_.reset(bytes);
  check(code, url_, "can't open it for writing");
}

OutputFile::~OutputFile() = default;

void OutputFile::create_temporary() {
  std::error_code ignored;
  fs::path linked(url_);
  constexpr int kMostLinks = 40;  // as many as Linux follows
  for (int links = 0; links < kMostLinks && fs::is_symlink(linked, ignored); ++links) {
    linked = linked.parent_path() / fs::read_symlink(linked, ignored);
  }
  target_ = linked.string();
  const fs::path target(target_);
  // File names end at 255 bytes; the extension at the name's end is what some muxers look at.
  constexpr std::size_t kLongestName = 200;
  std::string name = target.filename().string();
  if (name.size() > NAME_MAX) {
    check(AVERROR(ENAMETOOLONG), url_, "can't create a file there");
  }
  name = name.substr(name.size() - std::min(name.size(), kLongestName));
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string path = (target.parent_path() / (".limpid-" + random_text() + "-" + name)).string();
    constexpr int kPermissions = 0666;  // less what umask takes away
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPermissions);
    if (descriptor >= 0) {
      ::close(descriptor);
      temporary_.emplace(path);
      return;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  check(AVERROR(errno), url_, "can't create a file there");
}

void OutputFile::commit() {
  AVIOContext* bytes = bytes_.release();
  check(avio_closep(&bytes), url_, "can't write");
  if (!temporary_) {
    return;
  }
  require_writable_target(target_, overwrite_);  // it may have come into being meanwhile
  if (::rename(temporary_->path().c_str(), target_.c_str()) != 0) {
    check(AVERROR(errno), url_, "can't rename the finished " + temporary_->path());
  }
  temporary_.reset();
}

}  // namespace limpid::io
