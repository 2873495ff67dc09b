// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace limpid::app {

/// A camera with a format, a size and a rate, as the options of `limpid webcam` take them; empty: the
/// camera's choice.
struct CameraChoice {
  std::string name;  ///< for the user
  std::string node;  ///< such as "/dev/video0"
  std::string format;
  std::string size;  ///< such as "1280x720"
  std::string fps;
  std::string microphone;  ///< as the option --audio takes it; empty: the one in use
  bool operator==(const CameraChoice&) const = default;
};

}  // namespace limpid::app
