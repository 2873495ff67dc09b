// SPDX-License-Identifier: MIT
// Audio that a container cannot store is transcoded and keeps its times.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/source.h"
#include "tests/io/media/media.h"

extern "C" {
#include <libavutil/channel_layout.h>
}

namespace limpid::io {
namespace {

/// The audible content of a file, in seconds since its first picture.
struct Sound {
  std::string codec;
  std::string layout;
  int rate = 0;
  int channels = 0;
  double begin = 0;  ///< of the first sample after the priming
  double end = 0;
  std::vector<std::pair<double, double>> energies;  ///< times and energies of the samples of the first
                                                    ///< channel

  /// The center of the energy between two times; 0 for silence.
  double middle(double from = 0, double to = 1e9) const {
    double sum = 0;
    double weighted = 0;
    for (const auto& [time, energy] : energies) {
      if (time >= from && time < to) {
        sum += energy;
        weighted += energy * time;
      }
    }
    return sum < 1e-3 ? 0 : weighted / sum;
  }
};

double sample_of(const AVFrame& frame, int i) {
  const int channels = av_sample_fmt_is_planar(static_cast<AVSampleFormat>(frame.format)) != 0
                           ? 1
                           : frame.ch_layout.nb_channels;
  const std::uint8_t* const data = frame.extended_data[0];
  switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(frame.format))) {
    case AV_SAMPLE_FMT_U8:
      return (data[i * channels] - 128) / 128.0;
    case AV_SAMPLE_FMT_S16:
      return reinterpret_cast<const std::int16_t*>(data)[i * channels] / 32768.0;
    case AV_SAMPLE_FMT_S32:
      return reinterpret_cast<const std::int32_t*>(data)[i * channels] / 2147483648.0;
    case AV_SAMPLE_FMT_FLT:
      return reinterpret_cast<const float*>(data)[i * channels];
    default:
      ADD_FAILURE() << "another format of samples: " << frame.format;
      return 0;
  }
}

Sound listen_to(const std::string& file) {
  Sound sound;
  AVFormatContext* context = nullptr;
  if (avformat_open_input(&context, file.c_str(), nullptr, nullptr) < 0) {
    ADD_FAILURE() << "can't open " << file;
    return sound;
  }
  const InputHandle input(context);
  avformat_find_stream_info(context, nullptr);
  const AVCodec* codec = nullptr;
  const int video = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  const int index = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);
  if (index < 0 || video < 0 || codec == nullptr) {
    ADD_FAILURE() << file << " has no sound";
    return sound;
  }
  const AVStream& stream = *context->streams[index];
  const CodecHandle decoder(avcodec_alloc_context3(codec));
  avcodec_parameters_to_context(decoder.get(), stream.codecpar);
  decoder->pkt_timebase = stream.time_base;
  EXPECT_GE(avcodec_open2(decoder.get(), codec, nullptr), 0);
  sound.codec = avcodec_get_name(stream.codecpar->codec_id);
  const FrameHandle frame = make_frame();
  const auto take = [&] {
    while (avcodec_receive_frame(decoder.get(), frame.get()) >= 0) {
      const double time = static_cast<double>(frame->best_effort_timestamp) * av_q2d(stream.time_base);
      if (sound.energies.empty()) {
        sound.begin = time;
        sound.rate = frame->sample_rate;
        sound.channels = frame->ch_layout.nb_channels;
        std::array<char, 64> name{};
        if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC) {
          av_channel_layout_default(&frame->ch_layout, frame->ch_layout.nb_channels);
        }
        av_channel_layout_describe(&frame->ch_layout, name.data(), name.size());
        sound.layout = name.data();
      }
      for (int i = 0; i < frame->nb_samples; ++i) {
        const double sample = sample_of(*frame, i);
        sound.energies.emplace_back(time + static_cast<double>(i) / frame->sample_rate, sample * sample);
      }
      sound.end = time + static_cast<double>(frame->nb_samples) / frame->sample_rate;
    }
  };
  const PacketHandle packet = make_packet();
  std::optional<double> zero;
  while (av_read_frame(context, packet.get()) >= 0) {
    if (packet->stream_index == index) {
      avcodec_send_packet(decoder.get(), packet.get());
      take();
    } else if (packet->stream_index == video && packet->size > 0 && !zero) {
      zero = static_cast<double>(packet->pts) * av_q2d(context->streams[video]->time_base);
    }
    av_packet_unref(packet.get());
  }
  avcodec_send_packet(decoder.get(), nullptr);
  take();
  for (auto& [time, energy] : sound.energies) {
    time -= zero.value_or(0);
  }
  sound.begin -= zero.value_or(0);
  sound.end -= zero.value_or(0);
  return sound;
}

// The times of two tone bursts in the files made here.
constexpr double kFirst = 0.21;
constexpr double kSecond = 0.51;
constexpr double kLength = 0.6;

class AudioTranscoderTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// A source with pictures and, at kFirst and kSecond, 20 ms of a tone, changed by `filter`.
  std::string make(const std::string& name, const std::string& codec, const std::string& filter = "",
                   int rate = 48000, const WriterOptions& more = {}) const {
    const auto burst = [](double at) {
      return "between(t\\," + std::to_string(at - 0.01) + "\\," + std::to_string(at + 0.01) + ")";
    };
    const std::string graph = "testsrc2=s=32x32:r=25:d=0.6[out0];aevalsrc=0.5*sin(2000*PI*t)*(" +
                              burst(kFirst) + "+" + burst(kSecond) + "):d=0.6:s=" + std::to_string(rate) +
                              ":n=480" + (filter.empty() ? "" : "," + filter) + "[out1]";
    WriterOptions options = more;
    options.codec = options.codec.empty() ? "mpeg4" : options.codec;
    options.audio_codec = codec;
    options.overwrite = Overwrite::kAlways;
    std::string file = path(name);
    transcode(graph, file, options, {.input_format = "lavfi"});
    return file;
  }

  static WriterOptions quick() { return {.codec = "mpeg4", .overwrite = Overwrite::kAlways}; }

  test::TemporaryFolder folder_;
};

// Codecs' filters smear bursts, and times are rounded to milliseconds.
constexpr double kTolerance = 0.005;
constexpr double kPicture = 0.045;
constexpr double kHalfAPicture = 0.0205;

void expect_bursts(const Sound& sound, double first = kFirst, double second = kSecond,
                   double tolerance = kTolerance) {
  EXPECT_NEAR(sound.middle(0, (first + second) / 2), first, tolerance);
  EXPECT_NEAR(sound.middle((first + second) / 2), second, tolerance);
}

TEST_F(AudioTranscoderTest, EveryCodecIsHeardInEveryContainer) {
  int pairs = 0;
  int encoded = 0;
  for (const char* const codec :
       {"pcm_s16le", "pcm_s24be", "aac", "mp3", "mp2", "ac3", "eac3", "flac", "alac", "opus", "vorbis",
        "wmav2", "dts", "truehd", "adpcm_ms", "pcm_mulaw", "wavpack"}) {
    const AVCodecDescriptor* const descriptor = avcodec_descriptor_get_by_name(codec);
    if (avcodec_find_encoder(descriptor->id) == nullptr) {
      continue;
    }
    const std::string source = make("source.mkv", codec);
    const Sound before = listen_to(source);
    ASSERT_EQ(before.codec, codec);
    for (const char* const container :
         {"mp4", "mov", "webm", "ts", "avi", "mkv", "flv", "3gp", "ogv", "asf"}) {
      SCOPED_TRACE(std::string(codec) + " to " + container);
      WriterOptions options = quick();
      options.codec = std::string_view(container) == "webm"  ? "libvpx"
                      : std::string_view(container) == "ogv" ? "libtheora"
                      : std::string_view(container) == "flv" ? "flv"
                      : std::string_view(container) == "ts"  ? "libx264"
                                                             : "mpeg4";
      const std::string target = path(std::string("target.") + container);
      const std::string warnings = joined(transcode(source, target, options).warnings);
      const Sound after = listen_to(target);
      EXPECT_EQ(after.channels, before.channels) << warnings;
      // In these containers, times of pictures are multiples of the frame duration, and copied audio begins
      // with the file.
      const bool counts = std::string_view(container) == "avi" || std::string_view(container) == "ogv";
      expect_bursts(after, before.middle(0, 0.36), before.middle(0.36), counts ? kPicture : kTolerance);
      const bool is_new = warnings.find("becomes ") != std::string::npos;
      const bool is_mpeg_layer = std::string_view(codec) == "mp2" && after.codec == "mp3";
      EXPECT_TRUE(is_new ? warnings.find("becomes " + after.codec) != std::string::npos
                         : after.codec == codec || is_mpeg_layer)
          << after.codec << " " << warnings;
      encoded += is_new ? 1 : 0;
      ++pairs;
    }
  }
  EXPECT_GT(encoded, pairs / 4);
}

TEST_F(AudioTranscoderTest, SoundKeepsItsPlaceWhereverItBegins) {
  const std::string late = make("late.mkv", "pcm_s16le", "atrim=start=0.1");
  const std::string early = make("early.mkv", "pcm_s16le", "asetpts=PTS-0.12/TB");
  for (const char* const container : {"mp4", "mov", "webm", "ts", "avi", "mkv"}) {
    SCOPED_TRACE(container);
    WriterOptions options = quick();
    options.codec = std::string_view(container) == "webm" ? "libvpx" : "mpeg4";
    options.audio_codec = std::string_view(container) == "webm"  ? "opus"
                          : std::string_view(container) == "avi" ? "mp3"
                                                                 : "aac";
    const std::string target = path(std::string("target.") + container);
    for (const std::string& source : {late, early}) {
      if (source == early && std::string_view(container) == "avi") {
        continue;  // the first picture is always shown from the beginning there
      }
      const Sound before = listen_to(source);
      ASSERT_NEAR(before.begin, source == late ? 0.1 : -0.12, 0.002);
      transcode(source, target, options);
      expect_bursts(listen_to(target), before.middle(0, 0.3), before.middle(0.3),
                    std::string_view(container) == "avi" ? kHalfAPicture : kTolerance);
    }
  }
}

TEST_F(AudioTranscoderTest, GapsBecomeSilenceAndWhatOverlapsIsLeftOut) {
  const std::string gap = make("gap.mkv", "pcm_s16le", "aselect=not(between(t\\,0.25\\,0.45))");
  // Audio after 0.3 s is a tenth of a second early.
  const std::string overlap =
      make("overlap.mkv", "pcm_s16le", "asetpts=if(gt(PTS*TB\\,0.3)\\,PTS-0.1/TB\\,PTS)");
  for (const char* const container : {"mp4", "webm", "avi"}) {
    SCOPED_TRACE(container);
    const std::string target = path(std::string("target.") + container);
    WriterOptions options = quick();
    options.codec = std::string_view(container) == "webm" ? "libvpx" : "mpeg4";
    options.audio_codec = std::string_view(container) == "avi" ? "mp3" : "";
    transcode(gap, target, options);
    const Sound filled = listen_to(target);
    expect_bursts(filled);
    EXPECT_EQ(filled.middle(0.25, 0.45), 0);
    EXPECT_NEAR(static_cast<double>(filled.energies.size()) / filled.rate, filled.end - filled.begin, 0.002);
    transcode(overlap, target, options);
    EXPECT_NEAR(listen_to(target).middle(0, 0.3), kFirst, kTolerance);
    EXPECT_NEAR(listen_to(target).middle(0.3), kSecond - 0.1, kTolerance);
  }
}

TEST_F(AudioTranscoderTest, TheLastSampleIsThereAndNoneIsAdded) {
  const std::string source = make("source.mkv", "pcm_s16le", "", 44100);
  ASSERT_NEAR(listen_to(source).end, kLength, 1e-3);
  for (const char* const name : {"target.mp4", "target.mov"}) {
    WriterOptions options = quick();
    options.audio_codec = "aac";
    transcode(source, path(name), options);
    const Sound sound = listen_to(path(name));
    EXPECT_EQ(sound.rate, 44100);
    EXPECT_NEAR(sound.begin, 0, 1e-6);
    EXPECT_NEAR(sound.end, kLength, 0.024) << "up to a frame of AAC longer, as decoders give it";
    const std::string length = output_of(
        "ffprobe -v error -select_streams a -show_entries stream=duration -of csv=p=0 '" + path(name) + "'");
    EXPECT_NEAR(std::stod(length), kLength, 1e-3);
  }
  transcode(source, path("target.mkv"), {.audio_codec = "flac", .overwrite = Overwrite::kAlways});
  const Sound lossless = listen_to(path("target.mkv"));
  const Sound original = listen_to(source);
  ASSERT_EQ(lossless.energies.size(), original.energies.size());
  for (std::size_t i = 0; i < original.energies.size(); ++i) {
    ASSERT_EQ(lossless.energies[i].second, original.energies[i].second) << i;
  }
}

TEST_F(AudioTranscoderTest, APartialFileHasAllSamplesThatWereWritten) {
  const std::string source = make("source.mkv", "pcm_s16le", "", 44100);
  Reader reader(source);
  Writer writer(path("target.mkv"), reader, {.codec = "mpeg4", .audio_codec = "flac"});
  for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item); item = reader.read()) {
    if (const auto* const frame = std::get_if<Frame>(&item)) {
      writer.write(*frame);
    } else {
      writer.write(*std::get<std::shared_ptr<Packet>>(item));
    }
  }
  EXPECT_EQ(listen_to(writer.finish_partial()).energies.size(), listen_to(source).energies.size());
}

TEST_F(AudioTranscoderTest, ChannelsAreKeptOrMixedAloud) {
  struct Case {
    std::string from;
    std::string codec;
    std::string to;
    bool is_told;
  };
  for (const auto& [from, codec, to, is_told] : std::vector<Case>{{"mono", "aac", "mono", false},
                                                                  {"5.1", "aac", "5.1", false},
                                                                  {"5.1(side)", "aac", "5.1", false},
                                                                  {"5.1(side)", "opus", "5.1", false},
                                                                  {"7.1", "opus", "7.1", false},
                                                                  {"7.1", "aac", "7.1", false},
                                                                  {"5.1(side)", "ac3", "5.1(side)", false},
                                                                  {"2.1", "aac", "2.1", false},
                                                                  {"5.1(side)", "mp3", "stereo", true},
                                                                  {"7.1", "ac3", "5.1(side)", true}}) {
    SCOPED_TRACE(from + " as " + codec);
    const std::string source = make("source.mov", "pcm_s16le", "aformat=channel_layouts=" + from);
    ASSERT_EQ(listen_to(source).layout, from);
    const Transcoded result =
        transcode(source, path("target.mkv"),
                  {.codec = "mpeg4", .audio_codec = codec, .overwrite = Overwrite::kAlways});
    EXPECT_EQ(joined(result.warnings), is_told ? "the audio stream #1 (pcm_s16le) becomes " + codec +
                                                     ", mixed from " + from + " to " + to + "\n"
                                               : "");
    const Sound sound = listen_to(path("target.mkv"));
    EXPECT_EQ(sound.layout, to);
    EXPECT_EQ(sound.codec, codec);
  }
}

TEST_F(AudioTranscoderTest, DamagedPacketsAreSilenceAndCounted) {
  const std::string source = make("source.mkv", "flac");
  Reader reader(source);
  Writer writer(path("target.mp4"), reader,
                {.codec = "mpeg4", .audio_codec = "aac", .overwrite = Overwrite::kAlways});
  int packets = 0;
  for (bool at_end = false; !at_end;) {
    const Reader::Item item = reader.read();
    if (const auto* const frame = std::get_if<Frame>(&item)) {
      writer.write(*frame);
    } else if (const auto* const packet = std::get_if<std::shared_ptr<Packet>>(&item)) {
      if (packets++ == 1) {
        PacketHandle damaged = make_packet();
        av_packet_ref(damaged.get(), &(*packet)->get());
        av_packet_make_writable(damaged.get());
        std::fill_n(damaged->data, damaged->size, std::uint8_t{0x55});
        writer.write(Packet(std::move(damaged), (*packet)->time_base()));
      } else {
        writer.write(**packet);
      }
    } else {
      at_end = true;
    }
  }
  writer.finish();
  ASSERT_GT(packets, 3);
  EXPECT_EQ(count_of(writer.diagnostics(), Diagnostic::Kind::kDamagedPackets), 1);
  expect_bursts(listen_to(path("target.mp4")));
}

TEST_F(AudioTranscoderTest, ARangeHasItsSound) {
  for (const char* const codec : {"pcm_s16le", "mp3", "aac"}) {
    const std::string source = make("source.mkv", codec);
    transcode(source, path("target.mp4"),
              {.codec = "mpeg4", .audio_codec = "aac", .overwrite = Overwrite::kAlways},
              {.start = 0.36, .end = 0.56});
    const Sound sound = listen_to(path("target.mp4"));
    EXPECT_NEAR(sound.middle(), kSecond - 0.36, kTolerance) << codec;
    EXPECT_LT(sound.end, 0.2 + 0.05);
  }
}

TEST_F(AudioTranscoderTest, SoundThatChangesOnTheWayGoesOn) {
  std::ofstream joined_file(path("joined.ts"), std::ios::binary);
  for (const auto& [rate, layout] : {std::pair{44100, "stereo"}, std::pair{48000, "mono"}}) {
    const std::string part = make("part.ts", "aac", std::string("aformat=channel_layouts=") + layout, rate,
                                  {.codec = "mpeg2video"});
    joined_file << std::ifstream(part, std::ios::binary).rdbuf();
  }
  joined_file.close();
  transcode(path("joined.ts"), path("target.webm"));
  const Sound sound = listen_to(path("target.webm"));
  EXPECT_EQ(sound.rate, 48000);
  EXPECT_EQ(sound.channels, 2);
  EXPECT_NEAR(sound.middle(0, 0.36), kFirst, 0.03);
  EXPECT_NEAR(sound.middle(0.36, 0.6), kSecond, 0.03);
  EXPECT_NEAR(sound.middle(0.65, 0.96), kLength + kFirst, 0.06);
  EXPECT_NEAR(sound.middle(0.96), kLength + kSecond, 0.06);
}

TEST_F(AudioTranscoderTest, OptionsAreChecked) {
  const std::string source = make("source.mkv", "pcm_s16le");
  const auto usage_error = [&](const std::string& target, const std::string& codec,
                               const std::string& bitrate) -> std::string {
    try {
      transcode(source, path(target),
                {.codec = "mpeg4",
                 .audio_codec = codec,
                 .audio_bitrate = bitrate,
                 .overwrite = Overwrite::kAlways});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(usage_error("target.mp4", "acc", ""),
            "no audio encoder is called 'acc'; --no-audio leaves audio out");
  EXPECT_EQ(usage_error("target.mp4", "libx264", ""), "'libx264' is not an audio encoder");
  EXPECT_EQ(usage_error("target.mp4", "wmav2", ""),
            path("target.mp4") + ": the container mp4 can't hold what the audio encoder wmav2 makes");
  EXPECT_EQ(usage_error("target.mkv", "", "fast"), "--audio-bitrate: 'fast' is no bit rate, such as 160k");
  EXPECT_EQ(usage_error("target.mkv", "flac", "160k"),
            "--audio-bitrate: the audio encoder flac is lossless and has no bit rate");
  EXPECT_EQ(usage_error("target.mp4", "aac", "64k"), "none");
  const auto little = std::filesystem::file_size(path("target.mp4"));
  EXPECT_EQ(usage_error("target.mp4", "aac", "320k"), "none");
  EXPECT_GT(std::filesystem::file_size(path("target.mp4")), little);

  const Transcoded copied =
      transcode(make("wma.mkv", "wmav2"), path("target.mp4"),
                {.codec = "mpeg4", .audio_codec = "copy", .overwrite = Overwrite::kAlways});
  EXPECT_EQ(joined(copied.warnings), "mp4 can't hold the audio stream #1 (wmav2): it is left out\n");
}

}  // namespace
}  // namespace limpid::io
