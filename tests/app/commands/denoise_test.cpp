// SPDX-License-Identifier: MIT
// limpid denoise with valid input: frames, times, audio, noise, pipes, overwriting, messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using DenoiseTest = ProgramTest;

const std::vector<std::string> kQuick = {"--profile", "fast", "--sigma", "10"};

std::vector<std::string> denoise(const std::string& input, const std::string& output,
                                 const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"denoise", input, "-o", output};
  arguments.insert(arguments.end(), kQuick.begin(), kQuick.end());
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

// A hash of each frame's samples.
std::vector<std::string> frame_hashes(const std::string& file) {
  const Outcome outcome = run({"ffmpeg", "-v", "error", "-i", file, "-f", "framemd5", "-"});
  std::vector<std::string> all;
  for (const std::string& line : lines(outcome.out)) {
    if (!line.starts_with('#')) {
      all.push_back(line.substr(line.rfind(' ') + 1));
    }
  }
  return all;
}

double average_psnr(const std::string& reference, const std::string& test) {
  const Outcome outcome = limpid({"measure", reference, test, "--json"});
  expect_success(outcome);
  return nlohmann::json::parse(outcome.out)["average"]["psnr"]["Y"];
}

TEST_F(DenoiseTest, KeepsFramesTimesAndSoundOfVariableFrameRates) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=25:size=64x48:duration=2", "-f", "lavfi", "-i",
                      "sine=duration=2", "-vf", "select='not(eq(mod(n,7),3))*not(eq(mod(n,5),1))'", "-vsync",
                      "vfr", "-c:v", "ffv1", "-c:a", "aac"});
  ASSERT_GT(frame_count(input), 20U);
  for (const char* name : {"out.mkv", "out.mp4"}) {
    expect_success(limpid(denoise(input, path(name))));
    const std::vector<double> expected = frame_times(input);
    const std::vector<double> times = frame_times(path(name));
    ASSERT_EQ(times.size(), expected.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(times[i], expected[i], 0.0011) << name << ", frame " << i;
    }
    EXPECT_EQ(packet_count(path(name), "a"), packet_count(input, "a")) << name;
  }
}

TEST_F(DenoiseTest, RemovesNoise) {
  const std::vector<std::string> source = {
      "-f", "lavfi",    "-i",     "testsrc2=rate=25:size=128x96", "-vf", "boxblur=2", "-frames:v",
      "2",  "-pix_fmt", "yuv420p"};
  const std::string clean = make("clean.y4m", source);
  const std::string noisy = make("noisy.y4m", {"-i", clean, "-vf", "noise=alls=30:allf=t:all_seed=7"});
  expect_success(limpid({"denoise", noisy, path("out.y4m"), "--sigma", "16"}));
  EXPECT_GT(average_psnr(clean, path("out.y4m")), average_psnr(clean, noisy) + 4);
}

// The frames of a range have the noise levels of the whole file, also in a job.
TEST_F(DenoiseTest, ARangeHasTheLevelsOfTheWholeFile) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i",
                      "testsrc2=rate=25:size=128x96:duration=6.4,noise=alls=12:allf=t:enable='lt(t,2.2)',"
                      "noise=alls=30:allf=t:enable='gte(t,2.2)'",
                      "-pix_fmt", "yuv420p", "-c:v", "ffv1"});
  const auto hashes = [&](const std::string& output, const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"denoise", input,  "-o",       path(output),
                                       "-c",      "ffv1", "--filter", "bilateral"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_success(limpid(arguments));
    return frame_hashes(path(output));
  };
  const std::vector<std::string> whole = hashes("whole.mkv", {});
  ASSERT_EQ(whole.size(), 160U);
  EXPECT_EQ(hashes("range.mkv", {"--start", "4.6", "--end", "5.8"}),
            std::vector<std::string>(whole.begin() + 115, whole.begin() + 145));
  EXPECT_EQ(hashes("early.mkv", {"--start", "0.4", "--end", "1.6"}),
            std::vector<std::string>(whole.begin() + 10, whole.begin() + 40));
  EXPECT_EQ(hashes("job.mkv", {"--start", "4.6", "--resume"}),
            std::vector<std::string>(whole.begin() + 115, whole.end()));
}

TEST_F(DenoiseTest, RepairsAreThoseOfTheWholeFileInRangesAndJobs) {
  // A hot pixel on a moving texture, and dust in two frames.
  const std::string scene =
      "nullsrc=rate=25:size=96x80:duration=4,format=yuv420p,"
      "geq=lum='110+40*sin((X+2*N)*0.8)+40*sin((Y+N)*0.7-X*0.3)':cb=128:cr=128";
  const std::string defects =
      ",drawbox=x=40:y=30:w=1:h=1:color=white:t=fill,"
      "drawbox=x=60:y=40:w=4:h=4:color=black:t=fill:enable='eq(n,20)+eq(n,82)'";
  const std::string truth = make("truth.mkv", {"-f", "lavfi", "-i", scene, "-c:v", "ffv1"});
  const std::string input = make("in.mkv", {"-f", "lavfi", "-i", scene + defects, "-c:v", "ffv1"});
  const auto filtered = [&](const std::string& command, const std::string& output) {
    return std::vector<std::string>{command,    input,       "-o",      path(output), "-c",       "ffv1",
                                    "--filter", "bilateral", "--sigma", "0",          "--repair", "all"};
  };
  std::vector<std::string> arguments = filtered("denoise", "whole.mkv");
  arguments.emplace_back("--json");
  const Outcome whole = limpid(arguments);
  expect_success(whole);
  const nlohmann::json repaired = nlohmann::json::parse(whole.out)["repaired"];
  EXPECT_GE(repaired["pixels"], 90);  // of 100 frames
  EXPECT_GE(repaired["dust"], 20);    // of 32
  EXPECT_EQ(repaired["rows"], 0);
  EXPECT_GT(average_psnr(truth, path("whole.mkv")), 8 + average_psnr(truth, input));

  const std::vector<std::string> expected = frame_hashes(path("whole.mkv"));
  arguments = filtered("denoise", "range.mkv");
  arguments.insert(arguments.end(), {"--start", "3.12"});
  expect_success(limpid(arguments));
  EXPECT_EQ(frame_hashes(path("range.mkv")), std::vector<std::string>(expected.begin() + 78, expected.end()));

  arguments = filtered("plan", "job");
  arguments.insert(arguments.end(), {"--segment-frames", "21"});
  expect_success(limpid(arguments));
  expect_success(limpid({"work", path("job")}));
  expect_success(limpid({"merge", path("job"), "-o", path("joined.mkv")}));
  EXPECT_EQ(frame_hashes(path("joined.mkv")), expected);
}

class TelecineTest : public ProgramTest {
 protected:
  // Film with 3:2 pulldown that is not flagged as interlaced: frames 2, 3, 7, 8 and so on are combed.
  std::string make_film() const {
    return make("film.mkv", {"-f", "lavfi", "-i",
                             "testsrc=size=256x160:rate=24:duration=0.8,scroll=horizontal=0.02,noise=alls=4:"
                             "allf=t,telecine=pattern=23,setfield=prog",
                             "-pix_fmt", "yuv420p", "-c:v", "ffv1"});
  }
  // A hash of each frame's samples.
  std::vector<std::string> hashes(const std::string& film, const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = denoise(film, path("out.mkv"), {"-c", "ffv1", "-y"});
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_success(limpid(arguments));
    return frame_hashes(path("out.mkv"));
  }
};

TEST_F(TelecineTest, CombedFramesAreFilteredByField) {
  const std::string film = make_film();
  const std::vector<std::string> whole = hashes(film, {"--filter", "bm3d", "--fields", "progressive"});
  const std::vector<std::string> by_field = hashes(film, {"--filter", "bm3d", "--fields", "interlaced"});
  const std::vector<std::string> found = hashes(film, {"--filter", "bm3d"});
  ASSERT_GE(found.size(), 20U);
  ASSERT_EQ(found.size(), whole.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NE(whole[i], by_field[i]);
    EXPECT_EQ(found[i], i % 5 == 2 || i % 5 == 3 ? by_field[i] : whole[i]) << "frame " << i;
  }
  expect_failure(limpid(denoise(film, path("x.mkv"), {"--fields", "both"})), 2, {"--fields", "both"});
}

TEST_F(TelecineTest, ARangeIsFilteredAsInTheWhole) {
  const std::string film = make_film();
  const std::vector<std::string> whole = hashes(film, {"--reach", "2"});
  ASSERT_GE(whole.size(), 20U);
  for (const std::size_t first : {4U, 7U, 13U}) {
    const double start = (static_cast<double>(first) - 0.5) / 30;
    const std::vector<std::string> range = hashes(
        film, {"--reach", "2", "--start", std::to_string(start), "--end", std::to_string(start + 5.0 / 30)});
    EXPECT_EQ(range, std::vector<std::string>(whole.begin() + static_cast<std::ptrdiff_t>(first),
                                              whole.begin() + static_cast<std::ptrdiff_t>(first) + 5))
        << first;
  }
}

TEST_F(DenoiseTest, EstimatesTheNoiseByDefaultAndTellsIt) {
  const std::string input = make_clip("in.mkv");
  const Outcome outcome = limpid({"denoise", input, path("out.mkv"), "--profile", "fast"});
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("noise: estimated sigma Y "), std::string::npos) << outcome.err;
  EXPECT_EQ(frame_count(path("out.mkv")), 5U);
}

TEST_F(DenoiseTest, PrintsTheLevelsOfTheFilterIfThereIsAStrength) {
  const std::string input = make_clip("in.mkv");
  for (const auto& [options, line] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--strength", "0.0,2"}, "; filtered with sigma Y 0.0, U "},
           {{"--sigma", "20", "--strength", "strong"},
            "noise: as given, filtered with sigma Y 28.0, U 28.0, V 28.0"},
           {{"--sigma", "20", "--planes", "chroma"},
            "noise: as given, filtered with sigma Y 0.0, U 20.0, V 20.0"}}) {
    std::vector<std::string> words{"denoise", input, "-o", path("out.mkv"), "-y", "--profile", "fast"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = limpid(words);
    expect_success(outcome);
    EXPECT_NE(outcome.err.find(line), std::string::npos) << outcome.err;
  }
}

TEST_F(DenoiseTest, WarnsIfItFindsNoNoise) {
  const auto warned = [&](const std::string& source, const std::vector<std::string>& options) {
    const std::string input = make("in.mkv", {"-f", "lavfi", "-i", source, "-frames:v", "2", "-c:v", "ffv1"});
    std::vector<std::string> arguments = {"denoise", input, "-o", path("out.mkv"), "-y", "--profile", "fast"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = limpid(arguments);
    expect_success(outcome);
    return outcome.err.find("no noise was found") != std::string::npos;
  };
  const std::string clean = "color=orange:s=64x48,format=yuv420p";
  EXPECT_TRUE(warned(clean, {}));
  EXPECT_FALSE(warned(clean, {"--sigma", "0"}));
  EXPECT_FALSE(warned(clean + ",noise=alls=20", {}));
  EXPECT_FALSE(warned(clean, {"--strength", "3"})) << "frames don't pass unchanged";
}

TEST_F(DenoiseTest, SaysWhichEngineItTookOnce) {
  const Outcome outcome =
      limpid(denoise(make_clip("in.mkv"), path("out.mkv"), {"--engine", "cpu", "--threads", "1"}));
  expect_success(outcome);
  std::size_t count = 0;
  for (const std::string& line : lines(outcome.err)) {
    count += line.starts_with("engine: cpu, ") ? 1 : 0;
  }
  EXPECT_EQ(count, 1U) << outcome.err;
}

TEST_F(DenoiseTest, PipesCarryY4mAndNothingElse) {
  const std::string input = make_clip("in.y4m", 3);
  ProcessOptions options;
  options.input = input;
  const Outcome outcome = limpid(denoise("-", "-"), options);
  expect_success(outcome);
  const std::size_t header = outcome.out.find('\n') + 1;
  EXPECT_TRUE(outcome.out.starts_with("YUV4MPEG2 W64 H48 F25:1")) << outcome.out.substr(0, header);
  EXPECT_EQ(outcome.out.size(), header + 3 * (6 + 64 * 48 * 3 / 2));

  expect_success(limpid(denoise(input, path("out.y4m"))));
  EXPECT_EQ(outcome.out, read_file(path("out.y4m"))) << "a pipe and a file should carry the same";
}

TEST_F(DenoiseTest, ResultDoesNotDependOnTheNumberOfThreads) {
  const std::string input = make_clip("in.y4m", 2, "176x144");
  expect_success(limpid(denoise(input, path("one.y4m"), {"--threads", "1"})));
  expect_success(limpid(denoise(input, path("three.y4m"), {"--threads", "3"})));
  EXPECT_EQ(read_file(path("one.y4m")), read_file(path("three.y4m")));
}

TEST_F(DenoiseTest, ZeroSigmaAndLumaOnlyLeavePlanesAlone) {
  const std::string input = make_clip("in.y4m", 1);
  expect_success(limpid({"denoise", input, path("zero.y4m"), "--sigma", "0"}));
  EXPECT_EQ(read_file(path("zero.y4m")), read_file(input));
  expect_success(limpid(denoise(input, path("luma.y4m"), {"--planes", "luma"})));
  const std::string source = read_file(input);
  const std::string result = read_file(path("luma.y4m"));
  ASSERT_EQ(source.size(), result.size());
  const std::size_t chroma = 2 * (64 / 2) * (48 / 2);
  EXPECT_EQ(source.substr(source.size() - chroma), result.substr(result.size() - chroma));
  EXPECT_NE(source, result);
}

TEST_F(DenoiseTest, KeepsTheBitDepth) {
  const std::string input = make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "2",
                                            "-pix_fmt", "yuv422p10le", "-c:v", "ffv1"});
  for (const char* name : {"out.mkv", "out.mp4"}) {
    expect_success(limpid(denoise(input, path(name))));
    EXPECT_EQ(probe(path(name))["streams"][0]["pix_fmt"], "yuv422p10le") << name;
  }
  expect_success(limpid(denoise(input, path("eight.mkv"), {"--pix-fmt", "yuv420p"})));
  EXPECT_EQ(probe(path("eight.mkv"))["streams"][0]["pix_fmt"], "yuv420p");
}

TEST_F(DenoiseTest, PassesOptionsToTheEncoder) {
  const std::string input = make_clip("in.mkv", 3);
  expect_success(limpid(denoise(input, path("out.mkv"),
                                {"-c", "libx264", "--crf", "30", "--preset", "ultrafast", "-e", "g=1"})));
  const nlohmann::json intra_only = probe(path("out.mkv"));
  ASSERT_EQ(intra_only["frames"].size(), 3U);
  for (const nlohmann::json& frame : intra_only["frames"]) {
    EXPECT_EQ(frame["pict_type"], "I");
  }
  expect_success(limpid(denoise(input, path("out2.nut"), {"-c", "ffv1", "-f", "matroska"})));
  const nlohmann::json result = probe(path("out2.nut"));
  EXPECT_EQ(result["streams"][0]["codec_name"], "ffv1");
  EXPECT_EQ(result["format"]["format_name"], "matroska,webm");
}

TEST_F(DenoiseTest, FramesLimitsAndStreamsCanBeLeftOut) {
  const std::string input = make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=size=64x48:duration=1", "-f",
                                            "lavfi", "-i", "sine=duration=1", "-c:v", "ffv1", "-c:a", "aac"});
  expect_success(limpid(denoise(input, path("out.mkv"), {"--frames", "4", "--no-audio"})));
  EXPECT_EQ(frame_count(path("out.mkv")), 4U);
  EXPECT_EQ(packet_count(path("out.mkv"), "a"), 0U);
}

TEST_F(DenoiseTest, ARangeIsExactAlsoFromAPipe) {
  const std::string input = make_clip("in.y4m", 50);
  expect_success(
      limpid({"denoise", input, path("file.y4m"), "--sigma", "0", "--start", "0:00:00.48", "--end", "1"}));
  ProcessOptions options;
  options.input = input;
  const Outcome piped =
      limpid({"denoise", "-", "-", "--sigma", "0", "--start", ".48", "--frames", "13"}, options);
  expect_success(piped);
  constexpr std::size_t kFrameBytes = 6 + 64 * 48 * 3 / 2;
  const std::string whole = read_file(input);
  const std::size_t header = whole.find('\n') + 1;
  EXPECT_EQ(read_file(path("file.y4m")).substr(header),
            whole.substr(header + 12 * kFrameBytes, 13 * kFrameBytes));
  EXPECT_EQ(piped.out, read_file(path("file.y4m")));
  expect_failure(limpid(denoise(input, path("none.y4m"), {"--start", "1:00"})), 1,
                 {"in.y4m", "no frame from 60 s on", "2 s long"});
}

// Temporal filters receive the frames around the range.
TEST_F(DenoiseTest, ARangeHasTheBitsOfTheWhole) {
  struct Source {
    std::string name;
    std::string filter;
  };
  const auto samples_of = [this](const std::string& file) {
    const Outcome outcome = run({"ffmpeg", "-v", "error", "-i", file, "-map", "0:v", "-f", "framemd5",
                                 "-fps_mode", "passthrough", "-"});
    expect_success(outcome);
    std::vector<std::string> sums;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) {
        sums.push_back(line.substr(line.rfind(' ')));
      }
    }
    return sums;
  };
  for (const auto& [name, filter] :
       {Source{"constant.mkv", ""}, Source{"interlaced.mkv", ",interlace"},
        Source{"varying.mkv", ",select='lt(mod(n\\,20)\\,6)+not(mod(n\\,7))'"}}) {
    const std::string input =
        make(name, {"-f", "lavfi", "-i", "testsrc2=rate=25:size=64x48", "-frames:v", "60", "-vf",
                    "noise=alls=20:allf=t:all_seed=1,format=yuv420p" + filter, "-c:v", "ffv1", "-g", "12",
                    "-fps_mode", "vfr"});
    const std::vector<std::string> options{"--filter", "vbm4d", "-c", "ffv1"};
    const auto denoised = [&](const std::string& output, std::vector<std::string> range) {
      range.insert(range.end(), options.begin(), options.end());
      expect_success(limpid(denoise(input, path(output), range)));
      return samples_of(path(output));
    };
    const std::vector<std::string> whole = denoised("whole-" + name, {});
    const auto expect_part = [&](const std::string& output, const std::vector<std::string>& range,
                                 bool from_the_beginning, bool to_the_end) {
      const std::vector<std::string> part = denoised(output + name, range);
      const auto place = std::search(whole.begin(), whole.end(), part.begin(), part.end());
      ASSERT_NE(place, whole.end()) << output << name;
      EXPECT_EQ(place == whole.begin(), from_the_beginning) << output << name;
      EXPECT_EQ(place + std::ssize(part) == whole.end(), to_the_end) << output << name;
    };
    expect_part("middle-", {"--start", "0.8", "--end", "1.6"}, false, false);
    expect_part("first-", {"--start", "0", "--end", "0.9"}, true, false);
    expect_part("last-", {"--start", "1.2", "--end", "99"}, false, true);
  }
}

TEST_F(DenoiseTest, StillPictures) {
  const std::string input =
      make("in.png", {"-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "1", "-pix_fmt", "rgb24"});
  expect_success(limpid(denoise(input, path("out.png"))));
  const nlohmann::json result = probe(path("out.png"));
  EXPECT_EQ(result["frames"].size(), 1U);
  EXPECT_EQ(result["streams"][0]["pix_fmt"], "rgb24");
}

class TinySize : public DenoiseTest, public testing::WithParamInterface<const char*> {};

TEST_P(TinySize, Works) {
  const std::string size = GetParam();
  const std::string input = make("in.mkv", {"-f", "lavfi", "-i", "testsrc=size=" + size, "-frames:v", "3",
                                            "-pix_fmt", "yuv444p", "-c:v", "ffv1"});
  const Outcome outcome = limpid(denoise(input, path("out.mkv"), {"-c", "ffv1"}));
  expect_success(outcome);
  EXPECT_EQ(frame_count(path("out.mkv")), 3U);
  EXPECT_NE(outcome.err.find("limpid: warning: "), std::string::npos)
      << "planes smaller than a patch are reported";
}

INSTANTIATE_TEST_SUITE_P(Sizes, TinySize, testing::Values("2x2", "7x9"));

TEST_F(DenoiseTest, TheEncodingIsHighAndThatOfLosslessSourcesLossless) {
  const std::string lossless = make_clip("in.mkv");
  const std::string lossy = make("lossy.mp4", {"-i", lossless, "-c:v", "libx264", "-pix_fmt", "yuv420p"});
  const auto codec_of = [&](const std::string& input, const std::string& name,
                            const std::vector<std::string>& options) {
    expect_success(limpid(denoise(input, path(name), joined({"-y"}, options))));
    return probe(path(name))["streams"][0]["codec_name"].get<std::string>();
  };
  EXPECT_EQ(codec_of(lossless, "out.mkv", {}), "ffv1");
  EXPECT_EQ(codec_of(lossless, "out.mp4", {}), "h264");
  EXPECT_EQ(codec_of(lossless, "chosen.mkv", {"--crf", "20"}), "h264");
  EXPECT_EQ(codec_of(lossy, "out.mkv", {}), "h264");
  EXPECT_EQ(codec_of(lossy, "lossless.mkv", {"--encoding", "lossless"}), "ffv1");
  EXPECT_EQ(codec_of(lossy, "small.mkv", {"--encoding", "small"}), "h264");
  EXPECT_LT(std::filesystem::file_size(path("small.mkv")), std::filesystem::file_size(path("out.mkv")));
  expect_failure(limpid(denoise(lossy, path("no.mp4"), {"--encoding", "lossless"})), 2,
                 {"no.mp4", "--encoding lossless", ".mkv"});
  expect_failure(limpid(denoise(lossy, path("no.mkv"), {"--encoding", "best"})), 2,
                 {"--encoding", "small, high and lossless"});
}

TEST_F(DenoiseTest, OddSizesWorkWithTheDefaultEncoder) {
  const std::string input = make("in.mkv", {"-f", "lavfi", "-i", "testsrc=size=65x49", "-frames:v", "2",
                                            "-pix_fmt", "yuv420p", "-c:v", "ffv1"});
  const Outcome outcome = limpid(denoise(input, path("out.mp4")));
  expect_success(outcome);
  EXPECT_EQ(probe(path("out.mp4"))["streams"][0]["width"], 65);
}

TEST_F(DenoiseTest, ReportsWhatTheStagesDid) {
  const std::string input = make_clip("in.mkv");
  const Outcome outcome = limpid(denoise(input, path("out.mkv"), {"--stats", "--json", "--engine", "cpu"}));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("no input"), std::string::npos) << outcome.err;
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["filter"]["name"], "vbm4d");
  EXPECT_EQ(report["filter"]["profile"], "fast");
  EXPECT_GT(report["filter"]["hard_threshold"]["search_window"], 0);
  EXPECT_EQ(report["sigma"]["estimated"], false);
  EXPECT_GT(report["sigma"]["mean"]["Y"], 0);
  EXPECT_EQ(report["encoder"]["container"], "matroska");
  EXPECT_EQ(report["encoder"]["codec"],
            probe(path("out.mkv"))["streams"][0]["codec_name"] == "h264" ? "libx264" : "ffv1");
  EXPECT_EQ(report["frames_expected"], report["frames"]);
  EXPECT_EQ(report["warnings"], nlohmann::json::array());
  EXPECT_EQ(report["input"], input);
  EXPECT_EQ(report["output"], path("out.mkv"));
  EXPECT_EQ(report["engine"], "cpu");
  EXPECT_EQ(report["frames"], 5);
  EXPECT_EQ(report["bytes"], std::filesystem::file_size(path("out.mkv")));
  EXPECT_EQ(report["interrupted"], false);
  EXPECT_EQ(report["host_copies"]["decode"], 0);
  for (const char* stage : {"decode", "denoise", "encode"}) {
    EXPECT_EQ(report["stages"][stage]["frames"], 5) << stage;
  }
  EXPECT_TRUE(report["limited_by"].is_string());
  expect_failure(limpid(denoise(input, "-", {"--json"})), 2, {"--json", "standard output"});
}

TEST_F(DenoiseTest, TellsThatItCropsAsTheContainerRequests) {
  const std::string input = make("in.mov", {"-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2", "-c:v",
                                            "rawvideo", "-pix_fmt", "uyvy422"});
  // ffmpeg writes the clean aperture, 64x48, as the numerators and denominators of width, height and offsets.
  std::string bytes = read_file(input);
  const std::size_t width = bytes.find("clap") + 4;
  ASSERT_EQ(bytes.substr(width, 4), std::string("\0\0\0\x40", 4));
  bytes[width + 3] = 56;
  write_file(input, bytes);
  const std::string sentence =
      "its pictures are cropped from 64x48 to 56x48 (left 4, top 0, right 4, bottom 0), as its container "
      "requests";
  const Outcome outcome = limpid(denoise(input, path("out.mkv"), {"--json"}));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["cropping"], sentence);
  EXPECT_EQ(probe(path("out.mkv"))["streams"][0]["width"], 56);
  const Outcome resumed = limpid(denoise(input, path("resumed.mkv"), {"--json", "--resume"}));
  expect_success(resumed);
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["cropping"], sentence);
  EXPECT_EQ(resumed.err.find(sentence), resumed.err.rfind(sentence)) << "said once: " << resumed.err;

  bytes[width + 3] = 72;
  write_file(input, bytes);
  const Outcome ignored = limpid(denoise(input, path("ignored.mkv"), {"--json"}));
  if (ignored.exit_code != 0) {  // FFmpeg 7.1 does not open such a file
    expect_failure(ignored, 1, {"in.mov"});
    return;
  }
  expect_success(ignored);
  const nlohmann::json report = nlohmann::json::parse(ignored.out);
  EXPECT_EQ(report["cropping"], "");
  EXPECT_NE(report["warnings"].dump().find("ignored: it is beyond the picture of 64x48"), std::string::npos);
  EXPECT_EQ(probe(path("ignored.mkv"))["streams"][0]["width"], 64);
}

TEST_F(DenoiseTest, VeryLargeFramesWork) {
  const std::string input = make(
      "in.y4m", {"-f", "lavfi", "-i", "color=gray:size=8192x4320", "-frames:v", "1", "-pix_fmt", "gray"});
  // The parameters shorten the test, whose subject is the size.
  expect_success(limpid(
      denoise(input, path("out.y4m"), {"--filter", "vbm4d:steps=1:step=8:search-window=1:group-size=1"})));
  const std::string output = read_file(path("out.y4m"));
  EXPECT_TRUE(output.starts_with("YUV4MPEG2 W8192 H4320 "));
  EXPECT_EQ(output.size() - output.find('\n') - 1, 6U + 8192 * 4320);
}

TEST_F(DenoiseTest, ASequenceIsReplacedOrSkippedAsAFileIs) {
  const std::string input = make_clip("in.mkv", 5);
  const std::string output = path("out_%02d.png");
  expect_success(limpid(denoise(input, output)));
  expect_failure(limpid(denoise(input, output)), 1, {"out_01.png: exists; -y overwrites it, -n skips it"});
  const std::string before = read_file(path("out_05.png"));
  const Outcome skipped = limpid(denoise(input, output, {"-n"}));
  expect_success(skipped);
  EXPECT_NE(skipped.err.find("skipped: " + path("out_01.png") + ": exists"), std::string::npos)
      << skipped.err;
  EXPECT_EQ(skipped.err.find("warning"), std::string::npos) << skipped.err;
  const Outcome replaced = limpid(denoise(input, output, {"-y", "--frames", "3", "--sigma", "40"}));
  expect_success(replaced);
  EXPECT_NE(
      replaced.err.find("2 pictures of an earlier sequence follow its last one, from " + path("out_04.png")),
      std::string::npos)
      << replaced.err;
  EXPECT_NE(read_file(path("out_03.png")), before);
  EXPECT_EQ(read_file(path("out_05.png")), before);

  std::filesystem::remove(path("out_05.png"));
  const Outcome shorter = limpid(denoise(input, output, {"-n"}));
  expect_success(shorter);
  EXPECT_NE(shorter.err.find("has 4 pictures, but " + input + " about 5 frames"), std::string::npos)
      << shorter.err;
  std::filesystem::remove(path("out_01.png"));
  expect_success(limpid(denoise(input, output, {"-y"})));
  EXPECT_EQ(files().size(), 6U);
}

TEST_F(DenoiseTest, OneWrongTimeIsCorrectedWithAWarning) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "color=gray:s=16x16:d=0.4:r=25", "-c:v", "mjpeg"});
  const std::string bytes = read_file(input);
  const std::size_t block = bytes.find(std::string("\x81\x00\xC8\x80", 4));  // of the first track, at 200 ms
  ASSERT_NE(block, std::string::npos);
  for (const std::string time : {"\x75\x30", "\x01\x40", "\x01\x18"}) {  // 30 s, 320 ms and 280 ms
    write_file(input, std::string(bytes).replace(block + 1, 2, time));
    const Outcome outcome = limpid(denoise(input, path("out.mkv"), {"-y", "--json"}));
    expect_success(outcome);
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["wrong_times"], 1);
    EXPECT_NE(outcome.err.find("1 frame has wrong times"), std::string::npos) << outcome.err;
    const std::vector<double> times = frame_times(path("out.mkv"));
    ASSERT_EQ(times.size(), 10U);
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(times[i], 0.04 * static_cast<double>(i), 0.0011) << i;
    }
    expect_success(limpid(denoise(input, path("end.mkv"), {"-y", "--end", "0.3"})));
    EXPECT_EQ(frame_count(path("end.mkv")), 8U);
    expect_failure(limpid(denoise(input, path("strict.mkv"), {"--strict"})), 1,
                   {"has frames with wrong times"});
  }
}

TEST_F(DenoiseTest, RefusesToOverwriteUnlessAllowed) {
  const std::string input = make_clip("in.mkv");
  write_file(path("out.mkv"), "precious");
  expect_failure(limpid(denoise(input, path("out.mkv"))), 1, {"out.mkv: exists", "-y"});
  const Outcome skipped = limpid(denoise(input, path("out.mkv"), {"-n"}));
  expect_success(skipped);
  EXPECT_EQ(lines(skipped.err).back(), "skipped: " + path("out.mkv") + ": exists");
  EXPECT_EQ(read_file(path("out.mkv")), "precious");
  expect_success(limpid(denoise(input, path("out.mkv"), {"-y"})));
  EXPECT_EQ(frame_count(path("out.mkv")), 5U);
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv", "out.mkv"}));
}

TEST_F(DenoiseTest, ReportsNameWarningsAndFailuresWhateverIsPrinted) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "color=orange:s=64x48,format=yuv420p", "-f", "lavfi", "-i", "sine",
                      "-frames:v", "2", "-c:v", "ffv1", "-shortest"});
  const Outcome quiet = limpid({"denoise", input, "-o", path("out.y4m"), "-q", "--json"});
  expect_success(quiet);
  EXPECT_EQ(quiet.err, "");
  const nlohmann::json report_of_quiet = nlohmann::json::parse(quiet.out);
  EXPECT_EQ(report_of_quiet["dropped_streams"], nlohmann::json({1}));
  const std::string warnings = report_of_quiet["warnings"].dump();
  EXPECT_NE(warnings.find("can't hold the audio stream #1"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("no noise was found"), std::string::npos) << warnings;

  const Outcome failed = limpid({"denoise", path("absent.mkv"), "-o", path("out.mkv"), "--json"});
  expect_failure(failed, 1, {"absent.mkv"});
  const nlohmann::json report = nlohmann::json::parse(failed.out);
  EXPECT_EQ(report["input"], path("absent.mkv"));
  EXPECT_NE(report["error"].get<std::string>().find("No such file"), std::string::npos);
}

TEST_F(DenoiseTest, AFailedRunLeavesTheOldFileAlone) {
  const std::string input = make_clip("in.mkv");
  write_file(path("out.mkv"), "precious");
  expect_failure(limpid(denoise(input, path("out.mkv"), {"-y", "-c", "libx264", "-e", "nosuchoption=1"})), 2,
                 {"nosuchoption"});
  EXPECT_EQ(read_file(path("out.mkv")), "precious");
}

class TerminalTest : public DenoiseTest {
 protected:
  void SetUp() override {
    DenoiseTest::SetUp();
    const std::string problem = problem_with_terminals();
    if (!problem.empty()) {
      GTEST_SKIP() << "there is no pseudo-terminal: " << problem;
    }
  }
};

TEST_F(TerminalTest, AsksOnATerminal) {
  const std::string input = make_clip("in.mkv");
  ProcessOptions options;
  options.terminal = true;
  for (const bool yes : {false, true}) {
    write_file(path("out.mkv"), "precious");
    Process process(limpid_command(denoise(input, path("out.mkv"))), options);
    ASSERT_TRUE(process.wait_for_err("overwrite it? [y/N]"));
    process.write_input(yes ? "y\n" : "\n");
    EXPECT_EQ(process.wait().exit_code, yes ? 0 : 1);
    EXPECT_EQ(read_file(path("out.mkv")) == "precious", !yes);
  }
}

TEST_F(TerminalTest, AnInterruptIsAnAnswerToo) {
  const std::string input = make_clip("in.mkv");
  write_file(path("out.mkv"), "precious");
  ProcessOptions options;
  options.terminal = true;
  Process process(limpid_command(denoise(input, path("out.mkv"))), options);
  ASSERT_TRUE(process.wait_for_err("overwrite it? [y/N]"));
  process.send_signal(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_EQ(read_file(path("out.mkv")), "precious");
}

TEST_F(TerminalTest, ShowsProgressOnATerminalOnly) {
  const std::string input = make_clip("in.mkv");
  ProcessOptions options;
  options.terminal = true;
  const Outcome on_terminal = Process(limpid_command(denoise(input, path("a.mkv"))), options).wait();
  expect_success(on_terminal);
  EXPECT_NE(on_terminal.err.find("5/5  100.0 %"), std::string::npos) << on_terminal.err;
  const Outcome elsewhere = limpid(denoise(input, path("b.mkv")));
  EXPECT_EQ(elsewhere.err.find("5/5  "), std::string::npos) << elsewhere.err;
  const Outcome switched_off =
      Process(limpid_command(denoise(input, path("c.mkv"), {"--progress", "none"})), options).wait();
  EXPECT_EQ(switched_off.err.find("5/5  "), std::string::npos) << switched_off.err;
}

TEST_F(DenoiseTest, FilesByTheirAddressesAreFilesLikeOthers) {
  const std::string input = make_clip("in.mkv");
  const std::string address = "file://" + path("out.mkv");
  expect_success(limpid(denoise("file:" + input, address)));
  EXPECT_EQ(frame_count(path("out.mkv")), 5U);
  write_file(path("out.mkv"), "precious");
  expect_failure(limpid(denoise(input, address)), 1, {path("out.mkv") + ": exists; -y overwrites it"});
  expect_success(limpid(denoise(input, address, {"-n"})));
  EXPECT_EQ(read_file(path("out.mkv")), "precious");
  // A failure keeps the existing file, as the output is written beside it.
  write_file(path("broken.mkv"), "not a video");
  expect_failure(limpid(denoise(path("broken.mkv"), address, {"-y"})), 1, {"broken.mkv"});
  EXPECT_EQ(read_file(path("out.mkv")), "precious");
  expect_success(limpid(denoise(input, "file:" + path("out.mkv"), {"-y"})));
  EXPECT_EQ(frame_count(path("out.mkv")), 5U);

  const std::string before = read_file(input);
  for (const std::string& itself : {"file:" + input, "file://localhost" + input}) {
    expect_failure(limpid(denoise("file://" + input, itself, {"-y"})), 2, {"in.mkv: is the input itself"});
    expect_failure(limpid({"denoise", "file://" + input, itself, "-y"}), 2, {"in.mkv: exists"});
  }
  EXPECT_EQ(read_file(input), before);
  EXPECT_EQ(files(), (std::vector<std::string>{"broken.mkv", "in.mkv", "out.mkv"}));
}

TEST_F(DenoiseTest, ProgressAsJson) {
  const std::string input = make_clip("in.mkv");
  const Outcome outcome = limpid(denoise(input, path("out.mkv"), {"--progress", "json"}));
  expect_success(outcome);
  nlohmann::json last;
  for (const std::string& line : lines(outcome.err)) {
    if (line.starts_with('{')) {
      last = nlohmann::json::parse(line);
    }
  }
  EXPECT_EQ(last["input"], input);
  EXPECT_EQ(last["frames"], 5);
  EXPECT_EQ(last["total"], 5);
  EXPECT_EQ(last["percent"], 100);
  EXPECT_EQ(last["finished"], true);
}

TEST_F(DenoiseTest, QuietPrintsNothingAndLogFilesHoldFfmpegsMessages) {
  const std::string input = make_clip("in.mkv");
  const Outcome outcome =
      limpid(denoise(input, path("out.mp4"),
                     {"-q", "--log-file", path("log.txt"), "-c", "libx264", "-e", "maxrate=100000"}));
  expect_success(outcome);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(read_file(path("log.txt")).find("ffmpeg: [libx264]"), std::string::npos)
      << read_file(path("log.txt"));
}

// Encoders' libraries print by themselves, and one of them, which libav may lack, cannot be closed without a
// frame.
TEST_F(DenoiseTest, EncodersAreQuietAndEndWithoutFrames) {
  const std::string input = make_clip("in.mkv", 5, "64x64");
  for (const char* codec : {"libx265", "libsvtav1"}) {
    const Outcome outcome = limpid(denoise(input, path("out.mkv"), {"-q", "-y", "-c", codec}));
    if (outcome.err.find("no encoder is called") != std::string::npos) {
      continue;
    }
    expect_success(outcome);
    EXPECT_EQ(outcome.out + outcome.err, "") << codec;
    expect_failure(limpid(denoise(input, path("out.mkv"), {"-q", "-y", "-c", codec, "-e", "nonesuch=1"})), 2,
                   {codec, "has no option 'nonesuch'"});
  }
}

}  // namespace
}  // namespace limpid::test
