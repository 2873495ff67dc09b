// SPDX-License-Identifier: MIT
#include "app/commands/contact_sheet.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "io/media/reader.h"
#include "io/screen/control_layer.h"

namespace limpid::app {
namespace {

constexpr int kLeastCell = 320;  // to which pictures are enlarged
constexpr int kGap = 8;
constexpr float kTextHeight = 26;  // twice the pixels of the font that Dear ImGui contains
constexpr io::Pixel kSheetColor = io::make_pixel(32, 32, 32);
constexpr io::Pixel kInk = io::make_pixel(240, 240, 240);

// The font that Dear ImGui contains, whose characters are equally wide, so that sheets need no font on the
// machine.
class LabelFont {
 public:
  LabelFont() {
    ImFontConfig config;
    config.SizePixels = kTextHeight;
    config.OversampleH = 1;
    font_ = atlas_.AddFontDefault(&config);
    atlas_.GetTexDataAsAlpha8(&pixels_, &width_, &height_);
  }

  int advance() const { return static_cast<int>(font_->FindGlyph('m')->AdvanceX); }
  int line_height() const { return static_cast<int>(kTextHeight); }

  /// Draws a line with its top left corner at (x, y), which must lie within the image.
  void draw(const std::string& line, int x, int y, io::RgbImage& image) const {
    for (const std::uint32_t character : io::characters_of(line)) {
      const ImFontGlyph& glyph = *font_->FindGlyph(static_cast<ImWchar>(character));
      const auto left = static_cast<int>(std::lround(glyph.U0 * static_cast<float>(width_)));
      const auto top = static_cast<int>(std::lround(glyph.V0 * static_cast<float>(height_)));
      for (int row = 0; row < static_cast<int>(glyph.Y1 - glyph.Y0); ++row) {
        for (int column = 0; column < static_cast<int>(glyph.X1 - glyph.X0); ++column) {
          if (pixels_[(top + row) * width_ + left + column] >= 128) {
            image.row(y + static_cast<int>(glyph.Y0) + row)[x + static_cast<int>(glyph.X0) + column] = kInk;
          }
        }
      }
      x += advance();
    }
  }

 private:
  ImFontAtlas atlas_;
  ImFont* font_ = nullptr;
  unsigned char* pixels_ = nullptr;  // opacities
  int width_ = 0;
  int height_ = 0;
};

std::vector<std::string> broken(const std::vector<std::string>& lines, int width, const LabelFont& font) {
  const auto most = static_cast<std::size_t>(std::max(width / font.advance(), 1));
  std::vector<std::string> all;
  for (const std::string& line : lines) {
    for (std::size_t begin = 0; begin < line.size(); begin += most) {
      all.push_back(line.substr(begin, most));
    }
  }
  return all;
}

void paste(const io::RgbImage& from, int x, int y, io::RgbImage& to) {
  for (int row = 0; row < from.height; ++row) {
    std::copy_n(from.row(row), from.width, to.row(y + row) + x);
  }
}

}  // namespace

Point parse_point(const std::string& option, const std::string& text) {
  Point point;
  const char* const end = text.data() + text.size();
  const auto x = std::from_chars(text.data(), end, point.x);
  if (x.ec == std::errc() && x.ptr != end && *x.ptr == ',') {
    const auto y = std::from_chars(x.ptr + 1, end, point.y);
    if (y.ec == std::errc() && y.ptr == end && point.x >= 0 && point.y >= 0) {
      return point;
    }
  }
  throw UsageError(option + ": '" + text + "' is not two whole numbers as in 120,80");
}

CropPlace place_crop(const std::string& at, int size, int width, int height) {
  const Point center = at.empty() ? Point{width / 2, height / 2} : parse_point("--at", at);
  if (center.x >= width || center.y >= height) {
    throw UsageError("--at: " + at + " is outside of the picture of " + std::to_string(width) + "x" +
                     std::to_string(height));
  }
  CropPlace place;
  place.width = std::min(size, width);
  place.height = std::min(size, height);
  place.x = std::clamp(center.x - size / 2, 0, width - place.width);
  place.y = std::clamp(center.y - size / 2, 0, height - place.height);
  return place;
}

io::RgbImage crop(const io::RgbImage& image, const CropPlace& place) {
  io::RgbImage result;
  result.resize(place.width, place.height);
  for (int y = 0; y < place.height; ++y) {
    std::copy_n(image.row(place.y + y) + place.x, place.width, result.row(y));
  }
  return result;
}

io::RgbImage enlarge(const io::RgbImage& image, int factor) {
  io::RgbImage result;
  result.resize(image.width * factor, image.height * factor);
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      result.row(y)[x] = image.row(y / factor)[x / factor];
    }
  }
  return result;
}

void ContactSheet::add(std::vector<std::string> label, io::RgbImage picture) {
  entries_.push_back({std::move(label), std::move(picture)});
}

io::RgbImage ContactSheet::draw() const {
  if (entries_.empty()) {
    throw Error("a contact sheet needs pictures");
  }
  const io::RgbImage& first = entries_.front().picture;
  const int factor = std::max((kLeastCell + first.width - 1) / first.width, 1);
  const int cell_width = first.width * factor;
  const int picture_height = first.height * factor;
  const LabelFont font;
  std::size_t lines = 0;
  for (const Entry& entry : entries_) {
    lines = std::max(lines, broken(entry.label, cell_width, font).size());
  }
  const int label_height = static_cast<int>(lines) * font.line_height() + kGap;
  const int cell_height = label_height + picture_height;
  const int count = static_cast<int>(entries_.size());
  const int columns = static_cast<int>(std::ceil(std::sqrt(count)));
  const int rows = (count + columns - 1) / columns;

  io::RgbImage sheet;
  const auto even = [](int side) { return side + side % 2; };  // video has whole samples of 4:2:0 chroma
  sheet.resize(even(columns * (cell_width + kGap) + kGap), even(rows * (cell_height + kGap) + kGap));
  std::fill(sheet.pixels.begin(), sheet.pixels.end(), kSheetColor);
  for (int i = 0; i < count; ++i) {
    const int x = kGap + (i % columns) * (cell_width + kGap);
    int y = kGap + (i / columns) * (cell_height + kGap);
    paste(enlarge(entries_[i].picture, factor), x, y + label_height, sheet);
    for (const std::string& line : broken(entries_[i].label, cell_width, font)) {
      font.draw(line, x, y, sheet);
      y += font.line_height();
    }
  }
  return sheet;
}

void write_clip(const std::string& file, const std::vector<ContactSheet>& sheets, double frames_per_second,
                io::Overwrite overwrite) {
  const io::TemporaryFolder folder;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    io::write_png(folder.file(fmt::format("{:06}.png", i)), sheets[i].draw(), io::Overwrite::kNever);
  }
  constexpr double kUsualRate = 25;
  io::ReaderOptions pictures;
  pictures.options = {
      {"framerate", fmt::format("{}", frames_per_second > 0 ? frames_per_second : kUsualRate)}};
  io::Reader reader(folder.file("%06d.png"), pictures);
  io::WriterOptions options;
  options.overwrite = overwrite;
  options.for_players = true;
  io::Writer writer(file, reader, options);
  while (const std::optional<Frame> frame = next_frame(reader)) {
    writer.write(*frame);
  }
  writer.finish();
}

}  // namespace limpid::app
