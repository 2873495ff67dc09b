// SPDX-License-Identifier: MIT
#include "plugins/gstreamer/device.h"

namespace limpid::gstreamer {

std::unique_ptr<DeviceFrames> make_device_frames() { return nullptr; }

}  // namespace limpid::gstreamer
