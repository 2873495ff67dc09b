// SPDX-License-Identifier: MIT
#include "io/media/libav.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/error.h"

namespace limpid::io {

// Each new name is used from its first version on, since the older one is deprecated there and removed two
// major versions later.
#define LIMPID_DURATION (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100))           // FFmpeg 6.0
#define LIMPID_FRAME_NUM (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 2, 100))          // FFmpeg 6.0
#define LIMPID_FRAME_FLAGS (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100))         // FFmpeg 6.1
#define LIMPID_CODED_SIDE_DATA (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101))   // FFmpeg 6.1
#define LIMPID_SUPPORTED_CONFIG (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100))  // FFmpeg 7.1

namespace {

#if LIMPID_SUPPORTED_CONFIG
template <typename Value>
std::span<const Value> supported(const AVCodec& codec, AVCodecConfig what) {
  const void* values = nullptr;
  int count = 0;
  if (avcodec_get_supported_config(nullptr, &codec, what, 0, &values, &count) < 0 || values == nullptr) {
    return {};
  }
  return {static_cast<const Value*>(values), static_cast<std::size_t>(count)};
}
#else
/// A list that ends where `is_end` returns true.
template <typename Value, typename IsEnd>
std::span<const Value> listed(const Value* values, IsEnd is_end) {
  std::size_t count = 0;
  while (values != nullptr && !is_end(values[count])) {
    ++count;
  }
  return {values, count};
}
#endif

}  // namespace

std::int64_t duration_of(const AVFrame& frame) {
#if LIMPID_DURATION
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

void set_duration(AVFrame& frame, std::int64_t duration) {
#if LIMPID_DURATION
  frame.duration = duration;
#else
  frame.pkt_duration = duration;
#endif
}

bool is_interlaced(const AVFrame& frame) {
#if LIMPID_FRAME_FLAGS
  return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame.interlaced_frame != 0;
#endif
}

bool is_top_field_first(const AVFrame& frame) {
#if LIMPID_FRAME_FLAGS
  return (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  return frame.top_field_first != 0;
#endif
}

void clear_key_frame(AVFrame& frame) {
#if LIMPID_FRAME_FLAGS
  frame.flags &= ~AV_FRAME_FLAG_KEY;
#else
  frame.key_frame = 0;
#endif
}

bool has_picture_tiles([[maybe_unused]] const AVFormatContext& input) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61  // FFmpeg 7.0
  for (unsigned i = 0; i < input.nb_stream_groups; ++i) {
    if (input.stream_groups[i]->type == AV_STREAM_GROUP_PARAMS_TILE_GRID &&
        input.stream_groups[i]->params.tile_grid->nb_tiles > 1) {
      return true;
    }
  }
#endif
  return false;
}

std::int64_t frame_count(const AVCodecContext& context) {
#if LIMPID_FRAME_NUM
  return context.frame_num;
#else
  return context.frame_number;
#endif
}

void allow_callbacks_from_threads([[maybe_unused]] AVCodecContext& decoder) {
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  decoder.thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
}

std::span<const AVPacketSideData> side_data_of(const AVStream& stream) {
#if LIMPID_CODED_SIDE_DATA
  return {stream.codecpar->coded_side_data, static_cast<std::size_t>(stream.codecpar->nb_coded_side_data)};
#else
  return {stream.side_data, static_cast<std::size_t>(stream.nb_side_data)};
#endif
}

const AVPacketSideData* find_side_data(const AVStream& stream, AVPacketSideDataType type) {
  const std::span<const AVPacketSideData> all = side_data_of(stream);
  const auto found = std::ranges::find(all, type, &AVPacketSideData::type);
  return found == all.end() ? nullptr : &*found;
}

void add_side_data(AVStream& stream, AVPacketSideDataType type, const std::uint8_t* data, std::size_t size) {
  if (find_side_data(stream, type) != nullptr) {
    return;
  }
  void* const copy = av_memdup(data, size);
  // The stream owns the copy from here on, unless this fails.
#if LIMPID_CODED_SIDE_DATA
  AVCodecParameters& parameters = *stream.codecpar;
  const bool added =
      copy != nullptr && av_packet_side_data_add(&parameters.coded_side_data, &parameters.nb_coded_side_data,
                                                 type, copy, size, 0) != nullptr;
#else
  const bool added =
      copy != nullptr && av_stream_add_side_data(&stream, type, static_cast<std::uint8_t*>(copy), size) >= 0;
#endif
  if (!added) {
    av_free(copy);
    throw Error("out of memory");
  }
}

std::span<const AVPixelFormat> pixel_formats_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVPixelFormat>(codec, AV_CODEC_CONFIG_PIX_FORMAT);
#else
  return listed(codec.pix_fmts, [](AVPixelFormat format) { return format == AV_PIX_FMT_NONE; });
#endif
}

std::span<const AVRational> frame_rates_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVRational>(codec, AV_CODEC_CONFIG_FRAME_RATE);
#else
  return listed(codec.supported_framerates, [](AVRational rate) { return rate.num == 0 && rate.den == 0; });
#endif
}

std::span<const AVSampleFormat> sample_formats_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVSampleFormat>(codec, AV_CODEC_CONFIG_SAMPLE_FORMAT);
#else
  return listed(codec.sample_fmts, [](AVSampleFormat format) { return format == AV_SAMPLE_FMT_NONE; });
#endif
}

std::span<const int> sample_rates_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<int>(codec, AV_CODEC_CONFIG_SAMPLE_RATE);
#else
  return listed(codec.supported_samplerates, [](int rate) { return rate == 0; });
#endif
}

std::span<const AVChannelLayout> channel_layouts_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVChannelLayout>(codec, AV_CODEC_CONFIG_CHANNEL_LAYOUT);
#else
  return listed(codec.ch_layouts, [](const AVChannelLayout& layout) { return layout.nb_channels == 0; });
#endif
}

FrameHandle make_frame() { return allocated(FrameHandle(av_frame_alloc())); }
PacketHandle make_packet() { return allocated(PacketHandle(av_packet_alloc())); }

unsigned char* make_io_buffer(int size) {
  return allocated(static_cast<unsigned char*>(av_malloc(static_cast<std::size_t>(size))));
}

std::string error_text(int code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(code, text.data(), text.size());
  return text.data();
}

int check(int code, std::string_view subject, std::string_view what) {
  if (code < 0) {
    throw Error(std::string(subject) + ": " + std::string(what) + ": " + error_text(code));
  }
  return code;
}

void write_bytes(AVIOContext& target, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kMost = 1 << 30;
  while (!bytes.empty()) {
    const std::span<const std::uint8_t> part = bytes.first(std::min(bytes.size(), kMost));
    avio_write(&target, part.data(), static_cast<int>(part.size()));
    bytes = bytes.subspan(part.size());
  }
}

std::string logged_reason() {
  const std::string line = first_logged_error();
  return line.empty() ? "" : " (" + line + ")";
}

Dictionary::Dictionary(const std::vector<std::pair<std::string, std::string>>& entries) {
  for (const auto& [key, value] : entries) {
    set(key, value);
  }
}

void Dictionary::set(const std::string& key, const std::string& value) {
  check(av_dict_set(&entries_, key.c_str(), value.c_str(), 0), key, "can't set the option");
}

std::string Dictionary::any_key() const {
  const AVDictionaryEntry* const entry = av_dict_get(entries_, "", nullptr, AV_DICT_IGNORE_SUFFIX);
  return entry == nullptr ? "" : entry->key;
}

std::string name_of(AVPixelFormat format) {
  const char* const name = av_get_pix_fmt_name(format);
  return name == nullptr ? "none" : name;
}

bool has_protocol(const std::string& url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos || colon == 0) {
    return false;
  }
  const auto begin = url.begin() + static_cast<std::ptrdiff_t>(colon);
  if (url.starts_with("pipe:")) {
    return std::all_of(begin + 1, url.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  }
  const bool is_word =
      std::all_of(url.begin(), begin, [](unsigned char c) { return std::isalnum(c) != 0 || c == '+'; });
  return is_word && url.compare(colon, 3, "://") == 0;
}

bool is_device(const AVInputFormat& format) {
  return format.priv_class != nullptr && AV_IS_INPUT_DEVICE(format.priv_class->category);
}

bool is_live(const AVInputFormat& format) {
  return is_device(format) && std::string_view(format.name) != "lavfi";
}

bool is_sequence(const std::string& url) { return av_filename_number_test(url.c_str()) != 0; }

}  // namespace limpid::io
