// SPDX-License-Identifier: MIT
#include "io/media/writer/losses.h"

extern "C" {
#include <libavutil/dovi_meta.h>
#include <libavutil/opt.h>
}

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "io/media/encoder.h"
#include "io/media/first_frame_check.h"
#include "io/media/picture_metadata.h"
#include "io/media/pixel_format.h"
#include "io/media/traits.h"

namespace limpid::io {
namespace {

using Losses = std::vector<std::string>;

bool has_side_data(const AVFrame& frame, AVFrameSideDataType type) {
  return av_frame_get_side_data(&frame, type) != nullptr;
}

/// The container, or "png" for a picture, whose demuxer has a name of its own.
std::string file_kind(const LossTarget& target) {
  return target.is_picture_file ? target.codec.name : target.container.name;
}

Losses lost_chapters(const Source& source, const LossTarget& target) {
  if (source.input.nb_chapters == 0 || traits_of(target.container).chapters) {
    return {};
  }
  return {file_kind(target) + " can't hold the source's chapters"};
}

Losses lost_timecode(const Source& source, const LossTarget& target) {
  const AVDictionaryEntry* timecode = av_dict_get(source.video.metadata, "timecode", nullptr, 0);
  if (timecode == nullptr) {
    timecode = av_dict_get(source.input.metadata, "timecode", nullptr, 0);
  }
  if (timecode == nullptr || traits_of(target.container).timecode) {
    return {};
  }
  return {file_kind(target) + " can't hold the source's timecode (" + timecode->value + ")"};
}

Losses lost_dynamic_hdr(const Source& source, const LossTarget& /*target*/) {
  if (!has_dynamic_hdr(source.first) && stream_side_data(source, AV_PKT_DATA_DOVI_CONF) == nullptr) {
    return {};
  }
  return {"the source's dynamic HDR metadata (HDR10+ or Dolby Vision) is not kept"};
}

Losses lost_film_grain(const Source& source, const LossTarget& target) {
  if (target.has_film_grain || !has_side_data(source.first, AV_FRAME_DATA_FILM_GRAIN_PARAMS)) {
    return {};
  }
  return {"the source's film grain is not kept; -c libaom-av1 --grain keep keeps it"};
}

/// The decoder of the source's codec may ignore alpha that the container declares.
Losses lost_alpha(const Source& source, const LossTarget& /*target*/) {
  const AVDictionaryEntry* const mode = av_dict_get(source.video.metadata, "alpha_mode", nullptr, 0);
  if (mode == nullptr || std::string_view(mode->value) != "1" || source.format.has_alpha) {
    return {};
  }
  return {"the source's alpha is not kept: no decoder for it is installed (libvpx decodes it)"};
}

/// Pixel formats that core does not have are read as the nearest one.
Losses lost_depth(const Source& source, const LossTarget& /*target*/) {
  const AVPixFmtDescriptor* const decoded = av_pix_fmt_desc_get(source.decoded);
  if (decoded == nullptr || source.format.sample_type == SampleType::kFloat32) {
    return {};
  }
  const bool is_float = (decoded->flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
  const bool is_bayer = (decoded->flags & AV_PIX_FMT_FLAG_BAYER) != 0;  // components share its samples
  const int depth = is_bayer ? av_get_bits_per_pixel(decoded) : decoded->comp[0].depth;
  if (!is_float && depth <= source.format.bit_depth) {
    return {};
  }
  return {"the source's " + std::to_string(depth) + "-bit " + (is_float ? "float " : "") + "samples (" +
          decoded->name + ") are read with " + std::to_string(source.format.bit_depth) + " bits"};
}

/// Floats that do not keep the range of the source's samples, and 64-bit floats of a TIFF.
Losses lost_range(const Source& source, const LossTarget& target) {
  constexpr int kBits = 32;
  const StoredPicture& stored = kept_metadata(source.first).stored;
  Losses lost;
  if (stored.bits > kBits) {
    lost.emplace_back("the source's 64-bit samples are read with 32 bits");
  }
  if (stored.white != 1 && !is_float(target.pixel_format)) {
    std::array<char, 32> white{};
    std::snprintf(white.data(), white.size(), "%.9g", static_cast<double>(stored.white));
    lost.push_back(std::string("the source's range of samples is not kept: ") + white.data() +
                   " becomes white; .tif and .exr keep the range");
  }
  return lost;
}

Losses lost_stereo(const Source& source, const LossTarget& target) {
  const bool of_frames = has_side_data(source.first, AV_FRAME_DATA_STEREO3D);
  const bool of_container = stream_side_data(source, AV_PKT_DATA_STEREO3D) != nullptr;
  const bool is_encoded = of_frames && traits_of(target.codec).stores_stereo;
  const ContainerTraits& container = traits_of(target.container);
  const bool is_kept = is_encoded || container.stereo || (of_container && container.is_matroska);
  if (is_kept || !(of_frames || of_container)) {
    return {};
  }
  return {"the source's packing of stereoscopic (3D) pictures is not kept: " + file_kind(target) + " with " +
          target.codec.name + " can't store it"};
}

/// The value 8 means that the whole picture is active, as without the description.
Losses lost_active_format(const Source& source, const LossTarget& /*target*/) {
  const AVFrameSideData* const data = av_frame_get_side_data(&source.first, AV_FRAME_DATA_AFD);
  if (data == nullptr || data->size == 0 || data->data[0] == AV_AFD_SAME) {
    return {};
  }
  return {"the source's active format description (AFD " + std::to_string(data->data[0]) + ") is not kept"};
}

/// ": png can't hold it"
std::string refusal(const LossTarget& target) { return ": " + file_kind(target) + " can't hold it"; }

/// Tags of a TIFF that hold for the unchanged picture or stack only.
Losses lost_layout(const Source& source, const LossTarget& target) {
  const StaleTags stale =
      stale_tags(kept_metadata(source.first), target.width, target.height, target.is_stack);
  Losses lost;
  if (stale.stack) {
    lost.emplace_back(kLostStack);
  }
  if (stale.map) {
    lost.emplace_back("the source's place on the map (GeoTIFF) is not kept: its size differs");
  }
  return lost;
}

Losses lost_trailer(const Source& source, const LossTarget& /*target*/) {
  if (source.unread_bytes == 0) {
    return {};
  }
  return {"the source's " + std::to_string(source.unread_bytes) +
          " bytes behind its MP4 boxes (such as a camera's motion data) are not kept"};
}

Losses lost_exif(const Source& source, const LossTarget& target) {
  const Bytes& exif = kept_metadata(source.first).exif;
  if (!exif.empty() && !(target.is_picture_file && holds_exif(target.codec.id, exif))) {
    return {"the source's EXIF data (camera, time, place, rights) is not kept" + refusal(target)};
  }
  if (target.codec.id == AV_CODEC_ID_TIFF && has_maker_note(exif)) {
    return {"the source's maker's note (in EXIF) is not kept" + refusal(target)};
  }
  return {};
}

Losses lost_xmp(const Source& source, const LossTarget& target) {
  const Bytes& xmp = kept_metadata(source.first).xmp;
  if (xmp.empty() || (target.is_picture_file && holds_xmp(target.codec.id, xmp))) {
    return {};
  }
  return {"the source's XMP data (rights, rating, keywords) is not kept" + refusal(target)};
}

Losses lost_other_metadata(const Source& source, const LossTarget& target) {
  Losses lost;
  const AVCodecID codec = target.codec.id;
  const bool stores_tags = !target.is_picture_file || codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_JPEGXL;
  if (!stores_tags && !kept_metadata(source.first).color_tags.empty()) {
    lost.emplace_back(
        "the source's color tags (cICP) are not kept: the picture will look wrong if it is HDR");
  }
  for (const OtherMetadata& other : kept_metadata(source.first).others) {
    if (!other.description.empty() && !(target.is_picture_file && other.is_kept_by(target.codec.id))) {
      lost.push_back("the source's " + other.description + " is not kept");
    }
  }
  return lost;
}

Losses lost_profile(const Source& source, const LossTarget& target) {
  const AVCodecID codec = target.codec.id;
  const bool is_held = target.is_picture_file && (holds_metadata(codec) || codec == AV_CODEC_ID_JPEGXL);
  if (!has_side_data(source.first, AV_FRAME_DATA_ICC_PROFILE) || (is_held && target.keeps_profile)) {
    return {};
  }
  return {"the source's color profile (ICC) is not kept" +
          (is_held ? ": it isn't for " + name_of(target.pixel_format) : refusal(target))};
}

using Finder = Losses (*)(const Source& source, const LossTarget& target);

Losses found_by(std::initializer_list<Finder> finders, const Source& source, const LossTarget& target) {
  Losses all;
  for (const Finder find : finders) {
    std::ranges::move(find(source, target), std::back_inserter(all));
  }
  return all;
}

/// The quality that libx264 and libx265 choose themselves; nothing for other encoders and given qualities.
std::optional<int> default_quality(const AVCodecContext& encoder) {
  const std::string_view name = encoder.codec->name;
  if ((name != "libx264" && name != "libx265") || encoder.bit_rate > 0) {
    return std::nullopt;
  }
  for (const char* const option : {"crf", "qp"}) {
    double value = -1;
    if (av_opt_get_double(encoder.priv_data, option, 0, &value) >= 0 && value >= 0) {
      return std::nullopt;
    }
  }
  return name == "libx264" ? 23 : 28;
}

/// What keeps the samples of a lossless or professional source, or what editors read; may be empty.
std::string keeping_advice(const Source& source, const AVOutputFormat& container) {
  const AVCodecID codec = source.video.codecpar->codec_id;
  const AVPixFmtDescriptor& decoded = *av_pix_fmt_desc_get(source.decoded);
  constexpr int kDepth = 10;
  const bool is_master = decoded.nb_components >= 3 && decoded.comp[0].depth >= kDepth &&
                         decoded.log2_chroma_h == 0 && decoded.log2_chroma_w <= 1;
  const bool is_for_editors =
      std::string_view(container.name) == "mov" || codec == AV_CODEC_ID_PRORES || codec == AV_CODEC_ID_DNXHD;
  return is_for_editors ? "; --for edit writes ProRes"
         : is_lossless_video(codec) || is_master
             ? std::string("; the source is ") + (is_master ? "a master" : "lossless") + " (" +
                   avcodec_get_name(codec) + "): -c ffv1 in .mkv keeps all samples"
             : "";
}

}  // namespace

void require_displayable(const Source& source) {
  const AVPacketSideData* const data = find_side_data(source.video, AV_PKT_DATA_DOVI_CONF);
  if (data == nullptr) {
    return;
  }
  const auto& record = *reinterpret_cast<const AVDOVIDecoderConfigurationRecord*>(data->data);
  constexpr int kOfHevc = 5;
  constexpr int kOfAv1 = 10;
  const int profile = record.dv_profile;
  if (profile == kOfHevc || (profile == kOfAv1 && record.dv_bl_signal_compatibility_id == 0)) {
    throw Error(source.url + ": Dolby Vision profile " + std::to_string(profile) +
                " has colors that no output can describe, and that would be shown as green and magenta; "
                "convert it to HDR10 first, for example with ffmpeg's filter libplacebo");
  }
}

std::string output_advice(const Source& source, const AVCodecContext& encoder,
                          const AVOutputFormat& container, const WriterOptions& options) {
  const std::optional<int> quality = default_quality(encoder);
  if (!quality) {
    return "";
  }
  return std::string("encoder: ") + encoder.codec->name + " with its default, crf " +
         std::to_string(*quality) + "; a lower --crf keeps more detail" +
         (options.codec.empty() ? keeping_advice(source, container) : "");
}

void report_loss(Diagnostics& diagnostics, std::string text) {
  diagnostics.push_back({.kind = Diagnostic::Kind::kLoss, .text = std::move(text)});
}

void report_left_out(Diagnostics& diagnostics, unsigned stream, std::string text) {
  diagnostics.push_back({.kind = Diagnostic::Kind::kLeftOut, .text = std::move(text), .stream = stream});
}

std::vector<std::string> losses(const Source& source, const LossTarget& target) {
  return found_by({lost_chapters, lost_timecode, lost_dynamic_hdr, lost_film_grain, lost_alpha, lost_depth,
                   lost_stereo, lost_active_format, lost_exif, lost_xmp, lost_profile},
                  source, target);
}

std::vector<std::string> lost_data(const Source& source, const LossTarget& target) {
  return found_by({lost_range, lost_layout, lost_trailer, lost_other_metadata}, source, target);
}

void report_losses(Diagnostics& diagnostics, const Source& source, const Target& target,
                   bool is_picture_file) {
  const LossTarget kept{target.container,
                        target.encoder.codec(),
                        target.encoder.target_format(),
                        target.encoder.keeps_profile(),
                        is_picture_file,
                        target.encoder.has_film_grain(),
                        target.encoder.context().width,
                        target.encoder.context().height,
                        is_picture_file && !is_sequence(target.url)};
  for (std::string& loss : losses(source, kept)) {
    report_loss(diagnostics, std::move(loss));
  }
  for (std::string& loss : lost_data(source, kept)) {
    diagnostics.push_back({.kind = Diagnostic::Kind::kLostData, .text = std::move(loss)});
  }
}

}  // namespace limpid::io
