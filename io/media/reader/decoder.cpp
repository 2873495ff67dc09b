// SPDX-License-Identifier: MIT
#include "io/media/reader/decoder.h"

#include <algorithm>
#include <cmath>
#include <string_view>

extern "C" {
#include <libavutil/opt.h>
}

#include "core/base/error.h"
#include "io/media/cuda_frames.h"
#include "io/media/orientation.h"
#include "io/media/samples.h"

namespace limpid::io {
namespace {

/// Distances between the samples where a picture may begin.
struct Steps {
  std::int64_t x = 1;
  std::int64_t y = 1;
};

Steps steps_of(const AVPixFmtDescriptor& format, AVFieldOrder fields) {
  const bool is_bayer = (format.flags & AV_PIX_FMT_FLAG_BAYER) != 0;
  const bool is_interlaced = fields != AV_FIELD_UNKNOWN && fields != AV_FIELD_PROGRESSIVE;
  const int shift_x = is_bayer ? 1 : format.log2_chroma_w;
  const int shift_y = (is_bayer ? 1 : format.log2_chroma_h) + (is_interlaced ? 1 : 0);
  return {std::int64_t{1} << shift_x, std::int64_t{1} << shift_y};
}

/// Rounds the edges of one dimension inward. An edge that is not cropped stays where it is.
void round_inward(std::int64_t size, std::int64_t step, std::int64_t& before, std::int64_t& after) {
  before = (before + step - 1) / step * step;
  after = after > 0 ? size - std::max<std::int64_t>((size - after) / step, 0) * step : 0;
}

std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

/// libavutil's cropping moves the begin of rows by whole bytes.
bool has_whole_bytes(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_BITSTREAM) == 0 &&
         format != AV_PIX_FMT_UYYVYY411;
}

/// The reason why a request cannot be met; empty if there is none.
std::string objection(const ContainerCropping& requested, const AVCodecParameters& video) {
  const Cropping& edges = requested.edges;
  if (video.width != requested.width || video.height != requested.height) {
    return "its pictures are " + size_text(video.width, video.height) + ", not " +
           size_text(requested.width, requested.height);
  }
  if (std::min({edges.left, edges.top, edges.right, edges.bottom}) < 0) {
    return "it is beyond the picture of " + size_text(video.width, video.height);
  }
  if (edges.left + edges.right >= video.width || edges.top + edges.bottom >= video.height) {
    return "nothing of the picture of " + size_text(video.width, video.height) + " would remain";
  }
  const auto format = static_cast<AVPixelFormat>(video.format);
  if (format != AV_PIX_FMT_NONE && !has_whole_bytes(format)) {
    return "pictures of " + name_of(format) + " cannot be cropped";
  }
  return "";
}

std::string edges_text(const Cropping& edges) {
  return "left " + std::to_string(edges.left) + ", top " + std::to_string(edges.top) + ", right " +
         std::to_string(edges.right) + ", bottom " + std::to_string(edges.bottom);
}

}  // namespace

Cropper::Cropper(const std::optional<ContainerCropping>& requested, const AVStream& video) {
  if (!requested) {
    return;
  }
  const AVCodecParameters& parameters = *video.codecpar;
  ContainerCropping cropping = *requested;
  Cropping& edges = cropping.edges;
  if (parameters.width == cropping.width - edges.left - edges.right &&
      parameters.height == cropping.height - edges.top - edges.bottom) {
    return;  // the stream requests it as well, and the decoder has cropped
  }
  const auto known = static_cast<AVPixelFormat>(parameters.format);
  const AVPixelFormat format = known == AV_PIX_FMT_NONE ? AV_PIX_FMT_YUV420P : known;
  std::string reason = objection(cropping, parameters);
  if (reason.empty()) {
    const Steps steps = steps_of(*av_pix_fmt_desc_get(format), parameters.field_order);
    round_inward(cropping.width, steps.x, edges.left, edges.right);
    round_inward(cropping.height, steps.y, edges.top, edges.bottom);
    reason = objection(cropping, parameters);
  }
  if (!reason.empty()) {
    ignored_ = "the cropping that its container requests (" + edges_text(requested->edges) +
               ") is ignored: " + reason;
    return;
  }
  const std::int64_t width = cropping.width - edges.left - edges.right;
  const std::int64_t height = cropping.height - edges.top - edges.bottom;
  applied_ = "its pictures are cropped from " + size_text(cropping.width, cropping.height) + " to " +
             size_text(width, height) + " (" + edges_text(edges) + "), as its container requests";
  cropping_ = cropping;
}

void Cropper::apply(AVFrame& frame) const {
  if (!cropping_ || visible_width(frame) != cropping_->width || visible_height(frame) != cropping_->height) {
    return;
  }
  const Cropping& edges = cropping_->edges;
  frame.crop_left += static_cast<std::size_t>(edges.left);
  frame.crop_top += static_cast<std::size_t>(edges.top);
  frame.crop_right += static_cast<std::size_t>(edges.right);
  frame.crop_bottom += static_cast<std::size_t>(edges.bottom);
  // For frames in a GPU's memory, the edges at the left and the top remain in the frame's fields.
  check(av_frame_apply_cropping(&frame, AV_FRAME_CROP_UNALIGNED), "frame", "can't crop it");
}

std::optional<AVRational> Cropper::sample_aspect_ratio() const {
  return cropping_ && cropping_->sample_aspect_ratio.num > 0 ? std::optional(cropping_->sample_aspect_ratio)
                                                             : std::nullopt;
}

namespace {

/// A decoder that keeps the alpha of WebM, which is a second stream that libavcodec's own decoders of VP8 and
/// VP9 ignore. Null if the video has no alpha or there is no such decoder.
const AVCodec* alpha_decoder(const AVStream& stream) {
  const AVDictionaryEntry* const mode = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  if (mode == nullptr || std::string_view(mode->value) != "1") {
    return nullptr;
  }
  const AVCodecID id = stream.codecpar->codec_id;
  return id == AV_CODEC_ID_VP9   ? avcodec_find_decoder_by_name("libvpx-vp9")
         : id == AV_CODEC_ID_VP8 ? avcodec_find_decoder_by_name("libvpx")
                                 : nullptr;
}

/// True if libavcodec compares the codec's checksums and delivers frames that differ.
bool has_checksums(AVCodecID codec) { return codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_FFV1; }

}  // namespace

Decoder::Decoder(const std::string& url, const VideoSource& source, const ReaderOptions& options,
                 Dictionary& unused, Health& health)
    : url_(url),
      source_(source),
      health_(health),
      joins_fields_(options.before.find("weave") != std::string::npos),
      cropper_(source.cropping, source.stream),
      times_(source),
      chooses_white_(options.white == 0),
      white_(options.white) {
  health_.note_cropping(cropper_.applied(), cropper_.ignored());
  open(options, unused);
}

/// The decoder for the requested memory, otherwise libavcodec's own; sets the reason.
const AVCodec& Decoder::choose_codec(const ReaderOptions& options) {
  const AVCodecID id = source_.stream.codecpar->codec_id;
  if (id == AV_CODEC_ID_FITS) {
    throw Error(url_ +
                ": FITS is not supported: FFmpeg scales its samples and drops its header; convert "
                "it to TIFF with 32-bit floats");
  }
  if (const AVCodec* const with_alpha = alpha_decoder(source_.stream)) {
    why_not_on_cuda_ = options.memory.is_host()
                           ? ""
                           : "GPUs do not decode the alpha of " + std::string(avcodec_get_name(id));
    return *with_alpha;
  }
  if (!options.memory.is_host()) {
    const AVCodec* const of_cuda = find_cuda_decoder(id);
    if (of_cuda != nullptr && (!options.same_samples || has_exact_samples(id))) {
      return *of_cuda;
    }
    const std::string name = avcodec_get_name(id);
    why_not_on_cuda_ =
        of_cuda == nullptr ? "no GPU decodes " + name : "GPUs may decode " + name + " to different samples";
  }
  const AVCodec* const codec = avcodec_find_decoder(id);
  if (codec == nullptr) {
    throw Error(url_ + ": there is no decoder for its video (" + avcodec_get_name(id) + ")");
  }
  return *codec;
}

void Decoder::open(const ReaderOptions& options, Dictionary& unused) {
  const AVCodecParameters& parameters = *source_.stream.codecpar;
  const AVCodec& codec = choose_codec(options);
  const bool on_cuda = !options.memory.is_host() && why_not_on_cuda_.empty();
  codec_.reset(avcodec_alloc_context3(&codec));
  if (codec_ == nullptr) {
    throw Error("out of memory");
  }
  check(avcodec_parameters_to_context(codec_.get(), &parameters), url_, "can't set up the decoder");
  codec_->pkt_timebase = source_.stream.time_base;
  codec_->framerate = source_.stream.avg_frame_rate;
  codec_->thread_count = options.decoder_threads;
  if (options.without_film_grain) {
    codec_->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
  }
  if (on_cuda) {
    why_not_on_cuda_ = decode_on_cuda(*codec_, options.memory.ordinal);
  }
  // Some options are also the demuxer's, which has removed them.
  std::vector<std::pair<std::string, std::string>> own_options;
  for (const auto& [key, value] : options.options) {
    if (av_opt_find(codec_.get(), key.c_str(), nullptr, AV_OPT_FLAG_DECODING_PARAM, AV_OPT_SEARCH_CHILDREN) !=
        nullptr) {
      own_options.emplace_back(key, value);
      unused.set(key, value);
    }
  }
  if (!on_cuda && PictureMender::is_for(*codec_, own_options)) {
    mender_.emplace(*codec_, parameters, std::move(own_options));
  }
  has_errors_ = !on_cuda;
  if (has_errors_) {
    errors_.watch(*codec_, has_checksums(parameters.codec_id));
  }
  forget_logged_messages();
  forget_decoder_error();
  if (const int code = avcodec_open2(codec_.get(), &codec, unused.get()); code < 0) {
    throw Error(url_ + ": can't open the decoder " + codec.name + ": " + error_text(code) + logged_reason());
  }
  skip_frame_ = codec_->skip_frame;
  if (const std::string unknown = unused.any_key(); !unknown.empty()) {
    throw UsageError(url_ + ": neither the input format " + source_.container.name + " nor the decoder " +
                     codec.name + " has an option '" + unknown + "'");
  }
}

void Decoder::send(const AVPacket& packet, bool is_shown, bool is_inside) {
  ++packets_;
  const bool is_skipped = !is_shown && !mender_;
  codec_->skip_frame = is_skipped ? std::max(skip_frame_, AVDISCARD_NONREF) : skip_frame_;
  if (mender_) {
    mender_->sent(packet);
  }
  note_metadata(packet);
  // MPEG streams have this flag also at cuts, where it is harmless.
  if ((packet.flags & AV_PKT_FLAG_CORRUPT) != 0 && packet.pts != AV_NOPTS_VALUE &&
      !has_jumps(source_.container)) {
    damaged_times_.insert(packet.pts);
  }
  if (open_tiff(packet)) {
    return;
  }
  if (has_errors_) {
    errors_.begin(*codec_, packet, is_inside);
  }
  const int sent = avcodec_send_packet(codec_.get(), &packet);
  if (sent == AVERROR(ENOMEM)) {
    check(sent, url_, "can't decode");
  }
  if (sent < 0) {
    lose_packet();
  }
}

/// True if the packet is a file that libavcodec does not read right.
bool Decoder::open_tiff(const AVPacket& packet) {
  if (!reads_pictures(source_.container) || source_.stream.codecpar->codec_id != AV_CODEC_ID_TIFF) {
    return false;
  }
  tiff_ = TiffPages::open(url_, packet);
  return tiff_ != nullptr;
}

/// Null if there is none. Pages follow each other across the files of a sequence.
FrameHandle Decoder::next_page() {
  FrameHandle page = tiff_ ? tiff_->next() : nullptr;
  if (page != nullptr && times_.has_begun()) {
    page->best_effort_timestamp = AV_NOPTS_VALUE;
  }
  return page;
}

void Decoder::note_metadata(const AVPacket& packet) {
  if (!reads_pictures(source_.container)) {
    return;
  }
  metadata_[packet.pts] =
      find_metadata(source_.stream.codecpar->codec_id, {packet.data, static_cast<std::size_t>(packet.size)});
}

/// Attaches the metadata of a picture.
void Decoder::describe_picture(AVFrame& frame) {
  PictureMetadata metadata;
  if (auto found = metadata_.extract(frame.pts)) {
    metadata = std::move(found.mapped());
    apply_tags(metadata, frame);
  }
  if (has_floats(frame)) {
    scale_floats(frame);
  }
  metadata.stored = kept_metadata(frame).stored;  // of TIFF's pages
  metadata.stored.width = frame.width;
  metadata.stored.height = frame.height;
  metadata.stored.transfer = frame.color_trc;
  metadata.stored.primaries = frame.color_primaries;
  metadata.stored.white = white();
  keep_metadata(frame, std::move(metadata));
}

/// In pictures of counts, heights or temperatures, 1 is not white: divides them by a power of two, so that
/// the greatest sample of the first file is 0.5 to 1. The zero stays, on which noise of light depends.
void Decoder::scale_floats(AVFrame& frame) {
  constexpr float kGreatest = 16;  // filters can use samples up to it
  constexpr float kLeast = 1.0F / 256;
  if (white_ == 0) {
    const FloatRange range = range_of(frame);
    const float greatest = tiff_ ? tiff_->greatest() : range.is_usable ? 1 : range.greatest;
    int exponent = 0;
    std::frexp(greatest, &exponent);
    white_ = greatest > kGreatest || (greatest > 0 && greatest < kLeast) ? std::ldexp(1.0F, exponent) : 1;
  }
  if (white_ != 1) {
    check(av_frame_make_writable(&frame), url_, "can't scale a picture");
    multiply_floats(frame, 1 / white_);
  }
  if (tiff_ && chooses_white_ && !range_of(frame).is_usable) {
    throw Error(url_ + ": most samples of frame " + std::to_string(frames_) +
                " are more than 16 times the greatest of the first file; denoise the files one by one, or as "
                "one stack");
  }
}

void Decoder::drain() { avcodec_send_packet(codec_.get(), nullptr); }

Decoder::Status Decoder::receive(DecodedFrame& decoded, std::int64_t index) {
  while (!times_.has_frame()) {
    if (FrameHandle page = next_page()) {
      times_.push(inspected(std::move(page)));
      continue;
    }
    FrameHandle frame = make_frame();
    const int code = avcodec_receive_frame(codec_.get(), frame.get());
    report_errors(code == AVERROR_EOF);
    if (code >= 0) {
      refuse_field(*frame);
      if (mender_) {
        mender_->received(*frame);
      }
      times_.push(inspected(std::move(frame)));
    } else if (code == AVERROR(EAGAIN)) {
      return Status::kNeedsPacket;
    } else if (code == AVERROR_EOF) {
      if (!times_.end()) {
        return Status::kEnded;
      }
    } else if (code == AVERROR(ENOMEM)) {
      check(code, url_, "can't decode frame " + std::to_string(index));
    } else {
      // A frame thread reports a damaged packet here, after it was sent.
      lose_packet();
    }
  }
  ++frames_;
  decoded = times_.pop(codec_->framerate);
  return Status::kFrame;
}

/// Of HEVC, libavcodec marks only fields as interlaced, and delivers each as a frame of half the height.
void Decoder::refuse_field(const AVFrame& frame) const {
  if (codec_->codec_id == AV_CODEC_ID_HEVC && is_interlaced(frame) && !joins_fields_) {
    throw Error(url_ + ": its video is HEVC coded as fields, which FFmpeg does not join; add --before " +
                "weave=first_field=" + (is_top_field_first(frame) ? "top" : "bottom"));
  }
}

void Decoder::lose_packet() {
  if (FrameHandle frame = mender_ ? mender_->mend() : nullptr) {
    times_.push(inspected(std::move(frame)));
  } else {
    health_.note_damaged_packet();
  }
}

void Decoder::report_errors(bool is_complete) {
  if (has_errors_) {
    const auto& [packets, first] = errors_.summary(*codec_, is_complete);
    health_.note_decoder_errors(packets, first);
  }
}

DecodedFrame Decoder::inspected(FrameHandle frame) {
  const bool has_wrong_checksum = errors_.take_wrong_checksum(*frame);
  const bool is_damaged = damaged_times_.erase(frame->pts) > 0 ||
                          (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0;
  if (reads_pictures(source_.container)) {
    describe_picture(*frame);
  }
  cropper_.apply(*frame);
  return {std::move(frame), is_damaged, has_wrong_checksum};
}

void Decoder::flush() {
  avcodec_flush_buffers(codec_.get());
  tiff_.reset();
  if (mender_) {
    mender_->forget();
  }
  times_.forget_position();
  metadata_.clear();
  damaged_times_.clear();
  errors_.forget_position();
}

AVPixelFormat Decoder::sample_format(const AVFrame& frame) const {
  return frame.format == AV_PIX_FMT_CUDA ? codec_->sw_pix_fmt : static_cast<AVPixelFormat>(frame.format);
}

DecoderFilter::DecoderFilter(const ReaderOptions& options, const AVStream& stream, AVRational rate)
    : stream_(stream), rate_(rate) {
  if (!options.before.empty()) {
    chain_.emplace("--before", options.before, options.local_only);
    if (options.start) {
      chain_->require_no_memory("--start");
    }
  }
}

Decoder::Status DecoderFilter::receive(Decoder& decoder, DecodedFrame& decoded, std::int64_t index) {
  if (!is_active()) {
    return decoder.receive(decoded, index);
  }
  for (;;) {
    if (FrameHandle frame = graph_ ? graph_->receive() : nullptr) {
      decoded = std::exchange(marks_, {});
      decoded.frame = std::move(frame);
      return Decoder::Status::kFrame;
    }
    DecodedFrame next;
    const Decoder::Status status = decoder.receive(next, index);
    if (status == Decoder::Status::kFrame) {
      send(std::move(next), decoder);
    } else if (status == Decoder::Status::kEnded && graph_ && !graph_->has_ended()) {
      graph_->flush();
    } else {
      return status;
    }
  }
}

void DecoderFilter::send(DecodedFrame decoded, const Decoder& decoder) {
  AVFrame& frame = *decoded.frame;
  inherit_hdr(frame, stream_);
  inherit_layout(frame, stream_);
  if (!graph_) {
    const AVRational of_stream = stream_.sample_aspect_ratio;
    graph_.emplace(*chain_, FilterInput{.time_base = stream_.time_base,
                                        .frame_rate = rate_,
                                        .sample_aspect_ratio =
                                            decoder.cropper().sample_aspect_ratio().value_or(of_stream),
                                        .orientation = orientation_of(stream_, frame)});
  }
  marks_.is_damaged |= decoded.is_damaged;
  marks_.has_wrong_checksum |= decoded.has_wrong_checksum;
  marks_.has_wrong_time |= decoded.has_wrong_time;
  graph_->send(std::move(decoded.frame));
}

void DecoderFilter::forget_position() {
  if (graph_) {
    chain_->require_no_memory("seeking");
    graph_->reset();
  }
  marks_ = {};
}

}  // namespace limpid::io
