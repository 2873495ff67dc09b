// SPDX-License-Identifier: MIT
// Packet files of segments, and their joining.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "io/media/writer/segments.h"
#include "tests/io/media/writer/made_source.h"
#include "tests/temporary_folder.h"

namespace limpid::io {
namespace {

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
