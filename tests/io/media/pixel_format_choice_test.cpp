// SPDX-License-Identifier: MIT
// The pixel format for an encoder, and its losses.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/media/pixel_format.h"

namespace limpid::io {
namespace {

FrameFormat format_of(AVPixelFormat format, int width = 64, int height = 48) {
  FrameFormat source = frame_format(format).value();
  source.width = width;
  source.height = height;
  return source;
}

class PixelFormatChoiceTest : public ::testing::Test {
 protected:
  /// For `source` in a file of this name.
  static PixelFormatRequest request(const std::string& file, const std::string& encoder,
                                    const FrameFormat& source) {
    const AVCodec* const codec = avcodec_find_encoder_by_name(encoder.c_str());
    if (codec == nullptr) {
      throw std::runtime_error("no encoder " + encoder);
    }
    return {*av_guess_format(nullptr, file.c_str(), nullptr), *codec, source};
  }
  static std::string best(const PixelFormatRequest& request) {
    return name_of(best_pixel_format(pixel_format_candidates(request), request.source));
  }
  using Losses = std::vector<std::string>;
};

TEST_F(PixelFormatChoiceTest, SamplesThatTheEncoderTakesStayAsTheyAre) {
  for (const AVPixelFormat format : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_GBRP}) {
    const PixelFormatRequest asked = request("a.mkv", "ffv1", format_of(format));
    EXPECT_TRUE(same_samples(*frame_format(best_pixel_format(pixel_format_candidates(asked), asked.source)),
                             asked.source));
    EXPECT_EQ(pixel_format_losses(asked, format), Losses{});
  }
}

TEST_F(PixelFormatChoiceTest, CandidatesSuitTheSizeAndPlanarOnesComeFirst) {
  const auto odd = pixel_format_candidates(request("a.mkv", "libx264", format_of(AV_PIX_FMT_YUV420P, 63)));
  EXPECT_TRUE(std::ranges::all_of(odd, [](AVPixelFormat f) { return divides(f, 63, 48); }));
  EXPECT_NE(std::ranges::find(odd, AV_PIX_FMT_YUV444P), odd.end());
  const auto even = pixel_format_candidates(request("a.mkv", "libx264", format_of(AV_PIX_FMT_YUV420P)));
  EXPECT_NE(std::ranges::find(even, AV_PIX_FMT_YUV420P), even.end());
  EXPECT_EQ(std::ranges::find(even, AV_PIX_FMT_YUVJ420P), even.end()) << "it implies full range";
  EXPECT_TRUE(std::ranges::is_partitioned(even, is_planar));
}

TEST_F(PixelFormatChoiceTest, ContainersAndEncodersLimitTheCandidates) {
  const PixelFormatRequest y4m = request("a.y4m", "wrapped_avframe", format_of(AV_PIX_FMT_GBRP));
  EXPECT_EQ(best(y4m), "yuv444p");
  EXPECT_EQ(pixel_format_losses(y4m, AV_PIX_FMT_YUV444P), Losses{"RGB becomes YUV"});
  const PixelFormatRequest any = request("a.nut", "rawvideo", format_of(AV_PIX_FMT_GBRP12));
  EXPECT_TRUE(accepted_pixel_formats(any.container, any.codec).empty());
  EXPECT_EQ(pixel_format_candidates(any), std::vector{pixel_format(any.source)});
}

TEST_F(PixelFormatChoiceTest, AlphaCountsMoreThanDepthAndDepthMoreThanChroma) {
  const FrameFormat deep = format_of(AV_PIX_FMT_YUV444P10);
  EXPECT_EQ(best_pixel_format({AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV420P10}, deep), AV_PIX_FMT_YUV420P10);
  const FrameFormat alpha = format_of(AV_PIX_FMT_YUVA444P);
  EXPECT_EQ(best_pixel_format({AV_PIX_FMT_YUVA420P, AV_PIX_FMT_YUV444P}, alpha), AV_PIX_FMT_YUVA420P);
  EXPECT_EQ(best_pixel_format({AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVA444P16}, alpha), AV_PIX_FMT_YUVA444P16);
  EXPECT_EQ(best_pixel_format({AV_PIX_FMT_GRAY16, AV_PIX_FMT_YUV420P}, alpha), AV_PIX_FMT_YUV420P);
  EXPECT_EQ(best_pixel_format({}, alpha), AV_PIX_FMT_NONE);
}

TEST_F(PixelFormatChoiceTest, RgbForPlayersGetsHalvedChromaUnlessTheCodecIsNamed) {
  PixelFormatRequest asked = request("a.mp4", "libx264", format_of(AV_PIX_FMT_GBRP));
  EXPECT_EQ(best(asked), "yuv420p");
  EXPECT_EQ(pixel_format_losses(asked, AV_PIX_FMT_YUV420P),
            (Losses{"RGB becomes YUV", "chroma is halved, as players expect (--pix-fmt yuv444p keeps it)"}));
  asked.codec_is_default = false;
  EXPECT_EQ(best(asked), "yuv444p");
  EXPECT_EQ(pixel_format_losses(asked, AV_PIX_FMT_YUV420P),
            (Losses{"RGB becomes YUV", "chroma loses resolution"}));
  EXPECT_EQ(best(request("a.mkv", "libx264", format_of(AV_PIX_FMT_GBRP))), "yuv444p");
}

TEST_F(PixelFormatChoiceTest, EachLossIsNamed) {
  const auto losses = [](AVPixelFormat from, AVPixelFormat to, int width = 64,
                         const std::string& file = "a.mkv") {
    return pixel_format_losses(request(file, "libx264", format_of(from, width)), to);
  };
  EXPECT_EQ(losses(AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV420P10), Losses{"12 bits become 10 bits"});
  EXPECT_EQ(losses(AV_PIX_FMT_GRAYF32, AV_PIX_FMT_GRAY10), Losses{"float becomes 10 bits"});
  EXPECT_EQ(losses(AV_PIX_FMT_YUVA420P, AV_PIX_FMT_YUV420P), Losses{"alpha is dropped"});
  EXPECT_EQ(losses(AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV420P), Losses{"chroma loses resolution"});
  EXPECT_EQ(losses(AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8).front(), "color is dropped");
  EXPECT_EQ(losses(AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P, 63),
            Losses{"an odd size can't be halved for chroma"});
  EXPECT_EQ(losses(AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P, 63, "a.mp4"),
            Losses{"an odd size can't be halved for chroma, and few players show this (-c libvpx-vp9 or an "
                   "even size would do)"});
}

}  // namespace
}  // namespace limpid::io
