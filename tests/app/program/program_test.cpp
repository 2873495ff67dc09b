// SPDX-License-Identifier: MIT
#include "tests/app/program/program_test.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace limpid::test {

void ProgramTest::SetUp() {
  setenv("XDG_STATE_HOME", path("state").c_str(), 1);  // not the developer's
  setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1);
  static const bool has_ffmpeg = [] {
    try {
      return run({"ffmpeg", "-version"}).exit_code == 0 && run({"ffprobe", "-version"}).exit_code == 0;
    } catch (const std::system_error&) {
      return false;
    }
  }();
  if (!has_ffmpeg) {
    GTEST_SKIP() << "the ffmpeg command is absent";
  }
}

std::string ProgramTest::make(const std::string& name, const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = {"ffmpeg", "-nostdin", "-v", "error", "-y"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back(path(name));
  const Outcome outcome = run(command);
  if (outcome.exit_code != 0) {
    throw std::runtime_error("ffmpeg failed: " + outcome.err);
  }
  return path(name);
}

std::string ProgramTest::make_clip(const std::string& name, int frames, const std::string& size) const {
  return make(name, {"-f", "lavfi", "-i", "testsrc2=rate=25:size=" + size, "-frames:v",
                     std::to_string(frames), "-vf", "noise=alls=20:allf=t:all_seed=1,format=yuv420p", "-c:v",
                     name.ends_with(".y4m") ? "wrapped_avframe" : "ffv1"});
}

Outcome run_once(const std::vector<std::string>& command, const std::string& file) {
  struct Known {
    std::filesystem::file_time_type time;
    std::uintmax_t size = 0;
    Outcome outcome;
  };
  static std::map<std::vector<std::string>, Known> known;
  std::error_code failure;
  const std::filesystem::file_time_type time = std::filesystem::last_write_time(file, failure);
  const std::uintmax_t size = failure ? 0 : std::filesystem::file_size(file, failure);
  if (failure) {  // a pattern of names
    return run(command);
  }
  const auto found = known.find(command);
  if (found != known.end() && found->second.time == time && found->second.size == size) {
    return found->second.outcome;
  }
  return known.insert_or_assign(command, Known{time, size, run(command)}).first->second.outcome;
}

nlohmann::json ProgramTest::probe(const std::string& file) {
  const Outcome outcome = run_once({"ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_format",
                                    "-select_streams", "v:0", "-show_frames", file},
                                   file);
  if (outcome.exit_code != 0) {
    throw std::runtime_error("ffprobe failed: " + outcome.err);
  }
  EXPECT_EQ(outcome.err, "") << file << " does not decode cleanly";
  return nlohmann::json::parse(outcome.out);
}

std::vector<double> ProgramTest::frame_times(const std::string& file) {
  std::vector<double> times;
  const nlohmann::json probed = probe(file);
  for (const nlohmann::json& frame : probed["frames"]) {
    times.push_back(std::stod(frame.value("pts_time", "-1")));
  }
  return times;
}

std::vector<double> ProgramTest::packet_times(const std::string& file, const std::string& type) {
  const Outcome outcome = run_once({"ffprobe", "-v", "error", "-of", "default=nokey=1:noprint_wrappers=1",
                                    "-select_streams", type + ":0", "-show_entries", "packet=pts_time", file},
                                   file);
  std::vector<double> times;
  for (const std::string& line : lines(outcome.out)) {
    times.push_back(line == "N/A" ? -1 : std::stod(line));
  }
  return times;
}

std::vector<std::string> limpid_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LIMPID_PROGRAM);
  return arguments;
}

Outcome limpid(std::vector<std::string> arguments, const ProcessOptions& options) {
  return run(limpid_command(std::move(arguments)), options);
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) {
      result.push_back(line);
    }
  }
  return result;
}

void expect_failure(const Outcome& outcome, int exit_code, const std::vector<std::string>& parts) {
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  std::vector<std::string> errors;
  for (const std::string& line : lines(outcome.err)) {
    if (line.starts_with("limpid: ") && !line.starts_with("limpid: warning: ")) {
      errors.push_back(line);
    }
  }
  ASSERT_EQ(errors.size(), 1U) << outcome.err;
  EXPECT_EQ(errors.front(), lines(outcome.err).back()) << "the error comes last";
  for (const std::string& part : parts) {
    EXPECT_NE(errors.front().find(part), std::string::npos) << errors.front() << "\nlacks: " << part;
  }
}

void expect_success(const Outcome& outcome) {
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

}  // namespace limpid::test
