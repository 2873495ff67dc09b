// SPDX-License-Identifier: MIT
#if defined(LIMPID_PIPEWIRE)
#include <pipewire/pipewire.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#endif

#include "core/base/error.h"
#include "io/media/camera.h"
#include "io/media/writer/sinks.h"

namespace limpid::io {

#if defined(LIMPID_PIPEWIRE)

namespace {

/// Parameters of a stream, as PipeWire's objects, which stay valid while this exists.
class Parameters {
 public:
  Parameters() { spa_pod_builder_init(&builder_, bytes_.data(), static_cast<std::uint32_t>(bytes_.size())); }
  /// The only format of the stream.
  void add_format(spa_video_info_raw video) {
    parameters_[count_++] = spa_format_video_raw_build(&builder_, SPA_PARAM_EnumFormat, &video);
  }
  void add_buffers(std::int32_t frame_size, std::int32_t row_size) {
    // One is shown, one is on its way, one is filled.
    constexpr std::int32_t kLeast = 3;
    constexpr std::int32_t kUsual = 4;
    constexpr std::int32_t kMost = 16;
    add(spa_pod_builder_add_object(&builder_, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers,
                                   SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(kUsual, kLeast, kMost),
                                   SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
                                   SPA_POD_Int(frame_size), SPA_PARAM_BUFFERS_stride, SPA_POD_Int(row_size),
                                   SPA_PARAM_BUFFERS_dataType,
                                   SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemFd) | (1 << SPA_DATA_MemPtr))));
  }
  /// Buffers have a time.
  void add_times() {
    add(spa_pod_builder_add_object(&builder_, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                   SPA_POD_Id(SPA_META_Header), SPA_PARAM_META_size,
                                   SPA_POD_Int(static_cast<std::int32_t>(sizeof(spa_meta_header)))));
  }
  const spa_pod** data() { return parameters_.data(); }
  std::uint32_t count() const { return count_; }

 private:
  void add(void* object) { parameters_[count_++] = static_cast<const spa_pod*>(object); }

  std::array<std::uint8_t, 1024> bytes_{};
  spa_pod_builder builder_{};
  std::array<const spa_pod*, 2> parameters_{};
  std::uint32_t count_ = 0;
};

struct LoopDeleter {
  void operator()(pw_thread_loop* loop) const {
    pw_thread_loop_stop(loop);
    pw_thread_loop_destroy(loop);
  }
};

struct LoopUnlocker {
  void operator()(pw_thread_loop* loop) const { pw_thread_loop_unlock(loop); }
};

/// Locks the loop until the result is destroyed.
std::unique_ptr<pw_thread_loop, LoopUnlocker> locked(pw_thread_loop* loop) {
  pw_thread_loop_lock(loop);
  return std::unique_ptr<pw_thread_loop, LoopUnlocker>(loop);
}

struct StreamDeleter {
  pw_thread_loop* loop = nullptr;
  void operator()(pw_stream* stream) const {
    const auto lock = locked(loop);
    pw_stream_destroy(stream);
  }
};

/// Initializes the library once, silent unless the user asks it for messages.
void start_library() {
  static const bool started = [] {
    pw_init(nullptr, nullptr);
    if (std::getenv("PIPEWIRE_DEBUG") == nullptr) {
      pw_log_set_level(SPA_LOG_LEVEL_NONE);
    }
    return true;
  }();
  static_cast<void>(started);
}

spa_fraction rate_of(const AVCodecContext& encoder) {
  const AVRational rate = encoder.framerate.num > 0 ? encoder.framerate : AVRational{25, 1};
  return {static_cast<std::uint32_t>(rate.num), static_cast<std::uint32_t>(rate.den)};
}

/// Stores the current time in a buffer that has a place for it.
void set_time(const spa_buffer& buffer, std::uint64_t number) {
  auto* const header = static_cast<spa_meta_header*>(
      spa_buffer_find_meta_data(&buffer, SPA_META_Header, sizeof(spa_meta_header)));
  if (header != nullptr) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    *header = {.flags = 0, .offset = 0, .pts = SPA_TIMESPEC_TO_NSEC(&now), .dts_offset = 0, .seq = number};
  }
}

class PipeWireCamera : public Sink {
 public:
  PipeWireCamera(const std::string& name, const AVCodecContext& encoder);

  void write_frame(PacketHandle frame) override;
  void finish() override { stream_.reset(); }
  std::int64_t bytes() const override { return bytes_; }

 private:
  static void state_changed(void* self, pw_stream_state before, pw_stream_state now, const char* failure);
  static void parameter_changed(void* self, std::uint32_t id, const spa_pod* value);
  void connect(const AVCodecContext& encoder);
  void require_server() const;
  bool is_ready() const { return state_ == PW_STREAM_STATE_PAUSED || state_ == PW_STREAM_STATE_STREAMING; }

  static constexpr pw_stream_events kEvents = [] {
    pw_stream_events events{};
    events.version = PW_VERSION_STREAM_EVENTS;
    events.state_changed = state_changed;
    events.param_changed = parameter_changed;
    return events;
  }();

  std::int32_t row_size_;
  std::int32_t frame_size_;
  // These two belong to the loop's thread, or to the holder of its lock.
  pw_stream_state state_ = PW_STREAM_STATE_CONNECTING;
  std::string failure_;
  std::unique_ptr<pw_thread_loop, LoopDeleter> loop_;
  std::unique_ptr<pw_stream, StreamDeleter> stream_;
  std::uint64_t frames_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
};

PipeWireCamera::PipeWireCamera(const std::string& name, const AVCodecContext& encoder)
    : row_size_((encoder.width + 1) / 2 * 4), frame_size_(row_size_ * encoder.height) {
  start_library();
  loop_.reset(pw_thread_loop_new("pipewire", nullptr));
  if (loop_ == nullptr || pw_thread_loop_start(loop_.get()) != 0) {
    throw Error("pipewire: cannot start its thread");
  }
  const auto lock = locked(loop_.get());
  pw_properties* const properties =
      pw_properties_new(PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE,
                        "Camera", PW_KEY_NODE_NAME, "limpid", PW_KEY_NODE_DESCRIPTION, name.c_str(), nullptr);
  stream_ = {
      pw_stream_new_simple(pw_thread_loop_get_loop(loop_.get()), name.c_str(), properties, &kEvents, this),
      StreamDeleter{loop_.get()}};
  if (stream_ == nullptr) {
    throw Error("pipewire: cannot make a stream: " + std::generic_category().message(errno));
  }
  connect(encoder);
}

/// With the loop's lock.
void PipeWireCamera::connect(const AVCodecContext& encoder) {
  spa_video_info_raw video{};
  video.format = SPA_VIDEO_FORMAT_YUY2;
  video.size = {static_cast<std::uint32_t>(encoder.width), static_cast<std::uint32_t>(encoder.height)};
  video.framerate = rate_of(encoder);
  Parameters parameters;
  parameters.add_format(video);
  const int result =
      pw_stream_connect(stream_.get(), PW_DIRECTION_OUTPUT, PW_ID_ANY,
                        static_cast<pw_stream_flags>(PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS),
                        parameters.data(), parameters.count());
  if (result < 0) {
    throw Error("pipewire: no server answers: " + std::generic_category().message(-result));
  }
  constexpr int kSeconds = 5;
  while (!is_ready()) {
    require_server();
    if (pw_thread_loop_timed_wait(loop_.get(), kSeconds) != 0 && !is_ready()) {
      throw Error("pipewire: the server does not answer");
    }
  }
}

void PipeWireCamera::require_server() const {
  if (state_ == PW_STREAM_STATE_ERROR || state_ == PW_STREAM_STATE_UNCONNECTED) {
    throw Error("pipewire: the server has ended the camera: " +
                (failure_.empty() ? "it is disconnected" : failure_));
  }
}

void PipeWireCamera::state_changed(void* self, pw_stream_state /*before*/, pw_stream_state now,
                                   const char* failure) {
  auto& camera = *static_cast<PipeWireCamera*>(self);
  camera.state_ = now;
  camera.failure_ = failure == nullptr ? "" : failure;
  pw_thread_loop_signal(camera.loop_.get(), false);
}

void PipeWireCamera::parameter_changed(void* self, std::uint32_t id, const spa_pod* value) {
  auto& camera = *static_cast<PipeWireCamera*>(self);
  if (id != SPA_PARAM_Format || value == nullptr) {
    return;
  }
  Parameters parameters;
  parameters.add_buffers(camera.frame_size_, camera.row_size_);
  parameters.add_times();
  pw_stream_update_params(camera.stream_.get(), parameters.data(), parameters.count());
}

void PipeWireCamera::write_frame(PacketHandle frame) {
  const auto lock = locked(loop_.get());
  require_server();
  bytes_ += frame->size;
  ++frames_;
  pw_buffer* const buffer =
      state_ == PW_STREAM_STATE_STREAMING ? pw_stream_dequeue_buffer(stream_.get()) : nullptr;
  if (buffer == nullptr) {
    return;  // no program shows the camera, or none is ready for another frame
  }
  const spa_data& memory = buffer->buffer->datas[0];
  const bool fits = memory.data != nullptr && frame->size == frame_size_ &&
                    memory.maxsize >= static_cast<std::uint32_t>(frame_size_);
  if (fits) {
    std::memcpy(memory.data, frame->data, static_cast<std::size_t>(frame->size));
  }
  *memory.chunk = {.offset = 0,
                   .size = fits ? static_cast<std::uint32_t>(frame_size_) : 0,
                   .stride = row_size_,
                   .flags = static_cast<std::int32_t>(fits ? SPA_CHUNK_FLAG_NONE : SPA_CHUNK_FLAG_CORRUPTED)};
  set_time(*buffer->buffer, frames_);
  pw_stream_queue_buffer(stream_.get(), buffer);
  if (pw_stream_is_driving(stream_.get())) {
    pw_stream_trigger_process(stream_.get());
  }
}

}  // namespace

bool supports_pipewire() { return true; }

std::unique_ptr<Sink> make_pipewire_camera(const std::string& name, const AVCodecContext& encoder) {
  return std::make_unique<PipeWireCamera>(name, encoder);
}

#else

bool supports_pipewire() { return false; }

std::unique_ptr<Sink> make_pipewire_camera(const std::string& /*name*/, const AVCodecContext& /*encoder*/) {
  throw UsageError(
      "pipewire: this build is without PipeWire; install libpipewire-0.3-dev and build Limpid again");
}

#endif

}  // namespace limpid::io
