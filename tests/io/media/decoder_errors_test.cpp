// SPDX-License-Identifier: MIT
// Errors that decoders only log, and frames that do not match the checksum in the stream, are counted.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>
#include <variant>

#include "io/media/diagnostic.h"
#include "io/media/libav_setup.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

class ChecksumsTest : public MediaTest {
 protected:
  static std::int64_t wrong_checksums(const std::string& file, const ReaderOptions& options = {}) {
    Reader reader(file, options);
    while (!std::holds_alternative<Reader::End>(reader.read())) {
    }
    return count_of(reader.diagnostics(), Diagnostic::Kind::kWrongChecksums);
  }

  /// Frames of a clip whose samples differ from another's.
  static std::int64_t differing(const Clip& clip, const Clip& other) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < clip.frames.size(); ++i) {
      const auto row = [&](const Clip& of, int plane, int y) {
        const Plane& samples = of.frames[i].planes[static_cast<std::size_t>(plane)];
        return reinterpret_cast<const char*>(samples.data) + y * samples.stride;
      };
      const FrameFormat& format = clip.frames[i].format;
      bool same = true;
      for (int plane = 0; plane < format.plane_count(); ++plane) {
        for (int y = 0; y < format.plane_height(plane); ++y) {
          same = same && std::equal(row(clip, plane, y), row(clip, plane, y) + format.plane_width(plane),
                                    row(other, plane, y));
        }
      }
      count += same ? 0 : 1;
    }
    return count;
  }

  /// Changes bytes inside the slices of an Annex B stream, in the middle of the file, without creating or
  /// removing start codes.
  static void damage_slices(const std::string& file) {
    std::string bytes = bytes_of(file);
    int slices = 0;
    for (std::size_t at = bytes.size() / 3; at + 400 < bytes.size() && slices < 3; ++at) {
      const bool is_slice = bytes.compare(at, 3, std::string("\0\0\1", 3)) == 0 && (bytes[at + 3] >> 1) < 22;
      if (is_slice) {
        ++slices;
        for (std::size_t i = at + 40; i < at + 60; ++i) {
          if (bytes[i] > 3 || bytes[i] < 0) {
            bytes[i] = static_cast<char>(bytes[i] ^ 0x54);
          }
        }
        at += 400;
      }
    }
    std::ofstream(file, std::ios::binary) << bytes;
  }
};

TEST_F(ChecksumsTest, DamagedHevcWithPictureHashesIsTold) {
  if (output_of("ffmpeg -v error -encoders").find("libx265") == std::string::npos) {
    GTEST_SKIP() << "ffmpeg has no libx265";
  }
  const std::string encoder =
      "-f lavfi -i testsrc2=s=320x240:r=25:d=1.6 -vf noise=alls=20:allf=t -c:v libx265 -x265-params "
      "log-level=none:keyint=10:bframes=3:pools=1:hash=";
  const std::string file = make("hash.265", encoder + "1");
  EXPECT_EQ(wrong_checksums(file), 0);
  const Clip whole = read_clip(file);
  damage_slices(file);
  const Clip damaged = read_clip(file);
  ASSERT_EQ(damaged.frames.size(), whole.frames.size());
  const std::int64_t wrong = wrong_checksums(file, {.decoder_threads = 1});
  EXPECT_GT(wrong, 0);
  EXPECT_LE(wrong, differing(damaged, whole));
  for (const int threads : {1, 2, 3, 8}) {
    EXPECT_EQ(wrong_checksums(file, {.decoder_threads = threads}), wrong) << threads;
  }
  const std::string remuxed = make("hash.mp4", "-i " + file + " -c copy");
  EXPECT_EQ(wrong_checksums(remuxed), wrong);
  EXPECT_LT(wrong_checksums(remuxed, {.end = 0.2}), wrong) << "what lies outside of the range does not count";
}

TEST_F(ChecksumsTest, DamagedSlicesOfFfv1AreTold) {
  const std::string file =
      make("slices.nut",
           "-f lavfi -i testsrc2=s=160x120:r=25:d=0.8 -c:v ffv1 -level 3 -slicecrc 1 -g 1 -slices 4");
  EXPECT_EQ(wrong_checksums(file), 0);
  std::string bytes = bytes_of(file);
  for (const double place : {0.4, 0.6}) {
    const auto at = static_cast<std::size_t>(place * static_cast<double>(bytes.size()));
    bytes[at] = static_cast<char>(bytes[at] ^ 0x54);
  }
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(wrong_checksums(file), 2);
  EXPECT_EQ(wrong_checksums(file, {.decoder_threads = 4}), 2);
}

class LoggedErrorsTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    set_log_sink([this](LogSeverity severity, const std::string& line) {
      const std::lock_guard lock(mutex_);
      is_concealed_ = is_concealed_ || (severity == LogSeverity::kError &&
                                        (line.find("error while decoding MB") != std::string::npos ||
                                         line.find("LZW decode failed") != std::string::npos));
    });
  }
  void TearDown() override {
    set_log_sink(nullptr);
    MediaTest::TearDown();
  }

  Diagnostics read(const std::string& file, const ReaderOptions& options = {}) {
    {
      const std::lock_guard lock(mutex_);
      is_concealed_ = false;
    }
    Reader reader(file, options);
    while (!std::holds_alternative<Reader::End>(reader.read())) {
    }
    return reader.diagnostics();
  }
  /// True if a decoder has logged an error of pictures since the last read().
  bool has_logged() {
    const std::lock_guard lock(mutex_);
    return is_concealed_;
  }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::mutex mutex_;
  bool is_concealed_ = false;
};

TEST_F(LoggedErrorsTest, ConcealedErrorsAreReported) {
  const std::string source = "-f lavfi -i testsrc2=s=96x64:r=25:d=1.2,noise=alls=6 ";
  for (const std::string& file :
       {make("a.mkv", source + "-c:v libx264 -g 10"), make("a.mp4", source + "-c:v libx264 -g 10 -bf 0"),
        make("a.gif", source)}) {
    EXPECT_TRUE(read(file).empty()) << file;
    const std::string bytes = bytes_of(file);
    int logged = 0;
    for (std::size_t i = 2; i < 20; ++i) {
      std::string damaged = bytes;
      const std::size_t at = bytes.size() * i / 20 + 37 * i % 11;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x28);
      for (const int threads : {1, 4}) {
        const Diagnostics diagnostics =
            read(write("damaged" + file.substr(file.size() - 4), damaged), {.decoder_threads = threads});
        EXPECT_FALSE(has_logged() && diagnostics.empty()) << file << " at " << at << ", threads " << threads;
        logged += has_logged() ? 1 : 0;
      }
    }
    EXPECT_GT(logged, 0) << file;
  }
}

TEST_F(LoggedErrorsTest, ErrorsOutsideTheRangeDoNotCount) {
  const std::string file =
      make("a.mkv", "-f lavfi -i testsrc2=s=96x64:r=25:d=2,noise=alls=6 -c:v libx264 -g 10 -bf 0");
  std::string bytes = bytes_of(file);
  for (std::size_t at = bytes.size() / 2; at < bytes.size() * 3 / 5; at += 29) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x28);
  }
  const std::string damaged = write("damaged.mkv", bytes);
  EXPECT_FALSE(read(damaged).empty());
  ASSERT_TRUE(has_logged());
  EXPECT_TRUE(read(damaged, {.end = 0.6}).empty());
  EXPECT_TRUE(read(damaged, {.start = 1.6}).empty());
}

TEST_F(LoggedErrorsTest, StreamsThatAreCutOutOfOthersAreNotDamaged) {
  for (const std::string codec :
       {"libx264 -g 25 -bf 3 -x264-params open-gop=1:keyint=25:min-keyint=25:scenecut=0",
        "libx264 -x264-params intra-refresh=1:keyint=25:bframes=0", "mpeg2video -g 15 -bf 2",
        "libx265 -x265-params log-level=none:keyint=25:open-gop=1:bframes=3"}) {
    SCOPED_TRACE(codec);
    if (codec.starts_with("libx265") &&
        output_of("ffmpeg -v error -encoders").find("libx265") == std::string::npos) {
      continue;
    }
    const std::string file = make("a.ts", "-y -f lavfi -i testsrc2=s=96x64:r=25:d=3 -c:v " + codec);
    const std::string bytes = bytes_of(file);
    constexpr std::size_t kPacket = 188;
    for (const std::size_t share : {1, 2, 3, 4}) {
      const std::size_t from = bytes.size() / kPacket * share / 8 * kPacket;
      const std::string cut = write("cut.ts", bytes.substr(0, 3 * kPacket) + bytes.substr(from));
      for (const int threads : {1, 3}) {
        const Diagnostics diagnostics = read(cut, {.decoder_threads = threads});
        EXPECT_TRUE(diagnostics.empty()) << share << ": " << joined(texts_of(diagnostics));
      }
    }
    for (const std::string extension : {"mkv", "mp4", "ts"}) {
      const Diagnostics diagnostics = read(make("copy." + extension, "-y -ss 1.5 -i " + file + " -c copy"));
      EXPECT_TRUE(diagnostics.empty()) << extension << ": " << joined(texts_of(diagnostics));
    }
  }
}

}  // namespace
}  // namespace limpid::io
