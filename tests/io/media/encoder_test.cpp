// SPDX-License-Identifier: MIT
// The defaults of encoders.
#include "io/media/encoder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/frame/metrics.h"
#include "io/media/pixel_format.h"
#include "tests/io/media/media.h"

extern "C" {
#include <libavutil/opt.h>
}

namespace limpid::io {
namespace {

class EncoderDefaultsTest : public MediaTest {
 protected:
  /// Three pictures with some noise, or one.
  std::string make_source(const std::string& name, const std::string& pixel_format) const {
    return make(name, "-f lavfi -i testsrc2=s=320x240:r=25,noise=alls=8 -frames:v " +
                          std::string(name.ends_with(".png") ? "1" : "3 -c:v ffv1") + " -pix_fmt " +
                          pixel_format);
  }
  /// PSNR of the first plane of the last frame.
  static double psnr(const std::string& reference, const std::string& test) {
    return measure(read_clip(reference).frames.back(), read_clip(test).frames.back()).at(0).psnr;
  }
};

TEST_F(EncoderDefaultsTest, OggIsNoPoorCopy) {
  const std::string source = make_source("source.mkv", "yuv420p");
  transcode(source, path("copy.ogv"));
  EXPECT_GT(psnr(source, path("copy.ogv")), 36);
  transcode(source, path("small.ogv"), {.bitrate = "100k"});
  EXPECT_LT(psnr(source, path("small.ogv")), 34) << "which is asked for";
}

TEST_F(EncoderDefaultsTest, MpegHasTheFinestQuantizerUnlessAnotherIsGiven) {
  const std::string source = make_source("source.mkv", "yuv420p");
  for (const std::string codec : {"mpeg4", "mpeg2video", "mpeg1video", "mjpeg"}) {
    const auto size_with = [&](const std::string& quantizer) {
      WriterOptions options{.codec = codec, .overwrite = Overwrite::kAlways};
      if (!quantizer.empty()) {
        options.encoder_options = {{"global_quality", quantizer}};
      }
      transcode(source, path("copy.mkv"), options);
      return std::filesystem::file_size(path("copy.mkv"));
    };
    const std::uintmax_t usual = size_with("");
    EXPECT_EQ(size_with(std::to_string(2 * FF_QP2LAMBDA)), usual) << codec;
    EXPECT_LT(size_with(std::to_string(8 * FF_QP2LAMBDA)), usual * 2 / 3) << codec;
  }
}

TEST_F(EncoderDefaultsTest, WebpTellsWhatItLosesAndLosesLittle) {
  const std::string source = make_source("source.png", "rgb24");
  const std::string told = " halves chroma and is lossy: -e lossless=1 keeps 8-bit RGB as it is";
  const std::string lossy = joined(transcode(source, path("lossy.webp")).warnings);
  EXPECT_NE(lossy.find(told), std::string::npos) << lossy;
  const std::string usual = path("usual.webp");  // with the encoder's default
  transcode(source, usual, {.encoder_options = {{"quality", "75"}}});
  EXPECT_GT(std::filesystem::file_size(path("lossy.webp")), std::filesystem::file_size(usual) * 5 / 4);
  EXPECT_EQ(
      joined(transcode(source, path("lossless.webp"), {.encoder_options = {{"lossless", "1"}}}).warnings),
      "");
  EXPECT_EQ(psnr(source, path("lossless.webp")), std::numeric_limits<double>::infinity());
}

TEST_F(EncoderDefaultsTest, PgmTellsThatColorIsDropped) {
  const std::string source = make_source("source.png", "rgb24");
  const std::string told = joined(transcode(source, path("copy.pgm")).warnings);
  EXPECT_NE(told.find(": color is dropped"), std::string::npos) << told;
  EXPECT_EQ(told.find("YUV"), std::string::npos) << told;
}

/// An option of libaom's encoder for a file of this name.
std::int64_t libaom_option(const std::string& file, const std::string& option, const WriterOptions& options) {
  EncoderSource source;
  source.format = frame_format(AV_PIX_FMT_YUV420P).value();
  source.format.width = 64;
  source.format.height = 48;
  const FrameHandle properties = make_frame();
  source.properties = properties.get();
  std::vector<std::string> warnings;
  const Encoder encoder(file, choose_container(file, ""), source, options, warnings);
  EXPECT_STREQ(encoder.context().codec->name, "libaom-av1") << file;
  std::int64_t value = -1;
  EXPECT_EQ(av_opt_get_int(encoder.context().priv_data, option.c_str(), 0, &value), 0) << option;
  return value;
}

// Its default speed is the slowest, which takes a second per small frame.
TEST(EncoderDefaults, LibaomIsNotAtItsSlowest) {
  if (avcodec_find_encoder_by_name("libaom-av1") == nullptr) {
    GTEST_SKIP() << "this libavcodec has no libaom-av1";
  }
  EXPECT_EQ(libaom_option("a.avif", "crf", {}), 6) << "quality 90";
  EXPECT_EQ(libaom_option("a.avif", "crf", {.picture_quality = "50"}), 32);
  EXPECT_EQ(libaom_option("a.avif", "crf", {.crf = "20"}), 20);
  for (const std::string file : {"a.avif", "a.obu"}) {
    EXPECT_EQ(libaom_option(file, "cpu-used", {}), 6);
    EXPECT_EQ(libaom_option(file, "row-mt", {}), 1);
    EXPECT_EQ(libaom_option(file, "cpu-used", {.encoder_options = {{"cpu-used", "3"}}}), 3);
  }
}

}  // namespace
}  // namespace limpid::io
