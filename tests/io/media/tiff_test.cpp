// SPDX-License-Identifier: MIT
// TIFF files that libavcodec reads wrong or not at all: stacks, tiles, floats, BigTIFF.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
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
  double white = 1;              // the value that 1 stands for, of floats and 32-bit integers
  std::string description = {};  // on the first page
  bool has_missing = false;      // 0 becomes -9999, which a tag of GDAL declares
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
  if (layout.white != 1) {
    const double scaled = layout.has_missing && value == 0 ? -9999 : value * layout.white;
    return layout.type == SAMPLEFORMAT_IEEEFP ? put(bytes, static_cast<float>(scaled))
           : layout.type == SAMPLEFORMAT_INT  ? put(bytes, static_cast<std::int16_t>(std::lround(-scaled)))
                                              : put(bytes, static_cast<std::uint32_t>(std::lround(scaled)));
  }
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
  if (page == 0 && !layout.description.empty()) {
    TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION, layout.description.c_str());
  }
  if (layout.has_missing) {
    static char name[] = "GDAL_NODATA";
    const TIFFFieldInfo field{TIFFTAG_GDAL_NODATA, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, name};
    TIFFMergeFieldInfo(file, &field, 1);
    TIFFSetField(file, TIFFTAG_GDAL_NODATA, "-9999");
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
  EXPECT_TRUE(std::ranges::none_of(clip.frames, &Frame::begins_anew));
  transcode(path("s_%d.tif"), path("all.tif"));
  expect_same_frames(clip.frames, read_clip(path("all.tif")).frames);
}

TEST_F(TiffTest, RefusesWhatItCannotReadInASentence) {
  EXPECT_NE(
      message_of(write("a.tif", {{.bits = 64, .type = SAMPLEFORMAT_INT}})).find("64-bit signed samples"),
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

std::string description_of(const std::string& file) {
  TIFF* const tiff = TIFFOpen(file.c_str(), "r");
  const char* text = nullptr;
  std::string description = TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) != 0 ? text : "none";
  TIFFClose(tiff);
  return description;
}

// Counts, heights and kelvin, in which 1 is not white.
TEST_F(TiffTest, SamplesKeepTheirRangeAndType) {
  for (const Layout& layout :
       {Layout{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .white = 2000},
        Layout{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .white = 1e-5},
        Layout{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .white = 12},
        Layout{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .white = 500, .has_missing = true},
        Layout{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .is_tiled = true, .white = 3e8},
        Layout{.bits = 32, .white = 5000}, Layout{.bits = 16, .type = SAMPLEFORMAT_INT, .white = 30000},
        Layout{.bits = 32,
        .channels = 3,
        .type = SAMPLEFORMAT_IEEEFP,
        .photometric = PHOTOMETRIC_RGB,
        .white = 300}}) {
    SCOPED_TRACE(layout.white);
    const std::string source = write("a.tif", {layout, layout, layout});
    const Reader reader(source);
    EXPECT_EQ(reader.video().white, layout.white == 12 ? 1 : std::exp2(std::ceil(std::log2(layout.white))));
    const Transcoded result = transcode(source, path("b.tif"), {.overwrite = Overwrite::kAlways});
    EXPECT_EQ(joined(result.warnings), "");
    EXPECT_EQ(result.codec, "tiff");
    TIFF* const file = TIFFOpen(path("b.tif").c_str(), "rc");  // one strip, as written
    ASSERT_EQ(TIFFNumberOfDirectories(file), 3);
    for (int page = 0; page < 3; ++page) {
      TIFFSetDirectory(file, static_cast<tdir_t>(page));
      std::uint16_t bits = 0;
      std::uint16_t type = 0;
      TIFFGetField(file, TIFFTAG_BITSPERSAMPLE, &bits);
      TIFFGetField(file, TIFFTAG_SAMPLEFORMAT, &type);
      EXPECT_EQ(bits, layout.bits);
      EXPECT_EQ(type, layout.type);
      std::vector<std::uint8_t> samples(static_cast<std::size_t>(TIFFStripSize(file)));
      TIFFReadEncodedStrip(file, 0, samples.data(), -1);
      const auto expected = samples_of(layout, page, 0, 0, layout.width, layout.height, -1);
      ASSERT_EQ(samples.size(), expected.size());
      EXPECT_EQ(std::ranges::mismatch(samples, expected).in1 - samples.begin(), std::ssize(samples));
    }
    TIFFClose(file);
  }
  transcode(write("a.tif", {{.bits = 16}}), path("b.tif"),
            {.pixel_format = "grayf32le", .overwrite = Overwrite::kAlways});
  EXPECT_EQ(read_clip(path("b.tif")).video.white, 1) << "0 to 1 as floats, not as 16-bit integers";
  EXPECT_TRUE(read_clip(path("b.tif")).frames.front().format.is_float());
  const std::string counts = write("a.tif", {{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .white = 2000}});
  EXPECT_NE(joined(transcode(counts, path("b.png")).warnings).find("2048 becomes white"), std::string::npos);
  EXPECT_EQ(joined(transcode(counts, path("b.exr")).warnings), "");
  expect_same_frames(read_clip(counts, {.white = 1}).frames, read_clip(path("b.exr"), {.white = 1}).frames);
}

// A file whose samples are beyond all that filters use would pass unchanged.
TEST_F(TiffTest, RefusesASequenceWhoseRangeJumps) {
  write("s_1.tif", {{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .white = 100}});
  write("s_2.tif", {{.bits = 32, .type = SAMPLEFORMAT_IEEEFP, .white = 1e6}});
  EXPECT_NE(message_of(path("s_%d.tif")).find("more than 16 times the greatest"), std::string::npos);
}

TEST_F(TiffTest, ChannelsAndSlicesAreFilmsOfTheirOwn) {
  struct Case {
    std::string description;
    std::vector<int> pages;
    std::vector<int> begins;
  };
  const std::string ome = R"(<?xml version="1.0"?><OME><Image><Pixels DimensionOrder="XY)";
  for (const auto& [description, pages, begins] :
       {Case{"ImageJ=1.53\nimages=6\nchannels=2\nframes=3\n", {0, 2, 4, 1, 3, 5}, {0, 3}},
        Case{"ImageJ=1.53\nimages=6\nslices=3\nframes=2\n", {0, 3, 1, 4, 2, 5}, {0, 2, 4}},
        Case{"ImageJ=1.53\nimages=6\nslices=6\n", {0, 1, 2, 3, 4, 5}, {}},
        Case{"ImageJ=1.53\nimages=6\nchannels=2\nslices=3\n", {0, 2, 4, 1, 3, 5}, {0, 3}},
        Case{"ImageJ=1.53\nimages=8\nchannels=2\nframes=4\n", {0, 1, 2, 3, 4, 5}, {}},
        Case{R"({"shape": [3, 2, 24, 40], "axes": "TCYX"})", {0, 2, 4, 1, 3, 5}, {0, 3}},
        Case{R"({"shape": [2, 3, 24, 40], "axes": "CTYX"})", {0, 1, 2, 3, 4, 5}, {0, 3}},
        Case{R"({"shape": [6, 24, 40], "axes": "QYX"})", {0, 1, 2, 3, 4, 5}, {}},
        Case{R"({"shape": [6], "axes": ")", {0, 1, 2, 3, 4, 5}, {}},
        Case{ome + R"(TZC" SizeC="2" SizeT="3" SizeZ="1">)", {0, 1, 2, 3, 4, 5}, {0, 3}},
        Case{ome + R"(ZCT" SizeC="2" SizeT="1" SizeZ="3">)", {0, 1, 2, 3, 4, 5}, {0, 3}},
        Case{ome + R"(CCT" SizeC="2" SizeT="3" SizeZ="1">)", {0, 1, 2, 3, 4, 5}, {}}}) {
    SCOPED_TRACE(description);
    const Layout layout{.description = description};
    const auto clip = read_clip(write("a.tif", std::vector<Layout>(6, layout)));
    ASSERT_EQ(clip.frames.size(), 6U);
    for (int i = 0; i < 6; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_NEAR(relative_sample(clip.frames[at], 0, 1, 2), value_at(pages[at], 1, 2, 0), 1e-6) << i;
      EXPECT_EQ(clip.frames[at].begins_anew, std::ranges::find(begins, i) != begins.end()) << i;
    }
    EXPECT_EQ(joined(transcode(path("a.tif"), path("b.tif"), {.overwrite = Overwrite::kAlways}).warnings),
              "");
    EXPECT_EQ(description_of(path("b.tif")), description);
    expect_same_frames(clip.frames, read_clip(path("b.tif")).frames);
    transcode(path("a.tif"), path("page_%d.tif"), {.overwrite = Overwrite::kAlways});
    expect_pages(read_clip(path("page_%d.tif")).frames, layout, 1e-6);
  }
}

// The first film of two has every second number.
TEST_F(TiffTest, PagesOfOneFilmAreNotAnEarlierSequence) {
  const Layout layout{.description = "ImageJ=1.53\nimages=6\nchannels=2\nframes=3\n"};
  Reader reader(write("a.tif", std::vector<Layout>(6, layout)));
  Writer writer(path("page_%d.tif"), reader, {});
  for (int i = 0; i < 3; ++i) {
    writer.write(std::get<Frame>(reader.read()));
  }
  writer.finish();
  EXPECT_EQ(joined(texts_of(writer.diagnostics())).find("earlier sequence"), std::string::npos);
}

TEST_F(TiffTest, DescriptionsOfAStackThatChangesAreDropped) {
  const Layout layout{.description = "ImageJ=1.53\nimages=4\nframes=4\n"};
  const std::string source = write("a.tif", std::vector<Layout>(4, layout));
  const std::string lost = "the source's description of its stack";
  EXPECT_NE(joined(transcode(source, path("crop.tif"), {}, {.before = "crop=16:16:0:0"}).warnings).find(lost),
            std::string::npos);
  EXPECT_EQ(description_of(path("crop.tif")), "none");
  EXPECT_NE(joined(transcode(source, path("page_%d.tif")).warnings).find(lost), std::string::npos);
  EXPECT_EQ(description_of(path("page_1.tif")), "none");
  const std::string one = write("one.tif", {{.description = R"({"shape": [24, 40]})"}});
  EXPECT_EQ(joined(transcode(one, path("one_%d.tif")).warnings), "") << "it still holds";
  Reader reader(source);
  Writer writer(path("first.tif"), reader, {});
  EXPECT_EQ(joined(texts_of(writer.diagnostics())), "");
  writer.write(std::get<Frame>(reader.read()));
  writer.finish();
  EXPECT_NE(joined(texts_of(writer.diagnostics())).find(lost), std::string::npos);
  EXPECT_EQ(description_of(path("first.tif")), "");
}

// A file of 16-bit pages behind each other, with one directory, as ImageJ writes stacks of more than 4 GB.
std::string with_one_directory(bool big_endian, const std::string& description,
                               const std::vector<std::uint16_t>& samples, int width, int height) {
  std::string bytes = big_endian ? "MM" : "II";
  const auto put = [&](std::size_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes += static_cast<char>(value >> (8 * (big_endian ? size - 1 - i : i)) & 0xFF);
    }
  };
  constexpr std::size_t kTexts = 8 + 2 + 9 * 12 + 4;
  const std::size_t page = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 2;
  put(42, 2);
  put(8, 4);
  put(9, 2);
  const auto entry = [&](std::size_t tag, std::size_t type, std::size_t count, std::size_t value) {
    put(tag, 2);
    put(type, 2);
    put(count, 4);
    put(value, type == 3 ? 2 : 4);
    put(0, type == 3 ? 2 : 0);
  };
  entry(TIFFTAG_IMAGEWIDTH, 4, 1, static_cast<std::size_t>(width));
  entry(TIFFTAG_IMAGELENGTH, 4, 1, static_cast<std::size_t>(height));
  entry(TIFFTAG_BITSPERSAMPLE, 3, 1, 16);
  entry(TIFFTAG_PHOTOMETRIC, 3, 1, PHOTOMETRIC_MINISBLACK);
  entry(TIFFTAG_IMAGEDESCRIPTION, 2, description.size() + 1, kTexts);
  entry(TIFFTAG_STRIPOFFSETS, 4, 1, kTexts + description.size() + 1);
  entry(TIFFTAG_SAMPLESPERPIXEL, 3, 1, 1);
  entry(TIFFTAG_ROWSPERSTRIP, 4, 1, static_cast<std::size_t>(height));
  entry(TIFFTAG_STRIPBYTECOUNTS, 4, 1, page);
  put(0, 4);
  bytes += description;
  bytes += '\0';
  for (const std::uint16_t sample : samples) {
    put(sample, 2);
  }
  return bytes;
}

TEST_F(TiffTest, ReadsPagesBehindTheOnlyDirectory) {
  constexpr int kPage = 8 * 4;
  std::vector<std::uint16_t> samples;
  for (int i = 0; i < 3 * kPage; ++i) {
    samples.push_back(static_cast<std::uint16_t>(300 * i));
  }
  const std::string description = "ImageJ=1.53\nimages=3\nslices=3\n";
  for (const bool big_endian : {false, true}) {
    const std::string bytes = with_one_directory(big_endian, description, samples, 8, 4);
    std::ofstream(path("a.tif"), std::ios::binary) << bytes;
    const auto clip = read_clip(path("a.tif"));
    ASSERT_EQ(clip.frames.size(), 3U);
    for (int i = 0; i < 3 * kPage; ++i) {
      const Frame& frame = clip.frames[static_cast<std::size_t>(i / kPage)];
      ASSERT_EQ(oracle::sample_at(frame, 0, i % 8, i % kPage / 8), 300 * i) << i;
    }
    transcode(path("a.tif"), path("b.tif"), {.overwrite = Overwrite::kAlways});
    expect_same_frames(clip.frames, read_clip(path("b.tif")).frames);
    std::ofstream(path("cut.tif"), std::ios::binary) << bytes.substr(0, bytes.size() - 1);
    EXPECT_NE(message_of(path("cut.tif")).find("names 3 images, but it has only 1"), std::string::npos);
  }
}

TEST_F(TiffTest, StacksOfOtherKindsAreRefused) {
  TIFF* const file = TIFFOpen(path("a.tif").c_str(), "w");
  TIFFSetField(file, TIFFTAG_IMAGEDEPTH, 6);
  write_page(file, {}, 0);
  TIFFClose(file);
  EXPECT_NE(message_of(path("a.tif")).find("volumes (ImageDepth)"), std::string::npos);
  TIFF* const two = TIFFOpen(path("two.tif").c_str(), "w");
  constexpr std::uint16_t kUnspecified = EXTRASAMPLE_UNSPECIFIED;
  write_page(two, {.channels = 2}, 0);
  TIFFClose(two);
  TIFF* const changed = TIFFOpen(path("two.tif").c_str(), "r+");
  TIFFSetField(changed, TIFFTAG_EXTRASAMPLES, 1, &kUnspecified);
  TIFFRewriteDirectory(changed);
  TIFFClose(changed);
  EXPECT_NE(message_of(path("two.tif")).find("its second channel is not marked as alpha"), std::string::npos);
  std::filesystem::resize_file(path("a.tif"), std::uintmax_t{5} << 30);  // sparse
  EXPECT_NE(message_of(path("a.tif")).find("more than 2 GiB"), std::string::npos);
  const std::string fits = make("a.fits", "-f lavfi -i testsrc2=s=32x32 -frames:v 1 -pix_fmt gray16be");
  EXPECT_NE(message_of(fits).find("FITS is not supported"), std::string::npos);
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
  const std::string one = with_one_directory(false, "ImageJ=1.53\nimages=3\nchannels=3\n",
                                             std::vector<std::uint16_t>(96, 7), 8, 4);
  for (std::size_t i = 4; i < 160; ++i) {
    std::string damaged = one;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x9F);
    std::ofstream(path("damaged.tif"), std::ios::binary) << damaged;
    message_of(path("damaged.tif"));
  }
}

}  // namespace
}  // namespace limpid::io
