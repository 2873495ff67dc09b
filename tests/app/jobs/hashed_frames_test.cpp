// SPDX-License-Identifier: MIT
// Frames read on other threads are those of the reader.
#include <gtest/gtest.h>

#include <string>

#include "app/jobs/plan.h"
#include "core/base/error.h"
#include "io/media/lossless_file.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

class HashedFramesTest : public io::MediaTest {
 protected:
  // 40 frames; those from the tenth on are requested, with some context before them.
  std::string source() { return make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=10:d=4 -c:v ffv1"); }
  static io::ReaderOptions options() {
    io::ReaderOptions options;
    options.start = 1;
    options.context_before = 3;
    return options;
  }
  static Frame same(const Frame& frame) { return frame; }
  static Frame copy_of(const Frame& frame) {
    Frame copied = allocate_frame(frame.format);
    describe_alike(frame, copied);
    copy_samples(frame, copied);
    return copied;
  }
};

TEST_F(HashedFramesTest, ComeInOrderWithTheHashesOfTheirSamples) {
  const std::string file = source();
  const io::Clip clip = io::read_clip(file, options());
  for (const bool copied : {false, true}) {
    io::Reader reader(file, options());
    HashedFrames frames(reader, 0, copied ? copy_of : same);
    std::size_t count = 0;
    for (; const auto next = frames.next(); ++count) {
      ASSERT_LT(count, clip.frames.size());
      const Frame& expected = clip.frames[count];
      EXPECT_EQ(next->frame.index, expected.index);
      EXPECT_EQ(next->frame.context_only, expected.context_only);
      EXPECT_EQ(next->hash, io::frame_hash(expected));
      EXPECT_EQ(io::frame_hash(next->frame), next->hash);
    }
    EXPECT_EQ(count, clip.frames.size());
    EXPECT_FALSE(frames.next());
  }
}

TEST_F(HashedFramesTest, ContextDoesNotCountAndWhatIsNotTakenIsDropped) {
  const std::string file = source();
  io::Reader reader(file, options());
  {
    HashedFrames frames(reader, 2, same);
    int count = 0;
    while (frames.next()) {
      ++count;
    }
    EXPECT_EQ(count, 3 + 2);
  }
  HashedFrames frames(reader, 0, same);
  EXPECT_TRUE(frames.next());
}

TEST_F(HashedFramesTest, AFailureIsThrownWhereTheFrameWouldCome) {
  const std::string file = source();
  io::Reader reader(file, options());
  HashedFrames frames(reader, 0, [](const Frame&) -> Frame { throw Error("no memory"); });
  EXPECT_THROW(frames.next(), Error);
}

}  // namespace
}  // namespace limpid::app
