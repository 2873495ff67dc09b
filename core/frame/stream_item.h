// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <variant>

#include "core/frame/frame.h"

namespace limpid {

/// A packet of audio, subtitles or data that accompanies the frames. The module that reads sources defines
/// it.
class Packet;

struct EndOfStream {};

/// What a source delivers.
using StreamItem = std::variant<EndOfStream, Frame, std::shared_ptr<Packet>>;

}  // namespace limpid
