// SPDX-License-Identifier: MIT
#include "io/media/pixel_format_choice.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "io/media/container.h"
#include "io/media/encoder_traits.h"
#include "io/media/pixel_format.h"

namespace limpid::io {
namespace {

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
