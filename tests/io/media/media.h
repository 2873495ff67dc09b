#pragma once

// What the tests of io share: a scratch folder, the ffmpeg and ffprobe programs as makers and judges of media
// files, and a run from Reader to Writer without a denoiser between.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/reader.h"
#include "io/media/writer.h"
#include "tests/temporary_folder.h"

namespace limpid::io {

/// Test with a folder of its own, removed afterwards. Skipped where the ffmpeg program is missing.
class MediaTest : public ::testing::Test {
 protected:
  void SetUp() override;

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Makes a file with ffmpeg: `arguments` come between "ffmpeg" and the file's name, which is returned.
  std::string make(const std::string& name, const std::string& arguments) const;
  /// Everything in the folder, sorted.
  std::vector<std::string> files() const { return folder_.files(); }

 private:
  test::TemporaryFolder folder_;
};

/// What tags a picture that ffmpeg makes as BT.2020 of that transfer, limited range: from version 7 on
/// encoders take a frame's tags, before that the options.
std::string color_filter(const std::string& transfer);
std::string color_options(const std::string& transfer);

/// Standard output of a shell command; fails the test if the command does.
std::string output_of(const std::string& command);

/// What is in a file.
std::string bytes_of(const std::string& file);

/// ffprobe's words on the first frame and on the streams of a file, "key=value" lines.
std::string probe_frame(const std::string& file);
std::string probe_streams(const std::string& file);
/// One line with a checksum for each stream of the type ("a", "s"), of its packets as they are.
std::string packet_hashes(const std::string& file, const std::string& type);

/// Frames in full and their times, as the Reader delivers them.
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
