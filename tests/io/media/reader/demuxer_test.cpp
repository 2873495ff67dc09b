// SPDX-License-Identifier: MIT
// Opening of sources, selection of streams and reading of packets.
#include "io/media/reader/demuxer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "io/media/diagnostic.h"
#include "tests/temporary_folder.h"

namespace limpid::io {
namespace {

/// Sources made by the test: y4m of 2x2 gray samples, at 25 frames per second.
class DemuxerTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string write_frames(int frames, const std::string& rest = "") const {
    std::string content = "YUV4MPEG2 W2 H2 F25:1 Ip Cmono\n";
    for (int i = 0; i < frames; ++i) {
      content += "FRAME\nabcd";
    }
    return write("clip.y4m", content + rest);
  }
  std::unique_ptr<Demuxer> open(const std::string& path, const ReaderOptions& options = {}) {
    Dictionary unused(options.options);
    return std::make_unique<Demuxer>(path, options, unused, health_);
  }
  std::string reason(const std::string& path, const ReaderOptions& options = {}) {
    try {
      open(path, options);
    } catch (const Error& error) {
      return std::string(error.what()).substr(path.size());
    }
    return "none";
  }
  static int count_packets(Demuxer& demuxer) {
    int packets = 0;
    while (!demuxer.has_ended()) {
      packets += demuxer.read(false) != nullptr ? 1 : 0;
    }
    return packets;
  }

  test::TemporaryFolder folder_;
  Health health_;
};

TEST_F(DemuxerTest, ReadsTheVideoToItsEnd) {
  const auto demuxer = open(write_frames(5));
  EXPECT_EQ(demuxer->average_rate().num, 25);
  EXPECT_EQ(demuxer->begin(), 0);
  EXPECT_TRUE(demuxer->can_seek());
  EXPECT_FALSE(demuxer->is_pipe());
  EXPECT_FALSE(demuxer->is_still_picture());
  EXPECT_EQ(demuxer->copied(), std::vector<bool>{false});
  EXPECT_EQ(count_packets(*demuxer), 5);
  demuxer->rewind();
  EXPECT_FALSE(demuxer->has_ended());
  EXPECT_EQ(count_packets(*demuxer), 5);
  EXPECT_TRUE(health_.diagnostics(true).empty());
}

TEST_F(DemuxerTest, CopiedStreamsLastAsLongAsTheirLastPacket) {
  const std::string cue = write("cue.srt", "1\n00:00:00,500 --> 00:00:08,000\nstill here\n");
  const std::string file = (folder_.path() / "clip.mkv").string();
  if (std::system(("ffmpeg -v error -f lavfi -i testsrc2=s=16x16:r=25:d=1 -i " + cue + " " + file).c_str()) !=
      0) {
    GTEST_SKIP() << "there is no ffmpeg";
  }
  const auto demuxer = open(file);
  while (!demuxer->has_ended()) {
    if (PacketHandle packet = demuxer->read(false); packet != nullptr && packet->stream_index != 0) {
      EXPECT_NE(demuxer->to_copy(std::move(packet)), nullptr);
    }
  }
  EXPECT_EQ(demuxer->copied_end(), 8'000'000);
}

TEST_F(DemuxerTest, TimesBeginAtTheZeroThatIsSet) {
  const auto demuxer = open(write_frames(5));
  demuxer->clock().set_zero(40'000);
  EXPECT_EQ(demuxer->read(false)->pts, -1);
  ASSERT_TRUE(demuxer->seek(80'000));
  const std::int64_t found = demuxer->read(false)->pts;
  EXPECT_GT(found, 0);
  EXPECT_LE(found, 2);
}

TEST_F(DemuxerTest, AnIncompleteFrameIsReported) {
  const auto demuxer = open(write_frames(2, "FRAME\nab"));
  count_packets(*demuxer);
  EXPECT_FALSE(health_.diagnostics(true).empty());
}

TEST_F(DemuxerTest, AnInterruptEndsTheSource) {
  bool interrupted = false;
  const auto demuxer = open(write_frames(5), {.interrupted = [&interrupted] { return interrupted; }});
  EXPECT_NE(demuxer->read(false), nullptr);
  interrupted = true;
  EXPECT_EQ(demuxer->read(false), nullptr);
  EXPECT_TRUE(demuxer->has_ended());
  EXPECT_TRUE(health_.diagnostics(false).empty()) << "the source is not at fault";
}

TEST_F(DemuxerTest, SaysWhyASourceCannotBeRead) {
  EXPECT_EQ(reason(write("empty.mkv", "")), ": the file is empty");
  EXPECT_EQ(reason(write("text.mkv", "This is no video.")), ": no video or picture found in it");
  EXPECT_EQ(reason(folder_.path().string()), ": is a directory, not a file");
  EXPECT_EQ(reason((folder_.path() / "none.mkv").string()), ": can't open it: No such file or directory");
  EXPECT_EQ(
      reason(write("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n")),
      ": is a list of other files (hls), which are read only with --allow-references");
  EXPECT_THROW(open(write_frames(1), {.input_format = "no_such_format"}), UsageError);
  EXPECT_THROW(open(write_frames(1), {.input_format = "lavfi", .local_only = true}), UsageError);
}

}  // namespace
}  // namespace limpid::io
