// Reader::seek: the frames from a time on, as often as one likes, wherever the key frames lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "tests/io/media.h"

namespace limpid::io {
namespace {

struct Source {
  std::string name;
  std::string arguments;
};

class SeekTest : public MediaTest, public ::testing::WithParamInterface<Source> {};

TEST_P(SeekTest, ContinuesWithTheFrameOfThatTime) {
  const std::string file =
      make(GetParam().name, "-f lavfi -i testsrc2=s=64x48:r=24:d=4 " + GetParam().arguments);
  const Clip whole = read_clip(file);
  Reader reader(file);
  for (const double time : {3.0, 0.5, 2.51, 0.0, 2.49, 99.0, 1.0}) {
    reader.seek(time);
    auto expected = static_cast<std::size_t>(
        std::find_if(whole.times.begin(), whole.times.end(), [&](double t) { return t >= time - 0.0005; }) -
        whole.times.begin());
    for (int i = 0; i < 3; ++i, ++expected) {
      const Reader::Item item = reader.read();
      if (expected >= whole.frames.size()) {
        EXPECT_TRUE(std::holds_alternative<Reader::End>(item)) << time;
        break;
      }
      ASSERT_TRUE(std::holds_alternative<Frame>(item)) << time;
      const Frame& frame = std::get<Frame>(item);
      EXPECT_NEAR(presentation_time(frame).value_or(-1), whole.times[expected], 1e-6) << time;
      EXPECT_EQ(frame.index, whole.frames[expected].index) << time;
      expect_same_frames({whole.frames[expected]}, {frame});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sources, SeekTest,
    ::testing::Values(Source{"h264.mkv", "-c:v libx264 -bf 3 -g 60"},
                      Source{"mpeg2.ts", "-c:v mpeg2video -bf 2 -g 30 -output_ts_offset 1000"},
                      Source{"plain.y4m", "-pix_fmt yuv420p"}, Source{"raw.264", "-c:v libx264 -bf 2 -g 24"}),
    [](const auto& test) { return test.param.name.substr(0, test.param.name.find('.')); });

}  // namespace
}  // namespace limpid::io
