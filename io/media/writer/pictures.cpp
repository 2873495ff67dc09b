// SPDX-License-Identifier: MIT
#include "io/media/writer/pictures.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "io/media/picture_sequence.h"
#include "io/media/tiff.h"
#include "io/media/writer.h"
#include "io/media/writer/losses.h"
#include "io/media/writer/rotation.h"
#include "io/media/writer/tracks.h"

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

}  // namespace limpid::io
