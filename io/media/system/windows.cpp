// SPDX-License-Identifier: MIT
// Cameras on Windows, which Limpid does not record yet.
#include "core/base/error.h"
#include "io/media/camera.h"

namespace limpid::io {

std::vector<Camera> list_cameras(const std::string& device) {
  if (!device.empty()) {
    throw Error(device + ": " + why_no_cameras());
  }
  return {};
}

std::string why_no_cameras() {
  return "limpid webcam records no cameras of Windows yet; record a file, and denoise it with limpid denoise";
}

std::string first_video_output() { return ""; }
std::string video_device_name(const std::string& node) { return node; }
bool is_video_device_present(const std::string& /*node*/) { return true; }

}  // namespace limpid::io
