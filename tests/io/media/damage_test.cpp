// SPDX-License-Identifier: MIT
// Frames that a damaged file has lost are reported, wherever the file shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "io/media/diagnostic.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

constexpr std::int64_t kFrames = 40;

struct DamagedReading {
  std::int64_t frames = 0;
  Diagnostics diagnostics;
};

DamagedReading read_damaged(const std::string& file) {
  Reader reader(file);
  DamagedReading reading;
  for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item); item = reader.read()) {
    reading.frames += std::holds_alternative<Frame>(item) ? 1 : 0;
  }
  reading.diagnostics = reader.diagnostics();
  return reading;
}

class DamageTest : public MediaTest {
 protected:
  std::string make_clip(const std::string& name, const std::string& codec) const {
    return make(name, "-f lavfi -i testsrc2=s=64x48:r=25 -frames:v 40 " + codec);
  }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  /// A copy in which the part from `begin` to `end`, in tenths, is zeros.
  std::string with_hole(const std::string& whole, const std::string& name, std::size_t begin,
                        std::size_t end) const {
    std::string bytes = bytes_of(whole);
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() * begin / 10),
              bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() * end / 10), '\0');
    return write(name, bytes);
  }
  std::string without(const std::string& whole, const std::string& name, std::size_t begin,
                      std::size_t end) const {
    std::string bytes = bytes_of(whole);
    const std::size_t from = bytes.size() * begin / 10 + 1;
    return write(name, bytes.erase(from, bytes.size() * end / 10 - from));
  }
};

TEST_F(DamageTest, LostFramesAreReportedInEveryContainer) {
  for (const auto& [name, codec] : {std::pair{"a.mkv", "-c:v ffv1 -g 5"},
                                    {"a.webm", "-c:v libvpx -g 5"},
                                    {"a.gif", ""},
                                    {"a.ogv", "-c:v libtheora -q:v 8 -vf hue=H=2*PI*t"},
                                    {"a.mxf", "-c:v mpeg2video -q:v 2"},
                                    {"a.ivf", "-c:v libvpx -g 5"}}) {
    SCOPED_TRACE(name);
    const std::string whole = make_clip(name, codec);
    const DamagedReading undamaged = read_damaged(whole);
    EXPECT_EQ(undamaged.frames, kFrames);
    EXPECT_TRUE(undamaged.diagnostics.empty()) << joined(texts_of(undamaged.diagnostics));
    const std::string extension = name + 1;
    for (const std::string& damaged :
         {with_hole(whole, "tail" + extension, 7, 10), with_hole(whole, "hole" + extension, 5, 7)}) {
      const DamagedReading reading = read_damaged(damaged);
      EXPECT_TRUE(reading.frames < kFrames && reading.frames > 0) << damaged << ": " << reading.frames;
      EXPECT_FALSE(reading.diagnostics.empty()) << damaged << ": " << reading.frames;
    }
  }
}

TEST_F(DamageTest, FilesWithoutTheMarkOfTheirEndAreReported) {
  for (const auto& [name, codec] :
       {std::pair{"a.gif", ""}, {"a.apng", ""}, {"a.ogv", "-c:v libtheora -q:v 8 -vf hue=H=2*PI*t"}}) {
    const std::string bytes = bytes_of(make_clip(name, codec));
    const std::string cut = write(std::string("cut") + name, bytes.substr(0, bytes.size() * 3 / 4));
    EXPECT_NE(text_of(read_damaged(cut).diagnostics, Diagnostic::Kind::kShortfall).find("without the mark"),
              std::string::npos)
        << name;
  }
  // Some programs append bytes to a GIF.
  const std::string longer = write("longer.gif", bytes_of(path("a.gif")) + std::string(3, '\0'));
  EXPECT_TRUE(read_damaged(longer).diagnostics.empty());
}

TEST_F(DamageTest, FewerFramesThanTheHeaderDeclaresAreReported) {
  // Frames of AVI are numbered by their order, so that one that is gone leaves no gap.
  const std::string avi = make_clip("a.avi", "-c:v mjpeg -q:v 3");
  EXPECT_TRUE(read_damaged(avi).diagnostics.empty());
  const std::string bytes = bytes_of(avi);
  const std::size_t begin = bytes.find("00dc", bytes.size() / 2);
  const std::size_t end = bytes.find("00dc", begin + 4);
  const DamagedReading reading =
      read_damaged(write("shorter.avi", bytes.substr(0, begin) + bytes.substr(end)));
  EXPECT_EQ(reading.frames, kFrames - 1);
  EXPECT_EQ(text_of(reading.diagnostics, Diagnostic::Kind::kShortfall),
            "1 of the 40 frames that it declares are missing");
  // AVI has no packets for frames that were dropped at recording, and MP4 may show only some of its frames.
  const std::string dropped = make_clip("dropped.avi", "-c:v mjpeg -vf \"select='mod(n,5)'\" -fps_mode vfr");
  EXPECT_TRUE(read_damaged(dropped).diagnostics.empty());
  const std::string whole = make_clip("a.mp4", "-c:v libx264 -g 10");
  EXPECT_TRUE(read_damaged(whole).diagnostics.empty());
  EXPECT_TRUE(read_damaged(make("edited.mp4", "-ss 0.7 -i " + whole + " -c copy")).diagnostics.empty());
}

TEST_F(DamageTest, ATransportStreamCutInsideAPacketIsReported) {
  const std::string whole = make_clip("a.ts", "-c:v libx264 -g 10 -bf 0");
  EXPECT_TRUE(read_damaged(whole).diagnostics.empty());
  const DamagedReading reading = read_damaged(without(whole, "gone.ts", 5, 7));
  EXPECT_LT(reading.frames, kFrames);
  EXPECT_GT(count_of(reading.diagnostics, Diagnostic::Kind::kMissingFrames), 0);
}

TEST_F(DamageTest, ATransportStreamThatDoesNotEndWithAPacketIsReported) {
  for (const char* const name : {"a.ts", "a.m2ts"}) {
    const std::string bytes = bytes_of(make_clip(name, "-c:v libx264 -g 10 -bf 0"));
    EXPECT_TRUE(read_damaged(path(name)).diagnostics.empty()) << name;
    const std::size_t size = name == std::string("a.ts") ? 188 : 192;
    const std::size_t most = bytes.size() * 9 / 10 / size * size;
    for (const std::string& end : {std::string(1000, 'x'), std::string(20'000, '\0'), std::string(75, 'G')}) {
      EXPECT_NE(
          text_of(read_damaged(write(std::string("cut") + name, bytes.substr(0, most) + end)).diagnostics,
                  Diagnostic::Kind::kShortfall),
          "")
          << name << end.front();
    }
  }
}

TEST_F(DamageTest, JoinedTransportStreamsAreNoDamage) {
  const std::string bytes = bytes_of(make_clip("a.ts", "-c:v libx264 -g 10"));
  const DamagedReading reading = read_damaged(write("joined.ts", bytes + bytes));
  EXPECT_EQ(reading.frames, 2 * kFrames);
  EXPECT_TRUE(reading.diagnostics.empty()) << joined(texts_of(reading.diagnostics));
}

class SequenceTest : public MediaTest {
 protected:
  void make_pictures(const std::string& pattern) const {
    make(pattern, "-f lavfi -i testsrc2=s=32x32:r=25 -frames:v 12 -start_number 0");
  }
  std::string failure_of(const std::string& pattern) const {
    return text_of(read_damaged(path(pattern)).diagnostics, Diagnostic::Kind::kFailure);
  }
};

TEST_F(SequenceTest, AMissingPictureIsNamed) {
  for (const char* const pattern : {"f%04d.png", "g%d.png"}) {
    make_pictures(pattern);
    EXPECT_EQ(failure_of(pattern), "");
  }
  for (const char* const name : {"f0004.png", "f0005.png", "g10.png"}) {
    std::filesystem::remove(path(name));
  }
  EXPECT_EQ(failure_of("f%04d.png"),
            path("f0004.png") + " is missing; --skip-missing continues with " + path("f0006.png"));
  EXPECT_EQ(failure_of("g%d.png"),
            path("g10.png") + " is missing; --skip-missing continues with " + path("g11.png"));
}

TEST_F(SequenceTest, MissingPicturesAreSkippedOnRequest) {
  const std::string folder = path("a[1]{b}");
  std::filesystem::create_directory(folder);
  for (const char* const pattern : {"f%04d.png", "g%d.png"}) {
    const std::string sequence = std::string("a[1]{b}/") + pattern;
    make_pictures(sequence);
    const Clip whole = read_clip(path(sequence));
    ASSERT_EQ(whole.frames.size(), 12U);
    std::vector<Frame> expected = whole.frames;
    expected.erase(expected.begin() + 4, expected.begin() + 6);
    for (const char* const number : {"4", "5", "0004", "0005"}) {
      std::filesystem::remove(folder + "/" + pattern[0] + number + ".png");
    }
    Reader reader(path(sequence), {.skip_missing = true});
    EXPECT_EQ(count_of(reader.diagnostics(), Diagnostic::Kind::kMissingFrames), 2);
    EXPECT_NE(text_of(reader.diagnostics(), Diagnostic::Kind::kMissingFrames).find("2 pictures are missing"),
              std::string::npos);
    expect_same_frames(expected, read_clip(path(sequence), {.skip_missing = true}).frames);
  }
}

TEST_F(SequenceTest, PicturesBeforeTheFirstNumberExcludeSkipping) {
  make_pictures("f%04d.png");
  std::filesystem::remove(path("f0007.png"));
  const ReaderOptions options{.options = {{"start_number", "3"}}, .skip_missing = true};
  EXPECT_THROW(read_clip(path("f%04d.png"), options), UsageError);
}

TEST_F(SequenceTest, HeicIsNamed) {
  std::string bytes(
      "\0\0\0\x18"
      "ftypheic\0\0\0\0mif1heic",
      24);
  std::ofstream(path("a.heic"), std::ios::binary) << bytes + std::string(200, '\0');
  try {
    read_clip(path("a.heic"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("HEIC pictures are not supported"), std::string::npos)
        << error.what();
  }
}

TEST_F(SequenceTest, WhatIsNoCameraIsNamed) {
  for (const std::string& device : {std::string("/dev/zero"), path("")}) {
    try {
      read_clip(device, {.input_format = "v4l2"});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), device + ": is not a camera");
    }
  }
}

}  // namespace
}  // namespace limpid::io
