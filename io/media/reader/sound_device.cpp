// SPDX-License-Identifier: MIT
#include "io/media/reader/sound_device.h"

extern "C" {
#include <libavdevice/avdevice.h>
}

#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>

#include "core/base/error.h"
#include "core/base/thread.h"

namespace limpid::io {
namespace {

// Several seconds: video may stall for a while.
constexpr std::size_t kMostSoundPackets = 500;

}  // namespace

SoundDevice::SoundDevice(const std::string& url, const std::string& format, std::function<bool()> interrupted)
    : interrupted_(std::move(interrupted)), needs_pace_(format == "lavfi") {
  avdevice_register_all();
  const AVInputFormat* const demuxer = av_find_input_format(format.c_str());
  if (demuxer == nullptr) {
    throw UsageError("--audio: libavdevice has no input '" + format + "'");
  }
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) {
    throw Error("out of memory");
  }
  context->interrupt_callback = {
      .callback = [](void* own) { return static_cast<SoundDevice*>(own)->is_interrupted() ? 1 : 0; },
      .opaque = this};
  context->flags |= AVFMT_FLAG_NONBLOCK;  // a blocking device does not notice an interrupt
  forget_logged_messages();
  if (const int code = avformat_open_input(&context, url.c_str(), demuxer, nullptr); code < 0) {
    throw Error(url + ": the audio device cannot be opened: " + error_text(code) + logged_reason());
  }
  input_.reset(context);
  avformat_find_stream_info(context, nullptr);
  const int best = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
  if (best < 0) {
    throw Error(url + ": has no audio");
  }
  stream_ = context->streams[best];
  thread_ = start_thread([this] {
    try {
      read_all();
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex_);
      failure_ = error.what();
    }
  });
}

SoundDevice::~SoundDevice() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  taken_.notify_all();
}

// Waits for the time of the packet.
void SoundDevice::wait_for(const AVPacket& packet, std::unique_lock<std::mutex>& lock) {
  const std::chrono::microseconds time(av_rescale_q(packet.pts, stream_->time_base, kMicrosecond));
  zero_ = zero_.value_or(std::chrono::steady_clock::now() - time);
  taken_.wait_until(lock, *zero_ + time, [this] { return is_interrupted(); });
}

void SoundDevice::read_all() {
  while (!is_interrupted()) {
    PacketHandle packet = make_packet();
    const int code = av_read_frame(input_.get(), packet.get());
    std::unique_lock lock(mutex_);
    if (code == AVERROR(EAGAIN)) {
      constexpr std::chrono::milliseconds kPause{5};
      taken_.wait_for(lock, kPause);
    } else if (code < 0) {
      failure_ = error_text(code);
      return;
    } else if (packet->stream_index == stream_->index) {
      if (needs_pace_) {
        wait_for(*packet, lock);
      }
      taken_.wait(lock, [this] { return packets_.size() < kMostSoundPackets || is_interrupted(); });
      packets_.push_back(std::move(packet));
    }
  }
}

PacketHandle SoundDevice::take() {
  const std::scoped_lock lock(mutex_);
  if (packets_.empty()) {
    return nullptr;
  }
  PacketHandle packet = std::move(packets_.front());
  packets_.pop_front();
  taken_.notify_all();
  return packet;
}

std::string SoundDevice::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

}  // namespace limpid::io
