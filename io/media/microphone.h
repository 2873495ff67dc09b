// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/media/reader.h"

namespace limpid::io {

/// An audio device that captures.
struct Microphone {
  std::string id;    ///< for ReaderOptions::sound_device
  std::string name;  ///< for the user
  bool operator==(const Microphone&) const = default;
};

/// The microphones of a format of libavdevice, such as "alsa": the default one, and one for each sound card.
/// Empty if the format lists none.
std::vector<Microphone> list_microphones(const std::string& format);

/// The greatest sample of a packet of uncompressed audio, 0 to 1; 0 for other packets. `source`: of the
/// packet.
float peak_of(const Packet& packet, const Reader& source);

}  // namespace limpid::io
