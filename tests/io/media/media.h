// SPDX-License-Identifier: MIT
#pragma once

// Shared code of io's tests: a temporary folder, the ffmpeg and ffprobe programs for making and checking
// media files, and a run from Reader to Writer without a denoiser.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/reader.h"
#include "io/media/writer.h"
#include "tests/temporary_folder.h"

namespace limpid::io {

/// A test with its own folder, removed afterwards. Skipped without the ffmpeg program.
class MediaTest : public ::testing::Test {
 protected:
  void SetUp() override;

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Makes a file with ffmpeg and returns its name: `arguments` come between "ffmpeg" and the name.
  std::string make(const std::string& name, const std::string& arguments) const;
  /// Everything in the folder, sorted.
  std::vector<std::string> files() const { return folder_.files(); }

 private:
  test::TemporaryFolder folder_;
};

/// A filter that tags pictures of ffmpeg as BT.2020 with this transfer, limited range: from version 7 on,
/// encoders use a frame's tags; before, their options.
std::string color_filter(const std::string& transfer);
std::string color_options(const std::string& transfer);

/// Standard output of a shell command; the test fails if the command does.
std::string output_of(const std::string& command);

/// The content of a file.
std::string bytes_of(const std::string& file);

/// ffprobe's output for the first frame and the streams of a file, in "key=value" lines.
std::string probe_frame(const std::string& file);
std::string probe_streams(const std::string& file);
/// One line with a checksum of the packets of each stream of this type ("a", "s").
std::string packet_hashes(const std::string& file, const std::string& type);

/// Frames and their times, as the Reader delivers them.
struct Clip {
  VideoProperties video;
  std::vector<Frame> frames;
  std::vector<double> times;
  std::int64_t packets = 0;
  std::int64_t damaged_packets = 0;
};
Clip read_clip(const std::string& file, const ReaderOptions& options = {});

struct Transcoded {
  std::int64_t frames = 0;
  std::vector<std::string> warnings;
  std::string codec;
  std::string pixel_format;
};
Transcoded transcode(const std::string& from, const std::string& to, const WriterOptions& options = {},
                     const ReaderOptions& reader_options = {});

/// Fails the test if formats or any samples differ.
void expect_same_frames(const std::vector<Frame>& expected, const std::vector<Frame>& actual);

/// One line with all of them.
std::string joined(const std::vector<std::string>& lines);

/// A file of the real test data; empty if there is none.
std::string data_file(const std::string& name);

}  // namespace limpid::io
