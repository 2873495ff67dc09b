// SPDX-License-Identifier: MIT
// Files of public reports about other programs, beside the test data. Each test is skipped without them.
#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"
#include "core/frame/metrics.h"
#include "io/media/diagnostic.h"
#include "tests/io/media/media.h"
#include "tests/io/media/sample_psnr.h"

namespace limpid::io {
namespace {

class ReportsTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    if (!IsSkipped() && file("clip.mp4").empty()) {
      GTEST_SKIP() << "the files of cases/reports are not there";
    }
  }

  static std::string file(const std::string& name) { return data_file("../cases/reports/" + name); }
  /// RGB samples of the first frame as ffmpeg converts them.
  static std::string rgb_of(const std::string& of) {
    return output_of("ffmpeg -nostdin -v error -i '" + of +
                     "' -frames:v 1 -vf scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp -f rawvideo "
                     "-pix_fmt rgb24 -");
  }
  std::string error_of(const std::string& from, const std::string& to) const {
    try {
      transcode(from, path(to));
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  }
  /// "loop count, delay of the last frame in milliseconds", for a GIF.
  static std::string loops_and_delay(const std::string& gif) {
    const std::string bytes = bytes_of(gif);
    const auto word = [&](std::size_t at) {
      return static_cast<unsigned char>(bytes.at(at)) + 256 * static_cast<unsigned char>(bytes.at(at + 1));
    };
    const std::size_t netscape = bytes.find("NETSCAPE2.0");
    const std::size_t control = bytes.rfind("\x21\xF9\x04");
    return std::to_string(netscape == std::string::npos ? -1 : word(netscape + 13)) + ", " +
           std::to_string(10 * word(control + 4));
  }
};

TEST_F(ReportsTest, DeepJpeg2000IsExact) {
  for (const std::string name : {"rgb16.png", "gray16_disc.png"}) {
    const Transcoded result = transcode(file(name), path("a.jp2"), {.overwrite = Overwrite::kAlways});
    if (result.codec == "libopenjpeg") {
      expect_same_frames(read_clip(file(name)).frames, read_clip(path("a.jp2")).frames);
    }
  }
}

TEST_F(ReportsTest, StillsHaveTheColorsOfTheirSources) {
  for (const std::string extension : {"jp2", "tif"}) {
    transcode(file("photo420.jpg"), path("a." + extension));
    EXPECT_GT(sample_psnr(rgb_of(file("photo420.jpg")), rgb_of(path("a." + extension))), 40) << extension;
    transcode(file("video_tv_bt709.mp4"), path("a_%d." + extension));
    EXPECT_GT(sample_psnr(rgb_of(file("video_tv_bt709.mp4")), rgb_of(path("a_1." + extension))), 40)
        << extension;
  }
  transcode(file("video_tv_bt709.mp4"), path("a_%d.jpg"));
  EXPECT_GT(sample_psnr(rgb_of(file("video_tv_bt709.mp4")), rgb_of(path("a_1.jpg"))), 36);
}

TEST_F(ReportsTest, PhotographsAreGoodByDefault) {
  for (const auto& [extension, least] : {std::pair{"jpg", 37.0}, {"webp", 36.0}, {"avif", 36.5}}) {
    const std::string to = path(std::string("a.") + extension);
    if (error_of(file("photo420.jpg"), std::string("a.") + extension) == "no error") {
      EXPECT_GT(sample_psnr(rgb_of(file("photo420.jpg")), rgb_of(to)), least) << extension;
    }
  }
}

TEST_F(ReportsTest, NarrowPicturesAreLosslessInFfv1) {
  for (const std::string name : {"linescan_1920x2_gray.nut", "slit_2x96_yuv444p.nut"}) {
    transcode(file(name), path("a.mkv"), {.codec = "ffv1", .overwrite = Overwrite::kAlways});
    expect_same_frames(read_clip(file(name)).frames, read_clip(path("a.mkv")).frames);
  }
}

TEST_F(ReportsTest, AnimationsKeepLoopsDelaysAndAlpha) {
  EXPECT_EQ(loops_and_delay(file("anim_loop3_delays.gif")), "3, 200");
  transcode(file("anim_loop3_delays.gif"), path("thrice.gif"));
  EXPECT_EQ(loops_and_delay(path("thrice.gif")), "3, 200");
  for (const std::string name : {"anim_loops_forever.gif", "anim_loops_forever.png"}) {
    transcode(file(name), path("endless.gif"), {.overwrite = Overwrite::kAlways});
    EXPECT_TRUE(loops_and_delay(path("endless.gif")).starts_with("0, ")) << name;
    transcode(file(name), path("endless.apng"), {.overwrite = Overwrite::kAlways});
    const std::string bytes = bytes_of(path("endless.apng"));
    EXPECT_EQ(bytes.substr(bytes.find("acTL") + 8, 4), std::string(4, '\0')) << name << ": its plays";
  }
  transcode(file("anim_alpha.png"), path("a.webp"));
  const std::string webp = bytes_of(path("a.webp"));
  constexpr int kAlpha = 0x10;
  EXPECT_NE(webp.at(webp.find("VP8X") + 8) & kAlpha, 0);
}

TEST_F(ReportsTest, SourcesThatCannotBeReadAreNamedWithTheReason) {
  EXPECT_NE(error_of(file("dolby_vision_p5.mp4"), "a.mkv").find("Dolby Vision profile 5"), std::string::npos);
  const std::string heic = error_of(file("small.heic"), "a.png");
  EXPECT_NE(heic.find("HEIC"), std::string::npos) << heic;
  Reader reader(file("gap/f0001.png").replace(file("gap/f0001.png").size() - 8, 4, "%04d"));
  while (!std::holds_alternative<Reader::End>(reader.read())) {
  }
  EXPECT_NE(text_of(reader.diagnostics(), Diagnostic::Kind::kFailure).find("gap/f0004.png is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace limpid::io
