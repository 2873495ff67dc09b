#include "io/audio_output.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libswresample/swresample.h>
}

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "io/libav.h"
#include "io/reader_state.h"
#include "io/sdl.h"

namespace limpid::io {
namespace {

constexpr int kRate = 48000;
constexpr int kChannels = 2;
constexpr int kBytesPerSecond = kRate * kChannels * static_cast<int>(sizeof(float));
// Sound decoded ahead, in seconds; and how often to look whether there is still so much.
constexpr double kAhead = 0.3;
constexpr std::chrono::milliseconds kInterval{50};
constexpr Uint16 kDeviceSamples = 1024;

struct ResamplerDeleter {
  void operator()(SwrContext* context) const { swr_free(&context); }
};
using Resampler = std::unique_ptr<SwrContext, ResamplerDeleter>;

/// An open audio device that plays what is queued.
class Device {
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
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;
  ~Device() { SDL_CloseAudioDevice(id_); }

  SDL_AudioDeviceID id() const { return id_; }

 private:
  SdlSubsystem audio_;
  SDL_AudioDeviceID id_ = 0;
};

}  // namespace

struct AudioOutput::State {
  InputHandle input;
  AVStream* stream = nullptr;
  CodecHandle decoder;
  Resampler resampler;
  double offset = 0;  ///< seconds to add to the stream's times
  Device device;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  bool playing = false;
  bool ended = false;
  std::optional<double> target;        ///< of a seek
  std::optional<double> queued_until;  ///< time of the end of what is queued
  std::thread thread;

  void run();
  bool decode_some();
  void queue(const AVFrame& frame);
  void go_to(double seconds);
  double queued() const { return static_cast<double>(SDL_GetQueuedAudioSize(device.id())) / kBytesPerSecond; }

  double from = 0;  ///< sound before this time is dropped; of the thread
};

void AudioOutput::State::run() {
  std::unique_lock lock(mutex);
  while (!stopped) {
    if (target) {
      const double seconds = *std::exchange(target, std::nullopt);
      lock.unlock();
      go_to(seconds);
      lock.lock();
      continue;
    }
    if (ended || queued() >= kAhead) {
      changed.wait_for(lock, kInterval);
      continue;
    }
    lock.unlock();
    const bool more = decode_some();
    lock.lock();
    ended = ended || (!more && !target);
  }
}

void AudioOutput::State::go_to(double seconds) {
  const std::int64_t time = std::llround((seconds - offset) * AV_TIME_BASE);
  avformat_seek_file(input.get(), -1, INT64_MIN, time, time, 0);
  avcodec_flush_buffers(decoder.get());
  from = seconds;
  const std::scoped_lock lock(mutex);
  SDL_ClearQueuedAudio(device.id());
  queued_until.reset();
  ended = false;
}

/// False at the end, or if the sound can't go on.
bool AudioOutput::State::decode_some() {
  const PacketHandle packet = make_packet();
  if (av_read_frame(input.get(), packet.get()) < 0) {
    return false;
  }
  if (packet->stream_index != stream->index || avcodec_send_packet(decoder.get(), packet.get()) < 0) {
    return true;  // damaged packets are passed over
  }
  const FrameHandle frame = make_frame();
  while (avcodec_receive_frame(decoder.get(), frame.get()) >= 0) {
    queue(*frame);
  }
  return true;
}

void AudioOutput::State::queue(const AVFrame& frame) {
  if (frame.best_effort_timestamp == AV_NOPTS_VALUE) {
    return;
  }
  const double begin = static_cast<double>(frame.best_effort_timestamp) * av_q2d(stream->time_base) + offset;
  const double end = begin + static_cast<double>(frame.nb_samples) / frame.sample_rate;
  if (end <= from) {
    return;
  }
  std::vector<float> samples(
      static_cast<std::size_t>(swr_get_out_samples(resampler.get(), frame.nb_samples)) * kChannels);
  auto* out = reinterpret_cast<std::uint8_t*>(samples.data());
  const int count = swr_convert(resampler.get(), &out, static_cast<int>(samples.size()) / kChannels,
                                const_cast<const std::uint8_t**>(frame.extended_data), frame.nb_samples);
  if (count <= 0) {
    return;
  }
  const std::scoped_lock lock(mutex);
  if (!target) {
    SDL_QueueAudio(device.id(), samples.data(), static_cast<Uint32>(count * kChannels * sizeof(float)));
    queued_until = end;
  }
}

AudioOutput::AudioOutput(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->thread = std::thread([this] {
    try {
      state_->run();
    } catch (const Error&) {  // silence from here on
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

std::unique_ptr<AudioOutput> AudioOutput::open(const Reader& source, std::string& why) {
  const AVFormatContext& original = *source.state_->input;
  if (source.url() == "-") {
    why = "the sound of a pipe isn't played";
    return nullptr;
  }
  const int index = av_find_best_stream(source.state_->input.get(), AVMEDIA_TYPE_AUDIO, -1,
                                        source.state_->video_stream->index, nullptr, 0);
  if (index < 0) {
    why = "the source has no sound";
    return nullptr;
  }
  try {
    auto state = std::make_unique<State>();
    AVFormatContext* context = nullptr;
    check(avformat_open_input(&context, original.url, original.iformat, nullptr), source.url(),
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
    check(avcodec_parameters_to_context(state->decoder.get(), &parameters), source.url(),
          "can't decode its sound");
    state->decoder->pkt_timebase = state->stream->time_base;
    check(avcodec_open2(state->decoder.get(), codec, nullptr), source.url(), "can't decode its sound");
    AVChannelLayout stereo = AV_CHANNEL_LAYOUT_STEREO;
    AVChannelLayout layout = state->decoder->ch_layout;
    if (layout.order == AV_CHANNEL_ORDER_UNSPEC) {
      av_channel_layout_default(&layout, layout.nb_channels);
    }
    SwrContext* resampler = nullptr;
    check(swr_alloc_set_opts2(&resampler, &stereo, AV_SAMPLE_FMT_FLT, kRate, &layout,
                              state->decoder->sample_fmt, state->decoder->sample_rate, 0, nullptr),
          source.url(), "can't convert its sound");
    state->resampler.reset(resampler);
    check(swr_init(resampler), source.url(), "can't convert its sound");
    state->offset = static_cast<double>(source.state_->time_offset) / AV_TIME_BASE;
    return std::unique_ptr<AudioOutput>(new AudioOutput(std::move(state)));
  } catch (const Error& error) {
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
  // What the device has taken is heard a buffer later.
  return *state_->queued_until - queued - static_cast<double>(kDeviceSamples) / kRate;
}

}  // namespace limpid::io
