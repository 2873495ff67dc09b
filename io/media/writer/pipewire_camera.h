// SPDX-License-Identifier: MIT
#pragma once

// A camera of PipeWire. Private to io.

#include <memory>
#include <string>

#include "io/media/libav.h"
#include "io/media/writer/sink.h"

namespace limpid::io {

/// False in a build without libpipewire.
bool supports_pipewire();

/// A camera with this name for the programs that look for cameras through PipeWire. Each receives the frames
/// that it is ready for. `encoder`: of uncompressed frames of the pixel format yuyv422. Throws Error if no
/// server answers, and write_frame() if it ends. Throws UsageError in a build without libpipewire.
std::unique_ptr<Sink> make_pipewire_camera(const std::string& name, const AVCodecContext& encoder);

}  // namespace limpid::io
