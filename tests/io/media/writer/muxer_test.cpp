// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "io/media/writer/tracks.h"
#include "tests/io/media/writer/made_source.h"
#include "tests/temporary_folder.h"

namespace limpid::io {
namespace {

class MuxerTest : public ::testing::Test {
 protected:
  /// A file of PCM and a video that is stored unchanged.
  std::unique_ptr<Muxer> open(const std::string& name, const std::string& container) {
    url_ = (folder_.path() / name).string();
    auto muxer = std::make_unique<Muxer>(url_, container_named(container),
                                         std::make_unique<OutputFile>(url_, "", Overwrite::kNever));
    const CodecHandle context = make_video_context();
    AVStream& video = muxer->add_video();
    avcodec_parameters_from_context(video.codecpar, context.get());
    video.time_base = context->time_base;
    return muxer;
  }

  test::TemporaryFolder folder_;
  std::string url_;
};

TEST(IncreasingTimesTest, AreMadeOfWhateverTheSourceHas) {
  std::int64_t last = AV_NOPTS_VALUE;
  const auto times = [&](std::int64_t pts, std::int64_t dts, bool may_repeat = false) {
    const PacketHandle packet = make_test_packet(pts, dts);
    set_increasing_times(*packet, last, may_repeat);
    EXPECT_EQ(last, packet->dts);
    return std::pair{packet->pts, packet->dts};
  };
  EXPECT_EQ(times(AV_NOPTS_VALUE, AV_NOPTS_VALUE), (std::pair<std::int64_t, std::int64_t>{0, 0}));
  EXPECT_EQ(times(7, AV_NOPTS_VALUE), (std::pair<std::int64_t, std::int64_t>{7, 7}));
  EXPECT_EQ(times(AV_NOPTS_VALUE, AV_NOPTS_VALUE), (std::pair<std::int64_t, std::int64_t>{8, 8}));
  EXPECT_EQ(times(12, 8), (std::pair<std::int64_t, std::int64_t>{12, 9}));
  EXPECT_EQ(times(12, 8, true), (std::pair<std::int64_t, std::int64_t>{12, 9}));
  EXPECT_EQ(times(9, 3), (std::pair<std::int64_t, std::int64_t>{10, 10})) << "not shown before it is decoded";
}

TEST_F(MuxerTest, AFileAppearsWhenItIsComplete) {
  const std::unique_ptr<Muxer> muxer = open("out.mkv", "matroska");
  muxer->begin();
  for (int i = 0; i < 3; ++i) {
    muxer->write_video(make_test_packet(i, i), {1, 25});
  }
  EXPECT_FALSE(std::filesystem::exists(url_));
  EXPECT_TRUE(muxer->has_temporary());
  muxer->end();
  std::string completed;
  muxer->commit([&](const std::string& temporary) { completed = temporary; });
  EXPECT_TRUE(std::filesystem::exists(url_));
  EXPECT_NE(completed, "");
  EXPECT_EQ(muxer->bytes(), static_cast<std::int64_t>(std::filesystem::file_size(url_)));
}

TEST_F(MuxerTest, UnfinishedFilesAreRemoved) {
  open("out.mkv", "matroska")->begin();
  EXPECT_TRUE(folder_.files().empty());
  const std::unique_ptr<Muxer> muxer = open("out.mkv", "matroska");
  muxer->begin();
  muxer->end();
  EXPECT_EQ(muxer->commit_partial(), (folder_.path() / "out.partial.mkv").string());
}

TEST_F(MuxerTest, TheFinalBytesMayBeEdited) {
  const std::unique_ptr<Muxer> muxer = open("out.nut", "nut");
  muxer->begin();
  muxer->end([](BytesView written) {
    EXPECT_GT(written.size(), 10U);
    return Bytes(written.size(), std::uint8_t{'x'});
  });
  muxer->commit({});
  std::ifstream stream(url_, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(content, std::string(content.size(), 'x'));
}

TEST_F(MuxerTest, OptionsThatNobodyKnowsAreTheEncoders) {
  const auto message = [&](const std::string& key, const std::string& value) {
    try {
      open("out.mp4", "mp4")->set_option(key, value, "libx264");
      return std::string("none");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(message("movflags", "+faststart"), "none");
  EXPECT_EQ(message("nosuch", "1"), "the encoder libx264 has no option 'nosuch'");
  EXPECT_EQ(message("movflags", "nosuch"),
            "the container mp4 doesn't take 'nosuch' for its option 'movflags'");
}

}  // namespace
}  // namespace limpid::io
