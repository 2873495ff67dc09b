// SPDX-License-Identifier: MIT
#include "io/media/audio_transcoder.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libavutil/samplefmt.h>
}

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "io/media/traits.h"

namespace limpid::io {
namespace {

// For codecs that accept any number of samples at once.
constexpr int kUsualFrameSize = 1024;

/// libav's own encoders of these codecs are experimental, or worse.
const AVCodec* best_encoder(AVCodecID codec) {
  const char* const name = codec == AV_CODEC_ID_OPUS     ? "libopus"
                           : codec == AV_CODEC_ID_VORBIS ? "libvorbis"
                                                         : nullptr;
  const AVCodec* const encoder = name == nullptr ? nullptr : avcodec_find_encoder_by_name(name);
  return encoder != nullptr ? encoder : avcodec_find_encoder(codec);
}

bool is_lossless(AVCodecID codec) {
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get(codec);
  return descriptor != nullptr && (descriptor->props & AV_CODEC_PROP_LOSSY) == 0;
}

int channels_in(std::uint64_t mask) { return layout_of(mask).nb_channels; }

std::string name_of(std::uint64_t mask) {
  const AVChannelLayout layout = layout_of(mask);
  std::array<char, 64> name{};
  av_channel_layout_describe(&layout, name.data(), name.size());
  return name.data();
}

/// Containers differ in whether two rear channels are side or back channels.
std::uint64_t with_sides_behind(std::uint64_t mask) {
  constexpr std::uint64_t kSides = AV_CH_SIDE_LEFT | AV_CH_SIDE_RIGHT;
  constexpr std::uint64_t kBehind = AV_CH_BACK_LEFT | AV_CH_BACK_RIGHT;
  return (mask & kSides) != 0 && (mask & kBehind) == 0 ? (mask & ~kSides) | kBehind : mask;
}

/// The encoder's layouts, best match for the source first: equal channels, then more, then fewer.
std::vector<std::uint64_t> fitting_layouts(const AVCodec& codec, std::uint64_t source) {
  std::vector<std::uint64_t> known;
  for (const AVChannelLayout& layout : channel_layouts_of(codec)) {
    known.push_back(layout.u.mask);
  }
  const bool any_other = known.empty() && codec.id != AV_CODEC_ID_OPUS && codec.id != AV_CODEC_ID_VORBIS;
  if (known.empty() && codec.id == AV_CODEC_ID_AAC) {
    // Layouts with a number of their own; others require a description that few players read.
    known = {AV_CH_LAYOUT_MONO,    AV_CH_LAYOUT_STEREO,       AV_CH_LAYOUT_SURROUND,
             AV_CH_LAYOUT_4POINT0, AV_CH_LAYOUT_5POINT0_BACK, AV_CH_LAYOUT_5POINT1_BACK};
  } else if (known.empty() && (codec.id == AV_CODEC_ID_OPUS || codec.id == AV_CODEC_ID_VORBIS)) {
    known = {AV_CH_LAYOUT_MONO,    AV_CH_LAYOUT_STEREO,       AV_CH_LAYOUT_SURROUND,
             AV_CH_LAYOUT_QUAD,    AV_CH_LAYOUT_5POINT0_BACK, AV_CH_LAYOUT_5POINT1_BACK,
             AV_CH_LAYOUT_6POINT1, AV_CH_LAYOUT_7POINT1};
  }
  std::vector<std::uint64_t> result;
  const auto add_if = [&](const auto& fits) {
    std::copy_if(known.begin(), known.end(), std::back_inserter(result), fits);
  };
  const std::uint64_t wanted = with_sides_behind(source);
  add_if([&](std::uint64_t mask) { return mask == source; });
  add_if([&](std::uint64_t mask) { return mask != source && with_sides_behind(mask) == wanted; });
  if (any_other) {
    result.push_back(source);
  }
  add_if([&](std::uint64_t mask) { return source == AV_CH_LAYOUT_MONO && mask == AV_CH_LAYOUT_STEREO; });
  std::sort(known.begin(), known.end(), [](std::uint64_t a, std::uint64_t b) {
    return std::pair(channels_in(a), a) < std::pair(channels_in(b), b);
  });
  add_if([&](std::uint64_t mask) { return (with_sides_behind(mask) & wanted) == wanted; });
  std::reverse(known.begin(), known.end());
  add_if([&](std::uint64_t mask) { return channels_in(mask) <= channels_in(source); });
  if (any_other) {
    result.insert(result.end(), {AV_CH_LAYOUT_STEREO, AV_CH_LAYOUT_MONO});
  }
  return result;
}

/// The source's rate, or the next higher one, or the highest.
int fitting_rate(const AVCodec& codec, int source) {
  if (codec.id == AV_CODEC_ID_OPUS) {
    return 48000;  // the decoded rate of any Opus stream
  }
  int best = 0;
  for (const int rate : sample_rates_of(codec)) {
    const bool better = rate >= source ? best < source || rate < best : best < rate;
    best = best == 0 || better ? rate : best;
  }
  return best == 0 ? source : best;
}

int precision_of(AVSampleFormat format) {
  switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_FLT:
      return 24;
    case AV_SAMPLE_FMT_DBL:
      return 53;
    default:
      return 8 * av_get_bytes_per_sample(format);
  }
}

/// The smallest format that keeps the most of the source's bits.
AVSampleFormat fitting_format(const AVCodec& codec, AVSampleFormat source) {
  const std::span<const AVSampleFormat> formats = sample_formats_of(codec);
  if (formats.empty()) {
    return source;
  }
  const auto worth = [source](AVSampleFormat format) {
    return std::pair(std::min(precision_of(format), precision_of(source)), -precision_of(format));
  };
  return *std::max_element(formats.begin(), formats.end(),
                           [&](AVSampleFormat a, AVSampleFormat b) { return worth(a) < worth(b); });
}

/// Bits per second at which few people hear a difference; 0 if the encoder's default is better or there is no
/// choice.
std::int64_t usual_bitrate(AVCodecID codec, int channels, int rate) {
  const std::int64_t of_channel = codec == AV_CODEC_ID_OPUS ? 80000
                                  : codec == AV_CODEC_ID_AAC || codec == AV_CODEC_ID_VORBIS ||
                                          codec == AV_CODEC_ID_MP3 || codec == AV_CODEC_ID_WMAV1 ||
                                          codec == AV_CODEC_ID_WMAV2
                                      ? 96000
                                  : codec == AV_CODEC_ID_MP2 ? 128000
                                  : codec == AV_CODEC_ID_DTS ? 384000
                                                             : 0;
  constexpr std::int64_t kMostBitsOfSample = 4;
  return channels * std::min(of_channel, kMostBitsOfSample * rate);
}

void set_bitrate(AVCodecContext& context, const std::string& bitrate) {
  if (av_opt_set(&context, "b", bitrate.c_str(), 0) < 0 || context.bit_rate <= 0) {
    throw UsageError("--audio-bitrate: '" + bitrate + "' is no bit rate, such as 160k");
  }
}

}  // namespace

const AVCodec& find_audio_encoder(const std::string& name, const AVOutputFormat& container,
                                  const std::string& url) {
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get_by_name(name.c_str());
  const AVCodec* codec = descriptor == nullptr ? nullptr : best_encoder(descriptor->id);
  codec = codec == nullptr ? avcodec_find_encoder_by_name(name.c_str()) : codec;
  if (codec == nullptr) {
    throw UsageError("no audio encoder is called '" + name + "'; --no-audio leaves audio out");
  }
  if (codec->type != AVMEDIA_TYPE_AUDIO) {
    throw UsageError("'" + name + "' is not an audio encoder");
  }
  if (container.audio_codec != AV_CODEC_ID_NONE &&
      avformat_query_codec(&container, codec->id, FF_COMPLIANCE_EXPERIMENTAL) == 0) {
    throw UsageError(url + ": the container " + container.name + " can't hold what the audio encoder " +
                     codec->name + " makes");
  }
  return *codec;
}

std::vector<const AVCodec*> suitable_audio_encoders(const AVOutputFormat& container, int channels) {
  const ContainerTraits& traits = traits_of(container);
  std::vector<AVCodecID> codecs = {channels > 2 ? traits.surround : traits.audio, traits.audio};
  codecs.insert(codecs.end(), {container.audio_codec, AV_CODEC_ID_AAC, AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS,
                               AV_CODEC_ID_AC3, AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_PCM_S16LE});
  std::vector<const AVCodec*> encoders;
  for (const AVCodecID codec : codecs) {
    const AVCodec* const encoder = best_encoder(codec);
    if (encoder != nullptr && std::find(encoders.begin(), encoders.end(), encoder) == encoders.end()) {
      encoders.push_back(encoder);
    }
  }
  return encoders;
}

void check_audio_bitrate(const std::string& bitrate) {
  const CodecHandle any(allocated(avcodec_alloc_context3(nullptr)));
  set_bitrate(*any, bitrate);
}

AudioTranscoder::AudioTranscoder(const AVStream& source, const AVCodec& codec, const AudioEncoding& encoding,
                                 std::string subject)
    : subject_(std::move(subject)),
      source_time_base_(source.time_base),
      decoder_(open_audio_decoder(source, subject_)),
      decoded_(make_frame()) {
  open_encoder(codec, encoding);
  frame_size_ = encoder_->frame_size > 0 ? encoder_->frame_size : kUsualFrameSize;
  // In containers that only count samples, the encoder's priming replaces the beginning of the audio.
  graph_.emplace(
      AudioGraph::Format{encoder_->sample_fmt, encoder_->sample_rate, mask_of(encoder_->ch_layout)},
      encoding.counts_samples ? std::optional<std::int64_t>(encoder_->initial_padding) : std::nullopt,
      subject_);
}

void AudioTranscoder::open_encoder(const AVCodec& codec, const AudioEncoding& encoding) {
  const std::uint64_t source = mask_of(decoder_->ch_layout);
  if (!encoding.bitrate.empty() && is_lossless(codec.id)) {
    throw UsageError("--audio-bitrate: the audio encoder " + std::string(codec.name) +
                     " is lossless and has no bit rate");
  }
  int code = AVERROR(EINVAL);
  forget_logged_messages();
  for (const std::uint64_t layout : fitting_layouts(codec, source)) {
    CodecHandle encoder(allocated(avcodec_alloc_context3(&codec)));
    encoder->ch_layout = layout_of(layout);
    encoder->sample_fmt = fitting_format(codec, decoder_->sample_fmt);
    encoder->sample_rate =
        encoding.sample_rate ? *encoding.sample_rate : fitting_rate(codec, decoder_->sample_rate);
    encoder->time_base = {1, encoder->sample_rate};
    if (av_get_packed_sample_fmt(encoder->sample_fmt) == AV_SAMPLE_FMT_S32 &&
        decoder_->sample_fmt == encoder->sample_fmt) {
      encoder->bits_per_raw_sample = decoder_->bits_per_raw_sample;
    }
    encoder->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    encoder->flags |= encoding.global_header ? AV_CODEC_FLAG_GLOBAL_HEADER : 0;
    if (encoding.bitrate.empty()) {
      encoder->bit_rate = usual_bitrate(codec.id, encoder->ch_layout.nb_channels, encoder->sample_rate);
    } else {
      set_bitrate(*encoder, encoding.bitrate);
    }
    code = avcodec_open2(encoder.get(), &codec, nullptr);
    if (code >= 0) {
      if (with_sides_behind(layout) != with_sides_behind(source)) {
        changes_ += ", mixed from " + name_of(source) + " to " + name_of(layout);
      }
      if (encoder->sample_rate < decoder_->sample_rate) {
        changes_ += ", " + std::to_string(decoder_->sample_rate) + " Hz become " +
                    std::to_string(encoder->sample_rate);
      }
      encoder_ = std::move(encoder);
      return;
    }
  }
  throw Error(subject_ + ": the audio encoder " + codec.name + " can't be used: " + error_text(code) +
              logged_reason());
}

void AudioTranscoder::send(const AVPacket& packet) {
  const int code = avcodec_send_packet(decoder_.get(), &packet);
  if (code == AVERROR(ENOMEM)) {
    check(code, subject_, "can't decode it");
  }
  damaged_packets_ += code < 0 ? 1 : 0;
}

void AudioTranscoder::flush() {
  draining_ = true;
  avcodec_send_packet(decoder_.get(), nullptr);
}

PacketHandle AudioTranscoder::receive() {
  PacketHandle packet = make_packet();
  int code = 0;
  while ((code = avcodec_receive_packet(encoder_.get(), packet.get())) == AVERROR(EAGAIN)) {
    if (!feed_encoder()) {
      return nullptr;
    }
  }
  if (code == AVERROR_EOF) {
    return nullptr;
  }
  check(code, subject_, "can't encode it");
  return packet;
}

/// Returns false if more packets are required first.
bool AudioTranscoder::feed_encoder() {
  for (;;) {
    if (const FrameHandle samples = graph_->receive(frame_size_)) {
      check(avcodec_send_frame(encoder_.get(), samples.get()), subject_, "can't encode it");
      return true;
    }
    if (decode_frame()) {
      graph_->send(*decoded_, source_time_base_);
    } else if (!draining_ || flushed_) {
      return false;
    } else if (!graph_->is_flushed()) {
      graph_->flush();
    } else {
      flushed_ = true;
      check(avcodec_send_frame(encoder_.get(), nullptr), subject_, "can't finish it");
      return true;
    }
  }
}

/// Returns false at the end of the sent packets.
bool AudioTranscoder::decode_frame() {
  for (;;) {
    const int code = avcodec_receive_frame(decoder_.get(), decoded_.get());
    if (code >= 0 && AudioGraph::accepts(*decoded_)) {
      return true;
    }
    av_frame_unref(decoded_.get());
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) {
      return false;
    }
    if (code == AVERROR(ENOMEM)) {
      check(code, subject_, "can't decode it");
    }
    ++damaged_packets_;
  }
}

}  // namespace limpid::io
