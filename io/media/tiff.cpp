// SPDX-License-Identifier: MIT
#include "io/media/tiff.h"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}
extern "C" {
#include <libavutil/intreadwrite.h>
}

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "io/media/samples.h"

namespace limpid::io {
namespace {

struct CloseTiff {
  void operator()(TIFF* file) const { TIFFClose(file); }
};

/// Bytes in memory, as libtiff's input or output. Keeps libtiff's last error.
struct Memory {
  std::span<const std::uint8_t> bytes;
  Bytes written;            ///< `bytes` of an output
  std::uint64_t shift = 0;  ///< added to the positions that are read
  std::uint64_t position = 0;
  std::string error;

  static Memory& of(thandle_t handle) { return *static_cast<Memory*>(handle); }
};

tmsize_t read_memory(thandle_t handle, void* to, tmsize_t size) {
  Memory& memory = Memory::of(handle);
  const std::uint64_t begin = std::min<std::uint64_t>(memory.position + memory.shift, memory.bytes.size());
  const auto count = static_cast<std::size_t>(
      std::min<std::uint64_t>(memory.bytes.size() - begin, static_cast<std::uint64_t>(size)));
  std::copy_n(memory.bytes.begin() + static_cast<std::ptrdiff_t>(begin), count,
              static_cast<std::uint8_t*>(to));
  memory.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_memory(thandle_t handle, void* from, tmsize_t size) {
  Memory& memory = Memory::of(handle);
  const auto count = static_cast<std::size_t>(size);
  memory.written.resize(std::max<std::size_t>(memory.written.size(), memory.position + count));
  std::copy_n(static_cast<const std::uint8_t*>(from), count,
              memory.written.begin() + static_cast<std::ptrdiff_t>(memory.position));
  memory.position += count;
  memory.bytes = memory.written;
  return size;
}

toff_t seek_memory(thandle_t handle, toff_t offset, int whence) {
  Memory& memory = Memory::of(handle);
  const std::uint64_t origin = whence == SEEK_SET   ? 0
                               : whence == SEEK_CUR ? memory.position
                                                    : memory.bytes.size();
  memory.position = origin + offset;
  return memory.position;
}

int close_memory(thandle_t /*handle*/) { return 0; }

toff_t size_of_memory(thandle_t handle) { return Memory::of(handle).bytes.size(); }

int keep_error(TIFF* /*file*/, void* memory, const char* /*module*/, const char* format, va_list arguments) {
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  static_cast<Memory*>(memory)->error = text;
  return 1;
}

int drop_warning(TIFF* /*file*/, void* /*memory*/, const char* /*module*/, const char* /*format*/,
                 va_list /*arguments*/) {
  return 1;
}

TIFF* open_tiff(const std::string& url, const char* mode, Memory& memory) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &memory);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), drop_warning, &memory);
  return TIFFClientOpenExt(url.c_str(), mode, &memory, read_memory, write_memory, seek_memory, close_memory,
                           size_of_memory, nullptr, nullptr, options.get());
}

/// The layout of a page's samples.
struct Page {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t bits = 1;
  std::uint16_t channels = 1;
  std::uint16_t type = SAMPLEFORMAT_UINT;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  float missing = std::numeric_limits<float>::quiet_NaN();  ///< the value of missing samples

  int bytes() const { return bits / 8; }
  int colors() const { return photometric == PHOTOMETRIC_RGB ? 3 : 1; }
  bool is_float() const { return type == SAMPLEFORMAT_IEEEFP; }
  /// Integers that libavutil has no format for are read as floats.
  bool becomes_float() const { return is_float() || bits == 32 || type == SAMPLEFORMAT_INT; }
  bool is_plain() const {
    const bool is_known = photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_MINISBLACK ||
                          photometric == PHOTOMETRIC_MINISWHITE;
    return is_known && (channels == colors() || channels == colors() + 1) &&
           (is_float() ? bits == 16 || bits == 32 || bits == 64
                       : type <= SAMPLEFORMAT_INT && (bits == 8 || bits == 16 || bits == 32));
  }
};

Page page_of(TIFF* file) {
  Page page;
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &page.width);
  TIFFGetField(file, TIFFTAG_IMAGELENGTH, &page.height);
  TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &page.bits);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &page.channels);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &page.type);
  TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &page.photometric);
  TIFFGetFieldDefaulted(file, TIFFTAG_PLANARCONFIG, &page.planar);
  std::uint32_t size = 0;
  const char* text = nullptr;
  const TIFFField* const field = TIFFFindField(file, TIFFTAG_GDAL_NODATA, TIFF_ANY);
  if (field != nullptr && TIFFFieldPassCount(field) != 0 &&
      TIFFGetField(file, TIFFTAG_GDAL_NODATA, &size, &text) != 0) {
    std::from_chars(text, text + size, page.missing);
  }
  page.type = page.type == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : page.type;
  return page;
}

/// A smaller copy of a page, or a mask.
bool is_extra(TIFF* file) {
  std::uint32_t type = 0;
  return TIFFGetField(file, TIFFTAG_SUBFILETYPE, &type) != 0 &&
         (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

bool has_alpha(TIFF* file) {
  std::uint16_t count = 0;
  std::uint16_t* types = nullptr;
  return TIFFGetField(file, TIFFTAG_EXTRASAMPLES, &count, &types) != 0 && count == 1 &&
         types[0] != EXTRASAMPLE_UNSPECIFIED;
}

std::string describe(const Page& page) {
  return std::to_string(page.channels) + " channel" + (page.channels == 1 ? "" : "s") + " of " +
         std::to_string(page.bits) + "-bit " +
         (page.is_float()                 ? "floating-point"
          : page.type == SAMPLEFORMAT_INT ? "signed"
                                          : "unsigned") +
         " samples, photometric interpretation " + std::to_string(page.photometric);
}

AVPixelFormat pixel_format_of(const Page& page) {
  const bool alpha = page.channels > page.colors();
  if (page.becomes_float()) {
    return page.colors() == 3 ? (alpha ? AV_PIX_FMT_GBRAPF32 : AV_PIX_FMT_GBRPF32)
           : alpha            ? AV_PIX_FMT_NONE
                              : AV_PIX_FMT_GRAYF32;
  }
  if (page.colors() == 3) {
    return page.bits == 8 ? (alpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24)
                          : (alpha ? AV_PIX_FMT_RGBA64 : AV_PIX_FMT_RGB48);
  }
  return page.bits == 8 ? (alpha ? AV_PIX_FMT_YA8 : AV_PIX_FMT_GRAY8)
                        : (alpha ? AV_PIX_FMT_YA16 : AV_PIX_FMT_GRAY16);
}

/// Calls `function` with a value of the type of the samples.
// NOLINTBEGIN(bugprone-branch-clone): the branches differ in their types.
template <typename Function>
void with_sample_type(int type, int bits, const Function& function) {
  const bool is_signed = type == SAMPLEFORMAT_INT;
  if (type == SAMPLEFORMAT_IEEEFP) {
    bits == 16 ? function(Half()) : bits == 32 ? function(float()) : function(double());
  } else if (bits == 8) {
    is_signed ? function(std::int8_t()) : function(std::uint8_t());
  } else if (bits == 16) {
    is_signed ? function(std::int16_t()) : function(std::uint16_t());
  } else {
    is_signed ? function(std::int32_t()) : function(std::uint32_t());
  }
}
// NOLINTEND(bugprone-branch-clone)

/// Rounds and limits a value of floats to a type of samples.
template <typename Sample>
Sample to_sample(float value) {
  if constexpr (std::is_integral_v<Sample>) {
    using Limits = std::numeric_limits<Sample>;
    const double rounded = std::isnan(value) ? 0 : std::round(static_cast<double>(value));
    return static_cast<Sample>(std::clamp<double>(rounded, Limits::min(), Limits::max()));
  } else {
    return static_cast<Sample>(value);
  }
}

constexpr std::array<std::size_t, 4> kPlaneOfColor{2, 0, 1, 3};  // of GBRP

/// The number that begins a text, at least 1.
std::int64_t number_of(std::string_view text) {
  constexpr std::size_t kDigits = 6;  // products fit
  return std::max(1, std::atoi(std::string(text.substr(0, kDigits)).c_str()));
}

/// The number behind `name`; 1 if there is none.
std::int64_t number_behind(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string_view::npos ? 1 : number_of(text.substr(at + name.size()));
}

/// The pages of a stack in the order of its films: each channel and slice is a film of its times, or each
/// channel of its slices.
struct Films {
  std::vector<int> order;
  std::size_t length = 0;  ///< of each film
};

/// As ImageJ, OME or tifffile describe them. One film if the description has other pages, or none.
Films films_of(std::string_view text, std::size_t pages) {
  constexpr std::string_view kDimensions = "CZT";
  constexpr std::string_view kShape = "{\"shape\": [";
  constexpr std::string_view kAxes = "\"axes\": \"";
  std::string letters(kDimensions);            // from the dimension that varies first to the last
  std::array<std::int64_t, 3> sizes{1, 1, 1};  // of C, Z and T
  if (text.starts_with("ImageJ=")) {
    sizes = {number_behind(text, "\nchannels="), number_behind(text, "\nslices="),
             number_behind(text, "\nframes=")};
  } else if (const std::size_t at = text.find("<Pixels "); at != std::string_view::npos) {
    text = text.substr(at, text.find('>', at) - at);
    constexpr std::string_view kOrder = "DimensionOrder=\"XY";
    const std::size_t order = text.find(kOrder);
    letters = order == std::string_view::npos ? letters : std::string(text.substr(order + kOrder.size(), 3));
    sizes = {1, number_behind(text, "SizeZ=\""), number_behind(text, "SizeT=\"")};
    sizes[0] = static_cast<std::int64_t>(pages) / (sizes[1] * sizes[2]);  // others are samples of a page
  } else if (const std::size_t found = text.find(kAxes); text.starts_with(kShape) && found != text.npos) {
    const std::string_view axes = text.substr(found + kAxes.size());
    std::string_view numbers = text.substr(kShape.size());
    for (const char letter : axes.substr(0, axes.find('"'))) {
      if (const std::size_t dimension = kDimensions.find(letter); dimension != kDimensions.npos) {
        sizes[dimension] = number_of(numbers);
        letters.erase(letters.find(letter), 1).insert(0, 1, letter);
      }
      numbers = numbers.substr(std::min(numbers.find(','), numbers.size() - 1) + 1);
    }
  }
  std::array<std::int64_t, 3> steps{};
  std::int64_t step = 1;
  for (const char letter : letters) {
    const std::size_t dimension = std::min<std::size_t>(kDimensions.find(letter), 2);
    steps[dimension] = std::exchange(step, step * sizes[dimension]);
  }
  if (sizes[2] == 1) {
    std::swap(sizes[1], sizes[2]);
    std::swap(steps[1], steps[2]);
  }
  const auto& [channels, slices, times] = sizes;
  const bool is_described =
      static_cast<std::uint64_t>(step) == pages && std::ranges::is_permutation(letters, kDimensions);
  Films films{.order = {}, .length = is_described ? static_cast<std::size_t>(times) : pages};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(pages); ++i) {
    films.order.push_back(static_cast<int>(
        is_described ? i / (slices * times) * steps[0] + i / times % slices * steps[1] + i % times * steps[2]
                     : i));
  }
  return films;
}

}  // namespace

struct TiffPages::Parts {
  std::string url;
  PacketHandle packet;
  Memory memory;
  std::unique_ptr<TIFF, CloseTiff> file;
  std::vector<std::uint64_t> directories;  ///< of the pages, by position
  std::uint64_t page_bytes = 0;            ///< from page to page, if all have one directory
  Films films;
  std::size_t delivered = 0;

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(url + ": " +
                (films.order.size() > 1 ? "page " + std::to_string(films.order[delivered] + 1) + ": " : "") +
                reason);
  }

  std::string_view description() const {
    const char* text = nullptr;
    return TIFFGetField(file.get(), TIFFTAG_IMAGEDESCRIPTION, &text) != 0 ? text : "";
  }

  /// Refuses stacks of other programs, which have their pages, or channels, in tags and samples of their own.
  void refuse_other_stacks() const {
    constexpr std::uint32_t kMetaMorph = 33629;
    constexpr std::uint32_t kLsm = 34412;
    std::uint32_t depth = 1;
    std::uint32_t count = 0;
    void* values = nullptr;
    TIFFGetField(file.get(), TIFFTAG_IMAGEDEPTH, &depth);
    if (depth > 1 || TIFFGetField(file.get(), kMetaMorph, &count, &values) != 0 ||
        TIFFGetField(file.get(), kLsm, &count, &values) != 0) {
      fail(
          "volumes (ImageDepth) and the stacks of MetaMorph and Zeiss are not supported; convert it to an "
          "ImageJ or OME stack");
    }
  }

  /// ImageJ stores large stacks with one directory: the other pages follow the first one.
  void find_pages_of_one_directory() {
    const std::string_view text = description();
    const std::int64_t images = text.starts_with("ImageJ=") ? number_behind(text, "\nimages=") : 1;
    if (directories.size() != 1 || images == 1) {
      return;
    }
    std::uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(file.get(), TIFFTAG_COMPRESSION, &compression);
    const std::uint64_t begin = TIFFGetStrileOffset(file.get(), 0);
    const Page page = page_of(file.get());
    page_bytes =
        std::uint64_t{page.width} * page.height * page.channels * static_cast<unsigned>(page.bytes());
    const std::uint64_t room = memory.bytes.size() - std::min<std::uint64_t>(begin, memory.bytes.size());
    if (compression != COMPRESSION_NONE || TIFFIsTiled(file.get()) != 0 || page_bytes == 0 ||
        room / page_bytes < static_cast<std::uint64_t>(images)) {
      fail("its description names " + std::to_string(images) + " images, but it has only 1");
    }
    directories.resize(static_cast<std::size_t>(images), directories.front());
  }

  /// Copies rows of a strip or tile to their position in a page of interleaved samples.
  void place(const Page& page, const Bytes& part, std::size_t part_width, std::uint32_t x, std::uint32_t y,
             std::uint32_t rows, int channel, Bytes& to) const {
    const bool is_contiguous = page.planar == PLANARCONFIG_CONTIG;
    const std::size_t pixel =
        static_cast<std::size_t>(page.channels) * static_cast<std::size_t>(page.bytes());
    const auto size = is_contiguous ? pixel : static_cast<std::size_t>(page.bytes());
    const std::size_t columns = std::min<std::size_t>(part_width, page.width - x);
    for (std::uint32_t row = 0; row < rows && y + row < page.height; ++row) {
      const std::uint8_t* from = part.data() + row * part_width * size;
      std::uint8_t* out = to.data() + (std::size_t{y + row} * page.width + x) * pixel +
                          (is_contiguous ? 0 : static_cast<std::size_t>(channel) * size);
      if (is_contiguous) {
        std::copy_n(from, columns * pixel, out);
        continue;
      }
      for (std::size_t i = 0; i < columns; ++i) {
        std::copy_n(from + i * size, size, out + i * pixel);
      }
    }
  }

  /// Reads the tiles, or the strips, which are as wide as the page.
  void read_parts(const Page& page, Bytes& to) {
    const bool is_tiled = TIFFIsTiled(file.get()) != 0;
    std::uint32_t width = page.width;
    std::uint32_t height = 0;
    if (is_tiled) {
      TIFFGetField(file.get(), TIFFTAG_TILEWIDTH, &width);
    }
    TIFFGetFieldDefaulted(file.get(), is_tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &height);
    height = is_tiled ? height : std::clamp<std::uint32_t>(height, 1, page.height);
    Bytes part(checked_size(is_tiled ? TIFFTileSize64(file.get()) : TIFFVStripSize64(file.get(), height)));
    const auto size = static_cast<tmsize_t>(part.size());
    const int planes = page.planar == PLANARCONFIG_CONTIG ? 1 : page.channels;
    for (int plane = 0; plane < planes; ++plane) {
      const auto sample = static_cast<std::uint16_t>(plane);
      for (std::uint32_t y = 0; y < page.height; y += height) {
        for (std::uint32_t x = 0; x < page.width; x += width) {
          const tmsize_t read =
              is_tiled ? TIFFReadTile(file.get(), part.data(), x, y, 0, sample)
                       : TIFFReadEncodedStrip(file.get(), TIFFComputeStrip(file.get(), y, sample),
                                              part.data(), size);
          if (read < 0) {
            fail("its samples cannot be decoded (" + memory.error + ")");
          }
          place(page, part, width, x, y, height, plane, to);
        }
      }
    }
  }

  /// A size in bytes, checked against the maximum that the compressed file can hold.
  std::size_t checked_size(std::uint64_t size) const {
    constexpr std::uint64_t kSmall = std::uint64_t{16} << 20;
    constexpr std::uint64_t kGreatestRatio = 4096;
    if (size == 0 || (size > kSmall && size / kGreatestRatio > memory.bytes.size())) {
      fail("its size does not agree with the length of the file");
    }
    return static_cast<std::size_t>(size);
  }

  FrameHandle allocate(const Page& page, AVPixelFormat format) const {
    FrameHandle frame = make_frame();
    frame->width = static_cast<int>(page.width);
    frame->height = static_cast<int>(page.height);
    frame->format = format;
    check(av_frame_get_buffer(frame.get(), 0), url, "can't read a page");
    frame->pts = packet->pts;
    frame->best_effort_timestamp = packet->pts;
    set_duration(*frame, packet->duration);
    return frame;
  }

  FrameHandle read_plain(const Page& page) {
    const AVPixelFormat format = pixel_format_of(page);
    if (format == AV_PIX_FMT_NONE) {
      fail("gray floats with alpha are not supported");
    }
    const std::uint64_t size =
        std::uint64_t{page.width} * page.height * page.channels * static_cast<unsigned>(page.bytes());
    Bytes samples(checked_size(size));
    read_parts(page, samples);
    if (page.photometric == PHOTOMETRIC_MINISWHITE && !page.is_float()) {
      invert(page, samples);
    }
    FrameHandle frame = allocate(page, format);
    const std::size_t row = samples.size() / page.height;
    for (std::uint32_t y = 0; y < page.height; ++y) {
      const std::uint8_t* from = samples.data() + y * row;
      if (page.becomes_float()) {
        store_floats(page, from, *frame, static_cast<int>(y));
      } else {
        std::copy_n(from, row, frame->data[0] + static_cast<std::ptrdiff_t>(y) * frame->linesize[0]);
      }
    }
    return frame;
  }

  /// Inverts all samples but alpha, which is the last sample of each pixel.
  static void invert(const Page& page, Bytes& samples) {
    const auto size = static_cast<std::size_t>(page.bytes());
    const std::size_t pixel = size * page.channels;
    for (std::size_t i = 0; i < samples.size(); i += pixel) {
      for (std::size_t b = 0; b < size; ++b) {
        samples[i + b] = static_cast<std::uint8_t>(~samples[i + b]);
      }
    }
  }

  static void store_floats(const Page& page, const std::uint8_t* from, AVFrame& frame, int y) {
    for (std::size_t c = 0; c < page.channels; ++c) {
      const std::size_t plane = page.colors() == 1 ? 0 : kPlaneOfColor[c];
      auto* const out = reinterpret_cast<float*>(frame.data[plane] +
                                                 static_cast<std::ptrdiff_t>(y) * frame.linesize[plane]);
      with_sample_type(page.type, page.bits, [&]<typename Sample>(Sample sample) {
        for (std::size_t x = 0; x < page.width; ++x) {
          std::memcpy(&sample, from + (x * page.channels + c) * sizeof sample, sizeof sample);
          const auto value = static_cast<float>(sample);
          out[x] = value == page.missing ? std::numeric_limits<float>::lowest() : value;
        }
      });
    }
  }

  /// Reads palettes, fewer than 8 bits, YCbCr and CMYK as 8-bit RGBA, by libtiff.
  FrameHandle read_as_rgba(const Page& page) {
    char reason[1024] = "";
    if (page.bits > 8 || page.type != SAMPLEFORMAT_UINT || TIFFRGBAImageOK(file.get(), reason) == 0) {
      fail("it has " + describe(page) + ", which is not supported");
    }
    checked_size(std::uint64_t{page.width} * page.height * 4);
    FrameHandle frame = allocate(page, AV_PIX_FMT_BGR32);  // RGBA in words of this machine
    std::vector<std::uint32_t> pixels(std::size_t{page.width} * page.height);
    if (TIFFReadRGBAImageOriented(file.get(), page.width, page.height, pixels.data(), ORIENTATION_TOPLEFT,
                                  1) == 0) {
      fail("it cannot be decoded (" + memory.error + ")");
    }
    const int row = frame->width * 4;
    av_image_copy_plane(frame->data[0], frame->linesize[0], reinterpret_cast<std::uint8_t*>(pixels.data()),
                        row, row, frame->height);
    return frame;
  }
};

TiffPages::TiffPages(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TiffPages::~TiffPages() = default;

std::unique_ptr<TiffPages> TiffPages::open(const std::string& url, const AVPacket& packet) {
  auto parts = std::make_unique<Parts>();
  parts->url = url;
  parts->packet = make_packet();
  check(av_packet_ref(parts->packet.get(), &packet), url, "can't read it");
  parts->memory.bytes = {parts->packet->data, static_cast<std::size_t>(parts->packet->size)};
  parts->file.reset(open_tiff(url, "rm", parts->memory));
  constexpr std::size_t kMagic = 4;
  const std::span<const std::uint8_t> bytes = parts->memory.bytes;
  const bool is_big = bytes.size() >= kMagic && (bytes[2] == 43 || bytes[3] == 43);
  TIFF* const file = parts->file.get();
  if (file == nullptr) {
    if (is_big) {
      parts->fail("the BigTIFF file cannot be read (" + parts->memory.error + ")");
    }
    return nullptr;
  }
  bool is_for_libtiff = is_big;
  do {
    if (!is_extra(file)) {
      const Page page = page_of(file);
      parts->directories.push_back(TIFFCurrentDirOffset(file));
      is_for_libtiff = is_for_libtiff || TIFFIsTiled(file) != 0 || parts->directories.size() > 1 ||
                       page.bits > 16 || page.type != SAMPLEFORMAT_UINT || page.channels == 2;
    }
    parts->memory.error.clear();
  } while (TIFFReadDirectory(file) != 0);
  if (!parts->memory.error.empty()) {
    throw Error(url + ": the directory behind page " + std::to_string(parts->directories.size()) +
                " cannot be read (" + parts->memory.error + ")");
  }
  if (parts->directories.empty()) {
    return nullptr;
  }
  TIFFSetSubDirectory(file, parts->directories.front());
  parts->refuse_other_stacks();
  parts->find_pages_of_one_directory();
  parts->films = films_of(parts->description(), parts->directories.size());
  return is_for_libtiff || parts->directories.size() > 1
             ? std::unique_ptr<TiffPages>(new TiffPages(std::move(parts)))
             : nullptr;
}

int TiffPages::count() const { return static_cast<int>(parts_->films.order.size()); }

float TiffPages::greatest() {
  const std::size_t delivered = std::exchange(parts_->delivered, 0);
  float greatest = 0;
  while (const FrameHandle page = next()) {
    greatest = std::max(greatest, range_of(*page).greatest);
  }
  parts_->delivered = delivered;
  return greatest;
}

FrameHandle TiffPages::next() {
  Parts& parts = *parts_;
  TIFF* const file = parts.file.get();
  const std::size_t index = parts.delivered;
  if (index == parts.films.order.size()) {
    return nullptr;
  }
  const int number = parts.films.order[index];
  parts.memory.shift = 0;
  if (TIFFSetSubDirectory(file, parts.directories[static_cast<std::size_t>(number)]) == 0) {
    parts.fail("its directory cannot be read (" + parts.memory.error + ")");
  }
  const Page page = page_of(file);
  if (page.width < 1 || page.height < 1 || page.width > kMaxDimension || page.height > kMaxDimension) {
    parts.fail("a size of " + std::to_string(page.width) + "x" + std::to_string(page.height) +
               " is not supported");
  }
  if (page.colors() == 1 && page.channels == 2 && !has_alpha(file)) {
    parts.fail(
        "its second channel is not marked as alpha; store channels in pages of their own, as ImageJ does");
  }
  parts.memory.shift = parts.page_bytes * static_cast<std::uint64_t>(number);
  FrameHandle frame = page.is_plain() ? parts.read_plain(page) : parts.read_as_rgba(page);
  PictureMetadata metadata;
  metadata.stored.page = number;
  metadata.stored.pages = count();
  metadata.stored.has_films = parts.films.length < parts.films.order.size();
  metadata.stored.begins_film = metadata.stored.has_films && index % parts.films.length == 0;
  if (page.becomes_float()) {
    metadata.stored.type = page.type;
    metadata.stored.bits = page.bits;
    metadata.stored.missing = page.missing;
  }
  keep_metadata(*frame, std::move(metadata));
  ++parts.delivered;
  return frame;
}

Bytes tiff_of_floats(const std::string& url, const RawFloats& picture, const StoredPicture& stored) {
  constexpr int kBits = 32;
  const bool is_own = stored.bits > 0 && stored.bits <= kBits;
  const int type = is_own ? stored.type : SAMPLEFORMAT_IEEEFP;
  const int bits = is_own ? stored.bits : kBits;
  const std::size_t pixels =
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
  const std::size_t channels = picture.planes.size() / (pixels * sizeof(float));
  Bytes samples;
  with_sample_type(type, bits, [&]<typename Sample>(Sample sample) {
    samples.resize(pixels * channels * sizeof sample);
    for (std::size_t i = 0; i < pixels * channels; ++i) {
      const std::size_t plane = channels == 1 ? 0 : kPlaneOfColor[i % channels];
      float value = 0;
      std::memcpy(&value, picture.planes.data() + (plane * pixels + i / channels) * sizeof value,
                  sizeof value);
      const bool is_missing = value <= std::numeric_limits<float>::lowest() && !std::isnan(stored.missing);
      sample = to_sample<Sample>(is_missing ? stored.missing : value);
      std::memcpy(samples.data() + i * sizeof sample, &sample, sizeof sample);
    }
  });
  Memory memory;
  std::unique_ptr<TIFF, CloseTiff> file(open_tiff(url, "wl", memory));
  if (file == nullptr) {
    throw Error(url + ": can't write TIFF (" + memory.error + ")");
  }
  for (const auto& [tag, value] :
       {std::pair{TIFFTAG_IMAGEWIDTH, picture.width},
        {TIFFTAG_IMAGELENGTH, picture.height},
        {TIFFTAG_BITSPERSAMPLE, bits},
        {TIFFTAG_SAMPLEFORMAT, type},
        {TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(channels)},
        {TIFFTAG_PHOTOMETRIC, channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB},
        {TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG},
        {TIFFTAG_ROWSPERSTRIP, picture.height}}) {
    TIFFSetField(file.get(), static_cast<std::uint32_t>(tag), value);
  }
  if (channels == 4) {
    constexpr std::uint16_t kAlpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(file.get(), TIFFTAG_EXTRASAMPLES, 1, &kAlpha);
  }
  const bool is_written = TIFFWriteEncodedStrip(file.get(), 0, samples.data(), std::ssize(samples)) >= 0 &&
                          TIFFFlush(file.get()) != 0;
  if (!is_written) {
    throw Error(url + ": can't write TIFF (" + memory.error + ")");
  }
  file.reset();
  return std::move(memory.written);
}

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
