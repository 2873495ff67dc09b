// SPDX-License-Identifier: MIT
// Decoding of packets to frames.
#include "io/media/reader/decoder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "tests/io/media/reader/memory_source.h"

namespace limpid::io {
namespace {

constexpr int kSide = 4;

/// Raw gray pictures of 4x4 samples.
class DecoderTest : public ::testing::Test {
 protected:
  explicit DecoderTest(AVCodecID codec = AV_CODEC_ID_RAWVIDEO) {
    AVCodecParameters& parameters = *source_.video().codecpar;
    parameters.codec_id = codec;
    parameters.format = AV_PIX_FMT_GRAY8;
    parameters.width = parameters.height = kSide;
  }

  std::unique_ptr<Decoder> open(const ReaderOptions& options = {}) {
    Dictionary unused(options.options);
    return std::make_unique<Decoder>("a.mkv",
                                     VideoSource{*source_.input().iformat, source_.video(), {25, 1}, 0},
                                     options, unused, health_);
  }
  static PacketHandle picture(std::uint8_t value, std::int64_t time) {
    return packet_of(std::vector<std::uint8_t>(kSide * kSide, value), time);
  }

  MemorySource source_;
  Health health_;
};

TEST_F(DecoderTest, IsAQueueOfPacketsAndFrames) {
  const auto decoder = open();
  DecodedFrame decoded;
  ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kNeedsPacket);
  for (int i = 0; i < 3; ++i) {
    decoder->send(*picture(static_cast<std::uint8_t>(i), 40 * i), true);
    ASSERT_EQ(decoder->receive(decoded, i), Decoder::Status::kFrame);
    EXPECT_EQ(decoded.frame->pts, 40 * i);
    EXPECT_EQ(decoded.frame->data[0][0], i);
    EXPECT_EQ(decoder->sample_format(*decoded.frame), AV_PIX_FMT_GRAY8);
    EXPECT_FALSE(decoded.is_damaged || decoded.has_wrong_checksum);
    ASSERT_EQ(decoder->receive(decoded, i), Decoder::Status::kNeedsPacket);
  }
  decoder->drain();
  EXPECT_EQ(decoder->receive(decoded, 3), Decoder::Status::kEnded);
  EXPECT_EQ(decoder->receive(decoded, 3), Decoder::Status::kEnded);
  EXPECT_EQ(decoder->packets(), 3);
  EXPECT_EQ(decoder->frames(), 3);

  decoder->flush();
  decoder->send(*picture(9, 0), true);
  ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame);
  EXPECT_EQ(decoded.frame->pts, 0) << "a time before the last one, as after a seek";
}

TEST_F(DecoderTest, FramesWaitForATimeUpToTheEnd) {
  const auto decoder = open();
  DecodedFrame decoded;
  decoder->send(*picture(1, AV_NOPTS_VALUE), true);
  ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kNeedsPacket);
  decoder->send(*picture(2, 100), true);
  ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame);
  EXPECT_EQ(decoded.frame->pts, 60);
  ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame);
  EXPECT_EQ(decoded.frame->pts, 100);

  decoder->flush();
  decoder->send(*picture(1, AV_NOPTS_VALUE), true);
  ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kNeedsPacket);
  decoder->drain();
  ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame);
  EXPECT_EQ(decoder->receive(decoded, 0), Decoder::Status::kEnded);
}

TEST_F(DecoderTest, APacketThatCannotBeDecodedIsCounted) {
  const auto decoder = open();
  DecodedFrame decoded;
  decoder->send(*packet_of({1, 2, 3}, 0), true);
  EXPECT_EQ(decoder->receive(decoded, 0), Decoder::Status::kNeedsPacket);
  EXPECT_EQ(health_.damaged_packets(), 1);
  decoder->send(*picture(1, 40), true);
  EXPECT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame);
}

TEST_F(DecoderTest, AMarkOfTheDemuxerIsThatOfTheFrame) {
  for (const auto& [demuxer, counts] : {std::pair{"matroska", true}, {"mpegts", false}}) {
    source_.input().iformat = av_find_input_format(demuxer);
    const auto decoder = open();
    DecodedFrame decoded;
    const PacketHandle packet = picture(1, 0);
    packet->flags |= AV_PKT_FLAG_CORRUPT;
    decoder->send(*packet, true);
    ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame);
    EXPECT_EQ(decoded.is_damaged, counts) << demuxer;
  }
}

TEST_F(DecoderTest, OptionsAreItsOwnOrWrong) {
  EXPECT_NO_THROW(open({.options = {{"skip_frame", "nokey"}}}));
  try {
    open({.options = {{"no_such_option", "1"}}});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "a.mkv: neither the input format matroska,webm nor the decoder rawvideo has an option "
              "'no_such_option'");
  }
  source_.video().codecpar->codec_id = AV_CODEC_ID_TTF;
  EXPECT_THROW(open(), Error);
}

/// Motion JPEG, made by libavcodec.
class PictureDecoderTest : public DecoderTest {
 protected:
  PictureDecoderTest() : DecoderTest(AV_CODEC_ID_MJPEG) {
    const AVCodec* const codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
    const CodecHandle encoder(avcodec_alloc_context3(codec));
    encoder->width = encoder->height = 64;
    encoder->pix_fmt = AV_PIX_FMT_YUVJ420P;
    encoder->time_base = {1, 25};
    check(avcodec_open2(encoder.get(), codec, nullptr), "encoder", "can't open it");
    const FrameHandle frame = make_frame();
    frame->width = frame->height = 64;
    frame->format = encoder->pix_fmt;
    check(av_frame_get_buffer(frame.get(), 0), "frame", "can't make it");
    for (int plane = 0; plane < 3; ++plane) {
      const int bytes = frame->linesize[plane] * (plane == 0 ? 64 : 32);
      for (int i = 0; i < bytes; ++i) {
        frame->data[plane][i] = static_cast<std::uint8_t>(i * 37);
      }
    }
    const PacketHandle packet = make_packet();
    check(avcodec_send_frame(encoder.get(), frame.get()), "frame", "can't encode it");
    check(avcodec_receive_packet(encoder.get(), packet.get()), "frame", "can't encode it");
    picture_.assign(packet->data, packet->data + packet->size);
    source_.video().codecpar->format = AV_PIX_FMT_YUVJ420P;
    source_.video().codecpar->width = source_.video().codecpar->height = 64;
  }

  std::vector<std::uint8_t> picture_;
};

TEST_F(PictureDecoderTest, ADamagedPictureIsShownAndMarked) {
  const auto decoder = open({.decoder_threads = 1});
  std::vector<std::uint8_t> damaged = picture_;
  damaged.resize(damaged.size() / 2);
  std::vector<bool> marks;
  std::int64_t time = 0;
  for (const std::vector<std::uint8_t>& bytes : {picture_, damaged, picture_}) {
    DecodedFrame decoded;
    decoder->send(*packet_of(bytes, time), true);
    ASSERT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame);
    EXPECT_EQ(decoded.frame->pts, time);
    marks.push_back(decoded.is_damaged);
    time += 40;
  }
  EXPECT_EQ(marks, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(health_.damaged_packets(), 0);
}

TEST_F(PictureDecoderTest, FramesThatAreNotShownAreDecodedAllTheSame) {
  const auto decoder = open({.decoder_threads = 1});
  DecodedFrame decoded;
  decoder->send(*packet_of(picture_, 0), false);
  EXPECT_EQ(decoder->receive(decoded, 0), Decoder::Status::kFrame) << "each packet must give a picture";
}

}  // namespace
}  // namespace limpid::io
