// SPDX-License-Identifier: MIT
#include "io/media/writer/segments.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/media/container.h"
#include "io/media/encoder.h"
#include "io/media/encoder_traits.h"

namespace limpid::io {
namespace {

/// True for options that make an encoder depend on all frames before, or on another pass.
bool looks_back(const std::pair<std::string, std::string>& option) {
  constexpr std::array<std::string_view, 9> kKeys{
      "b", "maxrate", "minrate", "bufsize", "pass", "nal-hrd", "stats", "rc_init_occupancy", "passlogfile"};
  constexpr std::array<std::string_view, 7> kWords{"pass", "bitrate", "vbv", "hrd", "stats", "abr", "cbr"};
  const std::string& key = option.first;
  const std::string& value = option.second;
  const bool is_list = key.ends_with("-params") || key.ends_with("opts") || key == "flags";
  return std::ranges::find(kKeys, key) != kKeys.end() ||
         (is_list && std::ranges::any_of(kWords, [&](std::string_view word) {
            return value.find(word) != std::string::npos;
          }));
}

}  // namespace

int reordering_of(std::span<const std::int64_t> presented, std::span<const std::int64_t> decoded) {
  std::vector<std::int64_t> times(presented.begin(), presented.end());
  std::ranges::sort(times);
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < presented.size(); ++i) {
    const auto rank = std::ranges::lower_bound(times, presented[i]) - times.begin();
    most = std::max(most, static_cast<std::ptrdiff_t>(i) - rank);
    if (decoded[i] == times.front()) {
      most = std::max(most, static_cast<std::ptrdiff_t>(i));
    }
  }
  return static_cast<int>(most);
}

void SegmentWriter::write_frame(PacketHandle frame) {
  presented_.push_back(frame->pts);
  decoded_.push_back(frame->dts);
  file_.write(*frame);
  bytes_ = file_.bytes();
}

void SegmentWriter::finish() {
  file_.finish();
  bytes_ = file_.bytes();
}

bool joins_segments(const AVCodecContext& encoder, const AVOutputFormat& container,
                    const WriterOptions& options, AVRational source_time_base) {
  const AVCodecDescriptor* const codec = avcodec_descriptor_get(encoder.codec_id);
  const bool is_known = traits_of(*encoder.codec).joins_segments ||
                        (codec != nullptr && (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0);
  const bool has_rate_control =
      !options.bitrate.empty() || std::ranges::any_of(options.encoder_options, looks_back);
  return is_known && !has_rate_control && av_cmp_q(encoder.time_base, source_time_base) == 0 &&
         !traits_of(container).separate_files && !traits_of(container).is_webp;
}

void SegmentJoiner::begin(const std::string& path, int reordering) {
  segment_.emplace(path, encoder_.width, encoder_.height);
  if (segment_->parameters() != parameters_text(encoder_) ||
      segment_->extradata() != extradata_of(encoder_)) {
    throw Error(url_ + ": can't join " + path + ", which was encoded with other parameters");
  }
  const std::vector<PacketFileReader::Entry> entries = segment_->entries();
  std::vector<std::int64_t> times;
  std::ranges::transform(entries, std::back_inserter(times), &PacketFileReader::Entry::pts);
  std::ranges::sort(times);
  const bool is_closed = !entries.empty() && entries.front().key && entries.front().pts == times.front() &&
                         (last_ == AV_NOPTS_VALUE || times.front() > last_);
  if (!is_closed) {
    throw Error(url_ + ": can't join " + path + ", which doesn't begin with a closed group of pictures");
  }
  last_ = times.back();
  reordering_ = static_cast<std::size_t>(reordering);
  if (frames_ == 0) {
    const AVRational rate = encoder_.framerate;
    const std::int64_t frame =
        std::max<std::int64_t>(1, rate.num > 0 ? av_rescale_q(1, av_inv_q(rate), encoder_.time_base) : 1);
    lead_ = reordering_ < times.size() ? times[reordering_] - times.front()
                                       : static_cast<std::int64_t>(reordering_) * frame;
  }
  times_.insert(times_.end(), times.begin(), times.end());
}

/// Like encoders, decodes frames at the intervals of presentation, the first ones slightly earlier.
std::int64_t SegmentJoiner::decoding_time(std::size_t frame) const {
  return frame < reordering_ ? times_.at(frame - first_) - lead_ : times_.at(frame - reordering_ - first_);
}

PacketHandle SegmentJoiner::read() {
  PacketHandle packet = segment_->read();
  if (packet == nullptr) {
    segment_.reset();
    return nullptr;
  }
  if (frames_ - first_ >= times_.size()) {
    throw Error(url_ + ": a segment's file has changed while it was read");
  }
  packet->dts = decoding_time(frames_++);
  if (frames_ > reordering_) {
    times_.pop_front();
    ++first_;
  }
  return packet;
}

}  // namespace limpid::io
