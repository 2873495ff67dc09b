// SPDX-License-Identifier: MIT
#include "io/media/tiff.h"

#include <tiffio.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/frame/frame.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace limpid::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct CloseTiff {
  void operator()(TIFF* file) const { TIFFClose(file); }
};

/// Bytes in memory, as libtiff's input. Keeps libtiff's last error.
struct Memory {
  std::span<const std::uint8_t> bytes;
  std::uint64_t position = 0;
  std::string error;

  static Memory& of(thandle_t handle) { return *static_cast<Memory*>(handle); }
};

tmsize_t read_memory(thandle_t handle, void* to, tmsize_t size) {
  Memory& memory = Memory::of(handle);
  const std::uint64_t rest =
      memory.bytes.size() - std::min<std::uint64_t>(memory.position, memory.bytes.size());
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(rest, static_cast<std::uint64_t>(size)));
  std::copy_n(memory.bytes.begin() + static_cast<std::ptrdiff_t>(memory.position), count,
              static_cast<std::uint8_t*>(to));
  memory.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_nothing(thandle_t /*handle*/, void* /*from*/, tmsize_t /*size*/) { return 0; }

toff_t seek_memory(thandle_t handle, toff_t offset, int whence) {
  Memory& memory = Memory::of(handle);
  const std::uint64_t origin = whence == SEEK_SET   ? 0
                               : whence == SEEK_CUR ? memory.position
                                                    : memory.bytes.size();
  memory.position = std::min<std::uint64_t>(origin + offset, memory.bytes.size());
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

TIFF* open_tiff(const std::string& url, Memory& memory) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &memory);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), drop_warning, &memory);
  return TIFFClientOpenExt(url.c_str(), "rm", &memory, read_memory, write_nothing, seek_memory, close_memory,
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

  int bytes() const { return bits / 8; }
  int colors() const { return photometric == PHOTOMETRIC_RGB ? 3 : 1; }
  bool is_float() const { return type == SAMPLEFORMAT_IEEEFP; }
  bool is_plain() const {
    const bool is_known = photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_MINISBLACK ||
                          photometric == PHOTOMETRIC_MINISWHITE;
    return is_known && (channels == colors() || channels == colors() + 1) &&
           (is_float() ? bits == 16 || bits == 32 || bits == 64
                       : type == SAMPLEFORMAT_UINT && (bits == 8 || bits == 16 || bits == 32));
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
  page.type = page.type == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : page.type;
  return page;
}

/// A smaller copy of a page, or a mask.
bool is_extra(TIFF* file) {
  std::uint32_t type = 0;
  return TIFFGetField(file, TIFFTAG_SUBFILETYPE, &type) != 0 &&
         (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

std::string describe(const Page& page) {
  return std::to_string(page.channels) + " channel" + (page.channels == 1 ? "" : "s") + " of " +
         std::to_string(page.bits) + "-bit " +
         (page.is_float()                 ? "floating-point"
          : page.type == SAMPLEFORMAT_INT ? "signed"
                                          : "unsigned") +
         " samples, photometric interpretation " + std::to_string(page.photometric);
}

/// Integers of 32 and more bits become floats, as libavutil has no integer format for them.
AVPixelFormat pixel_format_of(const Page& page) {
  const bool alpha = page.channels > page.colors();
  if (page.is_float() || page.bits == 32) {
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

template <typename Sample>
Sample sample_at(const std::uint8_t* from) {
  Sample sample;
  std::memcpy(&sample, from, sizeof sample);
  return sample;
}

float float_at(const Page& page, const std::uint8_t* from) {
  if (!page.is_float()) {
    return static_cast<float>(sample_at<std::uint32_t>(from) / 4294967295.0);
  }
  return page.bits == 16   ? static_cast<float>(sample_at<Half>(from))
         : page.bits == 32 ? sample_at<float>(from)
                           : static_cast<float>(sample_at<double>(from));
}

}  // namespace

struct TiffPages::Parts {
  std::string url;
  PacketHandle packet;
  Memory memory;
  std::unique_ptr<TIFF, CloseTiff> file;
  int count = 0;
  int delivered = 0;
  bool at_page = true;  ///< the directory has not been delivered

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(url + ": " + (count > 1 ? "page " + std::to_string(delivered + 1) + ": " : "") + reason);
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

  void read_tiles(const Page& page, Bytes& to) {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    TIFFGetField(file.get(), TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(file.get(), TIFFTAG_TILELENGTH, &height);
    Bytes tile(checked_size(TIFFTileSize64(file.get())));
    const int planes = page.planar == PLANARCONFIG_CONTIG ? 1 : page.channels;
    for (int plane = 0; plane < planes; ++plane) {
      for (std::uint32_t y = 0; y < page.height; y += height) {
        for (std::uint32_t x = 0; x < page.width; x += width) {
          if (TIFFReadTile(file.get(), tile.data(), x, y, 0, static_cast<std::uint16_t>(plane)) < 0) {
            fail("its tiles cannot be decoded (" + memory.error + ")");
          }
          place(page, tile, width, x, y, height, plane, to);
        }
      }
    }
  }

  void read_strips(const Page& page, Bytes& to) {
    std::uint32_t rows = 0;
    TIFFGetFieldDefaulted(file.get(), TIFFTAG_ROWSPERSTRIP, &rows);
    rows = std::clamp<std::uint32_t>(rows, 1, page.height);
    Bytes strip(checked_size(TIFFVStripSize64(file.get(), rows)));
    const int planes = page.planar == PLANARCONFIG_CONTIG ? 1 : page.channels;
    for (int plane = 0; plane < planes; ++plane) {
      for (std::uint32_t y = 0; y < page.height; y += rows) {
        const std::uint32_t number = TIFFComputeStrip(file.get(), y, static_cast<std::uint16_t>(plane));
        if (TIFFReadEncodedStrip(file.get(), number, strip.data(), static_cast<tmsize_t>(strip.size())) < 0) {
          fail("its rows cannot be decoded (" + memory.error + ")");
        }
        place(page, strip, page.width, 0, y, rows, plane, to);
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
    if (TIFFIsTiled(file.get()) != 0) {
      read_tiles(page, samples);
    } else {
      read_strips(page, samples);
    }
    if (page.photometric == PHOTOMETRIC_MINISWHITE && !page.is_float()) {
      invert(page, samples);
    }
    FrameHandle frame = allocate(page, format);
    const std::size_t row = samples.size() / page.height;
    for (std::uint32_t y = 0; y < page.height; ++y) {
      const std::uint8_t* from = samples.data() + y * row;
      if (page.is_float() || page.bits == 32) {
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
    constexpr int kPlaneOfColor[] = {2, 0, 1, 3};  // of GBRP
    for (int c = 0; c < page.channels; ++c) {
      const int plane = page.colors() == 1 ? 0 : kPlaneOfColor[c];
      auto* const out = reinterpret_cast<float*>(frame.data[plane] +
                                                 static_cast<std::ptrdiff_t>(y) * frame.linesize[plane]);
      for (std::uint32_t x = 0; x < page.width; ++x) {
        out[x] = float_at(page, from + (std::size_t{x} * page.channels + static_cast<std::size_t>(c)) *
                                           static_cast<std::size_t>(page.bytes()));
      }
    }
  }

  /// Reads palettes, fewer than 8 bits, YCbCr and CMYK as 8-bit RGBA, by libtiff.
  FrameHandle read_as_rgba(const Page& page) {
    char reason[1024] = "";
    if (page.bits > 8 || page.type != SAMPLEFORMAT_UINT || TIFFRGBAImageOK(file.get(), reason) == 0) {
      fail("it has " + describe(page) + ", which is not supported");
    }
    checked_size(std::uint64_t{page.width} * page.height * 4);
    FrameHandle frame = allocate(page, AV_PIX_FMT_RGBA);
    std::vector<std::uint32_t> pixels(std::size_t{page.width} * page.height);
    if (TIFFReadRGBAImageOriented(file.get(), page.width, page.height, pixels.data(), ORIENTATION_TOPLEFT,
                                  1) == 0) {
      fail("it cannot be decoded (" + memory.error + ")");
    }
    for (std::uint32_t y = 0; y < page.height; ++y) {
      std::uint8_t* out = frame->data[0] + static_cast<std::ptrdiff_t>(y) * frame->linesize[0];
      for (std::uint32_t x = 0; x < page.width; ++x, out += 4) {
        const std::uint32_t pixel = pixels[std::size_t{y} * page.width + x];
        out[0] = static_cast<std::uint8_t>(TIFFGetR(pixel));
        out[1] = static_cast<std::uint8_t>(TIFFGetG(pixel));
        out[2] = static_cast<std::uint8_t>(TIFFGetB(pixel));
        out[3] = static_cast<std::uint8_t>(TIFFGetA(pixel));
      }
    }
    return frame;
  }
};

TiffPages::TiffPages(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TiffPages::~TiffPages() = default;

std::unique_ptr<TiffPages> TiffPages::open(const std::string& url, const AVPacket& packet) {
  auto parts = std::make_unique<Parts>();
  parts->url = url;
  parts->packet.reset(av_packet_clone(&packet));
  if (parts->packet == nullptr) {
    throw Error("out of memory");
  }
  parts->memory.bytes = {parts->packet->data, static_cast<std::size_t>(parts->packet->size)};
  parts->file.reset(open_tiff(url, parts->memory));
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
      ++parts->count;
      is_for_libtiff = is_for_libtiff || TIFFIsTiled(file) != 0 || parts->count > 1 || page.bits > 16 ||
                       page.type != SAMPLEFORMAT_UINT;
    }
    parts->memory.error.clear();
  } while (TIFFReadDirectory(file) != 0);
  if (!parts->memory.error.empty()) {
    throw Error(url + ": the directory behind page " + std::to_string(parts->count) + " cannot be read (" +
                parts->memory.error + ")");
  }
  if (!is_for_libtiff || parts->count == 0) {
    return nullptr;
  }
  TIFFSetDirectory(file, 0);
  return std::unique_ptr<TiffPages>(new TiffPages(std::move(parts)));
}

int TiffPages::count() const { return parts_->count; }

FrameHandle TiffPages::next() {
  Parts& parts = *parts_;
  TIFF* const file = parts.file.get();
  while (parts.at_page && is_extra(file)) {
    parts.at_page = TIFFReadDirectory(file) != 0;
  }
  if (!parts.at_page || parts.delivered == parts.count) {
    return nullptr;
  }
  const Page page = page_of(file);
  if (page.width < 1 || page.height < 1 || page.width > kMaxDimension || page.height > kMaxDimension) {
    parts.fail("a size of " + std::to_string(page.width) + "x" + std::to_string(page.height) +
               " is not supported");
  }
  FrameHandle frame = page.is_plain() ? parts.read_plain(page) : parts.read_as_rgba(page);
  ++parts.delivered;
  parts.at_page = TIFFReadDirectory(file) != 0;
  return frame;
}

}  // namespace limpid::io
