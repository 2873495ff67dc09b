// SPDX-License-Identifier: MIT
// The small commands: devices, measure, --version and --help.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using CommandsTest = ProgramTest;

TEST(Version, NamesTheProgramFfmpegCompilerAndCuda) {
  const Outcome outcome = limpid({"--version"});
  expect_success(outcome);
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> text = lines(outcome.out);
  ASSERT_EQ(text.size(), 4U) << outcome.out;
  EXPECT_TRUE(text[0].starts_with("limpid 0."));
  EXPECT_TRUE(text[1].starts_with("FFmpeg ") && text[1].find("libavcodec ") != std::string::npos) << text[1];
  EXPECT_TRUE(text[2].starts_with("compiler ")) << text[2];
  EXPECT_TRUE(text[3].starts_with("CUDA ")) << text[3];
}

TEST(Help, GroupsTheOptionsAndDocumentsTheExitCodes) {
  const Outcome outcome = limpid({"denoise", "--help"});
  expect_success(outcome);
  EXPECT_EQ(outcome.err, "");
  for (const char* part :
       {"Input and output:", "Noise and strength:", "Filter and quality:", "Encoding:", "Messages:",
        "--sigma", "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
  }
  int options = 0;
  int rows = 0;
  std::istringstream text(outcome.out);
  for (std::string line; std::getline(text, line); ++rows) {
    EXPECT_LE(line.size(), 100U) << line;
    options += line.starts_with("  -") ? 1 : 0;
  }
  EXPECT_LE(options, 30);
  EXPECT_LE(rows, 60);
  const Outcome all = limpid({"denoise", "--help-all"});
  expect_success(all);
  for (const char* part : {"--hwaccel", "--log-file", "--delay"}) {
    EXPECT_NE(all.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(outcome.out.find("Exit codes"), outcome.out.rfind("Exit codes")) << "once";
  const std::vector<std::string> program = lines(limpid({"--help"}).out);
  for (const std::string& line : program) {
    if (line.starts_with("  ") && std::islower(static_cast<unsigned char>(line[2])) != 0) {
      const std::string command = line.substr(2, line.find(' ', 2) - 2);
      EXPECT_LE(lines(limpid({command, "--help"}).out).size(), 60U) << command;
    }
  }
}

TEST_F(CommandsTest, HelpNamesTheEncodersOwnDefaults) {
  const std::string help = limpid({"denoise", "--help"}).out;
  EXPECT_NE(help.find("x264: small 23, high 12]"), std::string::npos) << help;
  EXPECT_NE(help.find("[the encoder's default: x264 and x265 medium]"), std::string::npos) << help;
  const std::string clip = make_clip("in.y4m");
  for (const auto& [encoder, crf, type] :
       {std::tuple{"libx264", "23", ".h264"}, {"libx265", "28", ".hevc"}}) {
    const auto encoded = [&](const std::string& name, std::vector<std::string> options) {
      options.insert(options.begin(), {"denoise", clip, path(name + type), "--filter", "bilateral", "--sigma",
                                       "5", "--codec", encoder});
      expect_success(limpid(options));
      return read_file(path(name + type));
    };
    EXPECT_EQ(encoded("default", {"--encoding", "small"}),
              encoded("told", {"--crf", crf, "--preset", "medium"}))
        << encoder;
  }
}

TEST(Engines, LibraryOfAnotherBuildIsRefused) {
  const std::string library = "LD_LIBRARY_PATH=" LIMPID_OTHER_LIBRARY;
  expect_success(run({"env", library, LIMPID_PROGRAM, "--version"}));
  const Outcome outcome = run({"env", library, LIMPID_PROGRAM, "devices"});
  expect_failure(outcome, 1, {"liblimpid 0.0.1 belongs to a different build of Limpid"});
}

TEST(Filters, AreListedWithFiguresAndParameters) {
  const Outcome list = limpid({"filters"});
  expect_success(list);
  EXPECT_NE(list.out.find("\nvbm4d "), std::string::npos) << list.out;
  const std::string parameters = limpid({"filters", "vbm4d:profile=fast"}).out;
  EXPECT_NE(parameters.find("  step                       8 "), std::string::npos) << parameters;
  EXPECT_NE(parameters.find("(odd, 1 to 65)"), std::string::npos) << parameters;
  EXPECT_NE(limpid({"filters", "nlm"}).out.find("by noise"), std::string::npos);
  expect_failure(limpid({"filters", "median"}), 2, {"median", "bilateral"});
  expect_failure(limpid({"denoise", "in.mkv", "out.mkv", "--filter", "vbm3d"}), 2,
                 {"--filter", "vbm3d", "vbm4d"});
}

TEST(Devices, AReportThatCantBeWrittenIsAFailure) {
  const Outcome outcome = run({"bash", "-c", R"("$0" devices --json > /dev/full)", LIMPID_PROGRAM});
  expect_failure(outcome, 1, {"standard output: cannot write: No space left on device"});
}

TEST(Devices, ListsTheCpu) {
  const Outcome text = limpid({"devices"});
  expect_success(text);
  EXPECT_NE(text.out.find("\ncpu "), std::string::npos) << text.out;
  const Outcome outcome = limpid({"devices", "--json"});
  expect_success(outcome);
  const nlohmann::json engines = nlohmann::json::parse(outcome.out)["engines"];
  ASSERT_FALSE(engines.empty());
  EXPECT_EQ(engines.back()["name"], "cpu");
  EXPECT_EQ(engines.back()["available"], true);
  EXPECT_FALSE(engines.back()["description"].get<std::string>().empty());
}

TEST_F(CommandsTest, BenchmarkTimesEachStageAndTheChain) {
  const std::string clip = make_clip("a.mkv", 6);
  const std::vector<std::string> arguments{"benchmark", clip,  "--profile", "fast", "--sigma",  "10",
                                           "--engine",  "cpu", "--codec",   "ffv1", "--frames", "4"};
  const Outcome text = limpid(arguments);
  expect_success(text);
  for (const char* part : {"decode", "denoise", "encode", "chain", "% of the slowest stage", "no input"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  }
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const Outcome outcome = limpid(as_json);
  expect_success(outcome);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["engine"], "cpu");
  for (const char* stage : {"decode", "denoise", "encode"}) {
    EXPECT_EQ(json["alone"][stage]["frames"], 4) << stage;
    EXPECT_GT(json["alone"][stage]["fps"], 0) << stage;
    EXPECT_GT(json["alone"][stage]["cpu_ms"], 0) << stage;
    EXPECT_EQ(json["chain"]["stages"][stage]["frames"], 4) << stage;
  }
  EXPECT_GT(json["alone"]["denoise"]["latency_ms"]["median"], 0);
  EXPECT_GT(json["chain"]["of_slowest"], 0);
  EXPECT_GT(json["processors"], 0);
  EXPECT_GE(json["chain"]["of_possible"], json["chain"]["of_slowest"]);
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv"}));
}

TEST_F(CommandsTest, BenchmarkRepeatsTheInputForLongRuns) {
  const std::string clip = make_clip("a.mkv", 6);
  const Outcome outcome = limpid({"benchmark", clip, "--profile", "fast", "--sigma", "10", "--engine", "cpu",
                                  "--frames", "50", "--loop", "--json"});
  expect_success(outcome);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  // The first tenth and the first frame after each of 8 rewinds are not measured.
  EXPECT_EQ(json["alone"]["decode"]["frames"], 37);
  EXPECT_LT(json["chain"]["frames"], 45);
  EXPECT_GT(json["chain"]["frames"], 0);
  EXPECT_EQ(json["chain"]["stages"]["encode"]["frames"], 50);
  ASSERT_EQ(json["over_time"].size(), 5U);
  double greatest_median = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    const nlohmann::json& part = json["over_time"][i];
    EXPECT_EQ(part["frames"], 10 * (i + 1));
    EXPECT_GT(part["resident_bytes"], 1 << 20);
    EXPECT_GT(part["open_files"], 3);
    greatest_median = std::max(greatest_median, part["denoise_latency_ms"]["median"].get<double>());
  }
  // Parts are divided by the frames written: denoising may have been so far ahead that one part has none of
  // it.
  EXPECT_GT(greatest_median, 0);
}

TEST_F(CommandsTest, BenchmarkMeasuresRewindsIfThereIsNothingElse) {
  const std::string clip = make_clip("a.mkv", 1);
  const Outcome outcome = limpid({"benchmark", clip, "--profile", "fast", "--sigma", "10", "--engine", "cpu",
                                  "--frames", "9", "--loop", "--json"});
  expect_success(outcome);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_GT(json["alone"]["decode"]["frames"], 0);
  EXPECT_GT(json["alone"]["decode"]["fps"], 0);
}

TEST_F(CommandsTest, BenchmarkRefusesAClipThatIsTooShort) {
  expect_failure(limpid({"benchmark", make_clip("a.mkv", 1), "--profile", "fast", "--sigma", "10"}), 1,
                 {"a.mkv: is too short to measure; use a longer clip, or --loop"});
}

TEST_F(CommandsTest, NamesOfFilesAreShownNotObeyed) {
  const std::string clip = make_clip("a\033[31m.mkv", 2);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"benchmark", clip, "--profile", "fast", "--sigma", "10"},
        std::vector<std::string>{"compare", clip, "--filters", "bilateral"}}) {
    const Outcome outcome = limpid(arguments);
    expect_success(outcome);
    EXPECT_NE(outcome.out.find("a\\x1b[31m.mkv, "), std::string::npos) << outcome.out;
  }
}

TEST_F(CommandsTest, BenchmarkOfWhatIsNoVideo) {
  write_file(path("a.txt"), "no video");
  expect_failure(limpid({"benchmark", path("missing.mkv")}), 1, {"missing.mkv"});
  expect_failure(limpid({"benchmark", path("a.txt")}), 1, {"a.txt"});
  expect_failure(limpid({"benchmark", path("a.txt"), "--sigma", "many"}), 2, {"sigma"});
}

TEST_F(CommandsTest, MeasureOfEqualVideos) {
  const std::string clip = make_clip("a.mkv", 2);
  const Outcome text = limpid({"measure", clip, clip});
  expect_success(text);
  ASSERT_EQ(lines(text.out).size(), 5U) << text.out;  // header, two frames, average, flicker
  EXPECT_NE(lines(text.out)[3].find("1.00000"), std::string::npos) << text.out;
  EXPECT_NE(lines(text.out)[4].find("V 0.000 (0.00 of the errors)"), std::string::npos) << text.out;
  const Outcome outcome = limpid({"measure", clip, clip, "--json"});
  expect_success(outcome);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["frames"].size(), 2U);
  EXPECT_TRUE(json["average"]["psnr"]["V"].is_null());
  EXPECT_EQ(json["average"]["ssim"]["U"], 1.0);
}

TEST_F(CommandsTest, MeasureGivesThePsnrOfAKnownDifference) {
  // 100 and 110 of 255 in one of two frames: mean squared errors 0 and 100, 50 on average.
  const std::string a = make("a.mkv", {"-f", "lavfi", "-i", "color=black:size=32x32,format=gray,geq=lum=100",
                                       "-frames:v", "2", "-c:v", "ffv1"});
  const std::string b =
      make("b.mkv", {"-f", "lavfi", "-i", "color=black:size=32x32,format=gray,geq=lum='100+10*N'",
                     "-frames:v", "2", "-c:v", "ffv1"});
  const Outcome outcome = limpid({"measure", a, b, "--json"});
  expect_success(outcome);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(json["frames"][0]["psnr"]["Y"].is_null());
  EXPECT_NEAR(json["frames"][1]["psnr"]["Y"], 10 * std::log10(255.0 * 255 / 100), 1e-6);
  EXPECT_NEAR(json["flicker"]["Y"]["deviation"], 10, 1e-6);
  EXPECT_EQ(json["flicker"]["Y"]["samples"], 32 * 32);
  EXPECT_NEAR(json["average"]["psnr"]["Y"], 10 * std::log10(255.0 * 255 / 50), 1e-6);
  EXPECT_EQ(json["frames"][1]["frame"], 1);
}

TEST_F(CommandsTest, MeasureRefusesWhatCantBeCompared) {
  const std::string two = make_clip("two.mkv", 2);
  const std::string three = make_clip("three.mkv", 3);
  const std::string large = make_clip("large.mkv", 2, "96x64");
  expect_failure(limpid({"measure", three, two}), 1, {"two.mkv: ends after 2 frames", "three.mkv"});
  expect_failure(limpid({"measure", two, three}), 1, {"two.mkv: ends after 2 frames", "three.mkv"});
  expect_failure(limpid({"measure", two, large}), 1, {"large.mkv: frame 0 is 96x64", "two.mkv is 64x48"});
  expect_failure(limpid({"measure", two, path("absent.mkv")}), 1, {"absent.mkv"});
  expect_failure(limpid({"measure", two}), 2, {"TEST"});
}

}  // namespace
}  // namespace limpid::test
