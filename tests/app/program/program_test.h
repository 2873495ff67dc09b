// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program/process.h"
#include "tests/temporary_folder.h"

namespace limpid::test {

/// A fixture for tests that run the built program in a temporary folder, on small clips made by the ffmpeg
/// program. Skipped without ffmpeg.
class ProgramTest : public testing::Test {
 protected:
  void SetUp() override;

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return (folder() / name).string(); }

  /// Runs ffmpeg and returns the path of the file `name` that it makes.
  std::string make(const std::string& name, const std::vector<std::string>& arguments) const;
  /// A noisy moving test picture without audio.
  std::string make_clip(const std::string& name, int frames = 5, const std::string& size = "64x48") const;

  /// ffprobe's output for the file: streams, and the first video stream's frames, all of them decoded.
  static nlohmann::json probe(const std::string& file);
  /// Presentation times of the first video stream's frames, in seconds.
  static std::vector<double> frame_times(const std::string& file);
  static std::size_t frame_count(const std::string& file) { return frame_times(file).size(); }
  /// Packets of the first stream of a type, such as "a".
  static std::size_t packet_count(const std::string& file, const std::string& type) {
    return packet_times(file, type).size();
  }
  /// Presentation times in seconds; -1 for unknown ones.
  static std::vector<double> packet_times(const std::string& file, const std::string& type);

  /// Names of the files in the folder, sorted: shows whether a run has left files behind.
  std::vector<std::string> files() const { return folder_.files(); }

 private:
  TemporaryFolder folder_;
  TemporaryFolder cache_;
};

/// Runs limpid with these arguments.
Outcome limpid(std::vector<std::string> arguments, const ProcessOptions& options = {});
/// The command line of limpid with these arguments.
std::vector<std::string> limpid_command(std::vector<std::string> arguments);

/// Runs a command that only reads `file`, unless its result is known and the file has not changed since.
Outcome run_once(const std::vector<std::string>& command, const std::string& file);

/// Lines of a text, without empty ones.
std::vector<std::string> lines(const std::string& text);

/// Expects the exit code, and exactly one sentence for the user that contains all of `parts`.
void expect_failure(const Outcome& outcome, int exit_code, const std::vector<std::string>& parts);
void expect_success(const Outcome& outcome);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& contents);

}  // namespace limpid::test
