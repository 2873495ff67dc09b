// SPDX-License-Identifier: MIT
#include "io/media/virtual_camera.h"

#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "io/media/camera.h"
#include "io/media/writer/pipewire_camera.h"

namespace limpid::io {
namespace {

constexpr const char* kName = "Limpid";
constexpr const char* kLoadLoopback = "'modprobe v4l2loopback exclusive_caps=1' as root";

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
    return why + "; start PipeWire, or install v4l2loopback-dkms and run " + kLoadLoopback;
  }
  return std::filesystem::exists(device, ignored)
             ? why + " (it must be a v4l2loopback device that no other program writes to)"
             : device + ": device not found; install v4l2loopback-dkms, then run " + kLoadLoopback;
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

Writer open_virtual_camera(const std::string& device, const Reader& source) {
  if (device.empty()) {
    throw Error(
        std::string("no v4l2loopback device, and this build is without PipeWire; install v4l2loopback-dkms, "
                    "then run ") +
        kLoadLoopback);
  }
  try {
    return {device, source, options_for(device)};
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(explained(device, error.what()));
  }
}

}  // namespace limpid::io
