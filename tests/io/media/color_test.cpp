// The range and matrix of sources: what a player shows stays what it was.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

class ColorTest : public MediaTest {
 protected:
  /// One raw picture of a ramp from black to white, 64 columns wide, without a tag for its range.
  std::string make_ramp(const std::string& pixel_format) const {
    return make("ramp_" + pixel_format + ".nut",
                "-f lavfi -i \"color=black:s=64x48:r=25:d=0.04,format=gray,geq=lum='round(X*255/63)'\" "
                "-c:v rawvideo -color_range unknown -pix_fmt " +
                    pixel_format);
  }
  /// What ffmpeg shows of the first picture's middle row, one byte for each column.
  static std::string shown(const std::string& file, const std::string& decoder = "") {
    const std::string rgb = output_of("ffmpeg -nostdin -v error " + decoder + " -i '" + file +
                                      "' -frames:v 1 -pix_fmt rgb24 -f rawvideo -");
    std::string row;
    for (std::size_t x = 0; x < 64 && rgb.size() == std::size_t{64} * 48 * 3; ++x) {
      row += rgb[(24 * 64 + x) * 3 + 1];
    }
    return row;
  }
};

TEST_F(ColorTest, GrayWithoutARangeIsFullRangeInEveryContainer) {
  struct Target {
    std::string name;
    WriterOptions options;
  };
  const std::vector<Target> targets{{"a.mp4", {.encoder_options = {{"qp", "4"}}}},
                                    {"a.webm", {.crf = "4"}},
                                    {"a.mkv", {.encoder_options = {{"qp", "4"}}}},
                                    {"b.mkv", {.codec = "ffv1"}},
                                    {"a.mov", {.codec = "prores_ks"}},
                                    {"a.mpg", {.codec = "mpeg2video"}},
                                    {"a.avi", {.codec = "ffv1"}},
                                    {"a.ts", {.encoder_options = {{"qp", "4"}}}}};
  for (const std::string format : {"gray", "gray16le", "ya8"}) {
    const std::string source = make_ramp(format);
    const std::string expected = shown(source);
    ASSERT_EQ(expected.size(), 64U) << format;
    for (const auto& [name, options] : targets) {
      SCOPED_TRACE(format + " to " + name);
      WriterOptions own = options;
      own.overwrite = Overwrite::kAlways;
      transcode(source, path(name), own);
      const std::string actual = shown(path(name));
      ASSERT_EQ(actual.size(), expected.size());
      for (const std::size_t x : {0U, 4U, 16U, 32U, 48U, 60U, 63U}) {
        EXPECT_NEAR(static_cast<std::uint8_t>(actual[x]), static_cast<std::uint8_t>(expected[x]), 8) << x;
      }
    }
  }
}

TEST_F(ColorTest, FullRangeBecomesLimitedWhereNothingCanTellIt) {
  const std::string source =
      make("full.mkv",
           "-f lavfi -i color=white:s=64x48:r=25:d=0.04 -vf "
           "scale=out_range=pc,format=yuv422p10le,setparams=range=pc -color_range pc -c:v ffv1");
  const Transcoded copy = transcode(source, path("copy.mov"), {.codec = "prores_ks"});
  EXPECT_NE(joined(copy.warnings).find("the source's full range becomes limited"), std::string::npos);
  EXPECT_NEAR(static_cast<std::uint8_t>(shown(path("copy.mov")).at(32)), 255, 2);
}

}  // namespace
}  // namespace limpid::io
