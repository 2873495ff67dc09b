// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/quality_ladder.h"
#include "app/player/quality_control.h"
#include "tests/oracle/pictures.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

constexpr const char* kFilter = "vbm4d:profile=np";

class SpeedMemoryTest : public testing::Test {
 protected:
  SpeedMemory open(int width = 640, const std::string& device = "GPU") const {
    return {file(), device, oracle::yuv(width, width / 2, 1, 1)};
  }
  std::filesystem::path file() const { return folder_.path() / "cache" / "limpid" / "speeds.json"; }
  void write(const std::string& text) const {
    std::filesystem::create_directories(file().parent_path());
    std::ofstream(file()) << text;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(SpeedMemoryTest, TimesAreKeptByDeviceFilterAndFormat) {
  SpeedMemory first = open();
  EXPECT_FALSE(first.seconds(kFilter));
  first.note(kFilter, 0.02);
  EXPECT_DOUBLE_EQ(first.seconds(kFilter).value_or(0), 0.02);
  EXPECT_FALSE(open().seconds(kFilter)) << "not written yet";
  first.save();
  EXPECT_DOUBLE_EQ(open().seconds(kFilter).value_or(0), 0.02);
  EXPECT_FALSE(open().seconds("vbm4d:profile=fast"));
  EXPECT_FALSE(open(640, "another GPU").seconds(kFilter));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file().parent_path()), {}), 1)
      << "no temporary file is left";
}

TEST_F(SpeedMemoryTest, TheTimeOfAnotherSizeIsComputed) {
  SpeedMemory memory = open();
  memory.note(kFilter, 0.02);
  memory.save();
  EXPECT_NEAR(open(1280).seconds(kFilter).value_or(0), 0.08, 1e-9);
  EXPECT_FALSE(open(6400).seconds(kFilter)) << "too different";
}

TEST_F(SpeedMemoryTest, ATimeThatIsWrongByMoreThan30PercentIsReplaced) {
  SpeedMemory memory = open();
  memory.note(kFilter, 0.02);
  memory.note(kFilter, 0.024);
  EXPECT_DOUBLE_EQ(memory.seconds(kFilter).value_or(0), 0.02);
  memory.note(kFilter, 0.04);
  EXPECT_DOUBLE_EQ(memory.seconds(kFilter).value_or(0), 0.04);
}

TEST_F(SpeedMemoryTest, ProcessesKeepEachOthersTimes) {
  SpeedMemory one = open();
  SpeedMemory other = open(320);
  one.note(kFilter, 0.02);
  other.note(kFilter, 0.006);
  one.save();
  other.save();
  EXPECT_DOUBLE_EQ(open().seconds(kFilter).value_or(0), 0.02);
  EXPECT_DOUBLE_EQ(open(320).seconds(kFilter).value_or(0), 0.006);
}

TEST_F(SpeedMemoryTest, ADamagedFileIsIgnoredWithAMessageAndReplaced) {
  const auto lines = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", lines));
  for (const char* const text :
       {"", "{", "[]", R"({"limpid_speeds": 2, "speeds": []})", R"({"limpid_speeds": 1, "speeds": [{}]})",
        R"({"limpid_speeds": 1, "speeds": [{"device": "GPU", "filter": "f", "format": "x", "samples": 1,
            "seconds_per_frame": -1}]})"}) {
    write(text);
    const std::size_t said = lines->last_formatted().size();
    SpeedMemory memory = open();
    EXPECT_FALSE(memory.seconds(kFilter)) << text;
    ASSERT_EQ(lines->last_formatted().size(), said + 1) << text;
    EXPECT_NE(lines->last_formatted().back().find("speeds.json: the measured speeds are ignored"),
              std::string::npos);
    memory.note(kFilter, 0.02);
    memory.save();
    EXPECT_TRUE(open().seconds(kFilter)) << text;
  }
  spdlog::set_default_logger(before);
}

TEST_F(SpeedMemoryTest, NothingIsKeptWithoutAFolder) {
  SpeedMemory memory("", "GPU", oracle::yuv(64, 48, 1, 1));
  memory.note(kFilter, 0.02);
  memory.save();
  EXPECT_TRUE(memory.seconds(kFilter));
}

TEST(QualityChoiceTest, BeginsWithTheRungOfEarlierRunsAndPassesItsTimeOn) {
  PlayerSettings wanted;
  wanted.filter = {.name = "vbm4d", .profile = "np", .parameters = {}};
  wanted.keeps_pace = true;
  std::vector<double> times;
  QualityChoice choice(
      [](const PlayerSettings& settings) {
        QualityLadder ladder;
        for (const char* const name : {"bilateral", "recursive", "vbm4d"}) {
          QualityRung rung{.settings = settings, .cost = 1, .reach = {}, .seconds = 0.01};
          rung.settings.filter.name = name;
          ladder.rungs.push_back(rung);
        }
        return ladder;
      },
      QualityChoice::Seconds(0.04),
      [&](const PlayerSettings& settings, double seconds) {
        EXPECT_EQ(settings.filter.name, "vbm4d");
        times.push_back(seconds);
      });
  const QualityChoice::Time now;
  EXPECT_EQ(choice.rung(wanted, now).settings.filter.name, "vbm4d");
  for (int i = 0; i < 20; ++i) {
    choice.add(QualityChoice::Seconds(0.02), QualityChoice::Seconds(0.04), now);
  }
  EXPECT_EQ(times, (std::vector{0.02, 0.02})) << "now and then";
}

}  // namespace
}  // namespace limpid::app
