// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "io/media/writer/streams.h"
#include "io/media/writer/tags.h"
#include "tests/io/media/writer/made_source.h"

namespace limpid::io {
namespace {

/// "One 0-400, Two 400-1000"
std::string copied_chapters(const Source& source, std::int64_t frame_limit = 0) {
  const MuxerHandle muxer = make_muxer(container_named("matroska"), "memory");
  copy_chapters(*muxer, source, frame_limit);
  std::string text;
  for (unsigned i = 0; i < muxer->nb_chapters; ++i) {
    const AVChapter& chapter = *muxer->chapters[i];
    text += (text.empty() ? "" : ", ") +
            std::string(av_dict_get(chapter.metadata, "title", nullptr, 0)->value) + " " +
            std::to_string(chapter.start) + "-" + std::to_string(chapter.end);
  }
  return text;
}

class ChaptersTest : public ::testing::Test {
 protected:
  ChaptersTest() {
    made_.add_chapter(0, 400, "One");
    made_.add_chapter(400, 1000, "Two");
  }
  MadeSource made_;
};

TEST_F(ChaptersTest, AreCopiedAndMoveWithTheTimes) {
  EXPECT_EQ(copied_chapters(MadeSource().get()), "");
  Source source = made_.get();
  EXPECT_EQ(copied_chapters(source), "One 0-400, Two 400-1000");
  source.time_offset = -100000;
  EXPECT_EQ(copied_chapters(source), "One 0-300, Two 300-900") << "none begins before zero";
}

TEST_F(ChaptersTest, AreCutToTheRange) {
  Source late = made_.get();
  late.range.begin = late.range.shift = 500000;
  late.time_offset = -500000;
  EXPECT_EQ(copied_chapters(late), "Two 0-500");
  Source early = made_.get();
  early.range.end = 300000;
  EXPECT_EQ(copied_chapters(early), "One 0-300");
}

TEST_F(ChaptersTest, EndWithTheFrames) {
  Source source = made_.get();
  EXPECT_EQ(copied_chapters(source, 5), "One 0-200");
  EXPECT_EQ(copied_chapters(source, 15), "One 0-400, Two 400-600");
  made_.first->pts = 5;
  EXPECT_EQ(copied_chapters(source, 10), "One 0-400, Two 400-600") << "counted from the first frame";
  source.average_rate = {0, 1};
  EXPECT_EQ(copied_chapters(source, 5), "One 0-400, Two 400-1000");
}

}  // namespace
}  // namespace limpid::io
