// SPDX-License-Identifier: MIT
#include "io/media/camera.h"

#include "io/media/writer/sinks.h"

extern "C" {
#include <libavdevice/avdevice.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

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
