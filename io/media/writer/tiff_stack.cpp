// SPDX-License-Identifier: MIT
#include "io/media/writer/tiff_stack.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/error.h"

namespace limpid::io {
namespace {

/// A little-endian TIFF file whose offsets are moved.
class MovedTiff {
 public:
  MovedTiff(Bytes& file, std::uint32_t by) : file_(file), by_(by) {}

  std::uint32_t first_directory() const { return number(4, 4); }

  /// Moves all offsets of a directory, and returns the position of the link to the next one.
  std::size_t move(std::size_t directory, int depth = 0) {
    constexpr int kDeepest = 3;
    const std::uint32_t entries = number(directory, 2);
    for (std::uint32_t i = 0; i < entries && depth < kDeepest; ++i) {
      move_entry(directory + 2 + std::size_t{i} * 12, depth);
    }
    return directory + 2 + std::size_t{entries} * 12;
  }

  void put(std::size_t at, std::uint32_t value) {
    number(at, 4);  // checks the range
    for (std::size_t i = 0; i < 4; ++i) {
      file_[at + i] = static_cast<std::uint8_t>(value >> (8 * i) & 0xFF);
    }
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t size) const {
    if (at + size > file_.size()) {
      throw Error("its encoder writes damaged pages");
    }
    std::uint32_t value = 0;
    for (std::size_t i = size; i-- > 0;) {
      value = value << 8 | file_[at + i];
    }
    return value;
  }

  void move_entry(std::size_t entry, int depth) {
    constexpr std::array<std::uint8_t, 14> kSizes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    constexpr std::array kData{273, 324};                         // strips and tiles
    constexpr std::array kDirectories{330, 34665, 34853, 40965};  // SubIFDs, EXIF, GPS, interoperability
    const auto tag = static_cast<int>(number(entry, 2));
    const std::uint32_t type = number(entry + 2, 2);
    const std::uint32_t count = number(entry + 4, 4);
    const std::size_t bytes = type < kSizes.size() ? std::size_t{kSizes[type]} * count : 0;
    std::size_t values = entry + 8;
    if (bytes > 4) {
      values = number(entry + 8, 4);
      put(entry + 8, static_cast<std::uint32_t>(values) + by_);
    }
    const bool is_directory = std::ranges::find(kDirectories, tag) != kDirectories.end();
    if (!is_directory && std::ranges::find(kData, tag) == kData.end()) {
      return;
    }
    constexpr std::uint32_t kLong = 4;
    constexpr std::uint32_t kDirectory = 13;
    if (type != kLong && type != kDirectory) {
      throw Error("its encoder writes offsets of an unexpected type");
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t at = values + std::size_t{i} * 4;
      if (is_directory) {
        move(number(at, 4), depth + 1);
      }
      put(at, number(at, 4) + by_);
    }
  }

  Bytes& file_;
  std::uint32_t by_;
};

}  // namespace

void TiffStack::append(Bytes page, AVIOContext& target) {
  const std::int64_t begin = avio_tell(&target) + avio_tell(&target) % 2;
  if (begin + std::ssize(page) > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(url_ + ": a TIFF file is limited to 4 GiB; name a sequence such as picture_%04d.tif");
  }
  try {
    MovedTiff moved(page, static_cast<std::uint32_t>(begin));
    const std::uint32_t directory = moved.first_directory();
    const std::size_t link = moved.move(directory);
    if (link_ > 0) {
      avio_seek(&target, link_, SEEK_SET);
      avio_wl32(&target, directory + static_cast<std::uint32_t>(begin));
      avio_seek(&target, begin, SEEK_SET);
    }
    link_ = begin + static_cast<std::int64_t>(link);
  } catch (const Error& error) {
    throw Error(url_ + ": can't append a page: " + error.what());
  }
  write_bytes(target, page);
}

}  // namespace limpid::io
