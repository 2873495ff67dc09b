// SPDX-License-Identifier: MIT
// Cropping that containers request: it is read from headers, whole or damaged, and applied to the pictures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/media/container_header.h"
#include "io/media/reader/decoder.h"
#include "tests/io/media/media.h"
#include "tests/io/media/reader/memory_source.h"

namespace limpid::io {
namespace {

constexpr int kCodedWidth = 16;
constexpr int kCodedHeight = 12;

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) {
    text += static_cast<char>(value >> (8 * i));
  }
  return text;
}

/// An EBML element with a size of 8 bytes, or an unknown one.
std::string element(std::uint32_t name, const std::string& content, bool has_size = true) {
  const int bytes = name > 0xFFFFFF ? 4 : name > 0xFFFF ? 3 : name > 0xFF ? 2 : 1;
  const std::uint64_t size = has_size ? content.size() : (std::uint64_t{1} << 56) - 1;
  return big_endian(name, bytes) + '\x01' + big_endian(size, 7) + content;
}

std::string element(std::uint32_t name, std::uint64_t value) { return element(name, big_endian(value, 2)); }

struct VideoTrack {
  Cropping edges;
  std::string more;  ///< elements of Video
};

std::string matroska_head(const std::vector<VideoTrack>& videos, bool has_sizes = true) {
  std::string tracks;
  for (const VideoTrack& video : videos) {
    const auto [left, top, right, bottom] = video.edges;
    std::string elements =
        element(0xB0, kCodedWidth) + element(0xBA, kCodedHeight) + element(0x2EB524, "I420");
    elements += element(0x54CC, left) + element(0x54BB, top) + element(0x54DD, right) +
                element(0x54AA, bottom) + video.more;
    const std::uint64_t number = 1 + (tracks.empty() ? 0U : 1U);
    tracks += element(0xAE, element(0xD7, number) + element(0x73C5, number) + element(0x83, 1) +
                                element(0x86, "V_UNCOMPRESSED") +
                                element(0x23E383, big_endian(40'000'000, 4)) + element(0xE0, elements));
  }
  return element(0x1549A966, element(0x2AD7B1, big_endian(1'000'000, 4)) + element(0x4D80, "test") +
                                 element(0x5741, "test")) +
         element(0x1654AE6B, tracks, has_sizes);
}

std::string matroska(const std::vector<VideoTrack>& videos, bool has_sizes = true) {
  std::string cluster = element(0xE7, 0);
  for (unsigned frame = 0; frame < 3; ++frame) {
    std::string samples;
    for (int y = 0; y < kCodedHeight; ++y) {
      for (int x = 0; x < kCodedWidth; ++x) {
        samples += static_cast<char>(16 * y + x + static_cast<int>(frame));
      }
    }
    for (const char start : {'\x10', '\x70'}) {
      for (int i = 0; i < kCodedWidth * kCodedHeight / 4; ++i) {
        samples += static_cast<char>(start + i);
      }
    }
    cluster += element(0xA3, "\x81" + big_endian(40 * frame, 2) + "\x80" + samples);
  }
  const std::string head = element(0x4286, 1) + element(0x42F7, 1) + element(0x42F2, 4) + element(0x42F3, 8) +
                           element(0x4282, "matroska") + element(0x4287, 4) + element(0x4285, 2);
  return element(0x1A45DFA3, head) +
         element(0x18538067, matroska_head(videos, has_sizes) + element(0x1F43B675, cluster), has_sizes);
}

std::string box(const std::string& name, const std::string& content) {
  return big_endian(content.size() + 8, 4) + name + content;
}

std::string clean_aperture(const std::vector<std::int32_t>& numbers) {
  std::string content;
  for (const std::int32_t number : numbers) {
    content += big_endian(static_cast<std::uint32_t>(number), 4);
  }
  return box("clap", content);
}

/// The position of the first box of this name below `parent`, whose content begins at `begin`.
std::size_t find_box(const std::string& file, const std::string& name, std::size_t begin) {
  return file.find(name, begin) - 4;
}

/// Adds a box to the first sample entry of a file whose samples precede its index.
std::string with_box(std::string file, const std::string& added) {
  std::size_t at = 0;
  const auto grow = [&](std::size_t where) {
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      size = size << 8 | static_cast<std::uint8_t>(file[where + i]);
    }
    file.replace(where, 4, big_endian(size + added.size(), 4));
  };
  for (const char* const name : {"moov", "trak", "mdia", "minf", "stbl", "stsd"}) {
    at = find_box(file, name, at);
    grow(at);
  }
  constexpr std::size_t kToEntry = 16;
  constexpr std::size_t kEntry = 8 + 78;
  grow(at + kToEntry);
  return file.insert(at + kToEntry + kEntry, added);
}

/// A header of MP4 with a track of this number.
std::string mp4(const std::string& boxes, std::uint32_t number = 1, bool has_long_sizes = false) {
  std::string entry(24, '\0');
  entry += big_endian(kCodedWidth, 2) + big_endian(kCodedHeight, 2) + std::string(50, '\0') + boxes;
  std::string part = box("stsd", std::string(8, '\0') + box("FFV1", entry));
  for (const char* const name : {"stbl", "minf", "mdia"}) {
    std::string whole =
        has_long_sizes ? big_endian(1, 4) + name + big_endian(part.size() + 16, 8) + part : box(name, part);
    part = std::move(whole);
  }
  const std::string track = std::string(12, '\0') + big_endian(number, 4) + std::string(60, '\0') +
                            big_endian(24 << 16, 4) + big_endian(12 << 16, 4);
  return box("ftyp", "isom") + box("moov", box("trak", box("tkhd", track) + part));
}

/// SeekableBytes as a source of a demuxer.
class SeekableBytes {
 public:
  explicit SeekableBytes(std::string bytes)
      : bytes_(std::move(bytes)),
        context_(avio_alloc_context(make_io_buffer(64), 64, 0, this, read, nullptr, seek)) {}
  SeekableBytes(const SeekableBytes&) = delete;
  SeekableBytes& operator=(const SeekableBytes&) = delete;
  SeekableBytes(SeekableBytes&&) = delete;
  SeekableBytes& operator=(SeekableBytes&&) = delete;
  ~SeekableBytes() {
    av_freep(&context_->buffer);
    avio_context_free(&context_);
  }
  AVIOContext* get() const { return context_; }

 private:
  static int read(void* self, std::uint8_t* to, int size) {
    SeekableBytes& own = *static_cast<SeekableBytes*>(self);
    const std::size_t count = std::min(own.bytes_.size() - std::min(own.position_, own.bytes_.size()),
                                       static_cast<std::size_t>(size));
    std::copy_n(own.bytes_.data() + own.position_, count, to);
    own.position_ += count;
    return count == 0 ? AVERROR_EOF : static_cast<int>(count);
  }
  static std::int64_t seek(void* self, std::int64_t offset, int whence) {
    SeekableBytes& own = *static_cast<SeekableBytes*>(self);
    if (whence == AVSEEK_SIZE) {
      return static_cast<std::int64_t>(own.bytes_.size());
    }
    own.position_ = std::min(static_cast<std::size_t>(offset), own.bytes_.size());
    return static_cast<std::int64_t>(own.position_);
  }

  std::string bytes_;
  std::size_t position_ = 0;
  AVIOContext* context_;
};

/// The cropping of a track in the header of a file.
std::optional<ContainerCropping> found_in(const std::string& file, const char* demuxer, int track = 0) {
  const SeekableBytes bytes(file);
  MemorySource source(demuxer);
  AVStream* video = &source.video();
  for (int i = 0; i < track; ++i) {
    video = &source.add_stream(AVMEDIA_TYPE_VIDEO, {1, 1000});
  }
  video->id = 1;
  source.input().pb = bytes.get();
  avio_seek(bytes.get(), 3, SEEK_SET);
  const std::int64_t position = avio_tell(bytes.get());
  std::optional<ContainerCropping> found = find_container_cropping(source.input(), *video);
  EXPECT_EQ(avio_tell(bytes.get()), position);
  source.input().pb = nullptr;
  return found;
}

Cropping edges_in(const std::string& file, const char* demuxer, int track = 0) {
  const std::optional<ContainerCropping> found = found_in(file, demuxer, track);
  return found ? found->edges : Cropping{};
}

std::string ratio_in(const std::string& file, const char* demuxer) {
  const AVRational ratio = found_in(file, demuxer).value_or(ContainerCropping{}).sample_aspect_ratio;
  return std::to_string(ratio.num) + ":" + std::to_string(ratio.den);
}

TEST(ContainerCroppingTest, MatroskasElementsAreRead) {
  const std::vector<VideoTrack> videos{{{0, 0, 0, 0}, ""}, {{4, 2, 1, 3}, ""}};
  for (const bool has_sizes : {true, false}) {
    EXPECT_FALSE(found_in(matroska(videos, has_sizes), "matroska", 0));
    EXPECT_EQ(edges_in(matroska(videos, has_sizes), "matroska", 1), (Cropping{4, 2, 1, 3}));
    EXPECT_FALSE(found_in(matroska(videos, has_sizes), "matroska", 2));
  }
}

TEST(ContainerCroppingTest, MatroskasDisplaySizeIsThatOfTheCroppedPicture) {
  const auto ratio = [](const std::string& more) {
    return ratio_in(matroska({{{4, 2, 4, 4}, more}}), "matroska");  // 8x6
  };
  EXPECT_EQ(ratio(""), "1:1");
  EXPECT_EQ(ratio(element(0x54B0, 16) + element(0x54BA, 12)), "1:1");
  EXPECT_EQ(ratio(element(0x54B0, 16) + element(0x54BA, 9)), "4:3");
  EXPECT_EQ(ratio(element(0x54B0, 16) + element(0x54BA, 9) + element(0x54B2, 3)), "4:3");
  EXPECT_EQ(ratio(element(0x54B0, 12)), "3:2");
  EXPECT_EQ(ratio(element(0x54B0, 16) + element(0x54BA, 9) + element(0x54B2, 4)), "0:1");
  EXPECT_EQ(ratio(element(0x53B8, 1)), "0:1");
}

TEST(ContainerCroppingTest, TheCleanApertureOfMp4IsRead) {
  const std::string box = clean_aperture({10, 1, 6, 1, 1, 1, -1, 1});
  EXPECT_EQ(edges_in(mp4(box), "mov"), (Cropping{4, 2, 2, 4}));
  EXPECT_EQ(edges_in(mp4(box, 1, true), "mov"), (Cropping{4, 2, 2, 4})) << "sizes of 64 bits";
  EXPECT_FALSE(found_in(mp4(box, 2), "mov")) << "another track";
  EXPECT_FALSE(found_in(mp4(""), "mov"));
  EXPECT_FALSE(found_in(mp4(clean_aperture({16, 1, 12, 1, 0, 1, 0, 1})), "mov"));
  EXPECT_EQ(edges_in(mp4(clean_aperture({21, 2, 31, 3, 1, 4, 0, 5})), "mov"), (Cropping{3, 1, 3, 1}))
      << "fractions: 5.5 to the left and the right with 1/4 more to the left, 5/3 above and below";
  EXPECT_EQ(edges_in(mp4(clean_aperture({10, 1, 12, 1, -4, 1, 0, 1})), "mov"), (Cropping{-1, 0, 7, 0}));
  for (const std::size_t zero : {0U, 1U, 2U, 3U, 5U, 7U}) {
    std::vector<std::int32_t> numbers{10, 1, 6, 1, 1, 1, -1, 1};
    numbers[zero] = 0;
    EXPECT_FALSE(found_in(mp4(clean_aperture(numbers)), "mov")) << zero;
  }
}

TEST(ContainerCroppingTest, Mp4ShowsTheCroppedPictureInTheTracksSize) {
  const std::string aperture = clean_aperture({8, 1, 6, 1, 0, 1, 0, 1});
  EXPECT_EQ(ratio_in(mp4(aperture), "mov"), "3:2") << "24x12";
  EXPECT_EQ(ratio_in(mp4(aperture + box("pasp", std::string(8, '\1'))), "mov"), "0:1");
}

TEST(ContainerCroppingTest, DamagedHeadersDoNoHarm) {
  const std::string aperture = clean_aperture({10, 1, 6, 1, 1, 1, -1, 1});
  for (const auto& [file, demuxer] :
       {std::pair{matroska({{{4, 2, 1, 3}, ""}}).substr(0, 600), "matroska"}, std::pair{mp4(aperture), "mov"},
        std::pair{mp4(aperture, 1, true), "mov"}}) {
    for (std::size_t i = 0; i < file.size(); ++i) {
      found_in(file.substr(0, i), demuxer);
      for (const char value : {'\0', '\1', '\x7F', '\x80', '\xFF'}) {
        std::string damaged = file;
        damaged[i] = value;
        found_in(damaged, demuxer);
        damaged.replace(i, 8, 8, value);
        found_in(damaged, demuxer);
      }
    }
  }
  std::string many = mp4(aperture).substr(0, 12) + big_endian(1 << 30, 4) + "moov";
  for (int i = 0; i < 100'000; ++i) {
    many += box("free", "");
  }
  EXPECT_FALSE(found_in(many, "mov"));
}

class CropperTest : public ::testing::Test {
 protected:
  CropperTest() {
    AVCodecParameters& parameters = *source_.video().codecpar;
    parameters.width = kCodedWidth;
    parameters.height = kCodedHeight;
    parameters.format = AV_PIX_FMT_YUV420P;
  }
  Cropper cropper(const Cropping& edges) const {
    return {ContainerCropping{kCodedWidth, kCodedHeight, edges, {4, 3}}, source_.video()};
  }
  /// "WIDTHxHEIGHT+LEFT+TOP" of a cropped frame, whose samples of luma are 16 * y + x.
  std::string cropped(const Cropping& edges) const {
    FrameHandle frame = make_frame();
    frame->width = kCodedWidth;
    frame->height = kCodedHeight;
    frame->format = source_.video().codecpar->format;
    check(av_frame_get_buffer(frame.get(), 0), "frame", "can't make it");
    for (int y = 0; y < kCodedHeight; ++y) {
      for (int x = 0; x < kCodedWidth; ++x) {
        frame->data[0][y * frame->linesize[0] + x] = static_cast<std::uint8_t>(16 * y + x);
      }
    }
    cropper(edges).apply(*frame);
    const int first = frame->data[0][0];
    return std::to_string(frame->width) + "x" + std::to_string(frame->height) + "+" +
           std::to_string(first % 16) + "+" + std::to_string(first / 16);
  }

  MemorySource source_;
};

TEST_F(CropperTest, EdgesAreRoundedInwardToChromaSamples) {
  EXPECT_EQ(cropped({4, 2, 2, 4}), "10x6+4+2");
  EXPECT_EQ(cropped({3, 1, 1, 0}), "10x10+4+2");
  EXPECT_EQ(cropped({0, 0, 0, 3}), "16x8+0+0");
  EXPECT_EQ(
      cropper({3, 1, 1, 0}).applied(),
      "its pictures are cropped from 16x12 to 10x10 (left 4, top 2, right 2, bottom 0), as its container "
      "requests");
  source_.video().codecpar->format = AV_PIX_FMT_YUV444P;
  EXPECT_EQ(cropped({3, 1, 1, 0}), "12x11+3+1");
}

TEST_F(CropperTest, FieldsKeepTheirRows) {
  source_.video().codecpar->field_order = AV_FIELD_TT;
  EXPECT_EQ(cropped({0, 2, 0, 0}), "16x8+0+4");
  source_.video().codecpar->format = AV_PIX_FMT_YUV444P;
  EXPECT_EQ(cropped({0, 1, 0, 0}), "16x10+0+2");
}

TEST_F(CropperTest, ImpossibleCroppingIsIgnored) {
  const auto reason = [&](const Cropping& edges) {
    EXPECT_EQ(cropped(edges), "16x12+0+0");
    EXPECT_EQ(cropper(edges).applied(), "");
    EXPECT_FALSE(cropper(edges).sample_aspect_ratio());
    const std::string ignored = cropper(edges).ignored();
    return ignored.substr(ignored.find("ignored"));
  };
  const std::string nothing = "ignored: nothing of the picture of 16x12 would remain";
  EXPECT_EQ(reason({8, 0, 8, 0}), nothing);
  EXPECT_EQ(reason({0, 5, 0, 6}), nothing) << "rounded";
  EXPECT_EQ(reason({INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}), nothing);
  EXPECT_EQ(reason({-1, 0, 7, 0}), "ignored: it is beyond the picture of 16x12");
  source_.video().codecpar->width = 20;
  EXPECT_EQ(reason({4, 0, 0, 0}), "ignored: its pictures are 20x12, not 16x12");
  EXPECT_EQ(cropper({4, 0, 0, 0}).ignored().substr(0, 40), "the cropping that its container requests");
  source_.video().codecpar->width = kCodedWidth;
  source_.video().codecpar->format = AV_PIX_FMT_MONOBLACK;
  EXPECT_EQ(reason({4, 0, 0, 0}), "ignored: pictures of monob cannot be cropped");
}

TEST_F(CropperTest, PicturesThatTheDecoderHasCroppedStayAsTheyAre) {
  source_.video().codecpar->height = kCodedHeight - 4;
  const Cropper made = cropper({0, 0, 0, 4});
  EXPECT_EQ(made.applied() + made.ignored(), "");
}

TEST_F(CropperTest, FramesOfGpusKeepTheirEdgesInTheirFields) {
  FrameHandle frame = make_frame();
  frame->format = AV_PIX_FMT_CUDA;
  frame->width = kCodedWidth + 2;  // cropped by the stream, too
  frame->height = kCodedHeight;
  frame->crop_left = 2;
  frame->hw_frames_ctx = av_buffer_alloc(1);
  cropper({4, 2, 2, 4}).apply(*frame);
  EXPECT_EQ(frame->width - static_cast<int>(frame->crop_left), 10);
  EXPECT_EQ(frame->height - static_cast<int>(frame->crop_top), 6);
  EXPECT_EQ(frame->crop_left, 6U);
  EXPECT_EQ(frame->crop_top, 2U);
}

WriterOptions lossless_encoding() { return {.codec = "libx264", .encoder_options = {{"qp", "0"}}}; }

class CroppingTest : public MediaTest {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string told(const std::string& file) {
    return text_of(Reader(file).diagnostics(), Diagnostic::Kind::kCropping);
  }
  /// Three frames of 10x6 from column 4 and row 2 on.
  static void expect_cropped(const Clip& clip) {
    EXPECT_EQ(clip.video.format.width, 10);
    EXPECT_EQ(clip.video.format.height, 6);
    ASSERT_EQ(clip.frames.size(), 3U);
    for (int i = 0; i < 3; ++i) {
      for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 10; ++x) {
          const Frame& frame = clip.frames[static_cast<std::size_t>(i)];
          ASSERT_EQ(frame.planes[0].row<std::uint8_t>(y)[x], 16 * (y + 2) + x + 4 + i);
          ASSERT_EQ(frame.planes[1].row<std::uint8_t>(y / 2)[x / 2], 0x10 + 8 * (y / 2 + 1) + x / 2 + 2);
        }
      }
    }
  }
};

TEST_F(CroppingTest, TheOutputHasTheCroppedPicturesAndNoRequest) {
  const std::string display = element(0x54B0, 20) + element(0x54BA, 9);
  const std::string source = write("in.mkv", matroska({{{4, 2, 2, 4}, display}}));
  expect_cropped(read_clip(source));
  EXPECT_NE(told(source), "");
  EXPECT_DOUBLE_EQ(Reader(source).display().pixel_aspect, 4.0 / 3) << "20:9 for 10x6";
  for (const char* const name : {"out.mkv", "out.mov"}) {
    EXPECT_TRUE(transcode(source, path(name), lossless_encoding()).warnings.empty());
    expect_cropped(read_clip(path(name)));
    EXPECT_EQ(told(path(name)), "");
    EXPECT_DOUBLE_EQ(Reader(path(name)).display().pixel_aspect, 4.0 / 3);
  }
}

TEST_F(CroppingTest, TheCleanApertureOfQuickTimeIsApplied) {
  const std::string plain = write("in.mkv", matroska({{{0, 0, 0, 0}, ""}}));
  const std::string file = bytes_of(make("plain.mov", "-i '" + plain + "' -c:v ffv1"));
  const std::string aperture = clean_aperture({10, 1, 6, 1, 1, 1, -1, 1});
  const std::string source = write("in.mov", with_box(file, aperture));
  expect_cropped(read_clip(source));
  EXPECT_NE(told(source), "");
  EXPECT_TRUE(transcode(source, path("out.mov"), lossless_encoding()).warnings.empty());
  expect_cropped(read_clip(path("out.mov")));
  EXPECT_EQ(told(path("out.mov")), "");

  const std::string beyond = write("beyond.mov", with_box(file, clean_aperture({10, 1, 6, 1, 8, 1, 0, 1})));
  if (avformat_version() >= AV_VERSION_INT(61, 7, 100)) {  // FFmpeg 7.1
    EXPECT_THROW(Reader{beyond}, Error);
    return;
  }
  EXPECT_EQ(read_clip(beyond).video.format.width, kCodedWidth);
  EXPECT_NE(text_of(Reader(beyond).diagnostics(), Diagnostic::Kind::kIgnoredCropping), "");
}

TEST_F(CroppingTest, RangesAndSeeksDeliverCroppedPictures) {
  const std::string source = write("in.mkv", matroska({{{4, 2, 2, 4}, ""}}));
  const Clip clip = read_clip(source, {.start = 0.04, .context_before = 1});
  ASSERT_EQ(clip.frames.size(), 3U);
  for (const Frame& frame : clip.frames) {
    EXPECT_EQ(frame.format.width, 10);
  }
  EXPECT_EQ(clip.frames.at(1).planes[0].row<std::uint8_t>(0)[0], 16 * 2 + 4 + 1);
}

}  // namespace
}  // namespace limpid::io
