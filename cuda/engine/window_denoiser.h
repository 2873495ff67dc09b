// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engine/frame_ring.h"
#include "core/frame/frame.h"
#include "core/frame/mixing.h"
#include "cuda/noise/noise.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

// Frames in the current device's memory, and copies to and from it.

/// A frame's planes in device memory, in the layout of place_frame().
class DeviceFrame {
 public:
  explicit DeviceFrame(const FrameFormat& format);
  const SamplePlanes& planes() const { return planes_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  DeviceMemory memory_;
  SamplePlanes planes_;
};

/// Enqueues a copy between a frame in host memory and device memory; a single one if both have the same
/// layout.
void copy(const Frame& host, const SamplePlanes& device, cudaMemcpyKind kind, cudaStream_t stream);

/// The event after which a frame in device memory may be read: its own (Frame::ready), or `decoded`, which is
/// recorded after all work that the device's default stream has at the time.
cudaEvent_t ready_event(const Frame& frame, const Event& decoded);

/// copy() for a frame that a video decoder has left in device memory.
void copy_from_decoder(const Frame& frame, const SamplePlanes& out, const Stream& stream);
/// Copies a frame from the device's own memory to one for a video encoder.
void copy_to_encoder(const SamplePlanes& in, const Frame& frame, const Stream& stream);

/// A stream of frames through one filter on one device. Uploads, kernels and downloads each have a stream,
/// synchronized by events, so that they overlap from frame to frame. Each frame is uploaded once, into a slot
/// of a ring, and stays there while results depend on it, together with the filter's state of it. The kernels
/// of successive results follow each other and share their working memory. A slot is reused as soon as the
/// device has finished with it: send() waits for nothing. A frame's memory is kept until the device has
/// finished with it, even after a failure.
class WindowDenoiser final : public Denoiser {
 public:
  /// `make_filter` is called while `device` is the current device.
  WindowDenoiser(int device, FramePool pool, const std::function<std::unique_ptr<FrameFilter>()>& make_filter,
                 const NoiseModel& noise, const FrameFormat& format);
  ~WindowDenoiser() override;

  void set_noise(const NoiseModel& noise) override;
  void set_mix(float mix) override { mix_ = checked_mix(mix); }
  void set_result_frames(const std::function<Frame()>& take) override { take_result_ = take; }
  void send(Frame frame) override;
  /// Throws a failure again in each call, because the frame remains in progress.
  std::optional<Frame> receive() override;
  /// Throws Error if the device has failed. After such a failure, its video decoder reports the rest of the
  /// stream as damaged, so the stream seems to end here. Without frames in progress, no other call would
  /// report the failure.
  void flush() override;
  void reset() override;
  Reach reach() const override { return filter_->reach(); }
  int concurrency() const override { return static_cast<int>(results_.size()); }
  std::vector<std::string> warnings() const override { return filter_->warnings(); }
  DeviceStages device_stages() const override { return stages_; }

 private:
  // The events at which a frame enters or leaves a stage.
  struct Timestamps {
    Event begun = Event::timed();
    Event uploaded = Event::timed();
    Event filtered = Event::timed();
    Event downloaded = Event::timed();
  };
  // The memory of a frame in the ring.
  struct FrameSlot {
    explicit FrameSlot(const FrameFormat& format) : samples(format) {}
    DeviceFrame samples;
    std::unique_ptr<FrameState> state;
    Event read;                    // recorded after the kernels that read the last frame in it
    bool used = false;             // a frame was in it
    std::int64_t filtered_ns = 0;  // end of the filter stage, of the last received result
  };
  // The memory of a result.
  struct ResultSlot {
    explicit ResultSlot(const FrameFormat& format) : samples(format) {}
    DeviceFrame samples;
    const Timestamps* last = nullptr;  // of the last result in it, until that is received
    std::int64_t downloaded_ns = 0;
  };
  // A frame in the ring.
  struct Kept {
    bool interlaced;
    bool begins_anew;
    std::optional<Frame> out;  // destination of the result, if there is one
    NoiseModel noise;
    float mix;
    FrameSlot* slot;
    Timestamps* timestamps;  // until a result takes them
    std::int64_t number;     // in the order of send()
  };
  struct UnderWay {
    Frame out;
    FrameSlot* frame_slot;
    ResultSlot* result_slot;
    Timestamps* timestamps;
    std::int64_t newest;  // number of the last frame that it depends on
  };
  // A frame whose samples may not have been read yet. Decoders have few frames, so temporal filters must not
  // keep them.
  struct Uploading {
    Frame in;
    const Timestamps* timestamps;
    std::int64_t number;
  };

  std::optional<Frame> take_result(const Frame& frame);
  void upload(const Frame& frame, FrameSlot& slot, const Timestamps& timestamps);
  void enqueue_results();
  void enqueue(const FrameRing<Kept>::Window& window);
  void retire(Kept kept);
  void set_free(FrameSlot& slot);
  void let_go_of_uploaded();
  void fail(const std::exception_ptr& failure);
  void wait_for_all() const;
  Timestamps& take_timestamps();
  void count(UnderWay& done);

  int device_;
  std::unique_ptr<DeviceScope> scope_;  // current while the members below are constructed
  FramePool pool_;
  std::function<Frame()> take_result_;  // replaces the pool
  FrameFormat format_;
  std::unique_ptr<FrameFilter> filter_;
  NoiseModel noise_;
  float mix_ = 0;
  std::optional<NoiseModel> noise_of_last_;  // frame that was sent
  ClippingCorrection clipping_;
  std::deque<FrameSlot> frames_;
  std::deque<FrameSlot*> free_frames_;  // least recently used first
  std::deque<ResultSlot> results_;
  std::size_t next_result_ = 0;
  Stream uploads_;
  Stream kernels_;
  Stream downloads_;
  Event decoded_;
  FrameRing<Kept> ring_;
  std::int64_t sent_ = 0;
  std::deque<UnderWay> under_way_;
  std::deque<Uploading> uploading_;
  std::exception_ptr failure_;         // of the frame that could not be sent
  std::deque<Timestamps> timestamps_;  // all timestamps: of frames in progress, idle ones, and the last one
  std::vector<Timestamps*> idle_timestamps_;
  Timestamps* last_timestamps_ = nullptr;  // of the last received frame
  DeviceStages stages_;
};

}  // namespace limpid::cuda
