// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/player/osd.h"
#include "app/player/played_frame.h"
#include "app/player/view.h"
#include "core/frame/frame.h"
#include "core/stream/noise_control.h"
#include "io/media/camera.h"
#include "io/media/filter_chain.h"
#include "io/media/reader.h"
#include "io/screen/window.h"

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

struct ViewerOptions {
  std::string source;  ///< what to call it
  FrameFormat format;
  io::DisplayProperties display;
  /// What pictures pass through before they are shown or saved. Null without such filters.
  std::shared_ptr<io::PictureFilter> after;
  std::string engine;
  double duration = 0;     ///< seconds; 0 if not known
  bool keep_open = false;  ///< stay at the last frame
  bool loop = false;
  Passage passage;  ///< that is played at first; the whole source if it is empty
  bool still_picture = false;
  std::int64_t frames = 0;  ///< quit when so many have been shown; 0: no limit
  /// File for a picture of the window with the last of `frames`. No frame is dropped then.
  std::string screenshot;
  bool overwrite = false;      ///< replace an existing file of that name
  std::string picture_folder;  ///< for the pictures of keys; empty: beside the source
  bool overlay = true;         ///< labels, hints and controls appear by themselves
  bool controls = false;       ///< controls stay on the screen from the start
  Side side = Side::kSplit;
  int zoom = 0;
  double split = 0.5;  ///< of the window's width, until the pointer moves
  io::WindowOptions window;
  std::vector<io::Chapter> chapters;
  std::string notice;                       ///< shown with the first frame
  std::shared_ptr<io::Window> open_window;  ///< that is used instead of a new one, with its size
  double text_size = 1;                     ///< factor of the size that suits the screen and the window
  std::vector<std::string> filters;         ///< to choose from with a key
  bool keep_times = false;                  ///< of every frame shown, for the report
  /// What is being recorded, in a few words for the statistics; called now and then. May be empty, and so may
  /// the words.
  std::function<std::string()> recording;
  /// Begins a recording or ends it, and returns a few words on that. Empty if nothing can be recorded.
  std::function<std::string()> toggle_recording;
  /// Switches the loopback device on or off, and returns a few words on that. Empty for files.
  std::function<std::string()> toggle_loopback;
  /// True while other programs receive the frames. Empty for files.
  std::function<bool()> loops_back;
  std::string camera;                 ///< device of the camera that is shown
  std::vector<CameraChoice> cameras;  ///< that the window can show instead
  /// Says that the camera is gone; empty while it is there. May be empty.
  std::function<std::string()> trouble;
  std::function<std::vector<CameraChoice>()> find_cameras;  ///< lists `cameras` again, while it is gone
  std::vector<io::Microphone> microphones;
  std::string microphone;              ///< device of the one in use; empty if there is none
  std::function<float()> sound_level;  ///< of the microphone, 0 to 1; empty without one
  bool mirrored = false;
  /// Returns messages that no key requested; called regularly. May be empty, and so may the text.
  std::function<News()> news;
  /// Called regularly if there is no display: once it returns false, run() ends. May be empty.
  std::function<bool()> is_needed;
  /// The words of the command line that denoises the source with these settings, from "limpid" on, without
  /// its output. Empty if there is none, as for a camera.
  std::function<std::vector<std::string>(const PlayerSettings&, const Passage&)> command;
  std::string input;  ///< path of the source, for the names of files written
  /// The encoders of a file beside the input, by libavcodec's names, for each Encoding; empty: not possible.
  std::array<std::string, 3> encoders;
  std::int64_t frame_count = 0;  ///< of the source; 0: not known
  bool lossless = false;         ///< the source's codec keeps all samples
  /// Returns why the window cannot show a file; empty if it can. Empty for a camera.
  std::function<std::string(const std::string& path)> refuse_file;
  FieldChoice fields = FieldChoice::kAuto;  ///< for settings files
  std::string program = "/proc/self/exe";   ///< runs `command`

  /// Properties of pictures as they are shown.
  const FrameFormat& shown_format() const { return after == nullptr ? format : after->format(); }
  const io::DisplayProperties& shown_display() const { return after == nullptr ? display : after->display(); }
  /// A frame in host memory as it is shown; others are returned unchanged if there are no filters.
  Frame shown(const Frame& frame) const { return after == nullptr ? frame : after->filter(frame); }
};

}  // namespace limpid::app
