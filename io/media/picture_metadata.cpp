// SPDX-License-Identifier: MIT
#include "io/media/picture_metadata.h"

extern "C" {
#include <libavutil/adler32.h>
#include <libavutil/buffer.h>
#include <libavutil/crc.h>
}

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/error.h"

namespace limpid::io {
namespace {

constexpr std::string_view kExifMark{"Exif\0\0", 6};
constexpr std::string_view kProfileMark{"ICC_PROFILE\0", 12};
constexpr std::string_view kXmpMark{"http://ns.adobe.com/xap/1.0/\0", 29};
constexpr std::string_view kMoreXmpMark{"http://ns.adobe.com/xmp/extension/\0", 35};
constexpr std::string_view kPhotoshopMark{"Photoshop 3.0\0", 14};
constexpr std::string_view kXmpKeyword{"XML:com.adobe.xmp"};  // keyword of a PNG's text chunk
constexpr const char* kIptcText = "IPTC data (caption, credit, keywords)";

// Tags of TIFF's and EXIF's directories.
constexpr std::uint16_t kImageWidth = 0x0100;
constexpr std::uint16_t kImageLength = 0x0101;
constexpr std::uint16_t kDescription = 0x010E;
constexpr std::uint16_t kStripOffsets = 0x0111;
constexpr std::uint16_t kOrientation = 0x0112;
constexpr std::uint16_t kTileOffsets = 0x0144;
constexpr std::uint16_t kThumbnailOffset = 0x0201;
constexpr std::uint16_t kThumbnailLength = 0x0202;
constexpr std::uint16_t kExifDirectory = 0x8769;
constexpr std::uint16_t kGpsDirectory = 0x8825;
constexpr std::uint16_t kInteroperability = 0xA005;
constexpr std::uint16_t kProfile = 0x8773;
constexpr std::uint16_t kXmp = 0x02BC;
constexpr std::uint16_t kIptc = 0x83BB;
constexpr std::uint16_t kPhotoshop = 0x8649;
constexpr std::uint16_t kMakerNote = 0x927C;
constexpr std::uint16_t kPixelXDimension = 0xA002;
constexpr std::uint16_t kPixelYDimension = 0xA003;

enum Type : std::uint16_t { kByte = 1, kShort = 3, kLong = 4, kUndefined = 7 };

/// Bytes of one number and of one value, which may have two numbers; 0 for unknown types.
struct TypeSize {
  std::size_t number, value;
};
TypeSize size_of(std::uint16_t type) {
  constexpr std::array<TypeSize, 14> kSizes{{{0, 0},
                                             {1, 1},
                                             {1, 1},
                                             {2, 2},
                                             {4, 4},
                                             {4, 8},
                                             {1, 1},
                                             {1, 1},
                                             {2, 2},
                                             {4, 4},
                                             {4, 8},
                                             {4, 4},
                                             {8, 8},
                                             {4, 4}}};
  return type < kSizes.size() ? kSizes[type] : TypeSize{0, 0};
}

/// Tags of GeoTIFF and GDAL: the place of the pixels on the earth, and the value of missing ones.
bool is_of_map(std::uint16_t tag) {
  constexpr std::array<std::uint16_t, 8> kTags{33550, 33922, 34264, 34735, 34736, 34737, 42112, 42113};
  return std::ranges::find(kTags, tag) != kTags.end();
}

/// True for tags of a directory that describe the content and not its storage: text, device, time, rights,
/// resolution, rating, place.
bool is_descriptive(std::uint16_t tag) {
  constexpr std::array<std::uint16_t, 21> kTags{
      kOrientation, kExifDirectory, kGpsDirectory, kDescription, 0x010F, 0x0110, 0x011A,
      0x011B,       0x0128,         0x0131,        0x0132,       0x013B, 0x013C, 0x4746,
      0x4749,       0x8298,         0x9C9B,        0x9C9C,       0x9C9D, 0x9C9E, 0x9C9F};
  return std::ranges::find(kTags, tag) != kTags.end() || is_of_map(tag);
}

/// True for private tags that are neither kept nor describe the storage of the samples.
bool is_lost(std::uint16_t tag) {
  constexpr std::array<std::uint16_t, 7> kKnown{kProfile, kIptc, kPhotoshop, 32995, 32996, 32997, 32998};
  constexpr std::uint16_t kFirstPrivate = 32768;
  return tag >= kFirstPrivate && !is_descriptive(tag) && std::ranges::find(kKnown, tag) == kKnown.end();
}

bool starts_with(BytesView bytes, std::string_view text) {
  const auto is_same = [](char letter, std::uint8_t byte) {
    return static_cast<std::uint8_t>(letter) == byte;
  };
  return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin(), is_same);
}

/// A part of `bytes`, limited to their end.
BytesView part_of(BytesView bytes, std::size_t offset, std::size_t size) {
  const std::size_t begin = std::min(offset, bytes.size());
  return bytes.subspan(begin, std::min(size, bytes.size() - begin));
}

bool has_text(BytesView bytes, std::string_view text) {
  const auto is_equal = [](std::uint8_t byte, char letter) {
    return byte == static_cast<std::uint8_t>(letter);
  };
  return std::search(bytes.begin(), bytes.end(), text.begin(), text.end(), is_equal) != bytes.end();
}

void append(Bytes& to, BytesView from) { to.insert(to.end(), from.begin(), from.end()); }
void append(Bytes& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }

template <int kBytes>
void append_big_endian(Bytes& to, std::uint64_t value) {
  for (int shift = 8 * (kBytes - 1); shift >= 0; shift -= 8) {
    to.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}
template <int kBytes>
void append_little_endian(Bytes& to, std::uint64_t value) {
  for (int shift = 0; shift < 8 * kBytes; shift += 8) {
    to.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

std::uint32_t big_endian(BytesView bytes) {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes) {
    value = value << 8 | byte;
  }
  return value;
}
std::uint32_t little_endian(BytesView bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | bytes[i - 1];
  }
  return value;
}

/// A file or block in TIFF format. Offsets are not trusted: bytes beyond the end read as zeros.
class Tiff {
 public:
  struct Field {
    std::uint16_t tag;
    std::uint16_t type;
    std::uint32_t count;
    std::size_t offset;  ///< of the values
    std::size_t size;    ///< bytes of all values
  };
  static constexpr std::size_t kEntrySize = 12;

  /// Nothing if it is not TIFF.
  static std::optional<Tiff> open(BytesView bytes) {
    if (starts_with(bytes, std::string_view("II*\0", 4))) {
      return Tiff(bytes, false);
    }
    return starts_with(bytes, std::string_view("MM\0*", 4)) ? std::optional(Tiff(bytes, true)) : std::nullopt;
  }

  bool is_big_endian() const { return big_endian_; }
  std::size_t size() const { return bytes_.size(); }
  std::uint32_t number(std::size_t offset, std::size_t size) const {
    const BytesView bytes = part_of(bytes_, offset, size);
    return bytes.size() < size ? 0 : big_endian_ ? big_endian(bytes) : little_endian(bytes);
  }
  std::size_t first_directory() const { return number(4, 4); }
  std::size_t next_pointer(std::size_t directory) const {
    return directory + 2 + kEntrySize * number(directory, 2);
  }
  std::size_t next_directory(std::size_t directory) const { return number(next_pointer(directory), 4); }

  /// Bytes of the entries of a directory, limited to the end.
  std::size_t size_of_entries(std::size_t directory) const {
    const std::size_t count = directory == 0 ? 0 : number(directory, 2);
    return part_of(bytes_, directory + 2, kEntrySize * count).size();
  }

  std::vector<Field> fields(std::size_t directory) const {
    std::vector<Field> result;
    const std::size_t end = directory + 2 + size_of_entries(directory);
    for (std::size_t entry = directory + 2; entry + kEntrySize <= end; entry += kEntrySize) {
      Field field{static_cast<std::uint16_t>(number(entry, 2)),
                  static_cast<std::uint16_t>(number(entry + 2, 2)), number(entry + 4, 4), entry + 8, 0};
      field.size = size_of(field.type).value * field.count;
      if (field.size > 4) {
        field.offset = number(entry + 8, 4);
      }
      if (field.size > 0 && field.offset <= bytes_.size() && field.size <= bytes_.size() - field.offset) {
        result.push_back(field);
      }
    }
    return result;
  }
  std::optional<Field> find(std::size_t directory, std::uint16_t tag) const {
    for (const Field& field : fields(directory)) {
      if (field.tag == tag) {
        return field;
      }
    }
    return std::nullopt;
  }
  /// The first number of a field; 0 without a field.
  std::uint32_t number(const std::optional<Field>& field) const {
    return field ? number(field->offset, std::min<std::size_t>(size_of(field->type).number, 4)) : 0;
  }
  std::size_t directory(std::size_t parent, std::uint16_t tag) const { return number(find(parent, tag)); }

  /// The values in little-endian order.
  Bytes values(const Field& field) const {
    const BytesView bytes = part_of(bytes_, field.offset, field.size);
    Bytes result(bytes.begin(), bytes.end());
    const auto step = static_cast<std::ptrdiff_t>(size_of(field.type).number);
    for (auto at = result.begin(); big_endian_ && result.end() - at >= step; at += step) {
      std::reverse(at, at + step);
    }
    return result;
  }

 private:
  Tiff(BytesView bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  BytesView bytes_;
  bool big_endian_;
};

/// A tag with its values in little-endian order, or with its subdirectory.
struct Entry {
  std::uint16_t tag = 0;
  std::uint16_t type = kLong;
  std::uint32_t count = 1;
  Bytes values;
  std::vector<Entry> directory;
};

/// Reads the tags of directories that can be moved to another file. Maker notes cannot be moved: the
/// meaning of their offsets is not published.
class EntryReader {
 public:
  explicit EntryReader(const Tiff& tiff) : tiff_(tiff), room_(tiff.size()) {}

  /// The tags of a directory and its subdirectories. Nothing if it has been read before.
  std::vector<Entry> read(std::size_t directory, bool descriptive_only, int depth = 0) {
    std::vector<Entry> entries;
    if (!visited_.insert(directory).second || !take(tiff_.size_of_entries(directory))) {
      return entries;
    }
    for (const Tiff::Field& field : tiff_.fields(directory)) {
      if (field.tag == kMakerNote || (descriptive_only && !is_descriptive(field.tag))) {
        continue;
      }
      Entry entry{.tag = field.tag, .type = field.type, .count = field.count, .values = {}, .directory = {}};
      if (field.tag == kExifDirectory || field.tag == kGpsDirectory || field.tag == kInteroperability) {
        constexpr int kDeepest = 3;
        if (depth < kDeepest) {
          entry.directory = read(tiff_.number(field), false, depth + 1);
        }
        if (entry.directory.empty()) {
          continue;
        }
      } else if (take(field.size > 4 ? field.size : 0)) {  // short values are in the entry
        entry.values = tiff_.values(field);
      } else {
        break;
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  bool take(std::size_t size) {
    if (size > room_) {
      return false;
    }
    room_ -= size;
    return true;
  }

  const Tiff& tiff_;
  /// Bytes that may still be read. Entries and values of a valid file do not overlap, so their sum is at most
  /// the file's size. This bounds the time for overlapping directories.
  std::size_t room_;
  std::set<std::size_t> visited_;
};

std::vector<Entry> read_descriptive_entries(const Tiff& tiff) {
  return EntryReader(tiff).read(tiff.first_directory(), true);
}

void put_little_endian(Bytes& bytes, std::size_t offset, std::size_t size, std::uint32_t value) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

/// Appends a directory with its subdirectories and returns its offset, to which the position `base` of `to`
/// in its file is added. Only the first entry of a tag is used.
std::size_t append_directory(Bytes& to, std::vector<Entry> entries, std::size_t base = 0) {
  std::ranges::stable_sort(entries, {}, &Entry::tag);
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const Entry& a, const Entry& b) { return a.tag == b.tag; }),
                entries.end());
  const auto even = [&] { to.resize(to.size() + to.size() % 2); };
  even();
  const std::size_t begin = to.size();
  to.resize(begin + 2 + Tiff::kEntrySize * entries.size() + 4);
  put_little_endian(to, begin, 2, static_cast<std::uint32_t>(entries.size()));
  std::size_t at = begin + 2;
  for (Entry& entry : entries) {
    const bool leads_on = !entry.directory.empty();
    put_little_endian(to, at, 2, entry.tag);
    put_little_endian(to, at + 2, 2, leads_on ? std::uint16_t{kLong} : entry.type);
    put_little_endian(to, at + 4, 4, leads_on ? 1 : entry.count);
    if (leads_on) {
      const std::size_t offset = append_directory(to, std::move(entry.directory), base);
      put_little_endian(to, at + 8, 4, static_cast<std::uint32_t>(offset));
    } else if (entry.values.size() <= 4) {
      std::copy(entry.values.begin(), entry.values.end(), to.begin() + static_cast<std::ptrdiff_t>(at + 8));
    } else {
      even();
      put_little_endian(to, at + 8, 4, static_cast<std::uint32_t>(base + to.size()));
      append(to, BytesView(entry.values));
    }
    at += Tiff::kEntrySize;
  }
  return base + begin;
}

/// A block in TIFF format; empty without entries.
Bytes block_of(std::vector<Entry> entries) {
  Bytes block;
  if (!entries.empty()) {
    block = {'I', 'I', '*', 0, 8, 0, 0, 0};
    append_directory(block, std::move(entries));
  }
  return block;
}

/// Calls `visit` with the marker, the content and the offset of the next segment, for each segment of a JPEG,
/// until it returns true. Returns the offset of the end of the picture if it has visited all.
template <typename Visit>
std::size_t visit_segments(BytesView jpeg, Visit visit) {
  constexpr std::uint8_t kMark = 0xFF;
  constexpr std::uint8_t kScan = 0xDA;
  constexpr std::uint8_t kEnd = 0xD9;
  const auto is_data = [](std::uint8_t next) { return next == 0 || (next >= 0xD0 && next < 0xD8); };
  for (std::size_t at = 2; at + 2 <= jpeg.size() && jpeg[at] == kMark;) {
    const std::uint8_t kind = jpeg[at + 1];
    const std::size_t size = big_endian(part_of(jpeg, at + 2, 2));
    if (kind == kMark) {
      ++at;  // padding
      continue;
    }
    if (kind == kEnd) {
      return at + 2;
    }
    if (size < 2 || visit(kind, part_of(jpeg, at + 4, size - 2), at + 2 + size)) {
      break;
    }
    at += 2 + size;
    while (kind == kScan && at + 1 < jpeg.size() && (jpeg[at] != kMark || is_data(jpeg[at + 1]))) {
      ++at;
    }
  }
  return jpeg.size();
}

constexpr std::uint8_t kApp0 = 0xE0;
constexpr std::uint8_t kApp1 = 0xE1;
constexpr std::uint8_t kApp2 = 0xE2;
constexpr std::uint8_t kApp13 = 0xED;
constexpr std::size_t kLongestSegment = 65533;  // excluding its length field

/// Content of the first segment of this kind, after its identifier; empty if there is none.
BytesView find_segment(BytesView jpeg, std::uint8_t marker, std::string_view mark) {
  BytesView found;
  visit_segments(jpeg, [&](std::uint8_t kind, BytesView content, std::size_t) {
    const bool is_it = kind == marker && starts_with(content, mark);
    found = is_it ? content.subspan(mark.size()) : found;
    return is_it;
  });
  return found;
}

/// Calls `visit` with the name and content of each chunk of a PNG or of a RIFF file such as WebP, until it
/// returns true.
template <typename Visit>
void visit_chunks(BytesView file, bool riff, Visit visit) {
  const std::size_t begin = riff ? 12 : 8;
  const std::size_t around = riff ? 8 : 12;  // name and length; in PNG also the checksum
  for (std::size_t at = begin; at + around <= file.size();) {
    const BytesView head = file.subspan(at, 8);
    const std::size_t size = riff ? little_endian(head.subspan(4)) : big_endian(head.first(4));
    if (visit(riff ? head.first(4) : head.subspan(4), part_of(file, at + 8, size))) {
      return;
    }
    at += around + size + (riff ? size % 2 : 0);
  }
}

/// Content of the first chunk of this name; empty if there is none.
BytesView find_chunk(BytesView file, std::string_view name, bool riff) {
  BytesView found;
  visit_chunks(file, riff, [&](BytesView is_named, BytesView content) {
    const bool is_it = starts_with(is_named, name);
    found = is_it ? content : found;
    return is_it;
  });
  return found;
}

/// The bytes before the next zero, which are removed from `bytes` with the zero.
BytesView take_text(BytesView& bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::uint8_t{0});
  const BytesView text = bytes.first(static_cast<std::size_t>(end - bytes.begin()));
  bytes = part_of(bytes, text.size() + 1, bytes.size());
  return text;
}

/// XMP in a PNG's international text; empty if it is another text, or compressed, which the XMP standard
/// forbids.
BytesView xmp_in_text(BytesView content) {
  const BytesView keyword = take_text(content);
  if (keyword.size() != kXmpKeyword.size() || !starts_with(keyword, kXmpKeyword) || content.size() < 2 ||
      content[0] != 0) {
    return {};
  }
  content = content.subspan(2);  // compression flag and method
  take_text(content);            // its language
  take_text(content);            // translated keyword
  return content;
}

BytesView find_png_xmp(BytesView png) {
  BytesView found;
  visit_chunks(png, false, [&](BytesView name, BytesView content) {
    found = starts_with(name, "iTXt") ? xmp_in_text(content) : BytesView();
    return !found.empty();
  });
  return found;
}

void append_png_chunk(Bytes& to, BytesView name, BytesView content) {
  append_big_endian<4>(to, content.size());
  const std::size_t begin = to.size();
  append(to, name);
  append(to, content);
  const std::uint32_t crc =
      av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), 0xFFFFFFFFU, to.data() + begin, to.size() - begin);
  append_big_endian<4>(to, ~crc);
}

/// Keywords in a list that names the first few.
class KeywordList {
 public:
  void add(std::string keyword) {
    std::ranges::replace_if(
        keyword, [](char letter) { return letter < ' ' || letter > '~'; }, '?');  // Latin-1
    constexpr std::size_t kMost = 5;
    if (count_ <= kMost && names_.insert(keyword).second) {
      list_ += (list_.empty() ? "" : ", ") + (count_ == kMost ? "..." : keyword);
      ++count_;
    }
  }
  /// "text (a, b)"; empty without keywords.
  std::string in(const std::string& kind) const { return list_.empty() ? "" : kind + " (" + list_ + ")"; }

 private:
  std::set<std::string> names_;
  std::string list_;
  std::size_t count_ = 0;
};

std::string text_of(BytesView bytes) { return {bytes.begin(), bytes.end()}; }

/// True if a list of words between spaces has the word.
bool is_in(std::string_view list, const std::string& word) {
  return list.find(" " + word + " ") != std::string_view::npos;
}

/// Chunks of a PNG that another PNG keeps, and all others that are not reported as lost.
constexpr std::string_view kColorChunks = " gAMA cHRM mDCV mDCv cLLI cLLi cICP sRGB sBIT pHYs ";
constexpr std::string_view kOtherChunks =
    " IHDR PLTE IDAT IEND tRNS eXIf iCCP acTL fcTL fdAT tIME bKGD hIST sPLT ";

/// Texts of a PNG other than XMP, and its chunks about colors. Texts with other metadata, such as an EXIF
/// block, would contradict the new picture and are not kept. Pictures of other formats lose the chunks about
/// colors that the frame's tags, of sRGB or cICP, do not replace.
void find_others_of_png(BytesView png, PictureMetadata& metadata) {
  constexpr std::size_t kLongest = 79;
  constexpr std::uint32_t kGammaOfSrgb = 45455;
  KeywordList kept;
  KeywordList lost;
  KeywordList colors;
  KeywordList unknown;
  Bytes texts;
  Bytes chunks;
  const BytesView tags = find_chunk(png, "cICP", false);
  const bool has_tags = !tags.empty() || !find_chunk(png, "sRGB", false).empty();
  metadata.color_tags.assign(tags.begin(), tags.end());
  visit_chunks(png, false, [&](BytesView head, BytesView content) {
    const std::string name = text_of(head.first(4));
    if (name == "tEXt" || name == "zTXt" || name == "iTXt") {
      BytesView rest = part_of(content, 0, kLongest);
      const std::string keyword = text_of(take_text(rest));
      if (!xmp_in_text(content).empty()) {
        return false;
      }
      if (keyword.starts_with("Raw profile type") || keyword.starts_with(kXmpKeyword)) {
        lost.add(keyword);
      } else {
        kept.add(keyword);
        append_png_chunk(texts, head.first(4), content);
      }
    } else if (is_in(kColorChunks, name)) {
      append_png_chunk(chunks, head.first(4), content);
      const bool is_replaced = has_tags || (name == "gAMA" && big_endian(content) == kGammaOfSrgb);
      if (name.starts_with("mDC") || name.starts_with("cLL") ||
          ((name == "gAMA" || name == "cHRM") && !is_replaced)) {
        colors.add(name);
      }
    } else if (!is_in(kOtherChunks, name)) {
      unknown.add(name);
    }
    return name == "IEND";
  });
  metadata.others = {{kept.in("text"), AV_CODEC_ID_PNG, std::move(texts)},
                     {lost.in("text")},
                     {colors.in("color data"), AV_CODEC_ID_PNG, std::move(chunks), true},
                     {unknown.in("PNG data")}};
}

constexpr std::uint32_t kIptcNumber = 0x0404;

/// Calls `visit` with the number, the content and all bytes of each of Photoshop's resources. Each is "8BIM",
/// a number, a name, a length and the content; name and content are padded to even sizes.
template <typename Visit>
void visit_resources(BytesView resources, Visit visit) {
  for (std::size_t at = 0; at + 12 <= resources.size() && starts_with(resources.subspan(at), "8BIM");) {
    const std::size_t name = std::size_t{resources[at + 6]} + 1;
    const std::size_t length = at + 6 + name + name % 2;
    const std::size_t size = big_endian(part_of(resources, length, 4));
    const std::size_t next = length + 4 + size + size % 2;
    visit(big_endian(resources.subspan(at + 4, 2)), part_of(resources, length + 4, size),
          part_of(resources, at, next - at));
    at = next;
  }
}

bool has_iptc(BytesView resources) {
  bool found = false;
  visit_resources(resources, [&](std::uint32_t number, BytesView content, BytesView) {
    found = found || (number == kIptcNumber && !content.empty());
  });
  return found;
}

void append_segment(Bytes& to, std::uint8_t kind, std::string_view mark, BytesView content) {
  to.push_back(0xFF);
  to.push_back(kind);
  append_big_endian<2>(to, 2 + mark.size() + content.size());
  append(to, mark);
  append(to, content);
}

/// Segments of a JPEG with Photoshop's resources, without its previews.
Bytes photoshop_segments(BytesView resources) {
  constexpr std::uint32_t kOldPreview = 0x0409;
  constexpr std::uint32_t kPreview = 0x040C;
  Bytes kept;
  visit_resources(resources, [&](std::uint32_t number, BytesView, BytesView all) {
    if (number != kOldPreview && number != kPreview) {
      append(kept, all);
    }
  });
  const std::size_t most = kLongestSegment - kPhotoshopMark.size();
  Bytes segments;
  for (std::size_t at = 0; at < kept.size(); at += most) {
    append_segment(segments, kApp13, kPhotoshopMark, part_of(kept, at, most));
  }
  return segments;
}

void find_others_of_jpeg(BytesView jpeg, PictureMetadata& metadata) {
  Bytes resources;
  Bytes more_xmp;
  visit_segments(jpeg, [&](std::uint8_t kind, BytesView content, std::size_t) {
    if (kind == kApp13 && starts_with(content, kPhotoshopMark)) {
      append(resources, content.subspan(kPhotoshopMark.size()));
    } else if (kind == kApp1 && starts_with(content, kMoreXmpMark)) {
      append_segment(more_xmp, kind, "", content);
    }
    return false;
  });
  if (has_iptc(resources)) {
    metadata.others.push_back({kIptcText, AV_CODEC_ID_MJPEG, photoshop_segments(resources)});
  }
  if (!more_xmp.empty()) {
    metadata.others.push_back(
        {"extended XMP data (the part beyond 64 KiB)", AV_CODEC_ID_MJPEG, std::move(more_xmp)});
  }
}

bool tiff_has_maker_note(const Tiff& tiff) {
  return tiff.find(tiff.directory(tiff.first_directory(), kExifDirectory), kMakerNote).has_value();
}

/// Attributes of an EXR that describe its storage, or that the encoder writes.
constexpr std::string_view kExrStorage =
    " writer gamma framesPerSecond channels compression dataWindow displayWindow lineOrder pixelAspectRatio "
    "screenWindowCenter screenWindowWidth type name chunkCount tiles version preview ";

/// Reads the header of an EXR (OpenEXR File Layout): what libav does not decode, and the encoder's options
/// for its samples.
void find_others_of_exr(BytesView exr, PictureMetadata& metadata) {
  constexpr std::size_t kVersion = 4;
  constexpr std::size_t kOfChannel = 16;
  constexpr std::uint32_t kSeveralParts = 0x1000;
  KeywordList attributes;
  KeywordList channels;
  bool is_half = true;
  std::array<Bytes, 2> windows;
  BytesView rest = part_of(exr, 2 * kVersion, exr.size());
  for (std::string name = text_of(take_text(rest)); !name.empty(); name = text_of(take_text(rest))) {
    take_text(rest);  // its type
    const std::size_t size = little_endian(part_of(rest, 0, 4));
    BytesView value = part_of(rest, 4, size);
    rest = part_of(rest, 4 + size, rest.size());
    for (std::string channel; name == "channels" && !(channel = text_of(take_text(value))).empty();) {
      const bool is_decoded = is_in(" R G B A Y ", channel);
      is_half = is_half && (!is_decoded || little_endian(part_of(value, 0, 4)) == 1);
      is_decoded ? void() : channels.add(channel);
      value = part_of(value, kOfChannel, value.size());
    }
    if (name == "compression" && !value.empty() && value[0] != 0) {
      metadata.encoder_options.emplace_back("compression", "zip16");
    } else if (name == "dataWindow" || name == "displayWindow") {
      windows[name == "dataWindow" ? 0 : 1].assign(value.begin(), value.end());
    } else if (!is_in(kExrStorage, name)) {
      attributes.add(name);
    }
  }
  metadata.encoder_options.emplace_back("format", is_half ? "half" : "float");
  const bool has_parts = (little_endian(part_of(exr, kVersion, 4)) & kSeveralParts) != 0;
  metadata.others = {{channels.in("data of other channels")},
                     {attributes.in("header data")},
                     {has_parts ? "data of other parts" : ""},
                     {windows[0] == windows[1] ? "" : "data window (smaller or larger than the picture)"}};
}

constexpr std::size_t kDpxTransfer = 801;  // of the first element; the colorimetric specification follows

/// The header of a DPX (SMPTE 268): the orientation, and the transfer, for which libav has no name if it is a
/// printing density.
void find_others_of_dpx(BytesView dpx, PictureMetadata& metadata) {
  constexpr std::size_t kOrientationOfDpx = 768;
  constexpr std::array<int, 8> kOfExif{1, 2, 4, 3, 5, 6, 8, 7};
  const BytesView number = part_of(dpx, kOrientationOfDpx, 2);
  const std::uint32_t orientation = starts_with(dpx, "XPDS") ? little_endian(number) : big_endian(number);
  metadata.orientation = orientation < kOfExif.size() ? kOfExif[orientation] : 0;
  const BytesView transfer = part_of(dpx, kDpxTransfer, 2);
  metadata.others.push_back({"", AV_CODEC_ID_DPX, Bytes(transfer.begin(), transfer.end()), true});
}

/// The bytes of a file behind its picture, without padding: a gain map, a video, other pictures.
BytesView behind_picture(AVCodecID codec, BytesView picture) {
  std::size_t end = picture.size();
  if (codec == AV_CODEC_ID_MJPEG) {
    end = visit_segments(picture, [](std::uint8_t, BytesView, std::size_t) { return false; });
  } else if (codec == AV_CODEC_ID_WEBP) {
    end = std::size_t{little_endian(part_of(picture, 4, 4))} + 8;
  }
  const BytesView rest = part_of(picture, end, picture.size());
  constexpr std::ptrdiff_t kLeast = 16;
  return std::ranges::count_if(rest, [](std::uint8_t byte) { return byte != 0; }) < kLeast ? BytesView()
                                                                                           : rest;
}

constexpr const char* kOfImageJ = "the channel colors (LUTs), display ranges and labels of ImageJ";

void find_others_of_tiff(BytesView picture, PictureMetadata& metadata) {
  const std::optional<Tiff> tiff = Tiff::open(picture);
  if (!tiff) {
    return;
  }
  const std::optional<Tiff::Field> photoshop = tiff->find(tiff->first_directory(), kPhotoshop);
  const bool has_caption = tiff->find(tiff->first_directory(), kIptc) ||
                           (photoshop && has_iptc(part_of(picture, photoshop->offset, photoshop->size)));
  KeywordList tags;
  for (const Tiff::Field& field : tiff->fields(tiff->first_directory())) {
    const bool is_of_imagej = field.tag == 50838 || field.tag == 50839;
    is_lost(field.tag) ? tags.add(is_of_imagej ? kOfImageJ : std::to_string(field.tag)) : void();
  }
  metadata.others = {{has_caption ? kIptcText : ""},
                     {tiff_has_maker_note(*tiff) ? "maker's note (in EXIF)" : ""},
                     {tags.in("data in TIFF tags")}};
}

void find_others(AVCodecID codec, BytesView picture, PictureMetadata& metadata) {
  switch (codec) {
    case AV_CODEC_ID_MJPEG:
      return find_others_of_jpeg(picture, metadata);
    case AV_CODEC_ID_PNG:
      return find_others_of_png(picture, metadata);
    case AV_CODEC_ID_TIFF:
      return find_others_of_tiff(picture, metadata);
    case AV_CODEC_ID_EXR:
      return find_others_of_exr(picture, metadata);
    case AV_CODEC_ID_DPX:
      return find_others_of_dpx(picture, metadata);
    default:
      return;
  }
}

void append_others(Bytes& to, AVCodecID codec, const PictureMetadata& metadata) {
  for (const OtherMetadata& other : metadata.others) {
    if (other.is_kept_by(codec)) {
      append(to, BytesView(other.blocks));
    }
  }
}

Bytes jpeg_with(BytesView jpeg, const PictureMetadata& metadata) {
  if (!starts_with(jpeg, "\xFF\xD8\xFF")) {
    return Bytes(jpeg.begin(), jpeg.end());
  }
  std::size_t place = 2;  // at the beginning, but after JFIF's segment, which must be first
  visit_segments(jpeg, [&](std::uint8_t kind, BytesView, std::size_t next) {
    place = kind == kApp0 && next <= jpeg.size() ? next : place;
    return kind != kApp0;
  });
  Bytes result(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(place));
  if (!metadata.exif.empty() && holds_exif(AV_CODEC_ID_MJPEG, metadata.exif)) {
    append_segment(result, kApp1, kExifMark, metadata.exif);
  }
  if (!metadata.xmp.empty() && holds_xmp(AV_CODEC_ID_MJPEG, metadata.xmp)) {
    append_segment(result, kApp1, kXmpMark, metadata.xmp);
  }
  append_others(result, AV_CODEC_ID_MJPEG, metadata);
  const std::size_t most = kLongestSegment - kProfileMark.size() - 2;
  const std::size_t count = (metadata.profile.size() + most - 1) / most;
  if (count <= 255 && find_segment(jpeg, kApp2, kProfileMark).empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      Bytes part{static_cast<std::uint8_t>(i + 1), static_cast<std::uint8_t>(count)};
      append(part, part_of(metadata.profile, i * most, most));
      append_segment(result, kApp2, kProfileMark, part);
    }
  }
  append(result, jpeg.subspan(place));
  return result;
}

/// In zlib's format, uncompressed.
Bytes stored_by_zlib(BytesView bytes) {
  constexpr std::size_t kMost = 65535;
  Bytes result{0x78, 0x01};
  for (std::size_t at = 0; at < bytes.size(); at += kMost) {
    const BytesView block = part_of(bytes, at, kMost);
    result.push_back(at + kMost >= bytes.size() ? 1 : 0);
    append_little_endian<2>(result, block.size());
    append_little_endian<2>(result, ~block.size());
    append(result, block);
  }
  append_big_endian<4>(result, av_adler32_update(1, bytes.data(), bytes.size()));
  return result;
}

Bytes png_with(BytesView png, const PictureMetadata& metadata) {
  constexpr std::size_t kHeaderEnd = 8 + 12 + 13;
  if (!starts_with(png, "\x89PNG") || png.size() < kHeaderEnd) {
    return Bytes(png.begin(), png.end());
  }
  Bytes result(png.begin(), png.begin() + kHeaderEnd);
  const auto append_chunk = [&](std::string_view name, BytesView content) {
    append_png_chunk(result, {reinterpret_cast<const std::uint8_t*>(name.data()), name.size()}, content);
  };
  if (!metadata.profile.empty() && find_chunk(png, "iCCP", false).empty()) {
    Bytes content;
    append(content, std::string_view("ICC profile\0\0", 13));  // its name, and the compression method zlib
    append(content, BytesView(stored_by_zlib(metadata.profile)));
    append_chunk("iCCP", content);
  }
  if (!metadata.exif.empty()) {
    append_chunk("eXIf", metadata.exif);
  }
  if (!metadata.xmp.empty()) {
    Bytes content;
    append(content, kXmpKeyword);
    append(content, std::string_view("\0\0\0\0\0", 5));  // uncompressed, without a language
    append(content, BytesView(metadata.xmp));
    append_chunk("iTXt", content);
  }
  const std::size_t begin = result.size();
  append_others(result, AV_CODEC_ID_PNG, metadata);
  const Bytes kept(result.begin() + static_cast<std::ptrdiff_t>(begin) - 8,
                   result.end());  // 8 for a signature
  visit_chunks(png, false, [&](BytesView head, BytesView content) {
    const BytesView name = head.first(4);
    const bool is_kept =
        is_in(kColorChunks, text_of(name)) && !find_chunk(kept, text_of(name.first(3)), false).empty();
    if (!is_kept && !starts_with(name, "IHDR")) {
      append_png_chunk(result, name, content);
    }
    return false;
  });
  return result;
}

/// Appends another directory that has all entries of the first one and the added ones. All offsets are for
/// the position `base` of the picture in its file.
Bytes tiff_with(BytesView picture, const PictureMetadata& metadata, std::uint32_t base) {
  Bytes result(picture.begin(), picture.end());
  const std::optional<Tiff> tiff = Tiff::open(picture);
  if (!tiff || tiff->is_big_endian()) {
    return result;  // not in the form that libav writes
  }
  std::vector<Entry> entries;
  if (const std::optional<Tiff> exif = Tiff::open(metadata.exif)) {
    entries = read_descriptive_entries(*exif);
  }
  const auto has = [&](std::uint16_t tag) {
    return std::ranges::any_of(entries, [tag](const Entry& entry) { return entry.tag == tag; });
  };
  for (const Tiff::Field& field : tiff->fields(tiff->first_directory())) {
    if (field.tag == kStripOffsets || field.tag == kTileOffsets) {
      Bytes offsets;
      const std::size_t size = size_of(field.type).number;
      for (std::size_t i = 0; i < field.count; ++i) {
        append_little_endian<4>(offsets, base + tiff->number(field.offset + i * size, size));
      }
      entries.push_back({field.tag, kLong, field.count, std::move(offsets), {}});
    } else if (!has(field.tag)) {
      entries.push_back({field.tag, field.type, field.count, tiff->values(field), {}});
    }
  }
  if (!metadata.profile.empty() && !has(kProfile)) {
    entries.push_back(
        {kProfile, kUndefined, static_cast<std::uint32_t>(metadata.profile.size()), metadata.profile, {}});
  }
  if (!metadata.xmp.empty() && !has(kXmp)) {
    entries.push_back({kXmp, kByte, static_cast<std::uint32_t>(metadata.xmp.size()), metadata.xmp, {}});
  }
  const std::size_t directory = append_directory(result, std::move(entries), base);
  put_little_endian(result, 4, 4, static_cast<std::uint32_t>(directory));
  return result;
}

Bytes dpx_with(BytesView picture, const PictureMetadata& metadata) {
  Bytes transfer;
  append_others(transfer, AV_CODEC_ID_DPX, metadata);
  Bytes result(picture.begin(), picture.end());
  if (result.size() > kDpxTransfer + transfer.size()) {
    std::ranges::copy(transfer, result.begin() + kDpxTransfer);
  }
  return result;
}

Bytes webp_with(BytesView webp, const PictureMetadata& metadata) {
  constexpr std::size_t kBegin = 12;
  if (!starts_with(webp, "RIFF") || !starts_with(part_of(webp, 8, 4), "WEBP")) {
    return Bytes(webp.begin(), webp.end());
  }
  constexpr std::uint8_t kHasProfile = 0x20;
  constexpr std::uint8_t kHasAlpha = 0x10;
  constexpr std::uint8_t kHasExif = 0x08;
  constexpr std::uint8_t kHasXmp = 0x04;
  const bool has_profile = !find_chunk(webp, "ICCP", true).empty();
  const BytesView extended = find_chunk(webp, "VP8X", true);
  Bytes features(extended.begin(), extended.end());
  if (const BytesView lossless = find_chunk(webp, "VP8L", true); features.empty() && lossless.size() >= 5) {
    const std::uint32_t bits = little_endian(lossless.subspan(1, 4));
    features = {static_cast<std::uint8_t>((bits >> 28 & 1) != 0 ? kHasAlpha : 0), 0, 0, 0};
    append_little_endian<3>(features, bits & 0x3FFF);
    append_little_endian<3>(features, bits >> 14 & 0x3FFF);
  } else if (const BytesView lossy = find_chunk(webp, "VP8 ", true); features.empty() && lossy.size() >= 10) {
    features = {0, 0, 0, 0};
    append_little_endian<3>(features, (little_endian(lossy.subspan(6, 2)) & 0x3FFF) - 1);
    append_little_endian<3>(features, (little_endian(lossy.subspan(8, 2)) & 0x3FFF) - 1);
  }
  if (features.empty()) {
    return Bytes(webp.begin(), webp.end());
  }
  const int added = (metadata.profile.empty() ? 0 : kHasProfile) | (metadata.exif.empty() ? 0 : kHasExif) |
                    (metadata.xmp.empty() ? 0 : kHasXmp);
  features[0] = static_cast<std::uint8_t>(features[0] | added);
  Bytes chunks{'W', 'E', 'B', 'P'};
  const auto append_chunk = [&](std::string_view name, BytesView content) {
    append(chunks, name);
    append_little_endian<4>(chunks, content.size());
    append(chunks, content);
    chunks.resize(chunks.size() + content.size() % 2);
  };
  append_chunk("VP8X", features);
  if (!metadata.profile.empty() && !has_profile) {
    append_chunk("ICCP", metadata.profile);
  }
  const std::size_t own = extended.empty() ? kBegin : kBegin + 8 + extended.size() + extended.size() % 2;
  append(chunks, part_of(webp, own, std::size_t{little_endian(webp.subspan(4, 4))} + 8 - own));
  if (!metadata.exif.empty()) {
    append_chunk("EXIF", metadata.exif);
  }
  if (!metadata.xmp.empty()) {
    append_chunk("XMP ", metadata.xmp);
  }
  Bytes result{'R', 'I', 'F', 'F'};
  append_little_endian<4>(result, chunks.size());
  append(result, BytesView(chunks));
  return result;
}

}  // namespace

bool holds_metadata(AVCodecID codec) {
  return codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_TIFF ||
         codec == AV_CODEC_ID_WEBP;
}

bool holds_exif(AVCodecID codec, BytesView exif) {
  return holds_metadata(codec) &&
         (codec != AV_CODEC_ID_MJPEG || exif.size() + kExifMark.size() <= kLongestSegment);
}

bool holds_xmp(AVCodecID codec, BytesView xmp) {
  return holds_metadata(codec) &&
         (codec != AV_CODEC_ID_MJPEG || xmp.size() + kXmpMark.size() <= kLongestSegment);
}

Bytes find_exif(AVCodecID codec, BytesView picture) {
  BytesView found;
  switch (codec) {
    case AV_CODEC_ID_MJPEG:
      found = find_segment(picture, kApp1, kExifMark);
      break;
    case AV_CODEC_ID_PNG:
      found = find_chunk(picture, "eXIf", false);
      break;
    case AV_CODEC_ID_WEBP:
      found = find_chunk(picture, "EXIF", true);
      found = starts_with(found, kExifMark) ? found.subspan(kExifMark.size()) : found;
      break;
    case AV_CODEC_ID_TIFF:
      if (const std::optional<Tiff> tiff = Tiff::open(picture)) {
        return block_of(read_descriptive_entries(*tiff));
      }
      return {};
    default:
      return {};
  }
  return Tiff::open(found) ? Bytes(found.begin(), found.end()) : Bytes();
}

int exif_orientation(BytesView exif) {
  const std::optional<Tiff> tiff = Tiff::open(exif);
  const std::uint32_t number = tiff ? tiff->number(tiff->find(tiff->first_directory(), kOrientation)) : 0;
  return number >= 1 && number <= 8 ? static_cast<int>(number) : 1;
}

bool has_maker_note(BytesView exif) {
  const std::optional<Tiff> tiff = Tiff::open(exif);
  return tiff && tiff_has_maker_note(*tiff);
}

Bytes find_xmp(AVCodecID codec, BytesView picture) {
  BytesView found;
  if (codec == AV_CODEC_ID_MJPEG) {
    found = find_segment(picture, kApp1, kXmpMark);
  } else if (codec == AV_CODEC_ID_PNG) {
    found = find_png_xmp(picture);
  } else if (codec == AV_CODEC_ID_WEBP) {
    found = find_chunk(picture, "XMP ", true);
  } else if (const std::optional<Tiff> tiff = Tiff::open(picture); tiff && codec == AV_CODEC_ID_TIFF) {
    const std::optional<Tiff::Field> field = tiff->find(tiff->first_directory(), kXmp);
    found = field && (field->type == kByte || field->type == kUndefined)
                ? part_of(picture, field->offset, field->size)
                : found;
  }
  return Bytes(found.begin(), found.end());
}

PictureMetadata find_metadata(AVCodecID codec, BytesView picture) {
  PictureMetadata found;
  found.exif = find_exif(codec, picture);
  found.xmp = find_xmp(codec, picture);
  find_others(codec, picture, found);
  if (const BytesView rest = behind_picture(codec, picture); !rest.empty()) {
    found.others.push_back({"data behind the picture (" + std::to_string(rest.size()) +
                            " bytes: a gain map, a video or other pictures)"});
    constexpr std::array<std::string_view, 4> kNames{"hdrgm:", "GContainer", "MotionPhoto", "MicroVideo"};
    if (std::ranges::any_of(kNames, [&](std::string_view name) { return has_text(found.xmp, name); })) {
      found.others.push_back({"XMP data, which describes the data behind the picture,"});
      found.xmp.clear();
    }
  }
  std::erase_if(found.others,
                [](const OtherMetadata& other) { return other.description.empty() && other.blocks.empty(); });
  return found;
}

void apply_tags(const PictureMetadata& metadata, AVFrame& frame) {
  if (metadata.color_tags.size() > 1) {
    frame.color_primaries = static_cast<AVColorPrimaries>(metadata.color_tags[0]);
    frame.color_trc = static_cast<AVColorTransferCharacteristic>(metadata.color_tags[1]);
  }
  if (metadata.orientation > 0) {
    av_dict_set_int(&frame.metadata, "Orientation", metadata.orientation, 0);
  }
}

void keep_metadata(AVFrame& frame, PictureMetadata metadata) {
  auto kept = std::make_unique<PictureMetadata>(std::move(metadata));
  const auto destroy = [](void*, std::uint8_t* data) {
    const std::unique_ptr<PictureMetadata> owned(reinterpret_cast<PictureMetadata*>(data));
  };
  av_buffer_unref(&frame.opaque_ref);
  frame.opaque_ref = av_buffer_create(reinterpret_cast<std::uint8_t*>(kept.get()), sizeof(PictureMetadata),
                                      destroy, nullptr, AV_BUFFER_FLAG_READONLY);
  if (frame.opaque_ref == nullptr) {
    throw Error("out of memory");
  }
  static_cast<void>(kept.release());  // owned by the buffer
}

const PictureMetadata& kept_metadata(const AVFrame& frame) {
  static const PictureMetadata none{};
  return frame.opaque_ref == nullptr ? none
                                     : *reinterpret_cast<const PictureMetadata*>(frame.opaque_ref->data);
}

Bytes updated_exif(BytesView exif, int width, int height, bool upright) {
  Bytes result(exif.begin(), exif.end());
  const std::optional<Tiff> tiff = Tiff::open(exif);
  if (!tiff) {
    return {};
  }
  const auto put = [&](std::size_t offset, std::size_t size, std::uint32_t value) {
    for (std::size_t i = 0; i < size && offset + i < result.size(); ++i) {
      const std::size_t digit = tiff->is_big_endian() ? size - 1 - i : i;
      result[offset + i] = static_cast<std::uint8_t>(value >> (8 * digit));
    }
  };
  const auto set = [&](std::size_t directory, std::uint16_t tag, int value) {
    const std::optional<Tiff::Field> field = tiff->find(directory, tag);
    if (field && (field->type == kShort || field->type == kLong)) {
      put(field->offset, size_of(field->type).number, static_cast<std::uint32_t>(value));
    }
  };
  const std::size_t first = tiff->first_directory();
  const std::size_t details = tiff->directory(first, kExifDirectory);
  if (upright) {
    set(first, kOrientation, 1);
  }
  set(first, kImageWidth, width);
  set(first, kImageLength, height);
  set(details, kPixelXDimension, width);
  set(details, kPixelYDimension, height);
  if (const std::size_t preview = tiff->next_directory(first); preview != 0) {
    put(tiff->next_pointer(first), 4, 0);
    const std::size_t offset = tiff->number(tiff->find(preview, kThumbnailOffset));
    const std::size_t size = tiff->number(tiff->find(preview, kThumbnailLength));
    if (offset > preview && offset < result.size() && size >= result.size() - offset) {
      result.resize(offset);
    }
  }
  return result;
}

StaleTags stale_tags(const PictureMetadata& source, int width, int height, bool keeps_stack) {
  const std::optional<Tiff> tiff = Tiff::open(source.exif);
  const bool is_same = width == source.stored.width && height == source.stored.height;
  if (!tiff || (is_same && (keeps_stack || source.stored.pages == 1))) {
    return {};
  }
  const std::optional<Tiff::Field> field = tiff->find(tiff->first_directory(), kDescription);
  const BytesView text = field ? part_of(source.exif, field->offset, field->size) : BytesView();
  return {.stack = starts_with(text, "ImageJ=") || starts_with(text, "{\"shape\"") || has_text(text, "<OME"),
          .map = !is_same &&
                 std::ranges::any_of(tiff->fields(tiff->first_directory()), is_of_map, &Tiff::Field::tag)};
}

Bytes without(const StaleTags& stale, BytesView exif) {
  const std::optional<Tiff> tiff = Tiff::open(exif);
  std::vector<Entry> entries = tiff ? read_descriptive_entries(*tiff) : std::vector<Entry>();
  std::erase_if(entries, [&](const Entry& entry) {
    return (stale.stack && entry.tag == kDescription) || (stale.map && is_of_map(entry.tag));
  });
  return block_of(std::move(entries));
}

Bytes updated_xmp(BytesView xmp, bool upright) {
  // Adobe's programs write the orientation here in addition to EXIF: tiff:Orientation="6", or
  // <tiff:Orientation>6</tiff:Orientation>.
  constexpr std::string_view kName = "tiff:Orientation";
  constexpr std::string_view kBeforeValue = " \t\r\n=\"'>";
  Bytes result(xmp.begin(), xmp.end());
  auto at = result.begin();
  while (upright) {
    at = std::search(at, result.end(), kName.begin(), kName.end());
    if (at == result.end()) {
      break;
    }
    at += static_cast<std::ptrdiff_t>(kName.size());
    at = std::find_if(at, result.end(), [&](std::uint8_t letter) {
      return kBeforeValue.find(static_cast<char>(letter)) == std::string_view::npos;
    });
    if (at != result.end() && *at >= '1' && *at <= '8') {
      *at = '1';
    }
  }
  return result;
}

bool is_for(BytesView profile, AVPixelFormat format) {
  constexpr std::size_t kColorSpace = 16;  // position of the color space in an ICC profile
  const BytesView space = part_of(profile, kColorSpace, 4);
  const bool gray = av_pix_fmt_desc_get(format)->nb_components <= 2;
  return starts_with(space, gray ? "GRAY" : "RGB ");
}

Bytes with_metadata(AVCodecID codec, BytesView picture, const PictureMetadata& metadata, std::uint32_t base) {
  const bool has_others = std::ranges::any_of(
      metadata.others, [codec](const OtherMetadata& other) { return other.is_kept_by(codec); });
  if (metadata.exif.empty() && metadata.profile.empty() && metadata.xmp.empty() && !has_others && base == 0) {
    return Bytes(picture.begin(), picture.end());
  }
  switch (codec) {
    case AV_CODEC_ID_MJPEG:
      return jpeg_with(picture, metadata);
    case AV_CODEC_ID_PNG:
      return png_with(picture, metadata);
    case AV_CODEC_ID_TIFF:
      return tiff_with(picture, metadata, base);
    case AV_CODEC_ID_WEBP:
      return webp_with(picture, metadata);
    case AV_CODEC_ID_DPX:
      return dpx_with(picture, metadata);
    default:
      return Bytes(picture.begin(), picture.end());
  }
}

}  // namespace limpid::io
