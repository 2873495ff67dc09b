// SPDX-License-Identifier: MIT
#include "io/media/picture_sequence.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "io/media/output_file.h"

namespace limpid::io {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    result += std::string_view("*?[]{}\\").find(letter) == std::string_view::npos ? "" : "\\";
    result += letter;
  }
  return result;
}

/// A pattern with braces for numbers of `least` to ten digits. glob() expands one alternative after the
/// other, so that shorter numbers come first.
std::string number_glob(std::size_t least) {
  constexpr std::size_t kMostDigits = 10;
  std::string alternatives;
  for (std::size_t digits = std::max<std::size_t>(least, 1); digits <= kMostDigits; ++digits) {
    const bool may_begin_with_zero = digits <= least || digits == 1;
    alternatives += (alternatives.empty() ? "" : ",") + std::string(may_begin_with_zero ? "[0-9]" : "[1-9]");
    for (std::size_t i = 1; i < digits; ++i) {
      alternatives += "[0-9]";
    }
  }
  return "{" + alternatives + "}";
}

}  // namespace

PictureSequence::PictureSequence(std::string url, std::int64_t least) : url_(std::move(url)) {
  const std::filesystem::path path(url_);
  const std::string pattern = path.filename().string();
  const std::size_t prefix = pattern.find('%');
  std::error_code ignored;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= prefix || name.compare(0, prefix, pattern, 0, prefix) != 0) {
      continue;
    }
    const std::int64_t number = std::strtoll(name.c_str() + prefix, nullptr, 10);
    if (number >= 0 && number <= INT_MAX &&
        std::filesystem::path(picture_name(url_, number)).filename() == name) {
      number >= least ? numbers_.push_back(number) : static_cast<void>(has_earlier_ = true);
    }
  }
  std::ranges::sort(numbers_);
}

std::optional<std::int64_t> PictureSequence::first() const {
  return numbers_.empty() ? std::nullopt : std::optional(numbers_.front());
}

std::int64_t PictureSequence::missing() const {
  return numbers_.empty() ? 0 : numbers_.back() - numbers_.front() + 1 - std::ssize(numbers_);
}

std::string PictureSequence::missing_text() const {
  const std::int64_t count = missing();
  if (count == 0) {
    return "";
  }
  std::int64_t first = numbers_.front();
  for (const std::int64_t number : numbers_) {
    if (number != first) {
      break;
    }
    ++first;
  }
  const std::string name = picture_name(url_, first);
  return count == 1 ? "the picture " + name + " is missing"
                    : std::to_string(count) + " pictures are missing, first " + name;
}

std::string PictureSequence::gap_after(std::int64_t count) const {
  if (numbers_.empty()) {
    return "";
  }
  const std::int64_t next = numbers_.front() + count;
  const auto later = std::ranges::lower_bound(numbers_, next);
  if (later == numbers_.end() || *later == next) {
    return "";
  }
  return picture_name(url_, next) + " is missing; --skip-missing continues with " +
         picture_name(url_, *later);
}

std::string PictureSequence::glob() const {
  if (has_earlier_) {
    throw UsageError(url_ +
                     ": --skip-missing excludes the input option start_number, because files with lower "
                     "numbers exist");
  }
  const std::size_t begin = url_.find('%');
  const std::size_t end = url_.find('d', begin);
  if (begin == std::string::npos || end == std::string::npos || url_.find('%', end) != std::string::npos) {
    throw UsageError(url_ + ": --skip-missing requires a name with one number, such as img_%04d.png");
  }
  const std::size_t digits = std::strtoul(url_.c_str() + begin + 1, nullptr, 10);
  return escaped(std::string_view(url_).substr(0, begin)) + number_glob(digits) +
         escaped(std::string_view(url_).substr(end + 1));
}

}  // namespace limpid::io
