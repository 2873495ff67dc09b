// SPDX-License-Identifier: MIT
#include "samples/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "samples/random.h"

namespace limpid::samples {
namespace {

Clip small_clip() {
  Clip clip;
  clip.width = 160;
  clip.height = 90;
  clip.frames = 9;
  return clip;
}

bool equal(const Picture& a, const Picture& b) {
  for (std::size_t p = 0; p < a.size(); ++p) {
    if (a[p].samples != b[p].samples) {
      return false;
    }
  }
  return a.size() == b.size();
}

double mean_difference(const Picture& a, const Picture& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a[0].samples.size(); ++i) {
    sum += std::abs(a[0].samples[i] - b[0].samples[i]);
  }
  return sum / static_cast<double>(a[0].samples.size());
}

// FNV-1a over all samples.
std::uint64_t checksum(const Picture& picture) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const SamplePlane& plane : picture) {
    for (const std::uint16_t sample : plane.samples) {
      hash = (hash ^ sample) * 0x100000001b3U;
    }
  }
  return hash;
}

TEST(Random, GaussianHasMeanDeviationAndTails) {
  Random random(7);
  constexpr int kCount = 400000;
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  int beyond_three = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.gaussian();
    sum += value;
    squares += value * value;
    beyond_two += std::abs(value) > 2 ? 1 : 0;
    beyond_three += std::abs(value) > 3 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.008);
  EXPECT_NEAR(std::sqrt(squares / kCount), 1, 0.006);
  EXPECT_NEAR(beyond_two / double{kCount}, 0.0455, 0.0020);
  EXPECT_NEAR(beyond_three / double{kCount}, 0.0027, 0.0005);
}

TEST(Clip, SameSeedGivesSameNoise) {
  const Clip clip = small_clip();
  Clip other = clip;
  other.seed = 2;
  const Picture clean = render(clip, 3);
  EXPECT_TRUE(equal(clean, render(clip, 3)));
  EXPECT_TRUE(equal(clean, render(other, 3)));
  EXPECT_TRUE(equal(add_noise(clean, clip, 3), add_noise(clean, clip, 3)));
  EXPECT_FALSE(equal(add_noise(clean, clip, 3), add_noise(clean, other, 3)));
  EXPECT_FALSE(equal(add_noise(clean, clip, 3), add_noise(clean, clip, 4)));
}

// The sample clip in the repository was made from these pictures: if they change, it must be made again.
TEST(Clip, PicturesAreThoseOfTheSample) {
  const Clip clip = small_clip();
  EXPECT_EQ(checksum(render(clip, 0)), 4007720785546316541U);
  EXPECT_EQ(checksum(render(clip, 8)), 10979337059902904858U);
  EXPECT_EQ(checksum(add_noise(render(clip, 0), clip, 0)), 4027594699753076369U);
}

TEST(Clip, NoiseHasTheDeviationAskedForInEveryPlane) {
  for (const int depth : {8, 10}) {
    Clip clip = small_clip();
    clip.width = 320;
    clip.height = 180;
    clip.depth = depth;
    clip.sigma = 20;
    clip.chroma_sigma = 10;
    for (const int index : {0, 8}) {
      const Picture clean = render(clip, index);
      const Picture noisy = add_noise(clean, clip, index);
      ASSERT_EQ(clean.size(), 3U);
      for (std::size_t p = 0; p < 3; ++p) {
        double squares = 0;
        for (std::size_t i = 0; i < clean[p].samples.size(); ++i) {
          const double difference = noisy[p].samples[i] - clean[p].samples[i];
          squares += difference * difference;
        }
        const double deviation = std::sqrt(squares / static_cast<double>(clean[p].samples.size()));
        const double wanted = (p == 0 ? 20.0 : 10.0) * (1 << (depth - 8));
        EXPECT_NEAR(deviation / wanted, 1, 0.02) << "plane " << p << ", " << depth << " bit, frame " << index;
      }
    }
  }
}

TEST(Clip, SceneChangesAtTheCutAndOnlyThere) {
  for (const int frames : {2, 9}) {
    Clip clip = small_clip();
    clip.frames = frames;
    ASSERT_EQ(clip.cut(), frames == 2 ? 1 : 5);
    Picture previous = render(clip, 0);
    for (int index = 1; index < frames; ++index) {
      const Picture picture = render(clip, index);
      const double difference = mean_difference(previous, picture);
      EXPECT_GT(difference, 0.1) << "nothing moves in frame " << index;
      if (index == clip.cut()) {
        EXPECT_GT(difference, 25) << "frame " << index;
      } else {
        EXPECT_LT(difference, 12) << "frame " << index;
      }
      previous = picture;
    }
  }
}

TEST(Clip, PlanesHaveTheSizesOfTheFormat) {
  Clip clip = small_clip();
  clip.width = 33;
  clip.height = 17;
  clip.chroma = Chroma::kGray;
  EXPECT_EQ(render(clip, 0).size(), 1U);
  clip.chroma = Chroma::k444;
  const Picture full = render(clip, 0);
  clip.chroma = Chroma::k422;
  const Picture half = render(clip, 0);
  clip.chroma = Chroma::k420;
  const Picture quarter = render(clip, 0);
  EXPECT_EQ(full[1].samples.size(), 33U * 17);
  EXPECT_EQ(half[1].samples.size(), 17U * 17);
  EXPECT_EQ(quarter[2].samples.size(), 17U * 9);
  EXPECT_EQ(full[0].samples, quarter[0].samples);
}

TEST(Y4m, StreamHasHeaderAndFramesOfTheRightSize) {
  Clip clip = small_clip();
  clip.width = 33;
  clip.height = 17;
  clip.depth = 10;
  std::ostringstream out;
  write_y4m_header(out, clip);
  EXPECT_EQ(out.str(), "YUV4MPEG2 W33 H17 F25:1 Ip A1:1 C420p10 XCOLORRANGE=LIMITED\n");
  const std::size_t header = out.str().size();
  const Picture picture = render(clip, 0);
  write_y4m_frame(out, picture, clip);
  const std::string bytes = out.str();
  ASSERT_EQ(bytes.size(), header + 6 + 2 * (33 * 17 + 2 * 17 * 9));
  EXPECT_EQ(bytes.substr(header, 6), "FRAME\n");
  const auto low = static_cast<unsigned char>(bytes[header + 6]);
  const auto high = static_cast<unsigned char>(bytes[header + 7]);
  EXPECT_EQ(low + 256 * high, picture[0].samples[0]);
}

}  // namespace
}  // namespace limpid::samples
