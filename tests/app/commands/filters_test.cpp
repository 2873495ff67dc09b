// SPDX-License-Identifier: MIT
// limpid denoise --before and --after: frames equal to ffmpeg's, times, fields, colors, refusals, purposes.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using Words = std::vector<std::string>;

class FiltersTest : public ProgramTest {
 protected:
  /// Denoises losslessly to the file `name`.
  std::string denoised(const std::string& input, const std::string& name, const Words& options = {}) const {
    expect_success(limpid(command(input, name, options)));
    return path(name);
  }
  Words command(const std::string& input, const std::string& name, const Words& options) const {
    Words words = {"denoise", input, "-o", path(name), "--profile", "fast", "--sigma", "10"};
    if (name.ends_with(".mkv")) {
      words.insert(words.end(), {"-c", "ffv1"});
    }
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  /// The same frames, bit by bit, in each pair of files.
  static void expect_same_frames(const std::vector<std::pair<std::string, std::string>>& pairs) {
    Words command = {"ffmpeg", "-v", "error"};
    Words maps;
    for (const auto& [ours, theirs] : pairs) {
      for (const std::string& file : {ours, theirs}) {
        maps.insert(maps.end(), {"-map", std::to_string(maps.size() / 2) + ":v"});
        command.insert(command.end(), {"-noautorotate", "-i", file});
      }
    }
    command.insert(command.end(), maps.begin(), maps.end());
    command.insert(command.end(), {"-f", "framemd5", "-"});
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<Words> hashes(2 * pairs.size());  // with the sizes of the frames
    for (const std::string& line : lines(outcome.out)) {
      if (!line.starts_with("#")) {
        hashes.at(std::stoul(line)).push_back(line.substr(line.rfind(',', line.rfind(',') - 1)));
      }
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_FALSE(hashes[2 * i].empty()) << pairs[i].first;
      EXPECT_EQ(hashes[2 * i], hashes[2 * i + 1]) << pairs[i].first;
    }
  }
  static void expect_same_frames(const std::string& ours, const std::string& theirs) {
    expect_same_frames({{ours, theirs}});
  }
  /// The sound is that of `input`, packet by packet, to the millisecond that Matroska rounds to.
  static void expect_sound_of(const std::string& input, const std::string& file) {
    const std::vector<double> expected = packet_times(input, "a");
    const std::vector<double> times = packet_times(file, "a");
    ASSERT_EQ(times.size(), expected.size()) << file;
    ASSERT_GT(times.size(), 0U) << file;
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(times[i], expected[i], 0.0011) << file << ", packet " << i;
    }
  }
  std::string clip(const std::string& name, int frames = 5) const { return make_clip(name, frames, "96x64"); }
  std::string interlaced_clip(const std::string& name) const {
    return make(name,
                {"-f", "lavfi", "-i", "testsrc2=rate=50:size=96x64:duration=0.4", "-f", "lavfi", "-i",
                 "sine=duration=0.4", "-vf",
                 "noise=alls=20:allf=t:all_seed=1,format=yuv420p,tinterlace=interleave_top,setfield=tff",
                 "-c:v", "ffv1", "-flags", "+ildct+ilme", "-c:a", "pcm_s16le"});
  }
  static nlohmann::json video(const std::string& file) { return probe(file)["streams"][0]; }
};

TEST_F(FiltersTest, AfterGivesTheFramesOfFfmpegOnTheDenoisedFile) {
  const std::string input = clip("in.mkv", 3);
  const std::string plain = denoised(input, "plain.mkv");
  Words all = {"-i", plain};
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const char* const chain :
       {"crop=48:32:8:6", "scale=64:48", "pad=128:96:16:16", "transpose=clock", "hflip", "vflip",
        "setsar=4/3", "setdar=16/9", "format=yuv422p10le", "eq=contrast=1.2:saturation=0.8", "unsharp=5:5:1",
        "cas=0.5", "colorspace=iall=bt601-6-625:all=bt709:format=yuv420p", "deband", "crop=48:32,scale=96:-2",
        "split[a][b];[a]hflip[c];[b][c]hstack"}) {
    const std::string number = std::to_string(pairs.size());
    pairs.emplace_back(denoised(input, "ours" + number + ".mkv", {"--after", chain}),
                       path("theirs" + number + ".mkv"));
    all.insert(all.end(), {"-vf", chain, "-c:v", "ffv1", pairs.back().second});
  }
  all.pop_back();
  make("theirs" + std::to_string(pairs.size() - 1) + ".mkv", all);
  expect_same_frames(pairs);
  for (const auto& [ours, theirs] : pairs) {
    SCOPED_TRACE(ours);
    const nlohmann::json our_video = video(ours);
    const nlohmann::json their_video = video(theirs);
    for (const char* const key : {"width", "height", "pix_fmt", "sample_aspect_ratio"}) {
      EXPECT_EQ(our_video.value(key, nlohmann::json()), their_video.value(key, nlohmann::json())) << key;
    }
  }
}

TEST_F(FiltersTest, BeforeGivesTheResultOfDenoisingFfmpegsFrames) {
  const std::string input = clip("in.mkv", 4);
  for (const char* const chain : {"crop=48:32:8:6", "scale=64:48", "transpose=clock", "format=yuv422p10le",
                                  "setsar=4/3", "fps=50", "eq=contrast=1.2"}) {
    SCOPED_TRACE(chain);
    const std::string ours = denoised(input, "ours.mkv", {"-y", "--before", chain});
    const std::string filtered = make("filtered.mkv", {"-y", "-i", input, "-vf", chain, "-c:v", "ffv1"});
    const std::string theirs = denoised(filtered, "theirs.mkv", {"-y"});
    expect_same_frames(ours, theirs);
    EXPECT_EQ(frame_times(ours), frame_times(theirs));
    const nlohmann::json our_video = video(ours);
    const nlohmann::json their_video = video(theirs);
    for (const char* const key : {"width", "height", "pix_fmt", "sample_aspect_ratio", "avg_frame_rate"}) {
      EXPECT_EQ(our_video.value(key, nlohmann::json()), their_video.value(key, nlohmann::json())) << key;
    }
  }
}

TEST_F(FiltersTest, VariableFrameRatesAndSoundStay) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=25:size=64x48:duration=2", "-f", "lavfi", "-i",
                      "sine=duration=2", "-vf", "select='not(eq(mod(n,7),3))*not(eq(mod(n,5),1))'", "-vsync",
                      "vfr", "-c:v", "ffv1", "-c:a", "aac"});
  for (const Words& options :
       {Words{"--before", "scale=32:24"}, Words{"--after", "scale=32:24"}, Words{"--after", "hqdn3d"}}) {
    for (const char* const name : {"out.mkv", "out.mp4"}) {
      Words all = options;
      all.emplace_back("-y");
      const std::string output = denoised(input, name, all);
      const std::vector<double> expected = frame_times(input);
      const std::vector<double> times = frame_times(output);
      ASSERT_EQ(times.size(), expected.size()) << options.back() << name;
      for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_NEAR(times[i], expected[i], 0.0011) << options.back() << name << ", frame " << i;
      }
      expect_sound_of(input, output);
    }
  }
}

TEST_F(FiltersTest, FpsMakesAConstantRate) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=25:size=64x48:duration=2", "-f", "lavfi", "-i",
                      "sine=duration=2", "-vf", "select='not(eq(mod(n,7),3))'", "-vsync", "vfr", "-c:v",
                      "ffv1", "-c:a", "flac"});
  const std::string plain = denoised(input, "plain.mkv");
  const std::string theirs = make("theirs.mp4", {"-i", plain, "-vf", "fps=30", "-c:v", "libx264"});
  const std::string ours = denoised(input, "ours.mp4", {"--after", "fps=30"});
  EXPECT_EQ(frame_times(ours), frame_times(theirs));
  EXPECT_EQ(video(ours)["avg_frame_rate"], "30/1");
  expect_sound_of(input, ours);
}

TEST_F(FiltersTest, DeinterlacingAfterDenoisingGivesProgressiveFrames) {
  const std::string input = interlaced_clip("in.mkv");
  const std::string plain = denoised(input, "plain.mkv");
  ASSERT_EQ(video(plain)["field_order"], "tb");
  const std::size_t frames = frame_count(plain);
  ASSERT_EQ(frames, 10U);
  for (const char* const chain : {"bwdif=0", "bwdif=1", "yadif=0", "yadif=1", "bwdif"}) {
    SCOPED_TRACE(chain);
    const std::string ours = denoised(input, "ours.mkv", {"-y", "--after", chain});
    const std::string theirs = make("theirs.mkv", {"-y", "-i", plain, "-vf", chain, "-c:v", "ffv1", "-an"});
    expect_same_frames(ours, theirs);
    EXPECT_EQ(frame_times(ours), frame_times(theirs));
    EXPECT_EQ(frame_count(ours), std::string(chain).ends_with("0") ? frames : 2 * frames);
    EXPECT_EQ(video(ours)["field_order"], "progressive");
    expect_sound_of(input, ours);
  }
}

TEST_F(FiltersTest, FieldsOfInterlacedVideoAreConvertedApart) {
  const std::string input = interlaced_clip("in.mkv");
  const std::string wide = make("wide.mkv", {"-i", input, "-vf", "scale=interl=1,format=yuv422p", "-c:v",
                                             "ffv1", "-flags", "+ildct+ilme"});
  const std::string exact =
      "scale=interl=1:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact,format=";
  for (const auto& [source, options, chain] : std::vector<std::tuple<std::string, Words, std::string>>{
           {input, {"--pix-fmt", "yuv422p"}, exact + "yuv422p"},
           {wide, {"--pix-fmt", "yuv420p"}, exact + "yuv420p"},
           {input, {"--after", "format=yuv422p"}, "scale=interl=1,format=yuv422p"},
           {wide, {"--before", "format=yuv420p"}, "scale=interl=1,format=yuv420p"},
           {input, {"--after", "scale=96:48"}, "scale=96:48:interl=1"},
           {input, {"--after", "scale=96:48:interl=0"}, "scale=96:48"}}) {
    SCOPED_TRACE(options[1]);
    const std::string theirs = make("theirs.mkv", {"-y", "-i", source, "-vf", chain, "-c:v", "ffv1"});
    Words all{"-y", "--sigma", "0"};
    all.insert(all.end(), options.begin(), options.end());
    expect_same_frames(denoised(source, "ours.mkv", all), theirs);
  }
  const std::string theirs = make("theirs.mkv", {"-y", "-i", input, "-vf", exact + "rgb24", "-c:v", "png"});
  expect_same_frames(denoised(input, "ours_%d.png", {"--sigma", "0"}), theirs);
}

TEST_F(FiltersTest, DeinterlacingBeforeDenoisingDoublesTheFrames) {
  const std::string input = interlaced_clip("in.mkv");
  const std::string ours = denoised(input, "ours.mkv", {"--before", "bwdif=1"});
  const std::string filtered = make("filtered.mkv", {"-i", input, "-vf", "bwdif=1", "-c:v", "ffv1"});
  expect_same_frames(ours, denoised(filtered, "theirs.mkv"));
  EXPECT_EQ(frame_count(ours), 20U);
  expect_sound_of(input, ours);
  EXPECT_EQ(video(ours)["field_order"], "progressive");
}

TEST_F(FiltersTest, FiltersSeeUprightPicturesAndTheOutputIsUpright) {
  const std::string still =
      make("still.mp4",
           {"-f", "lavfi", "-i", "testsrc2=rate=25:size=96x64:duration=0.2", "-c:v", "libx264", "-qp", "0"});
  const std::string input = make("in.mp4", {"-i", still, "-c", "copy", "-metadata:s:v", "rotate=90"});
  for (const char* const option : {"--before", "--after"}) {
    SCOPED_TRACE(option);
    const std::string output = denoised(input, "out.mp4", {"-y", option, "crop=iw:ih-8"});
    EXPECT_EQ(video(output)["width"], 64);
    EXPECT_EQ(video(output)["height"], 88);
    EXPECT_FALSE(video(output).contains("side_data_list"));
  }
}

TEST_F(FiltersTest, ConvertedHdrHasNoHdrMetadata) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=25:size=96x64:duration=0.2", "-vf",
                      "format=yuv420p10le", "-c:v", "libx265", "-x265-params",
                      "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:max-cll=1000,"
                      "400:master-display="
                      "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)"});
  const std::string kept = denoised(input, "kept.mkv", {"--after", "scale=48:32"});
  EXPECT_EQ(video(kept)["color_transfer"], "smpte2084");
  EXPECT_TRUE(video(kept).contains("side_data_list"));
  for (const std::string& option : Words{"--before", "--after"}) {
    const Outcome outcome = limpid(command(input, "sdr.mkv", {"-y", option, "setparams=color_trc=bt709"}));
    expect_success(outcome);
    EXPECT_NE(outcome.err.find(
                  "'Mastering display metadata' is not kept: it does not describe the result of " + option),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(video(path("sdr.mkv"))["color_transfer"], "bt709");
    EXPECT_FALSE(video(path("sdr.mkv")).contains("side_data_list"));
  }
}

TEST_F(FiltersTest, BadChainsAreWrongUsage) {
  const std::string input = clip("in.mkv", 2);
  const Words before = files();
  for (const char* const option : {"--before", "--after"}) {
    for (const auto& [chain, reason] : std::vector<std::pair<std::string, std::string>>{
             {"crob=1:1", "no filter called 'crob'; did you mean 'crop'?"},
             {"scale=64:48,crop=w=32:nonsense=1", "filter crop: "},
             {"crop=9999:1", "filter crop: Invalid too big"},
             {"scale=64:48,colorspace=all=bt709", "filter colorspace: Unsupported input primaries"},
             {"scale=64:48,", "lacks the name of a filter"},
             {"hstack", "filter hstack: "},
             {"anull", "anull"},
             {"[in]scale=64:48[", ""}}) {
      SCOPED_TRACE(option + (" " + chain));
      expect_failure(limpid(command(input, "out.mkv", {option, chain})), 2, {option, reason});
      EXPECT_EQ(files(), before);
    }
  }
}

TEST_F(FiltersTest, FiltersWithMemoryAreRefusedWhereFramesAreNotInOrder) {
  const std::string input = clip("in.mkv", 2);
  for (const char* const chain : {"bwdif", "fps=50", "crop=48:32:n:0"}) {
    SCOPED_TRACE(chain);
    const std::string why = "may depend on other frames or on files";
    expect_failure(limpid({"denoise", input, "-o", path("out.mkv"), "--start", "0.04", "--before", chain}), 2,
                   {"--before", why, "--start"});
    expect_failure(limpid({"compare", input, "--before", chain}), 2, {"--before", why, "this command"});
    for (const char* const option : {"--before", "--after"}) {
      expect_failure(limpid({"denoise", input, "-o", path("out.mkv"), "--resume", option, chain}), 2,
                     {option, why, "a job of segments"});
      expect_failure(limpid({"plan", input, "-o", path("job"), option, chain}), 2,
                     {option, why, "a job of segments"});
    }
  }
}

TEST_F(FiltersTest, FiltersThatMayOpenFilesAreRefusedByLocalOnlyAndJobs) {
  const std::string input = clip("in.mkv", 2);
  for (const std::string& chain :
       Words{"movie=" + input + "[b];[in][b]hstack", "drawtext=text=a", "[in]null[a];[a]subtitles=a.srt"}) {
    for (const char* const option : {"--before", "--after"}) {
      SCOPED_TRACE(option + (" " + chain));
      expect_failure(limpid({"denoise", input, "-o", path("out.mkv"), "--local-only", option, chain}), 2,
                     {option, "may open files or connections", "--local-only"});
    }
  }
  const Words before = files();
  for (const char* const option : {"--before", "--after"}) {
    for (Words words : std::vector<Words>{{"plan", input, "-o", path("job")},
                                          {"denoise", input, "-o", path("out.mkv"), "--resume"},
                                          {"compare", input, "--sheet", path("sheet.png")},
                                          {"preview", input}}) {
      words.insert(words.end(), {option, "metadata=mode=print:file=" + path("target")});
      expect_failure(limpid(words), 2, {option, "metadata"});
      EXPECT_EQ(files(), before) << "the filter has made its file";
    }
  }
  const std::string output =
      denoised(input, "out.mkv", {"--local-only", "--before", "scale=48:32", "--after", "bwdif"});
  EXPECT_EQ(video(output)["width"], 48);
}

TEST_F(FiltersTest, NoTextHidesFiltersFromLocalOnlyAndJobs) {
  const std::string input = clip("in.mkv", 2);
  const std::string target = path("target");
  const Words before = files();
  const std::string writes = "metadata=mode=add:key=a:value=b,metadata=mode=print:file=" + target;
  for (const std::string& chain :
       Words{"sws_flags=bicubic';[in]" + writes + ",null@'a;null'", "sws_flags=bicubic\\;" + writes + ";null",
             "null@'a';" + writes, "null=threads=1'," + writes + "'"}) {
    for (const std::string& option : Words{"--before", "--after"}) {
      SCOPED_TRACE(option + " " + chain);
      std::vector<Words> commands = {{"denoise", input, "-o", path("out.mkv"), "--local-only"},
                                     {"plan", input, "-o", path("job")}};
      if (chain.starts_with("sws_flags=bicubic'")) {  // the others read chains as denoise does
        commands.insert(commands.end(), {{"compare", input, "--local-only", "--sheet", path("sheet.png")},
                                         {"preview", input, "--local-only"}});
        if (option == "--before") {
          commands.push_back({"noise", input, "--local-only"});
        }
      }
      for (Words words : commands) {
        words.insert(words.end(), {option, chain});
        expect_failure(limpid(words), 2, {option});
        EXPECT_EQ(files(), before);
      }
    }
  }
}

TEST_F(FiltersTest, FiltersOfSingleFramesWorkInJobs) {
  const std::string input = clip("in.mkv", 12);
  const Words chains = {"--before", "crop=64:48", "--after", "scale=32:24,hflip"};
  const std::string once = denoised(input, "once.mkv", chains);
  Words resumed = chains;
  resumed.insert(resumed.end(), {"--resume", "--segment-frames", "5"});
  const std::string parts = denoised(input, "parts.mkv", resumed);
  expect_same_frames(parts, once);
  EXPECT_EQ(frame_times(parts), frame_times(once));
}

TEST_F(FiltersTest, ARangeIsCutBeforeAndAfterFilters) {
  const std::string input = clip("in.mkv", 12);
  const std::string plain = denoised(input, "plain.mkv", {"--start", "0.16", "--end", "0.32"});
  const std::string theirs = make("theirs.mkv", {"-i", plain, "-vf", "hflip", "-c:v", "ffv1"});
  const std::string ours =
      denoised(input, "ours.mkv", {"--start", "0.16", "--end", "0.32", "--after", "hflip"});
  expect_same_frames(ours, theirs);
  const std::string before =
      denoised(input, "before.mkv", {"--start", "0.16", "--end", "0.32", "--before", "crop=48:32"});
  EXPECT_EQ(frame_times(before), frame_times(plain));
}

TEST_F(FiltersTest, ForWebWritesAFileThatBrowsersPlay) {
  const std::string input = make("in.mkv", {"-f",
                                            "lavfi",
                                            "-i",
                                            "testsrc2=rate=25:size=95x63:duration=0.4",
                                            "-f",
                                            "lavfi",
                                            "-i",
                                            "sine=duration=0.4",
                                            "-vf",
                                            "format=yuv444p10le",
                                            "-color_range",
                                            "tv",
                                            "-colorspace",
                                            "bt470bg",
                                            "-color_primaries",
                                            "bt470bg",
                                            "-color_trc",
                                            "gamma28",
                                            "-c:v",
                                            "ffv1",
                                            "-c:a",
                                            "flac"});
  const Outcome outcome =
      limpid({"denoise", input, "--profile", "fast", "--sigma", "10", "--for", "web", "--json"});
  expect_success(outcome);
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  const std::string output = report["output"];
  EXPECT_EQ(output, path("in-denoised.mp4"));
  EXPECT_EQ(report["encoder"]["color"], "bt709");
  EXPECT_EQ(report["encoder"]["codec"], "libx264");
  EXPECT_EQ(report["encoder"]["audio_codec"], "aac");
  const nlohmann::json stream = video(output);
  EXPECT_EQ(stream["codec_name"], "h264");
  EXPECT_EQ(stream["pix_fmt"], "yuv420p");
  EXPECT_EQ(stream["width"], 94);
  for (const char* const key : {"color_space", "color_transfer", "color_primaries"}) {
    EXPECT_EQ(stream[key], "bt709") << key;
  }
  EXPECT_EQ(stream["color_range"], "tv");
  const std::string bytes = read_file(output);
  EXPECT_LT(bytes.find("moov"), bytes.find("mdat"));
}

// Limited range: Y = 16 + 219 (Kr R + Kg G + Kb B), and so on, with Kr = 0.2126, Kg = 0.7152, Kb = 0.0722.
TEST_F(FiltersTest, ConversionToBt709GivesItsValuesOfFullColors) {
  const std::vector<std::pair<std::string, std::array<int, 3>>> colors = {
      {"red", {63, 102, 240}}, {"lime", {173, 42, 26}}, {"blue", {32, 240, 118}}, {"white", {235, 128, 128}}};
  for (const auto& [name, expected] : colors) {
    const std::string input =
        make("in.mkv", {"-y", "-f", "lavfi", "-i", "color=" + name + ":size=64x48:duration=0.2", "-vf",
                        "format=gbrp,scale=out_color_matrix=bt601:out_range=tv,format=yuv420p",
                        "-color_range", "tv", "-colorspace", "smpte170m", "-color_primaries", "bt709",
                        "-color_trc", "bt709", "-c:v", "ffv1"});
    const std::string output =
        denoised(input, "out.mkv", {"-y", "--for", "web", "-c", "ffv1", "-f", "matroska"});
    EXPECT_EQ(video(output)["color_space"], "bt709") << name;
    make("out.yuv", {"-y", "-i", output, "-frames:v", "1", "-f", "rawvideo"});
    const std::string samples = read_file(path("out.yuv"));
    ASSERT_EQ(samples.size(), 64U * 48 * 3 / 2) << name;
    const std::array<std::size_t, 3> centers = {24 * 64 + 32, 64 * 48 + 12 * 32 + 16,
                                                64 * 48 + 24 * 32 + 12 * 32 + 16};
    for (std::size_t plane = 0; plane < centers.size(); ++plane) {
      EXPECT_NEAR(static_cast<unsigned char>(samples[centers[plane]]), expected[plane], 2)
          << name << ", plane " << plane;
    }
  }
}

// Gray of a quarter of diffuse white keeps its light; diffuse white (203 cd/m2) is nearly white.
TEST_F(FiltersTest, ForWebMapsTheTonesOfHdr) {
  for (const auto& [transfer, gray, white] :
       {std::tuple{"arib-std-b67", 502, 721}, {"smpte2084", 451, 573}}) {
    for (const auto& [code, least, most] : {std::tuple{gray, 132, 146}, {white, 190, 225}}) {
      const std::string geq = "format=yuv420p10le,geq=lum=" + std::to_string(code) + ":cb=512:cr=512";
      const std::string input =
          make("in.mkv", {"-y", "-f", "lavfi", "-i", "color=size=96x64:duration=0.2", "-vf", geq,
                          "-color_trc", transfer, "-color_primaries", "bt2020", "-colorspace", "bt2020nc",
                          "-color_range", "tv", "-c:v", "ffv1"});
      const std::string output = denoised(input, "out.mp4", {"-y", "--for", "web"});
      EXPECT_EQ(video(output)["color_transfer"], "bt709");
      make("out.yuv", {"-y", "-i", output, "-frames:v", "1", "-f", "rawvideo"});
      const int luma = static_cast<unsigned char>(read_file(path("out.yuv")).at(0));
      EXPECT_GE(luma, least) << transfer << " " << code;
      EXPECT_LE(luma, most) << transfer << " " << code;
    }
  }
}

TEST_F(FiltersTest, LinearLightIsNoOutput) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=25:size=96x64:duration=0.2", "-vf",
                      "format=yuv420p10le", "-color_trc", "smpte2084", "-color_primaries", "bt2020",
                      "-colorspace", "bt2020nc", "-color_range", "tv", "-c:v", "ffv1"});
  for (const Words& more : {Words{}, {"--for", "web"}}) {
    Words words = {"denoise", input, "-o", path("out.mp4"), "--after", "zscale=t=linear,tonemap"};
    words.insert(words.end(), more.begin(), more.end());
    expect_failure(limpid(words), 2, {"linear light", "end it with zscale=t=bt709"});
  }
  EXPECT_EQ(video(denoised(input, "out.mkv", {"--for", "archive"}))["color_transfer"], "smpte2084");
}

TEST_F(FiltersTest, ForArchiveAndEditChooseTheirCodecs) {
  const std::string input = make("in.mp4", {"-f", "lavfi", "-i", "testsrc2=rate=25:size=96x64:duration=0.2",
                                            "-f", "lavfi", "-i", "sine=duration=0.2", "-pix_fmt", "yuv420p"});
  const std::string archive = path("archive.mkv");
  expect_success(limpid({"denoise", input, "-o", archive, "--for", "archive"}));
  EXPECT_EQ(video(archive)["codec_name"], "ffv1");
  EXPECT_EQ(packet_count(archive, "a"), packet_count(input, "a"));
  const std::string edit = path("edit.mov");
  expect_success(limpid({"denoise", input, "-o", edit, "--for", "edit"}));
  EXPECT_EQ(video(edit)["codec_name"], "prores");
  EXPECT_EQ(video(edit)["profile"], "HQ");
  const std::string full = make("full.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=25:size=96x64:duration=0.2",
                                             "-pix_fmt", "yuv444p", "-c:v", "ffv1"});
  EXPECT_EQ(video(denoised(full, "full.mov", {"--for", "edit"}))["profile"], "4444");
  EXPECT_EQ(run({"ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name",
                 "-of", "csv=p=0", edit})
                .out,
            "pcm_s24le\n");
  expect_failure(limpid({"denoise", input, "-o", path("edit.mkv"), "--for", "edit"}), 2,
                 {"edit.mkv", "--for edit writes .mov"});
}

TEST_F(FiltersTest, Mp4AndMovBeginWithTheirIndex) {
  const std::string input = clip("in.mkv", 5);
  for (const char* const name : {"out.mp4", "out.mov", "out.m4v"}) {
    const std::string bytes = read_file(denoised(input, name));
    EXPECT_LT(bytes.find("moov"), bytes.find("mdat")) << name;
  }
}

}  // namespace
}  // namespace limpid::test
