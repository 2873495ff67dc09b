// SPDX-License-Identifier: MIT
// A camera where there is none: preloaded into a program, this library answers for the device /dev/video70 as
// the kernel's Video4Linux does, and for /dev/video71 as v4l2loopback does.
//
//   LIMPID_TEST_CAMERA    FORMAT:WIDTHxHEIGHT:FPS:FRAMES:FILE; FORMAT is mjpeg, yuyv or nv12; after FRAMES
//   frames
//                         the camera is unplugged (0: never); FILE holds one frame, which it shows all the
//                         time
//   LIMPID_TEST_LAMP      a file with the nanoseconds of the steady clock at which a lamp before the camera
//   was
//                         switched last, an odd number if on: while it is, the camera shows FILE.lit instead
//   LIMPID_TEST_CAMERA_AFTER  a file; the camera is absent until it exists
//   LIMPID_TEST_CAMERA_THEN   WIDTHxHEIGHT, of the camera that is plugged in again
//   LIMPID_TEST_LOOPBACK  the file that frames written to the loopback device go to
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kCamera = "/dev/video70";
constexpr std::string_view kLoopback = "/dev/video71";

template <typename Function>
Function next_definition(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

using Open = int (*)(const char*, int, ...);

struct Camera {
  std::string format;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int fps = 30;
  long frames = 0;
  std::array<std::string, 2> content;               // without the lamp, and with it
  const std::atomic<std::int64_t>* lamp = nullptr;  // of another process

  int descriptor = -1;  // a file in memory that contains the buffers
  std::uint8_t* memory = nullptr;
  std::uint32_t buffer_size = 0;
  std::uint32_t buffer_count = 0;
  bool streaming = false;
  bool nonblocking = false;
  Clock::time_point start;
  long ticks = 0;  // frames taken by the sensor
  struct Filled {
    std::uint32_t buffer;
    long number;
  };
  std::deque<std::uint32_t> queued;
  std::deque<Filled> filled;

  Camera() {
    std::array<char, 16> name{};
    std::array<char, 512> file{};
    const char* const text = std::getenv("LIMPID_TEST_CAMERA");
    if (text == nullptr || std::sscanf(text, "%15[^:]:%ux%u:%d:%ld:%511s", name.data(), &width, &height, &fps,
                                       &frames, file.data()) != 6) {
      return;
    }
    format = name.data();
    content[0] = read(file.data());
    content[1] = content[0];
    if (const char* const switched = std::getenv("LIMPID_TEST_LAMP")) {
      content[1] = read(std::string(file.data()) + ".lit");
      const int descriptor = next_definition<Open>("open")(switched, O_RDONLY | O_CLOEXEC);
      lamp = static_cast<const std::atomic<std::int64_t>*>(
          mmap(nullptr, sizeof(*lamp), PROT_READ, MAP_SHARED, descriptor, 0));
    }
  }

  static std::string read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::uint32_t code() const {
    return format == "mjpeg" ? V4L2_PIX_FMT_MJPEG : format == "nv12" ? V4L2_PIX_FMT_NV12 : V4L2_PIX_FMT_YUYV;
  }
  bool unplugged() const { return frames > 0 && ticks > frames; }
  std::uint32_t size() const {
    return static_cast<std::uint32_t>(std::max(content[0].size(), content[1].size()));
  }
  Clock::time_point time_of(long number) const {
    return start + number * std::chrono::nanoseconds(1'000'000'000 / fps);
  }
  /// The sensor's content at a time, if the lamp is not switched again before the call.
  const std::string& seen_at(Clock::time_point time) const {
    if (lamp == nullptr) {
      return content[0];
    }
    const std::int64_t switched = *lamp;
    const bool on = switched % 2 != 0;
    return content[(time.time_since_epoch().count() >= switched) == on ? 1 : 0];
  }

  // Processes the time since the last call: each frame fills a buffer, or is lost if none is queued.
  void catch_up() {
    for (; streaming && !unplugged() && time_of(ticks) <= Clock::now(); ++ticks) {
      if (!queued.empty()) {
        filled.push_back({queued.front(), ticks});
        queued.pop_front();
      }
    }
  }
};

std::mutex mutex;
std::set<int> loopbacks;

Camera& camera() {
  static Camera instance;
  return instance;
}

int fail(int error) {
  errno = error;
  return -1;
}

int introduce(v4l2_capability* answer, const char* card, std::uint32_t capabilities) {
  *answer = {};
  std::strcpy(reinterpret_cast<char*>(answer->driver), "stand-in");
  std::strcpy(reinterpret_cast<char*>(answer->card), card);
  answer->device_caps = capabilities;
  answer->capabilities = capabilities | V4L2_CAP_DEVICE_CAPS;
  return 0;
}

void describe(v4l2_format& format) {
  const Camera& c = camera();
  v4l2_pix_format& pixels = format.fmt.pix;
  pixels.width = c.width;
  pixels.height = c.height;
  pixels.pixelformat = c.code();
  pixels.field = V4L2_FIELD_NONE;
  pixels.bytesperline = c.format == "yuyv" ? 2 * c.width : c.format == "nv12" ? c.width : 0;
  pixels.sizeimage = c.size();
  pixels.colorspace = V4L2_COLORSPACE_SRGB;
}

int dequeue(v4l2_buffer& buffer) {
  for (;;) {
    Clock::time_point next;
    {
      const std::scoped_lock lock(mutex);
      Camera& c = camera();
      c.catch_up();
      if (!c.filled.empty()) {
        const auto [index, number] = c.filled.front();
        c.filled.pop_front();
        const std::string& seen = c.seen_at(c.time_of(number));
        std::copy(seen.begin(), seen.end(), c.memory + std::size_t{index} * c.buffer_size);
        buffer.index = index;
        buffer.bytesused = static_cast<std::uint32_t>(seen.size());
        buffer.flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_DONE;
        buffer.sequence = static_cast<std::uint32_t>(number);
        const auto time =
            std::chrono::duration_cast<std::chrono::microseconds>(c.time_of(number).time_since_epoch());
        buffer.timestamp.tv_sec = time.count() / 1'000'000;
        buffer.timestamp.tv_usec = time.count() % 1'000'000;
        return 0;
      }
      if (c.unplugged()) {
        return fail(ENODEV);
      }
      if (c.nonblocking) {
        return fail(EAGAIN);
      }
      next = c.time_of(c.ticks);
    }
    std::this_thread::sleep_until(next);
  }
}

int answer_camera(unsigned long request, void* argument) {
  if (request == VIDIOC_DQBUF) {
    return dequeue(*static_cast<v4l2_buffer*>(argument));
  }
  const std::scoped_lock lock(mutex);
  Camera& c = camera();
  c.catch_up();
  if (c.unplugged()) {
    return fail(ENODEV);
  }
  switch (request) {
    case VIDIOC_QUERYCAP:
      return introduce(static_cast<v4l2_capability*>(argument), "Stand-in \033[1mcamera",
                       V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING);
    case VIDIOC_ENUMINPUT: {
      auto& input = *static_cast<v4l2_input*>(argument);
      return input.index == 0 ? 0 : fail(EINVAL);
    }
    case VIDIOC_G_INPUT:
      *static_cast<int*>(argument) = 0;
      return 0;
    case VIDIOC_S_INPUT:
      return 0;
    case VIDIOC_ENUM_FMT: {
      auto& format = *static_cast<v4l2_fmtdesc*>(argument);
      if (format.index > 0) {
        return fail(EINVAL);
      }
      format.pixelformat = c.code();
      std::strcpy(reinterpret_cast<char*>(format.description), "The only format");
      return 0;
    }
    case VIDIOC_ENUM_FRAMESIZES: {
      auto& size = *static_cast<v4l2_frmsizeenum*>(argument);
      if (size.index > 0 || size.pixel_format != c.code()) {
        return fail(EINVAL);
      }
      size.type = V4L2_FRMSIZE_TYPE_DISCRETE;
      size.discrete = {c.width, c.height};
      return 0;
    }
    case VIDIOC_ENUM_FRAMEINTERVALS: {
      auto& interval = *static_cast<v4l2_frmivalenum*>(argument);
      if (interval.index > 0) {
        return fail(EINVAL);
      }
      interval.type = V4L2_FRMIVAL_TYPE_DISCRETE;
      interval.discrete = {1, static_cast<std::uint32_t>(c.fps)};
      return 0;
    }
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT:
    case VIDIOC_TRY_FMT:
      describe(*static_cast<v4l2_format*>(argument));
      return 0;
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: {
      auto& parameters = static_cast<v4l2_streamparm*>(argument)->parm.capture;
      parameters.capability = V4L2_CAP_TIMEPERFRAME;
      parameters.timeperframe = {1, static_cast<std::uint32_t>(c.fps)};
      return 0;
    }
    case VIDIOC_REQBUFS: {
      auto& buffers = *static_cast<v4l2_requestbuffers*>(argument);
      c.buffer_count = std::min(buffers.count, 8U);
      buffers.count = c.buffer_count;
      const auto page = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
      c.buffer_size = (c.size() + page - 1) / page * page;
      const std::size_t bytes = std::size_t{c.buffer_size} * c.buffer_count;
      if (c.buffer_count == 0) {
        return 0;
      }
      if (ftruncate(c.descriptor, static_cast<off_t>(bytes)) != 0) {
        return fail(ENOMEM);
      }
      c.memory = static_cast<std::uint8_t*>(
          mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c.descriptor, 0));
      return 0;
    }
    case VIDIOC_QUERYBUF: {
      auto& buffer = *static_cast<v4l2_buffer*>(argument);
      buffer.length = c.buffer_size;
      buffer.m.offset = buffer.index * c.buffer_size;
      return 0;
    }
    case VIDIOC_QBUF:
      c.queued.push_back(static_cast<v4l2_buffer*>(argument)->index);
      return 0;
    case VIDIOC_STREAMON:
      c.streaming = true;
      c.start = Clock::now();
      return 0;
    case VIDIOC_STREAMOFF:
      c.streaming = false;
      c.queued.clear();
      c.filled.clear();
      return 0;
    default:
      return fail(ENOTTY);
  }
}

int answer_loopback(unsigned long request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYCAP:
      return introduce(static_cast<v4l2_capability*>(argument), "Stand-in loopback",
                       V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_READWRITE);
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT:
      return 0;
    default:
      return fail(ENOTTY);
  }
}

int open_file(const char* name, const char* path, int flags, mode_t mode) {
  if (path == kCamera && std::getenv("LIMPID_TEST_CAMERA") != nullptr) {
    if (const char* const file = std::getenv("LIMPID_TEST_CAMERA_AFTER");
        file != nullptr && access(file, F_OK) != 0) {
      return fail(ENOENT);
    }
    const std::scoped_lock lock(mutex);
    Camera& c = camera();
    const char* const then = std::getenv("LIMPID_TEST_CAMERA_THEN");
    if (c.unplugged() && then != nullptr && std::sscanf(then, "%ux%u", &c.width, &c.height) == 2) {
      c.content[0].resize(std::size_t{2} * c.width * c.height);
    }
    c.descriptor = memfd_create("camera", MFD_CLOEXEC);
    c.nonblocking = (flags & O_NONBLOCK) != 0;
    // A camera that was unplugged is plugged in again.
    c.streaming = false;
    c.ticks = 0;
    c.queued.clear();
    c.filled.clear();
    return c.descriptor;
  }
  if (path == kLoopback && std::getenv("LIMPID_TEST_LOOPBACK") != nullptr) {
    // Programs that only read its capabilities open it without blocking.
    const bool asks = (flags & O_NONBLOCK) != 0;
    const int descriptor =
        next_definition<Open>("open")(asks ? "/dev/null" : std::getenv("LIMPID_TEST_LOOPBACK"),
                                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::scoped_lock lock(mutex);
    loopbacks.insert(descriptor);
    return descriptor;
  }
  return next_definition<Open>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file("open64", path, flags, mode);
}

// The forms of the two functions above in which the compiler checks their arguments.
// NOLINTBEGIN(readability-identifier-naming): the C library's names
int __open_2(const char* path, int flags) { return open_file("open", path, flags, 0); }
int __open64_2(const char* path, int flags) { return open_file("open64", path, flags, 0); }
// NOLINTEND(readability-identifier-naming)

int ioctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  bool is_camera = false;
  bool is_loopback = false;
  {
    const std::scoped_lock lock(mutex);
    is_camera = descriptor >= 0 && descriptor == camera().descriptor;
    is_loopback = loopbacks.count(descriptor) > 0;
  }
  // libav passes its request numbers as signed ones.
  const unsigned long number = request & 0xFFFFFFFFUL;
  return is_camera ? answer_camera(number, argument)
         : is_loopback
             ? answer_loopback(number, argument)
             : next_definition<int (*)(int, unsigned long, ...)>("ioctl")(descriptor, request, argument);
}

int close(int descriptor) {
  {
    const std::scoped_lock lock(mutex);
    loopbacks.erase(descriptor);
    if (descriptor == camera().descriptor) {
      camera().descriptor = -1;
    }
  }
  return next_definition<int (*)(int)>("close")(descriptor);
}
}
