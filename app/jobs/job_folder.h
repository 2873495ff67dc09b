#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace limpid::app {

/// The files of a job, see README.md.
class JobFolder {
 public:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string plan() const { return path_ + "/plan.json"; }
  std::string stretch(int number) const;
  std::string done(int number) const;
  std::string failed(int number) const;
  std::string claim(int number) const;
  std::string beacon(const std::string& worker) const { return path_ + "/workers/" + worker; }
  std::string data(const std::string& name) const { return path_ + "/data/" + name; }

  /// Makes the folders in it. Throws Error.
  void create() const;
  /// The stretches that have a file of that kind: "done", "failed" or "claims". Throws Error.
  std::set<int> numbers_in(const std::string& kind) const;

 private:
  std::string path_;
};

/// "00017", by which files are named.
std::string number_text(int number);

/// Names this process on this machine and no other: for names of files.
const std::string& worker_name();

/// Puts `text` in place of the file as a whole: another process, or the next after a power cut, sees all of
/// it or what was there before. Throws Error.
void write_durably(const std::string& path, const std::string& text);

/// Throws Error if the file can't be read or is no JSON.
nlohmann::ordered_json read_json(const std::string& path);

bool file_exists(const std::string& path);

/// 64 bits as 16 hexadecimal digits, and back. Throws Error for other text.
std::string to_hex(std::uint64_t number);
std::uint64_t from_hex(const std::string& text);

}  // namespace limpid::app
