// SPDX-License-Identifier: MIT
// limpid compare, and the filters of limpid denoise.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using CompareTest = ProgramTest;

TEST_F(CompareTest, MeasuresEachFilterOnTheSameFrames) {
  const std::string truth = make(
      "truth.mkv",
      {"-f", "lavfi", "-i", "testsrc=size=64x48:rate=25,format=yuv420p", "-frames:v", "3", "-c:v", "ffv1"});
  const std::string noisy =
      make("noisy.mkv", {"-i", truth, "-vf", "noise=alls=30:all_seed=1", "-c:v", "ffv1"});
  const std::vector<std::string> arguments{
      "compare",  noisy, "--truth",   truth,
      "--sigma",  "10",  "--filters", "bilateral,nlm:patch-size=5,bm3d:profile=fast",
      "--engine", "cpu", "--sheet",   path("s.png"),
      "--frames", "2"};
  const Outcome text = limpid(arguments);
  expect_success(text);
  EXPECT_EQ(lines(text.out).size(), 6U) << text.out;  // title, head, input and the filters
  for (const char* part : {"2 frames", "PSNR V", "SSIM Y", "nlm:patch-size=5", "fps"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  }
  const nlohmann::json sheet = probe(path("s.png"));
  EXPECT_EQ(sheet["streams"][0]["codec_name"], "png");
  EXPECT_GT(sheet["streams"][0]["width"], 3 * 64);

  expect_failure(limpid(arguments), 1, {"s.png"});
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"-y", "--json"});
  const Outcome outcome = limpid(as_json);
  expect_success(outcome);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["frames"], 2);
  ASSERT_EQ(json["filters"].size(), 4U);
  EXPECT_EQ(json["filters"][0]["filter"], "input");
  EXPECT_FALSE(json["filters"][0].contains("fps"));
  for (int i = 1; i < 4; ++i) {
    EXPECT_GT(json["filters"][i]["psnr"]["Y"], json["filters"][0]["psnr"]["Y"]) << i;
    EXPECT_GT(json["filters"][i]["fps"], 0) << i;
  }
}

TEST_F(CompareTest, NeedsNoTruth) {
  const Outcome outcome = limpid({"compare", make_clip("a.mkv", 1), "--filters", "bilateral"});
  expect_success(outcome);
  EXPECT_EQ(outcome.out.find("PSNR"), std::string::npos) << outcome.out;
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv"}));
}

TEST_F(CompareTest, EntriesHaveStrengthsAndASequenceOfSheetsIsAClip) {
  const std::string clip = make_clip("a.mkv", 4);
  const Outcome outcome = limpid({"compare", clip, "--sigma", "10", "--start", "0.04", "--filters",
                                  "bilateral:strength=light,bilateral:strength=1.4,0.5,bilateral:sigma=2",
                                  "--sheet", path("s_%02d.png"), "--json"});
  expect_success(outcome);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["frames"], 3);
  EXPECT_EQ(json["filters"][1]["filter"], "bilateral:strength=light");
  EXPECT_EQ(json["filters"][1]["sigma"], nlohmann::json({7, 7, 7}));
  EXPECT_EQ(json["filters"][2]["sigma"], nlohmann::json({14, 5, 5}));
  EXPECT_EQ(json["filters"][3]["sigma"], nlohmann::json({2, 2, 2}));
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "s_01.png", "s_02.png", "s_03.png"}));
  expect_failure(limpid({"compare", clip, "--sheet", path("s.jpg")}), 2, {"s.jpg' must end in .png"});
  expect_failure(limpid({"compare", clip, "--sheet", path("s_%s.png")}), 2, {"sheet_%03d.png"});
  expect_failure(limpid({"compare", clip, "--strength", "light"}), 2, {"--filters vbm4d:strength=light"});
}

TEST_F(CompareTest, ReadsAPipeOnceForFiguresAndSheet) {
  const std::string clip = make_clip("a.mkv", 2);
  const auto sheet_of = [&](const std::string& input, const std::string& name) {
    expect_success(
        limpid({"compare", input, "--filters", "bilateral", "--sheet", path(name), "--truth", clip},
               {.input = clip}));
    return probe(path(name))["streams"][0]["width"];
  };
  EXPECT_EQ(sheet_of("-", "pipe.png"), sheet_of(clip, "file.png"));
}

TEST_F(CompareTest, WrongArgumentsAreReported) {
  const std::string clip = make_clip("a.mkv", 2);
  const auto compare = [&](const std::string& filters) {
    return limpid({"compare", clip, "--filters", filters});
  };
  expect_failure(compare("median"), 2, {"median", "nlm-bilateral"});
  expect_failure(compare("nlm,bilateral:radius"), 2, {"bilateral:radius", "option=value"});
  expect_failure(compare("nlm:radius=3"), 2, {"nlm:radius=3", "radius is no option of the filter nlm"});
  expect_failure(compare("nlm:help=3"), 2, {"nlm:help=3"});
  expect_failure(compare("bilateral:radius=many"), 2, {"radius"});
  expect_failure(compare("bilateral:radius=99"), 2, {"radius of 99"});
  expect_failure(compare("nlm,"), 2, {"\"\""});
  expect_failure(limpid({"compare", clip, "--truth", make_clip("b.mkv", 1)}), 1, {"b.mkv", "1 frames"});
  expect_failure(limpid({"compare", clip, "--truth", make_clip("c.mkv", 2, "96x64")}), 1, {"96x64", "64x48"});
  expect_failure(limpid({"compare", clip, "--at", "3,4"}), 2, {"--at", "--sheet"});
  expect_failure(
      limpid({"compare", clip, "--filters", "bilateral", "--at", "64,4", "--sheet", path("s.png")}), 2,
      {"64,4", "64x48"});
}

TEST_F(CompareTest, AClipHasTheCropsOfAllFramesSideBySide) {
  const std::string clip = make_clip("a.mkv", 4);
  const std::vector<std::string> words = {"compare",   clip,          "--sigma", "10",
                                          "--filters", "bilateral",   "--at",    "32,24",
                                          "--clip",    path("c.mp4"), "--sheet", path("s.png")};
  expect_success(limpid(words));
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "c.mp4", "s.png"}));
  const nlohmann::json video = probe(path("c.mp4"))["streams"][0];
  const nlohmann::json sheet = probe(path("s.png"))["streams"][0];
  EXPECT_EQ(frame_count(path("c.mp4")), 4U);
  EXPECT_EQ(video["width"], sheet["width"]);
  EXPECT_EQ(video["height"], sheet["height"]);
  EXPECT_EQ(video["r_frame_rate"], probe(clip)["streams"][0]["r_frame_rate"]);
  EXPECT_EQ(video["pix_fmt"], "yuv420p");
  expect_failure(limpid(words), 1, {"exists; -y overwrites it"});
  expect_failure(limpid({"compare", clip, "--clip", path("c.txt")}), 2, {"--clip", "clip.mkv"});
  expect_failure(limpid({"compare", clip, "--clip", clip, "-y"}), 1, {"is the input itself"});
}

TEST_F(CompareTest, ShowsThePicturesThatFiltersMake) {
  const std::string clip = make_clip("a.mkv", 1);
  const std::string chain = "crop=32:32:8:4,negate";
  const std::string filtered = make("b.mkv", {"-i", clip, "-vf", chain, "-c:v", "ffv1"});
  const auto input_of = [&](const std::string& input, std::vector<std::string> more) {
    std::vector<std::string> compare{"compare", input, "--sigma", "5",       "--filters",   "bilateral",
                                     "--crop",  "16",  "-y",      "--sheet", path("s.png"), "--json"};
    compare.insert(compare.end(), more.begin(), more.end());
    const Outcome outcome = limpid(compare);
    expect_success(outcome);
    const std::string left_half = "crop=iw/2:ih:0:0";
    return run({"ffmpeg", "-v", "error", "-i", path("s.png"), "-vf", left_half, "-f", "framemd5", "-"}).out;
  };
  const std::string picture = input_of(clip, {"--after", chain});
  EXPECT_EQ(picture, input_of(filtered, {}));
  EXPECT_NE(picture, input_of(clip, {}));
  const nlohmann::json plain = nlohmann::json::parse(
      limpid({"compare", clip, "--truth", clip, "--sigma", "5", "--filters", "bilateral", "--json"}).out);
  const nlohmann::json after =
      nlohmann::json::parse(limpid({"compare", clip, "--truth", clip, "--sigma", "5", "--filters",
                                    "bilateral", "--json", "--after", chain})
                                .out);
  EXPECT_EQ(plain["filters"][1]["psnr"], after["filters"][1]["psnr"]) << "figures are of the denoiser";
  expect_failure(limpid({"compare", clip, "--after", "bwdif"}), 2, {"--after", "bwdif", "this command"});
}

TEST_F(CompareTest, PicturesNeverReplaceWhatTheyShow) {
  const std::string picture = make("in.png", {"-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "1"});
  const std::string truth = make("truth.png", {"-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "1"});
  const std::string before = read_file(picture);
  expect_failure(limpid({"compare", picture, "--sheet", path("./in.png"), "-y"}), 1, {"is the input itself"});
  expect_failure(limpid({"compare", picture, "--truth", truth, "--sheet", truth, "-y"}), 1,
                 {"is the input itself"});
  EXPECT_EQ(read_file(picture), before);
}

TEST_F(CompareTest, EveryFilterDenoisesAVideo) {
  const std::string clip = make_clip("a.mkv", 2);
  for (const std::string filter : {"bilateral", "adaptive-bilateral", "nlm", "nlm-bilateral"}) {
    const std::string out = path(filter + ".mkv");
    expect_success(limpid({"denoise", clip, "-o", out, "--filter", filter, "-c", "ffv1"}));
    EXPECT_EQ(frame_count(out), 2U) << filter;
    const nlohmann::json json = nlohmann::json::parse(limpid({"measure", clip, out, "--json"}).out);
    EXPECT_TRUE(json["average"]["psnr"]["Y"].is_number()) << filter << " changed nothing";
  }
  expect_failure(limpid({"denoise", clip, "-o", path("x.mkv"), "--filter", "bilateral:tau=3"}), 2,
                 {"tau", "bilateral", "bm3d"});
}

}  // namespace
}  // namespace limpid::test
