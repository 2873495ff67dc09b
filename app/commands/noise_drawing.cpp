// SPDX-License-Identifier: MIT
#include "app/commands/noise_drawing.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "app/pipeline/noise_text.h"

namespace limpid::app {
namespace {

// Lengths in pixels.
constexpr int kPictureWidth = 780;
constexpr int kDrawingMargin = 24;
constexpr int kLine = 24;
constexpr int kSmallLine = 16;
constexpr int kPlotSide = 256;
constexpr int kPlotX = 84;
constexpr int kSquaresX = 480;
constexpr int kSquareSide = kPlotSide / NoiseShape::kFrequencies;

enum class Anchor { kStart, kMiddle, kEnd };

/// Elements of an SVG picture, one a line.
class SvgPicture {
 public:
  void text(double x, double y, std::string_view words, Anchor anchor = Anchor::kMiddle,
            std::string_view more = "") {
    static constexpr std::array<std::string_view, 3> kAnchors = {"start", "middle", "end"};
    body_ += fmt::format("<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                         kAnchors[static_cast<std::size_t>(anchor)], more, words);
  }
  void upright_text(double x, double y, std::string_view words) {
    text(x, y, words, Anchor::kMiddle, fmt::format(" transform=\"rotate(-90 {:g} {:g})\"", x, y));
  }
  void line(double x0, double y0, double x1, double y1) {
    body_ += fmt::format(
        "<line x1=\"{:g}\" y1=\"{:g}\" x2=\"{:g}\" y2=\"{:g}\" stroke=\"#ccc\" stroke-width=\"1\"/>\n", x0,
        y0, x1, y1);
  }
  void square(double x, double y, double side, int gray) {
    body_ += fmt::format(
        "<rect x=\"{0:g}\" y=\"{1:g}\" width=\"{2:g}\" height=\"{2:g}\" fill=\"rgb({3},{3},{3})\"/>\n", x, y,
        side, gray);
  }
  void begin_curve() { body_ += "<polyline fill=\"none\" stroke=\"#04c\" stroke-width=\"2\" points=\""; }
  void point(double x, double y) { body_ += fmt::format("{:g},{:.5g} ", x, y); }
  void end_curve() { body_ += "\"/>\n"; }

  std::string document(int width, int height) const {
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
        "font-size=\"13\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{2}</svg>\n",
        width, height, body_);
  }

 private:
  std::string body_;
};

/// The steps of an axis from 0 to `most`: 1, 2 or 5 times a power of 10, about four of them.
double axis_step(double most) {
  const double rough = most / 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= rough) {
      return digit * power;
    }
  }
  return 10 * power;
}

void draw_curve(const PlaneNoise& noise, int top, SvgPicture& svg) {
  const auto deviation = [&](float relative) { return static_cast<double>(noise.sigma * relative); };
  const auto& curve = noise.shape.curve;
  const double step = axis_step(deviation(*std::max_element(curve.begin(), curve.end())));
  const double most =
      step * std::ceil(deviation(*std::max_element(curve.begin(), curve.end())) / step * 1.0001);
  const auto height_of = [&](double value) { return top + kPlotSide * (1 - value / most); };
  for (int i = 0; i * step < most * 1.0001; ++i) {
    svg.line(kPlotX, height_of(i * step), kPlotX + kPlotSide, height_of(i * step));
    svg.text(kPlotX - 8, height_of(i * step) + 4, fmt::format("{:.3g}", i * step), Anchor::kEnd);
  }
  constexpr int kTicks = 4;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double x = kPlotX + tick * kPlotSide / static_cast<double>(kTicks);
    const float steps = static_cast<float>(tick * BrightnessScale::kSteps) / kTicks;
    svg.line(x, top, x, top + kPlotSide);
    svg.text(x, top + kPlotSide + kSmallLine,
             fmt::format("{:.4g}", curve.scale.origin + steps * curve.scale.spacing));
  }
  svg.begin_curve();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    svg.point(kPlotX + static_cast<double>(i) * kPlotSide / static_cast<double>(curve.size() - 1),
              height_of(deviation(curve[i])));
  }
  svg.end_curve();
  svg.text(kPlotX + kPlotSide / 2.0, top + kPlotSide + 2.3 * kSmallLine, "brightness (8-bit code values)");
  svg.upright_text(kPlotX - 48, top + kPlotSide / 2.0, "deviation (8-bit code values)");
}

void draw_spectrum(const PlaneNoise& noise, int top, SvgPicture& svg) {
  constexpr int kRow = NoiseShape::kFrequencies;
  const auto& spectrum = noise.shape.spectrum;
  const float most = std::sqrt(*std::max_element(spectrum.begin(), spectrum.end()));
  for (int v = 0; v < kRow; ++v) {
    const int y = top + v * kSquareSide;
    svg.text(kSquaresX - 8, y + kSquareSide / 2.0 + 4, std::to_string(v), Anchor::kEnd);
    svg.text(kSquaresX + (v + 0.5) * kSquareSide, top + kPlotSide + kSmallLine, std::to_string(v));
    for (int u = 0; u < kRow; ++u) {
      const int x = kSquaresX + u * kSquareSide;
      const float relative = std::sqrt(spectrum[v * kRow + u]);
      const int gray = static_cast<int>(std::lround(255 * (1 - relative / most)));
      svg.square(x, y, kSquareSide, gray);
      svg.text(x + kSquareSide / 2.0, y + kSquareSide / 2.0 + 4,
               fmt::format("{:.3g}", noise.sigma * relative), Anchor::kMiddle,
               fmt::format(" font-size=\"10\" fill=\"{}\"", gray < 128 ? "white" : "black"));
    }
  }
  svg.text(kSquaresX + kPlotSide / 2.0, top + kPlotSide + 2.3 * kSmallLine,
           "horizontal frequency (of the 8x8 DCT)");
  svg.upright_text(kSquaresX - 28, top + kPlotSide / 2.0, "vertical frequency");
}

}  // namespace

std::string draw_noise(const NoiseModel& noise, ColorModel color_model, const std::string& title) {
  SvgPicture svg;
  int y = kDrawingMargin + kLine / 2;
  svg.text(kDrawingMargin, y, title, Anchor::kStart, " font-size=\"16\"");
  for (const ChannelNoise& channel : channels_of(noise, color_model)) {
    y += kLine + kLine / 2;
    std::string head = fmt::format("{}: ", channel.name);
    if (channel.noise.sigma > 0) {
      head += fmt::format("sigma {:.2f}{}", channel.noise.sigma, channel.has_shape ? ", " : "");
    }
    if (channel.has_shape) {
      const std::string repetition = repetition_text(channel.noise);
      head += fmt::format("{}{}{}", kind_of(channel.noise), repetition.empty() ? "" : ", ", repetition);
    }
    svg.text(kDrawingMargin, y, head, Anchor::kStart, " font-weight=\"bold\"");
    if (channel.has_shape && channel.noise.sigma > 0) {
      y += kLine;
      draw_curve(channel.noise, y, svg);
      draw_spectrum(channel.noise, y, svg);
      y += kPlotSide + 2 * kLine;
    }
  }
  return svg.document(kPictureWidth, y + kDrawingMargin);
}

}  // namespace limpid::app
