// SPDX-License-Identifier: MIT
#include "io/media/container_header.h"

#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstdio>

namespace limpid::io {
namespace {

/// A demuxer needs a row if it differs from the default.
constexpr std::array kInputs{
    InputTraits{.name = "matroska", .is_matroska = true},
    InputTraits{.name = "mov", .is_mp4 = true},
    InputTraits{.name = "image2", .is_image2 = true},
    // For AVI, libav computes the length of a truncated file from its remaining data.
    InputTraits{.name = "avi", .counts_frames = true},
    InputTraits{.name = "mxf", .exact_length = true},
    InputTraits{.name = "ivf", .exact_length = true},
    InputTraits{.name = "yuv4mpegpipe", .exact_length = true, .hides_errors = true},
    InputTraits{.name = "mpeg", .has_steady_clock = true},
    InputTraits{.name = "gif", .has_loops = true, .end = InputTraits::End::kGif},
    InputTraits{.name = "apng", .has_loops = true, .end = InputTraits::End::kPng},
    InputTraits{.name = "ogg", .end = InputTraits::End::kOgg},
    InputTraits{.name = "mpegts", .end = InputTraits::End::kTs},
    InputTraits{.name = "tty", .draws_text = true},
    InputTraits{.name = "bin", .draws_text = true},
    InputTraits{.name = "xbin", .draws_text = true},
    InputTraits{.name = "adf", .draws_text = true},
    InputTraits{.name = "idf", .draws_text = true},
};

}  // namespace

const InputTraits& traits_of(const AVInputFormat& format) {
  static constexpr InputTraits kNone;
  const std::string_view names = format.name;
  const auto* const found = std::ranges::find(kInputs, names.substr(0, names.find(',')), &InputTraits::name);
  return found == kInputs.end() ? kNone : *found;
}

namespace {

std::uint64_t read_big_endian(AVIOContext& bytes, int length) {
  std::uint64_t value = 0;
  for (int i = 0; i < length; ++i) {
    value = value << 8 | static_cast<std::uint64_t>(avio_r8(&bytes));
  }
  return value;
}

/// RFC 8794: the number of leading zeros of the first byte is the number of bytes that follow. A size without
/// any zero after the marker is unknown: the element ends with its parent.
bool read_element(AVIOContext& bytes, std::uint32_t& name, std::uint64_t& size) {
  constexpr int kLongestName = 4;
  constexpr int kLongestSize = 8;
  const auto first = static_cast<std::uint8_t>(avio_r8(&bytes));
  const int more = std::countl_zero(first);
  if (more >= kLongestName) {
    return false;
  }
  name = static_cast<std::uint32_t>(std::uint64_t{first} << (8 * more) | read_big_endian(bytes, more));
  const auto marked = static_cast<std::uint8_t>(avio_r8(&bytes));
  const int rest = std::countl_zero(marked);
  if (rest >= kLongestSize) {
    return false;
  }
  const std::uint64_t all_ones = (std::uint64_t{1} << (7 * (rest + 1))) - 1;
  size = (std::uint64_t{marked} << (8 * rest) | read_big_endian(bytes, rest)) & all_ones;
  size = size == all_ones ? UINT64_MAX : size;
  return true;
}

/// ISO/IEC 14496-12, 4.2: the size includes the header; 0 lasts to the end, and 1 precedes a size of 64 bits.
bool read_box(AVIOContext& bytes, std::uint32_t& name, std::uint64_t& size) {
  size = avio_rb32(&bytes);
  name = avio_rb32(&bytes);
  std::uint64_t header = 8;
  if (size == 1) {
    size = avio_rb64(&bytes);
    header = 16;
  }
  if (size != 0 && size < header) {
    return false;
  }
  size = size == 0 ? UINT64_MAX : size - header;
  return true;
}

}  // namespace

bool ContainerHeader::read_part(std::int64_t at, std::int64_t limit, Part& part) {
  constexpr int kMostParts = 10'000;  // bounds the time
  if (++parts_ > kMostParts || !go_to(file_, at, 1)) {
    return false;
  }
  std::uint64_t size = 0;
  const auto& read = kind_ == Kind::kMatroska ? read_element : read_box;
  if (!read(bytes_, part.name, size) || avio_feof(&bytes_) != 0) {
    return false;
  }
  part.begin = avio_tell(&bytes_);
  const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(limit - part.begin, 0));
  part.end = part.begin + static_cast<std::int64_t>(std::min(size, room));
  part.is_whole = size <= room;
  return true;
}

Part ContainerHeader::find(const Part& parent, std::uint32_t name) {
  Part found;
  for_each(parent, [&](const Part& part) {
    found = part.name == name ? part : found;
    return part.name != name;
  });
  return found;
}

std::int64_t bytes_behind_boxes(AVFormatContext& input) {
  constexpr std::array kCutOff{name_of_box("mdat"), name_of_box("moov"), name_of_box("moof"),
                               name_of_box("free")};
  if (!is_mp4(*input.iformat) || input.pb == nullptr || (input.pb->seekable & AVIO_SEEKABLE_NORMAL) == 0) {
    return 0;
  }
  const std::int64_t position = avio_tell(input.pb);
  ContainerHeader header(*input.pb, ContainerHeader::Kind::kMp4);
  std::int64_t end = 0;
  header.for_each(header.file(), [&](const Part& box) {
    const bool is_box = box.is_whole || std::ranges::find(kCutOff, box.name) != kCutOff.end();
    end = is_box ? box.end : end;
    return is_box;
  });
  avio_seek(input.pb, position, SEEK_SET);
  return header.file().end - end;
}

bool ContainerHeader::go_to(const Part& part, std::int64_t offset, std::int64_t length) {
  const std::int64_t position = part.begin + offset;
  return offset >= 0 && position + length <= part.end && avio_seek(&bytes_, position, SEEK_SET) == position;
}

std::int64_t ContainerHeader::number(const Part& part) {
  constexpr std::int64_t kLongest = 8;
  const std::int64_t length = part.end - part.begin;
  if (length > kLongest || !go_to(part, 0, length)) {
    return 0;
  }
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(read_big_endian(bytes_, static_cast<int>(length)), INT_MAX));
}

namespace {

/// The pixel aspect ratio of a picture of `width` x `height` samples that is shown in another size.
AVRational aspect_of(std::int64_t shown_width, std::int64_t shown_height, std::int64_t width,
                     std::int64_t height) {
  AVRational aspect{0, 1};
  if (std::min({shown_width, shown_height, width, height}) > 0) {
    av_reduce(&aspect.num, &aspect.den, shown_width * height, shown_height * width, INT_MAX);
  }
  return aspect;
}

/// RFC 9559, 5.1.4.1.28. The display size belongs to the cropped picture.
ContainerCropping read_video_element(ContainerHeader& header, const Part& video) {
  const auto value = [&](std::uint32_t name) { return header.number(header.find(video, name)); };
  ContainerCropping found{.width = static_cast<int>(value(0xB0)),
                          .height = static_cast<int>(value(0xBA)),
                          .edges = {value(0x54CC), value(0x54BB), value(0x54DD), value(0x54AA)}};
  const std::int64_t unit = value(0x54B2);
  const std::int64_t stereo_mode = value(0x53B8);
  std::int64_t shown_width = value(0x54B0);
  std::int64_t shown_height = value(0x54BA);
  const std::int64_t width = found.width - found.edges.left - found.edges.right;
  const std::int64_t height = found.height - found.edges.top - found.edges.bottom;
  constexpr std::int64_t kPixels = 0;
  constexpr std::int64_t kUnknown = 4;
  if (unit == kPixels) {
    shown_width = shown_width > 0 ? shown_width : width;
    shown_height = shown_height > 0 ? shown_height : height;
  }
  // libav divides the display size between the views of stereoscopic pictures.
  if (unit < kUnknown && stereo_mode == 0) {
    found.sample_aspect_ratio = aspect_of(shown_width, shown_height, width, height);
  }
  return found;
}

/// libav does not report track numbers: `index` counts the tracks that it delivers as video.
std::optional<ContainerCropping> read_matroska(AVIOContext& bytes, int index) {
  constexpr std::uint32_t kSegment = 0x18538067;
  constexpr std::uint32_t kTracks = 0x1654AE6B;
  constexpr std::uint32_t kTrackEntry = 0xAE;
  constexpr std::uint32_t kTrackType = 0x83;
  constexpr std::uint32_t kCodec = 0x86;
  constexpr std::uint32_t kVideo = 0xE0;
  constexpr std::int64_t kTypeVideo = 1;
  ContainerHeader header(bytes, ContainerHeader::Kind::kMatroska);
  std::optional<ContainerCropping> found;
  const Part tracks = header.find(header.find(header.file(), kSegment), kTracks);
  header.for_each(tracks, [&](const Part& track) {
    const bool is_delivered = track.name == kTrackEntry && header.find(track, kCodec).name == kCodec &&
                              header.number(header.find(track, kTrackType)) == kTypeVideo;
    if (is_delivered && index-- == 0) {
      found = read_video_element(header, header.find(track, kVideo));
    }
    return !found;
  });
  return found;
}

/// ISO/IEC 14496-12, 12.1.4: the size of the clean aperture, and the offset of its center from the center
/// of the picture, as fractions. Returns false for values that are not defined.
bool read_clean_aperture(ContainerHeader& header, const Part& box, ContainerCropping& found) {
  constexpr std::int64_t kSize = 32;
  if (!header.go_to(box, 0, kSize)) {
    return false;
  }
  const auto fraction = [&] {
    const auto numerator = static_cast<std::int32_t>(header.read_32());
    return AVRational{numerator, static_cast<std::int32_t>(header.read_32())};
  };
  const AVRational width = fraction();
  const AVRational height = fraction();
  const AVRational x = fraction();
  const AVRational y = fraction();
  if (std::min({width.num, width.den, height.num, height.den, x.den, y.den}) <= 0) {
    return false;
  }
  const auto rounded_inward = [](AVRational edge) {
    return static_cast<std::int64_t>(std::ceil(av_q2d(edge)));
  };
  const auto split = [&](int whole, AVRational part, AVRational offset, std::int64_t& before,
                         std::int64_t& after) {
    const AVRational half = av_mul_q(av_sub_q({whole, 1}, part), {1, 2});
    before = rounded_inward(av_add_q(half, offset));
    after = rounded_inward(av_sub_q(half, offset));
  };
  split(found.width, width, x, found.edges.left, found.edges.right);
  split(found.height, height, y, found.edges.top, found.edges.bottom);
  return true;
}

std::optional<ContainerCropping> read_sample_entry(ContainerHeader& header, Part entry, AVRational shown) {
  constexpr std::int64_t kToSize = 24;
  constexpr std::int64_t kFields = 78;
  ContainerCropping found;
  if (!header.go_to(entry, kToSize, kFields - kToSize)) {
    return std::nullopt;
  }
  found.width = header.read_16();
  found.height = header.read_16();
  entry.begin += kFields;
  const Part aperture = header.find(entry, name_of_box("clap"));
  if (!read_clean_aperture(header, aperture, found)) {
    return std::nullopt;
  }
  const bool has_aspect = header.find(entry, name_of_box("pasp")).name != 0;
  const bool is_scaled = shown.num != found.width || shown.den != found.height;
  if (!has_aspect && is_scaled) {
    found.sample_aspect_ratio =
        aspect_of(shown.num, shown.den, found.width - found.edges.left - found.edges.right,
                  found.height - found.edges.top - found.edges.bottom);
  }
  return found;
}

std::optional<ContainerCropping> read_mp4(AVIOContext& bytes, int track_id) {
  ContainerHeader header(bytes, ContainerHeader::Kind::kMp4);
  std::optional<ContainerCropping> found;
  header.for_each(header.find(header.file(), name_of_box("moov")), [&](const Part& track) {
    if (track.name != name_of_box("trak")) {
      return true;
    }
    const Part fields = header.find(track, name_of_box("tkhd"));
    constexpr std::int64_t kSizeFields = 8;
    const bool is_long = header.go_to(fields, 0, 4) && header.read_32() >> 24 == 1;
    if (!header.go_to(fields, is_long ? 20 : 12, 4) ||
        header.read_32() != static_cast<std::uint32_t>(track_id)) {
      return true;
    }
    header.go_to(fields, fields.end - fields.begin - kSizeFields, kSizeFields);
    const auto shown_width = static_cast<int>(header.read_32() >> 16);
    const auto shown_height = static_cast<int>(header.read_32() >> 16);
    Part part = track;
    for (const std::uint32_t name :
         {name_of_box("mdia"), name_of_box("minf"), name_of_box("stbl"), name_of_box("stsd")}) {
      part = header.find(part, name);
    }
    constexpr std::int64_t kVersionAndCount = 8;
    part.begin += kVersionAndCount;
    header.for_each(part, [&](const Part& entry) {
      found = read_sample_entry(header, entry, {shown_width, shown_height});
      return false;  // libav takes the size of the first entry, too
    });
    return false;
  });
  return found;
}

/// The number of videos before this one.
int index_of_video(const AVFormatContext& input, const AVStream& video) {
  int index = 0;
  for (int i = 0; i < video.index; ++i) {
    const AVStream& stream = *input.streams[i];
    index += stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
                     (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) == 0
                 ? 1
                 : 0;
  }
  return index;
}

}  // namespace

std::optional<ContainerCropping> find_container_cropping(AVFormatContext& input, const AVStream& video) {
  const InputTraits& traits = traits_of(*input.iformat);
  if (input.pb == nullptr || (input.pb->seekable & AVIO_SEEKABLE_NORMAL) == 0 ||
      !(traits.is_matroska || traits.is_mp4)) {
    return std::nullopt;
  }
  const std::int64_t position = avio_tell(input.pb);
  std::optional<ContainerCropping> found = traits.is_matroska
                                               ? read_matroska(*input.pb, index_of_video(input, video))
                                               : read_mp4(*input.pb, video.id);
  avio_seek(input.pb, position, SEEK_SET);
  return found && found->edges == Cropping{} ? std::nullopt : found;
}

namespace {

/// Matroska's length tag of a stream, such as "00:01:02.500000000".
std::optional<std::int64_t> tagged_end(const AVStream& stream) {
  const AVDictionaryEntry* const tag =
      av_dict_get(stream.metadata, "DURATION", nullptr, AV_DICT_IGNORE_SUFFIX);
  int hours = 0;
  int minutes = 0;
  double seconds = 0;
  if (tag == nullptr || std::sscanf(tag->value, "%d:%d:%lf", &hours, &minutes, &seconds) != 3) {
    return std::nullopt;
  }
  return std::llround((hours * 3600.0 + minutes * 60.0 + seconds) * AV_TIME_BASE);
}

/// True if the Segment ends within the file. Does not change the position.
bool has_whole_segment(AVIOContext& bytes) {
  constexpr std::uint32_t kSegment = 0x18538067;
  const std::int64_t position = avio_tell(&bytes);
  ContainerHeader header(bytes, ContainerHeader::Kind::kMatroska);
  const Part segment = header.find(header.file(), kSegment);
  avio_seek(&bytes, position, SEEK_SET);
  return segment.is_whole && segment.end > segment.begin;
}

}  // namespace

std::int64_t time_before_fragments(const AVFormatContext& input, const AVStream& video) {
  const bool is_fragmented = is_mp4(*input.iformat) && video.nb_frames == 0;
  const bool is_counted =
      is_fragmented && video.start_time != AV_NOPTS_VALUE && video.start_time < video.duration;
  return is_counted ? std::max<std::int64_t>(video.start_time, 0) : 0;
}

void DeclaredLength::note(AVFormatContext& input) {
  is_whole_matroska_ = traits_of(*input.iformat).is_matroska && input.pb != nullptr &&
                       (input.pb->seekable & AVIO_SEEKABLE_NORMAL) != 0 && has_whole_segment(*input.pb);
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    stream_durations_.push_back(input.streams[i]->duration);
  }
}

std::optional<DeclaredLength::Length> DeclaredLength::of(const AVFormatContext& input,
                                                         const AVStream& video) const {
  if (is_whole_matroska_) {
    return std::nullopt;  // the duration of its last frame is in its header only
  }
  const auto index = static_cast<std::size_t>(video.index);
  const InputTraits& traits = traits_of(*input.iformat);
  if (!traits.is_matroska && index < stream_durations_.size() && stream_durations_[index] > 0) {
    const std::int64_t duration =
        traits.counts_frames ? std::max(video.duration, video.nb_frames) : video.duration;
    std::int64_t end =
        av_rescale_q(duration - time_before_fragments(input, video), video.time_base, kMicrosecond);
    if (video.start_time != AV_NOPTS_VALUE && input.start_time != AV_NOPTS_VALUE) {
      end += av_rescale_q(video.start_time, video.time_base, kMicrosecond) - input.start_time;
    }
    return Length{.microseconds = end, .of_container = false, .is_exact = traits.exact_length};
  }
  if (input.duration <= 0 || input.duration_estimation_method != AVFMT_DURATION_FROM_STREAM) {
    return std::nullopt;
  }
  // Some programs count from zero, some from the first time; the smaller value is certain.
  const std::int64_t first =
      input.start_time == AV_NOPTS_VALUE ? 0 : std::max<std::int64_t>(input.start_time, 0);
  if (const std::optional<std::int64_t> end = traits.is_matroska ? tagged_end(video) : std::nullopt) {
    return Length{.microseconds = std::min(*end, input.duration) - first};
  }
  return Length{.microseconds = input.duration - first, .of_container = true};
}

}  // namespace limpid::io
