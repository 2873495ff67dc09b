// SPDX-License-Identifier: MIT
#include "io/media/camera.h"

extern "C" {
#include <libavdevice/avdevice.h>
}

#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "io/media/libav.h"
#include "io/media/source.h"
#include "io/media/writer/pipewire_camera.h"

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

bool is_capture_format(const std::string& name) {
  avdevice_register_all();
  const AVInputFormat* const format = av_find_input_format(name.c_str());
  return format != nullptr && is_device(*format);
}

namespace {

constexpr const char* kName = "Limpid";

/// The command that makes a device such as /dev/video10.
std::string loading(const std::string& device) {
  const std::size_t digits = device.find_last_not_of("0123456789") + 1;
  return "'modprobe v4l2loopback exclusive_caps=1" +
         (digits < device.size() ? " video_nr=" + device.substr(digits) : "") + "' as root";
}

WriterOptions options_for(const std::string& device) {
  WriterOptions options;
  options.codec = "rawvideo";
  if (device == kPipeWire) {
    options.container = "rawvideo";
    options.pixel_format = "yuyv422";  // which most cameras deliver, and which needs no padding at any size
    options.camera = kName;
  } else {
    options.container = "v4l2";
    options.pixel_format = "yuv420p";  // which every program takes
  }
  return options;
}

/// The reason why a device could not be opened, and what to do.
std::string explained(const std::string& device, const std::string& why) {
  std::error_code ignored;
  if (device == kPipeWire) {
    return why + "; start PipeWire, or install v4l2loopback-dkms and run " + loading("");
  }
  return std::filesystem::exists(device, ignored)
             ? why + " (it must be a v4l2loopback device that no other program writes to)"
             : device + ": device not found; install v4l2loopback-dkms, then run " + loading(device);
}

}  // namespace

std::string default_virtual_camera() {
  const std::string loopback = first_video_output();
  return loopback.empty() && supports_pipewire() ? kPipeWire : loopback;
}

std::string virtual_camera_name(const std::string& device) {
  const std::string name = device == kPipeWire ? kName : video_device_name(device);
  return name.empty() ? device : name;
}

void require_virtual_camera(const std::string& device) {
  if (!device.empty() && device != kPipeWire && !is_video_device_present(device)) {
    throw Error(explained(device, ""));
  }
}

Writer open_virtual_camera(const std::string& device, const Reader& source) {
  if (device.empty()) {
    throw Error(
        "no v4l2loopback device, and this build is without PipeWire; install v4l2loopback-dkms, then run " +
        loading(device));
  }
  try {
    return {device, source, options_for(device)};
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(explained(device, error.what()));
  }
}

namespace {

// ALSA lists each card in many ways, and its plug-ins.
bool is_for_users(std::string_view device) {
  static constexpr std::array<std::string_view, 9> kPlugins{
      "null", "lavrate", "samplerate", "speexrate", "jack", "oss", "upmix", "vdownmix", "speex"};
  const bool is_plain =
      device.find(':') == std::string_view::npos && std::ranges::find(kPlugins, device) == kPlugins.end();
  return is_plain || device.starts_with("sysdefault:");
}

template <typename Sample>
float greatest(const AVPacket& packet) {
  double most = 0;
  for (std::size_t at = 0; at + sizeof(Sample) <= static_cast<std::size_t>(packet.size);
       at += sizeof(Sample)) {
    Sample sample;
    std::memcpy(&sample, packet.data + at, sizeof(sample));
    most = std::max(most, std::abs(static_cast<double>(sample)));
  }
  const double full =
      std::numeric_limits<Sample>::is_integer ? static_cast<double>(std::numeric_limits<Sample>::max()) : 1;
  return static_cast<float>(std::min(most / full, 1.0));
}

}  // namespace

std::vector<Microphone> list_microphones(const std::string& format) {
  avdevice_register_all();
  std::vector<Microphone> microphones;
  const AVInputFormat* const demuxer = av_find_input_format(format.c_str());
  AVDeviceInfoList* list = nullptr;
  if (demuxer == nullptr || avdevice_list_input_sources(demuxer, nullptr, nullptr, &list) < 0) {
    return microphones;
  }
  for (int i = 0; i < list->nb_devices; ++i) {
    const std::string device = list->devices[i]->device_name;
    std::string name = list->devices[i]->device_description;
    std::ranges::replace(name, '\n', ' ');
    if (format != "alsa" || is_for_users(device)) {
      microphones.push_back({device, name});
    }
  }
  avdevice_free_list_devices(&list);
  return microphones;
}

float peak_of(const Packet& packet, const Reader& source) {
  switch (source.codec_of(packet)) {
    case AV_CODEC_ID_PCM_S16LE:
      return greatest<std::int16_t>(packet.get());
    case AV_CODEC_ID_PCM_S32LE:
      return greatest<std::int32_t>(packet.get());
    case AV_CODEC_ID_PCM_F32LE:
      return greatest<float>(packet.get());
    case AV_CODEC_ID_PCM_F64LE:
      return greatest<double>(packet.get());
    default:
      return 0;
  }
}

}  // namespace limpid::io
