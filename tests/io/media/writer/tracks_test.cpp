// SPDX-License-Identifier: MIT
// Streams other than the video, and the processing of audio.

#include "io/media/writer/tracks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/media/writer.h"
#include "tests/io/media/writer/made_source.h"
#include "tests/temporary_folder.h"

namespace limpid::io {
namespace {

// MP4 holds signed PCM from FFmpeg 6 on.
constexpr AVCodecID kUnsignedPcm = AV_CODEC_ID_PCM_U16LE;

class TracksTest : public ::testing::Test {
 protected:
  /// The diagnostics when the made source's streams are added to such a file.
  Diagnostics add_all(const std::string& container, const WriterOptions& options = {}) {
    const std::string url = (folder_.path() / ("out." + container)).string();
    const AVOutputFormat& format = container_named(container);
    muxer_ = std::make_unique<Muxer>(url, format, std::make_unique<OutputFile>(url, "", Overwrite::kNever));
    AVStream& video = muxer_->add_video();
    avcodec_parameters_from_context(video.codecpar, video_.get());
    video.time_base = video_->time_base;
    tracks_ = std::make_unique<Tracks>(url, Audio(url, format, options));
    Diagnostics diagnostics;
    const Source source = made_.get();
    for (const AVStream* const stream : streams_of(source.input)) {
      if (stream != &source.video && is_wanted(source, *stream, diagnostics)) {
        tracks_->add(*stream, *video_, *muxer_, diagnostics);
      }
    }
    return diagnostics;
  }
  /// A tenth of a second of silence for a stream of PCM.
  static Packet silence(int stream) {
    PacketHandle packet = make_packet();
    av_new_packet(packet.get(), 4800 * 4);
    std::fill_n(packet->data, packet->size, std::uint8_t{0});
    packet->pts = packet->dts = 0;
    packet->duration = 4800;
    packet->stream_index = stream;
    return {std::move(packet), {1, 48000}};
  }
  AVCodecID written_codec(unsigned stream) const {
    return muxer_->context().streams[stream]->codecpar->codec_id;
  }

  MadeSource made_;
  CodecHandle video_ = make_video_context();
  test::TemporaryFolder folder_;
  std::unique_ptr<Muxer> muxer_;
  std::unique_ptr<Tracks> tracks_;
};

TEST_F(TracksTest, SupportedStreamsAreCopied) {
  made_.add_sound();
  EXPECT_TRUE(add_all("matroska").empty());
  EXPECT_EQ(written_codec(1), AV_CODEC_ID_PCM_S16LE);
}

TEST_F(TracksTest, SoundThatTheContainerCannotHoldIsTranscodedToItsEnd) {
  made_.add_sound(kUnsignedPcm);
  EXPECT_EQ(texts_of(add_all("mp4")),
            std::vector<std::string>{"mp4 can't hold the audio stream #1 (pcm_u16le): it becomes aac"});
  EXPECT_EQ(written_codec(1), AV_CODEC_ID_AAC);
  muxer_->begin();
  muxer_->write_video(make_test_packet(0, 0), video_->time_base);
  tracks_->write(silence(1), *muxer_);
  tracks_->flush(*muxer_);
  muxer_->end();
  AVFormatContext* context = nullptr;
  ASSERT_GE(avformat_open_input(&context, muxer_->commit_partial().c_str(), nullptr, nullptr), 0);
  const InputHandle input(context);
  ASSERT_EQ(input->nb_streams, 2U);
  const AVStream& sound = *input->streams[1];
  EXPECT_EQ(av_rescale_q(sound.duration, sound.time_base, {1, 48000}), 4800);
  EXPECT_EQ(tracks_->damaged_packets(), 0);
}

TEST_F(TracksTest, TheUsersChoiceOfSoundIsForAllStreams) {
  made_.add_sound(kUnsignedPcm);
  EXPECT_TRUE(add_all("matroska", {.audio_codec = "flac"}).empty());
  EXPECT_EQ(written_codec(1), AV_CODEC_ID_FLAC);
  EXPECT_EQ(texts_of(add_all("mp4", {.audio_codec = "copy"})),
            std::vector<std::string>{"mp4 can't hold the audio stream #1 (pcm_u16le): it is left out"});
  EXPECT_EQ(muxer_->context().nb_streams, 1U);
  EXPECT_THROW(add_all("mp4", {.audio_codec = "nosuch"}), UsageError);
  EXPECT_THROW(add_all("mp4", {.audio_bitrate = "nosuch"}), UsageError);
}

TEST_F(TracksTest, StreamsThatAreLeftOutAreNamedByTheirNumbers) {
  made_.add(AVMEDIA_TYPE_UNKNOWN, AV_CODEC_ID_NONE);
  made_.add_sound().codecpar->sample_rate = 0;
  made_.add(AVMEDIA_TYPE_ATTACHMENT, AV_CODEC_ID_TTF);
  const Diagnostics reported = add_all("mp4");
  EXPECT_EQ(streams_left_out(reported), (std::vector<unsigned>{1, 2, 3}));
  EXPECT_EQ(texts_of(reported),
            (std::vector<std::string>{
                "the type of stream #1 is not known: it is left out",
                "the audio stream #2 (pcm_s16le) has no sample rate or channels: it is left out",
                "mp4 can't hold the attachment stream #3 (ttf): it is left out"}));
  muxer_->begin();
  tracks_->write(silence(2), *muxer_);  // is ignored
  EXPECT_EQ(tracks_->damaged_packets(), 0);
}

TEST_F(TracksTest, AnotherVideoIsNamedAndWhatIsNotWantedIsNot) {
  made_.add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_FFV1);
  made_.add_sound();
  Source source = made_.get();
  source.copied = {false, false, false};
  Diagnostics reported;
  EXPECT_FALSE(is_wanted(source, *source.input.streams[1], reported));
  EXPECT_FALSE(is_wanted(source, *source.input.streams[2], reported));
  EXPECT_EQ(
      texts_of(reported),
      std::vector<std::string>{"only one video stream is filtered: the video stream #1 (ffv1) is left out"});
}

TEST_F(TracksTest, TextSubtitlesAreConverted) {
  made_.add(AVMEDIA_TYPE_SUBTITLE, AV_CODEC_ID_SUBRIP);
  EXPECT_EQ(texts_of(add_all("mp4")),
            std::vector<std::string>{"mp4 can't hold the subtitle stream #1 (subrip): it becomes mov_text"});
  EXPECT_EQ(written_codec(1), AV_CODEC_ID_MOV_TEXT);
}

class MuxerTest : public ::testing::Test {
 protected:
  /// A file of PCM and a video that is stored unchanged.
  std::unique_ptr<Muxer> open(const std::string& name, const std::string& container) {
    url_ = (folder_.path() / name).string();
    auto muxer = std::make_unique<Muxer>(url_, container_named(container),
                                         std::make_unique<OutputFile>(url_, "", Overwrite::kNever));
    const CodecHandle context = make_video_context();
    AVStream& video = muxer->add_video();
    avcodec_parameters_from_context(video.codecpar, context.get());
    video.time_base = context->time_base;
    return muxer;
  }

  test::TemporaryFolder folder_;
  std::string url_;
};

TEST(IncreasingTimesTest, AreMadeOfWhateverTheSourceHas) {
  std::int64_t last = AV_NOPTS_VALUE;
  const auto times = [&](std::int64_t pts, std::int64_t dts, bool may_repeat = false) {
    const PacketHandle packet = make_test_packet(pts, dts);
    set_increasing_times(*packet, last, may_repeat);
    EXPECT_EQ(last, packet->dts);
    return std::pair{packet->pts, packet->dts};
  };
  EXPECT_EQ(times(AV_NOPTS_VALUE, AV_NOPTS_VALUE), (std::pair<std::int64_t, std::int64_t>{0, 0}));
  EXPECT_EQ(times(7, AV_NOPTS_VALUE), (std::pair<std::int64_t, std::int64_t>{7, 7}));
  EXPECT_EQ(times(AV_NOPTS_VALUE, AV_NOPTS_VALUE), (std::pair<std::int64_t, std::int64_t>{8, 8}));
  EXPECT_EQ(times(12, 8), (std::pair<std::int64_t, std::int64_t>{12, 9}));
  EXPECT_EQ(times(12, 8, true), (std::pair<std::int64_t, std::int64_t>{12, 9}));
  EXPECT_EQ(times(9, 3), (std::pair<std::int64_t, std::int64_t>{10, 10})) << "not shown before it is decoded";
}

TEST_F(MuxerTest, AFileAppearsWhenItIsComplete) {
  const std::unique_ptr<Muxer> muxer = open("out.mkv", "matroska");
  muxer->begin();
  for (int i = 0; i < 3; ++i) {
    muxer->write_video(make_test_packet(i, i), {1, 25});
  }
  EXPECT_FALSE(std::filesystem::exists(url_));
  EXPECT_TRUE(muxer->has_temporary());
  muxer->end();
  std::string completed;
  muxer->commit([&](const std::string& temporary) { completed = temporary; });
  EXPECT_TRUE(std::filesystem::exists(url_));
  EXPECT_NE(completed, "");
  EXPECT_EQ(muxer->bytes(), static_cast<std::int64_t>(std::filesystem::file_size(url_)));
}

TEST_F(MuxerTest, UnfinishedFilesAreRemoved) {
  open("out.mkv", "matroska")->begin();
  EXPECT_TRUE(folder_.files().empty());
  const std::unique_ptr<Muxer> muxer = open("out.mkv", "matroska");
  muxer->begin();
  muxer->end();
  EXPECT_EQ(muxer->commit_partial(), (folder_.path() / "out.partial.mkv").string());
}

TEST_F(MuxerTest, TheFinalBytesMayBeEdited) {
  const std::unique_ptr<Muxer> muxer = open("out.nut", "nut");
  muxer->begin();
  muxer->end([](BytesView written) {
    EXPECT_GT(written.size(), 10U);
    return Bytes(written.size(), std::uint8_t{'x'});
  });
  muxer->commit({});
  std::ifstream stream(url_, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(content, std::string(content.size(), 'x'));
}

TEST_F(MuxerTest, OptionsThatNobodyKnowsAreTheEncoders) {
  const auto message = [&](const std::string& key, const std::string& value) {
    try {
      open("out.mp4", "mp4")->set_option(key, value, "libx264");
      return std::string("none");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(message("movflags", "+faststart"), "none");
  EXPECT_EQ(message("nosuch", "1"), "the encoder libx264 has no option 'nosuch'");
  EXPECT_EQ(message("movflags", "nosuch"),
            "the container mp4 doesn't take 'nosuch' for its option 'movflags'");
}

}  // namespace

}  // namespace limpid::io
