// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/picture_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/vbm4d/trajectories.h"
#include "cpu/runtime/aligned_vector.h"
#include "tests/cpu/simd_level.h"

namespace limpid::cpu {
namespace {

constexpr int kRowWidth = 37;
constexpr int kHeight = 11;
constexpr int kRowSpacing = 3;
constexpr int kFrames = 9;

// The sums of a picture in which groups of weight 1 have estimated `value` everywhere, `count` times, several
// at once.
class PictureSumsTest : public SimdLevelTest {
 protected:
  void SetUp() override {
    SimdLevelTest::SetUp();
    sums_.resize(kRowWidth, kHeight);
    for (int y = 0; y < kHeight; ++y) {
      sums_.clear_row(y);
    }
  }

  // Adjacent patches, so that every sample is in one.
  void add(float value, int count, int at_once) {
    const float scale = std::ldexp(1.0F, PictureSums::numerator_bits(kRowSpacing, kFrames));
    AlignedVector<float> values(PictureSums::aligned(kRowWidth));
    for (int i = 0; i < count; i += at_once) {
      for (int y = 0; y < vbm4d::kPatch; ++y) {
        for (int x = 0; x < vbm4d::kPatch; ++x) {
          values[x] = (value - kSumsOffset) * static_cast<float>(at_once);
        }
        sums_.take_numerators(0, y, values.data(), scale, static_cast<int>(values.size()));
        for (const float left : values) {
          ASSERT_EQ(left, 0);
        }
      }
      sums_.add_weights(std::vector<PictureSums::PatchWeight>(at_once, {0, 0, PictureSums::weight_units(1)}));
    }
  }

  void expect_estimate(float value) {
    Bm3dStep step;
    step.patch_size = vbm4d::kPatch;
    step.kaiser_beta = 0;
    StepTables tables(step, 0);
    tables.numerator_unit = PictureSums::numerator_unit(kRowSpacing, kFrames);
    for (int y = 0; y < vbm4d::kPatch; ++y) {
      std::vector<float> row(kRowWidth);
      sums_.estimate_row(tables, y, row.data());
      for (int x = 0; x < vbm4d::kPatch; ++x) {
        ASSERT_NEAR(row[x], value, 1e-3) << x << ", " << y;
      }
    }
  }

  PictureSums sums_;
};

TEST_P(PictureSumsTest, AreMeans) {
  add(20, 3, 1);
  add(230, 1, 1);
  expect_estimate(72.5F);
}

TEST_P(PictureSumsTest, AreNothingOnceTheirRowsAreCleared) {
  add(255, 4500, 1);  // exceeds the bits that are always stored
  for (int y = 0; y < kHeight; ++y) {
    sums_.clear_row(y);
  }
  add(20, 3, 1);
  expect_estimate(20);
}

TEST_P(PictureSumsTest, HaveNoLimit) {
  // Overflows of numerators in both directions, of weights, and of values added at once.
  add(255, 1500, 1);
  expect_estimate(255);
  add(0, 4500, 1);
  expect_estimate(63.75F);
  add(0, 94000, 1000);
  expect_estimate(3.825F);
}

TEST_P(PictureSumsTest, AreNewAfterResize) {
  add(255, 100000, 1000);
  sums_.resize(kRowWidth, kHeight);
  for (int y = 0; y < kHeight; ++y) {
    sums_.clear_row(y);
  }
  add(50, 2, 1);
  expect_estimate(50);
}

TEST(PictureSumsWeights, AreNeverNothing) {
  EXPECT_EQ(PictureSums::weight_units(1e-9F), 1U);
  EXPECT_EQ(PictureSums::weight_units(1), 1U << PictureSums::kWeightBits);
}

INSTANTIATE_TEST_SUITE_P(Cpu, PictureSumsTest, kSimdLevels, simd_level_name);

}  // namespace
}  // namespace limpid::cpu
