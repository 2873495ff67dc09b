#pragma once

#include <string>
#include <vector>

#include "io/screen/rgb_image.h"

namespace limpid::app {

struct Point {
  int x = 0;
  int y = 0;
};

/// Parses "X,Y", two whole numbers from 0 on. Throws UsageError that names `option`.
Point parse_point(const std::string& option, const std::string& text);

/// Where a crop lies in a picture.
struct CropPlace {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

/// A square of `size` around the point "X,Y" (empty: the center), moved and cropped to a picture of width x
/// height. Throws UsageError if the point is outside.
CropPlace place_crop(const std::string& at, int size, int width, int height);

io::RgbImage crop(const io::RgbImage& image, const CropPlace& place);

/// Each pixel as a square of `factor`.
io::RgbImage enlarge(const io::RgbImage& image, int factor);

/// Pictures of one size in rows and columns, each under its label.
class ContactSheet {
 public:
  void add(std::vector<std::string> label, io::RgbImage picture);
  /// Small pictures are enlarged by whole factors, so that pixels stay visible; lines of labels that are
  /// wider than their picture are broken. Throws Error if there is no picture.
  io::RgbImage draw() const;

 private:
  struct Entry {
    std::vector<std::string> label;
    io::RgbImage picture;
  };
  std::vector<Entry> entries_;
};

}  // namespace limpid::app
