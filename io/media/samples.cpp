// SPDX-License-Identifier: MIT
#include "io/media/samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

extern "C" {
#include <libavutil/opt.h>
}

#include "core/base/error.h"
#include "io/media/pixel_format.h"

namespace limpid::io {
namespace {

/// The memory layout of one component in libav.
struct ComponentLayout {
  const AVComponentDescriptor* component;
  std::uint8_t* data;
  std::ptrdiff_t stride;
  int element_bytes;
  bool swap;  ///< elements have the other endianness
};

ComponentLayout layout_of(const AVFrame& frame, int index) {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const AVComponentDescriptor& component = descriptor.comp[index];
  const int bits = component.depth + component.shift;
  const bool big = (descriptor.flags & AV_PIX_FMT_FLAG_BE) != 0;
  return {.component = &component,
          .data = frame.data[component.plane] + component.offset,
          .stride = frame.linesize[component.plane],
          .element_bytes = bits <= 8    ? 1
                           : bits <= 16 ? 2
                                        : 4,
          .swap = bits > 8 && big != (std::endian::native == std::endian::big)};
}

std::uint16_t swap_bytes(std::uint16_t value) { return __builtin_bswap16(value); }
std::uint32_t swap_bytes(std::uint32_t value) { return __builtin_bswap32(value); }

/// Elements need not be aligned in libav's packed formats, hence memcpy.
template <typename Element, typename Sample, bool kSwap>
void unpack_component(const ComponentLayout& from, const Plane& to) {
  const int step = from.component->step;
  const int shift = from.component->shift;
  const auto mask = static_cast<Element>(~std::uint64_t{0} >> (64 - from.component->depth));
  for (int y = 0; y < to.height; ++y) {
    const std::uint8_t* source = from.data + y * from.stride;
    auto* const row = to.row<Sample>(y);
    for (int x = 0; x < to.width; ++x, source += step) {
      Element element;
      std::memcpy(&element, source, sizeof element);
      if constexpr (kSwap) {
        element = swap_bytes(element);
      }
      row[x] = static_cast<Sample>((element >> shift) & mask);
    }
  }
}

/// Combines with the existing value: several components may share an element.
template <typename Element, typename Sample, bool kSwap>
void pack_component(const Plane& from, const ComponentLayout& to) {
  const int step = to.component->step;
  const int shift = to.component->shift;
  const auto mask = static_cast<Sample>(~std::uint64_t{0} >> (64 - to.component->depth));
  for (int y = 0; y < from.height; ++y) {
    std::uint8_t* target = to.data + y * to.stride;
    const auto* const row = from.row<const Sample>(y);
    for (int x = 0; x < from.width; ++x, target += step) {
      auto bits = static_cast<Element>(static_cast<Element>(row[x] & mask) << shift);
      if constexpr (kSwap) {
        bits = swap_bytes(bits);
      }
      Element element;
      std::memcpy(&element, target, sizeof element);
      element = static_cast<Element>(element | bits);
      std::memcpy(target, &element, sizeof element);
    }
  }
}

/// Calls `function<Element, Sample, kSwap>()` with the types of a component. Float samples are moved as
/// words.
template <typename Function>
void with_types(const ComponentLayout& layout, const FrameFormat& format, const Function& function) {
  const int sample_bytes = format.bytes_per_sample();
  if (layout.element_bytes == 1) {
    function.template operator()<std::uint8_t, std::uint8_t, false>();
  } else if (layout.element_bytes == 2 && sample_bytes == 1) {
    layout.swap ? function.template operator()<std::uint16_t, std::uint8_t, true>()
                : function.template operator()<std::uint16_t, std::uint8_t, false>();
  } else if (layout.element_bytes == 2) {
    layout.swap ? function.template operator()<std::uint16_t, std::uint16_t, true>()
                : function.template operator()<std::uint16_t, std::uint16_t, false>();
  } else if (sample_bytes == 2) {
    layout.swap ? function.template operator()<std::uint32_t, std::uint16_t, true>()
                : function.template operator()<std::uint32_t, std::uint16_t, false>();
  } else {
    layout.swap ? function.template operator()<std::uint32_t, std::uint32_t, true>()
                : function.template operator()<std::uint32_t, std::uint32_t, false>();
  }
}

template <typename Sample>
void deepen_plane(const Plane& from, int depth, const Plane& to, int added, bool to_the_end) {
  for (int y = 0; y < from.height; ++y) {
    const auto* const in = from.row<const Sample>(y);
    auto* const out = to.row<std::uint16_t>(y);
    for (int x = 0; x < from.width; ++x) {
      const unsigned value = in[x];
      out[x] = static_cast<std::uint16_t>(value << added | (to_the_end ? value >> (depth - added) : 0U));
    }
  }
}

/// Calls `function` with each sample of the color planes of native floats.
template <typename Function>
void for_each_float(const AVFrame& frame, const Function& function) {
  constexpr std::size_t kColorPlanes = 3;
  for (std::size_t p = 0; p < kColorPlanes && frame.data[p] != nullptr; ++p) {
    for (int y = 0; y < frame.height; ++y) {
      auto* const row =
          reinterpret_cast<float*>(frame.data[p] + static_cast<std::ptrdiff_t>(y) * frame.linesize[p]);
      std::for_each(row, row + frame.width, function);
    }
  }
}

}  // namespace

bool has_floats(const AVFrame& frame) {
  const std::optional<FrameFormat> format = frame_format(static_cast<AVPixelFormat>(frame.format));
  return format && format->is_float() && is_planar(static_cast<AVPixelFormat>(frame.format));
}

FloatRange range_of(const AVFrame& frame) {
  constexpr float kMissing = 1e30F;
  FloatRange range;
  std::int64_t samples = 0;
  std::int64_t unusable = 0;
  for_each_float(frame, [&](float sample) {
    if (std::abs(sample) < kMissing) {  // false for NaN
      range.greatest = std::max(range.greatest, std::abs(sample));
      ++samples;
      unusable += is_usable_sample(sample) ? 0 : 1;
    }
  });
  range.is_usable = unusable * 2 <= samples;
  return range;
}

void multiply_floats(AVFrame& frame, float factor) {
  for_each_float(frame, [factor](float& sample) { sample *= factor; });
}

void deepen(const Frame& from, const Frame& to, bool fractions) {
  const FrameFormat& format = from.format;
  const int added = to.format.bit_depth - format.bit_depth;
  const int alpha = format.has_alpha ? format.plane_count() - 1 : -1;
  for (int p = 0; p < format.plane_count(); ++p) {
    const bool is_chroma = format.color_model == ColorModel::kYuv && p > 0 && p != alpha;
    const bool to_the_end = !fractions && (p == alpha || (!is_chroma && format.range == ColorRange::kFull));
    if (format.sample_type == SampleType::kUint8) {
      deepen_plane<std::uint8_t>(from.planes[p], format.bit_depth, to.planes[p], added, to_the_end);
    } else {
      deepen_plane<std::uint16_t>(from.planes[p], format.bit_depth, to.planes[p], added, to_the_end);
    }
  }
}

FrameHandle LibavFramePool::take(AVPixelFormat format, int width, int height) {
  const auto is_free = [](const FrameHandle& frame) { return av_frame_is_writable(frame.get()) != 0; };
  const auto fits = [&](const FrameHandle& frame) {
    return frame->format == format && frame->width == width && frame->height == height;
  };
  auto free = std::find_if(frames_.begin(), frames_.end(),
                           [&](const FrameHandle& frame) { return fits(frame) && is_free(frame); });
  if (free == frames_.end()) {
    std::erase_if(frames_, [&](const FrameHandle& frame) { return !fits(frame); });
    FrameHandle frame = make_frame();
    frame->format = format;
    frame->width = width;
    frame->height = FFALIGN(height, 4);
    check(av_frame_get_buffer(frame.get(), 0), name_of(format), "can't allocate a frame");
    frame->height = height;
    frames_.push_back(std::move(frame));
    free = frames_.end() - 1;
  }
  FrameHandle shared = make_frame();
  check(av_frame_ref(shared.get(), free->get()), name_of(format), "can't share a frame");
  return shared;
}

Frame view_of(std::shared_ptr<AVFrame> from, const FrameFormat& format) {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(from->format));
  Frame frame;
  frame.format = format;
  for (int p = 0; p < format.plane_count(); ++p) {
    const int source = descriptor.comp[p].plane;
    frame.planes[p] = {.data = reinterpret_cast<std::byte*>(from->data[source]),
                       .stride = from->linesize[source],
                       .width = format.plane_width(p),
                       .height = format.plane_height(p)};
  }
  frame.samples = std::move(from);
  return frame;
}

FrameHandle view_of(const Frame& from, AVPixelFormat format) {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format);
  FrameHandle frame = make_frame();
  frame->format = format;
  frame->width = from.format.width;
  frame->height = from.format.height;
  for (int p = 0; p < from.format.plane_count(); ++p) {
    const int target = descriptor.comp[p].plane;
    frame->data[target] = reinterpret_cast<std::uint8_t*>(from.planes[p].data);
    frame->linesize[target] = static_cast<int>(from.planes[p].stride);
  }
  // The buffer reference owns a copy of the shared pointer; its bytes are not accessed.
  auto owner = std::make_unique<std::shared_ptr<void>>(from.samples);
  frame->buf[0] = av_buffer_create(
      frame->data[0], static_cast<std::size_t>(frame->linesize[0]) * frame->height,
      [](void* opaque, std::uint8_t*) {
        const std::unique_ptr<std::shared_ptr<void>> released(static_cast<std::shared_ptr<void>*>(opaque));
      },
      owner.get(), AV_BUFFER_FLAG_READONLY);
  if (frame->buf[0] == nullptr) {
    throw Error("out of memory");
  }
  static_cast<void>(owner.release());
  return frame;
}

void unpack(const AVFrame& from, const Frame& to) {
  for (int c = 0; c < to.format.plane_count(); ++c) {
    const ComponentLayout layout = layout_of(from, c);
    with_types(layout, to.format, [&]<typename Element, typename Sample, bool kSwap>() {
      unpack_component<Element, Sample, kSwap>(layout, to.planes[c]);
    });
  }
}

void pack(const Frame& from, AVFrame& to) {
  for (int p = 0; p < AV_NUM_DATA_POINTERS && to.data[p] != nullptr; ++p) {
    const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(to.format));
    const int rows = p == 1 || p == 2 ? AV_CEIL_RSHIFT(to.height, descriptor.log2_chroma_h) : to.height;
    std::memset(to.data[p], 0, static_cast<std::size_t>(to.linesize[p]) * rows);
  }
  for (int c = 0; c < from.format.plane_count(); ++c) {
    const ComponentLayout layout = layout_of(to, c);
    with_types(layout, from.format, [&]<typename Element, typename Sample, bool kSwap>() {
      pack_component<Element, Sample, kSwap>(from.planes[c], layout);
    });
  }
}

Scaler::Scaler(std::string subject, const PictureLayout& from, const PictureLayout& to)
    : subject_(std::move(subject)), from_(from), to_(to) {
  const int shift = av_pix_fmt_desc_get(from.format)->log2_chroma_h;
  const bool has_whole_fields = from.height % (2 << shift) == 0 && to.height % 2 == 0;
  changes_rows_ = has_whole_fields &&
                  (from.height != to.height || shift != av_pix_fmt_desc_get(to.format)->log2_chroma_h);
  scalers_[kFrame] = made_for(kFrame);
}

ScalerHandle Scaler::made_for(Part part) const {
  ScalerHandle scaler(sws_alloc_context());
  if (scaler == nullptr) {
    throw Error("out of memory");
  }
  constexpr int kFlags =
      SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT;
  const std::string what = "can't convert " + name_of(from_.format) + " to " + name_of(to_.format);
  const int fields = part == kFrame ? 1 : 2;
  // In 1/256 of the distance of a field's rows. The chroma of 4:2:0 lies between rows of the frame.
  const auto chroma_position = [part](AVPixelFormat format) {
    constexpr std::array kPositions{64, 192, -513};  // unspecified for frames
    return kPositions[av_pix_fmt_desc_get(format)->log2_chroma_h == 1 ? part : kFrame];
  };
  for (const auto& [option, value] :
       {std::pair{"srcw", from_.width}, std::pair{"srch", from_.height / fields},
        std::pair{"dstw", to_.width}, std::pair{"dsth", to_.height / fields},
        std::pair{"src_format", static_cast<int>(from_.format)},
        std::pair{"dst_format", static_cast<int>(to_.format)},
        std::pair{"src_v_chr_pos", chroma_position(from_.format)},
        std::pair{"dst_v_chr_pos", chroma_position(to_.format)}, std::pair{"sws_flags", kFlags},
        // Must be set before libswscale decides whether samples may be copied unchanged.
        std::pair{"src_range", from_.coding.full_range ? 1 : 0},
        std::pair{"dst_range", to_.coding.full_range ? 1 : 0}, std::pair{"threads", 0}}) {
    check(av_opt_set_int(scaler.get(), option, value, 0), subject_, what);
  }
  check(sws_init_context(scaler.get(), nullptr, nullptr), subject_, what);
  // Fails, as expected, if neither side is YUV.
  sws_setColorspaceDetails(scaler.get(), sws_getCoefficients(from_.coding.matrix),
                           from_.coding.full_range ? 1 : 0, sws_getCoefficients(to_.coding.matrix),
                           to_.coding.full_range ? 1 : 0, 0, 1 << 16, 1 << 16);
  return scaler;
}

void Scaler::convert(const AVFrame& from, AVFrame& to, bool is_interlaced) {
  if (!is_interlaced || !changes_rows_) {
    check(sws_scale_frame(scalers_[kFrame].get(), &to, &from), subject_, "can't convert a frame");
    return;
  }
  for (const Part field : {kTop, kBottom}) {
    ScalerHandle& scaler = scalers_[field];
    if (scaler == nullptr) {
      scaler = made_for(field);
    }
    std::array<const std::uint8_t*, 4> rows{};
    std::array<std::uint8_t*, 4> results{};
    std::array<int, 4> strides{};
    std::array<int, 4> result_strides{};
    for (std::size_t p = 0; p < rows.size(); ++p) {
      rows[p] = from.data[p] == nullptr ? nullptr : from.data[p] + field * from.linesize[p];
      results[p] = to.data[p] == nullptr ? nullptr : to.data[p] + field * to.linesize[p];
      strides[p] = 2 * from.linesize[p];
      result_strides[p] = 2 * to.linesize[p];
    }
    check(sws_scale(scaler.get(), rows.data(), strides.data(), 0, from_.height / 2, results.data(),
                    result_strides.data()),
          subject_, "can't convert a field");
  }
}

namespace {

constexpr int kSide = 8;
using MaskRow = std::array<int, kSide>;

constexpr int kThresholds = kSide * kSide;

/// Thresholds of one row of the mask, 0 to 63. The bits of Bayer's matrix are those of x ^ y and y,
/// interleaved from the lowest to the highest.
MaskRow mask_row(int y, std::int64_t frame) {
  // The golden section of the number of thresholds, which spreads those of successive frames evenly.
  constexpr std::int64_t kStep = 39;
  const int row = y % kSide;
  MaskRow mask{};
  for (int x = 0; x < kSide; ++x) {
    int threshold = 0;
    for (int bit = 0; bit < 3; ++bit) {
      const int different = (x ^ row) >> bit & 1;
      threshold |= (2 * different + (row >> bit & 1)) << 2 * (2 - bit);
    }
    mask[x] = static_cast<int>((threshold + kStep * frame) & (kThresholds - 1));
  }
  return mask;
}

struct Rows {
  const std::uint16_t* above;
  const std::uint16_t* row;
  const std::uint16_t* below;
  int width;
};

void dither_row(const Rows& rows, const MaskRow& mask, int bits, std::uint8_t* out) {
  constexpr int kGreatest = 255;
  const int step = 1 << bits;
  for (int x = 0; x < rows.width; ++x) {
    const int value = rows.row[x];
    const int left = rows.row[std::max(x - 1, 0)];
    const int right = rows.row[std::min(x + 1, rows.width - 1)];
    const auto [least, most] = std::minmax({value, left, right, int{rows.above[x]}, int{rows.below[x]}});
    const int dithering = (2 * mask[x % kSide] + 1) * step / (2 * kThresholds);
    const int added = most - least < step ? dithering : step / 2;
    out[x] = static_cast<std::uint8_t>(std::min((value + added) >> bits, kGreatest));
  }
}

FrameFormat in_8_bits(FrameFormat format) {
  format.sample_type = SampleType::kUint8;
  format.bit_depth = 8;
  return format;
}

}  // namespace

Ditherer::Ditherer(const FrameFormat& format) : format_(in_8_bits(format)) {}

Frame Ditherer::to_8_bits(const Frame& frame) {
  Frame result = pool_.allocate(format_);
  describe_alike(frame, result);
  const int bits = frame.format.bit_depth - format_.bit_depth;
  const int field_rows = frame.interlaced ? 2 : 1;  // between rows of one field
  for (int p = 0; p < format_.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      const int above = y - field_rows < 0 ? y : y - field_rows;
      const int below = y + field_rows >= plane.height ? y : y + field_rows;
      const auto row = [&](int number) { return plane.row<const std::uint16_t>(number); };
      dither_row({row(above), row(y), row(below), plane.width}, mask_row(y / field_rows, frame.index), bits,
                 result.planes[p].row<std::uint8_t>(y));
    }
  }
  return result;
}

bool PictureMender::is_for(const AVCodecContext& decoder,
                           const std::vector<std::pair<std::string, std::string>>& options) {
  return decoder.codec_id == AV_CODEC_ID_MJPEG &&
         std::none_of(options.begin(), options.end(),
                      [](const auto& option) { return option.first == "err_detect"; });
}

PictureMender::PictureMender(AVCodecContext& decoder, const AVCodecParameters& parameters,
                             std::vector<std::pair<std::string, std::string>> options)
    : parameters_(parameters), time_base_(decoder.pkt_timebase), options_(std::move(options)) {
  decoder.err_recognition |= AV_EF_EXPLODE;
}

void PictureMender::sent(const AVPacket& packet) {
  under_way_.push_back(make_packet());
  check(av_packet_ref(under_way_.back().get(), &packet), "packet", "can't keep it");
}

void PictureMender::received(const AVFrame& frame) {
  const auto same = std::find_if(under_way_.begin(), under_way_.end(),
                                 [&](const PacketHandle& packet) { return packet->pts == frame.pts; });
  // Packets without a picture may precede it.
  under_way_.erase(under_way_.begin(),
                   same != under_way_.end() ? same + 1 : under_way_.begin() + (under_way_.empty() ? 0 : 1));
}

FrameHandle PictureMender::mend() {
  if (under_way_.empty()) {
    return nullptr;
  }
  const PacketHandle packet = std::move(under_way_.front());
  under_way_.pop_front();
  if (tolerant_ == nullptr) {
    const AVCodec* const codec = avcodec_find_decoder(parameters_.codec_id);
    CodecHandle decoder(avcodec_alloc_context3(codec));
    if (decoder == nullptr) {
      throw Error("out of memory");
    }
    Dictionary options(options_);
    decoder->pkt_timebase = time_base_;
    decoder->thread_count = 1;  // returns each picture immediately
    if (avcodec_parameters_to_context(decoder.get(), &parameters_) < 0 ||
        avcodec_open2(decoder.get(), codec, options.get()) < 0) {
      return nullptr;
    }
    tolerant_ = std::move(decoder);
  }
  FrameHandle frame = make_frame();
  if (avcodec_send_packet(tolerant_.get(), packet.get()) < 0 ||
      avcodec_receive_frame(tolerant_.get(), frame.get()) < 0) {
    return nullptr;
  }
  frame->flags |= AV_FRAME_FLAG_CORRUPT;
  return frame;
}

}  // namespace limpid::io
