// SPDX-License-Identifier: MIT
// TIFF files that libavcodec reads wrong or not at all: stacks, tiles, floats, BigTIFF.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/io/media/media.h"
#include "tests/oracle/samples.h"

namespace limpid::io {
namespace {

struct Layout {
  int width = 40;
  int height = 24;
  int bits = 8;
  int channels = 1;
  int type = SAMPLEFORMAT_UINT;
  int photometric = PHOTOMETRIC_MINISBLACK;
  bool is_tiled = false;
  bool is_planar = false;
  int compression = COMPRESSION_NONE;
};

// The sample of a page at (x, y), from 0 to 1.
double value_at(int page, int x, int y, int channel) {
  return ((7 * x + 13 * y + 40 * channel + 29 * page) % 250) / 255.0;
}

std::uint16_t to_half(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // 0.5 to 1
  return value == 0
             ? 0
             : static_cast<std::uint16_t>((exponent + 14) << 10 | (std::lround(fraction * 2048) - 1024));
}

template <typename Sample>
void put(std::vector<std::uint8_t>& bytes, Sample sample) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(&sample);
  bytes.insert(bytes.end(), from, from + sizeof sample);
}

void put_sample(std::vector<std::uint8_t>& bytes, const Layout& layout, double value) {
  const bool is_float = layout.type == SAMPLEFORMAT_IEEEFP;
  switch (layout.bits) {
    case 8:
      return put(bytes, static_cast<std::uint8_t>(std::lround(value * 255)));
    case 16:
      return is_float ? put(bytes, to_half(value))
                      : put(bytes, static_cast<std::uint16_t>(std::lround(value * 65535)));
    case 32:
      return is_float ? put(bytes, static_cast<float>(value))
                      : put(bytes, static_cast<std::uint32_t>(std::llround(value * 4294967295.0)));
    default:
      return put(bytes, value);
  }
}

// The samples of a part of a page; channel -1: all.
std::vector<std::uint8_t> samples_of(const Layout& layout, int page, int x0, int y0, int width, int height,
                                     int channel) {
  std::vector<std::uint8_t> bytes;
  for (int y = y0; y < y0 + height; ++y) {
    for (int x = x0; x < x0 + width; ++x) {
      for (int c = std::max(channel, 0); c < (channel < 0 ? layout.channels : channel + 1); ++c) {
        put_sample(bytes, layout, value_at(page, x, y, c));
      }
    }
  }
  return bytes;
}

void write_page(TIFF* file, const Layout& layout, int page) {
  constexpr int kTile = 16;
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, layout.width);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, layout.height);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, layout.bits);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, layout.channels);
  TIFFSetField(file, TIFFTAG_SAMPLEFORMAT, layout.type);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, layout.photometric);
  TIFFSetField(file, TIFFTAG_COMPRESSION, layout.compression);
  TIFFSetField(file, TIFFTAG_PLANARCONFIG, layout.is_planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  if (!layout.is_tiled) {
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, 7);
  }
  if (layout.channels % 2 == 0) {
    const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(file, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  }
  for (int plane = 0; plane < (layout.is_planar ? layout.channels : 1); ++plane) {
    const int channel = layout.is_planar ? plane : -1;
    if (layout.is_tiled) {
      TIFFSetField(file, TIFFTAG_TILEWIDTH, kTile);
      TIFFSetField(file, TIFFTAG_TILELENGTH, kTile);
      for (int y = 0; y < layout.height; y += kTile) {
        for (int x = 0; x < layout.width; x += kTile) {
          std::vector<std::uint8_t> tile = samples_of(layout, page, x, y, kTile, kTile, channel);
          TIFFWriteTile(file, tile.data(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0,
                        static_cast<std::uint16_t>(plane));
        }
      }
      continue;
    }
    for (int y = 0; y < layout.height; ++y) {
      std::vector<std::uint8_t> row = samples_of(layout, page, 0, y, layout.width, 1, channel);
      TIFFWriteScanline(file, row.data(), static_cast<std::uint32_t>(y), static_cast<std::uint16_t>(plane));
    }
  }
  TIFFWriteDirectory(file);
}

class TiffTest : public MediaTest {
 protected:
  // mode: "w", "w8" for BigTIFF, "wb" for big endian
  std::string write(const std::string& name, const std::vector<Layout>& pages, const char* mode = "w") const {
    TIFF* const file = TIFFOpen(path(name).c_str(), mode);
    for (std::size_t page = 0; page < pages.size(); ++page) {
      write_page(file, pages[page], static_cast<int>(page));
    }
    TIFFClose(file);
    return path(name);
  }

  std::string message_of(const std::string& file) const {
    try {
      read_clip(file);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

// From 0 to 1.
double relative_sample(const Frame& frame, int plane, int x, int y) {
  const double sample = oracle::sample_at(frame, plane, x, y);
  return frame.format.is_float() ? sample : sample / (std::exp2(frame.format.bit_depth) - 1);
}

void expect_pages(const std::vector<Frame>& frames, const Layout& layout, double tolerance) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const FrameFormat& format = frames[i].format;
    ASSERT_EQ(format.width, layout.width);
    ASSERT_EQ(format.height, layout.height);
    ASSERT_EQ(format.plane_count(), layout.channels);
    for (int c = 0; c < layout.channels; ++c) {
      for (int y = 0; y < layout.height; ++y) {
        for (int x = 0; x < layout.width; ++x) {
          ASSERT_NEAR(relative_sample(frames[i], c, x, y), value_at(static_cast<int>(i), x, y, c), tolerance)
              << "page " << i << ", plane " << c << ", " << x << " " << y;
        }
      }
    }
  }
}

TEST_F(TiffTest, ReadsAllPagesOfAStackAsFrames) {
  for (const char* const mode : {"w", "w8", "wb"}) {
    for (const Layout& layout :
         {Layout{}, Layout{.bits = 16, .compression = COMPRESSION_LZW},
          Layout{.channels = 3, .photometric = PHOTOMETRIC_RGB, .is_planar = true},
          Layout{.bits = 16, .channels = 4, .photometric = PHOTOMETRIC_RGB},
          Layout{.bits = 16, .channels = 3, .photometric = PHOTOMETRIC_RGB, .is_tiled = true}}) {
      SCOPED_TRACE(std::string(mode) + " " + std::to_string(layout.bits) + " " +
                   std::to_string(layout.channels));
      const auto clip = read_clip(write("stack.tif", std::vector<Layout>(4, layout), mode));
      ASSERT_EQ(clip.frames.size(), 4U);
      expect_pages(clip.frames, layout, 1e-6 + 0.5 / 65535);
    }
  }
}

TEST_F(TiffTest, ReadsTilesFloatsAndBigTiff) {
  const auto expect_one = [&](const Layout& layout, double tolerance, const char* mode = "w") {
    SCOPED_TRACE(std::to_string(layout.bits) + " " + std::to_string(layout.channels) + " " + mode);
    const auto clip = read_clip(write("one.tif", {layout}, mode));
    ASSERT_EQ(clip.frames.size(), 1U);
    expect_pages(clip.frames, layout, tolerance);
  };
  for (const bool is_tiled : {false, true}) {
    for (const int bits : {16, 32, 64}) {
      Layout layout{.bits = bits, .type = SAMPLEFORMAT_IEEEFP, .is_tiled = is_tiled};
      expect_one(layout, bits == 16 ? 5e-4 : 1e-6);
      expect_one(layout, bits == 16 ? 5e-4 : 1e-6, "wb");
      layout.channels = 3;
      layout.photometric = PHOTOMETRIC_RGB;
      expect_one(layout, bits == 16 ? 5e-4 : 1e-6);
      layout.is_planar = true;
      expect_one(layout, bits == 16 ? 5e-4 : 1e-6);
    }
  }
  expect_one({.bits = 32}, 1e-6);
  expect_one({.is_tiled = true}, 1e-6);
  expect_one({.bits = 16, .channels = 2, .is_tiled = true, .compression = COMPRESSION_ADOBE_DEFLATE}, 1e-5);
  expect_one({.bits = 16}, 1e-5, "w8");
  expect_one({.channels = 4, .photometric = PHOTOMETRIC_RGB}, 1e-6, "w8");
}

TEST_F(TiffTest, FramesOfASequenceOfStacksFollowEachOther) {
  write("s_1.tif", {Layout{}, Layout{}, Layout{}});
  write("s_2.tif", {Layout{}, Layout{}});
  const auto clip = read_clip(path("s_%d.tif"));
  EXPECT_EQ(clip.frames.size(), 5U);
}

TEST_F(TiffTest, RefusesWhatItCannotReadInASentence) {
  EXPECT_NE(message_of(write("a.tif", {{.type = SAMPLEFORMAT_INT}})).find("8-bit signed samples"),
            std::string::npos);
  EXPECT_NE(message_of(write("a.tif", {{.bits = 64, .channels = 5, .type = SAMPLEFORMAT_IEEEFP}}))
                .find("5 channels"),
            std::string::npos);
  EXPECT_NE(message_of(write("a.tif", {Layout{}, Layout{.bits = 64}}))
                .find("page 2: it has 1 channel of 64-bit unsigned"),
            std::string::npos);
  std::string whole = bytes_of(write("b.tif", std::vector<Layout>(3, {.is_tiled = true}), "w8"));
  std::ofstream(path("cut.tif"), std::ios::binary) << whole.substr(0, whole.size() / 2);
  EXPECT_NE(message_of(path("cut.tif")), "no error");
}

// Damaged headers, directories and samples: a sentence, or frames, but nothing else.
TEST_F(TiffTest, SurvivesDamage) {
  const std::string whole = bytes_of(write("b.tif", {Layout{.is_tiled = true}, Layout{}}, "w8"));
  for (std::size_t i = 4; i < whole.size(); i += i < 64 || i > whole.size() - 600 ? 13U : 331U) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    std::ofstream(path("damaged.tif"), std::ios::binary) << damaged;
    message_of(path("damaged.tif"));
  }
}

}  // namespace
}  // namespace limpid::io
