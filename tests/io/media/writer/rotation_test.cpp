// SPDX-License-Identifier: MIT
#include "io/media/writer/rotation.h"

#include <gtest/gtest.h>

extern "C" {
#include <libavutil/display.h>
}

#include <array>
#include <cstdint>
#include <string>

#include "tests/io/media/writer/made_source.h"

namespace limpid::io {
namespace {

class RotationTest : public ::testing::Test {
 protected:
  void ask_for(double degrees) {
    std::array<std::int32_t, 9> matrix{};
    av_display_rotation_set(matrix.data(), degrees);
    add_side_data(*made_.input->streams[0], AV_PKT_DATA_DISPLAYMATRIX,
                  reinterpret_cast<const std::uint8_t*>(matrix.data()), sizeof matrix);
  }
  Rotation in(const std::string& container) {
    diagnostics_.clear();
    return {made_.get(), container_named(container), diagnostics_};
  }

  MadeSource made_;
  Diagnostics diagnostics_;
};

TEST_F(RotationTest, UprightPicturesStayAsTheyAre) {
  EXPECT_TRUE(in("matroska").applied().is_upright());
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(RotationTest, AContainerThatHoldsItLeavesThePicturesAlone) {
  ask_for(90);
  const Rotation kept = in("mp4");
  EXPECT_TRUE(kept.applied().is_upright());
  EXPECT_FALSE(kept.is_lost());
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(RotationTest, OtherContainersGetTurnedPictures) {
  ask_for(90);
  Rotation turned = in("matroska");
  EXPECT_TRUE(turned.applied().transposed);
  EXPECT_FALSE(turned.is_lost());
  EXPECT_EQ(text_of(diagnostics_, Diagnostic::Kind::kLoss),
            "matroska can't hold the source's rotation: the samples are rotated instead");
  EXPECT_EQ(turned.turn(allocate_frame(made_.get().format)).format.width, 48);
  EXPECT_EQ(turned.copies(), 1);
}

TEST_F(RotationTest, FieldsAndObliqueAnglesAreNotTurned) {
  const std::string sentence =
      "matroska can't hold the source's rotation: players show the picture without it";
  ask_for(30);
  EXPECT_TRUE(in("matroska").is_lost());
  EXPECT_EQ(text_of(diagnostics_, Diagnostic::Kind::kLoss), sentence);
  ask_for(90);
#ifdef AV_FRAME_FLAG_INTERLACED
  made_.first->flags |= AV_FRAME_FLAG_INTERLACED;
#else
  made_.first->interlaced_frame = 1;
#endif
  const Rotation fields = in("matroska");
  EXPECT_TRUE(fields.is_lost());
  EXPECT_TRUE(fields.applied().is_upright());
  EXPECT_EQ(text_of(diagnostics_, Diagnostic::Kind::kLoss), sentence);
}

}  // namespace
}  // namespace limpid::io
