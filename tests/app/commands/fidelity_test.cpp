// SPDX-License-Identifier: MIT
// All content of a file other than its pictures is kept if the container can store it. ffmpeg makes files
// with all kinds of content, and ffprobe compares limpid's output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/program/program_test.h"
#include "tests/rotated_track.h"

namespace limpid::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string tag_of(const json& stream, const std::string& key, const std::string& otherwise = "") {
  return stream.contains("tags") ? stream["tags"].value(key, otherwise) : otherwise;
}

const Words kPicture = {"-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.4"};
const Words kSound = {"-f", "lavfi", "-i", "sine=d=0.4"};

/// The output of ffprobe for a file.
class Probed {
 public:
  explicit Probed(const std::string& file)
      : all_(json::parse(
            run({"ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_format", "-show_chapters",
                 "-show_packets", "-show_frames", "-show_data_hash", "md5", file})
                .out)) {
    const auto picture = std::find_if(all_["streams"].begin(), all_["streams"].end(),
                                      [](const json& stream) { return stream["codec_type"] == "video"; });
    for (const json& item : all_["packets_and_frames"]) {
      if (item["type"] == "packet") {
        packets_.push_back(item);
      } else if (picture != all_["streams"].end() && item["type"] == "frame" &&
                 item["stream_index"] == (*picture)["index"]) {
        frames_.push_back(item);
      }
    }
  }

  /// The n-th stream of a type; "cover" are pictures attached to the file.
  const json& stream(const std::string& type, int n = 0) const {
    for (const json& stream : all_["streams"]) {
      const bool cover = stream["disposition"]["attached_pic"] == 1;
      if ((cover ? "cover" : stream["codec_type"]) == type && n-- == 0) {
        return stream;
      }
    }
    static const json none = {{"disposition", json::object()}, {"index", -1}};
    ADD_FAILURE() << "there is no " << type << " stream of that number";
    return none;
  }
  int count(const std::string& type) const {
    int count = 0;
    for (const json& stream : all_["streams"]) {
      const bool cover = stream["disposition"]["attached_pic"] == 1;
      count += (cover ? "cover" : stream["codec_type"]) == type ? 1 : 0;
    }
    return count;
  }
  const json& video() const { return stream("video"); }
  const json& frames() const { return frames_; }
  const json& frame() const { return frames_[0]; }
  std::string tag(const std::string& key) const {
    return all_["format"].value("tags", json::object()).value(key, "");
  }

  /// One value of every packet of a stream.
  json packets(const json& stream, const std::string& key) const {
    json values = json::array();
    for (const json& packet : packets_) {
      if (packet["stream_index"] == stream["index"]) {
        values.push_back(packet.value(key, ""));
      }
    }
    return values;
  }
  /// Seconds from the first frame of the video.
  std::vector<double> times(const json& stream) const {
    std::vector<double> times;
    for (const json& text : packets(stream, "pts_time")) {
      times.push_back(std::stod(text.get<std::string>()) - begin());
    }
    return times;
  }
  /// Times of packets, except empty ones, which fill the gaps between subtitles in mov.
  std::vector<double> shown_times(const json& stream) const {
    const json sizes = packets(stream, "size");
    std::vector<double> all = times(stream);
    std::vector<double> shown;
    constexpr int kEmpty = 2;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::stoi(sizes[i].get<std::string>()) > kEmpty) {
        shown.push_back(all[i]);
      }
    }
    return shown;
  }
  std::vector<double> frame_times() const {
    std::vector<double> times;
    for (const json& frame : frames_) {
      // AVI has no time of the last frame if there are B-frames.
      times.push_back(time_of(frame).value_or(begin() + (times.empty() ? 0 : times.back() + 0.04)) - begin());
    }
    return times;
  }
  double begin() const { return time_of(frames_[0]).value_or(0); }

  /// Times and titles.
  json chapters() const {
    json result = json::array();
    for (const json& chapter : all_["chapters"]) {
      result.push_back({chapter["start_time"], chapter["end_time"], chapter["tags"]["title"]});
    }
    return result;
  }
  /// The side data of this type of the video stream, or of its first frame.
  json side_data(const std::string& type) const {
    for (const json* const list : {&video(), &frame()}) {
      for (const json& data : list->value("side_data_list", json::array())) {
        if (data["side_data_type"] == type) {
          return data;
        }
      }
    }
    return nullptr;
  }

 private:
  static std::optional<double> time_of(const json& frame) {
    for (const char* const key : {"pts_time", "best_effort_timestamp_time"}) {
      if (frame.contains(key)) {
        return std::stod(frame[key].get<std::string>());
      }
    }
    return std::nullopt;
  }
  json all_;
  json packets_ = json::array();
  json frames_ = json::array();
};

/// The text of the first event of the n-th subtitle stream.
std::string words_of(const std::string& file, int n) {
  const std::string srt =
      run({"ffmpeg", "-v", "error", "-i", file, "-map", "0:s:" + std::to_string(n), "-f", "srt", "-"}).out;
  return lines(srt).size() > 2 ? lines(srt)[2] : "";
}

constexpr double kMillisecond = 0.00101;  // Matroska's rounding of times

void expect_near(const std::vector<double>& expected, const std::vector<double>& actual) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], kMillisecond) << "at " << i;
  }
}

class FidelityTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!IsSkipped()) {
      write_file(path("one.srt"), "1\n00:00:00,100 --> 00:00:00,300\nWords\n");
      write_file(path("two.srt"), "1\n00:00:00,200 --> 00:00:00,350\nMots\n");
      write_file(path("meta.txt"),
                 ";FFMETADATA1\ntitle=A title\nartist=Someone\ncomment=A comment\n"
                 "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=200\ntitle=One\n"
                 "[CHAPTER]\nTIMEBASE=1/1000\nSTART=200\nEND=400\ntitle=Two\n");
    }
  }

  /// Runs limpid; its warnings are in warnings().
  Probed denoised(const std::string& source, const std::string& target, const Words& options = {}) {
    const Outcome outcome = limpid(
        Words{"denoise", source, "-o", path(target), "-y", "--profile", "fast", "--sigma", "10"} + options);
    expect_success(outcome);
    warnings_ = outcome.err;
    return Probed(path(target));
  }
  bool warned_of(const std::string& words) const {
    for (const std::string& line : lines(warnings_)) {
      if (line.starts_with("limpid: warning: ") && line.find(words) != std::string::npos) {
        return true;
      }
    }
    return false;
  }
  bool warned() const { return warned_of(""); }
  const std::string& warnings() const { return warnings_; }

  /// Two of each kind of stream that Matroska or mov can store.
  std::string make_full(const std::string& name) const {
    const bool matroska = name.ends_with(".mkv");
    const std::string cover = make("cover.png", {"-f", "lavfi", "-i", "color=red:s=32x32", "-frames:v", "1"});
    Words arguments = kPicture + kSound + kSound +
                      Words{"-i",
                            path("one.srt"),
                            "-i",
                            path("two.srt"),
                            "-i",
                            path("meta.txt"),
                            "-i",
                            cover,
                            "-map",
                            "0",
                            "-map",
                            "1",
                            "-map",
                            "2",
                            "-map",
                            "3",
                            "-map",
                            "4",
                            "-map_metadata",
                            "5",
                            "-map_chapters",
                            "5",
                            "-c:v",
                            "libx264",
                            "-bf",
                            "2",
                            "-c:a:0",
                            "aac",
                            "-c:a:1",
                            "ac3",
                            "-c:s",
                            matroska ? "srt" : "mov_text",
                            "-metadata:s:v:0",
                            "language=jpn",
                            "-metadata:s:a:0",
                            "language=eng",
                            "-metadata:s:a:1",
                            "language=ger",
                            "-disposition:a:0",
                            "default",
                            "-disposition:a:1",
                            "comment",
                            "-metadata:s:s:0",
                            "language=ita",
                            "-metadata:s:s:1",
                            "language=eng",
                            "-disposition:s:0",
                            "forced",
                            "-disposition:s:1",
                            "default",
                            "-timecode",
                            "01:00:00:00"};
    if (matroska) {
      arguments = arguments +
                  Words{"-metadata:s:a:1", "title=Comments",      "-attach",         path("meta.txt"),
                        "-metadata:s:t:0", "mimetype=text/plain", "-attach",         cover,
                        "-metadata:s:t:1", "mimetype=image/png",  "-metadata:s:t:1", "filename=cover.png"};
    } else if (name.ends_with(".mp4")) {
      arguments = arguments + Words{"-map", "6", "-c:v:1", "copy", "-disposition:v:1", "attached_pic"};
    }
    return make(name, arguments);
  }

  static void expect_copied(const Probed& source, const Probed& target, const std::string& type, int n = 0) {
    SCOPED_TRACE(type + " " + std::to_string(n));
    const json& from = source.stream(type, n);
    const json& to = target.stream(type, n);
    EXPECT_EQ(to["codec_name"], from["codec_name"]);
    EXPECT_EQ(target.packets(to, "data_hash"), source.packets(from, "data_hash"));
    EXPECT_EQ(tag_of(to, "language", "und"), tag_of(from, "language", "und"));
    if (type != "cover") {
      expect_near(source.times(from), target.times(to));
    }
  }

 private:
  std::string warnings_;
};

class FullFile : public FidelityTest, public testing::WithParamInterface<const char*> {};

TEST_P(FullFile, KeepsStreamsTagsChaptersAndAttachments) {
  const std::string name = GetParam();
  const std::string file = make_full("in" + name);
  const Probed source(file);
  const Probed target = denoised(file, "out" + name);
  EXPECT_FALSE(warned()) << warnings();
  for (const int n : {0, 1}) {
    expect_copied(source, target, "audio", n);
    expect_copied(source, target, "subtitle", n);
    for (const char* type : {"audio", "subtitle"}) {
      EXPECT_EQ(target.stream(type, n)["disposition"], source.stream(type, n)["disposition"]) << type << n;
    }
  }
  EXPECT_EQ(tag_of(target.video(), "language"), "jpn");
  expect_near(source.frame_times(), target.frame_times());
  EXPECT_NEAR(target.begin(), source.begin(), kMillisecond);
  EXPECT_EQ(target.chapters(), source.chapters());
  EXPECT_EQ(target.chapters().size(), 2U);
  for (const char* tag : {"artist", "comment"}) {
    EXPECT_EQ(target.tag(name == ".mkv" ? (tag == std::string("artist") ? "ARTIST" : "COMMENT") : tag),
              source.tag(name == ".mkv" ? (tag == std::string("artist") ? "ARTIST" : "COMMENT") : tag));
  }
  EXPECT_EQ(target.tag("title"), "A title");
  if (name == ".mkv") {
    EXPECT_EQ(target.tag("TIMECODE"), "01:00:00:00");
    EXPECT_EQ(tag_of(target.stream("audio", 1), "title"), "Comments");
    ASSERT_EQ(target.count("attachment"), 1);
    EXPECT_EQ(target.stream("attachment")["extradata_hash"], source.stream("attachment")["extradata_hash"]);
  } else {
    EXPECT_EQ(tag_of(target.video(), "timecode"), "01:00:00:00");
  }
  if (name != ".mov") {
    expect_copied(source, target, "cover");
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, FullFile, testing::Values(".mkv", ".mp4", ".mov"),
                         [](const auto& test) { return std::string(test.param).substr(1); });

TEST_F(FidelityTest, LossesInAnotherContainerAreNamed) {
  const std::string file = make_full("in.mkv");
  const Probed source(file);
  for (const std::string name : {"mp4", "mov", "ts", "avi", "webm"}) {
    SCOPED_TRACE(name);
    const Probed target = denoised(file, "out." + name);
    EXPECT_EQ(target.frames().size(), source.frames().size());
    EXPECT_TRUE(warned_of("can't hold the subtitle stream #3 (subrip)")) << warnings();
    const bool holds_text = name == "mp4" || name == "mov" || name == "webm";
    ASSERT_EQ(target.count("subtitle"), holds_text ? 2 : 0);
    for (int n = 0; n < target.count("subtitle"); ++n) {
      EXPECT_EQ(words_of(path("out." + name), n), words_of(file, n));
      expect_near(source.times(source.stream("subtitle", n)),
                  target.shown_times(target.stream("subtitle", n)));
      EXPECT_EQ(tag_of(target.stream("subtitle", n), "language"), n == 0 ? "ita" : "eng");
    }
    EXPECT_TRUE(warned_of("can't hold the attachment stream #5")) << warnings();
    EXPECT_EQ(warned_of("can't hold the audio stream #1 (aac)"), name == "webm") << warnings();
    if (name == "mp4" || name == "mov") {
      expect_copied(source, target, "audio", 0);
      expect_copied(source, target, "audio", 1);
      EXPECT_EQ(tag_of(target.video(), "timecode"), "01:00:00:00");
      EXPECT_EQ(target.chapters(), source.chapters());
    } else {
      EXPECT_EQ(warned_of("chapters"), name != "webm") << warnings();
      EXPECT_EQ(warned_of("timecode"), name != "webm") << warnings();
    }
    EXPECT_EQ(warned_of("can't hold the cover stream #6 (png)"), name != "mp4") << warnings();
    if (name == "mp4") {
      expect_copied(source, target, "cover");
    }
    if (name == "ts") {
      EXPECT_EQ(target.packets(target.stream("audio", 1), "data_hash"),
                source.packets(source.stream("audio", 1), "data_hash"));
      expect_near(source.times(source.stream("audio", 1)), target.times(target.stream("audio", 1)));
    }
  }
}

TEST_F(FidelityTest, WebmAndTransportStreamsAndAvi) {
  const std::string webm = make("in.webm", kPicture + kSound +
                                               Words{"-i",
                                                     path("one.srt"),
                                                     "-i",
                                                     path("meta.txt"),
                                                     "-map",
                                                     "0",
                                                     "-map",
                                                     "1",
                                                     "-map",
                                                     "2",
                                                     "-map_chapters",
                                                     "3",
                                                     "-c:v",
                                                     "libvpx",
                                                     "-c:a",
                                                     "libopus",
                                                     "-c:s",
                                                     "webvtt",
                                                     "-metadata:s:a:0",
                                                     "language=fre"});
  const Probed source(webm);
  for (const char* name : {"out.webm", "out.mkv"}) {
    SCOPED_TRACE(name);
    const Probed target = denoised(webm, name);
    EXPECT_FALSE(warned()) << warnings();
    expect_copied(source, target, "audio");
    expect_copied(source, target, "subtitle");
    EXPECT_EQ(target.chapters(), source.chapters());
  }
  write_file(path("data.bin"), "some data");
  const std::string ts = make("in.ts", kPicture + kSound + kSound +
                                           Words{"-f",
                                                 "data",
                                                 "-i",
                                                 path("data.bin"),
                                                 "-map",
                                                 "0",
                                                 "-map",
                                                 "1",
                                                 "-map",
                                                 "2",
                                                 "-map",
                                                 "3",
                                                 "-c:v",
                                                 "libx264",
                                                 "-c:a",
                                                 "mp2",
                                                 "-c:d",
                                                 "copy",
                                                 "-metadata:s:a:1",
                                                 "language=deu",
                                                 "-output_ts_offset",
                                                 "50000"});
  const Probed stream(ts);
  const Probed copy = denoised(ts, "out.ts");
  expect_copied(stream, copy, "audio", 0);
  expect_copied(stream, copy, "audio", 1);
  EXPECT_EQ(copy.packets(copy.stream("data"), "data_hash"),
            stream.packets(stream.stream("data"), "data_hash"));
  EXPECT_LT(copy.begin(), 2);

  const std::string avi =
      make("in.avi", kPicture + kSound + kSound +
                         Words{"-map", "0", "-map", "1", "-map", "2", "-c:v", "mpeg4", "-c:a:0", "mp3",
                               "-c:a:1", "pcm_s16le", "-metadata", "title=A title"});
  const Probed old(avi);
  const Probed again = denoised(avi, "out.avi", {"-c", "mpeg4"});
  EXPECT_FALSE(warned()) << warnings();
  EXPECT_EQ(again.tag("title"), "A title");
  for (const int n : {0, 1}) {
    EXPECT_EQ(again.packets(again.stream("audio", n), "data_hash"),
              old.packets(old.stream("audio", n), "data_hash"));
  }
  expect_near(old.frame_times(), again.frame_times());
}

TEST_F(FidelityTest, SubtitlesThatArePicturesAreCopied) {
  // A Blu-ray subtitle: a screen without objects at 0.1 s, followed by an end of display set.
  const std::string time("\0\0\x23\x28\0\0\0\0", 8);
  const std::string screen("\0\x40\0\x30\x10\0\0\x80\0\0\0", 11);
  write_file(path("in.sup"),
             "PG" + time + std::string("\x16\0\x0B", 3) + screen + "PG" + time + std::string("\x80\0\0", 3));
  const std::string file = make("in.mkv", kPicture + Words{"-i", path("in.sup"), "-map", "0", "-map", "1",
                                                           "-c:v", "libx264", "-c:s", "copy"});
  const Probed source(file);
  ASSERT_EQ(source.packets(source.stream("subtitle"), "size").size(), 1U);
  for (const char* const name : {"out.mkv", "out.m2ts"}) {
    SCOPED_TRACE(name);
    expect_copied(source, denoised(file, name), "subtitle");
    EXPECT_FALSE(warned()) << warnings();
  }
  for (const char* const name : {"out.mp4", "out.mov", "out.ts"}) {
    EXPECT_EQ(denoised(file, name).count("subtitle"), 0);
    EXPECT_TRUE(warned_of("can't hold the subtitle stream #1 (hdmv_pgs_subtitle)")) << warnings();
  }
}

TEST_F(FidelityTest, TimesOfEveryKind) {
  const Words sound_and_b_frames = {"-c:v", "libx264", "-bf", "3", "-c:a", "aac"};
  const std::vector<std::pair<std::string, Words>> sources = {
      {"varying.mkv", kPicture + kSound +
                          Words{"-vf", "setpts='if(lt(N,4),N,N*2+1)/25/TB'", "-vsync", "vfr"} +
                          sound_and_b_frames},
      {"priming_edit.mp4", kPicture + kSound + sound_and_b_frames},
      {"empty_edit.mp4", Words{"-itsoffset", "0.3"} + kPicture + kSound + sound_and_b_frames},
      {"cutting_edit.mp4", kPicture + kSound + Words{"-ss", "0.11"} + sound_and_b_frames},
      {"negative.mkv",
       Words{"-itsoffset", "-0.1"} + kPicture + Words{"-itsoffset", "-0.1"} + kSound +
           Words{"-c:v", "ffv1", "-c:a", "flac", "-avoid_negative_ts", "disabled", "-copyts"}},
      {"missing.avi", kPicture + kSound + Words{"-c:v", "mpeg4", "-bf", "2", "-c:a", "mp3"}}};
  for (const auto& [name, arguments] : sources) {
    const std::string file = make(name, arguments);
    const Probed source(file);
    for (const char* target_name : {"out.mkv", "out.mp4"}) {
      SCOPED_TRACE(name + " to " + target_name);
      const Probed target = denoised(file, target_name);
      expect_near(source.frame_times(), target.frame_times());
      expect_copied(source, target, "audio");
    }
  }
}

TEST_F(FidelityTest, PixelFormatsAndRanges) {
  struct Case {
    std::string format;
    std::string range;
  };
  for (const auto& [format, range] : std::vector<Case>{{"gray", "pc"},
                                                       {"yuv420p", "tv"},
                                                       {"yuv422p", "pc"},
                                                       {"yuv420p10le", "tv"},
                                                       {"yuv444p12le", "tv"},
                                                       {"gbrp", "pc"}}) {
    SCOPED_TRACE(format);
    SCOPED_TRACE(range);
    const std::string file = make("in.mkv", kPicture + Words{"-frames:v", "2", "-pix_fmt", format,
                                                             "-color_range", range, "-c:v", "ffv1"});
    const Probed source(file);
    const Probed target = denoised(file, "out.mkv", {"-c", "ffv1"});
    EXPECT_EQ(target.video()["pix_fmt"], source.video()["pix_fmt"]);
    EXPECT_EQ(target.frame()["color_range"], range);
    if (!format.starts_with("gbr")) {
      const Probed y4m = denoised(file, "out.y4m");
      EXPECT_EQ(y4m.video()["pix_fmt"], format);
    }
  }
}

constexpr const char* kHdr10 =
    "log-level=none:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)"
    "L(10000000,1):max-cll=1000,400:chromaloc=2";

// From FFmpeg 7 on, encoders use frames' tags; before that, their options.
constexpr const char* kHdrTags =
    "setsar=3/2,setparams=range=tv:colorspace=bt2020nc:color_primaries=bt2020:color_trc=smpte2084";

TEST_F(FidelityTest, ColorGeometryAndHdr10) {
  const std::string file =
      make("in.mkv", kPicture + Words{"-vf", kHdrTags, "-pix_fmt", "yuv420p10le", "-c:v", "libx265",
                                      "-x265-params", kHdr10, "-color_range", "tv", "-colorspace", "bt2020nc",
                                      "-color_primaries", "bt2020", "-color_trc", "smpte2084"});
  const Probed source(file);
  for (const auto& [name, options] :
       std::vector<std::pair<std::string, Words>>{{"out.mkv", {}},
                                                  {"out.mp4", {}},
                                                  {"out.mov", {"-c", "libx265"}},
                                                  {"out.webm", {}},
                                                  {"ffv1.mkv", {"-c", "ffv1"}}}) {
    SCOPED_TRACE(name);
    const Probed target = denoised(file, name, options);
    EXPECT_FALSE(warned()) << warnings();
    for (const char* key : {"pix_fmt", "color_range", "color_space", "color_primaries", "color_transfer",
                            "sample_aspect_ratio"}) {
      EXPECT_EQ(target.frame()[key], source.frame()[key]) << key;
    }
    if (name != "out.webm") {
      EXPECT_EQ(target.frame()["chroma_location"], "topleft");
    }
    const json light = target.side_data("Content light level metadata");
    EXPECT_EQ(light["max_content"], 1000);
    EXPECT_EQ(light["max_average"], 400);
    const json display = target.side_data("Mastering display metadata");
    const auto value = [&](const char* key) {
      const std::string text = display[key].get<std::string>();
      return std::stod(text) / std::stod(text.substr(text.find('/') + 1));
    };
    EXPECT_NEAR(value("red_x"), 0.68, 1e-4);
    EXPECT_NEAR(value("white_point_y"), 0.329, 1e-4);
    EXPECT_NEAR(value("max_luminance"), 1000, 1e-2);
  }
}

TEST_F(FidelityTest, FieldsStayFields) {
  const std::string file =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=s=64x64:r=50:d=0.4", "-vf",
                      "interlace=scan=bff,setsar=3/2", "-c:v", "mpeg2video", "-flags", "+ilme+ildct"});
  // ffprobe says bt of what containers store, and bb of what it finds in streams.
  for (const auto& [name, codec, order] :
       std::vector<std::tuple<std::string, std::string, std::string>>{{"out.mkv", "libx264", "bt"},
                                                                      {"out.mp4", "libx264", "bb"},
                                                                      {"out.mov", "libx264", "bb"},
                                                                      {"out.ts", "libx264", "bb"},
                                                                      {"out.avi", "libx264", "bb"},
                                                                      {"mpeg2.mov", "mpeg2video", "bt"},
                                                                      {"prores.mov", "prores_ks", "bt"},
                                                                      {"ffv1.mkv", "ffv1", "bt"},
                                                                      {"hevc.mkv", "libx265", "bt"}}) {
    SCOPED_TRACE(name);
    const Probed target = denoised(file, name, {"-c", codec});
    EXPECT_EQ(target.video()["field_order"], order);
    EXPECT_EQ(warned_of("interlaced"), codec == "libx265") << warnings();
    EXPECT_EQ(target.frame()["sample_aspect_ratio"], "3:2");
    if (codec != "libx265") {
      EXPECT_EQ(target.frame()["interlaced_frame"], 1);
      EXPECT_EQ(target.frame()["top_field_first"], 0);
    }
  }
  expect_failure(limpid({"denoise", file, "-o", path("out.mxf"), "-c", "libx264"}), 2,
                 {"bottom field first, which MXF cannot state with libx264"});
  static_cast<void>(denoised(file, "web.mp4", {"--for", "web"}));
  EXPECT_TRUE(warned_of("browsers show as combs: add --after bwdif")) << warnings();
  static_cast<void>(denoised(file, "web2.mp4", {"--for", "web", "--after", "bwdif"}));
  EXPECT_FALSE(warned_of("bwdif")) << warnings();
}

TEST_F(FidelityTest, AnMpgKeepsFieldsAndAspectByDefault) {
  const std::string file =
      make("in.mpg", {"-f", "lavfi", "-i", "testsrc2=s=80x72:r=50:d=0.4", "-vf",
                      "interlace=scan=bff,setsar=6/5", "-c:v", "mpeg2video", "-flags", "+ilme+ildct"});
  const Probed target = denoised(file, "out.mpg", {});
  EXPECT_EQ(target.video()["codec_name"], "mpeg2video");
  EXPECT_EQ(target.video()["field_order"], "bb");
  EXPECT_EQ(target.frame()["sample_aspect_ratio"], "6:5");
}

TEST_F(FidelityTest, HevcCodedAsFieldsIsRefusedUntilTheyAreJoined) {
  const std::string file =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.4", "-vf", "separatefields", "-c:v",
                      "libx265", "-x265-params", "interlace=tff:log-level=none"});
  expect_failure(limpid({"denoise", file, "-o", path("out.mkv")}), 1,
                 {"HEVC coded as fields", "add --before weave=first_field=top"});
  const Probed joined = denoised(file, "out.mkv", {"-c", "ffv1", "--before", "weave=first_field=top"});
  EXPECT_EQ(joined.video()["height"], 64);
  EXPECT_EQ(joined.frame()["top_field_first"], 1);
}

TEST_F(FidelityTest, RotationIsKeptOrGivenToThePicture) {
  for (const int degrees : {90, 180}) {
    SCOPED_TRACE(degrees);
    const std::string file =
        make("in.mov", kPicture + Words{"-frames:v", "2", "-vf", "setsar=3/2", "-c:v", "libx264"});
    rotate_track(file, degrees);
    const Probed source(file);
    ASSERT_FALSE(source.side_data("Display Matrix").is_null());
    for (const char* name : {"out.mov", "out.mp4"}) {
      EXPECT_EQ(denoised(file, name).side_data("Display Matrix"), source.side_data("Display Matrix"));
      EXPECT_FALSE(warned()) << warnings();
    }
    for (const char* name : {"out.mkv", "out.avi", "out.y4m"}) {
      SCOPED_TRACE(name);
      const std::string target = path(name);
      expect_success(
          limpid(Words{"denoise", file, "-o", target, "-y", "--sigma", "0"} +
                 (target.ends_with(".mkv") || target.ends_with(".avi") ? Words{"-c", "ffv1"} : Words{})));
      const auto hashes = [](const std::string& from) {
        return run({"ffmpeg", "-v", "error", "-i", from, "-pix_fmt", "rgb24", "-f", "streamhash", "-"}).out;
      };
      EXPECT_EQ(hashes(target), hashes(file)) << "ffmpeg turns the pictures itself";
    }
    const Probed turned = denoised(file, "out.webm");
    EXPECT_TRUE(warned_of("rotation")) << warnings();
    EXPECT_EQ(turned.video()["width"], degrees == 90 ? 48 : 64);
    EXPECT_EQ(turned.frame()["sample_aspect_ratio"], degrees == 90 ? "2:3" : "3:2");
  }
}

TEST_F(FidelityTest, OrientationOfPhotosIsGivenToThePicture) {
  std::string jpeg = read_file(make("plain.jpg", kPicture + Words{"-frames:v", "1"}));
  // An EXIF segment after the file's first marker, with one tag: orientation 6, a quarter turn clockwise.
  const std::string exif(
      "\xFF\xE1\x00\x22"
      "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0",
      36);
  jpeg.insert(2, exif);
  write_file(path("in.jpg"), jpeg);
  const std::string expected =
      make("expected.png", {"-i", path("plain.jpg"), "-vf", "format=gbrp,transpose=clock"});
  expect_success(limpid({"denoise", path("in.jpg"), "-o", path("out.png"), "--sigma", "0", "-q"}));
  const Probed target(path("out.png"));
  EXPECT_EQ(target.video()["width"], 48);
  EXPECT_EQ(target.video()["height"], 64);
  const Outcome measured = limpid({"measure", expected, path("out.png"), "--json"});
  expect_success(measured);
  EXPECT_GT(json::parse(measured.out)["average"]["psnr"]["G"].get<double>(), 30);
}

/// Writes bits in the order of SEI messages: the highest first.
class BitWriter {
 public:
  void put(std::uint32_t value, int bits) {
    for (int bit = bits - 1; bit >= 0; --bit) {
      if (count_++ % 8 == 0) {
        bytes_ += '\0';
      }
      if (((value >> bit) & 1U) != 0) {
        bytes_.back() = static_cast<char>(bytes_.back() | (0x80 >> ((count_ - 1) % 8)));
      }
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  int count_ = 0;
};

TEST_F(FidelityTest, DynamicHdrIsWarnedOf) {
  const std::string plain =
      read_file(make("plain.hevc", kPicture + Words{"-frames:v", "1", "-pix_fmt", "yuv420p10le", "-c:v",
                                                    "libx265", "-x265-params", "log-level=none:info=0"}));
  // HDR10+ is a message of SMPTE ST 2094-40 before the first slice. Only non-zero fields, so that no byte has
  // to be escaped.
  BitWriter hdr10_plus;
  hdr10_plus.put(0xB5, 8);     // country: USA
  hdr10_plus.put(0x003C, 16);  // provider
  hdr10_plus.put(0x0001, 16);
  hdr10_plus.put(4, 8);                       // application
  hdr10_plus.put(1, 8);                       // version
  hdr10_plus.put(1, 2);                       // windows
  hdr10_plus.put(400U << 13U | 0x1111U, 27);  // display's maximum luminance
  hdr10_plus.put(0, 1);
  for (int i = 0; i < 4; ++i) {
    hdr10_plus.put(0x15555, 17);  // maxima of R, G and B, and the average
  }
  hdr10_plus.put(0, 4);       // percentiles
  hdr10_plus.put(0x155, 10);  // bright pixels
  hdr10_plus.put(0, 3);
  std::string message("\0\0\0\1\x4E\x01\x04", 7);
  message += static_cast<char>(hdr10_plus.bytes().size());
  message += hdr10_plus.bytes() + "\x80";
  std::size_t slice = 0;
  for (std::size_t at = plain.find(std::string("\0\0\1", 3)); at != std::string::npos;
       at = plain.find(std::string("\0\0\1", 3), at + 3)) {
    if (((plain[at + 3] >> 1) & 0x3F) < 32) {
      slice = plain[at - 1] == '\0' ? at - 1 : at;
      break;
    }
  }
  ASSERT_GT(slice, 0U);
  write_file(path("plus.hevc"), plain.substr(0, slice) + message + plain.substr(slice));
  // Dolby Vision is a unit of type 62 after the last slice. FFmpeg 7 drops units with an invalid end.
  write_file(path("vision.hevc"), plain + std::string("\0\0\0\1\x7C\x01\x19\x0C\x09\x55\x80", 11));
  for (const char* name : {"plus.hevc", "vision.hevc"}) {
    static_cast<void>(denoised(path(name), "out.mkv"));
    EXPECT_TRUE(warned_of("dynamic HDR metadata")) << name << ": " << warnings();
  }
}

TEST_F(FidelityTest, DolbyVisionThatOnlyTheContainerTellsOfIsWarnedOf) {
  std::string mp4 =
      read_file(make("plain.mp4", kPicture + Words{"-frames:v", "2", "-pix_fmt", "yuv420p10le", "-c:v",
                                                   "libx265", "-x265-params", "log-level=none"}));
  // Replaces the bit rates by its configuration: version 1.0, profile 8, level 1, with RPUs and a base layer.
  const std::size_t bit_rates = mp4.find("btrt");
  ASSERT_NE(bit_rates, std::string::npos);
  mp4.replace(bit_rates, 16, std::string("dvcC\x01\0\x10\x0D\x10\0\0\0\0\0\0\0", 16));
  write_file(path("in.mp4"), mp4);
  ASSERT_FALSE(Probed(path("in.mp4")).side_data("DOVI configuration record").is_null());
  for (const char* name : {"out.mp4", "out.mkv"}) {
    const Probed target = denoised(path("in.mp4"), name);
    EXPECT_TRUE(warned_of("dynamic HDR metadata")) << warnings();
    EXPECT_TRUE(target.side_data("DOVI configuration record").is_null()) << "it would be a lie";
  }
}

TEST_F(FidelityTest, PicturesOfASequence) {
  static_cast<void>(make("in_%02d.tiff", kPicture + Words{"-frames:v", "3", "-pix_fmt", "rgb48le"}));
  expect_success(limpid({"denoise", path("in_%02d.tiff"), "-o", path("out_%02d.tiff"), "--sigma", "0"}));
  for (const char* name : {"_01.tiff", "_02.tiff", "_03.tiff"}) {
    const Probed picture(path(std::string("out") + name));
    EXPECT_EQ(picture.video()["pix_fmt"], "rgb48le");
    const auto hash = [](const std::string& from) {
      return run({"ffmpeg", "-v", "error", "-i", from, "-f", "hash", "-"}).out;
    };
    EXPECT_EQ(hash(path(std::string("out") + name)), hash(path(std::string("in") + name)));
  }
}

}  // namespace
}  // namespace limpid::test
