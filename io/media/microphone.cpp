// SPDX-License-Identifier: MIT
#include "io/media/microphone.h"

extern "C" {
#include <libavdevice/avdevice.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "io/media/libav.h"
#include "io/media/packet.h"
#include "io/media/source.h"

namespace limpid::io {
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
