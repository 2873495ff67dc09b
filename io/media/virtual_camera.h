// SPDX-License-Identifier: MIT
#pragma once

// Limpid as a camera for other programs, through v4l2loopback or PipeWire.

#include <string>

#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::io {

/// Stands for PipeWire where a path of a v4l2loopback device is possible, too.
inline constexpr const char* kPipeWire = "pipewire";

/// The first v4l2loopback device of the machine, such as "/dev/video10"; without one, kPipeWire if this build
/// supports it. Empty if there is neither.
std::string default_virtual_camera();

/// The name by which other programs list a virtual camera.
std::string virtual_camera_name(const std::string& device);

/// Opens a virtual camera for frames with the properties of `source`'s. `device`: path of a v4l2loopback
/// device, or kPipeWire. Throws Error with a sentence that says what to do.
Writer open_virtual_camera(const std::string& device, const Reader& source);

}  // namespace limpid::io
