// SPDX-License-Identifier: MIT
#pragma once

#include <imgui.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/noise/noise_model.h"
#include "io/media/display_properties.h"

namespace limpid::app {

/// White lines on a translucent dark box that fits around them, in the font of io::ControlLayer for overlays.
/// Exists within a frame of ImGui.
class TextBox {
 public:
  /// `line`: height of a line in pixels. `width`: the greatest width of the box; longer lines are wrapped. A
  /// tab separates two columns.
  TextBox(const std::vector<std::string>& lines, int line, int width);

  io::Size size() const { return size_; }
  /// Draws the box over the picture, with its left upper corner at (x, y).
  void draw(int x, int y) const;

 private:
  struct Piece {
    std::string text;
    ImVec2 at;
    float width = 0;  ///< at which the text is wrapped
  };

  ImVec2 extent(const std::string& text, float width) const;

  float pixels_;
  std::vector<Piece> pieces_;
  io::Size size_;
};

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

/// The short text over the picture that answers the user or reports news.
class Notices {
 public:
  using Time = std::chrono::steady_clock::time_point;

  const std::string& text() const { return text_; }
  /// Number of texts that have been shown.
  std::int64_t count() const { return count_; }

  void show(const std::string& text, Time now, bool long_enough_to_read = false) {
    ++count_;
    text_ = text;
    until_ = now + (long_enough_to_read ? kNewsTime : kNoticeTime);
  }
  /// A failure stays until dismiss(), and is not replaced by other news.
  void report(const News& news, Time now) {
    if (news.is_failure || until_ != Time::max()) {
      text_ = news.text;
      until_ = news.is_failure ? Time::max() : now + kNewsTime;
    }
  }
  /// Removes a text whose time has passed. Returns true if it did.
  bool expire(Time now) {
    const bool expires = !text_.empty() && now >= until_;
    if (expires) {
      text_.clear();
      until_ = {};
    }
    return expires;
  }
  /// Removes a failure. Returns true if there was one.
  bool dismiss() { return until_ == Time::max() && expire(until_); }

 private:
  static constexpr std::chrono::milliseconds kNoticeTime{1500};
  static constexpr std::chrono::milliseconds kNewsTime{4000};  // with the name of a file

  std::string text_;
  std::int64_t count_ = 0;
  Time until_;
};

}  // namespace limpid::app
