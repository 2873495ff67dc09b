// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/player/text_box.h"
#include "core/noise/noise_model.h"
#include "io/media/size.h"

namespace limpid::app {

/// The values that the statistics show.
struct Statistics {
  std::string source;  ///< name of the source
  std::string format;  ///< size, subsampling, depth, color
  std::string engine;
  double position = 0;     ///< seconds
  double duration = 0;     ///< 0 if not known
  std::int64_t frame = 0;  ///< its number
  std::string state;       ///< "playing", "paused", ...
  double source_fps = 0;
  double shown_fps = 0;
  double denoise_fps = 0;
  double denoise_fps_alone = 0;  ///< what the denoiser could do if it never waited
  std::int64_t dropped = 0;
  double latency = 0;  ///< seconds: of a live source from decoding to the screen, else of denoising
  bool live = false;
  bool runs = true;  ///< false while paused and at the end: there are no rates then
  std::string filter;
  std::string profile;              ///< empty if the filter has none
  bool keeps_pace = false;          ///< the filter is chosen so that it keeps pace
  std::vector<std::string> planes;  ///< names of the color planes
  NoiseEstimate level;              ///< as estimated or given, without the strength
  std::string strength;             ///< empty if it is 1
  std::string noise_shape;          ///< shape_text() and evidence_text()
  bool estimated = false;
  struct Load {
    std::string stage;
    double share;  ///< of the time, 0 to 1
  };
  std::vector<Load> loads;
};

/// The length of the text: small windows have less of it.
enum class Detail : std::uint8_t { kAll, kFew, kLeast };
std::vector<std::string> to_lines(const Statistics& statistics, Detail detail = Detail::kAll);

/// Height of a line of text in a window of that size, in pixels: 16 times `scale` (io::Window::scale()), more
/// on a large screen that is looked at from afar, times `factor`; less where that would cover the picture.
int text_size(io::Size window, double scale, double factor);

/// Width of the space at the edges of the window and between boxes, in pixels.
int text_margin(int line);

/// In lines of that height, with as much detail as leaves the picture to be seen in a window of that size.
TextBox statistics_box(const Statistics& statistics, int line, io::Size window);

/// A message for the user.
struct News {
  std::string text;
  bool is_failure = false;  ///< it stays until a key is pressed
};

/// Lines with tabs between keys and actions, in lines of that height, or lower ones where they would not fit
/// into a window of that size.
TextBox help_box(const std::vector<std::string>& lines, int line, io::Size window);

}  // namespace limpid::app
