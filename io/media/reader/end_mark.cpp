// SPDX-License-Identifier: MIT
#include "io/media/reader/end_mark.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/media/input_format.h"

namespace limpid::io {
namespace {

/// The last bytes of a file, at most `count`. Restores the position.
std::string tail_of(AVIOContext& bytes, std::int64_t count) {
  const std::int64_t position = avio_tell(&bytes);
  const std::int64_t size = avio_size(&bytes);
  std::string tail(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, count)), '\0');
  avio_seek(&bytes, size - static_cast<std::int64_t>(tail.size()), SEEK_SET);
  const int read =
      avio_read(&bytes, reinterpret_cast<unsigned char*>(tail.data()), static_cast<int>(tail.size()));
  avio_seek(&bytes, position, SEEK_SET);
  tail.resize(static_cast<std::size_t>(std::max(read, 0)));
  return tail;
}

/// A trailer follows the empty block that ends a picture; some programs append a few bytes.
bool has_gif_trailer(AVIOContext& bytes) {
  using namespace std::string_view_literals;
  constexpr std::int64_t kNear = 64;
  return tail_of(bytes, kNear).find("\0;"sv) != std::string::npos;
}

/// The chunk that ends the file, with its empty content and its checksum.
bool has_png_end(AVIOContext& bytes) {
  constexpr std::int64_t kNear = 64;
  return tail_of(bytes, kNear).find("IEND") != std::string::npos;
}

/// The last page ends with the file, and is marked as the end of its stream (RFC 3533, section 6).
bool has_last_ogg_page(AVIOContext& bytes) {
  constexpr std::size_t kHeader = 27;
  constexpr std::int64_t kLargestPage = 65307;
  const std::string tail = tail_of(bytes, kLargestPage);
  const std::size_t page = tail.rfind("OggS");
  if (page == std::string::npos || page + kHeader > tail.size()) {
    return false;
  }
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(tail[page + at]); };
  constexpr std::size_t kFlags = 5;
  constexpr int kEndOfStream = 4;
  const std::size_t segments = byte(kHeader - 1);
  std::size_t size = kHeader + segments;
  for (std::size_t i = 0; i < segments && page + kHeader + i < tail.size(); ++i) {
    size += byte(kHeader + i);
  }
  return (byte(kFlags) & kEndOfStream) != 0 && page + size <= tail.size();
}

/// Packets of 188 bytes, or of 192 or 204 with additions, fill the file to its end.
bool ends_with_ts_packets(AVIOContext& bytes) {
  constexpr std::array<std::size_t, 3> kSizes{188, 192, 204};
  constexpr std::size_t kPackets = 5;
  const std::string tail = tail_of(bytes, kSizes.back() * kPackets);
  return std::ranges::any_of(kSizes, [&](std::size_t size) {
    const std::size_t sync = size == 192 ? 4 : 0;  // behind a time
    bool are_packets = tail.size() >= size;
    for (std::size_t from_end = size; from_end <= std::min(kPackets * size, tail.size()); from_end += size) {
      are_packets = are_packets && tail[tail.size() - from_end + sync] == 0x47;
    }
    return are_packets;
  });
}

}  // namespace

bool is_behind_gif_trailer(const AVFormatContext& input) {
  return traits_of(*input.iformat).end == InputTraits::End::kGif && input.pb != nullptr &&
         input.pb->buf_ptr - input.pb->buffer >= 2 && input.pb->buf_ptr[-1] == ';' &&
         input.pb->buf_ptr[-2] == 0;
}

std::string missing_end(AVFormatContext& input) {
  if (input.pb == nullptr || (input.pb->seekable & AVIO_SEEKABLE_NORMAL) == 0) {
    return "";
  }
  using End = InputTraits::End;
  const End end = traits_of(*input.iformat).end;
  const bool is_whole = end == End::kGif   ? has_gif_trailer(*input.pb)
                        : end == End::kPng ? has_png_end(*input.pb)
                        : end == End::kOgg ? has_last_ogg_page(*input.pb)
                        : end == End::kTs  ? ends_with_ts_packets(*input.pb)
                                           : true;
  if (!is_whole && end == End::kTs) {
    return "it does not end with a whole packet of a transport stream";
  }
  return is_whole
             ? ""
             : std::string("it ends without the mark that ends a file of the format ") + input.iformat->name;
}

}  // namespace limpid::io
