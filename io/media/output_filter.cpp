// SPDX-License-Identifier: MIT
#include "io/media/output_filter.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

extern "C" {
#include <libavfilter/avfilter.h>
}

#include "core/base/error.h"
#include "io/media/orientation.h"
#include "io/media/pixel_format.h"
#include "io/media/reader.h"

namespace limpid::io {
namespace {

// Of the result, whose sizes are even, as 4:2:0 requires. The filter does not change frames of even sizes.
constexpr const char* kSdrTags =
    "setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv,scale=trunc(iw/2)*2:trunc(ih/"
    "2)*2";

/// The name that the filter scale has for a matrix.
std::string name_for_scale(AVColorSpace matrix) {
  switch (matrix) {
    case AVCOL_SPC_BT709:
      return "bt709";
    case AVCOL_SPC_FCC:
      return "fcc";
    case AVCOL_SPC_SMPTE240M:
      return "smpte240m";
    case AVCOL_SPC_BT2020_NCL:
      return "bt2020";
    default:
      return "bt601";
  }
}

/// True for transfers with the curve of BT.709, and for pictures without a tag.
bool is_like_bt709(AVColorTransferCharacteristic transfer) {
  return transfer == AVCOL_TRC_UNSPECIFIED || transfer == AVCOL_TRC_BT709 ||
         transfer == AVCOL_TRC_SMPTE170M || transfer == AVCOL_TRC_BT2020_10 ||
         transfer == AVCOL_TRC_BT2020_12;
}

bool is_like_bt709(AVColorPrimaries primaries) {
  return primaries == AVCOL_PRI_UNSPECIFIED || primaries == AVCOL_PRI_BT709;
}

std::string in_range(const Source& source) { return source.format.range == ColorRange::kFull ? "pc" : "tv"; }

/// Maps the light of HDR to that of BT.709: diffuse white is at 203 cd/m2 (BT.2408), darker light than a
/// third of it is unchanged, and brighter light is compressed. The peak is 1000 cd/m2 for HLG, and 4000 for
/// PQ.
std::string by_tone_map(const Source& source) {
  if (avfilter_get_by_name("zscale") == nullptr || avfilter_get_by_name("tonemap") == nullptr) {
    throw UsageError(
        source.url +
        ": is HDR, and this FFmpeg lacks zscale or tonemap, which convert it to BT.709; --for archive "
        "keeps HDR");
  }
  const AVFrame& tags = source.first;
  std::string untagged = tags.color_primaries == AVCOL_PRI_UNSPECIFIED ? "pin=bt2020:" : "";
  untagged += tags.colorspace == AVCOL_SPC_UNSPECIFIED ? "min=2020_ncl:" : "";
  return "zscale=" + untagged + "rin=" + (source.format.range == ColorRange::kFull ? "pc" : "tv") +
         ":t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,tonemap=mobius:param=0.3:desat=0:peak=" +
         (tags.color_trc == AVCOL_TRC_ARIB_STD_B67 ? "4.93" : "19.7") +
         ",zscale=t=bt709:m=bt709:r=tv:d=error_diffusion,format=yuv420p";
}

/// Converts primaries and transfer, too.
std::string by_light(const Source& source, AVColorSpace matrix) {
  const AVFrame& tags = source.first;
  const bool has_transfer = tags.color_trc != AVCOL_TRC_UNSPECIFIED;
  const bool has_primaries = tags.color_primaries != AVCOL_PRI_UNSPECIFIED;
  return std::string("colorspace=all=bt709:range=tv:irange=") + in_range(source) +
         ":ispace=" + av_color_space_name(matrix) +
         ":iprimaries=" + (has_primaries ? av_color_primaries_name(tags.color_primaries) : "bt709") +
         ":itrc=" + (has_transfer ? av_color_transfer_name(tags.color_trc) : "bt709");
}

}  // namespace

std::string chain_to_bt709(const Source& source) {
  const AVFrame& tags = source.first;
  if (is_hdr(tags.color_trc)) {
    return by_tone_map(source) + "," + kSdrTags;
  }
  if (source.format.color_model != ColorModel::kYuv) {
    return std::string(
               "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p|yuv444p10|yuv444p12|yuv444p14|"
               "yuv444p16,") +
           kSdrTags;
  }
  const bool is_tagged = tags.colorspace != AVCOL_SPC_UNSPECIFIED && tags.colorspace != AVCOL_SPC_RGB;
  const AVColorSpace matrix = is_tagged ? tags.colorspace : guessed_matrix(source.format.height);
  const bool has_curve = is_like_bt709(tags.color_trc);
  if (!has_curve || !is_like_bt709(tags.color_primaries)) {
    return by_light(source, matrix) + "," + kSdrTags;
  }
  if (matrix == AVCOL_SPC_BT709 && source.format.range != ColorRange::kFull) {
    return kSdrTags;
  }
  return "scale=in_color_matrix=" + name_for_scale(matrix) +
         ":out_color_matrix=bt709:in_range=" + in_range(source) + ":out_range=tv," + kSdrTags;
}

namespace {

FilterInput filter_input(const Source& source) {
  return {.time_base = source.time_base,
          .frame_rate = source.average_rate,
          .sample_aspect_ratio = source.sample_aspect_ratio,
          .orientation = orientation_of(source)};
}

void clear_cropping(AVFrame& frame) {
  frame.crop_left = frame.crop_right = frame.crop_top = frame.crop_bottom = 0;
}

}  // namespace

OutputFilter::OutputFilter(const FilterChain& chain, const Source& source)
    : source_format_(pixel_format(source.format)),
      inherited_(make_frame()),
      graph_(chain, filter_input(source)) {
  if (source_format_ == AV_PIX_FMT_NONE) {
    throw Error(chain.option() + ": libavfilter has no pixel format for " + to_string(source.format));
  }
  if (!source.is_filtered) {
    inherit_hdr(*inherited_, source.video);
    inherit_layout(*inherited_, source.video);
  }
  probe(chain, source);
}

/// Filters the first frame in a separate graph, because filters of libavfilter keep the frames that they get.
void OutputFilter::probe(const FilterChain& chain, const Source& source) {
  constexpr int kMost = 64;
  const FilterInput input = filter_input(source);
  FilterGraph graph(chain, input);
  FrameHandle result;
  std::int64_t pts = source.first.pts == AV_NOPTS_VALUE ? 0 : source.first.pts;
  const std::int64_t duration =
      input.frame_rate.num > 0 ? av_rescale_q(1, av_inv_q(input.frame_rate), input.time_base) : 1;
  for (int i = 0; i < kMost && result == nullptr; ++i) {
    FrameHandle frame = blank(source);
    frame->pts = pts;
    set_duration(*frame, duration);
    pts += std::max<std::int64_t>(duration, 1);
    graph.send(std::move(frame));
    result = graph.receive();
  }
  if (result == nullptr) {
    graph.flush();
    result = graph.receive();
  }
  if (result == nullptr) {
    throw UsageError(chain.option() + " '" + chain.text() + "': no frame follows from the first " +
                     std::to_string(kMost) + " frames; select a passage with --start and --end");
  }
  frame_rate_ = graph.frame_rate();
  sample_aspect_ratio_ = graph.sample_aspect_ratio();
  losses_ = source.filter_losses;
  std::ranges::copy(graph.losses(), std::back_inserter(losses_));
  converter_.emplace(chain.option(), ReaderOptions(), *result, static_cast<AVPixelFormat>(result->format));
  first_ = make_frame();
  check(av_frame_copy_props(first_.get(), result.get()), chain.option(), "can't copy a frame's properties");
  first_->time_base = result->time_base;
  first_->format = result->format;
  first_->color_range = is_full_range(static_cast<AVPixelFormat>(result->format), result->color_range)
                            ? AVCOL_RANGE_JPEG
                            : result->color_range;
}

/// A frame of the source's format with the properties of the first one.
FrameHandle OutputFilter::blank(const Source& source) const {
  FrameHandle frame = make_frame();
  frame->format = source_format_;
  frame->width = source.format.width;
  frame->height = source.format.height;
  check(av_frame_get_buffer(frame.get(), 0), source.url, "can't make a frame");
  for (int plane = 0; plane < AV_NUM_DATA_POINTERS && frame->buf[plane] != nullptr; ++plane) {
    std::fill_n(frame->buf[plane]->data, frame->buf[plane]->size, std::uint8_t{0});
  }
  check(av_frame_copy_props(frame.get(), &source.first), source.url, "can't copy a frame's properties");
  clear_cropping(*frame);
  add_inherited(*frame);
  return frame;
}

void OutputFilter::add_inherited(AVFrame& frame) const {
  for (int i = 0; i < inherited_->nb_side_data; ++i) {
    const AVFrameSideData& data = *inherited_->side_data[i];
    if (av_frame_get_side_data(&frame, data.type) == nullptr) {
      AVFrameSideData* const added = av_frame_new_side_data(&frame, data.type, data.size);
      if (added == nullptr) {
        throw Error("out of memory");
      }
      std::copy_n(data.data, data.size, added->data);
    }
  }
}

Source OutputFilter::result(const Source& source) const {
  const bool keeps_rate = frame_rate_.num == 0 || av_cmp_q(frame_rate_, source.average_rate) == 0;
  const FrameFormat& format = converter_->format();
  return {.url = source.url,
          .input = source.input,
          .video = source.video,
          .first = *first_,
          .format = format,
          .decoded = format.bit_depth == source.format.bit_depth ? source.decoded
                                                                 : static_cast<AVPixelFormat>(first_->format),
          .has_fractions = source.has_fractions && format.bit_depth == source.format.bit_depth,
          .copied = source.copied,
          .of_other_program = source.of_other_program,
          .time_base = first_->time_base,
          .average_rate = keeps_rate ? source.average_rate : frame_rate_,
          .base_rate = keeps_rate ? source.base_rate : frame_rate_,
          .sample_aspect_ratio = sample_aspect_ratio_,
          .range = source.range,
          .skipped_frames = source.skipped_frames,
          .time_offset = source.time_offset,
          .is_pipe = source.is_pipe,
          .is_filtered = true,
          .filter_losses = losses_,
          .first_picture = source.first_picture};
}

FrameHandle OutputFilter::to_libav(const Frame& frame) {
  if (is_planar(source_format_)) {
    return view_of(frame, source_format_);
  }
  FrameHandle packed = packed_pool_.take(source_format_, frame.format.width, frame.format.height);
  pack(frame, *packed);
  ++copies_;
  return packed;
}

void OutputFilter::send(const Frame& frame) {
  FrameHandle picture = to_libav(frame);
  if (const auto* const properties = frame.attachment.get<AVFrame>()) {
    check(av_frame_copy_props(picture.get(), properties), "frame", "can't keep a frame's properties");
  } else {
    picture->pts = frame.index;
  }
  clear_cropping(*picture);
  add_inherited(*picture);
  first_index_ = sent_++ == 0 ? frame.index : first_index_;
  graph_.send(std::move(picture));
}

std::optional<Frame> OutputFilter::receive() {
  FrameHandle filtered = graph_.receive();
  if (filtered == nullptr) {
    return std::nullopt;
  }
  const auto format = static_cast<AVPixelFormat>(filtered->format);
  FrameHandle own = make_frame();
  check(av_frame_copy_props(own.get(), filtered.get()), "frame", "can't keep a frame's properties");
  own->time_base = filtered->time_base;
  std::shared_ptr<AVFrame> properties(std::move(own));
  if (!converter_->fits(*filtered, format)) {
    filtered = converter_->adapted(*filtered, first_index_ + received_);
  }
  filtered->format = without_range(format);
  Frame frame = converter_->convert(std::move(filtered));
  frame.interlaced = is_interlaced(*properties);
  frame.index = first_index_ + received_++;
  frame.attachment = std::move(properties);
  return frame;
}

}  // namespace limpid::io
