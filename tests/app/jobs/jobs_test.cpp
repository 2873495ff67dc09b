// SPDX-License-Identifier: MIT
// Plans, claims and shares of jobs on several machines.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/jobs/job_folder.h"
#include "app/jobs/plan.h"
#include "app/jobs/work.h"
#include "core/base/error.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

using test::TemporaryFolder;

TEST(Segments, EndWhereScenesDoAndCoverAll) {
  using Ends = std::vector<std::int64_t>;
  EXPECT_EQ(ends_of_segments(100, 25, {}), (Ends{25, 50, 75, 100}));
  EXPECT_EQ(ends_of_segments(100, 40, {}), (Ends{40, 80, 100}));
  EXPECT_EQ(ends_of_segments(50, 40, {}), (Ends{50})) << "a short rest belongs to the segment before";
  EXPECT_EQ(ends_of_segments(100, 40, {31, 38, 45, 90}), (Ends{38, 78, 100}))
      << "the nearest cut, not farther than a quarter";
  EXPECT_EQ(ends_of_segments(3, 1, {}), (Ends{1, 2, 3}));
  EXPECT_EQ(ends_of_segments(1, 250, {}), (Ends{1}));
}

TEST(Shares, EverySegmentHasOneWorker) {
  EXPECT_EQ(segments_of({.index = 3}, 5), (std::vector<int>{3}));
  EXPECT_EQ(segments_of({.index = 1, .of = 3}, 8), (std::vector<int>{1, 4, 7}));
  EXPECT_TRUE(segments_of({.index = 7, .of = 9}, 5).empty());
  EXPECT_THROW(segments_of({.index = 5}, 5), UsageError);
  EXPECT_THROW(segments_of({.index = 3, .of = 3}, 5), UsageError);
}

TEST(Shares, AreToldBySchedulers) {
  const auto share = [](std::map<std::string, std::string> variables) {
    return share_of_array([&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_FALSE(share({}));
  EXPECT_FALSE(share({{"SLURM_ARRAY_TASK_ID", ""}}));
  EXPECT_EQ(share({{"SLURM_ARRAY_TASK_ID", "7"}})->index, 7);
  EXPECT_EQ(share({{"JOB_COMPLETION_INDEX", "0"}})->of, 0);
  const auto aws = share({{"AWS_BATCH_JOB_ARRAY_INDEX", "4"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "10"}});
  EXPECT_EQ(aws->index, 4);
  EXPECT_EQ(aws->of, 10);
  EXPECT_THROW(share({{"SLURM_ARRAY_TASK_ID", "seven"}}), UsageError);
}

class JobFolderTest : public testing::Test {
 protected:
  void SetUp() override { job.create(); }
  TemporaryFolder temporary;
  JobFolder job{(temporary.path() / "job").string()};
};

TEST_F(JobFolderTest, APlanComesBackToTheBit) {
  Plan plan;
  plan.program = program_version();
  plan.settings.filter = {.name = "bilateral",
                          .profile = {},
                          .parameters = {{"radius", 3}, {"range-sigma", 0.1F}, {"mode", std::string("x")}}};
  plan.settings.fields = FieldChoice::kInterlaced;
  plan.settings.reader.start = 0.1;
  plan.settings.reader.options = {{"framerate", "25"}};
  plan.settings.writer.crf = "18";
  plan.settings.writer.encoder_options = {{"tune", "grain"}};
  plan.settings.frames = 12;
  plan.inputs = {{.path = "/a.mkv",
                  .bytes = 5,
                  .fingerprint = 0xFFFFFFFFFFFFFFFFU,
                  .frames = 12,
                  .decoder_threads = 3,
                  .still_picture = false,
                  .joined = true}};
  plan.segments = {{.input = 0, .first = 0, .frames = 7}, {.input = 0, .first = 7, .frames = 5}};
  write_plan(job, plan);
  const Plan read = read_plan(job);
  EXPECT_EQ(to_json(read.settings), to_json(plan.settings));
  EXPECT_EQ(read.settings.filter.parameters, plan.settings.filter.parameters);
  EXPECT_EQ(read.settings.fields, FieldChoice::kInterlaced);
  EXPECT_EQ(read.settings.writer.frames, 12);
  ASSERT_EQ(read.inputs.size(), 1U);
  EXPECT_EQ(read.inputs[0].fingerprint, plan.inputs[0].fingerprint);
  EXPECT_TRUE(read.inputs[0].joined);
  ASSERT_EQ(read.segments.size(), 2U);
  EXPECT_EQ(read.segments[1].first, 7);
}

TEST_F(JobFolderTest, LevelsOfNoiseComeBackToTheBit) {
  FrameLevel level{NoiseModel{.sigma = {0.1F, 1e-30F, 7}, .shape = {}, .opponent = {}}};
  level.shape[1].spectrum[5] = 1.0F / 3;
  level.shape[2].curve[0] = -0.0F;
  level.shape[2].repetition = 0.3F;
  SegmentPlan plan{.position = 3,
                   .seek = 0.1 + 0.2,
                   .before = 1,
                   .frames = 1,
                   .after = 1,
                   .checks = {1, 0xFEDCBA9876543210U, 0},
                   .levels = {{0, FrameLevel{NoiseModel{{1, 2, 3}}}}, {2, level}},
                   .mix = 0.3F,
                   .fields = {true, false, true}};
  level.opponent[1] = {.sigma = 0.7F, .shape = level.shape[1]};
  level.area = Region{.x = 16, .y = 0, .width = 64, .height = 48};
  level.defects = {.pixels = {{1, 7, 9}}, .lines = {{{0.1F, 0}, {0, 2}, {0, 0}}}};
  plan.levels[1].second = level;
  plan.repair = Repair::kAll;
  write_job_file(job.segment(4), to_json(plan).dump());
  const SegmentPlan read = read_segment_plan(job, 4, 1);
  EXPECT_EQ(read.seek, plan.seek);
  EXPECT_EQ(read.checks, plan.checks);
  EXPECT_EQ(read.levels, plan.levels);
  EXPECT_EQ(read.repair, plan.repair);
  EXPECT_EQ(read.mix, plan.mix);
  EXPECT_EQ(read.fields, plan.fields);
}

TEST_F(JobFolderTest, FilesThatAreNoneAreNamed) {
  EXPECT_THROW(read_plan(job), Error);
  std::ofstream(job.plan()) << "{";
  EXPECT_THROW(read_plan(job), Error);
  std::ofstream(job.plan()) << "{}";
  EXPECT_THROW(read_plan(job), Error);
  std::ofstream(job.segment(0)) << R"({"position": 0, "seek": null, "before": 0, "frames": 2, "after": 0,)"
                                << R"( "checks": "00", "levels": []})";
  EXPECT_THROW(read_segment_plan(job, 0, 2), Error);
}

/// The message with which `read` fails.
template <typename Read>
std::string sentence_of(const Read& read) {
  try {
    read();
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

Plan small_plan() {
  Plan plan{.program = program_version(), .settings = {}, .inputs = {}, .segments = {}};
  plan.settings.filter = {.name = "bilateral", .profile = {}, .parameters = {{"radius", 3}}};
  plan.inputs = {{.path = "/a.mkv", .bytes = 5, .fingerprint = 1, .frames = 12}};
  plan.segments = {{.input = 0, .first = 0, .frames = 7}, {.input = 0, .first = 7, .frames = 5}};
  return plan;
}

TEST_F(JobFolderTest, InvalidPlansAreReportedInOneSentence) {
  write_plan(job, small_plan());
  const nlohmann::ordered_json whole = nlohmann::ordered_json::parse(std::ifstream(job.plan()));
  const auto refusal = [&](const char* place, const char* value) {
    nlohmann::ordered_json changed = whole;
    changed[nlohmann::ordered_json::json_pointer(place)] = nlohmann::ordered_json::parse(value);
    std::ofstream(job.plan()) << changed;
    const std::string sentence = sentence_of([&] { read_plan(job); });
    EXPECT_TRUE(sentence.starts_with(job.plan() + ": ")) << sentence;
    return sentence.substr(std::min(sentence.size(), job.plan().size() + 2));
  };
  EXPECT_EQ(refusal("/segments/1/0", "-1"), R"("segments[1][0]" must be 0)");
  EXPECT_EQ(refusal("/segments/1/0", "1.5e+78"), R"("segments[1][0]" must be 0)");
  EXPECT_EQ(refusal("/segments/1", "[0, 7]"), R"("segments[1]" must be an array of 3 elements)");
  EXPECT_EQ(refusal("/segments/1/1", "12"), R"("segments[1][1]" must be an integer from 0 to 11)");
  EXPECT_EQ(refusal("/segments/1/2", "6"), R"("segments[1][2]" must be an integer from 1 to 5)");
  EXPECT_EQ(refusal("/inputs", "[]"), R"("inputs" must have an input)");
  EXPECT_EQ(refusal("/inputs/0/path", "5"), R"("inputs[0].path" must be a text)");
  EXPECT_EQ(refusal("/inputs/0/decoder_threads", "2000000000"),
            R"("inputs[0].decoder_threads" must be an integer from 0 to 1024)");
  EXPECT_EQ(refusal("/settings/encoder_threads", "2000000000"),
            R"("settings.encoder_threads" must be an integer from 0 to 1024)");
  EXPECT_EQ(refusal("/settings/filter/parameters/radius", "1000000000000000"),
            R"("settings.filter.parameters.radius" must be an integer from -2147483648 to 2147483647)");
  EXPECT_EQ(refusal("/settings/filter/parameters/radius", "[1]"),
            R"("settings.filter.parameters.radius" must be a text)");
  EXPECT_EQ(refusal("/settings/reader/start", "1e300"),
            R"("settings.reader.start" must be a number from -1e+12 to 1e+12)");
  EXPECT_EQ(refusal("/settings/writer", "null"), R"("settings.writer" is missing)");
  EXPECT_EQ(refusal("/settings", "[]"), R"("settings" must be an object)");
  std::ofstream(job.plan()) << R"({"noise": )" << std::string(200000, '[');
  EXPECT_EQ(sentence_of([&] { read_plan(job); }), job.plan() + ": is nested deeper than 64 levels");
}

TEST_F(JobFolderTest, PlansAreRegularFiles) {
  ASSERT_EQ(::mkfifo(job.plan().c_str(), 0666), 0);
  EXPECT_EQ(sentence_of([&] { read_plan(job); }), job.plan() + ": is not a regular file");
  std::filesystem::remove(job.plan());
  std::filesystem::create_directory(job.plan());
  EXPECT_EQ(sentence_of([&] { read_plan(job); }), job.plan() + ": is a folder, not a file");
  std::filesystem::remove(job.plan());
  std::filesystem::create_symlink("/dev/zero", job.plan());
  EXPECT_EQ(sentence_of([&] { read_plan(job); }), job.plan() + ": is not a regular file");
}

TEST_F(JobFolderTest, InvalidSegmentsAreReportedInOneSentence) {
  const SegmentPlan plan{.position = 0,
                         .seek = {},
                         .before = 0,
                         .frames = 2,
                         .after = 0,
                         .checks = {1, 2},
                         .levels = {{0, FrameLevel{NoiseModel{{1, 2, 3}}}}},
                         .fields = {false, true}};
  const auto refusal = [&](const char* place, const char* value) {
    nlohmann::ordered_json changed = to_json(plan);
    changed[nlohmann::ordered_json::json_pointer(place)] = nlohmann::ordered_json::parse(value);
    std::ofstream(job.segment(0)) << changed;
    return sentence_of([&] { read_segment_plan(job, 0, 2); });
  };
  const std::string file = job.segment(0) + ": ";
  EXPECT_EQ(refusal("/before", "0"), "none");
  EXPECT_EQ(refusal("/before", "9223372036854775807"),
            file + R"("before" must be an integer from 0 to 281474976710656)");
  EXPECT_EQ(refusal("/checks", "\"00\""), file + R"("checks" must be hashes of 16 hexadecimal digits each)");
  EXPECT_EQ(refusal("/checks", "\"0000000000000001\""), file + R"("checks" must have a hash of each frame)");
  EXPECT_EQ(refusal("/levels", "[]"), file + R"("levels" must have a noise level)");
  EXPECT_EQ(refusal("/levels/0/1/numbers", "[]"),
            file + R"("levels[0][1].numbers" must be an array of 510 elements)");
  EXPECT_EQ(refusal("/levels/0/1/numbers/2", "1e39"),
            file + R"("levels[0][1].numbers[2]" must be a number from -3.40282e+38 to 3.40282e+38)");
  EXPECT_EQ(refusal("/mix", "2"), file + R"("mix" must be a number from 0 to 1)");
  std::ofstream(job.segment(0)) << to_json(plan);
  EXPECT_EQ(sentence_of([&] { read_segment_plan(job, 0, 3); }),
            file + R"("frames" must be 3, as in plan.json)");
}

/// A plan whose segment 3 has so many results.
Plan plan_of_results(std::int64_t frames) {
  Plan plan;
  plan.segments.resize(4, {.frames = frames});
  plan.digest = 7;
  return plan;
}

TEST_F(JobFolderTest, NamesFromFilesStayInTheFolder) {
  for (const char* name : {"00000-host-12-0123abcd.packets", "a", "A_b-c.d"}) {
    EXPECT_TRUE(is_plain_name(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../a"), std::string("a/b"),
        std::string("/etc/passwd"), std::string(".hidden"), std::string("a b"), std::string("a\0b", 3),
        std::string("\xC3\xA4"), std::string(256, 'a')}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
    EXPECT_THROW(static_cast<void>(job.data(name)), Error) << name;
    EXPECT_THROW(static_cast<void>(job.beacon(name)), Error) << name;
  }
  DoneSegment done{.file = "../plan.json", .hashes = {1}, .engine = "cpu", .worker = "w"};
  write_job_file(job.done(3), to_json(done).dump());
  EXPECT_EQ(sentence_of([&] { read_done(job, plan_of_results(1), 3); }),
            job.done(3) + R"(: "file" must be the name of a file in the folder data)");
}

TEST_F(JobFolderTest, OnlyNamesThatLimpidGivesAreNumbers) {
  for (const char* name :
       {"00001.claim", "2.claim", "-0003.claim", "00004.claims", "00005.claim.x", "123456.claim"}) {
    std::ofstream(job.path() + "/claims/" + name).flush();
  }
  EXPECT_EQ(job.numbers_in("claims"), (std::set<int>{1, 123456}));
  std::filesystem::remove_all(job.path() + "/claims");
  EXPECT_TRUE(job.numbers_in("claims").empty()) << "copying a job may lose empty folders";
}

TEST_F(JobFolderTest, AResultThatDoesNotFitItsRecordOrThePlanIsDamaged) {
  const DoneSegment done{.file = "f",
                         .bytes = 4,
                         .hashes = {1, 2},
                         .plan = 7,
                         .reordering = 2,
                         .engine = "cpu",
                         .worker = "w",
                         .seconds = 1};
  EXPECT_FALSE(read_done(job, plan_of_results(2), 3));
  write_job_file(job.done(3), to_json(done).dump());
  const auto damage = [&](std::int64_t frames) {
    return sentence_of([&] { read_done(job, plan_of_results(frames), 3); });
  };
  EXPECT_EQ(damage(2), job.data("f") + ": can't read it: No such file or directory");
  std::ofstream(job.data("f")) << "abc";
  EXPECT_EQ(damage(2), job.data("f") + ": has 3 bytes instead of 4");
  std::ofstream(job.data("f")) << "abcd";
  ASSERT_TRUE(read_done(job, plan_of_results(2), 3));
  EXPECT_EQ(read_done(job, plan_of_results(2), 3)->hashes, done.hashes);
  EXPECT_EQ(damage(3), job.done(3) + R"(: "hashes" must have 3 hashes, one per frame of the segment)");
  Plan other = plan_of_results(2);
  other.digest = 8;
  EXPECT_EQ(sentence_of([&] { read_done(job, other, 3); }), job.done(3) + ": is a result of another plan");
}

TEST_F(JobFolderTest, TheDigestOfAPlanIsThatOfItsFile) {
  write_plan(job, small_plan());
  const std::uint64_t digest = read_plan(job).digest;
  EXPECT_EQ(read_plan(job).digest, digest);
  std::ofstream(job.plan(), std::ios::app) << " ";
  EXPECT_NE(read_plan(job).digest, digest);
}

TEST_F(JobFolderTest, OneProcessAtATimeHoldsTheLock) {
  const std::optional<FileDescriptor> lock = job.lock();
  ASSERT_TRUE(lock);
  EXPECT_EQ(sentence_of([&] { job.lock(); }),
            job.path() + ": another limpid works in this folder; wait until it ends");
}

TEST_F(JobFolderTest, SubfoldersThatAreLinksAreRefused) {
  const test::TemporaryFolder outside;
  for (const char* part : {"segments", "done", "failed", "claims", "workers", "data", "merged"}) {
    const std::string folder = job.path() + "/" + part;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory_symlink(outside.path(), folder);
    for (const std::string& sentence :
         {sentence_of([&] { job.create(); }), sentence_of([&] { read_plan(job); })}) {
      EXPECT_EQ(sentence, folder + ": is a symbolic link; the subfolders of a job must be folders");
    }
    std::filesystem::remove(folder);
  }
  EXPECT_TRUE(outside.files().empty());
}

TEST_F(JobFolderTest, GapsAreNamed) {
  Plan plan;
  plan.segments.resize(9);
  for (Segment& segment : plan.segments) {
    segment.frames = 1;
  }
  const DoneSegment done{.file = "f", .bytes = 0, .hashes = {1}, .engine = "cpu", .worker = "w"};
  std::ofstream(job.data("f")).flush();
  for (const int number : {0, 3, 8}) {
    write_job_file(job.done(number), to_json(done).dump());
  }
  EXPECT_EQ(missing_segments(job, plan), "6 of 9 segments are missing: 2 to 3, 5 to 8");
  for (const int number : {1, 4, 5, 6, 7}) {
    write_job_file(job.done(number), to_json(done).dump());
  }
  write_job_file(job.done(2), "{}");
  EXPECT_EQ(missing_segments(job, plan), "1 of 9 segments are missing or damaged: 3");
  write_job_file(job.done(2), to_json(done).dump());
  EXPECT_EQ(missing_segments(job, plan), "");
}

TEST_F(JobFolderTest, NothingIsLeftOfAFileThatCantBeWritten) {
  std::filesystem::remove_all(job.path() + "/done");
  EXPECT_THROW(write_job_file(job.done(0), "text"), Error);
  std::filesystem::create_directory(job.path() + "/done");
  write_job_file(job.done(0), "text");
  write_job_file(job.done(0), "other");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(job.path() + "/done"), {}), 1);
}

class ClaimsTest : public JobFolderTest {
 protected:
  /// A claim of another worker, whose process is on another machine, touched `seconds_ago`.
  void claim_as_other(int segment, int seconds_ago,
                      const char* text = R"({"worker": "other", "process": 1, "space": "elsewhere"})") const {
    std::ofstream(job.claim(segment)) << text;
    const timespec time{::time(nullptr) - seconds_ago, 0};
    const std::array<timespec, 2> times{time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, job.claim(segment).c_str(), times.data(), 0), 0);
  }
};

TEST_F(ClaimsTest, OneWorkerHasASegmentUntilItGivesItBack) {
  Claims one(job, 60);
  Claims other(job, 60);
  EXPECT_TRUE(one.take(5));
  EXPECT_TRUE(other.is_taken(5));
  EXPECT_FALSE(other.take(5));
  EXPECT_TRUE(other.take(6));
  one.give_back();
  EXPECT_FALSE(other.is_taken(5));
  EXPECT_EQ(job.numbers_in("claims"), (std::set<int>{6}));
}

TEST_F(ClaimsTest, TheDeadLoseTheirsAndWhatTheyHadBegun) {
  Claims claims(job, 60);
  claim_as_other(1, 30);
  EXPECT_TRUE(claims.is_taken(1));
  EXPECT_FALSE(claims.take(1));
  claim_as_other(1, 90);
  std::ofstream(job.data("00001-other.tmp")) << "half";
  EXPECT_FALSE(claims.is_taken(1));
  EXPECT_TRUE(claims.take(1));
  EXPECT_FALSE(file_exists(job.data("00001-other.tmp")));
  EXPECT_TRUE(Claims(job, 60).is_taken(1));
}

TEST_F(ClaimsTest, AProcessThatIsGoneFromThisMachineIsDeadAtOnce) {
  {
    Claims claims(job, 60);
    ASSERT_TRUE(claims.take(2));
    std::filesystem::copy_file(job.claim(2), job.claim(3));
  }
  std::string text;
  std::getline(std::ifstream(job.claim(3)), text);
  Claims claims(job, 60);
  EXPECT_TRUE(claims.is_taken(3)) << "this process lives";
  const std::string own = "\"process\":" + std::to_string(::getpid());
  ASSERT_NE(text.find(own), std::string::npos) << text;
  text.replace(text.find(own), own.size(), "\"process\":" + std::to_string((1 << 22) + 1));  // the number of
                                                                                             // no process
  std::ofstream(job.claim(3)) << text << '\n';
  EXPECT_FALSE(claims.is_taken(3));
  EXPECT_TRUE(claims.take(3));
}

TEST_F(ClaimsTest, AWorkerThatWasKilledBeforeItWroteItsNameIsNotWaitedForLong) {
  Claims claims(job, 60);
  claim_as_other(4, 2, "");
  EXPECT_TRUE(claims.is_taken(4)) << "it may be about to write";
  claim_as_other(4, 12, "");
  EXPECT_FALSE(claims.is_taken(4));
  EXPECT_TRUE(claims.take(4));
}

TEST_F(ClaimsTest, ADamagedClaimIsOneWithoutAName) {
  Claims claims(job, 60);
  const std::string deep(5000, '[');
  const std::string long_name =
      R"({"worker": ")" + std::string(255, 'a') + R"(", "process": 1, "space": ""})";
  for (const char* text :
       {R"({"worker": 5})", "5", "[]", R"({"worker": "other"})", deep.c_str(), long_name.c_str(), "{", "\xFF",
        R"({"worker": "other", "process": 1e300, "space": ""})",
        R"({"worker": "other", "process": -1, "space": ""})",
        R"({"worker": "a/b", "process": 1, "space": ""})"}) {
    claim_as_other(4, 2, text);
    EXPECT_TRUE(claims.is_taken(4)) << text;
    claim_as_other(4, 12, text);
    EXPECT_FALSE(claims.is_taken(4)) << text;
    EXPECT_TRUE(claims.take(4)) << text;
    claims.give_back();
    EXPECT_FALSE(file_exists(job.claim(4))) << text;
  }
}

TEST_F(ClaimsTest, NothingOutsideOfTheJobIsRemoved) {
  const std::string victim = (temporary.path() / "keep.tmp").string();
  std::ofstream(victim) << "precious";
  std::filesystem::create_directory(job.path() + "/data/00001-x");
  claim_as_other(1, 9999, R"({"worker": "x/../../../keep", "process": 4194305, "space": "elsewhere"})");
  Claims claims(job, 60);
  EXPECT_TRUE(claims.take(1));
  EXPECT_TRUE(file_exists(victim));
}

TEST_F(ClaimsTest, PathsThatAreNoFilesAreNotWaitedFor) {
  Claims claims(job, 60);
  const std::string victim = (temporary.path() / "keep").string();
  std::ofstream(victim) << "precious";
  ASSERT_EQ(::mkfifo(job.claim(1).c_str(), 0666), 0);
  std::filesystem::create_directory(job.claim(2));
  std::filesystem::create_symlink(victim, job.claim(3));
  const std::array<timespec, 2> old{timespec{1000, 0}, timespec{1000, 0}};
  for (const int segment : {1, 2}) {
    ASSERT_EQ(::utimensat(AT_FDCWD, job.claim(segment).c_str(), old.data(), 0), 0);
  }
  for (const int segment : {1, 2, 3}) {
    EXPECT_FALSE(claims.is_taken(segment)) << segment;
    EXPECT_TRUE(claims.take(segment)) << segment;
    claims.give_back();
    EXPECT_FALSE(file_exists(job.claim(segment))) << segment;
  }
  EXPECT_EQ(std::filesystem::file_size(victim), 8U);
}

TEST_F(ClaimsTest, ATimeInTheFutureIsNoSignOfLife) {
  Claims claims(job, 60);
  claim_as_other(1, -3600);
  EXPECT_FALSE(claims.is_taken(1));
}

TEST_F(ClaimsTest, ASchedulerDecidesAgainstAClaim) {
  claim_as_other(1, 0);
  std::ofstream(job.data("00001-other.tmp")) << "half";
  Claims claims(job, 60);
  EXPECT_TRUE(claims.take(1, true));
  EXPECT_TRUE(file_exists(job.data("00001-other.tmp"))) << "it may live";
}

TEST_F(ClaimsTest, LosingOneClaimKeepsTheOthers) {
  Claims claims(job, 60);
  ASSERT_TRUE(claims.take(1));
  EXPECT_FALSE(claims.is_lost());
  claim_as_other(1, 0);
  EXPECT_TRUE(claims.is_lost());
  claims.give_back();
  EXPECT_TRUE(claims.is_taken(1));
}

TEST_F(ClaimsTest, AClaimThatCannotBeReadIsLostIfItIsAnotherFile) {
  Claims claims(job, 60);
  ASSERT_TRUE(claims.take(1));
  std::ofstream(job.claim(1)) << "";
  EXPECT_FALSE(claims.is_lost()) << "as after a full disk";
  std::ofstream(job.path() + "/other") << "";
  std::filesystem::rename(job.path() + "/other", job.claim(1));
  EXPECT_TRUE(claims.is_lost());
}

TEST_F(ClaimsTest, AreTouchedWhileTheWorkerLives) {
  Claims claims(job, 0.8);
  ASSERT_TRUE(claims.take(1));
  claim_as_other(1, 3600);
  EXPECT_FALSE(claims.is_taken(1));
  for (int i = 0; i < 200 && !claims.is_taken(1); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(claims.is_taken(1));
}

}  // namespace
}  // namespace limpid::app
