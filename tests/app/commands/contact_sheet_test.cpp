// SPDX-License-Identifier: MIT
#include "app/commands/contact_sheet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace limpid::app {
namespace {

io::RgbImage plain(int width, int height, io::Pixel color) {
  io::RgbImage image;
  image.resize(width, height);
  std::fill(image.pixels.begin(), image.pixels.end(), color);
  return image;
}

TEST(Point, IsTwoWholeNumbers) {
  EXPECT_EQ(parse_point("--at", "12,345").x, 12);
  EXPECT_EQ(parse_point("--at", "12,345").y, 345);
  for (const char* text :
       {"", "1", "1,", ",1", "1,2,3", "1;2", "-1,2", "1,-2", "a,b", "1.5,2", " 1,2", "99999999999,1"}) {
    EXPECT_THROW(parse_point("--at", text), UsageError) << text;
  }
}

TEST(Crop, LiesInThePictureAboutThePoint) {
  const auto expect = [](const std::string& at, int size, const std::vector<int>& place) {
    const CropPlace found = place_crop(at, size, 100, 60);
    EXPECT_EQ((std::vector{found.x, found.y, found.width, found.height}), place) << at << ", " << size;
  };
  expect("", 20, {40, 20, 20, 20});
  expect("50,30", 21, {40, 20, 21, 21});
  expect("0,0", 20, {0, 0, 20, 20});
  expect("99,59", 20, {80, 40, 20, 20});
  expect("50,30", 80, {10, 0, 80, 60});
  expect("50,30", 500, {0, 0, 100, 60});
  EXPECT_THROW(place_crop("100,10", 20, 100, 60), UsageError);
  EXPECT_THROW(place_crop("10,60", 20, 100, 60), UsageError);
}

TEST(Crop, TakesTheSamplesOfItsPlace) {
  io::RgbImage image = plain(5, 4, 1);
  image.row(2)[3] = 7;
  const io::RgbImage part = crop(image, {2, 1, 3, 2});
  EXPECT_EQ(part.width, 3);
  EXPECT_EQ(part.height, 2);
  EXPECT_EQ(part.pixels, (std::vector<io::Pixel>{1, 1, 1, 1, 7, 1}));
  EXPECT_EQ(enlarge(crop(image, {3, 2, 2, 1}), 2).pixels, (std::vector<io::Pixel>{7, 7, 1, 1, 7, 7, 1, 1}));
}

TEST(ContactSheet, ShowsEveryPictureEnlargedUnderItsLabel) {
  const std::vector<io::Pixel> colors = {io::make_pixel(200, 0, 0), io::make_pixel(0, 200, 0),
                                         io::make_pixel(0, 0, 200)};
  ContactSheet sheet;
  for (const io::Pixel color : colors) {
    sheet.add({"a label that is much wider than its small picture is", "2"}, plain(40, 20, color));
  }
  const io::RgbImage image = sheet.draw();
  for (const io::Pixel color : colors) {
    EXPECT_EQ(std::count(image.pixels.begin(), image.pixels.end(), color), 320 * 160);
  }
  // Two columns and two rows, with text in one color.
  EXPECT_GE(image.width, 2 * 320);
  EXPECT_LT(image.width, 3 * 320);
  EXPECT_GE(image.height, 2 * 160);
  std::vector<io::Pixel> used = image.pixels;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  EXPECT_EQ(used.size(), 5U);
}

TEST(ContactSheet, EmptySheetIsAnError) { EXPECT_THROW(ContactSheet().draw(), Error); }

}  // namespace
}  // namespace limpid::app
