// SPDX-License-Identifier: MIT
#include "io/media/pixel_format.h"

#include <algorithm>
#include <bit>

namespace limpid::io {
namespace {

constexpr int kFloatBits = 32;

bool is_native(const AVPixFmtDescriptor& descriptor) {
  const bool big = (descriptor.flags & AV_PIX_FMT_FLAG_BE) != 0;
  return descriptor.comp[0].depth <= 8 || big == (std::endian::native == std::endian::big);
}

/// Formats whose components are not at regular distances, or which are flagged as RGB but are not.
bool is_irregular(AVPixelFormat format) {
  return format == AV_PIX_FMT_UYYVYY411 || format == AV_PIX_FMT_XYZ12LE || format == AV_PIX_FMT_XYZ12BE;
}

}  // namespace

std::optional<FrameFormat> frame_format(AVPixelFormat format) {
  const AVPixFmtDescriptor* const descriptor = av_pix_fmt_desc_get(format);
  constexpr std::uint64_t kUnreadable =
      AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER;
  if (descriptor == nullptr || (descriptor->flags & kUnreadable) != 0 || is_irregular(format) ||
      descriptor->nb_components == 0) {
    return std::nullopt;
  }
  const int depth = descriptor->comp[0].depth;
  const bool is_float = (descriptor->flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
  if (is_float ? depth != kFloatBits : depth < 8 || depth > 16) {
    return std::nullopt;
  }
  const int components = descriptor->nb_components;
  if (std::any_of(descriptor->comp, descriptor->comp + components,
                  [depth](const AVComponentDescriptor& component) { return component.depth != depth; })) {
    return std::nullopt;
  }

  FrameFormat result;
  result.bit_depth = depth;
  result.sample_type = is_float     ? SampleType::kFloat32
                       : depth == 8 ? SampleType::kUint8
                                    : SampleType::kUint16;
  result.has_alpha = components == 2 || components == 4;
  if (components >= 3) {
    const bool is_rgb = (descriptor->flags & AV_PIX_FMT_FLAG_RGB) != 0;
    result.color_model = is_rgb ? ColorModel::kRgb : ColorModel::kYuv;
    result.chroma_shift_x = descriptor->log2_chroma_w;
    result.chroma_shift_y = descriptor->log2_chroma_h;
  }
  return result;
}

bool is_planar(AVPixelFormat format) {
  const AVPixFmtDescriptor* const descriptor = av_pix_fmt_desc_get(format);
  const std::optional<FrameFormat> frame = frame_format(format);
  if (!frame || !is_native(*descriptor) || av_pix_fmt_count_planes(format) != descriptor->nb_components) {
    return false;
  }
  return std::all_of(descriptor->comp, descriptor->comp + descriptor->nb_components,
                     [&](const AVComponentDescriptor& component) {
                       return component.step == frame->bytes_per_sample() && component.offset == 0 &&
                              component.shift == 0;
                     });
}

AVPixelFormat pixel_format(const FrameFormat& format) {
  if (format.color_model == ColorModel::kGray && format.has_alpha) {
    return format.sample_type == SampleType::kUint8                              ? AV_PIX_FMT_YA8
           : format.sample_type == SampleType::kUint16 && format.bit_depth == 16 ? AV_PIX_FMT_YA16
                                                                                 : AV_PIX_FMT_NONE;
  }
  for (const AVPixFmtDescriptor* d = av_pix_fmt_desc_next(nullptr); d != nullptr;
       d = av_pix_fmt_desc_next(d)) {
    const AVPixelFormat candidate = av_pix_fmt_desc_get_id(d);
    if (is_planar(candidate) && !implies_full_range(candidate) &&
        same_samples(*frame_format(candidate), format)) {
      return candidate;
    }
  }
  return AV_PIX_FMT_NONE;
}

AVPixelFormat readable_equivalent(AVPixelFormat format, bool transparent) {
  const AVPixFmtDescriptor* const descriptor = av_pix_fmt_desc_get(format);
  if (descriptor == nullptr || sws_isSupportedInput(format) == 0) {
    return AV_PIX_FMT_NONE;
  }
  // The components of a Bayer pattern share its samples.
  const bool is_bayer = (descriptor->flags & AV_PIX_FMT_FLAG_BAYER) != 0;
  const bool deep = (is_bayer ? av_get_bits_per_pixel(descriptor) : descriptor->comp[0].depth) > 8;
  if ((descriptor->flags & AV_PIX_FMT_FLAG_PAL) != 0) {
    return transparent ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24;
  }
  if ((descriptor->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_BAYER)) != 0 || is_irregular(format)) {
    const bool alpha = (descriptor->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    return format == AV_PIX_FMT_UYYVYY411 ? AV_PIX_FMT_YUV411P
           : deep                         ? (alpha ? AV_PIX_FMT_RGBA64 : AV_PIX_FMT_RGB48)
                                          : (alpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24);
  }
  if (descriptor->nb_components == 1) {
    return deep ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_GRAY8;
  }
  return deep ? AV_PIX_FMT_YUV444P16 : AV_PIX_FMT_YUV444P;
}

AVPixelFormat without_range(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUVJ440P:
      return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ411P:
      return AV_PIX_FMT_YUV411P;
    default:
      return format;
  }
}

bool implies_full_range(AVPixelFormat format) { return without_range(format) != format; }

bool is_gray(AVPixelFormat format) {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format);
  return descriptor.nb_components <= 2 && !is_rgb(format) &&
         (descriptor.flags & AV_PIX_FMT_FLAG_HWACCEL) == 0;
}

bool is_full_range(AVPixelFormat format, AVColorRange tag) {
  return tag == AVCOL_RANGE_UNSPECIFIED ? implies_full_range(format) || is_gray(format)
                                        : tag == AVCOL_RANGE_JPEG;
}

int depth_of(AVPixelFormat format) { return av_pix_fmt_desc_get(format)->comp[0].depth; }

bool is_rgb(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
}

bool divides(AVPixelFormat format, int width, int height) {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format);
  return width % (1 << descriptor.log2_chroma_w) == 0 && height % (1 << descriptor.log2_chroma_h) == 0;
}

bool same_samples(FrameFormat a, FrameFormat b) {
  for (FrameFormat* const format : {&a, &b}) {
    format->width = 0;
    format->height = 0;
    format->matrix = ColorMatrix::kUnspecified;
    format->range = ColorRange::kUnspecified;
  }
  return a == b;
}

AVColorSpace guessed_matrix(int height) {
  constexpr int kHighDefinition = 720;
  return height >= kHighDefinition ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

bool have_same_coefficients(AVColorSpace a, AVColorSpace b) {
  constexpr int kCoefficients = 4;
  return std::equal(sws_getCoefficients(a), sws_getCoefficients(a) + kCoefficients, sws_getCoefficients(b));
}

ColorMatrix color_matrix(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_BT709:
      return ColorMatrix::kBt709;
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_BT470BG:
      return ColorMatrix::kBt601;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return ColorMatrix::kBt2020;
    default:
      return ColorMatrix::kUnspecified;
  }
}

ColorRange color_range(AVColorRange range) {
  return range == AVCOL_RANGE_JPEG   ? ColorRange::kFull
         : range == AVCOL_RANGE_MPEG ? ColorRange::kLimited
                                     : ColorRange::kUnspecified;
}

}  // namespace limpid::io
