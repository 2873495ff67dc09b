// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "io/media/libav.h"
#include "tests/captions.h"
#include "tests/io/media/media.h"
#include "tests/rotated_track.h"

extern "C" {
#include <libavutil/crc.h>
}

namespace limpid::io {
namespace {

class TagsTest : public MediaTest {};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(TagsTest, StatisticsOfTracksThatAreCutAreDropped) {
  const std::string source =
      make("source.mkv",
           "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f lavfi -i sine=d=1 -c:v libx264 -c:a aac "
           "-metadata:s:a NUMBER_OF_FRAMES=95 -metadata:s:a BPS-eng=1 -metadata:s:a title=sound");
  transcode(source, path("whole.mkv"));
  EXPECT_NE(probe_streams(path("whole.mkv")).find("NUMBER_OF_FRAMES=95"), std::string::npos);
  transcode(source, path("cut.mkv"), {}, {.start = 0.2, .end = 0.6});
  const std::string cut = probe_streams(path("cut.mkv"));
  EXPECT_EQ(cut.find("NUMBER_OF_FRAMES"), std::string::npos);
  EXPECT_EQ(cut.find("BPS-eng"), std::string::npos);
  EXPECT_NE(cut.find("title=sound"), std::string::npos);
}

TEST_F(TagsTest, ColorTagsAreKept) {
  const std::string source = make(
      "source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -vf setsar=4/3," + color_filter("smpte2084") +
                        " -pix_fmt yuv420p10le -c:v libx265 -x265-params log-level=none " +
                        color_options("smpte2084"));
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

/// A broadcast: the video of a file with other streams, whose packets have no content.
void write_broadcast(const std::string& video, const std::string& to, const std::vector<AVCodecID>& others) {
  AVFormatContext* opened = nullptr;
  check(avformat_open_input(&opened, video.c_str(), nullptr, nullptr), video, "can't open it");
  const InputHandle input(opened);
  check(avformat_find_stream_info(opened, nullptr), video, "can't read it");
  AVFormatContext* made = nullptr;
  check(avformat_alloc_output_context2(&made, nullptr, "mpegts", to.c_str()), to, "can't make it");
  const MuxerHandle muxer(made);
  check(avcodec_parameters_copy(avformat_new_stream(made, nullptr)->codecpar, opened->streams[0]->codecpar),
        to, "can't make it");
  made->streams[0]->codecpar->codec_tag = 0;
  for (const AVCodecID codec : others) {
    AVCodecParameters& parameters = *avformat_new_stream(made, nullptr)->codecpar;
    parameters.codec_id = codec;
    parameters.codec_type = avcodec_get_type(codec);
  }
  check(avio_open(&made->pb, to.c_str(), AVIO_FLAG_WRITE), to, "can't open it");
  check(avformat_write_header(made, nullptr), to, "can't begin it");
  const PacketHandle packet = make_packet();
  while (av_read_frame(opened, packet.get()) >= 0) {
    av_packet_rescale_ts(packet.get(), opened->streams[0]->time_base, made->streams[0]->time_base);
    const std::int64_t time = packet->dts;
    check(av_interleaved_write_frame(made, packet.get()), to, "can't write");
    for (std::size_t i = 1; i <= others.size(); ++i) {
      const PacketHandle other = make_packet();
      constexpr int kSize = 46;
      check(av_new_packet(other.get(), kSize), to, "can't write");
      std::fill_n(other->data, kSize, std::uint8_t{0x10});
      other->stream_index = static_cast<int>(i);
      other->pts = other->dts = time;
      check(av_interleaved_write_frame(made, other.get()), to, "can't write");
    }
  }
  check(av_write_trailer(made), to, "can't finish it");
  avio_closep(&made->pb);
}

/// Changes the type of the last stream in a stream's program tables to one that libav cannot write.
/// `descriptors` of the program may give that type its meaning.
void retype_last_stream(const std::string& file, char type, const std::string& descriptors) {
  std::string bytes = bytes_of(file);
  constexpr std::size_t kPacket = 188;
  constexpr std::size_t kChecksum = 4;
  for (std::size_t at = 0; at + kPacket <= bytes.size(); at += kPacket) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
    if (((byte(1) & 0x1F) << 8 | byte(2)) != 0x1000) {
      continue;
    }
    constexpr std::size_t kSection = 5;
    const auto length = static_cast<std::size_t>((byte(6) & 0x0F) << 8 | byte(7)) + 3;
    std::string section = bytes.substr(at + kSection, length);
    section[section.size() - kChecksum - 5] = type;  // it has no descriptors
    section.insert(12, descriptors);
    section[11] = static_cast<char>(section[11] + std::ssize(descriptors));
    section[2] = static_cast<char>(section[2] + std::ssize(descriptors));
    section.resize(section.size() - kChecksum);
    const std::uint32_t crc = av_crc(av_crc_get_table(AV_CRC_32_IEEE), 0xFFFFFFFFU,
                                     reinterpret_cast<const std::uint8_t*>(section.data()), section.size());
    for (int shift = 0; shift < 32; shift += 8) {
      section += static_cast<char>(crc >> shift);
    }
    bytes.replace(at + kSection, section.size(), section);
  }
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_F(TagsTest, PackingOfPicturesForTwoEyesIsKeptOrNamed) {
  const std::string by_frames =
      make("frames.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.1 -c:v libx264 -x264-params frame-packing=3");
  const std::string by_container = make("container.mkv",
                                        "-f lavfi -i testsrc2=s=64x48:r=25:d=0.1 -c:v ffv1"
                                        " -pix_fmt yuv420p -metadata:s:v stereo_mode=left_right");
  for (const auto& [source, codec, container] : {std::tuple{by_frames, "libx264", "ts"},
                                                 {by_frames, "libx265", "mkv"},
                                                 {by_frames, "libx265", "mp4"},
                                                 {by_frames, "libx265", "ts"},
                                                 {by_frames, "mpeg2video", "ts"},
                                                 {by_frames, "prores_ks", "mov"},
                                                 {by_container, "libx264", "mp4"},
                                                 {by_container, "ffv1", "mkv"},
                                                 {by_container, "libx264", "mov"},
                                                 {by_container, "libvpx-vp9", "webm"}}) {
    SCOPED_TRACE(source + " " + codec + " " + container);
    const std::string target = path(std::string("copy.") + container);
    const std::string warnings =
        joined(transcode(source, target, {.codec = codec, .overwrite = Overwrite::kAlways}).warnings);
    const bool kept = contains(probe_frame(target) + probe_streams(target), "side_data_type=Stereo 3D");
    EXPECT_NE(kept, contains(warnings, "the source's packing of stereoscopic (3D) pictures is not kept"))
        << warnings;
  }
}

TEST_F(TagsTest, StreamsOfBroadcastsThatNobodyCouldReadAreNamed) {
  const std::string video = make("video.ts", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v mpeg2video");
  const std::string source = path("broadcast.ts");
  write_broadcast(video, source,
                  {AV_CODEC_ID_DVB_SUBTITLE, AV_CODEC_ID_DVB_TELETEXT, AV_CODEC_ID_SMPTE_KLV,
                   AV_CODEC_ID_BIN_DATA, AV_CODEC_ID_BIN_DATA});
  retype_last_stream(source, '\x86',
                     "\x05\x04"
                     "CUEI");  // splice information, SCTE-35
  for (const std::string container : {"mov", "mp4", "mkv"}) {
    SCOPED_TRACE(container);
    const std::string target = path("copy." + container);
    const std::string warnings = joined(transcode(source, target).warnings);
    const std::string streams = probe_streams(target);
    for (const std::string stream :
         {"subtitle stream #1 (dvb_subtitle)", "subtitle stream #2 (dvb_teletext)", "data stream #3 (klv)",
          "data stream #4 (bin_data)", "data stream #5 (scte_35)"}) {
      const std::string codec = stream.substr(stream.find('(') + 1, stream.size() - stream.find('(') - 2);
      // The stream is kept as it is, or a warning names it.
      EXPECT_NE(contains(warnings, "can't hold the " + stream + ": it is left out"),
                contains(streams, "codec_name=" + codec))
          << stream << "\n"
          << warnings << streams;
    }
    EXPECT_FALSE(contains(streams, "codec_name=unknown")) << streams;
    EXPECT_FALSE(contains(streams, "gpmd")) << streams;
    EXPECT_EQ(contains(streams, "codec_name=dvb_subtitle"), container == "mkv");
  }
}

TEST_F(TagsTest, StreamsThatTellNothingOfThemselvesAreNamed) {
  const std::string video = make("video.ts", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v mpeg2video");
  const std::string source = path("broadcast.ts");
  for (const auto& [type, told] :
       {std::pair{'\xA5', "the type of stream #1 is not known: it is left out\n"},
        {'\x0F', "the audio stream #1 (aac) has no sample rate or channels: it is left out\n"}}) {
    write_broadcast(video, source, {AV_CODEC_ID_BIN_DATA});
    retype_last_stream(source, type, "");
    for (const std::string container : {"mov", "mkv"}) {
      const std::string target = path("copy." + container);
      EXPECT_EQ(joined(transcode(source, target, {.overwrite = Overwrite::kAlways}).warnings), told);
      EXPECT_TRUE(contains(probe_streams(target), "nb_streams=1"));
    }
  }
}

TEST_F(TagsTest, TracksOfPhonesThatNobodyCouldReadAreNamed) {
  std::ofstream(path("data.bin")) << "told by a sensor";
  const std::string known =
      make("known.mov", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -f data -i '" + path("data.bin") +
                            "' -map 0 -map 1 -c:v mpeg4 -c:d copy -tag:d gpmd");
  for (const std::string kind : {"mebx", "mett"}) {
    // libav reads these, but cannot write them.
    std::string bytes = bytes_of(known);
    const std::string written = "gpmd";
    for (std::size_t at = 0; (at = bytes.find(written, at)) != std::string::npos;) {
      bytes.replace(at, written.size(), kind);
    }
    std::ofstream(path("phone.mov"), std::ios::binary) << bytes;
    for (const std::string container : {"mov", "mp4", "mkv"}) {
      const std::string target = path("copy." + container);
      const Transcoded copy = transcode(path("phone.mov"), target, {.overwrite = Overwrite::kAlways});
      EXPECT_TRUE(
          contains(joined(copy.warnings), "can't hold the data stream #1 (" + kind + "): it is left out"))
          << container << ": " << joined(copy.warnings);
      EXPECT_TRUE(contains(probe_streams(target), "nb_streams=1")) << probe_streams(target);
    }
  }
  const std::string target = path("copy.mov");
  transcode(known, target, {.overwrite = Overwrite::kAlways});
  EXPECT_TRUE(contains(probe_streams(target), "codec_tag_string=gpmd")) << "which players read";
  EXPECT_TRUE(contains(bytes_of(target), "told by a sensor"));
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
  const auto make_rotated = [&](const std::string& format, int degrees) {
    std::string rotated =
        make(format + ".mov", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.08 -c:v ffv1 -pix_fmt " + format);
    test::rotate_track(rotated, degrees);
    return rotated;
  };
  for (const std::string format : {"yuv410p", "yuv420p", "yuv422p", "yuv440p"}) {
    SCOPED_TRACE(format);
    const std::string source = make_rotated(format, 90);
    const std::string upright = format == "yuv422p" ? "yuv440p" : format == "yuv440p" ? "yuv422p" : format;
    const Clip stored = read_clip(source);
    const std::string copy = path(format + ".mkv");
    EXPECT_TRUE(contains(joined(transcode(source, copy, {.codec = "ffv1"}).warnings), "are rotated instead"));
    const Clip turned = read_clip(copy);
    ASSERT_EQ(turned.frames.size(), 2U);
    EXPECT_EQ(turned.video.pixel_format, upright);
    if (upright == format) {  // ffmpeg's filter rotates no other formats
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
    const std::string source = make_rotated(format, 90);
    const std::string copy = path(format + ".mkv");
    EXPECT_TRUE(
        contains(joined(transcode(source, copy, {.codec = "ffv1"}).warnings), "show the picture without it"));
    expect_same_frames(read_clip(source).frames, read_clip(copy).frames);
  }
  const std::string source = make_rotated("yuv411p", 180);
  EXPECT_TRUE(contains(joined(transcode(source, path("180.mkv"), {.codec = "ffv1"}).warnings),
                       "are rotated instead"));
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
        // "34000/50000": equal values may be different fractions
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
  EXPECT_TRUE(contains(joined(texts_of(writer.diagnostics())), "the video stream #0 (h264) is left out"));
}

TEST_F(TagsTest, NotesAboutAnMxfFileAreNoLoss) {
  const std::string source = make("source.mxf", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.08 -c:v mpeg2video");
  EXPECT_EQ(joined(transcode(source, path("copy.mov")).warnings), "");
}

TEST_F(TagsTest, TagsOfPhonesAreKeptAndLossesReported) {
  const std::string source =
      make("source.mov",
           "-f lavfi -i testsrc2=s=32x32:r=25:d=0.08 -c:v mpeg4 -movflags use_metadata_tags -metadata "
           "com.apple.quicktime.make=Apple -metadata com.apple.quicktime.location.ISO6709=+52.4+13.3/ "
           "-metadata com.android.capture.fps=30");
  for (const std::string name : {"copy.mov", "copy.mp4"}) {
    EXPECT_EQ(joined(transcode(source, path(name)).warnings), "");
    const std::string streams = probe_streams(path(name));
    for (const std::string part :
         {"quicktime.make=Apple", "ISO6709=+52.4+13.3/", "com.android.capture.fps="}) {
      EXPECT_TRUE(contains(streams, part)) << part << "\n" << streams;
    }
  }
  const std::string tagged = make("tagged.mkv",
                                  "-f lavfi -i testsrc2=s=32x32:r=25:d=0.08 -c:v mpeg4 -metadata title=Known "
                                  "-metadata shoe=41");
  EXPECT_EQ(joined(transcode(tagged, path("shoe.mp4")).warnings),
            "mp4 can't hold the source's tags: SHOE; -e movflags=use_metadata_tags keeps all tags, but fewer "
            "players "
            "read them\n");
  EXPECT_TRUE(contains(probe_streams(path("shoe.mp4")), "TAG:title=Known"));
  EXPECT_EQ(
      joined(transcode(tagged, path("all.mp4"), {.encoder_options = {{"movflags", "use_metadata_tags"}}})
                 .warnings),
      "");
  EXPECT_TRUE(contains(probe_streams(path("all.mp4")), "TAG:SHOE=41"));
}

TEST_F(TagsTest, ClosedCaptionsAreKeptOrMissedAloud) {
  std::ostringstream bytes;
  bytes << std::ifstream(make("plain.264", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.08 -c:v libx264"),
                         std::ios::binary)
               .rdbuf();
  const std::string h264 = test::with_captions(bytes.str());
  std::ofstream(path("source.264"), std::ios::binary) << h264;
  const auto captions = [](const std::string& file) {
    return contains(probe_frame(file), "Closed Captions");
  };
  ASSERT_TRUE(captions(path("source.264")));
  EXPECT_EQ(joined(transcode(path("source.264"), path("copy.ts")).warnings), "");
  EXPECT_TRUE(captions(path("copy.ts")));
  const Transcoded hevc = transcode(path("source.264"), path("copy.mp4"), {.codec = "libx265"});
  EXPECT_EQ(captions(path("copy.mp4")), hevc.warnings.empty()) << joined(hevc.warnings);
  const Transcoded lost = transcode(path("source.264"), path("copy.mkv"), {.codec = "ffv1"});
  EXPECT_EQ(joined(lost.warnings),
            "the source's closed captions are not kept: ffv1 can't embed them, libx264 can\n");

  // Captions that begin in the third frame.
  std::ofstream(path("late.264"), std::ios::binary) << bytes.str() << h264;
  Reader reader(path("late.264"));
  Writer writer(path("late.mkv"), reader, {.codec = "ffv1"});
  EXPECT_EQ(joined(texts_of(writer.diagnostics())), "");
  for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item); item = reader.read()) {
    writer.write(std::get<Frame>(item));
  }
  writer.finish();
  EXPECT_EQ(joined(texts_of(writer.diagnostics())),
            "from frame 2 on the source has closed captions, which are not kept: ffv1 can't embed them, "
            "libx264 can\n");
}

TEST_F(TagsTest, HdrBecomesHevc) {
  const auto codec_for = [&](const std::string& transfer, const std::string& target) {
    const std::string source =
        make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.04 -vf " + color_filter(transfer) +
                               " -pix_fmt yuv420p10le -c:v ffv1 " + color_options(transfer));
    return transcode(source, path(target), {.overwrite = Overwrite::kAlways}).codec;
  };
  EXPECT_EQ(codec_for("smpte2084", "pq.mp4"), "libx265");
  EXPECT_TRUE(contains(probe_streams(path("pq.mp4")), "codec_tag_string=hvc1"));
  EXPECT_TRUE(contains(probe_streams(path("pq.mp4")), "profile=Main 10"));
  EXPECT_EQ(codec_for("arib-std-b67", "hlg.mkv"), "libx265");
  EXPECT_EQ(codec_for("smpte2084", "pq.avi"), "libx264") << "which can't hold HEVC";
  EXPECT_EQ(codec_for("bt709", "sdr.mp4"), "libx264");
}

TEST_F(TagsTest, RgbBecomesWhatPlayersShow) {
  const std::string even =
      make("even.mkv", "-f lavfi -i testsrc2=s=34x22:r=25:d=0.04 -c:v ffv1 -pix_fmt gbrp");
  const std::string odd =
      make("odd.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.04 -vf format=gbrp,crop=35:21 -c:v ffv1");
  const Transcoded halved = transcode(even, path("even.mp4"));
  EXPECT_EQ(halved.pixel_format, "yuv420p");
  EXPECT_TRUE(contains(joined(halved.warnings), "(--pix-fmt yuv444p keeps it)"));
  EXPECT_EQ(transcode(even, path("full.mp4"), {.pixel_format = "yuv444p"}).pixel_format, "yuv444p");
  EXPECT_EQ(transcode(even, path("archive.mkv")).pixel_format, "yuv444p");
  const Transcoded whole = transcode(odd, path("odd.mp4"));
  EXPECT_EQ(whole.pixel_format, "yuv444p");
  EXPECT_TRUE(contains(joined(whole.warnings), "few players show this")) << joined(whole.warnings);
}

TEST_F(TagsTest, ChaptersEndWithTheFramesThatAreWritten) {
  std::ofstream(path("meta.txt")) << ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=300\ntitle=One\n"
                                     "[CHAPTER]\nTIMEBASE=1/1000\nSTART=300\nEND=400\ntitle=Two\n";
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=32x32:r=25:d=0.4 -i '" +
                                                    path("meta.txt") + "' -map_chapters 1 -map 0 -c:v ffv1");
  Reader reader(source);
  Writer writer(path("copy.mkv"), reader, {.frames = 5});
  for (int frames = 0; frames < 5;) {
    const Reader::Item item = reader.read();
    if (const auto* const frame = std::get_if<Frame>(&item)) {
      writer.write(*frame);
      ++frames;
    }
  }
  writer.finish();
  const std::string probed = probe_streams(path("copy.mkv"));
  EXPECT_TRUE(contains(probed, "end_time=0.200000")) << probed;
  EXPECT_FALSE(contains(probed, "TAG:title=Two")) << probed;
}

// All of its content has one time, so its track looks like such a data stream.
TEST_F(TagsTest, ASingleChapterIsNoDataBeside) {
  std::ofstream(path("meta.txt"))
      << ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=200\ntitle=All\n";
  const std::string source = make("source.mov", "-f lavfi -i testsrc2=s=32x32:r=25:d=0.2 -i '" +
                                                    path("meta.txt") + "' -map_chapters 1 -map 0 -c:v mpeg4");
  for (const std::string name : {"copy.mov", "copy.mkv"}) {
    EXPECT_EQ(joined(transcode(source, path(name)).warnings), "");
    EXPECT_TRUE(contains(probe_streams(path(name)), "TAG:title=All"));
  }
}

TEST_F(TagsTest, LosslessVideoIsOfAnySize) {
  for (const std::string size : {"3x5", "1x17", "2x40", "7x7"}) {
    const std::string source =
        make(size + ".y4m",
             "-f lavfi -i testsrc2=s=64x64:r=25:d=0.04 -vf scale=" + size + ":flags=neighbor,format=yuv420p");
    transcode(source, path(size + ".mkv"), {.codec = "ffv1"});
    expect_same_frames(read_clip(source).frames, read_clip(path(size + ".mkv")).frames);
  }
}

TEST_F(TagsTest, DataBehindAnMp4IsNamed) {
  const std::string source = make("a.mp4", "-f lavfi -i testsrc2=s=64x48:r=5 -frames:v 2 -c:v mpeg4");
  EXPECT_EQ(joined(transcode(source, path("b.mkv")).warnings).find("behind its MP4 boxes"),
            std::string::npos);
  std::ofstream(source, std::ios::binary | std::ios::app) << std::string(100, 'G') << "GYRODATA";
  EXPECT_NE(joined(transcode(source, path("c.mkv")).warnings).find("108 bytes behind its MP4 boxes"),
            std::string::npos);
}

}  // namespace
}  // namespace limpid::io
