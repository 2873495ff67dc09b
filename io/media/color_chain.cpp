// SPDX-License-Identifier: MIT
#include "io/media/color_chain.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/pixel_format.h"

namespace limpid::io {
namespace {

// Of the result, whose sizes are even, as 4:2:0 requires. The filter does not change frames of even sizes.
constexpr const char* kTags =
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
    return by_tone_map(source) + "," + kTags;
  }
  if (source.format.color_model != ColorModel::kYuv) {
    return std::string(
               "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p|yuv444p10|yuv444p12|yuv444p14|"
               "yuv444p16,") +
           kTags;
  }
  const bool is_tagged = tags.colorspace != AVCOL_SPC_UNSPECIFIED && tags.colorspace != AVCOL_SPC_RGB;
  const AVColorSpace matrix = is_tagged ? tags.colorspace : guessed_matrix(source.format.height);
  const bool has_curve = is_like_bt709(tags.color_trc);
  if (!has_curve || !is_like_bt709(tags.color_primaries)) {
    return by_light(source, matrix) + "," + kTags;
  }
  if (matrix == AVCOL_SPC_BT709 && source.format.range != ColorRange::kFull) {
    return kTags;
  }
  return "scale=in_color_matrix=" + name_for_scale(matrix) +
         ":out_color_matrix=bt709:in_range=" + in_range(source) + ":out_range=tv," + kTags;
}

}  // namespace limpid::io
