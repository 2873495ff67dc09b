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

Writer open_loopback(const std::string& device, const Reader& source) {
  WriterOptions options;
  options.container = "v4l2";
  options.codec = "rawvideo";
  options.pixel_format = "yuv420p";  // which every program takes
  std::error_code ignored;
  try {
    return {device, source, options};
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(std::filesystem::exists(device, ignored)
                    ? std::string(error.what()) +
                          " (it must be a v4l2loopback device that no other program writes to)"
                    : device + ": device not found; install v4l2loopback-dkms, then run " + kLoadLoopback);
  }
}

Writer open_pipewire(const Reader& source) {
  WriterOptions options;
  options.container = "rawvideo";
  options.codec = "rawvideo";
  options.pixel_format = "yuyv422";  // which most cameras deliver, and which needs no padding at any size
  options.camera = kName;
  try {
    return {kPipeWire, source, options};
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(std::string(error.what()) + "; start PipeWire, or install v4l2loopback-dkms and run " +
                kLoadLoopback);
  }
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
  return device == kPipeWire ? open_pipewire(source) : open_loopback(device, source);
}

}  // namespace limpid::io
