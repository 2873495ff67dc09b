// SPDX-License-Identifier: MIT
#include "app/jobs/job_folder.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "app/console/durable_file.h"
#include "core/base/error.h"

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

}  // namespace

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= NAME_MAX && name.front() != '.' &&
         std::ranges::all_of(name, [](unsigned char letter) {
           return letter < 0x80 &&
                  (std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.');
         });
}

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
    ::rmdir((path_ + "/" + part).c_str());
  }
  if (itself) {
    ::rmdir(path_.c_str());
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
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

std::string to_hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::optional<std::uint64_t> from_hex(const std::string& text) {
  std::uint64_t number = 0;
  constexpr int kBase = 16;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, kBase);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace limpid::app
