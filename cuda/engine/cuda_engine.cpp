#include "cuda/engine/cuda_engine.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/frame/frame_pool.h"
#include "cuda/bm3d/bm3d.h"
#include "cuda/edge_preserving/edge_preserving.h"
#include "cuda/noise/noise.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {
namespace {

// A frame's planes in device memory, laid out as place_frame() does.
class DeviceFrame {
 public:
  explicit DeviceFrame(const FrameFormat& format) : memory_(frame_bytes(format)) {
    // What lies between rows is copied too, but never written.
    check(cudaMemset(memory_.as(), 0, memory_.bytes()));
    check(cudaStreamSynchronize(nullptr));
    // The layout alone is wanted; the memory is not looked at from here.
    const Frame layout = place_frame(format, {std::shared_ptr<void>(), memory_.as()});
    for (int p = 0; p < format.plane_count(); ++p) {
      planes_[p] = {layout.planes[p].data, layout.planes[p].stride};
    }
  }
  const std::array<SamplePlane, kMaxPlanes>& planes() const { return planes_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  DeviceMemory memory_;
  std::array<SamplePlane, kMaxPlanes> planes_;
};

// Whether a frame in host memory is laid out as the device's, so that one copy takes all of it.
bool same_layout(const Frame& host, const std::array<SamplePlane, kMaxPlanes>& device) {
  for (int p = 0; p < host.format.plane_count(); ++p) {
    if (host.planes[p].stride != device[p].stride ||
        host.planes[p].data - host.planes[0].data != device[p].data - device[0].data) {
      return false;
    }
  }
  return true;
}

void copy(const Frame& host, const std::array<SamplePlane, kMaxPlanes>& device, cudaMemcpyKind kind,
          cudaStream_t stream) {
  const int planes = host.format.plane_count();
  const bool up = kind == cudaMemcpyHostToDevice;
  const auto row_bytes = [&](int p) {
    return static_cast<std::size_t>(host.planes[p].width) * host.format.bytes_per_sample();
  };
  if (same_layout(host, device)) {
    // Up to the last sample, after which the host's memory may end.
    const Plane& last = host.planes[planes - 1];
    const std::size_t bytes = static_cast<std::size_t>(last.data - host.planes[0].data) +
                              last.stride * (last.height - 1) + row_bytes(planes - 1);
    check(cudaMemcpyAsync(up ? device[0].data : host.planes[0].data,
                          up ? host.planes[0].data : device[0].data, bytes, kind, stream));
    return;
  }
  for (int p = 0; p < planes; ++p) {
    const Plane& plane = host.planes[p];
    check(cudaMemcpy2DAsync(up ? device[p].data : plane.data, up ? device[p].stride : plane.stride,
                            up ? plane.data : device[p].data, up ? plane.stride : device[p].stride,
                            row_bytes(p), plane.height, kind, stream));
  }
}

// When the video decoder is done with what it has begun.
void record_decoded(const Event& decoded) { check(cudaEventRecord(decoded.get(), cudaStreamLegacy)); }

void wait_for_decoder(const Event& decoded, const Stream& stream) {
  record_decoded(decoded);
  stream.wait(decoded.get());
}

// copy() of a frame that a video decoder has left in the device's memory.
void copy_from_decoder(const Frame& frame, const std::array<SamplePlane, kMaxPlanes>& out,
                       const Stream& stream) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    unpack_plane(frame.format, frame.planes[p], frame.padding_bits, out[p], stream.get());
  }
}

// A frame that a video encoder will take, from the device's own memory.
void copy_to_encoder(const std::array<SamplePlane, kMaxPlanes>& in, const Frame& frame,
                     const Stream& stream) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    pack_plane(frame.format, in[p], frame.padding_bits, frame.planes[p], stream.get());
  }
}

// Calls `enqueue`, which puts work into the stream, and waits until all of it is done, even where not all
// could be enqueued: then the device leaves the memory alone.
template <typename Enqueue>
void enqueue_and_wait(const Stream& stream, const Enqueue& enqueue) {
  try {
    enqueue();
  } catch (...) {
    cudaStreamSynchronize(stream.get());
    throw;
  }
  check(cudaStreamSynchronize(stream.get()));
}

// Uploads, kernels and downloads each have a stream, joined by events, so that they overlap from frame to
// frame. The kernels of successive frames follow each other and share their working memory; samples have a
// slot per frame in flight. A slot is used again as soon as the device is done with it: send() waits for
// nothing. A frame's memory is kept until the device is done with it, whatever fails.
class FrameDenoiser final : public Denoiser {
 public:
  FrameDenoiser(const FrameDenoiser&) = delete;
  FrameDenoiser& operator=(const FrameDenoiser&) = delete;
  FrameDenoiser(int device, FramePool pool, const Filter& filter, const NoiseLevel& noise,
                const FrameFormat& format)
      : device_(device),
        scope_(std::make_unique<DeviceScope>(device)),
        pool_(std::move(pool)),
        format_(format),
        filter_(make_filter(filter, format)) {
    set_noise(noise);
    // Two frames suffice for copies to overlap with kernels unless one of them hitches.
    constexpr std::size_t kLargeFrame = std::size_t{32} << 20;
    const int slots = frame_bytes(format) > kLargeFrame ? 2 : 4;
    for (int i = 0; i < slots; ++i) {
      slots_.emplace_back(format);
    }
    scope_.reset();
  }

  ~FrameDenoiser() override {
    const DeviceScope scope(device_, std::nothrow);
    wait_for_all();
  }

  void set_noise(const NoiseLevel& noise) override {
    noise.validate();
    noise_ = noise;
  }

  void set_result_frames(const std::function<Frame()>& take) override { take_result_ = take; }

  void send(Frame frame) override {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    if (frame.format != format_) {
      throw Error("frame " + std::to_string(frame.index) + " is " + to_string(frame.format) +
                  ", but the filter was set up for " + to_string(format_));
    }
    const bool on_device = frame.cuda_device != Frame::kHostMemory;
    if (on_device && frame.cuda_device != device_) {
      throw Error("frame " + std::to_string(frame.index) + " is in the memory of GPU " +
                  std::to_string(frame.cuda_device) + ", not of GPU " + std::to_string(device_));
    }
    const DeviceScope scope(device_);
    Frame out = take_result_ ? take_result_() : pool_.allocate(format_);
    const bool result_on_device = out.cuda_device == device_;
    if (out.format != format_ || result_on_device != static_cast<bool>(take_result_)) {
      throw Error("frame " + std::to_string(frame.index) + ": what was given for its result isn't " +
                  to_string(format_) + " in the memory of GPU " + std::to_string(device_));
    }
    out.interlaced = frame.interlaced;
    out.index = frame.index;
    out.attachment = frame.attachment;

    Slot& slot = slots_[next_slot_];
    next_slot_ = (next_slot_ + 1) % slots_.size();
    Turns& turns = take_turns();
    under_way_.push_back({std::move(frame), std::move(out), &slot, &turns});
    try {
      enqueue(under_way_.back());
    } catch (...) {
      // What was enqueued may be any part of it. A result can't come, nor be relied on in later frames, which
      // share the filter's memory; those before it are whole.
      failure_ = std::current_exception();
      wait_for_all();
      under_way_.pop_back();
      throw;
    }
  }

  // What it throws it throws again: the frame stays under way.
  std::optional<Frame> receive() override {
    if (under_way_.empty()) {
      return std::nullopt;
    }
    const DeviceScope scope(device_);
    UnderWay& first = under_way_.front();
    first.turns->downloaded.synchronize();
    count(*first.slot, *first.turns);
    Frame out = std::move(first.out);
    under_way_.pop_front();
    return out;
  }

  // To the decoder of a device that has failed the rest of the stream is damaged: that there is none left may
  // be the device's failure, which nothing else tells if no frame is under way.
  void flush() override {
    if (under_way_.empty()) {
      const DeviceScope scope(device_);
      check(cudaStreamSynchronize(kernels_.get()));
    }
  }
  int latency() const override { return 0; }
  int concurrency() const override { return static_cast<int>(slots_.size()); }
  std::vector<std::string> warnings() const override { return filter_->warnings(); }
  DeviceStages device_stages() const override { return stages_; }

 private:
  // When a frame, on its way, got to where a stage begins or ends.
  struct Turns {
    Event begun = Event::timed();
    Event uploaded = Event::timed();
    Event filtered = Event::timed();
    Event downloaded = Event::timed();
  };
  struct Slot {
    explicit Slot(const FrameFormat& format) : in(format), out(format) {}
    DeviceFrame in;
    DeviceFrame out;
    const Turns* last = nullptr;   // of the frame that was sent to it last, until that is received
    std::int64_t filtered_ns = 0;  // when, of the frame that was received last
    std::int64_t downloaded_ns = 0;
  };
  struct UnderWay {
    Frame in;  // kept until its samples have been read
    Frame out;
    Slot* slot;
    Turns* turns;
  };

  void enqueue(UnderWay& next) {
    const auto& [frame, out, slot_address, turns_address] = next;
    Slot& slot = *slot_address;
    Turns& turns = *turns_address;
    const bool on_device = frame.cuda_device == device_;
    if (slot.last != nullptr) {
      uploads_.wait(slot.last->filtered.get());
    }
    if (on_device) {
      wait_for_decoder(decoded_, uploads_);
    }
    turns.begun.record(uploads_);
    if (on_device) {
      copy_from_decoder(frame, slot.in.planes(), uploads_);
    } else {
      copy(frame, slot.in.planes(), cudaMemcpyHostToDevice, uploads_.get());
    }
    turns.uploaded.record(uploads_);

    kernels_.wait(turns.uploaded.get());
    if (slot.last != nullptr) {
      kernels_.wait(slot.last->downloaded.get());
    }
    filter_->enqueue(slot.in.planes(), slot.out.planes(), frame.interlaced, noise_, kernels_.get());
    turns.filtered.record(kernels_);

    downloads_.wait(turns.filtered.get());
    if (out.cuda_device == device_) {
      copy_to_encoder(slot.out.planes(), out, downloads_);
    } else {
      copy(out, slot.out.planes(), cudaMemcpyDeviceToHost, downloads_.get());
    }
    turns.downloaded.record(downloads_);
    slot.last = &turns;
  }

  // A device that can't say that it is done has failed as a whole, and writes nothing any more.
  void wait_for_all() const {
    for (const Stream* stream : {&uploads_, &kernels_, &downloads_}) {
      cudaStreamSynchronize(stream->get());
    }
  }

  Turns& take_turns() {
    if (idle_turns_.empty()) {
      return turns_.emplace_back();
    }
    Turns& turns = *idle_turns_.back();
    idle_turns_.pop_back();
    return turns;
  }

  // Counts the stages' turns at the frame that was in the slot, all of which is done.
  void count(Slot& slot, Turns& turns) {
    // Told by the end of the last frame's upload, which comes before all of them and mostly not long.
    const Event& origin = last_turns_ != nullptr ? last_turns_->uploaded : turns.begun;
    const auto moment = [&origin, origin_ns = stages_.upload.end_ns](const Event& event) {
      return origin_ns + std::llround(1e6 * event.milliseconds_since(origin));
    };
    const std::int64_t begun = moment(turns.begun);
    const std::int64_t uploaded = moment(turns.uploaded);
    const std::int64_t filtered = moment(turns.filtered);
    const std::int64_t downloaded = moment(turns.downloaded);
    if (last_turns_ != nullptr) {
      idle_turns_.push_back(last_turns_);
    }
    last_turns_ = &turns;
    stages_.upload.add_turn(begun, slot.filtered_ns, uploaded);
    stages_.filter.add_turn(uploaded, slot.downloaded_ns, filtered);
    // There is always room: send() has taken it.
    stages_.download.add_turn(filtered, 0, downloaded);
    slot.filtered_ns = stages_.filter.end_ns;
    slot.downloaded_ns = stages_.download.end_ns;
    if (slot.last == &turns) {
      slot.last = nullptr;
    }
  }

  int device_;
  std::unique_ptr<DeviceScope> scope_;  // while the members that follow are made
  FramePool pool_;
  std::function<Frame()> take_result_;  // instead of the pool's
  FrameFormat format_;
  std::unique_ptr<FrameFilter> filter_;
  NoiseLevel noise_;
  std::deque<Slot> slots_;
  std::size_t next_slot_ = 0;
  Stream uploads_;
  Stream kernels_;
  Stream downloads_;
  Event decoded_;
  std::deque<UnderWay> under_way_;
  std::exception_ptr failure_;  // of the frame that could not be sent
  std::deque<Turns> turns_;     // all there are: of frames under way, idle, and the last
  std::vector<Turns*> idle_turns_;
  Turns* last_turns_ = nullptr;  // of the frame that was received last
  DeviceStages stages_;
};

std::string describe(const cudaDeviceProp& properties) {
  return std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
         " multiprocessors, compute capability " + std::to_string(properties.major) + "." +
         std::to_string(properties.minor);
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(int device, std::string name, std::string description)
      : device_(device),
        name_(std::move(name)),
        description_(std::move(description)),
        pool_([device](const auto& format) {
          const DeviceScope scope(device);
          return allocate_pinned_frame(format);
        }) {}

  std::string_view name() const override { return name_; }
  std::string description() const override { return description_; }

  std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseLevel& noise,
                                          const FrameFormat& format) override {
    validate(filter);
    noise.validate();
    format.validate("frame");
    return std::make_unique<FrameDenoiser>(device_, pool_, filter, noise, format);
  }

  Frame allocate_frame(const FrameFormat& format) override { return pool_.allocate(format); }
  bool prefers_own_frames() const override { return true; }
  std::optional<int> cuda_device() const override { return device_; }
  std::optional<int> result_device() const override { return device_; }

  Frame in_host_memory(const Frame& frame) override {
    if (frame.cuda_device != device_) {
      return frame;
    }
    Frame copied = pool_.allocate(frame.format);
    copied.interlaced = frame.interlaced;
    copied.index = frame.index;
    copied.attachment = frame.attachment;
    const std::scoped_lock lock(looking_mutex_);
    const DeviceScope scope(device_);
    const Looking& looking = begin_looking();
    enqueue_and_wait(looking.stream, [&] {
      copy(copied, upload(frame).planes(), cudaMemcpyDeviceToHost, looking.stream.get());
    });
    return copied;
  }

  NoiseLevel estimate_noise(const Frame& frame) override {
    const std::scoped_lock lock(looking_mutex_);
    const DeviceScope scope(device_);
    Looking& looking = begin_looking();
    NoiseLevel level;
    enqueue_and_wait(looking.stream, [&] {
      const DeviceFrame& samples = upload(frame);
      looking.uploaded.record(looking.stream);
      level = looking.noise.estimate(frame.format, samples.planes(), frame.interlaced, looking.uploaded);
    });
    return level;
  }

  Brightness brightness(const Frame& frame) override {
    if (frame.cuda_device != device_) {
      return limpid::brightness(frame);
    }
    const std::scoped_lock lock(looking_mutex_);
    const DeviceScope scope(device_);
    Looking& looking = begin_looking();
    record_decoded(looking.decoded);
    return looking.noise.brightness(frame.format, frame.planes[brightness_plane(frame.format)],
                                    frame.padding_bits, looking.decoded);
  }

  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;
  ~CudaEngine() override {
    const DeviceScope scope(device_, std::nothrow);
    looking_.reset();
  }

 private:
  // What looking at single frames needs.
  struct Looking {
    NoiseEstimator noise;
    Event decoded;
    Event uploaded;
    Stream stream{Stream::Priority::kUrgent};
    // Of the formats that were looked at last, the newest first: streams of several may take turns.
    std::list<std::pair<FrameFormat, DeviceFrame>> samples;
  };
  static constexpr std::size_t kMostFormats = 4;

  // The mutex is locked and the device is the current one for these two.
  Looking& begin_looking() {
    if (!looking_) {
      looking_.emplace();
    }
    return *looking_;
  }

  // Enqueues the way of a frame's samples to the device.
  const DeviceFrame& upload(const Frame& frame) {
    auto& samples = looking_->samples;
    const auto known = std::ranges::find(samples, frame.format, &std::pair<FrameFormat, DeviceFrame>::first);
    if (known != samples.end()) {
      samples.splice(samples.begin(), samples, known);
    } else {
      if (samples.size() == kMostFormats) {
        samples.pop_back();
      }
      samples.emplace_front(std::piecewise_construct, std::forward_as_tuple(frame.format),
                            std::forward_as_tuple(frame.format));
    }
    const DeviceFrame& device_frame = samples.front().second;
    if (frame.cuda_device == device_) {
      wait_for_decoder(looking_->decoded, looking_->stream);
      copy_from_decoder(frame, device_frame.planes(), looking_->stream);
    } else {
      copy(frame, device_frame.planes(), cudaMemcpyHostToDevice, looking_->stream.get());
    }
    return device_frame;
  }

  int device_;
  std::string name_;
  std::string description_;
  FramePool pool_;
  std::mutex looking_mutex_;
  std::optional<Looking> looking_;
};

EngineInfo describe_device(int device) {
  EngineInfo info;
  info.name = "cuda:" + std::to_string(device);
  cudaDeviceProp properties{};
  const cudaError_t status = cudaGetDeviceProperties(&properties, device);
  if (status != cudaSuccess) {
    info.description = cudaGetErrorString(status);
    return info;
  }
  info.description = describe(properties);
  info.memory_bytes = properties.totalGlobalMem;
  constexpr int kLeastMajor = 7;
  constexpr int kLeastMinor = 5;
  info.available =
      properties.major > kLeastMajor || (properties.major == kLeastMajor && properties.minor >= kLeastMinor);
  if (!info.available) {
    info.description += ", but 7.5 is the least that the engine supports";
  }
  return info;
}

}  // namespace

// By the make_frame_filter() of each filter's own folder.
std::unique_ptr<FrameFilter> make_filter(const Filter& filter, const FrameFormat& format) {
  return std::visit([&](const auto& parameters) { return make_frame_filter(parameters, format); }, filter);
}

std::vector<EngineInfo> list_cuda() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    const bool no_driver = status == cudaErrorInsufficientDriver;
    return {{.name = "cuda",
             .description = no_driver
                                ? "no NVIDIA driver for CUDA 13 or later is installed"
                                : std::string("no usable NVIDIA GPU (") + cudaGetErrorString(status) + ")"}};
  }
  std::vector<EngineInfo> engines;
  engines.reserve(count);
  for (int device = 0; device < count; ++device) {
    engines.push_back(describe_device(device));
  }
  return engines;
}

std::shared_ptr<Engine> open_cuda(std::string_view name, const EngineOptions& /*options*/) {
  const std::string_view number = name.substr(name.find(':') + 1);
  int device = 0;
  std::from_chars(number.data(), number.data() + number.size(), device);
  const EngineInfo info = describe_device(device);
  wait_by_sleeping(device);
  return std::make_shared<CudaEngine>(device, info.name, info.description);
}

}  // namespace limpid::cuda
