// SPDX-License-Identifier: MIT
#include "io/screen/audio_output.h"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
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
#include "io/media/audio_graph.h"
#include "io/media/filter_graph.h"
#include "io/media/libav.h"
#include "io/media/reader/demuxer.h"
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

  Graph(int rate, double speed) {
    const std::string samples = std::to_string(rate);
    const std::string text = "abuffer@source=sample_rate=" + samples +
                             ":sample_fmt=flt:channel_layout=stereo:time_base=1/" + samples +
                             ",atempo=" + std::to_string(speed) + ",abuffersink@sink";
    check(avfilter_graph_parse_ptr(graph.get(), text.c_str(), nullptr, nullptr, nullptr), "audio",
          "can't change its speed");
    check(avfilter_graph_config(graph.get(), nullptr), "audio", "can't change its speed");
    source = avfilter_graph_get_filter(graph.get(), "abuffer@source");
    sink = avfilter_graph_get_filter(graph.get(), "abuffersink@sink");
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

std::vector<float> Tempo::filter(AVFrame& frame) {
  std::vector<float> result;
  const auto take = [&result](const AVFrame& samples) {
    const auto* const first = reinterpret_cast<const float*>(samples.data[0]);
    result.insert(result.end(), first, first + std::ptrdiff_t{samples.nb_samples} * kStereo);
  };
  if (graph_ == nullptr) {
    take(frame);
    return result;
  }
  taken_ += static_cast<double>(frame.nb_samples) / rate_;
  check(av_buffersrc_add_frame(graph_->source, &frame), "audio", "can't change its speed");
  for (const FrameHandle made = make_frame(); av_buffersink_get_frame(graph_->sink, made.get()) >= 0;
       av_frame_unref(made.get())) {
    take(*made);
    returned_ += speed_ * made->nb_samples / rate_;
  }
  return result;
}

namespace {

constexpr int kRate = 48000;
constexpr int kBytesPerSecond = kRate * kStereo * static_cast<int>(sizeof(float));
// Sound decoded ahead, in seconds; and how often to look whether there is still so much.
constexpr double kAhead = 0.3;
constexpr std::chrono::milliseconds kInterval{50};
constexpr int kPiece = kRate / 20;  // samples that are queued at once
constexpr Uint16 kDeviceSamples = 1024;

/// An open audio device that plays what is queued.
class Device : NotCopyable {
 public:
  Device() : audio_(SDL_INIT_AUDIO, "no audio device") {
    SDL_AudioSpec wanted{};
    wanted.freq = kRate;
    wanted.format = AUDIO_F32SYS;
    wanted.channels = kStereo;
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

  Health health;
  std::optional<Demuxer> demuxer;
  const AVStream* stream = nullptr;
  CodecHandle decoder;
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
  void go_to(double seconds);
  FrameHandle decode_some();
  void queue(AVFrame& samples);

  // Used by the thread only.
  std::optional<AudioGraph> graph_{std::in_place, AudioGraph::Format{}, 0, "audio"};
  FrameHandle frame_ = make_frame();
  bool times_are_guesses_ = false;  ///< until the first frame after a seek
  bool flushed_ = false;
  bool ended_ = false;
};

void AudioOutput::State::run() {
  std::unique_lock lock(mutex);
  while (!stopped) {
    if (target) {
      const double seconds = *std::exchange(target, std::nullopt);
      lock.unlock();
      go_to(seconds);
      lock.lock();
    } else if (ended_ || queued() >= kAhead) {
      changed.wait_for(lock, kInterval);
    } else {
      lock.unlock();
      FrameHandle samples = decode_some();
      lock.lock();
      if (samples != nullptr && !target) {
        queue(*samples);
      }
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
  demuxer->seek(std::llround(seconds * AV_TIME_BASE));
  avcodec_flush_buffers(decoder.get());
  graph_.emplace(AudioGraph::Format{}, std::llround(seconds * kRate), "audio");
  times_are_guesses_ = true;
  flushed_ = false;
  ended_ = false;
  const std::scoped_lock lock(mutex);
  tempo.set_speed(speed);
  SDL_ClearQueuedAudio(device.id());
  queued_until.reset();
}

/// The next samples; null after a step towards them, and at the end.
FrameHandle AudioOutput::State::decode_some() {
  if (FrameHandle samples = graph_->receive(kPiece)) {
    return samples;
  }
  if (avcodec_receive_frame(decoder.get(), frame_.get()) >= 0) {
    // The filter that takes a rate down to the device's grows with it. DSD has the greatest, 2.8 MHz.
    constexpr int kMostSamplesPerSecond = 4'000'000;
    if (frame_->sample_rate > kMostSamplesPerSecond) {
      throw Error(std::to_string(frame_->sample_rate) + " samples a second can't be played");
    }
    times_are_guesses_ = false;
    if (AudioGraph::accepts(*frame_)) {
      graph_->send(*frame_, stream->time_base);
    }
  } else if (flushed_) {
    ended_ = graph_->is_flushed();
    graph_->flush();
  } else if (const PacketHandle packet = demuxer->read(times_are_guesses_)) {
    if (packet->stream_index == stream->index) {
      avcodec_send_packet(decoder.get(), packet.get());  // damaged packets are passed over
    }
  } else if (demuxer->has_ended()) {
    flushed_ = true;
    avcodec_send_packet(decoder.get(), nullptr);
  }
  return nullptr;
}

/// With the mutex held.
void AudioOutput::State::queue(AVFrame& samples) {
  const std::int64_t end = samples.pts + samples.nb_samples;
  std::vector<float> louder = tempo.filter(samples);
  std::ranges::for_each(louder, [this](float& sample) { sample *= volume; });
  SDL_QueueAudio(device.id(), louder.data(), static_cast<Uint32>(louder.size() * sizeof(float)));
  queued_until = static_cast<double>(end) / kRate;
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
    Dictionary unused(options.options);
    ReaderOptions own = options;
    own.audio = true;
    own.interrupted = [state = state.get()] { return state->is_over(); };
    const Demuxer& demuxer = state->demuxer.emplace(source.url(), own, unused, state->health);
    const AVFormatContext& input = demuxer.input();
    if (static_cast<unsigned>(index) >= input.nb_streams) {
      throw Error(source.url() + ": can't find its sound again");
    }
    for (unsigned i = 0; i < input.nb_streams; ++i) {
      input.streams[i]->discard = static_cast<int>(i) == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
    SourceClock& clock = state->demuxer->clock();
    clock.set_zero(clock.offset() - opened.time_offset);
    state->stream = input.streams[index];
    state->decoder = open_audio_decoder(*state->stream, source.url() + ": audio");
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
