// SPDX-License-Identifier: MIT
#pragma once

// The files of a sequence of pictures. Private to io.

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace limpid::io {

/// The files of numbered pictures ("img_%03d.png"). libav ends a sequence at a missing number, with an error
/// or without.
class PictureSequence {
 public:
  /// Finds the numbers of the files, from `least` on.
  explicit PictureSequence(std::string url, std::int64_t least = 0);

  std::int64_t count() const { return std::ssize(numbers_); }
  /// The lowest number; nothing if there is no file.
  std::optional<std::int64_t> first() const;
  /// Number of missing files between the first and the last one.
  std::int64_t missing() const;
  /// A sentence about the missing files; empty if there are none.
  std::string missing_text() const;
  /// A sentence if the file that follows the first `count` pictures is missing, but later ones exist; empty
  /// otherwise.
  std::string gap_after(std::int64_t count) const;

  /// The pattern for libav's demuxer with the option pattern_type=glob, which reads all files in the order of
  /// their numbers. Throws UsageError if it would read files before the first one.
  std::string glob() const;

 private:
  std::string url_;
  std::vector<std::int64_t> numbers_;  ///< in ascending order
  bool has_earlier_ = false;           ///< files with numbers below `least` exist
};

}  // namespace limpid::io
