// SPDX-License-Identifier: MIT
#include "io/media/encoder.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "io/media/output_file.h"
#include "io/media/picture_metadata.h"
#include "io/media/pixel_format.h"
#include "io/media/traits.h"

namespace limpid::io {
namespace {

constexpr const char* kAomParameters = "aom-params";

/// "; a file in .mkv can", or nothing if Matroska cannot.
std::string container_hint(const AVCodec& codec) {
  if (codec.id == AV_CODEC_ID_PRORES) {  // which Matroska holds, but editors read in MOV
    return "; a file in .mov can (--for edit)";
  }
  const AVOutputFormat* const matroska = av_guess_format("matroska", nullptr, nullptr);
  const bool holds =
      matroska != nullptr && avformat_query_codec(matroska, codec.id, FF_COMPLIANCE_EXPERIMENTAL) == 1;
  return holds ? "; a file in .mkv can" : "";
}

std::vector<std::string> video_encoders() {
  std::vector<std::string> names;
  void* position = nullptr;
  while (const AVCodec* const codec = av_codec_iterate(&position)) {
    if (av_codec_is_encoder(codec) != 0 && codec->type == AVMEDIA_TYPE_VIDEO) {
      names.emplace_back(codec->name);
    }
  }
  return names;
}

bool can_hold(const AVOutputFormat& container, AVCodecID codec) {
  const bool is_mpeg = codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC;
  return avformat_query_codec(&container, codec, FF_COMPLIANCE_NORMAL) == 1 ||
         (traits_of(container).transport_stream && is_mpeg);
}

bool holds_video(const AVOutputFormat& container) {
  const bool holds_cover_art_only =
      container.video_codec == AV_CODEC_ID_PNG && container.audio_codec != AV_CODEC_ID_NONE;
  return container.video_codec != AV_CODEC_ID_NONE && !holds_cover_art_only;
}

struct UsualName {
  std::string_view name;
  const char* encoder;  ///< null: see `advice`
  const char* advice;
};
// Names of codecs and encoders in other programs, without dots.
constexpr std::array kUsualNames = std::to_array<UsualName>({
    {"x264", "libx264", ""},
    {"h264", "libx264", ""},
    {"avc", "libx264", ""},
    {"x265", "libx265", ""},
    {"h265", "libx265", ""},
    {"prores422", "prores_ks", ""},
    {"copy", nullptr, "filtered frames are encoded again; -c ffv1 in .mkv is lossless"},
    {"prores_hq", nullptr, "--for edit writes it, or -c prores_ks -e profile=hq"},
    {"proreshq", nullptr, "--for edit writes it, or -c prores_ks -e profile=hq"},
    {"prores4444", nullptr, "-c prores_ks -e profile=4444 writes it"},
    {"nvenc", nullptr, "there are h264_nvenc, hevc_nvenc and av1_nvenc"},
    {"dnxhr", nullptr, "-c dnxhd -e profile=dnxhr_hq writes it"},
});

/// Null if the name is not in the table.
const UsualName* find_usual_name(std::string name) {
  std::erase(name, '.');
  name = lower_case(name);
  const auto* const found = std::ranges::find(kUsualNames, name, &UsualName::name);
  return found == kUsualNames.end() ? nullptr : found;
}

[[noreturn]] void refuse_encoder(const std::string& name) {
  const UsualName* const usual = find_usual_name(name);
  const auto digits_of = [](std::string text) {
    std::erase_if(text, [](char letter) { return letter < '0' || letter > '9'; });
    return text;
  };
  std::vector<std::string> similar = video_encoders();  // not h264 for h265
  std::erase_if(similar, [&](const std::string& each) { return digits_of(each) != digits_of(name); });
  const std::string meant = did_you_mean(name, similar);
  throw UsageError("no encoder is called '" + name + "'" +
                   (usual != nullptr && usual->encoder == nullptr ? "; " + std::string(usual->advice)
                    : meant.empty() ? "; usual ones are libx264, libx265, libsvtav1, prores_ks and ffv1"
                                    : meant));
}

/// Finds an encoder by its own name, a usual one or the codec's. Null if there is none.
const AVCodec* find_encoder(const std::string& name) {
  const UsualName* const usual = find_usual_name(name);
  const bool has_encoder = usual != nullptr && usual->encoder != nullptr;
  const AVCodec* const codec = avcodec_find_encoder_by_name(has_encoder ? usual->encoder : name.c_str());
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get_by_name(name.c_str());
  return codec != nullptr || descriptor == nullptr ? codec : avcodec_find_encoder(descriptor->id);
}

bool takes(const AVCodec& codec, AVPixelFormat format) {
  const std::span<const AVPixelFormat> formats = pixel_formats_of(codec);
  return formats.empty() || std::ranges::find(formats, format) != formats.end();
}

int deepest(const AVCodec& codec) {
  int depth = 0;
  for (const AVPixelFormat format : pixel_formats_of(codec)) {
    depth = std::max(depth, depth_of(format));
  }
  return depth;
}

std::string join(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : separator) + word;
  }
  return text;
}

std::string captions_lost_to(const AVCodec& codec) {
  return "not kept: " + std::string(codec.name) + " can't embed them, libx264 can";
}

/// ", but 0 to 63" for a numeric option.
std::string range_of(AVCodecContext& context, const std::string& key) {
  const AVOption* const option = av_opt_find(&context, key.c_str(), nullptr, 0, AV_OPT_SEARCH_CHILDREN);
  constexpr double kGreatest = 1e9;  // greater ranges stand for no limit
  if (option == nullptr || option->type == AV_OPT_TYPE_FLAGS || option->max <= option->min ||
      option->max > kGreatest || option->min < -kGreatest) {
    return "";
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), ", but %.6g to %.6g", option->min, option->max);
  return text.data();
}

struct CodecChoice {
  int depth = 8;
  int width = 0;
  AVPixelFormat requested = AV_PIX_FMT_NONE;
  bool prefers_hevc = false;
  bool has_alpha = false;
};

bool keeps_alpha(const AVCodec& codec) {
  return std::ranges::any_of(pixel_formats_of(codec), [](AVPixelFormat format) {
    return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  });
}

/// The encoder that keeps alpha in a container whose default encoder does not; null if there is none.
/// Matroska has FFV1 for this, which players rarely support, so the user gets a warning instead.
const AVCodec* alpha_codec(const AVOutputFormat& container) {
  const char* const name = traits_of(container).alpha_encoder;
  const AVCodec* const codec = name == nullptr ? nullptr : avcodec_find_encoder_by_name(name);
  return codec != nullptr && keeps_alpha(*codec) ? codec : nullptr;
}

const AVCodec* default_codec(const AVOutputFormat& container, const std::string& url,
                             const CodecChoice& choice) {
  const auto& [depth, width, requested, prefers_hevc, has_alpha] = choice;
  if (const AVCodec* const codec =
          has_alpha && requested == AV_PIX_FMT_NONE ? alpha_codec(container) : nullptr) {
    return codec;
  }
  const AVCodec* best = nullptr;
  if (can_hold(container, AV_CODEC_ID_H264)) {
    const std::array<const char*, 3> names{prefers_hevc ? "libx265" : "libx264",
                                           prefers_hevc ? "libx264" : "libx265", "ffv1"};
    for (const char* const name : names) {
      const AVCodec* const codec = avcodec_find_encoder_by_name(name);
      if (codec == nullptr || !can_hold(container, codec->id) || !traits_of(*codec).is_safe(width)) {
        continue;
      }
      if (requested == AV_PIX_FMT_NONE ? deepest(*codec) >= depth : takes(*codec, requested)) {
        return codec;
      }
      if (best == nullptr || deepest(*codec) > deepest(*best)) {
        best = codec;
      }
    }
  }
  if (best != nullptr) {
    return best;
  }
  AVCodecID id = av_guess_codec(&container, nullptr, url.c_str(), nullptr, AVMEDIA_TYPE_VIDEO);
  if (traits_of(container).name == "mpeg") {
    id = AV_CODEC_ID_MPEG2VIDEO;  // the muxer's default, MPEG-1, has no fields and few pixel aspects
  }
  const AVCodec* const openjpeg =
      id == AV_CODEC_ID_JPEG2000 ? avcodec_find_encoder_by_name("libopenjpeg") : nullptr;
  return openjpeg != nullptr ? openjpeg : avcodec_find_encoder(id);
}

}  // namespace

bool is_picture_name(const std::string& name) {
  const AVOutputFormat* const format = av_guess_format(nullptr, name.c_str(), nullptr);
  return format != nullptr && traits_of(*format).separate_files;
}

bool is_media_name(const std::string& name) {
  const AVOutputFormat* const format = av_guess_format(nullptr, name.c_str(), nullptr);
  return format != nullptr && holds_video(*format);
}

std::string output_extension(const std::string& input, bool still_picture, const WriterOptions& options) {
  if (!options.container.empty()) {
    const char* const extensions = choose_container(input, options.container).extensions;
    const std::string_view all = extensions == nullptr ? "" : extensions;
    return "." + std::string(all.empty() ? options.container : all.substr(0, all.find(',')));
  }
  const AVOutputFormat* const format = av_guess_format(nullptr, input.c_str(), nullptr);
  const AVCodec* codec = find_encoder(options.codec);
  if (format != nullptr && holds_video(*format) && !writes_several_files(*format)) {
    codec = options.codec.empty() ? default_codec(*format, input, {}) : codec;
    if (codec != nullptr && avformat_query_codec(format, codec->id, FF_COMPLIANCE_EXPERIMENTAL) != 0) {
      return std::filesystem::path(input).extension().string();
    }
  }
  const bool is_prores = codec != nullptr && codec->id == AV_CODEC_ID_PRORES;  // which editors read in MOV
  return still_picture ? ".png" : is_prores ? ".mov" : ".mkv";
}

const AVOutputFormat& choose_container(const std::string& url, const std::string& container) {
  if (!container.empty()) {
    avdevice_register_all();
  }
  const std::string name = container.empty() && url == "-" ? "yuv4mpegpipe" : container;
  const AVOutputFormat* const format = name.empty() ? av_guess_format(nullptr, url.c_str(), nullptr)
                                                    : av_guess_format(name.c_str(), nullptr, nullptr);
  if (format == nullptr) {
    throw name.empty()
        ? UsageError(url +
                     ": the container is not clear from the name; use a name such as clean.mkv, or "
                     "-f NAME. The name of a folder ends in /")
        : UsageError("no container is called '" + name + "'");
  }
  if (writes_several_files(*format)) {
    throw UsageError(url + ": the container " + format->name +
                     " consists of several files, which is not supported; write one file, then split it "
                     "with ffmpeg");
  }
  if (!holds_video(*format)) {
    throw UsageError(url + ": the container " + format->name + " can't hold video");
  }
  return *format;
}

bool has_dynamic_hdr(const AVFrame& frame) {
  constexpr std::array kTypes{AV_FRAME_DATA_DYNAMIC_HDR_PLUS, AV_FRAME_DATA_DYNAMIC_HDR_VIVID,
                              AV_FRAME_DATA_DOVI_RPU_BUFFER, AV_FRAME_DATA_DOVI_METADATA};
  return std::ranges::any_of(
      kTypes, [&](AVFrameSideDataType type) { return av_frame_get_side_data(&frame, type) != nullptr; });
}

bool holds_lossless(const std::string& url, const std::string& container) {
  constexpr std::array<std::string_view, 3> kNames{"matroska", "mov", "avi"};
  return std::ranges::find(kNames, choose_container(url, container).name) != kNames.end();
}

namespace {

// The encoder that the options name.
const AVCodec& requested_codec(const std::string& url, const AVOutputFormat& container,
                               const EncoderSource& source, const WriterOptions& options) {
  const AVCodec* const codec = find_encoder(options.codec);
  if (codec == nullptr) {
    refuse_encoder(options.codec);
  }
  if (codec->type != AVMEDIA_TYPE_VIDEO) {
    throw UsageError("'" + options.codec + "' is not a video encoder");
  }
  if (options.encoding == "lossless" && !is_lossless_video(codec->id)) {
    throw UsageError("--encoding lossless: the encoder " + std::string(codec->name) +
                     " is lossy; leave out --codec for FFV1");
  }
  if (!traits_of(*codec).is_safe(source.format.width)) {
    throw UsageError(url + ": the encoder " + codec->name + " overruns its memory on pictures " +
                     std::to_string(source.format.width) + " samples wide (33 to 48); name another");
  }
  if (avformat_query_codec(&container, codec->id, FF_COMPLIANCE_EXPERIMENTAL) == 0) {
    throw UsageError(url + ": the container " + container.name + " can't hold what the encoder " +
                     codec->name + " makes" + container_hint(*codec));
  }
  // The muxer of pictures accepts any codec.
  const AVCodecID by_name = av_guess_codec(&container, nullptr, url.c_str(), nullptr, AVMEDIA_TYPE_VIDEO);
  if (traits_of(container).picture_files && by_name != AV_CODEC_ID_NONE && by_name != codec->id) {
    throw UsageError(url + ": a picture of this name can't hold what the encoder " + codec->name + " makes" +
                     container_hint(*codec));
  }
  return *codec;
}

}  // namespace

const AVCodec& choose_codec(const std::string& url, const AVOutputFormat& container,
                            const EncoderSource& source, const WriterOptions& options) {
  if (!options.codec.empty()) {
    return requested_codec(url, container, source, options);
  }
  if (const AVCodec* const ffv1 = avcodec_find_encoder(AV_CODEC_ID_FFV1);
      options.encoding == "lossless" && ffv1 != nullptr && holds_lossless(url, options.container)) {
    return *ffv1;
  }
  const AVPixelFormat requested =
      options.pixel_format.empty() ? AV_PIX_FMT_NONE : av_get_pix_fmt(options.pixel_format.c_str());
  constexpr int kDeepest = 16;
  const AVColorTransferCharacteristic transfer = source.properties->color_trc;
  const AVCodec* const codec =
      default_codec(container, url,
                    {.depth = std::min(source.format.bit_depth, kDeepest),
                     .width = source.format.width,
                     .requested = requested,
                     // Players show HDR in HEVC; but x265 does not support fields.
                     .prefers_hevc = is_hdr(transfer) && !is_interlaced(*source.properties),
                     .has_alpha = source.format.has_alpha});
  if (codec == nullptr) {
    throw UsageError(url + ": no encoder for the container " + container.name + " is known; name one");
  }
  if (options.encoding == "lossless" && !is_lossless_video(codec->id)) {
    throw UsageError(url + ": --encoding lossless requires a file of another kind, such as .mkv or .png");
  }
  return *codec;
}

Encoder::Encoder(const std::string& url, const AVOutputFormat& container, const EncoderSource& source,
                 const WriterOptions& options, std::vector<std::string>& warnings)
    : url_(url), source_(source), source_format_(pixel_format(source.format)), is_live_(options.live) {
  codec_ = &choose_codec(url, container, source, options);
  if (options.codec.empty() && codec_->id == AV_CODEC_ID_TIFF) {
    stores_floats_ = options.pixel_format.empty() ? source.format.is_float()
                                                  : is_float(av_get_pix_fmt(options.pixel_format.c_str()));
    codec_ = stores_floats_ ? avcodec_find_encoder(AV_CODEC_ID_RAWVIDEO) : codec_;
  }
  choose_pixel_format(container, options, warnings);
  set_up(container, options, warnings);
  if (const int threads = traits_of(*codec_).frame_threads; threads > 0) {
    require_threads(static_cast<int>(std::thread::hardware_concurrency()) + threads);
  }
  forget_logged_messages();
  if (const int code = avcodec_open2(context_.get(), codec_, nullptr); code < 0) {
    throw Error(url_ + ": the encoder " + codec_->name + " can't be used for " + to_string(source_.format) +
                " as " + name_of(target_format_) + ": " + error_text(code) + logged_reason());
  }
  refuse_ignored_parameters(options);
  check_ = FirstFrameCheck(url_, *context_, demand_on(container, options));
  if (grain_) {
    grain_->open_check(*context_);
  }
}

/// Users who choose a quality accept its result.
FirstFrameCheck::Demand Encoder::demand_on(const AVOutputFormat& container,
                                           const WriterOptions& options) const {
  using Demand = FirstFrameCheck::Demand;
  const bool has_quality = !options.crf.empty() || !options.bitrate.empty() ||
                           !options.picture_quality.empty() || !options.encoder_options.empty();
  return is_lossless_video(codec_->id)                         ? Demand::kEqual
         : traits_of(container).single_picture && !has_quality ? Demand::kSimilar
                                                               : Demand::kNone;
}

// libavcodec ignores invalid entries of lists such as x264-params, with a warning.
void Encoder::refuse_ignored_parameters(const WriterOptions& options) const {
  const std::vector<std::string> warnings = first_logged_warnings();
  const auto list = std::ranges::find_if(
      options.encoder_options, [](const auto& option) { return option.first.ends_with("-params"); });
  const auto ignored = std::ranges::find_if(warnings, [](const std::string& warning) {
    constexpr std::array kComplaints{"] Error parsing option", "] Unknown option", "] Invalid value"};
    return std::ranges::any_of(
        kComplaints, [&](const char* complaint) { return warning.find(complaint) != std::string::npos; });
  });
  if (list != options.encoder_options.end() && ignored != warnings.end()) {
    throw UsageError(url_ + ": " + list->first + ": " + *ignored);
  }
}

void Encoder::Closer::operator()(AVCodecContext* context) const {
  const bool waits = avcodec_is_open(context) != 0 && frame_count(*context) == 0 &&
                     traits_of(*context->codec).hangs_without_frames;
  AVFrame* blank = waits ? av_frame_alloc() : nullptr;
  if (blank != nullptr) {
    blank->format = context->pix_fmt;
    blank->width = context->width;
    blank->height = context->height;
    if (av_frame_get_buffer(blank, 0) >= 0) {
      avcodec_send_frame(context, blank);
    }
  }
  av_frame_free(&blank);
  avcodec_free_context(&context);
}

AVPixelFormat Encoder::requested_pixel_format(const AVOutputFormat& container,
                                              const std::string& name) const {
  const AVPixelFormat format = av_get_pix_fmt(name.c_str());
  if (format == AV_PIX_FMT_NONE) {
    throw UsageError("no pixel format is called '" + name + "'; yuv420p10le has 10 bits");
  }
  const std::span<const AVPixelFormat> accepted = accepted_pixel_formats(container, *codec_);
  if (!accepted.empty() && std::ranges::find(accepted, format) == accepted.end()) {
    std::vector<std::string> names;
    std::ranges::transform(accepted, std::back_inserter(names),
                           [](AVPixelFormat accepted_format) { return name_of(accepted_format); });
    throw UsageError("the encoder " + std::string(codec_->name) + " doesn't take the pixel format '" + name +
                     "', but " + join(names, ", "));
  }
  return format;
}

void Encoder::choose_pixel_format(const AVOutputFormat& container, const WriterOptions& options,
                                  std::vector<std::string>& warnings) {
  if (!options.pixel_format.empty()) {
    target_format_ = requested_pixel_format(container, options.pixel_format);
    require_right_depth();
    return;
  }
  const PixelFormatRequest request{container, *codec_, source_.format, options.codec.empty(),
                                   options.for_players};
  target_format_ = best_pixel_format(pixel_format_candidates(request), source_.format);
  if (target_format_ == AV_PIX_FMT_NONE) {
    throw Error(url_ + ": the encoder " + codec_->name + " has no pixel format for " +
                to_string(source_.format));
  }
  require_right_depth();
  const std::vector<std::string> losses = pixel_format_losses(request, target_format_);
  if (!losses.empty()) {
    warnings.push_back("encoding " + name_of(source_format_) + " as " + name_of(target_format_) + " for " +
                       codec_->name + ": " + join(losses, ", "));
  }
}

void Encoder::require_right_depth() const {
  if (depth_of(target_format_) > traits_of(*codec_).most_right_depth) {
    throw UsageError(url_ + ": FFmpeg's encoder jpeg2000 damages pictures with more than 8 bits (" +
                     name_of(target_format_) + "); use -c libopenjpeg, or write .tif or .png");
  }
}

void Encoder::set_up(const AVOutputFormat& container, const WriterOptions& options,
                     std::vector<std::string>& warnings) {
  context_.reset(allocated(avcodec_alloc_context3(codec_)));
  context_->width = source_.format.width;
  context_->height = source_.format.height;
  context_->pix_fmt = target_format_;
  context_->sample_aspect_ratio = source_.sample_aspect_ratio;
  if (codec_->id == AV_CODEC_ID_PNG && source_.sample_aspect_ratio.num == 0) {
    context_->sample_aspect_ratio = {1, 1};  // otherwise libav writes an invalid pHYs
  }
  context_->thread_count = options.encoder_threads;
  if ((container.flags & AVFMT_GLOBALHEADER) != 0) {
    context_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  }
  set_time_base(container, warnings);
  set_colors(container, warnings);
  set_scan(container, options, warnings);
  set_quality(container, options, warnings);
  set_options(options);
  captions_told_ = loses_captions(*source_.properties);
  hdr_told_ = has_dynamic_hdr(*source_.properties);
  active_format_told_ = av_frame_get_side_data(source_.properties, AV_FRAME_DATA_AFD) != nullptr;
  if (captions_told_) {
    warnings.push_back("the source's closed captions are " + captions_lost_to(*codec_));
  }
  if (const AVFrameSideData* const profile =
          av_frame_get_side_data(source_.properties, AV_FRAME_DATA_ICC_PROFILE)) {
    keeps_profile_ = is_for({profile->data, profile->size}, target_format_);
  }
  if (options.memory.kind == MemoryKind::kCuda && !scaler_ && takes_cuda_frames(*codec_)) {
    use_cuda_frames(options.memory.ordinal, warnings);
  }
}

void Encoder::use_cuda_frames(int device, std::vector<std::string>& warnings) {
  try {
    cuda_frames_ = std::make_shared<CudaFramePool>(device, target_format_, source_.format);
  } catch (const Error& error) {
    warnings.push_back("frames go to " + std::string(codec_->name) +
                       " by way of the host's memory: " + error.what());
    return;
  }
  context_->pix_fmt = AV_PIX_FMT_CUDA;
  context_->sw_pix_fmt = target_format_;
  context_->hw_frames_ctx = av_buffer_ref(cuda_frames_->context());
  if (context_->hw_frames_ctx == nullptr) {
    throw Error("out of memory");
  }
}

void Encoder::set_time_base(const AVOutputFormat& container, std::vector<std::string>& warnings) {
  const AVRational* const rates = frame_rates_of(*codec_).data();  // null, or a list that ends with 0/0
  // If frames of a regular grid can be omitted, a fine grid keeps variable times best.
  const ContainerTraits& traits = traits_of(container);
  const bool has_gaps =
      traits.omits_frames || codec_->id == AV_CODEC_ID_THEORA || (rates != nullptr && !traits.constant_rate);
  AVRational& rate = context_->framerate;
  rate = has_gaps ? source_.base_rate : source_.frame_rate;
  if (rates != nullptr) {
    rate = rates[av_find_nearest_q_idx(rate, rates)];
  }
  constexpr int kMpeg4Greatest = 65535;
  const bool too_fine = codec_->id == AV_CODEC_ID_MPEG4 && source_.time_base.den > kMpeg4Greatest;
  if (too_fine) {
    av_reduce(&rate.num, &rate.den, rate.num, rate.den, kMpeg4Greatest);
  }
  const bool counts_frames = has_gaps || too_fine || rates != nullptr || traits.constant_rate;
  context_->time_base = counts_frames ? av_inv_q(rate) : source_.time_base;

  constexpr double kNoticeable = 0.01;
  const bool varies = std::abs(av_q2d(source_.base_rate) / av_q2d(source_.frame_rate) - 1) > kNoticeable;
  if (varies && traits.display_matrix && needs_whole_chroma(*codec_)) {
    // QuickTime's table has the durations of pictures in decoding order. If that differs from presentation
    // order, the duration of the last picture is lost.
    context_->max_b_frames = 0;
  }
  if (counts_frames && varies && !traits.separate_files) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", av_q2d(rate));
    warnings.push_back(std::string(container.name) + " with " + codec_->name +
                       " has a constant rate: the source's varying times are rounded to " + text.data() +
                       " frames per second");
  }
}

Encoder::Colors Encoder::choose_colors(const AVOutputFormat& container,
                                       std::vector<std::string>& warnings) const {
  const FrameFormat& format = source_.format;
  const AVColorSpace tagged = source_.properties->colorspace;
  const AVColorSpace guess = guessed_matrix(format.height);
  const bool known = tagged != AVCOL_SPC_UNSPECIFIED && tagged != AVCOL_SPC_RGB;
  const bool full = format.range == ColorRange::kFull;
  const bool from_rgb = format.color_model == ColorModel::kRgb;
  const bool from_gray = format.color_model == ColorModel::kGray;
  const bool to_rgb = is_rgb(target_format_);
  const bool to_gray = is_gray(target_format_);
  const bool jpeg = is_jpeg(*codec_);

  Colors colors;
  colors.from = {.matrix = known ? tagged : guess, .full_range = full};
  colors.to = colors.from;
  colors.becomes_bt601 = jpeg && !have_same_coefficients(colors.from.matrix, AVCOL_SPC_SMPTE170M);
  if (from_rgb) {
    colors.from = {.matrix = jpeg ? AVCOL_SPC_SMPTE170M : guess, .full_range = true};
    colors.to = {.matrix = colors.from.matrix, .full_range = jpeg};
  } else {
    colors.to.matrix = colors.becomes_bt601 ? AVCOL_SPC_SMPTE170M : colors.to.matrix;
    if (jpeg || implies_full_range(target_format_)) {
      colors.to.full_range = true;
    } else if (full && !to_rgb && !to_gray && !keeps_full_range(container, *codec_)) {
      colors.to.full_range = false;
      warnings.push_back("the source's full range becomes limited: " + std::string(container.name) +
                         " with " + codec_->name + " has no tag for it");
    }
  }
  if (to_gray && !from_gray) {
    colors.to.full_range = true;  // swscale supports no other gray
  }
  return colors;
}

void Encoder::tag_colors(const Colors& colors) {
  const AVFrame& tags = *source_.properties;
  const bool full = source_.format.range == ColorRange::kFull;
  const bool from_rgb = source_.format.color_model == ColorModel::kRgb;
  context_->color_primaries = tags.color_primaries;
  context_->color_trc = tags.color_trc;
  context_->chroma_sample_location = source_.chroma_location;
  if (is_rgb(target_format_)) {
    context_->colorspace = AVCOL_SPC_RGB;
    context_->color_range = AVCOL_RANGE_JPEG;
    return;
  }
  context_->colorspace = from_rgb && is_gray(target_format_) ? AVCOL_SPC_UNSPECIFIED
                         : from_rgb || colors.becomes_bt601  ? colors.to.matrix
                                                             : tags.colorspace;
  context_->color_range = colors.to.full_range ? AVCOL_RANGE_JPEG
                          : from_rgb || full   ? AVCOL_RANGE_MPEG
                                               : tags.color_range;
}

void Encoder::set_colors(const AVOutputFormat& container, std::vector<std::string>& warnings) {
  const FrameFormat& format = source_.format;
  Colors colors = choose_colors(container, warnings);
  tag_colors(colors);
  const bool full = format.range == ColorRange::kFull;
  const std::optional<FrameFormat> samples = frame_format(target_format_);
  const bool same = samples && same_samples(*samples, format) &&
                    (is_rgb(target_format_) || colors.to.full_range == full) &&
                    (!colors.becomes_bt601 || format.color_model != ColorModel::kYuv);
  if (!same) {
    // swscale treats gray as full range; declaring full range on both sides keeps the values.
    if (format.color_model == ColorModel::kGray && !full) {
      colors.from.full_range = colors.to.full_range = true;
    }
    scaler_.emplace(url_, PictureLayout{format.width, format.height, source_format_, colors.from},
                    PictureLayout{format.width, format.height, target_format_, colors.to});
  }
}

void Encoder::set_scan(const AVOutputFormat& container, const WriterOptions& options,
                       std::vector<std::string>& warnings) {
  const AVFrame& first = *source_.properties;
  context_->field_order = AV_FIELD_PROGRESSIVE;
  if (!is_interlaced(first)) {
    return;
  }
  if (options.color == "bt709") {  // as for the web
    warnings.push_back("the source is interlaced, which browsers show as combs: add --after bwdif");
  }
  // Each field of 4:2:0 needs complete chroma rows.
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(target_format_);
  if (needs_whole_chroma(*codec_) && context_->height % (2 << descriptor.log2_chroma_h) != 0) {
    warnings.push_back("the source is interlaced, but " + std::string(codec_->name) + " can't mark " +
                       std::to_string(context_->height) +
                       " lines as interlaced: encoding as progressive frames");
    return;
  }
  const bool top_first = is_top_field_first(first);
  // The muxer of MXF reads the order from MPEG-2 and DV, and writes top field first for others.
  if (!top_first && traits_of(container).name.starts_with("mxf") && codec_->id != AV_CODEC_ID_MPEG2VIDEO &&
      codec_->id != AV_CODEC_ID_DVVIDEO) {
    throw UsageError(url_ + ": the source is bottom field first, which MXF cannot state with " +
                     codec_->name + "; add -c mpeg2video, or write .mov");
  }
  const bool fields_apart = codec_->id == AV_CODEC_ID_MJPEG;
  context_->field_order =
      fields_apart ? (top_first ? AV_FIELD_TT : AV_FIELD_BB) : (top_first ? AV_FIELD_TB : AV_FIELD_BT);
  // For other encoders these flags have another meaning (png: interlaced files) or none.
  constexpr std::array kInterlacing{AV_CODEC_ID_H264, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4,
                                    AV_CODEC_ID_PRORES, AV_CODEC_ID_DNXHD};
  if (std::find(kInterlacing.begin(), kInterlacing.end(), codec_->id) != kInterlacing.end()) {
    context_->flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
  }
  constexpr std::array kProgressiveOnly{AV_CODEC_ID_HEVC, AV_CODEC_ID_VP8, AV_CODEC_ID_VP9, AV_CODEC_ID_AV1};
  if (std::find(kProgressiveOnly.begin(), kProgressiveOnly.end(), codec_->id) != kProgressiveOnly.end()) {
    warnings.push_back("the source is interlaced, but " + std::string(codec_->name) +
                       " encodes progressive frames: libx264 and ffv1 keep the fields");
  }
}

void Encoder::set_quality(const AVOutputFormat& container, const WriterOptions& options,
                          std::vector<std::string>& warnings) {
  check_quality_options(*codec_, container, options);
  const EncoderTraits& traits = traits_of(*codec_);
  if (traits.quantizer > 0 && options.bitrate.empty()) {
    context_->flags |= AV_CODEC_FLAG_QSCALE;
    context_->global_quality = FF_QP2LAMBDA * traits.quantizer;
  }
  for (const auto& [key, value] : traits.instead_of_preset) {
    if (key != nullptr && options.preset.empty()) {
      set_option(key, value);
    }
  }
  for (const auto& [key, value] : traits.live) {
    if (key != nullptr && options.live && options.preset.empty()) {
      set_option(key, value);
    }
  }
  const bool sets_quality =
      !options.crf.empty() || !options.bitrate.empty() || !options.encoder_options.empty();
  for (const auto& [key, value] : traits.high_quality) {
    if (key != nullptr && options.encoding == "high" && !sets_quality) {
      set_option(key, value);
    }
  }
  const bool is_set = !options.picture_quality.empty();
  if (is_set || traits.default_picture_quality) {
    const int quality = is_set ? std::stoi(options.picture_quality) : kPictureQuality;
    for (const auto& [key, value] : picture_quality_options(*codec_, container, quality)) {
      set_option(key, value);
    }
  }
  const bool is_lossless = std::ranges::any_of(options.encoder_options, [](const auto& option) {
    return option.first == "lossless" && option.second != "0";
  });
  if (traits.halves_chroma && !is_lossless) {
    warnings.push_back(std::string(codec_->name) +
                       " halves chroma and is lossy: -e lossless=1 keeps 8-bit RGB as it is");
  }
  if (traits.faulty_slices) {
    const AVPixFmtDescriptor& target = *av_pix_fmt_desc_get(target_format_);
    const bool loses_chroma =
        target.log2_chroma_w > 1 && !divides(target_format_, context_->width, context_->height);
    constexpr int kLeastSide = 4;  // of a plane
    const bool too_small = AV_CEIL_RSHIFT(context_->width, target.log2_chroma_w) < kLeastSide ||
                           AV_CEIL_RSHIFT(context_->height, target.log2_chroma_h) < kLeastSide;
    context_->level = loses_chroma || too_small ? 1 : 3;  // version 3 has slices and checksums
  }
}

void Encoder::set_options(const WriterOptions& options) {
  const EncoderTraits& traits = traits_of(*codec_);
  check_preset_and_crf(traits, options);
  const std::array<std::pair<const char*, const std::string&>, 3> common{
      {{"preset", options.preset}, {"crf", options.crf}, {"b", options.bitrate}}};
  for (const auto& [key, value] : common) {
    if (!value.empty()) {
      set_option(key, value);
    }
  }
  if (!options.bitrate.empty() && context_->bit_rate <= 0) {
    throw UsageError("the bitrate must be greater than 0, such as 4M, not '" + options.bitrate + "'");
  }
  if (traits.faulty_captions &&
      av_opt_find(context_.get(), "a53cc", nullptr, 0, AV_OPT_SEARCH_CHILDREN) != nullptr) {
    set_option("a53cc", "0");
  }
  // The encoder's own parameters come first, so that the user's override them.
  std::string own = own_parameters(traits, *source_.properties);
  if (context_->field_order == AV_FIELD_BT && traits.bottom_field_first != nullptr) {
    own += (own.empty() ? "" : ":") + std::string(traits.bottom_field_first);
  }
  if (!own.empty()) {
    set_option(traits.parameters_option, own);
  }
  if (const AVFrame& first = *source_.properties; codec_->id == AV_CODEC_ID_EXR) {
    for (const auto& [key, value] : kept_metadata(first).encoder_options) {
      set_option(key, value);
    }
  }
  if (!options.film_grain.empty()) {
    set_film_grain(options);
  }
  const std::string before = own + ":";
  const auto layout = [&] {
    return std::tuple(context_->width, context_->height, context_->pix_fmt, context_->time_base.num,
                      context_->time_base.den);
  };
  const auto layout_of_frames = layout();
  for (const auto& [key, value] : options.encoder_options) {
    const bool is_joined = grain_ && key == kAomParameters;
    set_option(key, is_joined                                         ? grain_->parameter() + ":" + value
                    : !own.empty() && key == traits.parameters_option ? before + value
                                                                      : value);
    if (layout() != layout_of_frames) {
      throw UsageError("the encoder option '" + key + "' can't be set: it follows from the frames");
    }
  }
}

void Encoder::set_film_grain(const WriterOptions& options) {
  require_film_grain_encoder(codec_->name);
  const auto own = std::ranges::find_if(options.encoder_options, [](const auto& option) {
    return option.first == "denoise-noise-level" ||
           (option.first == kAomParameters && option.second.find("film-grain") != std::string::npos);
  });
  if (own != options.encoder_options.end()) {
    throw UsageError("the encoder option '" + own->first + "' and a film grain table exclude each other");
  }
  FilmGrainTable table = options.film_grain;
  if (const std::optional<FrameFormat> format = frame_format(target_format_)) {
    for (FilmGrainEntry& entry : table) {  // libaom aborts if the stream cannot store the grain
      entry.grain = for_format(std::move(entry.grain), *format);
    }
  }
  grain_.emplace(url_, std::move(table));
  set_option(kAomParameters, grain_->parameter());
}

void Encoder::set_option(const std::string& key, const std::string& value) {
  const int code = av_opt_set(context_.get(), key.c_str(), value.c_str(), AV_OPT_SEARCH_CHILDREN);
  if (key == "preset" || key == "cpu-used") {
    preset_ = ", " + key + " " + value;
  }
  if (code == AVERROR_OPTION_NOT_FOUND) {
    muxer_options_.emplace_back(key, value);
  } else if (code < 0) {
    throw UsageError("the encoder " + std::string(codec_->name) + " doesn't take '" + value +
                     "' for its option '" + key + "'" +
                     (key == "b" ? "; --bitrate takes a rate such as 2M" : range_of(*context_, key)));
  }
}

FrameHandle Encoder::to_libav(const Frame& frame) {
  if (!same_samples(frame.format, source_.format) || frame.format.width != source_.format.width ||
      frame.format.height != source_.format.height) {
    throw Error(url_ + ": frame " + std::to_string(frame.index) + " is " + to_string(frame.format) +
                " instead of " + to_string(source_.format));
  }
  if (cuda_frames_) {
    return cuda_frames_->reference_to(frame);
  }
  if (!scaler_ && is_planar(target_format_)) {
    return view_of(frame, target_format_);
  }
  ++copies_;
  FrameHandle target = target_pool_.take(target_format_, frame.format.width, frame.format.height);
  if (!scaler_) {
    pack(frame, *target);
    return target;
  }
  FrameHandle samples;
  if (is_planar(source_format_)) {
    samples = view_of(frame, source_format_);
  } else {
    samples = packed_pool_.take(source_format_, frame.format.width, frame.format.height);
    pack(frame, *samples);
    ++copies_;
  }
  const auto* const properties = frame.attachment.get<AVFrame>();
  scaler_->convert(*samples, *target, properties != nullptr && is_interlaced(*properties));
  return target;
}

/// The picture with the range of samples that the source's file has.
FrameHandle Encoder::in_own_scale(FrameHandle picture, float white) {
  if (white == 1 || !has_floats(*picture)) {
    return picture;
  }
  FrameHandle own = target_pool_.take(target_format_, picture->width, picture->height);
  check(av_frame_copy(own.get(), picture.get()), url_, "can't scale a picture");
  multiply_floats(*own, white);
  ++copies_;
  return own;
}

void Encoder::send(const Frame& frame) {
  FrameHandle picture = to_libav(frame);
  const std::string name = "frame " + std::to_string(frame.index);
  AVRational time_base = av_inv_q(source_.frame_rate);
  std::int64_t pts = frame.index;
  std::int64_t duration = 1;
  if (const auto* const properties = frame.attachment.get<AVFrame>()) {
    picture = in_own_scale(std::move(picture), kept_metadata(*properties).stored.white);
    check(av_frame_copy_props(picture.get(), properties), url_, "can't keep the properties of " + name);
    time_base = properties->time_base;
    pts = properties->pts;
    duration = duration_of(*properties);
  }
  if (first_pts_ == AV_NOPTS_VALUE) {
    first_pts_ = is_live_ ? pts : 0;
    zero_ = av_rescale_q(first_pts_, time_base, kMicrosecond);
  }
  // Encoders with a constant quantizer take it from each frame, whose properties are the source's.
  picture->quality = (context_->flags & AV_CODEC_FLAG_QSCALE) != 0 ? context_->global_quality : 0;
  picture->pts = av_rescale_q(pts - first_pts_, time_base, context_->time_base);
  if (last_pts_ != AV_NOPTS_VALUE && picture->pts <= last_pts_) {
    picture->pts = last_pts_ + 1;  // the encoder's time unit is coarser than the source's
  }
  last_pts_ = picture->pts;
  durations_[picture->pts] = av_rescale_q(duration, time_base, context_->time_base);
  picture->pkt_dts = AV_NOPTS_VALUE;
  picture->pict_type = AV_PICTURE_TYPE_NONE;  // chosen by the encoder, not copied from the source
  clear_key_frame(*picture);
  picture->crop_left = picture->crop_right = picture->crop_top = picture->crop_bottom = 0;
  picture->colorspace = context_->colorspace;
  picture->color_range = context_->color_range;
  look_for_losses(*picture, frame.index);
  leave_out_stale_metadata(*picture);
  if (!cuda_frames_) {
    check_.note_sent(*picture);
  }
  check(avcodec_send_frame(context_.get(), picture.get()), url_, "can't encode " + name);
  ++sent_;
}

bool Encoder::loses_captions(const AVFrame& frame) const {
  if (av_frame_get_side_data(&frame, AV_FRAME_DATA_A53_CC) == nullptr) {
    return false;
  }
  std::int64_t embedded = 0;
  const bool can_embed = av_opt_get_int(context_.get(), "a53cc", AV_OPT_SEARCH_CHILDREN, &embedded) >= 0;
  return !can_embed || (embedded == 0 && traits_of(*codec_).faulty_captions);
}

/// The constructor has reported losses of the first frame; captions of broadcasts may begin later.
void Encoder::look_for_losses(const AVFrame& frame, std::int64_t index) {
  const auto warn = [&](const std::string& of) {
    late_warnings_.push_back("from frame " + std::to_string(index) + " on the source has " + of);
  };
  if (!captions_told_ && loses_captions(frame)) {
    captions_told_ = true;
    warn("closed captions, which are " + captions_lost_to(*codec_));
  }
  if (const AVFrameSideData* const active = av_frame_get_side_data(&frame, AV_FRAME_DATA_AFD);
      !active_format_told_ && active != nullptr && active->size > 0 && active->data[0] != AV_AFD_SAME) {
    active_format_told_ = true;
    warn("an active format description (AFD), which is not kept");
  }
  if (!hdr_told_ && has_dynamic_hdr(frame)) {
    hdr_told_ = true;
    warn("dynamic HDR metadata (HDR10+ or Dolby Vision), which is not kept");
  }
}

/// Removes metadata of other pixels: a profile of other colors, and EXIF, which newer versions of libav read
/// and write unchanged.
void Encoder::leave_out_stale_metadata(AVFrame& picture) const {
  if (!keeps_profile_) {
    av_frame_remove_side_data(&picture, AV_FRAME_DATA_ICC_PROFILE);
  }
  for (int i = 0; i < picture.nb_side_data;) {
    const AVFrameSideDataType type = picture.side_data[i]->type;
    const char* const name = av_frame_side_data_name(type);  // older versions lack the type
    if (name != nullptr && std::string_view(name).starts_with("EXIF")) {
      av_frame_remove_side_data(&picture, type);  // all entries of the type
    } else {
      ++i;
    }
  }
}

void Encoder::flush() { check(avcodec_send_frame(context_.get(), nullptr), url_, "can't finish encoding"); }

PacketHandle Encoder::receive() {
  PacketHandle packet = make_packet();
  const int code = avcodec_receive_packet(context_.get(), packet.get());
  if (code == AVERROR_EOF) {
    check_.finish();
    if (grain_) {
      grain_->finish();
    }
  }
  if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) {
    return nullptr;
  }
  check(code, url_, "can't encode");
  check_.note_encoded(*packet);
  if (grain_) {
    grain_->note_encoded(*packet);
  }
  constexpr int kReordered = 2;
  if (traits_of(*codec_).invents_first_times && sent_ <= kReordered) {
    packet->dts = packet->pts;
  }
  if (const auto found = durations_.find(packet->pts); found != durations_.end()) {
    packet->duration = found->second;
    durations_.erase(found);
  }
  return packet;
}

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

std::atomic<bool> has_abandoned = false;

}  // namespace

bool has_abandoned_encoders() { return has_abandoned; }

/// Shared with the thread, which may outlive the EncoderThread.
struct EncoderThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_ptr<Encoder> encoder;
  std::function<void(Encoder&)> task;  ///< empty if the thread is idle
  std::exception_ptr failure;          ///< of the last task
  bool ends = false;
  bool is_abandoned = false;
};

EncoderThread::EncoderThread(std::unique_ptr<Encoder> encoder, std::chrono::milliseconds patience)
    : patience_(patience), state_(std::make_shared<State>()) {
  state_->encoder = std::move(encoder);
  thread_ = start_thread([state = state_] { serve(*state); });
}

EncoderThread::~EncoderThread() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
    if (!state_->is_abandoned) {
      state_->task = [](Encoder&) {};
    }
  }
  state_->changed.notify_all();
  if (!wait_until_idle()) {
    thread_.detach();
  }
}

void EncoderThread::serve(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.task != nullptr; });
    const bool ends = state.ends;
    lock.unlock();
    std::exception_ptr failure;
    if (ends) {
      state.encoder = nullptr;
    } else {
      try {
        state.task(*state.encoder);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    lock.lock();
    state.task = nullptr;
    state.failure = failure;
    state.changed.notify_all();
    if (ends) {
      return;
    }
  }
}

const Encoder& EncoderThread::encoder() const { return *state_->encoder; }

bool EncoderThread::wait_until_idle() {
  std::unique_lock lock(state_->mutex);
  const auto is_idle = [&] { return state_->task == nullptr; };
  while (!state_->is_abandoned && !state_->changed.wait_for(lock, kBetweenLooks, is_idle)) {
    state_->is_abandoned = outputs_interrupted_for(patience_);
    has_abandoned = has_abandoned || state_->is_abandoned;
  }
  return !state_->is_abandoned;
}

bool EncoderThread::run(std::function<void(Encoder&)> task) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_abandoned || outputs_interrupted_for(patience_)) {
      return false;
    }
    state_->task = std::move(task);
  }
  state_->changed.notify_all();
  if (!wait_until_idle()) {
    return false;
  }
  if (std::exception_ptr failure = std::exchange(state_->failure, nullptr)) {
    std::rethrow_exception(failure);
  }
  return true;
}

}  // namespace limpid::io
