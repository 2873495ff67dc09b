// SPDX-License-Identifier: MIT
#include "io/media/writer/media_file.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "io/media/container.h"
#include "io/media/output_file.h"
#include "io/media/writer.h"
#include "io/media/writer/animation.h"
#include "io/media/writer/losses.h"
#include "io/media/writer/pictures.h"
#include "io/media/writer/rotation.h"
#include "io/media/writer/streams.h"
#include "io/media/writer/tags.h"

namespace limpid::io {
namespace {

std::unique_ptr<OutputFile> open_file(const Target& target, const Source& source) {
  if ((target.container.flags & AVFMT_NOFILE) != 0) {
    return nullptr;
  }
  return std::make_unique<OutputFile>(target.url, source.url, target.options.overwrite,
                                      target.options.temporary_mark);
}

/// Copies side data of the source's stream, or of its first frame, that belongs to the file's stream.
void copy_side_data(AVStream& video, const Source& source, bool is_turned, bool holds_packing) {
  const auto is_copied = [&](AVPacketSideDataType type) {
    return !is_turned || type != AV_PKT_DATA_DISPLAYMATRIX;
  };
  for (const AVPacketSideDataType type :
       {AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
        AV_PKT_DATA_SPHERICAL, AV_PKT_DATA_STEREO3D}) {
    const AVPacketSideData* const data = stream_side_data(source, type);
    if (data != nullptr && is_copied(type)) {
      add_side_data(video, type, data->data, data->size);
    }
  }
  constexpr std::array<std::pair<AVFrameSideDataType, AVPacketSideDataType>, 5> kFromFrames{
      {{AV_FRAME_DATA_DISPLAYMATRIX, AV_PKT_DATA_DISPLAYMATRIX},
       {AV_FRAME_DATA_STEREO3D, AV_PKT_DATA_STEREO3D},
       {AV_FRAME_DATA_SPHERICAL, AV_PKT_DATA_SPHERICAL},
       {AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_MASTERING_DISPLAY_METADATA},
       {AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_CONTENT_LIGHT_LEVEL}}};
  for (const auto& [from, to] : kFromFrames) {
    const AVFrameSideData* const data = av_frame_get_side_data(&source.first, from);
    const bool is_held = from != AV_FRAME_DATA_STEREO3D || holds_packing;
    if (data != nullptr && is_copied(to) && is_held) {
      add_side_data(video, to, data->data, data->size);
    }
  }
}

void set_up_video(AVStream& video, const Source& source, const Target& target) {
  const AVCodecContext& context = target.encoder.context();
  check(avcodec_parameters_from_context(video.codecpar, &context), target.url,
        "can't set up the video stream");
  if (context.codec_id == AV_CODEC_ID_HEVC && traits_of(target.container).display_matrix) {
    video.codecpar->codec_tag = MKTAG('h', 'v', 'c', '1');  // the only tag that Apple's players support
  }
  video.time_base = context.time_base;
  if (source.average_rate.num > 0) {
    video.avg_frame_rate = context.framerate;
    video.r_frame_rate = context.framerate;
  }
  video.sample_aspect_ratio = context.sample_aspect_ratio;
  video.disposition = source.video.disposition;
  copy_lasting_tags(&video.metadata, source.video.metadata);
  advance_timecode(&video.metadata, source);
  set_tag(&video.metadata, "encoder", std::string(LIBAVCODEC_IDENT " ") + context.codec->name);
  for (int i = 0; i < context.nb_coded_side_data; ++i) {
    const AVPacketSideData& data = context.coded_side_data[i];
    add_side_data(video, data.type, data.data, data.size);
  }
  copy_side_data(video, source, !target.rotation.applied().is_upright(), traits_of(target.container).stereo);
}

}  // namespace

MediaFile::MediaFile(const Target& target, const Source& source, Audio audio, Diagnostics& diagnostics)
    : encoder_(target.encoder),
      rotation_(target.rotation),
      when_whole_(target.options.when_whole),
      muxer_(target.url, target.container, open_file(target, source)),
      tracks_(target.url, std::move(audio)) {
  AVFormatContext& context = muxer_.context();
  copy_lasting_tags(&context.metadata, source.input.metadata);
  advance_timecode(&context.metadata, source);
  if (std::string loss = keep_tags(context, encoder_.muxer_options()); !loss.empty()) {
    report_loss(diagnostics, std::move(loss));
  }
  if (const auto loops = loop_option(source, target.container)) {
    muxer_.set_option(loops->first, loops->second, "");
  }
  const bool has_own_flags = std::ranges::any_of(
      encoder_.muxer_options(), [](const auto& option) { return option.first == "movflags"; });
  if (traits_of(target.container).index_first && muxer_.has_temporary() && !has_own_flags) {
    muxer_.set_option("movflags", "+faststart", "");
  }
  for (const auto& [key, value] : encoder_.muxer_options()) {
    sets_last_delay_ = sets_last_delay_ && key != "final_delay";
    muxer_.set_option(key, value, encoder_.context().codec->name);
  }
  add_streams(target, source, diagnostics);
  copy_chapters(context, source, target.options.frames);
  report_losses(diagnostics, source, target, traits_of(target.container).is_webp && muxer_.has_temporary());
  muxer_.begin();
}

void MediaFile::add_streams(const Target& target, const Source& source, Diagnostics& diagnostics) {
  const bool is_cut = source.range.has_begin() || source.range.has_end() || target.options.frames > 0;
  for (const AVStream* const stream : streams_of(source.input)) {
    if (stream == &source.video) {
      set_up_video(muxer_.add_video(), source, target);
    } else if (is_wanted(source, *stream, diagnostics)) {
      AVFormatContext& context = muxer_.context();
      const unsigned before = context.nb_streams;
      tracks_.add(*stream, encoder_.context(), muxer_, diagnostics);
      for (unsigned i = before; i < context.nb_streams && is_cut; ++i) {
        drop_statistics(&context.streams[i]->metadata);
      }
    }
  }
}

void MediaFile::expect(const Frame& frame) {
  times_.note(frame);
  if (traits_of(*muxer_.context().oformat).is_webp && !metadata_) {
    metadata_ = metadata_of(frame, encoder_, rotation_, false);
  }
}

void MediaFile::write_frame(PacketHandle frame) {
  muxer_.write_video(std::move(frame), encoder_.context().time_base);
}

/// libav's WebP muxer writes one picture or an animation, which gets its metadata when it is complete.
void MediaFile::end() {
  const AVOutputFormat& container = *muxer_.context().oformat;
  if (const auto delay = times_.last_delay(container); delay && sets_last_delay_) {
    muxer_.set_option(delay->first, delay->second, "");
  }
  if (metadata_) {
    const AVPixFmtDescriptor& samples = *av_pix_fmt_desc_get(encoder_.target_format());
    const bool has_alpha = (samples.flags & AV_PIX_FMT_FLAG_ALPHA) != 0 && encoder_.has_alpha();
    muxer_.end([&](BytesView written) {
      Bytes file = with_metadata(AV_CODEC_ID_WEBP, written, *metadata_);
      correct_webp_animation(file, times_.milliseconds(), has_alpha);
      return file;
    });
  } else {
    muxer_.end();
  }
}

void MediaFile::finish() {
  tracks_.flush(muxer_);
  end();
  muxer_.commit(when_whole_);
}

std::string MediaFile::finish_partial() {
  if (!is_full()) {
    try {
      tracks_.flush(muxer_);
    } catch (const DiskFull&) {
      // The output so far is kept.
    }
  }
  end();
  return muxer_.commit_partial();
}

}  // namespace limpid::io
