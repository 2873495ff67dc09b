// SPDX-License-Identifier: MIT
#include "io/media/writer/sinks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "core/base/error.h"
#include "core/base/system.h"
#include "io/media/container_header.h"
#include "io/media/orientation.h"
#include "io/media/picture_sequence.h"
#include "io/media/traits.h"
#include "io/media/writer.h"
#include "io/media/writer/losses.h"
#include "io/media/writer/streams.h"

namespace limpid::io {

PictureMetadata metadata_of(const Frame& frame, const Encoder& encoder, const Rotation& rotation,
                            bool is_stack) {
  const auto* const properties = frame.attachment.get<AVFrame>();
  const AVCodecContext& context = encoder.context();
  PictureMetadata metadata;
  if (properties == nullptr) {
    return metadata;
  }
  const PictureMetadata& source = kept_metadata(*properties);
  metadata.stored = source.stored;
  metadata.others = source.others;
  if (properties->color_trc != source.stored.transfer ||
      properties->color_primaries != source.stored.primaries) {
    std::erase_if(metadata.others, [](const OtherMetadata& other) { return other.is_color; });
  }
  if (!holds_metadata(encoder.codec().id)) {
    return metadata;
  }
  const bool is_upright = !rotation.is_lost();
  const StaleTags stale = stale_tags(source, context.width, context.height, is_stack);
  metadata.exif = updated_exif(stale.stack || stale.map ? without(stale, source.exif) : source.exif,
                               context.width, context.height, is_upright);
  metadata.xmp = updated_xmp(source.xmp, is_upright);
  const AVFrameSideData* const profile = av_frame_get_side_data(properties, AV_FRAME_DATA_ICC_PROFILE);
  if (profile != nullptr && encoder.keeps_profile()) {
    metadata.profile.assign(profile->data, profile->data + profile->size);
  }
  return metadata;
}

Pictures::Pictures(const Target& target, const Source& source, Diagnostics& diagnostics)
    : url_(target.url),
      source_url_(source.url),
      encoder_(target.encoder),
      rotation_(target.rotation),
      overwrite_(target.options.overwrite),
      when_whole_(target.options.when_whole),
      first_(source.first_picture),
      file_(std::make_unique<OutputFile>(is_sequence(url_) ? picture_name(url_, first_) : url_, source_url_,
                                         overwrite_, target.options.temporary_mark)),
      stack_(url_) {
  if (!encoder_.muxer_options().empty()) {
    throw UsageError(std::string("the encoder ") + encoder_.context().codec->name + " has no option '" +
                     encoder_.muxer_options().front().first + "'");
  }
  for (const AVStream* const stream : streams_of(source.input)) {
    if (stream != &source.video && is_wanted(source, *stream, diagnostics)) {
      report_not_held(encoder_.context().codec->name, *stream, "", diagnostics);
    }
  }
  report_losses(diagnostics, source, target, true);
}

void Pictures::expect(const Frame& frame) {
  waiting_.push_back(metadata_of(frame, encoder_, rotation_, !is_sequence(url_)));
}

/// The file of an encoded picture.
Bytes Pictures::file_of(const AVPacket& packet, const PictureMetadata& metadata, std::uint32_t base) const {
  const BytesView bytes(packet.data, static_cast<std::size_t>(packet.size));
  const AVCodecContext& context = encoder_.context();
  const AVCodecID codec = encoder_.codec().id;
  return context.codec_id == codec
             ? with_metadata(codec, bytes, metadata, base)
             : with_metadata(codec,
                             tiff_of_floats(url_, {bytes, context.width, context.height}, metadata.stored),
                             metadata, base);
}

void Pictures::write_frame(PacketHandle frame) {
  ++written_;
  const bool is_stack = !is_sequence(url_) && encoder_.codec().id == AV_CODEC_ID_TIFF &&
                        (file_->bytes()->seekable & AVIO_SEEKABLE_NORMAL) != 0;
  if (!is_sequence(url_)) {
    if (written_ > 1 && !is_stack) {
      throw Error(url_ +
                  ": holds one picture only, and the input has more; name a sequence such as picture_%04d" +
                  std::filesystem::path(url_).extension().string());
    }
  }
  const PictureMetadata metadata = std::move(waiting_.front());
  waiting_.pop_front();
  const bool has_place = metadata.stored.has_films && !is_sequence(source_url_);
  const std::int64_t number = has_place ? metadata.stored.page : written_ - 1;
  if (file_ == nullptr) {
    file_ = std::make_unique<OutputFile>(picture_name(url_, first_ + number), source_url_, overwrite_);
    last_ = std::max(last_, first_ + number);
  }
  const std::int64_t end = is_stack ? avio_tell(file_->bytes()) : 0;
  const std::int64_t base = end + end % 2;
  const Bytes encoded = file_of(*frame, metadata, static_cast<std::uint32_t>(base));
  bytes_ += std::ssize(encoded);
  if (is_stack) {
    describes_stack_ = describes_stack_ || stale_tags(metadata, 0, 0, false).stack;
    pages_ = metadata.stored.pages;
    stack_.append(encoded, base, number, *file_->bytes());
  } else {
    write_bytes(*file_->bytes(), encoded);
  }
  if (is_sequence(url_)) {
    std::exchange(file_, nullptr)->commit(false);  // all are synchronized at the end
  }
}

void Pictures::finish() {
  if (is_sequence(url_) && written_ > 0) {
    sync_file_system(std::filesystem::path(picture_name(url_, first_)).parent_path().string());
    if (const PictureSequence later(url_, last_ + 1); later.first()) {
      remark_ = url_ + ": " + std::to_string(later.count()) +
                " pictures of an earlier sequence follow its last one, from " +
                picture_name(url_, *later.first()) + " on";
    }
  }
  if (file_ != nullptr && pages_ > 0) {
    remark_ = describes_stack_ && written_ != pages_ ? kLostStack : "";
    stack_.finish(*file_->bytes(), remark_.empty());
  }
  if (file_ != nullptr && written_ > 0) {
    file_->commit(true, when_whole_);
  }
  file_.reset();
}

namespace {

/// In the notation of GIF's extension, which the other formats share: 0 is endless. Nothing for sources that
/// are no animations.
std::optional<unsigned> loops_of(const Source& source) {
  using namespace std::string_view_literals;
  const InputTraits& traits = traits_of(*source.input.iformat);
  if (!traits.has_loops) {
    return std::nullopt;
  }
  constexpr std::size_t kBegin = 1 << 20;
  std::string begin(kBegin, '\0');
  std::ifstream file(path_of(source.url), std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const auto byte = [&](std::size_t at) {
    return at < begin.size() ? static_cast<unsigned char>(begin[at]) : 0U;
  };
  if (traits.end == InputTraits::End::kGif) {
    constexpr std::string_view kLoops = "NETSCAPE2.0\x03\x01"sv;
    const std::size_t at = begin.find(kLoops);
    return at == std::string::npos ? 1 : byte(at + kLoops.size()) | byte(at + kLoops.size() + 1) << 8;
  }
  const std::size_t control = begin.find("acTL");
  constexpr std::size_t kPlays = 8;
  unsigned plays = 0;
  for (std::size_t i = 0; control != std::string::npos && i < 4; ++i) {
    plays = plays << 8 | byte(control + kPlays + i);
  }
  return plays;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> loop_option(const Source& source,
                                                               const AVOutputFormat& container) {
  const ContainerTraits& traits = traits_of(container);
  if (traits.loop_option == nullptr) {
    return std::nullopt;
  }
  constexpr unsigned kMost = 65535;
  const unsigned loops = std::min(loops_of(source).value_or(0), kMost);
  const bool plays_once =
      loops == 1 && traits.final_delay == ContainerTraits::FinalDelay::kHundredths;  // GIF
  return std::pair(traits.loop_option, plays_once ? "-1" : std::to_string(loops));
}

void AnimationTimes::note(const Frame& frame) {
  if (const auto* const properties = frame.attachment.get<AVFrame>()) {
    begin_ = begin_ == AV_NOPTS_VALUE ? properties->pts : begin_;
    last_duration_ = duration_of(*properties);
    end_ = properties->pts + last_duration_;
    time_base_ = properties->time_base;
  }
}

std::optional<std::pair<std::string, std::string>> AnimationTimes::last_delay(
    const AVOutputFormat& container) const {
  if (last_duration_ <= 0 || time_base_.num <= 0) {
    return std::nullopt;
  }
  using FinalDelay = ContainerTraits::FinalDelay;
  const FinalDelay unit = traits_of(container).final_delay;
  constexpr AVRational kHundredth{1, 100};
  if (unit == FinalDelay::kHundredths) {
    return std::pair("final_delay", std::to_string(av_rescale_q(last_duration_, time_base_, kHundredth)));
  }
  if (unit == FinalDelay::kNone) {
    return std::nullopt;
  }
  constexpr int kMost = 65535;  // of a fraction in APNG
  AVRational seconds{};
  av_reduce(&seconds.num, &seconds.den, last_duration_ * time_base_.num, time_base_.den, kMost);
  return std::pair("final_delay", std::to_string(seconds.num) + "/" + std::to_string(seconds.den));
}

std::int64_t AnimationTimes::milliseconds() const {
  constexpr AVRational kMillisecond{1, 1000};
  return last_duration_ <= 0 ? 0 : av_rescale_q(end_ - begin_, time_base_, kMillisecond);
}

void correct_webp_animation(Bytes& file, std::int64_t milliseconds, bool has_alpha) {
  const auto number = [&](std::size_t at, std::size_t size) {
    std::size_t value = 0;
    for (std::size_t i = size; i-- > 0;) {
      value = value << 8 | file[at + i];
    }
    return value;
  };
  constexpr std::size_t kHeader = 12;
  constexpr std::size_t kChunkHeader = 8;
  constexpr std::size_t kDuration = kChunkHeader + 12;  // of a frame in its chunk, 3 bytes
  constexpr std::uint8_t kAlpha = 0x10;
  std::int64_t before = 0;
  std::int64_t duration = 0;
  std::size_t last = 0;
  for (std::size_t at = kHeader; at + kDuration + 4 <= file.size();) {
    const std::string_view tag(reinterpret_cast<const char*>(file.data()) + at, 4);
    if (tag == "VP8X" && has_alpha) {
      file[at + kChunkHeader] |= kAlpha;
    } else if (tag == "ANMF") {
      last = at;
      before += duration;
      duration = static_cast<std::int64_t>(number(at + kDuration, 3));
    }
    const std::size_t size = number(at + 4, 4);
    at += kChunkHeader + size + size % 2;
  }
  constexpr std::int64_t kMost = (1 << 24) - 1;
  if (last != 0 && milliseconds > before) {
    const std::int64_t rest = std::min(milliseconds - before, kMost);
    for (std::size_t i = 0; i < 3; ++i) {
      file[last + kDuration + i] = static_cast<std::uint8_t>(rest >> (8 * i) & 0xFF);
    }
  }
}

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
