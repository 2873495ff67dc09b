// SPDX-License-Identifier: MIT
#include "io/media/writer/tiff_stack.h"

extern "C" {
#include <libavutil/intreadwrite.h>
}

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace limpid::io {

constexpr std::size_t kLinkToFirst = 4;
constexpr std::size_t kEntryBytes = 12;

void TiffStack::append(const Bytes& page, std::int64_t begin, std::int64_t number, AVIOContext& target) {
  if (begin + std::ssize(page) > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(url_ + ": a TIFF file is limited to 4 GiB; name a sequence such as picture_%04d.tif");
  }
  const std::int64_t directory = AV_RL32(page.data() + kLinkToFirst);
  const std::uint8_t* entry = page.data() + (directory - begin) + 2;
  const std::size_t entries = AV_RL16(entry - 2);
  pages_.push_back({number, directory, directory + 2 + static_cast<std::int64_t>(entries * kEntryBytes)});
  for (std::size_t i = 0; i < entries && begin == 0; ++i, entry += kEntryBytes) {
    constexpr int kDescription = 270;
    description_ = AV_RL16(entry) == kDescription ? entry - page.data() : description_;
  }
  avio_seek(&target, begin, SEEK_SET);
  write_bytes(target, page);
}

void TiffStack::finish(AVIOContext& target, bool keeps_description) {
  std::ranges::stable_sort(pages_, {}, &Page::number);
  std::int64_t link = kLinkToFirst;
  for (const Page& page : pages_) {
    avio_seek(&target, link, SEEK_SET);
    avio_wl32(&target, static_cast<std::uint32_t>(page.directory));
    link = page.link;
  }
  avio_seek(&target, link, SEEK_SET);
  avio_wl32(&target, 0);
  if (!keeps_description && description_ > 0) {
    constexpr std::int64_t kToCount = 4;
    avio_seek(&target, description_ + kToCount, SEEK_SET);
    avio_wl32(&target, 1);
    avio_wl32(&target, 0);  // an empty text
  }
}

}  // namespace limpid::io
