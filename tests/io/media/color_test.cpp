// SPDX-License-Identifier: MIT
// The range and matrix of sources: players show the output as they show the source.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

class ColorTest : public MediaTest {
 protected:
  /// One raw picture of a ramp from black to white, 64 columns wide, without a range tag.
  std::string make_ramp(const std::string& pixel_format) const {
    return make("ramp_" + pixel_format + ".nut",
                "-f lavfi -i \"color=black:s=64x48:r=25:d=0.04,format=gray,geq=lum='round(X*255/63)'\" "
                "-c:v rawvideo -color_range unknown -pix_fmt " +
                    pixel_format);
  }
  /// The first picture's middle row as decoded by ffmpeg, one byte for each column.
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
  const std::vector<Target> targets{{"a.mp4", {.codec = "libx264", .encoder_options = {{"qp", "4"}}}},
                                    {"a.webm", {.crf = "4"}},
                                    {"a.mkv", {.codec = "libx264", .encoder_options = {{"qp", "4"}}}},
                                    {"b.mkv", {.codec = "ffv1"}},
                                    {"a.mov", {.codec = "prores_ks"}},
                                    {"a.mpg", {.codec = "mpeg2video"}},
                                    {"a.avi", {.codec = "ffv1"}},
                                    {"a.ts", {.codec = "libx264", .encoder_options = {{"qp", "4"}}}}};
  for (const std::string format : {"gray", "gray16le", "ya8"}) {
    const std::string source = make_ramp(format);
    const std::string expected = shown(source);
    ASSERT_EQ(expected.size(), 64U) << format;
    for (const auto& [name, options] : targets) {
      SCOPED_TRACE(format + " to " + name);
      WriterOptions own = options;
      own.overwrite = Overwrite::kAlways;
      ASSERT_NO_THROW(transcode(source, path(name), own));
      const std::string actual = shown(path(name));
      ASSERT_EQ(actual.size(), expected.size());
      for (const std::size_t x : {0U, 4U, 16U, 32U, 48U, 60U, 63U}) {
        EXPECT_NEAR(static_cast<std::uint8_t>(actual[x]), static_cast<std::uint8_t>(expected[x]), 8) << x;
      }
    }
  }
}

TEST_F(ColorTest, ChangesInMidStreamAreConvertedOrReported) {
  // Pure green on wide pixels, by BT.709, then on square ones, by BT.601.
  const auto part = [&](const std::string& name, const std::string& color, const std::string& aspect,
                        const std::string& matrix) {
    return make(name, "-f lavfi -i \"color=black:s=64x48:r=25:d=0.4,format=yuv444p,geq=" + color +
                          ",setsar=" + aspect + ",setparams=colorspace=" + matrix +
                          "\" -c:v libx264 -qp 2 -bf 0 -colorspace " + matrix);
  };
  const std::string first = part("first.ts", "lum=173:cb=42:cr=26", "16/11", "bt709");
  const std::string second = part("second.ts", "lum=145:cb=54:cr=34", "1", "smpte170m");
  output_of("cat '" + first + "' '" + second + "' > '" + path("all.ts") + "'");
  Reader reader(path("all.ts"));
  std::vector<int> luma;
  for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item); item = reader.read()) {
    luma.push_back(std::get<Frame>(item).planes[0].row<std::uint8_t>(24)[32]);
  }
  ASSERT_GE(luma.size(), 8U);  // one may be lost where streams are joined
  EXPECT_NEAR(luma.back(), luma.front(), 2);
  EXPECT_GE(count_of(reader.diagnostics(), Diagnostic::Kind::kConvertedFrames), 4);
  const std::string aspect = text_of(reader.diagnostics(), Diagnostic::Kind::kAspectChange);
  EXPECT_NE(aspect.find("on its pixel aspect ratio is 1:1 instead of 16:11"), std::string::npos) << aspect;
}

TEST_F(ColorTest, ARangeThatChangesInMidStreamIsConverted) {
  const auto part = [&](const std::string& name, const std::string& range, const std::string& format) {
    const std::string white = range == "pc" ? "255" : "235";
    return make(name, "-f lavfi -i \"color=black:s=64x48:r=25:d=0.4,format=" + format + ",geq=lum=" + white +
                          ":cb=128:cr=128\" -c:v libx264 -qp 4 -bf 0 -colorspace smpte170m -color_range " +
                          range);
  };
  const std::string limited = part("limited.ts", "tv", "yuv420p");
  const std::string full = part("full.ts", "pc", "yuvj420p");
  for (const auto& [first, second, white] :
       {std::tuple(limited, full, 235), std::tuple(full, limited, 255)}) {
    output_of("cat '" + first + "' '" + second + "' > '" + path("all.ts") + "'");
    for (const Frame& frame : read_clip(path("all.ts")).frames) {
      EXPECT_NEAR(frame.planes[0].row<std::uint8_t>(24)[32], white, 1);
    }
  }
}

class AlphaTest : public MediaTest {
 protected:
  /// The minimum and maximum alpha of a file's first picture.
  static std::pair<int, int> alpha_of(const std::string& file, const std::string& decoder = "") {
    const std::string alpha = output_of("ffmpeg -nostdin -v error " + decoder + " -i '" + file +
                                        "' -frames:v 1 -vf alphaextract,format=gray -f rawvideo -");
    const auto [least, greatest] = std::minmax_element(
        alpha.begin(), alpha.end(), [](unsigned char a, unsigned char b) { return a < b; });
    return {static_cast<unsigned char>(*least), static_cast<unsigned char>(*greatest)};
  }
  /// A picture whose left half is opaque and whose right half is transparent.
  static std::string picture(const std::string& rest) {
    return "-f lavfi -i \"testsrc2=s=64x48:r=10:d=0.3,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':"
           "a='if(lt(X,32),255,0)'\" " +
           rest;
  }
};

TEST_F(AlphaTest, AlphaOfVp8AndVp9IsDecodedAndKept) {
  for (const std::string codec : {"libvpx", "libvpx-vp9"}) {
    SCOPED_TRACE(codec);
    const std::string source =
        make(codec + ".webm", picture("-auto-alt-ref 0 -pix_fmt yuva420p -crf 10 -b:v 1M -c:v " + codec));
    ASSERT_TRUE(read_clip(source).video.format.has_alpha);
    const std::string copy = path(codec + "_copy.webm");
    const Transcoded written = transcode(source, copy);
    EXPECT_EQ(written.codec, "libvpx-vp9");
    EXPECT_EQ(joined(written.warnings), "");
    const auto [least, greatest] = alpha_of(copy, "-c:v libvpx-vp9");
    EXPECT_LT(least, 10);
    EXPECT_GT(greatest, 245);
    EXPECT_NE(joined(transcode(source, path(codec + "_copy.mkv")).warnings).find("alpha is dropped"),
              std::string::npos);
    EXPECT_EQ(probe_streams(path(codec + "_copy.mkv")).find("alpha_mode"), std::string::npos);
  }
}

TEST_F(AlphaTest, AnEncoderThatKeepsAlphaIsChosen) {
  struct Case {
    std::string source, target, codec, decoder;
  };
  for (const auto& [source, target, codec, decoder] :
       {Case{"a.gif", "gif.webm", "libvpx-vp9", "-c:v libvpx-vp9"},
        Case{"a.apng", "apng.webm", "libvpx-vp9", "-c:v libvpx-vp9"},
        Case{"a.mov", "copy.mov", "prores_ks", ""}, Case{"a.apng", "apng.mov", "prores_ks", ""}}) {
    SCOPED_TRACE(target);
    const std::string options = source == "a.mov"   ? "-c:v prores_ks -pix_fmt yuva444p10le -profile:v 4444"
                                : source == "a.gif" ? "-vf \"split[a][b];[a]palettegen[p];[b][p]paletteuse\""
                                                    : "";
    const std::string file = make(source, picture(options));
    EXPECT_EQ(transcode(file, path(target)).codec, codec);
    const auto [least, greatest] = alpha_of(path(target), decoder);
    EXPECT_LT(least, 10);
    EXPECT_GT(greatest, 245);
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
