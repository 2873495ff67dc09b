#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <tuple>

#include "tests/io/media.h"

namespace limpid::io {
namespace {

class TagsTest : public MediaTest {};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(TagsTest, ColorTagsAreKept) {
  const std::string source = make(
      "source.mkv",
      "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -vf setsar=4/3 -pix_fmt yuv420p10le -c:v libx265 -x265-params "
      "log-level=none -color_range tv -colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084");
  EXPECT_EQ(read_clip(source).video.format.matrix, ColorMatrix::kBt2020);
  EXPECT_EQ(read_clip(source).video.format.range, ColorRange::kLimited);
  for (const std::string name : {"copy.mkv", "copy.mp4"}) {
    transcode(source, path(name));
    const std::string frame = probe_frame(path(name));
    for (const std::string tag :
         {"color_range=tv", "color_space=bt2020nc", "color_primaries=bt2020", "color_transfer=smpte2084",
          "sample_aspect_ratio=4:3", "pix_fmt=yuv420p10le"}) {
      EXPECT_TRUE(contains(frame, tag)) << name << ": " << tag << "\n" << frame;
    }
  }
}

TEST_F(TagsTest, UntaggedSourcesStayUntagged) {
  const std::string source = make("source.y4m", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -pix_fmt yuv420p");
  transcode(source, path("copy.mp4"));
  const std::string frame = probe_frame(path("copy.mp4"));
  EXPECT_TRUE(contains(frame, "color_space=unknown")) << frame;
  EXPECT_TRUE(contains(frame, "color_transfer=unknown")) << frame;
}

TEST_F(TagsTest, FullRangeStaysFull) {
  const std::string source =
      make("source.avi", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v mjpeg -pix_fmt yuvj420p");
  EXPECT_EQ(read_clip(source).video.format.range, ColorRange::kFull);
  transcode(source, path("copy.mp4"));
  EXPECT_TRUE(contains(probe_frame(path("copy.mp4")), "color_range=pc"));
}

// Red by the matrix of the tags: 0.299 of the luma range for BT.601, 0.2126 for BT.709.
TEST_F(TagsTest, RgbIsConvertedByTheMatrixThatIsWritten) {
  for (const auto& [size, luma, tag] : {std::tuple{"640x480", 16 + 219 * 0.299, "smpte170m"},
                                        std::tuple{"1280x720", 16 + 219 * 0.2126, "bt709"}}) {
    const std::string source = make("source.png", std::string("-f lavfi -i color=red:s=") + size +
                                                      " -frames:v 1 -update 1 -pix_fmt rgb24");
    const Clip original = read_clip(source);
    ASSERT_EQ(to_string(original.video.format), std::string(size) + " RGB 8 bit");
    transcode(source, path("copy.mkv"), {.crf = "1", .overwrite = Overwrite::kAlways});
    const Clip copy = read_clip(path("copy.mkv"));
    EXPECT_NEAR(copy.frames[0].planes[0].row<std::uint8_t>(9)[9], luma, 1.5) << size;
    const std::string frame = probe_frame(path("copy.mkv"));
    EXPECT_TRUE(contains(frame, std::string("color_space=") + tag)) << frame;
    EXPECT_TRUE(contains(frame, "color_range=tv")) << frame;
  }
}

TEST_F(TagsTest, InterlacingIsSeenAndKept) {
  const std::string source =
      make("source.mkv",
           "-f lavfi -i testsrc2=s=64x64:r=50:d=0.4 -vf interlace=scan=tff -c:v libx264 -flags +ilme+ildct");
  const Clip original = read_clip(source);
  ASSERT_FALSE(original.frames.empty());
  EXPECT_TRUE(original.frames[0].interlaced);
  transcode(source, path("copy.mp4"));
  EXPECT_TRUE(read_clip(path("copy.mp4")).frames[0].interlaced);
  EXPECT_TRUE(contains(probe_frame(path("copy.mp4")), "top_field_first=1"));
}

TEST_F(TagsTest, MetadataChaptersSubtitlesAndDispositionsAreKept) {
  std::ofstream(path("meta.txt"))
      << ";FFMETADATA1\ntitle=A title\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=100\nEND=300\n"
         "title=A chapter\n";
  std::ofstream(path("words.srt")) << "1\n00:00:00,100 --> 00:00:00,300\nWords\n";
  const std::string source =
      make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -f lavfi -i sine=d=0.4 -i '" +
                             path("words.srt") + "' -i '" + path("meta.txt") +
                             "' -map_metadata 3 -map_chapters 3 -map 0 -map 1 -map 2 "
                             "-c:v ffv1 -c:a aac -c:s srt -metadata:s:a language=fra -disposition:a forced");
  EXPECT_EQ(joined(transcode(source, path("copy.mkv")).warnings), "");
  const std::string streams = probe_streams(path("copy.mkv"));
  for (const std::string part : {"TAG:title=A title", "TAG:title=A chapter", "start_time=0.100000",
                                 "codec_name=subrip", "TAG:language=fra", "DISPOSITION:forced=1"}) {
    EXPECT_TRUE(contains(streams, part)) << part << "\n" << streams;
  }
  EXPECT_EQ(packet_hashes(path("copy.mkv"), "s"), packet_hashes(source, "s"));

  const Transcoded mp4 = transcode(source, path("copy.mp4"));
  EXPECT_EQ(joined(mp4.warnings), "mp4 can't hold the subtitle stream #2 (subrip): it becomes mov_text\n");
  EXPECT_TRUE(contains(probe_streams(path("copy.mp4")), "TAG:title=A chapter"));
}

TEST_F(TagsTest, AttachmentsAndCoverArtAreKept) {
  const std::string cover = make("cover.png", "-f lavfi -i testsrc2=s=32x32 -frames:v 1 -update 1");
  std::ofstream(path("font.ttf")) << "not really a font";
  const std::string video = "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 ";
  const std::string mkv = make(
      "source.mkv", video + "-c:v ffv1 -attach '" + path("font.ttf") + "' -metadata:s:t mimetype=font/ttf");
  EXPECT_EQ(joined(transcode(mkv, path("copy.mkv")).warnings), "");
  EXPECT_TRUE(contains(probe_streams(path("copy.mkv")), "TAG:filename=font.ttf"));

  const std::string mp4 = make("source.mp4", video + "-i '" + cover +
                                                 "' -map 0 -map 1 -c:v:0 libx264 -c:v:1 png -disposition:v:1 "
                                                 "attached_pic");
  EXPECT_EQ(joined(transcode(mp4, path("copy.mp4")).warnings), "");
  EXPECT_TRUE(contains(probe_streams(path("copy.mp4")), "DISPOSITION:attached_pic=1"));
  EXPECT_EQ(read_clip(path("copy.mp4")).frames.size(), 5U);
}

TEST_F(TagsTest, RotationIsKeptByMp4AndMissedAloudByMatroska) {
  const std::string source = data_file("odd/rot90.mov");
  if (source.empty()) {
    GTEST_SKIP() << "no test data in " << LIMPID_DATA_DIR;
  }
  EXPECT_EQ(joined(transcode(source, path("copy.mp4")).warnings), "");
  EXPECT_TRUE(contains(probe_streams(path("copy.mp4")), "rotation=-90"));
  EXPECT_TRUE(contains(joined(transcode(source, path("copy.mkv")).warnings), "rotation"));
}

TEST_F(TagsTest, PicturesAreTurnedUnlessNoPixelFormatHoldsThem) {
  const auto make_rotated = [&](const std::string& format, const std::string& rotation) {
    const std::string upright =
        make("upright.mov", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.08 -c:v ffv1 -pix_fmt " + format);
    return make(format + ".mov", "-i " + upright + " -c copy -metadata:s:v:0 rotate=" + rotation);
  };
  for (const std::string format : {"yuv410p", "yuv420p", "yuv422p", "yuv440p"}) {
    SCOPED_TRACE(format);
    const std::string source = make_rotated(format, "90");
    const std::string upright = format == "yuv422p" ? "yuv440p" : format == "yuv440p" ? "yuv422p" : format;
    const Clip stored = read_clip(source);
    const std::string copy = path(format + ".mkv");
    EXPECT_TRUE(contains(joined(transcode(source, copy, {.codec = "ffv1"}).warnings), "is turned"));
    const Clip turned = read_clip(copy);
    ASSERT_EQ(turned.frames.size(), 2U);
    EXPECT_EQ(turned.video.pixel_format, upright);
    if (upright == format) {  // ffmpeg's filter turns nothing else
      expect_same_frames(read_clip(make("expected.nut", "-i " + source + " -c:v rawvideo")).frames,
                         turned.frames);
    }
    for (int p = 0; p < 3; ++p) {
      const Plane& from = stored.frames[1].planes[p];
      const Plane& to = turned.frames[1].planes[p];
      ASSERT_EQ(to.width, from.height);
      ASSERT_EQ(to.height, from.width);
      for (int y = 0; y < to.height; ++y) {
        for (int x = 0; x < to.width; ++x) {
          ASSERT_EQ(to.row<std::uint8_t>(y)[x], from.row<std::uint8_t>(x)[from.width - 1 - y]);
        }
      }
    }
  }
  for (const std::string format : {"yuv411p", "yuv422p16le", "yuva422p"}) {
    SCOPED_TRACE(format);
    const std::string source = make_rotated(format, "90");
    const std::string copy = path(format + ".mkv");
    EXPECT_TRUE(contains(joined(transcode(source, copy, {.codec = "ffv1"}).warnings), "as it is stored"));
    expect_same_frames(read_clip(source).frames, read_clip(copy).frames);
  }
  const std::string source = make_rotated("yuv411p", "180");
  EXPECT_TRUE(contains(joined(transcode(source, path("180.mkv"), {.codec = "ffv1"}).warnings), "is turned"));
  EXPECT_EQ(read_clip(path("180.mkv")).video.pixel_format, "yuv411p");
}

TEST_F(TagsTest, Hdr10MetadataIsKept) {
  const std::string source = data_file("odd/hdr10_av1_1080p60.mp4");
  if (source.empty()) {
    GTEST_SKIP() << "no test data in " << LIMPID_DATA_DIR;
  }
  const auto hdr_lines = [](const std::string& probed) {
    std::string kept;
    for (const std::string key :
         {"red_x=", "white_point_y=", "min_luminance=", "max_luminance=", "max_content=", "max_average="}) {
      const std::size_t at = probed.find(key);
      EXPECT_NE(at, std::string::npos) << key;
      if (at != std::string::npos) {
        // "34000/50000": equal values may come in different fractions
        const std::string value = probed.substr(at + key.size(), probed.find('\n', at) - at - key.size());
        const std::size_t slash = value.find('/');
        const double number =
            std::stod(value) / (slash == std::string::npos ? 1 : std::stod(value.substr(slash + 1)));
        kept += key + std::to_string(std::lround(number * 10000)) + "\n";
      }
    }
    return kept;
  };
  const std::string expected = hdr_lines(probe_streams(source));
  for (const std::string name : {"copy.mp4", "copy.mkv"}) {
    Reader reader(source);
    Writer writer(path(name), reader, {.preset = "ultrafast"});
    int frames = 0;
    while (frames < 2) {  // the whole clip would take long
      const Reader::Item item = reader.read();
      if (const auto* const frame = std::get_if<Frame>(&item)) {
        writer.write(*frame);
        ++frames;
      }
    }
    writer.finish();
    EXPECT_EQ(hdr_lines(probe_streams(path(name))), expected) << name;
  }
}

TEST_F(TagsTest, LargestOfSeveralVideoStreamsIsTaken) {
  const std::string source = data_file("odd/multistream_nasa.mp4");
  if (source.empty()) {
    GTEST_SKIP() << "no test data in " << LIMPID_DATA_DIR;
  }
  const Reader reader(source);
  EXPECT_EQ(to_string(reader.video().format), "480x270 YUV 4:2:0 8 bit");
  const Writer writer(path("copy.mp4"), reader, {});
  EXPECT_TRUE(contains(joined(writer.warnings()), "the video stream #0 (h264) is left out"));
}

}  // namespace
}  // namespace limpid::io
