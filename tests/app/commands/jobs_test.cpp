// SPDX-License-Identifier: MIT
// Several inputs, and folders: selection and names of files, and consequences of failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

class JobsTest : public ProgramTest {
 protected:
  static std::vector<std::string> denoise(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "denoise");
    arguments.insert(arguments.end(), {"--profile", "fast", "--sigma", "5"});
    return arguments;
  }

  std::vector<std::string> files_in(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(name))) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(JobsTest, EveryInputGetsItsNameAndExtensionIfThatCanBeWritten) {
  const std::string matroska = make_clip("a.mkv", 3);
  const std::string mp4 = make("b.mp4", {"-i", matroska, "-c:v", "libx264"});
  const std::string flash = make("c.swf", {"-i", matroska, "-c:v", "flv"});
  std::filesystem::rename(flash, path("c.nonesuch"));
  const Outcome outcome = limpid(denoise({matroska, mp4, path("c.nonesuch"), "-o", path("out"), "--json"}));
  expect_success(outcome);
  EXPECT_EQ(files_in("out"), (std::vector<std::string>{"a.mkv", "b.mp4", "c.mkv"}));
  const nlohmann::json reports = nlohmann::json::parse(outcome.out)["files"];
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[1]["output"], path("out/b.mp4"));
  for (const nlohmann::json& report : reports) {
    EXPECT_EQ(report["frames"], 3);
  }
  EXPECT_NE(outcome.err.find("3 files denoised, 0 skipped, 0 failed"), std::string::npos) << outcome.err;

  expect_success(limpid(denoise({mp4, "-o", path("out2/"), "-c", "ffv1"})));
  EXPECT_EQ(files_in("out2"), (std::vector<std::string>{"b.mkv"})) << "mp4 holds no ffv1";
}

TEST_F(JobsTest, FolderYieldsItsMediaInOrderAndNamesOtherFiles) {
  std::filesystem::create_directories(path("in/more"));
  make_clip("in/b.mkv", 2);
  make_clip("in/more/d.mkv", 1);
  make("in/a.png", {"-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "1"});
  make("in/c.wav", {"-f", "lavfi", "-i", "sine=duration=0.1"});
  write_file(path("in/notes.txt"), "not a video");
  const Outcome outcome = limpid(denoise({path("in"), "-o", path("out")}));
  expect_success(outcome);
  EXPECT_EQ(files_in("out"), (std::vector<std::string>{"a.png", "b.mkv"}));
  EXPECT_LT(outcome.err.find("in/a.png (1 of 4)"), outcome.err.find("in/b.mkv (2 of 4)"));
  for (const char* part : {"skipped: ", "in/c.wav: has no video", "in/notes.txt: no video",
                           "in/more: skipped", "2 files denoised, 2 skipped, 0 failed"}) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
  }
}

TEST_F(JobsTest, AFailureIsToldAndTheOthersGoOn) {
  std::filesystem::create_directory(path("in"));
  const std::string whole = make_clip("in/whole.mkv", 2);
  const std::string cut = make("in/cut.mp4", {"-i", whole, "-c:v", "libx264"});
  write_file(cut, read_file(cut).substr(0, 300));
  const Outcome outcome = limpid(denoise({path("in"), path("absent.mkv"), "-o", path("out"), "--json"}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(files_in("out"), (std::vector<std::string>{"whole.mkv"}));
  const nlohmann::json reports = nlohmann::json::parse(outcome.out)["files"];
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_NE(reports[0]["error"].get<std::string>().find("cut.mp4"), std::string::npos);
  EXPECT_EQ(reports[1]["frames"], 2);
  EXPECT_NE(reports[2]["error"].get<std::string>().find("absent.mkv"), std::string::npos);
  EXPECT_EQ(lines(outcome.err).back(), "limpid: 1 file denoised, 0 skipped, 2 failed");
}

TEST_F(JobsTest, ABatchHasATableAndTotals) {
  std::filesystem::create_directory(path("in"));
  make_clip("in/a, b.mkv", 2);
  write_file(path("in/c.mkv"), "not a video");
  const Outcome outcome =
      limpid(denoise({path("in"), "-o", path("out"), "--json", "--csv", path("table.csv")}));
  EXPECT_EQ(outcome.exit_code, 1);
  const nlohmann::json printed = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(printed["status"], "failed");
  EXPECT_EQ(printed["totals"]["inputs"], 2);
  EXPECT_EQ(printed["totals"]["done"], 1);
  EXPECT_EQ(printed["totals"]["failed"], 1);
  EXPECT_EQ(printed["totals"]["frames"], 2);
  EXPECT_EQ(printed["files"][0]["status"], "done");
  EXPECT_EQ(printed["files"][1]["status"], "failed");
  const std::vector<std::string> table = lines(read_file(path("table.csv")));
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0], "input,output,status,frames,seconds,fps,bytes,sigma,warnings,error");
  EXPECT_EQ(table[1].find("\"" + path("in/a, b.mkv") + "\",\"" + path("out/a, b.mkv") + "\",done,2,"), 0U)
      << table[1];
  EXPECT_NE(table[2].find(",failed,,,,,,,"), std::string::npos) << table[2];
  expect_failure(limpid(denoise({path("in"), "-o", path("out2"), "--csv", path("table.csv")})), 1,
                 {"table.csv: exists; -y overwrites it"});
}

TEST_F(JobsTest, ABatchThatIsStartedAgainSucceeds) {
  std::filesystem::create_directory(path("in"));
  for (const char* name : {"in/a.mkv", "in/b.mkv"}) {
    make_clip(name, 2);
  }
  const Outcome first = limpid(denoise({path("in"), "-o", path("out")}));
  expect_success(first);
  EXPECT_NE(first.err.find("b.mkv (2 of 2; about "), std::string::npos) << first.err;
  EXPECT_NE(first.err.find(" left for all files)"), std::string::npos) << first.err;
  const Outcome again = limpid(denoise({path("in"), "-o", path("out")}));
  expect_success(again);
  EXPECT_NE(again.err.find("0 files denoised, 2 skipped, 0 failed (2 exist; -y overwrites them)"),
            std::string::npos)
      << again.err;
}

TEST_F(JobsTest, AnOutputWithoutANameIsBesideItsInput) {
  const std::string input = make_clip("noisy.mkv", 2);
  for (const char* name : {"noisy-denoised.mkv", "noisy-denoised-2.mkv"}) {
    const Outcome outcome = limpid(denoise({input}));
    expect_success(outcome);
    EXPECT_TRUE(std::filesystem::exists(path(name)));
    EXPECT_NE(outcome.err.find("output: " + path(name)), std::string::npos) << outcome.err;
  }
  const Outcome skipped = limpid(denoise({input, "-n"}));
  expect_success(skipped);
  EXPECT_NE(skipped.err.find("skipped: " + path("noisy-denoised.mkv")), std::string::npos) << skipped.err;
  expect_success(limpid(denoise({input, "-y", "--resume"})));
  EXPECT_EQ(files(), (std::vector<std::string>{"noisy-denoised-2.mkv", "noisy-denoised.mkv", "noisy.mkv"}));
  expect_failure(limpid(denoise({"-"})), 2, {"standard input: the output is missing; add -o OUTPUT"});
  expect_failure(limpid(denoise({folder().string()})), 2, {"add -o FOLDER"});
  expect_failure(limpid(denoise({path("img_%03d.png")})), 2, {"the output is missing"});
}

TEST_F(JobsTest, ReportsNameFilesOfAnyBytes) {
  const std::string name = path("caf\xe9.mkv");  // Latin-1
  std::filesystem::rename(make_clip("in.mkv", 2), name);
  const Outcome outcome = limpid(denoise({name, "-o", path("out.mkv"), "--json"}));
  expect_success(outcome);
  const std::string input = nlohmann::json::parse(outcome.out)["input"];
  EXPECT_NE(input.find("caf\xef\xbf\xbd.mkv"), std::string::npos) << input;
}

TEST_F(JobsTest, NoOutputIsAnInputOrAnotherOutput) {
  for (const char* folder : {"x", "y"}) {
    std::filesystem::create_directory(path(folder));
    make_clip(std::string(folder) + "/a.mkv", 1);
  }
  const std::string before = read_file(path("x/a.mkv"));
  const Outcome itself = limpid(denoise({path("x"), "-o", path("x"), "-y"}));
  EXPECT_EQ(itself.exit_code, 1);
  EXPECT_NE(itself.err.find("x/a.mkv: is the input itself"), std::string::npos) << itself.err;
  EXPECT_EQ(read_file(path("x/a.mkv")), before);

  const Outcome twice = limpid(denoise({path("x"), path("y"), "-o", path("out"), "-y"}));
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_NE(twice.err.find("y/a.mkv: its output " + path("out/a.mkv")), std::string::npos) << twice.err;
  EXPECT_EQ(files_in("out"), (std::vector<std::string>{"a.mkv"}));
}

TEST_F(JobsTest, AfterCtrlCTheRestIsDoneAndWhatIsWholeIsSkipped) {
  const std::string long_one = make("b.mkv", {"-f", "lavfi", "-i", "testsrc2=size=320x240:duration=40",
                                              "-c:v", "libx264", "-preset", "ultrafast"});
  const std::string first = make_clip("a.mkv", 2);
  const std::string last = make_clip("c.mkv", 2);
  const std::vector<std::string> arguments =
      denoise({first, long_one, last, "-o", path("out"), "--json", "--progress", "json", "--engine", "cpu",
               "--threads", "1"});
  Process process(limpid_command(arguments));
  ASSERT_TRUE(process.wait_for_frames(long_one));
  process.send_signal(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(files_in("out"), (std::vector<std::string>{"a.mkv", "b.partial.mkv"}));
  EXPECT_GT(frame_count(path("out/b.partial.mkv")), 0U);
  const nlohmann::json reports = nlohmann::json::parse(outcome.out)["files"];
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0]["complete"], true);
  EXPECT_EQ(reports[1]["complete"], false);
  EXPECT_EQ(reports[1]["output"], path("out/b.partial.mkv"));
  EXPECT_EQ(lines(outcome.err).back(), "1 file denoised, 0 skipped, 0 failed, 1 partial, 1 not started");

  std::filesystem::copy_file(first, long_one, std::filesystem::copy_options::overwrite_existing);
  std::vector<std::string> resumed = arguments;
  resumed.emplace_back("-n");
  const Outcome second = limpid(resumed);
  expect_success(second);
  EXPECT_EQ(files_in("out"), (std::vector<std::string>{"a.mkv", "b.mkv", "b.partial.mkv", "c.mkv"}));
  EXPECT_EQ(lines(second.err).back(), "2 files denoised, 1 skipped, 0 failed");
  EXPECT_NE(second.err.find(path("out/b.partial.mkv") + ": is left from an interrupted run"),
            std::string::npos)
      << second.err;
  EXPECT_EQ(nlohmann::json::parse(second.out)["files"][0]["skipped"], path("out/a.mkv") + ": exists");

  const Outcome third = limpid(resumed);
  expect_success(third);
  EXPECT_EQ(lines(third.err).back(), "0 files denoised, 3 skipped, 0 failed");
  EXPECT_EQ(third.err.find(" -y"), std::string::npos) << third.err;
}

}  // namespace
}  // namespace limpid::test
