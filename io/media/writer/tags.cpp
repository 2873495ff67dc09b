// SPDX-License-Identifier: MIT
#include "io/media/writer/tags.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/timecode.h>
}

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "io/media/container.h"
#include "io/media/memory_file.h"
#include "io/media/writer/streams.h"

namespace limpid::io {
namespace {

/// Tags that mkvmerge and libav write about a stream's packets, some with a language suffix ("BPS-eng").
bool is_statistic(std::string_view key) {
  constexpr std::array<std::string_view, 4> kPrefixes{"NUMBER_OF_", "DURATION-", "BPS-", "_STATISTICS_"};
  return key == "DURATION" || key == "BPS" ||
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return key.starts_with(prefix); });
}

/// Tags that describe the source's container or its encoded video, not its content.
bool is_stale(std::string_view key) {
  constexpr std::array<std::string_view, 7> kNames{
      "major_brand", "minor_version", "compatible_brands", "encoder", "rotate", "alpha_mode", "ALPHA_MODE"};
  return is_statistic(key) || std::ranges::find(kNames, key) != kNames.end();
}

/// Tags that are lost in a file in memory.
std::vector<std::string> lost_tags(const AVOutputFormat& container, const AVDictionary* tags) {
  const MuxerHandle muxer = make_muxer(container, "memory");
  AVStream& stream = add_stream(*muxer);
  stream.time_base = {1, 25};
  AVCodecParameters& pictures = *stream.codecpar;
  pictures.codec_type = AVMEDIA_TYPE_VIDEO;
  pictures.codec_id = AV_CODEC_ID_MPEG4;
  pictures.width = pictures.height = 16;
  copy_tags(&muxer->metadata, tags);
  MemoryOutput memory(*muxer);
  const PacketHandle packet = make_packet();
  constexpr int kSize = 8;
  check(av_new_packet(packet.get(), kSize), "memory", "can't make a packet");
  std::fill_n(packet->data, kSize, std::uint8_t{0});
  packet->pts = packet->dts = 0;
  packet->flags = AV_PKT_FLAG_KEY;
  if (avformat_write_header(muxer.get(), nullptr) < 0 || av_write_frame(muxer.get(), packet.get()) < 0 ||
      av_write_trailer(muxer.get()) < 0) {
    return {};
  }
  const MemoryInput input(memory.bytes(), container.name);
  std::vector<std::string> lost;
  const AVDictionaryEntry* tag = nullptr;
  while (input.get() != nullptr && (tag = av_dict_get(tags, "", tag, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (av_dict_get(input.get()->metadata, tag->key, nullptr, 0) == nullptr) {
      lost.emplace_back(tag->key);
    }
  }
  return lost;
}

/// For memory from libav's own allocator, which libav frees together with the muxer.
template <typename T>
T* required(void* memory) {
  if (memory == nullptr) {
    throw Error("out of memory");
  }
  return static_cast<T*>(memory);
}

struct Span {
  std::int64_t start;
  std::int64_t end;
};

/// The chapter's position in the file, in its own time base; nothing if it is not in the file.
std::optional<Span> written_part(const AVChapter& chapter, const Source& source, std::int64_t frame_limit) {
  const std::int64_t offset = av_rescale_q(source.time_offset, kMicrosecond, chapter.time_base);
  std::int64_t start = chapter.start + offset;
  std::int64_t end = chapter.end + offset;
  if (!source.range.clip(start, end, chapter.time_base) &&
      (source.range.has_begin() || source.range.has_end())) {
    return std::nullopt;
  }
  if (frame_limit > 0 && source.average_rate.num > 0) {
    const std::int64_t begin = source.range.has_begin() || source.first.pts == AV_NOPTS_VALUE
                                   ? 0
                                   : av_rescale_q(source.first.pts, source.time_base, kMicrosecond);
    end = std::min(end, av_rescale_q(begin, kMicrosecond, chapter.time_base) +
                            av_rescale_q(frame_limit, av_inv_q(source.average_rate), chapter.time_base));
    if (start >= end) {
      return std::nullopt;
    }
  }
  start = std::max<std::int64_t>(start, 0);
  return Span{start, std::max(end, start)};
}

}  // namespace

void set_tag(AVDictionary** tags, const std::string& key, const std::string& value, int flags) {
  check(av_dict_set(tags, key.c_str(), value.c_str(), flags), key, "can't set the tag");
}

void copy_tags(AVDictionary** to, const AVDictionary* from) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    set_tag(to, entry->key, entry->value);
  }
}

void copy_lasting_tags(AVDictionary** to, const AVDictionary* from) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (!is_stale(entry->key)) {
      set_tag(to, entry->key, entry->value);
    }
  }
}

void drop_statistics(AVDictionary** tags) {
  std::vector<std::string> keys;
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(*tags, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (is_statistic(entry->key)) {
      keys.emplace_back(entry->key);
    }
  }
  for (const std::string& key : keys) {
    check(av_dict_set(tags, key.c_str(), nullptr, 0), key, "can't remove the tag");
  }
}

void advance_timecode(AVDictionary** tags, const Source& source) {
  const AVDictionaryEntry* const entry = av_dict_get(*tags, "timecode", nullptr, 0);
  AVTimecode timecode{};
  if (entry == nullptr || source.skipped_frames == 0 ||
      av_timecode_init_from_string(&timecode, source.average_rate, entry->value, nullptr) < 0) {
    return;
  }
  std::array<char, AV_TIMECODE_STR_SIZE> text{};
  av_timecode_make_string(&timecode, text.data(), source.skipped_frames);
  set_tag(tags, entry->key, text.data());
}

std::string keep_tags(AVFormatContext& muxer,
                      const std::vector<std::pair<std::string, std::string>>& options) {
  const AVOutputFormat& container = *muxer.oformat;
  const bool is_asked_for = std::ranges::any_of(options, [](const auto& option) {
    return option.first == "movflags" && option.second.find("use_metadata_tags") != std::string::npos;
  });
  if (!traits_of(container).display_matrix || muxer.metadata == nullptr || is_asked_for) {
    return "";
  }
  std::vector<std::string> lost = lost_tags(container, muxer.metadata);
  if (std::ranges::any_of(lost, [](const std::string& tag) { return tag.starts_with("com."); })) {
    av_opt_set(&muxer, "movflags", "+use_metadata_tags", AV_OPT_SEARCH_CHILDREN);
    return "";
  }
  // Notes about the source's file are not losses: libav's about its muxer, and those of MXF. A timecode has
  // its own track.
  constexpr const char* kNotes =
      "encoder,timecode,operational_pattern_ul,uid,generation_uid,company_name,product_name,product_uid,"
      "product_version,product_version_num,application_platform,toolkit_version_num,modification_date,"
      "material_package_umid,material_package_name";
  std::erase_if(lost, [](const std::string& tag) { return av_match_name(tag.c_str(), kNotes) != 0; });
  std::string names;
  for (const std::string& tag : lost) {
    names += (names.empty() ? "" : ", ") + tag;
  }
  return names.empty() ? ""
                       : std::string(container.name) + " can't hold the source's tags: " + names +
                             "; -e movflags=use_metadata_tags keeps all tags, but fewer players read them";
}

void copy_chapters(AVFormatContext& muxer, const Source& source, std::int64_t frame_limit) {
  const AVFormatContext& input = source.input;
  if (input.nb_chapters == 0) {
    return;
  }
  muxer.chapters = required<AVChapter*>(av_calloc(input.nb_chapters, sizeof(AVChapter*)));
  for (unsigned i = 0; i < input.nb_chapters; ++i) {
    const AVChapter& from = *input.chapters[i];
    const std::optional<Span> part = written_part(from, source, frame_limit);
    if (!part) {
      continue;
    }
    AVChapter& to = *required<AVChapter>(av_mallocz(sizeof(AVChapter)));
    muxer.chapters[muxer.nb_chapters++] = &to;
    to.id = from.id;
    to.time_base = from.time_base;
    to.start = part->start;
    to.end = part->end;
    copy_tags(&to.metadata, from.metadata);
  }
}

}  // namespace limpid::io
