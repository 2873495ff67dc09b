// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

/// A file of the real test data and the number of frames that ffmpeg decodes from it.
using DataFile = std::pair<std::string, std::size_t>;

class DataTest : public ::testing::TestWithParam<DataFile> {};

TEST_P(DataTest, SameNumberOfFramesAsFfmpegInOrder) {
  const std::string file = data_file(GetParam().first);
  if (file.empty()) {
    GTEST_SKIP() << "no test data in " << LIMPID_DATA_DIR;
  }
  ReaderOptions options;
  if (file.ends_with(".yuv")) {
    options.input_format = "rawvideo";
    options.options = {{"pixel_format", "yuv420p10le"}, {"video_size", "480x270"}};
  }
  Reader reader(file, options);
  std::size_t frames = 0;
  double last = -1e9;
  for (bool at_end = false; !at_end;) {
    const Reader::Item item = reader.read();
    if (const auto* const frame = std::get_if<Frame>(&item)) {
      EXPECT_GT(presentation_time(*frame).value(), last) << "frame " << frames;
      last = presentation_time(*frame).value();
      ++frames;
    }
    at_end = std::holds_alternative<Reader::End>(item);
  }
  EXPECT_EQ(frames, GetParam().second);
}

// Without the largest files (4K and 8K) and damaged_1080i_h264.ts, of which libav decodes more frames with
// more threads.
INSTANTIATE_TEST_SUITE_P(
    Files, DataTest,
    ::testing::Values(
        DataFile{"odd/cockatoo_yuv444p.mp4", 280}, DataFile{"odd/corrupted.mp4", 49},
        DataFile{"odd/cosmos_yuv444p10_pq_1f.mkv", 1}, DataFile{"odd/exif_orientation_5.jpg", 1},
        DataFile{"odd/hdr10_av1_1080p60.mp4", 60}, DataFile{"odd/hlg10_rotated_1080p_9f.mp4", 9},
        DataFile{"odd/interlaced_576i_mpeg2.ts", 61}, DataFile{"odd/lost_p_frames_qcif.264", 99},
        DataFile{"odd/mjpeg422_camera_640x480.avi", 78}, DataFile{"odd/mpeg1_highway.mpg", 1700},
        DataFile{"odd/multistream_nasa.mp4", 390}, DataFile{"odd/parkjoy_480x270_10f.y4m", 10},
        DataFile{"odd/parkjoy_576x324_12bit_3f.mkv", 3}, DataFile{"odd/parkjoy_576x324_16bit_3f.mkv", 3},
        DataFile{"odd/rot270.mov", 3}, DataFile{"odd/rotate_and_reflect.mp4", 30},
        DataFile{"odd/rotated_iphone_hevc_720p.mov", 35},
        DataFile{"odd/sparks_480x270_yuv420p10le_5f.yuv", 5}, DataFile{"odd/subs_ass.mkv", 30},
        DataFile{"odd/subs_pgs.mkv", 30}, DataFile{"odd/vfr_desks.3gp", 71},
        DataFile{"odd/vp8_flower_540p.webm", 150}, DataFile{"odd/vp9_10bit_roadtrip.webm", 72},
        DataFile{"video/akiyo_qcif_gray_100f.mkv", 100}, DataFile{"video/bus_qcif_15fps.y4m", 75},
        DataFile{"video/dinner_507p_30f.mkv", 30}, DataFile{"video/hypersmooth_540p_30f.avi", 30},
        DataFile{"video/mobile_cif_pcm_30f.264", 30}),
    [](const auto& test) {
      std::string name = test.param.first.substr(test.param.first.find('/') + 1);
      for (char& letter : name) {
        letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
      }
      return name;
    });

}  // namespace
}  // namespace limpid::io
