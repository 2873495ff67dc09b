// SPDX-License-Identifier: MIT
// Cameras of DirectShow, by libavdevice.
extern "C" {
#include <libavdevice/avdevice.h>
}

#include "core/base/error.h"
#include "io/media/camera.h"

namespace limpid::io {

std::vector<Camera> list_cameras(const std::string& device) {
  avdevice_register_all();
  std::vector<Camera> cameras;
  AVDeviceInfoList* list = nullptr;
  const AVInputFormat* const format = av_find_input_format("dshow");
  if (format != nullptr && avdevice_list_input_sources(format, nullptr, nullptr, &list) >= 0) {
    for (int i = 0; i < list->nb_devices; ++i) {
      const AVDeviceInfo& info = *list->devices[i];
      const bool has_video = info.nb_media_types > 0 && info.media_types[0] == AVMEDIA_TYPE_VIDEO;
      const std::string node = std::string("video=") + info.device_description;
      if (has_video && (device.empty() || device == node)) {
        cameras.push_back({node, info.device_description, {}, ""});
      }
    }
    avdevice_free_list_devices(&list);
  }
  if (cameras.empty() && !device.empty()) {
    throw Error(device + ": is not a camera");
  }
  return cameras;
}

std::string why_no_cameras() {
  return "limpid webcam records no cameras of Windows yet; record a file, and denoise it with limpid denoise";
}

std::string first_video_output() { return ""; }
std::string video_device_name(const std::string& node) { return node.substr(node.find('=') + 1); }
bool is_video_device_present(const std::string& /*node*/) { return true; }

}  // namespace limpid::io
