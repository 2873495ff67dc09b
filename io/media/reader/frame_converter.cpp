// SPDX-License-Identifier: MIT
#include "io/media/reader/frame_converter.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "io/media/cuda_frames.h"
#include "io/media/pixel_format.h"

namespace limpid::io {
namespace {

bool has_transparent_palette(const AVFrame& frame) {
  constexpr int kEntries = 256;
  const auto* const palette = reinterpret_cast<const std::uint32_t*>(frame.data[1]);
  return std::any_of(palette, palette + kEntries, [](std::uint32_t argb) { return (argb >> 24) != 0xFF; });
}

/// True if core can use the rows in place: top to bottom and aligned to the samples.
bool has_usable_rows(const AVFrame& frame, const FrameFormat& format) {
  const auto bytes = static_cast<std::uintptr_t>(format.bytes_per_sample());
  for (int p = 0; p < format.plane_count(); ++p) {
    if (frame.linesize[p] <= 0 || frame.linesize[p] % bytes != 0 ||
        reinterpret_cast<std::uintptr_t>(frame.data[p]) % bytes != 0) {
      return false;
    }
  }
  return true;
}

/// True for matrices that swscale supports.
bool is_convertible(AVColorSpace matrix) {
  return matrix == AVCOL_SPC_FCC || matrix == AVCOL_SPC_SMPTE240M ||
         (color_matrix(matrix) != ColorMatrix::kUnspecified && matrix != AVCOL_SPC_BT2020_CL);
}

/// The pixel aspect ratio of a frame that is scaled to another size.
AVRational scaled_aspect(const AVFrame& from, int width, int height) {
  const AVRational own = from.sample_aspect_ratio.num > 0 ? from.sample_aspect_ratio : AVRational{1, 1};
  const AVRational horizontal{from.width, width};
  const AVRational vertical{height, from.height};
  return av_mul_q(own, av_mul_q(horizontal, vertical));
}

}  // namespace

FrameConverter::FrameConverter(std::string url, const ReaderOptions& options, const AVFrame& first,
                               AVPixelFormat samples)
    : url_(std::move(url)),
      device_(options.memory.ordinal),
      matrix_(first.colorspace),
      range_(first.color_range),
      is_full_range_(io::is_full_range(samples, first.color_range)),
      source_format_(without_range(samples)),
      readable_format_(source_format_),
      allocate_(options.allocate) {
  if (first.format == AV_PIX_FMT_CUDA && !has_chroma_of(samples, first)) {
    throw Error(url_ + ": the GPU decodes it with less chroma than " + name_of(samples) + " has");
  }
  choose_format(first, samples);
  if (first.format != AV_PIX_FMT_CUDA) {
    adds_fractions_ = format_.bit_depth == 8 && options.fraction_bits > 0;
    choose_depth(adds_fractions_ ? format_.bit_depth + options.fraction_bits : options.least_depth);
  }
}

void FrameConverter::choose_depth(int least) {
  FrameFormat deeper = format_;
  deeper.bit_depth = least;
  deeper.sample_type = SampleType::kUint16;
  constexpr int kDeepest = 16;
  const bool is_deeper =
      !format_.is_float() && least > format_.bit_depth && least <= std::min(kDeepest, 2 * format_.bit_depth);
  if (is_deeper && pixel_format(deeper) != AV_PIX_FMT_NONE) {
    format_ = deeper;
  }
}

void FrameConverter::choose_format(const AVFrame& first, AVPixelFormat samples) {
  const int width = visible_width(first);
  const int height = visible_height(first);
  std::optional<FrameFormat> format = frame_format(source_format_);
  if (!format || pixel_format(*format) == AV_PIX_FMT_NONE) {
    const bool transparent = samples == AV_PIX_FMT_PAL8 && has_transparent_palette(first);
    readable_format_ = readable_equivalent(source_format_, transparent);
    if (readable_format_ == AV_PIX_FMT_NONE) {
      throw Error(url_ + ": its pixel format " + name_of(samples) + " is not supported");
    }
    const ColorCoding coding{.matrix = matrix_, .full_range = is_full_range_};
    scaler_.emplace(url_, PictureLayout{width, height, source_format_, coding},
                    PictureLayout{width, height, readable_format_, coding});
    format = frame_format(readable_format_);
  }
  format->width = width;
  format->height = height;
  format->matrix = color_matrix(matrix_);
  format->range =
      is_full_range_ || format->color_model == ColorModel::kRgb ? ColorRange::kFull : color_range(range_);
  format->validate(url_);
  format_ = decoded_format_ = *format;
}

bool FrameConverter::fits(const AVFrame& frame, AVPixelFormat samples) const {
  return visible_width(frame) == format_.width && visible_height(frame) == format_.height &&
         without_range(samples) == source_format_ && has_first_coding(frame, samples);
}

bool FrameConverter::has_first_coding(const AVFrame& frame, AVPixelFormat samples) const {
  if (is_rgb(source_format_)) {
    return true;
  }
  const bool has_matrix =
      !is_gray(source_format_) && is_convertible(matrix_) && is_convertible(frame.colorspace);
  return is_full_range(samples, frame.color_range) == is_full_range_ &&
         (!has_matrix || have_same_coefficients(matrix_, frame.colorspace));
}

FrameHandle FrameConverter::adapted(const AVFrame& other, std::int64_t index) {
  const FrameHandle host = other.format == AV_PIX_FMT_CUDA ? copy_to_host(other, url_) : nullptr;
  const AVFrame& from = host != nullptr ? *host : other;
  const auto format = static_cast<AVPixelFormat>(from.format);
  ColorCoding coding{.matrix = from.colorspace, .full_range = is_full_range(format, from.color_range)};
  const bool is_tagged = is_convertible(coding.matrix) && !is_rgb(format);
  coding.matrix = is_tagged ? coding.matrix : matrix_;
  const PictureLayout layout{from.width, from.height, without_range(format), coding};
  const PictureLayout wanted{
      format_.width,
      format_.height,
      source_format_,
      {.matrix = is_convertible(matrix_) ? matrix_ : coding.matrix, .full_range = is_full_range_}};
  FrameHandle converted = adapted_pool_.take(wanted.format, wanted.width, wanted.height);
  Scaler(url_ + ": frame " + std::to_string(index), layout, wanted)
      .convert(from, *converted, is_interlaced(from));
  check(av_frame_copy_props(converted.get(), &from), url_, "can't copy a frame's properties");
  converted->colorspace = matrix_;
  converted->color_range = range_;
  converted->sample_aspect_ratio = scaled_aspect(from, wanted.width, wanted.height);
  ++copies_;
  return converted;
}

Frame FrameConverter::convert(FrameHandle decoded) {
  if (decoded->format == AV_PIX_FMT_CUDA) {
    return device_view_of(std::shared_ptr<AVFrame>(std::move(decoded)), format_, device_);
  }
  const bool is_deeper = format_.bit_depth > decoded_format_.bit_depth;
  Frame frame = convert_decoded(std::move(decoded), !is_deeper);
  if (!is_deeper) {
    return frame;
  }
  Frame deeper = allocated();
  deepen(frame, deeper, adds_fractions_);
  ++copies_;
  return deeper;
}

/// Samples of the decoded depth, in the caller's memory if the frame `is_kept`.
Frame FrameConverter::convert_decoded(FrameHandle decoded, bool is_kept) {
  if (is_planar(readable_format_) && !scaler_ && has_usable_rows(*decoded, decoded_format_)) {
    Frame view = view_of(std::shared_ptr<AVFrame>(std::move(decoded)), decoded_format_);
    if (!allocate_ || !is_kept) {
      return view;
    }
    Frame own = allocate_(format_);
    copy_samples(view, own);
    ++copies_;
    return own;
  }
  FrameHandle scaled;
  if (scaler_) {
    scaled = scaled_pool_.take(readable_format_, decoded->width, decoded->height);
    scaler_->convert(*decoded, *scaled, is_interlaced(*decoded));
    ++copies_;
  }
  Frame frame = is_kept ? allocated() : decoded_pool_.allocate(decoded_format_);
  unpack(scaled != nullptr ? *scaled : *decoded, frame);
  ++copies_;
  return frame;
}

}  // namespace limpid::io
