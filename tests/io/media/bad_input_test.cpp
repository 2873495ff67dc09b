// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/libav_setup.h"
#include "tests/io/media/media.h"
#include "tests/local_listener.h"

namespace limpid::io {
namespace {

class BadInputTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    if (!IsSkipped()) {
      source_ = make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -c:v ffv1");
      files_before_ = files();
    }
  }

  std::string write_text(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  /// The message of the Error that opening `file` throws.
  static std::string message_of_reading(const std::string& file, const ReaderOptions& options = {}) {
    try {
      read_clip(file, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  /// The message of a failed transcode to `target`; checks that no file is left behind.
  std::string message_of_writing(const std::string& target, const WriterOptions& options = {}) const {
    std::string message = "no error";
    try {
      transcode(source_, target, options);
    } catch (const UsageError& error) {
      message = std::string("usage: ") + error.what();
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_EQ(files(), files_before_);
    return message;
  }

  const std::string& source() const { return source_; }

 private:
  std::string source_;
  std::vector<std::string> files_before_;
};

TEST_F(BadInputTest, UnreadableFilesAreNamedWithTheReason) {
  EXPECT_EQ(message_of_reading(path("none.mp4")),
            path("none.mp4") + ": can't open it: No such file or directory");
  EXPECT_EQ(message_of_reading(path("")), path("") + ": is a directory, not a file");
  EXPECT_EQ(message_of_reading(write_text("empty.mp4", "")), path("empty.mp4") + ": the file is empty");
  const std::string text = "These are words, not pictures.\n";
  for (const std::string name : {"text.txt", "text.mp4", "text"}) {
    EXPECT_EQ(message_of_reading(write_text(name, text)), path(name) + ": no video or picture found in it");
  }
  EXPECT_EQ(message_of_reading(make("sound.m4a", "-f lavfi -i sine=d=0.2 -c:a aac")),
            path("sound.m4a") + ": has no video stream");
  EXPECT_EQ(
      message_of_reading(path("none_%03d.png")),
      path("none_%03d.png") +
          ": no picture of this sequence was found (--input-option start_number=N sets the first number)");
}

TEST_F(BadInputTest, TheDecodersReasonIsInTheMessage) {
  const std::string whole = bytes_of(make("a.png", "-f lavfi -i testsrc2=s=32x32 -frames:v 1"));
  const std::string message = message_of_reading(write_text("cut.png", whole.substr(0, 8) + "\0\0\0\rIHDR"));
  EXPECT_NE(message.find("not one frame of its video could be decoded ([png]"), std::string::npos) << message;
}

TEST_F(BadInputTest, FormatsThatLibavMisjudgesAreNamed) {
  const std::string dicom = write_text("a.dcm", std::string(128, '\0') + "DICM");
  EXPECT_EQ(message_of_reading(dicom), dicom + ": DICOM is not supported; export its pictures as TIFF");
  const std::string webp =
      write_text("a.webp", "RIFF" + std::string(4, '\x10') + "WEBPVP8X" + std::string(4, '\0') + '\x02');
  EXPECT_EQ(message_of_reading(webp),
            webp + ": animated WebP is not supported; convert it, for example to APNG");
}

TEST_F(BadInputTest, CoverArtIsNoVideo) {
  const std::string sound = make("sound.mp3",
                                 "-f lavfi -i sine=d=0.2 -f lavfi -i testsrc2=s=32x32:r=1:d=1 -map 0 "
                                 "-map 1 -c:v png -frames:v 1 -disposition:v attached_pic");
  EXPECT_EQ(message_of_reading(sound), sound + ": has no video stream");
}

TEST_F(BadInputTest, TruncatedFileGivesTheFramesBeforeTheCut) {
  const std::string whole = make("whole.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=2 -c:v libx264 -g 10");
  const std::string cut = path("cut.mkv");
  output_of("head -c $(($(stat -c %s '" + whole + "') * 2 / 3)) '" + whole + "' > '" + cut + "'");
  const std::size_t frames = read_clip(cut).frames.size();
  EXPECT_GT(frames, 20U);
  EXPECT_LT(frames, 50U);

  const std::string header = make("whole.mp4", "-f lavfi -i testsrc2=s=64x48:r=25:d=2 -c:v libx264");
  output_of("head -c 2000 '" + header + "' > '" + path("cut.mp4") + "'");
  EXPECT_EQ(message_of_reading(path("cut.mp4")),
            path("cut.mp4") +
                ": its index (moov) is missing, because the recording was not "
                "finished; recover it first, for example with untrunc");
}

/// Reads a source to its end.
struct Reading {
  std::int64_t frames = 0;
  std::int64_t damaged_frames = 0;
  std::int64_t damaged_packets = 0;
  std::string shortfall;
  std::string failure;
};
Reading read_all(const std::string& file, const ReaderOptions& options = {}) {
  Reader reader(file, options);
  Reading reading;
  for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item); item = reader.read()) {
    reading.frames += std::holds_alternative<Frame>(item) ? 1 : 0;
  }
  const Diagnostics diagnostics = reader.diagnostics();
  reading.damaged_frames = count_of(diagnostics, Diagnostic::Kind::kDamagedFrames);
  reading.damaged_packets = count_of(diagnostics, Diagnostic::Kind::kDamagedPackets);
  reading.shortfall = text_of(diagnostics, Diagnostic::Kind::kShortfall);
  reading.failure = text_of(diagnostics, Diagnostic::Kind::kFailure);
  return reading;
}

TEST_F(BadInputTest, DamagedJpegsAreFoundAndShownAllTheSame) {
  const std::string whole = make("whole.jpg", "-f lavfi -i testsrc2=s=160x120 -frames:v 1 -q:v 2");
  const std::string bytes = bytes_of(whole);
  EXPECT_EQ(read_all(whole).damaged_frames, 0);
  EXPECT_EQ(read_all(write_text("no_end.jpg", bytes.substr(0, bytes.size() - 2))).damaged_frames, 0)
      << "cameras leave the marker of the end out";
  const std::string cut = write_text("cut.jpg", bytes.substr(0, bytes.size() * 6 / 10));
  std::string overwritten = bytes;
  for (std::size_t i = 0; i < 400; ++i) {
    overwritten[bytes.size() / 2 + i] = static_cast<char>(i * 73 % 256);
  }
  for (const std::string& file : {cut, write_text("overwritten.jpg", overwritten)}) {
    const Reading reading = read_all(file);
    EXPECT_EQ(reading.frames, 1) << file;
    EXPECT_EQ(reading.damaged_frames, 1) << file;
    EXPECT_EQ(reading.damaged_packets, 0) << file;
  }
  // The user's setting for errors takes precedence.
  EXPECT_THROW(read_clip(cut, {.options = {{"err_detect", "explode"}}}), Error);
  EXPECT_EQ(read_all(cut, {.options = {{"err_detect", "crccheck"}}}).damaged_frames, 0);
}

TEST_F(BadInputTest, OneDamagedPictureOfMotionJpegIsCounted) {
  const std::string whole = make("whole.avi", "-f lavfi -i testsrc2=s=160x120:r=25:d=0.4 -c:v mjpeg -q:v 2");
  const Clip expected = read_clip(whole);
  std::string bytes = bytes_of(whole);
  // In the scan of the fifth picture.
  std::size_t at = 0;
  for (int i = 0; i < 5; ++i) {
    at = bytes.find("\xFF\xDA", at + 1);
    ASSERT_NE(at, std::string::npos);
  }
  for (std::size_t i = 0; i < 400; ++i) {
    bytes[at + 600 + i] = static_cast<char>(i * 73 % 256);
  }
  const std::string damaged = write_text("damaged.avi", bytes);
  const Reading reading = read_all(damaged);
  EXPECT_EQ(reading.frames, 10);
  EXPECT_EQ(reading.damaged_frames, 1);
  EXPECT_EQ(reading.shortfall, "");
  Clip clip = read_clip(damaged);
  EXPECT_EQ(clip.times, expected.times);
  clip.frames[4] = expected.frames[4];
  expect_same_frames(expected.frames, clip.frames);
}

TEST_F(BadInputTest, FilesThatEndEarlyAreFound) {
  const std::string picture = "-f lavfi -i testsrc2=s=64x48:r=25:d=2 ";
  const std::string sound = "-f lavfi -i sine=d=4 ";
  for (const auto& [name, codecs] : {std::pair{"a.mkv", "-c:v mpeg4 -g 5"},
                                     {"a.webm", "-c:v libvpx -g 5"},
                                     {"a.avi", "-c:v mjpeg"},
                                     {"a.flv", "-c:v flv"},
                                     {"a.mp4", "-c:v mpeg4 -g 5 -movflags +faststart"},
                                     {"a.y4m", "-pix_fmt yuv420p"}}) {
    const std::string whole = make(name, picture + codecs);
    const Reading reading = read_all(whole);
    EXPECT_EQ(reading.frames, 50) << name;
    EXPECT_EQ(reading.shortfall, "") << name;
    EXPECT_EQ(read_all(whole, {.end = 1.0}).shortfall, "") << name;
    const std::string bytes = bytes_of(whole);
    const std::string cut =
        write_text(std::string("cut_") + name, bytes.substr(0, bytes.size() * 6 / 10 + 100));
    const std::string what = read_all(cut).shortfall;
    EXPECT_NE(what.find(std::string(name) == "a.y4m" ? "it ends in the middle of a frame"
                                                     : " of the 2.00 s that its header declares"),
              std::string::npos)
        << name << ": " << what;
    EXPECT_EQ(read_all(cut, {.start = 0.1, .end = 0.4}).shortfall, "") << name;
  }
  for (const char* name : {"sound.mkv", "sound.mp4", "sound.avi", "sound.flv"}) {
    const std::string whole = make(
        name, picture + sound + "-c:v " + (std::string(name) == "sound.flv" ? "flv" : "mpeg4") + " -c:a mp3");
    EXPECT_EQ(read_all(whole).shortfall, "")
        << name << ": audio that continues does not mean that pictures are missing";
    EXPECT_EQ(read_all(whole, {.audio = false}).shortfall, "") << name;
  }
}

/// True if libav recognizes a text as this kind of list. From FFmpeg 7.1 on, playlists must have a known
/// extension.
bool is_recognized(const std::string& file, const std::string& text, const std::string& demuxer) {
  std::string bytes = text + std::string(AVPROBE_PADDING_SIZE, '\0');
  AVProbeData data{};
  data.filename = file.c_str();
  data.buf = reinterpret_cast<unsigned char*>(bytes.data());
  data.buf_size = static_cast<int>(text.size());
  const AVInputFormat* const format = av_probe_input_format(&data, 1);
  const bool found = format != nullptr && format->name == demuxer;
  constexpr unsigned kFFmpeg7 = AV_VERSION_INT(61, 0, 0);
  EXPECT_TRUE(found || (file.ends_with(".mkv") && avformat_version() >= kFFmpeg7)) << file;
  return found;
}

TEST_F(BadInputTest, OtherFilesAreReadOnlyWithLeave) {
  const std::string list = "ffconcat version 1.0\nfile source.mkv\n";
  const std::string transport = make("part.ts", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -c:v mpeg2video");
  const std::string playlist =
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.4,\n" + transport + "\n#EXT-X-ENDLIST\n";
  for (const auto& [name, text, demuxer] : {std::tuple{"list.mp4", list, "concat"},
                                            {"list.ffconcat", list, "concat"},
                                            {"list.m3u8", playlist, "hls"},
                                            {"list.mkv", playlist, "hls"}}) {
    const std::string file = write_text(name, text);
    const std::string refusal = ": is a list of other files (" + std::string(demuxer) +
                                "), which are read only with --allow-references";
    EXPECT_EQ(message_of_reading(file, {.input_format = demuxer}), file + refusal);
    if (!is_recognized(file, text, demuxer)) {
      for (const bool leave : {false, true}) {
        EXPECT_EQ(message_of_reading(file, {.allow_references = leave}),
                  file + ": no video or picture found in it");
      }
      continue;
    }
    EXPECT_EQ(message_of_reading(file), file + refusal);
    EXPECT_EQ(read_all(file, {.allow_references = true}).frames, 10) << name;

    const std::string pipe = path(std::string("pipe_") + name);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const std::jthread writer([&, &content = text] { std::ofstream(pipe) << content; });
    EXPECT_EQ(message_of_reading(pipe), pipe + refusal);
    std::filesystem::remove(pipe);
  }
}

/// Answers each HTTP request with one text, and counts them.
class TextServer {
 public:
  explicit TextServer(std::string text) : thread_([this, text = std::move(text)] { serve(text); }) {}
  TextServer(const TextServer&) = delete;
  TextServer& operator=(const TextServer&) = delete;
  TextServer(TextServer&&) = delete;
  TextServer& operator=(TextServer&&) = delete;
  ~TextServer() {
    listener_.shut_down();
    thread_.join();
  }
  std::string url() const { return "http://" + listener_.address() + "/list.m3u8"; }
  int requests() const { return requests_; }

 private:
  void serve(const std::string& text) {
    for (int client = -1; (client = ::accept(listener_.descriptor(), nullptr, nullptr)) >= 0;) {
      ++requests_;
      std::string request;
      char byte = 0;
      while (!request.ends_with("\r\n\r\n") && ::recv(client, &byte, 1, 0) == 1) {
        request += byte;
      }
      const std::string answer =
          "HTTP/1.0 200 OK\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
      static_cast<void>(::send(client, answer.data(), answer.size(), MSG_NOSIGNAL));
      ::close(client);
    }
  }

  test::LocalListener listener_;
  std::atomic<int> requests_ = 0;
  std::thread thread_;
};

std::string playlist_of(const std::string& segment) {
  return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.4,\n" + segment + "\n#EXT-X-ENDLIST\n";
}

TEST_F(BadInputTest, AListFromTheNetworkIsFollowedOnlyWithLeave) {
  ::setenv("no_proxy", "127.0.0.1", 1);
  const TextServer target("no video");
  const TextServer server(playlist_of(target.url()));
  EXPECT_EQ(message_of_reading(server.url()),
            server.url() + ": is a list of other files (hls), which are read only with --allow-references");
  EXPECT_EQ(target.requests(), 0);
  EXPECT_NE(message_of_reading(server.url(), {.allow_references = true}).find(server.url()),
            std::string::npos);
  EXPECT_GT(target.requests(), 0);
}

TEST_F(BadInputTest, LocalOnlyOpensFilesAndPipesAlone) {
  ::setenv("no_proxy", "127.0.0.1", 1);
  const TextServer server("no video");
  const ReaderOptions local{.local_only = true};
  EXPECT_EQ(message_of_reading(source(), local), "no error");
  EXPECT_EQ(message_of_reading("file:" + source(), local), "no error");
  make("picture_%02d.png", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2");
  EXPECT_EQ(message_of_reading(path("picture_%02d.png"), local), "no error");
  for (const std::string& url : std::vector<std::string>{
           server.url(), "file:" + server.url(), "subfile,,start,0,end,0,,:" + source(), "concat:" + source(),
           "async:" + source(), "cache:" + source(), "data:image/png;base64,AAAA", "crypto:" + source(),
           "rtsp://" + server.url().substr(7), "tcp://" + server.url().substr(7)}) {
    const std::string message = message_of_reading(url, local);
    EXPECT_TRUE(message.ends_with(": is neither a file nor a pipe, as --local-only requires")) << message;
  }
  ReaderOptions follows = local;
  follows.allow_references = true;
  const std::string list = write_text("list.m3u8", playlist_of(server.url()));
  EXPECT_NE(message_of_reading(list, follows), "no error");
  ReaderOptions generator = local;
  generator.input_format = "lavfi";
  EXPECT_EQ(message_of_reading("testsrc2", generator),
            "the input format lavfi reads more than files and pipes, which --local-only forbids");
  // libav ignores case in the names of options.
  for (const std::string option : {"protocol_whitelist", "Protocol_Whitelist", "PROTOCOL_WHITELIST"}) {
    ReaderOptions more_protocols = local;
    more_protocols.options = {{option, "file,http,tcp"}};
    EXPECT_EQ(message_of_reading(list, more_protocols),
              "the input option protocol_whitelist and --local-only exclude each other");
    EXPECT_EQ(message_of_reading(source(), more_protocols),
              "the input option protocol_whitelist and --local-only exclude each other");
  }
  std::filesystem::remove(list);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(BadInputTest, LocalOnlyWritesFilesAndPipesAlone) {
  const std::string url = "http://127.0.0.1:9/out.mkv";
  WriterOptions local;
  local.local_only = true;
  EXPECT_EQ(message_of_writing(url, local), url + ": is neither a file nor a pipe, as --local-only requires");
  local.container = "rtsp";
  EXPECT_EQ(message_of_writing("rtsp://127.0.0.1:9/out", local),
            "usage: the container rtsp is a device or a network connection, which --local-only forbids");
}

TEST_F(BadInputTest, ContainersOfSeveralFilesAreRefused) {
  for (const auto& [name, container] : {std::pair{"film.m3u8", "hls"},
                                        {"film.mpd", "dash"},
                                        {"film.ism", "smoothstreaming"},
                                        {"film", "hds"},
                                        {"film", "segment"},
                                        {"film", "tee"},
                                        {"film", "fifo"},
                                        {"film", "webm_chunk"}}) {
    const std::string refusal = "usage: " + path(name) + ": the container " + container +
                                " consists of several files, which is not supported; write one file, then "
                                "split it with ffmpeg";
    EXPECT_EQ(message_of_writing(path(name), {.container = container}), refusal);
    if (std::string_view(name).starts_with("film.m")) {
      EXPECT_EQ(message_of_writing(path(name)), refusal);
    }
  }
  EXPECT_EQ(output_extension("list.m3u8", false, {}), ".mkv");
}

TEST_F(BadInputTest, APipeCantGoBackFromAnIndexBehindTheFrames) {
  const std::string file = make(
      "late.mov", "-f lavfi -i testsrc2=s=320x240:r=25:d=0.5 -vf noise=alls=60:allf=t -c:v mpeg4 -q:v 1");
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::jthread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes; });
  const std::string message = message_of_reading(pipe);
  EXPECT_NE(message.find("its index is at the end, which a pipe can't seek to"), std::string::npos)
      << message;
}

TEST_F(BadInputTest, APipeThatEndsInTheMiddleOfAFrameHasFailed) {
  const std::string bytes =
      bytes_of(make("whole.y4m", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -pix_fmt gray"));
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& [text, failure] :
       {std::pair{bytes, ""},
        {bytes.substr(0, bytes.size() - 100), "it ends in the middle of a frame"},
        {bytes + "garbage\n" + std::string(100, 'g'), "Invalid data found when processing input"}}) {
    const std::jthread writer([&, sent = text] { std::ofstream(pipe, std::ios::binary) << sent; });
    EXPECT_EQ(read_all(pipe).failure, failure);
  }
}

TEST_F(BadInputTest, DamagedPacketsAreSkippedAndTheRunGoesOn) {
  const std::string whole =
      make("whole.ts", "-f lavfi -i testsrc2=s=128x96:r=25:d=4 -c:v mpeg2video -g 5 -q:v 4");
  std::string bytes;
  {
    std::ifstream in(whole, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t at = 20000; at + 3000 < bytes.size(); at += 9000) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1500, '\x5a');
  }
  std::ofstream(path("damaged.ts"), std::ios::binary) << bytes;
  const std::string counted = output_of(
      "ffprobe -v quiet -count_frames -select_streams v -show_entries stream=nb_read_frames -of "
      "default=nw=1:nk=1 '" +
      path("damaged.ts") + "' | head -1");
  const Clip clip = read_clip(path("damaged.ts"));
  EXPECT_EQ(static_cast<int>(clip.frames.size()), std::stoi(counted));
  EXPECT_GT(clip.frames.size(), 50U);
  EXPECT_EQ(transcode(path("damaged.ts"), path("copy.mkv")).frames, std::stoi(counted));
}

TEST_F(BadInputTest, FramesOfAnotherSizeAreScaledToTheFirst) {
  const std::string small = make("small.h264", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -c:v libx264");
  const std::string large = make("large.h264", "-f lavfi -i testsrc2=s=96x64:r=25:d=0.4 -c:v libx264");
  output_of("cat '" + small + "' '" + large + "' '" + small + "' > '" + path("all.h264") + "'");
  Reader reader(path("all.h264"));
  int frames = 0;
  for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item); item = reader.read()) {
    const Frame& frame = std::get<Frame>(item);
    EXPECT_EQ(frame.format, reader.video().format);
    EXPECT_EQ(frame.format.width, 64);
    ++frames;
  }
  EXPECT_EQ(frames, 30);
  EXPECT_EQ(count_of(reader.diagnostics(), Diagnostic::Kind::kConvertedFrames), 10);
}

TEST_F(BadInputTest, FieldsOfAnotherOrderThanTheFirstAreTold) {
  const auto part = [&](const std::string& name, const std::string& fields) {
    std::ifstream file(
        make(name, "-f lavfi -i testsrc2=s=64x64:d=0.2 -c:v mpeg2video -bf 0 " + fields + " -f mpegts"),
        std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  };
  const std::string progressive = part("progressive.ts", "");
  const std::string top = part("top.ts", "-vf setfield=tff -flags +ildct+ilme -top 1");
  const std::string bottom = part("bottom.ts", "-vf setfield=bff -flags +ildct+ilme -top 0");
  const auto change = [&](const std::string& bytes) {
    Reader reader(write_text("mixed.ts", bytes));
    while (!std::holds_alternative<Reader::End>(reader.read())) {
    }
    return text_of(reader.diagnostics(), Diagnostic::Kind::kScanChange);
  };
  EXPECT_EQ(change(top + bottom), "from frame 5 on it is interlaced, bottom field first");
  EXPECT_EQ(change(progressive + top + bottom), "from frame 5 on it is interlaced, top field first");
  EXPECT_EQ(change(top), "");
  EXPECT_EQ(change(top + progressive), "") << "progressive frames have both orders";
}

TEST_F(BadInputTest, ImpossibleSizesOfRawVideoAreTold) {
  for (const std::string size : {"W0 H48", "W100000 H100000", "W-5 H48"}) {
    const std::string file = write_text("size.y4m", "YUV4MPEG2 " + size + " F25:1 C420\nFRAME\n");
    EXPECT_EQ(message_of_reading(file), file + ": the picture size in its header is not possible");
  }
}

TEST_F(BadInputTest, UnknownInputFormatsAndOptionsAreUsageErrors) {
  EXPECT_THROW(read_clip(source(), {.input_format = "nonesuch"}), UsageError);
  EXPECT_EQ(message_of_reading(source(), {.input_format = "nonesuch"}),
            "no input format is called 'nonesuch'");
  EXPECT_THROW(read_clip(source(), {.options = {{"nonesuch", "1"}}}), UsageError);
  EXPECT_NE(message_of_reading(source(), {.options = {{"nonesuch", "1"}}}).find("'nonesuch'"),
            std::string::npos);
}

TEST_F(BadInputTest, ImpossibleEncodersAndOptionsAreUsageErrors) {
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "nonesuch"}),
            "usage: no encoder is called 'nonesuch'; usual ones are libx264, libx265, libsvtav1, prores_ks "
            "and ffv1");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "libx246"}),
            "usage: no encoder is called 'libx246'; usual ones are libx264, libx265, libsvtav1, prores_ks "
            "and ffv1");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "aac"}), "usage: 'aac' is not a video encoder");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.pixel_format = "nonesuch"}),
            "usage: no pixel format is called 'nonesuch'; yuv420p10le has 10 bits");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "mpeg4", .pixel_format = "yuv444p"}),
            "usage: the encoder mpeg4 doesn't take the pixel format 'yuv444p', but yuv420p");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.encoder_options = {{"nonesuch", "1"}}}),
            "usage: the encoder libx264 has no option 'nonesuch'");
  for (const auto& [option, value] :
       {std::pair{"video_size", "4000x3000"}, {"pixel_format", "yuv422p"}, {"time_base", "1/7"}}) {
    EXPECT_EQ(
        message_of_writing(path("out.mkv"), {.codec = "ffv1", .encoder_options = {{option, value}}}),
        "usage: the encoder option '" + std::string(option) + "' can't be set: it follows from the frames");
  }
  for (const auto& [codec, key, value, complaint] :
       {std::tuple{"libx264", "x264-params", "qpmin=5:nonesuch=1", "Error parsing option 'nonesuch = 1'."},
        {"libx264rgb", "x264-params", "nonesuch=1", "Error parsing option 'nonesuch = 1'."},
        {"libx265", "x265-params", "nonesuch=1", "Unknown option: nonesuch."},
        {"libx265", "x265-params", "bframes=x", "Invalid value for bframes: x."}}) {
    EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = codec, .encoder_options = {{key, value}}}),
              "usage: " + path("out.mkv") + ": " + key + ": [" + codec + "] " + complaint);
  }
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "ffv1", .crf = "20"}),
            "usage: the encoder ffv1 has no option 'crf'");
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.crf = "twenty"}),
            "usage: the encoder libx264 doesn't take 'twenty' for its option 'crf', but 0 to 51");
  for (const auto& [codec, file, greatest] : {std::tuple{"libx264", "out.mkv", "51"},
                                              {"libx265", "out.mp4", "51"},
                                              {"libvpx-vp9", "out.webm", "63"},
                                              {"libaom-av1", "out.mkv", "63"}}) {
    const std::string message = message_of_writing(path(file), {.codec = codec, .crf = "99"});
    EXPECT_TRUE(message.starts_with("usage: the encoder " + std::string(codec) +
                                    " doesn't take '99' for its option 'crf', but ") &&
                message.ends_with(" to " + std::string(greatest)))
        << message;
  }
  for (const std::string bitrate : {"0", "0k"}) {
    EXPECT_EQ(message_of_writing(path("out.mkv"), {.codec = "mpeg4", .bitrate = bitrate}),
              "usage: the bitrate must be greater than 0, such as 4M, not '" + bitrate + "'");
  }
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.container = "nonesuch"}),
            "usage: no container is called 'nonesuch'");
  EXPECT_EQ(
      message_of_writing(path("out.nonesuch")),
      "usage: " + path("out.nonesuch") +
          ": the container is not clear from the name; use a name such as clean.mkv, or -f NAME. The name of "
          "a folder "
          "ends in /");
  EXPECT_EQ(message_of_writing(path("out.mp3")),
            "usage: " + path("out.mp3") + ": the container mp3 can't hold video");
  EXPECT_EQ(message_of_writing(path("out.webm"), {.codec = "libx264"}),
            "usage: " + path("out.webm") +
                ": the container webm can't hold what the encoder libx264 makes; a file in .mkv can");
  for (const auto& [file, codec, hint] :
       {std::tuple{"out.tif", "prores_ks", "; a file in .mov can (--for edit)"},
        {"out.png", "mjpeg", "; a file in .mkv can"},
        {"out.%03d.jpg", "png", "; a file in .mkv can"}}) {
    EXPECT_EQ(message_of_writing(path(file), {.codec = codec}),
              "usage: " + path(file) + ": a picture of this name can't hold what the encoder " + codec +
                  " makes" + hint);
  }
}

TEST_F(BadInputTest, RefusalsOfTheEncoderAreQuoted) {
  EXPECT_EQ(message_of_writing(path("out.mkv"), {.preset = "nonesuch"})
                .rfind("usage: the encoder libx264 has no "
                       "preset 'nonesuch', but ultrafast",
                       0),
            0U);
  const std::string message =
      message_of_writing(path("out.mkv"), {.encoder_options = {{"profile", "nonesuch"}}});
  EXPECT_NE(message.find("libx264"), std::string::npos) << message;
  EXPECT_NE(message.find("profile nonesuch"), std::string::npos) << message;
}

TEST_F(BadInputTest, X265IsKeptFromPicturesThatItFailsWith) {
  const std::string narrow =
      make("narrow.mkv", "-f lavfi -i testsrc2=s=40x64:d=0.1 -c:v ffv1 -pix_fmt yuv420p10le");
  const Reader reader(narrow);
  try {
    const Writer writer(path("narrow.mp4"), reader, {.codec = "libx265"});
    ADD_FAILURE() << "it would overrun its memory";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("40 samples wide"), std::string::npos) << error.what();
  }
  EXPECT_NE(Writer(path("narrow.mp4"), reader, {}).codec(), "libx265");
}

TEST_F(BadInputTest, OutputIsNeverTheInput) {
  EXPECT_EQ(message_of_writing(source(), {.overwrite = Overwrite::kAlways}),
            source() + ": is the input itself");
  EXPECT_EQ(message_of_writing(path("./source.mkv"), {.overwrite = Overwrite::kAlways}),
            path("./source.mkv") + ": is the input itself");
}

TEST_F(BadInputTest, AHeaderThatIsCutOffIsNoBrokenDisk) {
  const std::string cut = path("cut.mkv");
  std::filesystem::copy_file(source(), cut);
  std::filesystem::resize_file(cut, 300);
  EXPECT_EQ(message_of_reading(cut), cut + ": can't open it: the file is cut off or damaged in its header");
}

TEST_F(BadInputTest, UnwritablePlacesAreNamed) {
  EXPECT_EQ(message_of_writing(path("none/out.mkv")),
            path("none/out.mkv") + ": the folder " + path("none") + " does not exist");
  EXPECT_EQ(message_of_writing(path("."), {.container = "matroska"}),
            path(".") + ": is a directory, not a file");
}

TEST_F(BadInputTest, FullDeviceIsAnError) {
  if (::access("/dev/full", W_OK) != 0) {
    GTEST_SKIP() << "/dev/full is missing";
  }
  const std::string message = message_of_writing("/dev/full", {.container = "matroska"});
  EXPECT_EQ(message.rfind("/dev/full: can't", 0), 0U) << message;
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
}

TEST_F(BadInputTest, FullDiskKeepsTheOutputSoFar) {
  const std::string disk = path("disk");
  ASSERT_EQ(::mkdir(disk.c_str(), 0700), 0);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0) {
    GTEST_SKIP() << "mounting a small disk is not permitted";
  }
  const std::string large =
      make("large.mkv", "-f lavfi -i testsrc2=s=320x240:r=25:d=0.8,noise=alls=30 -c:v ffv1");
  for (const std::string name : {"out.mkv", "out.mp4", "out.y4m"}) {
    SCOPED_TRACE(name);
    const Reader reader(large);
    const bool raw = name == "out.y4m";
    Writer writer(disk + "/" + name, reader,
                  raw ? WriterOptions{}
                      : WriterOptions{.codec = "mpeg4", .encoder_options = {{"qmin", "1"}, {"qmax", "1"}}});
    Reader source(large);
    std::string message = "no error";
    try {
      for (int i = 0; i < 20; ++i) {
        writer.write(std::get<Frame>(source.read()));
      }
    } catch (const DiskFull& error) {
      message = error.what();
    }
    EXPECT_EQ(message, disk + "/" + name + ": can't write: No space left on device");
    const std::string kept = writer.finish_partial();
    EXPECT_EQ(kept, disk + "/out.partial" + std::filesystem::path(name).extension().string());
    EXPECT_GT(writer.frames_written(), 3);
    const Clip clip = read_clip(kept);
    EXPECT_EQ(static_cast<std::int64_t>(clip.frames.size()), writer.frames_written());
    EXPECT_EQ(clip.damaged_packets, 0);
    EXPECT_GT(std::filesystem::file_size(kept), std::filesystem::space(disk).capacity / 2);
    std::filesystem::remove(kept);
    EXPECT_TRUE(std::filesystem::is_empty(disk));
  }
  try {
    transcode(large, disk + "/out_%d.png");
    ADD_FAILURE() << "20 pictures can't fit";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos) << error.what();
  }
  for (const auto& entry : std::filesystem::directory_iterator(disk)) {
    const std::string left = entry.path().filename().string();
    EXPECT_TRUE(left.starts_with("out_")) << left;  // complete pictures
  }
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST_F(BadInputTest, ClosedPipeIsAnError) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  const std::string message =
      message_of_writing("pipe:" + std::to_string(ends[1]), {.container = "yuv4mpegpipe"});
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
  EXPECT_NE(message.find("Broken pipe"), std::string::npos) << message;
}

TEST_F(BadInputTest, ExistingTargetIsKeptUnlessToldOtherwise) {
  const std::string target = write_text("out.mkv", "precious");
  EXPECT_THROW(transcode(source(), target), Error);
  std::string content;
  std::ifstream(target) >> content;
  EXPECT_EQ(content, "precious");
  transcode(source(), target, {.overwrite = Overwrite::kAlways});
  EXPECT_EQ(read_clip(target).frames.size(), 10U);
  EXPECT_EQ(files(), (std::vector<std::string>{"out.mkv", "source.mkv"}));
}

TEST_F(BadInputTest, AbandonedRunLeavesTheOldFileAndNoOther) {
  const std::string target = write_text("out.mkv", "precious");
  {
    const Reader reader(source());
    Writer writer(target, reader, {.overwrite = Overwrite::kAlways});
    EXPECT_EQ(files().size(), 3U);
  }
  std::string content;
  std::ifstream(target) >> content;
  EXPECT_EQ(content, "precious");
  EXPECT_EQ(files(), (std::vector<std::string>{"out.mkv", "source.mkv"}));
}

// A killed run leaves its temporary file, in which Matroska's last cluster is missing.
TEST_F(BadInputTest, UnfinishedMatroskaFileIsReadableExceptItsEnd) {
  const auto lost_of = [&](const std::string& name, const std::string& pictures) {
    const std::string from = make("of_" + name, "-f lavfi -i " + pictures + " -c:v ffv1");
    Reader reader(from);
    Writer writer(
        path(name), reader,
        {.codec = "mpeg4",
         .encoder_options = {{"g", "1000"}, {"sc_threshold", "1000000000"}, {"qmin", "1"}, {"qmax", "1"}}});
    std::int64_t frames = 0;
    for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item);
         item = reader.read()) {
      writer.write(std::get<Frame>(item));
      ++frames;
    }
    const std::vector<std::string> all = files();
    const auto left = std::find_if(all.begin(), all.end(),
                                   [&](const std::string& file) { return file.ends_with("-" + name); });
    const std::int64_t read = left == all.end() ? 0 : read_all(path(*left)).frames;
    return std::pair(frames, frames - read);
  };
  const auto [slow, slow_lost] = lost_of("slow.mkv", "color=gray:s=64x48:r=5:d=4");
  EXPECT_EQ(slow, 20);
  EXPECT_LE(slow_lost, 6) << "frames of a fifth of a second";
  const auto [large, large_lost] =
      lost_of("large.mkv", "color=gray:s=640x480:r=25:d=0.36,noise=alls=60:allf=t");
  EXPECT_EQ(large, 9);
  EXPECT_LE(large_lost, 4) << "frames of half a megabyte";
}

TEST_F(BadInputTest, LinkedTargetStaysALink) {
  std::filesystem::create_symlink("real.mkv", path("link.mkv"));
  transcode(source(), path("link.mkv"), {.overwrite = Overwrite::kAlways});
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.mkv")));
  EXPECT_EQ(read_clip(path("real.mkv")).frames.size(), 10U);
}

TEST_F(BadInputTest, NamesWithColonsAndPercentSignsAreFiles) {
  for (const std::string name : {"a:b.mkv", "100%.mkv", "blank name.mkv"}) {
    transcode(source(), path(name));
    EXPECT_EQ(read_clip(path(name)).frames.size(), 10U) << name;
  }
}

TEST_F(BadInputTest, LibavsMessagesGoToTheSinkOnly) {
  std::atomic<int> lines = 0;
  set_log_sink([&](LogSeverity, const std::string& line) {
    lines += line.empty() ? 0 : 1;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  });
  ::testing::internal::CaptureStderr();
  transcode(source(), path("out.mkv"));
  const std::string printed = ::testing::internal::GetCapturedStderr();
  set_log_sink({});
  EXPECT_EQ(printed, "");
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace limpid::io
