// SPDX-License-Identifier: MIT
// Cameras of PipeWire in a build without libpipewire.
#include "core/base/error.h"
#include "io/media/writer/pipewire_camera.h"

namespace limpid::io {

bool supports_pipewire() { return false; }

std::unique_ptr<Sink> make_pipewire_camera(const std::string& /*name*/, const AVCodecContext& /*encoder*/) {
  throw UsageError(
      "pipewire: this build is without PipeWire; install libpipewire-0.3-dev and build Limpid again");
}

}  // namespace limpid::io
