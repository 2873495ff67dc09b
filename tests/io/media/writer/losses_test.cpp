// SPDX-License-Identifier: MIT
#include "io/media/writer/losses.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "io/media/picture_metadata.h"
#include "tests/io/media/writer/made_source.h"

namespace limpid::io {
namespace {

using Sentences = std::vector<std::string>;

class LossesTest : public ::testing::Test {
 protected:
  static LossTarget target(const std::string& container, const std::string& codec = "mpeg4") {
    return {.container = container_named(container), .codec = *avcodec_find_encoder_by_name(codec.c_str())};
  }
  static LossTarget picture(const std::string& codec) {
    LossTarget file = target("image2", codec);
    file.pixel_format = AV_PIX_FMT_RGB24;
    file.is_picture_file = true;
    return file;
  }
  Sentences lost(const LossTarget& file) const { return losses(made_.get(), file); }
  Sentences lost_data_of(const LossTarget& file) const { return lost_data(made_.get(), file); }
  void add_to_frame(AVFrameSideDataType type) { av_frame_new_side_data(made_.first.get(), type, 8); }
  void add_to_stream(AVPacketSideDataType type) {
    constexpr std::array<std::uint8_t, 64> kZeros{};
    add_side_data(*made_.input->streams[0], type, kZeros.data(), kZeros.size());
  }

  MadeSource made_;
};

TEST_F(LossesTest, APlainSourceLosesNothing) {
  EXPECT_EQ(lost(target("avi")), Sentences{});
  EXPECT_EQ(lost(picture("png")), Sentences{});
}

TEST_F(LossesTest, TheActiveFormatIsNamedUnlessItIsTheWholePicture) {
  AVFrameSideData* const active = av_frame_new_side_data(made_.first.get(), AV_FRAME_DATA_AFD, 1);
  active->data[0] = AV_AFD_14_9;
  for (const LossTarget& file : {target("mp4"), target("mpegts", "mpeg2video"), picture("png")}) {
    EXPECT_EQ(lost(file), Sentences{"the source's active format description (AFD 11) is not kept"});
  }
  active->data[0] = AV_AFD_SAME;
  EXPECT_EQ(lost(target("mp4")), Sentences{});
}

TEST_F(LossesTest, DepthThatTheReaderDropsIsNamed) {
  Source source = made_.get();
  const auto sentences = [&](AVPixelFormat decoded, int depth, SampleType type = SampleType::kUint16) {
    source.decoded = decoded;
    source.format.bit_depth = depth;
    source.format.sample_type = type;
    return losses(source, target("matroska"));
  };
  EXPECT_EQ(sentences(AV_PIX_FMT_YUV420P10, 10), Sentences{});
  EXPECT_EQ(sentences(AV_PIX_FMT_YUV420P10, 12), Sentences{});
  EXPECT_EQ(sentences(AV_PIX_FMT_GRAYF32, 32, SampleType::kFloat32), Sentences{});
  EXPECT_EQ(sentences(AV_PIX_FMT_BAYER_BGGR16, 16), Sentences{});
  EXPECT_EQ(sentences(AV_PIX_FMT_BAYER_BGGR16, 8, SampleType::kUint8),
            Sentences{std::string("the source's 16-bit samples (") +
                      av_get_pix_fmt_name(AV_PIX_FMT_BAYER_BGGR16) + ") are read with 8 bits"});
  EXPECT_EQ(sentences(AV_PIX_FMT_GBRPF32, 16),
            Sentences{std::string("the source's 32-bit float samples (") +
                      av_get_pix_fmt_name(AV_PIX_FMT_GBRPF32) + ") are read with 16 bits"});
}

TEST_F(LossesTest, ChaptersAndTimecodesNeedAContainerForThem) {
  made_.add_chapter(0, 100, "One");
  av_dict_set(&made_.input->metadata, "timecode", "01:00:00:00", 0);
  EXPECT_EQ(lost(target("matroska")), Sentences{});
  EXPECT_EQ(lost(target("mp4")), Sentences{});
  EXPECT_EQ(lost(target("avi")), (Sentences{"avi can't hold the source's chapters",
                                            "avi can't hold the source's timecode (01:00:00:00)"}));
  av_dict_set(&made_.input->streams[0]->metadata, "timecode", "02:00:00:00", 0);
  EXPECT_EQ(lost(target("avi")).back(), "avi can't hold the source's timecode (02:00:00:00)");
}

TEST_F(LossesTest, DynamicHdrIsNeverKept) {
  const Sentences sentence{"the source's dynamic HDR metadata (HDR10+ or Dolby Vision) is not kept"};
  add_to_stream(AV_PKT_DATA_DOVI_CONF);
  EXPECT_EQ(lost(target("matroska")), sentence);
  add_to_frame(AV_FRAME_DATA_DYNAMIC_HDR_PLUS);
  EXPECT_EQ(lost(target("mp4")), sentence);
}

TEST_F(LossesTest, PackingOfFramesIsKeptByContainersOrEncoders) {
  add_to_frame(AV_FRAME_DATA_STEREO3D);
  EXPECT_EQ(lost(target("mp4")), Sentences{});
  EXPECT_EQ(lost(target("avi", "mpeg2video")), Sentences{});
  EXPECT_EQ(lost(target("webm")).size(), 1U);
  EXPECT_EQ(lost(target("avi")),
            Sentences{"the source's packing of stereoscopic (3D) pictures is not kept: avi with mpeg4 "
                      "can't store it"});
}

TEST_F(LossesTest, PackingOfAContainerIsNotSeenByEncoders) {
  add_to_stream(AV_PKT_DATA_STEREO3D);
  EXPECT_EQ(lost(target("webm")), Sentences{});
  EXPECT_EQ(lost(target("avi", "mpeg2video")).size(), 1U);
}

TEST_F(LossesTest, MetadataOfPicturesIsKeptByPictures) {
  PictureMetadata metadata;
  metadata.exif = {'I', 'I', '*', 0, 8, 0, 0, 0, 0, 0};
  metadata.xmp = {'<', 'x', '/', '>'};
  metadata.others = {{"IPTC data"}, {"text (Title)", AV_CODEC_ID_PNG, {0}}};
  keep_metadata(*made_.first, metadata);
  EXPECT_EQ(lost_data_of(picture("png")), Sentences{"the source's IPTC data is not kept"});
  EXPECT_EQ(lost(picture("ppm")),
            (Sentences{"the source's EXIF data (camera, time, place, rights) is not kept: ppm can't hold it",
                       "the source's XMP data (rights, rating, keywords) is not kept: ppm can't hold it"}));
  EXPECT_EQ(lost_data_of(picture("ppm")),
            (Sentences{"the source's IPTC data is not kept", "the source's text (Title) is not kept"}));
  EXPECT_EQ(lost(target("webm", "png")).front(),
            "the source's EXIF data (camera, time, place, rights) is not kept: webm can't hold it");
}

TEST_F(LossesTest, DataBehindTheBoxesOfAnMp4IsNamed) {
  Source source = made_.get();
  source.unread_bytes = 12;
  EXPECT_EQ(
      lost_data(source, target("mp4")),
      Sentences{"the source's 12 bytes behind its MP4 boxes (such as a camera's motion data) are not kept"});
}

TEST_F(LossesTest, SamplesOfAnotherRangeAreNamed) {
  PictureMetadata metadata;
  metadata.stored.white = 4096;
  metadata.stored.bits = 64;
  keep_metadata(*made_.first, metadata);
  LossTarget file = picture("tiff");
  file.pixel_format = AV_PIX_FMT_GRAYF32;
  EXPECT_EQ(lost_data_of(file), Sentences{"the source's 64-bit samples are read with 32 bits"});
  file.pixel_format = AV_PIX_FMT_GRAY16;
  EXPECT_EQ(lost_data_of(file).back(),
            "the source's range of samples is not kept: 4096 becomes white; .tif and .exr keep the range");
}

TEST_F(LossesTest, AColorProfileIsForThePixelsThatItDescribes) {
  add_to_frame(AV_FRAME_DATA_ICC_PROFILE);
  EXPECT_EQ(lost(picture("png")), Sentences{});
  LossTarget other = picture("png");
  other.keeps_profile = false;
  EXPECT_EQ(lost(other), Sentences{"the source's color profile (ICC) is not kept: it isn't for rgb24"});
  EXPECT_EQ(lost(picture("ppm")),
            Sentences{"the source's color profile (ICC) is not kept: ppm can't hold it"});
  EXPECT_EQ(lost(target("avi")),
            Sentences{"the source's color profile (ICC) is not kept: avi can't hold it"});
}

}  // namespace
}  // namespace limpid::io
