// SPDX-License-Identifier: MIT
#include "io/screen/audio_output.h"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/channel_layout.h>
#include <libavutil/mem.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
}

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/thread.h"
#include "io/media/filter_graph.h"
#include "io/media/libav.h"
#include "io/media/source.h"
#include "io/screen/sdl.h"

namespace limpid::io {
namespace {

constexpr int kStereo = 2;

}  // namespace

struct Tempo::Graph {
  FilterGraphHandle graph{avfilter_graph_alloc()};
  AVFilterContext* source = nullptr;
  AVFilterContext* sink = nullptr;
  std::int64_t next = 0;  ///< time of the next sample

  Graph(int rate, double speed) {
    const std::string samples = std::to_string(rate);
    const std::string input =
        "sample_rate=" + samples + ":sample_fmt=flt:channel_layout=stereo:time_base=1/" + samples;
    source = add("abuffer", input);
    AVFilterContext* const tempo = add("atempo", "tempo=" + std::to_string(speed));
    sink = add("abuffersink", "");
    link(*source, *tempo);
    link(*tempo, *sink);
    check(avfilter_graph_config(graph.get(), nullptr), "sound", "can't change its speed");
  }
  AVFilterContext* add(const char* name, const std::string& options) {
    AVFilterContext* context = nullptr;
    const AVFilter* const filter = avfilter_get_by_name(name);
    const int code = filter == nullptr ? AVERROR_FILTER_NOT_FOUND
                                       : avfilter_graph_create_filter(&context, filter, name, options.c_str(),
                                                                      nullptr, graph.get());
    check(code, "sound", "can't change its speed");
    return context;
  }
  static void link(AVFilterContext& from, AVFilterContext& to) {
    check(avfilter_link(&from, 0, &to, 0), "sound", "can't change its speed");
  }
};

Tempo::Tempo(int rate) : rate_(rate) {}
Tempo::~Tempo() = default;

void Tempo::set_speed(double speed) {
  speed_ = std::clamp(speed, kSlowest, kFastest);
  reset();
}

void Tempo::reset() {
  graph_ = speed_ != 1 ? std::make_unique<Graph>(rate_, speed_) : nullptr;
  taken_ = returned_ = 0;
}

double Tempo::held() const { return std::max(taken_ - returned_, 0.0); }

std::vector<float> Tempo::filter(const float* samples, std::size_t count) {
  if (graph_ == nullptr) {
    return {samples, samples + count};
  }
  const FrameHandle frame = make_frame();
  frame->format = AV_SAMPLE_FMT_FLT;
  frame->sample_rate = rate_;
  frame->nb_samples = static_cast<int>(count / kStereo);
  av_channel_layout_default(&frame->ch_layout, kStereo);
  frame->pts = graph_->next;
  graph_->next += frame->nb_samples;
  taken_ += static_cast<double>(frame->nb_samples) / rate_;
  std::vector<float> result;
  if (frame->nb_samples == 0) {
    return result;
  }
  check(av_frame_get_buffer(frame.get(), 0), "sound", "can't change its speed");
  std::copy_n(samples, count, reinterpret_cast<float*>(frame->data[0]));
  check(av_buffersrc_add_frame(graph_->source, frame.get()), "sound", "can't change its speed");
  for (const FrameHandle made = make_frame(); av_buffersink_get_frame(graph_->sink, made.get()) >= 0;
       av_frame_unref(made.get())) {
    const auto* const first = reinterpret_cast<const float*>(made->data[0]);
    result.insert(result.end(), first, first + std::ptrdiff_t{made->nb_samples} * kStereo);
    returned_ += speed_ * made->nb_samples / rate_;
  }
  return result;
}

namespace {

constexpr int kRate = 48000;
constexpr int kChannels = 2;
constexpr int kBytesPerSecond = kRate * kChannels * static_cast<int>(sizeof(float));
// Sound decoded ahead, in seconds; and how often to look whether there is still so much.
constexpr double kAhead = 0.3;
constexpr std::chrono::milliseconds kInterval{50};
// Converted at a time: packets of sound with few samples a second hold hours.
constexpr double kPiece = 0.25;
// Seconds by which sound may be off its time before silence is put in or samples are left out: less than is
// heard against the picture, more than containers' rounding of times.
constexpr double kTolerance = 0.03;
// Greater differences between successive times, in seconds, are jumps of the source's clock, as in Reader.
constexpr double kGreatestGap = 10;
constexpr double kGreatestStepBack = 0.1;
constexpr Uint16 kDeviceSamples = 1024;

/// Converts the decoder's samples to the format of the device. The decoder's format may change at any time.
class Resampler : NotCopyable {
 public:
  ~Resampler() {
    swr_free(&context_);
    av_channel_layout_uninit(&layout_);
  }

  /// Converts samples from number `first` on to interleaved samples: those of `most_seconds`, but at least
  /// one. Returns the number of input samples used. Throws Error if the conversion is not possible.
  int convert(const AVFrame& frame, int first, double most_seconds, std::vector<float>& samples) {
    if (context_ == nullptr || frame.sample_rate != rate_ || frame.format != format_ ||
        av_channel_layout_compare(&frame.ch_layout, &layout_) != 0) {
      set_up(frame);
    }
    const int count = std::clamp(static_cast<int>(most_seconds * rate_), 1, frame.nb_samples - first);
    const auto format = static_cast<AVSampleFormat>(format_);
    const bool planar = av_sample_fmt_is_planar(format) != 0;
    const int planes = planar ? frame.ch_layout.nb_channels : 1;
    const std::ptrdiff_t offset =
        std::ptrdiff_t{first} * av_get_bytes_per_sample(format) * (planar ? 1 : frame.ch_layout.nb_channels);
    std::vector<const std::uint8_t*> in;
    in.reserve(static_cast<std::size_t>(planes));
    for (int plane = 0; plane < planes; ++plane) {
      in.push_back(frame.extended_data[plane] + offset);
    }
    // libav's own bound counts what its filter holds, too: half a minute at one sample a second.
    constexpr int kRest = 64;
    const int room = static_cast<int>(std::int64_t{count} * kRate / rate_) + kRest;
    samples.resize(static_cast<std::size_t>(room) * kChannels);
    auto* out = reinterpret_cast<std::uint8_t*>(samples.data());
    const int made = check(swr_convert(context_, &out, room, in.data(), count), "sound", "can't convert it");
    samples.resize(static_cast<std::size_t>(made) * kChannels);
    return count;
  }
  /// Seconds of audio in the buffers.
  double delay() const {
    return context_ == nullptr ? 0 : static_cast<double>(swr_get_delay(context_, kRate)) / kRate;
  }
  void forget() { swr_free(&context_); }

 private:
  void set_up(const AVFrame& frame) {
    // The filter that takes a rate down to the device's grows with it. DSD has the greatest, 2.8 MHz.
    constexpr int kGreatestRate = 4'000'000;
    if (frame.sample_rate < 1 || frame.sample_rate > kGreatestRate) {
      throw Error(std::to_string(frame.sample_rate) + " samples a second can't be played");
    }
    rate_ = frame.sample_rate;
    format_ = frame.format;
    check(av_channel_layout_copy(&layout_, &frame.ch_layout), "sound", "can't convert it");
    AVChannelLayout from = layout_;
    if (from.order == AV_CHANNEL_ORDER_UNSPEC) {
      av_channel_layout_default(&from, from.nb_channels);
    }
    AVChannelLayout stereo = AV_CHANNEL_LAYOUT_STEREO;
    swr_free(&context_);
    check(swr_alloc_set_opts2(&context_, &stereo, AV_SAMPLE_FMT_FLT, kRate, &from,
                              static_cast<AVSampleFormat>(format_), rate_, 0, nullptr),
          "sound", "can't convert it");
    check(swr_init(context_), "sound", "can't convert it");
  }

  SwrContext* context_ = nullptr;
  AVChannelLayout layout_{};
  int format_ = AV_SAMPLE_FMT_NONE;
  int rate_ = 0;
};

/// An open audio device that plays what is queued.
class Device : NotCopyable {
 public:
  Device() : audio_(SDL_INIT_AUDIO, "no audio device") {
    SDL_AudioSpec wanted{};
    wanted.freq = kRate;
    wanted.format = AUDIO_F32SYS;
    wanted.channels = kChannels;
    wanted.samples = kDeviceSamples;
    id_ = SDL_OpenAudioDevice(nullptr, 0, &wanted, nullptr, 0);
    sdl_check(id_ != 0, "no audio device");
  }
  ~Device() { SDL_CloseAudioDevice(id_); }

  SDL_AudioDeviceID id() const { return id_; }

 private:
  SdlSubsystem audio_;
  SDL_AudioDeviceID id_ = 0;
};

}  // namespace

struct AudioOutput::State {
  // `input` asks these two until it is closed.
  std::atomic<bool> stopped = false;
  std::function<bool()> interrupted;  ///< may be empty

  InputHandle input;
  AVStream* stream = nullptr;
  CodecHandle decoder;
  double source_offset = 0;  ///< seconds to add to the stream's times, at its beginning
  Device device;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool playing = false;
  std::optional<double> target;  ///< of a seek
  float volume = 1;
  double speed = 1;
  std::optional<double> queued_until;  ///< time of the end of what is queued
  std::exception_ptr failure;          ///< why there is no more sound
  Tempo tempo{kRate};
  std::jthread thread;

  bool is_over() const { return stopped || (interrupted && interrupted()); }
  void run();
  void fail(const std::exception_ptr& why);
  /// Seconds of the device.
  double queued() const { return static_cast<double>(SDL_GetQueuedAudioSize(device.id())) / kBytesPerSecond; }

 private:
  struct Piece {
    double begin = 0;
    std::vector<float> samples;

    double length() const { return static_cast<double>(samples.size()) / kChannels / kRate; }
    double end() const { return begin + length(); }
  };

  void go_to(double seconds);
  bool decode_some();
  void begin_frame();
  void convert_some();
  void take_out_clock_jump(double begin);
  void queue_some();

  // Used by the thread only.
  Resampler resampler_;
  double offset_ = 0;                 ///< source_offset, less the jumps of the source's clock
  double from_ = 0;                   ///< where what is heard begins
  std::optional<double> next_;        ///< when what is decoded next should begin
  FrameHandle frame_ = make_frame();  ///< the decoder's last
  int converted_ = 0;                 ///< samples of it
  double frame_begin_ = 0;
  std::optional<Piece> piece_;  ///< to be queued
  bool flushed_ = false;
  bool ended_ = false;
};

void AudioOutput::State::run() {
  offset_ = source_offset;
  std::unique_lock lock(mutex);
  while (!stopped) {
    if (target) {
      const double seconds = *std::exchange(target, std::nullopt);
      lock.unlock();
      go_to(seconds);
      lock.lock();
    } else if ((ended_ && !piece_) || queued() >= kAhead) {
      changed.wait_for(lock, kInterval);
    } else if (piece_) {
      queue_some();
    } else {
      lock.unlock();
      ended_ = !decode_some();
      lock.lock();
    }
  }
}

void AudioOutput::State::fail(const std::exception_ptr& why) {
  const std::scoped_lock lock(mutex);
  failure = why;
  SDL_ClearQueuedAudio(device.id());
  queued_until.reset();
}

void AudioOutput::State::go_to(double seconds) {
  const std::int64_t time = std::llround((seconds - source_offset) * AV_TIME_BASE);
  avformat_seek_file(input.get(), -1, INT64_MIN, time, time, 0);
  avcodec_flush_buffers(decoder.get());
  resampler_.forget();
  offset_ = source_offset;
  from_ = seconds;
  next_.reset();
  av_frame_unref(frame_.get());
  converted_ = 0;
  piece_.reset();
  flushed_ = false;
  ended_ = false;
  const std::scoped_lock lock(mutex);
  tempo.set_speed(speed);
  SDL_ClearQueuedAudio(device.id());
  queued_until.reset();
}

/// Makes one step towards the next piece. Returns false at the end, or if the sound fails.
bool AudioOutput::State::decode_some() {
  if (converted_ < frame_->nb_samples) {
    convert_some();
    return true;
  }
  if (avcodec_receive_frame(decoder.get(), frame_.get()) >= 0) {
    begin_frame();
    return true;
  }
  if (flushed_) {
    return false;
  }
  const PacketHandle packet = make_packet();
  if (av_read_frame(input.get(), packet.get()) < 0) {
    flushed_ = true;
    avcodec_send_packet(decoder.get(), nullptr);
  } else if (packet->stream_index == stream->index) {
    avcodec_send_packet(decoder.get(), packet.get());  // damaged packets are passed over
  }
  return true;
}

void AudioOutput::State::begin_frame() {
  if (frame_->best_effort_timestamp == AV_NOPTS_VALUE || frame_->sample_rate < 1) {
    converted_ = frame_->nb_samples;
    return;
  }
  converted_ = 0;
  const double time = static_cast<double>(frame_->best_effort_timestamp) * av_q2d(stream->time_base);
  take_out_clock_jump(time);
  frame_begin_ = time + offset_;
  next_ = frame_begin_ + static_cast<double>(frame_->nb_samples) / frame_->sample_rate;
}

void AudioOutput::State::convert_some() {
  Piece piece;
  piece.begin = frame_begin_ + static_cast<double>(converted_) / frame_->sample_rate - resampler_.delay();
  converted_ += resampler_.convert(*frame_, converted_, kPiece, piece.samples);
  piece_ = std::move(piece);
}

/// Corrects the times after a jump of the source's clock, as Reader does for video.
void AudioOutput::State::take_out_clock_jump(double begin) {
  if ((input->iformat->flags & AVFMT_TS_DISCONT) == 0 || !next_) {
    return;
  }
  const double gap = begin + offset_ - *next_;
  if (gap > kGreatestGap || gap < -kGreatestStepBack) {
    offset_ -= gap;
  }
}

/// With the mutex held: queues what has been decoded, at its time: behind silence if it begins later than
/// what is queued ends, without its first samples if it begins earlier.
void AudioOutput::State::queue_some() {
  const Piece& piece = *piece_;
  const double expected = queued_until.value_or(from_);
  const double tolerance = queued_until ? kTolerance : 0;
  const double gap = piece.begin - expected;
  const auto samples_in = [](double seconds) {
    return static_cast<std::size_t>(std::llround(seconds * kRate)) * kChannels;
  };
  const auto queue = [this](const float* samples, std::size_t count) {
    std::vector<float> louder = tempo.filter(samples, count);
    std::ranges::for_each(louder, [this](float& sample) { sample *= volume; });
    SDL_QueueAudio(device.id(), louder.data(), static_cast<Uint32>(louder.size() * sizeof(float)));
  };
  if (gap > tolerance) {
    const double length = std::min(gap, kAhead);
    const std::vector<float> silence(samples_in(length));
    queue(silence.data(), silence.size());
    queued_until = expected + length;
    return;
  }
  const std::size_t left_out =
      gap < -tolerance ? std::min(samples_in(std::min(-gap, 2 * piece.length())), piece.samples.size()) : 0;
  if (left_out < piece.samples.size()) {
    queue(piece.samples.data() + left_out, piece.samples.size() - left_out);
    queued_until = piece.end();
  }
  piece_.reset();
}

AudioOutput::AudioOutput(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->thread = start_thread([this] {
    try {
      state_->run();
    } catch (...) {
      state_->fail(std::current_exception());
    }
  });
}

AudioOutput::~AudioOutput() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopped = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

std::unique_ptr<AudioOutput> AudioOutput::open(const Reader& source, const ReaderOptions& options,
                                               std::string& why) {
  const Source opened = source.source();
  const AVFormatContext& original = opened.input;
  const int index =
      av_find_best_stream(&opened.input, AVMEDIA_TYPE_AUDIO, -1, opened.video.index, nullptr, 0);
  why.clear();
  if (index < 0) {
    return nullptr;
  }
  if (opened.is_pipe) {
    why = "audio from a pipe is not played";
    return nullptr;
  }
  try {
    auto state = std::make_unique<State>();
    state->interrupted = options.interrupted;
    Dictionary remaining(options.options);
    AVFormatContext* context = avformat_alloc_context();
    if (context == nullptr) {
      throw Error("out of memory");
    }
    context->interrupt_callback = {
        .callback = [](void* opaque) { return static_cast<State*>(opaque)->is_over() ? 1 : 0; },
        .opaque = state.get()};
    context->protocol_whitelist = av_strdup(original.protocol_whitelist);
    context->format_whitelist = av_strdup(original.format_whitelist);
    // On failure libav frees the context.
    check(avformat_open_input(&context, original.url, original.iformat, remaining.get()), source.url(),
          "can't open its sound");
    state->input.reset(context);
    check(avformat_find_stream_info(context, nullptr), source.url(), "can't open its sound");
    if (static_cast<unsigned>(index) >= context->nb_streams) {
      throw Error(source.url() + ": can't find its sound again");
    }
    state->stream = context->streams[index];
    for (unsigned i = 0; i < context->nb_streams; ++i) {
      context->streams[i]->discard = static_cast<int>(i) == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
    const AVCodecParameters& parameters = *state->stream->codecpar;
    const AVCodec* const codec = avcodec_find_decoder(parameters.codec_id);
    if (codec == nullptr) {
      throw Error(source.url() + ": there is no decoder for its sound");
    }
    state->decoder.reset(avcodec_alloc_context3(codec));
    if (state->decoder == nullptr) {
      throw Error("out of memory");
    }
    check(avcodec_parameters_to_context(state->decoder.get(), &parameters), source.url(),
          "can't decode its sound");
    state->decoder->pkt_timebase = state->stream->time_base;
    check(avcodec_open2(state->decoder.get(), codec, nullptr), source.url(), "can't decode its sound");
    state->source_offset = static_cast<double>(opened.time_offset) / AV_TIME_BASE;
    return std::unique_ptr<AudioOutput>(new AudioOutput(std::move(state)));
  } catch (const std::exception& error) {
    why = error.what();
    return nullptr;
  }
}

void AudioOutput::set_playing(bool playing) {
  const std::scoped_lock lock(state_->mutex);
  if (playing != state_->playing) {
    state_->playing = playing;
    SDL_PauseAudioDevice(state_->device.id(), playing ? 0 : 1);
  }
}

void AudioOutput::set_volume(double volume) {
  const std::scoped_lock lock(state_->mutex);
  state_->volume = static_cast<float>(volume);
}

bool AudioOutput::is_speed(double speed) { return speed >= Tempo::kSlowest && speed <= Tempo::kFastest; }

void AudioOutput::set_speed(double speed) {
  const std::scoped_lock lock(state_->mutex);
  state_->speed = speed;
}

void AudioOutput::seek(double seconds) {
  const std::scoped_lock lock(state_->mutex);
  state_->target = seconds;
  state_->queued_until.reset();
  state_->changed.notify_all();
}

std::optional<double> AudioOutput::position() const {
  const std::scoped_lock lock(state_->mutex);
  const double queued = state_->queued();
  if (!state_->playing || !state_->queued_until || queued <= 0) {
    return std::nullopt;
  }
  // The device plays its samples one buffer later.
  const double to_come = queued + static_cast<double>(kDeviceSamples) / kRate;
  return *state_->queued_until - state_->tempo.held() - state_->tempo.speed() * to_come;
}

std::string AudioOutput::failure() const {
  const std::scoped_lock lock(state_->mutex);
  if (state_->failure == nullptr) {
    return "";
  }
  try {
    std::rethrow_exception(state_->failure);
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace limpid::io
