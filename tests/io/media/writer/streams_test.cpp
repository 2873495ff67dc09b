// SPDX-License-Identifier: MIT
// Streams and tags of an output file.

#include "io/media/writer/streams.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/io/media/writer/made_source.h"

namespace limpid::io {
namespace {

std::string tag(const AVDictionary* tags, const std::string& key) {
  const AVDictionaryEntry* const entry = av_dict_get(tags, key.c_str(), nullptr, 0);
  return entry == nullptr ? "" : entry->value;
}

TEST(StreamsTest, AreNamedByTypeNumberAndCodec) {
  MadeSource made;
  EXPECT_EQ(describe_stream(made.add_sound()), "the audio stream #1 (pcm_s16le)");
  AVStream& cover = made.add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_PNG);
  cover.disposition = AV_DISPOSITION_ATTACHED_PIC;
  EXPECT_EQ(describe_stream(cover), "the cover stream #2 (png)");
  AVStream& data = made.add(AVMEDIA_TYPE_DATA, AV_CODEC_ID_NONE);
  EXPECT_EQ(describe_stream(data), "the data stream #3 (none)");
  data.codecpar->codec_tag = MKTAG('m', 'e', 't', 't');
  EXPECT_EQ(describe_stream(data), "the data stream #3 (mett)");
}

TEST(StreamsTest, ACopyKeepsTagsAndTheLanguageInQuickTimesCode) {
  MadeSource made;
  AVStream& sound = made.add_sound();
  sound.disposition = AV_DISPOSITION_DEFAULT;
  sound.codecpar->codec_tag = MKTAG('n', 'o', 'n', 'e');
  set_tag(&sound.metadata, "language", "fre");
  for (const auto& [container, language] : {std::pair{"matroska", "fre"}, {"mov", "fra"}}) {
    const MuxerHandle muxer = make_muxer(container_named(container), "memory");
    const AVStream& copy = add_copied_stream(*muxer, sound);
    EXPECT_EQ(tag(copy.metadata, "language"), language);
    EXPECT_EQ(copy.disposition, AV_DISPOSITION_DEFAULT);
    EXPECT_EQ(copy.codecpar->sample_rate, 48000);
    EXPECT_EQ(copy.codecpar->codec_tag, 0U) << "another container's";
  }
}

TEST(StreamsTest, ACoverBecomesAnAttachment) {
  MadeSource made;
  AVStream& cover = made.add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_PNG);
  av_new_packet(&cover.attached_pic, 5);
  const MuxerHandle muxer = make_muxer(container_named("matroska"), "memory");
  attach_cover(*muxer, cover);
  const AVStream& attachment = *muxer->streams[0];
  EXPECT_EQ(attachment.codecpar->codec_type, AVMEDIA_TYPE_ATTACHMENT);
  EXPECT_EQ(attachment.codecpar->extradata_size, 5);
  EXPECT_EQ(tag(attachment.metadata, "filename"), "cover.png");
  av_packet_unref(&cover.attached_pic);
}

TEST(StreamsTest, MuxersAreAskedWhatTheyHold) {
  MadeSource made;
  const AVStream& pcm = made.add_sound();
  const AVStream& unsigned_pcm = made.add_sound(AV_CODEC_ID_PCM_U16LE);
  AVStream& opus = made.add_sound(AV_CODEC_ID_OPUS);
  const CodecHandle video = make_video_context();
  const std::string url = "out";
  const auto holds = [&](const std::string& container, const AVStream& stream) {
    return can_hold_stream({container_named(container), url, *video}, stream);
  };
  EXPECT_TRUE(holds("matroska", pcm));
  EXPECT_TRUE(holds("mov", pcm));
  EXPECT_FALSE(holds("mp4", unsigned_pcm));
  EXPECT_TRUE(holds("avi", pcm));
  EXPECT_FALSE(holds("avi", opus));
  EXPECT_FALSE(holds("yuv4mpegpipe", pcm));
}

TEST(FileTagsTest, TagsOfTheOldFileAreOmitted) {
  Dictionary from;
  Dictionary to;
  for (const char* const key : {"title", "encoder", "DURATION-eng", "major_brand", "NUMBER_OF_FRAMES"}) {
    from.set(key, "x");
  }
  copy_lasting_tags(to.get(), *from.get());
  EXPECT_EQ(av_dict_count(*to.get()), 1);
  EXPECT_EQ(tag(*to.get(), "title"), "x");
  copy_tags(to.get(), *from.get());
  EXPECT_EQ(av_dict_count(*to.get()), 5);
}

TEST(FileTagsTest, ATimecodeMovesOnToTheRange) {
  const MadeSource made;
  Source source = made.get();
  Dictionary tags;
  tags.set("timecode", "01:00:00:20");
  advance_timecode(tags.get(), source);
  EXPECT_EQ(tag(*tags.get(), "timecode"), "01:00:00:20");
  source.skipped_frames = 30;
  advance_timecode(tags.get(), source);
  EXPECT_EQ(tag(*tags.get(), "timecode"), "01:00:02:00");
}

TEST(FileTagsTest, QuickTimeKeepsKnownTagsOrThoseOfPhones) {
  const auto loss = [](const std::string& container, const std::string& key,
                       const std::vector<std::pair<std::string, std::string>>& options = {}) {
    const MuxerHandle muxer = make_muxer(container_named(container), "memory");
    set_tag(&muxer->metadata, "title", "x");
    set_tag(&muxer->metadata, key, "y");
    return keep_tags(*muxer, options);
  };
  EXPECT_EQ(loss("mp4", "artist"), "");
  EXPECT_EQ(loss("mp4", "mine"),
            "mp4 can't hold the source's tags: mine; -e movflags=use_metadata_tags keeps all tags, but fewer "
            "players "
            "read them");
  EXPECT_EQ(loss("mp4", "mine", {{"movflags", "use_metadata_tags"}}), "");
  EXPECT_EQ(loss("mov", "com.apple.quicktime.make"), "");
  EXPECT_EQ(loss("matroska", "mine"), "");
}

/// "One 0-400, Two 400-1000"
std::string copied_chapters(const Source& source, std::int64_t frame_limit = 0) {
  const MuxerHandle muxer = make_muxer(container_named("matroska"), "memory");
  copy_chapters(*muxer, source, frame_limit);
  std::string text;
  for (unsigned i = 0; i < muxer->nb_chapters; ++i) {
    const AVChapter& chapter = *muxer->chapters[i];
    text += (text.empty() ? "" : ", ") +
            std::string(av_dict_get(chapter.metadata, "title", nullptr, 0)->value) + " " +
            std::to_string(chapter.start) + "-" + std::to_string(chapter.end);
  }
  return text;
}

class ChaptersTest : public ::testing::Test {
 protected:
  ChaptersTest() {
    made_.add_chapter(0, 400, "One");
    made_.add_chapter(400, 1000, "Two");
  }
  MadeSource made_;
};

TEST_F(ChaptersTest, AreCopiedAndMoveWithTheTimes) {
  EXPECT_EQ(copied_chapters(MadeSource().get()), "");
  Source source = made_.get();
  EXPECT_EQ(copied_chapters(source), "One 0-400, Two 400-1000");
  source.time_offset = -100000;
  EXPECT_EQ(copied_chapters(source), "One 0-300, Two 300-900") << "none begins before zero";
}

TEST_F(ChaptersTest, AreCutToTheRange) {
  Source late = made_.get();
  late.range.begin = late.range.shift = 500000;
  late.time_offset = -500000;
  EXPECT_EQ(copied_chapters(late), "Two 0-500");
  Source early = made_.get();
  early.range.end = 300000;
  EXPECT_EQ(copied_chapters(early), "One 0-300");
}

TEST_F(ChaptersTest, EndWithTheFrames) {
  Source source = made_.get();
  EXPECT_EQ(copied_chapters(source, 5), "One 0-200");
  EXPECT_EQ(copied_chapters(source, 15), "One 0-400, Two 400-600");
  made_.first->pts = 5;
  EXPECT_EQ(copied_chapters(source, 10), "One 0-400, Two 400-600") << "counted from the first frame";
  source.average_rate = {0, 1};
  EXPECT_EQ(copied_chapters(source, 5), "One 0-400, Two 400-1000");
}

}  // namespace

}  // namespace limpid::io
