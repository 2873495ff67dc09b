// SPDX-License-Identifier: MIT
// Cameras and microphones, and Limpid as a camera for other programs.
#pragma once

#include <string>
#include <vector>

#include "io/media/display_properties.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::io {

/// A format that a camera offers: its name for V4L2's input_format option, a description for the user, and
/// the rates for each size. A camera that supports any size within bounds lists the smallest and the largest.
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
  /// Reason why the camera cannot be opened; `name` and `formats` are then empty. Empty if it can be opened.
  std::string failure;
};

/// Video4Linux devices that capture video: all of /dev/video*, including those that cannot be opened, or only
/// `device` if that is not empty. Throws Error if `device` cannot be opened or is not a camera.
std::vector<Camera> list_cameras(const std::string& device = "");

/// A sentence if this build records no cameras of this system; empty otherwise.
std::string why_no_cameras();

/// The first Video4Linux device that accepts video, as v4l2loopback's do, such as "/dev/video10"; empty if
/// there is none.
std::string first_video_output();

/// The name of a Video4Linux device, such as "Integrated Camera"; empty if it does not answer.
std::string video_device_name(const std::string& node);

/// True if a device can be opened, or is there and cannot; false if it is absent.
bool is_video_device_present(const std::string& node);

/// True if libavdevice captures by this name, as in ReaderOptions::input_format ("v4l2", "x11grab", "lavfi",
/// ...).
bool is_capture_format(const std::string& name);

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
/// Throws Error if `device`, unless it is empty, does not exist.
void require_virtual_camera(const std::string& device);

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
