// SPDX-License-Identifier: MIT
// limpid plan, work, merge and status: the result is that of a single run for any number of workers and
// segments.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using Arguments = std::vector<std::string>;

class SharedJobsTest : public ProgramTest {
 protected:
  static Arguments joined(Arguments first, const Arguments& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
  /// Hashes and times of all pictures and packets, and the other contents.
  std::string content_of(const std::string& file) const {
    const Outcome frames = run({"ffmpeg", "-v", "error", "-i", file, "-map", "0", "-c", "copy", "-c:v",
                                "rawvideo", "-f", "framemd5", "-"});
    const Outcome rest = run({"ffprobe", "-v", "error", "-show_chapters", "-show_entries",
                              "stream=codec_name,time_base,pix_fmt,field_order:format_tags=title", file});
    EXPECT_NE(frames.out, "");
    return frames.out + rest.out;
  }
  /// A scene with changes, audio, a subtitle, a chapter and a title.
  std::string make_film() const {
    write_file(path("sub.srt"), "1\n00:00:00,100 --> 00:00:00,500\nWords\n");
    write_file(path("tags.txt"),
               ";FFMETADATA1\ntitle=A film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=400\ntitle=One\n");
    const std::string picture =
        "testsrc2=size=96x80:rate=25:duration=0.36[a];gradients=size=96x80:rate=25:duration=0.24:seed=1[b];"
        "[a][b]concat,noise=alls=20:allf=t";
    return make("film.mkv", {"-f",
                             "lavfi",
                             "-i",
                             picture,
                             "-f",
                             "lavfi",
                             "-i",
                             "sine=duration=0.6",
                             "-i",
                             path("sub.srt"),
                             "-i",
                             path("tags.txt"),
                             "-map",
                             "0",
                             "-map",
                             "1",
                             "-map",
                             "2",
                             "-map_metadata",
                             "3",
                             "-c:v",
                             "libx264",
                             "-g",
                             "9",
                             "-pix_fmt",
                             "yuv420p",
                             "-c:a",
                             "flac",
                             "-c:s",
                             "srt"});
  }
  /// Waits until a worker has begun to write.
  static void wait_for_data(const std::string& job) {
    for (int i = 0; i < 3000 && std::filesystem::is_empty(job + "/data"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_FALSE(std::filesystem::is_empty(job + "/data"));
  }
  std::string plan(const std::string& clip, const std::string& job, const Arguments& more) const {
    expect_success(limpid(joined({"plan", clip, "-o", path(job)}, more)));
    return path(job);
  }
  /// Segments of 8 frames, at least seven, and a run that is killed and resumed give what one run gives.
  void expect_segments_equal_one_run(const std::string& film) const {
    const Arguments quick{"--filter", "vbm4d", "--profile", "fast", "--reach", "1", "-c", "ffv1"};
    expect_success(limpid(joined({"denoise", film, "-o", path("one.mkv")}, quick)));
    const std::string expected = content_of(path("one.mkv"));

    const std::string job = plan(film, "job", joined(quick, {"--segment-frames", "8"}));
    expect_success(limpid({"work", job}));
    EXPECT_GE(nlohmann::json::parse(limpid({"status", job, "--json"}).out)["done"], 7);
    expect_success(limpid({"merge", job, "-o", path("merged.mkv")}));
    EXPECT_EQ(content_of(path("merged.mkv")), expected);

    const Arguments resumed = joined(
        {"denoise", film, "-o", path("resumed.mkv"), "--resume", "--segment-frames", "8", "--threads", "1"},
        quick);
    {
      Process killed(limpid_command(resumed));
      EXPECT_TRUE(killed.wait_for_err("segment "));
      killed.send_signal(SIGKILL);
      killed.wait();
    }
    expect_success(limpid(resumed));
    EXPECT_EQ(content_of(path("resumed.mkv")), expected);
  }
};

TEST_F(SharedJobsTest, AnyNumberOfSegmentsGivesWhatOneRunGives) {
  const std::string film = make_film();
  const Arguments quick{"--profile", "fast", "--reach", "2", "-c", "ffv1"};
  expect_success(limpid(joined({"denoise", film, "-o", path("one.mkv")}, quick)));
  const std::string expected = content_of(path("one.mkv"));
  std::string samples;
  for (const std::string length : {"1", "7"}) {
    const std::string job = plan(film, "job" + length, joined(quick, {"--segment-frames", length}));
    expect_success(limpid({"work", job}));
    const Outcome merged = limpid({"merge", job, "-o", path(length + ".mkv"), "--json"});
    expect_success(merged);
    EXPECT_EQ(content_of(path(length + ".mkv")), expected) << length;
    const nlohmann::json file = nlohmann::json::parse(merged.out)["files"][0];
    EXPECT_EQ(file["joined"], true);
    samples = samples.empty() ? file["samples"].get<std::string>() : samples;
    EXPECT_EQ(file["samples"], samples) << length;
  }
}

// Noise is estimated from the source's frames, independently of the beginnings of segments and of
// interruptions.
TEST_F(SharedJobsTest, EstimatedNoiseIsThatOfOneRunInSegmentsAndResumed) {
  std::string scenes;
  std::string names;
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    scenes += "gradients=size=96x80:rate=25:duration=0.56:seed=" + number +
              ":speed=0.02,noise=alls=" + std::to_string(6 + 9 * i) + ":allf=t,setsar=1[s" + number + "];";
    names += "[s" + number + "]";
  }
  const std::string film = make("film.mkv", {"-f", "lavfi", "-i", scenes + names + "concat=n=4", "-c:v",
                                             "libx264", "-qp", "4", "-g", "20", "-pix_fmt", "yuv420p"});
  expect_segments_equal_one_run(film);
}

TEST_F(SharedJobsTest, AnAreaAndAStepOfTheNoiseAreThoseOfOneRunInSegmentsAndResumed) {
  const std::string film =
      make("call.mkv", {"-f", "lavfi", "-i",
                        "smptehdbars=size=256x192:rate=25:duration=2.24,format=yuv420p[screen];"
                        "gradients=size=96x96:rate=25:duration=2.24:seed=3:speed=0.02,format=yuv420p,"
                        "noise=alls=12:allf=t:enable='lt(n,30)',noise=alls=40:allf=t:enable='gte(n,30)'["
                        "camera];[screen][camera]overlay=144:80,setsar=1",
                        "-c:v", "ffv1", "-g", "20", "-pix_fmt", "yuv420p"});
  expect_segments_equal_one_run(film);
  EXPECT_NE(read_file(path("job/segments/00000.json")).find("\"area\""), std::string::npos);
  EXPECT_NE(read_file(path("job/segments/00006.json")).find("\"area\""), std::string::npos);
}

TEST_F(SharedJobsTest, EditListsOddRatesFieldsAndDepthsMakeNoDifference) {
  const std::string whole =
      make("whole.mp4",
           {"-f", "lavfi", "-i", "testsrc2=size=96x80:rate=25:duration=1.6,noise=alls=20:allf=t", "-c:v",
            "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"});
  // Begins between key frames, by an edit list, and after an empty edit.
  make("cut.mp4", {"-ss", "0.7", "-i", whole, "-c", "copy"});
  make("late.mp4", {"-itsoffset", "0.5", "-i", whole, "-t", "1", "-c", "copy"});
  make("uneven.mkv", {"-i", whole, "-t", "1", "-vf", "select='not(mod(n,3))+not(mod(n,5))'", "-fps_mode",
                      "vfr", "-c:v", "ffv1"});
  make("deep_fields.mkv", {"-i", whole, "-t", "0.8", "-vf", "setfield=tff,interlace", "-pix_fmt",
                           "yuv420p10le", "-c:v", "ffv1", "-field_order", "tt"});
  make("telecine.mkv",
       {"-f", "lavfi", "-i",
        "testsrc=size=256x160:rate=24:duration=0.8,scroll=horizontal=0.02,noise=alls=12:allf=t,"
        "telecine=pattern=23,setfield=prog",
        "-pix_fmt", "yuv420p", "-c:v", "ffv1"});
  const Arguments clips{path("cut.mp4"), path("deep_fields.mkv"), path("late.mp4"), path("telecine.mkv"),
                        path("uneven.mkv")};
  const Arguments quick{"--profile", "fast", "--reach", "2", "-c", "ffv1", "-f", "matroska"};
  expect_success(limpid(joined(joined({"denoise", "-o", path("one/")}, clips), quick)));
  const Arguments lengths{"--segment-frames", "5"};
  expect_success(limpid(joined(joined(joined({"plan", "-o", path("job")}, clips), quick), lengths)));
  expect_success(limpid({"work", path("job")}));
  expect_success(limpid({"merge", path("job"), "-o", path("merged/")}));
  for (const std::string name : {"cut", "deep_fields", "late", "telecine", "uneven"}) {
    EXPECT_EQ(content_of(path("merged/" + name + ".mkv")), content_of(path("one/" + name + ".mkv"))) << name;
  }
  const Outcome segments = limpid({"status", path("job"), "--json"});
  EXPECT_GE(nlohmann::json::parse(segments.out)["done"], 12) << "some of each";
}

TEST_F(SharedJobsTest, SegmentsThatCantBeJoinedAreEncodedOnce) {
  const std::string film = make_film();
  // Not x264, whose rate control depends on the timing of its threads and on uninitialized memory
  // (MALLOC_PERTURB_ changes its streams).
  const Arguments quick{"--filter", "bilateral", "--bitrate", "300k",  "-c",
                        "mpeg4",    "--start",   "0.1",       "--end", "0.5"};
  expect_success(limpid(joined({"denoise", film, "-o", path("one.mkv")}, quick)));
  const std::string job = plan(film, "job", joined(quick, {"--segment-frames", "6"}));
  expect_success(limpid({"work", job}));
  const Outcome merged = limpid({"merge", job, "-o", path("out.mkv"), "--json"});
  expect_success(merged);
  EXPECT_EQ(nlohmann::json::parse(merged.out)["files"][0]["joined"], false);
  EXPECT_EQ(content_of(path("out.mkv")), content_of(path("one.mkv")));
}

TEST_F(SharedJobsTest, EncodersOfManyFramesAreJoined) {
  const std::string film = make_film();
  for (const std::string codec : {"libx264", "libx265"}) {
    const Arguments quick{"--filter", "bilateral", "-c", codec, "--preset", "veryfast"};
    expect_success(limpid(joined({"denoise", film, "-o", path(codec + ".mp4")}, quick)));
    for (const std::string length : {"1", "8"}) {
      if (codec == "libx265" && length == "1") {
        continue;  // it starts slowly
      }
      const std::string job =
          plan(film, codec + length, joined(quick, {"--segment-frames", length, "-f", "mp4"}));
      expect_success(limpid({"work", job}));
      const std::string file = path(codec + length + ".mp4");
      const Outcome merged = limpid({"merge", job, "-o", file, "--json"});
      expect_success(merged);
      EXPECT_EQ(nlohmann::json::parse(merged.out)["files"][0]["joined"], true);
      EXPECT_EQ(frame_times(file), frame_times(path(codec + ".mp4"))) << codec << length;
      const Outcome decoded = run({"ffmpeg", "-v", "warning", "-i", file, "-f", "null", "-"});
      EXPECT_EQ(decoded.err, "") << codec << length;
    }
  }
}

TEST_F(SharedJobsTest, WorkersShareAJob) {
  const std::string job =
      plan(make_clip("a.mkv", 12), "job", {"--filter", "nlm", "--segment-frames", "1", "-c", "ffv1"});
  std::vector<std::unique_ptr<Process>> workers;
  for (int i = 0; i < 3; ++i) {
    workers.push_back(std::make_unique<Process>(limpid_command({"work", job, "--json", "--threads", "1"})));
  }
  int done = 0;
  for (const auto& worker : workers) {
    const Outcome outcome = worker->wait();
    expect_success(outcome);
    done += nlohmann::json::parse(outcome.out)["done"].get<int>();
  }
  EXPECT_EQ(done, 12) << "each segment once";
  const Outcome status = limpid({"status", job, "--json"});
  EXPECT_EQ(nlohmann::json::parse(status.out)["done"], 12);
  EXPECT_EQ(nlohmann::json::parse(status.out)["seconds_left"], nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(job + "/claims"));
  EXPECT_TRUE(std::filesystem::is_empty(job + "/workers"));
}

TEST_F(SharedJobsTest, IndicesDivideAJobAndAFinishedSegmentCostsNothing) {
  const std::string job =
      plan(make_clip("a.mkv", 6), "job", {"--filter", "bilateral", "--segment-frames", "1", "-c", "ffv1"});
  expect_failure(limpid({"work", job, "--index", "6"}), 2, {"--index", "6 does not exist", "6 segments"});
  expect_failure(limpid({"work", job, "--of", "2"}), 2, {"--of", "--index"});
  expect_success(limpid({"work", job, "--index", "4"}));
  expect_failure(limpid({"merge", job, "-o", path("out.mkv")}), 1,
                 {"5 of 6 segments are missing: 1 to 4, 6", "limpid work"});
  const auto done_by = [&](const Arguments& more) {
    const Outcome outcome = limpid(joined({"work", job, "--json"}, more));
    expect_success(outcome);
    return nlohmann::json::parse(outcome.out)["done"].get<int>();
  };
  EXPECT_EQ(done_by({"--index", "4"}), 0);
  EXPECT_EQ(done_by({"--index", "0", "--of", "2"}), 2);
  EXPECT_EQ(done_by({"--index", "1", "--of", "2"}), 3);
  std::filesystem::remove_all(job + "/data");
  std::filesystem::create_directory(job + "/data");
  expect_failure(limpid({"merge", job, "-o", path("out.mkv")}), 1,
                 {"6 of 6 segments are missing or damaged: 1 to 6", "limpid work"});
  EXPECT_EQ(done_by({"--index", "0", "--of", "1"}), 6) << "files that are gone are made again";
  expect_success(limpid({"merge", job, "-o", path("out.mkv")}));
  EXPECT_EQ(frame_count(path("out.mkv")), 6U);
}

TEST_F(SharedJobsTest, DamagedResultsAreRepeatedByWorkAndNamedByTheOthers) {
  const std::string job =
      plan(make_clip("a.mkv", 6), "job",
           {"--filter", "bilateral", "--segment-frames", "2", "--sigma", "5", "-c", "ffv1"});
  expect_success(limpid({"work", job}));
  const auto damage = [&] {
    nlohmann::json done = nlohmann::json::parse(read_file(job + "/done/00000.done.json"));
    done["hashes"] = "";
    write_file(job + "/done/00000.done.json", done.dump());
    done = nlohmann::json::parse(read_file(job + "/done/00001.done.json"));
    std::filesystem::remove(job + "/data/" + done["file"].get<std::string>());
  };
  for (const Arguments& share : {Arguments{}, Arguments{"--index", "0", "--of", "1"}}) {
    damage();
    const Outcome status = limpid({"status", job});
    EXPECT_NE(status.out.find("segments: 1 of 3 done, 0 running, 2 failed"), std::string::npos) << status.out;
    const Outcome merge = limpid({"merge", job, "-o", path("out.mkv")});
    EXPECT_EQ(merge.exit_code, 1);
    EXPECT_NE(merge.err.find("2 of 3 segments are missing or damaged: 1 to 2; limpid work"),
              std::string::npos)
        << merge.err;
    const Outcome work = limpid(joined({"work", job, "--json"}, share));
    EXPECT_EQ(work.exit_code, 0) << work.err;
    EXPECT_EQ(nlohmann::json::parse(work.out)["done"], 2);
  }
  expect_success(limpid({"merge", job, "-o", path("out.mkv")}));
  EXPECT_EQ(frame_count(path("out.mkv")), 6U);
}

TEST_F(SharedJobsTest, AClaimThatCannotBeWrittenIsAFailureThatIsNamed) {
  const std::string job =
      plan(make_clip("a.mkv", 4), "job",
           {"--filter", "bilateral", "--segment-frames", "2", "--sigma", "5", "-c", "ffv1"});
  for (const char* share : {"", " --index 0"}) {
    const std::string script = std::string(R"((ulimit -f 0; exec "$0" work "$1")") + share +
                               ") 2>&1 | cat >&2; exit ${PIPESTATUS[0]}";
    const Outcome outcome = run({"bash", "-c", script, LIMPID_PROGRAM, job});
    expect_failure(outcome, 1, {".claim: can't write it: File too large"});
    EXPECT_TRUE(std::filesystem::is_empty(job + "/claims"));
  }
  expect_success(limpid({"work", job}));
}

TEST_F(SharedJobsTest, AWorkerThatIsToldToEndLeavesNothingHalf) {
  const std::string job = plan(make_clip("a.mkv", 16, "160x128"), "job",
                               {"--filter", "bm3d", "--segment-frames", "8", "-c", "ffv1"});
  {
    Process worker(limpid_command({"work", job, "--threads", "1"}));
    wait_for_data(job);
    worker.send_signal(SIGTERM);
    EXPECT_EQ(worker.wait().exit_code, 130);
  }
  for (const char* part : {"/claims", "/data", "/workers", "/failed"}) {
    EXPECT_TRUE(std::filesystem::is_empty(job + part)) << part;
  }
  {
    Process worker(limpid_command({"work", job, "--threads", "1"}));
    wait_for_data(job);
    worker.send_signal(SIGKILL);
    worker.wait();
  }
  EXPECT_FALSE(std::filesystem::is_empty(job + "/claims"));
  expect_success(limpid({"work", job}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(job + "/data"), {}), 2)
      << "nothing half is left";
  expect_success(limpid({"merge", job, "-o", path("out.mkv")}));
  EXPECT_EQ(frame_count(path("out.mkv")), 16U);
}

TEST_F(SharedJobsTest, AnotherFrameThanThePlanHasSeenIsRefused) {
  const std::string clip = make_clip("a.mkv", 4);
  const std::string job = plan(clip, "job", {"--filter", "bilateral", "-c", "ffv1", "--sigma", "5"});
  nlohmann::json segment = nlohmann::json::parse(read_file(job + "/segments/00000.json"));
  auto checks = segment["checks"].get<std::string>();
  checks.back() = checks.back() == '0' ? '1' : '0';
  segment["checks"] = checks;
  write_file(job + "/segments/00000.json", segment.dump());
  const std::string why = "a.mkv: frame 3 is not the frame that was planned";
  const auto expect_told = [&](const std::string& sentence) {
    const Outcome outcome = limpid({"work", job});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_TRUE(std::filesystem::is_empty(job + "/done"));
  };
  expect_told(why + "\n");
  nlohmann::json made = nlohmann::json::parse(read_file(job + "/plan.json"));
  EXPECT_EQ(made["inputs"][0]["decoded_on_gpu"], false);
  made["inputs"][0]["decoded_on_gpu"] = true;
  write_file(job + "/plan.json", made.dump());
  expect_told(why + " (if the input is damaged, plan without --hwaccel)\n");
}

TEST_F(SharedJobsTest, AnotherInputOrProgramIsRefused) {
  const std::string clip = make_clip("a.mkv", 4);
  const std::string job = plan(clip, "job", {"--filter", "bilateral", "-c", "ffv1"});
  expect_failure(limpid({"plan", clip, "-o", job}), 1, {"contains a plan already"});
  expect_failure(limpid({"plan", "-", "-o", path("other")}), 2, {"standard input"});
  expect_failure(limpid({"plan", clip, "-o", path("other"), "--engine", "cpu", "--hwaccel", "cuda"}), 2,
                 {"--hwaccel cuda", "cpu"});
  expect_failure(limpid({"plan", clip, "-o", path("other"), "--hwaccel", "auto"}), 2, {"--hwaccel"});
  expect_failure(limpid({"work", path("nowhere")}), 1, {"nowhere", "has no plan"});
  const std::string plan_text = read_file(job + "/plan.json");
  std::string other = plan_text;
  other.replace(other.find("\"program\": \"") + 12, 1, "9");
  write_file(job + "/plan.json", other);
  expect_failure(limpid({"work", job}), 1, {"plan.json: was made by limpid 9", "this is limpid"});
  write_file(job + "/plan.json", plan_text);
  write_file(clip, read_file(clip) + "x");
  const Outcome outcome = limpid({"work", job});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("a.mkv: is not the file that was planned"), std::string::npos) << outcome.err;
  const nlohmann::json status = nlohmann::json::parse(limpid({"status", job, "--json"}).out);
  EXPECT_NE(status["failed"][0]["error"].get<std::string>().find("is not the file"), std::string::npos);
}

TEST_F(SharedJobsTest, AFolderOfFilesIsAJob) {
  std::filesystem::create_directory(path("in"));
  make_clip("in/a.mkv", 3);
  make_clip("in/b.mkv", 4);
  make("in/c.png", {"-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "1"});
  write_file(path("in/notes.txt"), "not a video");
  const std::string job =
      plan(path("in"), "job", {"--filter", "bilateral", "--segment-frames", "2", "--sigma", "5"});
  expect_success(limpid({"work", job}));
  expect_success(limpid({"merge", job, "-o", path("out")}));
  EXPECT_EQ(frame_count(path("out/a.mkv")), 3U);
  EXPECT_EQ(frame_count(path("out/b.mkv")), 4U);
  EXPECT_TRUE(std::filesystem::exists(path("out/c.png")));
  expect_failure(limpid({"merge", job, "-o", path("out")}), 1, {"exists"});
}

TEST_F(SharedJobsTest, AKilledRunGoesOnWhereItWas) {
  const std::string film = make_clip("film.mkv", 40, "64x64");
  const std::string output = path("out.mkv");
  const Arguments resumed = joined({"denoise", film, "-o", output, "--resume", "--segment-frames", "20"},
                                   {"--filter", "nlm", "--threads", "1", "-c", "ffv1", "--json"});
  {
    Process killed(limpid_command(resumed));
    EXPECT_TRUE(killed.wait_for_err("segment "));
    killed.send_signal(SIGKILL);
    killed.wait();
  }
  EXPECT_FALSE(std::filesystem::exists(output));
  expect_failure(limpid(joined(resumed, {"--sigma", "3"})), 1, {"out.mkv.limpid-job", "other options"});
  const Outcome outcome = limpid(resumed);
  expect_success(outcome);
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["segments"], 2);
  EXPECT_EQ(report["frames"], 40);
  EXPECT_GE(report["segments_done_before"], 1);
  EXPECT_EQ(files(), (std::vector<std::string>{"film.mkv", "out.mkv"}));
  expect_success(limpid({"denoise", film, "-o", path("one.mkv"), "--filter", "nlm", "-c", "ffv1"}));
  EXPECT_EQ(content_of(output), content_of(path("one.mkv")));
  EXPECT_NE(limpid(resumed).err.find("skipped: "), std::string::npos);
  expect_failure(limpid({"denoise", film, "-o", "-", "--resume"}), 2, {"--resume", "pipe"});
  expect_failure(limpid({"denoise", film, "-o", path("x.mkv"), "--segment-frames", "20"}), 2,
                 {"--segment-frames", "--resume"});
}

/// Changes one value of a job's file, given by its JSON pointer.
void change(const std::string& file, const std::string& place, const nlohmann::json& value) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(read_file(file));
  document[nlohmann::ordered_json::json_pointer(place)] = value;
  write_file(file, document.dump());
}

TEST_F(SharedJobsTest, DamagedFilesOfAJobAreNamedAndStopNobody) {
  const std::string job =
      plan(make_clip("a.mkv", 4), "job", {"--filter", "bilateral", "--segment-frames", "1", "-c", "ffv1"});
  write_file(job + "/claims/00000.claim", R"({"worker": 5})");
  std::filesystem::last_write_time(job + "/claims/00000.claim",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string segment = read_file(job + "/segments/00001.json");
  change(job + "/segments/00001.json", "/before", -1);
  expect_success(limpid({"status", job}));
  const Outcome worked = limpid({"work", job});
  EXPECT_EQ(worked.exit_code, 1);
  EXPECT_NE(worked.err.find("segments/00001.json: \"before\" must be an integer from 0"), std::string::npos)
      << worked.err;
  EXPECT_EQ(nlohmann::json::parse(limpid({"status", job, "--json"}).out)["done"], 3) << "all others";
  write_file(job + "/segments/00001.json", segment);
  write_file(job + "/failed/00001.failed.json", R"({"error": 5})");
  change(job + "/done/00002.done.json", "/file", "../../a.mkv");
  const nlohmann::json status = nlohmann::json::parse(limpid({"status", job, "--json"}).out);
  ASSERT_EQ(status["failed"].size(), 2U) << status;
  EXPECT_NE(status["failed"][0]["error"].get<std::string>().find("\"error\" must be a text"),
            std::string::npos);
  EXPECT_NE(status["failed"][1]["error"].get<std::string>().find("00002.done.json: \"file\" must be"),
            std::string::npos);
  const Outcome merged = limpid({"merge", job, "-o", path("out.mkv")});
  expect_failure(merged, 1, {"2 of 4 segments are missing or damaged: 2 to 3"});
  EXPECT_NE(merged.err.find("00002.done.json: \"file\""), std::string::npos) << merged.err;
  const Outcome repeated = limpid({"work", job});
  expect_success(repeated);
  EXPECT_NE(repeated.err.find("00002.done.json: \"file\""), std::string::npos) << repeated.err;
  expect_success(limpid({"merge", job, "-o", path("out.mkv")}));
  EXPECT_EQ(frame_count(path("out.mkv")), 4U);
}

TEST_F(SharedJobsTest, DeepPlansAndSizesThatOverflowAreRefused) {
  const std::string job = plan(make_clip("a.mkv", 2), "job", {"--filter", "bilateral", "-c", "ffv1"});
  expect_success(limpid({"work", job}));
  const nlohmann::json done = nlohmann::json::parse(read_file(job + "/done/00000.done.json"));
  const std::string data = job + "/data/" + done["file"].get<std::string>();
  std::string packets = read_file(data);
  std::size_t place = 17;
  for (int text = 0; text < 2; ++text) {
    std::int64_t size = 0;
    std::memcpy(&size, packets.data() + place, sizeof(size));
    place += sizeof(size) + static_cast<std::size_t>(size);
  }
  for (const std::int64_t size : {(std::int64_t{1} << 32) + 16, std::int64_t{2147483581}}) {
    std::memcpy(packets.data() + place + 5 * sizeof(size), &size, sizeof(size));
    write_file(data, packets);
    std::error_code failure;
    std::filesystem::resize_file(data, static_cast<std::uintmax_t>(size) + 1000000, failure);
    if (!failure) {  // the file system supports sparse files of 4 GiB
      change(job + "/done/00000.done.json", "/bytes", size + 1000000);
      // A size that libavcodec accepts must not cost its memory.
      const std::string script = R"(ulimit -v 1500000; exec "$0" merge "$1" -o "$2")";
      expect_failure(run({"bash", "-c", script, LIMPID_PROGRAM, job, path("out.mkv")}), 1,
                     {".packets: is damaged"});
    }
  }
  const std::string plan_text = read_file(job + "/plan.json");
  std::string deep = plan_text;
  deep.insert(deep.find("\"noise\": ") + 9,
              std::string(200000, '[') + std::string(200000, ']') + ", \"x\": ");
  write_file(job + "/plan.json", deep);
  for (const Arguments& command :
       {Arguments{"status", job}, Arguments{"work", job}, Arguments{"merge", job, "-o", path("out.mkv")}}) {
    expect_failure(limpid(command), 1, {"plan.json: is nested deeper than 64 levels"});
  }
  EXPECT_FALSE(std::filesystem::exists(path("out.mkv")));
}

// Segments would show where they begin.
TEST_F(SharedJobsTest, AFilterOfUnboundedReachIsRefused) {
  const std::string clip = make_clip("a.mkv", 4);
  expect_failure(limpid({"plan", clip, "-o", path("job"), "--filter", "recursive", "--sigma", "5"}), 2,
                 {"a job cannot use the filter recursive", "use vbm4d:delay=0"});
  EXPECT_FALSE(std::filesystem::exists(path("job")));
  expect_failure(limpid({"denoise", clip, "-o", path("out.mkv"), "--resume", "--filter",
                         "recursive:profile=fast", "--sigma", "5"}),
                 2, {"--resume cannot use the filter recursive", "use vbm4d:delay=0"});
  EXPECT_FALSE(std::filesystem::exists(path("out.mkv.limpid-job")));
  // A plan that somebody has changed.
  const std::string job = plan(clip, "changed", {"--filter", "bilateral", "--sigma", "5"});
  std::string text = read_file(job + "/plan.json");
  for (std::size_t at = text.find("bilateral"); at != std::string::npos; at = text.find("bilateral")) {
    text.replace(at, 9, "recursive");
  }
  write_file(job + "/plan.json", text);
  const Outcome worked = limpid({"work", job});
  EXPECT_EQ(worked.exit_code, 1);
  EXPECT_NE(worked.err.find("a job cannot use the filter recursive"), std::string::npos) << worked.err;
  EXPECT_TRUE(std::filesystem::is_empty(job + "/done"));
  // In one stream it may be used.
  expect_success(limpid({"denoise", clip, "-o", path("out.mkv"), "--filter", "recursive", "--sigma", "5"}));
}

TEST_F(SharedJobsTest, OfTwoPlansAtATimeOneWins) {
  const std::string input = make_clip("in.mkv", 12);
  const std::string pipe = path("pipe.mkv");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto plan_of = [&](const std::string& source, const char* sigma) {
    return Arguments{"plan",      source,    "-o",  path("job"),        "-c", "ffv1", "--filter",
                     "bilateral", "--sigma", sigma, "--segment-frames", "4"};
  };
  Process first(limpid_command(plan_of(pipe, "3")));
  for (int i = 0; i < 500 && !std::filesystem::exists(path("job") + "/lock"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  expect_failure(limpid(plan_of(input, "30")), 1, {"job: another limpid works in this folder"});
  std::ofstream(pipe) << read_file(input);
  expect_success(first.wait());
  EXPECT_FALSE(std::filesystem::exists(path("job") + "/lock"));
  expect_failure(limpid(plan_of(input, "30")), 1, {"contains a plan already"});
}

TEST_F(SharedJobsTest, ResultsOfAnotherPlanAreRepeated) {
  const std::string input = make_clip("in.mkv", 12);
  for (const char* const sigma : {"3", "30"}) {
    expect_success(limpid({"plan", input, "-o", path(sigma), "-c", "ffv1", "--filter", "bilateral", "--sigma",
                           sigma, "--segment-frames", "4"}));
  }
  expect_success(limpid({"work", path("3")}));
  for (const char* const part : {"/done", "/data"}) {
    std::filesystem::copy(path("3") + part, path("30") + part);
  }
  const Outcome refused = limpid({"merge", path("30"), "-o", path("out.mkv")});
  expect_failure(refused, 1, {"3 of 3 segments are missing or damaged: 1 to 3"});
  EXPECT_NE(refused.err.find("00000.done.json: is a result of another plan"), std::string::npos)
      << refused.err;
  expect_success(limpid({"work", path("30")}));
  expect_success(limpid({"merge", path("30"), "-o", path("out.mkv")}));
  expect_success(limpid(
      {"denoise", input, "-o", path("once.mkv"), "-c", "ffv1", "--filter", "bilateral", "--sigma", "30"}));
  EXPECT_EQ(content_of(path("out.mkv")), content_of(path("once.mkv")));
}

class ResumeTest : public SharedJobsTest {
 protected:
  void SetUp() override {
    SharedJobsTest::SetUp();
    clip_ = make_clip("a.mkv", 4);
  }
  Arguments resumed(const Arguments& more = {}) const {
    return joined({"denoise", clip_, "-o", path("out.mkv"), "--resume", "--filter", "bilateral", "--sigma",
                   "5", "-c", "ffv1", "--json"},
                  more);
  }
  /// A job with a complete output, as after a kill between the renaming of the output and the removal of the
  /// job.
  std::string completed() const {
    const std::string job =
        plan(clip_, "out.mkv.limpid-job", {"--filter", "bilateral", "--sigma", "5", "-c", "ffv1"});
    expect_success(limpid({"work", job}));
    expect_success(limpid({"merge", job, "-o", path("out.mkv")}));
    return job;
  }
  std::string clip_;
};

TEST_F(ResumeTest, ForeignFilesAreLeftAlone) {
  const std::string folder = path("out.mkv.limpid-job");
  std::filesystem::create_directories(folder + "/data");
  write_file(folder + "/data/f", "mine");
  expect_failure(limpid(resumed()), 1, {"out.mkv.limpid-job: exists and was not made by"});
  expect_failure(limpid({"denoise", path("absent.mkv"), "-o", path("out.mkv"), "--resume"}), 1,
                 {"out.mkv.limpid-job: exists and was not made by"});
  EXPECT_EQ(read_file(folder + "/data/f"), "mine");
  std::filesystem::rename(folder, path("elsewhere"));
  std::filesystem::create_directory_symlink(path("elsewhere"), folder);
  expect_failure(limpid(resumed()), 1, {"out.mkv.limpid-job: exists and was not made by"});
  EXPECT_EQ(read_file(path("elsewhere/data/f")), "mine");
  EXPECT_TRUE(std::filesystem::is_symlink(folder));
  std::filesystem::remove(folder);
  expect_failure(limpid({"denoise", path("absent.mkv"), "-o", path("out.mkv"), "--resume"}), 1,
                 {"absent.mkv"});
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "elsewhere"}));
}

TEST_F(ResumeTest, AFilmThatIsCompleteIsSaidToBeAndTheJobGoes) {
  const std::string job = completed();
  const std::string film = read_file(path("out.mkv"));
  expect_failure(limpid(resumed({"--frames", "2"})), 1, {"out.mkv.limpid-job", "other options"});
  const Outcome outcome = limpid(resumed());
  expect_success(outcome);
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["complete"], true);
  EXPECT_NE(outcome.err.find("out.mkv: was completed by an earlier run"), std::string::npos) << outcome.err;
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "out.mkv"}));
  EXPECT_EQ(read_file(path("out.mkv")), film);
}

TEST_F(ResumeTest, TheRestOfAFolderThatWasBeingRemovedGoesToo) {
  const std::string job = completed();
  write_file(job + "/resume.json", R"({"limpid_resume": 1})");
  std::filesystem::remove(job + "/plan.json");
  std::filesystem::remove_all(job + "/segments");
  for (const Arguments& more : {Arguments{"-y"}, Arguments{}}) {
    std::filesystem::copy(job, path("copy"), std::filesystem::copy_options::recursive);
    const Outcome outcome = limpid(resumed(more));
    expect_success(outcome);
    EXPECT_NE(outcome.err.find("out.mkv: was completed by an earlier run"), std::string::npos) << outcome.err;
    EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "copy", "out.mkv"}));
    std::filesystem::rename(path("copy"), job);
  }
  std::filesystem::remove_all(job + "/merged");
  EXPECT_NE(limpid(resumed()).err.find("skipped: "), std::string::npos);
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "out.mkv"}));
}

TEST_F(ResumeTest, ResultsWithoutAPlanAreNotTaken) {
  const std::string job = completed();
  write_file(job + "/resume.json", R"({"limpid_resume": 1})");
  std::filesystem::remove(job + "/plan.json");
  std::filesystem::remove(path("out.mkv"));
  expect_failure(limpid({"plan", clip_, "-o", job}), 1, {"contains results of another job"});
  expect_success(limpid(resumed({"--frames", "2"})));
  EXPECT_EQ(frame_count(path("out.mkv")), 2U);
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "out.mkv"}));
}

TEST_F(ResumeTest, AnotherFileInPlaceOfTheFilmStays) {
  completed();
  write_file(path("out.mkv"), "mine");
  expect_failure(limpid(resumed()), 1, {"out.mkv: exists and is not the output of"});
  EXPECT_EQ(read_file(path("out.mkv")), "mine");
  expect_success(limpid(resumed({"-y"})));
  EXPECT_EQ(frame_count(path("out.mkv")), 4U);
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "out.mkv"}));
}

TEST_F(ResumeTest, OnlyFilesOfAKilledMergeAreRemoved) {
  const std::string job = completed();
  std::filesystem::remove(path("out.mkv"));
  const nlohmann::json record = nlohmann::json::parse(read_file(job + "/merged/00000.json"));
  const std::string left = ".limpid-" + record["temporary"].get<std::string>() + "-out.mkv";
  write_file(path(left), "half");
  write_file(path(".limpid-abcdef-out.mkv"), "another's");
  write_file(path("keep.mkv"), "mine");
  expect_success(limpid(resumed()));
  EXPECT_EQ(files(), (std::vector<std::string>{".limpid-abcdef-out.mkv", "a.mkv", "keep.mkv", "out.mkv"}));
}

TEST_F(ResumeTest, TheSecondOfTwoSaysSo) {
  const std::string film = make_clip("film.mkv", 60, "128x96");
  const Arguments both = {"denoise",   film, "-o", path("out.mkv"), "--resume",         "--filter", "nlm",
                          "--threads", "1",  "-c", "ffv1",          "--segment-frames", "10"};
  Process first(limpid_command(both));
  ASSERT_TRUE(first.wait_for_err("segment "));
  expect_failure(limpid(both), 1, {"out.mkv.limpid-job: another limpid works in this folder"});
  expect_success(first.wait());
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mkv", "film.mkv", "out.mkv"}));
}

}  // namespace
}  // namespace limpid::test
