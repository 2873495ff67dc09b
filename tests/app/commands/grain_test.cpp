// SPDX-License-Identifier: MIT
// Film grain: tables of limpid noise, and limpid denoise --grain and --add-grain.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using Words = std::vector<std::string>;

class GrainTest : public ProgramTest {
 protected:
  /// A gray gradient with noise that is stronger in its second half.
  std::string two_scenes(const std::string& name) const {
    return make(name, {"-f", "lavfi", "-i", "gradients=s=128x96:d=0.4:r=25:speed=0.0001:seed=1", "-f",
                       "lavfi", "-i", "gradients=s=128x96:d=0.6:r=25:speed=0.0001:seed=9", "-filter_complex",
                       "[0]format=yuv420p,lutyuv=y=val/2:u=128:v=128,noise=c0s=10:c0f=t:all_seed=1[a];"
                       "[1]format=yuv420p,lutyuv=y=val/2+90:u=128:v=128,noise=c0s=40:c0f=t:all_seed=1[b];"
                       "[a][b]concat",
                       "-c:v", "ffv1"});
  }
  std::string noisy(const std::string& name, const std::string& format = "yuv420p") const {
    return make(name, {"-f", "lavfi", "-i", "color=gray:s=128x96:d=0.4:r=25", "-vf",
                       "format=yuv444p,noise=alls=20:allf=t:all_seed=1,format=" + format, "-c:v", "ffv1"});
  }
  static bool has_aom() {
    return run({"ffmpeg", "-hide_banner", "-encoders"}).out.find("libaom-av1") != std::string::npos &&
           run({"ffmpeg", "-hide_banner", "-decoders"}).out.find("libdav1d") != std::string::npos;
  }
  Words denoise(const std::string& input, const std::string& output, const Words& options) const {
    Words words = {"denoise", input, "-o", path(output), "-y", "--engine", "cpu", "--profile", "fast"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  Words encode(const std::string& input, const std::string& output, const Words& options) const {
    Words words = denoise(input, output, {"-c", "libaom-av1", "-e", "cpu-used=8"});
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  /// Samples of luma of all frames, decoded with or without film grain.
  static std::string luma(const std::string& file, bool with_grain = true) {
    Words words = {"ffmpeg", "-v", "error"};
    if (file.ends_with(".av1.mkv")) {
      words.insert(words.end(), {"-c:v", "libdav1d", "-filmgrain", with_grain ? "1" : "0"});
    }
    words.insert(words.end(), {"-i", file, "-vf", "extractplanes=y", "-f", "rawvideo", "-"});
    return run(words).out;
  }
  /// Standard deviation of the differences.
  static double deviation(const std::string& a, const std::string& b) {
    EXPECT_EQ(a.size(), b.size());
    EXPECT_FALSE(a.empty());
    double squares = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const double difference = static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i]);
      squares += difference * difference;
    }
    return std::sqrt(squares / static_cast<double>(a.size()));
  }
  static double noise_of(const std::string& file) {
    const Outcome outcome = limpid({"noise", file, "--json", "--engine", "cpu"});
    expect_success(outcome);
    return nlohmann::json::parse(outcome.out)["planes"]["Y"]["sigma"];
  }
  /// The first words of the entries of a table.
  static std::vector<Words> entries(const std::string& file) {
    std::vector<Words> all;
    for (const std::string& line : lines(read_file(file))) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "E") {
        all.emplace_back();
        while (words >> word) {
          all.back().push_back(word);
        }
      }
    }
    return all;
  }
};

TEST_F(GrainTest, ATableHasAnEntryForEachScene) {
  const std::string clip = two_scenes("cut.mkv");
  const Outcome outcome = limpid({"noise", clip, "-o", path("grain.tbl"), "--engine", "cpu"});
  expect_success(outcome);
  EXPECT_EQ(lines(outcome.out).size(), 2U) << outcome.out;
  EXPECT_TRUE(read_file(path("grain.tbl")).starts_with("filmgrn1\nE 0 "));
  const std::vector<Words> table = entries(path("grain.tbl"));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0][1], table[1][0]);
  EXPECT_NEAR(std::stod(table[1][0]), 3'800'000, 10'000);  // between the frames at 0.36 and 0.40 s
  expect_failure(limpid({"noise", clip, "-o", path("grain.tbl")}), 1, {"grain.tbl: exists"});
  const Outcome report = limpid({"noise", clip, "-o", path("grain.tbl"), "-y", "--json", "--engine", "cpu"});
  expect_success(report);
  EXPECT_EQ(nlohmann::json::parse(report.out)["film_grain"].size(), 2U);
}

TEST_F(GrainTest, InputsWithoutFilmGrainAreRefused) {
  const std::string rgb = noisy("rgb.mkv", "gbrp");
  expect_failure(limpid({"noise", rgb, "-o", path("a.tbl")}), 2, {"rgb.mkv", "gray or YUV video"});
  const std::string clip = noisy("in.mkv");
  expect_failure(limpid({"noise", clip, "-o", path("a.tbl"), "--region", "0,0,64x64"}), 2, {"--region"});
  expect_failure(limpid(denoise(clip, "out.mkv", {"--grain", "keep"})), 2, {"-c libaom-av1"});
  expect_failure(limpid(denoise(clip, "out.mkv", {"--grain", "keep", "-c", "libsvtav1"})), 2,
                 {"--fgs-table"});
  expect_failure(limpid(denoise(clip, "out.mkv", {"--grain-strength", "2"})), 2, {"needs --grain"});
  EXPECT_EQ(files(), (Words{"in.mkv", "rgb.mkv"}));
}

TEST_F(GrainTest, GrainHasTheStrengthOfTheNoise) {
  if (!has_aom()) {
    GTEST_SKIP() << "ffmpeg has no libaom-av1 or no libdav1d";
  }
  const std::string clip = noisy("in.mkv");
  const double sigma = noise_of(clip);
  expect_success(limpid(encode(clip, "out.av1.mkv", {"--grain", "keep"})));
  const std::string without = luma(path("out.av1.mkv"), false);
  EXPECT_NEAR(deviation(luma(path("out.av1.mkv")), without), sigma, sigma * 0.06);
  expect_success(limpid({"noise", clip, "-o", path("grain: 1.tbl"), "--engine", "cpu"}));
  expect_success(
      limpid(encode(clip, "half.av1.mkv", {"--grain", path("grain: 1.tbl"), "--grain-strength", "0.5"})));
  EXPECT_EQ(luma(path("half.av1.mkv"), false), without);
  EXPECT_NEAR(deviation(luma(path("half.av1.mkv")), without), sigma / 2, sigma * 0.05);
}

TEST_F(GrainTest, WrongTablesAreErrors) {
  const std::string clip = noisy("in.mkv");
  expect_failure(limpid(encode(clip, "out.mkv", {"--grain", path("missing.tbl")})), 1, {"missing.tbl"});
  write_file(path("wrong.tbl"), "filmgrn1\nE 0 9 1 1 1\n\tp 3 x\n");
  expect_failure(limpid(encode(clip, "out.mkv", {"--grain", path("wrong.tbl")})), 1,
                 {"wrong.tbl", "line 3", "'x' is not a number"});
  EXPECT_EQ(files(), (Words{"in.mkv", "wrong.tbl"}));
  write_file(path("short.tbl"), "filmgrn1\nE 0 1000000 0 1 0\n");
  const Outcome outcome = limpid(encode(clip, "out.mkv", {"--grain", path("short.tbl"), "--frames", "1"}));
  if (has_aom()) {
    expect_success(outcome);
    EXPECT_NE(outcome.err.find("has no film grain for this passage"), std::string::npos) << outcome.err;
  }
}

TEST_F(GrainTest, TimesOfATableCountFromTheBeginningOfTheInput) {
  if (!has_aom()) {
    GTEST_SKIP() << "ffmpeg has no libaom-av1 or no libdav1d";
  }
  const std::string clip = two_scenes("cut.mkv");
  expect_success(limpid({"noise", clip, "-o", path("grain.tbl"), "--engine", "cpu"}));
  const auto grain_of_start = [&](const Words& options) {
    Words words = {"--grain", path("grain.tbl"), "--frames", "2"};
    words.insert(words.end(), options.begin(), options.end());
    expect_success(limpid(encode(clip, "out.av1.mkv", words)));
    return deviation(luma(path("out.av1.mkv")), luma(path("out.av1.mkv"), false));
  };
  EXPECT_GT(grain_of_start({"--start", "0.48"}), 2.5 * grain_of_start({}));
}

TEST_F(GrainTest, TheEncoderReadsTheTableInAFolderOfAnyName) {
  if (!has_aom()) {
    GTEST_SKIP() << "ffmpeg has no libaom-av1 or no libdav1d";
  }
  const std::string clip = noisy("in.mkv");
  const std::string folder = path("it's a=b: \\c");
  const auto denoise_with = [&](const std::string& temporary) {
    Words words = {"env", "TMPDIR=" + temporary};
    const Words program = limpid_command(encode(clip, "out.av1.mkv", {"--grain", "keep", "--frames", "2"}));
    words.insert(words.end(), program.begin(), program.end());
    return run(words);
  };
  expect_failure(denoise_with(folder), 1, {"temporary files", "TMPDIR"});
  std::filesystem::create_directory(folder);
  expect_success(denoise_with(folder));
  EXPECT_GT(deviation(luma(path("out.av1.mkv")), luma(path("out.av1.mkv"), false)), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(GrainTest, ResumedRunsHaveTheGrainOfOneRun) {
  if (!has_aom()) {
    GTEST_SKIP() << "ffmpeg has no libaom-av1 or no libdav1d";
  }
  const std::string clip = two_scenes("cut.mkv");
  expect_success(limpid(encode(clip, "one.av1.mkv", {"--grain", "keep"})));
  expect_success(
      limpid(encode(clip, "segments.av1.mkv", {"--grain", "keep", "--resume", "--segment-frames", "7"})));
  EXPECT_EQ(luma(path("segments.av1.mkv")), luma(path("one.av1.mkv")));
}

TEST_F(GrainTest, GrainOfTheInputIsPassedOn) {
  if (!has_aom()) {
    GTEST_SKIP() << "ffmpeg has no libaom-av1 or no libdav1d";
  }
  expect_success(limpid(encode(noisy("in.mkv"), "first.av1.mkv", {"--grain", "keep"})));
  const std::string first = path("first.av1.mkv");
  const double expected = deviation(luma(first), luma(first, false));
  expect_success(limpid(encode(first, "second.av1.mkv", {"--grain", "keep"})));
  const std::string second = path("second.av1.mkv");
  EXPECT_NEAR(deviation(luma(second), luma(second, false)), expected, expected * 0.05);
  const Outcome plain = limpid(encode(first, "plain.av1.mkv", {}));
  expect_success(plain);
  EXPECT_NE(plain.err.find("film grain is not kept"), std::string::npos) << plain.err;
  EXPECT_EQ(luma(path("plain.av1.mkv")), luma(path("plain.av1.mkv"), false));
}

TEST_F(GrainTest, EveryFormatOfAv1HasGrain) {
  if (!has_aom()) {
    GTEST_SKIP() << "ffmpeg has no libaom-av1 or no libdav1d";
  }
  for (const char* const format : {"gray", "yuv422p", "yuv444p10le", "yuv420p12le"}) {
    const std::string clip = noisy(std::string(format) + ".mkv", format);
    expect_success(limpid(encode(clip, "out.av1.mkv", {"--grain", "keep", "--frames", "2"})));
    const auto raw = [&](const char* grain) {
      return run({"ffmpeg", "-v", "error", "-c:v", "libdav1d", "-filmgrain", grain, "-i", path("out.av1.mkv"),
                  "-f", "rawvideo", "-"})
          .out;
    };
    EXPECT_NE(raw("1"), raw("0")) << format;
  }
}

TEST_F(GrainTest, MeasuringSeesTheGrainThatPlayersShow) {
  if (!has_aom()) {
    GTEST_SKIP() << "ffmpeg has no libaom-av1 or no libdav1d";
  }
  expect_success(limpid(encode(noisy("in.mkv"), "out.av1.mkv", {"--grain", "keep"})));
  const auto psnr = [&](const char* grain) -> nlohmann::json {
    const Outcome decoded = run({"ffmpeg", "-v", "error", "-y", "-c:v", "libdav1d", "-filmgrain", grain, "-i",
                                 path("out.av1.mkv"), "-c:v", "ffv1", path("shown.mkv")});
    EXPECT_EQ(decoded.exit_code, 0) << decoded.err;
    const Outcome outcome = limpid({"measure", path("shown.mkv"), path("out.av1.mkv"), "--json"});
    expect_success(outcome);
    return nlohmann::json::parse(outcome.out)["average"]["psnr"]["Y"];
  };
  EXPECT_TRUE(psnr("1").is_null());
  EXPECT_FALSE(psnr("0").is_null());
}

TEST_F(GrainTest, AddedGrainIsThatOfTheFrameWhateverTheThreadsAndSegments) {
  const std::string clip = noisy("in.mkv");
  const double sigma = noise_of(clip);
  const Words lossless = {"-c", "ffv1"};
  const auto samples = [&](const std::string& name, Words options) {
    options.insert(options.end(), lossless.begin(), lossless.end());
    expect_success(limpid(denoise(clip, name, options)));
    return luma(path(name));
  };
  const std::string plain = samples("plain.mkv", {});
  const std::string grain = samples("grain.mkv", {"--add-grain", "1"});
  EXPECT_NEAR(deviation(grain, plain), sigma, sigma * 0.06);
  EXPECT_EQ(samples("thread.mkv", {"--add-grain", "1", "--threads", "1"}), grain);
  const std::size_t frame = plain.size() / 10;
  EXPECT_NE(grain.substr(0, frame), grain.substr(frame, frame));
  EXPECT_EQ(samples("segments.mkv", {"--add-grain", "1", "--resume", "--segment-frames", "3"}), grain);
}

}  // namespace
}  // namespace limpid::test
