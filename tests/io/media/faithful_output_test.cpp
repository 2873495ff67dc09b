// SPDX-License-Identifier: MIT
// Output has the right samples and colors for other programs, or is refused.
extern "C" {
#include <libavutil/dovi_meta.h>
}

#include <gtest/gtest.h>
#include <tiffio.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "core/frame/metrics.h"
#include "io/media/encoder.h"
#include "io/media/first_frame_check.h"
#include "io/media/lossless_file.h"
#include "io/media/traits.h"
#include "io/media/writer/losses.h"
#include "io/media/writer/sinks.h"
#include "tests/io/media/media.h"
#include "tests/io/media/sample_psnr.h"
#include "tests/io/media/writer/made_source.h"

namespace limpid::io {
namespace {

class FaithfulOutputTest : public MediaTest {
 protected:
  std::string picture(const std::string& name, const std::string& format) const {
    return make(name, "-f lavfi -i testsrc2=s=64x48,noise=alls=9 -frames:v 1 -update 1 -pix_fmt " + format);
  }
  /// The first frame as ffmpeg converts it to RGB.
  std::string rgb_of(const std::string& file) const {
    return output_of("ffmpeg -nostdin -v error -i '" + file +
                     "' -frames:v 1 -vf scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp -f rawvideo "
                     "-pix_fmt rgb24 -");
  }
};

std::string sentence_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(FaithfulOutputTest, Ffv1IsExactForEverySmallSize) {
  for (const char* const size : {"2x64", "64x2", "2x2", "3x7", "6x3", "1x9", "130x2"}) {
    for (const char* const format : {"gray", "yuv444p", "yuv422p", "yuv420p10le", "gbrp"}) {
      SCOPED_TRACE(std::string(size) + " " + format);
      const std::string source =
          make("a.nut", "-f lavfi -i testsrc2=s=64x64,noise=alls=50,scale=" + std::string(size) +
                            ",setsar=1 -frames:v 2 -c:v rawvideo -pix_fmt " + format);
      const Clip clip = read_clip(source);
      transcode(source, path("a.mkv"), {.codec = "ffv1", .overwrite = Overwrite::kAlways});
      expect_same_frames(clip.frames, read_clip(path("a.mkv")).frames);
      std::filesystem::remove(path("a.packets"));
      LosslessWriter writer(path("a.packets"), path("a.temporary"), clip.video.format, 1);
      writer.write(clip.frames[0]);
      writer.finish();
      expect_same_frames({clip.frames[0]},
                         {LosslessReader(path("a.packets"), clip.video.format).read().value()});
    }
  }
}

TEST_F(FaithfulOutputTest, DeepJpeg2000IsExactOrRefused) {
  if (avcodec_find_encoder_by_name("libopenjpeg") == nullptr) {
    GTEST_SKIP() << "this FFmpeg lacks libopenjpeg";
  }
  for (const char* const format : {"rgb48be", "gray16be", "rgb24", "gray"}) {
    const std::string source = picture("a.png", format);
    const Transcoded result = transcode(source, path("a.jp2"), {.overwrite = Overwrite::kAlways});
    EXPECT_EQ(result.codec, "libopenjpeg");
    expect_same_frames(read_clip(source).frames, read_clip(path("a.jp2")).frames);
  }
  const std::string deep = picture("deep.png", "rgb48be");
  EXPECT_NE(
      sentence_of([&] { transcode(deep, path("b.jp2"), {.codec = "jpeg2000"}); }).find("use -c libopenjpeg"),
      std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("b.jp2")));
}

TEST_F(FaithfulOutputTest, TheGuardNamesEncodersThatAreWrong) {
  if (avcodec_find_encoder_by_name("libopenjpeg") == nullptr) {
    GTEST_SKIP() << "this FFmpeg lacks libopenjpeg";
  }
  // libavcodec passes planar RGB to OpenJPEG in the wrong order.
  const std::string source = picture("a.png", "rgb24");
  const std::string message = sentence_of(
      [&] { transcode(source, path("a.jp2"), {.codec = "libopenjpeg", .pixel_format = "gbrp"}); });
  EXPECT_TRUE(message == "no error" ||
              message.find("libopenjpeg can't be used for 64x48 gbrp") != std::string::npos)
      << message;
}

TEST_F(FaithfulOutputTest, TheGuardComparesSamples) {
  const AVCodec* const codec = avcodec_find_encoder_by_name("ffv1");
  CodecHandle encoder(avcodec_alloc_context3(codec));
  encoder->width = 64;
  encoder->height = 48;
  encoder->pix_fmt = AV_PIX_FMT_GRAY8;
  encoder->time_base = {1, 25};
  ASSERT_EQ(avcodec_open2(encoder.get(), codec, nullptr), 0);
  const auto gray = [](int value) {
    FrameHandle frame = make_frame();
    frame->format = AV_PIX_FMT_GRAY8;
    frame->width = 64;
    frame->height = 48;
    av_frame_get_buffer(frame.get(), 0);
    std::fill_n(frame->data[0], static_cast<std::size_t>(frame->linesize[0]) * 48,
                static_cast<std::uint8_t>(value));
    return frame;
  };
  const FrameHandle sent = gray(100);
  ASSERT_EQ(avcodec_send_frame(encoder.get(), sent.get()), 0);
  const PacketHandle packet = make_packet();
  ASSERT_EQ(avcodec_receive_packet(encoder.get(), packet.get()), 0);
  using Demand = FirstFrameCheck::Demand;
  for (const Demand demand : {Demand::kEqual, Demand::kSimilar}) {
    for (const int value : {100, 101, 200}) {
      FirstFrameCheck check("a.mkv", *encoder, demand);
      check.note_sent(*gray(value));
      const std::string message = sentence_of([&] { check.note_encoded(*packet); });
      const bool is_right = value == 100 || (demand == Demand::kSimilar && value == 101);
      EXPECT_EQ(message == "no error", is_right) << value << message;
      EXPECT_TRUE(is_right || message.starts_with("a.mkv: the encoder ffv1 can't be used for 64x48 gray"));
    }
  }
}

TEST_F(FaithfulOutputTest, JpegIsFullRangeBt601) {
  const std::string source = make("a.mkv",
                                  "-f lavfi -i testsrc2=s=64x48:r=5 -frames:v 2 -vf "
                                  "scale=out_color_matrix=bt709:out_range=tv,setparams=colorspace=bt709:"
                                  "range=tv -c:v ffv1 -pix_fmt yuv444p");
  const std::string expected = rgb_of(source);
  transcode(source, path("a_%d.jpg"));
  EXPECT_GT(sample_psnr(expected, rgb_of(path("a_1.jpg"))), 38);
  transcode(source, path("a.avi"), {.codec = "mjpeg"});
  EXPECT_GT(sample_psnr(expected, rgb_of(path("a.avi"))), 38);
}

TEST_F(FaithfulOutputTest, TiffAndJpeg2000AreRgbForYuvSources) {
  const std::string source = make("a.mkv",
                                  "-f lavfi -i testsrc2=s=64x48:r=5 -frames:v 1 -vf "
                                  "scale=out_color_matrix=bt709:out_range=tv,setparams=colorspace=bt709:"
                                  "range=tv -c:v ffv1 -pix_fmt yuv444p");
  const std::string photo = make("photo.jpg", "-f lavfi -i testsrc2=s=64x48 -frames:v 1 -update 1 -q:v 2");
  for (const std::string& from : {source, photo}) {
    for (const char* const extension : {"tif", "jp2"}) {
      const std::string to = path(std::string("b_%d.") + extension);
      const Transcoded result = transcode(from, to, {.overwrite = Overwrite::kAlways});
      EXPECT_NE(result.pixel_format.find("rgb"), std::string::npos) << result.pixel_format;
      EXPECT_GT(sample_psnr(rgb_of(from), rgb_of(path(std::string("b_1.") + extension))), 45) << extension;
    }
  }
}

TEST_F(FaithfulOutputTest, TiffStacksAreWritten) {
  const std::string source =
      make("a.mkv", "-f lavfi -i testsrc2=s=64x48:r=5 -frames:v 5 -c:v ffv1 -pix_fmt gray16le");
  transcode(source, path("a.tif"));
  TIFF* const file = TIFFOpen(path("a.tif").c_str(), "r");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(TIFFNumberOfDirectories(file), 5);
  TIFFClose(file);
  expect_same_frames(read_clip(source).frames, read_clip(path("a.tif")).frames);
}

TEST_F(FaithfulOutputTest, PictureQualityIsOneScale) {
  const std::string source =
      make("a.png", "-f lavfi -i testsrc2=s=128x96,gblur=2,noise=alls=4 -frames:v 1 -update 1");
  for (const char* const extension : {"jpg", "webp", "avif", "jxl"}) {
    SCOPED_TRACE(extension);
    const AVOutputFormat* const container =
        av_guess_format(nullptr, ("a." + std::string(extension)).c_str(), nullptr);
    if (container == nullptr || container->video_codec == AV_CODEC_ID_NONE) {
      continue;
    }
    std::uintmax_t last = 0;
    for (const char* const quality : {"1", "40", "75", "90", "100"}) {
      const std::string to = path("a." + std::string(extension));
      if (sentence_of([&] {
            transcode(source, to, {.picture_quality = quality, .overwrite = Overwrite::kAlways});
          }).find("no encoder") != std::string::npos) {
        break;
      }
      EXPECT_GT(std::filesystem::file_size(to), last) << quality;
      last = std::filesystem::file_size(to);
    }
  }
  for (const char* const wrong : {"0", "101", "x", "9.5"}) {
    EXPECT_THROW(transcode(source, path("b.jpg"), {.picture_quality = wrong}), UsageError) << wrong;
  }
  EXPECT_THROW(transcode(source, path("b.png"), {.picture_quality = "50"}), UsageError);
  EXPECT_THROW(transcode(source, path("b.jpg"), {.bitrate = "1M", .picture_quality = "50"}), UsageError);
}

TEST_F(FaithfulOutputTest, RatesThatContradictOrLackAUnitAreRefused) {
  const std::string source = make("a.mkv", "-f lavfi -i testsrc2=s=64x48:r=5 -frames:v 2 -c:v ffv1");
  const auto refusal = [&](const WriterOptions& options) {
    return sentence_of([&] { transcode(source, path("b.mkv"), options); });
  };
  EXPECT_NE(refusal({.crf = "20", .bitrate = "4M"}).find("exclude each other"), std::string::npos);
  EXPECT_EQ(refusal({.bitrate = "4"}), "--bitrate 4 is 4 bits per second; use 4M");
  EXPECT_EQ(refusal({.bitrate = "500"}), "--bitrate 500 is 500 bits per second; use 500k");
  EXPECT_EQ(refusal({.audio_bitrate = "96"}), "--audio-bitrate 96 is 96 bits per second; use 96k");
  EXPECT_EQ(refusal({.codec = "libvpx-vp9", .crf = "40", .bitrate = "200k"}), "no error") << "a limit";
}

TEST_F(FaithfulOutputTest, AnimationsKeepLoopsAndDelays) {
  const std::string once = make("once.gif", "-f lavfi -i testsrc2=s=32x32:r=10 -frames:v 4 -loop -1");
  const std::string thrice =
      make("thrice.gif", "-f lavfi -i testsrc2=s=32x32:r=10 -frames:v 4 -loop 3 -final_delay 70");
  const std::string endless =
      make("endless.apng", "-f lavfi -i testsrc2=s=32x32:r=10 -frames:v 4 -plays 0 -final_delay 7/10");
  const std::string video = make("video.mkv", "-f lavfi -i testsrc2=s=32x32:r=10 -frames:v 4 -c:v ffv1");
  const auto loops_of = [](const std::string& file) {
    const std::string bytes = bytes_of(file);
    const auto byte = [&](std::size_t at) {
      return static_cast<int>(static_cast<unsigned char>(bytes.at(at)));
    };
    if (file.ends_with("gif")) {
      const std::size_t at = bytes.find("NETSCAPE2.0");
      return at == std::string::npos ? 1 : byte(at + 13) + 256 * byte(at + 14);
    }
    return file.ends_with("apng") ? byte(bytes.find("acTL") + 11) : byte(bytes.find("ANIM") + 12);
  };
  for (const auto& [source, loops] : {std::pair{once, 1}, {thrice, 3}, {endless, 0}, {video, 0}}) {
    for (const char* const extension : {"gif", "apng", "webp"}) {
      const std::string to = path("out." + std::string(extension));
      transcode(source, to, {.overwrite = Overwrite::kAlways});
      EXPECT_EQ(loops_of(to), loops) << source << " " << extension;
      if (loops != 3 && loops != 0) {
        continue;
      }
      const double last = source == video ? 0.1 : 0.7;
      if (std::string(extension) == "webp") {
        const std::string bytes = bytes_of(to);
        const std::size_t at = bytes.rfind("ANMF") + 8 + 12;
        EXPECT_EQ(static_cast<unsigned char>(bytes[at]) + 256 * static_cast<unsigned char>(bytes[at + 1]),
                  std::lround(last * 1000));
      } else {
        const std::string packets =
            output_of("ffprobe -v error -show_entries packet=duration_time -of csv=p=0 '" + to + "'");
        EXPECT_NEAR(std::stod(packets.substr(packets.rfind("0."))), last, 0.005) << packets;
      }
    }
  }
}

TEST_F(FaithfulOutputTest, AnimatedWebpKeepsAlpha) {
  const std::string source =
      make("a.apng",
           "-f lavfi -i testsrc2=s=44x48:r=5,format=rgba,pad=64:48:20:0:black@0 -frames:v 3 -pix_fmt rgba");
  transcode(source, path("a.webp"));
  const std::string bytes = bytes_of(path("a.webp"));
  constexpr std::size_t kFlags = 20;
  ASSERT_EQ(bytes.substr(12, 4), "VP8X");
  EXPECT_EQ(bytes[kFlags] & 0x10, 0x10);
}

TEST_F(FaithfulOutputTest, DolbyVisionWithoutABaseLayerIsRefused) {
  std::size_t size = 0;
  AVDOVIDecoderConfigurationRecord* const record = av_dovi_alloc(&size);
  for (const int profile : {8, 5}) {
    record->dv_profile = static_cast<std::uint8_t>(profile);
    MadeSource of_profile;
    add_side_data(*of_profile.input->streams[0], AV_PKT_DATA_DOVI_CONF,
                  reinterpret_cast<std::uint8_t*>(record), size);
    EXPECT_EQ(sentence_of([&] { require_displayable(of_profile.get()); }) == "no error", profile == 8);
  }
  av_free(record);
}

TEST_F(FaithfulOutputTest, AdviceNamesTheOptionThatKeepsAMaster) {
  const auto advice = [&](const std::string& codec, const WriterOptions& options = {}) {
    const std::string source = make("a.mov", "-f lavfi -i testsrc2=s=64x48:r=5 -frames:v 1 -c:v " + codec);
    Reader reader(source);
    WriterOptions replacing = options;
    replacing.overwrite = Overwrite::kAlways;
    return Writer(path("b.mkv"), reader, replacing).advice();
  };
  EXPECT_NE(advice("ffv1").find("lossless (ffv1)"), std::string::npos);
  EXPECT_NE(advice("prores_ks -pix_fmt yuv422p10le").find("--for edit writes ProRes"), std::string::npos);
  EXPECT_EQ(advice("ffv1", {.codec = "ffv1"}), "");
  EXPECT_EQ(advice("libx264"), "encoder: libx264 with its default, crf 23; a lower --crf keeps more detail");
}

TEST_F(FaithfulOutputTest, RecordingsForPlayersAreHalved) {
  const std::string source =
      make("a.mkv", "-f lavfi -i testsrc2=s=64x48:r=5 -frames:v 1 -c:v ffv1 -pix_fmt yuv422p");
  EXPECT_EQ(transcode(source, path("b.mkv"), {.for_players = true}).pixel_format, "yuv420p");
  EXPECT_EQ(transcode(source, path("c.mkv"), {.pixel_format = "yuv422p", .for_players = true}).pixel_format,
            "yuv422p");
}

TEST_F(FaithfulOutputTest, OnlyTheProgramOfTheVideoIsCopied) {
  const std::string source =
      make("a.ts",
           "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -f lavfi -i sine=d=0.4 -f lavfi -i "
           "testsrc2=s=32x32:r=25:d=0.4 -f "
           "lavfi -i sine=300:d=0.4 -map 0 -map 1 -map 2 -map 3 -c:v mpeg2video -c:a mp2 -program "
           "title=a:st=0:st=1 -program title=b:st=2:st=3");
  const Transcoded result = transcode(source, path("b.mkv"));
  EXPECT_NE(joined(result.warnings).find("belongs to another one than the video"), std::string::npos)
      << joined(result.warnings);
  const std::string streams =
      output_of("ffprobe -v error -show_entries stream=codec_type -of csv=p=0 '" + path("b.mkv") + "'");
  EXPECT_EQ(streams, "video\naudio\n");
}

}  // namespace
}  // namespace limpid::io
