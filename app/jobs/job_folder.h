// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace limpid::app {

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

}  // namespace limpid::app
