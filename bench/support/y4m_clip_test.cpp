// SPDX-License-Identifier: MIT
#include "bench/support/y4m_clip.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/engines.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

class Y4mClip : public testing::Test {
 protected:
  ~Y4mClip() override { std::filesystem::remove(file_); }

  // Two frames of 8x4 samples: luma is 10 y + x + 100 t, chroma is 30 and 60.
  void write(const std::string& header) const {
    std::ofstream out(file_, std::ios::binary);
    out << header << '\n';
    for (int t = 0; t < 2; ++t) {
      out << "FRAME\n";
      for (int i = 0; i < 32; ++i) {
        out.put(static_cast<char>(10 * (i / 8) + i % 8 + 100 * t));
      }
      out << std::string(8, '\x1E') << std::string(8, '\x3C');
    }
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      (std::string("limpid-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".y4m");
  const std::shared_ptr<Engine> engine_ = engine_registry().open("cpu", {.threads = 1});
};

TEST_F(Y4mClip, IsCutToTheCenter) {
  write("YUV4MPEG2 W8 H4 F25:1 C420jpeg");
  const std::vector<Frame> frames = read_y4m(file_, *engine_, oracle::yuv(4, 2, 1, 1), 5);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].planes[0].row<std::uint8_t>(0)[0], 100 + 10 + 2);
  EXPECT_EQ(frames[1].planes[0].row<std::uint8_t>(1)[3], 100 + 20 + 5);
  EXPECT_EQ(frames[0].planes[1].row<std::uint8_t>(0)[0], 30);
  EXPECT_EQ(frames[0].planes[2].row<std::uint8_t>(0)[1], 60);
}

TEST_F(Y4mClip, IsMirroredAtItsBorders) {
  write("YUV4MPEG2 W8 H4 F25:1");
  const std::vector<Frame> frames = read_y4m(file_, *engine_, oracle::gray(20, 10, 10), 1);
  ASSERT_EQ(frames.size(), 1U);
  const Plane& luma = frames[0].planes[0];
  EXPECT_EQ(luma.row<std::uint16_t>(0)[8], 4 * 7);
  EXPECT_EQ(luma.row<std::uint16_t>(4)[15], 4 * 30);
  EXPECT_EQ(luma.row<std::uint16_t>(9)[17], 4 * 11);
}

TEST_F(Y4mClip, RejectsOtherFiles) {
  const auto read = [&] { return read_y4m(file_, *engine_, oracle::gray(8, 8), 1); };
  EXPECT_THROW(read(), Error);
  for (const char* header : {"YUV4MPEG2 W8 H4 C422", "YUV4MPEG2 W8 H4 C420p10", "YUV4MPEG2 H4", "P5 8 4"}) {
    write(header);
    EXPECT_THROW(read(), Error) << header;
  }
}

}  // namespace
}  // namespace limpid::benchmarks
