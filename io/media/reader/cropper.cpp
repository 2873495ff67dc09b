// SPDX-License-Identifier: MIT
#include "io/media/reader/cropper.h"

#include <algorithm>
#include <cstdint>

#include "io/media/cuda_frames.h"

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

}  // namespace limpid::io
