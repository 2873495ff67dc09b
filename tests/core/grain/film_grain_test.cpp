// SPDX-License-Identifier: MIT
// Film grain parameters, their tables, and their synthesis. tests/io/media/film_grain_test.cpp compares the
// synthesis with a decoder.
#include "core/grain/film_grain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace limpid {
namespace {

FilmGrain some_grain() {
  FilmGrain grain;
  grain.seed = 1234;
  grain.points = {{{{16, 40}, {128, 90}, {235, 60}}, {{0, 30}, {255, 50}}, {{128, 20}}}};
  grain.scaling_shift = 10;
  grain.lag = 1;
  grain.coefficients[0] = {5, -3, 2, 40};
  grain.coefficients[1] = {1, 2, 3, 4, 25};
  grain.coefficients[2] = {-4, 3, -2, 1, -20};
  return grain;
}

std::string failure_of(const std::string& text) {
  try {
    parse_film_grain_table(text, "a.tbl");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FilmGrainTable, TextKeepsAllParameters) {
  FilmGrain other = some_grain();
  other.points[1].clear();
  other.points[2].clear();
  other.chroma_from_luma = true;
  other.chroma_index[1] = {100, 150, 300};
  other.overlap = false;
  const FilmGrainTable table{{0, 5'000'000, true, some_grain()},
                             {5'000'000, 6'000'000, false, {}},
                             {6'000'000, INT64_MAX, true, other}};
  FilmGrainTable read = parse_film_grain_table(to_text(table), "a.tbl");
  ASSERT_EQ(read.size(), table.size());
  EXPECT_EQ(read[0], table[0]);
  EXPECT_FALSE(read[1].is_applied);
  EXPECT_EQ(read[2], table[2]);
}

TEST(FilmGrainTable, ReadsTheLayoutThatLibaomWrites) {
  const FilmGrainTable table = parse_film_grain_table(
      "filmgrn1\nE 0 417083 1 7391 1\n\tp 1 7 0 11 0 1 128 192 256 128 192 256\n\tsY 2  0 20 255 40\n"
      "\tsCb 0\n\tsCr 0\n\tcY 1 2 3 4\n\tcCb 0 0 0 0 0\n\tcCr 0 0 0 0 0\n",
      "a.tbl");
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(table[0].grain.points[0][1], (FilmGrain::Point{255, 40}));
  EXPECT_EQ(table[0].grain.coefficients[0][3], 4);
  EXPECT_EQ(table[0].end, 417083);
}

TEST(FilmGrainTable, FaultsAreReportedWithTheirLine) {
  const std::string good = to_text({{0, 10, true, some_grain()}});
  EXPECT_EQ(failure_of(good), "");
  EXPECT_EQ(failure_of("hello"), "a.tbl: is not a film grain table, which begins with filmgrn1");
  EXPECT_EQ(failure_of("filmgrn1\n"), "a.tbl: the film grain table has no entries");
  EXPECT_EQ(failure_of(good.substr(0, good.find("\tcCb"))),
            "a.tbl: line 8 of the film grain table: 'cCb' is missing");
  EXPECT_EQ(failure_of("filmgrn1\nE 0 x 1 1 1"),
            "a.tbl: line 2 of the film grain table: 'x' is not a number");
  EXPECT_NE(failure_of(good + "E 5 20 0 0 0").find("line 10"), std::string::npos);
  EXPECT_NE(failure_of("filmgrn1\nE 0 9 1 1 0").find("without parameters"), std::string::npos);
}

TEST(FilmGrainTable, ParametersOutOfRangeAreRefused) {
  const auto is_refused = [](const auto& change) {
    FilmGrain grain = some_grain();
    change(grain);
    return !failure_of(to_text({{0, 10, true, grain}})).empty();
  };
  EXPECT_FALSE(is_refused([](FilmGrain&) {}));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.scaling_shift = 7; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.coefficient_shift = 10; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.grain_shift = 4; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.seed = 65536; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.coefficients[0][0] = 128; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.points[0][1].value = 16; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.points[1][1].scaling = 256; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.points[1].resize(11); }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.chroma_index[0].offset = 512; }));
  EXPECT_TRUE(is_refused([](FilmGrain& grain) { grain.chroma_from_luma = true; }));
}

TEST(FilmGrainTable, BeginsAtTheStartOfASegment) {
  const FilmGrainTable table{
      {0, 100, true, some_grain()}, {100, 200, false, {}}, {200, INT64_MAX, true, some_grain()}};
  const FilmGrainTable later = rebased(table, 150);
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later[0].start, 0);
  EXPECT_EQ(later[0].end, 50);
  EXPECT_EQ(later[1].start, 50);
}

TEST(FilmGrain, StrengthScalesTheDeviation) {
  const FilmGrain grain = some_grain();
  EXPECT_EQ(scaled(grain, 0).points[0][1].scaling, 0);
  for (const double strength : {0.1, 0.5, 2.0, 4.0}) {
    const FilmGrain changed = scaled(grain, strength);
    const double before = grain.points[0][1].scaling / std::exp2(grain.scaling_shift);
    const double after = changed.points[0][1].scaling / std::exp2(changed.scaling_shift);
    EXPECT_NEAR(after / before, strength, strength * 0.02) << strength;
    EXPECT_NO_THROW(changed.validate("grain"));
  }
  EXPECT_EQ(scaled(grain, 1000).points[0][1].scaling, 255);
}

TEST(FilmGrain, IsWhatAStreamOfTheFormatCanStore) {
  FrameFormat format{.width = 64, .height = 64};
  EXPECT_TRUE(for_format(some_grain(), format).points[1].empty());
  format.color_model = ColorModel::kYuv;
  FilmGrain grain = some_grain();
  grain.points[0].clear();
  grain.points[2].clear();
  EXPECT_EQ(for_format(grain, format), grain);
  format.chroma_shift_x = format.chroma_shift_y = 1;
  const FilmGrain stored = for_format(grain, format);
  EXPECT_EQ(stored.points[0], (std::vector<FilmGrain::Point>{{0, 0}}));
  EXPECT_EQ(stored.points[1], grain.points[1]);
  EXPECT_EQ(stored.points[2], (std::vector<FilmGrain::Point>{{0, 0}}));
}

TEST(FilmGrain, ScalingFunctionIsLinearBetweenItsPoints) {
  const auto function = scaling_function(some_grain().points[0]);
  EXPECT_EQ(function[0], 40);
  EXPECT_EQ(function[16], 40);
  EXPECT_EQ(function[72], 65);
  EXPECT_EQ(function[128], 90);
  EXPECT_EQ(function[255], 60);
  EXPECT_EQ(scaling_function({})[100], 0);
}

TEST(GrainSynthesizer, ChangesPlanesWithGrainAlone) {
  Frame frame = allocate_frame({.width = 65, .height = 35, .color_model = ColorModel::kYuv});
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < frame.planes[p].height; ++y) {
      std::fill_n(frame.planes[p].row<std::uint8_t>(y), frame.planes[p].width, 128);
    }
  }
  FilmGrain grain = some_grain();
  grain.points[1].clear();
  const Frame result = with_film_grain(grain, frame);
  const auto changes = [&](int p) {
    int changed = 0;
    for (int y = 0; y < frame.planes[p].height; ++y) {
      for (int x = 0; x < frame.planes[p].width; ++x) {
        changed += result.planes[p].row<std::uint8_t>(y)[x] != 128 ? 1 : 0;
      }
    }
    return changed;
  };
  EXPECT_GT(changes(0), 1000);
  EXPECT_EQ(changes(1), 0);
  EXPECT_GT(changes(2), 500);
}

TEST(GrainSynthesizer, FormatsOfAv1HaveGrain) {
  const FrameFormat yuv{.width = 64, .height = 64, .color_model = ColorModel::kYuv};
  EXPECT_TRUE(can_have_film_grain(yuv));
  FrameFormat other = yuv;
  other.color_model = ColorModel::kRgb;
  EXPECT_FALSE(can_have_film_grain(other));
  other = yuv;
  other.chroma_shift_x = 2;
  EXPECT_FALSE(can_have_film_grain(other));
  other = yuv;
  other.sample_type = SampleType::kUint16;
  other.bit_depth = 16;
  EXPECT_FALSE(can_have_film_grain(other));
}

}  // namespace
}  // namespace limpid
