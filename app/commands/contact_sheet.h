// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "io/media/writer.h"
#include "io/screen/display.h"

namespace limpid::app {

struct Point {
  int x = 0;
  int y = 0;
};

/// Parses "X,Y", two whole numbers >= 0. Throws UsageError that names `option`.
Point parse_point(const std::string& option, const std::string& text);

/// The top left corner of a crop in a picture, and its size.
struct CropPlace {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

/// A square with sides of `size` around the point "X,Y" (empty: the center), moved and cropped to fit into a
/// picture of width x height. Throws UsageError if the point is outside.
CropPlace place_crop(const std::string& at, int size, int width, int height);

io::RgbImage crop(const io::RgbImage& image, const CropPlace& place);

/// The image enlarged by a whole factor: each pixel becomes a square of `factor` x `factor`.
io::RgbImage enlarge(const io::RgbImage& image, int factor);

/// Pictures of one size in rows and columns, each under its label.
class ContactSheet {
 public:
  void add(std::vector<std::string> label, io::RgbImage picture);
  /// Draws the sheet. Small pictures are enlarged by whole factors, so pixels stay visible. Labels wider than
  /// their picture are broken into lines. Both sides of the sheet are even. Throws Error if there is no
  /// picture.
  io::RgbImage draw() const;

 private:
  struct Entry {
    std::vector<std::string> label;
    io::RgbImage picture;
  };
  std::vector<Entry> entries_;
};

/// Writes the sheets as the frames of a video, in 4:2:0 by the default encoder of the file's container. All
/// sheets must have one size. Keeps the pictures in the folder for temporary files until the video is
/// complete. Throws Error that names the file.
void write_clip(const std::string& file, const std::vector<ContactSheet>& sheets, double frames_per_second,
                io::Overwrite overwrite);

}  // namespace limpid::app
