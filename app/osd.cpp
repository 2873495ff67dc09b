#include "app/osd.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>

#include "app/time_options.h"

namespace limpid::app {

std::vector<std::string> to_lines(const Statistics& statistics) {
  const Statistics& s = statistics;
  std::vector<std::string> lines;
  lines.push_back(s.source);
  lines.push_back(s.format);
  std::string position = time_text(s.position);
  if (s.duration > 0) {
    position += " / " + time_text(s.duration);
  }
  lines.push_back(fmt::format("{}   frame {}   {}", position, s.frame, s.state));
  lines.push_back(
      fmt::format("source {:.4g} fps   shown {:.1f} fps   dropped {}", s.source_fps, s.shown_fps, s.dropped));
  lines.push_back(fmt::format("denoise {:.1f} fps (alone {:.1f})   {} {:.1f} ms", s.denoise_fps,
                              s.denoise_fps_alone, s.live ? "latency" : "frame latency", 1000 * s.latency));
  lines.push_back(fmt::format("engine {}   filter {}{}", s.engine, s.filter,
                              s.profile.empty() ? "" : "   profile " + s.profile));
  std::string sigma = "sigma";
  for (std::size_t plane = 0; plane < s.planes.size() && plane < s.level.sigma.size(); ++plane) {
    sigma += fmt::format("  {} {:.1f}", s.planes[plane], s.level.sigma[plane]);
  }
  lines.push_back(sigma + (s.estimated ? "   (estimated)" : "   (set)"));
  std::string loads = "load";
  for (const auto& [stage, share] : s.loads) {
    loads += fmt::format("  {} {:.0f}%", stage, 100 * share);
  }
  lines.push_back(loads);
  return lines;
}

const std::vector<KeyHelp>& key_help() {
  static const std::vector<KeyHelp> help{
      {"SPACE p", "pause, play"},
      {". ,", "a frame forward, back"},
      {"LEFT RIGHT", "5 s back, forward; with Shift, or PGDN PGUP: 60 s"},
      {"HOME", "to the beginning"},
      {"[ ] BACKSPACE", "slower, faster, as the source"},
      {"UP DOWN + -", "sigma"},
      {"a", "sigma estimated from the frames"},
      {"m c", "next filter, next profile"},
      {"0 1 2 3", "difference, noisy, denoised, split"},
      {"mouse", "moves the split line"},
      {"wheel z Z", "zoom: fit, 1:1, 2:1, 4:1, 8:1; drag to move"},
      {"f, double click", "full screen"},
      {"s S", "pictures of noisy, denoised and split; of the window"},
      {"i ?", "statistics; these keys"},
      {"q ESC", "quit"},
  };
  return help;
}

std::vector<std::string> key_help_lines() {
  std::size_t width = 0;
  for (const KeyHelp& help : key_help()) {
    width = std::max(width, std::strlen(help.keys));
  }
  std::vector<std::string> lines;
  for (const auto& [keys, action] : key_help()) {
    lines.push_back(fmt::format("{:<{}}  {}", keys, width, action));
  }
  return lines;
}

}  // namespace limpid::app
