// SPDX-License-Identifier: MIT
// Frames that do not match the checksum in the stream are counted.
#include "io/media/checksums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <variant>

#include "io/media/diagnostic.h"
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

}  // namespace
}  // namespace limpid::io
