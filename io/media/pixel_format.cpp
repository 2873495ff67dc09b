// SPDX-License-Identifier: MIT
#include "io/media/pixel_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "io/media/traits.h"

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

constexpr std::array kY4mFormats{
    AV_PIX_FMT_GRAY8,     AV_PIX_FMT_GRAY9,     AV_PIX_FMT_GRAY10,    AV_PIX_FMT_GRAY12,
    AV_PIX_FMT_GRAY16,    AV_PIX_FMT_YUV411P,   AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,
    AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV420P9,  AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P12,
    AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12, AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14,
    AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16};

bool is_hardware(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0;
}

bool has_halved_chroma(AVPixelFormat format) {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format);
  return descriptor.nb_components >= 3 && descriptor.log2_chroma_w == 1 && descriptor.log2_chroma_h == 1;
}

/// True if chroma is halved although the source has more.
bool is_halved_for_players(const PixelFormatRequest& request) {
  const bool is_rgb_file =
      request.source.color_model == ColorModel::kRgb && traits_of(request.container).for_players;
  const bool is_recording = request.for_players && request.source.color_model != ColorModel::kGray;
  return request.codec_is_default && (is_rgb_file || is_recording);
}

/// Other programs read YUV in files of these formats with a matrix and range of their own.
bool holds_rgb_only(const PixelFormatRequest& request) {
  const AVCodecID codec = request.codec.id;
  return traits_of(request.container).picture_files &&
         (codec == AV_CODEC_ID_TIFF || codec == AV_CODEC_ID_JPEG2000);
}

/// True if only the size prevents the chroma subsampling that the source has or should get.
bool is_too_odd(const PixelFormatRequest& request) {
  const AVPixelFormat wanted =
      is_halved_for_players(request) ? AV_PIX_FMT_YUV420P : pixel_format(request.source);
  return needs_whole_chroma(request.codec) && pixel_format(request.source) != AV_PIX_FMT_NONE &&
         !divides(wanted, request.source.width, request.source.height);
}

bool has_samples_of(AVPixelFormat format, const FrameFormat& source) {
  const std::optional<FrameFormat> samples = frame_format(format);
  return samples && same_samples(*samples, source);
}

/// The candidates that keep the most of the source, in the order alpha, depth, chroma resolution; libav's own
/// choice weighs these against the size of the samples.
std::vector<AVPixelFormat> least_lossy(std::vector<AVPixelFormat> candidates, AVPixelFormat source,
                                       bool alpha) {
  std::erase_if(candidates, [](AVPixelFormat f) { return sws_isSupportedOutput(f) == 0; });
  const auto prefer = [&](int loss) {
    std::vector<AVPixelFormat> keeping;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(keeping), [&](AVPixelFormat f) {
      return (av_get_pix_fmt_loss(f, source, alpha ? 1 : 0) & loss) == 0;
    });
    if (!keeping.empty()) {
      candidates = keeping;
    }
  };
  prefer(FF_LOSS_CHROMA | FF_LOSS_COLORQUANT);
  prefer(FF_LOSS_ALPHA);
  int depth = 0;
  for (const AVPixelFormat candidate : candidates) {
    depth = std::max(depth, std::min(depth_of(candidate), depth_of(source)));
  }
  std::erase_if(candidates, [depth](AVPixelFormat f) { return depth_of(f) < depth; });
  prefer(FF_LOSS_RESOLUTION);
  return candidates;
}

std::string color_loss(const FrameFormat& source, AVPixelFormat chosen) {
  if (av_pix_fmt_desc_get(chosen)->nb_components <= 2 && source.color_model != ColorModel::kGray) {
    return "color is dropped";
  }
  return source.color_model == ColorModel::kRgb && !is_rgb(chosen) ? "RGB becomes YUV" : "";
}

std::string depth_loss(const FrameFormat& source, AVPixelFormat chosen) {
  return (source.is_float() ? "float becomes " : std::to_string(source.bit_depth) + " bits become ") +
         std::to_string(depth_of(chosen)) + " bits";
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

bool is_float(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
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

std::span<const AVPixelFormat> accepted_pixel_formats(const AVOutputFormat& container, const AVCodec& codec) {
  return traits_of(container).is_y4m ? kY4mFormats : pixel_formats_of(codec);
}

std::vector<AVPixelFormat> pixel_format_candidates(const PixelFormatRequest& request) {
  const bool needs_whole = needs_whole_chroma(request.codec);
  const std::span<const AVPixelFormat> accepted = accepted_pixel_formats(request.container, request.codec);
  std::vector<AVPixelFormat> candidates(accepted.begin(), accepted.end());
  if (accepted.empty()) {
    candidates.push_back(pixel_format(request.source));
  }
  std::erase_if(candidates, [&](AVPixelFormat f) {
    return is_hardware(f) || implies_full_range(f) ||
           (needs_whole && !divides(f, request.source.width, request.source.height));
  });
  if (traits_of(request.codec).confuses_planar_rgb) {
    std::erase_if(candidates, [](AVPixelFormat f) { return is_rgb(f) && is_planar(f); });
  }
  if (holds_rgb_only(request)) {
    std::erase_if(candidates, [](AVPixelFormat f) { return !is_rgb(f) && !is_gray(f); });
  }
  if (is_halved_for_players(request) && needs_whole && std::ranges::any_of(candidates, has_halved_chroma)) {
    std::erase_if(candidates, [](AVPixelFormat f) { return !has_halved_chroma(f); });
  }
  // Planar formats can be passed without a copy.
  std::stable_partition(candidates.begin(), candidates.end(), is_planar);
  return candidates;
}

AVPixelFormat best_pixel_format(const std::vector<AVPixelFormat>& candidates, const FrameFormat& source) {
  const auto same =
      std::ranges::find_if(candidates, [&](AVPixelFormat f) { return has_samples_of(f, source); });
  if (same != candidates.end()) {
    return *same;
  }
  AVPixelFormat best = AV_PIX_FMT_NONE;
  int loss = 0;  // loss of the best candidate so far, which libav does not count against the next
  const AVPixelFormat from = pixel_format(source);
  for (const AVPixelFormat candidate : least_lossy(candidates, from, source.has_alpha)) {
    best = av_find_best_pix_fmt_of_2(best, candidate, from, source.has_alpha ? 1 : 0, &loss);
  }
  return best;
}

std::vector<std::string> pixel_format_losses(const PixelFormatRequest& request, AVPixelFormat chosen) {
  const FrameFormat& source = request.source;
  if (has_samples_of(chosen, source)) {
    return {};
  }
  const int loss = av_get_pix_fmt_loss(chosen, pixel_format(source), source.has_alpha ? 1 : 0);
  const bool is_halved =
      is_halved_for_players(request) && needs_whole_chroma(request.codec) && has_halved_chroma(chosen);
  std::vector<std::string> losses;
  if (is_too_odd(request)) {
    losses.emplace_back(traits_of(request.container).for_players
                            ? "an odd size can't be halved for chroma, and few players show this (-c "
                              "libvpx-vp9 or an even size would do)"
                            : "an odd size can't be halved for chroma");
  }
  if (const std::string color = color_loss(source, chosen); !color.empty()) {
    losses.push_back(color);
  }
  if ((loss & FF_LOSS_DEPTH) != 0 && depth_of(chosen) < source.bit_depth) {
    losses.push_back(depth_loss(source, chosen));
  }
  if (is_halved) {
    losses.emplace_back("chroma is halved, as players expect (--pix-fmt yuv444p keeps it)");
  } else if ((loss & FF_LOSS_RESOLUTION) != 0) {
    losses.emplace_back("chroma loses resolution");
  }
  if ((loss & FF_LOSS_ALPHA) != 0) {
    losses.emplace_back("alpha is dropped");
  }
  return losses;
}

}  // namespace limpid::io
