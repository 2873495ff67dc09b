// SPDX-License-Identifier: MIT
// Files of segments: lossless frames, and packets for joining.
// Packet files of segments, and their joining.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/media/lossless_file.h"
#include "io/media/reader.h"
#include "io/media/segments.h"
#include "io/media/writer.h"
#include "tests/io/media/media.h"
#include "tests/io/media/writer/made_source.h"
#include "tests/temporary_folder.h"

namespace limpid::io {
namespace {

using SegmentTest = MediaTest;

Frame noise_frame(const FrameFormat& format, std::uint32_t seed) {
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    const Plane& plane = frame.planes.at(static_cast<std::size_t>(p));
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        seed = seed * 1664525U + 1013904223U;
        if (format.sample_type == SampleType::kUint8) {
          plane.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(seed >> 24);
        } else if (format.sample_type == SampleType::kUint16) {
          plane.row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(seed >> (32 - format.bit_depth));
        } else {
          plane.row<float>(y)[x] = static_cast<float>(seed) / 3e9F - 0.1F;
        }
      }
    }
  }
  return frame;
}

std::vector<FrameFormat> formats() {
  std::vector<FrameFormat> all;
  for (const int depth : {8, 10, 12, 16}) {
    const SampleType type = depth == 8 ? SampleType::kUint8 : SampleType::kUint16;
    FrameFormat format{.width = 35, .height = 23, .sample_type = type, .bit_depth = depth};
    all.push_back(format);
    format.color_model = ColorModel::kRgb;
    all.push_back(format);
    format.color_model = ColorModel::kYuv;
    for (const auto& [x, y] : {std::pair{0, 0}, {1, 0}, {1, 1}}) {
      format.chroma_shift_x = x;
      format.chroma_shift_y = y;
      all.push_back(format);
    }
  }
  FrameFormat alpha{.width = 35, .height = 23, .color_model = ColorModel::kYuv, .has_alpha = true};
  all.push_back(alpha);
  all.push_back({.width = 35, .height = 23, .has_alpha = true});
  all.push_back(
      {.width = 1, .height = 1, .color_model = ColorModel::kYuv, .chroma_shift_x = 1, .chroma_shift_y = 1});
  all.push_back({.width = 35, .height = 23, .color_model = ColorModel::kYuv, .chroma_shift_x = 2});
  all.push_back({.width = 35, .height = 23, .sample_type = SampleType::kFloat32, .bit_depth = 32});
  all.push_back({.width = 35,
                 .height = 23,
                 .color_model = ColorModel::kRgb,
                 .sample_type = SampleType::kFloat32,
                 .bit_depth = 32});
  return all;
}

TEST_F(SegmentTest, LosslessFilesKeepEveryFormat) {
  for (const FrameFormat& format : formats()) {
    const std::string file = path("lossless");
    std::vector<std::uint64_t> hashes;
    {
      LosslessWriter writer(file, file + ".tmp", format, 2);
      for (std::uint32_t i = 0; i < 3; ++i) {
        const Frame frame = noise_frame(format, i);
        hashes.push_back(sample_hash(frame));
        writer.write(frame);
      }
      EXPECT_FALSE(std::filesystem::exists(file));
      writer.finish();
      EXPECT_EQ(static_cast<std::int64_t>(std::filesystem::file_size(file)), writer.bytes());
    }
    LosslessReader reader(file, format);
    for (const std::uint64_t hash : hashes) {
      const std::optional<Frame> frame = reader.read();
      ASSERT_TRUE(frame) << to_string(format);
      EXPECT_EQ(sample_hash(*frame), hash) << to_string(format);
    }
    EXPECT_FALSE(reader.read());
    std::filesystem::remove(file);
  }
}

TEST_F(SegmentTest, AFileThatIsCutOrChangedIsToldAndAnUnfinishedOneIsGone) {
  const FrameFormat format{.width = 64, .height = 64};
  const std::string file = path("lossless");
  {
    LosslessWriter writer(file, file + ".tmp", format, 1);
    writer.write(noise_frame(format, 1));
  }
  EXPECT_TRUE(files().empty());
  {
    LosslessWriter writer(file, file + ".tmp", format, 1);
    writer.write(noise_frame(format, 1));
    writer.finish();
  }
  const auto read_all = [&] {
    LosslessReader reader(file, format);
    while (reader.read()) {
    }
  };
  EXPECT_NO_THROW(read_all());
  const std::uintmax_t size = std::filesystem::file_size(file);
  for (const std::uintmax_t cut : {size - 1, size - 20, size / 2, std::uintmax_t{10}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(file, cut);
    EXPECT_THROW(read_all(), Error) << cut;
  }
}

/// Numbers in a packet file, from its first packet on: mark, pts, dts, duration, flags, size and number of
/// side data.
class PacketNumbers {
 public:
  explicit PacketNumbers(std::string path) : path_(std::move(path)) {
    std::ifstream file(path_, std::ios::binary);
    std::string content(1 << 12, '\0');  // the file may be sparse and large
    file.read(content.data(), std::ssize(content));
    for (int text = 0; text < 2; ++text) {  // parameters and extradata
      begin_ += sizeof(std::int64_t) + static_cast<std::size_t>(number_at(content, begin_));
    }
  }
  void set(int index, std::int64_t number) const {
    put(begin_ + static_cast<std::size_t>(index) * 8, number);
  }
  void set_size_of_parameters(std::int64_t size) const { put(kMagicBytes, size); }

 private:
  static constexpr std::size_t kMagicBytes = 17;
  static std::int64_t number_at(const std::string& content, std::size_t place) {
    std::int64_t number = 0;
    std::memcpy(&number, content.data() + place, sizeof(number));
    return number;
  }
  void put(std::size_t place, std::int64_t number) const {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(place));
    file.write(reinterpret_cast<const char*>(&number), sizeof(number));
  }

  std::string path_;
  std::size_t begin_ = kMagicBytes;
};

TEST_F(SegmentTest, SizesAndNumbersOfAFileAreNotNarrowed) {
  const FrameFormat format{.width = 64, .height = 64};
  const std::string whole = path("whole");
  {
    LosslessWriter writer(whole, whole + ".tmp", format, 1);
    writer.write(noise_frame(format, 1));
    writer.finish();
  }
  const std::string file = path("file");
  std::filesystem::copy_file(whole, file);
  const std::int64_t large = (std::int64_t{1} << 32) + 16;
  std::error_code failure;
  std::filesystem::resize_file(file, static_cast<std::uintmax_t>(large) + 1000000, failure);  // sparse
  if (failure) {
    GTEST_SKIP() << "the file system has no sparse files of 4 GiB: " << failure.message();
  }
  const auto refusal = [&] {
    try {
      LosslessReader reader(file, format);
      reader.read();
      return std::string("none");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const std::string damaged =
      file + ": is damaged or was not written to its end; delete it, and it is created again";
  constexpr int kFlags = 4;
  constexpr int kSize = 5;
  constexpr int kSideData = 6;
  for (const auto& [index, number] : {std::pair{kSize, large},
                                      {kSize, INT64_MAX},
                                      {kSize, std::int64_t{INT_MAX}},
                                      {kSize, std::int64_t{-1}},
                                      {kFlags, large},
                                      {kSideData, large},
                                      {kSideData, std::int64_t{-1}},
                                      {1, INT64_MAX},
                                      {2, INT64_MAX},
                                      {3, -INT64_MAX},
                                      {0, std::int64_t{2}}}) {
    const PacketNumbers numbers(file);
    std::ifstream original(whole, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(original), {}};
    std::fstream(file, std::ios::binary | std::ios::in | std::ios::out) << content;
    numbers.set(index, number);
    EXPECT_EQ(refusal(), damaged) << index << " " << number;
  }
  PacketNumbers(file).set_size_of_parameters(large);
  EXPECT_EQ(refusal(), damaged);
}

TEST_F(SegmentTest, OtherFilesAreRefused) {
  const FrameFormat format{.width = 64, .height = 64};
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0666), 0);
  EXPECT_THROW(LosslessReader(path("fifo"), format), Error);
  EXPECT_THROW(LosslessReader(path("."), format), Error);
}

TEST_F(SegmentTest, SegmentsOfOtherParametersAreNotJoined) {
  const std::string clip =
      make("in.mkv", "-f lavfi -i testsrc2=size=64x48:duration=0.4 -pix_fmt yuv420p -c:v ffv1");
  const auto encode = [&](const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& more) {
    const Reader reader(clip);
    WriterOptions options;
    options.codec = "libx264";
    options.encoder_options = more;
    options.segment_file = path(name);
    options.segment_temporary = path(name + ".tmp");
    Writer writer(path("out.mkv"), reader, options);
    for (const Frame& frame : read_clip(clip).frames) {
      writer.write(frame);
    }
    writer.finish();
    return writer.reordering();
  };
  const int reordering = encode("as-asked", {});
  EXPECT_EQ(reordering, 2) << "B frames that others are predicted from";
  EXPECT_EQ(encode("other", {{"bf", "0"}}), 0);
  const Reader reader(clip);
  WriterOptions options;
  options.codec = "libx264";
  Writer writer(path("out.mkv"), reader, options);
  EXPECT_TRUE(writer.joins_segments());
  EXPECT_THROW(writer.begin_segment(path("other"), 0), Error);
  writer.begin_segment(path("as-asked"), reordering);
  int frames = 0;
  while (writer.join_frame()) {
    ++frames;
  }
  EXPECT_EQ(frames, 10);
  EXPECT_THROW(writer.begin_segment(path("as-asked"), reordering), Error) << "it comes before what is there";
}

TEST_F(SegmentTest, APartialFileHasAllFramesThatWereJoined) {
  const std::string clip =
      make("in.mkv", "-f lavfi -i testsrc2=size=64x48:duration=0.4 -pix_fmt yuv420p -c:v ffv1");
  const Clip source = read_clip(clip);
  for (const std::string codec : {"libx264", "prores_ks"}) {
    SCOPED_TRACE(codec);
    const Reader reader(clip);
    WriterOptions options{.codec = codec};
    options.segment_file = path(codec);
    options.segment_temporary = path(codec + ".tmp");
    Writer segment(path("out.mov"), reader, options);
    std::ranges::for_each(source.frames, [&](const Frame& frame) { segment.write(frame); });
    segment.finish();
    Writer writer(path("out.mov"), reader, {.codec = codec});
    writer.begin_segment(path(codec), segment.reordering());
    while (writer.join_frame()) {
    }
    EXPECT_EQ(read_clip(writer.finish_partial()).frames.size(), source.frames.size());
    EXPECT_EQ(writer.frames_written(), std::ssize(source.frames));
  }
}

TEST_F(SegmentTest, SegmentsWithRateControlAreNotJoined) {
  const std::string clip =
      make("in.mkv", "-f lavfi -i testsrc2=size=64x48:duration=0.1 -pix_fmt yuv420p -c:v ffv1");
  const Reader reader(clip);
  const auto joins = [&](const std::string& name, WriterOptions options) {
    options.overwrite = Overwrite::kAlways;
    return Writer(path(name), reader, options).joins_segments();
  };
  EXPECT_TRUE(joins("a.mkv", {.codec = "libx265", .crf = "20"}));
  EXPECT_TRUE(joins("a.mov", {.codec = "prores_ks"}));
  EXPECT_FALSE(joins("a.mkv", {.codec = "libx264", .bitrate = "1M"}));
  EXPECT_FALSE(
      joins("a.mkv", {.codec = "libx264", .encoder_options = {{"maxrate", "1M"}, {"bufsize", "1M"}}}));
  EXPECT_FALSE(joins("a.mkv", {.codec = "libx264",
                               .encoder_options = {{"x264-params", "vbv-maxrate=1000:vbv-bufsize=1000"}}}));
  EXPECT_FALSE(joins("a.mkv", {.codec = "mpeg4"}));
  EXPECT_FALSE(joins("a.avi", {.codec = "libx264"})) << "counts frames";
}

using Times = std::vector<std::int64_t>;

TEST(ReorderingTest, IsByHowMuchDecodingIsAhead) {
  EXPECT_EQ(reordering_of({}, {}), 0);
  EXPECT_EQ(reordering_of(Times{0, 1, 2}, Times{0, 1, 2}), 0);
  EXPECT_EQ(reordering_of(Times{0, 2, 1, 4, 3}, Times{-1, 0, 1, 2, 3}), 1);
  EXPECT_EQ(reordering_of(Times{0, 4, 2, 1, 3}, Times{-2, -1, 0, 1, 2}), 2);
  EXPECT_EQ(reordering_of(Times{0, 3, 1, 2}, Times{0, 1, 2, 3}), 1) << "the order needs it";
}

class SegmentFilesTest : public ::testing::Test {
 protected:
  /// A file of frames that are shown at `times`, in decoding order.
  std::string write(const std::string& name, const Times& times, bool key = true) {
    std::string path = (folder_.path() / name).string();
    SegmentWriter writer(path, path + ".tmp", *encoder_);
    for (const std::int64_t time : times) {
      writer.write_frame(make_test_packet(time, time, key));
      key = false;
    }
    writer.finish();
    EXPECT_EQ(writer.bytes(), static_cast<std::int64_t>(std::filesystem::file_size(path)));
    return path;
  }
  static Times decoding_times(SegmentJoiner& joiner) {
    Times times;
    while (const PacketHandle packet = joiner.read()) {
      times.push_back(packet->dts);
    }
    return times;
  }
  std::string refusal(SegmentJoiner& joiner, const std::string& path) const {
    try {
      joiner.begin(path, 0);
      return "none";
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(text.find(path) + path.size());
    }
  }

  test::TemporaryFolder folder_;
  CodecHandle encoder_ = make_video_context();
};

TEST_F(SegmentFilesTest, AreJoinedInOneRhythm) {
  const std::string first = write("first", {0, 20, 10, 30});
  const std::string second = write("second", {40, 60, 50});
  SegmentJoiner joiner("out.mkv", *encoder_);
  joiner.begin(first, 1);
  EXPECT_EQ(decoding_times(joiner), (Times{-10, 0, 10, 20})) << "one frame ahead";
  joiner.begin(second, 1);
  EXPECT_EQ(decoding_times(joiner), (Times{30, 40, 50}));
}

TEST_F(SegmentFilesTest, SegmentsOfOneFrameAreAheadByTheFrameRate) {
  encoder_->framerate = {25, 1};
  encoder_->time_base = {1, 100};
  const std::string only = write("only", {0});
  SegmentJoiner joiner("out.mkv", *encoder_);
  joiner.begin(only, 2);
  EXPECT_EQ(decoding_times(joiner), Times{-8});
}

TEST_F(SegmentFilesTest, AreRefusedIfTheyDontContinueWhatIsThere) {
  const std::string standing = ", which doesn't begin with a closed group of pictures";
  SegmentJoiner joiner("out.mkv", *encoder_);
  EXPECT_EQ(refusal(joiner, write("no-key", {0, 1}, false)), standing);
  EXPECT_EQ(refusal(joiner, write("late-key", {1, 0})), standing);
  EXPECT_EQ(refusal(joiner, write("empty", {})), standing);
  EXPECT_EQ(refusal(joiner, write("good", {0, 1})), "none");
  EXPECT_EQ(refusal(joiner, write("before", {1, 2})), standing);
  encoder_->width = 32;
  EXPECT_EQ(refusal(joiner, write("good-too", {2, 3})), "none");
  encoder_->width = 64;
  EXPECT_EQ(refusal(joiner, (folder_.path() / "good-too").string()),
            ", which was encoded with other parameters");
}

TEST(JoinsSegmentsTest, NeedsAnEncoderThatDoesNotLookBack) {
  const CodecHandle ffv1(avcodec_alloc_context3(avcodec_find_encoder_by_name("ffv1")));
  const CodecHandle mpeg4(avcodec_alloc_context3(avcodec_find_encoder_by_name("mpeg4")));
  ffv1->time_base = mpeg4->time_base = {1, 1000};
  const auto joins = [](const AVCodecContext& encoder, const std::string& container,
                        const WriterOptions& options = {}, AVRational time_base = {1, 1000}) {
    return joins_segments(encoder, container_named(container), options, time_base);
  };
  EXPECT_TRUE(joins(*ffv1, "matroska"));
  EXPECT_FALSE(joins(*ffv1, "matroska", {}, {1, 25})) << "counts in other units than the source";
  EXPECT_FALSE(joins(*ffv1, "matroska", {.bitrate = "1M"}));
  EXPECT_FALSE(joins(*ffv1, "matroska", {.encoder_options = {{"x264-params", "vbv-maxrate=100"}}}));
  EXPECT_TRUE(joins(*ffv1, "matroska", {.encoder_options = {{"slices", "4"}}}));
  EXPECT_FALSE(joins(*ffv1, "image2"));
  EXPECT_FALSE(joins(*ffv1, "webp"));
  EXPECT_FALSE(joins(*mpeg4, "matroska"));
}

}  // namespace

}  // namespace limpid::io
