// SPDX-License-Identifier: MIT
#include "io/media/writer/audio.h"

#include <utility>

#include "core/base/error.h"
#include "io/media/container.h"
#include "io/media/encoder_traits.h"

namespace limpid::io {

Audio::Audio(const std::string& url, const AVOutputFormat& container, const WriterOptions& options)
    : transcodes_(options.audio_codec != "copy" && container.audio_codec != AV_CODEC_ID_NONE),
      bitrate_(options.audio_bitrate) {
  if (!options.audio_codec.empty() && options.audio_codec != "copy") {
    codec_ = &find_audio_encoder(options.audio_codec, container, url);
  }
  if (!bitrate_.empty()) {
    check_bit_rate("--audio-bitrate", bitrate_);
    check_audio_bitrate(bitrate_);
  }
}

/// Null if the container cannot store the transcoder's output.
std::unique_ptr<AudioTranscoder> Audio::make_transcoder(const FileKind& file, const AVStream& stream,
                                                        const AVCodec& codec) const {
  AudioEncoding encoding;
  encoding.bitrate = bitrate_;
  encoding.global_header = (file.container.flags & AVFMT_GLOBALHEADER) != 0;
  encoding.counts_samples = traits_of(file.container).counts_samples;
  encoding.sample_rate = traits_of(file.container).audio_rate;
  auto transcoder =
      std::make_unique<AudioTranscoder>(stream, codec, encoding, file.url + ": " + describe_stream(stream));
  return can_hold_stream(file, transcoder->encoder()) ? std::move(transcoder) : nullptr;
}

AudioRoute Audio::route(const FileKind& file, const AVStream& stream) const {
  if (!transcodes_) {
    return {};
  }
  if (codec_ == nullptr) {
    return can_hold_stream(file, stream) ? AudioRoute{} : suitable_route(file, stream);
  }
  AudioRoute route{.transcoder = make_transcoder(file, stream, *codec_), .loss = {}, .refusal = {}};
  if (route.transcoder == nullptr) {
    throw UsageError(file.url + ": the container " + file.container.name +
                     " can't hold what the audio encoder " + codec_->name + " makes");
  }
  if (const std::string& changes = route.transcoder->changes(); !changes.empty()) {
    route.loss = describe_stream(stream) + " becomes " +
                 avcodec_get_name(route.transcoder->encoder().codec_id) + changes;
  }
  return route;
}

AudioRoute Audio::suitable_route(const FileKind& file, const AVStream& stream) const {
  AudioRoute route;
  const int channels = stream.codecpar->ch_layout.nb_channels;
  for (const AVCodec* const codec : suitable_audio_encoders(file.container, channels)) {
    try {
      route.transcoder = make_transcoder(file, stream, *codec);
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      route.refusal = std::string(" (") + error.what() + ")";
    }
    if (route.transcoder != nullptr) {
      route.loss = std::string(file.container.name) + " can't hold " + describe_stream(stream) +
                   ": it becomes " + avcodec_get_name(route.transcoder->encoder().codec_id) +
                   route.transcoder->changes();
      break;
    }
  }
  return route;
}

}  // namespace limpid::io
