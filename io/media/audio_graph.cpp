// SPDX-License-Identifier: MIT
#include "io/media/audio_graph.h"

extern "C" {
#include <libavutil/audio_fifo.h>
#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
}

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace limpid::io {
namespace {

/// The planes of a frame from sample `first` on.
template <typename Pointer>
std::vector<Pointer> planes_from(const AVFrame& frame, int first) {
  const auto format = static_cast<AVSampleFormat>(frame.format);
  const bool planar = av_sample_fmt_is_planar(format) != 0;
  const int channels = frame.ch_layout.nb_channels;
  const std::ptrdiff_t offset =
      std::ptrdiff_t{first} * av_get_bytes_per_sample(format) * (planar ? 1 : channels);
  std::vector<Pointer> planes(planar ? channels : 1);
  for (std::size_t plane = 0; plane < planes.size(); ++plane) {
    planes[plane] = frame.extended_data[plane] + offset;
  }
  return planes;
}

}  // namespace

CodecHandle open_audio_decoder(const AVStream& stream, const std::string& subject) {
  const AVCodec* const codec = avcodec_find_decoder(stream.codecpar->codec_id);
  if (codec == nullptr) {
    throw Error(subject + ": there is no decoder for it");
  }
  CodecHandle decoder(allocated(avcodec_alloc_context3(codec)));
  check(avcodec_parameters_to_context(decoder.get(), stream.codecpar), subject, "can't set up its decoder");
  decoder->pkt_timebase = stream.time_base;
  decoder->thread_count = 1;
  check(avcodec_open2(decoder.get(), codec, nullptr), subject, "can't open its decoder");
  return decoder;
}

std::uint64_t mask_of(const AVChannelLayout& layout) {
  if (layout.order == AV_CHANNEL_ORDER_NATIVE) {
    return layout.u.mask;
  }
  AVChannelLayout usual{};
  av_channel_layout_default(&usual, layout.nb_channels);
  return usual.order == AV_CHANNEL_ORDER_NATIVE ? usual.u.mask : 0;
}

AVChannelLayout layout_of(std::uint64_t mask) {
  AVChannelLayout layout{};
  av_channel_layout_from_mask(&layout, mask);
  return layout;
}

void AudioGraph::ResamplerDeleter::operator()(SwrContext* context) const { swr_free(&context); }
void AudioGraph::FifoDeleter::operator()(AVAudioFifo* fifo) const { av_audio_fifo_free(fifo); }

AudioGraph::AudioGraph(const Format& to, std::optional<std::int64_t> start, std::string subject)
    : to_(to),
      subject_(std::move(subject)),
      frame_(make_frame()),
      waiting_(allocated(av_audio_fifo_alloc(to.samples, layout_of(to.channels).nb_channels, 1024))),
      start_(start) {}

bool AudioGraph::accepts(const AVFrame& frame) {
  return frame.nb_samples > 0 && frame.sample_rate > 0 && mask_of(frame.ch_layout) != 0;
}

int AudioGraph::waiting() const { return av_audio_fifo_size(waiting_.get()); }

void AudioGraph::send(AVFrame& frame, AVRational time_base) {
  av_frame_unref(frame_.get());
  av_frame_move_ref(frame_.get(), &frame);
  converted_ = 0;
  if (frame_->sample_rate != sample_rate_ || frame_->format != sample_format_ ||
      mask_of(frame_->ch_layout) != channels_) {
    drain_resampler();
  }
  const std::int64_t time = frame_->best_effort_timestamp;
  place(time == AV_NOPTS_VALUE ? std::nullopt : std::optional(av_rescale_q(time, time_base, {1, to_.rate})));
  if (resampler_ == nullptr) {
    set_up_resampler();
  }
}

FrameHandle AudioGraph::receive(int count) {
  while (waiting() < count && step(count)) {
  }
  const int size = waiting();
  if (size == 0 || (size < count && !flushed_)) {
    return nullptr;
  }
  FrameHandle samples = make_samples(std::min(size, count));
  av_audio_fifo_read(waiting_.get(), reinterpret_cast<void**>(samples->extended_data), samples->nb_samples);
  samples->pts = position_.value_or(0) - size;
  return samples;
}

/// Appends to the waiting samples, of which `count` are wanted. Returns false if there is nothing to append.
bool AudioGraph::step(int count) {
  if (silence_ > 0) {
    append_silence(count - waiting());
  } else if (converted_ < frame_->nb_samples) {
    convert_some();
  } else if (flushed_ && resampler_ != nullptr) {
    drain_resampler();
  } else {
    return false;
  }
  return true;
}

/// Chooses what to insert between the samples so far and the frame that begins at a time: nothing, silence,
/// or a part of the frame cut off.
void AudioGraph::place(std::optional<std::int64_t> begin) {
  if (!position_) {
    position_ = start_ ? start_ : begin.value_or(0);
    set_apart(begin.value_or(*position_) - *position_);
  } else if (begin) {
    // Containers round times, and those of live sources jitter: smaller offsets are not noticeable. A gap of
    // days is a damaged time.
    constexpr double kTolerance = 0.02;
    constexpr double kGreatestGap = 24.0 * 3600;
    const std::int64_t inside = resampler_ == nullptr ? 0 : swr_get_delay(resampler_.get(), to_.rate);
    const std::int64_t gap = *begin - (*position_ - surplus_ + inside);
    const double seconds = std::abs(static_cast<double>(gap) / to_.rate);
    if (seconds > kTolerance && seconds < kGreatestGap) {
      drain_resampler();
      set_apart(*begin - *position_);
    }
  }
}

/// Sets the distance in samples between the waiting samples and those converted next.
void AudioGraph::set_apart(std::int64_t gap) {
  silence_ = std::max<std::int64_t>(gap, 0);
  surplus_ = std::max<std::int64_t>(-gap, 0);
}

void AudioGraph::set_up_resampler() {
  channels_ = mask_of(frame_->ch_layout);
  sample_format_ = frame_->format;
  sample_rate_ = frame_->sample_rate;
  AVChannelLayout from = layout_of(channels_);
  AVChannelLayout to = layout_of(to_.channels);
  SwrContext* context = nullptr;
  const int code = swr_alloc_set_opts2(&context, &to, to_.samples, to_.rate, &from,
                                       static_cast<AVSampleFormat>(sample_format_), sample_rate_, 0, nullptr);
  resampler_.reset(context);
  check(code, subject_, "can't convert its samples");
  check(swr_init(context), subject_, "can't convert its samples");
}

void AudioGraph::drain_resampler() {
  if (resampler_ != nullptr) {
    convert(nullptr, 0);
    resampler_.reset();
  }
}

FrameHandle AudioGraph::make_samples(int count) const {
  FrameHandle samples = make_frame();
  samples->nb_samples = count;
  samples->format = to_.samples;
  samples->sample_rate = to_.rate;
  samples->ch_layout = layout_of(to_.channels);  // masks, which own no memory
  check(av_frame_get_buffer(samples.get(), 0), subject_, "can't convert it");
  return samples;
}

/// Converts a quarter of a second: packets of audio with few samples a second hold hours.
void AudioGraph::convert_some() {
  const int count = std::clamp(sample_rate_ / 4, 1, frame_->nb_samples - converted_);
  auto planes = planes_from<const std::uint8_t*>(*frame_, converted_);
  converted_ += count;
  convert(planes.data(), count);
}

/// Converts samples, or with null those that remain in the resampler.
void AudioGraph::convert(const std::uint8_t** input, int count) {
  // libav's own bound counts what its filter holds, too: half a minute at one sample a second.
  constexpr int kRest = 64;
  const int room = input == nullptr ? swr_get_out_samples(resampler_.get(), 0)
                                    : static_cast<int>(std::int64_t{count} * to_.rate / sample_rate_) + kRest;
  if (room <= 0) {
    return;
  }
  const FrameHandle samples = make_samples(room);
  samples->nb_samples = check(swr_convert(resampler_.get(), samples->extended_data, room, input, count),
                              subject_, "can't convert it");
  append(*samples);
}

void AudioGraph::append_silence(int most) {
  const int count = static_cast<int>(std::min<std::int64_t>(silence_, most));
  const FrameHandle samples = make_samples(count);
  av_samples_set_silence(samples->extended_data, 0, count, samples->ch_layout.nb_channels, to_.samples);
  silence_ -= count;
  append(*samples);
}

void AudioGraph::append(AVFrame& samples) {
  const int left_out = static_cast<int>(std::min<std::int64_t>(surplus_, samples.nb_samples));
  const int count = samples.nb_samples - left_out;
  surplus_ -= left_out;
  if (count > 0) {
    auto planes = planes_from<void*>(samples, left_out);
    check(av_audio_fifo_write(waiting_.get(), planes.data(), count), subject_, "can't keep its samples");
    *position_ += count;
  }
}

}  // namespace limpid::io
