// SPDX-License-Identifier: MIT
#include "tests/io/media/media.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "io/media/libav_setup.h"

namespace limpid::io {
namespace {

namespace fs = std::filesystem;

bool have_ffmpeg() {
  static const bool found = std::system("ffmpeg -version >/dev/null 2>&1") == 0;
  return found;
}

// As the program does at its start. The library changes no process-wide settings before.
class Logs : public testing::Environment {
 public:
  void SetUp() override {
    std::ifstream file("/proc/self/environ");
    const std::string given((std::istreambuf_iterator<char>(file)), {});
    static const bool untouched =
        (std::getenv("SVT_LOG") != nullptr) == (given.find("SVT_LOG=") != std::string::npos);
    EXPECT_TRUE(untouched);
    take_over_logs();
  }
};

[[maybe_unused]] const auto* const kLogs = testing::AddGlobalTestEnvironment(new Logs);

}  // namespace

void MediaTest::SetUp() {
  if (!have_ffmpeg()) {
    GTEST_SKIP() << "the ffmpeg program is not installed";
  }
}

std::string MediaTest::make(const std::string& name, const std::string& arguments) const {
  std::string file = path(name);
  output_of("ffmpeg -nostdin -v error -y " + arguments + " '" + file + "'");
  return file;
}

std::string color_filter(const std::string& transfer) {
  return "setparams=range=tv:colorspace=bt2020nc:color_primaries=bt2020:color_trc=" + transfer;
}

std::string color_options(const std::string& transfer) {
  return "-color_range tv -colorspace bt2020nc -color_primaries bt2020 -color_trc " + transfer;
}

std::string output_of(const std::string& command) {
  struct Closer {
    void operator()(std::FILE* pipe) const { ::pclose(pipe); }
  };
  std::unique_ptr<std::FILE, Closer> pipe(::popen(command.c_str(), "r"));
  if (pipe == nullptr) {
    throw std::runtime_error("can't run " + command);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0) {
    text.append(buffer.data(), count);
  }
  EXPECT_EQ(::pclose(pipe.release()), 0) << command;
  return text;
}

std::string bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string probe_frame(const std::string& file) {
  return output_of("ffprobe -v error -select_streams v:0 -read_intervals '%+#1' -show_frames '" + file + "'");
}

std::string probe_streams(const std::string& file) {
  return output_of("ffprobe -v error -show_streams -show_chapters -show_format '" + file + "'");
}

std::string packet_hashes(const std::string& file, const std::string& type) {
  return output_of("ffmpeg -nostdin -v error -i '" + file + "' -map 0:" + type +
                   " -c copy -f streamhash -hash md5 -");
}

Clip read_clip(const std::string& file, const ReaderOptions& options) {
  Clip clip;
  Reader reader(file, options);
  clip.video = reader.video();
  for (bool at_end = false; !at_end;) {
    const Reader::Item item = reader.read();
    if (const auto* const frame = std::get_if<Frame>(&item)) {
      clip.times.push_back(presentation_time(*frame).value());
      clip.frames.push_back(*frame);
    } else if (std::holds_alternative<Reader::End>(item)) {
      at_end = true;
    } else {
      ++clip.packets;
    }
  }
  clip.damaged_packets = count_of(reader.diagnostics(), Diagnostic::Kind::kDamagedPackets);
  return clip;
}

Transcoded transcode(const std::string& from, const std::string& to, const WriterOptions& options,
                     const ReaderOptions& reader_options) {
  Reader reader(from, reader_options);
  Writer writer(to, reader, options);
  Transcoded result{.warnings = texts_of(writer.diagnostics()),
                    .codec = writer.codec(),
                    .pixel_format = writer.pixel_format()};
  for (bool at_end = false; !at_end;) {
    const Reader::Item item = reader.read();
    if (const auto* const frame = std::get_if<Frame>(&item)) {
      writer.write(*frame);
      ++result.frames;
    } else if (const auto* const packet = std::get_if<std::shared_ptr<Packet>>(&item)) {
      writer.write(**packet);
    } else {
      at_end = true;
    }
  }
  writer.finish();
  return result;
}

void expect_same_frames(const std::vector<Frame>& expected, const std::vector<Frame>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const FrameFormat& format = expected[i].format;
    ASSERT_EQ(to_string(format), to_string(actual[i].format));
    for (int p = 0; p < format.plane_count(); ++p) {
      const std::size_t bytes = static_cast<std::size_t>(format.plane_width(p)) * format.bytes_per_sample();
      for (int y = 0; y < format.plane_height(p); ++y) {
        ASSERT_EQ(std::memcmp(expected[i].planes[p].row<std::byte>(y), actual[i].planes[p].row<std::byte>(y),
                              bytes),
                  0)
            << "frame " << i << ", plane " << p << ", row " << y;
      }
    }
  }
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

std::string data_file(const std::string& name) {
  const fs::path file = fs::path(LIMPID_DATA_DIR) / name;
  return fs::exists(file) ? file.string() : "";
}

}  // namespace limpid::io
