// SPDX-License-Identifier: MIT
#include "io/media/writer/tracks.h"

#include <utility>

#include "io/media/container.h"
#include "io/media/writer/losses.h"
#include "io/media/writer/tags.h"

namespace limpid::io {

bool is_wanted(const Source& source, const AVStream& stream, Diagnostics& diagnostics) {
  const auto index = static_cast<unsigned>(stream.index);
  if (index < source.of_other_program.size() && source.of_other_program[index]) {
    report_left_out(diagnostics, index,
                    "the source has several programs: " + describe_stream(stream) +
                        " belongs to another one than the video and is left out");
    return false;
  }
  if (!source.copied[index]) {
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !is_cover_art(stream)) {
      report_left_out(diagnostics, index,
                      "only one video stream is filtered: " + describe_stream(stream) + " is left out");
    }
    return false;
  }
  if (stream.codecpar->codec_type == AVMEDIA_TYPE_UNKNOWN) {
    report_left_out(diagnostics, index,
                    "the type of stream #" + std::to_string(stream.index) + " is not known: it is left out");
    return false;
  }
  return true;
}

void report_not_held(const std::string& container, const AVStream& stream, const std::string& reason,
                     Diagnostics& diagnostics) {
  report_left_out(diagnostics, static_cast<unsigned>(stream.index),
                  container + " can't hold " + describe_stream(stream) + ": it is left out" + reason);
}

void Tracks::add(const AVStream& stream, const AVCodecContext& video, Muxer& muxer,
                 Diagnostics& diagnostics) {
  const AVOutputFormat& container = *muxer.context().oformat;
  const FileKind file{container, url_, video};
  const AVCodecParameters& parameters = *stream.codecpar;
  if (attaches_cover(container, stream)) {
    attach_cover(muxer.context(), stream);
    return;
  }
  std::string refusal;
  if (parameters.codec_type == AVMEDIA_TYPE_AUDIO) {
    if (parameters.sample_rate <= 0 || parameters.ch_layout.nb_channels <= 0) {
      report_left_out(diagnostics, static_cast<unsigned>(stream.index),
                      describe_stream(stream) + " has no sample rate or channels: it is left out");
      return;
    }
    AudioRoute route = audio_.route(file, stream);
    refusal = route.refusal;
    if (add_transcoded(stream, std::move(route), muxer, diagnostics)) {
      return;
    }
  }
  if (can_hold_stream(file, stream)) {
    const auto output = static_cast<int>(muxer.context().nb_streams);
    add_copied_stream(muxer.context(), stream);
    tracks_.emplace(stream.index, Track{output, nullptr, nullptr});
  } else if (!add_converted(stream, muxer, diagnostics)) {
    report_not_held(container.name, stream, refusal, diagnostics);
  }
}

bool Tracks::add_transcoded(const AVStream& stream, AudioRoute route, Muxer& muxer,
                            Diagnostics& diagnostics) {
  if (route.transcoder == nullptr) {
    return false;
  }
  const AVCodecContext& encoder = route.transcoder->encoder();
  const auto output = static_cast<int>(muxer.context().nb_streams);
  AVStream& added = add_transcoded_stream(muxer.context(), stream, encoder);
  added.time_base = encoder.time_base;
  set_tag(&added.metadata, "encoder", std::string(LIBAVCODEC_IDENT " ") + encoder.codec->name);
  if (!route.loss.empty()) {
    report_loss(diagnostics, std::move(route.loss));
  }
  tracks_.emplace(stream.index, Track{output, std::move(route.transcoder), nullptr});
  return true;
}

bool Tracks::add_converted(const AVStream& stream, Muxer& muxer, Diagnostics& diagnostics) {
  const AVOutputFormat& container = *muxer.context().oformat;
  std::unique_ptr<SubtitleConverter> converter = SubtitleConverter::make(stream, traits_of(container).text);
  if (converter == nullptr) {
    return false;
  }
  const auto output = static_cast<int>(muxer.context().nb_streams);
  const AVStream& added = add_transcoded_stream(muxer.context(), stream, converter->encoder());
  report_loss(diagnostics, std::string(container.name) + " can't hold " + describe_stream(stream) +
                               ": it becomes " + avcodec_get_name(added.codecpar->codec_id));
  tracks_.emplace(stream.index, Track{output, nullptr, std::move(converter)});
  return true;
}

void Tracks::write(const Packet& packet, Muxer& muxer) {
  const auto found = tracks_.find(packet.stream());
  if (found == tracks_.end()) {
    return;
  }
  const Track& track = found->second;
  if (track.audio != nullptr) {
    track.audio->send(packet.get());
    write_transcoded(track, muxer);
    return;
  }
  PacketHandle written;
  if (track.subtitles != nullptr) {
    written = track.subtitles->convert(packet.get(), packet.time_base(), url_);
  } else {
    written = make_packet();
    check(av_packet_ref(written.get(), &packet.get()), url_, "can't keep a packet");
  }
  if (written != nullptr) {
    muxer.write(std::move(written), packet.time_base(), track.output);
  }
}

void Tracks::flush(Muxer& muxer) {
  for (const auto& [stream, track] : tracks_) {
    if (track.audio != nullptr) {
      track.audio->flush();
      write_transcoded(track, muxer);
    }
  }
}

void Tracks::write_transcoded(const Track& track, Muxer& muxer) {
  while (PacketHandle packet = track.audio->receive()) {
    muxer.write(std::move(packet), track.audio->encoder().time_base, track.output);
  }
}

std::int64_t Tracks::damaged_packets() const {
  std::int64_t count = 0;
  for (const auto& [stream, track] : tracks_) {
    count += track.audio == nullptr ? 0 : track.audio->damaged_packets();
  }
  return count;
}

}  // namespace limpid::io
