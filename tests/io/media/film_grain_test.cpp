// SPDX-License-Identifier: MIT
// Film grain of AV1: the synthesis of dav1d, tables for libaom, and the check of its output.
#include "io/media/film_grain.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/grain/film_grain.h"
#include "io/media/libav.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

struct GrainCase {
  std::string format;
  std::string size;
  FilmGrain grain;
};

std::ostream& operator<<(std::ostream& stream, const GrainCase& test) {
  return stream << test.format << " " << test.size;
}

bool has_av1() {
  return avcodec_find_encoder_by_name("libaom-av1") != nullptr &&
         avcodec_find_decoder_by_name("libdav1d") != nullptr;
}

/// Grain with values in all parameters.
FilmGrain rich_grain(bool with_chroma = true) {
  FilmGrain grain;
  grain.seed = 4711;
  grain.points[0] = {{0, 60}, {70, 120}, {140, 90}, {255, 200}};
  if (with_chroma) {
    grain.points[1] = {{0, 100}, {255, 160}};
    grain.points[2] = {{60, 180}, {200, 30}};
  }
  grain.scaling_shift = 9;
  grain.lag = 3;
  grain.coefficient_shift = 8;
  for (int i = 0; i < FilmGrain::kCoefficients; ++i) {
    for (int plane = 0; plane < 3; ++plane) {
      grain.coefficients[plane][i] = (i * 37 + plane * 11) % 41 - 18;
    }
  }
  grain.coefficients[1][24] = 90;
  grain.coefficients[2][24] = -70;
  grain.grain_shift = 1;
  grain.chroma_index = {{{140, 180, 240}, {100, 200, 270}}};
  return grain;
}

FilmGrain simple_grain() {
  FilmGrain grain = rich_grain();
  grain.points[1].clear();
  grain.points[2].clear();
  grain.chroma_from_luma = true;
  grain.overlap = false;
  grain.lag = 1;
  grain.grain_shift = 0;
  return grain;
}

class FilmGrainTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    if (!has_av1()) {
      GTEST_SKIP() << "this libavcodec has no libaom-av1 or no libdav1d";
    }
  }

  /// A clip whose decoder adds the grain of a table.
  std::string encoded(const std::string& format, const std::string& size, const FilmGrainTable& table) {
    const std::string source = make(
        "source.mkv", "-f lavfi -i testsrc2=s=" + size + ":r=25:d=0.2 -pix_fmt " + format + " -c:v ffv1");
    WriterOptions options;
    options.codec = "libaom-av1";
    options.encoder_options = {{"cpu-used", "8"}};
    options.film_grain = table;
    options.overwrite = Overwrite::kAlways;
    const std::string file = path(table.empty() ? "plain.mkv" : "grain.mkv");
    transcode(source, file, options);
    return file;
  }
};

class FilmGrainFormatTest : public FilmGrainTest, public ::testing::WithParamInterface<GrainCase> {};

TEST_P(FilmGrainFormatTest, SynthesisIsBitExactWithDav1d) {
  const GrainCase& test = GetParam();
  const std::string file = encoded(test.format, test.size, {{0, INT64_MAX, true, test.grain}});
  const Clip with_grain = read_clip(file);
  const Clip without = read_clip(file, {.without_film_grain = true});
  ASSERT_EQ(with_grain.frames.size(), 5U);
  ASSERT_EQ(without.frames.size(), 5U);
  std::vector<Frame> synthesized;
  for (const Frame& frame : without.frames) {
    const std::optional<FilmGrain> grain = film_grain_of(frame);
    ASSERT_TRUE(grain.has_value());
    EXPECT_EQ(grain->points, test.grain.points);
    EXPECT_EQ(grain->scaling_shift, test.grain.scaling_shift);
    synthesized.push_back(with_film_grain(*grain, frame));
  }
  expect_same_frames(with_grain.frames, synthesized);
  EXPECT_FALSE(film_grain_of(with_grain.frames[0]).has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Formats, FilmGrainFormatTest,
    ::testing::Values(
        GrainCase{"yuv420p", "200x120", rich_grain()}, GrainCase{"yuv420p", "101x67", rich_grain()},
        GrainCase{"yuv420p", "98x66", simple_grain()}, GrainCase{"yuv422p", "101x67", rich_grain()},
        GrainCase{"yuv444p", "101x67", rich_grain()}, GrainCase{"gray", "101x67", rich_grain(false)},
        GrainCase{"yuv420p10le", "101x67", rich_grain()}, GrainCase{"yuv422p10le", "130x70", rich_grain()},
        GrainCase{"yuv444p10le", "98x66", simple_grain()}, GrainCase{"yuv420p12le", "101x67", rich_grain()},
        GrainCase{"yuv444p12le", "66x98", rich_grain()}),
    [](const auto& test) {
      return test.param.format + "_" + test.param.size + (test.param.grain.lag == 1 ? "_simple" : "");
    });

TEST_F(FilmGrainTest, EachPartHasItsGrain) {
  FilmGrain other = rich_grain();
  other.points[0] = {{0, 10}};
  const std::string file =
      encoded("yuv420p", "96x64", {{0, 900'000, true, rich_grain()}, {900'000, INT64_MAX, true, other}});
  const Clip clip = read_clip(file, {.without_film_grain = true});
  ASSERT_EQ(clip.frames.size(), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(film_grain_of(clip.frames[i])->points[0].size(), i < 3 ? 4U : 1U) << i;
  }
}

// libaom aborts the program if a stream cannot store the grain of a table.
TEST_F(FilmGrainTest, TablesOfOtherFormatsAreEncoded) {
  FilmGrain chroma = rich_grain();
  chroma.points[0].clear();
  FilmGrain one = rich_grain();
  one.points[2].clear();
  for (const FilmGrain& grain : {rich_grain(), simple_grain(), chroma, one}) {
    for (const char* const format : {"gray", "yuv420p", "yuv444p"}) {
      const std::string file = encoded(format, "96x64", {{0, INT64_MAX, true, grain}});
      EXPECT_TRUE(film_grain_of(read_clip(file, {.without_film_grain = true}).frames[0]).has_value());
    }
  }
}

TEST_F(FilmGrainTest, OtherEncodersRefuseATable) {
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=96x64:r=25:d=0.2 -c:v ffv1");
  WriterOptions options;
  options.film_grain = {{0, INT64_MAX, true, rich_grain()}};
  const auto failure = [&](const std::string& codec) -> std::string {
    options.codec = codec;
    try {
      transcode(source, path("out.mkv"), options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(failure("libx264").find("use -c libaom-av1"), std::string::npos);
  if (avcodec_find_encoder_by_name("libsvtav1") != nullptr) {
    EXPECT_NE(failure("libsvtav1").find("--fgs-table"), std::string::npos);
  }
  options.encoder_options = {{"denoise-noise-level", "10"}};
  EXPECT_NE(failure("libaom-av1").find("exclude each other"), std::string::npos);
}

TEST_F(FilmGrainTest, OwnParametersOfTheEncoderAreKept) {
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=96x64:r=25:d=0.2 -c:v ffv1");
  WriterOptions options;
  options.codec = "libaom-av1";
  options.film_grain = {{0, INT64_MAX, true, rich_grain()}};
  options.encoder_options = {{"cpu-used", "8"}, {"aom-params", "enable-cdef=0"}};
  transcode(source, path("out.mkv"), options);
  EXPECT_TRUE(film_grain_of(read_clip(path("out.mkv"), {.without_film_grain = true}).frames[0]).has_value());
}

/// The result of the check of a file's packets.
std::string failure_of_check(const std::string& file, const FilmGrainTable& table) {
  AVFormatContext* opened = nullptr;
  if (avformat_open_input(&opened, file.c_str(), nullptr, nullptr) < 0) {
    return "cannot be opened";
  }
  const InputHandle input(opened);
  const CodecHandle encoder(avcodec_alloc_context3(avcodec_find_encoder_by_name("libaom-av1")));
  encoder->time_base = input->streams[0]->time_base;
  GrainEncoding encoding(file, table);
  encoding.open_check(*encoder);
  try {
    for (PacketHandle packet = make_packet(); av_read_frame(input.get(), packet.get()) >= 0;
         av_packet_unref(packet.get())) {
      encoding.note_encoded(*packet);
    }
    encoding.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(FilmGrainTest, OutputWithoutTheGrainOfTheTableIsAnError) {
  const FilmGrainTable whole{{0, INT64_MAX, true, rich_grain()}};
  const FilmGrainTable late{{0, 900'000, false, {}}, {900'000, INT64_MAX, true, rich_grain()}};
  const std::string with_grain = encoded("yuv420p", "96x64", whole);
  EXPECT_EQ(failure_of_check(with_grain, whole), "");
  EXPECT_EQ(failure_of_check(with_grain, late), "");
  const std::string without = encoded("yuv420p", "96x64", {});
  EXPECT_NE(failure_of_check(without, whole).find("has left out the film grain"), std::string::npos);
  EXPECT_NE(failure_of_check(without, late).find("has left out the film grain"), std::string::npos);
  EXPECT_EQ(failure_of_check(without, {{0, INT64_MAX, false, {}}}), "");
}

}  // namespace
}  // namespace limpid::io
