// SPDX-License-Identifier: MIT
// Cameras of Video4Linux.
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "io/media/camera.h"

namespace limpid::io {
namespace {

constexpr int kMostDevices = 256;

class DeviceFile : NotCopyable {
 public:
  explicit DeviceFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {}
  ~DeviceFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  bool is_open() const { return descriptor_ >= 0; }
  /// True if the device has answered.
  template <typename Argument>
  bool ask(unsigned long request, Argument& argument) const {
    int result = 0;
    do {
      result = ::ioctl(descriptor_, request, &argument);
    } while (result < 0 && errno == EINTR);
    return result == 0;
  }

 private:
  int descriptor_;
};

/// The name of a format for libavdevice's input_format option; only common formats have names other than
/// V4L2's four letters.
std::string format_name(std::uint32_t code) {
  switch (code) {
    case V4L2_PIX_FMT_YUYV:
      return "yuyv422";
    case V4L2_PIX_FMT_UYVY:
      return "uyvy422";
    case V4L2_PIX_FMT_YUV420:
      return "yuv420p";
    case V4L2_PIX_FMT_YUV422P:
      return "yuv422p";
    case V4L2_PIX_FMT_NV12:
      return "nv12";
    case V4L2_PIX_FMT_NV21:
      return "nv21";
    case V4L2_PIX_FMT_RGB24:
      return "rgb24";
    case V4L2_PIX_FMT_BGR24:
      return "bgr24";
    case V4L2_PIX_FMT_GREY:
      return "gray";
    case V4L2_PIX_FMT_MJPEG:
    case V4L2_PIX_FMT_JPEG:
      return "mjpeg";
    case V4L2_PIX_FMT_H264:
      return "h264";
    case V4L2_PIX_FMT_HEVC:
      return "hevc";
    default: {
      std::string letters(4, ' ');
      for (std::size_t i = 0; i < letters.size(); ++i) {
        letters[i] = static_cast<char>(code >> (8 * i) & 0x7F);
      }
      return letters;
    }
  }
}

std::vector<double> rates(const DeviceFile& file, std::uint32_t format, Size size) {
  std::vector<double> rates;
  v4l2_frmivalenum interval{};
  interval.pixel_format = format;
  interval.width = static_cast<std::uint32_t>(size.width);
  interval.height = static_cast<std::uint32_t>(size.height);
  const auto add = [&](const v4l2_fract& seconds) {
    if (seconds.numerator > 0) {
      rates.push_back(static_cast<double>(seconds.denominator) / seconds.numerator);
    }
  };
  for (; file.ask(VIDIOC_ENUM_FRAMEINTERVALS, interval); ++interval.index) {
    if (interval.type != V4L2_FRMIVAL_TYPE_DISCRETE) {
      add(interval.stepwise.max);
      add(interval.stepwise.min);
      break;
    }
    add(interval.discrete);
  }
  return rates;
}

std::vector<CameraFormat::Mode> modes(const DeviceFile& file, std::uint32_t format) {
  std::vector<CameraFormat::Mode> modes;
  const auto add = [&](std::uint32_t width, std::uint32_t height) {
    const Size size{static_cast<int>(width), static_cast<int>(height)};
    modes.push_back({size, rates(file, format, size)});
  };
  v4l2_frmsizeenum size{};
  size.pixel_format = format;
  for (; file.ask(VIDIOC_ENUM_FRAMESIZES, size); ++size.index) {
    if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE) {
      add(size.stepwise.min_width, size.stepwise.min_height);
      add(size.stepwise.max_width, size.stepwise.max_height);
      break;
    }
    add(size.discrete.width, size.discrete.height);
  }
  return modes;
}

/// The capabilities of this file; the whole device may have more.
std::uint32_t own_capabilities(const v4l2_capability& answer) {
  const auto& [driver, card, bus, version, of_device, of_file, reserved] = answer;
  return (of_device & V4L2_CAP_DEVICE_CAPS) != 0 ? of_file : of_device;
}

/// Nothing for devices that do not capture video: many cameras have a second one for metadata.
std::optional<Camera> describe(const DeviceFile& file, const std::string& device) {
  v4l2_capability capability{};
  if (!file.ask(VIDIOC_QUERYCAP, capability)) {
    return std::nullopt;
  }
  if ((own_capabilities(capability) & V4L2_CAP_VIDEO_CAPTURE) == 0) {
    return std::nullopt;
  }
  Camera camera;
  camera.node = device;
  camera.name = reinterpret_cast<const char*>(capability.card);
  v4l2_fmtdesc format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  for (; file.ask(VIDIOC_ENUM_FMT, format); ++format.index) {
    camera.formats.push_back({format_name(format.pixelformat),
                              reinterpret_cast<const char*>(format.description),
                              modes(file, format.pixelformat)});
  }
  return camera;
}

/// A sentence for errno.
std::string why_not_open() {
  const int error = errno;
  return std::string("can't open it: ") + std::strerror(error) +
         (error == EACCES ? " (members of the group video usually have access)" : "");
}

}  // namespace

std::vector<Camera> list_cameras(const std::string& device) {
  std::vector<Camera> cameras;
  if (!device.empty()) {
    const DeviceFile file(device);
    if (!file.is_open()) {
      throw Error(device + ": " + why_not_open());
    }
    std::optional<Camera> camera = describe(file, device);
    if (!camera) {
      throw Error(device + ": is not a camera");
    }
    cameras.push_back(std::move(*camera));
    return cameras;
  }
  for (int number = 0; number < kMostDevices; ++number) {
    const std::string path = "/dev/video" + std::to_string(number);
    const DeviceFile file(path);
    if (!file.is_open()) {
      if (errno != ENOENT) {
        Camera closed;
        closed.node = path;
        closed.failure = why_not_open();
        cameras.push_back(std::move(closed));
      }
      continue;
    }
    if (std::optional<Camera> camera = describe(file, path)) {
      cameras.push_back(std::move(*camera));
    }
  }
  return cameras;
}

std::string why_no_cameras() { return ""; }

std::string first_video_output() {
  for (int number = 0; number < kMostDevices; ++number) {
    std::string path = "/dev/video" + std::to_string(number);
    const DeviceFile file(path);
    v4l2_capability capability{};
    if (file.is_open() && file.ask(VIDIOC_QUERYCAP, capability) &&
        (own_capabilities(capability) & V4L2_CAP_VIDEO_OUTPUT) != 0) {
      return path;
    }
  }
  return "";
}

std::string video_device_name(const std::string& node) {
  const DeviceFile file(node);
  v4l2_capability capability{};
  return file.is_open() && file.ask(VIDIOC_QUERYCAP, capability)
             ? reinterpret_cast<const char*>(capability.card)
             : "";
}

bool is_video_device_present(const std::string& node) {
  const DeviceFile file(node);
  return file.is_open() || (errno != ENOENT && errno != ENODEV && errno != ENXIO);
}

}  // namespace limpid::io
