// SPDX-License-Identifier: MIT
#include "core/frame/fields.h"

#include <gtest/gtest.h>

#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

TEST(Fields, ProgressiveFrameIsItsOnlyPicture) {
  const auto pictures = pictures_of(false);
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_EQ(pictures[0].first, 0);
  EXPECT_EQ(pictures[0].spacing, 1);
  EXPECT_EQ(pictures[0].count(7), 7);
}

TEST(Fields, AreEvenThenOddRows) {
  const auto pictures = pictures_of(true);
  ASSERT_EQ(pictures.size(), 2U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pictures[i].first, i);
    EXPECT_EQ(pictures[i].spacing, 2);
  }
  EXPECT_EQ(pictures[0].count(7), 4);
  EXPECT_EQ(pictures[1].count(7), 3);
  EXPECT_EQ(pictures[0].count(1), 1);
  EXPECT_EQ(pictures[1].count(1), 0);
}

TEST(Fields, HaveTheirPlanesRows) {
  const FrameFormat format = oracle::yuv(8, 6, 1, 1);  // chroma has 3 rows
  const auto pictures = pictures_of(true);
  EXPECT_EQ(plane_heights(format, pictures[0]), (PlaneHeights{3, 2, 2, 0}));
  EXPECT_EQ(plane_heights(format, pictures[1]), (PlaneHeights{3, 1, 1, 0}));
}

}  // namespace
}  // namespace limpid
