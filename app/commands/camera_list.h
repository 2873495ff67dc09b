// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "app/player/camera_choice.h"

namespace limpid::app {

/// Prints the cameras of this machine, or one of them, with their formats. Returns the exit code.
int print_cameras(const std::string& device, bool as_json);

/// "there are /dev/video0 (Integrated Camera), ...", or "no camera is connected".
std::string cameras_text();

/// The name of a camera for the user: with its device if another camera has the same name; `device` itself
/// for other devices.
std::string camera_name(const std::string& device);

/// The cameras of this machine and, if it is one, `device`, with each format, size and highest rate.
std::vector<CameraChoice> camera_choices(const std::string& device);

}  // namespace limpid::app
