// SPDX-License-Identifier: MIT
#include "io/media/reader.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/pipe_input.h"
#include "io/media/reader/state.h"
#include "io/media/source.h"
#include "io/media/writer.h"

namespace limpid::io {

std::optional<double> presentation_time(const Frame& frame) {
  const auto* const properties = frame.attachment.get<AVFrame>();
  if (properties == nullptr || properties->pts == AV_NOPTS_VALUE) {
    return std::nullopt;
  }
  return static_cast<double>(properties->pts) * av_q2d(properties->time_base);
}

Reader::Reader(std::string url, const ReaderOptions& options) {
  url = local_name(url);
  if (options.memory.is_host() || !options.before.empty()) {
    ReaderOptions software = options;
    software.memory = kHostMemory;
    state_ = std::make_unique<State>(std::move(url), software);
    if (!options.memory.is_host()) {
      state_->set_why_not_on_cuda("--before filters frames in the host's memory");
    }
    return;
  }
  // If the GPU rejects the stream, it is opened again for software decoding, if possible, which then has all
  // threads.
  const bool can_begin_again = !PipeInput::is_pipe(url);
  std::string why_not;
  try {
    state_ = std::make_unique<State>(url, options);
    why_not = video().why_not_on_cuda;
    const bool is_deep_enough = video().format.bit_depth >= options.least_depth &&
                                (video().format.bit_depth > 8 || options.fraction_bits == 0);
    if ((video().decoded_on_cuda && is_deep_enough) || !state_->decoder().uses_gpu() || !can_begin_again) {
      return;
    }
    why_not = video().decoded_on_cuda ? "the filter needs more bits than the GPU's frames have" : why_not;
  } catch (const Error& error) {
    if (!can_begin_again) {
      throw;
    }
    why_not = "the GPU fails: " + std::string(error.what());
  }
  ReaderOptions software = options;
  software.memory = kHostMemory;
  state_ = std::make_unique<State>(std::move(url), software);
  state_->set_why_not_on_cuda(std::move(why_not));
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const std::string& Reader::url() const { return state_->url(); }
const VideoProperties& Reader::video() const { return state_->video(); }
Diagnostics Reader::diagnostics() const { return state_->diagnostics(); }
void Reader::end_sound() { state_->end_sound(); }
std::string Reader::sound_failure() const { return state_->sound_failure(); }
Reader::Item Reader::read() { return state_->read(); }
void Reader::seek(double seconds, double before, const std::function<bool()>& given_up,
                  const std::function<void(Frame)>& glimpse) {
  state_->seek(seconds, before, given_up, glimpse);
}
bool Reader::can_seek() const { return state_->can_seek(); }
int Reader::decoder_threads() const { return state_->decoder().threads(); }
std::int64_t Reader::decoded_packets() const { return state_->decoder().packets(); }
std::int64_t Reader::decoded_frames() const { return state_->decoder().frames(); }
std::int64_t Reader::copies() const { return state_->copies(); }
int Reader::codec_of(const Packet& packet) const {
  return source().input.streams[packet.stream()]->codecpar->codec_id;
}
Source Reader::source() const { return state_->source(); }

std::vector<Chapter> Reader::chapters() const {
  const Source source = this->source();
  std::vector<Chapter> chapters;
  for (unsigned i = 0; i < source.input.nb_chapters; ++i) {
    const AVChapter& each = *source.input.chapters[i];
    const AVDictionaryEntry* const title = av_dict_get(each.metadata, "title", nullptr, 0);
    const double begin = static_cast<double>(each.start) * av_q2d(each.time_base) +
                         static_cast<double>(source.time_offset) / AV_TIME_BASE;
    chapters.push_back({std::max(begin, 0.0), title != nullptr ? title->value : ""});
  }
  std::ranges::sort(chapters, {}, &Chapter::begin);
  return chapters;
}

}  // namespace limpid::io
