// SPDX-License-Identifier: MIT
#include "io/media/container_header.h"

#include <array>
#include <bit>
#include <climits>

#include "io/media/input_format.h"

namespace limpid::io {
namespace {

std::uint64_t read_big_endian(AVIOContext& bytes, int length) {
  std::uint64_t value = 0;
  for (int i = 0; i < length; ++i) {
    value = value << 8 | static_cast<std::uint64_t>(avio_r8(&bytes));
  }
  return value;
}

/// RFC 8794: the number of leading zeros of the first byte is the number of bytes that follow. A size without
/// any zero after the marker is unknown: the element ends with its parent.
bool read_element(AVIOContext& bytes, std::uint32_t& name, std::uint64_t& size) {
  constexpr int kLongestName = 4;
  constexpr int kLongestSize = 8;
  const auto first = static_cast<std::uint8_t>(avio_r8(&bytes));
  const int more = std::countl_zero(first);
  if (more >= kLongestName) {
    return false;
  }
  name = static_cast<std::uint32_t>(std::uint64_t{first} << (8 * more) | read_big_endian(bytes, more));
  const auto marked = static_cast<std::uint8_t>(avio_r8(&bytes));
  const int rest = std::countl_zero(marked);
  if (rest >= kLongestSize) {
    return false;
  }
  const std::uint64_t all_ones = (std::uint64_t{1} << (7 * (rest + 1))) - 1;
  size = (std::uint64_t{marked} << (8 * rest) | read_big_endian(bytes, rest)) & all_ones;
  size = size == all_ones ? UINT64_MAX : size;
  return true;
}

/// ISO/IEC 14496-12, 4.2: the size includes the header; 0 lasts to the end, and 1 precedes a size of 64 bits.
bool read_box(AVIOContext& bytes, std::uint32_t& name, std::uint64_t& size) {
  size = avio_rb32(&bytes);
  name = avio_rb32(&bytes);
  std::uint64_t header = 8;
  if (size == 1) {
    size = avio_rb64(&bytes);
    header = 16;
  }
  if (size != 0 && size < header) {
    return false;
  }
  size = size == 0 ? UINT64_MAX : size - header;
  return true;
}

}  // namespace

bool ContainerHeader::read_part(std::int64_t at, std::int64_t limit, Part& part) {
  constexpr int kMostParts = 10'000;  // bounds the time
  if (++parts_ > kMostParts || !go_to(file_, at, 1)) {
    return false;
  }
  std::uint64_t size = 0;
  const auto& read = kind_ == Kind::kMatroska ? read_element : read_box;
  if (!read(bytes_, part.name, size) || avio_feof(&bytes_) != 0) {
    return false;
  }
  part.begin = avio_tell(&bytes_);
  const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(limit - part.begin, 0));
  part.end = part.begin + static_cast<std::int64_t>(std::min(size, room));
  part.is_whole = size <= room;
  return true;
}

Part ContainerHeader::find(const Part& parent, std::uint32_t name) {
  Part found;
  for_each(parent, [&](const Part& part) {
    found = part.name == name ? part : found;
    return part.name != name;
  });
  return found;
}

std::int64_t bytes_behind_boxes(AVFormatContext& input) {
  constexpr std::array kCutOff{name_of_box("mdat"), name_of_box("moov"), name_of_box("moof"),
                               name_of_box("free")};
  if (!is_mp4(*input.iformat) || input.pb == nullptr || (input.pb->seekable & AVIO_SEEKABLE_NORMAL) == 0) {
    return 0;
  }
  const std::int64_t position = avio_tell(input.pb);
  ContainerHeader header(*input.pb, ContainerHeader::Kind::kMp4);
  std::int64_t end = 0;
  header.for_each(header.file(), [&](const Part& box) {
    const bool is_box = box.is_whole || std::ranges::find(kCutOff, box.name) != kCutOff.end();
    end = is_box ? box.end : end;
    return is_box;
  });
  avio_seek(input.pb, position, SEEK_SET);
  return header.file().end - end;
}

bool ContainerHeader::go_to(const Part& part, std::int64_t offset, std::int64_t length) {
  const std::int64_t position = part.begin + offset;
  return offset >= 0 && position + length <= part.end && avio_seek(&bytes_, position, SEEK_SET) == position;
}

std::int64_t ContainerHeader::number(const Part& part) {
  constexpr std::int64_t kLongest = 8;
  const std::int64_t length = part.end - part.begin;
  if (length > kLongest || !go_to(part, 0, length)) {
    return 0;
  }
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(read_big_endian(bytes_, static_cast<int>(length)), INT_MAX));
}

}  // namespace limpid::io
