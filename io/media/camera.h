#pragma once

#include <string>
#include <vector>

#include "io/media/size.h"

namespace limpid::io {

/// A format that a camera offers: its name as V4L2's input_format option takes it, a description for a
/// person, and for each size the rates. A camera that takes any size within bounds tells the smallest and the
/// largest.
struct CameraFormat {
  std::string name;
  std::string description;
  struct Mode {
    Size size;
    std::vector<double> frames_per_second;
  };
  std::vector<Mode> modes;
};

struct Camera {
  std::string node;  ///< such as /dev/video0
  std::string name;
  std::vector<CameraFormat> formats;
  std::string failure;  ///< why it can't be opened, in which case nothing else is known; else empty
};

/// Video4Linux devices that capture video: all of /dev/video*, with those that can't be opened, or only
/// `device` if that isn't empty. Throws Error if `device` can't be opened or is no camera.
std::vector<Camera> list_cameras(const std::string& device = "");

/// Whether libavdevice captures by that name, as in ReaderOptions::input_format ("v4l2", "x11grab", "lavfi",
/// ...).
bool is_capture_format(const std::string& name);

}  // namespace limpid::io
