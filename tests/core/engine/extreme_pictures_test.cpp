// SPDX-License-Identifier: MIT
// Every filter on flat, periodic and saturated pictures. Their patches are equal or nearly so, and searches
// must not lose the reference patch among equals.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/settings/filter_settings.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/samples.h"

namespace limpid {
namespace {

using test::run_stream;
using test::store_sample;
using test::white_noise;

constexpr int kClipFrames = 3;

/// A value in 8-bit code values for each position of luma.
using PictureFunction = std::function<double(int x, int y)>;

Frame draw_picture_of(const FrameFormat& format, const PictureFunction& picture) {
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        store_sample(frame, p, x, y, picture(x, y));
      }
    }
  }
  return frame;
}

/// All filters, and filters whose groups have room for the reference patch only.
std::vector<std::string> tested_filters() {
  std::vector<std::string> filters;
  for (const FilterType& type : filter_types()) {
    filters.push_back(type.name);
  }
  filters.emplace_back("bm3d:group-size=1:group-size-2=1");
  filters.emplace_back("vbm4d:group-size=1:group-size-2=1:reach=0");
  return filters;
}

class ExtremePictures : public EngineSuite {
 protected:
  std::vector<Frame> run(const std::string& filter, const std::vector<Frame>& frames, float sigma) {
    return run_stream(*engine().make_denoiser(make_filter(parse_filter_settings(filter), false),
                                              white_noise(sigma), frames.front().format),
                      frames);
  }
};

TEST_P(ExtremePictures, FlatPicturesStayFlat) {
  for (const FrameFormat& format :
       {oracle::gray(40, 33, 10), oracle::yuv(40, 34, 1, 1), oracle::rgb(33, 35)}) {
    const bool is_gray = format.color_model == ColorModel::kGray;
    for (const double level :
         is_gray ? std::vector{0.0, 1.0, 100.0, 254.0, 255.0} : std::vector{0.0, 100.0}) {
      const std::vector<Frame> frames(kClipFrames, draw_picture_of(format, [&](int, int) { return level; }));
      for (const std::string& filter : tested_filters()) {
        for (const float sigma : {0.1F, 10.0F}) {
          for (const Frame& result : run(filter, frames, sigma)) {
            // The correction of clipped noise darkens values near black, and brightens those near white.
            const double tolerance = level == 1 || level == 254 ? 4 : 0.5;
            ASSERT_LE(oracle::compare(result, frames[0]).greatest, tolerance)
                << filter << ", " << level << ", " << sigma;
          }
        }
      }
    }
  }
}

TEST_P(ExtremePictures, PicturesOfEqualPatchesAreUnchangedInWeakNoise) {
  const std::vector<PictureFunction> pictures = {
      [](int x, int) { return x % 4 < 2 ? 200 : 40; },
      [](int, int y) { return y % 4 < 2 ? 0 : 255; },
      [](int x, int y) { return (x + y) % 2 == 0 ? 255 : 0; },
      [](int x, int) { return 2 * x + 30; },
      [](int x, int y) { return x / 8 % 2 == y / 8 % 2 ? 255 : 0; },
  };
  for (const FrameFormat& format : {oracle::gray(48, 40), oracle::yuv(48, 40, 1, 1)}) {
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::vector<Frame> frames(kClipFrames, draw_picture_of(format, pictures[i]));
      for (const std::string& filter : tested_filters()) {
        for (const float sigma : {0.1F, 0.5F}) {
          for (const Frame& result : run(filter, frames, sigma)) {
            ASSERT_LE(oracle::compare(result, frames[0]).greatest, 1)
                << filter << ", picture " << i << ", " << sigma;
          }
        }
      }
    }
  }
}

// Clipped noise leaves large areas that are exactly black or white.
TEST_P(ExtremePictures, SaturatedPicturesHaveNoHoles) {
  const FrameFormat format = oracle::gray(64, 48);
  const auto is_bright = [](int x) { return x >= 32; };
  for (const float sigma : {0.1F, 1.0F, 5.0F, 25.0F}) {
    std::vector<Frame> frames;
    for (unsigned t = 0; t < kClipFrames; ++t) {
      frames.push_back(
          oracle::add_noise(draw_picture_of(format, [&](int x, int) { return is_bright(x) ? 255 : 0; }),
                            static_cast<double>(sigma), t));
    }
    for (const std::string& filter : tested_filters()) {
      for (const Frame& result : run(filter, frames, sigma)) {
        for (int y = 0; y < format.height; ++y) {
          for (int x = 0; x < format.width; ++x) {
            const int value = result.planes[0].row<std::uint8_t>(y)[x];
            ASSERT_EQ(value >= 128, is_bright(x)) << filter << ", " << sigma << ": " << x << ", " << y;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ExtremePictures, kSuiteEngines, suite_name);

}  // namespace
}  // namespace limpid
