// SPDX-License-Identifier: MIT
// limpid noise, and limpid denoise with profiles saved by it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/stream/noise_tracker.h"
#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

constexpr int kWidth = 192;
constexpr int kHeight = 128;

/// Makes planes of a smooth gradient with noise of a known standard deviation.
class Noise {
 public:
  /// Smooth noise is the mean of 3x3 samples of white noise.
  explicit Noise(bool smooth) : smooth_(smooth) {}

  std::string plane(int width, int height, double sigma) {
    std::normal_distribution<double> gaussian(0, smooth_ ? 3 * sigma : sigma);
    const int stride = width + 2;
    std::vector<double> white(static_cast<std::size_t>(stride) * (height + 2));
    std::generate(white.begin(), white.end(), [&] { return gaussian(random_); });
    std::string samples;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        double noise = white[y * stride + x];
        if (smooth_) {
          noise = 0;
          for (int dy = 0; dy < 3; ++dy) {
            for (int dx = 0; dx < 3; ++dx) {
              noise += white[(y + dy) * stride + x + dx] / 9;
            }
          }
        }
        const double value = 90 + 60.0 * x / width + 10.0 * y / height + noise;
        samples += static_cast<char>(std::lround(std::clamp(value, 0.0, 255.0)));
      }
    }
    return samples;
  }

 private:
  bool smooth_;
  std::mt19937 random_{1};
};

class NoiseTest : public ProgramTest {
 protected:
  /// YUV 4:2:0; the noise of chroma has half the standard deviation.
  std::string yuv_clip(const std::string& name, double sigma, bool smooth = false, int frames = 4,
                       const std::string& field_order = "p") const {
    Noise noise(smooth);
    std::string file = "YUV4MPEG2 W" + std::to_string(kWidth) + " H" + std::to_string(kHeight) + " F25:1 I" +
                       field_order + " C420jpeg\n";
    for (int i = 0; i < frames; ++i) {
      file += "FRAME\n" + noise.plane(kWidth, kHeight, sigma) +
              noise.plane(kWidth / 2, kHeight / 2, sigma / 2) +
              noise.plane(kWidth / 2, kHeight / 2, sigma / 2);
    }
    write_file(path(name), file);
    return path(name);
  }

  static nlohmann::json report(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "noise");
    arguments.insert(arguments.end(), {"--json", "--engine", "cpu"});
    const Outcome outcome = limpid(arguments);
    expect_success(outcome);
    return nlohmann::json::parse(outcome.out);
  }
};

TEST_F(NoiseTest, SeveralFilesAndFoldersHaveALineEach) {
  std::filesystem::create_directory(path("in"));
  yuv_clip("in/a.y4m", 12);
  write_file(path("in/notes.txt"), "not a video");
  const std::string clip = yuv_clip("b.y4m", 2);
  const Outcome text = limpid({"noise", path("in"), clip, "-q"});
  expect_success(text);
  const std::vector<std::string> table = lines(text.out);
  ASSERT_EQ(table.size(), 2U) << text.out;
  EXPECT_NE(table[0].find("strong"), std::string::npos) << table[0];
  EXPECT_NE(table[1].find("faint"), std::string::npos) << table[1];
  EXPECT_EQ(text.err, "");

  const Outcome outcome = limpid({"noise", clip, path("absent.mkv"), "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const nlohmann::json printed = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(printed["status"], "failed");
  EXPECT_EQ(printed["totals"]["done"], 1);
  EXPECT_EQ(printed["files"][0]["visibility"], "faint");
  EXPECT_NE(printed["files"][1]["error"].get<std::string>().find("absent.mkv"), std::string::npos);
  expect_failure(limpid({"noise", clip, clip, "-o", path("n.json")}), 2, {"-o describes", "one file"});
}

TEST_F(NoiseTest, TellsWhiteNoisesDeviation) {
  const std::string clip = yuv_clip("white.y4m", 10);
  const nlohmann::json told = report({clip});
  EXPECT_EQ(told["frames"], 4) << "the clip is shorter than the 16 frames that are looked at";
  EXPECT_EQ(told["scene"]["frames"], 4);
  EXPECT_EQ(told["region"]["width"], kWidth);
  EXPECT_NEAR(told["planes"]["Y"]["sigma"], 10, 0.3);
  EXPECT_NEAR(told["planes"]["U"]["sigma"], 5, 0.3);
  EXPECT_NEAR(told["planes"]["V"]["sigma"], 5, 0.3);
  EXPECT_FALSE(told["planes"]["Y"].contains("spectrum"));
  EXPECT_EQ(told["deviations"]["Y"]["noise"], "white");
  EXPECT_NEAR(told["deviations"]["Y"]["high"], 10, 0.3);
  EXPECT_EQ(report({clip, "--frames", "2"})["frames"], 2);
  EXPECT_EQ(report({clip, "--start", "0.04", "--end", "0.12"})["frames"], 2);

  const Outcome text = limpid({"noise", clip});
  expect_success(text);
  for (const char* part :
       {"4 frames, 192x128 YUV 4:2:0 8 bit", "sigma", "middle", "white", "estimate: certainty "}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  }
  EXPECT_EQ(lines(text.out).size(), 7U) << text.out;
}

TEST_F(NoiseTest, TellsSmoothNoiseFromWhite) {
  const nlohmann::json told = report({yuv_clip("smooth.y4m", 8, true, 8)});
  EXPECT_NEAR(told["planes"]["Y"]["sigma"], 8, 2);
  EXPECT_EQ(told["planes"]["Y"]["spectrum"].size(), 8U);
  const nlohmann::json& luma = told["deviations"]["Y"];
  EXPECT_EQ(luma["noise"], "smooth");
  EXPECT_GT(luma["low"], luma["middle"]);
  EXPECT_GT(luma["middle"], luma["high"]);
}

TEST_F(NoiseTest, AProfileIsWhatDenoisingTakes) {
  const std::string clip = yuv_clip("white.y4m", 10);
  expect_success(limpid({"noise", clip, "-o", path("p.json"), "--engine", "cpu"}));
  const nlohmann::json planes = nlohmann::json::parse(read_file(path("p.json")))["planes"];
  const auto denoise = [&](const std::string& name, const std::string& option, const std::string& value) {
    const Outcome outcome = limpid(
        {"denoise", clip, "-o", path(name), option, value, "--profile", "fast", "--engine", "cpu", "--json"});
    expect_success(outcome);
    return nlohmann::json::parse(outcome.out)["sigma"];
  };
  const nlohmann::json used = denoise("profile.y4m", "--noise", path("p.json"));
  EXPECT_EQ(used["estimated"], false);
  std::string sigmas;
  for (const char* plane : {"Y", "U", "V"}) {
    // Subsampled chroma is filtered with its best sigma.
    const double sigma = planes[plane]["sigma"].get<double>();
    const double factor = plane == std::string("Y") ? 1 : planes[plane].at("strength").get<double>();
    EXPECT_NEAR(used["first"][plane], factor * sigma, 1e-4);
    // The result may have a curve of nearly 1, which white noise of one level lacks.
    sigmas += (sigmas.empty() ? "" : ",") + used["first"][plane].dump();
  }
  denoise("sigma.y4m", "--sigma", sigmas);
  EXPECT_EQ(read_file(path("profile.y4m")), read_file(path("sigma.y4m")));

  // The report is also a profile.
  const std::string smooth = yuv_clip("smooth.y4m", 8, true, 8);
  expect_success(limpid({"noise", smooth, "-o", path("s.json"), "--engine", "cpu"}));
  const nlohmann::json saved = nlohmann::json::parse(read_file(path("s.json")));
  const nlohmann::json printed = report({smooth});
  EXPECT_EQ(printed["planes"], saved["planes"]);
  write_file(path("report.json"), printed.dump());
  denoise("saved.y4m", "--noise", path("s.json"));
  denoise("printed.y4m", "--noise", path("report.json"));
  EXPECT_EQ(read_file(path("saved.y4m")), read_file(path("printed.y4m")));
}

TEST_F(NoiseTest, DenoiseTellsTheModelThatItHasFound) {
  const std::string clip = yuv_clip("smooth.y4m", 8, true, 8);
  const auto denoise = [&](const std::string& name, const std::string& noise) {
    const Outcome outcome = limpid({"denoise", clip, "-o", path(name), "--noise", noise, "--profile", "fast",
                                    "--strength", "1.5", "--engine", "cpu", "--json"});
    expect_success(outcome);
    return outcome;
  };
  const Outcome found = denoise("auto.y4m", "auto");
  EXPECT_NE(found.err.find(", smooth"), std::string::npos) << found.err;
  const nlohmann::json result = nlohmann::json::parse(found.out);
  EXPECT_EQ(result["evidence"]["source"], "motion");
  EXPECT_GT(result["evidence"]["certainty"], 0.6);
  const nlohmann::json& noise = result["noise"];
  const std::string frames = std::to_string(NoiseTracker::kFramesToAverage);
  EXPECT_EQ(noise["planes"], report({clip, "--frames", frames})["planes"]) << "without the strength";
  // The result is a profile.
  write_file(path("found.json"), noise.dump());
  const nlohmann::json given = nlohmann::json::parse(denoise("given.y4m", path("found.json")).out);
  EXPECT_EQ(given["noise"], noise);

  const std::string white = yuv_clip("white.y4m", 10);
  const Outcome outcome = limpid({"denoise", white, "-o", path("white-out.y4m"), "--profile", "fast"});
  expect_success(outcome);
  EXPECT_EQ(outcome.err.find("smooth"), std::string::npos) << outcome.err;
}

TEST_F(NoiseTest, LooksAtARegionAlone) {
  // Noise in the left half only.
  Noise noise(false);
  std::string file = "YUV4MPEG2 W192 H128 F25:1 Ip Cmono\n";
  for (int i = 0; i < 3; ++i) {
    std::string plane = noise.plane(kWidth, kHeight, 12);
    for (std::size_t at = 0; at < plane.size(); ++at) {
      const int x = static_cast<int>(at % kWidth);
      plane[at] = x < kWidth / 2 ? plane[at] : static_cast<char>(x);
    }
    file += "FRAME\n" + plane;
  }
  write_file(path("half.y4m"), file);
  EXPECT_NEAR(report({path("half.y4m"), "--region", "3,5,90x100"})["planes"]["Y"]["sigma"], 12, 0.6);
  EXPECT_EQ(report({path("half.y4m"), "--region", "100,0,92x128"})["planes"]["Y"]["sigma"], 0);

  const std::string clip = yuv_clip("white.y4m", 10, false, 2);
  EXPECT_EQ(report({clip, "--region", "3,5,64x65"})["region"],
            (nlohmann::json{{"x", 2}, {"y", 4}, {"width", 66}, {"height", 66}}));
  const std::string fields = yuv_clip("fields.y4m", 10, false, 2, "t");
  const nlohmann::json interlaced = report({fields, "--region", "3,6,100x65"});
  EXPECT_EQ(interlaced["region"], (nlohmann::json{{"x", 2}, {"y", 4}, {"width", 102}, {"height", 68}}));
  EXPECT_NEAR(interlaced["planes"]["Y"]["sigma"], 10, 1);
}

TEST_F(NoiseTest, InvalidRegionsAreReported) {
  const std::string clip = yuv_clip("white.y4m", 10, false, 1);
  const auto region = [&](const std::string& text) { return limpid({"noise", clip, "--region", text}); };
  for (const char* text : {"here", "1,2", "1,2,64", "1,2,64x", "1,2,64x64x", "-1,2,64x64", "1,2,64x64 ",
                           "1;2,64x64", "1,2,99999999999x64"}) {
    expect_failure(region(text), 2, {"--region", text, "100,50,256x128"});
  }
  expect_failure(region("0,0,64x63"), 2, {"0,0,64x63", "at least 64x64"});
  expect_failure(region("129,0,64x64"), 2, {"129,0,64x64", "192x128"});
  expect_failure(region("2147483647,0,2147483647x64"), 2, {"192x128"});
}

TEST_F(NoiseTest, FilesAreNotReplacedUnasked) {
  const std::string clip = yuv_clip("white.y4m", 10, false, 1);
  write_file(path("p.json"), "old");
  expect_failure(limpid({"noise", clip, "-o", path("p.json")}), 1, {"p.json: exists", "-y"});
  EXPECT_EQ(read_file(path("p.json")), "old");
  expect_success(limpid({"noise", clip, "-o", path("p.json"), "-y"}));
  EXPECT_TRUE(nlohmann::json::parse(read_file(path("p.json"))).contains("planes"));
  EXPECT_EQ(files(), (std::vector<std::string>{"p.json", "white.y4m"}));

  expect_failure(limpid({"noise", clip, "-o", path("p.txt")}), 2, {"p.txt", ".json"});
  expect_failure(limpid({"noise", clip, "-o", path("missing/p.json")}), 1, {"missing/p.json"});
  expect_failure(limpid({"noise", path("no.mkv")}), 1, {"no.mkv"});
  expect_failure(limpid({"noise", clip, "--start", "1:00"}), 1, {"white.y4m"});
}

TEST_F(NoiseTest, TakesPicturesInGrayAndRgb) {
  Noise noise(false);
  write_file(path("gray.pgm"), "P5 192 128 255\n" + noise.plane(kWidth, kHeight, 10));
  const nlohmann::json gray = report({path("gray.pgm")});
  EXPECT_EQ(gray["frames"], 1);
  EXPECT_EQ(gray["planes"].size(), 1U);
  EXPECT_NEAR(gray["planes"]["Y"]["sigma"], 10, 0.5);

  const std::string planes[] = {noise.plane(kWidth, kHeight, 10), noise.plane(kWidth, kHeight, 5),
                                noise.plane(kWidth, kHeight, 15)};
  std::string rgb = "P6 192 128 255\n";
  for (std::size_t i = 0; i < planes[0].size(); ++i) {
    for (const std::string& plane : planes) {
      rgb += plane[i];
    }
  }
  write_file(path("color.ppm"), rgb);
  const nlohmann::json color = report({path("color.ppm")});
  EXPECT_NEAR(color["planes"]["R"]["sigma"], 10, 0.5);
  EXPECT_NEAR(color["planes"]["G"]["sigma"], 5, 0.5);
  EXPECT_NEAR(color["planes"]["B"]["sigma"], 15, 0.8);
}

TEST_F(NoiseTest, SaysWhereNoneIsFound) {
  const std::string clean = make("clean.mkv", {"-f", "lavfi", "-i", "color=orange:s=128x96,format=yuv420p",
                                               "-frames:v", "2", "-c:v", "ffv1"});
  EXPECT_EQ(report({clean})["deviations"]["U"]["noise"], "none found");
}

/// A TIFF stack of gray pages of 16 bits, with a description on the first page.
std::string tiff_of(const std::vector<std::string>& pages, const std::string& description) {
  std::string file("II*\0\10\0\0\0", 8);
  const auto put = [&file](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      file += static_cast<char>(value >> (8 * i));
    }
  };
  for (const std::string& page : pages) {
    constexpr std::uint32_t kEntries = 8;
    const auto behind = static_cast<std::uint32_t>(file.size()) + 2 + 12 * kEntries + 4;
    const auto length = static_cast<std::uint32_t>(description.size()) + 1;
    put(kEntries, 2);
    for (const std::array<std::uint32_t, 4>& entry : std::initializer_list<std::array<std::uint32_t, 4>>{
             {256, 3, 1, kWidth},
             {257, 3, 1, kHeight},
             {258, 3, 1, 16},
             {262, 3, 1, 1},
             {270, 2, length, behind},
             {273, 4, 1, behind + length},
             {278, 3, 1, kHeight},
             {279, 4, 1, static_cast<std::uint32_t>(page.size())}}) {
      put(entry[0], 2);
      put(entry[1], 2);
      put(entry[2], 4);
      put(entry[3], 4);
    }
    const bool is_last = &page == &pages.back();
    put(is_last ? 0 : behind + length + static_cast<std::uint32_t>(page.size()), 4);
    file += description + '\0' + page;
  }
  return file;
}

TEST_F(NoiseTest, ChannelsOfAStackHaveALineEach) {
  Noise noise(false);
  std::vector<std::string> pages;
  for (int page = 0; page < 8; ++page) {  // two channels of four times
    std::string samples;
    for (const char sample : noise.plane(kWidth, kHeight, page % 2 == 0 ? 3 : 12)) {
      samples += std::string(1, '\0') + sample;
    }
    pages.push_back(samples);
  }
  const std::string stack = path("stack.tif");
  write_file(stack, tiff_of(pages, "ImageJ=1.53\nimages=8\nchannels=2\nframes=4\nhyperstack=true\n"));
  const nlohmann::json files = report({stack})["files"];
  ASSERT_EQ(files.size(), 2U);
  EXPECT_NEAR(files[0]["planes"]["Y"]["sigma"], 3, 0.2);
  EXPECT_NEAR(files[1]["planes"]["Y"]["sigma"], 12, 0.6);
  EXPECT_EQ(files[1]["channel"], 2);
  EXPECT_EQ(files[1]["frames"], 4);
  EXPECT_EQ(report({stack, "--frames", "2"})["files"][1]["frames"], 2);

  const Outcome text = limpid({"noise", stack});
  expect_success(text);
  ASSERT_EQ(lines(text.out).size(), 2U) << text.out;
  EXPECT_NE(lines(text.out)[1].find("stack.tif, channel or slice 2"), std::string::npos) << text.out;
  EXPECT_NE(lines(text.out)[1].find(" of 65535)"), std::string::npos) << text.out;
  expect_failure(limpid({"noise", stack, "-o", path("p.json")}), 1,
                 {"stack.tif", "2 channels or slices", "without --noise"});

  const Outcome found = limpid({"denoise", stack, "-o", path("auto.tif")});
  EXPECT_NE(found.err.find("(from frame 4 on)"), std::string::npos) << found.err;
  const Outcome given = limpid({"denoise", stack, "-o", path("given.tif"), "--sigma", "3"});
  EXPECT_NE(given.err.find("all channels and slices"), std::string::npos) << given.err;
}

TEST_F(NoiseTest, TellsTheLongestScene) {
  const std::string clip =
      make("cut.mkv", {"-f", "lavfi", "-i", "color=gray:s=128x96:d=0.2", "-f", "lavfi", "-i",
                       "color=white:s=128x96:d=0.4", "-filter_complex",
                       "[0]format=gray,noise=alls=20:allf=t:all_seed=1[a];[1]format=gray,lutyuv=y=200,"
                       "noise=alls=40:allf=t:all_seed=1[b];[a][b]concat",
                       "-c:v", "ffv1"});
  const nlohmann::json all = report({clip});
  EXPECT_EQ(all["scene"], (nlohmann::json{{"first", 5}, {"frames", 10}}));
  EXPECT_NEAR(all["planes"]["Y"]["sigma"], report({clip, "--start", "0.2"})["planes"]["Y"]["sigma"], 1e-3);
}

}  // namespace
}  // namespace limpid::test
