#include "io/media/tiff_layout.h"

#include <cstddef>
#include <optional>
#include <set>

namespace limpid::io {
namespace {

constexpr unsigned kNewSubfileType = 254;
constexpr unsigned kTileWidth = 322;
constexpr unsigned kSampleFormat = 339;

/// Reads numbers of a file in its byte order; 0 beyond its end.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> file) : file_(file), is_big_(file[0] == 'M') {}

  unsigned read(std::size_t offset, int bytes) const {
    unsigned value = 0;
    for (int i = 0; i < bytes; ++i) {
      const std::size_t at = offset + static_cast<std::size_t>(is_big_ ? i : bytes - 1 - i);
      value = value << 8 | (at < file_.size() ? file_[at] : 0U);
    }
    return value;
  }

  /// The value of a directory's field that is stored in it; nothing if there is no such field. Of several
  /// values it is the first, where they fit.
  std::optional<unsigned> field(std::size_t directory, unsigned tag) const {
    constexpr unsigned kLong = 4;
    for (unsigned i = 0; i < read(directory, 2); ++i) {
      const std::size_t entry = directory + 2 + std::size_t{12} * i;
      if (read(entry, 2) == tag) {
        const int bytes = read(entry + 2, 2) == kLong ? 4 : 2;
        const bool fits = read(entry + 4, 4) * static_cast<unsigned>(bytes) <= 4;
        return read(fits ? entry + 8 : read(entry + 8, 4), bytes);
      }
    }
    return std::nullopt;
  }

  std::size_t next(std::size_t directory) const {
    return read(directory + 2 + std::size_t{12} * read(directory, 2), 4);
  }

 private:
  std::span<const std::uint8_t> file_;
  bool is_big_;
};

/// Pages, without the smaller copies of them that cameras and programs add.
int count_pages(const Numbers& numbers, std::size_t first) {
  std::set<std::size_t> seen;
  int pages = 0;
  for (std::size_t directory = first; directory != 0 && seen.insert(directory).second;
       directory = numbers.next(directory)) {
    const bool is_reduced_or_mask = (numbers.field(directory, kNewSubfileType).value_or(0) & 5U) != 0;
    pages += is_reduced_or_mask ? 0 : 1;
  }
  return pages;
}

}  // namespace

std::string why_tiff_is_unreadable(std::span<const std::uint8_t> file) {
  constexpr std::size_t kHeader = 8;
  constexpr unsigned kBigTiff = 43;
  constexpr unsigned kFloat = 3;
  if (file.size() < kHeader) {
    return "";
  }
  const Numbers numbers(file);
  if (numbers.read(2, 2) == kBigTiff) {
    return "it is a BigTIFF file, which is not supported; convert it with 'tiffcp -4'";
  }
  const std::size_t first = numbers.read(4, 4);
  if (numbers.field(first, kTileWidth)) {
    return "it is stored in tiles, which is not supported; convert it with 'tiffcp -s'";
  }
  if (numbers.field(first, kSampleFormat) == kFloat) {
    return "its samples are floating-point numbers, which are not supported in TIFF; convert it to PFM or "
           "EXR";
  }
  const int pages = count_pages(numbers, first);
  return pages > 1
             ? "it has " + std::to_string(pages) +
                   " pages, of which only the first can be read; split it with 'tiffsplit' and name the "
                   "sequence"
             : "";
}

}  // namespace limpid::io
